/* SPDX-License-Identifier: MIT */
/* What every test file includes: Check, where the data sets are, and the main function. */
#ifndef TEST_H
#define TEST_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <saltus/status.h>

/* Check writes down each assertion that holds, for the place to be told where a test crashes:
 * slower than most that is asserted here, of which there are millions. A sanitizer tells the place.
 */
#define _mark_point(file, line) ((void)0)

/* A status must be SAL_OK; on failure the message is shown. */
#define ck_ok(call, err)                                                \
    do {                                                                \
        sal_status ck_ok_status = (call);                               \
        ck_assert_msg(ck_ok_status == SAL_OK, "%s: %s: %s", #call,      \
                      sal_status_string(ck_ok_status), (err)->message); \
    } while (0)

/* A call must fail with `status`, and its message must contain `text`. */
#define ck_fails(call, want, err, text)                                                      \
    do {                                                                                     \
        memset((err), 0, sizeof *(err));                                                     \
        sal_status ck_fails_status = (call);                                                 \
        ck_assert_msg(ck_fails_status == (want), "%s: got '%s' (%s)", #call,                 \
                      sal_status_string(ck_fails_status), (err)->message);                   \
        ck_assert_msg(strstr((err)->message, (text)) != NULL, "%s: message '%s' lacks '%s'", \
                      #call, (err)->message, (text));                                        \
    } while (0)

/* Say that a check is skipped, or a part of it: one line "SKIPPED: why" of each process, which
 * scripts/count_tests.py counts where each check has its own (TEST_FORKS). */
static inline void test_skipped(const char *why)
{
    static int said;
    fprintf(stderr, said++ ? "(also: %s)\n" : "SKIPPED: %s\n", why);
}

/* The path of a file of the public data sets, or NULL (then the case prints that it is skipped):
 * under $SALTUS_DATA, else under ../shared beside the checkout. The result is static. */
static inline const char *test_data(const char *relative)
{
    static char path[4096];
    const char *roots[] = { getenv("SALTUS_DATA"), SALTUS_SOURCE_DIR "/../shared" };
    for (int i = 0; i < 2; i++) {
        if (roots[i]) {
            snprintf(path, sizeof path, "%s/%s", roots[i], relative);
            if (access(path, R_OK) == 0) {
                return path;
            }
        }
    }
    char why[4200];
    snprintf(why, sizeof why, "%s is not there (set SALTUS_DATA)", relative);
    test_skipped(why);
    return NULL;
}

/* A test case of statistics: it compares many draws, or whole matrices, with what they should be.
 * CK_EXCLUDE_TAGS=statistics leaves such cases out: sanitizers make them take minutes, and look for
 * other things. */
static inline TCase *statistics_create(const char *name)
{
    TCase *tcase = tcase_create(name);
    tcase_set_tags(tcase, "statistics");
    return tcase;
}

/* A number of chains or settings for tests of frequencies; sanitizers look for other things, and
 * make them slow. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_SANITIZED 1
#define TEST_CHAINS(n) ((n) / 8)
#else
#define TEST_SANITIZED 0
#define TEST_CHAINS(n) (n)
#endif

/* Whether each check of a file has a process of its own. Under sanitizers processes start and end
 * slowly, so there the checks of a file share one, unless the file defines TEST_FORKS to 1 before
 * it includes this one: as a check of it ends its process, or forks after threads ran. A file of
 * hundreds of small checks defines TEST_FORKS to 0: to start and end a process takes 30 ms. */
#ifndef TEST_FORKS
#define TEST_FORKS !TEST_SANITIZED
#endif

static inline int test_main(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    if (!TEST_FORKS) {
        srunner_set_fork_status(runner, CK_NOFORK);
    }
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}

#endif
