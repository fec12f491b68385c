/* SPDX-License-Identifier: MIT */
/* Trajectories of trainings under attack: variables of every kind and forbidden states, other
 * threads and stops, files that are damaged, memory that runs out. */
#include "temp_dir.h"

#include <math.h>
#include <sys/stat.h>

#include <saltus/saltus.h>

#include "alloc_fail.h"
#include "exact_answers.h"
#include "core/rng.h"
#include "train/objectives/ptt.h"
#include "train/trajectory_file.h"

/* ---- a model of all kinds of variables: 3 bits, 2 spins, levels, labels, a count with a cap */

enum { V = 8, ROWS = 120 };

static const int32_t states[V] = { 2, 2, 2, 2, 2, 3, 3, 3 };

static sal_model *new_model(sal_dtype dtype, bool forbids, double scale)
{
    const double levels[] = { -1, 0, 1.5 };
    const sal_block blocks[] = {
        { .name = "bits", .kind = SAL_BINARY, .count = 3 },
        { .name = "spins", .kind = SAL_SPIN, .count = 2 },
        { .name = "levels", .kind = SAL_ORDINAL, .count = 1, .states = 3, .levels = levels },
        { .name = "labels", .kind = SAL_CATEGORICAL, .count = 1, .states = 3 },
        { .name = "counts", .kind = SAL_COUNT, .count = 1, .cap = 2 },
    };
    sal_error err;
    sal_model *model = NULL;
    sal_space *space = sal_space_create();
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
        ck_ok(sal_space_add(space, &blocks[k], &err), &err);
    }
    sal_tape *tape = sal_tape_create(space, dtype);
    const int64_t N = sal_space_width(space);
    sal_expr s = sal_state(tape);
    sal_expr f = sal_add(sal_dot(s, sal_param(tape, "h", SAL_SHAPE(N))),
                         sal_quad(s, sal_param(tape, "J", SAL_SHAPE(N, N))));
    if (forbids) { /* all bits zero, with f = log 0 */
        f = sal_add(f, sal_log(sal_sum(sal_state_block(tape, "bits"))));
    }
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    ck_ok(sal_model_set_name(model, "kinds", &err), &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    const int64_t n = sal_model_parameters_size(model);
    double *values = calloc((size_t)n, sizeof *values);
    const sali_stream stream = { .seed = 4, .purpose = SALI_RNG_TEST };
    for (int64_t i = 0; i < n; i++) {
        values[i] = scale * (2 * sali_rng_uniform_at(&stream, (uint32_t)i) - 1);
    }
    ck_ok(sal_model_set_params(model, NULL, values, &err), &err);
    free(values);
    return model;
}

/* Rows in which neighbours are mostly equal, none of them forbidden. */
static sal_data new_data(uint64_t seed)
{
    sal_data data = { .rows = ROWS, .variables = V, .codes = calloc(ROWS, V) };
    for (int64_t r = 0; r < ROWS; r++) {
        const sali_stream stream = {
            .seed = seed, .step = 1, .chain = (uint32_t)r, .purpose = SALI_RNG_TEST
        };
        int32_t code = 1;
        for (uint32_t v = 0; v < V; v++) {
            if (sali_rng_uniform_at(&stream, 2 * v) < 0.3) {
                code = (int32_t)sali_rng_below(&stream, 2 * v + 1, 3);
            }
            data.codes[r * V + v] = (uint8_t)(code % states[v]);
        }
        if (data.codes[r * V] + data.codes[r * V + 1] + data.codes[r * V + 2] == 0) {
            data.codes[r * V] = 1;
        }
    }
    return data;
}

static sal_train_options usual(void)
{
    return (sal_train_options){ .objective = SAL_PTT,
                                .sampler = "gibbs",
                                .steps = V,
                                .batch = 40,
                                .iterations = 120,
                                .learning_rate = 0.05,
                                .report_every = 30,
                                .seed = 3,
                                .threads = 1 };
}

/* ---- variables of all kinds, forbidden states, levels of the bridge */

static int save_ladder(const sal_train_report *r, void *data)
{
    sal_error err;
    (void)data;
    ck_ok(sali_trajectory_save(r->trajectory, temp_dir, r->model, r, &err), &err);
    return 0;
}

static void check_draws(sal_model *model, const sal_trajectory *path, const char *sampler,
                        int64_t chains, int64_t draws, const char *what)
{
    sal_error err;
    sal_run *run = NULL;
    sal_run_variation tv;
    const sal_run_options o = { .trajectory = path,
                                .sampler = sampler,
                                .chains = chains,
                                .draws = draws,
                                .thin = 2,
                                .seed = 5,
                                .threads = 2,
                                .record.draws = true };
    ck_ok(sal_sample(model, &o, &run, &err), &err);
    ck_ok(sal_run_total_variation(run, 0, 1, &tv, &err), &err);
    ck_assert_msg(tv.distance < 1.35 * tv.ideal,
                  "%s, %s, %d chains: total variation %.4f, ideal %.4f", what, sampler, (int)chains,
                  tv.distance, tv.ideal);
    sal_run_destroy(run);
}

static void check_kinds(const char *sampler, sal_dtype dtype, bool forbids, double scale,
                        int64_t batch)
{
    sal_error err;
    char what[100];
    sal_data data = new_data(7);
    sal_train_options o = usual();
    sal_trainer *t = NULL;
    sal_trajectory *path = NULL;
    sal_train_report report;
    sal_model *model = new_model(dtype, forbids, scale);
    snprintf(what, sizeof what, "%s, f%d, %s, scale %g, batch %d", sampler,
             dtype == SAL_F32 ? 32 : 64, forbids ? "forbidden states" : "free", scale, (int)batch);
    temp_dir_make();
    o.sampler = sampler;
    o.batch = batch;
    o.ptt.reservoir = batch < 10 ? 200 * batch : 0;
    o.callbacks.report = save_ladder;
    ck_ok(sal_trainer_create(model, &data, &o, &t, &err), &err);
    ck_ok(sal_trainer_run(t, o.iterations, &err), &err);
    sal_trainer_report(t, &report);
    double exact = exact_log_z(model);
    ck_assert_msg(batch < 10 || fabs(report.log_z - exact) < 4.5 * report.log_z_error,
                  "%s: log Z %.4f +- %.4f, exactly %.4f, %d levels", what, report.log_z,
                  report.log_z_error, exact, (int)report.levels);
    ck_ok(sal_trajectory_open(temp_dir, model, &path, &err), &err);
    ck_assert_int_ge(path->n, 2);
    int64_t few = TEST_CHAINS(40);
    check_draws(model, path, NULL, few, 300, what);
    check_draws(model, path, "gibbs", 1, 300 * few, what);
    sal_trajectory_destroy(path);
    sal_trainer_destroy(t);
    sal_model_destroy(model);
    temp_dir_remove();
    free(data.codes);
}

static const struct {
    const char *sampler;
    sal_dtype dtype;
    bool forbids;
    double scale;
    int64_t batch;
} kinds[] = {
    { "gibbs", SAL_F64, false, 0.02, 40 }, { "gibbs", SAL_F64, true, 0.02, 40 },
    { "gwg", SAL_F64, false, 0.02, 40 },   { "gibbs", SAL_F64, true, 0.7, 40 },
    { "gwg", SAL_F32, false, 0.7, 40 },    { "ncg", SAL_F64, false, 0.02, 40 },
    { "pavg", SAL_F32, false, 0.02, 40 },  { "gibbs", SAL_F64, false, 0.02, 2 },
    { "ncg", SAL_F32, false, 0.7, 40 },    { "pavg", SAL_F64, false, 0.7, 40 },
};

START_TEST(all_kinds_of_variables_follow)
{
    check_kinds(kinds[_i].sampler, kinds[_i].dtype, kinds[_i].forbids, kinds[_i].scale,
                kinds[_i].batch);
}
END_TEST

/* ---- threads and stops */

static void same_trainings(const char *what, const sal_trainer *a, const sal_trainer *b)
{
    const sali_ptt *p = a->own, *q = b->own;
    const size_t bytes = (size_t)a->optimiser.n * sizeof(double);
    ck_assert_msg(a->iteration == b->iteration, "%s", what);
    ck_assert_msg(p->path->n == q->path->n && p->sweeps == q->sweeps, "%s", what);
    ck_assert_msg(p->held == q->held && p->rejections == q->rejections, "%s", what);
    ck_assert_msg(memcmp(a->values, b->values, bytes) == 0, "%s", what);
    ck_assert_msg(!a->averages || memcmp(a->averages, b->averages, bytes) == 0, "%s", what);
    ck_assert_msg(memcmp(p->stored, q->stored, (size_t)(p->M * V) * sizeof(int32_t)) == 0, "%s",
                  what);
    ck_assert_msg(memcmp(a->buffer.codes, b->buffer.codes, (size_t)(p->n * V) * sizeof(int32_t)) ==
                      0,
                  "%s", what);
    ck_assert_msg(a->optimiser.learning_rate == b->optimiser.learning_rate, "%s", what);
    ck_assert_msg(a->best_likelihood == b->best_likelihood && a->worse == b->worse &&
                      a->best_iteration == b->best_iteration,
                  "%s: best %lld, %lld", what, (long long)a->best_iteration,
                  (long long)b->best_iteration);
    ck_assert_msg(memcmp(&a->now.log_z, &b->now.log_z, sizeof(double)) == 0, "%s", what);
}

static int count_rejections(const sal_trainer *t)
{
    return sali_ptt_of(t)->rejections > 0;
}

static void check_bits(const char *sampler, sal_dtype dtype, sal_optimiser optimiser, double rate)
{
    sal_error err;
    sal_data data = new_data(7), test = new_data(8);
    sal_train_options o = usual();
    o.sampler = sampler;
    o.optimiser.method = optimiser;
    o.learning_rate = rate;
    o.averaging = 0.9;
    o.iterations = 10;
    o.report_every = 3;
    o.batch = 34; /* several shards, one of them smaller */
    o.ptt.test = &test;
    sal_model *whole = new_model(dtype, false, 0.3);
    sal_trainer *t = NULL;
    char what[100];
    int back = 0;
    ck_ok(sal_trainer_create(whole, &data, &o, &t, &err), &err);
    for (int k = 0; k < o.iterations; k++) {
        ck_ok(sal_trainer_run(t, 1, &err), &err);
        back += count_rejections(t);
    }
    fprintf(stderr, "%s: %d levels, %d taken back\n", sampler, (int)sali_ptt_of(t)->path->n, back);
    const int threads[] = { 2, 3, 7 };
    for (int k = 0; k < 3; k++) {
        sal_model *model = new_model(dtype, false, 0.3);
        sal_trainer *other = NULL;
        o.threads = threads[k];
        ck_ok(sal_trainer_create(model, &data, &o, &other, &err), &err);
        ck_ok(sal_trainer_run(other, 100, &err), &err);
        snprintf(what, sizeof what, "%s, %d threads", sampler, threads[k]);
        same_trainings(what, t, other);
        sal_trainer_destroy(other);
        sal_model_destroy(model);
    }
    o.threads = 1;
    /* One trainer goes on; at each iteration it is saved, and another made from that. */
    sal_model *from = new_model(dtype, false, 0.3);
    sal_trainer *steps = NULL;
    ck_ok(sal_trainer_create(from, &data, &o, &steps, &err), &err);
    for (int k = 0; k < o.iterations; k++) {
        temp_dir_make();
        sal_model *model = new_model(dtype, false, 0.3);
        sal_trainer *other = NULL;
        ck_ok(sal_trainer_save(steps, temp_dir, &err), &err);
        ck_ok(sal_trainer_create(model, &data, &o, &other, &err), &err);
        ck_ok(sal_trainer_load(other, temp_dir, &err), &err);
        ck_ok(sal_trainer_run(other, 100, &err), &err);
        snprintf(what, sizeof what, "%s, resumed at %d", sampler, k);
        same_trainings(what, t, other);
        sal_trainer_destroy(other);
        sal_model_destroy(model);
        ck_ok(sal_trainer_run(steps, k == 0 ? 0 : 1, &err), &err);
        if (k == 0) { /* with its first levels, but no iteration */
            ck_assert_int_gt(sali_ptt_of(steps)->path->n, 1);
        }
        temp_dir_remove();
    }
    sal_trainer_destroy(steps);
    sal_trainer_destroy(t);
    sal_model_destroy(from);
    sal_model_destroy(whole);
    free(data.codes);
    free(test.codes);
}

static const struct {
    const char *sampler;
    sal_dtype dtype;
    sal_optimiser optimiser;
    double rate;
} bits[] = {
    { "gibbs", SAL_F64, SAL_ADAM, 0.3 }, { "gwg", SAL_F32, SAL_SGD, 0.3 },
    { "ncg", SAL_F32, SAL_ADAM, 0.3 },   { "pavg", SAL_F64, SAL_ADAM, 0.2 },
    { "gibbs", SAL_F32, SAL_SGD, 1 },
};

START_TEST(threads_and_stops_change_no_bit)
{
    check_bits(bits[_i].sampler, bits[_i].dtype, bits[_i].optimiser, bits[_i].rate);
}
END_TEST

static int stop_at(const sal_train_report *r, void *at)
{
    return r->iteration == *(int *)at;
}

/* A stop between two reports is not one more report that patience counts, nor a chance to be the
 * best. */
START_TEST(a_stop_is_no_report_for_patience)
{
    sal_error err;
    sal_data data = new_data(7), test = new_data(8);
    sal_train_options o = usual();
    o.iterations = 40;
    o.report_every = 20;
    o.ptt.test = &test;
    sal_model *models[2];
    sal_trainer *t[2] = { 0 };
    int at = 0;
    for (int k = 0; k < 2; k++) {
        models[k] = new_model(SAL_F64, false, 0.1);
        o.callbacks.progress = k ? stop_at : NULL;
        o.callbacks.progress_data = &at;
        ck_ok(sal_trainer_create(models[k], &data, &o, &t[k], &err), &err);
        for (at = 3; at <= 43; at++) {
            ck_ok(sal_trainer_run(t[k], 100, &err), &err);
        }
    }
    same_trainings("stopped", t[0], t[1]);
    for (int k = 0; k < 2; k++) {
        sal_trainer_destroy(t[k]);
        sal_model_destroy(models[k]);
    }
    free(data.codes);
    free(test.codes);
}
END_TEST

/* Weights that are no numbers: the update is taken back, nothing is frozen. */
START_TEST(values_that_are_no_numbers_are_taken_back)
{
    sal_error err = { 0 };
    sal_data data = new_data(7);
    sal_train_options o = usual();
    sal_trainer *t = NULL;
    sal_model *model = new_model(SAL_F64, false, 0.1);
    ck_ok(sal_trainer_create(model, &data, &o, &t, &err), &err);
    ck_ok(sal_trainer_run(t, 3, &err), &err);
    const int64_t levels = sali_ptt_of(t)->path->n;
    const double rate = t->optimiser.learning_rate;
    double error;
    const double even = sali_ptt_log_z(t, &error); /* the chains' weights count */
    for (int64_t c = 0; c < sali_ptt_of(t)->n; c++) {
        sali_ptt_of(t)->weight[c] = c == 0;
    }
    ck_assert(fabs(sali_ptt_log_z(t, &error) - even) > 1e-9);
    sali_ptt_of(t)->frozen = 0;
    t->shards[0].f[1] = NAN;
    ck_ok(sali_ptt_follow(t, true, &err), &err);
    ck_assert_int_eq(sali_ptt_of(t)->path->n, levels);
    ck_assert_double_eq(t->optimiser.learning_rate, rate / 2);
    sal_trainer_destroy(t);
    sal_model_destroy(model);
    free(data.codes);
}
END_TEST

/* A mode that was lost: the model gets the parameters of the last good report back. */
START_TEST(a_lost_mode_gives_good_parameters_back)
{
    sal_error err = { 0 };
    sal_data data = new_data(7);
    sal_train_options o = usual();
    sal_trainer *t = NULL;
    double values[200], good[200];
    o.report_every = 5;
    sal_model *model = new_model(SAL_F64, false, 0.1);
    const size_t bytes = (size_t)sal_model_parameters_size(model) * sizeof(double);
    ck_ok(sal_trainer_create(model, &data, &o, &t, &err), &err);
    ck_ok(sal_trainer_run(t, 5, &err), &err);
    ck_ok(sal_model_get_params(model, NULL, good, &err), &err);
    for (int64_t k = 0; k < sali_ptt_of(t)->path->n; k++) {
        sali_ptt_of(t)->path->levels[k].info.log_z -= 30;
    }
    ck_fails(sal_trainer_run(t, 5, &err), SAL_ERR_MODEL, &err, "lost a mode");
    ck_ok(sal_model_get_params(model, NULL, values, &err), &err);
    ck_assert_mem_eq(values, good, bytes);
    sal_trainer_destroy(t);
    sal_model_destroy(model);
    free(data.codes);
}
END_TEST

/* Which parameters are best was said by other rows. */
START_TEST(other_held_out_rows_are_refused)
{
    sal_error err = { 0 };
    sal_data data = new_data(7), test = new_data(8), others = new_data(9);
    sal_train_options o = usual();
    sal_trainer *t = NULL;
    temp_dir_make();
    sal_model *model = new_model(SAL_F64, false, 0.1);
    o.ptt.test = &test;
    ck_ok(sal_trainer_create(model, &data, &o, &t, &err), &err);
    ck_ok(sal_trainer_run(t, 2, &err), &err);
    ck_ok(sal_trainer_save(t, temp_dir, &err), &err);
    sal_trainer_destroy(t);
    const sal_data *tests[] = { &others, NULL };
    for (int k = 0; k < 2; k++) {
        o.ptt.test = tests[k];
        ck_ok(sal_trainer_create(model, &data, &o, &t, &err), &err);
        ck_fails(sal_trainer_load(t, temp_dir, &err), SAL_ERR_DATA, &err, "with test");
        sal_trainer_destroy(t);
    }
    sal_model_destroy(model);
    temp_dir_remove();
    free(data.codes);
    free(test.codes);
    free(others.codes);
}
END_TEST

/* ---- memory runs out */

static sal_trainer *made;
static sal_run *drawn;
static sal_trajectory *opened;

static sal_status train_all(sal_model *model, const sal_data *data, const sal_train_options *o,
                            sal_error *err)
{
    sal_trainer *t = NULL;
    sal_status status = sal_trainer_create(model, data, o, &t, err);
    ck_assert(status == SAL_OK || !t);
    status = status ? status : sal_trainer_run(t, 3, err);
    status = status ? status : sal_trainer_save(t, temp_dir, err);
    if (status != SAL_OK) {
        sal_trainer_destroy(t);
        return status;
    }
    made = t;
    return SAL_OK;
}

static void keep_made(sal_model *model)
{
    sal_train_report report;
    sal_error err = { 0 };
    sal_trainer_report(made, &report);
    ck_ok(sali_trajectory_save(report.trajectory, temp_dir, model, &report, &err), &err);
    sal_trainer_destroy(made);
    made = NULL;
}

static sal_status load_into(sal_model *model, const sal_data *data, const sal_train_options *o,
                            sal_error *err)
{
    sal_trainer *t = NULL;
    sal_status status = sal_trainer_create(model, data, o, &t, err);
    status = status ? status : sal_trainer_load(t, temp_dir, err);
    sal_trainer_destroy(t);
    return status;
}

START_TEST(memory_that_runs_out_is_said)
{
    sal_error err = { 0 };
    sal_data data = new_data(7), test = new_data(8);
    sal_train_options o = usual();
    o.batch = 4;
    o.steps = 2;
    o.iterations = 3;
    o.report_every = 1;
    o.ptt.test = &test;
    o.averaging = 0.9;
    o.sampler = _i ? "ncg" : "gibbs";
    temp_dir_make();
    sal_model *model = new_model(SAL_F32, false, _i ? 0.02 : 0.4);
    double values[200];
    ck_ok(sal_model_get_params(model, NULL, values, &err), &err);
    ck_alloc_sweep(
        (sal_model_set_params(model, NULL, values, NULL), train_all(model, &data, &o, &err)),
        keep_made(model));
    ck_alloc_sweep(load_into(model, &data, &o, &err), (void)0);
    ck_alloc_sweep(sal_trajectory_open(temp_dir, model, &opened, &err),
                   (sal_trajectory_destroy(opened), opened = NULL));
    ck_ok(sal_trajectory_open(temp_dir, model, &opened, &err), &err);
    const sal_run_options run = {
        .trajectory = opened, .chains = 3, .draws = 4, .warmup = 2, .threads = 1
    };
    ck_alloc_sweep(sal_sample(model, &run, &drawn, &err), (sal_run_destroy(drawn), drawn = NULL));
    sal_trajectory_destroy(opened);
    sal_model_destroy(model);
    temp_dir_remove();
    free(data.codes);
    free(test.codes);
}
END_TEST

/* A trainer that failed on its way to the first model goes on from a checkpoint like any other. */
START_TEST(a_trainer_that_failed_early_loads)
{
    sal_error err = { 0 };
    sal_data data = new_data(7);
    sal_train_options o = usual();
    sal_trainer *t[2] = { 0 };
    sal_model *models[2];
    o.iterations = 8;
    o.batch = 20;
    temp_dir_make();
    for (int k = 0; k < 2; k++) {
        models[k] = new_model(SAL_F64, false, 1.2);
        ck_ok(sal_trainer_create(models[k], &data, &o, &t[k], &err), &err);
    }
    ck_ok(sal_trainer_run(t[0], 4, &err), &err);
    ck_assert_double_lt(sali_ptt_of(t[0])->path->levels[1].info.beta, 1);
    ck_ok(sal_trainer_save(t[0], temp_dir, &err), &err);
    ck_ok(sal_trainer_run(t[0], 4, &err), &err);
    for (int64_t n = 100; !sali_ptt_of(t[1])->visitors; n++) {
        sal_trainer_destroy(t[1]);
        sal_model_destroy(models[1]);
        models[1] = new_model(SAL_F64, false, 1.2);
        ck_ok(sal_trainer_create(models[1], &data, &o, &t[1], &err), &err);
        alloc_fail_at(n);
        const sal_status status = sal_trainer_run(t[1], 4, &err);
        alloc_fail_at(0);
        ck_assert(status == SAL_ERR_MEMORY || status == SAL_OK); /* OK: it did without */
    }
    ck_assert_ptr_nonnull(sali_ptt_of(t[1])->visitors);
    ck_ok(sal_trainer_load(t[1], temp_dir, &err), &err);
    ck_ok(sal_trainer_run(t[1], 4, &err), &err);
    same_trainings("failed, then loaded", t[0], t[1]);
    for (int k = 0; k < 2; k++) {
        sal_trainer_destroy(t[k]);
        sal_model_destroy(models[k]);
    }
    temp_dir_remove();
    free(data.codes);
}
END_TEST

/* ---- directories */

/* Whatever directory a checkpoint goes to, all its levels are there. */
START_TEST(each_directory_gets_all_levels)
{
    sal_error err = { 0 };
    sal_data data = new_data(7);
    sal_train_options o = usual();
    sal_trainer *t = NULL, *other = NULL;
    char second[100];
    temp_dir_make();
    snprintf(second, sizeof second, "%s/second", temp_dir);
    ck_assert_int_eq(mkdir(second, 0700), 0);
    sal_model *model = new_model(SAL_F64, false, 0.2), *again = new_model(SAL_F64, false, 0.2);
    ck_ok(sal_trainer_create(model, &data, &o, &t, &err), &err);
    ck_ok(sal_trainer_run(t, 5, &err), &err);
    ck_ok(sal_trainer_save(t, temp_dir, &err), &err);
    ck_ok(sal_trainer_save(t, second, &err), &err);
    ck_ok(sal_trainer_create(again, &data, &o, &other, &err), &err);
    ck_ok(sal_trainer_load(other, second, &err), &err);
    ck_ok(sal_trainer_run(t, 5, &err), &err);
    ck_ok(sal_trainer_run(other, 5, &err), &err);
    same_trainings("second directory", t, other);
    /* from one directory to another */
    char third[100];
    snprintf(third, sizeof third, "%s/third", temp_dir);
    ck_assert_int_eq(mkdir(third, 0700), 0);
    ck_ok(sal_trainer_save(other, third, &err), &err);
    ck_ok(sal_trainer_load(t, third, &err), &err);
    /* one that was emptied meanwhile */
    char ladder[220];
    snprintf(ladder, sizeof ladder, "%s/ladder", third);
    temp_remove(ladder);
    ck_ok(sal_trainer_save(other, third, &err), &err);
    ck_ok(sal_trainer_load(t, third, &err), &err);
    sal_trainer_destroy(t);
    sal_trainer_destroy(other);
    sal_model_destroy(model);
    sal_model_destroy(again);
    temp_dir_remove();
    free(data.codes);
}
END_TEST

/* ---- damaged files */

static char *read_whole(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    char *bytes = calloc(1, 1 << 20);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

static void write_whole(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void bad_ladder(const sal_model *model, const char *what)
{
    sal_error err = { 0 };
    sal_trajectory *path = NULL;
    sal_status status = sal_trajectory_open(temp_dir, model, &path, &err);
    ck_assert_msg(status == SAL_ERR_DATA || status == SAL_ERR_IO, "%s: %s (%s)", what,
                  sal_status_string(status), err.message);
    ck_assert_msg(!path && err.message[0], "%s", what);
    ck_assert_msg(strstr(err.message, "ladder"), "%s: '%s' names no file", what, err.message);
}

/* A model with as many parameters as a level has numbers of its own. */
static sal_model *eight_parameters(void)
{
    sal_error err;
    sal_model *model = NULL;
    sal_space *space = sal_space_create();
    ck_ok(sal_space_add(space, &(sal_block){ .name = "x", .kind = SAL_BINARY, .count = 8 }, &err),
          &err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr f = sal_dot(sal_state(tape), sal_param(tape, "h", SAL_SHAPE(8)));
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return model;
}

START_TEST(damaged_ladders_are_refused)
{
    sal_error err = { 0 };
    sal_data data = new_data(7);
    for (int64_t i = 0; i < ROWS * V; i++) {
        data.codes[i] = data.codes[i] > 0;
    }
    sal_train_options o = usual();
    o.iterations = 30;
    o.callbacks.report = save_ladder;
    sal_model *model = eight_parameters();
    temp_dir_make();
    ck_ok(sal_train(model, &data, &o, &err), &err);
    sal_trajectory *path = NULL;
    ck_ok(sal_trajectory_open(temp_dir, model, &path, &err), &err);
    sal_trajectory_destroy(path);
    path = NULL;
    char json[200], level[200], zero[200];
    snprintf(json, sizeof json, "%s/ladder/ladder.json", temp_dir);
    snprintf(level, sizeof level, "%s/ladder/level-001.safetensors", temp_dir);
    snprintf(zero, sizeof zero, "%s/ladder/level-000.safetensors", temp_dir);

    size_t size;
    char *text = read_whole(json, &size);
    for (size_t cut = 0; cut + 2 < size; cut += 1 + size / 97) {
        write_whole(json, text, cut);
        bad_ladder(model, "a record that is cut");
    }
    const char *from[] = { "\"levels\"", "\"steps\"", "\"saltus_ladder\": 1", "\"fingerprint\": \"",
                           "\"sampler\": \"" };
    const char *to[] = { "\"levels\": 100000000, \"x\"", "\"steps\": -1, \"x\"",
                         "\"saltus_ladder\": 2", "\"fingerprint\": \"zz",
                         "\"sampler\": 3, \"x\": \"" };
    for (size_t k = 0; k < sizeof from / sizeof *from; k++) {
        char changed[4096];
        text[size] = '\0';
        char *at = strstr(text, from[k]);
        ck_assert_ptr_nonnull(at);
        int n = snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, to[k],
                         at + strlen(from[k]));
        write_whole(json, changed, (size_t)n);
        bad_ladder(model, to[k]);
    }
    { /* more levels than files */
        char changed[4096];
        char *at = strstr(text, "\"levels\"");
        int n = snprintf(changed, sizeof changed, "%.*s\"levels\": 9999, \"x\"%s", (int)(at - text),
                         text, at + 8);
        write_whole(json, changed, (size_t)n);
        bad_ladder(model, "9999 levels");
    }
    write_whole(json, text, size);
    free(text);

    const char *files[] = { zero, level };
    for (int k = 0; k < 2; k++) {
        char *bytes = read_whole(files[k], &size);
        for (size_t cut = 0; cut < size; cut += 1 + size / 61) {
            write_whole(files[k], bytes, cut);
            bad_ladder(model, "a level that is cut");
        }
        /* each double NaN in turn, but the acceptance */
        uint64_t header;
        memcpy(&header, bytes, 8);
        const double nan_value = NAN;
        int misses = 0;
        for (size_t at = 8 + header; at + 8 <= size; at += 8) {
            char keep[8];
            memcpy(keep, bytes + at, 8);
            memcpy(bytes + at, &nan_value, 8);
            write_whole(files[k], bytes, size);
            memcpy(bytes + at, keep, 8);
            sal_trajectory *got = NULL;
            if (sal_trajectory_open(temp_dir, model, &got, &err) == SAL_OK) {
                sal_trajectory_destroy(got);
                misses++;
            } else {
                bad_ladder(model, "NaN");
            }
        }
        ck_assert_int_le(misses, k == 0 ? 16 : 1); /* level 0's own numbers are not read */
        write_whole(files[k], bytes, size);
        free(bytes);
        /* a directory, a link to nowhere, a link to itself, a device without an end */
        ck_assert_int_eq(rename(files[k], temp_path("kept")), 0);
        bad_ladder(model, "no level");
        ck_assert_int_eq(mkdir(files[k], 0700), 0);
        bad_ladder(model, "a directory");
        rmdir(files[k]);
        ck_assert_int_eq(symlink("/nowhere/at/all", files[k]), 0);
        bad_ladder(model, "a link to nowhere");
        remove(files[k]);
        ck_assert_int_eq(symlink(files[k], files[k]), 0);
        bad_ladder(model, "a link to itself");
        remove(files[k]);
        ck_assert_int_eq(symlink("/dev/null", files[k]), 0);
        bad_ladder(model, "nothing");
        remove(files[k]);
        ck_assert_int_eq(rename(temp_path("kept"), files[k]), 0);
    }
    /* of another model */
    sal_model *other = new_model(SAL_F64, false, 0);
    bad_ladder(other, "another model");
    sal_model_destroy(other);
    sal_model_destroy(model);
    temp_dir_remove();
    free(data.codes);
}
END_TEST

/* ---- runs */

typedef struct shown {
    int64_t draws, warmups;
} shown;

static int see(const sal_draw *draw, void *data)
{
    shown *s = data;
    (*(draw->warmup ? &s->warmups : &s->draws))++;
    return 0;
}

START_TEST(draws_are_shown_and_parameters_may_change)
{
    sal_error err = { 0 };
    sal_data data = new_data(7);
    sal_train_options o = usual();
    sal_trajectory *path = NULL;
    sal_run *run = NULL;
    double z, e, values[200];
    temp_dir_make();
    o.callbacks.report = save_ladder;
    sal_model *model = new_model(SAL_F64, true, 0.1);
    ck_ok(sal_train(model, &data, &o, &err), &err);
    ck_ok(sal_trajectory_open(temp_dir, model, &path, &err), &err);
    ck_ok(sal_trajectory_log_z(path, model, &z, &e, &err), &err);
    shown s = { 0 };
    sal_run_options r = { .trajectory = path,
                          .chains = 3,
                          .draws = 10,
                          .warmup = 7,
                          .callbacks = { .draw = see, .draw_data = &s },
                          .record.warmup = true,
                          .seed = 2 };
    ck_ok(sal_sample(model, &r, &run, &err), &err);
    ck_assert_int_eq(s.draws, 10);
    ck_assert_int_eq(s.warmups, 7);
    sal_run_destroy(run);
    r.warmup = -1;
    s = (shown){ 0 };
    ck_ok(sal_sample(model, &r, &run, &err), &err);
    ck_assert_int_eq(s.draws, 10);
    ck_assert_int_eq(s.warmups, 0);
    sal_run_destroy(run);
    /* other parameters: the ladder leads to them all the same, but its log Z does not */
    ck_ok(sal_model_get_params(model, NULL, values, &err), &err);
    for (int64_t i = 0; i < sal_model_parameters_size(model); i++) {
        values[i] *= 0.6;
    }
    ck_ok(sal_model_set_params(model, NULL, values, &err), &err);
    ck_fails(sal_trajectory_log_z(path, model, &z, &e, &err), SAL_ERR_DATA, &err, "other param");
    check_draws(model, path, NULL, TEST_CHAINS(40), 300, "other parameters");
    sal_trajectory_destroy(path);
    sal_model_destroy(model);
    temp_dir_remove();
    free(data.codes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("trajectory");
    TCase *tcase = statistics_create("training");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, all_kinds_of_variables_follow, 0, sizeof kinds / sizeof *kinds);
    tcase_add_loop_test(tcase, threads_and_stops_change_no_bit, 0, sizeof bits / sizeof *bits);
    tcase_add_test(tcase, a_stop_is_no_report_for_patience);
    tcase_add_test(tcase, values_that_are_no_numbers_are_taken_back);
    tcase_add_test(tcase, a_lost_mode_gives_good_parameters_back);
    tcase_add_test(tcase, other_held_out_rows_are_refused);
    tcase_add_loop_test(tcase, memory_that_runs_out_is_said, 0, 2);
    tcase_add_test(tcase, a_trainer_that_failed_early_loads);
    suite_add_tcase(suite, tcase);
    tcase = statistics_create("files");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, each_directory_gets_all_levels);
    tcase_add_test(tcase, damaged_ladders_are_refused);
    tcase_add_test(tcase, draws_are_shown_and_parameters_may_change);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
