/* SPDX-License-Identifier: MIT */
/* log Z of any model as JSON. */
#include <saltus/flat.h>
#include <saltus/log_z.h>
#include <saltus/program.h>

#include "flat/json.h"
#include "flat/options.h"

sal_status sal_log_z_json(const sal_log_z_estimate *estimate, char **json, sal_error *err)
{
    static const sali_flat_field fields[] = {
        SALI_FLAT_FIELD("log_z", REAL, sal_log_z_estimate, log_z),
        SALI_FLAT_FIELD("log_z_error", REAL, sal_log_z_estimate, standard_error),
        SALI_FLAT_FIELD("entropy", REAL, sal_log_z_estimate, entropy),
        SALI_FLAT_FIELD("entropy_error", REAL, sal_log_z_estimate, entropy_error),
        SALI_FLAT_FIELD("forward", REAL, sal_log_z_estimate, forward),
        SALI_FLAT_FIELD("reverse", REAL, sal_log_z_estimate, reverse),
        SALI_FLAT_FIELD("rhat", REAL, sal_log_z_estimate, rhat),
        SALI_FLAT_FIELD("least_swaps", REAL, sal_log_z_estimate, least_swaps),
        SALI_FLAT_FIELD("arrivals", REAL, sal_log_z_estimate, arrivals),
        SALI_FLAT_FIELD("allowed", REAL, sal_log_z_estimate, allowed),
        SALI_FLAT_FIELD("levels", WHOLE, sal_log_z_estimate, levels),
        SALI_FLAT_FIELD("chains", WHOLE, sal_log_z_estimate, chains),
        SALI_FLAT_FIELD("sweeps", WHOLE, sal_log_z_estimate, sweeps),
        SALI_FLAT_FIELD("steps", WHOLE, sal_log_z_estimate, steps),
        SALI_FLAT_FIELD("softened", TRUTH, sal_log_z_estimate, softened),
        SALI_FLAT_FIELD("stopped", TRUTH, sal_log_z_estimate, stopped),
        { 0 },
    };
    char sentence[512];
    json_t *object = sali_flat_record(estimate, fields);
    sal_log_z_sentence(estimate, sentence, sizeof sentence);
    json_object_set_new(object, "sampler", sali_json_text(estimate->sampler));
    json_object_set_new(object, "trusted", json_boolean(estimate->doubt == SAL_LOG_Z_TRUSTED));
    json_object_set_new(object, "warning", sentence[0] ? sali_json_text(sentence) : json_null());
    return sali_flat_give(object, json, err);
}

sal_status sal_flat_log_z(sal_model *model, sal_flat_options *options, char **json, sal_error *err)
{
    sal_log_z_estimate estimate;
    sal_status status = sali_flat_fit(options, SAL_OPTIONS_LOG_Z, model, err);
    status =
        status ? status : sal_log_z(model, options ? &options->of.log_z : NULL, &estimate, err);
    return status ? status : sal_log_z_json(&estimate, json, err);
}
