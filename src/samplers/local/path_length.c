#include "samplers/local/path_length.h"

#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "samplers/balance.h"

#define START 5
#define GAIN 3
#define MOST_GIVEN (1 << 20)

const sali_setting sali_path_settings[] = {
    [SALI_PATH_LENGTH] = { "length", 0, 0, MOST_GIVEN, true,
                           "moves of a path; 0: adapted to acceptance 0.574", NULL },
    [SALI_PATH_BALANCE] = { "balance", 0, 0, 0, true, "balancing function g", sali_balance_names },
    [SALI_PATH_RADIUS] = { "radius", 0, 0, INT32_MAX, true,
                           "window of moves in levels; 0: all, and counts by 1", NULL },
    { 0 },
};

sal_status sali_path_length_share(const sal_model *model, const sali_sampler_settings *settings,
                                  void **shared, sal_error *err)
{
    const double length = settings->values[SALI_PATH_LENGTH];
    sali_path_length *path = SALI_NEW(sali_path_length);
    if (!path) {
        return sali_fail_memory(err);
    }
    for (int64_t v = 0; v < model->space->n_variables; v++) {
        path->most += model->space->variables[v].states != 1;
    }
    path->most = fmax(path->most, 1);
    path->adapted = length == 0;
    path->running = fmin(START, path->most);
    path->length = path->adapted ? path->running : length;
    *shared = path;
    return SAL_OK;
}

void sali_path_length_unshare(void *shared)
{
    sali_free(shared);
}

sal_status sali_path_length_adapt(void *shared, const sali_warmup *warmup, bool *changed,
                                  sal_error *err)
{
    sali_path_length *path = shared;
    (void)changed; /* nothing cached depends on it */
    (void)err;
    if (path->adapted) {
        path->running += GAIN * (sali_warmup_acceptance(warmup) - SALI_TARGET_ACCEPTANCE);
        path->running = fmin(fmax(path->running, 1), path->most);
        path->length = round(path->running);
    }
    return SAL_OK;
}

int64_t sali_path_length_tuned(void *shared, sali_tuned *items)
{
    sali_path_length *path = shared;
    items[0] = (sali_tuned){ .name = "length",
                             .n = 1,
                             .values = &path->length,
                             .low = 1,
                             .high = path->adapted ? path->most : path->length,
                             .whole = true };
    return 1;
}

sal_status sali_path_length_retune(void *shared, sal_error *err)
{
    sali_path_length *path = shared;
    double most = path->adapted ? path->most : MOST_GIVEN;
    if (!(path->length >= 1 && path->length <= most) || path->length != floor(path->length)) {
        return sali_fail(err, SAL_ERR_DATA, "length is %g; expected a whole number from 1 to %g",
                         path->length, most);
    }
    path->running = path->length;
    return SAL_OK;
}

int64_t sali_path_length_state(void *shared, sali_state_item *items)
{
    sali_path_length *path = shared;
    if (!path->adapted) {
        return 0;
    }
    items[0] = sali_state_f64("length", 1, &path->length);
    items[1] = sali_state_f64("running", 1, &path->running);
    return 2;
}

sal_status sali_path_length_restored(void *shared, const sali_warmup *at, sal_error *err)
{
    sali_path_length *path = shared;
    double running = path->running;
    (void)at;
    sal_status status = sali_path_length_retune(shared, err);
    path->running = running;
    return status ? status : sali_state_check_f64("running", 1, &path->running, 1, path->most, err);
}
