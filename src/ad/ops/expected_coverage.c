/* SPDX-License-Identifier: MIT */
/* sum_j E max(0, max_{i in S} C_ij), S holding i with probability s_i, independently: max_coverage
 * where s is 0 or 1, and multilinear in s.
 *
 * With column j in descending order c_1 >= c_2 >= .. and the s in that order, the k-th row serves
 * with probability s_k P_k, P_k = prod_{l < k} (1 - s_l). So the expectation is
 * sum_k max(0, c_k) s_k P_k, and its derivative by s_k is P_k (max(0, c_k) - T_k), T_k being what
 * the rows after k are worth by themselves. Columns are sorted once an update of C. A column is
 * read until P_k is 0, on the lattice up to its first selected row; T_k is summed until the product
 * of 1 - s_l over the rows after that is 0 too, on the lattice up to the second selected row. */
#include <stdlib.h>
#include <string.h>

#include "ad/ops/ops.h"

static sal_status shape(sali_node *node, const sali_shape_context *context)
{
    const sal_shape *s = &context->in[0]->shape, *C = &context->in[1]->shape;
    if (s->rank != 1 || C->rank != 2 || C->dim[0] != s->dim[0]) {
        return sali_shape_fail(node, context, "a vector [n] and a matrix [n, m]");
    }
    node->shape = SAL_SCALAR;
    return sali_expect_attributes(node, 0, 0, context->err);
}

/* Multilinear if the input holds coordinates and every variable has one coordinate. */
static sali_degree degree(const sali_node *node, const sali_node *const *in,
                          const sali_degree *in_degree, const sal_space *space)
{
    (void)node;
    if (in_degree[0] == SALI_CONSTANT) {
        return SALI_CONSTANT;
    }
    return in_degree[0] == SALI_COORDINATES && space->width == space->n_variables &&
                   sali_names_variables(in[0], in_degree[0], space)
               ? SALI_MULTILINEAR
               : SALI_GENERAL;
}

/* ---- the columns in order: values [m x n], then rows as int32 [m x n] */

typedef struct entry {
    real value;
    int32_t row;
} entry;

/* Order of entries for qsort: NaNs first, then the largest; equal values by row. */
static int compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    bool x_nan = x->value != x->value, y_nan = y->value != y->value;
    if (x_nan != y_nan) {
        return x_nan ? -1 : 1;
    }
    return x->value > y->value ? -1 : x->value < y->value ? 1 : x->row < y->row ? -1 : 1;
}

static int64_t prepared_size(const sali_node *node, const sali_node *const *in)
{
    (void)node;
    return 2 * sali_shape_size(&in[1]->shape);
}

/* Room for the entries of one column. */
static int64_t scratch_size(const sali_node *node, const sali_node *const *in, int64_t chains)
{
    (void)node;
    (void)chains;
    return in[1]->shape.dim[0] * (int64_t)(sizeof(entry) / sizeof(real));
}

/* Sort each column of max(0, C) in descending order, and keep the rows of the sorted values. */
static void prepare(const sali_call *call, void *prepared)
{
    int64_t n = call->in[1].shape->dim[0], m = call->in[1].shape->dim[1];
    const real *C = call->in[1].value;
    real *value = prepared;
    int32_t *row = (int32_t *)(value + n * m);
    entry *column = call->scratch;
    for (int64_t j = 0; j < m; j++) {
        for (int64_t i = 0; i < n; i++) {
            real c = C[i * m + j];
            column[i] = (entry){ c <= 0 ? 0 : c, (int32_t)i };
        }
        qsort(column, (size_t)n, sizeof *column, compare_entries);
        for (int64_t k = 0; k < n; k++) {
            value[j * n + k] = column[k].value;
            row[j * n + k] = column[k].row;
        }
    }
}

/* ---- kernels */

static void forward(const sali_call *call)
{
    int64_t n = call->in[1].shape->dim[0], m = call->in[1].shape->dim[1];
    const real *values = call->prepared;
    const int32_t *rows = (const int32_t *)(values + n * m);
    for (int64_t c = 0; c < call->chains; c++) {
        const real *s = (const real *)call->in[0].value + c * call->in[0].stride;
        real sum = 0;
        for (int64_t j = 0; j < m; j++) {
            const real *value = values + j * n;
            const int32_t *row = rows + j * n;
            real P = 1;
            for (int64_t k = 0; k < n && P != 0; k++) {
                sum += s[row[k]] != 0 ? value[k] * (s[row[k]] * P) : 0;
                P *= 1 - s[row[k]];
            }
        }
        ((real *)call->out.value)[c] = sum;
    }
}

/* Add g times the probability with which each row serves to a column of C's adjoint, whose elements
 * are m apart from `to` on. Entries not above 0 get nothing. */
static void pull_column(int64_t n, int64_t m, real g, const real *s, const real *value,
                        const int32_t *row, const real *P, real *to)
{
    for (int64_t k = 0; k < n; k++) {
        to[row[k] * m] += value[k] != 0 ? g * (s[row[k]] * P[k]) : 0;
    }
}

/* The end of the rows from `first` on that can serve if no row before `first` does: where the
 * product of 1 - s becomes 0, or n. */
static int64_t last_behind(int64_t n, const real *s, const int32_t *row, int64_t first)
{
    real left = 1;
    while (first < n && left != 0) {
        left *= 1 - s[row[first++]];
    }
    return first;
}

/* P and T of each column are computed again: P from the first row on, then T from the last one
 * back. */
static void backward(const sali_call *call)
{
    int64_t n = call->in[1].shape->dim[0], m = call->in[1].shape->dim[1];
    const real *values = call->prepared;
    const int32_t *rows = (const int32_t *)(values + n * m);
    real *P = call->scratch;
    for (int64_t c = 0; c < call->chains; c++) {
        const real g = ((const real *)call->out.adjoint)[c];
        const real *s = (const real *)call->in[0].value + c * call->in[0].stride;
        real *to = (real *)call->in[0].adjoint, *matrix = call->in[1].adjoint;
        for (int64_t j = 0; g != 0 && j < m; j++) {
            const real *value = values + j * n;
            const int32_t *row = rows + j * n;
            int64_t reached = 0;
            real left = 1, T = 0;
            while (reached < n && left != 0) {
                P[reached] = left;
                left *= 1 - s[row[reached++]];
            }
            int64_t end = last_behind(n, s, row, reached);
            if (matrix) {
                pull_column(reached, m, g, s, value, row, P, matrix + j);
            }
            for (int64_t k = end; to && k-- > 0;) {
                if (k < reached) {
                    to[c * call->in[0].stride + row[k]] += g * (P[k] * (value[k] - T));
                }
                T += s[row[k]] != 0 ? s[row[k]] * (value[k] - T) : 0;
            }
        }
    }
}

const sali_op RN(sali_op_expected_coverage) = {
    .name = "expected_coverage",
    .arity = 2,
    .param_inputs = 1u << 1,
    .test_low = 0,
    .test_high = 1,
    .doc = "sum_j E max(0, max_{i in S} C_ij), i in S with probability s_i",
    .shape = shape,
    .degree = degree,
    .scratch_size = scratch_size,
    .prepared_size = prepared_size,
    .prepare = prepare,
    .forward = forward,
    .backward = backward,
};
