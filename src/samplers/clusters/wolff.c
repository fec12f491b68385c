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

/* Uniforms of a stream, for words that tie. */
enum { MOST_TIES = 1 << 25 };

typedef struct wolff {
    sali_clusters common;
    int32_t *cluster; /* [V + 1] its variables, in the order in which they joined */
    uint32_t *joined; /* [V] the stamp of the last cluster that a variable was in */
    uint32_t stamp;
    bool usable; /* since the last refresh there is a graph */

    uint32_t words[MANY]; /* random words of a step, a few at a time */
} wolff;

/* ---- bonds */

/* The bonds of one step of a chain. */
typedef struct bond_drawer {
    sali_stream stream, ties;
    double beta, strength; /* the strength of the last edge that was asked for */
    sali_chance broken;    /* the chance that such an edge gets no bond */
    int64_t next, end;     /* numbers of the next word, and after the last one that is made */
} bond_drawer;

/* Make more words; the first block of the stream is for the first variable and the shift. */
static void make_words(bond_drawer *b, uint32_t *words)
{
    const int64_t n = b->next == 0 ? FEW : MANY;
    sali_rng_words(&b->stream, (uint32_t)(1 + b->next / 4), n, words);
    b->end += n;
}

static void set_strength(bond_drawer *b, double strength)
{
    b->strength = strength;
    b->broken = sali_chance_of(exp(-b->beta * strength));
}

/* Whether an edge gets a bond if it is satisfied. A word is taken in any case: asking first whether
 * it is needed would take longer, as the answer cannot be predicted. */
static inline bool draw_bond(bond_drawer *b, uint32_t *words, double strength)
{
    if (b->next == b->end) {
        make_words(b, words);
    }
    if (strength != b->strength) {
        set_strength(b, strength);
    }
    const int64_t number = b->next++, first = number < FEW ? 0 : FEW;
    const uint32_t word = words[(number - first) % MANY];
    if (word == b->broken.whole) { /* hardly ever */
        return !sali_chance_holds(b->broken, word, &b->ties, (uint32_t)(number % MOST_TIES));
    }
    return word > b->broken.whole;
}

/* ---- a step */

/* A new stamp, which no variable has. */
static void begin_cluster(wolff *w)
{
    if (++w->stamp == 0) {
        memset(w->joined, 0, (size_t)w->common.graph.n * sizeof *w->joined);
        w->stamp = 1;
    }
}

/* Grow a cluster of chain c from variable `first`; returns the number of its variables. An edge
 * counts once: the second of its ends finds the first in the cluster. Without branches. */
static int64_t grow(wolff *w, const sali_chains *chains, int64_t c, int32_t first)
{
    const sali_cluster_graph g = w->common.graph;
    const int32_t *codes = chains->codes + c * g.n;
    bond_drawer bonds = { .stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL),
                          .ties = sali_chains_stream(chains, c, SALI_RNG_AUXILIARY),
                          .beta = chains->beta[c],
                          .strength = NAN };
    int32_t *cluster = w->cluster;
    uint32_t *joined = w->joined, *words = w->words;
    begin_cluster(w);
    const uint32_t stamp = w->stamp;
    int64_t n = 1;
    cluster[0] = first;
    joined[first] = stamp;
    for (int64_t at = 0; at < n; at++) {
        const int32_t i = cluster[at], code = codes[i];
        const int64_t end = g.begin[i + 1];
        for (int64_t k = g.begin[i]; k < end; k++) {
            const int32_t j = g.to[k];
            const uint32_t before = joined[j];
            const bool satisfied = (code == codes[j]) == (g.strength[k] > 0);
            const bool bond = draw_bond(&bonds, words, fabs(g.strength[k]));
            const bool joins = satisfied & bond & (before != stamp);
            cluster[n] = j; /* the last entry is room for one that does not join */
            n += joins;
            joined[j] = joins ? stamp : before;
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
    const sali_cluster_graph g = w->common.graph;
    const uint32_t *joined = w->joined, stamp = w->stamp;
    double sum = 0;
    for (int64_t at = 0; at < n; at++) {
        const int32_t i = w->cluster[at], from = codes[i], to = shifted(&g, codes, i, shift);
        const int64_t end = g.begin[i + 1];
        for (int64_t k = g.begin[i]; k < end; k++) {
            const int32_t j = g.to[k], change = (to == codes[j]) - (from == codes[j]);
            sum += (joined[j] != stamp) * change * g.strength[k];
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
    const sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
    const uint32_t movable = (uint32_t)w->common.n_movable;
    const int32_t first = w->common.movable[sali_rng_below(&stream, 0, movable)];
    const uint32_t others = (uint32_t)g->states[first] - 1;
    const int32_t shift = 1 + (others > 1 ? (int32_t)sali_rng_below(&stream, 1, others) : 0);
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
    w->cluster = SALI_OBJECT_ARRAY(w, int32_t, chains->space->n_variables + 1);
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

const sali_sampler sali_sampler_wolff = {
    .name = "wolff",
    .doc = "one cluster of variables that bonds join, with a new common state; pairs of two-level "
           "or Potts variables",
    .source = "Wolff 1989",
    .kinds = SAL_MOVES_BINARY | SAL_MOVES_SPIN | SAL_MOVES_ORDINAL | SAL_MOVES_CATEGORICAL,
    .obstacle = sali_cluster_obstacle,
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
