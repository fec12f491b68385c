/* SPDX-License-Identifier: MIT */
/* Runs that are told to stop, by Ctrl-C, by kill or by a terminal that closes, keep what they have.
 */
#include "spawn_program.h"

#include <signal.h>

#include "npy_file.h"

static const int signals[] = { SIGINT, SIGTERM, SIGUSR1, SIGHUP };

#define N_SIGNALS ((int)(sizeof signals / sizeof *signals))

/* Hours of draws. */
#define COMMAND "sample ising:side=4,theta=0.1 --chains 3 --draws 200000 --thin 2000 --out run.npy"

#define COMPARE \
    "compare ising:side=4,theta=0.1 --samplers gibbs,gwg,ncg,pavg --draws 20000 --thin 200000"

/* Where the signal comes before it is caught or before the first draw, wait longer. */
static int stop(const char *command, int number)
{
    int code = -number;
    for (long wait = 100000; code != 0 && wait < 10000000; wait *= 2) {
        pid_t pid = start(command);
        pause_for(wait);
        kill(pid, number);
        code = finish(pid);
    }
    return code;
}

/* The tests may run under nohup, whose ignored hangups programs inherit. */
static void setup(void)
{
    signal(SIGHUP, SIG_DFL);
    temp_dir_make();
}

START_TEST(draws_so_far_are_a_whole_file)
{
    char text[2048];
    long long draws = 0;
    sali_npy array = { 0 };
    sal_error err = { 0 };
    ck_assert_int_eq(stop(COMMAND, signals[_i]), 0);
    read_text("stderr.txt", text, sizeof text);
    ck_assert_msg(
        sscanf(text, "saltus: stopped; what follows is from %lld draws a chain", &draws) == 1, "%s",
        text);
    ck_ok(npy_read(temp_path("run.npy"), &array, &err), &err);
    ck_assert_int_eq(array.shape[0], 3);
    ck_assert_int_eq(array.shape[1], draws);
    ck_assert_int_eq(array.shape[2], 16);
    npy_free(&array);
}
END_TEST

/* The first sampler has some of its draws, the others are named. */
START_TEST(a_comparison_says_what_it_lacks)
{
    char text[2048];
    long long draws = 0;
    ck_assert_int_eq(stop(COMPARE, signals[_i]), 0);
    read_text("stderr.txt", text, sizeof text);
    ck_assert_msg(sscanf(text, "saltus: stopped; gibbs has %lld draws a chain only", &draws) == 1 &&
                      draws > 0,
                  "%s", text);
    ck_assert_ptr_nonnull(strstr(text, " only; not run: gwg, ncg, pavg\n"));
    read_text("stdout.txt", text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "\ngibbs "));
    ck_assert_ptr_null(strstr(text, "gwg"));
}
END_TEST

/* As nohup starts it. */
START_TEST(a_hangup_that_is_ignored_stays_so)
{
    signal(SIGHUP, SIG_IGN);
    pid_t pid = start(COMMAND);
    signal(SIGHUP, SIG_DFL);
    for (int k = 0; k < 10; k++) {
        pause_for(50000);
        kill(pid, SIGHUP);
    }
    ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0);
    kill(pid, SIGKILL);
    finish(pid);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("signals_cli");
    TCase *tcase = tcase_create("signals_cli");
    tcase_add_checked_fixture(tcase, setup, temp_dir_remove);
    tcase_add_loop_test(tcase, draws_so_far_are_a_whole_file, 0, N_SIGNALS);
    tcase_add_loop_test(tcase, a_comparison_says_what_it_lacks, 0, N_SIGNALS);
    tcase_add_test(tcase, a_hangup_that_is_ignored_stays_so);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
