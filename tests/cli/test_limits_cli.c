/* SPDX-License-Identifier: MIT */
/* The program on machines that give it little. */
#include "spawn_program.h"

#include <signal.h>
#include <sys/resource.h>

static void limit(int resource, rlim_t most)
{
    struct rlimit r;
    ck_assert_int_eq(getrlimit(resource, &r), 0);
    r.rlim_cur = most;
    ck_assert_int_eq(setrlimit(resource, &r), 0);
}

static int tasks_of(pid_t pid)
{
    char path[64];
    int n = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        n += entry->d_name[0] != '.';
    }
    if (dir) {
        closedir(dir);
    }
    return n;
}

/* OpenBLAS would begin one a processor, and try for ever where they are refused. */
START_TEST(one_thread_is_one_thread)
{
    const struct timespec a_while = { 0, 20000000 };
    unsetenv("OPENBLAS_NUM_THREADS");
    pid_t pid = start("sample ising:side=4 --threads 1 --draws 200000 --thin 20000 --out run.npy");
    for (int k = 0; k < 1000 && access(temp_path("run.npy.tmp"), F_OK) != 0; k++) {
        nanosleep(&a_while, NULL);
    }
    int tasks = tasks_of(pid);
    kill(pid, SIGKILL);
    finish(pid);
    ck_assert_int_eq(tasks, 1);
}
END_TEST

static const char *const small[] = { "help", "help sample", "list samplers",
                                     "sample ising:side=4 --draws 20 --threads 1 --json" };

START_TEST(little_memory_is_enough)
{
#ifndef __SANITIZE_ADDRESS__ /* which takes terabytes of addresses */
    unsetenv("OPENBLAS_NUM_THREADS");
    limit(RLIMIT_AS, (rlim_t)200 << 20);
    succeeds(small[_i]);
#endif
}
END_TEST

START_TEST(too_few_files_is_what_is_said)
{
    int next = dup(0);
    close(next);
    limit(RLIMIT_NOFILE, (rlim_t)next + 1); /* room for one more */
    pid_t pid = start("sample ising:side=4 --draws 20 --out run.npy");
    limit(RLIMIT_NOFILE, 64);
    char text[2048];
    ck_assert_int_eq(finish(pid), 74);
    read_text("stderr.txt", text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "run.npy.tmp: cannot be created: Too many open files"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("limits_cli");
    TCase *tcase = tcase_create("limits_cli");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, one_thread_is_one_thread);
    tcase_add_loop_test(tcase, little_memory_is_enough, 0, (int)(sizeof small / sizeof *small));
    tcase_add_test(tcase, too_few_files_is_what_is_said);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
