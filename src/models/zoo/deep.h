/* SPDX-License-Identifier: MIT */
/* What the deep energy-based models share: f(s) = net(s) + s'Js + b's + log p_0(s), the terms after
 * the net as settings ask; and an RBM with its hidden units summed out, sum softplus(W s + c) +
 * b's, whose parameters are called as those of `rbm`. With levels it is f(s, t), see models/levels:
 * layers get biases by level, the last one weights, and each level an RBM of its own over s less
 * its mean by p_0. Parameters bear PyTorch's names and shapes, so that weights trained there load
 * as they are.
 *
 * p_0 is a factorised distribution: sum_i of the log-probability of s_i under the logits "base",
 * [variables] of code 1 for two levels, [variables x states] otherwise. */
#ifndef SALI_DEEP_H
#define SALI_DEEP_H

#include "models/zoo/making.h"

extern const char *const sali_deep_kinds[];

/* The settings after a model's own; sali_deep_settings reads their values. */
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

/* The net's part of f, a scalar: of the state x, an image [channels, height, width] if it is a
 * picture, whose one-hot has a channel for each state. `level` is the one-hot of the level, to be
 * handed to layers; its tape is NULL where there are none. */
typedef sal_expr (*sali_net)(sal_expr x, sal_expr level, const double *values);

/* The formula of a net of height x width variables, a picture if `picture`, and of the terms that
 * are asked for by the values of SALI_DEEP_PARAMETERS, which begin at `shared`; with random
 * weights. Returns: ARGUMENT when they contradict each other. */
sal_status sali_deep_formula(sali_making *m, bool picture, int64_t height, int64_t width,
                             int shared, sali_net net, sal_expr *f);

/* A parameter "layer.part" of the tape. */
sal_expr sali_deep_parameter(sal_tape *tape, const char *layer, const char *part, sal_shape shape);

/* W x + b (x of any shape) with W [outputs, features of x] and b [outputs], called "layer.weight",
 * "layer.bias"; with levels b is the level's row of [levels, outputs]. */
sal_expr sali_deep_linear(const char *layer, sal_expr x, sal_expr level, int64_t outputs);

/* The last layer: the same with one output; with levels W is the level's row of [levels, features],
 * and there is no b. */
sal_expr sali_deep_output(const char *layer, sal_expr x, sal_expr level);

/* The level's row, flat, of a parameter "layer.part" with an axis of levels in front. */
sal_expr sali_deep_row(const char *layer, const char *part, sal_expr level, sal_shape shape);

/* Starting values for training, as sali_builtin.init: the net's random; J small; the data's mean in
 * the base distribution or, without one, in b. */
sal_status sali_deep_init(sal_model *model, uint64_t seed, const double *mean, sal_error *err);

/* A denoising chain; trajectory tempering, which starts near independent variables with base=1; and
 * trajectory tempering that goes on from an RBM's. */
extern const sali_training sali_deep_training, sali_deep_ladder_training, sali_deep_rbm_training;

/* The records of a net, of which `usual` is the one that suits where nothing is said of levels. */
#define SALI_DEEP_TRAINING(usual)                                                              \
    .training = &(usual), .levelled = &sali_deep_training, .layered = &sali_deep_rbm_training, \
    .plain = &sali_deep_ladder_training

#endif
