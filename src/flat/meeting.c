/* SPDX-License-Identifier: MIT */
/* Meeting times of coupled chains as JSON. */
#include <saltus/flat.h>
#include <saltus/meeting.h>

#include "core/alloc.h"
#include "core/error.h"
#include "flat/json.h"
#include "flat/options.h"

/* The figures and the times [pairs] as an object. */
static json_t *meeting_object(const sal_meeting *meeting, const int64_t *tau)
{
    static const sali_flat_field fields[] = {
        SALI_FLAT_FIELD("pairs", WHOLE, sal_meeting, pairs),
        SALI_FLAT_FIELD("lag", WHOLE, sal_meeting, lag),
        SALI_FLAT_FIELD("most_steps", WHOLE, sal_meeting, most_steps),
        SALI_FLAT_FIELD("warmup", WHOLE, sal_meeting, warmup),
        SALI_FLAT_FIELD("not_met", WHOLE, sal_meeting, not_met),
        SALI_FLAT_FIELD("median", REAL, sal_meeting, median),
        SALI_FLAT_FIELD("warmed_up", REAL, sal_meeting, warmed_up),
        SALI_FLAT_FIELD("warmed_up_error", REAL, sal_meeting, warmed_up_error),
        SALI_FLAT_FIELD("steps_25", REAL, sal_meeting, steps_25),
        SALI_FLAT_FIELD("steps_05", REAL, sal_meeting, steps_05),
        SALI_FLAT_FIELD("steps_01", REAL, sal_meeting, steps_01),
        { 0 },
    };
    json_t *object = sali_flat_record(meeting, fields), *times = json_array();
    for (int64_t c = 0; c < meeting->pairs; c++) {
        json_array_append_new(times, tau[c] < 0 ? json_null() : json_integer(tau[c]));
    }
    json_object_set_new(object, "times", times);
    return object;
}

sal_status sal_flat_meeting_times(sal_model *model, sal_flat_options *options, int64_t pairs,
                                  int64_t lag, int64_t most_steps, char **json, sal_error *err)
{
    const sal_meeting_options m = { .pairs = pairs ? pairs : 100,
                                    .lag = lag,
                                    .most_steps = most_steps };
    sal_status status = sali_flat_fit(options, SAL_OPTIONS_RUN, model, err);
    if (status != SAL_OK) {
        return status;
    }
    int64_t *tau = SALI_NEW_ARRAY(int64_t, m.pairs > 0 ? m.pairs : 1);
    sal_meeting meeting;
    status = tau ? SAL_OK : sali_fail_memory(err);
    status = status ? status
                    : sal_meeting_times(model, options ? &options->of.run : NULL, &m, tau, &meeting,
                                        err);
    status = status ? status : sali_flat_give(meeting_object(&meeting, tau), json, err);
    sali_free(tau);
    return status;
}
