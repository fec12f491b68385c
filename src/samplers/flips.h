/* SPDX-License-Identifier: MIT */
/* The factorised kernel's loops over two-level variables, written with vector types for every
 * instruction set. Results do not depend on the address of a chain's row. */
#ifndef SALI_FLIPS_H
#define SALI_FLIPS_H

#include <math.h>
#include <stdint.h>

#include "core/vector/isa.h"

/* n variables with the levels lo and hi, of one chain; arrays of the element type but for codes. */
typedef struct sali_flips {
    int64_t n;
    const int32_t *code;
    double lo, hi;
    const void *g, *y, *w; /* a = alpha g + beta w y, b multiplied by w; w NULL: 1 */
    double alpha, beta, b;
    void *t, *p; /* log-odds of each flip, and its probability */
    const void *u;
    const int32_t *to;
    int32_t *code_new;
    void *x_new;
    double *norm; /* takes the product of all 1 + exp(-|t|) as a factor */
} sali_flips;

/* Norms are accumulated as a product, to take fewer logarithms. Multiplies *norm by a factor, at
 * least 1 and at most 2^960. Returns the logarithm of what had to leave *norm to make room, mostly
 * 0. */
static inline double sali_norm_multiply(double *norm, double factor)
{
    double left = 0;
    if (*norm > 0x1p60) {
        left = log(*norm);
        *norm = 1;
    }
    *norm *= factor;
    return left;
}

typedef struct sali_flip_kernel {
    /* t and p from g, y and w; the sum of log(1 + exp(t)), less log *norm. NaN stays NaN. */
    double (*prepare)(const sali_flips *f);
    /* As prepare, but t is given. */
    double (*normalise)(const sali_flips *f);
    /* code_new and x_new, flipped where u < p; the sum of t over flips. */
    double (*draw)(const sali_flips *f);
    /* The sum of t where `to` is not `code`. */
    double (*weigh)(const sali_flips *f);
    /* prepare with draw, and prepare with weigh, in one pass from g, y and w that does not store t
     * and p: log q of what is drawn, and of `to`, each plus log *norm. */
    double (*propose)(const sali_flips *f);
    double (*judge)(const sali_flips *f);
} sali_flip_kernel;

/* Functions are NULL where an instruction set does not exist on this architecture. */
extern const sali_flip_kernel sali_flip_kernels_f32[SALI_ISA_COUNT];
extern const sali_flip_kernel sali_flip_kernels_f64[SALI_ISA_COUNT];

#endif
