/* SPDX-License-Identifier: MIT */
/* Gibbs with gradients: one variable moves, chosen by the softmax of half the first-order
 * differences. Grathwohl et al. 2021, algorithm 1; ordinal windows: Rhodes & Gutmann 2022, app. G;
 * several hops: Grathwohl et al. 2021, sec. 6; balls: Rhodes & Gutmann 2022, eq. 29. */
#include "samplers/local/single_site_sampler.h"

enum { RADIUS, HOPS, BALL };

static const sal_setting known_settings[] = {
    SALI_RADIUS_SETTING,
    { "hops", 1, 1, 1024, true, "sites drawn a step; distinct ones move", NULL },
    { "ball", 1, 1, SALI_BALL_RADIUS, true, "sites that move at once, of all moves enumerated",
      NULL },
    SALI_BALANCE_SETTING,
    { 0 },
};

static const char *const variants[] = {
    "",
    "radius=1",
    "balance=barker,radius=2",
    "hops=2,radius=1",
    "ball=2",
    "ball=3,radius=1,balance=barker",
    NULL,
};

static const char *gwg_obstacle(const sal_model *model, const double *values, const void *data)
{
    int64_t ball = (int64_t)values[BALL];
    (void)data;
    if (ball > 1 && values[HOPS] > 1) {
        return "it takes either hops or a ball, not both";
    }
    return ball > 1 && sali_ball_size(model->space, ball) > SALI_BALL_MOST
               ? "its ball has more than 65536 moves; a smaller ball, or hops, moves several sites"
               : NULL;
}

const sali_sampler sali_sampler_gwg = {
    .name = "gwg",
    .doc = "Gibbs with gradients: one site by first-order differences, window of radius r",
    .source = "Grathwohl et al. 2021, alg. 1; Rhodes & Gutmann 2022, app. G",
    .needs_gradient = true,
    .kinds = SAL_MOVES_FINITE | SAL_MOVES_UNBOUNDED,
    .settings = known_settings,
    .obstacle = gwg_obstacle,
    .engine =
        &(const sal_sampler_engine){
            .window = true,
            .variants = variants,
            .share = sali_followed_gradient_share,
            .unshare = sali_followed_gradient_unshare,
            .create = sali_single_site_create,
            SALI_SINGLE_SITE_FUNCTIONS,
            .auxiliary = &sali_single_site_hops,
        },
};
