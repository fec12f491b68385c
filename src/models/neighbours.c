/* SPDX-License-Identifier: MIT */
#include "models/neighbours.h"

#include <string.h>

#include "core/error.h"
#include "core/memory.h"

/* Rows of a batch: enough for an efficient matrix product. */
#define ROWS 64

struct sali_neighbours {
    sali_memory memory; /* of the arrays */
    const sal_model *model;
    sali_tracker *tracker; /* not owned; NULL: batches are evaluated */
    void *ws;
    size_t element;
    int64_t rows, n; /* rows of a batch: allocated, and in use */

    /* The current list (sali_neighbours_begin). */
    const int32_t *from_codes;
    const void *from_x;
    const double *from_f;
    sal_dtype dtype;
    void *out;

    /* By row. */
    int32_t *codes; /* [rows x V] */
    void *x;        /* real [rows x N] */
    double *f;
    int64_t *chain, *to;
};

/* Number of states that differ from a state in one variable; a count without a cap has two
 * moves. */
static int64_t count_neighbours(const sal_space *space)
{
    int64_t count = 0;
    for (int64_t v = 0; v < space->n_variables; v++) {
        count += space->variables[v].states > 0 ? space->variables[v].states - 1 : 2;
    }
    return count;
}

sal_status sali_neighbours_create(const sal_model *model, int64_t chains, unsigned wants,
                                  sali_tracker *tracker, sali_neighbours **out, sal_error *err)
{
    const sal_space *space = model->space;
    sali_neighbours *nb = SALI_NEW(sali_neighbours);
    if (!nb) {
        return sali_fail_memory(err);
    }
    int64_t most = count_neighbours(space);
    nb->model = model;
    nb->tracker = tracker;
    if (tracker) {
        *out = nb;
        return SAL_OK;
    }
    nb->element = sali_dtype_size(model->dtype);
    nb->rows = most >= ROWS || chains * most >= ROWS ? ROWS : chains * most + 1;
    nb->codes = SALI_TAKE(&nb->memory, int32_t, nb->rows * space->n_variables);
    nb->x = sali_memory_take(&nb->memory, nb->rows * space->width, nb->element);
    nb->f = SALI_TAKE(&nb->memory, double, nb->rows);
    nb->chain = SALI_TAKE(&nb->memory, int64_t, nb->rows);
    nb->to = SALI_TAKE(&nb->memory, int64_t, nb->rows);
    sal_status status = sali_memory_status(&nb->memory, err);
    if (status == SAL_OK) {
        status = model->ops->open(model, nb->rows, wants & SALI_WANT_NO_LIMITS, &nb->ws, err);
    }
    if (status != SAL_OK) {
        sali_neighbours_destroy(nb);
        return status;
    }
    *out = nb;
    return SAL_OK;
}

void sali_neighbours_destroy(void *neighbours)
{
    sali_neighbours *nb = neighbours;
    if (!nb) {
        return;
    }
    if (nb->ws) {
        nb->model->ops->close(nb->ws);
    }
    sali_memory_free(&nb->memory);
    sali_free(nb);
}

void sali_neighbours_begin(sali_neighbours *nb, const int32_t *codes, const void *x,
                           const double *f, sal_dtype dtype, void *out)
{
    nb->from_codes = codes;
    nb->from_x = x;
    nb->from_f = f;
    nb->dtype = dtype;
    nb->out = out;
}

/* Evaluate the rows of the batch, store their results in `out`, and empty the batch. */
static void flush_batch(sali_neighbours *nb)
{
    nb->model->ops->value(nb->ws, nb->n, nb->codes, nb->x, nb->f);
    for (int64_t r = 0; r < nb->n; r++) {
        double found = nb->from_f ? nb->f[r] - nb->from_f[nb->chain[r]] : nb->f[r];
        sali_store(nb->dtype, nb->out, nb->to[r], found);
    }
    nb->n = 0;
}

void sali_neighbours_add_several(sali_neighbours *nb, int64_t c, int64_t n, const int64_t *sites,
                                 const int32_t *codes, int64_t to)
{
    if (nb->tracker) {
        double found = nb->from_f && n == 1
                           ? sali_tracker_difference(nb->tracker, c, *sites, *codes)
                           : sali_tracker_try(nb->tracker, c, n, sites, codes, false) -
                                 (nb->from_f ? nb->from_f[c] : 0);
        sali_store(nb->dtype, nb->out, to, found);
        return;
    }
    const sal_space *space = nb->model->space;
    size_t row = (size_t)space->width * nb->element;
    int32_t *state = nb->codes + nb->n * space->n_variables;
    void *x = (char *)nb->x + (size_t)nb->n * row;
    memcpy(state, nb->from_codes + c * space->n_variables,
           (size_t)space->n_variables * sizeof *state);
    memcpy(x, (const char *)nb->from_x + (size_t)c * row, row);
    for (int64_t k = 0; k < n; k++) {
        state[sites[k]] = codes[k];
        sali_model_embed_one(nb->model, sites[k], codes[k], x);
    }
    nb->chain[nb->n] = c;
    nb->to[nb->n] = to;
    if (++nb->n == nb->rows) {
        flush_batch(nb);
    }
}

void sali_neighbours_add(sali_neighbours *nb, int64_t c, int64_t v, int32_t code, int64_t to)
{
    sali_neighbours_add_several(nb, c, 1, &v, &code, to);
}

void sali_neighbours_end(sali_neighbours *nb)
{
    if (nb->n > 0) {
        flush_batch(nb);
    }
}
