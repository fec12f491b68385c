/* SPDX-License-Identifier: MIT */
#include "models/zoo/deep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ad/op.h"
#include "core/alloc.h"
#include "core/error.h"
#include "core/rng.h"

enum { KIND, STATES, QUADRATIC, BASE, SEED, LEVELS, UNITS };
enum { BINARY, SPIN, ORDINAL }; /* values of KIND */

const char *const sali_deep_kinds[] = { "binary", "spin", "ordinal", NULL };

/* ---- formulas */

sal_expr sali_deep_parameter(sal_tape *tape, const char *layer, const char *part, sal_shape shape)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%s", layer, part);
    return sal_param(tape, name, shape);
}

sal_expr sali_deep_row(const char *layer, const char *part, sal_expr level, sal_shape shape)
{
    const int64_t levels = shape.dim[0], size = sali_shape_size(&shape) / levels;
    sal_expr rows = sali_deep_parameter(level.tape, layer, part, shape);
    sal_expr row = sal_matmul(sal_reshape(level, SAL_SHAPE(1, levels)),
                              sal_reshape(rows, SAL_SHAPE(levels, size)));
    return sal_reshape(row, SAL_SHAPE(size));
}

sal_expr sali_deep_linear(const char *layer, sal_expr x, sal_expr level, int64_t outputs)
{
    sal_shape shape = sal_expr_shape(x);
    int64_t features = sali_shape_size(&shape);
    sal_expr weight = sali_deep_parameter(x.tape, layer, "weight", SAL_SHAPE(outputs, features));
    sal_expr y = sal_matvec(weight, sal_reshape(x, SAL_SHAPE(features)));
    if (level.tape) {
        const int64_t levels = sal_expr_shape(level).dim[0];
        return sal_add(y, sali_deep_row(layer, "bias", level, SAL_SHAPE(levels, outputs)));
    }
    return sal_add(y, sali_deep_parameter(x.tape, layer, "bias", SAL_SHAPE(outputs)));
}

sal_expr sali_deep_output(const char *layer, sal_expr x, sal_expr level)
{
    if (!level.tape) {
        return sal_reshape(sali_deep_linear(layer, x, level, 1), SAL_SCALAR);
    }
    sal_shape shape = sal_expr_shape(x);
    const int64_t features = sali_shape_size(&shape), levels = sal_expr_shape(level).dim[0];
    sal_expr row = sali_deep_row(layer, "weight", level, SAL_SHAPE(levels, features));
    return sal_dot(row, sal_reshape(x, SAL_SHAPE(features)));
}

static sal_expr quadratic_term(sal_expr s)
{
    int64_t n = sal_expr_shape(s).dim[0];
    sal_expr J = sal_param(s.tape, "J", SAL_SHAPE(n, n)), b = sal_param(s.tape, "b", SAL_SHAPE(n));
    return sal_add(sal_quad(s, J), sal_dot(b, s));
}

/* log p_0(s) of variables with logits base [n], or [n, K] if they are one-hot. */
static sal_expr base_term(sal_expr s, sal_expr base, sal_kind kind)
{
    if (kind == SAL_CATEGORICAL) {
        sal_expr log_z = sal_sum(sal_logsumexp_axis(base, 1));
        return sal_sub(sal_dot(sal_reshape(base, sal_expr_shape(s)), s), log_z);
    }
    sal_expr log_z = sal_sum(sal_softplus(base));
    if (kind == SAL_SPIN) { /* base'(s + 1) / 2 */
        sal_expr twice = sal_add(sal_dot(base, s), sal_sum(base));
        return sal_sub(sal_scale(twice, 0.5), log_z);
    }
    return sal_sub(sal_dot(base, s), log_z);
}

/* The state less its mean under p_0. */
static sal_expr centred(sal_expr s, sal_expr base, sal_kind kind)
{
    sal_expr mean = kind == SAL_CATEGORICAL ? sal_softmax_axis(base, 1)
                    : kind == SAL_SPIN      ? sal_tanh(sal_scale(base, 0.5))
                                            : sal_sigmoid(base);
    return sal_sub(s, sal_reshape(mean, sal_expr_shape(s)));
}

/* The RBM of the level t: l_t's + sum softplus(W_t'x + c_t) with `units` hidden units; l_t's alone
 * without units. x is the state s, or the state less its mean. */
static sal_expr level_terms(sal_expr s, sal_expr x, sal_expr level, int64_t units)
{
    const int64_t T = sal_expr_shape(level).dim[0], n = sal_expr_shape(s).dim[0];
    if (units == 0) {
        return sal_dot(sali_deep_row("rbm", "visible", level, SAL_SHAPE(T, n)), s);
    }
    sal_expr weight = sali_deep_row("rbm", "weight", level, SAL_SHAPE(T, n, units));
    sal_expr bias = sali_deep_row("rbm", "bias", level, SAL_SHAPE(T, units));
    sal_expr visible = sali_deep_row("rbm", "visible", level, SAL_SHAPE(T, n));
    sal_expr field = sal_reshape(
        sal_matmul(sal_reshape(x, SAL_SHAPE(1, n)), sal_reshape(weight, SAL_SHAPE(n, units))),
        SAL_SHAPE(units));
    return sal_add(sal_dot(visible, s), sal_sum(sal_softplus(sal_add(field, bias))));
}

/* The RBM of a net without levels. `with_b`: with the term b's, which the quadratic term would have
 * already. */
static sal_expr rbm_term(sal_expr s, int64_t units, bool with_b)
{
    const int64_t n = sal_expr_shape(s).dim[0];
    sal_expr W = sal_param(s.tape, "W", SAL_SHAPE(units, n)), visible = { 0 };
    if (with_b) {
        visible = sal_dot(sal_param(s.tape, "b", SAL_SHAPE(n)), s);
    }
    sal_expr c = sal_param(s.tape, "c", SAL_SHAPE(units));
    sal_expr hidden = sal_sum(sal_softplus(sal_add(sal_matvec(W, s), c)));
    return with_b ? sal_add(hidden, visible) : hidden;
}

/* ---- starting values */

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* Set all parameters "*.weight" and "*.bias" as PyTorch does: uniform within 1 / sqrt(weights of
 * one output). The RBM of a level starts smaller, within 1 / sqrt(all its weights). */
static sal_status start_net(sal_model *model, uint64_t seed, sal_error *err)
{
    double *flat = SALI_NEW_ARRAY(double, sal_model_parameters_size(model)), *at = flat;
    if (!flat) {
        return sali_fail_memory(err);
    }
    sal_status status = sal_model_get_params(model, NULL, flat, err);
    sal_shape shape;
    const char *name;
    double bound = 0;
    for (int64_t k = 0; (name = sal_model_parameter(model, k, &shape)); k++) {
        int64_t size = sali_shape_size(&shape);
        if (ends_with(name, ".weight")) { /* a weight comes before its bias */
            bound = 1 / sqrt((double)(size / shape.dim[0]));
        }
        if (ends_with(name, ".weight") || ends_with(name, ".bias")) {
            sali_stream stream = { .seed = seed, .chain = (uint32_t)k, .purpose = SALI_RNG_PARAMS };
            sali_rng_uniform_f64(&stream, size, at);
            for (int64_t i = 0; i < size; i++) {
                at[i] = bound * (2 * at[i] - 1);
            }
        }
        at += size;
    }
    status = status == SAL_OK ? sal_model_set_params(model, NULL, flat, err) : status;
    sali_free(flat);
    return status;
}

/* Random starting values of the net, and normal ones with standard deviation 0.01 of J and W, if
 * the model has these. */
static sal_status start(sal_model *model, uint64_t seed, sal_error *err)
{
    sal_status status = start_net(model, seed, err);
    if (status == SAL_OK && sali_builtin_parameter_size(model, "J") > 0) {
        status = sali_builtin_randomise(model, "J", 0.01, seed, UINT32_MAX, err);
    }
    if (status == SAL_OK && sali_builtin_parameter_size(model, "W") > 0) {
        status = sali_builtin_randomise(model, "W", 0.01, seed, UINT32_MAX - 1, err);
    }
    return status;
}

static double log_of_more(double mean)
{
    return log(mean + 0.01);
}

/* Set "base" to log(mean + 0.01 / states): the shares of one-hot variables, kept away from 0. */
static sal_status start_base(sal_model *model, int64_t states, const double *mean, sal_error *err)
{
    const int64_t size = sali_builtin_parameter_size(model, "base");
    double *base = SALI_NEW_ARRAY(double, size);
    for (int64_t k = 0; base && k < size; k++) {
        base[k] = log(mean[k] + 0.01 / (double)states);
    }
    sal_status status =
        base ? sal_model_set_params(model, "base", base, err) : sali_fail_memory(err);
    sali_free(base);
    return status;
}

/* The data's mean goes into the base distribution, as in Grathwohl et al. Without a base
 * distribution it goes into the linear term, as in Rhodes & Gutmann: b = log(mean + 0.01). */
sal_status sali_deep_init(sal_model *model, uint64_t seed, const double *mean, sal_error *err)
{
    sal_status status = start(model, seed, err);
    bool base = sali_builtin_parameter_size(model, "base") > 0;
    const sali_variable *first = &model->space->variables[0];
    if (status == SAL_OK && sali_builtin_parameter_size(model, "b") > 0) {
        status = base ? sali_builtin_fill(model, "b", 0, err)
                      : sali_builtin_map(model, "b", mean, log_of_more, err);
    }
    if (status == SAL_OK && base) {
        status = first->kind == SAL_CATEGORICAL
                     ? start_base(model, first->states, mean, err)
                     : sali_builtin_map(model, "base", mean, sali_builtin_logit, err);
    }
    return status;
}

/* ---- models */

/* The one-hot state s [height * width, states] as an image [states, height, width]: a channel for
 * each state. */
static sal_status one_hot_image(sali_making *m, sal_expr s, int64_t height, int64_t width,
                                int64_t states, sal_expr *image)
{
    int64_t pixels = height * width, *indices = SALI_BORROW(m, int64_t, pixels * states);
    if (!indices) {
        return sali_fail_memory(m->err);
    }
    for (int64_t k = 0; k < states; k++) {
        for (int64_t i = 0; i < pixels; i++) {
            indices[k * pixels + i] = i * states + k;
        }
    }
    sal_expr channels = sal_gather(s, 0, pixels * states, indices);
    *image = sal_reshape(channels, SAL_SHAPE(states, height, width));
    return SAL_OK;
}

static sal_status start_model(sali_making *m, sal_model *model)
{
    return start(model, m->seed, m->err);
}

/* Create the variables that the settings `values` (SALI_DEEP_PARAMETERS) ask for. *s is the state
 * of the `variables` pixels, and *level the one-hot of the level if there are levels. Returns:
 * ARGUMENT if the settings contradict each other. */
static sal_status make_state(sali_making *m, const double *values, int64_t variables, sal_expr *s,
                             sal_expr *level)
{
    const int kind = (int)values[KIND];
    const int64_t states = (int64_t)values[STATES];
    if (kind == SPIN && states > 2) {
        return sali_fail(m->err, SAL_ERR_ARGUMENT,
                         "%s: kind=spin has two states, and states=%g; expected one or the other",
                         m->builtin->name, values[STATES]);
    }
    if (kind == ORDINAL && values[BASE] != 0) {
        return sali_fail(m->err, SAL_ERR_ARGUMENT,
                         "%s: kind=ordinal has no base distribution; expected base=0",
                         m->builtin->name);
    }
    double *levels = kind == ORDINAL ? SALI_BORROW(m, double, states) : NULL;
    if (kind == ORDINAL && !levels) {
        return sali_fail_memory(m->err);
    }
    for (int64_t k = 0; levels && k < states; k++) {
        levels[k] = (double)k / (double)(states - 1);
    }
    const int64_t T = (int64_t)values[LEVELS];
    const sal_block blocks[] = {
        { .name = "pixel",
          .kind = kind == ORDINAL ? SAL_ORDINAL
                  : states > 2    ? SAL_CATEGORICAL
                  : kind == SPIN  ? SAL_SPIN
                                  : SAL_BINARY,
          .count = variables,
          .states = kind == ORDINAL || states > 2 ? states : 0,
          .levels = levels },
        { .name = "level", .kind = SAL_CATEGORICAL, .count = 1, .states = T },
    };
    *s = sali_making_blocks(m, T > 0 ? 2 : 1, blocks);
    if (T > 0) {
        const int64_t width = sal_expr_shape(*s).dim[0] - T;
        *level = sal_slice(*s, 0, width, T);
        *s = sal_slice(*s, 0, 0, width);
    }
    return SAL_OK;
}

/* Bits as -1 and 1: with 0 and 1 the training of a net with levels diverges. */
static sal_expr two_sided(sal_expr s)
{
    return sal_sub(sal_scale(s, 2), sal_scalar(s.tape, 1));
}

sal_status sali_deep_formula(sali_making *m, bool picture, int64_t height, int64_t width,
                             int shared, sali_net net, sal_expr *f)
{
    const double *values = m->values + shared;
    const int64_t variables = height * width, states = (int64_t)values[STATES];
    const bool one_hot = states > 2 && values[KIND] != ORDINAL;
    const sal_kind kind = one_hot ? SAL_CATEGORICAL : values[KIND] == SPIN ? SAL_SPIN : SAL_BINARY;
    sal_expr s = { 0 }, level = { 0 };
    sal_status status = make_state(m, values, variables, &s, &level);
    sal_expr x = level.tape && kind == SAL_BINARY && values[KIND] == BINARY ? two_sided(s) : s;
    sal_expr visible = s;
    if (status == SAL_OK && picture) {
        x = one_hot ? x : sal_reshape(x, SAL_SHAPE(1, height, width));
        status = one_hot ? one_hot_image(m, s, height, width, states, &x) : SAL_OK;
    }
    if (status != SAL_OK) {
        return status;
    }
    *f = net(x, level, m->values);
    *f = values[QUADRATIC] != 0 ? sal_add(*f, quadratic_term(s)) : *f;
    if (values[BASE] != 0) {
        sal_expr base = sal_param(s.tape, "base",
                                  one_hot ? SAL_SHAPE(variables, states) : SAL_SHAPE(variables));
        *f = sal_add(*f, base_term(s, base, kind));
        visible = level.tape ? centred(s, base, kind) : s;
    }
    const int64_t units = (int64_t)values[UNITS];
    if (level.tape) {
        *f = sal_add(*f, level_terms(s, visible, level, units));
    } else if (units > 0) {
        *f = sal_add(*f, rbm_term(s, units, values[QUADRATIC] == 0));
    }
    m->finish = start_model;
    return SAL_OK;
}

#define DENOISING(largest)                                   \
    {                                                        \
        .settings = "base=1,levels=8,units=64", .options = { \
            .objective = SAL_DENOISING,                      \
            .learning_rate = (largest),                      \
            .rate.warmup = 100,                              \
            .rate.schedule = SAL_RATE_COSINE,                \
            .optimiser.beta2 = 0.99,                         \
            .optimiser.clip_norm = 10,                       \
            .averaging = 0.997,                              \
            .iterations = 2600                               \
        }                                                    \
    }

const sali_training sali_deep_training = DENOISING(2e-3);

/* At the rate of the others, levels of residual nets ran away in the second half of a training. */
const sali_training sali_deep_residual_training = DENOISING(1e-3);

const sali_training sali_deep_ladder_training = { .settings = "base=1",
                                                  .options = { .objective = SAL_PTT,
                                                               .sampler = "ncg",
                                                               .steps = 3,
                                                               .batch = 200,
                                                               .ptt.reservoir = 4000,
                                                               .learning_rate = 3e-4,
                                                               .rate.cooldown = 0.3,
                                                               .optimiser.momentum = -1,
                                                               .iterations = 12000 } };

/* A net is added to an RBM, whose parameters stay as they were trained and whose layers are drawn
 * exactly. */
const sali_training sali_deep_rbm_training = { .settings = "units=500",
                                               .rbm_first = true,
                                               .options = { .objective = SAL_PTT,
                                                            .fixed = "W,b,c",
                                                            .sampler = "block-gibbs",
                                                            .steps = 4,
                                                            .batch = 400,
                                                            .ptt.reservoir = 8000,
                                                            .learning_rate = 3e-4,
                                                            .rate.cooldown = 0.7,
                                                            .iterations = 1000 } };
