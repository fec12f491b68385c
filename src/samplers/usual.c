/* SPDX-License-Identifier: MIT */
/* The sampler of a model when none is named. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/structure.h"
#include "samplers/settle.h"
#include "samplers/start.h"

/* Number of states where first-order differences are compared with exact ones, and of moves from
 * each. */
enum { STATES = 8, MOVES = 8, ROWS = STATES * MOVES };
/* The largest error accepted of first-order differences, relative to the largest exact difference.
 */
#define MOST_ERROR 0.5
/* Burn-in sweeps from random states, and the most steps where each step needs evaluations. Counts
 * without a cap move by one, and each of their steps evaluates moves of all variables, so they get
 * more sweeps but no more steps. */
enum { SWEEPS = 2, MOST_STEPS = 256, COUNT_SWEEPS = 32, COUNT_STEPS = 4096 };

/* A count without a cap after move number `move`: one up or, every second time, down. */
static int32_t moved_count(int32_t now, int64_t move)
{
    bool down = now > 0 && (move % 2 || now == SAL_COUNT_MOST);
    return down ? now - 1 : now + 1;
}

/* Fill MOVES rows for each state: the present state of a row is the state, the proposed one differs
 * in one random variable, whose index goes to site [ROWS]. */
static void make_moves(sali_chains *rows, const int32_t *states, int64_t *site)
{
    const sal_space *space = rows->space;
    int64_t V = space->n_variables;
    size_t bytes = (size_t)V * sizeof *states;
    for (int64_t c = 0; c < ROWS; c++) {
        memcpy(rows->codes + c * V, states + c / MOVES * V, bytes);
        memcpy(rows->codes_new + c * V, states + c / MOVES * V, bytes);
        sali_stream stream = { .chain = (uint32_t)c, .step = 1, .purpose = SALI_RNG_STATISTIC };
        int64_t v = site[c] = (int64_t)sali_rng_below(&stream, 0, (uint32_t)V);
        int32_t n = space->variables[v].states, *code = &rows->codes_new[c * V + v];
        if (n > 0) {
            *code += 1 + (n > 2 ? (int32_t)sali_rng_below(&stream, 1, (uint32_t)n - 1) : 0);
            *code %= n;
        } else {
            *code = moved_count(*code, c % MOVES);
        }
    }
    sali_chains_embed(rows);
    sali_model_embed(rows->model, ROWS, rows->codes_new, rows->x_new);
}

/* The largest error of first-order differences, relative to the largest exact one. */
static double first_order_error(const sali_chains *chains, const int64_t *site)
{
    double error = 0, scale = 0;
    for (int64_t c = 0; c < chains->n; c++) {
        int64_t V = chains->space->n_variables, at = c * V + site[c];
        double exact = chains->f_new[c] - chains->f[c];
        double taylor = sali_first_order(
            chains->model->dtype, sali_row(chains, chains->gradient, c, chains->space->width),
            &chains->space->variables[site[c]], chains->codes[at], chains->codes_new[at]);
        if (isfinite(exact)) {
            error = isfinite(taylor) ? fmax(error, fabs(taylor - exact)) : INFINITY;
            scale = fmax(scale, fabs(exact));
        }
    }
    return scale > 0 ? error / scale : 0;
}

/* first_order_error for random moves from `states` [STATES x V]. */
static double error_at(sali_chains *rows, const int32_t *states)
{
    int64_t site[ROWS];
    make_moves(rows, states, site);
    sali_chains_propose(rows, false);
    sali_chains_start(rows, true);
    return first_order_error(rows, site);
}

/* Number of burn-in sweeps for random states; 0 if no sampler can do them or they take too long. */
static int64_t sweeps_of(const sal_model *model)
{
    int64_t most = COUNT_STEPS / model->space->n_variables;
    if (model->space->unbounded) {
        return most < COUNT_SWEEPS ? most : COUNT_SWEEPS;
    }
    return sali_settles(model) ? SWEEPS : 0;
}

/* Burn in `states` [STATES x V]: they become states that resemble draws. */
static sal_status burn_in_states(const sal_model *model, int64_t sweeps, int32_t *states,
                                 sal_error *err)
{
    size_t bytes = (size_t)(STATES * model->space->n_variables) * sizeof *states;
    sali_settling settling = { 0 };
    sali_chains *chains = NULL;
    sal_status status = sali_settling_open(&settling, model, err);
    status = status ? status : sali_settling_chains(&settling, STATES, 0, &chains, err);
    if (status == SAL_OK) {
        memcpy(chains->codes, states, bytes);
        status = sali_settle(&settling, chains, sweeps, MOST_STEPS, 0, err);
    }
    if (status == SAL_OK) {
        memcpy(states, chains->codes, bytes);
    }
    sali_chains_destroy(chains);
    sali_settling_close(&settling);
    return status;
}

/* *error receives the largest relative error of first-order differences from random states, where
 * chains start, or from states after burn-in, whichever is larger. The second is skipped if the
 * first exceeds MOST_ERROR already or there is no burn-in. `states` [STATES x V] is scratch. */
static sal_status measure_error(sali_chains *rows, int32_t *states, double *error, sal_error *err)
{
    for (int64_t c = 0; c < STATES; c++) {
        sali_stream stream = { .chain = (uint32_t)c, .purpose = SALI_RNG_STATISTIC };
        sali_random_codes(rows->space, &stream, states + c * rows->space->n_variables);
    }
    *error = error_at(rows, states);
    int64_t sweeps = sweeps_of(rows->model);
    if (*error > MOST_ERROR || sweeps == 0) {
        return SAL_OK;
    }
    sal_status status = burn_in_states(rows->model, sweeps, states, err);
    *error = status == SAL_OK ? fmax(*error, error_at(rows, states)) : *error;
    return status;
}

/* *error receives the error of first-order differences, as `measure_error` defines it. */
static sal_status first_order(const sal_model *model, double *error, sal_error *err)
{
    int32_t *states = SALI_NEW_ARRAY(int32_t, STATES * model->space->n_variables);
    sali_chains *rows = NULL;
    sal_status status = states ? SAL_OK : sali_fail_memory(err);
    status = status ? status : sali_chains_create(model, ROWS, SALI_WANT_GRADIENT, 0, &rows, err);
    status = status ? status : measure_error(rows, states, error, err);
    sali_chains_destroy(rows);
    sali_free(states);
    return status;
}

/* With fixed sums or labels: exchanges by the gradient where its differences of single variables
 * are exact and all blocks are fixed, else exact conditionals of pairs. */
static const char *usual_of_fixed(const sal_model *model)
{
    return model->has_gradient && sali_strategy_best(model) == SALI_BY_GRADIENT &&
                   sali_sampler_serves(sali_sampler_find("exchange"), model)
               ? "exchange"
               : "pair-gibbs";
}

sal_status sali_sampler_usual(const sal_model *model, bool pieces, const char **name,
                              sal_error *err)
{
    if (model->space->fixed) {
        *name = usual_of_fixed(model);
        return SAL_OK;
    }
    if (pieces && sali_structure_is_whole(model)) {
        *name = "block-gibbs";
        return SAL_OK;
    }
    double error = model->has_gradient ? 0 : INFINITY;
    sal_status status = SAL_OK;
    if (model->has_gradient && sali_strategy_best(model) != SALI_BY_GRADIENT) {
        status = first_order(model, &error, err);
    }
    if (status == SAL_OK) {
        *name = error <= MOST_ERROR ? "gwg" : model->space->unbounded ? "lb" : "gibbs";
    }
    return status;
}
