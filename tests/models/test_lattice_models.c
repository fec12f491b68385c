/* SPDX-License-Identifier: MIT */
/* Models over lattices beyond the plain ones: third-order Ising, cellular Potts, segmentation. */
#include "model_checks.h"

#include "alloc_fail.h"
#include "models/zoo/builtin.h"

static sal_model *make(const char *specification)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(specification, SAL_F64, &model, &err), &err);
    return model;
}

static void refused(const char *specification, const char *text)
{
    sal_model *model = NULL;
    sal_error err;
    ck_fails(sal_model_open(specification, SAL_F64, &model, &err), SAL_ERR_ARGUMENT, &err, text);
    ck_assert_ptr_null(model);
}

/* Are sites i and j neighbours, on rows x columns? */
static bool neighbours(int rows, int columns, bool cyclic, int i, int j)
{
    int dr = abs(i / columns - j / columns), dc = abs(i % columns - j % columns);
    dr = cyclic && dr == rows - 1 && dr > 0 ? 1 : dr;
    dc = cyclic && dc == columns - 1 && dc > 0 ? 1 : dc;
    return dr + dc == 1;
}

/* ---- third order */

/* The coefficient of prod_(i in set) s_i in f, by orthogonality over all states. */
static double coefficient(int n, const double *f, unsigned set)
{
    double sum = 0;
    for (unsigned state = 0; state < 1u << n; state++) {
        int downs = __builtin_popcount(set & ~state);
        sum += downs % 2 ? -f[state] : f[state];
    }
    return sum / (1u << n);
}

/* Every coefficient of f: 2 theta of neighbours, alpha of `triples` triples, which are returned
 * as a bit for each set. */
static void check_coefficients(const char *specification, double theta, double alpha, int triples,
                               bool *is_triple)
{
    enum { N = 9, STATES = 1 << N };
    static double f[STATES];
    static int32_t codes[STATES * N];
    sal_model *model = make(specification);
    int found = 0;
    sal_error err;
    for (int k = 0; k < STATES * N; k++) {
        codes[k] = k / N >> (k % N) & 1;
    }
    ck_ok(sal_model_evaluate(model, STATES, codes, f, NULL, NULL, &err), &err);
    for (unsigned set = 0; set < STATES; set++) {
        double c = coefficient(N, f, set), want = 0;
        int order = __builtin_popcount(set), i = set ? __builtin_ctz(set) : 0;
        if (order == 2 && neighbours(3, 3, true, i, 31 - __builtin_clz(set))) {
            want = 2 * theta;
        }
        is_triple[set] = order == 3 && fabs(c) > 1e-9;
        found += is_triple[set];
        check_close(c, is_triple[set] ? alpha : want, 1e-12, "coefficient");
    }
    ck_assert_int_eq(found, triples);
    sal_model_destroy(model);
}

START_TEST(third_order_adds_distinct_triples)
{
    bool a[512], b[512];
    check_coefficients("ising-cubic:side=3,theta=0.2,alpha=0.3,triples=20,seed=1", 0.2, 0.3, 20, a);
    check_coefficients("ising-cubic:side=3,theta=-1,alpha=-0.7,triples=20,seed=2", -1, -0.7, 20, b);
    ck_assert(memcmp(a, b, sizeof a) != 0);
    check_coefficients("ising-cubic:side=3,triples=84", 0.2, 0.3, 84, a);
    check_coefficients("ising-cubic:side=3,triples=0", 0.2, 0.3, 0, a);
    refused("ising-cubic:side=3,triples=85", "triples=85, and 9 spins have 84 different ones");
}
END_TEST

static double linear_in_each(const int32_t *codes, const void *data)
{
    double f;
    sal_error err;
    ck_ok(sal_model_evaluate(data, 1, codes, &f, NULL, NULL, &err), &err);
    return f;
}

START_TEST(third_order_is_multilinear_and_not_pairwise)
{
    sal_model *model = make("ising-cubic"), *plain = make("ising-cubic:triples=0");
    ck_assert_int_eq(sal_space_variables(sal_model_space(model)), 16);
    ck_assert(sal_model_is_multilinear(model));
    check_model(model, true, linear_in_each, model);
    ck_assert(!check_pairwise(model));
    ck_assert(check_pairwise(plain));
    sal_model_destroy(model);
    sal_model_destroy(plain);
}
END_TEST

/* ---- cellular Potts */

typedef struct cells {
    int side, states;
    bool cyclic;
    double J, kappa, volume[8];
} cells;

static double cellular_potts(const int32_t *codes, const void *data)
{
    const cells *m = data;
    double f = 0;
    for (int i = 0; i < m->side * m->side; i++) {
        for (int j = 0; j < i; j++) {
            bool equal = codes[i] == codes[j];
            f += equal && neighbours(m->side, m->side, m->cyclic, i, j) ? m->J : 0;
        }
    }
    for (int k = 0; k < m->states; k++) {
        double v = 0;
        for (int i = 0; i < m->side * m->side; i++) {
            v += codes[i] == k;
        }
        f -= m->kappa * (v - m->volume[k]) * (v - m->volume[k]);
    }
    return f;
}

START_TEST(cells_keep_their_volumes)
{
    cells equal = { 4, 3, true, 0.7, 0.25, { 16.0 / 3, 16.0 / 3, 16.0 / 3 } };
    cells given = { 5, 2, false, -1.5, 2, { 7, 7 } };
    sal_model *a = make("cellular-potts:side=4,states=3,J=0.7,kappa=0.25");
    sal_model *b = make("cellular-potts:side=5,states=2,J=-1.5,kappa=2,volume=7,cyclic=0");
    sal_error err;
    check_model(a, true, cellular_potts, &equal);
    check_model(b, true, cellular_potts, &given);
    double volumes[3] = { 10, 0, 6 };
    ck_ok(sal_model_set_params(a, "volume", volumes, &err), &err);
    memcpy(equal.volume, volumes, sizeof volumes);
    check_model(a, true, cellular_potts, &equal);
    sal_model_destroy(a);
    sal_model_destroy(b);
}
END_TEST

START_TEST(cells_at_the_extremes)
{
    cells one = { 1, 1, true, 1, 0.1, { 1 } }, free_cells = { 2, 8, true, 1e6, 0, { 0 } };
    sal_model *a = make("cellular-potts:side=1,states=1");
    sal_model *b = make("cellular-potts:side=2,states=8,J=1e6,kappa=0");
    check_model(a, true, cellular_potts, &one);
    check_model(b, true, cellular_potts, &free_cells);
    sal_model_destroy(a);
    sal_model_destroy(b);
    refused("cellular-potts:side=200,states=256", "tables have more than");
}
END_TEST

/* The settings of Xiang et al. 2023, supplement 3.3, and van den Hoek's coupling: theta = J / 2. */
START_TEST(potts_has_the_settings_of_the_papers)
{
    cells m = { 4, 3, true, 1.2, 0, { 0 } };
    sal_model *standard = make("potts"), *model = make("potts:theta=0.6");
    ck_assert_int_eq(sal_space_variables(sal_model_space(standard)), 16);
    ck_assert_int_eq(sal_space_states(sal_model_space(standard), 0), 3);
    check_model(model, true, cellular_potts, &m);
    sal_model_destroy(standard);
    sal_model_destroy(model);
}
END_TEST

/* ---- segmentation */

typedef struct picture {
    int rows, columns;
    bool cyclic;
    double lambda, mu, sigma;
    double alpha[900];
} picture;

static double posterior(const int32_t *codes, const void *data)
{
    const picture *p = data;
    double f = 0;
    for (int i = 0; i < p->rows * p->columns; i++) {
        double x = codes[i] ? 1 : -1;
        f += p->alpha[i] * x;
        for (int j = 0; j < i; j++) {
            bool pair = neighbours(p->rows, p->columns, p->cyclic, i, j);
            f += pair ? p->lambda * x * (codes[j] ? 1 : -1) : 0;
        }
    }
    return f;
}

/* alpha sigma^2 / mu is y: its mean is mu in the disc and -mu around it, its deviation sigma. */
START_TEST(observed_disc_has_the_law_of_the_paper)
{
    const double settings[4][3] = { { 0, 1, 3 }, { 0, 3, 3 }, { 1, 1, 3 }, { 1, 3, 3 } };
    for (int k = 0; k < 4; k++) {
        picture p = { 30, 30, false, settings[k][0], settings[k][1], settings[k][2], { 0 } };
        char spec[96];
        double sum = 0, squares = 0, inside = 0;
        sal_error err;
        snprintf(spec, sizeof spec, "segmentation:lambda=%g,mu=%g,sigma=%g,seed=%d", p.lambda, p.mu,
                 p.sigma, k);
        sal_model *model = make(spec);
        ck_ok(sal_model_get_params(model, "alpha", p.alpha, &err), &err);
        for (int i = 0; i < 900; i++) {
            double y = p.alpha[i] * p.sigma * p.sigma / p.mu;
            bool in = hypot(i / 30 - 14.5, i % 30 - 14.5) <= 10;
            double noise = (y - (in ? p.mu : -p.mu)) / p.sigma;
            sum += noise;
            squares += noise * noise;
            inside += in;
        }
        ck_assert_double_eq_tol(inside, 316, 4);
        ck_assert_double_le(fabs(sum), 4 * 30);
        ck_assert_double_le(fabs(squares - 900), 4 * sqrt(1800));
        int32_t codes[900];
        for (int i = 0; i < 900; i++) {
            codes[i] = i * i % 7 < 3;
        }
        double f;
        ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
        check_close(f, posterior(codes, &p), 1e-12, "f");
        ck_assert(check_pairwise(model));
        sal_model_destroy(model);
    }
}
END_TEST

/* alpha is y: mu in the square of half the side and -mu around it, plus noise that fills -sigma ..
 * sigma evenly. The noise of a seed does not depend on mu. */
START_TEST(observed_square_has_the_law_of_the_author_s_program)
{
    enum { SIDES = 3 };
    static const int sides[SIDES] = { 30, 8, 5 }, firsts[SIDES] = { 7, 2, 1 };
    for (int k = 0; k < SIDES; k++) {
        const int side = sides[k], first = firsts[k], last = side - first - 1;
        double alpha[900], other[900], low = 0, high = 0, squares = 0;
        for (int mu = 1; mu <= 3; mu += 2) {
            char spec[120];
            sal_error err;
            snprintf(spec, sizeof spec,
                     "segmentation:side=%d,mu=%d,shape=square,noise=uniform,alpha=observed,seed=%d",
                     side, mu, k);
            sal_model *model = make(spec);
            ck_ok(sal_model_get_params(model, "alpha", mu == 1 ? alpha : other, &err), &err);
            sal_model_destroy(model);
        }
        for (int i = 0; i < side * side; i++) {
            int row = i / side, column = i % side;
            bool in = fmin(row, column) >= first && fmax(row, column) <= last;
            double noise = alpha[i] - (in ? 1 : -1);
            low = fmin(low, noise);
            high = fmax(high, noise);
            squares += noise * noise;
            ck_assert_double_eq_tol(other[i] - alpha[i], in ? 2 : -2, 1e-12);
        }
        ck_assert(low >= -3 && high <= 3);
        if (side == 30) { /* U(-3, 3): variance 3, whose estimate has deviation sqrt(7.2 / 900) */
            ck_assert(low < -2.9 && high > 2.9);
            ck_assert_double_eq_tol(squares / 900, 3, 4 * sqrt(7.2 / 900));
        }
    }
    refused("segmentation:shape=star", "disc or square");
}
END_TEST

/* An array of pictures as a reader would hand it over. */
static sali_content array_of(int ndim, const int64_t *shape, double *values)
{
    sali_content content = { .kind = SALI_CONTENT_ARRAY };
    content.array = (sal_array){ .ndim = ndim, .count = 1, .values = values };
    for (int k = 0; k < ndim; k++) {
        content.array.shape[k] = shape[k];
        content.array.count *= shape[k];
    }
    return content;
}

START_TEST(pictures_from_files)
{
    double values[12] = { 9, 9, 9, 9, 9, 9, 0, 51, 255, 102, 204, 153 }, alpha[6], noise[6];
    const int64_t shape[] = { 2, 2, 3 };
    sali_content two = array_of(3, shape, values), one = array_of(2, shape + 1, values + 6);
    picture p = { 2, 3, false, 0.4, 2, 0.5, { 0 } };
    sal_model *model = NULL;
    sal_error err;
    for (int k = 0; k < 6; k++) {
        p.alpha[k] = 8 * values[6 + k];
    }
    ck_ok(sali_builtin_make("segmentation:lambda=0.4,mu=2,sigma=0.5,pixels=observed,picture=1",
                            &two, SAL_F64, &model, &err),
          &err);
    check_model(model, true, posterior, &p);
    sal_model_destroy(model);
    p.cyclic = true;
    for (p.rows = 1; p.rows <= 6; p.rows++) { /* 1 x 6, 2 x 3, 3 x 2, 6 x 1 */
        p.columns = 6 / p.rows;
        if (p.rows * p.columns == 6) {
            const int64_t turned[] = { p.rows, p.columns };
            sali_content content = array_of(2, turned, values + 6);
            ck_ok(
                sali_builtin_make("segmentation:lambda=0.4,mu=2,sigma=0.5,pixels=observed,cyclic=1",
                                  &content, SAL_F64, &model, &err),
                &err);
            check_model(model, true, posterior, &p);
            sal_model_destroy(model);
        }
    }
    for (int mu = 0; mu <= 2; mu += 2) { /* the same noise on nothing, and on the picture */
        char spec[96];
        snprintf(spec, sizeof spec, "segmentation:mu=%g,sigma=0.5,seed=3", mu ? 2 : 1e-3);
        ck_ok(sali_builtin_make(spec, &one, SAL_F64, &model, &err), &err);
        ck_ok(sal_model_get_params(model, "alpha", mu ? alpha : noise, &err), &err);
        sal_model_destroy(model);
    }
    for (int k = 0; k < 6; k++) {
        double x = 2 * values[6 + k] / 255 - 1;
        double y = alpha[k] / 8, error = noise[k] / 4e-3 - 1e-3 * x;
        check_close(y, 2 * x + error, 1e-9, "y");
        ck_assert_double_ne(error, 0);
    }
}
END_TEST

START_TEST(bad_pictures_are_refused)
{
    double values[4] = { 0, 1, NAN, 3 };
    const int64_t shape[] = { 1, 1, 2, 2 };
    sali_content flat = array_of(1, shape + 3, values), deep = array_of(4, shape, values);
    sali_content square = array_of(2, shape + 2, values), graph = { .kind = SALI_CONTENT_GRAPH };
    sal_model *model = NULL;
    sal_error err;
    ck_fails(sali_builtin_make("segmentation", &flat, 0, &model, &err), SAL_ERR_DATA, &err,
             "1 dimensions");
    ck_fails(sali_builtin_make("segmentation", &deep, 0, &model, &err), SAL_ERR_DATA, &err,
             "4 dimensions");
    ck_fails(sali_builtin_make("segmentation", &square, 0, &model, &err), SAL_ERR_DATA, &err,
             "alpha of pixel 2 is nan");
    ck_fails(sali_builtin_make("segmentation:picture=1", &square, 0, &model, &err),
             SAL_ERR_ARGUMENT, &err, "picture=1; the file has 1");
    ck_fails(sali_builtin_make("segmentation:side=2", &square, 0, &model, &err), SAL_ERR_ARGUMENT,
             &err, "side means nothing for this file");
    ck_fails(sali_builtin_make("segmentation", &graph, 0, &model, &err), SAL_ERR_ARGUMENT, &err,
             "an array, and this file holds a graph");
    const int64_t none[] = { 4, 0 }, huge[] = { 8192, 4097 };
    sali_content empty = array_of(2, none, values), large = array_of(2, huge, values);
    ck_fails(sali_builtin_make("segmentation", &empty, 0, &model, &err), SAL_ERR_DATA, &err,
             "a picture of 4 x 0 pixels");
    ck_fails(sali_builtin_make("segmentation", &large, 0, &model, &err), SAL_ERR_DATA, &err,
             "a picture of 8192 x 4097 pixels");
    refused("segmentation:pixels=grey", "clean or observed");
    values[2] = 1.5e308;
    values[1] = -1.5e308;
    ck_fails(sali_builtin_make("segmentation:pixels=observed", &square, 0, &model, &err),
             SAL_ERR_DATA, &err, "alpha of pixel 1 is -1.66667e+307");
    ck_ok(sali_builtin_make("segmentation:sigma=1e-6", &square, SAL_F64, &model, &err), &err);
    double alpha[4]; /* stretched to -1 .. 1 without overflow */
    ck_ok(sal_model_get_params(model, "alpha", alpha, &err), &err);
    check_close(alpha[1], -1e12, 1e-4, "alpha");
    check_close(alpha[2], 1e12, 1e-4, "alpha");
    sal_model_destroy(model);
}
END_TEST

START_TEST(failed_allocations_are_reported)
{
    const char *specifications[] = { "ising-cubic", "cellular-potts:side=3",
                                     "segmentation:side=3" };
    double values[6] = { 1, 2, 3, 4, 5, 6 };
    const int64_t shape[] = { 2, 3 };
    sali_content content = array_of(2, shape, values);
    sal_model *model = NULL;
    sal_error err;
    for (int k = 0; k < 3; k++) {
        ck_alloc_sweep(sal_model_open(specifications[k], SAL_F64, &model, &err),
                       sal_model_destroy(model));
    }
    ck_alloc_sweep(sali_builtin_make("segmentation", &content, SAL_F64, &model, &err),
                   sal_model_destroy(model));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lattice_models");
    TCase *tc = tcase_create("lattice_models");
    tcase_add_test(tc, third_order_adds_distinct_triples);
    tcase_add_test(tc, third_order_is_multilinear_and_not_pairwise);
    tcase_add_test(tc, cells_keep_their_volumes);
    tcase_add_test(tc, cells_at_the_extremes);
    tcase_add_test(tc, potts_has_the_settings_of_the_papers);
    tcase_add_test(tc, observed_disc_has_the_law_of_the_paper);
    tcase_add_test(tc, observed_square_has_the_law_of_the_author_s_program);
    tcase_add_test(tc, pictures_from_files);
    tcase_add_test(tc, bad_pictures_are_refused);
    tcase_add_test(tc, failed_allocations_are_reported);
    suite_add_tcase(suite, tc);
    return test_main(suite);
}
