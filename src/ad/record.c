/* The public functions that record expressions. Each is one call of sali_record. */
#include <string.h>

#include "ad/tape.h"
#include "core/alloc.h"

/* A node of attributes that are integers. A matrix that the op wants symmetric is made so. */
static sal_expr record(sali_op_id op, const char *file, int line, int32_t n_in, const sal_expr *in,
                       int64_t n_ints, const int64_t *ints)
{
    enum { FIXED_MOST = 3 };
    sal_expr fixed[FIXED_MOST];
    uint32_t symmetric = sali_op_f64(op)->symmetric_inputs;
    for (int32_t k = 0; symmetric && k < n_in; k++) {
        fixed[k] =
            symmetric >> k & 1 ? record(SALI_OP_symmetrise, file, line, 1, &in[k], 0, NULL) : in[k];
    }
    return sali_record(in[0].tape, &(sali_recipe){ .op = op,
                                                   .n_in = n_in,
                                                   .in = symmetric ? fixed : in,
                                                   .n_ints = n_ints,
                                                   .ints = ints,
                                                   .file = file,
                                                   .line = line });
}

/* A node of one input, of attributes that are real numbers. */
static sal_expr with_numbers(sali_op_id op, const char *file, int line, sal_expr a, int64_t n,
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

/* Axis counted from the front; INT64_MAX if it is out of range, which the shape rule refuses. */
static int64_t normal_axis(sal_expr a, int axis)
{
    int32_t rank = sal_expr_shape(a).rank;
    int64_t from_front = axis < 0 ? (int64_t)rank + axis : axis;
    return from_front < 0 ? INT64_MAX : from_front;
}

/* ---- the ways of recording that ops.def names */

#define RECORD_OWN(name)

#define RECORD_UNARY(name)                                           \
    sal_expr sal_##name##_at(const char *file, int line, sal_expr a) \
    {                                                                \
        return record(SALI_OP_##name, file, line, 1, &a, 0, NULL);   \
    }

#define RECORD_BINARY(name)                                                          \
    sal_expr sal_##name##_at(const char *file, int line, sal_expr a, sal_expr b)     \
    {                                                                                \
        return record(SALI_OP_##name, file, line, 2, (sal_expr[]){ a, b }, 0, NULL); \
    }

#define RECORD_TERNARY(name)                                                                 \
    sal_expr sal_##name##_at(const char *file, int line, sal_expr a, sal_expr b, sal_expr c) \
    {                                                                                        \
        return record(SALI_OP_##name, file, line, 3, (sal_expr[]){ a, b, c }, 0, NULL);      \
    }

/* With a fixed number. */
#define RECORD_NUMBER(name)                                                         \
    sal_expr sal_##name##_at(const char *file, int line, sal_expr a, double number) \
    {                                                                               \
        return with_numbers(SALI_OP_##name, file, line, a, 1, &number);             \
    }

/* Over all elements, or along one axis that may count from the last. */
#define RECORD_ALONG(name)                                                                        \
    sal_expr sal_##name##_at(const char *file, int line, sal_expr a)                              \
    {                                                                                             \
        return record(SALI_OP_##name, file, line, 1, &a, 1, (int64_t[]){ -1 });                   \
    }                                                                                             \
    sal_expr sal_##name##_axis_at(const char *file, int line, sal_expr a, int axis)               \
    {                                                                                             \
        return record(SALI_OP_##name, file, line, 1, &a, 1, (int64_t[]){ normal_axis(a, axis) }); \
    }

/* Over windows of kernel x kernel pixels, `stride` apart. */
#define RECORD_WINDOW(name)                                                                 \
    sal_expr sal_##name##_at(const char *file, int line, sal_expr x, int64_t kernel,        \
                             int64_t stride)                                                \
    {                                                                                       \
        return record(SALI_OP_##name, file, line, 1, &x, 2, (int64_t[]){ kernel, stride }); \
    }

#define SALI_OP(name, recorded) RECORD_##recorded(name)
#include "ad/ops.def"
#undef SALI_OP

/* ---- those of their own */

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
    int64_t size = sali_shape_checked_size(&shape);
    return sali_record(tape,
                       &(sali_recipe){ .op = SALI_OP_constant,
                                       .n_reals = size < 0 ? 0 : size, /* the shape rule fails */
                                       .reals = values,
                                       .shape = &shape,
                                       .file = file,
                                       .line = line });
}

sal_expr sal_scalar_at(const char *file, int line, sal_tape *tape, double value)
{
    return sal_constant_at(file, line, tape, &value, SAL_SCALAR);
}

sal_expr sal_clamp_at(const char *file, int line, sal_expr a, double low, double high)
{
    return with_numbers(SALI_OP_clamp, file, line, a, 2, (double[]){ low, high });
}

sal_expr sal_edges_at(const char *file, int line, sal_expr s, sal_expr w, int64_t n_edges,
                      const int64_t *pairs)
{
    if (n_edges < 0 || n_edges > INT64_MAX / 4 || (n_edges > 0 && !pairs)) {
        return sali_latch(s.tape, file, line, SAL_ERR_ARGUMENT, "edges: no list of pairs");
    }
    return record(SALI_OP_edges, file, line, 2, (sal_expr[]){ s, w }, 2 * n_edges, pairs);
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
    sal_expr f = record(SALI_OP_table, file, line, 2, (sal_expr[]){ s, T }, n_ints, ints);
    sali_free(ints);
    return f;
}

sal_expr sal_conv2d_at(const char *file, int line, sal_expr x, sal_expr weight, sal_expr bias,
                       int64_t stride, int64_t padding)
{
    return record(SALI_OP_conv2d, file, line, 3, (sal_expr[]){ x, weight, bias }, 2,
                  (int64_t[]){ stride, padding });
}

sal_expr sal_reshape_at(const char *file, int line, sal_expr a, sal_shape shape)
{
    int64_t ints[SAL_MAX_RANK];
    int32_t rank = shape.rank < 0 || shape.rank > SAL_MAX_RANK ? 0 : shape.rank;
    for (int32_t i = 0; i < rank; i++) {
        ints[i] = shape.dim[i];
    }
    return record(SALI_OP_reshape, file, line, 1, &a, rank, ints);
}

sal_expr sal_transpose_at(const char *file, int line, sal_expr a, int axis, int other)
{
    int64_t ints[2] = { normal_axis(a, axis), normal_axis(a, other) };
    return record(SALI_OP_transpose, file, line, 1, &a, 2, ints);
}

sal_expr sal_slice_at(const char *file, int line, sal_expr a, int axis, int64_t start,
                      int64_t length)
{
    int64_t ints[3] = { normal_axis(a, axis), start, length };
    return record(SALI_OP_slice, file, line, 1, &a, 3, ints);
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
    return record(SALI_OP_concat, file, line, (int32_t)n_parts, parts, 1, &from_front);
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
    sal_expr y = record(SALI_OP_gather, file, line, 1, &a, n_indices + 1, ints);
    sali_free(ints);
    return y;
}
