/* SPDX-License-Identifier: MIT */
/* Elementary functions over arrays: SLEEF's vector functions, at the widest instruction set of the
 * machine. `y` may be `x`. Errors below 1 ulp (exp, log, log1p, expm1, sin, cos, tanh, pow, lgamma
 * of positive numbers), 2 ulp (erf), 2 ulp relative (sigmoid, softplus), or 1 ulp of the larger of
 * 1 and the result (lgamma of negative numbers). lgamma in f32 is infinite from 4e36. Element k
 * depends on x[k] only, not on n or its position: bits do not change when a batch is split. NaN and
 * infinities go through as in the scalar functions. No allocation. */
#ifndef SALI_VMATH_H
#define SALI_VMATH_H

#include <stdint.h>

/* sigmoid is 1 / (1 + exp(-x)); softplus is log(1 + exp(x)), without overflow or cancellation;
 * lgamma is log |Gamma(x)|. */
#define SALI_VMATH_LIST(X) \
    X(exp) X(log) X(log1p) X(expm1) X(sin) X(cos) X(tanh) X(erf) X(lgamma) X(sigmoid) X(softplus)

#define SALI_VMATH_DECLARE(name)                                  \
    void sali_v##name##_f32(int64_t n, const float *x, float *y); \
    void sali_v##name##_f64(int64_t n, const double *x, double *y);
SALI_VMATH_LIST(SALI_VMATH_DECLARE)
#undef SALI_VMATH_DECLARE

/* y[k] = x[k]^p. A negative x needs a whole p. */
void sali_vpow_f32(int64_t n, const float *x, float p, float *y);
void sali_vpow_f64(int64_t n, const double *x, double p, double *y);

#endif
