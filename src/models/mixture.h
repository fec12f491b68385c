/* Mixtures of factorised distributions, all variables alike: f(s) = log sum_k exp(sum_i g_k(s_i)),
 * g_k a function of the level of an ordinal variable. */
#ifndef SALI_MIXTURE_H
#define SALI_MIXTURE_H

#include "models/structure.h"

typedef struct sali_mixture {
    int64_t components;
    double (*g)(int64_t k, double u); /* k = 1 .. components */
} sali_mixture;

/* Exact draws of the whole state; the data are a sali_mixture. */
extern const sali_structure sali_mixture_structure;

#endif
