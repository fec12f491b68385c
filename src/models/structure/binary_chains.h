/* SPDX-License-Identifier: MIT */
/* Binary chains side by side, of which all are coupled within each time slice, as those of a
 * factorial hidden Markov model are by an observation:
 *
 *     f = constant + sum_i h_i x_i + sum_t sum_(j < k) G_tjk x_tj x_tk + J sum_t sum_k x_tk
 * x_(t+1)k,
 *
 * a chain varying fastest. */
#ifndef SALI_BINARY_CHAINS_H
#define SALI_BINARY_CHAINS_H

#include "models/structure.h"
#include "models/structure/sum_form.h"

typedef struct sali_binary_chains {
    sali_sum_form sum;
    int64_t length, chains; /* T, K */
    int64_t step;           /* the edge that has J */
    int64_t pair[]; /* [T x K x K] the edge that has G; x_k x_k = x_k is part of h. -1: none */
} sali_binary_chains;

extern const sali_structure sali_binary_chain_draws;

/* The functions of that structure that draw chains (binary_chain_draws.c). */
sal_status sali_binary_chains_open(const sal_model *model, int64_t chains, void **ws,
                                   sal_error *err);
void sali_binary_chains_close(void *ws);
void sali_binary_chains_draw(void *ws, const sali_piece *at, const sali_stream *streams,
                             int32_t *to);
void sali_binary_chains_log_q(void *ws, const sali_piece *at, const int32_t *to,
                              const int32_t *hidden, double *log_q);

/* The weight of an edge, as the numbers of `sum` are now; 0 of edge -1. */
static inline double sali_binary_chains_weight(const sali_sum_reader *sum, int64_t edge)
{
    int32_t w = sum->tape->program->nodes[sum->form.core].in[1];
    return edge < 0 ? 0 : sum->weight[0] * sali_weights_value(&sum->weights, w, edge);
}

#endif
