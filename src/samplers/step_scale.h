/* Diagonal preconditioning of Langevin-like samplers (Zhang et al. 2022; Rhodes & Gutmann 2022,
 * sec. 3.1.1, footnote 4): variable i takes steps of size eps d_i,
 *
 *   d_i = (v_i + 0.01 mean(v))^(-1/2), divided by the geometric mean of all of them,
 *
 * where v_i is the mean of squared slopes of f along variable i (RMSprop's second moment): of a
 * one-hot variable twice the variance of its K gradient entries, the mean square of a difference of
 * two of them by the squared length of a move. Scaling eps by d keeps what eps means on the whole;
 * d is one number a variable, so that no label is favoured.
 *
 * v starts from the gradients at 64 random states and follows the chains in warm-up, in a running
 * mean over windows; d is frozen after three quarters of a warm-up that ends, so that eps
 * settles. */
#ifndef SALI_STEP_SCALE_H
#define SALI_STEP_SCALE_H

#include "samplers/sampler.h"

typedef struct sali_step_scale {
    int64_t n;      /* variables */
    double *scale;  /* [V] d */
    double *square; /* [V] v */
    double *sum;    /* [V] of a window */
    int64_t windows;
} sali_step_scale;

sal_status sali_step_scale_create(const sal_model *model, sali_step_scale **out, sal_error *err);
void sali_step_scale_destroy(void *shared);

/* Functions of the descriptor; `shared` NULL: there is none. */
sal_status sali_step_scale_adapt(void *shared, const sali_warmup *warmup, bool *changed,
                                 sal_error *err);
int64_t sali_step_scale_tuned(void *shared, sali_tuned *items);
sal_status sali_step_scale_retune(void *shared, sal_error *err);
int64_t sali_step_scale_state(void *shared, sali_state_item *items);
sal_status sali_step_scale_restored(void *shared, const sali_warmup *at, sal_error *err);

#endif
