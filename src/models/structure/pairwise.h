/* Pairwise models: f of two-state variables that is a quadratic polynomial of them, as sparse
 * couplings. With the codes b in {0, 1},
 *
 *     f = constant + sum_i h_i b_i + sum_{i < j} J_ij b_i b_j,
 *
 * so that f(b_i = 1) - f(b_i = 0) = h_i + sum_j J_ij b_j whatever b_i is. That holds on the
 * lattice; nothing is said of f between its points. */
#ifndef SALI_PAIRWISE_H
#define SALI_PAIRWISE_H

#include "models/model.h"

/* What a variable is coupled to. Both are read together: a step of a sampler waits for one line of
 * memory. */
typedef struct sali_coupling {
    double J;
    int32_t to;
} sali_coupling;

typedef struct sali_pairwise {
    int64_t n; /* variables of the model; those with one state have neither h nor couplings */
    double constant;
    double *h; /* [n] */
    /* Those of i are couplings[k] for k in begin[i] .. begin[i + 1] - 1: `to` ascending, never i
     * itself, J never 0; i is coupled to each of them by the same J. */
    int64_t *begin; /* [n + 1] */
    sali_coupling *couplings;
    double scale;     /* the largest |h_i| + sum_j |J_ij|: rounding errors are relative to it */
    uint64_t version; /* of the model's parameters when this was read */
} sali_pairwise;

/* Read the couplings of a model off its formula; *out is NULL, with SAL_OK, if it cannot be told
 * from the ops and their attributes that f is such a polynomial: other ops, variables of more
 * states, factors of three free variables, values that are not finite (-inf), too many couplings.
 * Clamped variables count as the constants that they are. O(size of the formula). Returns:
 * SAL_ERR_MEMORY. */
sal_status sali_pairwise_create(const sal_model *model, sali_pairwise **out, sal_error *err);
void sali_pairwise_destroy(sali_pairwise *pairwise);

/* Whether the model's parameters have changed since. */
static inline bool sali_pairwise_is_stale(const sali_pairwise *pairwise, const sal_model *model)
{
    return pairwise->version != sali_model_version(model);
}

/* f at codes [n], and f with b_i = 1 less f with b_i = 0, the other variables at `codes`. */
double sali_pairwise_value(const sali_pairwise *pairwise, const int32_t *codes);
double sali_pairwise_rise(const sali_pairwise *pairwise, const int32_t *codes, int64_t i);

#endif
