/* SPDX-License-Identifier: MIT */
/* Segmentation of an image: the posterior of a picture x of two colours, an Ising model a priori,
 * of which y is seen, y_i ~ N(mu x_i, sigma^2). The four cases of the paper, all with sigma = 3 and
 * side = 30, the standard values here:
 *
 *     1 independent, noisy   segmentation:lambda=0,mu=1
 *     2 independent, clean   segmentation:lambda=0,mu=3
 *     3 dependent, noisy     segmentation:lambda=1,mu=1
 *     4 dependent, clean     segmentation:lambda=1,mu=3
 *
 * The paper does not describe its picture; here it is a disc. The author's program
 * (github.com/emsansone/LSB) has a square, uniform noise, and alpha = y on a torus:
 *
 *     segmentation:shape=square,noise=uniform,alpha=observed,cyclic=1 */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/rng.h"
#include "models/lattice.h"
#include "models/zoo/making.h"

enum { SIDE, LAMBDA, MU, SIGMA, SEED, CYCLIC, PIXELS, PICTURE, SHAPE, NOISE, ALPHA };
enum { CLEAN, OBSERVED };
enum { DISC, SQUARE };
enum { NORMAL, UNIFORM };
enum { POSTERIOR, RAW };

/* Largest |alpha|, so that sums of alpha stay finite. */
#define LARGEST 1e30

/* Most pixels: their noise comes from one random stream. */
#define MOST_PIXELS (INT64_C(1) << 25)

static const char *const pixel_choices[] = { "clean", "observed", NULL };
static const char *const shape_choices[] = { "disc", "square", NULL };
static const char *const noise_choices[] = { "normal", "uniform", NULL };
static const char *const alpha_choices[] = { "posterior", "observed", NULL };

/* ---- pictures */

/* Fill x [side x side] with a disc in the middle that covers about a third: 1 in the disc, -1
 * around it. */
static void draw_disc(int64_t side, double *x)
{
    double middle = (double)(side - 1) / 2, radius = (double)side / 3;
    for (int64_t i = 0; i < side * side; i++) {
        double dr = (double)(i / side) - middle, dc = (double)(i % side) - middle;
        x[i] = dr * dr + dc * dc <= radius * radius ? 1 : -1;
    }
}

/* Fill x [side x side] with a square in the middle, a quarter of the side from each border: 1 in
 * the square, -1 around it. */
static void draw_square(int64_t side, double *x)
{
    int64_t first = side / 4, last = side - side / 4 - 1;
    for (int64_t i = 0; i < side * side; i++) {
        int64_t row = i / side, column = i % side;
        bool in = row >= first && row <= last && column >= first && column <= last;
        x[i] = in ? 1 : -1;
    }
}

/* Map x [n] linearly to -1 (the smallest number) .. 1 (the largest); to 0 if all are equal. */
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

/* ---- the picture that was observed, where it is known */

/* Share of the pixels whose colour differs from the truth; pixels whose truth is 0 do not count as
 * wrong. */
static double wrong_pixels(const sal_model *model, const int32_t *codes)
{
    const double *truth = model->statistic_data;
    int64_t wrong = 0, n = model->space->n_variables;
    for (int64_t i = 0; i < n; i++) {
        wrong += codes[i] ? truth[i] < 0 : truth[i] > 0;
    }
    return (double)wrong / (double)n;
}

static const sali_statistic error_statistic = { "wrong pixels (share)", wrong_pixels, NULL };

/* Replace the picture y [n] by a noisy observation of it, and keep the picture as the truth for the
 * statistic. */
static sal_status observe(sali_making *m, int64_t n, double *y)
{
    sali_stream stream = sali_making_stream(m, 0);
    double *noise = SALI_BORROW(m, double, n), *truth = SALI_KEEP(m, double, n);
    if (!noise || !truth) {
        return sali_fail_memory(m->err);
    }
    memcpy(truth, y, (size_t)n * sizeof *y);
    m->statistic = &error_statistic;
    m->statistic_data = truth;
    bool uniform = m->values[NOISE] == UNIFORM;
    if (uniform) {
        sali_rng_uniform_f64(&stream, n, noise);
    } else {
        sali_rng_normal(&stream, n, noise);
    }
    for (int64_t i = 0; i < n; i++) {
        double unit = uniform ? 2 * noise[i] - 1 : noise[i];
        y[i] = m->values[MU] * y[i] + m->values[SIGMA] * unit;
    }
    return SAL_OK;
}

/* ---- the posterior of y [rows x columns], eq. 7 */

/* Record f of the observation y [rows x columns], whose numbers are overwritten with alpha.
 * Returns: SAL_ERR_DATA if alpha is too large. */
static sal_status posterior(sali_making *m, int64_t rows, int64_t columns, double *y, sal_expr *f)
{
    const double *values = m->values;
    const int64_t side[] = { rows, columns };
    int64_t n = rows * columns, *pairs = SALI_BORROW(m, int64_t, 4 * n);
    double factor = values[ALPHA] == RAW ? 1 : values[MU] / (values[SIGMA] * values[SIGMA]);
    for (int64_t i = 0; i < n; i++) { /* y becomes alpha */
        y[i] *= factor;
        if (!(fabs(y[i]) <= LARGEST)) {
            return sali_fail(m->err, SAL_ERR_DATA,
                             "segmentation: alpha of pixel %lld is %g; expected a size of at most "
                             "%g",
                             (long long)i, y[i], LARGEST);
        }
    }
    int64_t edges =
        pairs ? sali_lattice_pairs(2, side, values[CYCLIC] != 0, pairs, pairs + 1, 2) : 0;
    const double *ones = sali_making_repeat(m, edges, 1);
    if (!pairs || !ones) {
        return sali_fail_memory(m->err);
    }
    sal_expr x = sali_making_state(m, "pixel", SAL_SPIN, n, 0);
    *f = sal_dot(sali_making_param(m, "alpha", SAL_SHAPE(n), y), x);
    if (edges > 0) {
        sal_expr w = sal_constant(m->tape, ones, SAL_SHAPE(edges));
        w = sal_mul(sali_making_number(m, "lambda", values[LAMBDA]), w);
        *f = sal_add(*f, sal_edges(x, w, edges, pairs));
    }
    return SAL_OK;
}

/* Set *values to the numbers [*rows x *columns] of picture number `picture`, within the array.
 * Returns: SAL_ERR_DATA for an array that holds no pictures; SAL_ERR_ARGUMENT if there is no such
 * picture. */
static sal_status choose_picture(const sal_array *array, int64_t picture, const double **values,
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

static sal_status segmentation(sali_making *m, sal_expr *f)
{
    const double *picture = NULL;
    int64_t rows = (int64_t)m->values[SIDE], columns = rows;
    sal_status status = !m->content
                            ? SAL_OK
                            : choose_picture(&m->content->array, (int64_t)m->values[PICTURE],
                                             &picture, &rows, &columns, m->err);
    if (status != SAL_OK) {
        return status;
    }
    double *y = SALI_BORROW(m, double, rows *columns);
    if (!y) {
        return sali_fail_memory(m->err);
    }
    if (picture) {
        memcpy(y, picture, (size_t)(rows * columns) * sizeof *y);
    } else if (m->values[SHAPE] == SQUARE) {
        draw_square(rows, y);
    } else {
        draw_disc(rows, y);
    }
    bool clean = m->values[PIXELS] == CLEAN;
    if (picture && clean) {
        stretch(rows * columns, y);
    }
    status = !picture || clean ? observe(m, rows * columns, y) : SAL_OK;
    return status ? status : posterior(m, rows, columns, y, f);
}

const sali_builtin sali_builtin_segmentation = {
    .name = "segmentation",
    .doc = "sum_i alpha_i x_i + lambda sum_ij x_i x_j over a lattice, x in {-1,+1}^pixels, alpha = "
           "mu y / sigma^2 or y; y: a disc, a square or a file's picture, times mu, plus noise",
    .source = "Sansone 2022 sec. 5.1, eq. 7",
    .dtype = SAL_F32,
    .settings = { [SIDE] = { "side", 30, 1, 5000, true, "pixels along one side", NULL },
                  [LAMBDA] = { "lambda", 1, 0, 1e6, false, "how alike neighbours are", NULL },
                  [MU] = { "mu", 1, -1e6, 1e6, false, "mean of y where x = 1", NULL },
                  [SIGMA] = { "sigma", 3, 1e-6, 1e6, false,
                              "standard deviation of y; reach of uniform noise", NULL },
                  [SEED] = SALI_SEED("the noise"),
                  [CYCLIC] = SALI_CYCLIC(0),
                  [PIXELS] = { "pixels", CLEAN, 0, 1, true,
                               "what a file holds: a picture to be observed, or y", pixel_choices },
                  [PICTURE] = { "picture", 0, 0, 1e9, true, "which of a file's pictures", NULL },
                  [SHAPE] = { "shape", DISC, 0, 1, true, "the picture without a file",
                              shape_choices },
                  [NOISE] = { "noise", NORMAL, 0, 1, true, "normal, or uniform in -sigma .. sigma",
                              noise_choices },
                  [ALPHA] = { "alpha", POSTERIOR, 0, 1, true, "mu y / sigma^2, or y itself",
                              alpha_choices } },
    .formula = segmentation,
    .content = SALI_CONTENT_ARRAY,
    .unused = 1u << SIDE | 1u << SHAPE,
};
