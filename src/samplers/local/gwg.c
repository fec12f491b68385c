/* SPDX-License-Identifier: MIT */
/* Gibbs with gradients: one variable moves, chosen by the softmax of half the first-order
 * differences. Grathwohl et al. 2021, algorithm 1; ordinal windows: Rhodes & Gutmann 2022, app. G;
 * several hops: Grathwohl et al. 2021, sec. 6; balls: Rhodes & Gutmann 2022, eq. 29. */
#include "core/error.h"
#include "samplers/local/path_length.h"
#include "samplers/radius_search.h"
#include "samplers/local/single_site_sampler.h"

enum { RADIUS, HOPS, BALL };

/* Where the adaptation of hops begins, and the most hops. */
#define FIRST_HOPS 2
#define MOST_HOPS 1024

static const sal_setting known_settings[] = {
    SALI_RADIUS_SEARCH_SETTING,
    { "hops", 1, SALI_PATH_ADAPTED, MOST_HOPS, true,
      "sites drawn a step; distinct ones move; adapt: to acceptance 0.574", sali_path_words },
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
    "radius=search",
    "hops=adapt,radius=1",
    NULL,
};

static const char *gwg_obstacle(const sal_model *model, const double *values, const void *data)
{
    int64_t ball = (int64_t)values[BALL];
    (void)data;
    if (ball > 1 && values[HOPS] != 1) {
        return "it takes either hops or a ball, not both";
    }
    return ball > 1 && sali_ball_size(model->space, ball) > SALI_BALL_MOST
               ? "its ball has more than 65536 moves; a smaller ball, or hops, moves several sites"
               : NULL;
}

/* ---- shared state */

typedef struct gwg_shared {
    sali_shared common;
    sali_radius_search radius;
    sali_path_length hops;
} gwg_shared;

/* Creates a gwg_shared: couplings, the search for the radius and the adaptation of hops. */
static sal_status gwg_share(const sal_model *model, const sali_sampler_settings *settings,
                            void **shared, sal_error *err)
{
    gwg_shared *s = SALI_OBJECT(gwg_shared);
    if (!s) {
        return sali_fail_memory(err);
    }
    sali_radius_search_begin_window(&s->radius, model->space, settings->values[RADIUS]);
    sali_path_length_begin(&s->hops, model, "hops", settings->values[HOPS], FIRST_HOPS, MOST_HOPS);
    s->hops.copied = true;
    sali_shared_list(&s->common, &s->radius, &sali_radius_adaptive);
    sali_shared_list(&s->common, s->hops.adapted ? &s->hops : NULL, &sali_path_adaptive);
    sal_status status = sali_followed_gradient_couplings(&s->common, model, settings, err);
    return sali_object_finish(s, status, shared, err);
}

/* Creates a shard's state; radius and hops come from the shared state where they are searched for
 * or adapted. */
static sal_status gwg_create(const sali_chains *chains, const sali_sampler_settings *settings,
                             void *shared, void **self, sal_error *err)
{
    gwg_shared *s = shared;
    sali_single_site_options options = sali_single_site_settings(chains, settings);
    options.couplings = s ? s->common.couplings : NULL;
    options.pairs = !s || !s->hops.adapted;
    options.searched = s && s->radius.on ? &s->radius.radius : NULL;
    if (s && s->hops.adapted) {
        options.hops = (int64_t)s->hops.most; /* room; a refresh says how many */
        options.adapted_hops = &s->hops.length;
    }
    return sali_single_site_open(SALI_OBJECT(sali_single_site), chains, &options, self, err);
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
            .local = true,
            .window = true,
            .variants = variants,
            .share = gwg_share,
            SALI_SHARED_FUNCTIONS,
            .create = gwg_create,
            SALI_SINGLE_SITE_FUNCTIONS,
            .auxiliary = &sali_single_site_hops,
        },
};
