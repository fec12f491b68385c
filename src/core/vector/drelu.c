/* SPDX-License-Identifier: MIT */
#include "core/vector/drelu.h"

#include <math.h>
#include <stdbool.h>

#include "core/vector/clones.h"
#include "core/vector/vmath.h"

#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 32")
#endif

enum { BLOCK = 128, TERMS = 29, SECOND_TERMS = 30 };

/* For x >= 0: (x + 4) e(x), and (x + 4)^2 (1 - x e(x)), as polynomials of y = (x - 4) / (x + 4),
 * the constant first. They are Chebyshev interpolants at 60 points, from 50 digits, written in
 * powers; cut off where terms are below 1e-16. Relative errors below 1e-15 from 0 to infinity. */
static const double first_moment[TERMS] = {
    1.8048571559157687,      -1.1822045015192792,     0.40195670380622867,
    0.067517927922766591,    -0.13822449147872357,    0.033703667653515471,
    0.031656527478767502,    -0.020800454311598961,   -0.0044885897435439012,
    0.0079614111502031518,   -0.00037358714601773955, -0.0024857922421935401,
    0.00059486208819018772,  0.00066549578471531172,  -0.00028931324063017093,
    -0.0001503312905080569,  0.00010494007142868227,  2.5598410718239395e-05,
    -3.1799221585218088e-05, -1.4565187827615587e-06, 8.2238797131122121e-06,
    -1.1267471643798478e-06, -1.7817484123445418e-06, 5.6059185428015347e-07,
    3.0524847781110937e-07,  -1.3529413081994808e-07, -3.6569395544138774e-08,
    1.4804154022563544e-08,  2.2654646733362437e-09
};
static const double second_moment[SECOND_TERMS] = {
    6.2445710106954051,      -7.4357429192968292,     3.8518726775285614,
    0.11630005902340401,     -1.3566625256927332,     0.51504125211205554,
    0.29521878575967136,     -0.27199802420602137,    -0.029965425970587226,
    0.10093691272530315,     -0.010971098926390305,   -0.031379150884246886,
    0.0087224364880307773,   0.0084934327419525727,   -0.0037728237962875331,
    -0.001973316669386336,   0.001276804443190216,    0.00035648495747639912,
    -0.00036105648462334992, -2.6043636302340148e-05, 8.5340450855385516e-05,
    -1.6022938667025354e-05, -1.6185190889924515e-05, 1.0108384460351801e-05,
    2.2387165518428823e-06,  -3.4068498886306731e-06, -1.8226020906539154e-07,
    7.0438884873576551e-07,  4.239454130700633e-09,   -6.9852158958998063e-08
};

static const double log_sqrt_two_pi = 0.91893853320467274178;
static const double inv_sqrt_two_pi = 0.39894228040143267794;
static const double mean_of_half_normal = 0.79788456080286535588; /* e(0) = 1 / R(0) */

/* Unrolled, so that loops over units around it are vectorised. */
static inline __attribute__((always_inline)) double polynomial(int n, const double *coefficient,
                                                               double y)
{
    double sum = coefficient[n - 1];
    UNROLL
    for (int k = n - 2; k >= 0; k--) {
        sum = sum * y + coefficient[k];
    }
    return sum;
}

/* e(x), x >= 0. */
static inline double mean_above(double x)
{
    const double v = 1 / (x + 4);
    return polynomial(TERMS, first_moment, 1 - 8 * v) * v;
}

/* 1 - x e(x), x >= 0. */
static inline double square_above(double x)
{
    const double v = 1 / (x + 4);
    return polynomial(SECOND_TERMS, second_moment, 1 - 8 * v) * v * v;
}

/* One side of a block of units. R(x) = exp(base) weight. */
typedef struct side {
    double x[BLOCK], mean[BLOCK]; /* x; e(x) */
    double base[BLOCK], weight[BLOCK];
    double below[BLOCK]; /* the normal distribution function of -|x| */
} side;

/* Fill in the side of n <= BLOCK units whose roots sqrt(1 +- eta) are `root`; `sign` is 1 for the
 * positive side, -1 for the negative one. */
SALI_CLONES static void fill_side(int64_t n, double sign, const double *delta, const double *root,
                                  const double *a, side *to)
{
    double density[BLOCK] = { 0 };
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        to->x[i] = root[i] * (delta[i] - sign * a[i]);
        density[i] = -0.5 * to->x[i] * to->x[i];
    }
    sali_vexp_f64(n, density, density);
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        const double x = to->x[i], y = fabs(x), mean = mean_above(y), ratio = 1 / (y + mean);
        const double phi = inv_sqrt_two_pi * density[i], below = phi * ratio;
        to->below[i] = below;
        to->mean[i] = x < 0 ? y + phi / (1 - below) : mean;
        to->weight[i] = x < 0 ? 1 - below : ratio;
        to->base[i] = x < 0 ? 0.5 * x * x + log_sqrt_two_pi : 0;
    }
}

/* Both sides of a block, with their probabilities. */
typedef struct block {
    side plus, minus;
    double probability[BLOCK], other[BLOCK]; /* of the positive side; of the negative one */
    double f[BLOCK];
} block;

SALI_CLONES static void fill_block(int64_t n, const sali_drelu *units, const double *a, block *to)
{
    fill_side(n, 1, units->delta, units->plus, a, &to->plus);
    fill_side(n, -1, units->delta, units->minus, a, &to->minus);
    double ratio[BLOCK] = { 0 };
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        ratio[i] = -fabs(to->plus.base[i] - to->minus.base[i]);
    }
    sali_vexp_f64(n, ratio, ratio);
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        const double p = to->plus.base[i], m = to->minus.base[i];
        const double plus = units->plus[i] * to->plus.weight[i] * (p < m ? ratio[i] : 1);
        const double minus = units->minus[i] * to->minus.weight[i] * (p < m ? 1 : ratio[i]);
        to->f[i] = plus + minus;
        to->probability[i] = plus / to->f[i];
        to->other[i] = minus / to->f[i];
    }
    sali_vlog_f64(n, to->f, to->f);
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        const double p = to->plus.base[i], m = to->minus.base[i];
        to->f[i] += (p < m ? m : p) - log_sqrt_two_pi;
    }
}

/* The units from number `first` on, and how many of them are in the next block. */
static sali_drelu units_from(const sali_drelu *units, int64_t first)
{
    return (sali_drelu){ units->delta + first, units->plus + first, units->minus + first };
}

static int64_t length_at(int64_t n, int64_t first)
{
    return n - first < BLOCK ? n - first : BLOCK;
}

void sali_drelu_sides(int64_t n, const double *t, double *plus, double *minus)
{
    for (int64_t i = 0; i < n; i++) { /* 1 + tanh t = 2 sigmoid(2 t) */
        plus[i] = 2 * t[i];
        minus[i] = -2 * t[i];
    }
    sali_vsigmoid_f64(n, plus, plus);
    sali_vsigmoid_f64(n, minus, minus);
    for (int64_t i = 0; i < n; i++) {
        plus[i] = sqrt(2 * plus[i]);
        minus[i] = sqrt(2 * minus[i]);
    }
}

/* ---- values and slopes */

void sali_drelu_values(int64_t n, const sali_drelu *units, const double *a, double *f, double *mean)
{
    block b;
    for (int64_t first = 0; first < n; first += BLOCK) {
        const int64_t length = length_at(n, first);
        const sali_drelu here = units_from(units, first);
        fill_block(length, &here, a + first, &b);
        for (int64_t i = 0; i < length; i++) {
            f[first + i] = b.f[i];
            mean[first + i] = b.probability[i] * here.plus[i] * b.plus.mean[i] -
                              b.other[i] * here.minus[i] * b.minus.mean[i];
        }
    }
}

/* The mean of z^2 of a side. */
static inline double mean_square(const side *s, int64_t i)
{
    const double x = s->x[i], above = square_above(fabs(x));
    return x < 0 ? 1 - x * s->mean[i] : above;
}

/* With E the mean over a side and P the side's probability, the slope by Delta is -P E|h|, and the
 * slope by eta P E h^2 / (2 (1 + eta)^2) = P E z^2 / (2 (1 + eta)), summed over the sides; d eta /
 * dt = (1 + eta) (1 - eta). */
SALI_CLONES static void slopes_of_block(int64_t n, const sali_drelu *units, const block *b,
                                        double *by_delta, double *by_t)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        const double s = units->plus[i], r = units->minus[i];
        by_delta[i] =
            -(b->probability[i] * s * b->plus.mean[i] + b->other[i] * r * b->minus.mean[i]);
        by_t[i] = 0.5 * (b->probability[i] * mean_square(&b->plus, i) * r * r -
                         b->other[i] * mean_square(&b->minus, i) * s * s);
    }
}

void sali_drelu_slopes(int64_t n, const sali_drelu *units, const double *a, double *by_delta,
                       double *by_t)
{
    block b;
    for (int64_t first = 0; first < n; first += BLOCK) {
        const int64_t length = length_at(n, first);
        const sali_drelu here = units_from(units, first);
        fill_block(length, &here, a + first, &b);
        slopes_of_block(length, &here, &b, by_delta + first, by_t + first);
    }
}

/* ---- draws */

/* For x >= 0 with mean = e(x): the z at which -log of the probability of more, x z + z^2 / 2 +
 * log(R(x) / R(x + z)), is t. That has the slope 1 / R(x + z), which grows from 1 / R(x), itself by
 * a slope between e / R and 1: this gives a first z that is within 5% of t + 1, and two of Halley's
 * steps of third order leave rounding errors. Overwrites t [n] by z. */
SALI_CLONES static void solve(int64_t n, const double *x, const double *mean, double *t)
{
    double z[BLOCK], shift[BLOCK] = { 0 }, here[BLOCK];
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        const double slope = x[i] + mean[i];
        const double rise = (mean[i] * slope + 0.08 * t[i]) / (1 + 0.08 * t[i]);
        z[i] = 2 * t[i] / (slope + sqrt(slope * slope + 2 * rise * t[i]));
    }
    for (int step = 0; step < 2; step++) {
#pragma omp simd
        for (int64_t i = 0; i < n; i++) {
            here[i] = mean_above(x[i] + z[i]);
            shift[i] = (z[i] + (here[i] - mean[i])) / (x[i] + mean[i]);
        }
        sali_vlog1p_f64(n, shift, shift);
#pragma omp simd
        for (int64_t i = 0; i < n; i++) {
            const double excess = z[i] * (x[i] + 0.5 * z[i]) + shift[i] - t[i];
            const double newton = excess / (x[i] + z[i] + here[i]);
            z[i] -= newton / (1 - 0.5 * newton * here[i]);
        }
    }
    for (int64_t i = 0; i < n; i++) {
        t[i] = z[i];
    }
}

/* Draw a block. Where x is negative, a normal number y = x + z is drawn whose probabilities of more
 * and of less add up to 1; the smaller one of them, p, makes |y| the solution for x = 0 and t =
 * -log(2 p). */
SALI_CLONES static void draw_block(int64_t n, const sali_drelu *units, const block *b,
                                   const double *choice, const double *more, double *h)
{
    double x[BLOCK], root[BLOCK], sign[BLOCK], from[BLOCK] = { 0 }, mean[BLOCK] = { 0 };
    double t[BLOCK] = { 0 };
    for (int64_t i = 0; i < n; i++) {
        const bool plus = choice[i] < b->probability[i];
        const side *s = plus ? &b->plus : &b->minus;
        const double below = s->below[i], less = below + (1 - more[i]) * (1 - below);
        const double above = more[i] * (1 - below), least = above < less ? above : less;
        x[i] = s->x[i];
        root[i] = plus ? units->plus[i] : -units->minus[i];
        sign[i] = above < less || x[i] >= 0 ? 1 : -1;
        from[i] = x[i] < 0 ? 0 : x[i];
        mean[i] = x[i] < 0 ? mean_of_half_normal : s->mean[i];
        t[i] = x[i] < 0 ? 2 * least : more[i];
    }
    sali_vlog_f64(n, t, t);
    for (int64_t i = 0; i < n; i++) {
        t[i] = t[i] < 0 ? -t[i] : 0;
    }
    solve(n, from, mean, t);
    for (int64_t i = 0; i < n; i++) {
        const double z = x[i] < 0 ? sign[i] * t[i] - x[i] : t[i];
        h[i] = root[i] * (z > 0 ? z : 0);
    }
}

void sali_drelu_draw(int64_t n, const sali_drelu *units, const double *a, const double *uniforms,
                     double *h)
{
    block b;
    for (int64_t first = 0; first < n; first += BLOCK) {
        const int64_t length = length_at(n, first);
        const sali_drelu here = units_from(units, first);
        fill_block(length, &here, a + first, &b);
        draw_block(length, &here, &b, uniforms + first, uniforms + n + first, h + first);
    }
}
