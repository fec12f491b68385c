/* The Hessian of a quadratic f, from gradients: it is the same everywhere, so that its rows are
 * differences of the gradients at the unit vectors and at 0. */
#ifndef SALI_CONSTANT_HESSIAN_H
#define SALI_CONSTANT_HESSIAN_H

#include "models/model.h"

/* Whether f is known to be quadratic; or would be if its parameters' values forbade no states. */
bool sali_has_constant_hessian(const sal_model *model);
bool sali_could_have_constant_hessian(const sal_model *model);

/* What finding it takes, to be used once or after each change of the parameters. */
typedef struct sali_hessian_search sali_hessian_search;

/* Returns: SAL_ERR_MEMORY; those of the evaluator. */
sal_status sali_hessian_search_create(const sal_model *model, sali_hessian_search **out,
                                      sal_error *err);
void sali_hessian_search_destroy(sali_hessian_search *search);

/* H [N x N], symmetric, at the present parameters; not finite where f forbids states. Entries
 * between states of one categorical variable are there too. Cost: N + 1 gradients. */
void sali_hessian_find(sali_hessian_search *search, double *H);

/* M = (M + M') / 2, of n rows. */
void sali_symmetrise(int64_t n, double *M);

#endif
