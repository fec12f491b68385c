/* SPDX-License-Identifier: MIT */
/* The distribution between independent variables and a model, in plain C, over tiny spaces. */
#ifndef BRIDGE_CHECK_H
#define BRIDGE_CHECK_H

#include "models/make/bridge.h"
#include "transition.h"

/* Random log-probabilities [R] of every variable's states, `spread` apart; normalised. */
static inline void random_base(const sal_space *space, double spread, double *log_base)
{
    int64_t at = 0;
    tiny_normals(40, space->n_states, spread, log_base);
    for (int64_t v = 0; v < space->n_variables; v++) {
        double sum = 0;
        for (int32_t k = 0; k < space->variables[v].states; k++) {
            sum += exp(log_base[at + k]);
        }
        for (int32_t k = 0; k < space->variables[v].states; k++) {
            log_base[at++] -= log(sum);
        }
    }
}

static inline double base_formula(const sal_space *space, const double *log_base,
                                  const int32_t *codes)
{
    double sum = 0;
    int64_t at = 0;
    for (int64_t v = 0; v < space->n_variables; v++) {
        sum += log_base[at + codes[v]];
        at += space->variables[v].states;
    }
    return sum;
}

/* f_beta of all states; 0 times -inf is 0. */
static inline void between(const sal_model *model, const double *log_base, double beta, double *f)
{
    double pi[TINY_MOST_STATES];
    int32_t codes[TINY_MOST_REALS];
    states_probabilities(model, 1, f, pi);
    for (int64_t i = 0; i < states_count(model->space); i++) {
        state_codes(model->space, i, codes);
        double log_p0 = base_formula(model->space, log_base, codes);
        f[i] = beta > 0 ? beta * f[i] + (1 - beta) * log_p0 : log_p0;
    }
}

/* log of the sum of exp f. */
static inline double log_sum(int64_t n, const double *f)
{
    double most = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++) {
        most = fmax(most, f[i]);
    }
    for (int64_t i = 0; i < n; i++) {
        sum += exp(f[i] - most);
    }
    return most + log(sum);
}

static inline double tiny_log_z(const sal_model *model)
{
    double f[TINY_MOST_STATES], pi[TINY_MOST_STATES];
    states_probabilities(model, 1, f, pi);
    return log_sum(states_count(model->space), f);
}

/* `check` on every tiny model of a type over every tiny space. */
static inline void for_every_tiny(sal_dtype dtype,
                                  void (*check)(sal_model *model, const char *name))
{
    for (int s = 0; s < N_TINY_SPACES; s++) {
        sal_space *space = tiny_space_make(&tiny_spaces[s]);
        for (int m = 0; m < N_TINY_MODELS; m++) {
            sal_model *model = tiny_models[m].make(space, dtype);
            char name[80];
            snprintf(name, sizeof name, "%s over %s", tiny_models[m].name, tiny_spaces[s].name);
            if (model) {
                check(model, name);
            }
            sal_model_destroy(model);
        }
        sal_space_destroy(space);
    }
}

#endif
