/* The restricted Boltzmann machine with its hidden units summed out. */
#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/zoo/builtin.h"

enum { VISIBLE, HIDDEN, SCALE, SEED };

static sal_status make_rbm(const double *values, sal_dtype dtype, sal_model **out, sal_error *err)
{
    int64_t visible = (int64_t)values[VISIBLE], hidden = (int64_t)values[HIDDEN];
    sal_tape *tape = sali_builtin_tape("visible", SAL_BINARY, visible, 0, dtype);
    if (!tape) {
        return sali_fail_memory(err);
    }
    sal_expr s = sal_state(tape), W = sal_param(tape, "W", SAL_SHAPE(hidden, visible));
    sal_expr b = sal_param(tape, "b", SAL_SHAPE(visible));
    sal_expr c = sal_param(tape, "c", SAL_SHAPE(hidden));
    sal_expr f = sal_add(sal_sum(sal_softplus(sal_add(sal_matvec(W, s), c))), sal_dot(b, s));
    sal_status status = sali_builtin_finish(tape, f, "rbm", out, err);
    uint64_t seed = (uint64_t)values[SEED];
    if (status == SAL_OK) {
        status = sali_builtin_randomise(*out, "W", values[SCALE], seed, 0, err);
    }
    return status;
}

/* Hinton 2010: small weights; b so that the units alone have the data's mean. */
static sal_status init_rbm(sal_model *model, uint64_t seed, const double *mean, sal_error *err)
{
    int64_t visible = model->space->width;
    double *b = SALI_NEW_ARRAY(double, visible);
    if (!b) {
        return sali_fail_memory(err);
    }
    for (int64_t i = 0; i < visible; i++) {
        double p = fmin(fmax(mean[i], 0.01), 0.99);
        b[i] = log(p / (1 - p));
    }
    sal_status status = sal_model_set_params(model, "b", b, err);
    if (status == SAL_OK) {
        status = sali_builtin_randomise(model, "W", 0.01, seed, 0, err);
    }
    sali_free(b);
    return status;
}

/* Layers are drawn whole; in centred coordinates plain ascent does as well as Adam. */
static const sali_training training = { .options = { .objective = SAL_PTT,
                                                     .sampler = "block-gibbs",
                                                     .steps = 1,
                                                     .batch = 500,
                                                     .reservoir = 20000,
                                                     .optimiser = SAL_SGD,
                                                     .learning_rate = 0.03,
                                                     .rate_cooldown = 0.5,
                                                     .momentum = -1,
                                                     .iterations = 3600 } };

const sali_builtin sali_builtin_rbm = {
    .name = "rbm",
    .doc = "sum softplus(W s + c) + b's, s in {0,1}^visible",
    .source = "Grathwohl et al. 2021 table 1; Hinton 2010 (starting values)",
    .dtype = SAL_F32,
    .parameters = { [VISIBLE] = { "visible", 784, 1, 1e6, true, "visible units", NULL },
                    [HIDDEN] = { "hidden", 500, 1, 1e6, true, "hidden units", NULL },
                    [SCALE] = { "scale", 0.05, 0, 1e6, false, "standard deviation of W", NULL },
                    [SEED] = { "seed", 0, 0, 4294967295.0, true, "seed of the random W", NULL } },
    .make = make_rbm,
    .init = init_rbm,
    .training = &training,
};
