/* The public functions that record expressions. Each is one call of sali_record. */
#include <string.h>

#include "ad/tape.h"
#include "core/alloc.h"

#define UNARY(name)                                                                               \
    sal_expr sal_##name##_at(const char *file, int line, sal_expr a)                              \
    {                                                                                             \
        return sali_record(                                                                       \
            a.tape, &(sali_recipe){                                                               \
                        .op = SALI_OP_##name, .n_in = 1, .in = &a, .file = file, .line = line }); \
    }

#define BINARY(name)                                                             \
    sal_expr sal_##name##_at(const char *file, int line, sal_expr a, sal_expr b) \
    {                                                                            \
        return sali_record(a.tape, &(sali_recipe){ .op = SALI_OP_##name,         \
                                                   .n_in = 2,                    \
                                                   .in = (sal_expr[]){ a, b },   \
                                                   .file = file,                 \
                                                   .line = line });              \
    }

/* Over all elements, or over one axis that may count from the last. */
#define REDUCTION(name)                                                               \
    sal_expr sal_##name##_at(const char *file, int line, sal_expr a)                  \
    {                                                                                 \
        return record_reduction(SALI_OP_##name, file, line, a, -1);                   \
    }                                                                                 \
    sal_expr sal_##name##_axis_at(const char *file, int line, sal_expr a, int axis)   \
    {                                                                                 \
        return record_reduction(SALI_OP_##name, file, line, a, normal_axis(a, axis)); \
    }

/* Axis counted from the front; INT64_MAX if it is out of range, which the shape rule refuses. */
static int64_t normal_axis(sal_expr a, int axis)
{
    int32_t rank = sal_expr_shape(a).rank;
    int64_t from_front = axis < 0 ? (int64_t)rank + axis : axis;
    return from_front < 0 ? INT64_MAX : from_front;
}

static sal_expr record_reduction(sali_op_id op, const char *file, int line, sal_expr a,
                                 int64_t axis)
{
    return sali_record(a.tape, &(sali_recipe){ .op = op,
                                               .n_in = 1,
                                               .in = &a,
                                               .n_ints = 1,
                                               .ints = &axis,
                                               .file = file,
                                               .line = line });
}

BINARY(add)
BINARY(sub)
BINARY(mul)
BINARY(div)
UNARY(exp)
UNARY(log)
UNARY(softplus)
UNARY(sigmoid)
UNARY(silu)
UNARY(gelu)
UNARY(tanh)
UNARY(square)
UNARY(sqrt)
UNARY(log1p)
UNARY(abs)
UNARY(relu)
UNARY(lgamma)
BINARY(minimum)
BINARY(maximum)
REDUCTION(sum)
REDUCTION(mean)
REDUCTION(logsumexp)
REDUCTION(max)
BINARY(dot)
BINARY(matvec)
BINARY(matmul)
BINARY(max_coverage)

sal_expr sal_state_at(const char *file, int line, sal_tape *tape)
{
    for (int64_t i = 0; tape && i < tape->n_nodes; i++) {
        if (tape->nodes[i].op == SALI_OP_state) {
            return (sal_expr){ .tape = tape, .node = (int32_t)i };
        }
    }
    return sali_record(tape, &(sali_recipe){ .op = SALI_OP_state, .file = file, .line = line });
}

sal_expr sal_state_block_at(const char *file, int line, sal_tape *tape, const char *name)
{
    for (int64_t b = 0; tape && tape->space && b < tape->space->n_blocks; b++) {
        const sal_block *block = &tape->space->blocks[b];
        if (name && strcmp(block->name, name) == 0) {
            sal_expr s = sal_state_at(file, line, tape);
            bool one_hot = block->kind == SAL_CATEGORICAL;
            int64_t length = one_hot ? block->count * block->states : block->count;
            s = sal_slice_at(file, line, s, 0, tape->space->stretches[b].offset, length);
            return one_hot ? sal_reshape_at(file, line, s, SAL_SHAPE(block->count, block->states))
                           : s;
        }
    }
    return sali_latch(tape, file, line, SAL_ERR_ARGUMENT,
                      "state_block: the space has no block of that name");
}

sal_expr sal_param_at(const char *file, int line, sal_tape *tape, const char *name, sal_shape shape)
{
    for (int64_t i = 0; tape && name && i < tape->n_nodes; i++) {
        const sali_node *node = &tape->nodes[i];
        if (node->op == SALI_OP_param && strcmp(node->name, name) == 0) {
            return sali_shape_equal(&node->shape, &shape)
                       ? (sal_expr){ .tape = tape, .node = (int32_t)i }
                       : sali_latch(tape, file, line, SAL_ERR_SHAPE,
                                    "param: the name exists with another shape");
        }
    }
    return sali_record(
        tape, &(sali_recipe){
                  .op = SALI_OP_param, .name = name, .shape = &shape, .file = file, .line = line });
}

sal_expr sal_constant_at(const char *file, int line, sal_tape *tape, const double *values,
                         sal_shape shape)
{
    if (shape.rank < 0 || shape.rank > SAL_MAX_RANK) {
        return sali_latch(tape, file, line, SAL_ERR_SHAPE, "constant: rank out of range");
    }
    int64_t size = 1;
    for (int32_t i = 0; i < shape.rank; i++) {
        if (shape.dim[i] < 1 || __builtin_mul_overflow(size, shape.dim[i], &size)) {
            return sali_latch(tape, file, line, SAL_ERR_SHAPE, "constant: a size below 1");
        }
    }
    return sali_record(tape, &(sali_recipe){ .op = SALI_OP_constant,
                                             .n_reals = size,
                                             .reals = values,
                                             .shape = &shape,
                                             .file = file,
                                             .line = line });
}

sal_expr sal_scalar_at(const char *file, int line, sal_tape *tape, double value)
{
    return sal_constant_at(file, line, tape, &value, SAL_SCALAR);
}

/* An operation on one expression with fixed numbers. */
static sal_expr with_numbers(const char *file, int line, sali_op_id op, sal_expr a, int64_t n,
                             const double *numbers)
{
    return sali_record(a.tape, &(sali_recipe){ .op = op,
                                               .n_in = 1,
                                               .in = &a,
                                               .n_reals = n,
                                               .reals = numbers,
                                               .file = file,
                                               .line = line });
}

sal_expr sal_scale_at(const char *file, int line, sal_expr a, double factor)
{
    return with_numbers(file, line, SALI_OP_scale, a, 1, &factor);
}

sal_expr sal_elu_at(const char *file, int line, sal_expr a, double alpha)
{
    return with_numbers(file, line, SALI_OP_elu, a, 1, &alpha);
}

sal_expr sal_clamp_at(const char *file, int line, sal_expr a, double low, double high)
{
    return with_numbers(file, line, SALI_OP_clamp, a, 2, (double[]){ low, high });
}

sal_expr sal_pow_at(const char *file, int line, sal_expr a, double p)
{
    return with_numbers(file, line, SALI_OP_pow, a, 1, &p);
}

sal_expr sal_where_at(const char *file, int line, sal_expr cond, sal_expr a, sal_expr b)
{
    return sali_record(cond.tape, &(sali_recipe){ .op = SALI_OP_where,
                                                  .n_in = 3,
                                                  .in = (sal_expr[]){ cond, a, b },
                                                  .file = file,
                                                  .line = line });
}

static sal_expr symmetrise(const char *file, int line, sal_expr J)
{
    return sali_record(
        J.tape, &(sali_recipe){
                    .op = SALI_OP_symmetrise, .n_in = 1, .in = &J, .file = file, .line = line });
}

sal_expr sal_quad_at(const char *file, int line, sal_expr s, sal_expr J)
{
    return sali_record(s.tape, &(sali_recipe){ .op = SALI_OP_quad,
                                               .n_in = 2,
                                               .in = (sal_expr[]){ s, symmetrise(file, line, J) },
                                               .file = file,
                                               .line = line });
}

sal_expr sal_masked_logdet_at(const char *file, int line, sal_expr s, sal_expr A)
{
    return sali_record(s.tape, &(sali_recipe){ .op = SALI_OP_masked_logdet,
                                               .n_in = 2,
                                               .in = (sal_expr[]){ s, symmetrise(file, line, A) },
                                               .file = file,
                                               .line = line });
}

sal_expr sal_masked_quad_inverse_at(const char *file, int line, sal_expr s, sal_expr B, sal_expr y)
{
    return sali_record(s.tape,
                       &(sali_recipe){ .op = SALI_OP_masked_quad_inverse,
                                       .n_in = 3,
                                       .in = (sal_expr[]){ s, symmetrise(file, line, B), y },
                                       .file = file,
                                       .line = line });
}

sal_expr sal_ridge_logdet_at(const char *file, int line, sal_expr s, sal_expr G)
{
    return sali_record(s.tape, &(sali_recipe){ .op = SALI_OP_ridge_logdet,
                                               .n_in = 2,
                                               .in = (sal_expr[]){ s, symmetrise(file, line, G) },
                                               .file = file,
                                               .line = line });
}

sal_expr sal_ridge_quad_inverse_at(const char *file, int line, sal_expr s, sal_expr G, sal_expr y)
{
    return sali_record(s.tape,
                       &(sali_recipe){ .op = SALI_OP_ridge_quad_inverse,
                                       .n_in = 3,
                                       .in = (sal_expr[]){ s, symmetrise(file, line, G), y },
                                       .file = file,
                                       .line = line });
}

sal_expr sal_edges_at(const char *file, int line, sal_expr s, sal_expr w, int64_t n_edges,
                      const int64_t *pairs)
{
    if (n_edges < 0 || n_edges > INT64_MAX / 4 || (n_edges > 0 && !pairs)) {
        return sali_latch(s.tape, file, line, SAL_ERR_ARGUMENT, "edges: no list of pairs");
    }
    return sali_record(s.tape, &(sali_recipe){ .op = SALI_OP_edges,
                                               .n_in = 2,
                                               .in = (sal_expr[]){ s, w },
                                               .n_ints = 2 * n_edges,
                                               .ints = pairs,
                                               .file = file,
                                               .line = line });
}

/* The attributes of a table node: n_factors, then for each factor its length and its scope. */
sal_expr sal_table_at(const char *file, int line, sal_tape *tape, sal_expr T, int64_t n_factors,
                      const int64_t *scope_begin, const int64_t *scope)
{
    if (n_factors < 1 || !scope_begin || !scope || scope_begin[0] != 0) {
        return sali_latch(tape, file, line, SAL_ERR_ARGUMENT,
                          "table: expected at least one factor, scope_begin from 0");
    }
    for (int64_t m = 0; m < n_factors; m++) {
        if (scope_begin[m + 1] < scope_begin[m]) {
            return sali_latch(tape, file, line, SAL_ERR_ARGUMENT,
                              "table: scope_begin must not decrease");
        }
    }
    int64_t n_ints = 1 + n_factors + scope_begin[n_factors], at = 0;
    int64_t *ints = SALI_NEW_ARRAY(int64_t, n_ints);
    if (!ints) {
        return sali_latch(tape, file, line, SAL_ERR_MEMORY, "out of memory");
    }
    ints[at++] = n_factors;
    for (int64_t m = 0; m < n_factors; m++) {
        int64_t length = scope_begin[m + 1] - scope_begin[m];
        ints[at++] = length;
        memcpy(ints + at, scope + scope_begin[m], (size_t)length * sizeof *ints);
        at += length;
    }
    sal_expr s = sal_state_at(file, line, tape);
    sal_expr f = sali_record(tape, &(sali_recipe){ .op = SALI_OP_table,
                                                   .n_in = 2,
                                                   .in = (sal_expr[]){ s, T },
                                                   .n_ints = n_ints,
                                                   .ints = ints,
                                                   .file = file,
                                                   .line = line });
    sali_free(ints);
    return f;
}

sal_expr sal_conv2d_at(const char *file, int line, sal_expr x, sal_expr weight, sal_expr bias,
                       int64_t stride, int64_t padding)
{
    return sali_record(x.tape, &(sali_recipe){ .op = SALI_OP_conv2d,
                                               .n_in = 3,
                                               .in = (sal_expr[]){ x, weight, bias },
                                               .n_ints = 2,
                                               .ints = (int64_t[]){ stride, padding },
                                               .file = file,
                                               .line = line });
}

/* Windows of kernel x kernel pixels, `stride` apart. */
static sal_expr record_pool(sali_op_id op, const char *file, int line, sal_expr x, int64_t kernel,
                            int64_t stride)
{
    return sali_record(x.tape, &(sali_recipe){ .op = op,
                                               .n_in = 1,
                                               .in = &x,
                                               .n_ints = 2,
                                               .ints = (int64_t[]){ kernel, stride },
                                               .file = file,
                                               .line = line });
}

sal_expr sal_avg_pool2d_at(const char *file, int line, sal_expr x, int64_t kernel, int64_t stride)
{
    return record_pool(SALI_OP_avg_pool2d, file, line, x, kernel, stride);
}

sal_expr sal_max_pool2d_at(const char *file, int line, sal_expr x, int64_t kernel, int64_t stride)
{
    return record_pool(SALI_OP_max_pool2d, file, line, x, kernel, stride);
}

sal_expr sal_reshape_at(const char *file, int line, sal_expr a, sal_shape shape)
{
    int64_t ints[SAL_MAX_RANK];
    int32_t rank = shape.rank < 0 || shape.rank > SAL_MAX_RANK ? 0 : shape.rank;
    for (int32_t i = 0; i < rank; i++) {
        ints[i] = shape.dim[i];
    }
    return sali_record(a.tape, &(sali_recipe){ .op = SALI_OP_reshape,
                                               .n_in = 1,
                                               .in = &a,
                                               .n_ints = rank,
                                               .ints = ints,
                                               .file = file,
                                               .line = line });
}

sal_expr sal_slice_at(const char *file, int line, sal_expr a, int axis, int64_t start,
                      int64_t length)
{
    int64_t ints[3] = { normal_axis(a, axis), start, length };
    return sali_record(a.tape, &(sali_recipe){ .op = SALI_OP_slice,
                                               .n_in = 1,
                                               .in = &a,
                                               .n_ints = 3,
                                               .ints = ints,
                                               .file = file,
                                               .line = line });
}

sal_expr sal_concat_at(const char *file, int line, const sal_expr *parts, int64_t n_parts, int axis)
{
    if (!parts || n_parts < 1) {
        return (sal_expr){ .tape = NULL, .node = -1 };
    }
    if (n_parts >= INT32_MAX) {
        return sali_latch(parts[0].tape, file, line, SAL_ERR_ARGUMENT, "concat: too many parts");
    }
    int64_t from_front = normal_axis(parts[0], axis);
    return sali_record(parts[0].tape, &(sali_recipe){ .op = SALI_OP_concat,
                                                      .n_in = (int32_t)n_parts,
                                                      .in = parts,
                                                      .n_ints = 1,
                                                      .ints = &from_front,
                                                      .file = file,
                                                      .line = line });
}

sal_expr sal_gather_at(const char *file, int line, sal_expr a, int axis, int64_t n_indices,
                       const int64_t *indices)
{
    if (n_indices < 1 || n_indices > INT64_MAX / 16 || !indices) {
        return sali_latch(a.tape, file, line, SAL_ERR_ARGUMENT, "gather: no indices");
    }
    int64_t *ints = SALI_NEW_ARRAY(int64_t, n_indices + 1);
    if (!ints) {
        return sali_latch(a.tape, file, line, SAL_ERR_MEMORY, "out of memory");
    }
    ints[0] = normal_axis(a, axis);
    memcpy(ints + 1, indices, (size_t)n_indices * sizeof *ints);
    sal_expr y = sali_record(a.tape, &(sali_recipe){ .op = SALI_OP_gather,
                                                     .n_in = 1,
                                                     .in = &a,
                                                     .n_ints = n_indices + 1,
                                                     .ints = ints,
                                                     .file = file,
                                                     .line = line });
    sali_free(ints);
    return y;
}
