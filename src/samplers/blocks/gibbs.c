/* SPDX-License-Identifier: MIT */
/* Gibbs sampling: one variable a step is drawn from its exact conditional. In a systematic scan
 * step t moves variable t mod V; in a shuffled one each sweep of V steps has its own order
 * (samplers/blocks/shuffle.h); in a random one each chain draws its variable, uniformly or by
 * probabilities that warm-up adapts (samplers/blocks/adaptive_scan.h).
 *
 * Or a step draws a whole block of variables (samplers/blocks/block_conditional.h); blocks are
 * taken in turn or shuffled, and may be regrouped in every sweep. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/object.h"
#include "models/tracker.h"
#include "samplers/blocks/adaptive_scan.h"
#include "samplers/blocks/block_conditional.h"
#include "samplers/conditional.h"
#include "samplers/blocks/field_scan.h"
#include "samplers/blocks/pairwise_scan.h"
#include "samplers/followed_gradient.h"
#include "samplers/sampler.h"

enum { SCAN, BLOCK, BLOCKS };

static const char *const scans[] = { "systematic", "shuffled", "random", "adaptive", NULL };
static const char *const partitions[] = { "consecutive", "random", NULL };

static const sal_setting known_settings[] = {
    { "scan", SALI_SCAN_SYSTEMATIC, 0, SALI_SCAN_ADAPTIVE, true,
      "which variable moves: t mod V, each once a sweep in a new order, any, or adapted", scans },
    { "block", 1, 1, INT32_MAX, true, "variables drawn at once, from their joint conditional",
      NULL },
    { "blocks", 0, 0, 1, true, "of consecutive variables, or made anew in every sweep",
      partitions },
    { 0 },
};

static const char *const variants[] = {
    "",        "scan=shuffled",         "scan=random",           "scan=adaptive",         "block=2",
    "block=3", "block=2,scan=shuffled", "block=2,blocks=random", "block=3,blocks=random", NULL
};

static const char *obstacle(const sal_model *model, const double *values, const void *data)
{
    (void)model;
    (void)data;
    return values[BLOCK] > 1 && values[SCAN] > SALI_SCAN_SHUFFLED
               ? "scan=random and scan=adaptive choose single variables; with a block above 1 "
                 "take scan=systematic, scan=shuffled or blocks=random"
           : values[BLOCK] == 1 && values[BLOCKS] > 0
               ? "blocks=random needs a block of 2 or more; for single variables take "
                 "scan=shuffled"
               : NULL;
}

/* ---- one shard */

typedef struct gibbs {
    sali_block_conditional *blocks; /* blocks of more than one variable; if not NULL, nothing
                                       else is used */
    sali_site_choice choice;
    const sali_adaptive_scan *adaptive; /* shared; NULL with another scan */
    double *cumulative;       /* [V] sums of the shared probabilities; NULL unless adaptive */
    sali_scan_wishes wishes;  /* what `adapt` collects; NULLs unless adaptive */
    sali_pairwise_scan *scan; /* NULL: the model is not pairwise */
    bool scans;               /* since the last refresh steps use `scan`; else one of the ways
                                 below */
    sali_field_scan *fields;  /* NULL: couplings are not dense */
    bool fielded;             /* since the last refresh steps use `fields`; else the tracker or
                                 the evaluator */
    sali_tracker *tracker;    /* NULL: the model cannot be tracked cheaply, or has `fields` */
    int64_t *site;            /* [n] the variable of this step */
    double *delta;            /* [n x max_states] differences of f */
} gibbs;

/* ---- adaptation */

/* Write a shard's wishes and visits to `numbers` [2V], and clear them. */
static void take_wishes(void *context, int64_t shard, double *numbers)
{
    const sali_warmup *warmup = context;
    const gibbs *g = warmup->selves[shard];
    const size_t bytes = (size_t)warmup->model->space->n_variables * sizeof *numbers;
    memcpy(numbers, g->wishes.wishes, bytes);
    memcpy(numbers + warmup->model->space->n_variables, g->wishes.visits, bytes);
    memset(g->wishes.wishes, 0, bytes);
    memset(g->wishes.visits, 0, bytes);
}

/* Collect the shards' wishes and visits after a window; recompute the probabilities when due. */
static sal_status adapt(void *piece, const sali_warmup *warmup, bool *renewed, sal_error *err)
{
    sali_adaptive_scan *adaptive = piece;
    const int64_t V = warmup->model->space->n_variables;
    double *collected;
    sal_status status =
        sali_warmup_gather(warmup, 2 * V, take_wishes, (void *)warmup, &collected, err);
    if (status != SAL_OK) {
        return status;
    }
    for (int64_t k = 0; k < warmup->n_shards; k++) {
        sali_adaptive_scan_collect(adaptive, collected + 2 * V * k, collected + 2 * V * k + V);
    }
    sali_free(collected);
    if (sali_adaptive_scan_due(adaptive, warmup)) {
        sali_adaptive_scan_learn(adaptive);
        *renewed = true;
    }
    return SAL_OK;
}

/* ---- shared state */

typedef struct gibbs_shared {
    sali_shared common;           /* couplings: dense ones, or for blocks any with which
                                     gradients are followed */
    sali_adaptive_scan *adaptive; /* NULL with another scan */
} gibbs_shared;

static const sali_adaptive scan_adaptive = { adapt, sali_adaptive_scan_state,
                                             sali_adaptive_scan_changed };

/* Creates a gibbs_shared: the adaptive scan, if asked for, and couplings. */
static sal_status share(const sal_model *model, const sali_sampler_settings *settings,
                        void **shared, sal_error *err)
{
    gibbs_shared *s = SALI_OBJECT(gibbs_shared);
    if (!s) {
        return sali_fail_memory(err);
    }
    if (settings->values[SCAN] == SALI_SCAN_ADAPTIVE) {
        s->adaptive = sali_adaptive_scan_open(s, model->space->n_variables);
        sali_shared_list(&s->common, s->adaptive, &scan_adaptive);
    }
    sal_status status =
        settings->values[BLOCK] > 1
            ? sali_followed_gradient_couplings(&s->common, model, settings, err)
            : sali_own_couplings(s, model, SALI_DENSE_COUPLINGS, &s->common.couplings, err);
    return sali_object_finish(s, status, shared, err);
}

/* ---- creation */

/* Create g->blocks by the settings "block", "blocks" and "scan"; they belong to `g`. */
static sal_status create_blocks(gibbs *g, const sali_chains *chains,
                                const sali_sampler_settings *settings, sali_couplings *couplings,
                                sal_error *err)
{
    sali_blocks blocks;
    const int64_t size = (int64_t)settings->values[BLOCK];
    sal_status status = settings->values[BLOCKS] > 0
                            ? sali_blocks_random(chains->space, size, &blocks, err)
                            : sali_blocks_consecutive(chains->space, size, &blocks, err);
    if (status != SAL_OK) {
        return status;
    }
    sali_blocks_shuffle(&blocks, settings->values[SCAN] == SALI_SCAN_SHUFFLED);
    status = sali_block_conditional_create(chains, blocks, size, couplings, &g->blocks, err);
    return status ? status : sali_object_own(g, g->blocks, sali_object_free, err);
}

/* Open the ways to draw single variables that suit the model: pairwise scan, fields, tracker. */
static sal_status create_singles(gibbs *g, const sali_chains *chains, sali_couplings *couplings,
                                 sal_error *err)
{
    sal_status status = g->choice.scan == SALI_SCAN_SYSTEMATIC
                            ? sali_pairwise_scan_open(g, chains, &g->scan, err)
                            : SAL_OK;
    if (status == SAL_OK && couplings) {
        g->fields = sali_field_scan_open(g, chains, couplings);
    } else if (status == SAL_OK && chains->model->trackable) {
        status = sali_tracker_create(chains->model, chains->n, SALI_WANT_VALUE, &g->tracker, err);
        status = status ? status : sali_object_own(g, g->tracker, sali_tracker_destroy, err);
    }
    return status;
}

/* Creates a shard's state, for blocks or for single variables. */
static sal_status gibbs_create(const sali_chains *chains, const sali_sampler_settings *settings,
                               void *shared, void **self, sal_error *err)
{
    int64_t block = (int64_t)settings->values[BLOCK];
    const gibbs_shared *s = shared;
    gibbs *g = SALI_OBJECT(gibbs);
    if (!g) {
        return sali_fail_memory(err);
    }
    g->site = SALI_OBJECT_ARRAY(g, int64_t, chains->n);
    g->delta = SALI_OBJECT_ARRAY(g, double, chains->n * chains->space->max_states);
    g->choice.scan = (int)settings->values[SCAN];
    g->choice.n = chains->space->n_variables;
    g->adaptive = s->adaptive;
    if (g->adaptive) {
        g->choice.cumulative = g->cumulative = SALI_OBJECT_ARRAY(g, double, g->choice.n);
        g->wishes.wishes = SALI_OBJECT_ARRAY(g, double, g->choice.n);
        g->wishes.visits = SALI_OBJECT_ARRAY(g, double, g->choice.n);
    }
    if (block == 1 && g->choice.scan == SALI_SCAN_SHUFFLED) {
        g->choice.shuffle = sali_shuffle_open(g, chains, g->choice.n);
    }
    sal_status status = block > 1 ? create_blocks(g, chains, settings, s->common.couplings, err)
                                  : create_singles(g, chains, s->common.couplings, err);
    return sali_object_finish(g, status, self, err);
}

/* Compute f of the chains' states by the model, and start the tracker from them. */
static void recompute_f(gibbs *g, sali_chains *chains)
{
    sali_chains_start(chains, false);
    if (g->tracker) {
        sali_tracker_start(g->tracker, chains->n, chains->codes, chains->f);
    }
}

/* Set how single variables are chosen; reads the shared probabilities of an adaptive scan. */
static void refresh_choice(gibbs *g, const sali_chains *chains)
{
    sali_shuffle_refresh(g->choice.shuffle, chains);
    g->wishes.coldest = sali_chains_coldest(chains);
    double sum = 0;
    for (int64_t i = 0; g->adaptive && i < g->adaptive->n; i++) {
        g->cumulative[i] = sum += g->adaptive->p[i];
    }
}

/* As the engine's record says: start from the chains' states by the fastest way that the model
 * allows now. */
static void gibbs_refresh(void *self, sali_chains *chains)
{
    gibbs *g = self;
    if (g->blocks) {
        sali_block_conditional_refresh(g->blocks, chains);
        return;
    }
    refresh_choice(g, chains);
    g->scans = g->scan && sali_pairwise_scan_refresh(g->scan, chains);
    g->fielded = !g->scans && g->fields && sali_field_scan_refresh(g->fields, chains);
    if (!g->scans && !g->fielded) {
        recompute_f(g, chains);
    }
}

static bool gibbs_follows(const void *self)
{
    const gibbs *g = self;
    return g->blocks ? sali_block_conditional_follows(g->blocks)
                     : g->scans || g->fielded || g->tracker;
}

/* The variable that chain c moves at its present step. */
static int64_t choose_site(const gibbs *g, const sali_chains *chains, int64_t c)
{
    uint32_t words[4];
    sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
    sali_rng_words(&stream, 0, 4, words);
    return sali_choose_site(&g->choice, c, chains->step[c], words[2], words[3]);
}

/* Fill g->delta with the differences of each chain's variable `site`, times its inverse
 * temperature: by the tracker, or by evaluating neighbours. */
static void fill_differences(gibbs *g, sali_chains *chains)
{
    const bool tracked = g->tracker && !g->scans;
    for (int64_t c = 0; tracked && c < chains->n; c++) {
        sali_tracker_differences(g->tracker, c, g->site[c],
                                 g->delta + c * chains->space->max_states);
    }
    if (!tracked) {
        sali_differences_at(chains->evaluator, chains->n, chains->codes, chains->x, g->site,
                            chains->f, g->delta);
    }
    for (int64_t c = 0; c < chains->n; c++) {
        double *delta = g->delta + c * chains->space->max_states;
        for (int32_t k = 0; k < chains->space->variables[g->site[c]].states; k++) {
            delta[k] *= chains->beta[c];
        }
    }
}

/* Report the state of chain c with its variable at a code where f is not a number below +inf. */
static void note_bad(const gibbs *g, sali_chains *chains, int64_t c)
{
    const double *delta = g->delta + c * chains->space->max_states;
    int32_t bad = 0;
    while (delta[bad] < INFINITY) {
        bad++;
    }
    sali_chains_note_bad_move(chains, c, chains->codes, g->site[c], bad, delta[bad]);
}

/* Add 1 - p(present state | rest) of chain c's variable to the wishes, and count the visit. The
 * present state's difference is 0. */
static void note_wish(gibbs *g, int64_t c, const double *delta, int32_t states)
{
    double largest, sum = sali_conditional_norm(states, delta, 1, &largest);
    g->wishes.wishes[g->site[c]] += 1 - exp(-largest) / sum;
    g->wishes.visits[g->site[c]] += 1;
}

/* A step by the tracker, or by evaluating neighbours. */
static void track_step(gibbs *g, sali_chains *chains)
{
    const sal_space *space = chains->space;
    if (g->blocks) {
        sali_block_conditional_step(g->blocks, chains);
        return;
    }
    if (chains->step[0] % SALI_RENEWAL_STEPS == 0) { /* stays with this way of stepping */
        refresh_choice(g, chains);
        recompute_f(g, chains);
    }
    for (int64_t c = 0; c < chains->n; c++) {
        g->site[c] = choose_site(g, chains, c);
    }
    fill_differences(g, chains);
    for (int64_t c = 0; c < chains->n; c++) {
        const double *delta = g->delta + c * space->max_states;
        int64_t site = g->site[c];
        sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
        int32_t code = (int32_t)sali_conditional_draw(space->variables[site].states, delta, 1,
                                                      sali_rng_uniform_at(&stream, 0));
        if (code < 0) {
            note_bad(g, chains, c);
            continue;
        }
        if (g->adaptive && chains->beta[c] == g->wishes.coldest) {
            note_wish(g, c, delta, space->variables[site].states);
        }
        double f = chains->f[c] + delta[code] / chains->beta[c];
        if (g->tracker && code != chains->codes[c * space->n_variables + site]) {
            f = sali_tracker_move(g->tracker, c, site, code);
        }
        sali_chains_move(chains, c, site, code, f);
    }
    sali_chains_tick(chains);
}

/* n steps by the way that the last refresh chose. */
static void gibbs_steps(void *self, sali_chains *chains, int64_t n)
{
    gibbs *g = self;
    if (g->scans) {
        sali_pairwise_scan_steps(g->scan, chains, n);
        return;
    }
    if (g->fielded) {
        sali_field_scan_steps(g->fields, chains, &g->choice, g->adaptive ? &g->wishes : NULL, n);
        return;
    }
    for (int64_t k = 0; k < n; k++) {
        track_step(g, chains);
    }
}

static void gibbs_step(void *self, sali_chains *chains)
{
    gibbs_steps(self, chains, 1);
}

/* ---- the proposal's probability */

/* log p(state of `to` at the site | rest); -inf if `to` differs elsewhere. */
static double conditional_log_q(const gibbs *g, const sali_chains *chains, int64_t c,
                                const int32_t *target)
{
    const sal_space *space = chains->space;
    const int32_t *from = chains->codes + c * space->n_variables;
    const double *delta = g->delta + c * space->max_states;
    bool elsewhere = false;
    for (int64_t v = 0; v < space->n_variables; v++) {
        elsewhere |= v != g->site[c] && from[v] != target[v];
    }
    double largest,
        sum = sali_conditional_norm(space->variables[g->site[c]].states, delta, 1, &largest);
    return elsewhere ? -INFINITY : delta[target[g->site[c]]] - largest - log(sum);
}

static bool is_random(const gibbs *g)
{
    return g->choice.scan == SALI_SCAN_RANDOM || g->choice.scan == SALI_SCAN_ADAPTIVE;
}

/* log q of a random scan: summed over the variables that may be drawn. */
static void random_log_q(gibbs *g, sali_chains *chains, const int32_t *to, double *log_q)
{
    int64_t V = chains->space->n_variables;
    memset(log_q, 0, (size_t)chains->n * sizeof *log_q);
    for (int64_t v = 0; v < V; v++) {
        double p = g->adaptive ? g->adaptive->p[v] : 1 / (double)V;
        for (int64_t c = 0; c < chains->n; c++) {
            g->site[c] = v;
        }
        fill_differences(g, chains);
        for (int64_t c = 0; c < chains->n; c++) {
            log_q[c] += p * exp(conditional_log_q(g, chains, c, to + c * V));
        }
    }
    for (int64_t c = 0; c < chains->n; c++) {
        log_q[c] = log(log_q[c]);
    }
}

/* log q(present state -> to) [n] of the next step, by blocks, summed over variables, or of the
 * chosen variable. */
static void gibbs_log_q(void *self, sali_chains *chains, const int32_t *to, double *log_q)
{
    gibbs *g = self;
    if (g->blocks) {
        sali_block_conditional_log_q(g->blocks, chains, NULL, to, log_q);
        return;
    }
    if (is_random(g)) {
        random_log_q(g, chains, to, log_q);
        return;
    }
    for (int64_t c = 0; c < chains->n; c++) {
        g->site[c] = choose_site(g, chains, c);
    }
    fill_differences(g, chains);
    for (int64_t c = 0; c < chains->n; c++) {
        log_q[c] = conditional_log_q(g, chains, c, to + c * chains->space->n_variables);
    }
}

/* A random scan is the same kernel at every step. */
static int64_t gibbs_pieces(const void *self, const sali_chains *chains)
{
    const gibbs *g = self;
    return g->blocks      ? sali_block_conditional_pieces(g->blocks, chains)
           : is_random(g) ? 1
                          : chains->space->n_variables;
}

static bool gibbs_sweeps(const void *self)
{
    const gibbs *g = self;
    return g->scan != NULL;
}

static int64_t gibbs_block_size(const double *values)
{
    return values[BLOCKS] > 0 ? 0 : (int64_t)values[BLOCK];
}

const sali_sampler sali_sampler_gibbs = {
    .name = "gibbs",
    .doc = "Gibbs: exact conditional of a variable, or of a block, in turn or at random",
    .source = "Geman & Geman 1984; van den Hoek 2022, sec. 2.1.2",
    .needs_differences = true,
    .settings = known_settings,
    .obstacle = obstacle,
    .engine =
        &(const sal_sampler_engine){
            .rejection_free = true,
            .variants = variants,
            .share = share,
            SALI_SHARED_FUNCTIONS,
            .create = gibbs_create,
            .destroy = sali_object_free,
            .refresh = gibbs_refresh,
            .follows = gibbs_follows,
            .step = gibbs_step,
            .steps = gibbs_steps,
            .log_q = gibbs_log_q,
            .pieces = gibbs_pieces,
            .sweeps = gibbs_sweeps,
            .block_size = gibbs_block_size,
        },
};
