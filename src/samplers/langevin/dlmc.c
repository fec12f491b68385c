/* SPDX-License-Identifier: MIT */
/* Langevin-like Monte Carlo in discrete spaces: all variables move at once, each by the marginal
 * after a time tau of a jump process with locally balanced rates, then acceptance. The proposal is
 * described in dlmc.h; differences are first-order ones, by the gradient.
 *
 * tau is the step size in units of the least move, so that all codings of a model, binary, spin or
 * labels, make the same chain. tau is adapted as any other step size; Sun et al. adapt n of tau = n
 * / (mean over chains of the sum of all rates), to the same acceptance of 0.574. */
#include "samplers/langevin/dlmc.h"

#include <math.h>

#include "core/error.h"
#include "samplers/langevin/langevin.h"
#include "samplers/radius_search.h"

enum { RADIUS, BALANCE };

static const sal_setting known_settings[] = { SALI_RADIUS_SEARCH_SETTING,
                                              SALI_BALANCE_SETTING,
                                              { 0 } };

static const char *const variants[] = {
    "", "balance=barker", "balance=min,radius=1", "balance=max,radius=2", "radius=search", NULL
};

/* ---- shared state */

typedef struct dlmc_shared {
    sali_shared common;
    sali_radius_search radius;
} dlmc_shared;

/* Creates a dlmc_shared: the search for the radius, if asked for, and the couplings. */
static sal_status share(const sal_model *model, const sali_sampler_settings *settings,
                        void **shared, sal_error *err)
{
    dlmc_shared *s = SALI_OBJECT(dlmc_shared);
    if (!s) {
        return sali_fail_memory(err);
    }
    sali_radius_search_begin_window(&s->radius, model->space, settings->values[RADIUS]);
    sali_shared_list(&s->common, &s->radius, &sali_radius_adaptive);
    return sali_object_finish(s, sali_langevin_couplings(&s->common, model, settings, err), shared,
                              err);
}

/* ---- one shard */

typedef struct dlmc {
    sali_langevin core;
    const sali_site_kernels *sites;
    const sali_radius_search *search;
    int64_t radius; /* the radius unless it is searched for */
    double unit;
    sali_dlmc_rates rates;
} dlmc;

/* Log-weights of dlmc.h in the row of chain c, by the first-order differences of d, within the
 * window. */
static void weigh(sali_langevin *l, const sali_chains *chains, int64_t c, const int32_t *codes,
                  const void *x, const void *d, sali_move_row *row)
{
    dlmc *self = (dlmc *)l;
    (void)x;
    self->rates.log_tau = log(chains->step_size[c] / self->unit);
    sali_taylor_slots(chains->model, 1, codes, d, row->log_weight);
    const int64_t radius = self->search->on ? (int64_t)self->search->radius : self->radius;
    self->sites->exclude(chains->space, codes, radius, row->log_weight);
    if (chains->model->dtype == SAL_F32) {
        sali_dlmc_weights_f32(chains->space, &self->rates, codes, row->log_weight);
    } else {
        sali_dlmc_weights_f64(chains->space, &self->rates, codes, row->log_weight);
    }
    l->kernels->normalise(chains->space, codes, row);
}

/* Creates a shard's state *out; `euler` selects the weights of Euler's method. */
static sal_status open_shard(const sali_chains *chains, const sali_sampler_settings *settings,
                             void *shared, bool euler, void **out, sal_error *err)
{
    const dlmc_shared *s = shared;
    const sal_space *space = chains->space;
    const int64_t radius = (int64_t)settings->values[RADIUS];
    dlmc *self = SALI_OBJECT(dlmc);
    sali_langevin *l = sali_langevin_open((sali_langevin *)self, chains, settings);
    if (l) {
        l->weigh = weigh;
        l->evaluate = sali_langevin_follow;
        sali_followed_gradient_open(&l->followed, l, chains, s->common.couplings, true, true);
        self->search = &s->radius;
        self->sites = SALI_KERNELS_OF(chains->model->dtype, sali_site_kernels);
        self->radius = radius > 0 ? radius : SALI_ALL_LEVELS;
        self->unit = sali_default_step_size(space, 1);
        self->rates = (sali_dlmc_rates){
            .euler = euler,
            .balance = sali_balance_of(chains->model->dtype, (int)settings->values[BALANCE]),
            .weight = sali_object_array(l, space->slots, chains->element),
            .rate = sali_object_array(l, space->slots, chains->element),
            .largest = sali_object_array(l, space->n_variables, chains->element),
            .stay = sali_object_array(l, space->n_variables, chains->element),
        };
    }
    return sali_object_give(l, out, err);
}

static sal_status create(const sali_chains *chains, const sali_sampler_settings *settings,
                         void *shared, void **self, sal_error *err)
{
    return open_shard(chains, settings, shared, false, self, err);
}

static sal_status create_euler(const sali_chains *chains, const sali_sampler_settings *settings,
                               void *shared, void **self, sal_error *err)
{
    return open_shard(chains, settings, shared, true, self, err);
}

#define FUNCTIONS                                                                \
    .window = true, .variants = variants, .share = share, SALI_SHARED_FUNCTIONS, \
    .destroy = sali_object_free, SALI_LANGEVIN_FUNCTIONS

const sali_sampler sali_sampler_dlmc = {
    .name = "dlmc",
    .doc = "all sites at once by the marginals of a jump process after a time tau, the step size",
    .source = "Sun, Dai, Sutton, Schuurmans & Dai 2023",
    .needs_gradient = true,
    .has_step_size = true,
    .kinds = SAL_MOVES_FINITE | SAL_MOVES_UNBOUNDED | SAL_MOVES_FIXED,
    .settings = known_settings,
    .obstacle = sali_fixed_rows_obstacle,
    .engine = &(const sal_sampler_engine){ .create = create, FUNCTIONS },
};

const sali_sampler sali_sampler_dlmcf = {
    .name = "dlmcf",
    .doc = "dlmc by one step of Euler's method in place of the jump process",
    .source = "Sun, Dai, Sutton, Schuurmans & Dai 2023",
    .needs_gradient = true,
    .has_step_size = true,
    .kinds = SAL_MOVES_FINITE | SAL_MOVES_UNBOUNDED | SAL_MOVES_FIXED,
    .settings = known_settings,
    .obstacle = sali_fixed_rows_obstacle,
    /* min(tau g / nu, 1) is 1 from tau = 1 on: a balanced g has g(t) (1 + t) / t of 1 at least */
    .engine = &(const sal_sampler_engine){ .create = create_euler, .most_step = 1, FUNCTIONS },
};
