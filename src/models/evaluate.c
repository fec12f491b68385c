/* SPDX-License-Identifier: MIT */
/* Values, gradients and differences of given states, for callers outside of samplers. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "models/model.h"

/* Most states evaluated at a time, so that the memory for a long list is bounded. */
#define BATCH 64

typedef struct buffers {
    sali_memory memory;         /* of the arrays */
    int64_t rows;               /* up to BATCH */
    void *x, *gradient, *slots; /* real [rows x ...] */
    double *f;
} buffers;

/* Allocate buffers for batches of up to BATCH of `states` states; b->memory is zeros at first, and
 * is to be freed in any case. */
static sal_status buffers_create(const sal_model *model, int64_t states, buffers *b, sal_error *err)
{
    const sal_space *space = model->space;
    size_t element = sali_dtype_size(model->dtype);
    b->rows = states < 1 ? 1 : states < BATCH ? states : BATCH;
    b->x = sali_memory_take(&b->memory, b->rows * space->width, element);
    b->gradient = sali_memory_take(&b->memory, b->rows * space->width, element);
    b->slots = sali_memory_take(&b->memory, b->rows * space->slots, element);
    b->f = SALI_TAKE(&b->memory, double, b->rows);
    return sali_memory_status(&b->memory, err);
}

static void to_double(sal_dtype dtype, int64_t n, const void *from, double *to)
{
    for (int64_t i = 0; i < n; i++) {
        to[i] = sali_load(dtype, from, i);
    }
}

static void from_double(sal_dtype dtype, int64_t n, const double *from, void *to)
{
    for (int64_t i = 0; i < n; i++) {
        sali_store(dtype, to, i, from[i]);
    }
}

void sali_spread_slots(const sal_model *model, int64_t chains, const int32_t *codes,
                       const void *slots, double *rows)
{
    const sal_space *space = model->space;
    for (int64_t c = 0; c < chains; c++) {
        for (int64_t v = 0; v < space->n_variables; v++) {
            const sali_variable *variable = &space->variables[v];
            int32_t now = codes[c * space->n_variables + v];
            int64_t slot = c * space->slots + variable->slot;
            bool flip = sali_is_two_level(variable);
            int32_t entries = sali_entries(variable->states);
            for (int32_t k = 0; k < entries; k++) {
                bool same = sali_entry_code(variable->states, now, k) == now;
                rows[k] = same ? 0 : sali_load(model->dtype, slots, flip ? slot : slot + k);
            }
            rows += entries;
        }
    }
}

/* SAL_ERR_MODEL if one of f [n] is NaN or +inf; the message counts states from `first`. */
static sal_status check_values(const sal_model *model, int64_t first, int64_t n, const double *f,
                               sal_error *err)
{
    for (int64_t c = 0; c < n; c++) {
        if (isnan(f[c]) || f[c] == INFINITY) {
            return sali_fail(err, SAL_ERR_MODEL, "%s: f is %s at state %lld", model->name,
                             isnan(f[c]) ? "NaN" : "+inf", (long long)(first + c));
        }
    }
    return SAL_OK;
}

static sal_status check_request(const sal_model *model, const double *gradient, sal_error *err)
{
    return gradient && !model->has_gradient
               ? sali_fail(err, SAL_ERR_UNSUPPORTED,
                           "%s has no gradient: its callback gives values only", model->name)
               : SAL_OK;
}

/* Fill f and, unless NULL, `gradient` and `differences` (sal_model_evaluate) at `codes` [states x
 * V], or, if `codes` is NULL, at the reals x [states x N]. After a failure they may be partly
 * filled. */
static sal_status evaluate_states(const sal_model *model, int64_t states, const int32_t *codes,
                                  const double *x, double *f, double *gradient, double *differences,
                                  sal_error *err)
{
    const sal_space *space = model->space;
    sali_evaluator *e = NULL;
    buffers b = { 0 };
    unsigned wants =
        (gradient ? SALI_WANT_GRADIENT : 0) | (differences ? SALI_WANT_DIFFERENCES : 0);
    sal_status status = buffers_create(model, states, &b, err);
    status = status ? status : sali_evaluator_create(model, b.rows, wants, &e, err);
    for (int64_t first = 0; status == SAL_OK && first < states; first += b.rows) {
        int64_t n = states - first < b.rows ? states - first : b.rows;
        const int32_t *rows = codes ? codes + first * space->n_variables : NULL;
        if (codes) {
            sali_model_embed(model, n, rows, b.x);
        } else {
            from_double(model->dtype, n * space->width, x + first * space->width, b.x);
        }
        if (gradient) {
            sali_gradient(e, n, rows, b.x, b.f, b.gradient);
            to_double(model->dtype, n * space->width, b.gradient, gradient + first * space->width);
        } else {
            sali_value(e, n, rows, b.x, b.f);
        }
        if (differences) {
            sali_differences(e, n, rows, b.x, b.f, b.slots);
            sali_spread_slots(model, n, rows, b.slots, differences + first * space->n_states);
        }
        memcpy(f + first, b.f, (size_t)n * sizeof *f);
        status = check_values(model, first, n, b.f, err);
    }
    sali_evaluator_destroy(e);
    sali_memory_free(&b.memory);
    return status;
}

sal_status sal_model_evaluate(const sal_model *model, int64_t states, const int32_t *codes,
                              double *f, double *gradient, double *differences, sal_error *err)
{
    sal_status status = check_request(model, gradient, err);
    status = status ? status : sali_codes_check(model->space, states, codes, err);
    return status ? status
                  : evaluate_states(model, states, codes, NULL, f, gradient, differences, err);
}

sal_status sal_model_evaluate_at(const sal_model *model, int64_t states, const double *x, double *f,
                                 double *gradient, sal_error *err)
{
    sal_status status = check_request(model, gradient, err);
    return status ? status : evaluate_states(model, states, NULL, x, f, gradient, NULL, err);
}
