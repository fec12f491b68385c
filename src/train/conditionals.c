#include "train/conditionals.h"

#include <math.h>

/* In place; log of the sum of exp of the differences, one of which is 0. */
static double normalise(int32_t states, double *entries)
{
    double most = 0, sum = 0;
    for (int32_t k = 0; k < states; k++) {
        most = fmax(most, entries[k]);
    }
    for (int32_t k = 0; k < states; k++) {
        entries[k] = exp(entries[k] - most);
        sum += entries[k];
    }
    for (int32_t k = 0; k < states; k++) {
        entries[k] /= sum;
    }
    return most + log(sum);
}

double sali_conditionals(const sal_space *space, double *entries)
{
    double log_pl = 0;
    for (int64_t v = 0; v < space->n_variables; v++) {
        int32_t states = space->variables[v].states;
        log_pl -= normalise(states, entries);
        entries += states;
    }
    return log_pl;
}

static double mean_level(const sali_variable *v, const double *p)
{
    double mean = 0;
    for (int32_t k = 0; k < v->states; k++) {
        mean += p[k] * sali_level(v, k);
    }
    return mean;
}

void sali_conditional_shift(const sal_space *space, const int32_t *codes, const double *p,
                            double *delta)
{
    for (int64_t i = 0; i < space->n_variables; i++) {
        const sali_variable *v = &space->variables[i];
        double *to = delta + v->offset;
        if (v->kind == SAL_CATEGORICAL) {
            for (int32_t k = 0; k < v->states; k++) {
                to[k] = p[k] - (k == codes[i]);
            }
        } else {
            to[0] = mean_level(v, p) - sali_level(v, codes[i]);
        }
        p += v->states;
    }
}
