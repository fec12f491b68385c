/* SPDX-License-Identifier: MIT */
/* Vector and matrix work of the auxiliary-variable samplers. Compiled for float and double. */
#include "core/vector/blas.h"
#include "core/real.h"
#include "samplers/langevin/auxiliary.h"

/* Sums run over this many lanes, so that they vectorise in a fixed order. */
#define LANES 8

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
static void subtract(int64_t n, const void *to, const void *from, void *d)
{
    const real *b = to, *a = from;
    real *restrict out = d;
    for (int64_t k = 0; k < n; k++) {
        out[k] = b[k] - a[k];
    }
}

SALI_CLONES
static void shift(int64_t n, double delta, const void *x, const void *w, double factor,
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

/* One element's share of the ratio. */
static inline double share(real from, real to, real w, double delta, double pull)
{
    double d = (double)to - (double)from;
    return d * ((double)w - 0.5 * (pull + delta * d));
}

SALI_CLONES
static double ratio_plain(int64_t n, const real *from, const real *to, const real *w, double delta)
{
    double sum[LANES] = { 0 }, total = 0;
    int64_t i;
    for (i = 0; i + LANES <= n; i += LANES) {
        for (int j = 0; j < LANES; j++) {
            sum[j] += share(from[i + j], to[i + j], w[i + j], delta, 0);
        }
    }
    for (int j = 0; i + j < n; j++) {
        sum[j] += share(from[i + j], to[i + j], w[i + j], delta, 0);
    }
    for (int j = 0; j < LANES; j++) {
        total += sum[j];
    }
    return total;
}

SALI_CLONES
static double ratio_bent(int64_t n, const real *from, const real *to, const real *w, double delta,
                         double factor, const real *p)
{
    double sum[LANES] = { 0 }, total = 0;
    int64_t i;
    for (i = 0; i + LANES <= n; i += LANES) {
        for (int j = 0; j < LANES; j++) {
            sum[j] += share(from[i + j], to[i + j], w[i + j], delta, factor * (double)p[i + j]);
        }
    }
    for (int j = 0; i + j < n; j++) {
        sum[j] += share(from[i + j], to[i + j], w[i + j], delta, factor * (double)p[i + j]);
    }
    for (int j = 0; j < LANES; j++) {
        total += sum[j];
    }
    return total;
}

/* ---- what others call: clones that are not static would be exported */

void RN(sali_scale_each)(int64_t n, const void *scale, void *noise)
{
    scale_each(n, scale, noise);
}

void RN(sali_scale_all)(int64_t n, double factor, void *noise)
{
    scale_all(n, factor, noise);
}

void RN(sali_subtract)(int64_t n, const void *to, const void *from, void *d)
{
    subtract(n, to, from, d);
}

void RN(sali_auxiliary_shift)(int64_t n, double delta, const void *x, const void *w, double factor,
                              const void *product, void *y)
{
    shift(n, delta, x, w, factor, product, y);
}

double RN(sali_auxiliary_ratio)(int64_t n, const void *from, const void *to, const void *w,
                                double delta, double factor, const void *product)
{
    return product ? ratio_bent(n, from, to, w, delta, factor, product)
                   : ratio_plain(n, from, to, w, delta);
}

void RN(sali_auxiliary_product)(int64_t chains, int64_t n, const void *A, const void *B, void *C)
{
#if SALI_REAL_BITS == 32
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)chains, (int)n, (int)n, 1, A,
                (int)n, B, (int)n, 0, C, (int)n);
#else
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)chains, (int)n, (int)n, 1, A,
                (int)n, B, (int)n, 0, C, (int)n);
#endif
}
