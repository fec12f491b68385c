/* SPDX-License-Identifier: MIT */
/* Locally self-balancing proposals: `lb` with a balancing function that warm-up learns. Sansone
 * 2022; g and the objective are in lsb_function.c and lsb_objective.c. */
#include "samplers/local/lsb.h"

#include <float.h>
#include <math.h>

#include "core/error.h"
#include "core/object.h"
#include "samplers/local/single_site_sampler.h"

/* The most chains whose states an update of theta uses (Sansone 2022, supplement, sec. 12). */
enum { BATCH = 30 };

enum { RATE, UPDATES, RADIUS, OPTIMISER, OBJECTIVE, BLOCKS, UNITS, LINES, START };
enum { ADAM, SGD };
enum { RATIO, DENSITY };

static const char *const optimiser_choices[] = { "adam", "sgd", NULL };
static const char *const objective_choices[] = { "ratio", "density", NULL };
static const char *const lines_choices[] = { "log", "share", NULL };

/* `lines`, then the names of the ready-made functions in their order. */
static const char *const start_choices[] = { "lines", "sqrt", "barker", "min", "max", NULL };

#define SETTINGS(rate)                                                                         \
    { "rate", rate, 0, 10, false, "of learning; 0: g stays as it starts", NULL },              \
        { "updates", 10, 1, 1000, true, "of theta after every 25 steps of warm-up", NULL },    \
        SALI_RADIUS_SETTING,                                                                   \
        { "optimiser", ADAM, 0, 1, true, "sgd has momentum 0.9", optimiser_choices },          \
    {                                                                                          \
        "objective", RATIO, 0, 1, true,                                                        \
            "p of eq. 5: p(s')/p(s), or the density without its normaliser", objective_choices \
    }

static const sal_setting lsb1_settings[] = { SETTINGS(0.05), { 0 } };

static const sal_setting lsb2_settings[] = {
    SETTINGS(0.01),
    { "blocks", 20, 1, 100, true, "of the monotonic network: h is their least", NULL },
    { "units", 20, 1, 100, true, "of each block: it is their largest", NULL },
    { "lines", SALI_LINES_LOG, 0, 1, true, "what lines are in: log t, or t / (1 + t)",
      lines_choices },
    { "start", 0, 0, SALI_BALANCES, true, "g at first: random lines, or a function fitted",
      start_choices },
    { 0 },
};

static const char *const lsb1_variants[] = { "", "radius=1", "optimiser=sgd,objective=density",
                                             NULL };
static const char *const lsb2_variants[] = {
    "blocks=3,units=4", "blocks=2,units=2,radius=1",
    "blocks=3,units=4,lines=share,start=max,optimiser=sgd,objective=density", NULL
};

/* ---- learning */

/* Create lsb->batch with two states for each of at most BATCH of the coldest chains. */
static sal_status open_batch(sali_lsb *lsb, const sali_warmup *warmup, sal_error *err)
{
    int64_t chains = sali_lsb_chains(warmup);
    chains = chains < BATCH ? chains : BATCH;
    sal_status status =
        sali_lsb_batch_open(warmup->model, 2 * chains, lsb->radius, &lsb->batch, err);
    if (status == SAL_OK) {
        lsb->batch->density = lsb->density;
    }
    return status;
}

/* One update of theta, on a newly drawn batch; skipped if the gradient is not finite. */
static sal_status update_theta(sali_lsb *lsb, const sali_warmup *warmup, sal_error *err)
{
    int64_t n = lsb->g.n;
    bool finite = true;
    sal_status status = sali_lsb_batch_draw(lsb->batch, &lsb->g, warmup, lsb->made++, err);
    if (status != SAL_OK) {
        return status;
    }
    sali_lsb_objective(lsb->batch, &lsb->g, lsb->gradient);
    for (int64_t k = 0; k < n; k++) {
        finite &= isfinite(lsb->gradient[k]);
        lsb->gradient[k] = -lsb->gradient[k];
        lsb->candidate[k] = lsb->g.theta[k];
    }
    if (finite) {
        sali_optimiser_update(&lsb->optimiser, 1, lsb->gradient, lsb->candidate);
        sali_lsb_set(&lsb->g, lsb->candidate);
    }
    return SAL_OK;
}

/* Make lsb->updates updates of theta after a window of warm-up, on all ranks alike; frees the batch
 * at the end of warm-up. */
static sal_status adapt(void *piece, const sali_warmup *warmup, bool *renewed, sal_error *err)
{
    sali_lsb *lsb = piece;
    sal_status status = SAL_OK;
    if (lsb->rate == 0) {
        return SAL_OK;
    }
    if (!lsb->batch) {
        status = open_batch(lsb, warmup, err);
    }
    status = sal_comm_agree(warmup->ranks ? warmup->ranks->comm : NULL, status, err);
    for (int64_t k = 0; status == SAL_OK && k < lsb->updates; k++) {
        status = update_theta(lsb, warmup, err);
    }
    if (warmup->done == warmup->total || status != SAL_OK) {
        sali_lsb_batch_close(lsb->batch);
        lsb->batch = NULL;
    }
    *renewed = true;
    return status;
}

/* theta, for a tuning and for resuming, and the optimiser's state; theta alone if nothing is
 * learned. */
static int64_t state(void *piece, sali_state_item *items)
{
    sali_lsb *lsb = piece;
    sali_optimiser *o = &lsb->optimiser;
    sali_state_item theta = sali_state_f64("theta", lsb->g.n, lsb->g.theta);
    int64_t n = 0;
    items[n++] = sali_state_for(SALI_STATE_TUNED, sali_state_within(theta, -100, 100));
    if (lsb->rate == 0) {
        return n;
    }
    items[n++] = sali_state_reals("theta", lsb->g.n, lsb->g.theta);
    items[n++] = sali_state_reals("moment1", o->n, o->m);
    if (o->kind == SALI_ADAM) {
        items[n++] = sali_state_sums("moment2", o->n, o->v);
    }
    items[n++] = sali_state_counts("adam_updates", 1, &o->updates);
    items[n++] = sali_state_u64("updates", 1, &lsb->made);
    return n;
}

static sal_status changed(void *piece, const sali_warmup *at, sal_error *err)
{
    sali_lsb *lsb = piece;
    (void)at;
    (void)err;
    sali_lsb_set(&lsb->g, lsb->g.theta);
    return SAL_OK;
}

static const sali_adaptive learning = { adapt, state, changed };

/* ---- shared state */

/* Destroy the members that are not arrays of the object. */
static void close_members(void *shared)
{
    sali_lsb *lsb = shared;
    sali_lsb_batch_close(lsb->batch);
    sali_lsb_close(&lsb->g);
    sali_optimiser_free(&lsb->optimiser);
}

/* Creates a sali_lsb: g at its start values, fitted to a ready-made function if asked for, the
 * optimiser and the couplings. */
static sal_status share(const sal_model *model, const sali_sampler_settings *settings,
                        void **shared, sal_error *err)
{
    bool network = settings->sampler->settings == lsb2_settings;
    sali_lsb *lsb = SALI_OBJECT(sali_lsb);
    const double *values = settings->values;
    if (!lsb) {
        return sali_fail_memory(err);
    }
    sali_lsb_shape shape = { 0 };
    if (network) {
        shape =
            (sali_lsb_shape){ (int64_t)values[BLOCKS], (int64_t)values[UNITS], (int)values[LINES] };
    }
    sal_status status = sali_object_own(lsb, lsb, close_members, err);
    status = status ? status : sali_lsb_open(&lsb->g, shape, err);
    if (status == SAL_OK && network && values[START] > 0) {
        status = sali_lsb_fit(&lsb->g, (int)values[START] - 1, err);
    }
    sali_shared_list(&lsb->common, lsb, &learning);
    lsb->rate = values[RATE];
    lsb->updates = (int64_t)values[UPDATES];
    lsb->radius = (int64_t)values[RADIUS];
    lsb->density = values[OBJECTIVE] == DENSITY;
    lsb->gradient = SALI_OBJECT_ARRAY(lsb, double, lsb->g.n);
    lsb->candidate = SALI_OBJECT_ARRAY(lsb, double, lsb->g.n);
    lsb->optimiser =
        sali_optimiser_usual(values[OPTIMISER] == SGD ? SALI_SGD : SALI_ADAM, lsb->rate);
    bool ok = !sali_object_failed(lsb) && sali_optimiser_create(&lsb->optimiser, lsb->g.n);
    status = status == SAL_OK && !ok ? sali_fail_memory(err) : status;
    status = status ? status : sali_followed_gradient_couplings(&lsb->common, model, settings, err);
    return sali_object_finish(lsb, status, shared, err);
}

/* ---- the sampler */

/* Creates a shard's sampler: `lb` with the learned g. */
static sal_status create(const sali_chains *chains, const sali_sampler_settings *settings,
                         void *shared, void **self, sal_error *err)
{
    const sali_lsb *lsb = shared;
    sali_single_site_options options = sali_single_site_settings(chains, settings);
    options.balance = sali_lsb_balance(&lsb->g, chains->model->dtype);
    options.couplings = lsb->common.couplings;
    options.pairs = true;
    return sali_single_site_open(SALI_OBJECT(sali_single_site), chains, &options, self, err);
}

/* 1: a step can take any single variable to all its states; 0 with a window, which keeps some
 * states apart. */
static int64_t lsb_block_size(const double *values)
{
    return values[RADIUS] == 0 ? 1 : 0;
}

#define LSB_ENGINE(settings)                                                 \
    &(const sal_sampler_engine)                                              \
    {                                                                        \
        .local = true, .window = true, .variants = settings, .share = share, \
        SALI_SHARED_FUNCTIONS, .create = create, SALI_SINGLE_SITE_FUNCTIONS, \
        .block_size = lsb_block_size                                         \
    }

const sali_sampler sali_sampler_lsb1 = {
    .name = "lsb1",
    .doc = "locally self-balancing: lb with a learned mixture of balancing functions",
    .source = "Sansone 2022",
    .kinds = SAL_MOVES_FINITE | SAL_MOVES_UNBOUNDED,
    .needs_differences = true,
    .settings = lsb1_settings,
    .engine = LSB_ENGINE(lsb1_variants),
};

const sali_sampler sali_sampler_lsb2 = {
    .name = "lsb2",
    .doc = "locally self-balancing: lb with a balancing function by a monotonic network",
    .source = "Sansone 2022",
    .kinds = SAL_MOVES_FINITE | SAL_MOVES_UNBOUNDED,
    .needs_differences = true,
    .settings = lsb2_settings,
    .engine = LSB_ENGINE(lsb2_variants),
};
