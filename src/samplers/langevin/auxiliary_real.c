/* SPDX-License-Identifier: MIT */
/* Vector and matrix work of the auxiliary-variable samplers. Compiled for float and double. */
#include <stdbool.h>
#include <math.h>
#include <stddef.h>

#include "ad/ops/panels.h"
#include "core/real.h"
#include "samplers/langevin/auxiliary.h"

SALI_CLONES
static void scale_each(int64_t n, const void *scale, void *noise)
{
    const real *s = scale;
    real *z = noise;
    for (int64_t k = 0; k < n; k++) {
        z[k] *= s[k];
    }
}

SALI_CLONES
static void scale_all(int64_t n, double factor, void *noise)
{
    real *z = noise, s = (real)factor;
    for (int64_t k = 0; k < n; k++) {
        z[k] *= s;
    }
}

SALI_CLONES
static void divide_each(int64_t n, const void *scale, void *v)
{
    const real *s = scale;
    real *out = v;
    for (int64_t k = 0; k < n; k++) {
        out[k] /= s[k];
    }
}

SALI_CLONES
static void mix_noise(int64_t n, double keep, double part, void *noise, void *u)
{
    real *restrict xi = noise, *restrict kept = u, of_old = (real)keep, of_new = (real)part;
    for (int64_t k = 0; k < n; k++) {
        kept[k] = of_old * kept[k] + of_new * xi[k];
        xi[k] = kept[k];
    }
}

SALI_CLONES
static void turn_momentum(int64_t n, const void *v, void *u)
{
    const real *moved = v;
    real *restrict out = u;
    for (int64_t k = 0; k < n; k++) {
        out[k] = moved ? moved[k] - out[k] : -out[k];
    }
}

/* u'v - |v|^2 / 2, summed in double. */
SALI_CLONES
static double turn_ratio(int64_t n, const real *u, const real *v)
{
    double total = 0;
#pragma omp simd reduction(+ : total)
    for (int64_t k = 0; k < n; k++) {
        total += (double)v[k] * ((double)u[k] - 0.5 * (double)v[k]);
    }
    return total;
}

static inline real finite_or_zero(real g)
{
    return isfinite(g) ? g : 0;
}

/* c and y of sali_momentum_change, with p for the product. */
SALI_CLONES
static void momentum_change(int64_t n, real delta, const real *from, const real *to, const real *w,
                            real factor, const real *p, real phi, const real *g_from,
                            const real *g_to, real *restrict c, real *restrict y)
{
    for (int64_t k = 0; k < n; k++) {
        real rise = finite_or_zero(g_to[k]) - finite_or_zero(g_from[k]);
        c[k] = delta * (to[k] - from[k]) + phi * rise;
    }
    for (int64_t k = 0; p && k < n; k++) {
        c[k] += factor * p[k];
    }
    for (int64_t k = 0; k < n; k++) {
        y[k] = delta * to[k] + w[k] - c[k];
    }
}

SALI_CLONES
static void subtract_rows(int64_t n, const void *to, const void *from, void *d)
{
    const real *b = to, *a = from;
    real *restrict out = d;
    for (int64_t k = 0; k < n; k++) {
        out[k] = b[k] - a[k];
    }
}

/* y = delta x + w - factor product, as sali_auxiliary_shift. */
SALI_CLONES
static void shift_y(int64_t n, double delta, const void *x, const void *w, double factor,
                    const void *product, void *y)
{
    const real *at = x, *noise = w, *p = product;
    real *restrict out = y, by = (real)delta, f = (real)factor;
    for (int64_t k = 0; k < n; k++) {
        out[k] = by * at[k] + noise[k];
    }
    for (int64_t k = 0; p && k < n; k++) {
        out[k] -= f * p[k];
    }
}

/* w'd - d'(factor p + delta d) / 2 with d = to - from; the term of p counts only if `bent`, a
 * constant for the compiler. */
static inline __attribute__((always_inline)) double ratio_of(int64_t n, const real *from,
                                                             const real *to, const real *w,
                                                             double delta, double factor,
                                                             const real *p, const bool bent)
{
    double total = 0;
#pragma omp simd reduction(+ : total)
    for (int64_t i = 0; i < n; i++) {
        real d = to[i] - from[i], pull = bent ? (real)factor * p[i] : 0;
        total += (double)(d * (w[i] - (real)0.5 * (pull + (real)delta * d)));
    }
    return total;
}

SALI_CLONES
static double gaussian_ratio(int64_t n, const real *from, const real *to, const real *w,
                             double delta, double factor, const real *p)
{
    return p ? ratio_of(n, from, to, w, delta, factor, p, true)
             : ratio_of(n, from, to, w, delta, 0, NULL, false);
}

/* ---- the functions of auxiliary.h: clones that are not static would be exported */

void RN(sali_scale_each)(int64_t n, const void *scale, void *noise)
{
    scale_each(n, scale, noise);
}

void RN(sali_scale_all)(int64_t n, double factor, void *noise)
{
    scale_all(n, factor, noise);
}

void RN(sali_divide_each)(int64_t n, const void *scale, void *v)
{
    divide_each(n, scale, v);
}

void RN(sali_mix)(int64_t n, double keep, double part, void *noise, void *u)
{
    mix_noise(n, keep, part, noise, u);
}

void RN(sali_turn)(int64_t n, const void *v, void *u)
{
    turn_momentum(n, v, u);
}

double RN(sali_turn_ratio)(int64_t n, const void *u, const void *v)
{
    return turn_ratio(n, u, v);
}

void RN(sali_momentum_change)(int64_t n, double delta, const void *from, const void *to,
                              const void *w, double factor, const void *product, double phi,
                              const void *g_from, const void *g_to, void *c, void *y)
{
    momentum_change(n, (real)delta, from, to, w, (real)factor, product, (real)phi, g_from, g_to, c,
                    y);
}

void RN(sali_subtract)(int64_t n, const void *to, const void *from, void *d)
{
    subtract_rows(n, to, from, d);
}

void RN(sali_auxiliary_shift)(int64_t n, double delta, const void *x, const void *w, double factor,
                              const void *product, void *y)
{
    shift_y(n, delta, x, w, factor, product, y);
}

double RN(sali_auxiliary_ratio)(int64_t n, const void *from, const void *to, const void *w,
                                double delta, double factor, const void *product)
{
    return gaussian_ratio(n, from, to, w, delta, factor, product);
}

int64_t RN(sali_auxiliary_panels)(int64_t n)
{
    return panels_size(n, n);
}

void RN(sali_auxiliary_pack)(int64_t n, const double *M, bool transposed, void *scratch,
                             void *panels)
{
    real *rounded = scratch;
    for (int64_t k = 0; k < n * n; k++) {
        rounded[k] = (real)M[k];
    }
    panels_pack(n, n, rounded, transposed ? 1 : n, transposed ? n : 1, panels);
}

void RN(sali_auxiliary_product)(int64_t chains, int64_t n, const void *A, const void *B, void *C)
{
    panels_product(chains, n, n, A, B, false, C);
}
