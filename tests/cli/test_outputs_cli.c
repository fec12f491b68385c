/* SPDX-License-Identifier: MIT */
/* What the program writes replaces nothing that it reads, and nothing of another process. */
#include "spawn_program.h"

#include <signal.h>

#include "io/config.h"
#include "npy_file.h"

static const char uai[] = "MARKOV\n2\n2 2\n1\n2 0 1\n4\n 1 2 3 4\n";

/* Codes of two states of two variables. */
static void write_states(const char *name)
{
    const int32_t codes[] = { 0, 1, 1, 0 };
    const int64_t shape[] = { 2, 2 };
    sal_error err = { 0 };
    ck_ok(sali_npy_write(temp_path(name), SALI_DTYPE_I32, 2, shape, codes, &err), &err);
}

static void setup(void)
{
    temp_dir_make();
    temp_write("n.uai", uai, sizeof uai - 1);
    write_states("s.npy");
    succeeds("sample n.uai --draws 20 --out r.npy");
    ck_assert_int_eq(symlink("n.uai", temp_path("link.uai")), 0);
    ck_assert_int_eq(link(temp_path("s.npy"), temp_path("hard.npy")), 0);
    ck_assert_int_eq(symlink(".", temp_path("here")), 0);
}

/* Words that write the file `input` over, which they read. */
static const struct {
    const char *input, *words;
} overwriting[] = {
    { "r.npy", "convert r.npy r.npy" },
    { "r.npy", "convert r.npy here/r.npy" },
    { "r.npy", "convert r.npy:name r.npy" },
    { "n.uai", "convert n.uai link.uai" },
    { "n.uai", "exact n.uai --marginals n.uai" },
    { "n.uai", "exact link.uai --out-pr=n.uai" },
    { "n.uai", "sample n.uai --draws 9 --marginals link.uai" },
    { "s.npy", "value n.uai --codes --state s.npy --out-value s.npy" },
    { "s.npy", "value n.uai --codes --state=s.npy --out-gradient hard.npy" },
    { "s.npy", "sample n.uai --draws 9 --chains 2 --init hard.npy --out s.npy" },
    { "s.npy", "sample n.uai --draws 9 --chains 2 --init s.npy --best here/here/s.npy" },
    { "r.npy", "report r.npy -o r.npy" },
    { "s.npy", "inpaint rbm --data digits --mask top --out s.png --params s.npy --rows 1" },
};

START_TEST(inputs_are_not_written_over)
{
    char before[4096], after[4096];
    const char *input = overwriting[_i].input;
    size_t size = read_text(input, before, sizeof before);
    if (strstr(overwriting[_i].words, "s.png")) {
        ck_assert_int_eq(link(temp_path("s.npy"), temp_path("s.png")), 0);
    }
    int files = temp_count();
    fails(64, "would be written over", overwriting[_i].words);
    ck_assert_uint_eq(read_text(input, after, sizeof after), size);
    ck_assert_mem_eq(before, after, size);
    ck_assert_int_eq(temp_count(), files);
}
END_TEST

START_TEST(options_write_files_of_their_own)
{
    int files = temp_count();
    fails(64, "two options would write it",
          "sample n.uai --draws 9 --best new.npy --vote state --vote-out here/new.npy");
    fails(64, "two options would write it", /* not one after the other */
          "sample n.uai --draws 9 --out here/new.npy --best b.npy --vote state --vote-out new.npy");
    ck_assert_int_eq(temp_count(), files);
}
END_TEST

/* A run goes on in its file, also where that is said twice. */
START_TEST(a_run_goes_on_in_its_file)
{
#ifdef SALI_HAVE_NETCDF
    succeeds("sample n.uai --draws 20 --out r.nc");
    succeeds("sample --resume r.nc --draws 30");
    succeeds("sample --resume=r.nc --out r.nc --draws 40");
    fails(64, "would be written over", "sample n.uai --init r.nc --out r.nc --draws 40");
#endif
}
END_TEST

/* Wait until a file is there. */
static void await(const char *name)
{
    for (int k = 0; k < 2000 && access(temp_path(name), F_OK) != 0; k++) {
        pause_for(10000);
    }
    ck_assert_int_eq(access(temp_path(name), F_OK), 0);
}

/* Hours of draws into a file, or of training, and what else would write it. */
static const struct {
    const char *first, *file, *second;
} pairs[] = {
    { "sample n.uai --draws 200000 --thin 2000 --seed 1 --out", "two.npy",
      "sample n.uai --draws 20 --seed 2 --out" },
    { "sample n.uai --draws 200000 --thin 2000 --seed 1 --marginals", "two.json",
      "exact n.uai --marginals" },
    { "sample ising:side=3 --draws 200000 --thin 2000 --seed 1 --out", "two.png",
      "inpaint rbm --data digits --mask top --out" },
    { "train rbm:hidden=4 --data digits --iterations 100000000 --fresh 0 --out", "dir",
      "train rbm:hidden=4 --data digits --iterations 10 --overwrite --out" },
};

START_TEST(the_second_writer_is_refused)
{
    char words[512], lock[64];
    snprintf(lock, sizeof lock, "%s%s.tmp", pairs[_i].file,
             strchr(pairs[_i].file, '.') ? "" : "/training");
    int code = -SIGTERM;
    for (long wait = 200000; code != 0 && wait < 20000000; wait *= 2) { /* until the first draw */
        snprintf(words, sizeof words, "%s %s", pairs[_i].first, pairs[_i].file);
        pid_t pid = start(words);
        await(lock);
        pause_for(wait);
        snprintf(words, sizeof words, "%s %s", pairs[_i].second, pairs[_i].file);
        fails(74, "another process is writing it", words);
        kill(pid, SIGTERM);
        code = finish(pid);
    }
    ck_assert_int_eq(code, 0);
    ck_assert_int_eq(access(temp_path(pairs[_i].file), F_OK), 0);
    ck_assert_int_ne(access(temp_path(lock), F_OK), 0);
}
END_TEST

/* What a killed process had reserved is free. */
START_TEST(the_place_of_a_killed_writer_is_free)
{
    pid_t pid = start("sample n.uai --draws 200000 --thin 20000 --out two.npy");
    await("two.npy.tmp");
    kill(pid, SIGKILL);
    ck_assert_int_eq(finish(pid), -SIGKILL);
    succeeds("sample n.uai --draws 20 --out two.npy");
    ck_assert_int_ne(access(temp_path("two.npy.tmp"), F_OK), 0);
}
END_TEST

static const struct {
    const char *words;
    int code;
} failing[] = {
    { "sample no-model --out a.npy", 66 },
    { "exact n.uai --marginals a.json --evidence none.evid", 66 },
};

START_TEST(failures_leave_no_file)
{
    int files = temp_count();
    fails(failing[_i].code, "", failing[_i].words);
    ck_assert_int_le(temp_count(), files + 2); /* stdout.txt, stderr.txt */
    ck_assert_int_ne(access(temp_path("a.npy.tmp"), F_OK), 0);
    ck_assert_int_ne(access(temp_path("a.json.tmp"), F_OK), 0);
}
END_TEST

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

int main(void)
{
    Suite *suite = suite_create("outputs");
    TCase *tcase = tcase_create("outputs");
    tcase_add_checked_fixture(tcase, setup, temp_dir_remove);
    tcase_add_loop_test(tcase, inputs_are_not_written_over, 0, COUNT(overwriting));
    tcase_add_test(tcase, options_write_files_of_their_own);
    tcase_add_test(tcase, a_run_goes_on_in_its_file);
    tcase_add_loop_test(tcase, the_second_writer_is_refused, 0, COUNT(pairs));
    tcase_add_test(tcase, the_place_of_a_killed_writer_is_free);
    tcase_add_loop_test(tcase, failures_leave_no_file, 0, COUNT(failing));
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
