/* SPDX-License-Identifier: MIT */
/* Locally balanced proposals: one variable moves, chosen in proportion to g(pi(s') / pi(s)), by
 * exact differences. Zanella 2020; Sansone 2022, eq. 2. */
#include "samplers/local/single_site_sampler.h"

static const sal_setting known_settings[] = {
    SALI_BALANCE_SETTING,
    SALI_RADIUS_SETTING,
    { 0 },
};

enum { BALANCE, RADIUS };

/* 1: a step can take any single variable to all its states; 0 with a window, which keeps some
 * states apart. */
static int64_t lb_block_size(const double *values)
{
    return values[RADIUS] == 0 ? 1 : 0;
}

static const char *const variants[] = {
    "", "balance=barker,radius=2", "balance=min", "balance=max,radius=1", NULL,
};

const sali_sampler sali_sampler_lb = {
    .name = "lb",
    .doc = "locally balanced: one site by exact differences and a balancing function g",
    .source = "Zanella 2020; Sansone 2022, eq. 2",
    .needs_differences = true,
    .kinds = SAL_MOVES_FINITE | SAL_MOVES_UNBOUNDED,
    .settings = known_settings,
    .engine =
        &(const sal_sampler_engine){
            .local = true,
            .window = true,
            .variants = variants,
            .share = sali_followed_gradient_share,
            .unshare = sali_object_free,
            .create = sali_single_site_create,
            SALI_SINGLE_SITE_FUNCTIONS,
            .block_size = lb_block_size,
        },
};
