/* SPDX-License-Identifier: MIT */
/* The algorithm of Swendsen & Wang (1987) with fields: every satisfied edge gets a bond by its
 * chance, and every cluster of bonds a shift, from its exact conditional given the bonds.
 *
 * The bonds are the auxiliary variables of Edwards & Sokal (1988): given them the clusters are
 * independent, and the fields of a cluster's variables add up. So every step is accepted. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/object.h"
#include "core/vector/clones.h"
#include "samplers/clusters/clusters.h"
#include "samplers/conditional.h"

/* Edges that get their random words together: whole blocks of four. */
enum { CHUNK = 4096 };

/* Beside the second end of an edge: satisfied where its two variables differ. */
#define DIFFERENT (UINT32_C(1) << 31)

/* Every edge once, by its first variable. */
typedef struct edge_list {
    int64_t n;
    int32_t *tail;
    uint32_t *head; /* with DIFFERENT */
    double *strength;
    uint32_t *broken; /* the chance of no bond, but for its last bits, of a satisfied edge */
    double beta;      /* that `broken` is for; 0: none yet */
} edge_list;

typedef struct swendsen_wang {
    sali_clusters common;
    edge_list edges;
    int32_t *parent; /* [V] a variable of the same cluster, never later; itself: the first one */
    int32_t *shift;  /* [V] of the cluster that a variable is first in, then of every variable */
    double *gain;    /* [V x most] summed fields of a cluster's shifts; NULL: room for none */
    bool usable;     /* since the last refresh there is a graph */
} swendsen_wang;

/* ---- edges */

static void free_edges(void *edges)
{
    edge_list *e = edges;
    sali_free(e->tail);
    sali_free(e->head);
    sali_free(e->strength);
    sali_free(e->broken);
    *e = (edge_list){ 0 };
}

/* List the edges of the graph; false: no memory. */
static bool take_edges(edge_list *e, const sali_cluster_graph *g)
{
    int64_t n = 0;
    free_edges(e);
    e->tail = SALI_NEW_ARRAY(int32_t, g->edges);
    e->head = SALI_NEW_ARRAY(uint32_t, g->edges);
    e->strength = SALI_NEW_ARRAY(double, g->edges);
    e->broken = SALI_NEW_ARRAY(uint32_t, g->edges);
    if (!e->tail || !e->head || !e->strength || !e->broken) {
        return false;
    }
    for (int64_t i = 0; i < g->n; i++) {
        for (int64_t k = g->begin[i]; k < g->begin[i + 1]; k++) {
            if (g->to[k] > i) {
                e->tail[n] = (int32_t)i;
                e->head[n] = (uint32_t)g->to[k] | (g->strength[k] < 0 ? DIFFERENT : 0);
                e->strength[n++] = g->strength[k];
            }
        }
    }
    e->n = n;
    return true;
}

static sali_chance chance_of_no_bond(double strength, double beta)
{
    return sali_chance_of(exp(-beta * fabs(strength)));
}

/* Fill `broken` for an inverse temperature, unless it is filled already. */
static void fill_chances(edge_list *e, double beta)
{
    double last = NAN; /* neighbouring edges are often equally strong */
    uint32_t broken = 0;
    for (int64_t k = 0; e->beta != beta && k < e->n; k++) {
        if (e->strength[k] != last) {
            last = e->strength[k];
            broken = chance_of_no_bond(last, beta).whole;
        }
        e->broken[k] = broken;
    }
    e->beta = beta;
}

/* ---- bonds and clusters */

/* The first variable of the cluster of i, so far; halves the way to it. */
static inline int32_t find_first(int32_t *parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static inline void join(int32_t *parent, int32_t i, int32_t j)
{
    const int32_t a = find_first(parent, i), b = find_first(parent, j);
    if (a < b) {
        parent[b] = a;
    } else {
        parent[a] = b;
    }
}

/* Mark which of m edges get a bond, by a word each, with those whose word ties. */
SALI_CLONES
static void mark_bonds(int64_t m, const int32_t *tail, const uint32_t *head, const uint32_t *broken,
                       const int32_t *codes, const uint32_t *words, uint32_t *marked)
{
    for (int64_t k = 0; k < m; k++) {
        const uint32_t same = codes[tail[k]] == codes[head[k] & ~DIFFERENT];
        marked[k] = (same ^ head[k] / DIFFERENT) & (uint32_t)(words[k] >= broken[k]);
    }
}

/* List the edges that get a bond, of the m from `first` on: without branches, as about half of them
 * do. Returns their number. */
static int64_t draw_bonds(const edge_list *e, int64_t first, int64_t m, const int32_t *codes,
                          const uint32_t *words, int32_t *bonds)
{
    uint32_t marked[CHUNK];
    int64_t n = 0;
    mark_bonds(m, e->tail + first, e->head + first, e->broken + first, codes, words, marked);
    for (int64_t k = 0; k < m; k++) {
        bonds[n] = (int32_t)k;
        n += marked[k];
    }
    return n;
}

/* Join the variables of chain c by bonds, into the clusters of s->parent. */
static void draw_clusters(swendsen_wang *s, const sali_chains *chains, int64_t c)
{
    edge_list *e = &s->edges;
    const int32_t *codes = chains->codes + c * s->common.graph.n;
    const sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
    const sali_stream ties = sali_chains_stream(chains, c, SALI_RNG_AUXILIARY);
    uint32_t words[CHUNK];
    int32_t bonds[CHUNK], *parent = s->parent;
    fill_chances(e, chains->beta[c]);
    for (int64_t i = 0; i < s->common.graph.n; i++) {
        parent[i] = (int32_t)i;
    }
    for (int64_t first = 0; first < e->n; first += CHUNK) {
        const int64_t m = e->n - first < CHUNK ? e->n - first : CHUNK;
        sali_rng_words(&stream, (uint32_t)(first / 4), m, words);
        const int64_t n = draw_bonds(e, first, m, codes, words, bonds);
        for (int64_t b = 0; b < n; b++) {
            const int64_t k = bonds[b], edge = first + k;
            if (words[k] == e->broken[edge] &&
                sali_chance_holds(chance_of_no_bond(e->strength[edge], e->beta), words[k], &ties,
                                  (uint32_t)edge)) {
                continue;
            }
            join(parent, e->tail[edge], (int32_t)(e->head[edge] & ~DIFFERENT));
        }
    }
}

/* ---- shifts */

/* Without fields and with two levels: a fair bit for each cluster. Fills `shift` of all variables.
 * Parents come before their children, so one pass is enough. */
static void flip_fairly(swendsen_wang *s, const sali_chains *chains, int64_t c)
{
    enum { BITS = 32 };
    const sali_cluster_graph *g = &s->common.graph;
    const sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_ACCEPT);
    uint32_t words[CHUNK];
    for (int64_t first = 0; first < g->n; first += BITS * CHUNK) {
        const int64_t end = g->n - first < BITS * CHUNK ? g->n : first + BITS * CHUNK;
        sali_rng_words(&stream, (uint32_t)(first / BITS / 4), (end - first + BITS - 1) / BITS,
                       words);
        for (int64_t i = first; i < end; i++) {
            const uint32_t bit = words[(i - first) / BITS] >> (i % BITS) & 1;
            const bool heads = s->parent[i] == i;
            s->shift[i] =
                heads ? (int32_t)(bit & (uint32_t)(g->states[i] == 2)) : s->shift[s->parent[i]];
        }
    }
}

/* Let every parent be the first variable of its cluster. */
static void flatten(swendsen_wang *s)
{
    for (int64_t i = 0; i < s->common.graph.n; i++) {
        s->parent[i] = s->parent[s->parent[i]];
    }
}

/* Sum the fields that the clusters of chain c have after each shift. */
static void sum_gains(swendsen_wang *s, const sali_chains *chains, int64_t c)
{
    const sali_cluster_graph *g = &s->common.graph;
    const int32_t *codes = chains->codes + c * g->n;
    memset(s->gain, 0, (size_t)(g->n * g->most) * sizeof *s->gain);
    for (int64_t i = 0; i < g->n; i++) {
        double *gain = s->gain + s->parent[i] * g->most;
        const double *field = g->field + i * g->most;
        const int32_t q = g->states[i];
        for (int32_t t = 0, k = codes[i]; t < q; t++, k = k + 1 == q ? 0 : k + 1) {
            gain[t] += field[k];
        }
    }
}

/* Draw the shift of each cluster of chain c, uniformly or by the softmax of its summed fields, and
 * fill `shift` of all variables. */
static void draw_shifts(swendsen_wang *s, const sali_chains *chains, int64_t c)
{
    const sali_cluster_graph *g = &s->common.graph;
    const sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_ACCEPT);
    flatten(s);
    if (g->fields) {
        sum_gains(s, chains, c);
    }
    for (int64_t i = 0; i < g->n; i++) {
        const int32_t q = g->states[i];
        if (s->parent[i] != i) {
            s->shift[i] = s->shift[s->parent[i]];
        } else if (q == 1) {
            s->shift[i] = 0;
        } else if (g->fields) {
            s->shift[i] = (int32_t)sali_conditional_draw(q, s->gain + i * g->most, chains->beta[c],
                                                         sali_rng_uniform_at(&stream, (uint32_t)i));
        } else {
            s->shift[i] = (int32_t)sali_rng_below(&stream, (uint32_t)i, (uint32_t)q);
        }
    }
}

/* ---- a step */

/* Sums of many numbers have LANES parts, so that they are vectorised, in the same order on every
 * processor. */
enum { LANES = 8 };

static double sum_lanes(const double *lane)
{
    return ((lane[0] + lane[4]) + (lane[1] + lane[5])) +
           ((lane[2] + lane[6]) + (lane[3] + lane[7]));
}

/* Shift n codes in place; returns the sum of the spans of those that change. */
SALI_CLONES
static double shift_codes(int64_t n, const int32_t *states, const int32_t *shift,
                          const double *span, int32_t *codes)
{
    double jump[LANES] = { 0 };
    for (int64_t first = 0; first < n; first += LANES) {
        const int64_t m = n - first < LANES ? n - first : LANES;
        for (int64_t l = 0; l < m; l++) {
            const int64_t i = first + l;
            const int32_t code = codes[i] + shift[i];
            jump[l] += shift[i] ? span[i] : 0;
            codes[i] = code - (code >= states[i] ? states[i] : 0);
        }
    }
    return sum_lanes(jump);
}

/* Shift the variables of chain c by `shift`, in codes and x; adds the distance to jump_sum. */
static void apply_shifts(swendsen_wang *s, sali_chains *chains, int64_t c)
{
    const sali_cluster_graph *g = &s->common.graph;
    int32_t *codes = chains->codes + c * g->n;
    chains->jump_sum[c] += shift_codes(g->n, g->states, s->shift, s->common.span, codes);
    sali_model_embed(s->common.model, 1, codes,
                     sali_row(chains, chains->x, c, chains->space->width));
}

/* The sum of the strengths of those of n edges whose variables are equal. */
SALI_CLONES
static double sum_equal(int64_t n, const int32_t *tail, const uint32_t *head,
                        const double *strength, const int32_t *codes)
{
    double sum[LANES] = { 0 };
    const int64_t whole = n / LANES * LANES;
    for (int64_t first = 0; first < whole; first += LANES) {
        for (int64_t l = 0; l < LANES; l++) {
            const int64_t k = first + l;
            const bool same = codes[tail[k]] == codes[head[k] & ~DIFFERENT];
            sum[l] += same ? strength[k] : 0;
        }
    }
    for (int64_t k = whole; k < n; k++) {
        const bool same = codes[tail[k]] == codes[head[k] & ~DIFFERENT];
        sum[k - whole] += same ? strength[k] : 0;
    }
    return sum_lanes(sum);
}

/* f of the codes of chain c: sali_cluster_graph_value, from the list of edges. */
static double value_of(const swendsen_wang *s, const int32_t *codes)
{
    const sali_cluster_graph *g = &s->common.graph;
    const edge_list *e = &s->edges;
    double fields = 0;
    for (int64_t i = 0; g->fields && i < g->n; i++) {
        fields += g->field[i * g->most + codes[i]];
    }
    return g->constant + fields + sum_equal(e->n, e->tail, e->head, e->strength, codes);
}

static void swendsen_wang_step(void *self, sali_chains *chains)
{
    swendsen_wang *s = self;
    const sali_cluster_graph *g = &s->common.graph;
    for (int64_t c = 0; s->usable && c < chains->n; c++) {
        draw_clusters(s, chains, c);
        if (g->most == 2 && !g->fields) {
            flip_fairly(s, chains, c);
        } else {
            draw_shifts(s, chains, c);
        }
        apply_shifts(s, chains, c);
        chains->f[c] = value_of(s, chains->codes + c * g->n);
        chains->acceptance_sum[c] += 1;
        chains->accepted_sum[c] += 1;
    }
    sali_chains_tick(chains);
}

/* ---- a shard */

static sal_status swendsen_wang_create(const sali_chains *chains,
                                       const sali_sampler_settings *settings, void *shared,
                                       void **self, sal_error *err)
{
    const int64_t V = chains->space->n_variables;
    swendsen_wang *s = SALI_OBJECT(swendsen_wang);
    (void)settings;
    (void)shared;
    if (!s) {
        return sali_fail_memory(err);
    }
    s->parent = SALI_OBJECT_ARRAY(s, int32_t, V);
    s->shift = SALI_OBJECT_ARRAY(s, int32_t, V);
    s->gain = SALI_OBJECT_ARRAY(s, double, V * chains->space->max_states);
    sal_status status = sali_clusters_open(s, chains, &s->common, err);
    status = status ? status : sali_object_own(s, &s->edges, free_edges, err);
    if (status == SAL_OK && !take_edges(&s->edges, &s->common.graph)) {
        status = sali_fail_memory(err);
    }
    return sali_object_finish(s, status, self, err);
}

static void swendsen_wang_refresh(void *self, sali_chains *chains)
{
    swendsen_wang *s = self;
    bool renewed;
    s->usable = sali_clusters_refresh(&s->common, chains, &renewed);
    if (s->usable && renewed && !take_edges(&s->edges, &s->common.graph)) {
        s->common.missing = "no memory for the model's edges";
        s->usable = sali_clusters_refresh(&s->common, chains, &renewed);
    }
    for (int64_t c = 0; s->usable && c < chains->n; c++) { /* with the same rounding as steps */
        chains->f[c] = value_of(s, chains->codes + c * s->common.graph.n);
    }
}

static void swendsen_wang_log_q(void *self, sali_chains *chains, const int32_t *to, double *log_q)
{
    swendsen_wang *s = self;
    const int64_t V = chains->space->n_variables;
    for (int64_t c = 0; c < chains->n; c++) {
        const double p =
            s->common.sums && s->usable
                ? sali_cluster_sums_sweep(s->common.sums, &s->common.graph, chains->beta[c],
                                          chains->codes + c * V, to + c * V)
                : (double)NAN;
        log_q[c] = log(p);
    }
}

const sali_sampler sali_sampler_swendsen_wang = {
    .name = "swendsen-wang",
    .doc = "clusters of variables that bonds join, each with a new common state; pairs of "
           "two-level or Potts variables",
    .source = "Swendsen & Wang 1987; Edwards & Sokal 1988",
    .kinds = SAL_MOVES_BINARY | SAL_MOVES_SPIN | SAL_MOVES_ORDINAL | SAL_MOVES_CATEGORICAL,
    .obstacle = sali_cluster_obstacle,
    .engine =
        &(const sal_sampler_engine){
            .rejection_free = true,
            .create = swendsen_wang_create,
            .destroy = sali_object_free,
            .refresh = swendsen_wang_refresh,
            .step = swendsen_wang_step,
            .log_q = swendsen_wang_log_q,
            .auxiliary = &sali_clusters_bonds,
        },
};
