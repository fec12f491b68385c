/* SPDX-License-Identifier: MIT */
/* sum_e w_e s_i(e) s_j(e) = s.Y / 2 with Y_i = sum over i's edges of w_e s_j, which is also the
 * gradient and is kept. Attributes: ints = i0, j0, i1, j1, ... */
#include <math.h>
#include <string.h>

#include "ad/change.h"
#include "ad/ops/sparse_rows.h"
#include "core/alloc.h"
#include "core/error.h"

static sal_status shape(sali_node *node, const sali_shape_context *context)
{
    const sal_shape *s = &context->in[0]->shape, *w = &context->in[1]->shape;
    if (s->rank != 1 || w->rank != 1) {
        return sali_shape_fail(node, context, "two vectors [n] and [edges]");
    }
    if (node->n_ints != 2 * w->dim[0] || node->n_reals != 0) {
        return sali_shape_fail(node, context, "one weight for each pair");
    }
    for (int64_t k = 0; k < node->n_ints; k++) {
        if (node->ints[k] < 0 || node->ints[k] >= s->dim[0]) {
            return sali_fail(
                context->err, SAL_ERR_SHAPE, "edges: edge %lld has index %lld; expected 0 to %lld",
                (long long)(k / 2), (long long)node->ints[k], (long long)(s->dim[0] - 1));
        }
    }
    node->shape = SAL_SCALAR;
    return SAL_OK;
}

/* Multilinear if the input's elements are coordinates and each edge joins two variables. */
static sali_degree degree(const sali_node *node, const sali_node *const *in,
                          const sali_degree *in_degree, const sal_space *space)
{
    if (in_degree[0] == SALI_CONSTANT) {
        return SALI_CONSTANT;
    }
    bool multilinear = sali_names_variables(in[0], in_degree[0], space);
    bool whole = in[0]->op == SALI_OP_state;
    for (int64_t e = 0; multilinear && e < node->n_ints / 2; e++) {
        int64_t i = node->ints[2 * e], j = node->ints[2 * e + 1];
        multilinear = whole ? sali_space_owner(space, i) != sali_space_owner(space, j) : i != j;
    }
    return multilinear ? SALI_MULTILINEAR : SALI_GENERAL;
}

/* Row i lists the neighbours of i. A pair (i, i) is listed twice: d(w s_i^2) / ds_i = 2 w s_i. */
static sal_status plan_create(const sali_node *node, const sali_node *const *in,
                              const sal_space *space, void **plan, sal_error *err)
{
    (void)space;
    int64_t n = in[0]->shape.dim[0];
    size_t begin_bytes = (size_t)(n + 1) * sizeof(int64_t);
    size_t list_bytes = (size_t)node->n_ints * sizeof(int32_t);
    char *block = sali_alloc((int64_t)(sizeof(sparse_rows) + begin_bytes + 2 * list_bytes), 1);
    if (!block) {
        return sali_fail_memory(err);
    }
    sparse_rows *made = (sparse_rows *)(void *)block;
    made->begin = (int64_t *)(void *)(block + sizeof(sparse_rows));
    made->column = (int32_t *)(void *)(block + sizeof(sparse_rows) + begin_bytes);
    made->entry = made->column + node->n_ints;
    sparse_rows_fill(made, n, node->n_ints, node->ints, 0, 1);
    *plan = made;
    return SAL_OK;
}

/* Two tiles, for any number of chains. */
static int64_t scratch_size(const sali_node *node, const sali_node *const *in, int64_t chains)
{
    (void)node;
    (void)chains;
    return in[0]->shape.dim[0] * 2 * LANES;
}

SALI_CLONES static void forward(const sali_call *call)
{
    int64_t n = call->in[0].size;
    const real *s = call->in[0].value;
    real *Y = call->saved, *out = (real *)call->out.value;
    sparse_multiply(call, call->plan, n, n, call->in[1].value, s, false, Y);
    for (int64_t c = 0; c < call->chains; c++, s += n, Y += n) {
        real sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = 0; i < n; i++) {
            sum += s[i] * Y[i];
        }
        out[c] = sum / 2;
    }
}

/* Set the lanes of chains whose adjoint is zero to 0: such chains must not count, even with
 * infinite values. */
static inline void clear_lanes(int64_t n, int64_t count, const real *g, lanes *tile)
{
    for (int64_t c = 0; c < count; c++) {
        for (int64_t i = 0; g[c] == 0 && i < n; i++) {
            tile[i][c] = 0;
        }
    }
}

/* Add sum_c g_c s_ci s_cj to the adjoint of w_e for each edge e, a tile of chains at a time. */
static inline void pull_weights(const sali_call *call)
{
    int64_t n = call->in[0].size, n_edges = call->in[1].size;
    const real *s = call->in[0].value, *g = call->out.adjoint;
    const int64_t *pair = call->node->ints;
    real *to = call->in[1].adjoint;
    lanes *tile = call->scratch, *weighted = tile + n;
    for (int64_t first = 0; first < call->chains; first += LANES) {
        int64_t count = lanes_from(call, first);
        lanes weight = { 0 };
        memcpy(&weight, g + first, (size_t)count * sizeof *g);
        load_tile(n, count, s + first * n, tile);
        clear_lanes(n, count, g + first, tile);
        for (int64_t i = 0; i < n; i++) {
            weighted[i] = weight * tile[i];
        }
        for (int64_t e = 0; e < n_edges; e++) {
            lanes terms = weighted[pair[2 * e]] * tile[pair[2 * e + 1]];
            real sum = 0;
            for (int l = 0; l < LANES; l++) {
                sum += terms[l];
            }
            to[e] += sum;
        }
    }
}

/* The state's gradient is g Y, from the saved Y; the weights' gradient needs the state only. */
SALI_CLONES static void backward(const sali_call *call)
{
    int64_t n = call->in[0].size;
    const real *g = call->out.adjoint, *Y = call->saved;
    real *to = call->in[0].adjoint;
    for (int64_t c = 0; to && c < call->chains; c++, to += n, Y += n) {
        real gc = g[c];
#pragma omp simd
        for (int64_t i = 0; i < n; i++) {
            to[i] += sali_pull(gc, Y[i]);
        }
    }
    if (call->in[1].adjoint) {
        pull_weights(call);
    }
}

/* If s_j rises by r, f rises by r (Y_j + W_jj r / 2); for each neighbour i of j, Y_i rises by w r,
 * and the gradient by g w r. */
static sali_change_outcome change(sali_change *ch)
{
    const sparse_rows *rows = ch->call->plan;
    const real *w = ch->call->in[1].value;
    real *Y = ch->call->saved, total = 0;
    real g = ch->gradient ? *(const real *)ch->call->out.adjoint : 0;
    if (!ch->affine || !isfinite(*(const real *)ch->call->out.value)) {
        return SALI_CHANGE_ROW;
    }
    for (int64_t n = 0; n < ch->in[0]->n; n++) {
        int64_t j = ch->in[0]->index[n];
        real rise = change_rise(ch, 0, n), self = 0;
        total += rise * Y[j];
        for (int64_t k = rows->begin[j]; k < rows->begin[j + 1]; k++) {
            int64_t i = rows->column[k];
            real step = w[rows->entry[k]] * rise;
            self += i == j ? step : 0;
            if (!change_write(ch, &Y[i], Y[i] + step) ||
                (ch->gradient && !change_gradient(ch, i, g * step))) {
                return SALI_CHANGE_GIVE_UP;
            }
        }
        total += self * rise / 2;
    }
    return change_set(ch, 0, *(const real *)ch->call->out.value + total) ? SALI_CHANGE_DONE
                                                                         : SALI_CHANGE_GIVE_UP;
}

/* Term e is w_e s_i(e) s_j(e). */
static sali_op_term term(const sali_term_place *p)
{
    const int64_t *pair = p->node->ints + 2 * p->t;
    return (sali_op_term){ .count = p->node->n_ints / 2,
                           .factor = 1,
                           .n = 3,
                           .input = { 0, 0, 1 },
                           .at = { pair[0], pair[1], p->t } };
}

const sali_op RN(sali_op_edges) = {
    .name = "edges",
    .arity = 2,
    .changes_gradient = true,
    .params_by_inputs = true,
    .param_inputs = 1u << 1,
    .test_low = -2,
    .test_high = 2,
    .doc = "sum_e w_e s_i(e) s_j(e)",
    .term = term,
    .lists_pairs = true,
    .shape = shape,
    .degree = degree,
    .saved_size = sali_saved_as_first,
    .scratch_size = scratch_size,
    .plan_create = plan_create,
    .forward = forward,
    .backward = backward,
    .change = change,
};
