/* Mixtures of fully factorised distributions over ordinal variables: f = log sum_k exp(sum_i
 * g_k(s_i)), each g_k a polynomial of the level. Rhodes & Gutmann 2022, section 5.1. */
#include "ad/tape.h"
#include "core/alloc.h"
#include "core/error.h"
#include "models/zoo/builtin.h"
#include "models/structure/product_draws.h"

enum { DIM, COMPONENTS, LEVELS };

/* "dim" variables on an even grid from -1.5 to 3; NULL when out of memory. */
static sal_tape *make_tape(const double *values, sal_dtype dtype)
{
    int64_t levels = (int64_t)values[LEVELS];
    double *grid = SALI_NEW_ARRAY(double, levels);
    sal_space *space = sal_space_create();
    sal_tape *tape = NULL;
    for (int64_t k = 0; grid && k < levels; k++) {
        grid[k] = -1.5 + 4.5 * (double)k / (double)(levels - 1);
    }
    sal_block block = { .name = "s",
                        .kind = SAL_ORDINAL,
                        .count = (int64_t)values[DIM],
                        .states = levels,
                        .levels = grid };
    if (grid && space && sal_space_add(space, &block, NULL) == SAL_OK) {
        tape = sal_tape_create(space, dtype);
    }
    sal_space_destroy(space);
    sali_free(grid);
    return tape;
}

/* t_ki = factor s_i + offset + step (k + 1): [components, dim]. */
static sal_expr shifted(sal_tape *tape, const double *values, double factor, double offset,
                        double step)
{
    int64_t components = (int64_t)values[COMPONENTS], dim = (int64_t)values[DIM];
    double *shifts = SALI_NEW_ARRAY(double, components);
    sal_expr s = sal_reshape(sal_scale(sal_state(tape), factor), SAL_SHAPE(1, dim));
    if (!shifts) {
        return sali_latch(tape, "", 0, SAL_ERR_MEMORY, "out of memory");
    }
    for (int64_t k = 0; k < components; k++) {
        shifts[k] = offset + step * (double)(k + 1);
    }
    sal_expr t = sal_add(s, sal_constant(tape, shifts, SAL_SHAPE(components, 1)));
    sali_free(shifts);
    return t;
}

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

/* The model of the tape; `g` says what its terms are. */
static sal_status finish(sal_tape *tape, sal_expr terms, const double *values,
                         double (*g)(int64_t k, double u), sal_model **out, sal_error *err)
{
    mixture *m = SALI_NEW(mixture);
    if (!m) {
        sal_tape_destroy(tape);
        return sali_fail_memory(err);
    }
    *m = (mixture){ (int64_t)values[COMPONENTS], g };
    sal_status status = sali_builtin_finish(tape, sal_logsumexp(sal_sum_axis(terms, 1)),
                                            "ordinal mixture", out, err);
    if (status != SAL_OK) {
        sali_free(m);
        return status;
    }
    (*out)->products = &rule;
    sali_model_set_structure(*out, &sali_product_draws, m);
    return SAL_OK;
}

/* ---- the models */

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

static sal_status make_poly2(const double *values, sal_dtype dtype, sal_model **out, sal_error *err)
{
    sal_tape *tape = make_tape(values, dtype);
    if (!tape) {
        return sali_fail_memory(err);
    }
    sal_expr t = shifted(tape, values, 1, 0, 1.0 / 25);
    sal_expr g =
        sal_sub(sal_scalar(tape, 1.5), sal_add(sal_scale(t, 2), sal_scale(sal_square(t), 6)));
    return finish(tape, g, values, poly2, out, err);
}

static sal_status make_poly4(const double *values, sal_dtype dtype, sal_model **out, sal_error *err)
{
    sal_tape *tape = make_tape(values, dtype);
    if (!tape) {
        return sali_fail_memory(err);
    }
    sal_expr t = shifted(tape, values, 2, -1, 3.0 / 50), t2 = sal_square(t);
    sal_expr g = sal_sub(sal_sub(t2, t), sal_mul(t2, sal_add(t, t2))); /* -t + t^2 - t^3 - t^4 */
    return finish(tape, g, values, poly4, out, err);
}

#define PARAMETERS                                                                         \
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
    .parameters = PARAMETERS,
    .make = make_poly2,
};

const sali_builtin sali_builtin_ordinal_poly4 = {
    .name = "ordinal-poly4",
    .doc = "log sum_k exp(sum_i -t + t^2 - t^3 - t^4), t = 2 s_i - 1 + 3k/50",
    .source = "Rhodes & Gutmann 2022, eq. 18, 20",
    .dtype = SAL_F64,
    .parameters = PARAMETERS,
    .make = make_poly4,
};
