/* SPDX-License-Identifier: MIT */
/* The auxiliary-variable gradient sampler: Gaussian z given s, then all variables independently by
 * exp((g + z sqrt(2/eps))'s' - |s'|^2 / eps). Rhodes & Gutmann 2022, eq. 13, algorithm B.2,
 * appendix A for one-hot variables. The step is in auxiliary.c. */
#include "core/object.h"
#include "samplers/langevin/auxiliary.h"

static const sal_setting known_settings[] = { SALI_MOMENTUM_PARAMETERS, { 0 } };

static const char *const variants[] = { "", "momentum=0.7,correction=0.5", "momentum=0.9",
                                        "correction=1", NULL };

static int64_t state(void *shared, void *self, sali_state_item *items)
{
    (void)shared;
    return sali_auxiliary_state_of(self, items);
}

const sali_sampler sali_sampler_avg = {
    .name = "avg",
    .doc = "auxiliary-variable gradient: all sites at once given Gaussian z, step size eps",
    .source = "Rhodes & Gutmann 2022, eq. 13, alg. B.2",
    .needs_gradient = true,
    .has_step_size = true,
    .kinds = SAL_MOVES_FINITE | SAL_MOVES_FIXED,
    .obstacle = sali_fixed_rows_obstacle,
    .settings = known_settings,
    .engine =
        &(const sal_sampler_engine){
            .variants = variants,
            .state = state,
            .create = sali_auxiliary_create,
            .destroy = sali_object_free,
            .refresh = sali_auxiliary_refresh,
            .step = sali_auxiliary_step,
        },
};
