/* SPDX-License-Identifier: MIT */
/* The extension by Monte Carlo: means over states drawn from the product of theta's rows. */
#include <math.h>

#include "core/choose.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/rng.h"
#include "models/exact/extension.h"
#include "models/states.h"
#include "models/neighbours.h"

typedef struct draws {
    sali_memory memory;
    sali_extension *ext;
    sali_evaluator *e;
    sali_neighbours *neighbours;
    int32_t *codes;  /* [rows x V] */
    double *uniform; /* [V] */
    void *x, *slots; /* real [rows x N], [rows x S] */
    double *f;       /* [rows] */
    double *values;  /* [rows x R]: f at each neighbour, and at the state itself */
    int64_t n;       /* states added so far */
} draws;

/* Most rows of a batch: fewer if a row is long, so that memory stays O(R). */
static int64_t batch_rows(const sali_extension *ext)
{
    int64_t rows = ext->gradient ? (1 << 16) / ext->model->space->n_states : SALI_EXTENSION_ROWS;
    return rows < 1 ? 1 : rows < SALI_EXTENSION_ROWS ? rows : SALI_EXTENSION_ROWS;
}

/* Allocate *d; on failure *d is still to be freed. */
static sal_status draws_create(sali_extension *ext, draws *d, sal_error *err)
{
    const sal_space *space = ext->model->space;
    int64_t rows = batch_rows(ext);
    d->ext = ext;
    d->codes = SALI_TAKE(&d->memory, int32_t, rows * space->n_variables);
    d->uniform = SALI_TAKE(&d->memory, double, space->n_variables);
    d->x = SALI_TAKE(&d->memory, double, rows * space->width);
    d->f = SALI_TAKE(&d->memory, double, rows);
    d->slots = SALI_TAKE(&d->memory, double, ext->gradient ? rows * space->slots : 0);
    d->values = SALI_TAKE(&d->memory, double, ext->gradient ? rows * space->n_states : 0);
    if (d->memory.refused) {
        return sali_fail_memory(err);
    }
    unsigned wants = ext->gradient ? SALI_WANT_DIFFERENCES : SALI_WANT_VALUE;
    sal_status status = sali_evaluator_create(ext->model, rows, wants, &d->e, err);
    if (status == SAL_OK && ext->gradient) {
        status =
            sali_neighbours_create(ext->model, rows, SALI_WANT_VALUE, NULL, &d->neighbours, err);
    }
    return status;
}

static void draws_free(draws *d)
{
    sali_evaluator_destroy(d->e);
    sali_neighbours_destroy(d->neighbours);
    sali_memory_free(&d->memory);
}

/* Draw `rows` states into d->codes. The numbers depend on the seed and the number of the state
 * only. */
static void draw_states(draws *d, int64_t rows)
{
    const sal_space *space = d->ext->model->space;
    for (int64_t c = 0; c < rows; c++) {
        const double *theta = d->ext->theta;
        sali_stream stream = { .seed = d->ext->options.seed,
                               .step = (uint64_t)(d->n + c),
                               .purpose = SALI_RNG_EXTENSION };
        sali_rng_uniform_f64(&stream, space->n_variables, d->uniform);
        for (int64_t v = 0; v < space->n_variables; v++) {
            int32_t states = space->variables[v].states;
            d->codes[c * space->n_variables + v] =
                (int32_t)sali_choose(states, theta, d->uniform[v]);
            theta += states;
        }
    }
}

/* Fill d->values by evaluating every neighbour: needed if f is -inf at a state, as differences from
 * it are then undefined. */
static void list_neighbours(draws *d, int64_t rows)
{
    const sal_space *space = d->ext->model->space;
    int64_t at = 0;
    sali_neighbours_begin(d->neighbours, d->codes, d->x, NULL, SAL_F64, d->values);
    for (int64_t c = 0; c < rows; c++) {
        for (int64_t v = 0; v < space->n_variables; v++) {
            int32_t now = d->codes[c * space->n_variables + v];
            for (int32_t k = 0; k < space->variables[v].states; k++, at++) {
                if (k == now) {
                    d->values[at] = d->f[c];
                } else {
                    sali_neighbours_add(d->neighbours, c, v, k, at);
                }
            }
        }
    }
    sali_neighbours_end(d->neighbours);
}

/* Fill d->values [rows x R] with f at each state with one variable at each of its codes: from
 * differences if f is finite at all `rows` states, else by evaluating each neighbour. */
static void evaluate_neighbours(draws *d, int64_t rows)
{
    const sal_model *model = d->ext->model;
    int64_t R = model->space->n_states;
    for (int64_t c = 0; c < rows; c++) {
        if (!isfinite(d->f[c])) {
            list_neighbours(d, rows);
            return;
        }
    }
    sali_differences(d->e, rows, d->codes, d->x, d->f, d->slots);
    sali_spread_slots(model, rows, d->codes, d->slots, d->values);
    for (int64_t k = 0; k < rows * R; k++) {
        d->values[k] += d->f[k / R];
    }
}

/* Update the mean and the sum of squared deviations by one more value, the n-th (Welford 1962). A
 * mean of -inf stays -inf. */
static void add_value(int64_t n, double value, double *mean, double *squares)
{
    if (value == -INFINITY || *mean == -INFINITY) {
        *mean = -INFINITY;
        return;
    }
    double deviation = value - *mean;
    *mean += deviation / (double)n;
    *squares += deviation * (value - *mean);
}

static double standard_error(int64_t n, double mean, double squares)
{
    return mean == -INFINITY ? 0 : sqrt(squares / (double)(n - 1) / (double)n);
}

/* Draw `rows` states and add f, and values at neighbours if a gradient is wanted, to the running
 * means. Returns: SAL_ERR_MODEL for f = NaN or +inf. */
static sal_status add_batch(draws *d, int64_t rows, sal_error *err)
{
    sali_extension *ext = d->ext;
    const sal_model *model = ext->model;
    draw_states(d, rows);
    sali_model_embed(model, rows, d->codes, d->x);
    sali_value(d->e, rows, d->codes, d->x, d->f);
    sal_status status = sali_states_check(model, rows, d->codes, d->f, err);
    if (status == SAL_OK && ext->gradient) {
        evaluate_neighbours(d, rows);
    }
    for (int64_t c = 0; status == SAL_OK && c < rows; c++) {
        const double *values = d->values + c * model->space->n_states;
        d->n++;
        add_value(d->n, d->f[c], &ext->F, &ext->F_error);
        for (int64_t k = 0; ext->gradient && k < model->space->n_states; k++) {
            add_value(d->n, values[k], &ext->gradient[k], &ext->gradient_error[k]);
        }
    }
    return status;
}

sal_status sali_extension_sample(sali_extension *ext, sal_error *err)
{
    draws d = { 0 };
    int64_t n = ext->options.samples;
    sal_status status = draws_create(ext, &d, err);
    while (status == SAL_OK && d.n < n) {
        int64_t rows = batch_rows(ext);
        status = add_batch(&d, n - d.n < rows ? n - d.n : rows, err);
    }
    draws_free(&d);
    if (status != SAL_OK) {
        return status;
    }
    ext->F_error = standard_error(n, ext->F, ext->F_error);
    for (int64_t k = 0; ext->gradient && k < ext->model->space->n_states; k++) {
        double error = standard_error(n, ext->gradient[k], ext->gradient_error[k]);
        if (isnan(ext->gradient[k]) || ext->gradient[k] == INFINITY) {
            return sali_fail(err, SAL_ERR_MODEL, "%s: f is NaN or +inf next to a sampled state",
                             ext->model->name);
        }
        ext->gradient_error[k] = error;
    }
    return SAL_OK;
}
