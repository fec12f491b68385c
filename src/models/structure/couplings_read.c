/* SPDX-License-Identifier: MIT */
/* The quadratic polynomial that a formula is, found by going through its nodes.
 *
 * Forward: the nodes that f multiplies become affine functions of the unknowns (affine_rows.h).
 * Backward from f: the weight of each element of each node in f (weights.h), as long as ops are
 * linear; where an op multiplies, its operands are such functions. */
#include <string.h>

#include "ad/polynomial.h"
#include "core/alloc.h"
#include "core/vector/blas.h"
#include "models/structure/affine_rows.h"
#include "models/structure/couplings.h"
#include "models/structure/weights.h"

/* The number of products of two long functions that are added by one product of matrices. */
#define BATCH 128

typedef struct reader {
    const sali_program *program;
    sali_coupling_terms *terms;
    sali_affine_rows rows;
    sali_weights weights;
    int64_t batched;      /* products in `left` and `right`, not yet added */
    double *left, *right; /* [BATCH x n] slopes of their operands; NULL before the first */
} reader;

/* ---- terms */

static void add_affine(reader *r, const sali_affine *a, double weight)
{
    r->terms->constant += weight * a->base;
    for (int64_t k = 0; k < a->n; k++) {
        r->terms->linear[a->unknown[k]] += weight * a->slope[k];
    }
}

/* Add rise u_i u_j to the terms. For bits, u_i u_i is linear. */
static sal_status add_pair(reader *r, int32_t i, int32_t j, double rise)
{
    sali_coupling_terms *t = r->terms;
    if (t->products) {
        t->products[i * t->n + j] += rise;
        return SAL_OK;
    }
    if (i == j) { /* b b = b */
        t->linear[i] += rise;
        return SAL_OK;
    }
    return rise == 0 ? SAL_OK : t->add(t, i, j, rise);
}

/* Add the products in the batch, left' right, to terms->products, and empty the batch. */
static void add_batch(reader *r)
{
    int n = (int)r->terms->n;
    if (r->batched > 0) {
        sali_blas_single_thread_begin();
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, n, n, (int)r->batched, 1, r->left, n,
                    r->right, n, 1, r->terms->products, n);
        sali_blas_single_thread_end();
        r->batched = 0;
    }
}

static void write_row(const sali_affine *a, int64_t n, double weight, double *row)
{
    memset(row, 0, (size_t)n * sizeof *row);
    for (int64_t k = 0; k < a->n; k++) {
        row[a->unknown[k]] = weight * a->slope[k];
    }
}

/* Put weight a b, without the bases, into the batch, which is added when it is full. */
static sal_status add_long_product(reader *r, const sali_affine *a, const sali_affine *b,
                                   double weight)
{
    int64_t n = r->terms->n;
    if (!r->left) {
        r->left = SALI_NEW_ARRAY(double, BATCH *n);
        r->right = SALI_NEW_ARRAY(double, BATCH *n);
    }
    if (!r->left || !r->right) {
        return SAL_ERR_MEMORY;
    }
    write_row(a, n, weight, r->left + r->batched * n);
    write_row(b, n, 1, r->right + r->batched * n);
    if (++r->batched == BATCH) {
        add_batch(r);
    }
    return SAL_OK;
}

/* Whether a product of two functions has so many couplings that following the formula, which has
 * fewer terms, is cheaper. */
static bool is_long(const sali_affine *a, const sali_affine *b)
{
    enum { LONG = 16 };
    return a->n * b->n > LONG * (a->n + b->n);
}

/* Add weight a b, a product of two affine functions, to the terms. */
static sal_status add_product(reader *r, const sali_affine *a, const sali_affine *b, double weight)
{
    sal_status status = SAL_OK;
    r->terms->constant += weight * a->base * b->base;
    for (int64_t k = 0; k < a->n; k++) {
        r->terms->linear[a->unknown[k]] += weight * a->slope[k] * b->base;
    }
    for (int64_t k = 0; k < b->n; k++) {
        r->terms->linear[b->unknown[k]] += weight * b->slope[k] * a->base;
    }
    if (!r->terms->products && !r->terms->add) {
        return SAL_OK;
    }
    if (is_long(a, b)) {
        return r->terms->products ? add_long_product(r, a, b, weight) : SAL_ERR_UNSUPPORTED;
    }
    for (int64_t k = 0; k < a->n; k++) {
        double left = weight * a->slope[k];
        for (int64_t l = 0; status == SAL_OK && l < b->n; l++) {
            status = add_pair(r, a->unknown[k], b->unknown[l], left * b->slope[l]);
        }
    }
    return status;
}

/* ---- nodes */

/* Whether a node is a form x'Sx of all the unknowns as they are, with a symmetric S. */
static bool is_whole_form(const reader *r, int32_t i)
{
    const sali_node *node = &r->program->nodes[i];
    int32_t x = node->in[0];
    bool whole = r->program->steps[i].op->symmetric_inputs == 1u << 1 &&
                 r->program->steps[x].size == r->terms->n;
    for (int64_t k = 0; whole && k < r->terms->n; k++) {
        sali_affine a = sali_affine_row(&r->rows, x, k);
        whole = a.base == 0 && a.n == 1 && a.slope[0] == 1 && a.unknown[0] == k;
    }
    return whole;
}

/* Add one product of node i, times `weight`; SAL_ERR_UNSUPPORTED when more than two of its elements
 * vary. *count rises by its products of two unknowns, unless those are too many to be of use. */
static sal_status read_product(reader *r, int32_t i, const sali_op_term *term, double weight,
                               int64_t *count)
{
    sali_affine of[2] = { { .base = 1 }, { .base = 1 } };
    int varying[3];
    int n = sali_term_split(r->program, r->weights.params, i, term, varying, &weight);
    if (n > 2) {
        return SAL_ERR_UNSUPPORTED;
    }
    for (int j = 0; j < n; j++) {
        int32_t in = r->program->nodes[i].in[term->input[varying[j]]];
        of[j] = sali_affine_row(&r->rows, in, term->at[varying[j]]);
    }
    if (!is_long(&of[0], &of[1])) {
        *count += (int64_t)term->factor * of[0].n * of[1].n; /* 2: an entry and its mirror image */
    }
    if (weight == 0) {
        return SAL_OK;
    }
    if (n < 2) {
        add_affine(r, &of[0], weight);
        return SAL_OK;
    }
    return add_product(r, &of[0], &of[1], weight);
}

/* Add all products of node i, one that multiplies. A form u'Su of all unknowns is noted as
 * terms->form, and its products are added only if they have a place to go. */
static sal_status read_products(reader *r, int32_t i)
{
    int64_t terms = sali_terms_of(r->program, i), count = 0;
    bool whole = is_whole_form(r, i);
    sal_status status = SAL_OK;
    if (whole) {
        r->terms->forms++;
        r->terms->form = r->program->nodes[i].in[1];
        r->terms->weight = r->weights.node[i][0];
        count = terms;
    } else {
        r->terms->others++;
    }
    bool stays = whole && !r->terms->products && !r->terms->add;
    for (int64_t k = 0; k < r->program->steps[i].size && !stays; k++) {
        double weight = r->weights.node[i][k];
        for (int64_t t = 0; status == SAL_OK && t < terms; t++) {
            sali_op_term term = sali_term_of(r->program, i, k, t);
            status = term.factor == 0 ? SAL_OK : read_product(r, i, &term, weight, &count);
        }
    }
    r->terms->most = count > r->terms->most ? count : r->terms->most;
    return status;
}

/* ---- tables */

/* A free variable of a table, and the functions of it that the table is a combination of: 1 and the
 * bit of the variable, or the indicators of its states. */
typedef struct table_axis {
    int64_t variable, stride;
    int32_t functions;
    bool bit;
} table_axis;

/* Function k of a variable of a table; the result points into *room. */
static sali_affine function_of(const reader *r, const table_axis *axis, int32_t k,
                               sali_indicator *room)
{
    if (axis->functions == 1 || (axis->bit && k == 0)) {
        return (sali_affine){ .base = 1 };
    }
    *room = sali_affine_indicator(&r->rows, axis->variable, k);
    return (sali_affine){ room->base, 1, &room->unknown, &room->slope };
}

/* Find the free variables of a table that have several states; *start becomes the entry with all of
 * them at code 0. False: there are more than two, or one has too many states. */
static bool find_axes(const reader *r, const sali_op_table *table, table_axis axis[2],
                      int64_t *start)
{
    const sal_space *space = r->program->space;
    int64_t stride = 1;
    int n = 0;
    *start = table->start;
    for (int64_t k = table->length - 1; k >= 0; k--) {
        int64_t v = table->scope[k];
        const sali_variable *variable = &space->variables[v];
        bool bit = r->terms->unknowns == SALI_BITS || variable->kind != SAL_CATEGORICAL;
        if (r->rows.free[v] < 0) {
            *start += stride * r->rows.code[v];
        } else if (variable->states > 1) {
            if (n == 2 || (bit && variable->states > 2)) {
                return false;
            }
            axis[n++] = (table_axis){ v, stride, variable->states, bit };
        }
        stride *= variable->states;
    }
    return true;
}

/* The coefficient of function k of the variable, in the part of table T that begins at entry `at`,
 * where the variable has code 0. */
static double entry_of(const reader *r, int32_t T, const table_axis *axis, int64_t at, int32_t k)
{
    double here = sali_weights_value(&r->weights, T, at + k * axis->stride);
    return axis->bit && k > 0 ? here - sali_weights_value(&r->weights, T, at) : here;
}

/* Add one table of node i as a polynomial of its free variables, two at most. */
static sal_status read_table(reader *r, int32_t i, const sali_op_table *table)
{
    table_axis axis[2] = { { .functions = 1 }, { .functions = 1 } };
    int32_t T = r->program->nodes[i].in[1];
    double weight = r->weights.node[i][0];
    int64_t start;
    sal_status status = find_axes(r, table, axis, &start) ? SAL_OK : SAL_ERR_UNSUPPORTED;
    for (int32_t k = 0; k < axis[0].functions; k++) {
        for (int32_t l = 0; status == SAL_OK && l < axis[1].functions; l++) {
            sali_indicator room[2];
            sali_affine a = function_of(r, &axis[0], k, &room[0]);
            sali_affine b = function_of(r, &axis[1], l, &room[1]);
            double entry = entry_of(r, T, &axis[1], start + k * axis[0].stride, l);
            if (axis[0].bit && k > 0) {
                entry -= entry_of(r, T, &axis[1], start, l);
            }
            status = add_product(r, &a, &b, weight * entry);
        }
    }
    return status;
}

/* Add all tables of node i. */
static sal_status read_tables(reader *r, int32_t i)
{
    const sali_node *node = &r->program->nodes[i];
    sali_op_table table = { .index = -1 };
    sal_status status = SAL_OK;
    r->terms->others++;
    while (status == SAL_OK &&
           r->program->steps[i].op->next_table(node, r->program->space, &table)) {
        status = read_table(r, i, &table);
    }
    return status;
}

/* ---- all of it */

static void read_state(reader *r)
{
    int32_t i = r->program->state;
    for (int64_t k = 0; k < r->program->steps[i].size; k++) {
        sali_affine row = sali_affine_row(&r->rows, i, k);
        add_affine(r, &row, r->weights.node[i][k]);
    }
}

/* Add the terms of summand i of f, by its weights: a visitor of sali_weights_push. */
static sal_status read_summand(void *context, int32_t i)
{
    reader *r = context;
    if (i == r->program->state) {
        read_state(r);
        return SAL_OK;
    }
    return r->program->steps[i].op->next_table ? read_tables(r, i) : read_products(r, i);
}

sal_status sali_couplings_read(const sal_model *model, sali_coupling_terms *terms)
{
    const sali_tape_model *tape = sali_model_tape(model);
    if (!tape || terms->n >= INT32_MAX) {
        return SAL_ERR_UNSUPPORTED;
    }
    reader r = { .program = tape->program,
                 .terms = terms,
                 .weights = { .program = tape->program } };
    sal_status status = sali_affine_rows_create(model, terms->unknowns, &r.rows);
    status = status ? status : sali_weights_create(tape, &r.weights);
    status = status ? status : sali_weights_push(&r.weights, &terms->constant, read_summand, &r);
    add_batch(&r);
    sali_free(r.left);
    sali_free(r.right);
    sali_affine_rows_free(&r.rows);
    sali_weights_free(&r.weights);
    return status;
}
