/* SPDX-License-Identifier: MIT */
/* The algorithm of Wolff (1989) with fields: one cluster grows from a random variable by the bonds
 * of Swendsen & Wang, and is shifted, to a uniform other state if there are more than two. A bond
 * that is missing at the border is as probable as f demands, so that the ratio of Metropolis and
 * Hastings is the one of the fields alone.
 *
 * A step takes time in proportion to the cluster: f is updated by differences. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/object.h"
#include "samplers/clusters/clusters.h"

/* Random words that are made together: first a few, as most clusters are small where there are
 * many. */
enum { FEW = 16, MANY = 64 };

typedef struct wolff {
    sali_clusters common;
    int32_t *cluster; /* [V] its variables, in the order in which they joined */
    uint32_t *joined; /* [V] the stamp of the last cluster that a variable was in */
    uint32_t stamp;
    bool usable; /* since the last refresh there is a graph */

    /* The random words of one step: `next` is the number of the next, all before `end` are made. */
    sali_stream stream, ties;
    uint32_t words[MANY];
    int64_t next, end;

    /* The chance of no bond of the last edge that was asked for. */
    double strength, beta;
    sali_chance broken;
} wolff;

/* ---- random numbers */

/* Begin the words of chain c's present step; the first block is for the first variable and the
 * shift. */
static void begin_words(wolff *w, const sali_chains *chains, int64_t c)
{
    w->stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
    w->ties = sali_chains_stream(chains, c, SALI_RNG_AUXILIARY);
    w->next = w->end = 0;
}

/* The next word; *number is how many were taken before. */
static inline uint32_t next_word(wolff *w, int64_t *number)
{
    if (w->next == w->end) {
        const int64_t n = w->next == 0 ? FEW : MANY;
        sali_rng_words(&w->stream, (uint32_t)(1 + w->next / 4), n, w->words);
        w->end += n;
    }
    *number = w->next++;
    const int64_t first = *number < FEW ? 0 : FEW;
    return w->words[(*number - first) % MANY];
}

/* Whether a satisfied edge of this strength gets a bond. */
static inline bool draw_bond(wolff *w, double strength, double beta)
{
    int64_t number;
    const uint32_t word = next_word(w, &number);
    if (strength != w->strength || beta != w->beta) {
        w->strength = strength;
        w->beta = beta;
        w->broken = sali_chance_of(exp(-beta * fabs(strength)));
    }
    return !sali_chance_holds(w->broken, word, &w->ties, (uint32_t)number);
}

/* ---- a step */

/* Mark variable i as one of the cluster. */
static inline void add(wolff *w, int64_t *n, int32_t i)
{
    w->joined[i] = w->stamp;
    w->cluster[(*n)++] = i;
}

/* A new stamp, which no variable has. */
static void begin_cluster(wolff *w)
{
    if (++w->stamp == 0) {
        memset(w->joined, 0, (size_t)w->common.graph.n * sizeof *w->joined);
        w->stamp = 1;
    }
}

/* Grow a cluster of chain c from variable `first`; returns the number of its variables. An edge is
 * asked once: the second of its ends finds the first in the cluster, or was refused by it. */
static int64_t grow(wolff *w, const sali_chains *chains, int64_t c, int32_t first)
{
    const sali_cluster_graph *g = &w->common.graph;
    const int32_t *codes = chains->codes + c * g->n;
    const double beta = chains->beta[c];
    int64_t n = 0;
    begin_cluster(w);
    add(w, &n, first);
    for (int64_t at = 0; at < n; at++) {
        const int32_t i = w->cluster[at];
        for (int64_t k = g->begin[i]; k < g->begin[i + 1]; k++) {
            const int32_t j = g->to[k];
            const bool satisfied = (codes[i] == codes[j]) == (g->strength[k] > 0);
            if (satisfied && w->joined[j] != w->stamp && draw_bond(w, g->strength[k], beta)) {
                add(w, &n, j);
            }
        }
    }
    return n;
}

/* The code of variable i after the shift. */
static inline int32_t shifted(const sali_cluster_graph *g, const int32_t *codes, int64_t i,
                              int32_t shift)
{
    const int32_t code = codes[i] + shift;
    return code >= g->states[i] ? code - g->states[i] : code;
}

/* What the cluster's n variables add to f by the shift: in fields, and at its border. */
static double change_fields(const wolff *w, const int32_t *codes, int64_t n, int32_t shift)
{
    const sali_cluster_graph *g = &w->common.graph;
    double sum = 0;
    for (int64_t at = 0; g->fields && at < n; at++) {
        const int32_t i = w->cluster[at];
        sum += sali_clusters_gain(g, i, codes[i], shifted(g, codes, i, shift));
    }
    return sum;
}

static double change_border(const wolff *w, const int32_t *codes, int64_t n, int32_t shift)
{
    const sali_cluster_graph *g = &w->common.graph;
    double sum = 0;
    for (int64_t at = 0; at < n; at++) {
        const int32_t i = w->cluster[at], to = shifted(g, codes, i, shift);
        for (int64_t k = g->begin[i]; k < g->begin[i + 1]; k++) {
            const int32_t j = g->to[k];
            const int change = (to == codes[j]) - (codes[i] == codes[j]);
            sum += w->joined[j] == w->stamp ? 0 : change * g->strength[k];
        }
    }
    return sum;
}

/* Shift the n variables of the cluster in codes and x of chain c. */
static void apply_shift(const wolff *w, sali_chains *chains, int64_t c, int64_t n, int32_t shift)
{
    const sali_cluster_graph *g = &w->common.graph;
    int32_t *codes = chains->codes + c * g->n;
    void *x = sali_row(chains, chains->x, c, chains->space->width);
    for (int64_t at = 0; at < n; at++) {
        const int32_t i = w->cluster[at];
        codes[i] = shifted(g, codes, i, shift);
        sali_model_embed_one(chains->model, i, codes[i], x);
        chains->jump_sum[c] += w->common.span[i];
    }
}

/* One step of chain c. */
static void step_chain(wolff *w, sali_chains *chains, int64_t c)
{
    const sali_cluster_graph *g = &w->common.graph;
    const int32_t *codes = chains->codes + c * g->n;
    const sali_stream accept = sali_chains_stream(chains, c, SALI_RNG_ACCEPT);
    begin_words(w, chains, c);
    const uint32_t movable = (uint32_t)w->common.n_movable;
    const int32_t first = w->common.movable[sali_rng_below(&w->stream, 0, movable)];
    const uint32_t others = (uint32_t)g->states[first] - 1;
    const int32_t shift = 1 + (others > 1 ? (int32_t)sali_rng_below(&w->stream, 1, others) : 0);
    const int64_t n = grow(w, chains, c, first);
    const double fields = change_fields(w, codes, n, shift);
    const double u = sali_rng_uniform_at(&accept, 0);
    if (sali_chains_accept(chains, c, exp(chains->beta[c] * fields), u)) {
        chains->f[c] += fields + change_border(w, codes, n, shift);
        apply_shift(w, chains, c, n, shift);
    }
}

static void wolff_step(void *self, sali_chains *chains)
{
    wolff *w = self;
    const bool moves = w->usable && w->common.n_movable > 0;
    for (int64_t c = 0; moves && c < chains->n; c++) {
        if (chains->step[c] % SALI_RENEWAL_STEPS == 0) {
            chains->f[c] =
                sali_cluster_graph_value(&w->common.graph, chains->codes + c * w->common.graph.n);
        }
        step_chain(w, chains, c);
    }
    sali_chains_tick(chains);
}

/* ---- a shard */

static sal_status wolff_create(const sali_chains *chains, const sali_sampler_settings *settings,
                               void *shared, void **self, sal_error *err)
{
    wolff *w = SALI_OBJECT(wolff);
    (void)settings;
    (void)shared;
    if (!w) {
        return sali_fail_memory(err);
    }
    w->cluster = SALI_OBJECT_ARRAY(w, int32_t, chains->space->n_variables);
    w->joined = SALI_OBJECT_ARRAY(w, uint32_t, chains->space->n_variables);
    return sali_object_finish(w, sali_clusters_open(w, chains, &w->common, err), self, err);
}

static void wolff_refresh(void *self, sali_chains *chains)
{
    wolff *w = self;
    bool renewed;
    w->usable = sali_clusters_refresh(&w->common, chains, &renewed);
}

/* ---- the proposal's probability */

/* List the variables of chain c that `to` changes; returns their number, or -1 unless all are
 * shifted alike. */
static int64_t list_shifted(const sali_cluster_graph *g, const int32_t *codes, const int32_t *to,
                            int32_t *site)
{
    int64_t n = 0;
    int32_t shift = 0;
    for (int64_t i = 0; i < g->n; i++) {
        const int32_t q = g->states[i], by = (to[i] - codes[i] + q) % q;
        if (by != 0 && shift != 0 && (by != shift || g->states[site[0]] != q)) {
            return -1;
        }
        if (by != 0) {
            shift = by;
            site[n++] = (int32_t)i;
        }
    }
    return n;
}

/* The probability of `to`: any of the cluster's variables may have been the first. */
static double chance_of(const wolff *w, const sali_chains *chains, int64_t c, const int32_t *to)
{
    const sali_cluster_graph *g = &w->common.graph;
    const int32_t *codes = chains->codes + c * g->n;
    int32_t site[SALI_CLUSTER_SUMMED];
    const int64_t n = list_shifted(g, codes, to, site);
    if (w->common.n_movable == 0) {
        return 1;
    }
    if (n <= 0) {
        return 0;
    }
    return (double)n / (double)w->common.n_movable / (g->states[site[0]] - 1) *
           sali_cluster_sums_one(w->common.sums, g, chains->beta[c], codes, n, site);
}

static void wolff_log_q(void *self, sali_chains *chains, const int32_t *to, double *log_q)
{
    const wolff *w = self;
    for (int64_t c = 0; c < chains->n; c++) {
        const double p = w->common.sums && w->usable
                             ? chance_of(w, chains, c, to + c * chains->space->n_variables)
                             : (double)NAN;
        log_q[c] = log(p);
    }
}

static const char *cluster_obstacle(const sal_model *model, const double *values, const void *data)
{
    (void)values;
    (void)data;
    return sali_cluster_obstacle(model);
}

const sali_sampler sali_sampler_wolff = {
    .name = "wolff",
    .doc = "one cluster of variables that bonds join, with a new common state; pairs of two-level "
           "or Potts variables",
    .source = "Wolff 1989",
    .kinds = SAL_MOVES_BINARY | SAL_MOVES_SPIN | SAL_MOVES_ORDINAL | SAL_MOVES_CATEGORICAL,
    .obstacle = cluster_obstacle,
    .engine =
        &(const sal_sampler_engine){
            .local = true, /* where nothing is coupled, a step moves one variable */
            .create = wolff_create,
            .destroy = sali_object_free,
            .refresh = wolff_refresh,
            .step = wolff_step,
            .log_q = wolff_log_q,
            .auxiliary = &sali_clusters_bonds,
        },
};
