#include "models/zoo/deep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/rng.h"

enum { KIND, STATES, QUADRATIC, BASE, SEED };

const char *const sali_deep_kinds[] = { "binary", "spin", NULL };

sal_status sali_deep_settings(const char *name, int64_t variables, const double *values,
                              sali_deep *out, sal_error *err)
{
    bool spin = values[KIND] != 0, several = values[STATES] > 2;
    if (spin && several) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "%s: kind=spin has two states, and states=%g; expected one or the other",
                         name, values[STATES]);
    }
    *out = (sali_deep){ .name = name,
                        .variables = variables,
                        .kind = several ? SAL_CATEGORICAL
                                : spin  ? SAL_SPIN
                                        : SAL_BINARY,
                        .states = (int64_t)values[STATES],
                        .quadratic = values[QUADRATIC] != 0,
                        .base = values[BASE] != 0,
                        .seed = (uint64_t)values[SEED] };
    return SAL_OK;
}

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
    int64_t features = 1;
    for (int32_t i = 0; i < shape.rank; i++) {
        features *= shape.dim[i];
    }
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

/* log p_0(s). */
static sal_expr base_term(const sali_deep *deep, sal_expr s)
{
    int64_t n = deep->variables, K = deep->states;
    if (deep->kind == SAL_CATEGORICAL) {
        sal_expr base = sal_param(s.tape, "base", SAL_SHAPE(n, K));
        sal_expr log_z = sal_sum(sal_logsumexp_axis(base, 1));
        return sal_sub(sal_dot(sal_reshape(base, SAL_SHAPE(n * K)), s), log_z);
    }
    sal_expr base = sal_param(s.tape, "base", SAL_SHAPE(n)), log_z = sal_sum(sal_softplus(base));
    if (deep->kind == SAL_SPIN) { /* base'(s + 1) / 2 */
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
        int64_t size = 1;
        for (int32_t i = 0; i < shape.rank; i++) {
            size *= shape.dim[i];
        }
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

static bool has_parameter(const sal_model *model, const char *wanted)
{
    const char *name;
    for (int64_t k = 0; (name = sal_model_parameter(model, k, NULL)); k++) {
        if (strcmp(name, wanted) == 0) {
            return true;
        }
    }
    return false;
}

static sal_status start(sal_model *model, uint64_t seed, sal_error *err)
{
    sal_status status = start_net(model, seed, err);
    if (status == SAL_OK && has_parameter(model, "J")) {
        status = sali_builtin_randomise(model, "J", 0.01, seed, UINT32_MAX, err);
    }
    return status;
}

/* The logits of a mean, kept 0.01 from 0 and 1 as by Grathwohl et al. */
static double logit_of(sal_kind kind, double mean)
{
    double p = fmin(fmax(mean, 0.01), 0.99);
    return kind == SAL_CATEGORICAL ? log(p) : log(p / (1 - p));
}

/* The base distribution takes the data's mean; without one the linear term does, as Rhodes &
 * Gutmann start it: b = log(mean + 0.01). */
sal_status sali_deep_init(sal_model *model, uint64_t seed, const double *mean, sal_error *err)
{
    sal_status status = start(model, seed, err);
    bool base = has_parameter(model, "base"), quadratic = has_parameter(model, "b");
    if (status == SAL_OK && base && quadratic) {
        status = sali_builtin_fill(model, "b", 0, err);
    }
    if (status != SAL_OK || (!base && !quadratic)) {
        return status;
    }
    int64_t n = model->space->width;
    sal_kind kind = model->space->variables[0].kind;
    double *values = SALI_NEW_ARRAY(double, n);
    if (!values) {
        return sali_fail_memory(err);
    }
    for (int64_t i = 0; i < n; i++) {
        values[i] = base ? logit_of(kind, mean[i]) : log(mean[i] + 0.01);
    }
    status = sal_model_set_params(model, base ? "base" : "b", values, err);
    sali_free(values);
    return status;
}

/* ---- models */

sal_tape *sali_deep_tape(const sali_deep *deep, sal_dtype dtype)
{
    int64_t states = deep->kind == SAL_CATEGORICAL ? deep->states : 0;
    return sali_builtin_tape("pixel", deep->kind, deep->variables, states, dtype);
}

sal_status sali_deep_finish(const sali_deep *deep, sal_tape *tape, sal_expr f, sal_model **out,
                            sal_error *err)
{
    sal_model *model = NULL;
    f = deep->quadratic ? sal_add(f, quadratic_term(sal_state(tape))) : f;
    f = deep->base ? sal_add(f, base_term(deep, sal_state(tape))) : f;
    sal_status status = sali_builtin_finish(tape, f, deep->name, &model, err);
    status = status ? status : start(model, deep->seed, err);
    if (status != SAL_OK) {
        sal_model_destroy(model);
        return status;
    }
    *out = model;
    return SAL_OK;
}

const sali_training sali_deep_training = { .settings = "base=1",
                                           .options = { .objective = SAL_PTT,
                                                        .sampler = "ncg",
                                                        .steps = 3,
                                                        .batch = 200,
                                                        .reservoir = 4000,
                                                        .learning_rate = 3e-4,
                                                        .rate_cooldown = 0.3,
                                                        .momentum = -1,
                                                        .iterations = 12000 } };
