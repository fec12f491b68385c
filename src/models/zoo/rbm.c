/* SPDX-License-Identifier: MIT */
/* The restricted Boltzmann machine with its hidden units summed out. */
#include "models/zoo/making.h"

enum { VISIBLE, HIDDEN, SCALE, SEED };

static sal_status rbm(sali_making *m, sal_expr *f)
{
    int64_t visible = (int64_t)m->values[VISIBLE], hidden = (int64_t)m->values[HIDDEN];
    sal_expr s = sali_making_state(m, "visible", SAL_BINARY, visible, 0);
    sal_expr W = sali_making_normal(m, "W", SAL_SHAPE(hidden, visible), m->values[SCALE], 0);
    sal_expr b = sal_param(m->tape, "b", SAL_SHAPE(visible));
    sal_expr c = sal_param(m->tape, "c", SAL_SHAPE(hidden));
    *f = sal_add(sal_sum(sal_softplus(sal_add(sal_matvec(W, s), c))), sal_dot(b, s));
    return SAL_OK;
}

/* Small weights, and b such that visible units without weights have the data's mean (Hinton
 * 2010). */
static sal_status init_rbm(sal_model *model, uint64_t seed, const double *mean, sal_error *err)
{
    sal_status status = sali_builtin_map(model, "b", mean, sali_builtin_logit, err);
    return status ? status : sali_builtin_randomise(model, "W", 0.01, seed, 0, err);
}

/* Block Gibbs draws whole layers. In centred coordinates plain ascent does as well as Adam. */
static const sali_training training = { .options = {
                                            .objective = SAL_PTT,
                                            .sampler = "block-gibbs",
                                            .steps = 1,
                                            .batch = 500,
                                            .ptt.reservoir = 20000,
                                            .optimiser = { .method = SAL_SGD, .momentum = -1 },
                                            .learning_rate = 0.03,
                                            .rate.cooldown = 0.5,
                                            .iterations = 3600 } };

const sali_builtin sali_builtin_rbm = {
    .name = "rbm",
    .doc = "sum softplus(W s + c) + b's, s in {0,1}^visible",
    .source = "Grathwohl et al. 2021 table 1; Hinton 2010 (starting values)",
    .dtype = SAL_F32,
    .settings = { [VISIBLE] = { "visible", 784, 1, 1e6, true, "visible units", NULL },
                  [HIDDEN] = { "hidden", 500, 1, 1e6, true, "hidden units", NULL },
                  [SCALE] = SALI_DEVIATION(0.05, "W"),
                  [SEED] = SALI_SEED("the random W") },
    .formula = rbm,
    .init = init_rbm,
    .training = &training,
};
