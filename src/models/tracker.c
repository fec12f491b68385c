/* SPDX-License-Identifier: MIT */
#include "models/tracker.h"

#include <math.h>

#include "ad/changes.h"
#include "ad/workspace.h"
#include "core/alloc.h"
#include "core/error.h"
#include "models/clamp.h"
#include "models/tape_model.h"

struct sali_tracker {
    const sal_model *model;
    sali_changes *changes; /* follows the whole tape, clamped variables included */
    const sal_space *whole;
    int64_t *site_of; /* [V] the tape's index of each variable of the model */
    int64_t *sites;   /* [V] scratch: the tape's indices of the variables of a try */
    int32_t *full;    /* [chains x V of the tape] */
    bool by_gradient;
};

/* Whether node i is an op, such as a matrix product or a convolution, in which one changed element
 * of the input changes many elements of the output. */
static bool is_product(const sali_program *program, int32_t i)
{
    sali_op_reach reach = program->steps[i].op->reach;
    return reach == SALI_REACHES_MANY ||
           (reach == SALI_REACHES_MANY_UNPLANNED && !program->steps[i].plan);
}

/* Whether a move of one variable changes many elements of node i; `dense` has the answers for
 * earlier nodes. A product of a dense node is recomputed whole, and then tracking does not pay. */
static bool becomes_dense(const sali_program *program, int32_t i, const bool *dense)
{
    const sali_node *node = &program->nodes[i];
    bool any = is_product(program, i);
    for (int32_t k = 0; k < node->n_in; k++) {
        any |= dense[node->in[k]];
    }
    return any && program->steps[i].size > 1;
}

sal_status sali_tracker_judge(const sali_program *program, bool *pays, sal_error *err)
{
    bool *dense = SALI_NEW_ARRAY(bool, program->n_nodes);
    if (!dense) {
        return sali_fail_memory(err);
    }
    *pays = program->state >= 0;
    for (int32_t i = 0; *pays && i < program->n_nodes; i++) {
        const sali_node *node = &program->nodes[i];
        const sali_op *op = program->steps[i].op;
        for (int32_t k = 0; k < node->n_in; k++) {
            *pays &= !(is_product(program, i) && dense[node->in[k]]);
        }
        *pays &= !node->varying || node->n_in == 0 || op->alias || op->change;
        dense[i] = becomes_dense(program, i, dense);
    }
    sali_free(dense);
    return SAL_OK;
}

void sali_tracker_destroy(void *tracker)
{
    sali_tracker *t = tracker;
    if (!t) {
        return;
    }
    sali_changes_destroy(t->changes);
    sali_free(t->site_of);
    sali_free(t->sites);
    sali_free(t->full);
    sali_free(t);
}

/* A tracker for up to `chains` chains. With SALI_WANT_GRADIENT in `wants`, differences are read
 * from the gradient if the gradient can be followed locally. SALI_WANT_NO_LIMITS is obeyed. */
static sal_status create(const sal_model *model, int64_t chains, unsigned wants, sali_tracker **out,
                         sal_error *err)
{
    const bool gradient = (wants & SALI_WANT_GRADIENT) != 0;
    const unsigned tape_wants = (gradient ? SALI_WANT_STATE_GRADIENT : 0) |
                                ((wants & SALI_WANT_NO_LIMITS) ? SALI_WANT_UNLIMITED : 0);
    const sali_tape_model *tape = sali_model_tape(model);
    sali_tracker *t = SALI_NEW(sali_tracker);
    if (!t) {
        return sali_fail_memory(err);
    }
    t->model = model;
    t->whole = tape->program->space;
    t->site_of = SALI_NEW_ARRAY(int64_t, model->space->n_variables);
    t->sites = SALI_NEW_ARRAY(int64_t, model->space->n_variables);
    t->full = SALI_NEW_ARRAY(int32_t, chains * t->whole->n_variables);
    sal_status status =
        t->site_of && t->sites && t->full
            ? sali_changes_create(tape->program, tape->params, chains, tape_wants, &t->changes, err)
            : sali_fail_memory(err);
    if (status != SAL_OK) {
        sali_tracker_destroy(t);
        return status;
    }
    t->by_gradient = gradient && sali_changes_has_local_gradient(t->changes);
    sali_clamp_variables(model, t->site_of);
    *out = t;
    return SAL_OK;
}

sal_status sali_tracker_create(const sal_model *model, int64_t chains, unsigned wants,
                               sali_tracker **out, sal_error *err)
{
    wants = (wants & SALI_WANT_NO_LIMITS) | (model->multilinear ? SALI_WANT_GRADIENT : 0);
    return create(model, chains, wants, out, err);
}

sal_status sali_tracker_create_values(const sal_model *model, int64_t chains, sali_tracker **out,
                                      sal_error *err)
{
    return create(model, chains, SALI_WANT_VALUE, out, err);
}

void sali_tracker_start(sali_tracker *t, int64_t n, const int32_t *codes, double *f)
{
    sali_clamp_expand(t->model, n, codes, t->full);
    sali_changes_start(t->changes, n, t->full);
    for (int64_t c = 0; f && c < n; c++) {
        f[c] = sali_changes_value(t->changes, c);
    }
}

double sali_tracker_difference(sali_tracker *t, int64_t c, int64_t site, int32_t code)
{
    int64_t i = t->site_of[site];
    const sali_variable *v = &t->whole->variables[i];
    if (!sali_has_code(v, code)) {
        return -INFINITY;
    }
    if (t->by_gradient) { /* f is multilinear (Newton eq. 11) */
        return sali_first_order(t->model->dtype, sali_changes_gradient(t->changes, c), v,
                                sali_changes_codes(t->changes, c)[i], code);
    }
    double f = sali_changes_value(t->changes, c);
    double delta = sali_changes_try(t->changes, c, 1, &i, &code) - f;
    sali_changes_undo(t->changes, c);
    return delta;
}

void sali_tracker_differences(sali_tracker *t, int64_t c, int64_t site, double *delta)
{
    int64_t i = t->site_of[site];
    int32_t now = sali_changes_codes(t->changes, c)[i];
    int32_t states = t->whole->variables[i].states;
    for (int32_t k = 0; k < sali_entries(states); k++) {
        int32_t code = sali_entry_code(states, now, k);
        delta[k] = code == now ? 0 : sali_tracker_difference(t, c, site, code);
    }
}

double sali_tracker_move(sali_tracker *t, int64_t c, int64_t site, int32_t code)
{
    double f = sali_changes_try(t->changes, c, 1, &t->site_of[site], &code);
    sali_changes_keep(t->changes, c);
    return f;
}

double sali_tracker_try(sali_tracker *t, int64_t c, int64_t n, const int64_t *sites,
                        const int32_t *codes, bool keep)
{
    for (int64_t k = 0; k < n; k++) {
        t->sites[k] = t->site_of[sites[k]];
    }
    double f = sali_changes_try(t->changes, c, n, t->sites, codes);
    if (keep) {
        sali_changes_keep(t->changes, c);
    } else {
        sali_changes_undo(t->changes, c);
    }
    return f;
}
