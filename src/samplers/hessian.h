/* The Hessian of a quadratic f in the model's type, shared by all shards of a run: by its rows the
 * gradient follows moves of few variables at the cost of two rows instead of an evaluation. */
#ifndef SALI_HESSIAN_H
#define SALI_HESSIAN_H

#include "models/model.h"

/* More reals than this and the Hessian costs more than it saves. */
#define SALI_MOST_HESSIAN 2048

typedef struct sali_hessian sali_hessian;

/* *out is NULL, with SAL_OK, if f is not known to be quadratic or has too many reals. Returns:
 * SAL_ERR_MEMORY. */
sal_status sali_hessian_create(const sal_model *model, sali_hessian **out, sal_error *err);
void sali_hessian_destroy(sali_hessian *hessian);

/* real [N x N], symmetric; found at the first call and after the model's parameters have changed,
 * at the cost of N gradients. NULL if it is not finite, and if there is no memory. Safe from
 * several threads at once, as parameters do not change while they run; rows given before the
 * change are not to be used after it. */
const void *sali_hessian_rows(sali_hessian *hessian);

/* ---- the kernel, for both types */

/* gradient_new = gradient + sum_j weight[j] H[row[j]], of width n; `weight` is not 0. */
void sali_hessian_follow_f32(int64_t n, const float *H, int64_t k, const int64_t *row,
                             const double *weight, const float *gradient, float *gradient_new);
void sali_hessian_follow_f64(int64_t n, const double *H, int64_t k, const int64_t *row,
                             const double *weight, const double *gradient, double *gradient_new);

#endif
