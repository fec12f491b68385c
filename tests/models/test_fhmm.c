/* SPDX-License-Identifier: MIT */
/* The factorial hidden Markov model against its densities, written out. */
#include "test.h"

#include <math.h>

#include "models/zoo/fhmm.h"
#include "tiny_models.h"

static double log_normal(double y, double mean, double sigma)
{
    return -0.5 * pow((y - mean) / sigma, 2) - log(sigma * sqrt(2 * acos(-1.0)));
}

static double log_bernoulli(int32_t x, double p)
{
    return x ? log(p) : log(1 - p);
}

/* log p(x, y), GWG eq. 11. */
static double joint(const sali_fhmm *m, const int32_t *x)
{
    double sum = 0;
    for (int64_t t = 0; t < m->length; t++) {
        double mean = m->W_0;
        for (int64_t k = 0; k < m->factors; k++) {
            int32_t now = x[t * m->factors + k];
            mean += m->W[k] * now;
            sum += t == 0 ? log_bernoulli(now, m->v)
                          : log_bernoulli(now == x[(t - 1) * m->factors + k], m->p);
        }
        sum += log_normal(m->y[t], mean, m->sigma);
    }
    return sum;
}

START_TEST(f_is_the_joint_density)
{
    sal_model *model = NULL;
    sal_error err;
    int32_t codes[12];
    double f;
    ck_ok(sal_model_open("fhmm:length=4,factors=3,sigma=0.7,p=0.8,v=0.2,seed=3", 0, &model, &err),
          &err);
    for (int32_t state = 0; state < 1 << 12; state++) {
        for (int v = 0; v < 12; v++) {
            codes[v] = state >> v & 1;
        }
        ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
        ck_assert_double_eq_tol(f, joint(model->statistic_data, codes), 1e-11);
    }
    sal_model_destroy(model);
}
END_TEST

/* The derivative is that of the formula, not of another one with the same values on the lattice. */
START_TEST(gradient_is_that_of_the_formula)
{
    sal_model *model = NULL;
    sal_error err;
    double x[6] = { 1, 0, 1, 1, 0, 1 }, f, g[6];
    ck_ok(sal_model_open("fhmm:length=3,factors=2", 0, &model, &err), &err);
    const sali_fhmm *m = model->statistic_data;
    ck_ok(sal_model_evaluate_at(model, 1, x, &f, g, &err), &err);
    double residual = m->y[2] - m->W_0 - m->W[1], pull = log(m->p / (1 - m->p));
    ck_assert_double_eq_tol(g[4], m->W[0] * residual / pow(m->sigma, 2) + pull * (2 * x[2] - 1),
                            1e-11);
    sal_model_destroy(model);
}
END_TEST

/* Long data look like the model that they were drawn from: transitions, mean of the noise. */
START_TEST(data_are_drawn_from_the_model)
{
    sal_model *model = NULL;
    sal_error err;
    double mean = 0, square = 0;
    ck_ok(
        sal_model_open("fhmm:length=20000,factors=1,sigma=0.3,p=0.9,v=0.5,seed=2", 0, &model, &err),
        &err);
    const sali_fhmm *m = model->statistic_data;
    for (int64_t t = 0; t < m->length; t++) {
        double y = (m->y[t] - m->W_0) / m->W[0];
        mean += y / (double)m->length;
        square += y * y / (double)m->length;
    }
    ck_assert_double_eq_tol(mean, 0.5, 0.06); /* long runs of a state: 1300 or so independent */
    double noise = pow(m->sigma / m->W[0], 2);
    ck_assert_double_eq_tol(square, mean + noise, 0.04 * (1 + noise));
    sal_model_destroy(model);
}
END_TEST

static Suite *fhmm_suite(void)
{
    Suite *suite = suite_create("fhmm");
    TCase *tcase = tcase_create("fhmm");
    tcase_add_test(tcase, f_is_the_joint_density);
    tcase_add_test(tcase, gradient_is_that_of_the_formula);
    tcase_add_test(tcase, data_are_drawn_from_the_model);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(fhmm_suite());
}
