/* SPDX-License-Identifier: MIT */
/* Gradient ascent: Adam (Kingma & Ba 2015, algorithm 1), AdamW with decoupled weight decay
 * (Loshchilov & Hutter 2019, algorithm 2) and SGD with momentum (Polyak 1964, as PyTorch has it).
 */
#ifndef SALI_OPTIMISER_H
#define SALI_OPTIMISER_H

#include <stdbool.h>
#include <stdint.h>

typedef enum sali_optimiser_kind { SALI_ADAM, SALI_ADAMW, SALI_SGD } sali_optimiser_kind;

typedef struct sali_optimiser {
    sali_optimiser_kind kind;
    double learning_rate, weight_decay;
    double momentum; /* beta_1 of Adam */
    double beta2, epsilon;
    int64_t n;
    int64_t updates;
    double *m, *v;  /* [n] first and second moments; SGD has no second */
    double *decays; /* [n] 1 where weight decay applies, else 0; NULL: everywhere */
} sali_optimiser;

/* Default values of the fields before `n`: Adam's are the paper's; no weight decay. */
sali_optimiser sali_optimiser_usual(sali_optimiser_kind kind, double learning_rate);

/* Allocate the moments of n values; false: out of memory. Call sali_optimiser_free in any case. */
bool sali_optimiser_create(sali_optimiser *o, int64_t n);
void sali_optimiser_free(sali_optimiser *o);

/* Drop the moments, as if no update had been made. */
void sali_optimiser_forget(sali_optimiser *o);

/* values [n] += one step along gradient [n] (uphill), at `share` of the learning rate. */
void sali_optimiser_update(sali_optimiser *o, double share, const double *gradient, double *values);

#endif
