/* SPDX-License-Identifier: MIT */
/* Spaces, and formulas whose nodes are numbers. */
#include <math.h>

#include <saltus/flat.h>

#include "ad/tape.h"
#include "core/alloc.h"
#include "core/error.h"

int sal_flat_version(void)
{
    int major = 0, minor = 0;
    const char *text = sal_version();
    for (; *text >= '0' && *text <= '9'; text++) {
        major = 10 * major + (*text - '0');
    }
    for (text += *text == '.'; *text >= '0' && *text <= '9'; text++) {
        minor = 10 * minor + (*text - '0');
    }
    return 1000 * major + minor;
}

/* Copy the numbers of labels of a block as integers, to be freed. */
static sal_status whole_numbers(const char *name, int64_t n, const double *values, int64_t **out,
                                sal_error *err)
{
    int64_t *numbers = SALI_NEW_ARRAY(int64_t, n);
    sal_status status = numbers ? SAL_OK : sali_fail_memory(err);
    for (int64_t k = 0; status == SAL_OK && k < n; k++) {
        if (!(fabs(values[k]) < 0x1p53) || values[k] != floor(values[k])) {
            status = sali_fail(err, SAL_ERR_ARGUMENT,
                               "block '%s': label %lld occurs %g times; expected a whole number",
                               name, (long long)k, values[k]);
        } else {
            numbers[k] = (int64_t)values[k];
        }
    }
    return SALI_GIVE(status, numbers, out, sali_free);
}

sal_status sal_flat_space_add(sal_space *space, const char *name, int kind, int64_t count,
                              int64_t states, const double *levels, int64_t cap, sal_error *err)
{
    if (!space || !name || kind < SAL_BINARY || kind > SAL_COUNT) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sal_flat_space_add: expected a space, a name and a kind from 1 to 5");
    }
    const bool labels = kind == SAL_CATEGORICAL && levels && states > 0;
    int64_t *numbers = NULL;
    sal_status status = labels ? whole_numbers(name, states, levels, &numbers, err) : SAL_OK;
    const sal_block block = { .name = name,
                              .kind = (sal_kind)kind,
                              .count = count,
                              .states = states,
                              .levels = labels ? NULL : levels,
                              .cap = cap,
                              .labels = numbers };
    status = status ? status : sal_space_add(space, &block, err);
    sali_free(numbers);
    return status;
}

sal_tape *sal_flat_tape_create(const sal_space *space, bool doubles)
{
    return space ? sal_tape_create(space, doubles ? SAL_F64 : SAL_F32) : NULL;
}

int32_t sal_flat_state(const char *file, int line, sal_tape *tape, const char *block)
{
    return sal_state_block_at(file, line, tape, block).node;
}

/* A shape of these sizes. A rank that is out of range stays as it is, so that recording fails. */
static sal_shape shape_of(int32_t rank, const int64_t *dim)
{
    sal_shape shape = { .rank = rank };
    for (int32_t k = 0; k < rank && k < SAL_MAX_RANK; k++) {
        shape.dim[k] = dim[k];
    }
    return shape;
}

int32_t sal_flat_param(const char *file, int line, sal_tape *tape, const char *name, int32_t rank,
                       const int64_t *dim)
{
    return sal_param_at(file, line, tape, name, shape_of(rank, dim)).node;
}

int32_t sal_flat_constant(const char *file, int line, sal_tape *tape, const double *values,
                          int32_t rank, const int64_t *dim)
{
    return sal_constant_at(file, line, tape, values, shape_of(rank, dim)).node;
}

/* The node of this number; node -1 if there is none. */
static sal_expr node_expression(sal_tape *tape, int32_t node)
{
    return (sal_expr){ tape, tape && node >= 0 && node < tape->n_nodes ? node : -1 };
}

int32_t sal_flat_operation(const char *file, int line, sal_tape *tape, const char *op, int32_t n_in,
                           const int32_t *in, int64_t n_ints, const int64_t *ints, int64_t n_reals,
                           const double *reals)
{
    sal_expr few[4];
    sal_expr *inputs = n_in <= 4 ? few : SALI_NEW_ARRAY(sal_expr, n_in);
    if (!inputs || n_in < 1) {
        return sali_record_error(tape, file, line, inputs ? SAL_ERR_ARGUMENT : SAL_ERR_MEMORY,
                                 inputs ? "an operation without inputs" : "out of memory")
            .node;
    }
    for (int32_t k = 0; k < n_in; k++) {
        inputs[k] = node_expression(tape, in[k]);
    }
    const sal_operation operation = { .op = op,
                                      .n_in = n_in,
                                      .in = inputs,
                                      .n_ints = n_ints,
                                      .ints = ints,
                                      .n_reals = n_reals,
                                      .reals = reals };
    const int32_t node = sal_operation_at(file, line, &operation).node;
    if (inputs != few) {
        sali_free(inputs);
    }
    return node;
}

int32_t sal_flat_shape(sal_tape *tape, int32_t node, int64_t *dim)
{
    const sal_shape shape = sal_expr_shape(node_expression(tape, node));
    for (int32_t k = 0; k < shape.rank; k++) {
        dim[k] = shape.dim[k];
    }
    return shape.rank;
}

sal_status sal_flat_model(sal_tape *tape, int32_t node, sal_model **model, sal_error *err)
{
    return sal_model_from_tape(tape, node_expression(tape, node), model, err);
}

sal_status sal_flat_model_from_function(const sal_space *space,
                                        void (*f)(int64_t states, const double *x, double *values,
                                                  double *gradient, void *data),
                                        void *data, bool has_gradient, sal_model **model,
                                        sal_error *err)
{
    const sal_callback callback = { .batch = f, .data = data, .has_gradient = has_gradient };
    return sal_model_from_callback(space, &callback, model, err);
}
