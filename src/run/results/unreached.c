/* SPDX-License-Identifier: MIT */
/* States that f allows and that a run's sampler cannot reach: with forbidden states, blocks or
 * single variables may leave out parts of the space in which every variable still changes, which
 * neither R-hat nor ESS shows. With few states their number is exact: by the sampler's transition
 * matrix or, where a step moves one of known blocks to any state that f allows, by joining the
 * states that differ in one block only. */
#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/states.h"
#include "run/parts/record.h"
#include "run/results/results.h"

/* The most states for which a matrix is made, and for which f is evaluated: some tens of
 * milliseconds. */
#define MOST_IN_MATRIX 256
#define MOST_STATES 4096

/* Whether the blocks of the sampler are the same in every sweep, so that its transition matrix is:
 * blocks that are drawn at random join other states each time. */
static bool has_fixed_blocks(const sal_run *run)
{
    return sali_sampler_value(run->sampler, &run->settings, "blocks") == 0;
}

/* Set f [states] to f of all states, and *forbids if f is -inf at one of them. */
static sal_status evaluate_all(const sal_model *model, int64_t states, double *f, bool *forbids,
                               sal_error *err)
{
    const int64_t V = model->space->n_variables;
    int32_t *codes = SALI_NEW_ARRAY(int32_t, states * V);
    sal_status status = codes ? SAL_OK : sali_fail_memory(err);
    for (int64_t i = 0; status == SAL_OK && i < states; i++) {
        sali_states_at(model->space, i, codes + i * V);
    }
    status = status ? status : sal_model_evaluate(model, states, codes, f, NULL, NULL, err);
    *forbids = false;
    for (int64_t i = 0; status == SAL_OK && i < states; i++) {
        *forbids |= f[i] == -INFINITY;
    }
    sali_free(codes);
    return status;
}

/* ---- blocks */

/* The least state that state i has been joined with. Shortens the paths to it. */
static int64_t root_of(int64_t *parent, int64_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* Join allowed states that differ in one block only: its variables count by `stride` in the number
 * of a state, and have `count` joint states. first [states] is scratch. */
static void join_block(int64_t states, const double *f, int64_t stride, int64_t count,
                       int64_t *parent, int64_t *first)
{
    for (int64_t i = 0; i < states; i++) {
        first[i] = -1;
    }
    for (int64_t i = 0; i < states; i++) {
        const int64_t rest = i - i / stride % count * stride;
        if (f[i] == -INFINITY) {
            continue;
        }
        if (first[rest] < 0) {
            first[rest] = i;
        } else {
            const int64_t a = root_of(parent, first[rest]), b = root_of(parent, i);
            parent[a > b ? a : b] = a > b ? b : a;
        }
    }
}

sal_status sali_unreached_by_blocks(const sal_space *space, const double *f, int64_t size,
                                    int64_t *unreached, sal_error *err)
{
    const int64_t states = (int64_t)sali_states_count(space), V = space->n_variables;
    int64_t *parent = SALI_NEW_ARRAY(int64_t, states), *first = SALI_NEW_ARRAY(int64_t, states);
    if (!parent || !first) {
        sali_free(parent);
        sali_free(first);
        return sali_fail_memory(err);
    }
    int64_t best = 0, after = states; /* joint states of the variables from v on */
    for (int64_t i = 0; i < states; i++) {
        parent[i] = i;
        best = f[i] > f[best] ? i : best;
    }
    for (int64_t v = 0; v < V; v += size) {
        int64_t count = 1;
        for (int64_t u = v; u < V && u < v + size; u++) {
            count *= space->variables[u].states;
        }
        after /= count;
        join_block(states, f, after, count, parent, first);
    }
    *unreached = 0;
    for (int64_t i = 0; i < states; i++) {
        *unreached += f[i] > -INFINITY && root_of(parent, i) != root_of(parent, best);
    }
    sali_free(parent);
    sali_free(first);
    return SAL_OK;
}

/* ---- the matrix */

/* Set *unreached by the sampler's transition matrix; it stays if the sampler has none. There must
 * be few states. */
static sal_status count_by_matrix(const sal_run *run, int64_t *unreached, sal_error *err)
{
    char sampler[SALI_SAMPLER_TEXT];
    sali_run_sampler_text(run, sampler);
    const sal_run_options options = { .sampler = sampler,
                                      .step_size =
                                          run->sampler->has_step_size ? run->settings.step_size : 0,
                                      .draws = -1 };
    sal_balance balance;
    sal_status status = sal_sampler_balance(run->model, &options, &balance, NULL, err);
    if (status == SAL_OK) {
        *unreached = balance.unreached;
    }
    return status == SAL_ERR_MEMORY ? status : SAL_OK; /* others have no matrix */
}

sal_status sali_unreached_summarise(const sal_run *run, sal_run_summary *s, sal_error *err)
{
    const sal_space *space = run->model->space;
    s->unreached = -1;
    if (s->draws == 0 || s->annealed || run->inner || !run->sampler->engine || space->unbounded) {
        return SAL_OK;
    }
    const sal_sampler_engine *engine = run->sampler->engine;
    const int64_t size = engine->block_size ? engine->block_size(run->settings.values) : 0;
    const double states = sali_states_count(space);
    const bool few = states <= MOST_IN_MATRIX && has_fixed_blocks(run);
    if (!few && !(size > 0 && states <= MOST_STATES)) {
        return SAL_OK;
    }
    bool forbids = false;
    double *f = SALI_NEW_ARRAY(double, (int64_t)states);
    sal_status status =
        f ? evaluate_all(run->model, (int64_t)states, f, &forbids, err) : sali_fail_memory(err);
    if (status == SAL_OK && !forbids) { /* any state leads to any other */
        s->unreached = 0;
    } else if (status == SAL_OK && few) {
        status = count_by_matrix(run, &s->unreached, err);
    } else if (status == SAL_OK) {
        status = sali_unreached_by_blocks(space, f, size, &s->unreached, err);
    }
    sali_free(f);
    return status;
}
