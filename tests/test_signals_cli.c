/* Runs that are told to stop, by Ctrl-C, by kill or by a terminal that closes, keep what they have.
 */
#include "spawn_program.h"

#include <signal.h>

#include "io/npy.h"

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

#define N_SIGNALS ((int)(sizeof signals / sizeof *signals))

/* Hours of draws. */
#define COMMAND "sample ising:side=4,theta=0.1 --chains 3 --draws 200000 --thin 2000 --out run.npy"

/* Where the signal comes before it is caught or before the first draw, wait longer. */
static int stop(int number)
{
    int code = -number;
    for (long wait = 100000; code != 0 && wait < 10000000; wait *= 2) {
        pid_t pid = start(COMMAND);
        pause_for(wait);
        kill(pid, number);
        code = finish(pid);
    }
    return code;
}

START_TEST(draws_so_far_are_a_whole_file)
{
    char text[2048];
    long long draws = 0;
    sali_npy array = { 0 };
    sal_error err = { 0 };
    ck_assert_int_eq(stop(signals[_i]), 0);
    read_text("stderr.txt", text, sizeof text);
    ck_assert_msg(
        sscanf(text, "saltus: stopped; what follows is from %lld draws a chain", &draws) == 1, "%s",
        text);
    ck_ok(sali_npy_read(temp_path("run.npy"), &array, &err), &err);
    ck_assert_int_eq(array.shape[0], 3);
    ck_assert_int_eq(array.shape[1], draws);
    ck_assert_int_eq(array.shape[2], 16);
    sali_npy_free(&array);
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
    kill(pid, SIGTERM);
    int code = finish(pid);
    ck_assert_msg(code == 0 || code == -SIGTERM, "exit %d", code); /* before it was caught */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("signals_cli");
    TCase *tcase = tcase_create("signals_cli");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_loop_test(tcase, draws_so_far_are_a_whole_file, 0, N_SIGNALS);
    tcase_add_test(tcase, a_hangup_that_is_ignored_stays_so);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
