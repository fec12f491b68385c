/* The leaves: the state, parameters and constants. The program fills their values. */
#include <string.h>

#include "ad/ops/ops.h"
#include "core/error.h"

static sal_status state_shape(sali_node *node, const sali_shape_context *context)
{
    node->shape = SAL_SHAPE(context->space->width);
    return sali_expect_attributes(node, 0, 0, context->err);
}

static sali_degree state_degree(const sali_node *node, const sali_node *const *in,
                                const sali_degree *in_degree, const sal_space *space)
{
    (void)node;
    (void)in;
    (void)in_degree;
    (void)space;
    return SALI_COORDINATES;
}

/* The number of elements of a shape that a caller or a file gave; -1 if it is not a shape. */
static int64_t checked_size(const sal_shape *shape)
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

static sal_status bad_shape(const sali_node *node, const sali_shape_context *context)
{
    return sali_fail(context->err, SAL_ERR_SHAPE, "%s: expected a rank of 0 to %d and sizes >= 1",
                     sali_op_f64(node->op)->name, SAL_MAX_RANK);
}

static sal_status param_shape(sali_node *node, const sali_shape_context *context)
{
    const char *letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
    const char *name = node->name ? node->name : "";
    if (!name[0] || strspn(name, letters) != strlen(name)) {
        return sali_fail(context->err, SAL_ERR_ARGUMENT,
                         "param: a name of letters, digits, '_', '-', '.', '/' is needed; got '%s'",
                         name);
    }
    if (checked_size(&node->shape) < 0) {
        return bad_shape(node, context);
    }
    return sali_expect_attributes(node, 0, 0, context->err);
}

static sal_status constant_shape(sali_node *node, const sali_shape_context *context)
{
    int64_t size = checked_size(&node->shape);
    return size < 0 ? bad_shape(node, context)
                    : sali_expect_attributes(node, 0, size, context->err);
}

const sali_op RN(sali_op_state) = {
    .name = "state",
    .doc = "s",
    .shape = state_shape,
    .degree = state_degree,
};

const sali_op RN(sali_op_param) = {
    .name = "param",
    .doc = "named values, to be learnt",
    .shape = param_shape,
};

const sali_op RN(sali_op_constant) = {
    .name = "constant",
    .doc = "fixed values",
    .shape = constant_shape,
};
