/* Training energy-based models by persistent contrastive divergence. */
#ifndef SALTUS_TRAIN_H
#define SALTUS_TRAIN_H

#include <stdint.h>
#include <saltus/data.h>
#include <saltus/model.h>
#include <saltus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where a training stands. Pointers are valid during the call. */
typedef struct sal_train_report {
    int64_t iteration, iterations;
    double seconds;          /* since the start */
    double log_prob_data;    /* mean f over the data batch */
    double log_prob_samples; /* mean f over the samples; their difference should stay near 0 */
    double acceptance_rate, mean_jump;         /* of the sampler, since the last report */
    double gradient_norm;                      /* of the last update */
    double sampling_seconds, gradient_seconds; /* since the start */
    const sal_model *model;
    int64_t buffer;
    const int32_t *samples; /* [buffer x V] the persistent chains */
} sal_train_report;

/* How to train. Fields left zero take their defaults. */
typedef struct sal_train_options {
    const char *sampler;  /* NULL: "gwg" */
    int64_t steps;        /* K sampler steps an iteration; 0: 20 */
    int64_t iterations;   /* parameter updates; 0: 2000 */
    int64_t batch;        /* data rows and chains an iteration; 0: 50 */
    int64_t buffer;       /* persistent chains, >= batch; 0: the larger of batch and 1000 */
    double learning_rate; /* of Adam; 0: 1e-3 */
    double weight_decay;  /* decoupled, as in AdamW; default 0 */
    double step_size;     /* of samplers that have one; 0: the sampler's usual one */
    uint64_t seed;
    int threads; /* 0: OpenMP's choice; results do not depend on it */

    /* Called after iterations that are multiples of `report_every` (0: 100) and after the last one;
     * a return value other than 0 stops the training. NULL: none. */
    int (*report)(const sal_train_report *report, void *data);
    int64_t report_every;
    void *report_data;
} sal_train_options;

/* Fit a tape model's parameters to data by persistent contrastive divergence: each iteration draws
 * a minibatch of data and one of the buffer's chains, moves these by K steps of the sampler, and
 * follows the gradient of mean f(data) - mean f(samples) with Adam. The buffer starts from
 * independent draws with the data's mean. Parameters start as they are (see sal_model_train_start).
 * Math:    d log-likelihood / d theta = E_data df/dtheta - E_model df/dtheta
 * Returns: SAL_ERR_ARGUMENT (options, or data that do not fit the space); SAL_ERR_UNSUPPORTED (no
 *          parameters, or a sampler that cannot); SAL_ERR_MODEL (f or a parameter became NaN or
 *          infinite; the parameters are then those of the last good report); SAL_ERR_MEMORY.
 * Threads: alone with its model.
 * Source:  Tieleman 2008; Rhodes & Gutmann 2022, algorithm L.6; Kingma & Ba 2015 (Adam). */
SAL_API sal_status sal_train(sal_model *model, const sal_data *data,
                             const sal_train_options *options, sal_error *err);

/* Give a ready-made model the starting parameters that suit training on `data` (small random
 * weights, biases from the data's mean); `specification` is what it was made from.
 * Returns: SAL_ERR_NOT_FOUND, SAL_ERR_ARGUMENT, SAL_ERR_MEMORY. */
SAL_API sal_status sal_model_train_start(sal_model *model, const char *specification,
                                         const sal_data *data, uint64_t seed, sal_error *err);

#ifdef __cplusplus
}
#endif
#endif
