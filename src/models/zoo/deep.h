/* SPDX-License-Identifier: MIT */
/* What the deep energy-based models share: f(s) = net(s) + s'Js + b's + log p_0(s), where settings
 * choose the terms after the net, and an RBM with its hidden units summed out, sum softplus(W s +
 * c) + b's, whose parameters have the names of the model `rbm`. With levels of noise f is f(s, t),
 * see models/levels: layers have biases for each level, the last layer has weights for each level,
 * and each level has an RBM of its own over s less its mean under p_0. Parameters have PyTorch's
 * names and shapes, so that weights trained there can be loaded unchanged.
 *
 * p_0 is a factorised distribution: sum_i of the log-probability of s_i under the logits "base",
 * [variables] of code 1 for two levels, [variables x states] otherwise. */
#ifndef SALI_DEEP_H
#define SALI_DEEP_H

#include "models/zoo/making.h"

extern const char *const sali_deep_kinds[];

/* The settings after a model's own settings; sali_deep_formula reads their values. */
#define SALI_DEEP_PARAMETERS                                                                      \
    { "kind",         0, 0, 2, true, "two states as {0,1} or {-1,+1}; ordinal: states as 0 .. 1", \
      sali_deep_kinds },                                                                          \
        { "states", 2, 2, 256, true, "of a variable; above 2: one-hot, a channel each", NULL },   \
        { "quadratic", 0, 0, 1, true, "1: add s'Js + b's", NULL },                                \
        { "base", 0, 0, 1, true, "1: add log p_0(s), p_0 factorised with logits `base`", NULL },  \
        { "seed", 0, 0, 4294967295.0, true, "seed of the random weights", NULL },                 \
        { "levels", 0, 0, 256, true, "of noise, for --objective denoising; 0: none", NULL },      \
    {                                                                                             \
        "units", 0, 0, 1e5, true, "hidden units of an RBM added, of one for each level", NULL     \
    }

/* The net's part of f, a scalar, of the state x. If the state is a picture, x is an image
 * [channels, height, width]; a one-hot state has a channel for each state of a pixel. `level` is
 * the one-hot of the level, to be passed to layers; its tape is NULL if there are no levels. */
typedef sal_expr (*sali_net)(sal_expr x, sal_expr level, const double *values);

/* Record f of a net of height x width variables, a picture if `picture`, and of the terms that the
 * settings SALI_DEEP_PARAMETERS choose; m->values[shared] is the first of these. Weights start at
 * random. Returns: ARGUMENT if the settings contradict each other. */
sal_status sali_deep_formula(sali_making *m, bool picture, int64_t height, int64_t width,
                             int shared, sali_net net, sal_expr *f);

/* A parameter "layer.part" of the tape. */
sal_expr sali_deep_parameter(sal_tape *tape, const char *layer, const char *part, sal_shape shape);

/* W x + b (x of any shape) with W [outputs, features of x] and b [outputs], called "layer.weight",
 * "layer.bias"; with levels b is the level's row of [levels, outputs]. */
sal_expr sali_deep_linear(const char *layer, sal_expr x, sal_expr level, int64_t outputs);

/* The last layer: W x + b with one output. With levels W is the level's row of [levels, features],
 * and there is no b. */
sal_expr sali_deep_output(const char *layer, sal_expr x, sal_expr level);

/* The row of `level`, flat, of a parameter "layer.part" with this shape, whose first axis is the
 * level. */
sal_expr sali_deep_row(const char *layer, const char *part, sal_expr level, sal_shape shape);

/* Starting values for training, as sali_builtin.init: random in the net; small in J and W; the
 * data's mean in the base distribution or, without one, in b. */
sal_status sali_deep_init(sal_model *model, uint64_t seed, const double *mean, sal_error *err);

/* Training of a denoising chain, also for residual nets; by trajectory tempering, with base=1, so
 * that it starts near independent variables; and by trajectory tempering that continues the
 * training of an RBM. */
extern const sali_training sali_deep_training, sali_deep_residual_training;
extern const sali_training sali_deep_ladder_training, sali_deep_rbm_training;

/* The training records of a net. `usual` applies if the specification does not mention levels,
 * `chain` if it has some. */
#define SALI_DEEP_TRAINING(usual, chain)                                            \
    .training = &(usual), .levelled = &(chain), .layered = &sali_deep_rbm_training, \
    .plain = &sali_deep_ladder_training

#endif
