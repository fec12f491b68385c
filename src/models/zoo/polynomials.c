/* SPDX-License-Identifier: MIT */
/* Mixtures of fully factorised distributions over ordinal variables: f = log sum_k exp(sum_i
 * g_k(s_i)), each g_k a polynomial of the level. Rhodes & Gutmann 2022, section 5.1. */
#include "core/alloc.h"
#include "core/error.h"
#include "models/structure/product_draws.h"
#include "models/zoo/making.h"

enum { DIM, COMPONENTS, LEVELS };

/* ---- as a mixture of independent variables */

/* The polynomials in plain C: g_k(u), k = 1 .. components. */
typedef struct mixture {
    int64_t components;
    double (*g)(int64_t k, double u);
} mixture;

static int64_t count_components(const sal_model *model)
{
    return ((const mixture *)model->structure_data)->components;
}

static sal_status read_tables(const sal_model *model, double *log_weight, double *log_table,
                              sal_error *err)
{
    const mixture *m = model->structure_data;
    const sali_variable *variable = &model->space->variables[0]; /* all are alike */
    int64_t L = variable->states, rows = m->components * model->space->n_variables;
    (void)log_weight; /* 0 */
    (void)err;
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t v = 0; v < L; v++) {
            log_table[r * L + v] =
                m->g(r / model->space->n_variables + 1, sali_level(variable, (int32_t)v));
        }
    }
    return SAL_OK;
}

static const struct sali_products_rule rule = { count_components, read_tables };

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

/* t_ki = factor s_i + offset + step (k + 1) [components, dim], of variables on an even grid from
 * -1.5 to 3; `g` says what is made of it. */
static sal_status shifted(sali_making *m, double factor, double offset, double step,
                          double (*g)(int64_t k, double u), sal_expr *t)
{
    int64_t levels = (int64_t)m->values[LEVELS], dim = (int64_t)m->values[DIM];
    int64_t components = (int64_t)m->values[COMPONENTS];
    double *grid = SALI_BORROW(m, double, levels), *shifts = SALI_BORROW(m, double, components);
    mixture *of = SALI_BORROW(m, mixture, 1);
    if (!grid || !shifts || !of) {
        return sali_fail_memory(m->err);
    }
    for (int64_t k = 0; k < levels; k++) {
        grid[k] = -1.5 + 4.5 * (double)k / (double)(levels - 1);
    }
    for (int64_t k = 0; k < components; k++) {
        shifts[k] = offset + step * (double)(k + 1);
    }
    sal_block block = {
        .name = "s", .kind = SAL_ORDINAL, .count = dim, .states = levels, .levels = grid
    };
    sal_expr s = sal_scale(sali_making_blocks(m, 1, &block), factor);
    *t = sal_add(sal_reshape(s, SAL_SHAPE(1, dim)),
                 sal_constant(m->tape, shifts, SAL_SHAPE(components, 1)));
    *of = (mixture){ components, g };
    m->finish = set_structure;
    m->finish_data = of;
    return SAL_OK;
}

static double poly2(int64_t k, double u)
{
    double t = u + (double)k / 25;
    return 1.5 - 2 * t - 6 * t * t;
}

static double poly4(int64_t k, double u)
{
    double t = 2 * u - 1 + 3 * (double)k / 50;
    return -t + t * t - t * t * t - t * t * t * t;
}

static sal_status make_poly2(sali_making *m, sal_expr *f)
{
    sal_expr t = { 0 };
    sal_status status = shifted(m, 1, 0, 1.0 / 25, poly2, &t);
    sal_expr g =
        sal_sub(sal_scalar(m->tape, 1.5), sal_add(sal_scale(t, 2), sal_scale(sal_square(t), 6)));
    *f = sal_logsumexp(sal_sum_axis(g, 1));
    return status;
}

static sal_status make_poly4(sali_making *m, sal_expr *f)
{
    sal_expr t = { 0 };
    sal_status status = shifted(m, 2, -1, 3.0 / 50, poly4, &t);
    sal_expr t2 = sal_square(t); /* -t + t^2 - t^3 - t^4 */
    *f = sal_logsumexp(sal_sum_axis(sal_sub(sal_sub(t2, t), sal_mul(t2, sal_add(t, t2))), 1));
    return status;
}

#define SETTINGS                                                                           \
    {                                                                                      \
        [DIM] = { "dim", 20, 1, 10000, true, "variables", NULL },                          \
        [COMPONENTS] = { "components", 50, 1, 10000, true, "terms of the mixture", NULL }, \
        [LEVELS] = { "levels", 50, 2, 10000, true, "points from -1.5 to 3", NULL },        \
    }

const sali_builtin sali_builtin_ordinal_poly2 = {
    .name = "ordinal-poly2",
    .doc = "log sum_k exp(sum_i 1.5 - 2 t - 6 t^2), t = s_i + k/25",
    .source = "Rhodes & Gutmann 2022, eq. 18-19",
    .dtype = SAL_F64,
    .settings = SETTINGS,
    .formula = make_poly2,
};

const sali_builtin sali_builtin_ordinal_poly4 = {
    .name = "ordinal-poly4",
    .doc = "log sum_k exp(sum_i -t + t^2 - t^3 - t^4), t = 2 s_i - 1 + 3k/50",
    .source = "Rhodes & Gutmann 2022, eq. 18, 20",
    .dtype = SAL_F64,
    .settings = SETTINGS,
    .formula = make_poly4,
};
