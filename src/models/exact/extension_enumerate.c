/* SPDX-License-Identifier: MIT */
/* The extension as the sum over all states, Newton paper eq. 11 and supplement eq. 6. */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/error.h"
#include "models/exact/extension.h"
#include "models/states.h"

typedef struct walk {
    sali_memory memory;
    sali_extension *ext;
    sali_evaluator *e;
    int64_t n;      /* states in the batch */
    int32_t *codes; /* [rows x V] */
    int32_t *state; /* [V] the current state */
    void *x;        /* real [rows x N] */
    double *f;      /* [rows] */
    double *p,
        *before; /* [V], [V + 1]: probabilities of a state's variables, products of the first */
} walk;

/* Allocate *w, at the first state; on failure *w is still to be freed. */
static sal_status walk_create(sali_extension *ext, walk *w, sal_error *err)
{
    const sal_space *space = ext->model->space;
    enum { ROWS = SALI_EXTENSION_ROWS };
    w->ext = ext;
    w->codes = SALI_TAKE(&w->memory, int32_t, ROWS * space->n_variables);
    w->state = SALI_TAKE(&w->memory, int32_t, space->n_variables);
    w->x = SALI_TAKE(&w->memory, double, ROWS * space->width);
    w->f = SALI_TAKE(&w->memory, double, ROWS);
    w->p = SALI_TAKE(&w->memory, double, space->n_variables);
    w->before = SALI_TAKE(&w->memory, double, space->n_variables + 1);
    return w->memory.refused ? sali_fail_memory(err)
                             : sali_evaluator_create(ext->model, ROWS, SALI_WANT_VALUE, &w->e, err);
}

/* Set w->p [V] to the probabilities of the codes in `state`. Returns how many of them are 0. */
static int64_t look_up(walk *w, const int32_t *state)
{
    const sal_space *space = w->ext->model->space;
    const double *theta = w->ext->theta;
    int64_t zeros = 0;
    for (int64_t v = 0; v < space->n_variables; v++) {
        w->p[v] = theta[state[v]];
        zeros += w->p[v] == 0;
        theta += space->variables[v].states;
    }
    return zeros;
}

/* sum + weight f, for a state of positive probability; -inf if f is -inf, even where `weight` has
 * been rounded to 0. */
static double add_weighted(double sum, double weight, double f)
{
    return f == -INFINITY || sum == -INFINITY ? -INFINITY : sum + weight * f;
}

/* Add f of `state` to F, and to the gradient entry of each variable at its code in `state`: there
 * the weight is the product of the probabilities of all other variables. */
static void add_state(walk *w, const int32_t *state, double f)
{
    sali_extension *ext = w->ext;
    const sal_space *space = ext->model->space;
    int64_t V = space->n_variables, zeros = look_up(w, state);
    w->before[0] = 1;
    for (int64_t v = 0; v < V; v++) {
        w->before[v + 1] = w->before[v] * w->p[v];
    }
    if (zeros == 0) {
        ext->F = add_weighted(ext->F, w->before[V], f);
    }
    double after = 1;
    int64_t at = space->n_states;
    for (int64_t v = V; ext->gradient && v-- > 0; after *= w->p[v]) {
        at -= space->variables[v].states;
        if (zeros == (w->p[v] == 0)) {
            double *g = &ext->gradient[at + state[v]];
            *g = add_weighted(*g, w->before[v] * after, f);
        }
    }
}

/* Evaluate the batch, add its states to the sums, and empty the batch. Returns: SAL_ERR_MODEL for f
 * = NaN or +inf. */
static sal_status flush_batch(walk *w, sal_error *err)
{
    const sal_model *model = w->ext->model;
    sali_model_embed(model, w->n, w->codes, w->x);
    sali_value(w->e, w->n, w->codes, w->x, w->f);
    sal_status status = sali_states_check(model, w->n, w->codes, w->f, err);
    for (int64_t c = 0; status == SAL_OK && c < w->n; c++) {
        add_state(w, w->codes + c * model->space->n_variables, w->f[c]);
    }
    w->n = 0;
    return status;
}

sal_status sali_extension_enumerate(sali_extension *ext, sal_error *err)
{
    const sal_space *space = ext->model->space;
    walk w = { 0 };
    sal_status status = walk_create(ext, &w, err);
    bool more = true;
    while (status == SAL_OK && more) {
        /* A state with two variables of probability 0 contributes nothing, and with one only to the
         * gradient. */
        if (look_up(&w, w.state) <= (ext->gradient != NULL)) {
            memcpy(w.codes + w.n * space->n_variables, w.state,
                   (size_t)space->n_variables * sizeof *w.state);
            w.n++;
        }
        more = sali_states_next(space, w.state);
        if (w.n == SALI_EXTENSION_ROWS || (!more && w.n > 0)) {
            status = flush_batch(&w, err);
        }
    }
    sali_evaluator_destroy(w.e);
    sali_memory_free(&w.memory);
    return status;
}
