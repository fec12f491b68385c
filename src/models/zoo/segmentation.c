/* Segmentation of an image: the posterior of a picture x of two colours, an Ising model a priori,
 * of which y is seen, y_i ~ N(mu x_i, sigma^2). The four cases of the paper, all with sigma = 3 and
 * side = 30, the standard values here:
 *
 *     1 independent, noisy   segmentation:lambda=0,mu=1
 *     2 independent, clean   segmentation:lambda=0,mu=3
 *     3 dependent, noisy     segmentation:lambda=1,mu=1
 *     4 dependent, clean     segmentation:lambda=1,mu=3
 *
 * Its picture is not described; ours is a disc. */
#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/rng.h"
#include "models/zoo/builtin.h"
#include "models/zoo/lattice.h"
#include "models/statistic.h"

enum { SIDE, LAMBDA, MU, SIGMA, SEED, CYCLIC, PIXELS, PICTURE };
enum { CLEAN, OBSERVED };

/* Sums of alpha stay finite. */
#define LARGEST 1e30

/* Normal numbers of one stream. */
#define MOST_PIXELS (INT64_C(1) << 25)

static const char *const pixel_choices[] = { "clean", "observed", NULL };

/* ---- pictures */

/* A disc in the middle that covers about a third: 1 in it, -1 around it. */
static void draw_disc(int64_t side, double *x)
{
    double middle = (double)(side - 1) / 2, radius = (double)side / 3;
    for (int64_t i = 0; i < side * side; i++) {
        double dr = (double)(i / side) - middle, dc = (double)(i % side) - middle;
        x[i] = dr * dr + dc * dc <= radius * radius ? 1 : -1;
    }
}

/* Any numbers become -1 (the smallest) to 1 (the largest); all equal: 0. */
static void stretch(int64_t n, double *x)
{
    double low = x[0], high = x[0];
    for (int64_t i = 0; i < n; i++) {
        low = fmin(low, x[i]);
        high = fmax(high, x[i]);
    }
    for (int64_t i = 0; i < n; i++) {
        x[i] = high > low ? 2 * ((x[i] / 2 - low / 2) / (high / 2 - low / 2)) - 1 : 0;
    }
}

static sal_status observe(const double *values, int64_t n, double *y, sal_error *err)
{
    sali_stream stream = { .seed = (uint64_t)values[SEED], .purpose = SALI_RNG_PARAMS };
    double *noise = SALI_NEW_ARRAY(double, n);
    if (!noise) {
        return sali_fail_memory(err);
    }
    sali_rng_normal(&stream, n, noise);
    for (int64_t i = 0; i < n; i++) {
        y[i] = values[MU] * y[i] + values[SIGMA] * noise[i];
    }
    sali_free(noise);
    return SAL_OK;
}

/* ---- the picture that was observed, where it is known */

/* Share of the pixels of the other colour; those between two colours are none. */
static double wrong_pixels(const sal_model *model, const int32_t *codes)
{
    const double *truth = model->statistic_data;
    int64_t wrong = 0, n = model->space->n_variables;
    for (int64_t i = 0; i < n; i++) {
        wrong += codes[i] ? truth[i] < 0 : truth[i] > 0;
    }
    return (double)wrong / (double)n;
}

static const sali_statistic error_statistic = { "wrong pixels (share)", wrong_pixels, sali_free };

/* ---- the posterior of y [rows x columns], eq. 7 */

/* y becomes alpha. */
static sal_status weigh(const double *values, int64_t n, double *y, sal_error *err)
{
    for (int64_t i = 0; i < n; i++) {
        y[i] *= values[MU] / (values[SIGMA] * values[SIGMA]);
        if (!(fabs(y[i]) <= LARGEST)) {
            return sali_fail(err, SAL_ERR_DATA,
                             "segmentation: alpha of pixel %lld is %g; expected a size of at most "
                             "%g",
                             (long long)i, y[i], LARGEST);
        }
    }
    return SAL_OK;
}

static sal_status make_posterior(const double *values, int64_t rows, int64_t columns,
                                 const double *alpha, sal_dtype dtype, sal_model **out,
                                 sal_error *err)
{
    int64_t n = rows * columns, *pairs = SALI_NEW_ARRAY(int64_t, 4 * n);
    double *ones = SALI_NEW_ARRAY(double, 2 * n);
    sal_tape *tape = sali_builtin_tape("pixel", SAL_SPIN, n, 0, dtype);
    sal_status status = SAL_OK;
    if (!pairs || !ones || !tape) {
        sal_tape_destroy(tape);
        status = sali_fail_memory(err);
        goto done;
    }
    int64_t edges = sali_lattice_rectangle(rows, columns, values[CYCLIC] != 0, pairs);
    sal_expr x = sal_state(tape), f = sal_dot(sal_param(tape, "alpha", SAL_SHAPE(n)), x);
    for (int64_t k = 0; k < 2 * n; k++) {
        ones[k] = 1;
    }
    if (edges > 0) {
        sal_expr w = sal_mul(sal_param(tape, "lambda", SAL_SCALAR),
                             sal_constant(tape, ones, SAL_SHAPE(edges)));
        f = sal_add(f, sal_edges(x, w, edges, pairs));
    }
    status = sali_builtin_finish(tape, f, "segmentation", out, err);
    status = status ? status : sal_model_set_params(*out, "alpha", alpha, err);
    if (status == SAL_OK && edges > 0) {
        status = sal_model_set_params(*out, "lambda", &values[LAMBDA], err);
    }
done:
    sali_free(pairs);
    sali_free(ones);
    return status;
}

/* Give the truth, which may be NULL, to a model that could be made. */
static sal_status finish(sal_status status, double *truth, sal_model **out)
{
    if (status == SAL_OK && truth) {
        sali_model_set_statistic(*out, &error_statistic, truth);
    } else {
        sali_free(truth);
    }
    return status;
}

static sal_status make(const double *values, sal_dtype dtype, sal_model **out, sal_error *err)
{
    int64_t side = (int64_t)values[SIDE];
    double *y = SALI_NEW_ARRAY(double, side *side);
    if (!y) {
        return sali_fail_memory(err);
    }
    draw_disc(side, y);
    double *truth = sali_memdup(y, side * side, sizeof *y);
    sal_status status = truth ? SAL_OK : sali_fail_memory(err);
    status = status ? status : observe(values, side * side, y, err);
    status = status ? status : weigh(values, side * side, y, err);
    status = status ? status : make_posterior(values, side, side, y, dtype, out, err);
    sali_free(y);
    return finish(status, truth, out);
}

/* The picture asked for: its numbers [*rows x *columns], in the array's memory. */
static sal_status choose_picture(const sali_array *array, int64_t picture, const double **values,
                                 int64_t *rows, int64_t *columns, sal_error *err)
{
    int64_t pictures = array->ndim == 3 ? array->shape[0] : 1;
    if (array->ndim != 2 && array->ndim != 3) {
        return sali_fail(err, SAL_ERR_DATA,
                         "segmentation: an array of %d dimensions; expected a picture [rows, "
                         "columns] or pictures [n, rows, columns]",
                         array->ndim);
    }
    if (picture >= pictures) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "segmentation: picture=%lld; the file has %lld, numbered from 0",
                         (long long)picture, (long long)pictures);
    }
    *rows = array->shape[array->ndim - 2];
    *columns = array->shape[array->ndim - 1];
    if (*rows < 1 || *columns < 1 || *rows > MOST_PIXELS / *columns) {
        return sali_fail(err, SAL_ERR_DATA,
                         "segmentation: a picture of %lld x %lld pixels; expected 1 to %lld",
                         (long long)*rows, (long long)*columns, (long long)MOST_PIXELS);
    }
    *values = array->values + picture * *rows * *columns;
    return SAL_OK;
}

static sal_status make_from_file(const double *values, const sali_content *content, sal_dtype dtype,
                                 sal_model **out, sal_error *err)
{
    const double *picture = NULL;
    int64_t rows = 0, columns = 0;
    sal_status status = sali_builtin_refuse(&sali_builtin_segmentation, values, 1u << SIDE, err);
    status = status ? status
                    : choose_picture(&content->array, (int64_t)values[PICTURE], &picture, &rows,
                                     &columns, err);
    if (status != SAL_OK) {
        return status;
    }
    double *y = sali_memdup(picture, rows * columns, sizeof *y);
    if (!y) {
        return sali_fail_memory(err);
    }
    double *truth = NULL;
    if (values[PIXELS] == CLEAN) {
        stretch(rows * columns, y);
        truth = sali_memdup(y, rows * columns, sizeof *y);
        status = truth ? SAL_OK : sali_fail_memory(err);
        status = status ? status : observe(values, rows * columns, y, err);
    }
    status = status ? status : weigh(values, rows * columns, y, err);
    status = status ? status : make_posterior(values, rows, columns, y, dtype, out, err);
    sali_free(y);
    return finish(status, truth, out);
}

const sali_builtin sali_builtin_segmentation = {
    .name = "segmentation",
    .doc = "sum_i alpha_i x_i + lambda sum_ij x_i x_j over a lattice, x in {-1,+1}^pixels, alpha = "
           "mu y / sigma^2; y: a disc or a file's picture, times mu, plus noise",
    .source = "Sansone 2022 sec. 5.1, eq. 7",
    .dtype = SAL_F32,
    .parameters = { [SIDE] = { "side", 30, 1, 5000, true, "pixels along one side", NULL },
                    [LAMBDA] = { "lambda", 1, 0, 1e6, false, "how alike neighbours are", NULL },
                    [MU] = { "mu", 1, -1e6, 1e6, false, "mean of y where x = 1", NULL },
                    [SIGMA] = { "sigma", 3, 1e-6, 1e6, false, "standard deviation of y", NULL },
                    [SEED] = { "seed", 0, 0, 4294967295.0, true, "seed of the noise", NULL },
                    [CYCLIC] = { "cyclic", 0, 0, 1, true, "1: a torus, 0: free borders", NULL },
                    [PIXELS] = { "pixels", CLEAN, 0, 1, true,
                                 "what a file holds: a picture to be observed, or y",
                                 pixel_choices },
                    [PICTURE] = { "picture", 0, 0, 1e9, true, "which of a file's pictures",
                                  NULL } },
    .make = make,
    .content = SALI_CONTENT_ARRAY,
    .make_from = make_from_file,
};
