/* SPDX-License-Identifier: MIT */
/* A chain of noise over states. x_0 is a state of the data. x_(t+1) keeps each variable of x_t with
 * probability keep[t + 1] / keep[t], and replaces it otherwise by a draw from a factorised
 * distribution p_0, so that x_T is a draw of p_0. Level t of a denoising chain of conditional
 * energies is
 *
 *     p(x_t | x_(t+1)) proportional to exp(f_t(x_t) + log q(x_(t+1) | x_t)),
 *
 * whose second term is linear in x_t where variables have two levels or are one-hot. Gao, Song,
 * Poole, Wu & Kingma 2021 (recovery likelihood). */
#ifndef SALI_NOISE_H
#define SALI_NOISE_H

#include "core/memory.h"
#include "core/rng.h"
#include "models/model.h"

typedef struct sali_noise {
    sali_memory memory; /* of the arrays, except log_base */
    sal_space *space;   /* space of x */
    int64_t T;          /* levels */
    double *keep;       /* [T + 1] share of variables of x_t kept from x_0; falls from 1 to 0 */
    double *log_base;   /* [R] log p_0 */
    double *share;      /* [R] p_0 */
    /* [T x R] log q(x_(t+1) = k | x_t) for x_t = k, and for x_t at any other value. */
    double *same, *other;
} sali_noise;

/* The default shares keep [T + 1] for T levels; and the number of steps that level t needs, as a
 * multiple of the last level's. */
void sali_noise_usual(int64_t T, double *keep);
double sali_noise_usual_steps(int64_t T, int64_t t);

/* Create a chain of noise; `keep` [T + 1] and `log_base` [R] are copied. Returns: SAL_ERR_ARGUMENT
 * (shares that do not fall from 1 to 0; probabilities of 0; as sali_base_create),
 * SAL_ERR_UNSUPPORTED (variables of more than two states that are not categorical, or more than 256
 * labels), SAL_ERR_MEMORY. */
sal_status sali_noise_create(const sal_space *space, int64_t T, const double *keep,
                             const double *log_base, sali_noise **out, sal_error *err);
void sali_noise_destroy(sali_noise *noise);

/* Draw x_to, `noisy` [V], given x_from, `codes` [V], by the uniforms of a stream. `uniform` [2 V]
 * is scratch; `noisy` may be `codes`. */
void sali_noise_add(const sali_noise *noise, int64_t from, int64_t to, const sali_stream *stream,
                    double *uniform, const int32_t *codes, int32_t *noisy);

/* log q(x_(t+1) | x_t) as a linear function of the embedding of x_t, for the codes `above` [V] of
 * x_(t+1): writes the weights to `field`, real [N], and returns the constant. */
double sali_noise_field(const sali_noise *noise, int64_t t, const int32_t *above, sal_dtype dtype,
                        void *field);

#endif
