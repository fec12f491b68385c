/* SPDX-License-Identifier: MIT */
/* The multilinear extension: arguments, and which method. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/clamp.h"
#include "models/make/tape_copy.h"
#include "models/exact/extension.h"
#include "models/states.h"
#include "models/tape_model.h"

#define STANDARD_SAMPLES 1000
#define SUM_TOLERANCE 1e-9

/* ---- arguments */

/* SAL_ERR_ARGUMENT unless row [states] of variable v has probabilities that sum to 1 within
 * SUM_TOLERANCE. */
static sal_status check_row(int64_t v, int64_t states, const double *row, sal_error *err)
{
    double sum = 0;
    for (int64_t k = 0; k < states; k++) {
        if (!(row[k] >= 0 && row[k] <= 1)) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "theta: variable %lld has probability %g for state %lld; expected 0 "
                             "to 1",
                             (long long)v, row[k], (long long)k);
        }
        sum += row[k];
    }
    if (fabs(sum - 1) > SUM_TOLERANCE) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "theta: the probabilities of variable %lld sum to %.12g; expected 1",
                         (long long)v, sum);
    }
    return SAL_OK;
}

/* to [states] = `from` divided by its sum. */
static void scale_row(int64_t states, const double *from, double *to)
{
    double sum = 0;
    for (int64_t k = 0; k < states; k++) {
        sum += from[k];
    }
    for (int64_t k = 0; k < states; k++) {
        to[k] = from[k] / sum;
    }
}

/* Check all rows of theta [R], and write them to copy [R] scaled to sum to 1. */
static sal_status copy_theta(const sal_space *space, const double *theta, double *copy,
                             sal_error *err)
{
    sal_status status = SAL_OK;
    for (int64_t v = 0; status == SAL_OK && v < space->n_variables; v++) {
        int64_t states = space->variables[v].states;
        status = check_row(v, states, theta, err);
        scale_row(states, theta, copy);
        theta += states;
        copy += states;
    }
    return status;
}

/* *options = `given` (or zeros if it is NULL) with the defaults filled in. Returns:
 * SAL_ERR_ARGUMENT for an unknown method or values out of range. */
static sal_status fill_options(const sal_extension_options *given, sal_extension_options *options,
                               sal_error *err)
{
    *options = given ? *given : (sal_extension_options){ 0 };
    options->limit = options->limit ? options->limit : SAL_ENUMERATION_LIMIT;
    options->samples = options->samples ? options->samples : STANDARD_SAMPLES;
    if ((int)options->method < SAL_EXTENSION_AUTO || options->method > SAL_EXTENSION_MONTE_CARLO) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "extension: there is no method %d",
                         (int)options->method);
    }
    if (options->limit < 1 || options->samples < 2) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "extension: limit %lld, samples %lld; expected at least 1 and 2",
                         (long long)options->limit, (long long)options->samples);
    }
    return SAL_OK;
}

/* ---- which method */

static bool closed_applies(const sal_model *model)
{
    return model->multilinear && model->has_gradient;
}

/* If the closed form may be used but does not apply to `model`, set *form to a model of the
 * canonical extension of f, to which it applies; the caller destroys *form. *form stays NULL if
 * there is no such model. */
static sal_status find_closed(const sal_model *model, const sal_extension_options *options,
                              sal_model **form, sal_error *err)
{
    if (options->method > SAL_EXTENSION_CLOSED || closed_applies(model) ||
        sali_clamp_inner(model) != model || !sali_model_tape(model)) {
        return SAL_OK;
    }
    sal_status status = sali_tape_model_canonical(model, form, err);
    if (status == SAL_OK && !closed_applies(*form)) {
        sal_model_destroy(*form);
        *form = NULL;
    }
    return status;
}

/* Replace the method AUTO in *options by the best that applies. Returns: SAL_ERR_UNSUPPORTED if the
 * requested method does not apply to the model. */
static sal_status choose_method(const sal_model *model, sal_extension_options *options,
                                sal_error *err)
{
    double states = sali_states_count(model->space);
    bool few = states <= (double)options->limit;
    if (options->method == SAL_EXTENSION_AUTO) {
        options->method = closed_applies(model) ? SAL_EXTENSION_CLOSED
                          : few                 ? SAL_EXTENSION_ENUMERATE
                                                : SAL_EXTENSION_MONTE_CARLO;
    }
    if (options->method == SAL_EXTENSION_CLOSED && !closed_applies(model)) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED,
                         "%s is not known to be multilinear: its extension has no closed form",
                         model->name);
    }
    if (options->method == SAL_EXTENSION_ENUMERATE && !few) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED,
                         "%s has %.6g states, more than the limit of %lld: raise it, or use Monte "
                         "Carlo",
                         model->name, states, (long long)options->limit);
    }
    return SAL_OK;
}

/* Compute F and the gradient by the method in the options, which is not AUTO. */
static sal_status run_method(sali_extension *ext, sal_error *err)
{
    switch (ext->options.method) {
    case SAL_EXTENSION_CLOSED:
        return sali_extension_closed(ext, err);
    case SAL_EXTENSION_ENUMERATE:
        return sali_extension_enumerate(ext, err);
    default:
        return sali_extension_sample(ext, err);
    }
}

sal_status sal_model_extension(const sal_model *model, const sal_extension_options *options,
                               const double *theta, sal_extension *extension, double *gradient,
                               double *gradient_error, sal_error *err)
{
    if (model->space->unbounded) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED,
                         "%s: a count without a cap has no finite row of probabilities; give it a "
                         "cap",
                         model->name);
    }
    sal_status free = sali_space_check_free(model->space, model->name,
                                            "an extension over independent variables", err);
    if (free != SAL_OK) {
        return free;
    }
    size_t R = (size_t)model->space->n_states;
    sali_extension ext = { .model = model };
    sal_model *form = NULL;
    double *buffer = SALI_NEW_ARRAY(double, 3 * model->space->n_states);
    sal_status status = buffer ? SAL_OK : sali_fail_memory(err);
    status = status == SAL_OK ? fill_options(options, &ext.options, err) : status;
    status = status == SAL_OK ? copy_theta(model->space, theta, buffer, err) : status;
    status = status == SAL_OK ? find_closed(model, &ext.options, &form, err) : status;
    ext.model = form ? form : model;
    status = status == SAL_OK ? choose_method(ext.model, &ext.options, err) : status;
    if (status == SAL_OK) {
        ext.theta = buffer;
        ext.gradient = gradient || gradient_error ? buffer + R : NULL;
        ext.gradient_error = ext.gradient ? buffer + 2 * R : NULL;
        status = run_method(&ext, err);
    }
    if (status == SAL_OK) {
        *extension = (sal_extension){ ext.F, ext.F_error, ext.options.method };
        if (gradient) {
            memcpy(gradient, ext.gradient, R * sizeof *gradient);
        }
        if (gradient_error) {
            memcpy(gradient_error, ext.gradient_error, R * sizeof *gradient_error);
        }
    }
    sal_model_destroy(form);
    sali_free(buffer);
    return status;
}
