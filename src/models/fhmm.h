/* The factorial hidden Markov model: its numbers, and exact draws of one factor's chain. */
#ifndef SALI_FHMM_H
#define SALI_FHMM_H

#include "models/structure.h"

/* x_1k is 1 with probability v; x_tk equals x_(t-1)k with probability p;
 * y_t ~ N(sum_k W_k x_tk + W_0, sigma^2). State x [length x factors], a factor varies fastest. */
typedef struct sali_fhmm {
    int64_t length, factors;
    double sigma, p, v, W_0;
    double *W; /* [factors] */
    double *y; /* [length] */
} sali_fhmm;

extern const sali_structure sali_fhmm_chains;

/* The functions of that structure that draw chains (fhmm_chains.c). */
sal_status sali_fhmm_open(const sal_model *model, int64_t chains, void **ws, sal_error *err);
void sali_fhmm_close(void *ws);
void sali_fhmm_draw(void *ws, const sali_piece *at, const sali_stream *streams, int32_t *to);
void sali_fhmm_log_q(void *ws, const sali_piece *at, const int32_t *to, const int32_t *hidden,
                     double *log_q);

#endif
