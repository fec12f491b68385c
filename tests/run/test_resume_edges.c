/* SPDX-License-Identifier: MIT */
/* Runs that go on, at their edges: what is called stops them, own samplers, hostile states, files
 * that are not over. */
#include "test.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <saltus/io.h>
#include "io/config.h"
#ifdef SALI_HAVE_NETCDF
#include <netcdf.h>
#endif
#include "own_samplers.h"
#include "run_helpers.h"
#include "temp_dir.h"

static sal_model *ready_made(const char *specification)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(specification, 0, &model, &err), &err);
    return model;
}

static sal_run_options rest_of(const sal_run_state *state)
{
    sal_run_options options;
    sal_error err;
    ck_ok(sal_run_state_options(state, &options, &err), &err);
    options.record.draws = true;
    return options;
}

/* f of the first n draws, bit by bit. */
static void same_f(const sal_run *a, const sal_run *b, int64_t n)
{
    ck_assert_int_ge(a->draws_made, n);
    ck_assert_int_ge(b->draws_made, n);
    for (int64_t c = 0; c < a->options.chains; c++) {
        ck_assert_msg(memcmp(sal_run_log_probs(a) + c * a->draws_made,
                             sal_run_log_probs(b) + c * b->draws_made,
                             (size_t)n * sizeof(double)) == 0,
                      "chain %d", (int)c);
    }
}

/* ---- what is called */

typedef struct watcher {
    int64_t stop_at; /* the draw; -1: never */
    bool in_warmup;  /* a draw of warm-up */
    int64_t shown;   /* after warm-up */
    int64_t states;  /* shown */
    sal_draw_writer *writer;
    sal_run_options to; /* what the writer wants to be called */
} watcher;

static int watch_draw(const sal_draw *draw, void *data)
{
    watcher *w = data;
    w->shown += !draw->warmup;
    int stop = w->writer ? w->to.callbacks.draw(draw, w->to.callbacks.draw_data) : 0;
    return stop || (draw->index == w->stop_at && draw->warmup == w->in_warmup);
}

/* A state comes after the draws that it counts. */
static int watch_state(const sal_run_state *state, void *data)
{
    watcher *w = data;
    w->states++;
    ck_assert_int_le(*(const int64_t *)sali_run_state_find(state, "draws_made")->data, w->shown);
    return w->writer ? w->to.callbacks.state(state, w->to.callbacks.state_data) : 0;
}

static sal_run_options watched(sal_run_options options, watcher *w)
{
    options.callbacks.draw = watch_draw;
    options.callbacks.draw_data = w;
    options.callbacks.state = watch_state;
    options.callbacks.state_data = w;
    return options;
}

/* 186 draws of so many chains fit the buffer, but anchors stay where they are. */
START_TEST(bits_do_not_depend_on_being_shown)
{
    sal_model *model = ready_made("ising:side=3,theta=0.3");
    const sal_run_options options = {
        .sampler = "gwg", .chains = 10000, .warmup = -1, .draws = 300, .threads = 1
    };
    watcher w = { .stop_at = -1 };
    const sal_run_options shown = watched(options, &w);
    sal_run *a = run_it(model, &options), *b = run_it(model, &shown);
    const sali_window longest = { .steps = 256 };
    ck_assert_int_lt(sali_part_draw_queue.longest(b->selves[SALI_PART_draw_queue], &longest), 256);
    same_f(a, b, 300);
    sal_run_destroy(a);
    sal_run_destroy(b);
    sal_model_destroy(model);
}
END_TEST

/* Annealing learns step sizes at the end of each window: 131 draws fit the buffer of others. */
START_TEST(annealing_does_not_depend_on_being_shown)
{
    sal_model *model = ready_made("max-cut:nodes=64,degree=3,seed=2");
    const sal_run_options options = { .sampler = "ncg",
                                      .chains = 2000,
                                      .warmup = -1,
                                      .draws = 150,
                                      .thin = 1,
                                      .annealing.on = true,
                                      .threads = 1 };
    watcher w = { .stop_at = -1 };
    const sal_run_options shown = watched(options, &w);
    sal_run *a = run_it(model, &options), *b = run_it(model, &shown);
    same_f(a, b, 150);
    sal_run_destroy(a);
    sal_run_destroy(b);
    sal_model_destroy(model);
}
END_TEST

/* In a window, and among the earlier draws of a run that goes on. */
START_TEST(a_draw_stops_the_run)
{
    sal_model *model = ready_made("ising:side=3,theta=0.3");
    const sal_run_options options = { .warmup = 30, .draws = 900, .record.draws = true };
    sal_run *whole = run_it(model, &options);
    watcher w = { .stop_at = 300 };
    sal_run_options stopping = watched(options, &w);
    sal_run *part = run_it(model, &stopping);
    ck_assert_int_eq(part->draws_made, 512);
    ck_assert_int_eq(w.shown, 301);
    ck_assert_int_eq(w.states, 3); /* at the start, after warm-up, after 256 */
    w = (watcher){ .stop_at = 100 };
    stopping = watched(rest_of(sal_run_last_state(part)), &w);
    sal_run *again = run_it(model, &stopping);
    ck_assert(summary_of(again).stopped);
    ck_assert_int_eq(again->draws_made, 256);
    ck_assert_int_eq(w.shown, 101);
    ck_assert_int_eq(w.states, 0);
    same_f(whole, part, 512);
    same_f(whole, again, 256);
    const sal_run_options rest = rest_of(sal_run_last_state(again));
    sal_run *longer = run_it(model, &rest);
    same_f(whole, longer, 900);
    sal_run_destroy(whole);
    sal_run_destroy(part);
    sal_run_destroy(again);
    sal_run_destroy(longer);
    sal_model_destroy(model);
}
END_TEST

static int stop_at_once(const sal_run_state *state, void *data)
{
    (void)state;
    (void)data;
    return 1;
}

START_TEST(a_state_stops_the_run)
{
    sal_model *model = ready_made("ising:side=3,theta=0.3");
    const sal_run_options options = { .sampler = "ncg",
                                      .record.draws = true,
                                      .callbacks.state = stop_at_once };
    sal_run *run = run_it(model, &options);
    sal_tuning *tuning = NULL;
    sal_error err;
    ck_assert_int_eq(run->draws_made, 0);
    ck_fails(sal_run_tuning(run, &tuning, &err), SAL_ERR_ARGUMENT, &err, "stopped in its warm-up");
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* ---- own samplers */

static int stop_after(int64_t done, int64_t total, void *data)
{
    (void)total;
    return done >= *(const int64_t *)data;
}

START_TEST(own_samplers_go_on)
{
    static const char *const samplers[] = { "own-gwg", "own-lb", "own-ncg", "own-flips:more=1" };
    int64_t stops[] = { 290, 700 };
    sal_model *model = tiny_formula_over("binary", SAL_F64);
    const sal_run_options options = { .sampler = samplers[_i],
                                      .own_samplers = own_all,
                                      .warmup = 310,
                                      .draws = 600,
                                      .record.draws = true };
    sal_run *whole = run_it(model, &options);
    for (int k = 0; k < 2; k++) {
        sal_run_options first = options;
        first.callbacks.progress = stop_after;
        first.callbacks.progress_data = &stops[k];
        sal_run *part = run_it(model, &first);
        sal_run_options rest = rest_of(sal_run_last_state(part));
        run_refused(model, &rest, SAL_ERR_ARGUMENT, "own-");
        rest.own_samplers = own_all;
        sal_run *longer = run_it(model, &rest);
        same_f(whole, longer, 600);
        ck_assert_mem_eq(sali_run_record(whole)->draws, sali_run_record(longer)->draws,
                         (size_t)(4 * 600 * model->space->n_variables));
        sal_run_destroy(part);
        sal_run_destroy(longer);
    }
    sal_run_destroy(whole);
    sal_model_destroy(model);
}
END_TEST

/* ---- hostile states */

static void set_whole(const sal_run_state *state, const char *name, int64_t value)
{
    const sali_state_item *item = sali_run_state_find(state, name);
    ck_assert(item && item->type == SALI_DTYPE_I64);
    *(int64_t *)item->data = value;
}

/* A search that has not begun after the time that it begins at would wait for ever. */
START_TEST(a_search_that_never_begins_is_refused)
{
    int64_t at = 800;
    sal_model *model = ready_made("ising:side=3,theta=0.3");
    const sal_run_options options = { .sampler = "ncg",
                                      .warmup = 1000,
                                      .step_size_rule = SAL_STEP_SIZE_SEARCH,
                                      .record.draws = true,
                                      .callbacks = { .progress = stop_after,
                                                     .progress_data = &at } };
    sal_run *run = run_it(model, &options);
    const sal_run_options rest = rest_of(sal_run_last_state(run));
    set_whole(rest.resume, "step_sizes.candidates", 0);
    set_whole(rest.resume, "step_sizes.begin", 0);
    run_refused(model, &rest, SAL_ERR_DATA, "begin is 0 after");
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

START_TEST(states_of_version_0_1_0_are_refused)
{
    sal_error err;
    sal_run_options options;
    sal_model *model = ready_made("ising:side=3,theta=0.3");
    sal_run *run = run_it(model, &(sal_run_options){ .warmup = 30, .draws = 5 });
    set_whole(sal_run_last_state(run), "format", 1);
    ck_fails(sal_run_state_options(sal_run_last_state(run), &options, &err), SAL_ERR_DATA, &err,
             "the state of a run of version 0.1.0; this program goes on with those of 0.2.0");
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* ---- files */

#ifdef SALI_HAVE_NETCDF

static watcher writing(const sal_model *model, const sal_run_options *options)
{
    watcher w = { .stop_at = -1, .to = *options };
    sal_error err;
    ck_ok(sal_draw_writer_open(temp_path("a.nc"), model, &w.to, NULL, &w.writer, &err), &err);
    return w;
}

/* The last state counts more draws of warm-up than were shown: an earlier one is in the file. */
START_TEST(a_draw_of_warm_up_stops_a_run_to_a_file)
{
    sal_error err;
    sal_model *model = ready_made("ising:side=3,theta=0.3");
    const sal_run_options options = {
        .sampler = "ncg", .warmup = 600, .draws = 50, .record = { .draws = true, .warmup = true }
    };
    sal_run *whole = run_it(model, &options);
    watcher w = writing(model, &options);
    w.stop_at = 260;
    w.in_warmup = true;
    sal_run_options shown = watched(options, &w);
    sal_run *part = run_it(model, &shown);
    ck_assert_int_eq(part->warmup_done, 275);
    ck_ok(sal_draw_writer_close(w.writer, part, &err), &err);
    sal_run_destroy(part);
    sal_run_state *state = NULL;
    ck_ok(sal_run_state_open(temp_path("a.nc"), &state, &err), &err);
    w = (watcher){ .stop_at = -1 };
    shown = watched(rest_of(state), &w);
    sal_run *longer = run_it(model, &shown);
    same_f(whole, longer, 50);
    sal_run_state_destroy(state);
    sal_run_destroy(whole);
    sal_run_destroy(longer);
    sal_model_destroy(model);
}
END_TEST

/* Run on from a.nc to draw `stop_at` (-1: to the end); the draws that a.nc then has. */
static int64_t go_on_to(sal_model *model, int64_t stop_at, bool in_warmup)
{
    sal_error err;
    sal_run_state *state = NULL;
    ck_ok(sal_run_state_open(temp_path("a.nc"), &state, &err), &err);
    sal_run_options options = rest_of(state);
    options.record.warmup = true;
    watcher w = writing(model, &options);
    w.stop_at = stop_at;
    w.in_warmup = in_warmup;
    options = watched(options, &w);
    sal_run *run = run_it(model, &options);
    sal_run_state_destroy(state);
    ck_ok(sal_draw_writer_close(w.writer, run, &err), &err);
    sal_run_destroy(run);
    ck_ok(sal_run_state_open(temp_path("a.nc"), &state, &err), &err);
    int64_t made = in_warmup ? state->replay.made_in_warmup : state->replay.made;
    sal_run_state_destroy(state);
    return made;
}

/* Draws behind the last state stay in the file, wherever the next run stops: while it reads the
 * earlier draws again, behind the state, or at the end. */
START_TEST(draws_behind_the_state_are_kept)
{
    sal_error err;
    sal_model *model = ready_made("ising:side=3,theta=0.3");
    sal_run_options options = {
        .sampler = "ncg", .warmup = 600, .draws = 700, .record = { .draws = true, .warmup = true }
    };
    sal_run *whole = run_it(model, &options);
    watcher w = writing(model, &options);
    w.stop_at = 260;
    w.in_warmup = true;
    sal_run_options shown = watched(options, &w);
    sal_run *part = run_it(model, &shown);
    ck_ok(sal_draw_writer_close(w.writer, part, &err), &err);
    sal_run_destroy(part);
    ck_assert_int_eq(go_on_to(model, 10, true), 261);
    ck_assert_int_eq(go_on_to(model, 540, true), 541);
    ck_assert_int_eq(go_on_to(model, 530, true), 541);
    ck_assert_int_eq(go_on_to(model, 590, false), 591);
    ck_assert_int_eq(go_on_to(model, 570, false), 591);
    ck_assert_int_eq(go_on_to(model, 3, false), 591);
    ck_assert_int_eq(go_on_to(model, -1, false), 700);
    sal_run_state *state = NULL;
    ck_ok(sal_run_state_open(temp_path("a.nc"), &state, &err), &err);
    ck_assert_int_eq(state->replay.made_in_warmup, 600);
    for (int64_t d = 0; d < 700; d++) {
        sal_draw draw;
        ck_ok(state->replay.read(state->replay.source, false, d, &draw, &err), &err);
        for (int64_t c = 0; c < 4; c++) {
            ck_assert_mem_eq(&draw.log_prob[c], &sal_run_log_probs(whole)[c * 700 + d],
                             sizeof(double));
        }
    }
    sal_run_state_destroy(state);
    sal_run_destroy(whole);
    sal_model_destroy(model);
}
END_TEST

/* What a run writes is neither renamed nor written over. */
START_TEST(a_file_that_is_being_written_is_left_alone)
{
    sal_error err;
    sal_model *model = ready_made("ising:side=3,theta=0.3");
    const sal_run_options options = { .warmup = 30, .draws = 300 };
    watcher w = writing(model, &options);
    sal_draw_writer *other = NULL;
    sal_run_state *state = NULL;
    const sal_run_options shown = watched(options, &w);
    sal_run *run = run_it(model, &shown);
    ck_fails(sal_run_state_open(temp_path("a.nc"), &state, &err), SAL_ERR_IO, &err,
             "its run is not over");
    sal_run_options again = options;
    ck_fails(sal_draw_writer_open(temp_path("a.nc"), model, &again, NULL, &other, &err), SAL_ERR_IO,
             &err, "another process is writing it");
    ck_ok(sal_draw_writer_close(w.writer, run, &err), &err);
    ck_ok(sal_run_state_open(temp_path("a.nc"), &state, &err), &err);
    ck_assert_int_eq(state->replay.made, 300);
    sal_run_state_destroy(state);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

static void ck_nc(int code)
{
    ck_assert_msg(code == NC_NOERR, "%s", nc_strerror(code));
}

/* The state of a.nc into b.nc, with one draw of so many chains and variables that is nowhere
 * written. */
static void make_sparse(size_t chains, size_t variables)
{
    static const char *const figures[] = { "lp", "acceptance_rate", "jump", "step_size" };
    int from, file, state, group, v, own, over[3];
    size_t length;
    ck_nc(nc_open(temp_path("a.nc"), NC_NOWRITE, &from));
    ck_nc(nc_create(temp_path("b.nc"), NC_NETCDF4 | NC_CLOBBER, &file));
    ck_nc(nc_inq_dimid(from, "saltus_byte", &v));
    ck_nc(nc_inq_dimlen(from, v, &length));
    unsigned char *bytes = malloc(length);
    ck_nc(nc_inq_varid(from, "saltus_state", &v));
    ck_nc(nc_get_var_uchar(from, v, bytes));
    ck_nc(nc_def_dim(file, "saltus_byte", length, &own));
    ck_nc(nc_def_var(file, "saltus_state", NC_UBYTE, 1, &own, &state));
    ck_nc(nc_put_var_uchar(file, state, bytes));
    ck_nc(nc_def_dim(file, "chain", chains, &over[0]));
    ck_nc(nc_def_dim(file, "draw", 1, &over[1]));
    ck_nc(nc_def_dim(file, "site", variables, &over[2]));
    ck_nc(nc_def_grp(file, "posterior", &group));
    ck_nc(nc_def_var(group, "s", NC_UBYTE, 3, over, &v));
    ck_nc(nc_def_grp(file, "sample_stats", &group));
    for (int k = 0; k < 4; k++) {
        ck_nc(nc_def_var(group, figures[k], NC_DOUBLE, 2, over, &v));
    }
    ck_nc(nc_close(file));
    ck_nc(nc_close(from));
    free(bytes);
}

/* A file of some kilobytes does not make its reader ask for gigabytes. */
START_TEST(draws_are_of_the_states_size)
{
    static const struct {
        size_t chains, variables;
        const char *text;
    } cases[] = {
        { 1, 10, "of 1 chains and 10 variables, the state of its run is of 4 and 9" },
        { 5, 9, "of 5 chains and 9 variables, the state of its run is of 4 and 9" },
        { 1, 5000000, "of 1 chains and 5000000 variables" },
        { 5000000, 1, "of 5000000 chains and 1 variables" },
    };
    sal_error err;
    sal_run_state *state = NULL;
    sal_model *model = ready_made("ising:side=3,theta=0.3");
    static const int64_t clamped[] = { 2, 5 };
    static const int32_t codes[] = { 1, 0 };
    const sal_run_options options = { .warmup = 30,
                                      .draws = 300,
                                      .chains = 4,
                                      .clamps = { .n = 2, .variables = clamped, .codes = codes } };
    watcher w = writing(model, &options);
    const sal_run_options shown = watched(options, &w);
    sal_run *run = run_it(model, &shown);
    ck_ok(sal_draw_writer_close(w.writer, run, &err), &err);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        make_sparse(cases[k].chains, cases[k].variables);
        ck_fails(sal_run_state_open(temp_path("b.nc"), &state, &err), SAL_ERR_DATA, &err,
                 cases[k].text);
        ck_assert_ptr_null(state);
    }
    make_sparse(4, 9);
    ck_ok(sal_run_state_open(temp_path("b.nc"), &state, &err), &err);
    sal_run_state_destroy(state);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

#endif

START_TEST(a_path_must_be_there)
{
    sal_run_state *state = NULL;
    sal_error err;
    ck_assert_int_eq(sal_run_state_open(NULL, &state, &err), SAL_ERR_UNSUPPORTED);
    ck_assert_ptr_null(state);
}
END_TEST

static Suite *edges_suite(void)
{
    Suite *suite = suite_create("resume_edges");
    TCase *runs = tcase_create("runs"), *files = tcase_create("files");
    tcase_add_checked_fixture(files, temp_dir_make, temp_dir_remove);
    tcase_add_test(runs, bits_do_not_depend_on_being_shown);
    tcase_add_test(runs, annealing_does_not_depend_on_being_shown);
    tcase_add_test(runs, a_draw_stops_the_run);
    tcase_add_test(runs, a_state_stops_the_run);
    tcase_add_loop_test(runs, own_samplers_go_on, 0, 4);
    tcase_add_test(runs, a_search_that_never_begins_is_refused);
    tcase_add_test(runs, states_of_version_0_1_0_are_refused);
#ifdef SALI_HAVE_NETCDF
    tcase_add_test(files, a_draw_of_warm_up_stops_a_run_to_a_file);
    tcase_add_test(files, draws_behind_the_state_are_kept);
    tcase_add_test(files, a_file_that_is_being_written_is_left_alone);
    tcase_add_test(files, draws_are_of_the_states_size);
#endif
    tcase_add_test(files, a_path_must_be_there);
    suite_add_tcase(suite, runs);
    suite_add_tcase(suite, files);
    return suite;
}

int main(void)
{
    return test_main(edges_suite());
}
