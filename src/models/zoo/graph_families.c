/* SPDX-License-Identifier: MIT */
#include "models/zoo/graph_families.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"

/* ---- what drawing takes */

sali_uniforms sali_uniforms_of(uint64_t seed)
{
    return (sali_uniforms){ .stream = { .seed = seed, .chain = 0, .purpose = SALI_RNG_PARAMS },
                            .used = SALI_UNIFORMS_TILE };
}

double sali_next_uniform(sali_uniforms *from)
{
    if (from->used == SALI_UNIFORMS_TILE) {
        sali_rng_uniform_f64(&from->stream, SALI_UNIFORMS_TILE, from->u);
        from->stream.step++;
        from->used = 0;
    }
    return from->u[from->used++];
}

int64_t sali_next_below(sali_uniforms *from, int64_t bound)
{
    const int64_t k = (int64_t)(sali_next_uniform(from) * (double)bound);
    return k < bound ? k : bound - 1;
}

sal_status sali_add_edge(sali_edge_list *list, int64_t i, int64_t j, sal_error *err)
{
    if (list->edges == SALI_RANDOM_EDGES) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "random graph: more than %lld edges",
                         (long long)SALI_RANDOM_EDGES);
    }
    if (sali_grow((void **)&list->pairs, &list->room, list->edges + 1, 2 * sizeof(int64_t)) != 0) {
        return sali_fail_memory(err);
    }
    list->pairs[2 * list->edges] = i;
    list->pairs[2 * list->edges++ + 1] = j;
    return SAL_OK;
}

/* ---- er: Batagelj & Brandes 2005, algorithm 1 */

/* Go through the pairs i > j in order: the number of pairs skipped between two edges has a
 * geometric distribution. */
static sal_status draw_er(const sali_random_graph *spec, sali_edge_list *list, sal_error *err)
{
    sali_uniforms from = sali_uniforms_of(spec->seed);
    double log_no_edge = log1p(-spec->p), pairs = 0.5 * (double)spec->nodes * (double)spec->nodes;
    int64_t i = 1, j = -1;
    sal_status status = SAL_OK;
    while (status == SAL_OK && spec->p > 0) {
        double skip = floor(log(sali_next_uniform(&from)) / log_no_edge);
        if (skip > pairs) {
            break;
        }
        j += 1 + (int64_t)skip;
        while (i < spec->nodes && j >= i) {
            j -= i++;
        }
        if (i >= spec->nodes) {
            break;
        }
        status = sali_add_edge(list, i, j, err);
    }
    return status;
}

/* ---- rb: model RB (Xu & Li 2000; Xu, Boussemart, Hemery & Lecoutre 2007). n cliques of k nodes;
 * then r n log n - 1 times, rounded down, two cliques are chosen and s = p n^(2 a) of their pairs
 * become edges, or as many as are none yet; a = log k / log n, r = -a / log(1 - p). The largest
 * independent set has at most n nodes, and has n in most graphs at the threshold. */

/* Most nodes of an rb graph: it has a flag for each pair of nodes. */
#define MOST_RB_NODES 16384

typedef struct rb {
    int64_t n, k, links, s;
    uint8_t *edge;  /* [n k x n k] */
    int64_t *pairs; /* [k k] indices in `edge` of pairs of two cliques that are no edges yet */
} rb;

/* Choose two cliques, and make g->s of the pairs between them edges, or all that are none yet if
 * there are fewer. */
static sal_status join_cliques(rb *g, sali_uniforms *from, sali_edge_list *list, sal_error *err)
{
    const int64_t i = sali_next_below(from, g->n), other = sali_next_below(from, g->n - 1);
    const int64_t j = other + (other >= i), k = g->k, side = g->n * k;
    const int64_t high = i > j ? i : j, low = i > j ? j : i;
    int64_t left = 0;
    sal_status status = SAL_OK;
    for (int64_t p = 0; p < k * k; p++) {
        const int64_t at = (high * k + p / k) * side + low * k + p % k;
        if (!g->edge[at]) {
            g->pairs[left++] = at;
        }
    }
    for (int64_t made = 0; status == SAL_OK && made < g->s && left > 0; made++) {
        const int64_t pick = sali_next_below(from, left), at = g->pairs[pick];
        g->pairs[pick] = g->pairs[--left];
        g->edge[at] = 1;
        status = sali_add_edge(list, at / side, at % side, err);
    }
    return status;
}

/* spec->nodes must be a multiple of spec->group, with two groups or more, else SAL_ERR_ARGUMENT. */
static sal_status draw_rb(const sali_random_graph *spec, sali_edge_list *list, sal_error *err)
{
    const int64_t k = spec->group > 0 ? spec->group : 1;
    rb g = { .n = spec->nodes / k, .k = k };
    if (g.n < 2 || g.n * k != spec->nodes || spec->nodes > MOST_RB_NODES) {
        return sali_fail(
            err, SAL_ERR_ARGUMENT,
            "random graph rb: %lld nodes in cliques of group=%lld; expected a multiple "
            "of it, two cliques or more, and at most %d nodes",
            (long long)spec->nodes, (long long)k, MOST_RB_NODES);
    }
    const double a = log((double)k) / log((double)g.n), p = spec->tightness;
    g.s = (int64_t)(p * (double)(k * k) + 1e-9); /* n^(2a) = k^2 */
    g.links = (int64_t)(-a / log1p(-p) * (double)g.n * log((double)g.n) - 1);
    sali_memory memory = { 0 };
    sali_uniforms from = sali_uniforms_of(spec->seed);
    g.edge = SALI_TAKE(&memory, uint8_t, spec->nodes * spec->nodes);
    g.pairs = SALI_TAKE(&memory, int64_t, k * k);
    sal_status status = sali_memory_status(&memory, err);
    for (int64_t i = 0; status == SAL_OK && i < spec->nodes; i++) {
        for (int64_t j = i / k * k; status == SAL_OK && j < i; j++) {
            status = sali_add_edge(list, i, j, err);
        }
    }
    for (int64_t link = 0; status == SAL_OK && link < g.links; link++) {
        status = join_cliques(&g, &from, list, err);
    }
    sali_memory_free(&memory);
    return status;
}

/* ---- ba: preferential attachment (Barabasi & Albert 1999). A star of m + 1 nodes; every further
 * node gets edges to m different ones, chosen with probabilities proportional to their degrees. */

/* spec->degree must be 2 m for a whole m from 1 to nodes - 1, else SAL_ERR_ARGUMENT. */
static sal_status draw_ba(const sali_random_graph *spec, sali_edge_list *list, sal_error *err)
{
    const int64_t m = (int64_t)(spec->degree / 2);
    sal_status status = SAL_OK;
    if (m < 1 || m >= spec->nodes || spec->degree != 2 * (double)m) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "random graph ba: degree=%g; expected twice the number of edges of a new "
                         "node, which is whole, 1 or more, and below the %lld nodes",
                         spec->degree, (long long)spec->nodes);
    }
    if ((double)m * (double)(spec->nodes - m) > (double)SALI_RANDOM_EDGES) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "random graph ba: %lld nodes of degree=%g have more than %lld edges; "
                         "expected fewer nodes or a smaller degree",
                         (long long)spec->nodes, spec->degree, (long long)SALI_RANDOM_EDGES);
    }
    sali_uniforms from = sali_uniforms_of(spec->seed);
    int64_t *last = SALI_NEW_ARRAY(int64_t, spec->nodes); /* last new node that chose each node */
    status = last ? SAL_OK : sali_fail_memory(err);
    for (int64_t i = 1; status == SAL_OK && i <= m; i++) {
        status = sali_add_edge(list, i, 0, err);
    }
    for (int64_t i = m + 1; status == SAL_OK && i < spec->nodes; i++) {
        const int64_t ends = 2 * list->edges, first = list->edges;
        while (status == SAL_OK && list->edges < first + m) {
            const int64_t j = list->pairs[sali_next_below(&from, ends)];
            status = last[j] == i ? SAL_OK : sali_add_edge(list, i, j, err);
            last[j] = i;
        }
    }
    sali_free(last);
    return status;
}

/* ---- torus: a grid of two dimensions that closes in both, as G11 (rows of 8), G32 (of 20) and G57
 * (of 50) of the G-set, with weights=sign. */

/* Nodes of a row: spec->group, or the largest divisor of the nodes up to their square root. */
static int64_t row_of(const sali_random_graph *spec)
{
    int64_t row = (int64_t)sqrt((double)spec->nodes);
    while (spec->group == 0 && row > 1 && spec->nodes % row != 0) {
        row--;
    }
    return spec->group > 0 ? spec->group : row;
}

/* Both sides must have 3 nodes or more, as pairs would otherwise repeat; else SAL_ERR_ARGUMENT. */
static sal_status draw_torus(const sali_random_graph *spec, sali_edge_list *list, sal_error *err)
{
    const int64_t width = row_of(spec), height = spec->nodes / width;
    sal_status status = SAL_OK;
    if (width < 3 || height < 3 || width * height != spec->nodes) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "random graph torus: %lld nodes in rows of %lld; expected three rows or "
                         "more of the same length, 3 or more (group=LENGTH)",
                         (long long)spec->nodes, (long long)width);
    }
    for (int64_t i = 0; status == SAL_OK && i < spec->nodes; i++) {
        const int64_t x = i % width, y = i / width;
        status = sali_add_edge(list, i, y * width + (x + 1) % width, err);
        status = status ? status : sali_add_edge(list, i, (y + 1) % height * width + x, err);
    }
    return status;
}

/* ---- planar: the union of two random planar graphs, as G14 and others of the G-set. Each is a
 * triangulation that grows by a node in a random triangle, in random order of the nodes, and keeps
 * each edge with a probability of 0.99. (The G-set's own triangulations are made in another way.)
 */
#define KEPT 0.99

typedef struct planar {
    int64_t *order; /* [nodes] */
    int64_t (*face)[3];
    uint64_t *pair; /* edges as larger * nodes + smaller */
    int64_t faces, pairs;
} planar;

/* Append the edge between the nodes at places a and b of the order, with probability KEPT. */
static void join(planar *g, int64_t n, int64_t a, int64_t b, sali_uniforms *from)
{
    const int64_t i = g->order[a], j = g->order[b];
    if (sali_next_uniform(from) < KEPT) {
        g->pair[g->pairs++] = (uint64_t)(i > j ? i * n + j : j * n + i);
    }
}

/* Append to g->pair the kept edges of one triangulation of n >= 3 nodes, in a new random order. */
static void triangulate(planar *g, int64_t n, sali_uniforms *from)
{
    for (int64_t i = 0; i < n; i++) {
        const int64_t j = sali_next_below(from, i + 1);
        g->order[i] = g->order[j];
        g->order[j] = i;
    }
    for (int64_t k = 0; k < 3; k++) {
        g->face[0][k] = g->face[1][k] = k; /* both sides of the first triangle */
        join(g, n, k, (k + 1) % 3, from);
    }
    g->faces = 2;
    for (int64_t i = 3; i < n; i++) {
        int64_t *at = g->face[sali_next_below(from, g->faces)];
        const int64_t a = at[0], b = at[1], c = at[2];
        at[2] = i;
        memcpy(g->face[g->faces++], (int64_t[3]){ b, c, i }, 3 * sizeof i);
        memcpy(g->face[g->faces++], (int64_t[3]){ c, a, i }, 3 * sizeof i);
        join(g, n, a, i, from);
        join(g, n, b, i, from);
        join(g, n, c, i, from);
    }
}

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Append the union of two triangulations, sorted by the larger node. Fewer than 3 nodes:
 * SAL_ERR_ARGUMENT. */
static sal_status draw_planar(const sali_random_graph *spec, sali_edge_list *list, sal_error *err)
{
    const int64_t n = spec->nodes;
    if (n < 3) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "random graph planar: expected 3 nodes or more");
    }
    sali_memory memory = { 0 };
    planar g = { .order = SALI_TAKE(&memory, int64_t, n),
                 .face = sali_memory_take(&memory, 2 * n, sizeof *g.face),
                 .pair = SALI_TAKE(&memory, uint64_t, 6 * n) };
    sali_uniforms from = sali_uniforms_of(spec->seed);
    sal_status status = sali_memory_status(&memory, err);
    for (int half = 0; status == SAL_OK && half < 2; half++) {
        triangulate(&g, n, &from);
    }
    if (status == SAL_OK) {
        qsort(g.pair, (size_t)g.pairs, sizeof *g.pair, ascending);
    }
    for (int64_t e = 0; status == SAL_OK && e < g.pairs; e++) {
        if (e == 0 || g.pair[e] != g.pair[e - 1]) {
            status = sali_add_edge(list, (int64_t)(g.pair[e] / (uint64_t)n),
                                   (int64_t)(g.pair[e] % (uint64_t)n), err);
        }
    }
    sali_memory_free(&memory);
    return status;
}

/* ---- the list; the choices of the setting `graph` are in the same order */

const sali_graph_family sali_graph_families[] = {
    [SALI_GRAPH_ER] = { "er", { "degree", "density" }, draw_er },
    [SALI_GRAPH_RB] = { "rb", { "group", "tightness" }, draw_rb },
    [SALI_GRAPH_BA] = { "ba", { "degree" }, draw_ba },
    [SALI_GRAPH_TORUS] = { "torus", { "group" }, draw_torus },
    [SALI_GRAPH_PLANAR] = { "planar", { NULL }, draw_planar },
};

const char *const sali_graph_settings[] = { "degree", "density", "group", "tightness", NULL };

const char *const sali_graph_choices[] = { "er", "rb", "ba", "torus", "planar", NULL };
