/* SPDX-License-Identifier: MIT */
/* Are two models the same to the last bit? */
#ifndef MODEL_EQUAL_H
#define MODEL_EQUAL_H

#include <saltus/model.h>

#include "test.h"

enum { MODEL_EQUAL_STATES = 7 };

/* Codes of some states, [MODEL_EQUAL_STATES x variables], irregular but always the same. */
static inline int32_t *model_equal_codes(const sal_space *space)
{
    int64_t n = sal_space_variables(space);
    int32_t *codes = calloc((size_t)(MODEL_EQUAL_STATES * n), sizeof *codes);
    ck_assert_ptr_nonnull(codes);
    uint64_t random = 1;
    for (int64_t i = 0; i < MODEL_EQUAL_STATES * n; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        int64_t states = sal_space_states(space, i % n);
        codes[i] = (int32_t)((random >> 33) % (uint64_t)(states > 0 ? states : 12));
    }
    return codes;
}

static inline void ck_spaces_equal(const sal_space *a, const sal_space *b)
{
    const sal_block *p, *q;
    int64_t k = 0;
    for (; (p = sal_space_block(a, k)); k++) {
        q = sal_space_block(b, k);
        ck_assert_ptr_nonnull(q);
        ck_assert_str_eq(p->name, q->name);
        ck_assert(p->kind == q->kind && p->count == q->count && p->states == q->states &&
                  p->cap == q->cap);
        ck_assert(p->fixed_sum == q->fixed_sum && p->sum == q->sum && !p->labels == !q->labels);
        if (p->labels) {
            ck_assert_mem_eq(p->labels, q->labels, (size_t)p->states * sizeof *p->labels);
        }
        if (p->kind == SAL_ORDINAL) {
            ck_assert_mem_eq(p->levels, q->levels, (size_t)p->states * sizeof *p->levels);
        }
    }
    ck_assert_ptr_null(sal_space_block(b, k));
}

/* Same space and type; same parameters, f and gradients in bits at some states and at some reals
 * between 0 and 1. */
static inline void ck_models_equal(const sal_model *a, const sal_model *b)
{
    const sal_model *models[] = { a, b };
    const sal_space *space = sal_model_space(a);
    size_t rows = MODEL_EQUAL_STATES, width = (size_t)sal_space_width(space);
    size_t size = (size_t)sal_model_parameters_size(a);
    ck_spaces_equal(space, sal_model_space(b));
    ck_assert(sal_model_dtype(a) == sal_model_dtype(b));
    ck_assert(sal_model_is_multilinear(a) == sal_model_is_multilinear(b));
    ck_assert_uint_eq(size, (size_t)sal_model_parameters_size(b));
    int32_t *codes = model_equal_codes(space);
    double *x = calloc(rows * width, sizeof *x), *out[2];
    ck_assert_ptr_nonnull(x);
    for (size_t i = 0; i < rows * width; i++) {
        x[i] = (double)(i * 37 % 101) / 101;
    }
    size_t count = 2 * rows * (1 + width) + size;
    sal_status status[2];
    sal_error err = { 0 };
    for (int k = 0; k < 2; k++) {
        double *at = out[k] = calloc(count, sizeof *at);
        ck_assert_ptr_nonnull(at);
        ck_ok(sal_model_evaluate_at(models[k], MODEL_EQUAL_STATES, x, at, at + rows, &err), &err);
        at += rows * (1 + width);
        status[k] = sal_model_evaluate(models[k], MODEL_EQUAL_STATES, codes, at, at + rows, NULL,
                                       NULL); /* SAL_ERR_MODEL where an op is not defined */
        at += rows * (1 + width);
        ck_ok(sal_model_get_params(models[k], NULL, at, &err), &err);
    }
    ck_assert_int_eq(status[0], status[1]);
    ck_assert(memcmp(out[0], out[1], count * sizeof **out) == 0);
    free(out[0]);
    free(out[1]);
    free(x);
    free(codes);
}

#endif
