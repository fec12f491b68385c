/* The sampler of a model when none is named. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "samplers/sampler.h"
#include "samplers/start.h"

/* Moves that are looked at, one a random state. */
#define MOVES 64
/* How far first-order differences may be off, relative to the largest exact one. */
#define MOST_ERROR 0.5

/* Random states, and as proposed ones the same but for one random variable. */
static void make_moves(sali_chains *chains, int64_t *site)
{
    const sal_space *space = chains->space;
    int64_t V = space->n_variables;
    for (int64_t c = 0; c < chains->n; c++) {
        sali_stream stream = { .chain = (uint32_t)c, .purpose = SALI_RNG_STATISTIC };
        sali_random_codes(space, &stream, chains->codes + c * V);
        memcpy(chains->codes_new + c * V, chains->codes + c * V, (size_t)V * sizeof *chains->codes);
        stream.step = 1;
        int64_t v = site[c] = (int64_t)sali_rng_below(&stream, 0, (uint32_t)V);
        int32_t states = space->variables[v].states, *code = &chains->codes_new[c * V + v];
        *code += 1 + (states > 2 ? (int32_t)sali_rng_below(&stream, 1, (uint32_t)states - 1) : 0);
        *code = states > 0 ? *code % states : *code;
    }
    sali_model_embed(chains->model, chains->n, chains->codes, chains->x);
    sali_model_embed(chains->model, chains->n, chains->codes_new, chains->x_new);
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

static sal_status measure(const sal_model *model, double *error, sal_error *err)
{
    int64_t site[MOVES];
    sali_chains *chains = NULL;
    sal_status status = sali_chains_create(model, MOVES, SALI_WANT_GRADIENT, 0, &chains, err);
    if (status == SAL_OK) {
        make_moves(chains, site);
        sali_chains_propose(chains, false);
        sali_chains_start(chains, true);
        *error = first_order_error(chains, site);
    }
    sali_chains_destroy(chains);
    return status;
}

sal_status sali_sampler_usual(const sal_model *model, const char **name, sal_error *err)
{
    double error = model->has_gradient ? 0 : INFINITY;
    sal_status status = SAL_OK;
    if (model->has_gradient && sali_strategy_best(model) != SALI_BY_GRADIENT) {
        status = measure(model, &error, err);
    }
    if (status == SAL_OK) {
        *name = error <= MOST_ERROR ? "gwg" : model->space->unbounded ? "lb" : "gibbs";
    }
    return status;
}
