/* Values, gradients and differences of given states, for callers outside of samplers. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/model.h"

/* States are taken in batches, so that a long list needs no more memory than this many. */
#define BATCH 64

typedef struct buffers {
    void *x, *gradient, *slots; /* real [BATCH x ...] */
    double *f;
} buffers;

static bool buffers_create(const sal_model *model, buffers *b)
{
    const sal_space *space = model->space;
    size_t element = model->dtype == SAL_F32 ? sizeof(float) : sizeof(double);
    b->x = sali_alloc(BATCH * space->width, element);
    b->gradient = sali_alloc(BATCH * space->width, element);
    b->slots = sali_alloc(BATCH * space->slots, element);
    b->f = SALI_NEW_ARRAY(double, BATCH);
    return b->x && b->gradient && b->slots && b->f;
}

static void buffers_free(buffers *b)
{
    sali_free(b->x);
    sali_free(b->gradient);
    sali_free(b->slots);
    sali_free(b->f);
}

static void to_double(sal_dtype dtype, int64_t n, const void *from, double *to)
{
    for (int64_t i = 0; i < n; i++) {
        to[i] = dtype == SAL_F32 ? (double)((const float *)from)[i] : ((const double *)from)[i];
    }
}

static void from_double(sal_dtype dtype, int64_t n, const double *from, void *to)
{
    for (int64_t i = 0; i < n; i++) {
        if (dtype == SAL_F32) {
            ((float *)to)[i] = (float)from[i];
        } else {
            ((double *)to)[i] = from[i];
        }
    }
}

/* Slots, where a two-level variable has one, to a row with one entry a state. */
static void spread_slots(const sal_model *model, int64_t states, const int32_t *codes,
                         const void *slots, double *out)
{
    const sal_space *space = model->space;
    for (int64_t c = 0; c < states; c++) {
        for (int64_t v = 0; v < space->n_variables; v++) {
            const sali_variable *variable = &space->variables[v];
            int32_t code = codes[c * space->n_variables + v];
            int64_t slot = c * space->slots + variable->slot;
            if (sali_is_two_level(variable)) {
                out[code] = 0;
                to_double(model->dtype, 1,
                          (const char *)slots + (size_t)slot * (model->dtype == SAL_F32 ? 4 : 8),
                          &out[1 - code]);
            } else {
                to_double(model->dtype, variable->states,
                          (const char *)slots + (size_t)slot * (model->dtype == SAL_F32 ? 4 : 8),
                          out);
            }
            out += variable->states;
        }
    }
}

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

static int64_t row_states(const sal_space *space)
{
    int64_t sum = 0;
    for (int64_t v = 0; v < space->n_variables; v++) {
        sum += space->variables[v].states;
    }
    return sum;
}

sal_status sal_model_evaluate(const sal_model *model, int64_t states, const int32_t *codes,
                              double *f, double *gradient, double *differences, sal_error *err)
{
    const sal_space *space = model->space;
    sali_evaluator *e = NULL;
    buffers b = { 0 };
    sal_status status = check_request(model, gradient, err);
    if (status == SAL_OK) {
        status = sali_codes_check(space, states, codes, err);
    }
    if (status != SAL_OK) {
        return status;
    }
    unsigned wants =
        (gradient ? SALI_WANT_GRADIENT : 0) | (differences ? SALI_WANT_DIFFERENCES : 0);
    status = buffers_create(model, &b) ? sali_evaluator_create(model, BATCH, wants, &e, err)
                                       : sali_fail_memory(err);
    for (int64_t first = 0; status == SAL_OK && first < states; first += BATCH) {
        int64_t n = states - first < BATCH ? states - first : BATCH;
        const int32_t *rows = codes + first * space->n_variables;
        if (model->dtype == SAL_F32) {
            sali_embed_f32(space, n, rows, b.x);
        } else {
            sali_embed_f64(space, n, rows, b.x);
        }
        if (gradient) {
            sali_gradient(e, n, rows, b.x, b.f, b.gradient);
            to_double(model->dtype, n * space->width, b.gradient, gradient + first * space->width);
        } else {
            sali_value(e, n, rows, b.x, b.f);
        }
        if (differences) {
            sali_differences(e, n, rows, b.x, b.f, b.slots);
            spread_slots(model, n, rows, b.slots, differences + first * row_states(space));
        }
        memcpy(f + first, b.f, (size_t)n * sizeof *f);
        status = check_values(model, first, n, b.f, err);
    }
    sali_evaluator_destroy(e);
    buffers_free(&b);
    return status;
}

sal_status sal_model_evaluate_at(const sal_model *model, int64_t states, const double *x, double *f,
                                 double *gradient, sal_error *err)
{
    const sal_space *space = model->space;
    sali_evaluator *e = NULL;
    buffers b = { 0 };
    sal_status status = check_request(model, gradient, err);
    if (status != SAL_OK) {
        return status;
    }
    status = buffers_create(model, &b)
                 ? sali_evaluator_create(model, BATCH, gradient ? SALI_WANT_GRADIENT : 0, &e, err)
                 : sali_fail_memory(err);
    for (int64_t first = 0; status == SAL_OK && first < states; first += BATCH) {
        int64_t n = states - first < BATCH ? states - first : BATCH;
        from_double(model->dtype, n * space->width, x + first * space->width, b.x);
        if (gradient) {
            sali_gradient(e, n, NULL, b.x, b.f, b.gradient);
            to_double(model->dtype, n * space->width, b.gradient, gradient + first * space->width);
        } else {
            sali_value(e, n, NULL, b.x, b.f);
        }
        memcpy(f + first, b.f, (size_t)n * sizeof *f);
        status = check_values(model, first, n, b.f, err);
    }
    sali_evaluator_destroy(e);
    buffers_free(&b);
    return status;
}
