/* SPDX-License-Identifier: MIT */
/* Chains that go on, from options as text, and their numbers as JSON. */
#include <saltus/chains.h>
#include <saltus/sampler.h>

#include "core/error.h"
#include "flat/json.h"
#include "flat/options.h"

sal_status sal_flat_chains_create(sal_model *model, sal_flat_options *options, bool apart,
                                  sal_chains **chains, sal_error *err)
{
    const sal_status status = sali_flat_fit(options, SAL_OPTIONS_RUN, model, err);
    return status ? status
                  : sal_chains_create(model, options ? &options->of.run : NULL, apart, chains, err);
}

sal_status sal_flat_chains_describe(const sal_chains *chains, char **json, sal_error *err)
{
    static const sali_flat_field fields[] = {
        SALI_FLAT_FIELD("chains", WHOLE, sal_chains_info, chains),
        SALI_FLAT_FIELD("variables", WHOLE, sal_chains_info, variables),
        SALI_FLAT_FIELD("seed", SEED, sal_chains_info, seed),
        SALI_FLAT_FIELD("steps", WHOLE, sal_chains_info, steps),
        SALI_FLAT_FIELD("adapting", WHOLE, sal_chains_info, adapting),
        SALI_FLAT_FIELD("step_size", REAL, sal_chains_info, step_size),
        SALI_FLAT_FIELD("acceptance_rate", REAL, sal_chains_info, acceptance_rate),
        SALI_FLAT_FIELD("mean_jump", REAL, sal_chains_info, mean_jump),
        { 0 },
    };
    sal_chains_info info;
    sal_chains_describe(chains, &info);
    return sali_flat_give(sali_flat_record(&info, fields), json, err);
}
