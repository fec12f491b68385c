#include "core/adam.h"

#include <math.h>

#include "core/alloc.h"

#define BETA1 0.9
#define BETA2 0.999
#define EPSILON 1e-8

bool sali_adam_create(sali_adam *adam, int64_t n, double learning_rate, double weight_decay)
{
    *adam = (sali_adam){
        .n = n,
        .m = SALI_NEW_ARRAY(double, n),
        .v = SALI_NEW_ARRAY(double, n),
        .learning_rate = learning_rate,
        .weight_decay = weight_decay,
    };
    return adam->m && adam->v;
}

void sali_adam_free(sali_adam *adam)
{
    sali_free(adam->m);
    sali_free(adam->v);
}

void sali_adam_update(sali_adam *adam, const double *gradient, double *values)
{
    double t = (double)++adam->updates;
    double rate = adam->learning_rate / (1 - pow(BETA1, t));
    double scale = 1 / sqrt(1 - pow(BETA2, t));
    double shrink = 1 - adam->learning_rate * adam->weight_decay;
    for (int64_t i = 0; i < adam->n; i++) {
        adam->m[i] += (1 - BETA1) * (gradient[i] - adam->m[i]);
        adam->v[i] += (1 - BETA2) * (gradient[i] * gradient[i] - adam->v[i]);
        values[i] = shrink * values[i] + rate * adam->m[i] / (sqrt(adam->v[i]) * scale + EPSILON);
    }
}
