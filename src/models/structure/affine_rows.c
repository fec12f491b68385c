/* SPDX-License-Identifier: MIT */
#include "models/structure/affine_rows.h"

#include <string.h>

#include "core/alloc.h"
#include "core/memory.h"
#include "core/vector/blas.h"
#include "models/clamp.h"
#include "models/structure/weights.h"

/* Bound on the number of slopes of all nodes together. */
#define MOST_SLOPES (INT64_C(1) << 24)

/* ---- which nodes are asked for */

/* Mark the nodes that f is a sum of (`summed` [n_nodes], see sali_mark_summed) and the nodes whose
 * elements are factors of products, with everything below them (`asked` [n_nodes]). False: f has a
 * node that cannot be read. */
static bool mark_nodes(const sali_affine_rows *r, bool *summed, bool *asked)
{
    const sali_program *program = r->program;
    sali_mark_summed(program, summed);
    for (int32_t i = program->output; i >= 0; i--) {
        const sali_node *node = &program->nodes[i];
        bool leaf = !node->varying || i == program->state;
        if (leaf || (!summed[i] && !asked[i]) || program->steps[i].op->next_table) {
            if (!leaf && asked[i]) {
                return false;
            }
            continue;
        }
        int factors = sali_node_factors(program, i);
        if (factors < 0) {
            return false;
        }
        for (int32_t k = 0; k < node->n_in; k++) {
            asked[node->in[k]] |= asked[i] || factors > 1;
        }
    }
    return true;
}

/* ---- rows */

/* Append slope * u_unknown to the row that is being written in `to`. SAL_ERR_UNSUPPORTED: there are
 * too many slopes. */
static sal_status append_slope(sali_affine_rows *r, sali_node_rows *to, int32_t unknown,
                               double slope)
{
    int64_t unknowns = to->room, slopes = to->room;
    if (++r->used > MOST_SLOPES) {
        return SAL_ERR_UNSUPPORTED;
    }
    if (sali_grow((void **)&to->unknown, &unknowns, to->used + 1, sizeof *to->unknown) != 0 ||
        sali_grow((void **)&to->slope, &slopes, to->used + 1, sizeof *to->slope) != 0) {
        return SAL_ERR_MEMORY;
    }
    to->room = unknowns;
    to->unknown[to->used] = unknown;
    to->slope[to->used++] = slope;
    return SAL_OK;
}

sali_indicator sali_affine_indicator(const sali_affine_rows *r, int64_t variable, int32_t code)
{
    const sali_variable *v = &r->program->space->variables[variable];
    int32_t own = r->free[variable];
    if (r->unknowns == SALI_BITS) {
        return (sali_indicator){ 0, 1, own };
    }
    int32_t offset = (int32_t)r->model->space->variables[own].offset;
    if (v->kind == SAL_CATEGORICAL) {
        return (sali_indicator){ 0, 1, offset + code };
    }
    double low = sali_level(v, 0), span = sali_level(v, 1) - low;
    return (sali_indicator){ -low / span, 1 / span, offset };
}

/* Write the row of real k of a variable of the tape: its base, and one slope unless the variable
 * has one state or is clamped. The caller sets the row's end. */
static sal_status add_real(sali_affine_rows *r, sali_node_rows *to, int64_t variable, int32_t k)
{
    const sali_variable *v = &r->program->space->variables[variable];
    bool one_hot = v->kind == SAL_CATEGORICAL;
    int32_t own = r->free[variable];
    double *base = &to->base[v->offset + k];
    if (own >= 0 && r->unknowns == SALI_REALS) {
        return append_slope(r, to, (int32_t)r->model->space->variables[own].offset + k, 1);
    }
    bool fixed = own < 0 || v->states == 1;
    int32_t first = fixed ? r->code[variable] : 0;
    *base = one_hot ? first == k : sali_level(v, first);
    double rise = fixed ? 0 : (one_hot ? k == 1 : sali_level(v, 1)) - *base;
    return rise == 0 ? SAL_OK : append_slope(r, to, own, rise);
}

/* Write the rows of the state: one for each real of the tape's embedding. */
static sal_status find_state(sali_affine_rows *r, sali_node_rows *to)
{
    const sal_space *space = r->program->space;
    sal_status status = SAL_OK;
    for (int64_t v = 0; v < space->n_variables; v++) {
        for (int32_t k = 0; status == SAL_OK && k < space->variables[v].width; k++) {
            status = add_real(r, to, v, k);
            to->begin[space->variables[v].offset + k + 1] = to->used;
        }
    }
    return status;
}

/* A sum of rows that is being accumulated. */
typedef struct row_sum {
    int64_t n, stamp;
    int64_t *seen; /* [unknowns] stamp of the last sum that the unknown was in */
    int32_t *list; /* [unknowns] the n unknowns of this sum */
    double *slope; /* [unknowns] */
} row_sum;

/* Add x times the slopes of `a` to the sum. */
static void add_row(row_sum *sum, const sali_affine *a, double x)
{
    for (int64_t k = 0; k < a->n; k++) {
        int32_t u = a->unknown[k];
        if (sum->seen[u] != sum->stamp) {
            sum->seen[u] = sum->stamp;
            sum->list[sum->n++] = u;
            sum->slope[u] = 0;
        }
        sum->slope[u] += x * a->slope[k];
    }
}

/* Add a term of node i to the slopes in `sum` and to *base. SAL_ERR_UNSUPPORTED: several of its
 * elements have unknowns. */
static sal_status add_term(const sali_affine_rows *r, int32_t i, const sali_op_term *term,
                           row_sum *sum, double *base)
{
    sali_affine moving = { .base = 1 };
    double x = 1;
    int varying[3], n = sali_term_split(r->program, r->params, i, term, varying, &x);
    for (int j = 0; j < n; j++) {
        int32_t in = r->program->nodes[i].in[term->input[varying[j]]];
        sali_affine own = sali_affine_row(r, in, term->at[varying[j]]);
        if (own.n == 0) {
            x *= own.base;
        } else if (moving.n > 0) {
            return SAL_ERR_UNSUPPORTED;
        } else {
            moving = own;
        }
    }
    if (x != 0) {
        *base += x * moving.base;
        add_row(sum, &moving, x);
    }
    return SAL_OK;
}

/* Write the rows of node i, term by term; `sum` is scratch. */
static sal_status find_node(sali_affine_rows *r, int32_t i, row_sum *sum)
{
    sali_node_rows *to = &r->node[i];
    int64_t terms = sali_terms_of(r->program, i);
    for (int64_t k = 0; k < r->program->steps[i].size; k++) {
        sum->n = 0;
        sum->stamp++;
        for (int64_t t = 0; t < terms; t++) {
            sali_op_term term = sali_term_of(r->program, i, k, t);
            sal_status status =
                term.factor == 0 ? SAL_OK : add_term(r, i, &term, sum, &to->base[k]);
            if (status != SAL_OK) {
                return status;
            }
        }
        for (int64_t u = 0; u < sum->n; u++) {
            double slope = sum->slope[sum->list[u]];
            sal_status status = slope == 0 ? SAL_OK : append_slope(r, to, sum->list[u], slope);
            if (status != SAL_OK) {
                return status;
            }
        }
        to->begin[k + 1] = to->used;
    }
    return SAL_OK;
}

/* ---- long sums of long rows, as products of matrices */

#define BATCH 128

/* The only input of node i that varies, if the elements of node i are linear sums of many terms and
 * the elements of the input have many unknowns on average; else -1. */
static int32_t long_input(const sali_affine_rows *r, int32_t i)
{
    enum { LONG = 16 };
    const sali_node *node = &r->program->nodes[i];
    int32_t moving = -1;
    for (int32_t k = 0; k < node->n_in; k++) {
        if (r->program->nodes[node->in[k]].varying) {
            moving = moving < 0 ? node->in[k] : INT32_MAX;
        }
    }
    bool is = moving >= 0 && moving < INT32_MAX && sali_node_factors(r->program, i) == 1 &&
              sali_terms_of(r->program, i) > LONG &&
              r->node[moving].used > LONG * r->program->steps[moving].size;
    return is ? moving : -1;
}

/* Add to C [size of the input] the coefficients of the input's elements in element k of node i, and
 * to *base the terms that do not vary. */
static void write_coefficients(const sali_affine_rows *r, int32_t i, int64_t k, double *C,
                               double *base)
{
    int64_t terms = sali_terms_of(r->program, i);
    for (int64_t t = 0; t < terms; t++) {
        sali_op_term term = sali_term_of(r->program, i, k, t);
        double x = 1;
        int varying[3];
        bool varies =
            term.factor != 0 && sali_term_split(r->program, r->params, i, &term, varying, &x) > 0;
        if (term.factor != 0 && x != 0) {
            *(varies ? &C[term.at[varying[0]]] : base) += x;
        }
    }
}

/* Write the rows of node `in`, of m elements, into S [m x (n + 1)], zero before: the slopes of the
 * n unknowns, then the base. */
static void write_rows(const sali_affine_rows *r, int32_t in, int64_t n, double *S)
{
    for (int64_t k = 0; k < r->program->steps[in].size; k++, S += n + 1) {
        sali_affine row = sali_affine_row(r, in, k);
        S[n] = row.base;
        for (int64_t u = 0; u < row.n; u++) {
            S[row.unknown[u]] = row.slope[u];
        }
    }
}

/* Write the rows of node i from the rows of its input `in` by products of matrices, BATCH elements
 * at a time; n unknowns. */
static sal_status find_long_node(sali_affine_rows *r, int32_t i, int32_t in, int64_t n)
{
    sali_node_rows *to = &r->node[i];
    int64_t size = r->program->steps[i].size, m = r->program->steps[in].size, width = n + 1;
    sali_memory memory = { 0 };
    double *S = SALI_TAKE(&memory, double, m *width), *C = SALI_TAKE(&memory, double, BATCH *m);
    double *out = SALI_TAKE(&memory, double, BATCH *width);
    sal_status status = memory.refused ? SAL_ERR_MEMORY : SAL_OK;
    if (status == SAL_OK) {
        write_rows(r, in, n, S);
    }
    for (int64_t first = 0; status == SAL_OK && first < size; first += BATCH) {
        int64_t rows = size - first < BATCH ? size - first : BATCH;
        memset(C, 0, (size_t)(rows * m) * sizeof *C);
        for (int64_t k = 0; k < rows; k++) {
            write_coefficients(r, i, first + k, C + k * m, &to->base[first + k]);
        }
        sali_blas_single_thread_begin();
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)width, (int)m, 1, C,
                    (int)m, S, (int)width, 0, out, (int)width);
        sali_blas_single_thread_end();
        for (int64_t k = 0; k < rows; k++) {
            const double *row = out + k * width;
            to->base[first + k] += row[n];
            for (int32_t u = 0; status == SAL_OK && u < n; u++) {
                status = row[u] == 0 ? SAL_OK : append_slope(r, to, u, row[u]);
            }
            to->begin[first + k + 1] = to->used;
        }
    }
    sali_memory_free(&memory);
    return status;
}

/* Write the rows of the state and of the nodes in `asked`, inputs first. */
static sal_status find_rows(sali_affine_rows *r, const bool *asked)
{
    int64_t n = r->unknowns == SALI_BITS ? r->model->space->n_variables : r->model->space->width;
    row_sum sum = { .seen = SALI_NEW_ARRAY(int64_t, n),
                    .list = SALI_NEW_ARRAY(int32_t, n),
                    .slope = SALI_NEW_ARRAY(double, n) };
    sal_status status = sum.seen && sum.list && sum.slope ? SAL_OK : SAL_ERR_MEMORY;
    for (int32_t i = 0; status == SAL_OK && i <= r->program->output; i++) {
        sali_node_rows *to = &r->node[i];
        if (!r->program->nodes[i].varying || (!asked[i] && i != r->program->state)) {
            continue;
        }
        to->base = SALI_NEW_ARRAY(double, r->program->steps[i].size);
        to->begin = SALI_NEW_ARRAY(int64_t, r->program->steps[i].size + 1);
        int32_t from = long_input(r, i);
        status = !to->base || !to->begin  ? SAL_ERR_MEMORY
                 : i == r->program->state ? find_state(r, to)
                 : from >= 0              ? find_long_node(r, i, from, n)
                                          : find_node(r, i, &sum);
    }
    sali_free(sum.seen);
    sali_free(sum.list);
    sali_free(sum.slope);
    return status;
}

/* ---- all of it */

sal_status sali_affine_rows_create(const sal_model *model, sali_unknowns unknowns,
                                   sali_affine_rows *rows)
{
    const sali_tape_model *tape = sali_model_tape(model);
    int32_t n = tape->program->n_nodes;
    int64_t whole = tape->program->space->n_variables;
    *rows = (sali_affine_rows){ .model = model,
                                .program = tape->program,
                                .params = tape->params,
                                .unknowns = unknowns,
                                .free = SALI_NEW_ARRAY(int32_t, whole),
                                .code = SALI_NEW_ARRAY(int32_t, whole),
                                .node = SALI_NEW_ARRAY(sali_node_rows, n) };
    bool *summed = SALI_NEW_ARRAY(bool, n), *asked = SALI_NEW_ARRAY(bool, n);
    bool ok = rows->free && rows->code && rows->node && summed && asked;
    sal_status status = !ok ? SAL_ERR_MEMORY
                        : mark_nodes(rows, summed, asked)
                            ? sali_clamp_index(model, rows->free, rows->code)
                            : SAL_ERR_UNSUPPORTED;
    status = status ? status : find_rows(rows, asked);
    sali_free(summed);
    sali_free(asked);
    return status;
}

void sali_affine_rows_free(sali_affine_rows *rows)
{
    for (int32_t i = 0; rows->node && i < rows->program->n_nodes; i++) {
        sali_free(rows->node[i].base);
        sali_free(rows->node[i].begin);
        sali_free(rows->node[i].unknown);
        sali_free(rows->node[i].slope);
    }
    sali_free(rows->node);
    sali_free(rows->free);
    sali_free(rows->code);
    *rows = (sali_affine_rows){ 0 };
}
