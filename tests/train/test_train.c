/* SPDX-License-Identifier: MIT */
/* Training: the gradient, the optimiser, reproducibility, divergence, bad options. */
#include "test.h"

#include <math.h>

#include <saltus/saltus.h>

#include "ad/workspace.h"
#include "alloc_fail.h"
#include "core/optimiser.h"
#include "core/alloc.h"
#include "models/tape_model.h"

/* Four-pixel pictures of which two kinds are common. */
static sal_data two_kinds(int64_t rows)
{
    sal_data data = { .rows = rows, .variables = 4, .codes = SALI_NEW_ARRAY(uint8_t, 4 * rows) };
    for (int64_t r = 0; r < rows; r++) {
        const uint8_t kinds[2][4] = { { 1, 1, 0, 0 }, { 0, 0, 1, 1 } };
        memcpy(data.codes + 4 * r, kinds[r % 2], 4);
        uint8_t *noisy = &data.codes[4 * r + r % 4];
        *noisy = (uint8_t)(*noisy ^ (r % 7 == 0));
    }
    return data;
}

static sal_model *new_rbm(const sal_data *data, const char *spec)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    ck_ok(sal_model_open(spec, SAL_F64, &model, &err), &err);
    ck_ok(sal_model_train_start(model, spec, data, 1, &err), &err);
    return model;
}

/* Probabilities of the 16 states. */
static void exact(const sal_model *model, double *p)
{
    sal_error err = { 0 };
    int32_t codes[64];
    double sum = 0;
    for (int s = 0; s < 16; s++) {
        for (int i = 0; i < 4; i++) {
            codes[4 * s + i] = s >> i & 1;
        }
    }
    ck_ok(sal_model_evaluate(model, 16, codes, p, NULL, NULL, &err), &err);
    for (int s = 0; s < 16; s++) {
        sum += exp(p[s]);
    }
    for (int s = 0; s < 16; s++) {
        p[s] = exp(p[s]) / sum;
    }
}

static double log_likelihood(const sal_model *model, const sal_data *data)
{
    double p[16], sum = 0;
    exact(model, p);
    for (int64_t r = 0; r < data->rows; r++) {
        const uint8_t *row = data->codes + 4 * r;
        sum += log(p[row[0] | row[1] << 1 | row[2] << 2 | row[3] << 3]);
    }
    return sum / (double)data->rows;
}

/* The maximum of the likelihood over all distributions is minus the data's entropy. */
static double best_likelihood(const sal_data *data)
{
    double counts[16] = { 0 }, sum = 0;
    for (int64_t r = 0; r < data->rows; r++) {
        const uint8_t *row = data->codes + 4 * r;
        counts[row[0] | row[1] << 1 | row[2] << 2 | row[3] << 3]++;
    }
    for (int s = 0; s < 16; s++) {
        double p = counts[s] / (double)data->rows;
        sum += p > 0 ? p * log(p) : 0;
    }
    return sum;
}

START_TEST(training_comes_close_to_the_largest_likelihood)
{
    sal_data data = two_kinds(280);
    const char *samplers[] = { "gwg", "ncg", "gibbs" };
    for (int k = 0; k < 3; k++) {
        sal_error err = { 0 };
        sal_model *model = new_rbm(&data, "rbm:visible=4,hidden=6");
        double before = log_likelihood(model, &data);
        sal_train_options options = { .sampler = samplers[k],
                                      .steps = 8,
                                      .iterations = 1500,
                                      .batch = 100,
                                      .learning_rate = 0.003,
                                      .seed = 3,
                                      .threads = 1 };
        ck_ok(sal_train(model, &data, &options, &err), &err);
        double after = log_likelihood(model, &data), best = best_likelihood(&data);
        ck_assert_msg(after > best - 0.1 && before < best - 0.5, "%s: %g before, %g after, best %g",
                      samplers[k], before, after, best);
        sal_model_destroy(model);
    }
    sal_data_destroy(&data);
}
END_TEST

/* E_data df/dtheta - E_model df/dtheta is the gradient of the mean log-likelihood. */
START_TEST(parameter_gradient_is_that_of_the_likelihood)
{
    sal_data data = two_kinds(28);
    sal_model *model = new_rbm(&data, "rbm:visible=4,hidden=3");
    sal_error err = { 0 };
    sali_tape_model *tape = sali_model_tape(model);
    int64_t n = sal_model_parameters_size(model);
    double p[16], values[64], gradient[64], weight[44], f[44], x[44 * 4];
    ck_assert_int_eq(n, 12 + 4 + 3);
    ck_ok(sal_model_get_params(model, NULL, values, &err), &err);
    for (int64_t i = 0; i < n; i++) {
        values[i] += 0.1 * (double)(i % 5);
    }
    ck_ok(sal_model_set_params(model, NULL, values, &err), &err);
    exact(model, p);
    for (int r = 0; r < 44; r++) { /* 28 rows of data, then all 16 states */
        for (int i = 0; i < 4; i++) {
            x[4 * r + i] = r < 28 ? data.codes[4 * r + i] : (r - 28) >> i & 1;
        }
        weight[r] = r < 28 ? 1.0 / 28 : -p[r - 28];
    }
    sali_workspace *ws[2] = { NULL, NULL };
    for (int k = 0; k < 2; k++) { /* in two shards of unlike size */
        ck_ok(sali_workspace_create(tape->program, tape->params, 30, SALI_WANT_PARAM_GRADIENT,
                                    &ws[k], &err),
              &err);
        sali_workspace_param_zero(ws[k]);
    }
    sali_workspace_param_gradient(ws[0], 30, NULL, x, weight, f);
    sali_workspace_param_gradient(ws[1], 14, NULL, x + 30 * 4, weight + 30, f + 30);
    sali_workspace_param_reduce(ws, 2, 1, gradient);
    for (int64_t i = 0; i < n; i++) {
        double h = 1e-5, at = values[i], up, down;
        values[i] = at + h;
        ck_ok(sal_model_set_params(model, NULL, values, &err), &err);
        up = log_likelihood(model, &data);
        values[i] = at - h;
        ck_ok(sal_model_set_params(model, NULL, values, &err), &err);
        down = log_likelihood(model, &data);
        values[i] = at;
        ck_assert_double_eq_tol(gradient[i], (up - down) / (2 * h), 1e-8);
    }
    sali_workspace_destroy(ws[0]);
    sali_workspace_destroy(ws[1]);
    sal_model_destroy(model);
    sal_data_destroy(&data);
}
END_TEST

/* Two updates by hand (Kingma & Ba, algorithm 1). */
START_TEST(adam_follows_its_definition)
{
    sali_optimiser adam = sali_optimiser_usual(SALI_ADAM, 0.1);
    double value[2] = { 1, -2 }, g1[2] = { 0.5, -3 }, g2[2] = { -1, 0.25 };
    ck_assert(sali_optimiser_create(&adam, 2));
    sali_optimiser_update(&adam, 1, g1, value);
    sali_optimiser_update(&adam, 1, g2, value);
    for (int i = 0; i < 2; i++) {
        double want = i == 0 ? 1 : -2, m = 0, v = 0;
        for (int t = 1; t <= 2; t++) {
            double g = t == 1 ? g1[i] : g2[i];
            m = 0.9 * m + 0.1 * g;
            v = 0.999 * v + 0.001 * g * g;
            want += 0.1 * (m / (1 - pow(0.9, t))) / (sqrt(v / (1 - pow(0.999, t))) + 1e-8);
        }
        ck_assert_double_eq_tol(value[i], want, 1e-12);
    }
    sali_optimiser_free(&adam);
}
END_TEST

enum { ITERATIONS = 20, FIGURES = 5 };

typedef struct told {
    int64_t n;
    double figures[ITERATIONS][FIGURES];
} told;

static int note_figures(const sal_train_report *r, void *data)
{
    told *t = data;
    ck_assert_int_lt(t->n, ITERATIONS);
    double *to = t->figures[t->n++];
    to[0] = r->log_prob_data;
    to[1] = r->log_prob_samples;
    to[2] = r->acceptance_rate;
    to[3] = r->mean_jump;
    to[4] = r->gradient_norm;
    return 0;
}

START_TEST(same_seed_gives_the_same_bits_for_any_number_of_threads)
{
    static told reports[3];
    sal_data data;
    sal_error err = { 0 };
    ck_ok(sal_data_digits(200, 8, 1, &data, &err), &err);
    const int threads[] = { 1, 2, 7 };
    const char *samplers[] = { "gwg", "ncg", "gibbs" };
    for (int k = 0; k < 3; k++) {
        double *first = NULL;
        for (int t = 0; t < 3; t++) {
            sal_model *model = NULL;
            const char *spec = "rbm:visible=64,hidden=20";
            /* sums of few floats in double have no rounding that could tell their order */
            ck_ok(sal_model_open(spec, k == 1 ? SAL_F64 : SAL_F32, &model, &err), &err);
            ck_ok(sal_model_train_start(model, spec, &data, 1, &err), &err);
            sal_train_options options = { .sampler = samplers[k],
                                          .steps = 5,
                                          .iterations = ITERATIONS,
                                          .batch = 70,
                                          .buffer.chains = 90,
                                          .seed = 5,
                                          .threads = threads[t],
                                          .callbacks = { .progress = note_figures,
                                                         .progress_data = &reports[t] } };
            reports[t].n = 0;
            ck_ok(sal_train(model, &data, &options, &err), &err);
            ck_assert_int_eq(reports[t].n, ITERATIONS);
            ck_assert_mem_eq(reports[t].figures, reports[0].figures, sizeof reports[0].figures);
            int64_t n = sal_model_parameters_size(model);
            double *values = malloc((size_t)n * sizeof *values);
            ck_ok(sal_model_get_params(model, NULL, values, &err), &err);
            if (first) {
                ck_assert_mem_eq(values, first, (size_t)n * sizeof *values);
                free(values);
            } else {
                first = values;
            }
            sal_model_destroy(model);
        }
        free(first);
    }
    sal_data_destroy(&data);
}
END_TEST

typedef struct watch {
    int reports;
    int64_t last;
    int stop_at;
} watch;

static int count_reports(const sal_train_report *report, void *data)
{
    watch *w = data;
    w->reports++;
    w->last = report->iteration;
    ck_assert(isfinite(report->log_prob_data) && isfinite(report->log_prob_samples));
    ck_assert(report->acceptance_rate >= 0 && report->acceptance_rate <= 1);
    return w->reports == w->stop_at;
}

START_TEST(reports_come_on_time_and_can_stop)
{
    sal_data data = two_kinds(100);
    sal_error err = { 0 };
    sal_model *model = new_rbm(&data, "rbm:visible=4,hidden=3");
    watch w = { 0 };
    sal_train_options options = { .iterations = 25,
                                  .report_every = 10,
                                  .callbacks = { .report = count_reports, .report_data = &w } };
    ck_ok(sal_train(model, &data, &options, &err), &err);
    ck_assert_int_eq(w.reports, 3); /* 10, 20, 25 */
    ck_assert_int_eq(w.last, 25);
    w = (watch){ .stop_at = 1 };
    ck_ok(sal_train(model, &data, &options, &err), &err);
    ck_assert_int_eq(w.last, 10);
    sal_model_destroy(model);
    sal_data_destroy(&data);
}
END_TEST

START_TEST(divergence_is_an_error_and_keeps_good_parameters)
{
    sal_data data = two_kinds(100);
    sal_error err = { 0 };
    sal_model *model = new_rbm(&data, "rbm:visible=4,hidden=3");
    sal_train_options options = { .iterations = 200, .report_every = 1, .learning_rate = 1e307 };
    ck_fails(sal_train(model, &data, &options, &err), SAL_ERR_MODEL, &err, "diverged");
    double values[19];
    ck_ok(sal_model_get_params(model, NULL, values, &err), &err);
    for (int i = 0; i < 19; i++) {
        ck_assert(isfinite(values[i]));
    }
    sal_model_destroy(model);
    sal_data_destroy(&data);
}
END_TEST

START_TEST(bad_options_and_data_are_refused)
{
    sal_data data = two_kinds(60), wide = data;
    sal_error err = { 0 };
    sal_model *model = new_rbm(&data, "rbm:visible=4,hidden=3");
    const struct {
        sal_train_options options;
        sal_status status;
        const char *text;
    } cases[] = {
        { { .sampler = "gwq" }, SAL_ERR_ARGUMENT, "gwq" },
        { { .steps = -2 }, SAL_ERR_ARGUMENT, "steps" },
        { { .batch = 100, .buffer.chains = 50 }, SAL_ERR_ARGUMENT, "chains" },
        { { .batch = 61 }, SAL_ERR_ARGUMENT, "data rows" },
        { { .learning_rate = -1 }, SAL_ERR_ARGUMENT, "learning_rate" },
        { { .learning_rate = NAN }, SAL_ERR_ARGUMENT, "learning_rate" },
        { { .optimiser.weight_decay = -1 }, SAL_ERR_ARGUMENT, "weight_decay" },
        { { .threads = -1 }, SAL_ERR_ARGUMENT, "threads" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ck_fails(sal_train(model, &data, &cases[k].options, &err), cases[k].status, &err,
                 cases[k].text);
    }
    wide.variables = 5;
    ck_fails(sal_train(model, &wide, NULL, &err), SAL_ERR_ARGUMENT, &err, "5 variables");
    data.codes[7] = 2;
    ck_fails(sal_train(model, &data, NULL, &err), SAL_ERR_ARGUMENT, &err, "row 1, variable 3");
    ck_fails(sal_train(NULL, &data, NULL, &err), SAL_ERR_ARGUMENT, &err, "NULL");
    ck_fails(sal_data_digits(0, 16, 1, &wide, &err), SAL_ERR_ARGUMENT, &err, "pictures");
    ck_fails(sal_data_digits(1, 4, 1, &wide, &err), SAL_ERR_ARGUMENT, &err, "side");
    sal_model_destroy(model);
    sal_data_destroy(&data);
}
END_TEST

START_TEST(every_failed_allocation_is_reported)
{
    sal_data data = two_kinds(20);
    sal_error err = { 0 };
    sal_model *model = new_rbm(&data, "rbm:visible=4,hidden=2");
    sal_train_options options = {
        .iterations = 1, .steps = 1, .batch = 4, .buffer.chains = 4, .threads = 1
    };
    ck_alloc_sweep(sal_train(model, &data, &options, &err), (void)0);
    sal_model_destroy(model);
    sal_data_destroy(&data);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("train");
    TCase *tcase = tcase_create("train");
    tcase_add_test(tcase, parameter_gradient_is_that_of_the_likelihood);
    tcase_add_test(tcase, adam_follows_its_definition);
    tcase_add_test(tcase, same_seed_gives_the_same_bits_for_any_number_of_threads);
    tcase_add_test(tcase, reports_come_on_time_and_can_stop);
    tcase_add_test(tcase, divergence_is_an_error_and_keeps_good_parameters);
    tcase_add_test(tcase, bad_options_and_data_are_refused);
    tcase_add_test(tcase, every_failed_allocation_is_reported);
    suite_add_tcase(suite, tcase);
    tcase = statistics_create("statistics");
    tcase_add_test(tcase, training_comes_close_to_the_largest_likelihood);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
