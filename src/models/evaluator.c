/* The evaluator: a model's workspace, and exact differences by the cheapest way that the model
 * allows: its gradient when f is multilinear (Newton eq. 11), else evaluating the neighbours in
 * batches. */
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/model.h"

struct sali_evaluator {
    const sal_model *model;
    void *ws;
    int64_t max_chains;
    size_t element;
    /* For differences: a batch of neighbours, or one gradient. */
    int32_t *codes;
    void *x;
    double *f;
    void *gradient;
};

static bool by_gradient(const sal_model *model)
{
    return model->multilinear && model->has_gradient;
}

sal_status sali_evaluator_create(const sal_model *model, int64_t chains, unsigned wants,
                                 sali_evaluator **out, sal_error *err)
{
    sali_evaluator *e = SALI_NEW(sali_evaluator);
    if (!e) {
        return sali_fail_memory(err);
    }
    const sal_space *space = model->space;
    bool differences = (wants & SALI_WANT_DIFFERENCES) != 0;
    unsigned inner = wants & SALI_WANT_GRADIENT;
    if (differences && by_gradient(model)) {
        inner |= SALI_WANT_GRADIENT;
    }
    e->model = model;
    e->max_chains = chains;
    e->element = model->dtype == SAL_F32 ? sizeof(float) : sizeof(double);
    sal_status status = model->ops->open(model, chains, inner, &e->ws, err);
    if (status == SAL_OK && differences) {
        e->codes = SALI_NEW_ARRAY(int32_t, chains * space->n_variables);
        e->x = sali_alloc(chains * space->width, e->element);
        e->gradient = sali_alloc(chains * space->width, e->element);
        e->f = SALI_NEW_ARRAY(double, chains);
        status = e->codes && e->x && e->gradient && e->f ? SAL_OK : sali_fail_memory(err);
    }
    if (status != SAL_OK) {
        sali_evaluator_destroy(e);
        return status;
    }
    *out = e;
    return SAL_OK;
}

void sali_evaluator_destroy(sali_evaluator *e)
{
    if (!e) {
        return;
    }
    if (e->ws) {
        e->model->ops->close(e->ws);
    }
    sali_free(e->codes);
    sali_free(e->x);
    sali_free(e->gradient);
    sali_free(e->f);
    sali_free(e);
}

void sali_value(sali_evaluator *e, int64_t chains, const int32_t *codes, const void *x, double *f)
{
    e->model->ops->value(e->ws, chains, codes, x, f);
}

void sali_gradient(sali_evaluator *e, int64_t chains, const int32_t *codes, const void *x,
                   double *f, void *gradient)
{
    e->model->ops->gradient(e->ws, chains, codes, x, f, gradient);
}

/* ---- differences by evaluating neighbours */

static void set_variable(const sal_model *model, int64_t v, int32_t code, void *x_row)
{
    if (model->dtype == SAL_F32) {
        sali_embed_one_f32(model->space, v, code, x_row);
    } else {
        sali_embed_one_f64(model->space, v, code, x_row);
    }
}

/* e->f = f of one neighbour of each chain: variable v (or sites[c], when given) moved on by `ahead`
 * states, round the end; chains whose variable has no such state keep theirs. */
static void evaluate_move(sali_evaluator *e, int64_t chains, const int32_t *codes, const void *x,
                          int64_t v, const int64_t *sites, int32_t ahead)
{
    const sal_space *space = e->model->space;
    memcpy(e->codes, codes, (size_t)(chains * space->n_variables) * sizeof *codes);
    memcpy(e->x, x, (size_t)(chains * space->width) * e->element);
    for (int64_t c = 0; c < chains; c++) {
        int64_t site = sites ? sites[c] : v;
        int32_t states = space->variables[site].states;
        if (ahead < states) {
            int32_t *code = &e->codes[c * space->n_variables + site];
            *code = (*code + ahead) % states;
            set_variable(e->model, site, *code,
                         (char *)e->x + (size_t)(c * space->width) * e->element);
        }
    }
    e->model->ops->value(e->ws, chains, e->codes, e->x, e->f);
}

static void store(sal_dtype dtype, void *slots, int64_t index, double value)
{
    if (dtype == SAL_F32) {
        ((float *)slots)[index] = (float)value;
    } else {
        ((double *)slots)[index] = value;
    }
}

static void slots_by_neighbours(sali_evaluator *e, int64_t chains, const int32_t *codes,
                                const void *x, const double *f, void *slots)
{
    const sal_space *space = e->model->space;
    for (int64_t v = 0; v < space->n_variables; v++) {
        const sali_variable *variable = &space->variables[v];
        for (int32_t ahead = 1; ahead < variable->states; ahead++) {
            evaluate_move(e, chains, codes, x, v, NULL, ahead);
            for (int64_t c = 0; c < chains; c++) {
                int32_t code = e->codes[c * space->n_variables + v];
                int64_t slot = variable->slot + (sali_is_two_level(variable) ? 0 : code);
                store(e->model->dtype, slots, c * space->slots + slot, e->f[c] - f[c]);
            }
        }
        for (int64_t c = 0; c < chains && !sali_is_two_level(variable); c++) {
            store(e->model->dtype, slots,
                  c * space->slots + variable->slot + codes[c * space->n_variables + v], 0);
        }
    }
}

static void at_by_neighbours(sali_evaluator *e, int64_t chains, const int32_t *codes, const void *x,
                             const int64_t *sites, const double *f, double *delta)
{
    const sal_space *space = e->model->space;
    for (int32_t ahead = 1; ahead < space->max_states; ahead++) {
        evaluate_move(e, chains, codes, x, 0, sites, ahead);
        for (int64_t c = 0; c < chains; c++) {
            if (ahead < space->variables[sites[c]].states) {
                int32_t code = e->codes[c * space->n_variables + sites[c]];
                delta[c * space->max_states + code] = e->f[c] - f[c];
            }
        }
    }
    for (int64_t c = 0; c < chains; c++) {
        delta[c * space->max_states + codes[c * space->n_variables + sites[c]]] = 0;
    }
}

/* ---- differences by the gradient of a multilinear f */

static double gradient_at(const sali_evaluator *e, int64_t c, int64_t coordinate)
{
    int64_t index = c * e->model->space->width + coordinate;
    return e->model->dtype == SAL_F32 ? (double)((const float *)e->gradient)[index]
                                      : ((const double *)e->gradient)[index];
}

static void at_by_gradient(sali_evaluator *e, int64_t chains, const int32_t *codes, const void *x,
                           const int64_t *sites, double *delta)
{
    const sal_space *space = e->model->space;
    e->model->ops->gradient(e->ws, chains, codes, x, e->f, e->gradient);
    for (int64_t c = 0; c < chains; c++) {
        const sali_variable *v = &space->variables[sites[c]];
        int32_t now = codes[c * space->n_variables + sites[c]];
        double *row = delta + c * space->max_states;
        for (int32_t k = 0; k < v->states; k++) {
            if (k == now) {
                row[k] = 0;
            } else if (v->kind == SAL_CATEGORICAL) {
                row[k] = gradient_at(e, c, v->offset + k) - gradient_at(e, c, v->offset + now);
            } else {
                row[k] = gradient_at(e, c, v->offset) * (v->levels[k] - v->levels[now]);
            }
        }
    }
}

void sali_taylor_slots(const sal_model *model, int64_t chains, const int32_t *codes,
                       const void *gradient, void *slots)
{
    if (model->dtype == SAL_F32) {
        sali_taylor_slots_f32(model->space, chains, codes, gradient, slots);
    } else {
        sali_taylor_slots_f64(model->space, chains, codes, gradient, slots);
    }
}

void sali_differences(sali_evaluator *e, int64_t chains, const int32_t *codes, const void *x,
                      double *f, void *slots)
{
    if (by_gradient(e->model)) {
        e->model->ops->gradient(e->ws, chains, codes, x, f, e->gradient);
        sali_taylor_slots(e->model, chains, codes, e->gradient, slots);
    } else {
        e->model->ops->value(e->ws, chains, codes, x, f);
        slots_by_neighbours(e, chains, codes, x, f, slots);
    }
}

void sali_differences_at(sali_evaluator *e, int64_t chains, const int32_t *codes, const void *x,
                         const int64_t *sites, const double *f, double *delta)
{
    if (by_gradient(e->model)) {
        at_by_gradient(e, chains, codes, x, sites, delta);
    } else {
        at_by_neighbours(e, chains, codes, x, sites, f, delta);
    }
}
