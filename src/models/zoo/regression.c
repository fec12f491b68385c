/* SPDX-License-Identifier: MIT */
/* Sparse Bayesian linear regression: the posterior of which columns of X explain y (Rhodes &
 * Gutmann 2022, section 5.2 and appendix K). With k = sum s, X_s the selected columns,
 *
 *     y = X_s w + sigma nu,  (w, sigma^2) ~ N(w | 0, sigma^2 A_s^-1) InvGamma(alpha_sigma,
 *     beta_sigma),           s_i ~ Bernoulli(pi), pi ~ Beta(alpha_pi, beta_pi),
 *
 * A = X'X / g + lambda I and B = A + X'X, the weights, sigma and pi integrated out:
 *
 *     f(s) = log Gamma(k + alpha_pi) + log Gamma(D - k + beta_pi) + (log |A_s| - log |B_s|) / 2
 *            - (alpha_sigma + N/2) log(2 beta_sigma + y'y - y'X_s B_s^-1 X_s'y).
 *
 * Equation 46 as printed lacks the square root of the determinants and the inverse, and its
 * matrices are g times these, with g lambda in place of lambda. Its matrices are D x D, made of the
 * columns X_i s_i, and det and inverse of these are also used between the states. So this f has the
 * paper's gradient: its entry for a selected variable accounts for the data, but for a variable
 * that is not selected it only contains the prior. */
#include <math.h>

#include "core/error.h"
#include "core/rng.h"
#include "models/zoo/making.h"

enum {
    DIM,
    ROWS,
    IRRELEVANT,
    CHANCE,
    SEED,
    G_PRIOR,
    LAMBDA,
    ALPHA_SIGMA,
    BETA_SIGMA,
    ALPHA_PI,
    BETA_PI
};

/* Number of columns drawn at random; further columns repeat them. */
#define COVARIATES 5
#define MOST_COLUMNS 4096

/* Sums over the data from which f is computed. */
typedef struct data {
    int64_t rows, columns;
    double *XX; /* [columns x columns] X'X */
    double *Xy; /* [columns] X'y */
    double yy;  /* y'y */
} data;

/* Add an observation, x [columns] and y, to the sums. */
static void add_row(data *d, const double *x, double y)
{
    for (int64_t i = 0; i < d->columns; i++) {
        d->Xy[i] += x[i] * y;
        for (int64_t j = 0; x[i] != 0 && j < d->columns; j++) {
            d->XX[i * d->columns + j] += x[i] * x[j];
        }
    }
    d->yy += y * y;
}

/* ---- the formula */

static double g_of(const data *d, const double *values)
{
    return values[G_PRIOR] > 0 ? values[G_PRIOR] : (double)d->rows;
}

/* The constant factor X'X. */
static sal_expr scaled_products(sal_tape *tape, const data *d, double factor)
{
    sal_expr XX = sal_constant(tape, d->XX, SAL_SHAPE(d->columns, d->columns));
    return sal_scale(XX, factor);
}

/* log Gamma(k + alpha) + log Gamma(D - k + beta). */
static sal_expr log_prior(sal_tape *tape, sal_expr k, int64_t D, double alpha, double beta)
{
    return sal_add(sal_lgamma(sal_add(k, sal_scalar(tape, alpha))),
                   sal_lgamma(sal_sub(sal_scalar(tape, (double)D + beta), k)));
}

/* With D = diag(s) and G = X'X / (g lambda), A_s / lambda is I + D G D, and B_s / lambda is
 * I + (1 + g) D G D. */
static sal_expr log_likelihood(sal_tape *tape, sal_expr s, const data *d, const double *values)
{
    double g = g_of(d, values), lambda = values[LAMBDA];
    sal_expr A = scaled_products(tape, d, 1 / (g * lambda));
    sal_expr B = scaled_products(tape, d, (1 + g) / (g * lambda));
    sal_expr Xy = sal_constant(tape, d->Xy, SAL_SHAPE(d->columns));
    sal_expr dets = sal_sub(sal_ridge_logdet(s, A), sal_ridge_logdet(s, B));
    sal_expr explained = sal_scale(sal_ridge_quad_inverse(s, B, Xy), 1 / lambda);
    /* negative only by rounding */
    sal_expr rest = sal_clamp(sal_sub(sal_scalar(tape, d->yy), explained), 0, INFINITY);
    sal_expr fit = sal_log(sal_add(sal_scalar(tape, 2 * values[BETA_SIGMA]), rest));
    return sal_sub(sal_scale(dets, 0.5),
                   sal_scale(fit, values[ALPHA_SIGMA] + 0.5 * (double)d->rows));
}

/* Log-probability of n independent Bernoulli(p) variables s. */
static sal_expr log_bernoulli(sal_tape *tape, sal_expr s, double n, double p)
{
    return sal_add(sal_scale(sal_sum(s), log(p) - log1p(-p)), sal_scalar(tape, n * log1p(-p)));
}

/* SAL_ERR_ARGUMENT if lambda is so small that rounding may make B not positive definite when
 * columns repeat each other. */
static sal_status check_ridge(const data *d, double g, double lambda, sal_dtype dtype,
                              sal_error *err)
{
    double largest = 0, epsilon = dtype == SAL_F32 ? 0x1p-23 : 0x1p-52;
    for (int64_t i = 0; i < d->columns; i++) {
        largest = fmax(largest, d->XX[i * (d->columns + 1)] * (1 + g) / g);
    }
    double least = epsilon * (double)d->columns * largest;
    return lambda > least
               ? SAL_OK
               : sali_fail(err, SAL_ERR_ARGUMENT,
                           "regression: lambda = %g is lost beside (1 + 1/g) X'X with entries up "
                           "to %g; scale the columns, or take lambda above %g",
                           lambda, largest, least);
}

/* ---- the paper's data */

/* Draw row number `row`: 5 covariates uniform on {0, 1, 2}, each repeated among the columns, and y,
 * the sum of the covariates. By the indices in the paper the copy of x_1 would be at j = 10; here,
 * as its text says, x_6 is the copy. */
static void draw_row(uint64_t seed, int64_t row, int64_t columns, double *x, double *y)
{
    sali_stream stream = { .seed = seed, .step = (uint64_t)row, .purpose = SALI_RNG_PARAMS };
    *y = 0;
    for (int64_t j = 0; j < columns; j++) {
        x[j] = j < COVARIATES ? (double)sali_rng_below(&stream, (uint32_t)j, 3) : x[j - COVARIATES];
        *y += j < COVARIATES ? x[j] : 0;
    }
}

/* ---- data of a file */

/* SAL_ERR_DATA unless the table has 2 to MOST_COLUMNS + 1 columns of finite numbers up to 1e100. */
static sal_status check_table(const sal_array *table, sal_error *err)
{
    if (table->ndim != 2 || table->shape[1] < 2 || table->shape[1] > MOST_COLUMNS + 1) {
        return sali_fail(err, SAL_ERR_DATA,
                         "regression: an array of %d dimensions, %lld columns; expected rows of 1 "
                         "to %d explanatory variables and, last, the response",
                         table->ndim, (long long)(table->ndim > 1 ? table->shape[1] : 1),
                         MOST_COLUMNS);
    }
    for (int64_t i = 0; i < table->count; i++) {
        if (!isfinite(table->values[i]) || fabs(table->values[i]) > 1e100) {
            return sali_fail(err, SAL_ERR_DATA,
                             "regression: row %lld, column %lld is %g; expected a finite number, "
                             "1e100 at most",
                             (long long)(i / table->shape[1]), (long long)(i % table->shape[1]),
                             table->values[i]);
        }
    }
    return SAL_OK;
}

/* ---- the model */

/* Create the variables and record f from the sums over the data. Returns: SAL_ERR_ARGUMENT if
 * lambda is too small. */
static sal_status record(sali_making *m, const data *d, sal_expr *f)
{
    const double *values = m->values;
    int64_t irrelevant = (int64_t)values[IRRELEVANT];
    sal_status status = check_ridge(d, g_of(d, values), values[LAMBDA], m->dtype, m->err);
    if (status != SAL_OK) {
        return status;
    }
    sal_block blocks[] = { { .name = "s", .kind = SAL_BINARY, .count = d->columns },
                           { .name = "irrelevant", .kind = SAL_BINARY, .count = irrelevant } };
    sali_making_blocks(m, irrelevant > 0 ? 2 : 1, blocks);
    sal_expr s = sal_state_block(m->tape, "s");
    *f = sal_add(log_prior(m->tape, sal_sum(s), d->columns, values[ALPHA_PI], values[BETA_PI]),
                 log_likelihood(m->tape, s, d, values));
    if (irrelevant > 0) {
        sal_expr rest = sal_state_block(m->tape, "irrelevant");
        *f = sal_add(*f, log_bernoulli(m->tape, rest, (double)irrelevant, values[CHANCE]));
    }
    return SAL_OK;
}

static sal_status regression(sali_making *m, sal_expr *f)
{
    const sal_array *table = m->content ? &m->content->array : NULL;
    sal_status status = table ? check_table(table, m->err) : SAL_OK;
    if (status != SAL_OK) {
        return status;
    }
    int64_t rows = table ? table->shape[0] : (int64_t)m->values[ROWS];
    int64_t columns = table ? table->shape[1] - 1 : (int64_t)m->values[DIM];
    double *drawn = SALI_BORROW(m, double, columns + 1);
    data d = { .rows = rows,
               .columns = columns,
               .XX = SALI_BORROW(m, double, columns *columns),
               .Xy = SALI_BORROW(m, double, columns) };
    if (!drawn || !d.XX || !d.Xy) {
        return sali_fail_memory(m->err);
    }
    for (int64_t n = 0; n < rows; n++) {
        const double *row = table ? table->values + n * (columns + 1) : drawn;
        if (!table) {
            draw_row(m->seed, n, columns, drawn, &drawn[columns]);
        }
        add_row(&d, row, row[columns]);
    }
    return record(m, &d, f);
}

const sali_builtin sali_builtin_regression = {
    .name = "regression",
    .doc =
        "log p(s | X, y) of y = X(s w) + sigma nu, (w, sigma^2) integrated out, and `irrelevant` "
        "Bernoulli(p) variables; a file has rows of X and, last, y",
    .source = "Rhodes & Gutmann 2022, sec. 5.2, appendix K",
    .dtype = SAL_F64,
    .settings = { [DIM] = { "dim", 20, COVARIATES, 1000, true,
                            "columns of X: 5 covariates again and again", NULL },
                  [ROWS] = { "rows", 20, 1, 1e5, true, "observations (without a file)", NULL },
                  [IRRELEVANT] = { "irrelevant", 80, 0, 1e6, true, "variables beside X", NULL },
                  [CHANCE] = { "p", 0.001, 1e-12, 0.999, false, "their chance to be 1", NULL },
                  [SEED] = SALI_SEED("X"),
                  [G_PRIOR] = { "g", 0, 0, 1e12, false, "of the g-prior; 0: the number of rows",
                                NULL },
                  [LAMBDA] = { "lambda", 1e-3, 1e-9, 1e12, false, "ridge", NULL },
                  [ALPHA_SIGMA] = { "alpha_sigma", 0.1, 1e-6, 1e6, false,
                                    "shape of the noise's inverse gamma prior", NULL },
                  [BETA_SIGMA] = { "beta_sigma", 0.1, 1e-6, 1e6, false, "its scale", NULL },
                  [ALPHA_PI] = { "alpha_pi", 1e-3, 1e-6, 1e6, false,
                                 "Beta prior of the inclusion rate", NULL },
                  [BETA_PI] = { "beta_pi", 10, 1e-6, 1e6, false, "the same", NULL } },
    .formula = regression,
    .content = SALI_CONTENT_ARRAY,
    .unused = 1u << DIM | 1u << ROWS | 1u << SEED,
};
