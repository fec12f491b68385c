/* SPDX-License-Identifier: MIT */
/* sum_j max(0, max_i s_i C_ij): what the selected rows of C cover, as in facility location. The
 * derivative goes to the first row that attains a column's maximum, if it is above 0: a
 * subgradient where the function is convex in s (C >= 0), and kinked where rows tie. Rows with
 * s_i = 0 are skipped. The columns' maxima are kept. */
#include <math.h>
#include <string.h>

#include "ad/change.h"
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

static int64_t saved_size(const sali_node *node, const sali_node *const *in)
{
    (void)node;
    return in[1]->shape.dim[1];
}

static int64_t scratch_size(const sali_node *node, const sali_node *const *in, int64_t chains)
{
    (void)node;
    (void)chains;
    return in[1]->shape.dim[1];
}

/* best_j = max(best_j, s row_j); a NaN stays. */
static inline void cover_row(int64_t m, real s, const real *row, real *best)
{
#pragma omp simd
    for (int64_t j = 0; j < m; j++) {
        real covered = s * row[j];
        bool keep = (covered <= best[j]) | (best[j] != best[j]);
        best[j] = keep ? best[j] : covered;
    }
}

/* The sum of the m column maxima. */
static inline real sum_of(int64_t m, const real *best)
{
    real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < m; j++) {
        sum += best[j];
    }
    return sum;
}

SALI_CLONES static void forward(const sali_call *call)
{
    int64_t n = call->in[0].size, m = call->in[1].shape->dim[1];
    real *best = call->saved;
    memset(best, 0, (size_t)(call->chains * m) * sizeof *best);
    for (int64_t c = 0; c < call->chains; c++, best += m) {
        const real *s = (const real *)call->in[0].value + c * call->in[0].stride;
        const real *row = call->in[1].value;
        for (int64_t i = 0; i < n; i++, row += m) {
            if (s[i] != 0) {
                cover_row(m, s[i], row, best);
            }
        }
        ((real *)call->out.value)[c] = sum_of(m, best);
    }
}

/* Backward of one row with selection s: the row takes from left [m] the adjoints of the columns
 * whose maximum it attains, and adds s times these to its own adjoint `to` (NULL: not wanted).
 * Returns what is to be added to the adjoint of s. */
static inline real pull_row(int64_t m, real s, const real *row, const real *best, real *left,
                            real *to)
{
    real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < m; j++) {
        real taken = s * row[j] == best[j] ? left[j] : 0;
        sum += sali_pull(taken, row[j]);
        left[j] -= taken;
        if (to) {
            to[j] += taken * s;
        }
    }
    return sum;
}

/* `left` is what is left of the adjoint of each column, until a row takes it. */
SALI_CLONES static void backward(const sali_call *call)
{
    int64_t n = call->in[0].size, m = call->in[1].shape->dim[1];
    const real *best = call->saved;
    real *left = call->scratch;
    for (int64_t c = 0; c < call->chains; c++, best += m) {
        const real g = ((const real *)call->out.adjoint)[c];
        const real *s = (const real *)call->in[0].value + c * call->in[0].stride;
        real *to = (real *)call->in[0].adjoint;
        if (g == 0) {
            continue;
        }
        for (int64_t j = 0; j < m; j++) {
            left[j] = best[j] > 0 ? g : 0;
        }
        for (int64_t i = 0; i < n; i++) {
            if (s[i] != 0) {
                real *matrix = (real *)call->in[1].adjoint;
                real slope = pull_row(m, s[i], (const real *)call->in[1].value + i * m, best, left,
                                      matrix ? matrix + i * m : NULL);
                if (to) {
                    to[c * call->in[0].stride + i] += slope;
                }
            }
        }
    }
}

/* The maximum of column j over the selected rows. */
static real column_maximum(int64_t n, int64_t m, const real *s, const real *C, int64_t j)
{
    real best = 0;
    for (int64_t i = 0; i < n; i++) {
        real covered = s[i] != 0 ? s[i] * C[i * m + j] : 0;
        best = covered <= best || best != best ? best : covered;
    }
    return best;
}

/* Few rows are added or removed. An added row costs O(m); a removed row O(m), and O(n) for each
 * column whose maximum it attained. If no rows tie, a column loses its maximum with one row only,
 * so that all single moves together cost O(n m). The sum over columns is recomputed, so that no
 * rounding errors add up. */
SALI_CLONES static sali_change_outcome change(sali_change *ch)
{
    const sali_arg *s = &ch->call->in[0], *C = &ch->call->in[1];
    int64_t n = s->size, m = C->shape->dim[1];
    real *best = ch->call->saved;
    change_save_row(ch, m);
    for (int64_t k = 0; k < ch->in[0]->n; k++) {
        real was = ((const real *)ch->in[0]->old)[k];
        const real *row = (const real *)C->value + ch->in[0]->index[k] * m;
        for (int64_t j = 0; was != 0 && j < m; j++) {
            if (!(was * row[j] < best[j]) && best[j] != 0) {
                best[j] = column_maximum(n, m, s->value, C->value, j);
            }
        }
    }
    for (int64_t k = 0; k < ch->in[0]->n; k++) {
        real is = change_new(ch, 0, k);
        const real *row = (const real *)C->value + ch->in[0]->index[k] * m;
        if (is != 0) {
            cover_row(m, is, row, best);
        }
    }
    *(real *)ch->call->out.value = sum_of(m, best);
    return SALI_CHANGE_DONE;
}

const sali_op RN(sali_op_max_coverage) = {
    .name = "max_coverage",
    .arity = 2,
    .param_inputs = 1u << 1,
    .test_low = 0,
    .test_high = 1,
    .doc = "sum_j max(0, max_i s_i C_ij)",
    .shape = shape,
    .degree = sali_degree_nonlinear,
    .saved_size = saved_size,
    .scratch_size = scratch_size,
    .forward = forward,
    .backward = backward,
    .change = change,
};
