/* A mixture of products of categorical distributions, the component summed out. */
#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/rng.h"
#include "models/zoo/builtin.h"
#include "models/log_sum.h"

enum { DIM, STATES, COMPONENTS, SCALE, SEED };

/* Of theta. */
#define MOST_NUMBERS 100000000

/* ---- starting values */

/* Make exp of a row sum to 1. */
static void normalise(int64_t n, double *a)
{
    double total = sali_log_sum(n, a);
    for (int64_t i = 0; i < n; i++) {
        a[i] -= total;
    }
}

/* Equal weights and proper distributions: Z = 1. */
static sal_status draw_parameters(sal_model *model, const double *values, sal_error *err)
{
    int64_t K = (int64_t)values[COMPONENTS], states = (int64_t)values[STATES];
    int64_t rows = K * (int64_t)values[DIM];
    double *theta = SALI_NEW_ARRAY(double, rows *states);
    if (!theta) {
        return sali_fail_memory(err);
    }
    sali_stream stream = { .seed = (uint64_t)values[SEED], .purpose = SALI_RNG_PARAMS };
    sali_rng_normal(&stream, rows * states, theta);
    for (int64_t i = 0; i < rows * states; i++) {
        theta[i] *= values[SCALE];
    }
    for (int64_t r = 0; r < rows; r++) {
        normalise(states, theta + r * states);
    }
    sal_status status = sal_model_set_params(model, "theta", theta, err);
    sali_free(theta);
    return status ? status : sali_builtin_fill(model, "log_weight", -log((double)K), err);
}

static sal_status make_mixture(const double *values, sal_dtype dtype, sal_model **out,
                               sal_error *err)
{
    int64_t dim = (int64_t)values[DIM], states = (int64_t)values[STATES];
    int64_t K = (int64_t)values[COMPONENTS];
    if (dim * states > MOST_NUMBERS / K) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "mixture: dim x states x components is %lld x %lld x %lld; at most %d",
                         (long long)dim, (long long)states, (long long)K, MOST_NUMBERS);
    }
    sal_tape *tape = sali_builtin_tape("x", SAL_CATEGORICAL, dim, states, dtype);
    if (!tape) {
        return sali_fail_memory(err);
    }
    sal_expr w = sal_param(tape, "log_weight", SAL_SHAPE(K));
    sal_expr theta = sal_param(tape, "theta", SAL_SHAPE(K, dim * states));
    sal_expr f = sal_logsumexp(sal_add(w, sal_matvec(theta, sal_state(tape))));
    sal_status status = sali_builtin_finish(tape, f, "mixture", out, err);
    return status ? status : draw_parameters(*out, values, err);
}

const sali_builtin sali_builtin_mixture = {
    .name = "mixture",
    .doc = "log sum_k exp(log_weight_k + theta_k'x), x the one-hot form of `dim` categorical "
           "variables",
    .source = "van den Hoek's thesis sec. 2.2.6, eq. 23; theta the normalised logarithms of "
              "exp N(0, scale^2), equal weights: log Z = 0",
    .dtype = SAL_F64,
    .parameters = { [DIM] = { "dim", 20, 1, 1e6, true, "number of variables", NULL },
                    [STATES] = { "states", 4, 2, 256, true, "states of a variable", NULL },
                    [COMPONENTS] = { "components", 5, 1, 1e4, true, "of the mixture", NULL },
                    [SCALE] = { "scale", 2, 0, 1e6, false,
                                "how far apart components are, and how sharp", NULL },
                    [SEED] = { "seed", 0, 0, 4294967295.0, true, "seed of theta", NULL } },
    .make = make_mixture,
};
