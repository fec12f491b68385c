/* Gibbs sampling: a systematic scan of exact conditionals; step t moves variable t mod V. */
#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/tracker.h"
#include "samplers/sampler.h"

typedef struct gibbs {
    sali_tracker *tracker; /* NULL: the model cannot be tracked cheaply */
    int64_t *site;         /* [n] the variable of this step */
    double *delta;         /* [n x max_states] differences of f */
} gibbs;

static void gibbs_destroy(void *self)
{
    gibbs *g = self;
    if (g) {
        sali_tracker_destroy(g->tracker);
        sali_free(g->site);
        sali_free(g->delta);
        sali_free(g);
    }
}

static sal_status gibbs_create(const sali_chains *chains, const sali_sampler_settings *settings,
                               void *shared, void **self, sal_error *err)
{
    (void)settings;
    (void)shared;
    gibbs *g = SALI_NEW(gibbs);
    if (!g) {
        return sali_fail_memory(err);
    }
    g->site = SALI_NEW_ARRAY(int64_t, chains->n);
    g->delta = SALI_NEW_ARRAY(double, chains->n * chains->space->max_states);
    sal_status status = g->site && g->delta ? SAL_OK : sali_fail_memory(err);
    if (status == SAL_OK && chains->model->trackable) {
        status = sali_tracker_create(chains->model, chains->n, &g->tracker, err);
    }
    if (status != SAL_OK) {
        gibbs_destroy(g);
        return status;
    }
    *self = g;
    return SAL_OK;
}

static void gibbs_refresh(void *self, sali_chains *chains)
{
    gibbs *g = self;
    sali_chains_start(chains, false);
    if (g->tracker) {
        sali_tracker_start(g->tracker, chains->n, chains->codes, chains->f);
    }
}

/* Differences of each chain's variable of this step, times its inverse temperature. */
static void conditionals(gibbs *g, sali_chains *chains)
{
    for (int64_t c = 0; c < chains->n; c++) {
        g->site[c] = (int64_t)(chains->step[c] % (uint64_t)chains->space->n_variables);
    }
    for (int64_t c = 0; g->tracker && c < chains->n; c++) {
        sali_tracker_differences(g->tracker, c, g->site[c],
                                 g->delta + c * chains->space->max_states);
    }
    if (!g->tracker) {
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

/* The largest difference, and the sum of exp(delta - largest). */
static double norm(const double *delta, int32_t states, double *largest)
{
    double sum = 0;
    *largest = -INFINITY;
    for (int32_t k = 0; k < states; k++) {
        *largest = delta[k] > *largest ? delta[k] : *largest;
    }
    for (int32_t k = 0; k < states; k++) {
        sum += exp(delta[k] - *largest);
    }
    return sum;
}

/* A code by its conditional probability; -1 if a difference is NaN or +inf. */
static int32_t draw(const double *delta, int32_t states, double u)
{
    double largest, sum = norm(delta, states, &largest), rest = u * sum;
    int32_t chosen = 0;
    if (isnan(sum)) {
        return -1;
    }
    for (int32_t k = 0; k < states; k++) {
        double weight = exp(delta[k] - largest);
        if (weight > 0) {
            chosen = k;
            rest -= weight;
            if (rest < 0) {
                break;
            }
        }
    }
    return chosen;
}

/* Report the state of chain c with its variable at a code where f is not a number below +inf. */
static void note_bad(const gibbs *g, sali_chains *chains, int64_t c)
{
    const sal_space *space = chains->space;
    const double *delta = g->delta + c * space->max_states;
    int32_t *code = &chains->codes[c * space->n_variables + g->site[c]], kept = *code, bad = 0;
    while (delta[bad] < INFINITY) {
        bad++;
    }
    *code = bad;
    sali_chains_note_bad(chains, c, chains->codes, delta[bad]);
    *code = kept;
}

/* f is carried along by differences; at these steps it is made anew, so that rounding cannot drift
 * and a resumed run sees the same numbers. */
#define REBUILD_EVERY 65536

static void gibbs_step(void *self, sali_chains *chains)
{
    gibbs *g = self;
    const sal_space *space = chains->space;
    if (chains->step[0] % REBUILD_EVERY == 0) {
        gibbs_refresh(g, chains);
    }
    conditionals(g, chains);
    for (int64_t c = 0; c < chains->n; c++) {
        const double *delta = g->delta + c * space->max_states;
        int64_t site = g->site[c];
        sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
        int32_t code = draw(delta, space->variables[site].states, sali_rng_uniform_at(&stream, 0));
        if (code < 0) {
            note_bad(g, chains, c);
            continue;
        }
        double f = chains->f[c] + delta[code] / chains->beta[c];
        if (g->tracker && code != chains->codes[c * space->n_variables + site]) {
            f = sali_tracker_move(g->tracker, c, site, code);
        }
        sali_chains_move(chains, c, site, code, f);
    }
    sali_chains_tick(chains);
}

static void gibbs_log_q(void *self, sali_chains *chains, const int32_t *to, double *log_q)
{
    gibbs *g = self;
    const sal_space *space = chains->space;
    conditionals(g, chains);
    for (int64_t c = 0; c < chains->n; c++) {
        const int32_t *from = chains->codes + c * space->n_variables;
        const int32_t *target = to + c * space->n_variables;
        const double *delta = g->delta + c * space->max_states;
        bool elsewhere = false;
        for (int64_t v = 0; v < space->n_variables; v++) {
            elsewhere |= v != g->site[c] && from[v] != target[v];
        }
        double largest, sum = norm(delta, space->variables[g->site[c]].states, &largest);
        log_q[c] = elsewhere ? -INFINITY : delta[target[g->site[c]]] - largest - log(sum);
    }
}

const sali_sampler sali_sampler_gibbs = {
    .name = "gibbs",
    .doc = "Gibbs: exact conditional of one variable a step, systematic scan",
    .source = "Geman & Geman 1984; Grathwohl et al. 2021, sec. 2.1",
    .flags = SALI_SAMPLER_EXACT | SALI_SAMPLER_DIFFERENCES | SALI_SAMPLER_SWEEP |
             SALI_SAMPLER_REJECTION_FREE,
    .kinds = SALI_FINITE_KINDS,
    .create = gibbs_create,
    .destroy = gibbs_destroy,
    .refresh = gibbs_refresh,
    .step = gibbs_step,
    .log_q = gibbs_log_q,
};
