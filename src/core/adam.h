/* Adam: gradient ascent with running moments. Kingma & Ba 2015, algorithm 1; decoupled weight
 * decay: Loshchilov & Hutter 2019. */
#ifndef SALI_ADAM_H
#define SALI_ADAM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sali_adam {
    int64_t n;
    int64_t updates;
    double *m, *v; /* [n] first and second moments */
    double learning_rate, weight_decay;
} sali_adam;

bool sali_adam_create(sali_adam *adam, int64_t n, double learning_rate, double weight_decay);
void sali_adam_free(sali_adam *adam);

/* values [n] += one step along gradient [n] (uphill). */
void sali_adam_update(sali_adam *adam, const double *gradient, double *values);

#endif
