/* SPDX-License-Identifier: MIT */
#include "models/zoo/deep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ad/op.h"
#include "core/alloc.h"
#include "core/error.h"
#include "core/rng.h"

enum { KIND, STATES, QUADRATIC, BASE, SEED };

const char *const sali_deep_kinds[] = { "binary", "spin", NULL };

/* ---- formulas */

sal_expr sali_deep_parameter(sal_tape *tape, const char *layer, const char *part, sal_shape shape)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%s", layer, part);
    return sal_param(tape, name, shape);
}

sal_expr sali_deep_linear(const char *layer, sal_expr x, int64_t outputs)
{
    sal_shape shape = sal_expr_shape(x);
    int64_t features = sali_shape_size(&shape);
    sal_expr weight = sali_deep_parameter(x.tape, layer, "weight", SAL_SHAPE(outputs, features));
    sal_expr y = sal_matvec(weight, sal_reshape(x, SAL_SHAPE(features)));
    return sal_add(y, sali_deep_parameter(x.tape, layer, "bias", SAL_SHAPE(outputs)));
}

static sal_expr quadratic_term(sal_expr s)
{
    int64_t n = sal_expr_shape(s).dim[0];
    sal_expr J = sal_param(s.tape, "J", SAL_SHAPE(n, n)), b = sal_param(s.tape, "b", SAL_SHAPE(n));
    return sal_add(sal_quad(s, J), sal_dot(b, s));
}

/* log p_0(s) of n variables. */
static sal_expr base_term(sal_expr s, sal_kind kind, int64_t n, int64_t K)
{
    if (kind == SAL_CATEGORICAL) {
        sal_expr base = sal_param(s.tape, "base", SAL_SHAPE(n, K));
        sal_expr log_z = sal_sum(sal_logsumexp_axis(base, 1));
        return sal_sub(sal_dot(sal_reshape(base, SAL_SHAPE(n * K)), s), log_z);
    }
    sal_expr base = sal_param(s.tape, "base", SAL_SHAPE(n)), log_z = sal_sum(sal_softplus(base));
    if (kind == SAL_SPIN) { /* base'(s + 1) / 2 */
        sal_expr twice = sal_add(sal_dot(base, s), sal_sum(base));
        return sal_sub(sal_scale(twice, 0.5), log_z);
    }
    return sal_sub(sal_dot(base, s), log_z);
}

/* ---- starting values */

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* PyTorch's: uniform within 1 / sqrt(inputs of one output), weights and biases both. */
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
        if (ends_with(name, ".weight")) { /* comes before its bias */
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

static sal_status start(sal_model *model, uint64_t seed, sal_error *err)
{
    sal_status status = start_net(model, seed, err);
    if (status == SAL_OK && sali_builtin_parameter_size(model, "J") > 0) {
        status = sali_builtin_randomise(model, "J", 0.01, seed, UINT32_MAX, err);
    }
    return status;
}

/* As the logit of two levels, of a probability of one of several states. */
static double log_of(double mean)
{
    return log(fmin(fmax(mean, 0.01), 0.99));
}

static double log_of_more(double mean)
{
    return log(mean + 0.01);
}

/* The base distribution takes the data's mean, as by Grathwohl et al.; without one the linear term
 * does, as Rhodes & Gutmann start it: b = log(mean + 0.01). */
sal_status sali_deep_init(sal_model *model, uint64_t seed, const double *mean, sal_error *err)
{
    sal_status status = start(model, seed, err);
    bool base = sali_builtin_parameter_size(model, "base") > 0;
    bool several = model->space->variables[0].kind == SAL_CATEGORICAL;
    if (status == SAL_OK && sali_builtin_parameter_size(model, "b") > 0) {
        status = base ? sali_builtin_fill(model, "b", 0, err)
                      : sali_builtin_map(model, "b", mean, log_of_more, err);
    }
    if (status == SAL_OK && base) {
        status = sali_builtin_map(model, "base", mean, several ? log_of : sali_builtin_logit, err);
    }
    return status;
}

/* ---- models */

/* The one-hot [side * side, states] as an image with a channel for each state. */
static sal_status one_hot_image(sali_making *m, sal_expr s, int64_t side, int64_t states,
                                sal_expr *image)
{
    int64_t pixels = side * side, *indices = SALI_BORROW(m, int64_t, pixels * states);
    if (!indices) {
        return sali_fail_memory(m->err);
    }
    for (int64_t k = 0; k < states; k++) {
        for (int64_t i = 0; i < pixels; i++) {
            indices[k * pixels + i] = i * states + k;
        }
    }
    sal_expr channels = sal_gather(s, 0, pixels * states, indices);
    *image = sal_reshape(channels, SAL_SHAPE(states, side, side));
    return SAL_OK;
}

static sal_status start_model(sali_making *m, sal_model *model)
{
    return start(model, m->seed, m->err);
}

sal_status sali_deep_formula(sali_making *m, int64_t variables, int64_t side, int shared,
                             sali_net net, sal_expr *f)
{
    const double *values = m->values + shared;
    bool spin = values[KIND] != 0, several = values[STATES] > 2;
    sal_kind kind = several ? SAL_CATEGORICAL : spin ? SAL_SPIN : SAL_BINARY;
    int64_t states = (int64_t)values[STATES];
    if (spin && several) {
        return sali_fail(m->err, SAL_ERR_ARGUMENT,
                         "%s: kind=spin has two states, and states=%g; expected one or the other",
                         m->builtin->name, values[STATES]);
    }
    sal_expr s = sali_making_state(m, "pixel", kind, variables, several ? states : 0), x = s;
    sal_status status = SAL_OK;
    if (side > 0 && several) {
        status = one_hot_image(m, s, side, states, &x);
    } else if (side > 0) {
        x = sal_reshape(s, SAL_SHAPE(1, side, side));
    }
    if (status != SAL_OK) {
        return status;
    }
    *f = net(x, m->values);
    *f = values[QUADRATIC] != 0 ? sal_add(*f, quadratic_term(s)) : *f;
    *f = values[BASE] != 0 ? sal_add(*f, base_term(s, kind, variables, states)) : *f;
    m->finish = start_model;
    return SAL_OK;
}

const sali_training sali_deep_training = { .settings = "base=1",
                                           .options = { .objective = SAL_PTT,
                                                        .sampler = "ncg",
                                                        .steps = 3,
                                                        .batch = 200,
                                                        .ptt.reservoir = 4000,
                                                        .learning_rate = 3e-4,
                                                        .rate.cooldown = 0.3,
                                                        .optimiser.momentum = -1,
                                                        .iterations = 12000 } };
