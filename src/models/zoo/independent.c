/* SPDX-License-Identifier: MIT */
/* Independent variables: the distributions that samplers should find easy. */
#include <math.h>

#include "core/error.h"
#include "core/rng.h"
#include "models/structure/products.h"
#include "models/zoo/making.h"

static int64_t one_component(const sal_model *model)
{
    (void)model;
    return 1;
}

static sal_status set_products(sali_making *m, sal_model *model)
{
    model->products = m->finish_data;
    return SAL_OK;
}

/* ---- Bernoulli */

enum { BERNOULLI_DIM, BERNOULLI_P, BERNOULLI_SCALE, BERNOULLI_SEED };

/* Fill log_table with rows (0, theta_i), from the last row back, as the parameters are read into
 * the same array. */
static sal_status read_bernoulli(const sal_model *model, double *log_weight, double *log_table,
                                 sal_error *err)
{
    (void)log_weight;
    sal_status status = sal_model_get_params(model, "theta", log_table, err);
    for (int64_t i = model->space->n_variables - 1; i >= 0; i--) {
        log_table[2 * i + 1] = log_table[i];
        log_table[2 * i] = 0;
    }
    return status;
}

static const struct sali_products_rule bernoulli_rule = { one_component, read_bernoulli };

static sal_status bernoulli(sali_making *m, sal_expr *f)
{
    const double *values = m->values;
    int64_t dim = (int64_t)values[BERNOULLI_DIM];
    sali_stream stream = sali_making_stream(m, 0);
    double *theta = SALI_BORROW(m, double, dim);
    if (!theta) {
        return sali_fail_memory(m->err);
    }
    sali_rng_normal(&stream, dim, theta);
    for (int64_t i = 0; i < dim; i++) {
        theta[i] = log(values[BERNOULLI_P]) - log1p(-values[BERNOULLI_P]) +
                   values[BERNOULLI_SCALE] * theta[i];
    }
    sal_expr x = sali_making_state(m, "x", SAL_BINARY, dim, 0);
    *f = sal_dot(sali_making_param(m, "theta", SAL_SHAPE(dim), theta), x);
    m->finish = set_products;
    m->finish_data = &bernoulli_rule;
    return SAL_OK;
}

const sali_builtin sali_builtin_bernoulli = {
    .name = "bernoulli",
    .doc = "theta'x, x in {0,1}^dim: independent; theta ~ N(log(p / (1 - p)), scale^2)",
    .source = "Grathwohl et al. 2021 table 1",
    .dtype = SAL_F64,
    .settings = { [BERNOULLI_DIM] = { "dim", 100, 1, 1e7, true, "number of variables", NULL },
                  [BERNOULLI_P] = { "p", 0.5, 1e-6, 1 - 1e-6, false,
                                    "probability of 1 where scale is 0", NULL },
                  [BERNOULLI_SCALE] = SALI_DEVIATION(1, "theta"),
                  [BERNOULLI_SEED] = SALI_SEED("theta") },
    .formula = bernoulli,
};

/* ---- categorical */

enum { DIM, STATES, SCALE, SEED };

static sal_status read_categorical(const sal_model *model, double *log_weight, double *log_table,
                                   sal_error *err)
{
    (void)log_weight;
    return sal_model_get_params(model, "theta", log_table, err);
}

static const struct sali_products_rule categorical_rule = { one_component, read_categorical };

static sal_status categorical(sali_making *m, sal_expr *f)
{
    int64_t dim = (int64_t)m->values[DIM], states = (int64_t)m->values[STATES];
    sal_expr x = sali_making_state(m, "x", SAL_CATEGORICAL, dim, states);
    sal_expr theta = sali_making_normal(m, "theta", SAL_SHAPE(dim, states), m->values[SCALE], 0);
    *f = sal_dot(sal_reshape(theta, SAL_SHAPE(dim * states)), x);
    m->finish = set_products;
    m->finish_data = &categorical_rule;
    return SAL_OK;
}

const sali_builtin sali_builtin_categorical = {
    .name = "categorical",
    .doc = "sum_i theta_i'x_i, x_i one of `states`: independent; theta ~ N(0, scale^2)",
    .source = "Grathwohl et al. 2021 table 1",
    .dtype = SAL_F64,
    .settings = { [DIM] = { "dim", 20, 1, 1e6, true, "number of variables", NULL },
                  [STATES] = { "states", 5, 2, 256, true, "states of a variable", NULL },
                  [SCALE] = SALI_DEVIATION(1, "theta"),
                  [SEED] = SALI_SEED("theta") },
    .formula = categorical,
};
