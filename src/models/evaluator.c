/* SPDX-License-Identifier: MIT */
/* The evaluator: a model's workspace, and exact differences by the cheapest way that the model
 * allows: its gradient when f is multilinear (Newton eq. 11), else trying each change where all ops
 * can follow it, else evaluating the neighbours. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/neighbours.h"

struct sali_evaluator {
    const sal_model *model;
    void *ws;
    int64_t max_chains;
    sali_strategy strategy;
    /* For differences, what the strategy needs. */
    sali_neighbours *neighbours;
    sali_tracker *tracker; /* of the neighbours */
    double *f;             /* [max_chains] */
    void *gradient;        /* real [max_chains x N] */
    const void *field;     /* real [n x N] linear terms of the chains, not owned; NULL: none */
    int64_t first;         /* chain of row 0 */
};

const char *sali_strategy_name(sali_strategy strategy)
{
    static const char *const names[] = {
        [SALI_BY_GRADIENT] = "the gradient (f is multilinear)",
        [SALI_BY_CHANGES] = "trying changes",
        [SALI_BY_NEIGHBOURS] = "evaluating neighbours",
    };
    return names[strategy];
}

bool sali_strategy_applies(const sal_model *model, sali_strategy strategy)
{
    switch (strategy) {
    case SALI_BY_GRADIENT:
        return model->multilinear && model->has_gradient;
    case SALI_BY_CHANGES:
        return model->trackable;
    default:
        return true;
    }
}

sali_strategy sali_strategy_best(const sal_model *model)
{
    sali_strategy strategy = (sali_strategy)0;
    while (!sali_strategy_applies(model, strategy)) {
        strategy++;
    }
    return strategy;
}

sal_status sali_evaluator_create(const sal_model *model, int64_t chains, unsigned wants,
                                 sali_evaluator **out, sal_error *err)
{
    return sali_evaluator_create_by(model, chains, wants, sali_strategy_best(model), out, err);
}

sal_status sali_evaluator_create_by(const sal_model *model, int64_t chains, unsigned wants,
                                    sali_strategy strategy, sali_evaluator **out, sal_error *err)
{
    if (!sali_strategy_applies(model, strategy)) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED, "%s: differences cannot be had by %s",
                         model->name, sali_strategy_name(strategy));
    }
    sali_evaluator *e = SALI_NEW(sali_evaluator);
    if (!e) {
        return sali_fail_memory(err);
    }
    bool differences = (wants & SALI_WANT_DIFFERENCES) != 0;
    bool by_gradient = differences && strategy == SALI_BY_GRADIENT;
    e->model = model;
    e->max_chains = chains;
    e->strategy = strategy;
    unsigned limits = wants & SALI_WANT_NO_LIMITS;
    unsigned inner = limits | (by_gradient ? SALI_WANT_GRADIENT : wants & SALI_WANT_GRADIENT);
    sal_status status = model->ops->open(model, chains, inner, &e->ws, err);
    if (status == SAL_OK && differences) {
        e->f = SALI_NEW_ARRAY(double, chains);
        status = e->f ? SAL_OK : sali_fail_memory(err);
    }
    if (status == SAL_OK && by_gradient) {
        e->gradient = sali_alloc(chains * model->space->width, sali_dtype_size(model->dtype));
        status = e->gradient ? SAL_OK : sali_fail_memory(err);
    } else if (status == SAL_OK && differences) {
        status = strategy == SALI_BY_CHANGES
                     ? sali_tracker_create(model, chains, limits, &e->tracker, err)
                     : SAL_OK;
        status =
            status ? status
                   : sali_neighbours_create(model, chains, limits, e->tracker, &e->neighbours, err);
    }
    if (status != SAL_OK) {
        sali_evaluator_destroy(e);
        return status;
    }
    *out = e;
    return SAL_OK;
}

void sali_evaluator_destroy(void *evaluator)
{
    sali_evaluator *e = evaluator;
    if (!e) {
        return;
    }
    if (e->ws) {
        e->model->ops->close(e->ws);
    }
    sali_neighbours_destroy(e->neighbours);
    sali_tracker_destroy(e->tracker);
    sali_free(e->f);
    sali_free(e->gradient);
    sali_free(e);
}

/* ---- linear terms of the chains */

void sali_evaluator_set_field(sali_evaluator *e, const void *field)
{
    e->field = field;
    e->first = 0;
}

void sali_evaluator_begin_at(sali_evaluator *e, int64_t first)
{
    e->first = first;
}

static const void *field_of(const sali_evaluator *e, int64_t row)
{
    const size_t bytes = (size_t)e->model->space->width * sali_dtype_size(e->model->dtype);
    return (const char *)e->field + (size_t)(e->first + row) * bytes;
}

/* Add the linear terms of rows 0 .. chains - 1 to f and to `gradient`, either of which may be NULL.
 * Does nothing without a field. */
static void add_fields(const sali_evaluator *e, int64_t chains, const void *x, double *f,
                       void *gradient)
{
    const int64_t N = e->model->space->width;
    if (!e->field) {
        return;
    }
    if (e->model->dtype == SAL_F32) {
        sali_add_fields_f32(chains, N, field_of(e, 0), x, f, gradient);
    } else {
        sali_add_fields_f64(chains, N, field_of(e, 0), x, f, gradient);
    }
}

/* Change of the linear term of `row` when variable v goes from code `from` to `to`; 0 without a
 * field. */
static double field_difference(const sali_evaluator *e, int64_t row, const sali_variable *v,
                               int32_t from, int32_t to)
{
    return e->field ? sali_first_order(e->model->dtype, field_of(e, row), v, from, to) : 0;
}

/* f [chains] less the linear terms of the rows at x: `f` itself without a field, else in e->f. */
static const double *without_fields(sali_evaluator *e, int64_t chains, const void *x,
                                    const double *f)
{
    if (!e->field) {
        return f;
    }
    memset(e->f, 0, (size_t)chains * sizeof *e->f);
    add_fields(e, chains, x, e->f, NULL);
    for (int64_t c = 0; c < chains; c++) {
        e->f[c] = f[c] - e->f[c];
    }
    return e->f;
}

/* Add the changes of the linear terms to `delta`, laid out as in sali_differences_at. The present
 * code and codes that the variable cannot have are left out. */
static void add_to_sites(const sali_evaluator *e, int64_t chains, const int32_t *codes,
                         const int64_t *sites, double *delta)
{
    const sal_space *space = e->model->space;
    for (int64_t c = 0; e->field && c < chains; c++) {
        const sali_variable *v = &space->variables[sites[c]];
        const int32_t now = codes[c * space->n_variables + sites[c]];
        for (int32_t k = 0; k < sali_entries(v->states); k++) {
            const int32_t to = sali_entry_code(v->states, now, k);
            if (to != now && sali_has_code(v, to)) {
                delta[c * space->max_states + k] += field_difference(e, c, v, now, to);
            }
        }
    }
}

/* Add the changes of the linear term of row c, whose present codes are `codes` [V], to its slots.
 * The present code and codes that the variable cannot have are left out. */
static void add_to_row(const sali_evaluator *e, int64_t c, const int32_t *codes, void *slots)
{
    const sal_space *space = e->model->space;
    for (int64_t i = 0; i < space->n_variables; i++) {
        const sali_variable *v = &space->variables[i];
        const bool flip = sali_is_two_level(v);
        for (int32_t k = 0; k < (flip ? 1 : sali_entries(v->states)); k++) {
            const int32_t to = flip ? 1 - codes[i] : sali_entry_code(v->states, codes[i], k);
            const int64_t at = c * space->slots + v->slot + k;
            if (to != codes[i] && sali_has_code(v, to)) {
                const double more = field_difference(e, c, v, codes[i], to);
                sali_store(e->model->dtype, slots, at,
                           sali_load(e->model->dtype, slots, at) + more);
            }
        }
    }
}

static void add_to_slots(const sali_evaluator *e, int64_t chains, const int32_t *codes, void *slots)
{
    for (int64_t c = 0; e->field && c < chains; c++) {
        add_to_row(e, c, codes + c * e->model->space->n_variables, slots);
    }
}

/* ---- values */

void sali_value(sali_evaluator *e, int64_t chains, const int32_t *codes, const void *x, double *f)
{
    e->model->ops->value(e->ws, chains, codes, x, f);
    add_fields(e, chains, x, f, NULL);
}

void sali_gradient(sali_evaluator *e, int64_t chains, const int32_t *codes, const void *x,
                   double *f, void *gradient)
{
    e->model->ops->gradient(e->ws, chains, codes, x, f, gradient);
    add_fields(e, chains, x, f, gradient);
}

/* Whether the move of a variable from `now` to `code` is requested: `to` is the requested code, or
 * -1 for all codes. */
static bool is_requested(int32_t to, int32_t now, int32_t code)
{
    return code != now && (to == -1 || to == code);
}

/* ---- differences by neighbours, evaluated or tried */

/* Put the difference of entry k of variable v of chain c into out[to]: 0 for the present code
 * `now`, -inf if the variable has no such code, else the result of a neighbour
 * (models/neighbours.h). */
static void add_entry(sali_evaluator *e, int64_t c, int64_t v, int32_t now, int32_t k,
                      sal_dtype dtype, void *out, int64_t to)
{
    const sali_variable *variable = &e->model->space->variables[v];
    int32_t code = sali_entry_code(variable->states, now, k);
    if (code != now && sali_has_code(variable, code)) {
        sali_neighbours_add(e->neighbours, c, v, code, to);
    } else {
        sali_store(dtype, out, to, code == now ? 0 : -INFINITY);
    }
}

/* Fill `slots` with the differences of the moves that `to` requests, as in sali_differences_to,
 * from f of the neighbours. f [chains] is f of the present states. */
static void slots_by_neighbours(sali_evaluator *e, int64_t chains, const int32_t *codes,
                                const void *x, const int32_t *to, const double *f, void *slots)
{
    const sal_space *space = e->model->space;
    sali_neighbours_begin(e->neighbours, codes, x, f, e->model->dtype, slots);
    for (int64_t c = 0; c < chains; c++) {
        for (int64_t v = 0; v < space->n_variables; v++) {
            const sali_variable *variable = &space->variables[v];
            int32_t now = codes[c * space->n_variables + v];
            int32_t wanted = to ? to[c * space->n_variables + v] : -1;
            int64_t slot = c * space->slots + variable->slot;
            if (sali_is_two_level(variable)) {
                if (is_requested(wanted, now, 1 - now)) {
                    sali_neighbours_add(e->neighbours, c, v, 1 - now, slot);
                }
                continue;
            }
            for (int32_t k = 0; k < sali_entries(variable->states); k++) {
                int32_t code = sali_entry_code(variable->states, now, k);
                if (code == now || is_requested(wanted, now, code)) {
                    add_entry(e, c, v, now, k, e->model->dtype, slots, slot + k);
                }
            }
        }
    }
    sali_neighbours_end(e->neighbours);
}

/* Fill `delta`, without linear terms, as sali_differences_at does, from f of the neighbours. */
static void at_by_neighbours(sali_evaluator *e, int64_t chains, const int32_t *codes, const void *x,
                             const int64_t *sites, const double *f, double *delta)
{
    const sal_space *space = e->model->space;
    sali_neighbours_begin(e->neighbours, codes, x, f, SAL_F64, delta);
    for (int64_t c = 0; c < chains; c++) {
        int32_t now = codes[c * space->n_variables + sites[c]];
        for (int32_t k = 0; k < sali_entries(space->variables[sites[c]].states); k++) {
            add_entry(e, c, sites[c], now, k, SAL_F64, delta, c * space->max_states + k);
        }
    }
    sali_neighbours_end(e->neighbours);
}

/* ---- differences by the gradient of a multilinear f */

/* Fill `delta`, without linear terms, as sali_differences_at does, from the gradient of a
 * multilinear f. Overwrites e->f and e->gradient. */
static void at_by_gradient(sali_evaluator *e, int64_t chains, const int32_t *codes, const void *x,
                           const int64_t *sites, double *delta)
{
    const sal_space *space = e->model->space;
    e->model->ops->gradient(e->ws, chains, codes, x, e->f, e->gradient);
    for (int64_t c = 0; c < chains; c++) {
        const sali_variable *v = &space->variables[sites[c]];
        const void *gradient = (const char *)e->gradient +
                               (size_t)(c * space->width) * sali_dtype_size(e->model->dtype);
        int32_t now = codes[c * space->n_variables + sites[c]];
        double *row = delta + c * space->max_states;
        for (int32_t k = 0; k < sali_entries(v->states); k++) {
            int32_t code = sali_entry_code(v->states, now, k);
            row[k] = code == now ? 0
                     : !sali_has_code(v, code)
                         ? -INFINITY
                         : sali_first_order(e->model->dtype, gradient, v, now, code);
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
    sali_differences_to(e, chains, codes, x, NULL, f, slots);
}

void sali_differences_to(sali_evaluator *e, int64_t chains, const int32_t *codes, const void *x,
                         const int32_t *to, double *f, void *slots)
{
    switch (e->strategy) {
    case SALI_BY_GRADIENT:
        e->model->ops->gradient(e->ws, chains, codes, x, f, e->gradient);
        sali_taylor_slots(e->model, chains, codes, e->gradient, slots);
        break;
    case SALI_BY_CHANGES:
        sali_tracker_start(e->tracker, chains, codes, f);
        slots_by_neighbours(e, chains, codes, x, to, f, slots);
        break;
    default:
        e->model->ops->value(e->ws, chains, codes, x, f);
        slots_by_neighbours(e, chains, codes, x, to, f, slots);
    }
    add_to_slots(e, chains, codes, slots);
    add_fields(e, chains, x, f, NULL);
}

void sali_differences_at(sali_evaluator *e, int64_t chains, const int32_t *codes, const void *x,
                         const int64_t *sites, const double *f, double *delta)
{
    if (e->strategy == SALI_BY_GRADIENT) {
        at_by_gradient(e, chains, codes, x, sites, delta);
    } else {
        if (e->strategy == SALI_BY_CHANGES) {
            sali_tracker_start(e->tracker, chains, codes, NULL);
        }
        at_by_neighbours(e, chains, codes, x, sites, without_fields(e, chains, x, f), delta);
    }
    add_to_sites(e, chains, codes, sites, delta);
}
