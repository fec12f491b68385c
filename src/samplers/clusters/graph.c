/* SPDX-License-Identifier: MIT */
#include "samplers/clusters/graph.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/rng.h"
#include "models/structure/local_terms.h"

/* Bounds on the tables of terms: their bytes, and the steps, of a few nanoseconds each, of reading
 * them for a sampler that was asked for, or for advice only. */
#define MOST_BYTES 0x1p30
#define MOST_STEPS (INT64_C(1) << 30)
#define FEW_STEPS (INT64_C(1) << 26)

/* The most edges: a step takes up to two random words for each (core/rng.h). */
#define MOST_EDGES ((INT64_C(1) << 25) - 64)

/* Rounding of a sum of terms of a formula, relative to their sizes. */
static double rounding_of(const sal_model *model)
{
    return model->dtype == SAL_F32 ? 64 * (double)FLT_EPSILON : 64 * DBL_EPSILON;
}

void sali_cluster_graph_free(sali_cluster_graph *g)
{
    sali_free(g->states);
    sali_free(g->begin);
    sali_free(g->to);
    sali_free(g->strength);
    sali_free(g->field);
    *g = (sali_cluster_graph){ 0 };
}

/* Allocate all but the edges; false: no memory. */
static bool begin_graph(const sal_space *space, sali_cluster_graph *g)
{
    const int64_t V = space->n_variables;
    *g = (sali_cluster_graph){ .n = V, .most = space->max_states };
    g->states = SALI_NEW_ARRAY(int32_t, V);
    g->begin = SALI_NEW_ARRAY(int64_t, V + 1);
    g->field = SALI_NEW_ARRAY(double, V * g->most);
    for (int64_t v = 0; g->states && v < V; v++) {
        g->states[v] = space->variables[v].states;
    }
    return g->states && g->begin && g->field;
}

/* Allocate `edges` edges; false: no memory. */
static bool make_room(sali_cluster_graph *g, int64_t edges)
{
    g->edges = edges;
    g->to = SALI_NEW_ARRAY(int32_t, 2 * edges);
    g->strength = SALI_NEW_ARRAY(double, 2 * edges);
    return g->to && g->strength;
}

/* ---- from couplings of bits */

/* Set the field of a two-level variable from its linear term and couplings, 0 where it is so but
 * for rounding; returns the sum of the couplings' strengths. */
static double take_bit(sali_cluster_graph *g, const sali_coupling_values *p, int64_t i)
{
    double sum = 0, size = fabs(p->linear[i]);
    for (int64_t k = p->begin[i]; k < p->begin[i + 1]; k++) {
        g->to[k] = p->couplings[k].to;
        g->strength[k] = p->couplings[k].J / 2;
        sum += g->strength[k];
        size += fabs(g->strength[k]);
    }
    const double field = p->linear[i] + sum;
    if (g->states[i] == 2 && fabs(field) > 4 * DBL_EPSILON * size) {
        g->field[i * g->most + 1] = field;
        g->fields = true;
    }
    return sum;
}

/* Fill the graph from couplings of bits; false: no memory. */
static bool take_bits(sali_cluster_graph *g, const sali_coupling_values *p)
{
    double sum = 0;
    if (!make_room(g, p->begin[p->n] / 2)) {
        return false;
    }
    memcpy(g->begin, p->begin, (size_t)(g->n + 1) * sizeof *g->begin);
    for (int64_t i = 0; i < g->n; i++) {
        sum += take_bit(g, p, i);
    }
    g->constant = p->constant - sum / 2;
    return true;
}

/* ---- from tables of terms */

static const char not_potts[] =
    "it needs pair terms of two-level variables, or of Potts form: theta [s_i = s_j]";
static const char forbids[] = "it needs a finite f, and tables forbid states (-inf)";

static bool all_finite(const double *table, int64_t size)
{
    double sum = 0;
    for (int64_t k = 0; k < size; k++) {
        sum += table[k] - table[k];
    }
    return sum == 0;
}

/* A table [p x q] of two variables as a(x) + c(y) + strength [x = y]: adds a and c to the fields.
 * Returns NULL, or the reason why it is none. A strength of rounding's size becomes 0. */
static const char *split_pair(sali_cluster_graph *g, const int32_t *scope, double *table,
                              double rounding, double *strength)
{
    const int32_t p = g->states[scope[0]], q = g->states[scope[1]];
    double largest = 0, theta = 0;
    for (int64_t k = 0; k < (int64_t)p * q; k++) {
        largest = fmax(largest, fabs(table[k]));
    }
    theta = (table[0] + table[q + 1] - table[1] - table[q]) / 2;
    theta = fabs(theta) > rounding * largest ? theta : 0;
    for (int32_t k = 0; k < p && k < q; k++) {
        table[k * q + k] -= theta;
    }
    for (int64_t k = 0; k < (int64_t)p * q; k++) {
        const double sum = table[k / q * q] + table[k % q] - table[0];
        if (!(fabs(table[k] - sum) <= rounding * largest)) {
            return not_potts;
        }
    }
    if (theta != 0 && p != q) {
        return "it needs pairs of variables with as many states as each other";
    }
    if (theta < 0 && p > 2) {
        return "it needs Potts terms theta [s_i = s_j] with theta of 0 or more";
    }
    for (int32_t x = 0; x < p; x++) {
        g->field[scope[0] * g->most + x] += table[x * q];
    }
    for (int32_t y = 0; y < q; y++) {
        g->field[scope[1] * g->most + y] += table[y] - table[0];
    }
    *strength = theta;
    return NULL;
}

/* Add the fields of all terms, and list the strengths of those of two variables in `theta`
 * [n_terms], 0 for others. Returns NULL, or the reason why f is not of this form. */
static const char *split_terms(sali_cluster_graph *g, sali_local_terms *terms, double rounding,
                               double *theta)
{
    const char *why = NULL;
    for (int64_t t = 0; t < terms->n_terms && !why; t++) {
        const sali_local_term *term = &terms->terms[t];
        const int32_t *scope = terms->scopes + term->scope;
        double *table = terms->tables + term->table;
        if (!all_finite(table, term->size)) {
            why = forbids;
        } else if (term->n == 1) {
            for (int64_t k = 0; k < term->size; k++) {
                g->field[scope[0] * g->most + k] += table[k];
            }
        } else {
            why = split_pair(g, scope, table, rounding, &theta[t]);
        }
    }
    return why;
}

/* Turn numbers of entries begin[i + 1] of each variable i into the rows' ends. */
static void sum_begins(sali_cluster_graph *g)
{
    for (int64_t i = 0; i < g->n; i++) {
        g->begin[i + 1] += g->begin[i];
    }
}

/* Fill the edges from the strengths of the terms; false: no memory. */
static bool take_edges(sali_cluster_graph *g, const sali_local_terms *terms, const double *theta)
{
    int64_t edges = 0;
    for (int64_t t = 0; t < terms->n_terms; t++) {
        const int32_t *scope = terms->scopes + terms->terms[t].scope;
        for (int k = 0; theta[t] != 0 && k < 2; k++) {
            g->begin[scope[k] + 1]++;
        }
        edges += theta[t] != 0;
    }
    int64_t *next = SALI_NEW_ARRAY(int64_t, g->n);
    const bool made = make_room(g, edges) && next;
    sum_begins(g);
    for (int64_t i = 0; made && i < g->n; i++) {
        next[i] = g->begin[i];
    }
    for (int64_t t = 0; made && t < terms->n_terms; t++) {
        const int32_t *scope = terms->scopes + terms->terms[t].scope;
        for (int k = 0; theta[t] != 0 && k < 2; k++) {
            const int64_t at = next[scope[k]]++;
            g->to[at] = scope[1 - k];
            g->strength[at] = theta[t];
        }
    }
    sali_free(next);
    return made;
}

/* Make each variable's least field 0, and all of them where they differ by rounding only. */
static void level_fields(sali_cluster_graph *g, double rounding)
{
    for (int64_t i = 0; i < g->n; i++) {
        double *field = g->field + i * g->most, least = INFINITY, most = -INFINITY, size = 0;
        for (int32_t k = 0; k < g->states[i]; k++) {
            least = fmin(least, field[k]);
            most = fmax(most, field[k]);
            size = fmax(size, fabs(field[k]));
        }
        const bool flat = most - least <= rounding * size;
        for (int32_t k = 0; k < g->states[i]; k++) {
            field[k] = flat ? 0 : field[k] - least;
        }
        g->constant += least;
        g->fields |= !flat;
    }
}

/* Whether a term has more than two variables. */
static bool has_large_term(const sali_local_terms *terms)
{
    int32_t most = 0;
    for (int64_t t = 0; t < terms->n_terms; t++) {
        most = terms->terms[t].n > most ? terms->terms[t].n : most;
    }
    return most > 2;
}

/* ---- a quick look */

/* Pairs of variables that are looked at, with three states each, and the most reals of a state. */
enum { LOOKED_AT = 16, ROWS = 6, MOST_REALS = 20000 };

/* Rounding of f in differences of its values, relative to them. */
#define COARSE 1e-3

/* Fill `codes` [LOOKED_AT x ROWS x V]: for each random pair the state of zeros with one variable at
 * 0 or 1, and the other at 0, 1 or 2. `usable` is false of pairs with fewer states, or of one
 * variable; returns whether some pair is usable. */
static bool make_rows(const sal_space *space, int32_t *codes, bool *usable)
{
    const int64_t V = space->n_variables;
    const sali_stream stream = { .purpose = SALI_RNG_STATISTIC };
    bool any = false;
    for (uint32_t p = 0; p < LOOKED_AT; p++) {
        const int64_t i = sali_rng_below(&stream, 2 * p, (uint32_t)V);
        const int64_t j = sali_rng_below(&stream, 2 * p + 1, (uint32_t)V);
        usable[p] = i != j && space->variables[i].states > 2 && space->variables[j].states > 2;
        any |= usable[p];
        for (int64_t r = 0; r < ROWS; r++) {
            int32_t *row = codes + (p * ROWS + r) * V;
            memset(row, 0, (size_t)V * sizeof *row);
            row[i] = usable[p] ? (int32_t)(r / 3) : 0;
            row[j] = usable[p] ? (int32_t)(r % 3) : 0;
        }
    }
    return any;
}

/* Whether values of f show quickly that some pair of variables is not of Potts form, of which T(0,
 * 0) - T(0, 1) - T(1, 0) + T(1, 1) is twice T(0, 0) - T(0, 2) - T(1, 0) + T(1, 2). Tables of dense
 * couplings take long to make; false says nothing. */
static bool bends(const sal_model *model)
{
    const int64_t n = LOOKED_AT * ROWS, V = model->space->n_variables;
    bool usable[LOOKED_AT], found = false;
    double f[LOOKED_AT * ROWS];
    if (model->space->max_states < 3 || model->space->width > MOST_REALS) {
        return false;
    }
    int32_t *codes = SALI_NEW_ARRAY(int32_t, n * V);
    const bool known = codes && make_rows(model->space, codes, usable) &&
                       sal_model_evaluate(model, n, codes, f, NULL, NULL, NULL) == SAL_OK;
    for (int64_t p = 0; known && p < LOOKED_AT; p++) {
        const double *T = f + p * ROWS;
        const double twice = T[0] - T[1] - T[3] + T[4], once = T[0] - T[2] - T[3] + T[5];
        double size = 0;
        for (int r = 0; r < ROWS; r++) {
            size = fmax(size, fabs(T[r]));
        }
        found |= usable[p] && fabs(twice - 2 * once) > COARSE * size;
    }
    sali_free(codes);
    return found;
}

/* ---- reading */

/* Fill the graph from the terms of f, as tables; *why says what they are not. */
static sal_status take_terms(const sal_model *model, int64_t steps, sali_cluster_graph *g,
                             const char **why, sal_error *err)
{
    char unread[200];
    sali_local_terms terms = { 0 };
    double *theta = NULL;
    if (bends(model)) {
        *why = not_potts;
        return SAL_ERR_UNSUPPORTED;
    }
    *why = "it needs f as a formula, a sum of terms of one and two variables";
    sal_status status =
        sali_local_terms_read(model, MOST_BYTES, steps, &terms, unread, sizeof unread, err);
    if (status == SAL_OK && has_large_term(&terms)) {
        *why = "it needs terms of one and two variables, and f has larger ones";
        status = SAL_ERR_UNSUPPORTED;
    } else if (status == SAL_OK && SALI_ENTRY_STEPS * terms.effort > (double)steps) {
        *why = "it needs terms whose tables take less time to make";
        status = SAL_ERR_UNSUPPORTED;
    }
    status = status ? status : sali_local_terms_fill(&terms, unread, sizeof unread, err);
    if (status == SAL_OK) {
        theta = SALI_NEW_ARRAY(double, terms.n_terms);
        status = theta ? SAL_OK : sali_fail_memory(err);
    }
    if (status == SAL_OK) {
        g->constant = terms.constant;
        *why = split_terms(g, &terms, rounding_of(model), theta);
        status = *why                           ? SAL_ERR_UNSUPPORTED
                 : take_edges(g, &terms, theta) ? SAL_OK
                                                : sali_fail_memory(err);
    }
    if (status == SAL_OK) {
        level_fields(g, rounding_of(model));
    }
    sali_free(theta);
    sali_local_terms_free(&terms);
    return status;
}

/* ---- both */

/* The reason why no formula over this space will do; NULL: there is none. */
static const char *space_obstacle(const sal_model *model)
{
    for (int64_t b = 0; b < model->space->n_blocks; b++) {
        const sali_stretch *s = &model->space->stretches[b];
        if (s->kind == SAL_COUNT) {
            return "it does not move counts";
        }
        if (s->kind == SAL_ORDINAL && s->states > 2) {
            return "it needs ordinal variables of two levels";
        }
    }
    return model->fields ? "it needs an f that is the same for all chains" : NULL;
}

/* sali_cluster_graph_read, with a bound on the steps of reading terms. */
static sal_status read_graph(const sal_model *model, sali_couplings *couplings, int64_t steps,
                             sali_cluster_graph *graph, const char **why, sal_error *err)
{
    sali_cluster_graph g = { 0 };
    const sali_coupling_values *pairs = couplings ? sali_couplings_values(couplings) : NULL;
    *graph = g;
    *why = space_obstacle(model);
    if (*why) {
        return SAL_ERR_UNSUPPORTED;
    }
    sal_status status = begin_graph(model->space, &g) ? SAL_OK : sali_fail_memory(err);
    if (status == SAL_OK && pairs) {
        status = take_bits(&g, pairs) ? SAL_OK : sali_fail_memory(err);
    } else if (status == SAL_OK) {
        status = take_terms(model, steps, &g, why, err);
    }
    if (status == SAL_OK && g.edges > MOST_EDGES) {
        *why = "it needs fewer than 2^25 pairs of variables";
        status = SAL_ERR_UNSUPPORTED;
    }
    if (status != SAL_OK) {
        sali_cluster_graph_free(&g);
        return status;
    }
    *graph = g;
    return SAL_OK;
}

sal_status sali_cluster_graph_read(const sal_model *model, sali_couplings *couplings,
                                   sali_cluster_graph *graph, const char **why, sal_error *err)
{
    return read_graph(model, couplings, MOST_STEPS, graph, why, err);
}

/* read_graph, with couplings that end with the call. */
static sal_status read_alone(const sal_model *model, int64_t steps, sali_cluster_graph *g,
                             const char **why)
{
    sali_couplings *couplings = NULL;
    *g = (sali_cluster_graph){ 0 };
    *why = NULL;
    sal_status status = sali_couplings_create(model, SALI_BIT_COUPLINGS, &couplings, NULL);
    status = status ? status : read_graph(model, couplings, steps, g, why, NULL);
    sali_couplings_destroy(couplings);
    return status;
}

const char *sali_cluster_obstacle(const sal_model *model, const double *values, const void *data)
{
    const char *why;
    sali_cluster_graph graph;
    (void)values;
    (void)data;
    const sal_status status = read_alone(model, MOST_STEPS, &graph, &why);
    sali_cluster_graph_free(&graph);
    return status == SAL_ERR_MODEL         ? "it needs terms of f that are numbers"
           : status == SAL_ERR_UNSUPPORTED ? why
                                           : NULL; /* without memory opening the sampler fails */
}

bool sali_clusters_suit(const sal_model *model)
{
    const char *why;
    sali_cluster_graph graph;
    if (model->space->fixed) {
        return false;
    }
    const bool suits = read_alone(model, FEW_STEPS, &graph, &why) == SAL_OK && graph.edges > 0 &&
                       sali_cluster_graph_is_satisfiable(&graph);
    sali_cluster_graph_free(&graph);
    return suits;
}

double sali_cluster_graph_value(const sali_cluster_graph *g, const int32_t *codes)
{
    double f = 0, edges = 0;
    for (int64_t i = 0; i < g->n; i++) {
        f += g->field[i * g->most + codes[i]];
        for (int64_t k = g->begin[i]; k < g->begin[i + 1]; k++) {
            edges += codes[i] == codes[g->to[k]] ? g->strength[k] : 0;
        }
    }
    return g->constant + f + edges / 2;
}

/* Give every variable that hangs together with `from` the code that satisfies the edge by which it
 * is reached; -1: not reached. False if an edge contradicts. */
static bool spread_codes(const sali_cluster_graph *g, int64_t from, int32_t *code, int32_t *queue)
{
    int64_t count = 1;
    queue[0] = (int32_t)from;
    code[from] = 0;
    for (int64_t at = 0; at < count; at++) {
        const int32_t i = queue[at];
        for (int64_t k = g->begin[i]; k < g->begin[i + 1]; k++) {
            const int32_t j = g->to[k], wanted = g->strength[k] > 0 ? code[i] : 1 - code[i];
            if (code[j] < 0) {
                code[j] = wanted;
                queue[count++] = j;
            } else if (code[j] != wanted) {
                return false;
            }
        }
    }
    return true;
}

bool sali_cluster_graph_is_satisfiable(const sali_cluster_graph *g)
{
    int32_t *code = SALI_NEW_ARRAY(int32_t, g->n), *queue = SALI_NEW_ARRAY(int32_t, g->n);
    bool good = code && queue;
    for (int64_t i = 0; good && i < g->n; i++) {
        code[i] = -1;
    }
    for (int64_t i = 0; good && i < g->n; i++) {
        good = code[i] >= 0 || spread_codes(g, i, code, queue);
    }
    sali_free(code);
    sali_free(queue);
    return good;
}
