/* SPDX-License-Identifier: MIT */
/* A chain of noise over states: x_0 is a state of the data, and x_(t+1) has each variable of x_t
 * with probability keep[t + 1] / keep[t], else a draw of that variable from a factorised
 * distribution p_0, so that x_T is a draw of p_0. Level t of a denoising chain of conditional
 * energies is
 *
 *     p(x_t | x_(t+1)) proportional to exp(f_t(x_t) + log q(x_(t+1) | x_t)),
 *
 * whose second term is linear in x_t where variables have two levels or are one-hot. Gao, Song,
 * Poole, Wu & Kingma 2021 (recovery likelihood). */
#ifndef SALI_NOISE_H
#define SALI_NOISE_H

#include "core/rng.h"
#include "models/model.h"

typedef struct sali_noise {
    sal_space *space; /* of x */
    int64_t T;        /* levels */
    double *keep;     /* [T + 1] falls from 1 to 0: shares of variables that are those of x_0 */
    double *log_base; /* [R] log p_0 */
    double *share;    /* [R] p_0 */
    /* [T x R] log q(x_(t+1) = k | x_t), from x_t = k and from another value. */
    double *same, *other;
} sali_noise;

/* The usual shares for T levels, keep [T + 1]; and how many times as many steps as the last level
 * t needs. */
void sali_noise_usual(int64_t T, double *keep);
double sali_noise_usual_steps(int64_t T, int64_t t);

/* `keep` [T + 1] and `log_base` [R] are copied. Returns: SAL_ERR_ARGUMENT (shares that do not fall
 * from 1 to 0; as sali_base_create), SAL_ERR_UNSUPPORTED (variables of more than two levels that
 * are not categorical), SAL_ERR_MEMORY. */
sal_status sali_noise_create(const sal_space *space, int64_t T, const double *keep,
                             const double *log_base, sali_noise **out, sal_error *err);
void sali_noise_destroy(sali_noise *noise);

/* x_to from x_from, codes [V], by the uniforms of a stream; `uniform` [2 V] is scratch, and the
 * states may be one. */
void sali_noise_add(const sali_noise *noise, int64_t from, int64_t to, const sali_stream *stream,
                    double *uniform, const int32_t *codes, int32_t *noisy);

/* log q(x_(t+1) | x_t) as a linear function of the embedding of x_t: its weights, real [N], for the
 * codes `above` of x_(t+1); returns the constant. */
double sali_noise_field(const sali_noise *noise, int64_t t, const int32_t *above, sal_dtype dtype,
                        void *field);

#endif
