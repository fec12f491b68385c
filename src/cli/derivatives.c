/* SPDX-License-Identifier: MIT */
/* How well a model's gradient and differences agree with differences of f, at random states. */
#include "cli/derivatives.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "samplers/sampler.h"
#include "samplers/start.h"

/* At a kink one-sided slopes differ by more than this share of the gradient's largest entry and
 * more than so many roundings of f make, and by no less at half the distance. */
#define KINK 1e-3
#define ROUNDINGS 32

/* How f changes about x in one coordinate. */
typedef struct slopes {
    double right, left;
} slopes;

/* (f(x + h) - f(x)) / h and (f(x) - f(x - h)) / h in coordinate i; x is put back. */
static sal_status find_slopes(const sal_model *model, double *x, int64_t i, double h, double f,
                              slopes *s, sal_error *err)
{
    double here = x[i], up, down;
    x[i] = here + h;
    sal_status status = sal_model_evaluate_at(model, 1, x, &up, NULL, err);
    x[i] = here - h;
    status = status ? status : sal_model_evaluate_at(model, 1, x, &down, NULL, err);
    x[i] = here;
    if (status == SAL_OK) {
        *s = (slopes){ (up - f) / h, (f - down) / h };
    }
    return status;
}

/* The one-sided slopes of a smooth f come together as h falls. */
static bool is_kink(slopes wide, slopes narrow, double least)
{
    double gap = fabs(narrow.right - narrow.left);
    return gap > least && gap > 0.75 * fabs(wide.right - wide.left);
}

/* How far the derivative g is from the central difference, at a kink from the range of slopes. */
static double slope_error(slopes s, bool kink, double g)
{
    if (!kink) {
        return fabs((s.right + s.left) / 2 - g);
    }
    return fmax(0, fmax(fmin(s.right, s.left) - g, g - fmax(s.right, s.left)));
}

/* Whether coordinate i is that of the present state of a one-hot variable: it says nothing of any
 * change. */
static bool is_present(const sal_space *space, const double *x, int64_t i)
{
    return space->variables[sali_space_owner(space, i)].kind == SAL_CATEGORICAL && x[i] == 1;
}

/* Largest error of gradient [N] against central differences of `exact` at x [N], relative to the
 * largest entry; slopes that are compared and coordinates with a kink are counted. */
static sal_status gradient_error(const sal_model *exact, double *x, const double *gradient,
                                 double *error, cli_derivatives *counts, sal_error *err)
{
    int64_t N = sal_space_width(sal_model_space(exact));
    double h = 1e-5, scale = 1e-12, f;
    sal_status status = sal_model_evaluate_at(exact, 1, x, &f, NULL, err);
    for (int64_t i = 0; i < N; i++) {
        scale = isfinite(gradient[i]) ? fmax(scale, fabs(gradient[i])) : scale;
    }
    double rounding = status == SAL_OK ? DBL_EPSILON * fabs(f) : 0;
    double least = fmax(KINK * scale, ROUNDINGS * rounding / h);
    *error = 0;
    for (int64_t i = 0; status == SAL_OK && i < N; i++) {
        slopes wide, narrow;
        if (!isfinite(gradient[i])) { /* towards a forbidden state; away from it f is +inf */
            continue;
        }
        status = find_slopes(exact, x, i, h, f, &wide, err);
        status = status ? status : find_slopes(exact, x, i, h / 2, f, &narrow, err);
        if (status == SAL_OK && isfinite(wide.right) && isfinite(wide.left)) {
            bool kink = is_kink(wide, narrow, least);
            counts->kinks += kink;
            counts->slopes += !is_present(exact->space, x, i);
            *error = fmax(*error, slope_error(wide, kink, gradient[i]));
        }
    }
    *error /= scale;
    return status;
}

/* Largest error of the first-order differences against the exact ones, relative to the largest;
 * changes that are not forbidden are counted. */
static double taylor_error(const sal_model *model, const int32_t *codes, const double *gradient,
                           const double *differences, int64_t *changes)
{
    const sal_space *space = sal_model_space(model);
    double error = 0, scale = 1e-12;
    for (int64_t v = 0; v < space->n_variables; v++) {
        const sali_variable *variable = &space->variables[v];
        for (int32_t k = 0; k < sali_entries(variable->states); k++) {
            int32_t code = sali_entry_code(variable->states, codes[v], k);
            double exact = *differences++;
            if (code == codes[v] || !sali_has_code(variable, code)) {
                continue;
            }
            double taylor = sali_first_order(SAL_F64, gradient, variable, codes[v], code);
            if (isfinite(exact)) {
                ++*changes;
                error = isfinite(taylor) ? fmax(error, fabs(taylor - exact)) : INFINITY;
                scale = fmax(scale, fabs(exact));
            }
        }
    }
    return error / scale;
}

/* Differences at one state by a strategy, as rows with one entry a state. */
static sal_status differences_by(const sal_model *model, sali_strategy strategy,
                                 const int32_t *codes, double *rows, sal_error *err)
{
    const sal_space *space = model->space;
    sali_evaluator *e = NULL;
    double *x = malloc((size_t)space->width * sizeof *x), f;
    double *slots = malloc((size_t)space->slots * sizeof *slots);
    sal_status status = x && slots ? SAL_OK : SAL_ERR_MEMORY;
    if (status == SAL_OK) {
        status = sali_evaluator_create_by(model, 1, SALI_WANT_DIFFERENCES, strategy, &e, err);
    }
    if (status == SAL_OK) {
        sali_model_embed(model, 1, codes, x);
        sali_differences(e, 1, codes, x, &f, slots);
        sali_spread_slots(model, 1, codes, slots, rows);
    }
    sali_evaluator_destroy(e);
    free(x);
    free(slots);
    return status;
}

/* Largest disagreement of any strategy that applies with `differences`, relative to the largest
 * difference. */
static sal_status strategies_error(const sal_model *model, const int32_t *codes,
                                   const double *differences, double *error, sal_error *err)
{
    int64_t R = model->space->n_states;
    double scale = 1e-12;
    double *rows = malloc((size_t)R * sizeof *rows);
    sal_status status = rows ? SAL_OK : SAL_ERR_MEMORY;
    *error = 0;
    for (int s = 0; status == SAL_OK && s < SALI_STRATEGIES; s++) {
        sali_strategy strategy = (sali_strategy)s;
        if (strategy == sali_strategy_best(model) || !sali_strategy_applies(model, strategy)) {
            continue;
        }
        status = differences_by(model, strategy, codes, rows, err);
        for (int64_t k = 0; status == SAL_OK && k < R; k++) {
            if (rows[k] != differences[k]) {
                *error = fmax(*error, fabs(rows[k] - differences[k]));
            }
            scale = isfinite(rows[k]) ? fmax(scale, fabs(rows[k])) : scale;
        }
    }
    *error /= scale;
    free(rows);
    return status;
}

/* Keep the larger errors, with those at one state: of the gradient against central differences of
 * `exact`, the same model in double, and against its exact differences. Single precision would lose
 * those of an f that is large beside them. */
static sal_status measure_errors(const sal_model *model, const sal_model *exact,
                                 const int32_t *codes, cli_derivatives *worst, sal_error *err)
{
    const sal_space *space = model->space;
    double f, error;
    double *x = malloc((size_t)space->width * sizeof *x);
    double *gradient = malloc((size_t)space->width * sizeof *gradient);
    double *differences = malloc((size_t)space->n_states * sizeof *differences);
    sal_status status = x && gradient && differences ? SAL_OK : SAL_ERR_MEMORY;
    status = status ? status : sal_space_embed(space, 1, codes, x, err);
    status = status ? status : sal_model_evaluate(model, 1, codes, &f, gradient, differences, err);
    status = status ? status : gradient_error(exact, x, gradient, &error, worst, err);
    if (status == SAL_OK) {
        worst->gradient = fmax(worst->gradient, error);
        status = strategies_error(model, codes, differences, &error, err);
    }
    if (status == SAL_OK) {
        worst->strategies = fmax(worst->strategies, error);
        status = sal_model_evaluate(exact, 1, codes, &f, NULL, differences, err);
    }
    if (status == SAL_OK) {
        worst->taylor =
            fmax(worst->taylor, taylor_error(model, codes, gradient, differences, &worst->changes));
    }
    free(x);
    free(gradient);
    free(differences);
    return status;
}

/* CLI_CHECKED_STATES random states, repaired as where sampling starts. */
static sal_status make_states(const sal_model *model, int64_t seed, sali_chains **out,
                              sal_error *err)
{
    sal_model *guide = NULL;
    sali_chains *chains = NULL;
    sal_status status = sali_chains_create(model, CLI_CHECKED_STATES, SALI_WANT_VALUE,
                                           (uint64_t)seed, &chains, err);
    if (status == SAL_OK && model->ops->feasibility) {
        status = model->ops->feasibility(model, &guide, err);
    }
    for (int64_t c = 0; status == SAL_OK && c < CLI_CHECKED_STATES; c++) {
        chains->id[c] = (uint32_t)c;
    }
    status = status ? status : sali_start(chains, NULL, guide, err);
    sal_model_destroy(guide);
    if (status != SAL_OK) {
        sali_chains_destroy(chains);
        return status;
    }
    *out = chains;
    return SAL_OK;
}

sal_status cli_measure_derivatives(const sal_model *model, const sal_model *exact, int64_t seed,
                                   cli_derivatives *out, sal_error *err)
{
    sali_chains *chains = NULL;
    *out = (cli_derivatives){ 0 };
    sal_status status = make_states(model, seed, &chains, err);
    for (int64_t c = 0; status == SAL_OK && c < CLI_CHECKED_STATES; c++) {
        const int32_t *codes = chains->codes + c * model->space->n_variables;
        status = measure_errors(model, exact, codes, out, err);
    }
    out->gradient = out->slopes > 0 ? out->gradient : NAN;
    out->taylor = out->changes > 0 ? out->taylor : NAN;
    sali_chains_destroy(chains);
    return status;
}
