/* SPDX-License-Identifier: MIT */
/* Gibbs sampling of pairs: two variables of a block whose sum or labels are fixed are drawn from
 * their exact conditional given all others. For two levels this is the exchange of Kawasaki 1966
 * with the probabilities of a heat bath. A variable of a block that is free is drawn by itself. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/object.h"
#include "models/tracker.h"
#include "samplers/conditional.h"
#include "samplers/slice/pairs.h"

enum { PAIRS };

static const sal_setting known_settings[] = {
    { "pairs", SALI_PAIRS_ANY, 0, 0, true,
      "any two variables of a block, or only those that are in a term of f together",
      sali_pair_words },
    { 0 },
};

static const char *const variants[] = { "", NULL };

typedef struct pair_gibbs {
    sali_pairs pairs;
    sali_tracker *tracker; /* NULL: f of other states is evaluated */
    int64_t most;          /* codes of a pair */
    sali_pair *pair;       /* [n] */
    int64_t *count;        /* [n] codes of the pair, the present ones last */
    int32_t *at;           /* [n x 2 most] */
    double *f;             /* [n x most] f of each */
} pair_gibbs;

static sal_status create(const sali_chains *chains, const sali_sampler_settings *settings,
                         void *shared, void **self, sal_error *err)
{
    (void)shared;
    pair_gibbs *g = SALI_OBJECT(pair_gibbs);
    if (!g) {
        return sali_fail_memory(err);
    }
    g->most = sali_pairs_most(chains->space);
    g->pair = SALI_OBJECT_ARRAY(g, sali_pair, chains->n);
    g->count = SALI_OBJECT_ARRAY(g, int64_t, chains->n);
    g->at = SALI_OBJECT_ARRAY(g, int32_t, 2 * chains->n * g->most);
    g->f = SALI_OBJECT_ARRAY(g, double, chains->n * g->most);
    sal_status status =
        sali_pairs_open(g, chains->model, (int)settings->values[PAIRS], &g->pairs, err);
    if (status == SAL_OK && chains->model->trackable) {
        status = sali_tracker_create_values(chains->model, chains->n, &g->tracker, err);
        status = status ? status : sali_object_own(g, g->tracker, sali_tracker_destroy, err);
    }
    return sali_object_finish(g, status, self, err);
}

static void refresh(void *self, sali_chains *chains)
{
    pair_gibbs *g = self;
    sali_chains_start(chains, false);
    if (g->tracker) {
        sali_tracker_start(g->tracker, chains->n, chains->codes, chains->f);
    }
}

static bool follows(const void *self)
{
    return ((const pair_gibbs *)self)->tracker;
}

/* The variables of a pair, and their number. */
static int64_t sites_of(sali_pair pair, int64_t sites[2])
{
    sites[0] = pair.i;
    sites[1] = pair.j;
    return pair.j < 0 ? 1 : 2;
}

/* f of the other codes of chain c's pair, by the tracker. */
static void track(pair_gibbs *g, int64_t c)
{
    int64_t sites[2], n = sites_of(g->pair[c], sites);
    for (int64_t k = 0; k < g->count[c] - 1; k++) {
        g->f[c * g->most + k] =
            sali_tracker_try(g->tracker, c, n, sites, g->at + 2 * (c * g->most + k), false);
    }
}

/* Set chain c's proposed state to the present one with its pair at codes `at` [2]. */
static void set_pair(sali_chains *chains, int64_t c, sali_pair pair, const int32_t *at)
{
    int32_t *codes = chains->codes_new + c * chains->space->n_variables;
    void *x = sali_row(chains, chains->x_new, c, chains->space->width);
    int64_t sites[2], n = sites_of(pair, sites);
    for (int64_t k = 0; k < n; k++) {
        codes[sites[k]] = at[k];
        sali_model_embed_one(chains->model, sites[k], at[k], x);
    }
}

/* f of the other codes of all chains' pairs, by evaluating entry k of all chains at once. */
static void evaluate(pair_gibbs *g, sali_chains *chains)
{
    const sal_space *space = chains->space;
    int64_t largest = 0;
    memcpy(chains->codes_new, chains->codes,
           (size_t)(chains->n * space->n_variables) * sizeof *chains->codes);
    memcpy(chains->x_new, chains->x, (size_t)(chains->n * space->width) * chains->element);
    for (int64_t c = 0; c < chains->n; c++) {
        largest = g->count[c] > largest ? g->count[c] : largest;
    }
    for (int64_t k = 0; k < largest - 1; k++) {
        for (int64_t c = 0; c < chains->n; c++) {
            const int64_t entry = k < g->count[c] ? k : g->count[c] - 1;
            set_pair(chains, c, g->pair[c], g->at + 2 * (c * g->most + entry));
        }
        sali_value(chains->evaluator, chains->n, chains->codes_new, chains->x_new, chains->f_new);
        for (int64_t c = 0; c < chains->n; c++) {
            if (k < g->count[c] - 1) {
                g->f[c * g->most + k] = chains->f_new[c];
            }
        }
    }
}

/* The codes that each chain's pair can have, and beta f of them. */
static void weigh(pair_gibbs *g, sali_chains *chains)
{
    for (int64_t c = 0; c < chains->n; c++) {
        g->count[c] = sali_pair_codes(chains->space, g->pair[c],
                                      chains->codes + c * chains->space->n_variables,
                                      g->at + 2 * c * g->most);
        if (g->tracker) {
            track(g, c);
        }
    }
    if (!g->tracker) {
        evaluate(g, chains);
    }
    for (int64_t c = 0; c < chains->n; c++) {
        g->f[c * g->most + g->count[c] - 1] = chains->f[c];
    }
}

/* Move chain c to entry k of its pair's codes. */
static void move(pair_gibbs *g, sali_chains *chains, int64_t c, int64_t k)
{
    const int32_t *at = g->at + 2 * (c * g->most + k);
    int64_t sites[2], n = sites_of(g->pair[c], sites);
    double f = g->f[c * g->most + k];
    if (g->tracker && k < g->count[c] - 1) {
        f = sali_tracker_try(g->tracker, c, n, sites, at, true);
    }
    sali_chains_move_several(chains, c, n, sites, at, f);
}

/* Note the first entry of chain c whose f is NaN or +inf. */
static void note_bad(const pair_gibbs *g, sali_chains *chains, int64_t c)
{
    const int64_t entry = c * g->most;
    int64_t k = 0;
    while (k < g->count[c] - 1 && g->f[entry + k] < INFINITY) {
        k++;
    }
    memcpy(chains->codes_new + c * chains->space->n_variables,
           chains->codes + c * chains->space->n_variables,
           (size_t)chains->space->n_variables * sizeof *chains->codes);
    set_pair(chains, c, g->pair[c], g->at + 2 * (entry + k));
    sali_chains_note_bad(chains, c, chains->codes_new, g->f[entry + k]);
}

/* Whether the present codes, and all others, are forbidden. */
static bool all_forbidden(int64_t n, const double *f)
{
    bool all = true;
    for (int64_t k = 0; k < n; k++) {
        all &= f[k] == -INFINITY;
    }
    return all;
}

static void step(void *self, sali_chains *chains)
{
    pair_gibbs *g = self;
    if (chains->step[0] % SALI_RENEWAL_STEPS == 0) {
        refresh(g, chains);
    }
    for (int64_t c = 0; c < chains->n; c++) {
        const sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
        g->pair[c] = sali_pairs_draw(&g->pairs, &stream);
    }
    weigh(g, chains);
    for (int64_t c = 0; c < chains->n; c++) {
        const sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_ACCEPT);
        const int64_t k =
            all_forbidden(g->count[c], g->f + c * g->most)
                ? g->count[c] - 1
                : sali_conditional_draw(g->count[c], g->f + c * g->most, chains->beta[c],
                                        sali_rng_uniform_at(&stream, 0));
        if (k < 0) {
            note_bad(g, chains, c);
        } else {
            move(g, chains, c, k);
        }
    }
    sali_chains_tick(chains);
}

/* log of the sum over pairs of the probability of the pair and of `to` given it. */
static void log_q(void *self, sali_chains *chains, const int32_t *to, double *out)
{
    pair_gibbs *g = self;
    const int64_t V = chains->space->n_variables;
    memset(out, 0, (size_t)chains->n * sizeof *out);
    for (int64_t item = 0; item < sali_pairs_count(&g->pairs); item++) {
        sali_pair pair;
        const double p = sali_pairs_at(&g->pairs, item, &pair);
        for (int64_t c = 0; c < chains->n; c++) {
            g->pair[c] = pair;
        }
        weigh(g, chains);
        for (int64_t c = 0; p > 0 && c < chains->n; c++) {
            const int32_t *target = to + c * V, *now = chains->codes + c * V;
            const double *f = g->f + c * g->most;
            double largest, sum = sali_conditional_norm(g->count[c], f, chains->beta[c], &largest);
            bool elsewhere = false;
            for (int64_t v = 0; v < V; v++) {
                elsewhere |= v != pair.i && v != pair.j && target[v] != now[v];
            }
            for (int64_t k = 0; !elsewhere && k < g->count[c]; k++) {
                const int32_t *at = g->at + 2 * (c * g->most + k);
                if (target[pair.i] == at[0] && (pair.j < 0 || target[pair.j] == at[1])) {
                    out[c] += p * exp(chains->beta[c] * (f[k] - largest)) / sum;
                }
            }
        }
    }
    for (int64_t c = 0; c < chains->n; c++) {
        out[c] = log(out[c]);
    }
}

const sali_sampler sali_sampler_pair_gibbs = {
    .name = "pair-gibbs",
    .doc = "Gibbs of two variables given the others, where their sum or labels are fixed",
    .source = "Kawasaki 1966, with the probabilities of Geman & Geman 1984",
    .kinds = SAL_MOVES_FINITE | SAL_MOVES_FIXED,
    .settings = known_settings,
    .engine =
        &(const sal_sampler_engine){
            .rejection_free = true,
            .variants = variants,
            .create = create,
            .destroy = sali_object_free,
            .refresh = refresh,
            .follows = follows,
            .step = step,
            .log_q = log_q,
        },
};
