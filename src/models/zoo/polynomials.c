/* SPDX-License-Identifier: MIT */
/* Mixtures of fully factorised distributions over ordinal variables: f = log sum_k exp(sum_i
 * g_k(s_i)), each g_k a polynomial of the level. Rhodes & Gutmann 2022, section 5.1, as printed and
 * as the authors' program (distributions/discrete.py) makes them. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/log_sum.h"
#include "models/structure/product_draws.h"
#include "models/zoo/making.h"

enum { DIM, COMPONENTS, LEVELS, SHIFT, NORMALISED };
enum { PLUS, MINUS };

static const char *const shift_choices[] = { "plus", "minus", NULL };

/* g_k(u) = polynomial(factor u + offset + step (k + from)) + log_scale[k], k = 0 .. components - 1.
 */
typedef struct mixture {
    int64_t components;
    double factor, offset, step, from;
    double (*polynomial)(double t);
    bool normalised; /* components have weights 1/K and are normalised; else they have weights 1 */
    const double *log_scale; /* [components], or NULL: 0 */
} mixture;

static double shift_of(const mixture *m, int64_t k)
{
    return m->offset + m->step * ((double)k + m->from);
}

static double g_of(const mixture *m, int64_t k, double u)
{
    return m->polynomial(m->factor * u + shift_of(m, k)) + (m->log_scale ? m->log_scale[k] : 0);
}

/* ---- as a mixture of independent variables */

static int64_t count_components(const sal_model *model)
{
    return ((const mixture *)model->structure_data)->components;
}

static sal_status read_tables(const sal_model *model, double *log_weight, double *log_table,
                              sal_error *err)
{
    const mixture *m = model->structure_data;
    const sali_variable *variable = &model->space->variables[0]; /* all are alike */
    int64_t L = variable->states, V = model->space->n_variables;
    (void)err;
    for (int64_t k = 0; k < m->components; k++) {
        log_weight[k] = m->normalised ? -log((double)m->components) : 0;
        for (int64_t v = 0; v < L; v++) {
            log_table[k * V * L + v] = g_of(m, k, sali_level(variable, (int32_t)v));
        }
        for (int64_t i = 1; i < V; i++) {
            memcpy(log_table + (k * V + i) * L, log_table + k * V * L, (size_t)L * sizeof(double));
        }
    }
    return SAL_OK;
}

static const struct sali_products_rule rule = { count_components, read_tables };

/* Make the model known as a mixture of independent variables, with a copy of the mixture as its
 * data. */
static sal_status set_structure(sali_making *m, sal_model *model)
{
    mixture *of = SALI_NEW(mixture);
    if (!of) {
        return sali_fail_memory(m->err);
    }
    *of = *(const mixture *)m->finish_data;
    model->products = &rule;
    sali_model_set_structure(model, &sali_product_draws, of);
    return SAL_OK;
}

/* ---- the models */

/* Set of->log_scale to -log sum_u exp g_k(u), over the levels u of grid [levels], for each
 * component k. */
static sal_status find_scales(sali_making *m, mixture *of, int64_t levels, const double *grid)
{
    double *log_scale = SALI_KEEP(m, double, of->components);
    double *g = SALI_BORROW(m, double, levels);
    if (!log_scale || !g) {
        return sali_fail_memory(m->err);
    }
    for (int64_t k = 0; k < of->components; k++) {
        for (int64_t v = 0; v < levels; v++) {
            g[v] = g_of(of, k, grid[v]);
        }
        log_scale[k] = -sali_log_sum(levels, g);
    }
    of->log_scale = log_scale;
    return SAL_OK;
}

/* Create the variables, on an even grid from -1.5 to 3, and record *t [components, dim], the
 * arguments of the polynomials. *mixed is `form` completed by the settings; it becomes the
 * structure of the model. */
static sal_status shifted(sali_making *m, mixture form, sal_expr *t, mixture **mixed)
{
    int64_t levels = (int64_t)m->values[LEVELS], dim = (int64_t)m->values[DIM];
    int64_t K = (int64_t)m->values[COMPONENTS];
    double *grid = SALI_BORROW(m, double, levels), *shifts = SALI_BORROW(m, double, K);
    mixture *of = SALI_BORROW(m, mixture, 1);
    if (!grid || !shifts || !of) {
        return sali_fail_memory(m->err);
    }
    *of = form;
    of->components = K;
    of->normalised = m->values[NORMALISED] != 0;
    for (int64_t k = 0; k < levels; k++) {
        grid[k] = -1.5 + 4.5 * (double)k / (double)(levels - 1);
    }
    for (int64_t k = 0; k < K; k++) {
        shifts[k] = shift_of(of, k);
    }
    sal_block block = {
        .name = "s", .kind = SAL_ORDINAL, .count = dim, .states = levels, .levels = grid
    };
    sal_expr s = sal_scale(sali_making_blocks(m, 1, &block), of->factor);
    *t = sal_add(sal_reshape(s, SAL_SHAPE(1, dim)), sal_constant(m->tape, shifts, SAL_SHAPE(K, 1)));
    *mixed = of;
    m->finish = set_structure;
    m->finish_data = of;
    return of->normalised ? find_scales(m, of, levels, grid) : SAL_OK;
}

/* Record f from `sums` [components], the sum of each component's polynomials over the variables. */
static sal_status mix(sali_making *m, const mixture *of, sal_expr sums, sal_expr *f)
{
    if (!of->normalised) {
        *f = sal_logsumexp(sums);
        return SAL_OK;
    }
    double *weight = SALI_BORROW(m, double, of->components);
    if (!weight) {
        return sali_fail_memory(m->err);
    }
    for (int64_t k = 0; k < of->components; k++) {
        weight[k] = m->values[DIM] * of->log_scale[k] - log((double)of->components);
    }
    *f = sal_logsumexp(sal_add(sums, sal_constant(m->tape, weight, SAL_SHAPE(of->components))));
    return SAL_OK;
}

/* The step between shifts that are spread evenly over 0 .. -width. */
static double step_down(const sali_making *m, double width)
{
    double K = m->values[COMPONENTS];
    return K > 1 ? -width / (K - 1) : 0;
}

static double poly2(double t)
{
    return 1.5 - 2 * t - 6 * t * t;
}

static double poly4(double t)
{
    return -t + t * t - t * t * t - t * t * t * t;
}

static double poly4_twice(double t)
{
    return 2 * poly4(t);
}

static sal_status make_poly2(sali_making *m, sal_expr *f)
{
    mixture form = { .factor = 1, .step = 1.0 / 25, .from = 1, .polynomial = poly2 }, *of;
    sal_expr t = { 0 };
    if (m->values[SHIFT] == MINUS) {
        form.step = step_down(m, 2);
        form.from = 0;
    }
    sal_status status = shifted(m, form, &t, &of);
    if (status != SAL_OK) {
        return status;
    }
    sal_expr g =
        sal_sub(sal_scalar(m->tape, 1.5), sal_add(sal_scale(t, 2), sal_scale(sal_square(t), 6)));
    return mix(m, of, sal_sum_axis(g, 1), f);
}

static sal_status make_poly4(sali_making *m, sal_expr *f)
{
    mixture form = { .factor = 2, .offset = -1, .step = 3.0 / 50, .from = 1, .polynomial = poly4 };
    mixture *of;
    sal_expr t = { 0 };
    bool minus = m->values[SHIFT] == MINUS;
    if (minus) {
        form = (mixture){ .factor = 1, .step = step_down(m, 3), .polynomial = poly4_twice };
    }
    sal_status status = shifted(m, form, &t, &of);
    if (status != SAL_OK) {
        return status;
    }
    sal_expr t2 = sal_square(t); /* -t + t^2 - t^3 - t^4 */
    sal_expr g = sal_sub(sal_sub(t2, t), sal_mul(t2, sal_add(t, t2)));
    return mix(m, of, sal_sum_axis(minus ? sal_scale(g, 2) : g, 1), f);
}

#define SETTINGS(form)                                                                            \
    {                                                                                             \
        [DIM] = { "dim", 20, 1, 10000, true, "variables", NULL },                                 \
        [COMPONENTS] = { "components", 50, 1, 10000, true, "terms of the mixture", NULL },        \
        [LEVELS] = { "levels", 50, 2, 10000, true, "points from -1.5 to 3", NULL },               \
        [SHIFT] = { "shift",                                                                      \
                    PLUS,                                                                         \
                    0,                                                                            \
                    1,                                                                            \
                    true,                                                                         \
                    "plus: as printed; minus: as the authors' program, " form,                    \
                    shift_choices },                                                              \
        [NORMALISED] = {                                                                          \
            "normalised", 0, 0, 1, true, "1: a mean of components that are each normalised", NULL \
        },                                                                                        \
    }

const sali_builtin sali_builtin_ordinal_poly2 = {
    .name = "ordinal-poly2",
    .doc = "log sum_k exp(sum_i 1.5 - 2 t - 6 t^2), t = s_i + k/25",
    .source = "Rhodes & Gutmann 2022, eq. 18-19",
    .dtype = SAL_F64,
    .settings = SETTINGS("t = s_i - 2 (k-1)/(K-1)"),
    .formula = make_poly2,
};

const sali_builtin sali_builtin_ordinal_poly4 = {
    .name = "ordinal-poly4",
    .doc = "log sum_k exp(sum_i -t + t^2 - t^3 - t^4), t = 2 s_i - 1 + 3k/50",
    .source = "Rhodes & Gutmann 2022, eq. 18, 20",
    .dtype = SAL_F64,
    .settings = SETTINGS("twice the sum, t = s_i - 3 (k-1)/(K-1)"),
    .formula = make_poly4,
};
