/* SPDX-License-Identifier: MIT */
#include "core/optimiser.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/vector/clones.h"

sali_optimiser sali_optimiser_usual(sali_optimiser_kind kind, double learning_rate)
{
    return (sali_optimiser){
        .kind = kind,
        .learning_rate = learning_rate,
        .momentum = 0.9,
        .beta2 = 0.999,
        .epsilon = 1e-8,
    };
}

bool sali_optimiser_create(sali_optimiser *o, int64_t n)
{
    o->n = n;
    o->m = SALI_NEW_ARRAY(double, n);
    o->v = SALI_NEW_ARRAY(double, o->kind == SALI_SGD ? 0 : n);
    return o->m && o->v;
}

void sali_optimiser_free(sali_optimiser *o)
{
    sali_free(o->m);
    sali_free(o->v);
    sali_free(o->decays);
}

void sali_optimiser_forget(sali_optimiser *o)
{
    o->updates = 0;
    memset(o->m, 0, (size_t)o->n * sizeof *o->m);
    memset(o->v, 0, o->kind == SALI_SGD ? 0 : (size_t)o->n * sizeof *o->v);
}

/* The coefficients of one update. */
typedef struct rates {
    double beta1, beta2, epsilon;
    double rate, scale;     /* step along m; factor of sqrt(v) */
    double coupled, shrink; /* weight decay: within the gradient; decoupled (AdamW) */
} rates;

/* One update of `values` [n] by Adam or AdamW, in place; m and v [n] are the running means of the
 * gradient and of its square. Weight decay is multiplied by decays [n] (NULL: 1). */
SALI_CLONES static void update_adam(int64_t n, rates r, const double *gradient,
                                    const double *decays, double *restrict m, double *restrict v,
                                    double *restrict values)
{
    for (int64_t i = 0; i < n; i++) {
        double decay = decays ? decays[i] : 1;
        double g = gradient[i] - r.coupled * decay * values[i];
        m[i] += (1 - r.beta1) * (g - m[i]);
        v[i] += (1 - r.beta2) * (g * g - v[i]);
        values[i] =
            (1 - r.shrink * decay) * values[i] + r.rate * m[i] / (sqrt(v[i]) * r.scale + r.epsilon);
    }
}

SALI_CLONES static void update_sgd(int64_t n, rates r, const double *gradient, const double *decays,
                                   double *restrict m, double *restrict values)
{
    for (int64_t i = 0; i < n; i++) {
        m[i] = r.beta1 * m[i] + gradient[i] - r.coupled * (decays ? decays[i] : 1) * values[i];
        values[i] += r.rate * m[i];
    }
}

void sali_optimiser_update(sali_optimiser *o, double share, const double *gradient, double *values)
{
    double t = (double)++o->updates, rate = share * o->learning_rate;
    rates r = {
        .beta1 = o->momentum,
        .beta2 = o->beta2,
        .epsilon = o->epsilon,
        .rate = rate,
        .coupled = o->kind == SALI_ADAMW ? 0 : o->weight_decay,
        .shrink = o->kind == SALI_ADAMW ? rate * o->weight_decay : 0,
    };
    if (o->kind == SALI_SGD) {
        update_sgd(o->n, r, gradient, o->decays, o->m, values);
        return;
    }
    r.rate = rate / (1 - pow(o->momentum, t));
    r.scale = 1 / sqrt(1 - pow(o->beta2, t));
    update_adam(o->n, r, gradient, o->decays, o->m, o->v, values);
}
