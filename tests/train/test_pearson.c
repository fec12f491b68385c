/* SPDX-License-Identifier: MIT */
/* Training by the pairs of data and samples: the correlation in reports, by which training stops,
 * and the gradient of all rows, which the chains do not outnumber. */
#include "test.h"

#include <math.h>

#include <saltus/saltus.h>

#include "alloc_fail.h"

enum { V = 4, Q = 3, N = V * Q, ROWS = 60, CHAINS = 200, MOST = 50 };

/* Rows of which neighbours often agree, with weights of three sizes. */
static sal_data chain_data(double weight[ROWS])
{
    static uint8_t codes[ROWS * V];
    uint32_t state = 5;
    for (int i = 0; i < ROWS * V; i++) {
        state = state * 1664525u + 1013904223u;
        const bool fresh = i % V == 0 || state >> 30 == 0;
        codes[i] = fresh ? (uint8_t)((state >> 20) % Q) : codes[i - 1];
    }
    for (int r = 0; r < ROWS; r++) {
        weight[r] = 0.5 + r % 3;
    }
    return (sal_data){ .rows = ROWS, .variables = V, .codes = codes, .weight = weight };
}

static sal_model *new_model(const char *specification)
{
    sal_error err;
    sal_model *model = NULL;
    ck_ok(sal_model_open(specification, SAL_F64, &model, &err), &err);
    double *zeros = calloc((size_t)sal_model_parameters_size(model), sizeof *zeros);
    ck_ok(sal_model_set_params(model, NULL, zeros, &err), &err);
    free(zeros);
    return model;
}

/* Weighted means of the one-hot rows and of their products. */
typedef struct moments {
    double of[N], pairs[N][N];
} moments;

static void add_row(moments *m, double share, const int code[V])
{
    for (int i = 0; i < V; i++) {
        m->of[i * Q + code[i]] += share;
        for (int j = 0; j < V; j++) {
            m->pairs[i * Q + code[i]][j * Q + code[j]] += share;
        }
    }
}

static moments moments_of_data(const sal_data *data)
{
    moments m = { 0 };
    double sum = 0;
    for (int r = 0; r < ROWS; r++) {
        sum += data->weight[r];
    }
    for (int r = 0; r < ROWS; r++) {
        int code[V];
        for (int i = 0; i < V; i++) {
            code[i] = data->codes[r * V + i];
        }
        add_row(&m, data->weight[r] / sum, code);
    }
    return m;
}

static moments moments_of_samples(const sal_train_report *r)
{
    moments m = { 0 };
    for (int64_t c = 0; c < r->buffer; c++) {
        int code[V];
        for (int i = 0; i < V; i++) {
            code[i] = r->samples[c * V + i];
        }
        add_row(&m, 1 / (double)r->buffer, code);
    }
    return m;
}

/* Pearson's correlation over pairs of different variables, written out. */
static double correlation_of(const moments *a, const moments *b)
{
    double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (int k = 0; k < N; k++) {
        for (int l = 0; l < k / Q * Q; l++) {
            const double u = a->pairs[k][l] - a->of[k] * a->of[l];
            const double v = b->pairs[k][l] - b->of[k] * b->of[l];
            n++, x += u, y += v, xx += u * u, yy += v * v, xy += u * v;
        }
    }
    return (xy - x * y / n) / sqrt((xx - x * x / n) * (yy - y * y / n));
}

typedef struct watch {
    const sal_data *data;
    int reports;
    double pearson[MOST];
} watch;

static int compare(const sal_train_report *r, void *data)
{
    watch *w = data;
    const moments of_data = moments_of_data(w->data), of_samples = moments_of_samples(r);
    ck_assert_int_lt(w->reports, MOST);
    ck_assert_double_eq_tol(r->pearson, correlation_of(&of_data, &of_samples), 1e-5);
    w->pearson[w->reports++] = r->pearson;
    return 0;
}

static sal_train_options usual(watch *w)
{
    return (sal_train_options){ .sampler = "gibbs",
                                .steps = V,
                                .iterations = MOST,
                                .report_every = 1,
                                .batch = CHAINS,
                                .buffer.chains = CHAINS,
                                .optimiser = { .method = SAL_SGD, .momentum = -1 },
                                .learning_rate = 0.2,
                                .seed = 2,
                                .callbacks = { .report = compare, .report_data = w } };
}

/* -1 tells the correlation, and a target ends the training at the first report that has it: the
 * same training up to there, also by trajectory tempering. */
START_TEST(training_stops_at_a_correlation)
{
    double weight[ROWS];
    const sal_data data = chain_data(weight);
    for (int k = 0; k < 2; k++) {
        watch whole = { .data = &data }, part = { .data = &data };
        sal_train_options o = usual(&whole);
        sal_error err;
        if (k == 1) {
            o.objective = SAL_PTT;
            o.batch = 50;
            o.buffer.chains = 0;
        }
        sal_model *models[] = { new_model("potts-dense:dim=4,states=3"),
                                new_model("potts-dense:dim=4,states=3") };
        o.pearson = -1;
        ck_ok(sal_train(models[0], &data, &o, &err), &err);
        ck_assert_int_eq(whole.reports, MOST);
        int first = 0; /* the largest of the first ones: reached, not passed */
        for (int i = 0; i < 15; i++) {
            first = whole.pearson[i] > whole.pearson[first] ? i : first;
        }
        o.pearson = whole.pearson[first];
        ck_assert_int_gt(first, 0);
        o.callbacks.report_data = &part;
        ck_ok(sal_train(models[1], &data, &o, &err), &err);
        ck_assert_int_eq(part.reports, first + 1);
        ck_assert_mem_eq(part.pearson, whole.pearson, (size_t)part.reports * sizeof *part.pearson);
        sal_model_destroy(models[0]);
        sal_model_destroy(models[1]);
    }
}
END_TEST

/* f is x'Jx / 2 + h'x. One step of plain ascent by persistent chains, more than there are rows,
 * goes along the difference of the moments of all rows and of the chains. */
START_TEST(an_update_sees_all_rows)
{
    double weight[ROWS], J[N * N];
    const sal_data data = chain_data(weight);
    watch w = { .data = &data };
    sal_train_options o = usual(&w);
    o.iterations = 1;
    o.pearson = -1;
    sal_error err;
    sal_trainer *t = NULL;
    sal_train_report report;
    sal_model *model = new_model("potts-dense:dim=4,states=3");
    ck_ok(sal_trainer_create(model, &data, &o, &t, &err), &err);
    ck_ok(sal_trainer_run(t, 1, &err), &err);
    sal_trainer_report(t, &report);
    const moments of_data = moments_of_data(&data), of_samples = moments_of_samples(&report);
    ck_ok(sal_model_get_params(model, "J", J, &err), &err);
    double largest = 0;
    for (int k = 0; k < N; k++) {
        for (int l = 0; l < N; l++) {
            if (k / Q == l / Q) {
                continue; /* of one variable: learned by the biases, too */
            }
            const double g = of_data.pairs[k][l] - of_samples.pairs[k][l];
            ck_assert_double_eq_tol(J[k * N + l], o.learning_rate * g / 2, 1e-12);
            largest = fmax(largest, fabs(g));
        }
    }
    ck_assert_double_gt(largest, 0.05);
    sal_trainer_destroy(t);
    sal_model_destroy(model);
}
END_TEST

static int note(const sal_train_report *r, void *data)
{
    *(double *)data = r->pearson;
    return 0;
}

/* Of an alignment the correlation is told unasked, by the objectives that have samples. */
START_TEST(reports_of_alignments_tell_it)
{
    static const sal_objective objectives[] = { SAL_PCD, SAL_CD, SAL_PTT, SAL_PSEUDO_LIKELIHOOD };
    double weight[ROWS];
    sal_data data = chain_data(weight);
    for (int k = 0; k < 8; k++) {
        const bool alignment = k < 4;
        double pearson = 7;
        sal_error err;
        sal_model *model = new_model("potts-dense:dim=4,states=3");
        const sal_train_options o = { .objective = objectives[k % 4],
                                      .batch = 50,
                                      .iterations = 1,
                                      .callbacks = { .report = note, .report_data = &pearson } };
        strcpy(data.alphabet, alignment ? "-AB" : "");
        ck_ok(sal_train(model, &data, &o, &err), &err);
        ck_assert_msg(isnan(pearson) == (!alignment || k == 3), "%d: %g", k, pearson);
        ck_assert(isnan(pearson) || fabs(pearson) <= 1);
        sal_model_destroy(model);
    }
}
END_TEST

START_TEST(what_cannot_be_compared_is_refused)
{
    double weight[ROWS];
    static float greys[ROWS * V];
    sal_error err;
    sal_data data = chain_data(weight);
    watch w = { .data = &data };
    const sal_train_options o = usual(&w);
    sal_model *model = new_model("potts-dense:dim=4,states=3");
    sal_train_options without = o, high = o, low = o;
    without.pearson = high.pearson = 0.5;
    without.objective = SAL_PSEUDO_LIKELIHOOD;
    without.buffer.chains = 0;
    without.batch = ROWS;
    ck_fails(sal_train(model, &data, &without, &err), SAL_ERR_ARGUMENT, &err,
             "samples of the model, which objective pseudo-likelihood does not have");
    high.pearson = 1;
    ck_fails(sal_train(model, &data, &high, &err), SAL_ERR_ARGUMENT, &err,
             "pearson is 1; expected a number from 0 to below 1, or -1");
    low.pearson = -0.5;
    ck_fails(sal_train(model, &data, &low, &err), SAL_ERR_ARGUMENT, &err, "pearson is -0.5");
    sal_model_destroy(model);

    sal_train_options some = o;
    some.pearson = 0.5;
    for (int i = 0; i < ROWS * V; i++) {
        data.codes[i] = data.codes[i] > 0;
    }
    data.intensity = greys;
    model = new_model("ising-dense:dim=4");
    ck_fails(sal_train(model, &data, &some, &err), SAL_ERR_ARGUMENT, &err, "batch of 200");
    some.batch = ROWS;
    ck_fails(sal_train(model, &data, &some, &err), SAL_ERR_ARGUMENT, &err, "drawn from greys");
    sal_model_destroy(model);
}
END_TEST

START_TEST(every_failed_allocation_is_reported)
{
    double weight[ROWS];
    const sal_data data = chain_data(weight);
    watch w = { .data = &data };
    sal_error err;
    sal_train_options o = usual(&w);
    sal_model *model = new_model("potts-dense:dim=4,states=3");
    o.iterations = 1;
    o.pearson = -1;
    o.threads = 1;
    o.callbacks.report = NULL;
    ck_alloc_sweep(sal_train(model, &data, &o, &err), (void)0);
    sal_model_destroy(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pearson");
    TCase *tcase = tcase_create("pearson");
    tcase_add_test(tcase, training_stops_at_a_correlation);
    tcase_add_test(tcase, an_update_sees_all_rows);
    tcase_add_test(tcase, reports_of_alignments_tell_it);
    tcase_add_test(tcase, what_cannot_be_compared_is_refused);
    tcase_add_test(tcase, every_failed_allocation_is_reported);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
