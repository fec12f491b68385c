/* SPDX-License-Identifier: MIT */
/* Draws on the disk while a run makes them: what is whole is found and resumed to the same bits,
 * wherever the file was cut or damaged, and whenever the process was killed. */
#include "temp_dir.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <saltus/saltus.h>
#include "alloc_fail.h"
#include "core/saved/run_state.h"
#include "io/arrays/state_file.h"
#include "io/draws/draw_log.h"
#include "run_helpers.h"

enum { CHAINS = 1, V = 9, DRAWS = 80, WARMUP = 12, THIN = 4 };

static sal_model *make_model(void)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open("ising:side=3,theta=0.3", SAL_F32, &model, &err), &err);
    return model;
}

static const sal_run_options usual = { .sampler = "ncg",
                                       .chains = CHAINS,
                                       .warmup = WARMUP * THIN,
                                       .draws = DRAWS,
                                       .thin = THIN,
                                       .seed = 5,
                                       .threads = 1,
                                       .record.warmup = true };

/* ---- a log of many draws and states */

typedef struct many {
    sali_draw_log *log;
    int64_t first_state; /* where it ends */
} many;

static int add_draw(const sal_draw *draw, void *data)
{
    many *m = data;
    sal_error err;
    ck_ok(sali_draw_log_add(m->log, draw, &err), &err);
    return 0;
}

static int add_state(const sal_run_state *state, void *data)
{
    many *m = data;
    char *bytes;
    int64_t size;
    sal_error err;
    ck_ok(sali_state_format(state->items, state->n, &bytes, &size, &err), &err);
    ck_ok(sali_draw_log_add_state(m->log, bytes, size, &err), &err);
    m->first_state = m->first_state ? m->first_state : m->log->end;
    free(bytes);
    return 0;
}

/* whole.nc, and a log of the same run before it ends; its bytes, and where its first state ends. */
static char *make_log(sal_model *model, int64_t *size, int64_t *first_state)
{
    sal_error err;
    sal_run *run = NULL;
    sal_draw_writer *writer = NULL;
    sal_run_options options = usual;
    ck_ok(sal_draw_writer_open(temp_path("whole.nc"), model, &options, NULL, &writer, &err), &err);
    ck_ok(sal_sample(model, &options, &run, &err), &err);
    ck_ok(sal_draw_writer_close(writer, run, &err), &err);
    sal_run_destroy(run);
    many m = { 0 };
    ck_ok(sali_draw_log_open(temp_path("a.nc"), true, &m.log, &err), &err);
    ck_ok(sali_draw_log_begin(m.log, CHAINS, V, 1, &err), &err);
    options = usual;
    options.callbacks.draw = add_draw;
    options.callbacks.state = add_state;
    options.callbacks.draw_data = options.callbacks.state_data = &m;
    ck_ok(sal_sample(model, &options, &run, &err), &err);
    ck_ok(sali_draw_log_flush(m.log, &err), &err);
    sal_run_destroy(run);
    *size = m.log->end;
    *first_state = m.first_state;
    sali_draw_log_close(m.log);
    char *bytes = malloc((size_t)*size);
    FILE *file = fopen(temp_path("a.nc.draws"), "rb");
    ck_assert_int_eq(fread(bytes, 1, (size_t)*size, file), *size);
    ck_assert_int_eq(fgetc(file), EOF);
    fclose(file);
    return bytes;
}

static void write_log(const char *bytes, int64_t size)
{
    FILE *file = fopen(temp_path("a.nc.draws"), "wb");
    ck_assert_int_eq(fwrite(bytes, 1, (size_t)size, file), size);
    fclose(file);
}

/* ---- going on */

static bool same_row(const double *a, const double *b)
{
    return memcmp(a, b, CHAINS * sizeof *a) == 0;
}

/* All draws of a.nc against whole.nc, and what a longer run would go on from. */
static void check_whole(void)
{
    sal_error err;
    sal_run_state *is = NULL, *want = NULL;
    ck_ok(sal_run_state_open(temp_path("a.nc"), &is, &err), &err);
    ck_ok(sal_run_state_open(temp_path("whole.nc"), &want, &err), &err);
    for (int64_t k = 0; k < WARMUP + DRAWS; k++) {
        sal_draw a, b;
        const int64_t index = k < WARMUP ? k : k - WARMUP;
        ck_ok(is->replay.read(is->replay.source, k < WARMUP, index, &a, &err), &err);
        ck_ok(want->replay.read(want->replay.source, k < WARMUP, index, &b, &err), &err);
        ck_assert(memcmp(a.codes, b.codes, CHAINS * V * sizeof *a.codes) == 0 &&
                  same_row(a.log_prob, b.log_prob) && same_row(a.jump, b.jump) &&
                  same_row(a.acceptance_rate, b.acceptance_rate) &&
                  same_row(a.step_size, b.step_size));
    }
    ck_assert_int_eq(is->replay.made, DRAWS);
    for (int64_t k = 0; k < want->n; k++) {
        const sali_state_item *item = &want->items[k];
        const sali_state_item *got = sali_run_state_find(is, item->name);
        if (strcmp(item->name, "file.configuration") == 0) { /* which make_log does not note */
            continue;
        }
        ck_assert_msg(got && got->count == item->count, "%s", item->name);
        ck_assert_msg(strstr(item->name, "seconds") ||
                          memcmp(got->data, item->data,
                                 (size_t)item->count * sali_state_bytes(item->type)) == 0,
                      "%s", item->name);
    }
    sal_run_state_destroy(is);
    sal_run_state_destroy(want);
}

typedef struct killer {
    int (*draw)(const sal_draw *draw, void *data);
    void *data;
    int64_t left; /* draws until the process is killed */
} killer;

static int kill_in_time(const sal_draw *draw, void *data)
{
    killer *k = data;
    int stop = k->draw(draw, k->data);
    if (k->left-- == 0) {
        raise(SIGKILL);
    }
    return stop;
}

/* Go on with the log, or begin without one, to the end or the draw number `left` that is shown. */
static void go_on_by(const char *path, sal_model *model, int64_t left)
{
    sal_error err;
    sal_run_state *state = NULL;
    sal_run *run = NULL;
    sal_draw_writer *writer = NULL;
    sal_run_options options = usual;
    if (access(temp_path("a.nc.draws"), F_OK) == 0) {
        ck_ok(sal_run_state_open(temp_path(path), &state, &err), &err);
        ck_ok(sal_run_state_options(state, &options, &err), &err);
    }
    ck_ok(sal_draw_writer_open(temp_path("a.nc"), model, &options, NULL, &writer, &err), &err);
    killer k = { options.callbacks.draw, options.callbacks.draw_data, left };
    options.callbacks.draw = kill_in_time;
    options.callbacks.draw_data = &k;
    ck_ok(sal_sample(model, &options, &run, &err), &err);
    ck_ok(sal_draw_writer_close(writer, run, &err), &err);
    ck_assert_int_ne(access(temp_path("a.nc.draws"), F_OK), 0);
    sal_run_destroy(run);
    sal_run_state_destroy(state);
}

static void go_on(sal_model *model, int64_t left)
{
    go_on_by("a.nc", model, left);
}

/* The log as it is: either there is no state in it, or it goes on to the same bits. */
static void check_log(sal_model *model, bool has_state, bool to_the_end)
{
    sal_error err = { 0 };
    sal_run_state *state = NULL;
    sal_status status = sal_run_state_open(temp_path("a.nc"), &state, &err);
    sal_run_state_destroy(state);
    ck_assert_msg(has_state ? status == SAL_OK
                            : status == SAL_ERR_NOT_FOUND || status == SAL_ERR_DATA,
                  "%d: %s", status, err.message);
    if (has_state && to_the_end) {
        go_on(model, -1);
        check_whole();
        unlink(temp_path("a.nc"));
    }
}

/* A file is the same one by any of its names. */
START_TEST(a_run_goes_on_by_another_path_of_its_file)
{
    int64_t size, first;
    sal_model *model = make_model();
    free(make_log(model, &size, &first));
    go_on_by("./a.nc", model, -1);
    check_whole();
    sal_model_destroy(model);
}
END_TEST

/* Every byte, or, as files are slow to read under sanitizers, bytes of all kinds. */
#define EVERY (TEST_SANITIZED ? 7 : 1)

/* Cut after any byte. */
START_TEST(a_log_may_be_cut_anywhere)
{
    int64_t size, first;
    sal_model *model = make_model();
    char *bytes = make_log(model, &size, &first);
    for (int64_t n = 0; n <= size; n += EVERY) {
        write_log(bytes, n);
        check_log(model, n >= first, n % 997 == 0 || n == first || n == size);
    }
    free(bytes);
    sal_model_destroy(model);
}
END_TEST

/* Any one bit is wrong. */
START_TEST(a_log_may_be_damaged_anywhere)
{
    int64_t size, first;
    sal_model *model = make_model();
    char *bytes = make_log(model, &size, &first);
    for (int64_t at = 0; at < size; at += EVERY) {
        bytes[at] ^= (char)(1 << at % 8);
        write_log(bytes, size);
        check_log(model, at >= first, at % 997 == 0);
        bytes[at] ^= (char)(1 << at % 8);
    }
    free(bytes);
    sal_model_destroy(model);
}
END_TEST

/* What the caller notes of a run comes back with its state. */
START_TEST(notes_come_back)
{
    static const sal_note notes[] = { { "model", "ising:side=3" },
                                      { "mine", "a \"quoted\" é" },
                                      { 0 } };
    sal_error err;
    sal_run *run = NULL;
    sal_draw_writer *writer = NULL;
    sal_run_state *state = NULL;
    sal_model *model = make_model();
    sal_run_options options = usual;
    ck_ok(sal_draw_writer_open(temp_path("a.nc"), model, &options, notes, &writer, &err), &err);
    ck_ok(sal_sample(model, &options, &run, &err), &err);
    ck_ok(sal_draw_writer_close(writer, run, &err), &err);
    ck_ok(sal_run_state_open(temp_path("a.nc"), &state, &err), &err);
    ck_assert_str_eq(sal_run_state_note(state, "model"), notes[0].text);
    ck_assert_str_eq(sal_run_state_note(state, "mine"), notes[1].text);
    ck_assert_ptr_null(sal_run_state_note(state, "params"));
    sal_run_state_destroy(state);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* Again and again, at any draw, of those that it reads again too. */
START_TEST(a_process_may_be_killed_again_and_again)
{
    int64_t size, first;
    sal_model *model = make_model();
    free(make_log(model, &size, &first));
    unlink(temp_path("a.nc.draws"));
    for (int64_t left = 0; left <= WARMUP + DRAWS; left += 9) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            go_on(model, left < WARMUP + DRAWS - 9 ? left : -1);
            _exit(0);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0);
        if (!WIFSIGNALED(status)) {
            break;
        }
    }
    check_whole();
    sal_model_destroy(model);
}
END_TEST

/* ---- what is not overwritten */

START_TEST(other_files_are_left_alone)
{
    sal_error err = { 0 };
    int64_t size, first;
    sal_model *model = make_model();
    sal_draw_writer *writer = NULL;
    sal_run_state *state = NULL;
    sal_run_options options = usual;
    char *bytes = make_log(model, &size, &first);
    ck_fails(sal_draw_writer_open(temp_path("a.nc"), model, &options, NULL, &writer, &err),
             SAL_ERR_IO, &err, "holds the draws of a run that ended early");
    write_log(bytes, 100); /* of a run that was killed before its first state */
    sal_run_options wrong = { .chains = -1 };
    ck_fails(sal_draw_writer_open(temp_path("a.nc"), model, &wrong, NULL, &writer, &err),
             SAL_ERR_ARGUMENT, &err, "chains -1");
    ck_assert_int_eq(access(temp_path("a.nc.draws"), F_OK), 0);
    bytes[0] ^= 1;
    write_log(bytes, size);
    ck_fails(sal_draw_writer_open(temp_path("a.nc"), model, &options, NULL, &writer, &err),
             SAL_ERR_DATA, &err, "its beginning is damaged");
    ck_fails(sal_run_state_open(temp_path("a.nc"), &state, &err), SAL_ERR_DATA, &err,
             "its beginning is damaged");
    memset(bytes, 'x', 100);
    write_log(bytes, 100);
    ck_fails(sal_draw_writer_open(temp_path("a.nc"), model, &options, NULL, &writer, &err),
             SAL_ERR_DATA, &err, "is no file of draws");
    unlink(temp_path("a.nc.draws"));
    ck_assert_int_eq(mkdir(temp_path("a.nc.draws"), 0777), 0);
    ck_fails(sal_draw_writer_open(temp_path("a.nc"), model, &options, NULL, &writer, &err),
             SAL_ERR_IO, &err, "a.nc.draws");
    free(bytes);
    sal_model_destroy(model);
}
END_TEST

/* ---- memory that is not there */

static sal_status open_once(sal_model *model)
{
    sal_run_state *state = NULL;
    sal_draw_writer *writer = NULL;
    sal_run_options options = usual;
    sal_status status = sal_run_state_open(temp_path("a.nc"), &state, NULL);
    status = status ? status : sal_run_state_options(state, &options, NULL);
    status = status ? status
                    : sal_draw_writer_open(temp_path("a.nc"), model, &options, NULL, &writer, NULL);
    sal_draw_writer_close(writer, NULL, NULL);
    sal_run_state_destroy(state);
    return status;
}

START_TEST(failing_allocations_lose_nothing)
{
    int64_t size, first;
    sal_model *model = make_model();
    free(make_log(model, &size, &first));
    ck_alloc_sweep(open_once(model), (void)0);
    go_on(model, -1);
    check_whole();
    sal_model_destroy(model);
}
END_TEST

static Suite *log_suite(void)
{
    Suite *suite = suite_create("draw_log");
    TCase *tcase = tcase_create("draw_log");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, a_run_goes_on_by_another_path_of_its_file);
    tcase_add_test(tcase, a_log_may_be_cut_anywhere);
    tcase_add_test(tcase, a_log_may_be_damaged_anywhere);
    tcase_add_test(tcase, a_process_may_be_killed_again_and_again);
    tcase_add_test(tcase, notes_come_back);
    tcase_add_test(tcase, other_files_are_left_alone);
    tcase_add_test(tcase, failing_allocations_lose_nothing);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(log_suite());
}
