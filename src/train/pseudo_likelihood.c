/* SPDX-License-Identifier: MIT */
#include "train/pseudo_likelihood.h"

#include <math.h>
#include <string.h>

#include "ad/workspace.h"
#include "core/memory.h"
#include "core/error.h"
#include "models/make/multilinear.h"
#include "models/tape_model.h"

/* Neighbours evaluated at a time. */
enum { NEIGHBOURS = 64 };

/* Points where g = df/dtheta is wanted, with their weights. */
typedef struct points {
    int64_t n, room;
    int32_t *codes; /* [room x V] */
    void *x;        /* real [room x N] */
    double *weight;
} points;

typedef struct pl_shard {
    sali_evaluator *evaluator;
    void *x, *slots; /* real [rows x N], [rows x S] */
    double *f;       /* [rows] */
    double *p;       /* [entries of all variables] of one row */
    double *delta;   /* [N] of one row */
    points points;
} pl_shard;

struct sali_pseudo_likelihood {
    sali_memory memory; /* of the arrays */
    sal_model *model;
    sal_model *form;        /* what is evaluated: the model itself, or its multilinear form */
    const sal_space *space; /* of both */
    sal_dtype dtype;
    bool quadratic;
    double *values; /* [parameters] scratch, to copy them to a form with its own */
    uint64_t version;
    int64_t n_shards;
    pl_shard *shards;
    sali_workspace **workspaces; /* [n_shards] gather g */
};

/* ---- creation */

static void allocate_points(sali_pseudo_likelihood *pl, int64_t room, points *to)
{
    to->room = room;
    to->codes = SALI_TAKE(&pl->memory, int32_t, room * pl->space->n_variables);
    to->x = sali_memory_take(&pl->memory, room * pl->space->width, sali_dtype_size(pl->dtype));
    to->weight = SALI_TAKE(&pl->memory, double, room);
}

/* Make the evaluator, the workspace and the room of shard k for `rows` rows. */
static sal_status create_shard(sali_pseudo_likelihood *pl, int64_t k, int64_t rows, sal_error *err)
{
    pl_shard *shard = &pl->shards[k];
    const sali_tape_model *tape = sali_model_tape(pl->form);
    size_t element = sali_dtype_size(pl->dtype);
    const unsigned wants = SALI_WANT_PARAM_GRADIENT | (k == 0 ? 0 : SALI_WANT_PARAM_PART);
    shard->x = sali_memory_take(&pl->memory, rows * pl->space->width, element);
    shard->slots = sali_memory_take(&pl->memory, rows * pl->space->slots, element);
    shard->f = SALI_TAKE(&pl->memory, double, rows);
    shard->p = SALI_TAKE(&pl->memory, double, pl->space->n_states);
    shard->delta = SALI_TAKE(&pl->memory, double, pl->space->width);
    allocate_points(pl, pl->quadratic ? 2 * rows : NEIGHBOURS, &shard->points);
    sal_status status = sali_memory_status(&pl->memory, err);
    status = status ? status
                    : sali_evaluator_create(pl->form, rows, SALI_WANT_DIFFERENCES,
                                            &shard->evaluator, err);
    return status ? status
                  : sali_workspace_create(tape->program, tape->params, shard->points.room, wants,
                                          &pl->workspaces[k], err);
}

sal_status sali_pseudo_likelihood_create(sal_model *model, bool by_neighbours, int64_t shards,
                                         int64_t first, int64_t end, int64_t rows,
                                         sali_pseudo_likelihood **out, sal_error *err)
{
    if (model->space->unbounded) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED,
                         "pseudo-likelihood: %s has counts without a cap, whose conditionals are "
                         "infinite sums; give them a cap",
                         model->name);
    }
    sali_pseudo_likelihood *pl = SALI_NEW(sali_pseudo_likelihood);
    if (!pl) {
        return sali_fail_memory(err);
    }
    pl->model = model;
    pl->space = model->space;
    pl->dtype = model->dtype;
    pl->n_shards = shards;
    pl->shards = SALI_TAKE(&pl->memory, pl_shard, shards);
    pl->workspaces = SALI_TAKE(&pl->memory, sali_workspace *, shards);
    pl->values = SALI_TAKE(&pl->memory, double, sal_model_parameters_size(model));
    sal_status status = sali_memory_status(&pl->memory, err);
    if (status == SAL_OK && !by_neighbours) {
        status = sali_multilinear_form(model, &pl->form, err);
        pl->quadratic = pl->form != NULL;
    }
    pl->form = pl->form ? pl->form : sali_model_hold(model);
    for (int64_t k = first; status == SAL_OK && k < end; k++) {
        status = create_shard(pl, k, rows, err);
    }
    if (status == SAL_OK) {
        pl->version = sali_model_version(model) - 1;
        sali_pseudo_likelihood_refresh(pl);
    }
    return SALI_GIVE(status, pl, out, sali_pseudo_likelihood_destroy);
}

void sali_pseudo_likelihood_destroy(sali_pseudo_likelihood *pl)
{
    if (!pl) {
        return;
    }
    for (int64_t k = 0; pl->shards && k < pl->n_shards; k++) {
        sali_evaluator_destroy(pl->shards[k].evaluator);
    }
    for (int64_t k = 0; pl->workspaces && k < pl->n_shards; k++) {
        sali_workspace_destroy(pl->workspaces[k]);
    }
    sal_model_destroy(pl->form);
    sali_memory_free(&pl->memory);
    sali_free(pl);
}

bool sali_pseudo_likelihood_is_quadratic(const sali_pseudo_likelihood *pl)
{
    return pl->quadratic;
}

void sali_pseudo_likelihood_refresh(sali_pseudo_likelihood *pl)
{
    uint64_t version = sali_model_version(pl->model);
    if (pl->form != pl->model && pl->version != version) {
        sali_params_get(sali_model_tape(pl->model)->params, pl->values);
        sali_params_set(sali_model_tape(pl->form)->params, pl->values);
    }
    pl->version = version;
}

/* ---- conditionals of one row */

/* Turn differences of one variable into probabilities, in place. Returns the log of the sum of exp
 * of the differences, one of which is 0. */
static double normalise_variable(int32_t states, double *entries)
{
    double most = 0, sum = 0;
    for (int32_t k = 0; k < states; k++) {
        most = fmax(most, entries[k]);
    }
    for (int32_t k = 0; k < states; k++) {
        entries[k] = exp(entries[k] - most);
        sum += entries[k];
    }
    for (int32_t k = 0; k < states; k++) {
        entries[k] /= sum;
    }
    return most + log(sum);
}

/* Turn the differences f(s_i = v) - f(s) of one state, all entries of all variables
 * (sali_spread_slots; differences -inf or finite), into p(s_i = v | s_-i) in place. Returns
 * sum_i log p(s_i | s_-i). */
static double set_conditionals(const sal_space *space, double *entries)
{
    double log_pl = 0;
    for (int64_t v = 0; v < space->n_variables; v++) {
        int32_t states = space->variables[v].states;
        log_pl -= normalise_variable(states, entries);
        entries += states;
    }
    return log_pl;
}

static double mean_level(const sali_variable *v, const double *p)
{
    double mean = 0;
    for (int32_t k = 0; k < v->states; k++) {
        mean += p[k] * sali_level(v, k);
    }
    return mean;
}

/* Set delta [N], in the embedding, to the conditional means p minus the state. */
static void conditional_shift(const sal_space *space, const int32_t *codes, const double *p,
                              double *delta)
{
    for (int64_t i = 0; i < space->n_variables; i++) {
        const sali_variable *v = &space->variables[i];
        double *to = delta + v->offset;
        if (v->kind == SAL_CATEGORICAL) {
            for (int32_t k = 0; k < v->states; k++) {
                to[k] = p[k] - (k == codes[i]);
            }
        } else {
            to[0] = mean_level(v, p) - sali_level(v, codes[i]);
        }
        p += v->states;
    }
}

/* ---- the gradient by two points a row */

/* Add the points x - delta / 2 and x + delta / 2 of row r, with weights of opposite signs. */
static void add_shifted(const sali_pseudo_likelihood *pl, pl_shard *shard, int64_t r, double weight)
{
    points *to = &shard->points;
    int64_t N = pl->space->width;
    for (int64_t j = 0; j < N; j++) {
        double x = sali_load(pl->dtype, shard->x, r * N + j), half = shard->delta[j] / 2;
        sali_store(pl->dtype, to->x, to->n * N + j, x - half);
        sali_store(pl->dtype, to->x, (to->n + 1) * N + j, x + half);
    }
    to->weight[to->n++] = weight;
    to->weight[to->n++] = -weight;
}

/* ---- the gradient by neighbours */

static void flush_points(points *to, sali_workspace *ws, bool on_lattice)
{
    if (to->n > 0) {
        sali_workspace_param_gradient(ws, to->n, on_lattice ? to->codes : NULL, to->x, to->weight,
                                      NULL);
        to->n = 0;
    }
}

/* Add row r with variable v changed to `code` to the points of shard k; gather the gradient if they
 * are full. */
static void add_neighbour(const sali_pseudo_likelihood *pl, int64_t k, const int32_t *codes,
                          int64_t r, int64_t v, int32_t code, double weight)
{
    pl_shard *shard = &pl->shards[k];
    points *to = &shard->points;
    int64_t V = pl->space->n_variables;
    size_t row = (size_t)pl->space->width * sali_dtype_size(pl->dtype);
    char *x = (char *)to->x + (size_t)to->n * row;
    memcpy(to->codes + to->n * V, codes + r * V, (size_t)V * sizeof *codes);
    memcpy(x, (const char *)shard->x + (size_t)r * row, row);
    to->codes[to->n * V + v] = code;
    sali_model_embed_one(pl->form, v, code, x);
    to->weight[to->n++] = weight;
    if (to->n == to->room) {
        flush_points(to, pl->workspaces[k], true);
    }
}

/* Add row r itself, and all its neighbours of positive probability. */
static void add_neighbours(const sali_pseudo_likelihood *pl, int64_t k, const int32_t *codes,
                           int64_t r, double weight)
{
    const int32_t *row = codes + r * pl->space->n_variables;
    const double *p = pl->shards[k].p;
    double left = 0;
    for (int64_t v = 0; v < pl->space->n_variables; v++) {
        int32_t states = pl->space->variables[v].states;
        for (int32_t code = 0; code < states; code++) {
            if (code != row[v] && p[code] != 0) {
                left += p[code];
                add_neighbour(pl, k, codes, r, v, code, -weight * p[code]);
            }
        }
        p += states;
    }
    add_neighbour(pl, k, codes, r, 0, row[0], weight * left);
}

/* ---- the sum */

void sali_pseudo_likelihood_zero(sali_pseudo_likelihood *pl, int64_t k)
{
    sali_workspace_param_zero(pl->workspaces[k]);
}

double sali_pseudo_likelihood_add(sali_pseudo_likelihood *pl, int64_t k, int64_t rows,
                                  const int32_t *codes, double weight)
{
    pl_shard *shard = &pl->shards[k];
    int64_t V = pl->space->n_variables, S = pl->space->slots;
    size_t element = sali_dtype_size(pl->dtype);
    double sum = 0;
    sali_model_embed(pl->form, rows, codes, shard->x);
    sali_differences(shard->evaluator, rows, codes, shard->x, shard->f, shard->slots);
    for (int64_t r = 0; r < rows; r++) {
        if (shard->f[r] == -INFINITY) {
            sum = -INFINITY;
            continue;
        }
        const char *slots = (const char *)shard->slots + (size_t)(r * S) * element;
        sali_spread_slots(pl->form, 1, codes + r * V, slots, shard->p);
        sum += set_conditionals(pl->space, shard->p);
        if (pl->quadratic) {
            conditional_shift(pl->space, codes + r * V, shard->p, shard->delta);
            add_shifted(pl, shard, r, weight);
        } else {
            add_neighbours(pl, k, codes, r, weight);
        }
    }
    flush_points(&shard->points, pl->workspaces[k], !pl->quadratic);
    return sum;
}

void sali_pseudo_likelihood_reduce(sali_pseudo_likelihood *pl, double *flat)
{
    sali_workspace_param_reduce(pl->workspaces, pl->n_shards, 1, flat);
}

struct sali_workspace *const *sali_pseudo_likelihood_workspaces(const sali_pseudo_likelihood *pl)
{
    return pl->workspaces;
}
