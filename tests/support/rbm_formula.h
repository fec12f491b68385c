/* SPDX-License-Identifier: MIT */
/* RBMs over variables of any kind, written by hand. */
#ifndef RBM_FORMULA_H
#define RBM_FORMULA_H

#include "tiny_models.h"

#include <saltus/ad.h>

/* 0.7 + sum softplus(W x + c) + b'x with H hidden units and parameters of this scale. */
static inline sal_model *rbm_over(const sal_space *space, int64_t H, double scale, sal_dtype dtype)
{
    const int64_t N = sal_space_width(space), n = H * N + H + N;
    sal_tape *tape = sal_tape_create(space, dtype);
    sal_expr x = sal_state(tape), W = sal_param(tape, "W", SAL_SHAPE(H, N));
    sal_expr c = sal_param(tape, "c", SAL_SHAPE(H)), b = sal_param(tape, "b", SAL_SHAPE(N));
    sal_expr f = sal_sum(sal_softplus(sal_add(c, sal_matvec(W, x))));
    f = sal_add(sal_add(f, sal_scalar(tape, 0.7)), sal_dot(x, b));
    double *flat = malloc((size_t)n * sizeof *flat);
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    tiny_normals(61, n, scale, flat);
    ck_ok(sal_model_set_params(model, NULL, flat, &err), &err);
    free(flat);
    sal_tape_destroy(tape);
    return model;
}

#endif
