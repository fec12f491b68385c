/* SPDX-License-Identifier: MIT */
/* Gibbs sampling of pairs: two variables of a block whose sum or labels are fixed are drawn from
 * their exact conditional given all others. For two levels this is the exchange of Kawasaki 1966
 * with the probabilities of a heat bath. A variable of a block that is free is drawn by itself. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/object.h"
#include "samplers/conditional.h"
#include "samplers/slice/pairs.h"
#include "samplers/slice/trials.h"

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
    sali_trials trials; /* of a row, f[n] is that of the present state */
    sali_pair *pair;    /* [n] */
    int32_t *at;        /* [2 sali_pairs_most] scratch */
} pair_gibbs;

static sal_status create(const sali_chains *chains, const sali_sampler_settings *settings,
                         void *shared, void **self, sal_error *err)
{
    (void)shared;
    pair_gibbs *g = SALI_OBJECT(pair_gibbs);
    if (!g) {
        return sali_fail_memory(err);
    }
    const int64_t most = sali_pairs_most(chains->space);
    g->pair = SALI_OBJECT_ARRAY(g, sali_pair, chains->n);
    g->at = SALI_OBJECT_ARRAY(g, int32_t, 2 * most);
    sal_status status =
        sali_pairs_open(g, chains->model, (int)settings->values[PAIRS], &g->pairs, err);
    status = status ? status : sali_trials_open(g, chains, most, &g->trials, err);
    return sali_object_finish(g, status, self, err);
}

static void refresh(void *self, sali_chains *chains)
{
    sali_trials_refresh(&((pair_gibbs *)self)->trials, chains);
}

static bool follows(const void *self)
{
    return ((const pair_gibbs *)self)->trials.tracker;
}

/* List the other codes that chain c's pair can have. */
static void list_moves(pair_gibbs *g, const sali_chains *chains, int64_t c)
{
    const sali_pair pair = g->pair[c];
    sali_trial_row *row = &g->trials.rows[c];
    row->n = sali_pair_codes(chains->space, pair, chains->codes + c * chains->space->n_variables,
                             g->at) -
             1;
    for (int64_t k = 0; k < row->n; k++) {
        row->move[k] = (sali_few){ pair.j < 0 ? 1 : 2,
                                   { pair.i, pair.j },
                                   { g->at[2 * k], g->at[2 * k + 1] } };
    }
}

/* Fill the rows with the codes that each chain's pair can have, and f of them. */
static void weigh(pair_gibbs *g, sali_chains *chains)
{
    for (int64_t c = 0; c < chains->n; c++) {
        list_moves(g, chains, c);
    }
    if (!g->trials.tracker) {
        sali_trials_start(chains);
    }
    sali_trials_evaluate(&g->trials, chains);
    for (int64_t c = 0; c < chains->n; c++) {
        g->trials.rows[c].f[g->trials.rows[c].n] = chains->f[c];
    }
}

/* Move chain c to entry k of its row. */
static void move(pair_gibbs *g, sali_chains *chains, int64_t c, int64_t k)
{
    const sali_trial_row *row = &g->trials.rows[c];
    const sali_few stay = { 0 }, *m = k < row->n ? &row->move[k] : &stay;
    sali_trials_follow(&g->trials, c, m);
    sali_chains_move_several(chains, c, m->n, m->site, m->code, row->f[k]);
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
        const sali_trial_row *row = &g->trials.rows[c];
        const int64_t k = all_forbidden(row->n + 1, row->f)
                              ? row->n
                              : sali_conditional_draw(row->n + 1, row->f, chains->beta[c],
                                                      sali_rng_uniform_at(&stream, 0));
        if (k < 0) {
            sali_trials_start(chains);
            sali_trials_note_bad(&g->trials, chains, c);
        } else {
            move(g, chains, c, k);
        }
    }
    sali_chains_tick(chains);
}

/* Whether a move from `now` leads to `target`, which differs from it in `moved` variables. */
static bool leads_to(const sali_few *m, const int32_t *now, const int32_t *target, int64_t moved)
{
    int64_t changes = 0;
    bool same = true;
    for (int64_t k = 0; k < m->n; k++) {
        changes += m->code[k] != now[m->site[k]];
        same &= m->code[k] == target[m->site[k]];
    }
    return same && changes == moved;
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
            const sali_trial_row *row = &g->trials.rows[c];
            double largest,
                sum = sali_conditional_norm(row->n + 1, row->f, chains->beta[c], &largest);
            int64_t moved = 0;
            for (int64_t v = 0; v < V; v++) {
                moved += target[v] != now[v];
            }
            for (int64_t k = 0; k <= row->n; k++) {
                const sali_few stay = { 0 }, *m = k < row->n ? &row->move[k] : &stay;
                if (leads_to(m, now, target, moved)) {
                    out[c] += p * exp(chains->beta[c] * (row->f[k] - largest)) / sum;
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
