/* SPDX-License-Identifier: MIT */
/* Runs of saltus sample that were stopped, killed or complete, and are resumed from their files. */
#include "temp_dir.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <saltus/saltus.h>
#include "core/saved/run_state.h"
#include "io/draws/run_record.h"

static char out[1 << 14], errors[1 << 14];

static void read_text(const char *name, char *text, size_t room)
{
    FILE *file = fopen(temp_path(name), "rb");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, room - 1, file)] = '\0';
    fclose(file);
}

/* Begin "saltus ARGUMENTS" in the temporary directory. */
static pid_t start(const char *arguments)
{
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        char command[4096];
        snprintf(command, sizeof command, "exec '%s' %s >stdout.txt 2>stderr.txt", SALTUS_PROGRAM,
                 arguments);
        if (chdir(temp_dir) == 0) {
            execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        }
        _exit(127);
    }
    return pid;
}

/* Its exit code, or the signal less than 0. */
static int finish(pid_t pid)
{
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    read_text("stdout.txt", out, sizeof out);
    read_text("stderr.txt", errors, sizeof errors);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void succeeds(const char *arguments)
{
    int code = finish(start(arguments));
    ck_assert_msg(code == 0, "saltus %s: exit %d: %s", arguments, code, errors);
}

static void fails(int code, const char *text, const char *arguments)
{
    int is = finish(start(arguments));
    ck_assert_msg(is == code && strstr(errors, text), "saltus %s: exit %d: %s", arguments, is,
                  errors);
    ck_assert_msg(strchr(errors, '\n') == strrchr(errors, '\n'), "more than one line: %s", errors);
}

static sal_run_state *open_state(const char *name)
{
    sal_run_state *state = NULL;
    sal_error err;
    ck_ok(sal_run_state_open(temp_path(name), &state, &err), &err);
    return state;
}

/* Steps at the state of a file; -1 without one. */
static int64_t place_of(const char *name)
{
    sal_run_state *state = NULL;
    if (sal_run_state_open(temp_path(name), &state, NULL) != SAL_OK) {
        return -1;
    }
    const sali_state_item *warmup = sali_run_state_find(state, "warmup_done");
    const sali_state_item *steps = sali_run_state_find(state, "steps");
    int64_t place = *(int64_t *)warmup->data + *(int64_t *)steps->data;
    sal_run_state_destroy(state);
    return place;
}

static void same_draw(const sal_draw *a, const sal_draw *b)
{
    size_t row = (size_t)a->chains * sizeof(double);
    ck_assert_int_eq(a->chains, b->chains);
    ck_assert_int_eq(a->variables, b->variables);
    ck_assert_mem_eq(a->codes, b->codes, (size_t)(a->chains * a->variables) * sizeof(int32_t));
    ck_assert_mem_eq(a->log_prob, b->log_prob, row);
    ck_assert_mem_eq(a->acceptance_rate, b->acceptance_rate, row);
    ck_assert_mem_eq(a->jump, b->jump, row);
    ck_assert_mem_eq(a->step_size, b->step_size, row);
}

/* What a file says of its run. */
static sali_run_record open_record(const char *name)
{
    sali_run_record record;
    sal_error err;
    ck_ok(sali_run_record_read(temp_path(name), &record, &err), &err);
    return record;
}

static void same_attributes(const char *first, const char *second)
{
    sali_run_record a = open_record(first), b = open_record(second);
    ck_assert_str_eq(a.configuration, b.configuration);
    ck_assert_str_eq(a.sampler, b.sampler);
    sali_run_record_free(&a);
    sali_run_record_free(&b);
}

/* All draws of two files, and what their runs would go on with. */
static void same_files(const char *first, const char *second, int64_t warmup, int64_t draws)
{
    sal_run_state *states[2] = { open_state(first), open_state(second) };
    sal_draw a, b;
    sal_error err;
    for (int64_t d = 0; d < warmup + draws; d++) {
        int64_t index = d < warmup ? d : d - warmup;
        const sali_replay *one = &states[0]->replay, *two = &states[1]->replay;
        ck_ok(one->read(one->source, d < warmup, index, &a, &err), &err);
        ck_ok(two->read(two->source, d < warmup, index, &b, &err), &err);
        same_draw(&a, &b);
    }
    ck_assert_int_eq(states[0]->replay.made, draws);
    ck_assert_int_eq(states[1]->replay.made, draws);
    for (int64_t k = 0; k < states[0]->n; k++) {
        const sali_state_item *item = &states[0]->items[k];
        const sali_state_item *other = sali_run_state_find(states[1], item->name);
        ck_assert(other && other->count == item->count);
        ck_assert_msg(strstr(item->name, "seconds") ||
                          memcmp(item->data, other->data,
                                 (size_t)item->count * sali_state_bytes(item->type)) == 0,
                      "%s", item->name);
    }
    sal_run_state_destroy(states[0]);
    sal_run_state_destroy(states[1]);
    same_attributes(first, second);
}

/* The summary without what the clock says. */
static void keep_summary(char *to, size_t room)
{
    size_t used = 0;
    to[0] = '\0';
    for (char *line = strtok(out, "\n"); line; line = strtok(NULL, "\n")) {
        if (!strstr(line, "second") && used + strlen(line) + 2 < room) {
            used += (size_t)snprintf(to + used, room - used, "%s\n", line);
        }
    }
}

static void pause_for(long microseconds)
{
    struct timespec time = { microseconds / 1000000, microseconds % 1000000 * 1000 };
    nanosleep(&time, NULL);
}

#define RUN                                                                                   \
    "sample ising:side=6,theta=0.2 --sampler ncg --chains 5 --seed 3 --warmup 2000 --thin 3 " \
    "--save-warmup --threads 1 --draws "

START_TEST(killed_at_any_moment_it_goes_on_with_the_same_bits)
{
    char whole[4096], parts[4096];
    int runs = 0, code = -1;
    int64_t place = -1;
    succeeds(RUN "4000 --out whole.nc");
    keep_summary(whole, sizeof whole);
    while (code != 0) {
        bool there = place_of("parts.nc") >= 0;
        pid_t pid = start(!there          ? RUN "4000 --out parts.nc"
                          : runs % 2 == 0 ? "sample --resume parts.nc --threads 2"
                                          : RUN "4000 --resume parts.nc");
        if (++runs < 6) {
            pause_for(20000 * runs * runs);
            kill(pid, SIGKILL);
        }
        code = finish(pid);
        ck_assert_msg(code == 0 || code == -SIGKILL, "exit %d: %s", code, errors);
        int64_t now = code == 0 ? place : place_of("parts.nc");
        ck_assert_int_ge(now, place);
        place = now;
    }
    keep_summary(parts, sizeof parts);
    ck_assert_int_ge(runs, 2);
    ck_assert_str_eq(whole, parts);
    same_files("whole.nc", "parts.nc", 2000 / 3, 4000);
}
END_TEST

START_TEST(a_time_limit_and_an_interrupt_leave_what_goes_on)
{
    char whole[4096], parts[4096];
    succeeds(RUN "300000 --time 0.1s --out parts.nc");
    ck_assert_ptr_nonnull(strstr(errors, "stopped"));
    ck_assert_ptr_nonnull(strstr(errors, "saltus sample --resume parts.nc"));
    pid_t pid = start("sample --resume parts.nc");
    pause_for(400000);
    kill(pid, SIGINT);
    int code = finish(pid);
    ck_assert_msg(code == 0 || code == -SIGINT, "exit %d", code); /* before it was caught */
    sal_run_state *state = open_state("parts.nc");
    int64_t more = state->replay.made + 100;
    sal_run_state_destroy(state);
    char command[400];
    snprintf(command, sizeof command, "sample --resume parts.nc --draws %lld", (long long)more);
    succeeds(command);
    keep_summary(parts, sizeof parts);
    snprintf(command, sizeof command, RUN "%lld --out whole.nc", (long long)more);
    succeeds(command);
    keep_summary(whole, sizeof whole);
    ck_assert_str_eq(whole, parts);
    same_files("whole.nc", "parts.nc", 2000 / 3, more);
}
END_TEST

START_TEST(other_options_are_refused)
{
    succeeds("sample ising:side=3 --draws 300 --clamp 2=1 --out a.nc");
    fails(64, "seed 0 and is to go on with 1", "sample --resume a.nc --seed 1");
    fails(64, "sampler gwg", "sample --resume a.nc --sampler ncg");
    fails(64, "another model", "sample ising:side=3,theta=0.3 --resume a.nc");
    fails(64, "another model", "sample --resume a.nc --dtype f64");
    fails(64, "other clamped variables", "sample --resume a.nc --clamp 3=1");
    fails(64, "draws is 200, but the run has made 300", "sample --resume a.nc --draws 200");
    fails(64, "track-best no and is to go on with yes", "sample --resume a.nc --best b.npy");
    fails(64, "--init and --resume", "sample --resume a.nc --init x.npy");
    fails(64, "tempering 1 and is to go on with 3", "sample --resume a.nc --tempering 3");
    fails(64, "runs are resumed from NAME.nc", "sample --resume a.npy");
    fails(66, "there.nc: cannot be opened", "sample --resume there.nc");
    fails(64, "expected MODEL", "sample --draws 3");
    succeeds("sample --resume a.nc --clamp 2=1 --sampler gwg:hops=1 --draws 300");
}
END_TEST

static void is_configured(const char *name, const char *want)
{
    sali_run_record record = open_record(name);
    size_t length = strlen(want);
    ck_assert_msg(strncmp(record.configuration, want, length) == 0, "%s", record.configuration);
    sali_run_record_free(&record);
}

START_TEST(a_file_tells_the_options_of_the_first_start)
{
    const char *first = "sample ising:side=3 --sampler pavg --chains 2 --seed 9223372036854775807 "
                        "--warmup 200 --clamp 2=1 --dtype f64 --tempering 2 --draws 900 --out a.nc";
    succeeds(first);
    succeeds("sample ising:side=3 --sampler pavg --chains 2 --seed 9223372036854775807 "
             "--warmup 200 --clamp 2=1 --dtype f64 --tempering 2 --draws 300 --out b.nc");
    succeeds("sample --resume b.nc --draws 600");
    succeeds("sample --resume b.nc --draws 900 --clamp 2=1");
    same_attributes("a.nc", "b.nc");
    is_configured("a.nc",
                  "{\"model\":\"ising:side=3\",\"dtype\":\"f64\",\"sampler\":\"pavg\",\"chains\":2,"
                  "\"warmup\":200,\"tempering\":2,\"seed\":9223372036854775807,\"clamped\":1,"
                  "\"clamp\":\"2=1\",\"draws\":900,\"thin\":5,\"step_size\":\"adapt\","
                  "\"swap_every\":5,\"step_size_found\":");
    succeeds("sample ising:side=3 --sampler ncg --step-size auto --draws 9 --out a.nc");
    is_configured("a.nc", "{\"model\":\"ising:side=3\",\"dtype\":\"f32\",\"sampler\":\"ncg\","
                          "\"chains\":4,\"step_size\":\"auto\",\"seed\":0,\"draws\":9,"
                          "\"warmup\":1000,\"thin\":1,\"step_size_found\":");
    succeeds("sample ising:side=3 --sampler ncg --step-size 0.3 --draws 9 --out a.nc");
    is_configured("a.nc", "{\"model\":\"ising:side=3\",\"dtype\":\"f32\",\"sampler\":\"ncg\","
                          "\"chains\":4,\"step_size\":0.3,\"seed\":0,\"draws\":9,"
                          "\"warmup\":1000,\"thin\":1,\"stopped\":false}");
}
END_TEST

/* ---- files that are not as they should be */

static char *read_bytes(const char *name, long *size)
{
    FILE *file = fopen(temp_path(name), "rb");
    ck_assert_ptr_nonnull(file);
    fseek(file, 0, SEEK_END);
    *size = ftell(file);
    rewind(file);
    char *bytes = malloc((size_t)*size);
    ck_assert_int_eq(fread(bytes, 1, (size_t)*size, file), *size);
    fclose(file);
    return bytes;
}

static void write_bytes(const char *name, const char *bytes, long size)
{
    FILE *file = fopen(temp_path(name), "wb");
    ck_assert_ptr_nonnull(file);
    fwrite(bytes, 1, (size_t)size, file);
    fclose(file);
}

/* Where a text stands among bytes. */
static char *find_text(char *bytes, long size, const char *text)
{
    return memmem(bytes, (size_t)size, text, strlen(text));
}

START_TEST(damaged_files_are_refused)
{
    long size;
    sal_run_state *mark = (sal_run_state *)&mark, *state = mark;
    sal_error err;
    succeeds("sample ising:side=3 --draws 300 --out a.nc");
    char *bytes = read_bytes("a.nc", &size);
    for (long part = 0; part < 8; part++) {
        write_bytes("b.nc", bytes, size * part / 8);
        ck_assert_int_ne(sal_run_state_open(temp_path("b.nc"), &state, &err), SAL_OK);
        ck_assert_ptr_eq(state, mark);
    }
    /* the state's bytes are not those of its checksum */
    for (char *at = find_text(bytes, size, "warmup_done"); at;
         at = find_text(at, size - (at - bytes), "warmup_done")) {
        *at = 'W';
    }
    write_bytes("b.nc", bytes, size);
    ck_fails(sal_run_state_open(temp_path("b.nc"), &state, &err), SAL_ERR_DATA, &err, "is damaged");
    free(bytes);
    sal_run *run = NULL;
    sal_model *model = NULL;
    const sal_run_options options = { .draws = 20, .record.draws = true };
    ck_ok(sal_model_open("ising:side=3", 0, &model, &err), &err);
    ck_ok(sal_sample(model, &options, &run, &err), &err);
    ck_ok(sal_run_save(run, temp_path("c.nc"), NULL, &err), &err);
    ck_fails(sal_run_state_open(temp_path("c.nc"), &state, &err), SAL_ERR_DATA, &err,
             "has no state of a run");
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* Leave what a run of `draws` draws into a file leaves when it is killed at its end. */
static void leave(const char *name, uint64_t seed, int64_t draws)
{
    sal_model *model = NULL;
    sal_draw_writer *writer = NULL;
    sal_run *run = NULL;
    sal_error err;
    sal_run_options options = { .draws = draws, .seed = seed };
    ck_ok(sal_model_open("ising:side=3", 0, &model, &err), &err);
    ck_ok(sal_draw_writer_open(temp_path(name), model, &options, NULL, &writer, &err), &err);
    ck_ok(sal_sample(model, &options, &run, &err), &err);
    ck_ok(sal_draw_writer_close(writer, NULL, &err), &err);
    ck_assert_int_eq(access(temp_path("c.nc.draws"), F_OK), 0);
    sal_run_destroy(run);
    sal_model_destroy(model);
}

START_TEST(what_a_killed_run_of_another_kind_left_is_not_taken)
{
    leave("c.nc", 0, 300);
    fails(74, "holds the draws of a run that ended early",
          "sample ising:side=3 --draws 3000 --out c.nc");
    succeeds("sample ising:side=3 --seed 5 --draws 3000 --out b.nc");
    ck_assert_int_eq(rename(temp_path("b.nc"), temp_path("c.nc")), 0);
    fails(65, "of another run", "sample --resume c.nc");
    /* nor one that is not as far on */
    succeeds("sample ising:side=3 --draws 3000 --out d.nc");
    ck_assert_int_eq(rename(temp_path("d.nc"), temp_path("c.nc")), 0);
    succeeds("sample --resume c.nc");
    succeeds("sample ising:side=3 --draws 3000 --out d.nc");
    same_files("c.nc", "d.nc", 0, 3000);
    ck_assert_int_ne(access(temp_path("c.nc.draws"), F_OK), 0);
}
END_TEST

/* A setting of the sampler that is given for itself stands in place of the state's. */
START_TEST(a_setting_of_the_sampler_may_be_given_again)
{
    succeeds("sample ising:side=4 --sampler gwg:radius=1 --draws 100 --warmup 50 --out a.nc");
    succeeds("sample --resume a.nc --draws 200 --radius 1 --balance sqrt");
    fails(64, "the run was made with sampler", "sample --resume a.nc --draws 300 --radius 2");
    fails(64, "'radius' is given twice",
          "sample ising:side=4 --sampler gwg:radius=1 --radius 1 --draws 10");
}
END_TEST

/* The states to list are those of the variables that the run left free. */
START_TEST(exact_answers_know_the_clamps_of_the_first_start)
{
    succeeds("sample ising:side=5 --clamp 0=1,1=0,2=0,3=0,4=1,5=0,6=0 --sampler gibbs --draws 100 "
             "--warmup 50 --out a.nc");
    succeeds("sample --resume a.nc --draws 200 --check-exact");
    ck_assert_ptr_nonnull(strstr(out, "enumeration of 262144 states"));
}
END_TEST

/* A run goes on within the sums of its first start, and within no others. */
START_TEST(fixed_sums_are_those_of_the_first_start)
{
    succeeds("sample ising:side=5 --fix-sum spin=21 --draws 300 --warmup 50 --out whole.nc");
    succeeds("sample ising:side=5 --fix-sum spin=21 --draws 100 --warmup 50 --out a.nc");
    succeeds("sample --resume a.nc --draws 300 --check-exact");
    ck_assert_ptr_nonnull(strstr(out, "enumeration of 300 states"));
    same_files("whole.nc", "a.nc", 0, 300);
    fails(64, "another model", "sample --resume a.nc --draws 400 --fix-sum spin=19");
    fails(64, "exchanges variables of fixed sums", "sample --resume a.nc --fix-sum ''");
    succeeds("sample --resume a.nc --draws 400 --fix-sum spin=21");
}
END_TEST

START_TEST(a_sampler_keeps_the_name_that_it_was_called_by)
{
    succeeds("sample ising:side=3 --sampler dmala --draws 100 --warmup 50 --out a.nc");
    succeeds("sample --resume a.nc --draws 200");
    ck_assert_ptr_nonnull(strstr(out, "sampler          dmala"));
    fails(64, "the run was made with sampler dmala", "sample --resume a.nc --sampler avg");
    succeeds("sample --resume a.nc --draws 300 --sampler ncg"); /* the same one */
}
END_TEST

/* The line of the output that says the mean of f. */
static void mean_line(char line[128])
{
    const char *at = strstr(out, "mean log prob");
    ck_assert_msg(at != NULL, "%s", out);
    snprintf(line, 128, "%.*s", (int)strcspn(at, "\n"), at);
}

/* Down a denoising chain the step sizes of the training are used again, though the file spells the
 * sampler with all its settings. */
START_TEST(denoising_chains_go_on_with_the_same_bits)
{
    char whole[128], resumed[128];
    succeeds("train strided-conv:height=16,width=16,channels=2,units=2,levels=4 --data digits "
             "--iterations 30 --batch 40 --fresh 0 --out chain");
    succeeds("sample chain --chains 3 --draws 8 --out whole.nc");
    mean_line(whole);
    succeeds("sample chain --chains 3 --draws 5 --out part.nc");
    succeeds("sample --resume part.nc --draws 8");
    mean_line(resumed);
    ck_assert_str_eq(resumed, whole);
}
END_TEST

static Suite *resume_suite(void)
{
    Suite *suite = suite_create("resume_cli");
    TCase *tcase = tcase_create("files");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, killed_at_any_moment_it_goes_on_with_the_same_bits);
    tcase_add_test(tcase, a_time_limit_and_an_interrupt_leave_what_goes_on);
    tcase_add_test(tcase, other_options_are_refused);
    tcase_add_test(tcase, a_file_tells_the_options_of_the_first_start);
    tcase_add_test(tcase, damaged_files_are_refused);
    tcase_add_test(tcase, what_a_killed_run_of_another_kind_left_is_not_taken);
    tcase_add_test(tcase, a_setting_of_the_sampler_may_be_given_again);
    tcase_add_test(tcase, exact_answers_know_the_clamps_of_the_first_start);
    tcase_add_test(tcase, fixed_sums_are_those_of_the_first_start);
    tcase_add_test(tcase, a_sampler_keeps_the_name_that_it_was_called_by);
    tcase_add_test(tcase, denoising_chains_go_on_with_the_same_bits);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(resume_suite());
}
