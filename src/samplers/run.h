/* A run: shards of chains, what is recorded of them, and its options with defaults filled in. */
#ifndef SALI_RUN_H
#define SALI_RUN_H

#include "samplers/sampler.h"

/* Mean and sum of squared deviations from it of some draws (Welford 1962). */
typedef struct sali_running {
    double mean, squares;
} sali_running;

/* One shard: its chains, the sampler's state, and what it has recorded. Rows of the run's arrays
 * that belong to its chains are written by it alone. */
typedef struct sali_run_shard {
    int64_t first; /* chain */
    sali_chains *chains;
    void *self;
    int32_t *reference; /* [V] a random state, for distances */
    int32_t *full;      /* [V of base] one state of the whole space */
    int64_t draws_made;
    sal_status status; /* of its creation and start */
    sal_error error;
} sali_run_shard;

struct sal_run {
    sal_model *base;  /* as given */
    sal_model *model; /* with clamped variables taken out: what is sampled */
    const sali_sampler *sampler;
    sal_run_options options; /* pointers in it are not kept */
    sali_sampler_settings settings;
    void *shared; /* of the sampler; NULL without */
    int64_t n_shards;
    sali_run_shard *shards;
    sali_chains **shard_chains; /* [n_shards], as in shards: for the sampler's adaptation */
    void **shard_selves;

    /* By chain and draw; draws_made = draws unless the run was stopped, and after it the arrays are
     * [chains x draws_made]. */
    int64_t draws_made;
    double *log_prob;      /* [chains x draws] */
    double *distance;      /* [chains x draws] L1 distance to the reference state */
    uint32_t *counts;      /* [chains x 2 x bins] draws by half of the run, chain and bin: two-level
                              variables count code 1 */
    sali_running *moments; /* [chains x 2 x V] of counts without a cap; NULL if there are none */
    void *draws;           /* [chains x draws x V of base], or NULL */
    int draw_bytes;

    double accepted_sum, jump_sum; /* after warm-up, over chains and steps */
    int64_t steps;                 /* after warm-up */
    double seconds, warmup_seconds;
    bool stopped;
};

/* Record the present states of a shard as draw number `draw`. */
void sali_record_draw(sal_run *run, sali_run_shard *shard, int64_t draw);

/* The code of variable v of the whole space in a draw of a chain; the run must have kept them. */
static inline int32_t sali_run_draw(const sal_run *run, int64_t chain, int64_t draw, int64_t v)
{
    int64_t at = (chain * run->draws_made + draw) * run->base->space->n_variables + v;
    return run->draw_bytes == 1 ? ((const uint8_t *)run->draws)[at]
                                : ((const int32_t *)run->draws)[at];
}

/* Between the codes of the model that is sampled and those of the whole space, the model's that was
 * given (which may be a clamped one itself): as sali_clamp_expand and so on. */
void sali_run_expand(const sal_run *run, int64_t chains, const int32_t *codes, int32_t *full);
void sali_run_restrict(const sal_run *run, int64_t chains, const int32_t *full, int32_t *codes);
void sali_run_variables(const sal_run *run, int64_t *original);

/* Step-size adaptation in warm-up: Robbins-Monro on log eps towards an acceptance of 0.574 (Roberts
 * & Rosenthal 1998). */
typedef struct sali_adaptation {
    int64_t windows; /* so far */
    double log_step, low, high;
} sali_adaptation;

void sali_adapt_begin(sali_adaptation *a, const sal_space *space, double step_size);
double sali_adapt_next(sali_adaptation *a, double acceptance);

/* Seconds of a clock that does not jump. */
double sali_now(void);

#endif
