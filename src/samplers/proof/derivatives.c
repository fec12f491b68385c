/* SPDX-License-Identifier: MIT */
/* How well a model's gradient and differences agree with differences of f, at random states. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/make/tape_copy.h"
#include "models/tape_model.h"
#include "samplers/sampler.h"
#include "samplers/start.h"

#define STATES 4

/* At a kink, one-sided slopes differ by more than KINK times the gradient's largest entry and by
 * more than ROUNDINGS roundings of f cause, and at half the distance they differ by no less. */
#define KINK 1e-3
#define ROUNDINGS 32

/* How f changes about x in one coordinate. */
typedef struct slopes {
    double right, left;
} slopes;

/* *f = f at x [N]; NaN where f is NaN or +inf, as it may be between the model's states. */
static sal_status find_value(const sal_model *model, const double *x, double *f, sal_error *err)
{
    double value = NAN;
    sal_status status = sal_model_evaluate_at(model, 1, x, &value, NULL, err);
    *f = status == SAL_OK ? value : NAN;
    return status == SAL_ERR_MODEL ? SAL_OK : status;
}

/* (f(x + h) - f(x)) / h and (f(x) - f(x - h)) / h in coordinate i; x is put back. */
static sal_status find_slopes(const sal_model *model, double *x, int64_t i, double h, double f,
                              slopes *s, sal_error *err)
{
    double here = x[i], up, down;
    x[i] = here + h;
    sal_status status = find_value(model, x, &up, err);
    x[i] = here - h;
    status = status ? status : find_value(model, x, &down, err);
    x[i] = here;
    if (status == SAL_OK) {
        *s = (slopes){ (up - f) / h, (f - down) / h };
    }
    return status;
}

/* Whether f has a kink, from its slopes at a `wide` and a `narrow` step: the one-sided slopes of a
 * smooth f approach each other as the step falls. Gaps of up to `least` do not count. */
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

/* Whether coordinate i belongs to the present state of a one-hot variable: no change of state
 * depends on this coordinate alone. */
static bool is_present(const sal_space *space, const double *x, int64_t i)
{
    return space->variables[sali_space_owner(space, i)].kind == SAL_CATEGORICAL && x[i] == 1;
}

/* The limit of one-sided slopes at h, h / 2 and h / 4, whose errors fall as a power of h (Aitken's
 * extrapolation); the last slope if the slopes differ by no more than `rounding`. */
static double limit_of_slopes(const double slope[3], double rounding)
{
    double first = slope[1] - slope[0], second = slope[2] - slope[1];
    bool converges = fabs(second) > rounding && second / first > 0 && second / first < 0.95;
    return converges ? slope[2] - second * second / (second - first) : slope[2];
}

/* A gradient that is compared at x [N], a state of `model` with f there. */
typedef struct comparison {
    const sal_model *model;
    double *x;
    const int32_t *codes;
    const double *gradient;
    double f;
    double scale;    /* the largest entry of the gradient */
    double rounding; /* of f in double */
    sal_model_checks *counts;
    double error; /* the largest so far, absolute */
} comparison;

/* The step of differences. */
#define STEP 1e-5

/* SAL_ERR_MODEL that says `what` of entry i of the gradient, with coordinate and state. */
static sal_status refuse_entry(const comparison *c, int64_t i, const char *what, sal_error *err)
{
    char state[128] = "";
    const int64_t V = c->model->space->n_variables;
    for (int64_t v = 0; v < V; v++) {
        size_t used = strlen(state);
        if (used > sizeof state - 20) {
            strcat(state, " ..");
            break;
        }
        snprintf(state + used, sizeof state - used, " %d", c->codes[v]);
    }
    return sali_fail(err, SAL_ERR_MODEL, "%s: in coordinate %lld at state%s, %s", c->model->name,
                     (long long)i, state, what);
}

/* Compare entry i where f is finite on one side of x: to the right, or to the left. */
static sal_status compare_one_sided(comparison *c, int64_t i, bool right, sal_error *err)
{
    double slope[3];
    sal_status status = SAL_OK;
    for (int k = 0; status == SAL_OK && k < 3; k++) {
        slopes s;
        status = find_slopes(c->model, c->x, i, ldexp(STEP, -k), c->f, &s, err);
        slope[k] = status ? 0 : right ? s.right : s.left;
    }
    if (status == SAL_OK) {
        double off = limit_of_slopes(slope, ROUNDINGS * c->rounding / STEP) - c->gradient[i];
        c->error = isnan(off) ? INFINITY : fmax(c->error, fabs(off));
    }
    return status;
}

/* Compare entry i where f is finite on both sides of x. */
static sal_status compare_central(comparison *c, int64_t i, slopes wide, sal_error *err)
{
    slopes narrow;
    sal_status status = find_slopes(c->model, c->x, i, STEP / 2, c->f, &narrow, err);
    if (status == SAL_OK) {
        double least = fmax(KINK * c->scale, ROUNDINGS * c->rounding / STEP);
        bool kink = is_kink(wide, narrow, least);
        c->counts->kinks += kink;
        c->error = fmax(c->error, slope_error(wide, kink, c->gradient[i]));
    }
    return status;
}

/* Compare entry i of the gradient with slopes of f, and count it. Forbidden states on both sides
 * leave nothing to compare. */
static sal_status compare_entry(comparison *c, int64_t i, sal_error *err)
{
    slopes wide;
    const double g = c->gradient[i];
    if (isnan(g)) {
        return refuse_entry(c, i, "the gradient is NaN", err);
    }
    sal_status status = find_slopes(c->model, c->x, i, STEP, c->f, &wide, err);
    if (status != SAL_OK) {
        return status;
    }
    bool right = isfinite(wide.right), left = isfinite(wide.left);
    if (isinf(g)) { /* towards a forbidden state, where f away from it is +inf; or at the end of
                     * the domain, with f finite on one side, where no difference tells */
        c->counts->skipped += right != left && !is_present(c->model->space, c->x, i);
        return right && left
                   ? refuse_entry(c, i, "the gradient is infinite, f finite on both sides", err)
                   : SAL_OK;
    }
    if (isnan(wide.right) && isnan(wide.left)) {
        return refuse_entry(c, i, "f is NaN or +inf on both sides", err);
    }
    c->counts->slopes += (right || left) && !is_present(c->model->space, c->x, i);
    return right && left   ? compare_central(c, i, wide, err)
           : right || left ? compare_one_sided(c, i, right, err)
                           : SAL_OK;
}

/* Largest error of gradient [N] against differences of f at x [N], the state of `codes`, relative
 * to the largest entry; slopes that are compared and coordinates with a kink are counted. */
static sal_status gradient_error(const sal_model *model, double *x, const int32_t *codes,
                                 const double *gradient, double *error, sal_model_checks *counts,
                                 sal_error *err)
{
    int64_t N = model->space->width;
    comparison c = { .model = model,
                     .x = x,
                     .codes = codes,
                     .gradient = gradient,
                     .scale = 1e-12,
                     .counts = counts };
    sal_status status = sal_model_evaluate_at(model, 1, x, &c.f, NULL, err);
    for (int64_t i = 0; i < N; i++) {
        c.scale = isfinite(gradient[i]) ? fmax(c.scale, fabs(gradient[i])) : c.scale;
    }
    c.rounding = status == SAL_OK ? DBL_EPSILON * fabs(c.f) : 0;
    for (int64_t i = 0; status == SAL_OK && i < N; i++) {
        status = compare_entry(&c, i, err);
    }
    *error = c.error / c.scale;
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
    double *x = SALI_NEW_ARRAY(double, space->width), f;
    double *slots = SALI_NEW_ARRAY(double, space->slots);
    sal_status status = x && slots ? SAL_OK : sali_fail_memory(err);
    if (status == SAL_OK) {
        status = sali_evaluator_create_by(model, 1, SALI_WANT_DIFFERENCES, strategy, &e, err);
    }
    if (status == SAL_OK) {
        sali_model_embed(model, 1, codes, x);
        sali_differences(e, 1, codes, x, &f, slots);
        sali_spread_slots(model, 1, codes, slots, rows);
    }
    sali_evaluator_destroy(e);
    sali_free(x);
    sali_free(slots);
    return status;
}

/* Whether a strategy is an alternative to the one in use. */
static bool is_other(const sal_model *model, sali_strategy strategy)
{
    return strategy != sali_strategy_best(model) && sali_strategy_applies(model, strategy);
}

/* Largest disagreement of any other strategy with `differences`, relative to the largest
 * difference. */
static sal_status strategies_error(const sal_model *model, const int32_t *codes,
                                   const double *differences, double *error, sal_error *err)
{
    int64_t R = model->space->n_states;
    double scale = 1e-12;
    double *rows = SALI_NEW_ARRAY(double, R);
    sal_status status = rows ? SAL_OK : sali_fail_memory(err);
    *error = 0;
    for (int s = 0; status == SAL_OK && s < SALI_STRATEGIES; s++) {
        if (!is_other(model, (sali_strategy)s)) {
            continue;
        }
        status = differences_by(model, (sali_strategy)s, codes, rows, err);
        for (int64_t k = 0; status == SAL_OK && k < R; k++) {
            if (rows[k] != differences[k]) {
                const double off = fabs(rows[k] - differences[k]);
                *error = isnan(off) ? INFINITY : fmax(*error, off);
            }
            scale = isfinite(rows[k]) ? fmax(scale, fabs(rows[k])) : scale;
        }
    }
    *error /= scale;
    sali_free(rows);
    return status;
}

/* Update the largest errors in *worst by the errors at one state: of the gradient against
 * differences of f beside the state, of first-order differences against exact ones, and of other
 * strategies. */
static sal_status measure_errors(const sal_model *model, const int32_t *codes,
                                 sal_model_checks *worst, sal_error *err)
{
    const sal_space *space = model->space;
    double f, error;
    double *x = SALI_NEW_ARRAY(double, space->width);
    double *gradient = SALI_NEW_ARRAY(double, space->width);
    double *differences = SALI_NEW_ARRAY(double, space->n_states);
    sal_status status = x && gradient && differences ? SAL_OK : sali_fail_memory(err);
    status = status ? status : sal_space_embed(space, 1, codes, x, err);
    status = status ? status : sal_model_evaluate(model, 1, codes, &f, gradient, differences, err);
    status = status ? status : gradient_error(model, x, codes, gradient, &error, worst, err);
    if (status == SAL_OK) {
        worst->gradient_error = fmax(worst->gradient_error, error);
        status = strategies_error(model, codes, differences, &error, err);
    }
    if (status == SAL_OK) {
        worst->against_error = fmax(worst->against_error, error);
        error = taylor_error(model, codes, gradient, differences, &worst->changes);
        worst->first_order_error = fmax(worst->first_order_error, error);
    }
    sali_free(x);
    sali_free(gradient);
    sali_free(differences);
    return status;
}

/* Create chains at STATES random states, repaired like starting states of a run. */
static sal_status make_states(const sal_model *model, uint64_t seed, sali_chains **out,
                              sal_error *err)
{
    sal_model *guide = NULL;
    sali_chains *chains = NULL;
    sal_status status = sali_chains_create(model, STATES, SALI_WANT_VALUE, seed, &chains, err);
    if (status == SAL_OK && model->ops->feasibility) {
        status = model->ops->feasibility(model, &guide, err);
    }
    for (int64_t c = 0; status == SAL_OK && c < STATES; c++) {
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

/* Check a model in double precision at STATES states. On entry *checks has the names of the model's
 * methods; on success it has all results. */
static sal_status check_model(const sal_model *model, uint64_t seed, sal_model_checks *checks,
                              sal_error *err)
{
    sali_chains *chains = NULL;
    sal_model_checks c = *checks;
    sal_status status = make_states(model, seed, &chains, err);
    for (int64_t k = 0; status == SAL_OK && k < STATES; k++) {
        status = measure_errors(model, chains->codes + k * model->space->n_variables, &c, err);
    }
    c.gradient_error = c.slopes > 0 ? c.gradient_error : NAN;
    c.first_order_error = c.changes > 0 ? c.first_order_error : NAN;
    sali_chains_destroy(chains);
    if (status == SAL_OK) {
        *checks = c;
    }
    return status;
}

sal_status sal_model_check(const sal_model *model, const sal_model *exact, uint64_t seed,
                           sal_model_checks *checks, sal_error *err)
{
    if (!model || !checks) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "check: model or checks is NULL");
    }
    sal_model *made = NULL;
    sal_model_checks c = { .states = STATES,
                           .differences = sali_strategy_name(sali_strategy_best(model)) };
    for (int s = 0, n = 0; s < SALI_STRATEGIES; s++) {
        if (is_other(model, (sali_strategy)s)) {
            c.against[n++] = sali_strategy_name((sali_strategy)s);
        }
    }
    *checks = c;
    model = exact ? exact : model;
    sal_status status = sali_tape_model_bare(model, &made, err);
    status = status ? status : check_model(made ? made : model, seed, checks, err);
    sal_model_destroy(made);
    return status;
}
