/* Independent variables: the distributions that samplers should find easy. */
#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/rng.h"
#include "models/zoo/builtin.h"
#include "models/structure/products.h"

static int64_t one_component(const sal_model *model)
{
    (void)model;
    return 1;
}

/* f = theta'x of block "x". */
static sal_status make_linear(sal_kind kind, int64_t dim, int64_t states, const char *name,
                              const struct sali_products_rule *rule, sal_dtype dtype,
                              sal_model **out, sal_error *err)
{
    sal_tape *tape = sali_builtin_tape("x", kind, dim, states, dtype);
    if (!tape) {
        return sali_fail_memory(err);
    }
    int64_t width = kind == SAL_CATEGORICAL ? dim * states : dim;
    sal_shape shape = kind == SAL_CATEGORICAL ? SAL_SHAPE(dim, states) : SAL_SHAPE(dim);
    sal_expr theta = sal_param(tape, "theta", shape);
    sal_expr f = sal_dot(sal_reshape(theta, SAL_SHAPE(width)), sal_state(tape));
    sal_status status = sali_builtin_finish(tape, f, name, out, err);
    if (status == SAL_OK) {
        (*out)->products = rule;
    }
    return status;
}

/* ---- Bernoulli */

enum { BERNOULLI_DIM, BERNOULLI_P, BERNOULLI_SCALE, BERNOULLI_SEED };

/* Rows (0, theta_i), spread from the end so that none is overwritten before it is read. */
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

static sal_status make_bernoulli(const double *values, sal_dtype dtype, sal_model **out,
                                 sal_error *err)
{
    int64_t dim = (int64_t)values[BERNOULLI_DIM];
    double *theta = SALI_NEW_ARRAY(double, dim);
    if (!theta) {
        return sali_fail_memory(err);
    }
    sal_status status =
        make_linear(SAL_BINARY, dim, 0, "bernoulli", &bernoulli_rule, dtype, out, err);
    sali_stream stream = { .seed = (uint64_t)values[BERNOULLI_SEED], .purpose = SALI_RNG_PARAMS };
    sali_rng_normal(&stream, dim, theta);
    for (int64_t i = 0; i < dim; i++) {
        theta[i] = log(values[BERNOULLI_P]) - log1p(-values[BERNOULLI_P]) +
                   values[BERNOULLI_SCALE] * theta[i];
    }
    status = status ? status : sal_model_set_params(*out, "theta", theta, err);
    sali_free(theta);
    return status;
}

const sali_builtin sali_builtin_bernoulli = {
    .name = "bernoulli",
    .doc = "theta'x, x in {0,1}^dim: independent; theta ~ N(log(p / (1 - p)), scale^2)",
    .source = "Grathwohl et al. 2021 table 1",
    .dtype = SAL_F64,
    .parameters = { [BERNOULLI_DIM] = { "dim", 100, 1, 1e7, true, "number of variables", NULL },
                    [BERNOULLI_P] = { "p", 0.5, 1e-6, 1 - 1e-6, false,
                                      "probability of 1 where scale is 0", NULL },
                    [BERNOULLI_SCALE] = { "scale", 1, 0, 1e6, false, "standard deviation of theta",
                                          NULL },
                    [BERNOULLI_SEED] = { "seed", 0, 0, 4294967295.0, true, "seed of theta",
                                         NULL } },
    .make = make_bernoulli,
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

static sal_status make_categorical(const double *values, sal_dtype dtype, sal_model **out,
                                   sal_error *err)
{
    sal_status status = make_linear(SAL_CATEGORICAL, (int64_t)values[DIM], (int64_t)values[STATES],
                                    "categorical", &categorical_rule, dtype, out, err);
    return status ? status
                  : sali_builtin_randomise(*out, "theta", values[SCALE], (uint64_t)values[SEED], 0,
                                           err);
}

const sali_builtin sali_builtin_categorical = {
    .name = "categorical",
    .doc = "sum_i theta_i'x_i, x_i one of `states`: independent; theta ~ N(0, scale^2)",
    .source = "Grathwohl et al. 2021 table 1",
    .dtype = SAL_F64,
    .parameters = { [DIM] = { "dim", 20, 1, 1e6, true, "number of variables", NULL },
                    [STATES] = { "states", 5, 2, 256, true, "states of a variable", NULL },
                    [SCALE] = { "scale", 1, 0, 1e6, false, "standard deviation of theta", NULL },
                    [SEED] = { "seed", 0, 0, 4294967295.0, true, "seed of theta", NULL } },
    .make = make_categorical,
};
