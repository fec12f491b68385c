/* SPDX-License-Identifier: MIT */
/* Shape and degree rules that several ops share. */
#include <stdio.h>
#include <string.h>

#include "ad/op.h"
#include "core/error.h"

bool sali_shape_equal(const sal_shape *a, const sal_shape *b)
{
    if (a->rank != b->rank) {
        return false;
    }
    for (int32_t i = 0; i < a->rank; i++) {
        if (a->dim[i] != b->dim[i]) {
            return false;
        }
    }
    return true;
}

char *sali_shape_text(const sal_shape *shape, char *buffer)
{
    size_t n = 0;
    n += (size_t)snprintf(buffer, SALI_SHAPE_TEXT, "[");
    for (int32_t i = 0; i < shape->rank && n < SALI_SHAPE_TEXT; i++) {
        n += (size_t)snprintf(buffer + n, SALI_SHAPE_TEXT - n, "%s%lld", i ? ", " : "",
                              (long long)shape->dim[i]);
    }
    if (n < SALI_SHAPE_TEXT) {
        snprintf(buffer + n, SALI_SHAPE_TEXT - n, "]");
    }
    return buffer;
}

sal_status sali_shape_fail(const sali_node *node, const sali_shape_context *context,
                           const char *expected)
{
    char all[3 * SALI_SHAPE_TEXT] = "", one[SALI_SHAPE_TEXT];
    for (int32_t k = 0; k < node->n_in; k++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", k ? " and " : "",
                 sali_shape_text(&context->in[k]->shape, one));
    }
    return sali_fail(context->err, SAL_ERR_SHAPE, "%s: shape%s %s; expected %s",
                     sali_op_f64(node->op)->name, node->n_in > 1 ? "s" : "", all, expected);
}

sal_status sali_expect_attributes(const sali_node *node, int64_t n_ints, int64_t n_reals,
                                  sal_error *err)
{
    if (node->n_ints != n_ints || node->n_reals != n_reals) {
        return sali_fail(err, SAL_ERR_SHAPE,
                         "%s: %lld integer and %lld real attributes; expected %lld and %lld",
                         sali_op_f64(node->op)->name, (long long)node->n_ints,
                         (long long)node->n_reals, (long long)n_ints, (long long)n_reals);
    }
    return SAL_OK;
}

int64_t sali_shape_checked_size(const sal_shape *shape)
{
    int64_t size = 1;
    if (shape->rank < 0 || shape->rank > SAL_MAX_RANK) {
        return -1;
    }
    for (int32_t i = 0; i < shape->rank; i++) {
        if (shape->dim[i] < 1 || __builtin_mul_overflow(size, shape->dim[i], &size)) {
            return -1;
        }
    }
    return size;
}

sal_status sali_shape_given(sali_node *node, const sali_shape_context *context,
                            int64_t reals_per_element)
{
    int64_t size = sali_shape_checked_size(&node->shape);
    return size < 0 ? sali_fail(context->err, SAL_ERR_SHAPE,
                                "%s: expected a rank of 0 to %d and sizes >= 1",
                                sali_op_f64(node->op)->name, SAL_MAX_RANK)
                    : sali_expect_attributes(node, 0, reals_per_element * size, context->err);
}

sal_status sali_shape_same(sali_node *node, const sali_shape_context *context)
{
    node->shape = context->in[0]->shape;
    return sali_expect_attributes(node, 0, 0, context->err);
}

sal_status sali_shape_broadcast(sali_node *node, const sali_shape_context *context)
{
    sal_shape out = SAL_SCALAR;
    for (int32_t k = 0; k < node->n_in; k++) {
        out.rank = context->in[k]->shape.rank > out.rank ? context->in[k]->shape.rank : out.rank;
    }
    for (int32_t i = 1; i <= out.rank; i++) {
        int64_t *size = &out.dim[out.rank - i];
        *size = 1;
        for (int32_t k = 0; k < node->n_in; k++) {
            const sal_shape *a = &context->in[k]->shape;
            int64_t own = i <= a->rank ? a->dim[a->rank - i] : 1;
            if (own != *size && own != 1 && *size != 1) {
                return sali_shape_fail(node, context, "equal sizes (or 1) along each axis");
            }
            *size = own > *size ? own : *size;
        }
    }
    node->shape = out;
    return sali_expect_attributes(node, 0, 0, context->err);
}

sal_status sali_shape_along(sali_node *node, const sali_shape_context *context)
{
    sal_status status = sali_expect_attributes(node, 1, 0, context->err);
    node->shape = context->in[0]->shape;
    return status == SAL_OK && (node->ints[0] < -1 || node->ints[0] >= node->shape.rank)
               ? sali_shape_fail(node, context, "an axis within the rank")
               : status;
}

sal_status sali_shape_reduce(sali_node *node, const sali_shape_context *context)
{
    sal_status status = sali_shape_along(node, context);
    const sal_shape *a = &context->in[0]->shape;
    node->shape = SAL_SCALAR;
    for (int32_t i = 0; status == SAL_OK && node->ints[0] >= 0 && i < a->rank; i++) {
        if (i != node->ints[0]) {
            node->shape.dim[node->shape.rank++] = a->dim[i];
        }
    }
    return status;
}

int64_t sali_saved_as_first(const sali_node *node, const sali_node *const *in)
{
    (void)node;
    return sali_shape_size(&in[0]->shape);
}

sali_degree sali_degree_nonlinear(const sali_node *node, const sali_node *const *in,
                                  const sali_degree *in_degree, const sal_space *space)
{
    (void)in;
    (void)space;
    for (int32_t k = 0; k < node->n_in; k++) {
        if (in_degree[k] != SALI_CONSTANT) {
            return SALI_GENERAL;
        }
    }
    return SALI_CONSTANT;
}

/* Degree of an op that is elementwise, and affine in each input. */
sali_degree sali_degree_linear(const sali_node *node, const sali_node *const *in,
                               const sali_degree *in_degree, const sal_space *space)
{
    (void)space;
    sali_degree most = SALI_CONSTANT;
    int32_t varying = 0;
    bool stretched = false;
    for (int32_t k = 0; k < node->n_in; k++) {
        most = in_degree[k] > most ? in_degree[k] : most;
        varying += in_degree[k] != SALI_CONSTANT;
        stretched |= in_degree[k] != SALI_CONSTANT &&
                     sali_shape_size(&in[k]->shape) != sali_shape_size(&node->shape);
    }
    /* A coordinate that is repeated, or meets another one, is no element's own. */
    return most == SALI_COORDINATES && (varying > 1 || stretched) ? SALI_AFFINE : most;
}

/* Degree of an op that is linear in each input and lets elements meet. */
sali_degree sali_degree_mixing(const sali_node *node, const sali_node *const *in,
                               const sali_degree *in_degree, const sal_space *space)
{
    sali_degree degree = sali_degree_linear(node, in, in_degree, space);
    return degree == SALI_COORDINATES ? SALI_AFFINE : degree;
}

/* Degree of a product of two inputs that lets elements meet: general if both vary. */
sali_degree sali_degree_bilinear(const sali_node *node, const sali_node *const *in,
                                 const sali_degree *in_degree, const sal_space *space)
{
    return in_degree[0] != SALI_CONSTANT && in_degree[1] != SALI_CONSTANT
               ? SALI_GENERAL
               : sali_degree_mixing(node, in, in_degree, space);
}

/* ---- polynomials */

int64_t sali_broadcast_at(const sal_shape *out, const sal_shape *in, int64_t k)
{
    int64_t at = 0, stride = 1;
    for (int32_t i = 1; i <= in->rank; i++) {
        int64_t size = in->dim[in->rank - i], whole = out->dim[out->rank - i];
        at += size == 1 ? 0 : k % whole * stride;
        stride *= size;
        k /= whole;
    }
    return at;
}

sali_axis_view sali_axis_of(const sal_shape *shape, int64_t axis)
{
    sali_axis_view view = { .outer = 1, .n = sali_shape_size(shape), .inner = 1 };
    for (int32_t i = 0; axis >= 0 && i < shape->rank; i++) {
        view.outer *= i < axis ? shape->dim[i] : 1;
        view.n = i == axis ? shape->dim[i] : view.n;
        view.inner *= i > axis ? shape->dim[i] : 1;
    }
    return view;
}

sali_axis_place sali_axis_find(const sal_shape *shape, int64_t axis, int64_t k)
{
    sali_axis_view view = sali_axis_of(shape, axis);
    return (sali_axis_place){ .n = view.n,
                              .inner = view.inner,
                              .outer = k / view.inner / view.n,
                              .at = k / view.inner % view.n,
                              .rest = k % view.inner };
}

sali_op_term sali_term_same(const sali_term_place *p)
{
    return (sali_op_term){ .count = 1, .factor = 1, .n = 1, .at = { p->k } };
}

static int64_t broadcast_index(const sali_term_place *p, int32_t input)
{
    return sali_broadcast_at(&p->node->shape, &p->in[input]->shape, p->k);
}

sali_op_term sali_term_either(const sali_term_place *p)
{
    int32_t which = (int32_t)p->t;
    return (sali_op_term){
        .count = 2, .factor = 1, .n = 1, .input = { which }, .at = { broadcast_index(p, which) }
    };
}

sali_op_term sali_term_both(const sali_term_place *p)
{
    return (sali_op_term){ .count = 1,
                           .factor = 1,
                           .n = 2,
                           .input = { 0, 1 },
                           .at = { broadcast_index(p, 0), broadcast_index(p, 1) } };
}

bool sali_names_variables(const sali_node *node, sali_degree degree, const sal_space *space)
{
    return node->op == SALI_OP_state ||
           (degree == SALI_COORDINATES && space->width == space->n_variables);
}
