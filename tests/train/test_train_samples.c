/* SPDX-License-Identifier: MIT */
/* The samples of training: where chains start, and start again; step sizes; what stops a training;
 * options. */
#include "test.h"

#include "train/trainer.h"

#include <math.h>

#include <saltus/saltus.h>

#include "train/trainer.h"

enum { V = 64, ROWS = 100 };

static const char specification[] = "rbm:visible=64,hidden=4";

/* Rows that are far from each other: independent bits, ones with probability 1/4 and 3/4. */
static sal_data random_data(void)
{
    uint32_t state = 5;
    sal_data data = { .rows = ROWS, .variables = V, .codes = malloc(ROWS * V) };
    for (int i = 0; i < ROWS * V; i++) {
        state = state * 1664525u + 1013904223u;
        data.codes[i] = (state >> 8) % 4 < (i % 2 ? 1 : 3);
    }
    return data;
}

static sal_model *new_model(const sal_data *data)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(specification, SAL_F64, &model, &err), &err);
    ck_ok(sal_model_train_start(model, specification, data, 1, &err), &err);
    return model;
}

/* The number of bits in which a chain and a row differ. */
static int distance(const int32_t *codes, const uint8_t *row)
{
    int d = 0;
    for (int v = 0; v < V; v++) {
        d += codes[v] != row[v];
    }
    return d;
}

static int nearest(const sal_data *data, const int32_t *codes)
{
    int least = V;
    for (int r = 0; r < ROWS; r++) {
        int d = distance(codes, data->codes + r * V);
        least = d < least ? d : least;
    }
    return least;
}

/* ---- the buffer's start */

/* Pairs (0, 1) and (0, 2) of variables: how often both are on, beyond what independence gives. */
static void check_mean(const int32_t *codes, int64_t n, const double *p)
{
    for (int v = 0; v < V; v++) {
        double on = 0, both = 0, want = p[v] * p[(v + 2) % V];
        for (int64_t c = 0; c < n; c++) {
            on += codes[c * V + v];
            both += codes[c * V + v] * codes[c * V + (v + 2) % V];
        }
        /* 64 frequencies: 4.5 standard deviations */
        ck_assert_double_eq_tol(on / (double)n, p[v], 4.5 * sqrt(p[v] * (1 - p[v]) / (double)n));
        ck_assert_double_eq_tol(both / (double)n, want, 4.5 * sqrt(want * (1 - want) / (double)n));
    }
}

START_TEST(chains_start_as_asked)
{
    enum { BUFFER = 20000 };
    sal_error err;
    sal_data data = random_data();
    sal_model *model = new_model(&data);
    sal_train_report report;
    double p[V];
    for (int start = 0; start < 3; start++) {
        sal_trainer *t = NULL;
        sal_train_options o = { .buffer = { .chains = BUFFER, .start = (sal_buffer_start)start } };
        ck_ok(sal_trainer_create(model, &data, &o, &t, &err), &err);
        sal_trainer_report(t, &report);
        ck_assert_int_eq(report.buffer, BUFFER);
        ck_assert(isnan(report.acceptance_rate) && isnan(report.mean_jump));
        for (int v = 0; v < V; v++) {
            p[v] = start == SAL_BUFFER_UNIFORM ? 0.5 : 0;
            for (int r = 0; r < ROWS && start != SAL_BUFFER_UNIFORM; r++) {
                p[v] += data.codes[r * V + v] / (double)ROWS;
            }
        }
        int on_data = 0;
        for (int c = 0; c < 200; c++) {
            on_data += nearest(&data, report.samples + c * V) == 0;
        }
        ck_assert_int_eq(on_data, start == SAL_BUFFER_DATA ? 200 : 0);
        if (start != SAL_BUFFER_DATA) {
            check_mean(report.samples, BUFFER, p);
        }
        sal_trainer_destroy(t);
    }
    sal_model_destroy(model);
    free(data.codes);
}
END_TEST

/* Rows of two greys, chosen with equal weights: a pixel that took its row and its colour from one
 * random number would be white half of the time. */
START_TEST(pixels_of_grey_rows_are_drawn_apart_from_the_rows)
{
    enum { BUFFER = 20000 };
    static const double grey[] = { 0.9, 0.4 };
    sal_error err;
    sal_data data = random_data();
    data.intensity = malloc(ROWS * V * sizeof *data.intensity);
    data.weight = malloc(ROWS * sizeof *data.weight);
    for (int i = 0; i < ROWS * V; i++) {
        data.intensity[i] = (float)grey[i / V >= ROWS / 2];
        data.weight[i / V] = 1;
    }
    sal_model *model = new_model(&data);
    for (int k = 0; k < 4; k++) { /* rows by weights, and without */
        sal_trainer *t = NULL;
        sal_train_report report;
        double *weight = data.weight;
        data.weight = k / 2 ? weight : NULL;
        sal_train_options o = { .buffer = { .chains = BUFFER,
                                            .start = k % 2 ? SAL_BUFFER_DATA : SAL_BUFFER_MEAN } };
        ck_ok(sal_trainer_create(model, &data, &o, &t, &err), &err);
        sal_trainer_report(t, &report);
        for (int v = 0; v < V; v++) {
            double on = 0;
            for (int64_t c = 0; c < BUFFER; c++) {
                on += report.samples[c * V + v];
            }
            ck_assert_double_eq_tol(on / BUFFER, 0.65, 5 * sqrt(0.65 * 0.35 / BUFFER));
        }
        data.weight = weight;
        sal_trainer_destroy(t);
    }
    sal_model_destroy(model);
    free(data.weight);
    free(data.intensity);
    free(data.codes);
}
END_TEST

enum { PLACES = 6 };

/* theta's + log(1 - s_0 s_1), or with tables instead of the logarithm: f = -inf where both of the
 * first two are on. A model that is nothing but tables knows its forbidden entries. */
static sal_model *exclusive_model(bool tables)
{
    static const int64_t begin[] = { 0, 2 }, scope[] = { 0, 1 };
    const double T[] = { 0, 0, 0, -INFINITY };
    sal_model *model = NULL;
    sal_error err;
    sal_space *space = sal_space_create();
    sal_block block = { .name = "s", .kind = SAL_BINARY, .count = PLACES };
    ck_ok(sal_space_add(space, &block, &err), &err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr s = sal_state(tape);
    sal_expr linear = sal_dot(sal_param(tape, "theta", SAL_SHAPE(PLACES)), s);
    sal_expr both = sal_mul(sal_slice(s, 0, 0, 1), sal_slice(s, 0, 1, 1));
    sal_expr rule = tables ? sal_table(tape, sal_constant(tape, T, SAL_SHAPE(4)), 1, begin, scope)
                           : sal_sum(sal_log(sal_sub(sal_scalar(tape, 1), both)));
    ck_ok(sal_model_from_tape(tape, sal_add(linear, rule), &model, &err), &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return model;
}

/* Of the data exactly one of the first two is on: the means alone start a chain of four at both. */
START_TEST(forbidden_starts_are_repaired)
{
    uint8_t codes[40 * PLACES] = { 0 };
    sal_data data = { .rows = 40, .variables = PLACES, .codes = codes };
    sal_error err;
    for (int r = 0; r < 40; r++) {
        codes[r * PLACES + r % 2] = 1;
        codes[r * PLACES + 2 + r % 4] = 1;
    }
    for (int k = 0; k < 4; k++) {
        sal_model *model = exclusive_model(k % 2);
        sal_train_report report;
        sal_trainer *t = NULL;
        sal_train_options o = { .iterations = 30,
                                .batch = 20,
                                .buffer = { .chains = 60,
                                            .start = k < 2 ? SAL_BUFFER_MEAN : SAL_BUFFER_UNIFORM,
                                            .restart = 0.2 },
                                .sampler = "gibbs" };
        ck_ok(sal_trainer_create(model, &data, &o, &t, &err), &err);
        ck_ok(sal_trainer_run(t, 30, &err), &err);
        sal_trainer_report(t, &report);
        for (int c = 0; c < 60; c++) {
            const int32_t *s = report.samples + c * PLACES;
            ck_assert(!(s[0] && s[1]));
        }
        ck_assert(isfinite(report.log_prob_samples));
        sal_trainer_destroy(t);
        sal_model_destroy(model);
    }
}
END_TEST

/* ---- starting again */

typedef struct jumps {
    int32_t before[ROWS * V];
    int64_t moves, restarts;
    uint64_t hash;
} jumps;

/* A step of gibbs changes one variable; a new start many more. */
static int count_jumps(const sal_train_report *r, void *data)
{
    jumps *j = data;
    for (int c = 0; c < ROWS; c++) {
        int d = 0;
        for (int v = 0; v < V; v++) {
            d += r->samples[c * V + v] != j->before[c * V + v];
            j->hash = j->hash * 31 + (uint64_t)r->samples[c * V + v];
        }
        j->restarts += r->iteration > 1 && d > 1;
        j->moves += r->iteration > 1;
    }
    memcpy(j->before, r->samples, sizeof j->before);
    return 0;
}

START_TEST(chains_start_again_with_the_probability_asked_for)
{
    static const double probabilities[] = { 0, 0.05, 0.3, 1 };
    sal_error err;
    sal_data data = random_data();
    for (int k = 0; k < 4; k++) {
        jumps j[2];
        for (int again = 0; again < 2; again++) {
            double p = probabilities[k];
            sal_model *model = new_model(&data);
            j[again] = (jumps){ 0 };
            sal_train_options o = {
                .iterations = 101,
                .batch = ROWS,
                .buffer = { .chains = ROWS, .restart = p, .start = (sal_buffer_start)(k % 3) },
                .sampler = "gibbs",
                .steps = 1,
                .threads = 1 + again,
                .seed = 8,
                .callbacks = { .progress = count_jumps, .progress_data = &j[again] }
            };
            ck_ok(sal_train(model, &data, &o, &err), &err);
            double share = (double)j[again].restarts / (double)j[again].moves;
            ck_assert_double_le(fabs(share - p), 4 * sqrt(p * (1 - p) / (double)j[again].moves));
            sal_model_destroy(model);
        }
        ck_assert_uint_eq(j[0].hash, j[1].hash);
    }
    free(data.codes);
}
END_TEST

/* Also before the first iteration: then chains have another start than their first. */
START_TEST(chains_may_start_again_at_once)
{
    static int32_t before[ROWS * V];
    sal_error err;
    sal_train_report report;
    sal_data data = random_data();
    for (int start = 0; start < 3; start++) {
        sal_trainer *t = NULL;
        sal_model *model = new_model(&data);
        sal_train_options o = {
            .iterations = 1,
            .batch = ROWS,
            .buffer = { .chains = ROWS, .restart = 1, .start = (sal_buffer_start)start },
            .sampler = "gibbs",
            .steps = 1
        };
        ck_ok(sal_trainer_create(model, &data, &o, &t, &err), &err);
        sal_trainer_report(t, &report);
        memcpy(before, report.samples, sizeof before);
        ck_ok(sal_trainer_run(t, 1, &err), &err);
        sal_trainer_report(t, &report);
        int others = 0;
        for (int c = 0; c < ROWS; c++) {
            int changed = 0;
            for (int v = 0; v < V; v++) {
                changed += report.samples[c * V + v] != before[c * V + v];
            }
            others += changed > 1;
        }
        ck_assert_int_ge(others, ROWS * 3 / 4); /* rows of the data are alike, or chosen again */
        sal_trainer_destroy(t);
        sal_model_destroy(model);
    }
    free(data.codes);
}
END_TEST

/* ---- which chains move */

enum { SLOTS = 23, TAKEN = 5, PASS = SLOTS / TAKEN, PASSES = 3 };

/* One iteration: the slots that it moved get its number. 200 steps of gibbs leave none where it
 * was. */
static void note_moves(sal_trainer *t, int number, int moved_by[SLOTS])
{
    static int32_t before[SLOTS * V];
    sal_train_report r;
    sal_error err;
    int moved = 0;
    sal_trainer_report(t, &r);
    memcpy(before, r.samples, sizeof before);
    ck_ok(sal_trainer_run(t, 1, &err), &err);
    sal_trainer_report(t, &r);
    for (int c = 0; c < SLOTS; c++) {
        if (memcmp(before + c * V, r.samples + c * V, V * sizeof *before) != 0) {
            ck_assert_int_eq(moved_by[c], 0);
            moved_by[c] = number;
            moved++;
        }
    }
    ck_assert_int_eq(moved, TAKEN);
}

START_TEST(a_pass_moves_no_chain_twice_and_the_next_has_another_order)
{
    sal_error err;
    sal_data data = random_data();
    sal_model *model = new_model(&data);
    sal_trainer *t = NULL;
    sal_train_options o = { .batch = TAKEN,
                            .buffer = { .chains = SLOTS, .order = SAL_BUFFER_PASSES },
                            .sampler = "gibbs",
                            .steps = 200 };
    int moved_by[PASSES][SLOTS] = { { 0 } };
    ck_ok(sal_trainer_create(model, &data, &o, &t, &err), &err);
    for (int k = 0; k < PASSES * PASS; k++) {
        note_moves(t, 1 + k % PASS, moved_by[k / PASS]);
    }
    ck_assert_mem_ne(moved_by[0], moved_by[1], sizeof *moved_by);
    ck_assert_mem_ne(moved_by[1], moved_by[2], sizeof *moved_by);
    sal_trainer_destroy(t);
    sal_model_destroy(model);
    free(data.codes);
}
END_TEST

/* ---- contrastive divergence */

typedef struct near_data {
    const sal_data *data;
    int64_t calls;
} near_data;

static int check_near(const sal_train_report *r, void *data)
{
    near_data *n = data;
    int moved = 0;
    n->calls++;
    ck_assert_int_eq(r->buffer, 20);
    for (int c = 0; c < 20; c++) {
        int d = nearest(n->data, r->samples + c * V);
        ck_assert_int_le(d, 3);
        moved += d > 0;
    }
    ck_assert_int_gt(moved, 0);
    return 0;
}

START_TEST(chains_of_contrastive_divergence_begin_at_data)
{
    sal_error err;
    sal_data data = random_data();
    sal_model *model = new_model(&data);
    near_data n = { .data = &data };
    sal_train_options o = { .objective = SAL_CD,
                            .iterations = 30,
                            .batch = 20,
                            .sampler = "gibbs:scan=random",
                            .steps = 3,
                            .callbacks = { .progress = check_near, .progress_data = &n } };
    ck_ok(sal_train(model, &data, &o, &err), &err);
    ck_assert_int_eq(n.calls, 30);
    sal_model_destroy(model);
    free(data.codes);
}
END_TEST

/* ---- the step size */

static int keep_report(const sal_train_report *r, void *data)
{
    *(sal_train_report *)data = *r;
    return 0;
}

START_TEST(step_sizes_follow_the_acceptance)
{
    sal_error err;
    sal_data data = random_data();
    sal_train_report last;
    sal_train_options o = { .sampler = "ncg",
                            .iterations = 300,
                            .steps = 5,
                            .report_every = 150,
                            .callbacks = { .report = keep_report, .report_data = &last } };
    sal_model *model = new_model(&data);
    ck_ok(sal_train(model, &data, &o, &err), &err);
    ck_assert_double_eq_tol(last.acceptance_rate, 0.574, 0.03);
    ck_assert_double_gt(last.step_size, 0.01);
    o.step_size = 0.123;
    ck_ok(sal_train(model, &data, &o, &err), &err);
    ck_assert_double_eq(last.step_size, 0.123);
    o.sampler = "gibbs";
    o.step_size = 0;
    ck_ok(sal_train(model, &data, &o, &err), &err);
    ck_assert_double_eq(last.step_size, 0);
    ck_assert_double_eq(last.acceptance_rate, 1);
    o.sampler = "dula"; /* has one, which nothing adapts */
    ck_ok(sal_train(model, &data, &o, &err), &err);
    ck_assert_double_gt(last.step_size, 0);
    ck_assert(last.sampling_seconds > 0 && last.gradient_seconds > 0 &&
              last.sampling_seconds + last.gradient_seconds <= last.seconds);
    sal_model_destroy(model);
    free(data.codes);
}
END_TEST

/* ---- what stops a training */

enum { KEPT = 30, SIZE = 64 * 4 + 64 + 4 };

typedef struct history {
    double difference[KEPT + 1], values[KEPT + 1][SIZE];
    int64_t last;
} history;

static int remember(const sal_train_report *r, void *data)
{
    history *h = data;
    sal_error err;
    h->last = r->iteration;
    h->difference[r->iteration] = fabs(r->log_prob_data - r->log_prob_samples);
    ck_ok(sal_model_get_params(r->model, NULL, h->values[r->iteration], &err), &err);
    return 0;
}

START_TEST(divergence_leaves_the_parameters_of_the_last_report)
{
    static history h;
    sal_error err;
    char text[64];
    double values[SIZE];
    sal_data data = random_data();
    sal_model *model = new_model(&data);
    sal_trainer *t = NULL;
    sal_train_options o = { .iterations = KEPT,
                            .batch = 20,
                            .buffer.chains = 20,
                            .steps = 2,
                            .report_every = 4,
                            .callbacks = { .progress = remember, .progress_data = &h } };
    ck_ok(sal_train(model, &data, &o, &err), &err);
    double most = 0;
    for (int k = 10; k <= KEPT; k++) { /* the first iteration that is further off than 1 .. 9 */
        most = k == 10 ? h.difference[k] : most;
        most = h.difference[k] > most ? h.difference[k] : most;
    }
    int first = 1;
    while (h.difference[first] < most) {
        first++;
    }
    o.largest_difference = most * (1 - 1e-9);
    sal_model_destroy(model);
    model = new_model(&data);
    ck_ok(sal_trainer_create(model, &data, &o, &t, &err), &err);
    snprintf(text, sizeof text, "diverged at iteration %d:", first);
    ck_fails(sal_trainer_run(t, KEPT, &err), SAL_ERR_MODEL, &err, text);
    int good = (first - 1) / 4 * 4;
    snprintf(text, sizeof text, "are those of iteration %d;", good);
    ck_assert_ptr_nonnull(strstr(err.message, text));
    ck_ok(sal_model_get_params(model, NULL, values, &err), &err);
    if (good > 0) {
        ck_assert_mem_eq(values, h.values[good], sizeof values);
    }
    ck_assert_int_eq(t->iteration, first - 1);
    ck_fails(sal_trainer_run(t, 1, &err), SAL_ERR_ARGUMENT, &err, "has failed");
    ck_fails(sal_trainer_save(t, "/tmp", &err), SAL_ERR_ARGUMENT, &err, "has failed");
    sal_trainer_destroy(t);
    sal_model_destroy(model);
    free(data.codes);
}
END_TEST

static int stop_at_7(const sal_train_report *r, void *data)
{
    (void)data;
    return r->iteration == 7;
}

START_TEST(progress_can_stop_and_what_is_left_goes_on)
{
    sal_error err;
    sal_data data = random_data();
    sal_model *model = new_model(&data), *whole = new_model(&data);
    sal_trainer *t = NULL;
    sal_train_report last = { 0 };
    double a[SIZE], b[SIZE];
    sal_train_options o = {
        .iterations = 12,
        .batch = 10,
        .buffer.chains = 15,
        .steps = 2,
        .callbacks = { .progress = stop_at_7, .report = keep_report, .report_data = &last }
    };
    ck_ok(sal_trainer_create(model, &data, &o, &t, &err), &err);
    ck_ok(sal_trainer_run(t, 100, &err), &err);
    ck_assert_int_eq(t->iteration, 7);
    ck_assert_int_eq(last.iteration, 7); /* a report although it is not due */
    ck_ok(sal_trainer_run(t, 100, &err), &err);
    ck_assert_int_eq(t->iteration, 12);
    ck_ok(sal_trainer_run(t, 100, &err), &err); /* nothing is left */
    o.callbacks.progress = NULL;
    ck_ok(sal_train(whole, &data, &o, &err), &err);
    ck_ok(sal_model_get_params(model, NULL, a, &err), &err);
    ck_ok(sal_model_get_params(whole, NULL, b, &err), &err);
    ck_assert_mem_eq(a, b, sizeof a);
    sal_trainer_destroy(t);
    sal_model_destroy(model);
    sal_model_destroy(whole);
    free(data.codes);
}
END_TEST

/* Parameters that are numbers in double, but not in the model's type. */
START_TEST(parameters_too_large_for_floats_are_divergence)
{
    sal_error err;
    sal_data data = random_data();
    sal_model *model = NULL;
    ck_ok(sal_model_open(specification, SAL_F32, &model, &err), &err);
    sal_train_options o = {
        .iterations = 1, .batch = 10, .buffer.chains = 10, .learning_rate = 1e100
    };
    ck_fails(sal_train(model, &data, &o, &err), SAL_ERR_MODEL, &err, "iteration 0");
    sal_model_destroy(model);
    free(data.codes);
}
END_TEST

/* ---- options */

START_TEST(bad_options_are_named)
{
    sal_error err;
    sal_data data = random_data();
    sal_model *model = new_model(&data);
    const struct {
        sal_train_options o;
        const char *text;
    } cases[] = {
        { { .objective = (sal_objective)5 }, "objective is 5; expected an integer from 0 to 4" },
        { { .optimiser.method = (sal_optimiser)-1 }, "optimiser" },
        { { .buffer.start = (sal_buffer_start)3 },
          "buffer.start is 3; expected an integer from 0 to 2" },
        { { .buffer.order = (sal_buffer_order)2 },
          "buffer.order is 2; expected an integer from 0 to 1" },
        { { .iterations = -1 }, "iterations is -1; expected an integer of 1 or more" },
        { { .batch = -1 }, "batch is -1" },
        { { .batch = INT64_C(1) << 40 }, "batch is 1099511627776" },
        { { .steps = -2 }, "steps is -2; expected an integer from 1 to 2147483647, or -1" },
        { { .buffer.chains = -1 }, "buffer.chains is -1" },
        { { .buffer.chains = 49 },
          "a batch of 50 needs as many chains and data rows; there are 49 chains" },
        { { .batch = 101 }, "1000 chains and 100 rows to train on: take a smaller batch" },
        { { .threads = 4097 }, "threads is 4097" },
        { { .rate.warmup = -1 }, "rate.warmup is -1" },
        { { .rate.schedule = (sal_rate_schedule)3 },
          "rate.schedule is 3; expected an integer from 0 to 2" },
        { { .rate.cooldown = 1.5 }, "rate.cooldown is 1.5" },
        { { .report_every = -1 }, "report_every is -1" },
        { { .checkpoint.every = -1 }, "checkpoint.every is -1" },
        { { .step_size = -1 }, "step_size is -1; expected a number of 0 or more" },
        { { .step_size = NAN }, "step_size is" },
        { { .buffer.restart = 1.001 }, "buffer.restart is 1.001; expected a number from 0 to 1" },
        { { .buffer.restart = -0.1 }, "restart" },
        { { .buffer.restart = 0.1, .objective = SAL_CD },
          "buffer.restart goes with persistent chains, which only objective pcd has" },
        { { .buffer.chains = 100, .objective = SAL_CD },
          "buffer.chains goes with persistent chains" },
        { { .buffer.start = SAL_BUFFER_DATA, .objective = SAL_CD },
          "buffer.start goes with persistent chains" },
        { { .buffer.order = SAL_BUFFER_PASSES, .objective = SAL_CD },
          "buffer.order goes with persistent chains" },
        { { .buffer.chains = 100, .objective = SAL_PSEUDO_LIKELIHOOD },
          "buffer.chains goes with persistent chains" },
        { { .learning_rate = -1 }, "learning_rate is -1; expected a number above 0" },
        { { .learning_rate = INFINITY }, "learning_rate is inf" },
        { { .optimiser.momentum = 1 },
          "optimiser.momentum is 1; expected a number from 0 to below 1" },
        { { .optimiser.momentum = NAN }, "momentum" },
        { { .optimiser.beta2 = 1 }, "beta2 is 1" },
        { { .optimiser.beta2 = NAN }, "beta2 is" },
        { { .optimiser.epsilon = -1e-8 }, "epsilon is -1e-08" },
        { { .optimiser.weight_decay = INFINITY }, "weight_decay is inf" },
        { { .averaging = 1 }, "averaging is 1" },
        { { .couplings.l1 = -1 }, "l1 is -1" },
        { { .magnitude_penalty = -1 }, "magnitude_penalty is -1" },
        { { .magnitude_penalty = 1, .objective = SAL_PSEUDO_LIKELIHOOD },
          "magnitude_penalty goes with samples" },
        { { .largest_difference = -1 }, "largest_difference is -1" },
        { { .sampler = "gwq" }, "gwq" },
        { { .sampler = "gwg:hops=-1" }, "hops" },
        { { .checkpoint.resume = true }, "checkpoint.resume needs checkpoint.directory" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ck_fails(sal_train(model, &data, &cases[k].o, &err), SAL_ERR_ARGUMENT, &err, cases[k].text);
    }
    sal_model_destroy(model);
    free(data.codes);
}
END_TEST

START_TEST(counts_without_a_cap_cannot_start_uniform)
{
    sal_error err;
    sal_space *space = sal_space_create();
    ck_ok(sal_space_add(space, &(sal_block){ .name = "n", .kind = SAL_COUNT, .count = 3 }, &err),
          &err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr f = sal_dot(sal_param(tape, "b", SAL_SHAPE(3)), sal_state(tape));
    sal_model *model = NULL;
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    uint8_t codes[60];
    for (int i = 0; i < 60; i++) {
        codes[i] = (uint8_t)(i * 4 % 251);
    }
    sal_data data = { .rows = 20, .variables = 3, .codes = codes };
    double b[3] = { -1, -1, -1 };
    ck_ok(sal_model_set_params(model, NULL, b, &err), &err);
    sal_train_options o = { .iterations = 5, .batch = 20, .sampler = "mh-uniform" };
    ck_ok(sal_train(model, &data, &o, &err), &err);
    o.buffer.start = SAL_BUFFER_UNIFORM;
    ck_fails(sal_train(model, &data, &o, &err), SAL_ERR_ARGUMENT, &err,
             "counts without a cap cannot start uniform");
    sal_model_destroy(model);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}
END_TEST

START_TEST(preconditioners_are_covariances_of_data_that_fit)
{
    sal_error err;
    sal_data data = random_data(), other;
    sal_model *model = new_model(&data);
    static double C[V * V], mean[V];
    ck_ok(sal_data_preconditioner(&data, model, C, &err), &err);
    for (int i = 0; i < ROWS * V; i++) {
        mean[i % V] += data.codes[i] / (double)ROWS;
    }
    for (int i = 0; i < V * V; i++) {
        double c = 0;
        for (int r = 0; r < ROWS; r++) {
            c += (data.codes[r * V + i / V] - mean[i / V]) *
                 (data.codes[r * V + i % V] - mean[i % V]) / ROWS;
        }
        ck_assert_double_eq_tol(C[i], c, 1e-12);
    }
    other = data;
    other.variables = 63;
    ck_fails(sal_data_preconditioner(&other, model, C, &err), SAL_ERR_ARGUMENT, &err,
             "63 variables");
    other.variables = V;
    other.rows = 0;
    ck_fails(sal_data_preconditioner(&other, model, C, &err), SAL_ERR_ARGUMENT, &err, "0 rows");
    data.codes[70] = 2;
    ck_fails(sal_data_preconditioner(&data, model, C, &err), SAL_ERR_ARGUMENT, &err,
             "row 1, variable 6: code 2");
    ck_fails(sal_data_preconditioner(NULL, model, C, &err), SAL_ERR_ARGUMENT, &err, "NULL");
    sal_model_destroy(model);
    free(data.codes);
}
END_TEST

/* The covariance of codes, C, becomes a Hessian of f over levels that are h apart: a change of f is
 * C_ij d_i d_j / (h_i h_j). */
START_TEST(preconditioners_of_data_are_in_units_of_curvature)
{
    enum { ROWS_HERE = 5, N = 5 };
    uint8_t codes[ROWS_HERE * 3] = { 0, 0, 2, 1, 2, 0, 1, 1, 1, 0, 2, 1, 1, 1, 2 };
    double levels[3] = { -1, -0.5, 0 }, h[N] = { 2, 0.5, 1, 1, 1 }, x[ROWS_HERE][N] = { { 0 } };
    double M[N * N], mean[N] = { 0 };
    sal_data data = { .rows = ROWS_HERE, .variables = 3, .codes = codes };
    sal_error err;
    const sal_block blocks[] = {
        { .name = "a", .kind = SAL_SPIN, .count = 1 },
        { .name = "b", .kind = SAL_ORDINAL, .count = 1, .states = 3, .levels = levels },
        { .name = "c", .kind = SAL_CATEGORICAL, .count = 1, .states = 3 },
    };
    sal_space *space = sal_space_create();
    for (int k = 0; k < 3; k++) {
        ck_ok(sal_space_add(space, &blocks[k], &err), &err);
    }
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_model *model = NULL;
    ck_ok(sal_model_from_tape(tape, sal_sum(sal_state(tape)), &model, &err), &err);
    for (int r = 0; r < ROWS_HERE; r++) {
        x[r][0] = codes[3 * r];
        x[r][1] = codes[3 * r + 1];
        x[r][2 + codes[3 * r + 2]] = 1;
        for (int i = 0; i < N; i++) {
            mean[i] += x[r][i] / ROWS_HERE;
        }
    }
    ck_ok(sal_data_preconditioner(&data, model, M, &err), &err);
    for (int k = 0; k < N * N; k++) {
        double c = 0;
        for (int r = 0; r < ROWS_HERE; r++) {
            c += (x[r][k / N] - mean[k / N]) * (x[r][k % N] - mean[k % N]) / ROWS_HERE;
        }
        ck_assert_double_eq_tol(M[k], c / (h[k / N] * h[k % N]), 1e-14);
    }
    sal_model_destroy(model);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("train_samples");
    TCase *tcase = tcase_create("samples");
    tcase_add_test(tcase, chains_start_as_asked);
    tcase_add_test(tcase, pixels_of_grey_rows_are_drawn_apart_from_the_rows);
    tcase_add_test(tcase, forbidden_starts_are_repaired);
    tcase_add_test(tcase, chains_may_start_again_at_once);
    tcase_add_test(tcase, chains_start_again_with_the_probability_asked_for);
    tcase_add_test(tcase, a_pass_moves_no_chain_twice_and_the_next_has_another_order);
    tcase_add_test(tcase, chains_of_contrastive_divergence_begin_at_data);
    tcase_add_test(tcase, step_sizes_follow_the_acceptance);
    tcase_add_test(tcase, divergence_leaves_the_parameters_of_the_last_report);
    tcase_add_test(tcase, progress_can_stop_and_what_is_left_goes_on);
    tcase_add_test(tcase, parameters_too_large_for_floats_are_divergence);
    tcase_add_test(tcase, bad_options_are_named);
    tcase_add_test(tcase, counts_without_a_cap_cannot_start_uniform);
    tcase_add_test(tcase, preconditioners_are_covariances_of_data_that_fit);
    tcase_add_test(tcase, preconditioners_of_data_are_in_units_of_curvature);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
