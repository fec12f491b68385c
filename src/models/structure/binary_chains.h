/* SPDX-License-Identifier: MIT */
/* Binary chains side by side, all coupled with each other within each time slice, as the chains of
 * a factorial hidden Markov model are by an observation:
 *
 *     f = constant + sum_i h_i x_i + sum_t sum_(j < k) G_tjk x_tj x_tk
 *         + J sum_t sum_k x_tk x_(t+1)k,
 *
 * where variable i = t K + k is x_tk. */
#ifndef SALI_BINARY_CHAINS_H
#define SALI_BINARY_CHAINS_H

#include "models/structure.h"
#include "models/structure/sum_form.h"

typedef struct sali_binary_chains {
    sali_sum_form sum;
    int64_t length, chains; /* T, K */
    int64_t step;           /* an edge in time, whose weight is J */
    int64_t pair[]; /* [T x K x K] edge of weight G_tjk, or -1; the diagonal is linear: x x = x */
} sali_binary_chains;

extern const sali_structure sali_binary_chain_draws;

/* The functions of sali_binary_chain_draws that draw chains (binary_chain_draws.c). */
sal_status sali_binary_chains_open(const sal_model *model, int64_t chains, void **ws,
                                   sal_error *err);
void sali_binary_chains_close(void *ws);
void sali_binary_chains_draw(void *ws, const sali_piece *at, const sali_stream *streams,
                             int32_t *to);
void sali_binary_chains_log_q(void *ws, const sali_piece *at, const int32_t *to,
                              const int32_t *hidden, double *log_q);

#endif
