/* SPDX-License-Identifier: MIT */
/* Whole files, numbers and words. */
#include "temp_dir.h"

#include <locale.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <saltus/io.h>
#include <saltus/program.h>
#include "alloc_fail.h"
#include "core/error.h"
#include "io/file.h"
#include "core/number.h"
#include "io/scan.h"

/* What the library asks of the system, in place of the C library's functions: f and d, a file and a
 * directory go to the disk; r, a file is renamed. */
static char asked[16];

static void note(char what)
{
    size_t n = strlen(asked);
    if (n + 1 < sizeof asked) {
        asked[n] = what;
    }
}

int fsync(int fd)
{
    struct stat info;
    note(fstat(fd, &info) == 0 && S_ISDIR(info.st_mode) ? 'd' : 'f');
    return (int)syscall(SYS_fsync, fd);
}

int rename(const char *from, const char *to)
{
    note('r');
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

/* Else a power failure may leave an empty file under the name. */
START_TEST(a_file_is_on_the_disk_before_it_has_its_name)
{
    sal_error err = { 0 };
    ck_ok(sal_file_write(temp_path("a"), "new", 3, &err), &err);
    ck_assert_str_eq(asked, "frd");
}
END_TEST

START_TEST(file_is_read_whole_with_a_nul_after)
{
    sal_error err = { 0 };
    sali_bytes bytes = { 0 };
    ck_ok(sali_file_read(temp_write("a", "x\0y", 3), &bytes, &err), &err);
    ck_assert_int_eq(bytes.size, 3);
    ck_assert_mem_eq(bytes.data, "x\0y\0", 4);
    sali_bytes_free(&bytes);
    ck_ok(sali_file_read(temp_write("empty", "", 0), &bytes, &err), &err);
    ck_assert_int_eq(bytes.size, 0);
    ck_assert_int_eq(bytes.data[0], 0);
    sali_bytes_free(&bytes);
}
END_TEST

START_TEST(what_is_no_file_is_not_found)
{
    sal_error err = { 0 };
    sali_bytes bytes = { 0 };
    ck_fails(sali_file_read(temp_path("none"), &bytes, &err), SAL_ERR_NOT_FOUND, &err, "none");
    ck_fails(sali_file_read(temp_dir, &bytes, &err), SAL_ERR_NOT_FOUND, &err, "a directory");
    ck_fails(sali_file_read("", &bytes, &err), SAL_ERR_NOT_FOUND, &err, "cannot be opened");
    ck_assert_int_eq(mkfifo(temp_path("pipe"), 0600), 0);
    ck_fails(sali_file_read(temp_path("pipe"), &bytes, &err), SAL_ERR_NOT_FOUND, &err, "a pipe");
    ck_assert_ptr_null(bytes.data);
}
END_TEST

START_TEST(write_replaces_the_file_and_leaves_no_temporary)
{
    sal_error err = { 0 };
    sali_bytes bytes = { 0 };
    const char *path = temp_write("a", "old content", 11);
    ck_ok(sal_file_write(path, "new", 3, &err), &err);
    ck_ok(sali_file_read(path, &bytes, &err), &err);
    ck_assert_str_eq((char *)bytes.data, "new");
    ck_assert_int_eq(temp_count(), 1);
    sali_bytes_free(&bytes);
    ck_assert_int_eq(chdir(temp_dir), 0);
    ck_ok(sal_file_write("relative", "r", 1, &err), &err);
    ck_assert_int_eq(temp_count(), 2);
    ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

START_TEST(discarded_output_leaves_the_old_file)
{
    sal_error err = { 0 };
    sali_bytes bytes = { 0 };
    sali_output out = { 0 };
    const char *path = temp_write("a", "old", 3);
    ck_ok(sali_output_open(path, &out, &err), &err);
    ck_ok(sali_output_write(&out, "new", 3, &err), &err);
    sali_output_discard(&out);
    sali_output_discard(&out);
    ck_ok(sali_file_read(path, &bytes, &err), &err);
    ck_assert_str_eq((char *)bytes.data, "old");
    ck_assert_int_eq(temp_count(), 1);
    sali_bytes_free(&bytes);
}
END_TEST

START_TEST(write_refuses_directories_and_devices)
{
    sal_error err = { 0 };
    ck_fails(sal_file_write(temp_dir, "x", 1, &err), SAL_ERR_IO, &err, "a directory");
    ck_fails(sal_file_write("/dev/null", "x", 1, &err), SAL_ERR_IO, &err, "device");
    ck_fails(sal_file_write(temp_path("no/such"), "x", 1, &err), SAL_ERR_IO, &err, "no/such");
    ck_assert_int_eq(temp_count(), 0);
}
END_TEST

START_TEST(full_disk_is_an_error_and_leaves_the_old_file)
{
    static char large[100000];
    sal_error err = { 0 };
    sali_bytes bytes = { 0 };
    const char *path = temp_write("a", "old", 3);
    struct rlimit before;
    getrlimit(RLIMIT_FSIZE, &before);
    struct rlimit limit = { 1000, before.rlim_max };
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    sal_status at_write = sal_file_write(path, large, sizeof large, &err);
    sal_error commit_err = { 0 };
    sal_status at_commit = sal_file_write(path, large, 2000, &commit_err); /* still buffered */
    setrlimit(RLIMIT_FSIZE, &before);
    ck_assert_int_eq(at_write, SAL_ERR_IO);
    ck_assert_int_eq(at_commit, SAL_ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.message, "cannot be written"));
    ck_assert_int_eq(temp_count(), 1);
    ck_ok(sali_file_read(path, &bytes, &err), &err);
    ck_assert_str_eq((char *)bytes.data, "old");
    sali_bytes_free(&bytes);
}
END_TEST

/* The exit status of a process that does so: 0 if it could, 1 if another process is writing. */
static int in_a_process(bool reserve, const char *path)
{
    int status = -1;
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        sal_error err = { 0 };
        sal_reservation *place = NULL;
        sal_status done = reserve ? sal_file_reserve(path, &place, &err)
                                  : sal_file_write(path, "theirs", 6, &err);
        sal_file_release(place);
        _exit(done == SAL_OK                                                               ? 0
              : done == SAL_ERR_IO && strstr(err.message, "another process is writing it") ? 1
                                                                                           : 2);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return status;
}

START_TEST(a_reserved_file_is_written_by_its_process_only)
{
    const char *path = temp_write("a", "old", 3);
    sal_reservation *place = NULL;
    sal_error err = { 0 };
    sali_bytes bytes = { 0 };
    ck_ok(sal_file_reserve(path, &place, &err), &err);
    ck_assert_int_eq(WEXITSTATUS(in_a_process(false, path)), 1);
    ck_assert_int_eq(WEXITSTATUS(in_a_process(true, path)), 1);
    ck_ok(sal_file_write(path, "ours", 4, &err), &err);
    ck_ok(sali_file_read(path, &bytes, &err), &err);
    ck_assert_str_eq((char *)bytes.data, "ours");
    sali_bytes_free(&bytes);
    sal_file_release(place);
    ck_assert_int_eq(temp_count(), 1);
    ck_assert_int_eq(in_a_process(true, path), 0);
    ck_assert_int_eq(in_a_process(false, path), 0);
    ck_assert_int_eq(temp_count(), 1);
}
END_TEST

START_TEST(a_file_being_written_is_locked_to_the_end)
{
    const char *path = temp_path("a");
    sali_output out = { 0 };
    sal_error err = { 0 };
    ck_ok(sali_output_open(path, &out, &err), &err);
    ck_ok(sali_output_write(&out, "ours", 4, &err), &err);
    ck_assert_int_eq(WEXITSTATUS(in_a_process(false, path)), 1);
    sali_output_unlock(&out); /* and nobody came */
    ck_ok(sali_output_commit(&out, &err), &err);
    ck_ok(sali_output_open(path, &out, &err), &err);
    sali_output_unlock(&out);
    ck_assert_int_eq(in_a_process(false, path), 0);
    ck_fails(sali_output_commit(&out, &err), SAL_ERR_IO, &err, "another process has written it");
    ck_assert_int_eq(temp_count(), 1);
}
END_TEST

START_TEST(who_is_refused_changes_nothing)
{
    const char *path = temp_path("a");
    sali_output out = { 0 };
    sal_error err = { 0 };
    sali_bytes bytes = { 0 };
    ck_ok(sali_output_open(path, &out, &err), &err);
    ck_ok(sali_output_write(&out, "ours", 4, &err), &err);
    ck_assert_int_eq(fflush(out.file), 0);
    ck_assert_int_eq(WEXITSTATUS(in_a_process(true, path)), 1);
    ck_assert_int_eq(WEXITSTATUS(in_a_process(false, path)), 1);
    ck_ok(sali_output_commit(&out, &err), &err);
    ck_ok(sali_file_read(path, &bytes, &err), &err);
    ck_assert_int_eq(bytes.size, 4);
    ck_assert_mem_eq(bytes.data, "ours", 4);
    sali_bytes_free(&bytes);
}
END_TEST

/* A file was written, which ends its reservation, and is being written again. */
START_TEST(a_reservation_that_was_used_removes_nothing)
{
    const char *path = temp_path("a");
    sal_reservation *place = NULL;
    sali_output out = { 0 };
    sal_error err = { 0 };
    ck_ok(sal_file_reserve(path, &place, &err), &err);
    ck_ok(sal_file_write(path, "once", 4, &err), &err);
    ck_ok(sali_output_open(path, &out, &err), &err);
    ck_assert_int_eq(temp_count(), 2);
    sal_file_release(place);
    ck_assert_int_eq(temp_count(), 2);
    ck_ok(sali_output_commit(&out, &err), &err);
    ck_assert_int_eq(temp_count(), 1);
}
END_TEST

/* One that took the lock between, and is not done. */
START_TEST(a_file_that_another_process_is_writing_is_left_to_it)
{
    const char *path = temp_path("a");
    int ready[2], go[2], status;
    char byte;
    sali_output out = { 0 };
    sal_error err = { 0 };
    sali_bytes bytes = { 0 };
    ck_assert(pipe(ready) == 0 && pipe(go) == 0);
    ck_ok(sali_output_open(path, &out, &err), &err);
    sali_output_unlock(&out);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        sali_output theirs = { 0 };
        bool ok = sali_output_open(path, &theirs, &err) == SAL_OK && write(ready[1], "r", 1) == 1 &&
                  read(go[0], &byte, 1) == 1 &&
                  sali_output_write(&theirs, "theirs", 6, &err) == SAL_OK &&
                  sali_output_commit(&theirs, &err) == SAL_OK;
        _exit(!ok);
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    ck_fails(sali_output_commit(&out, &err), SAL_ERR_IO, &err, "another process");
    ck_assert_int_eq(access(path, F_OK), -1);
    ck_assert_int_eq(write(go[1], "g", 1), 1);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    ck_ok(sali_file_read(path, &bytes, &err), &err);
    ck_assert_str_eq((char *)bytes.data, "theirs");
    ck_assert_int_eq(temp_count(), 1);
    sali_bytes_free(&bytes);
}
END_TEST

START_TEST(a_reservation_that_is_not_used_leaves_nothing)
{
    sal_reservation *place = NULL;
    sal_error err = { 0 };
    ck_ok(sal_file_reserve(temp_path("a"), &place, &err), &err);
    ck_assert_int_eq(temp_count(), 1);
    sal_file_release(place);
    sal_file_release(NULL);
    ck_assert_int_eq(temp_count(), 0);
    ck_fails(sal_file_reserve(temp_dir, &place, &err), SAL_ERR_IO, &err, "a directory");
    ck_fails(sal_file_reserve(temp_path("no/such"), &place, &err), SAL_ERR_IO, &err, "no/such");
    ck_fails(sal_file_reserve(NULL, &place, &err), SAL_ERR_ARGUMENT, &err, "NULL");
    ck_fails(sal_file_reserve(temp_path("a"), NULL, &err), SAL_ERR_ARGUMENT, &err, "NULL");
}
END_TEST

#define WRITERS 4
#define LETTERS 9000 /* more than a stream buffers */

static _Noreturn void write_often(const char *path, char letter)
{
    static char text[LETTERS];
    sal_error err = { 0 };
    int written = 0;
    memset(text, letter, sizeof text);
    while (written < 50) {
        sal_status status = sal_file_write(path, text, sizeof text, &err);
        written += status == SAL_OK;
        if (status != SAL_OK && !strstr(err.message, "another process")) {
            _exit(1);
        }
        sched_yield();
    }
    _exit(0);
}

/* However writers meet, the file is of one of them. */
START_TEST(many_writers_leave_a_whole_file)
{
    const char *path = temp_write("a", "", 0);
    pid_t pids[WRITERS];
    int left = WRITERS, status;
    for (int k = 0; k < WRITERS; k++) {
        pids[k] = fork();
        ck_assert_int_ge(pids[k], 0);
        if (pids[k] == 0) {
            write_often(path, (char)('a' + k));
        }
    }
    while (left > 0) {
        sali_bytes bytes = { 0 };
        sal_error err = { 0 };
        ck_ok(sali_file_read(path, &bytes, &err), &err);
        ck_assert(bytes.size == 0 || bytes.size == LETTERS);
        for (int64_t i = 1; i < bytes.size; i++) {
            ck_assert_int_eq(bytes.data[i], bytes.data[0]);
        }
        sali_bytes_free(&bytes);
        for (pid_t pid; left > 0 && (pid = waitpid(-1, &status, WNOHANG)) > 0; left--) {
            ck_assert(WIFEXITED(status));
            ck_assert_int_eq(WEXITSTATUS(status), 0);
        }
    }
    ck_assert_int_eq(temp_count(), 1);
}
END_TEST

START_TEST(file_functions_survive_failing_allocations)
{
    sali_bytes bytes = { 0 };
    sal_error err = { 0 };
    const char *path = temp_write("a", "content", 7);
    ck_alloc_sweep(sali_file_read(path, &bytes, &err), sali_bytes_free(&bytes));
    ck_alloc_sweep(sal_file_write(path, "new", 3, &err), (void)0);
    sal_reservation *place = NULL;
    ck_alloc_sweep(sal_file_reserve(path, &place, &err), sal_file_release(place));
    ck_assert_int_eq(temp_count(), 1);
}
END_TEST

static sal_status parse_int(const char *text, int64_t *out)
{
    return sali_parse_int(text, (int64_t)strlen(text), out);
}

static sal_status parse_double(const char *text, double *out)
{
    return sali_parse_double(text, (int64_t)strlen(text), out);
}

START_TEST(integers_are_checked)
{
    static const char *const bad[] = { "",
                                       "-",
                                       "+",
                                       "1.0",
                                       "1e3",
                                       " 1",
                                       "1 ",
                                       "0x1",
                                       "--1",
                                       "9223372036854775808",
                                       "-9223372036854775809",
                                       "1,0" };
    int64_t x = 0;
    ck_assert_int_eq(parse_int("-0012", &x), SAL_OK);
    ck_assert_int_eq(x, -12);
    ck_assert_int_eq(parse_int("+9223372036854775807", &x), SAL_OK);
    ck_assert(x == INT64_MAX);
    ck_assert_int_eq(parse_int("-9223372036854775808", &x), SAL_OK);
    ck_assert(x == INT64_MIN);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(parse_int(bad[i], &x), SAL_ERR_DATA);
    }
    ck_assert(x == INT64_MIN);
}
END_TEST

START_TEST(doubles_are_checked)
{
    static const char *const bad[] = { "",         ".",       "-.",  "e5",   "1e",
                                       "1e+",      "1.2.3",   "nan", "-inf", "1e999",
                                       "infinity", "0x1.8p3", "1,5", "1f" };
    static const struct {
        const char *text;
        double value;
    } good[] = { { "1", 1 },       { "-.5", -0.5 },   { "2.", 2 },    { "1E-3", 1e-3 },
                 { "+3e+2", 300 }, { "1e-999", 0 },   { "0.1", 0.1 }, { "4.9e-324", 4.9e-324 },
                 { "-0", -0.0 },   { "007.25", 7.25 } };
    double x = 42;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(parse_double(bad[i], &x), SAL_ERR_DATA);
    }
    ck_assert(x == 42);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert_int_eq(parse_double(good[i].text, &x), SAL_OK);
        ck_assert(x == good[i].value);
    }
    char longest[2000];
    memset(longest, '1', sizeof longest);
    ck_assert_int_eq(sali_parse_double(longest, sizeof longest, &x), SAL_ERR_DATA);
    ck_assert_int_eq(sali_parse_double("1\0002", 3, &x), SAL_ERR_DATA);
}
END_TEST

static void check_numbers(void)
{
    static const double values[] = { 0, 0.1, 1.0 / 3, 1e300, 5e-324, 123456789, -2.5 };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char text[SALI_NUMBER_SIZE];
        double x = 42;
        sali_format_double(values[i], text);
        ck_assert_ptr_null(strchr(text, ','));
        ck_assert_int_eq(parse_double(text, &x), SAL_OK);
        ck_assert(x == values[i]);
    }
}

START_TEST(numbers_do_not_depend_on_the_locale)
{
    check_numbers();
    static const char *const locales[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8", "de_DE" };
    for (size_t i = 0; i < sizeof locales / sizeof *locales; i++) {
        if (setlocale(LC_ALL, locales[i])) {
            ck_assert_str_eq(localeconv()->decimal_point, ",");
            check_numbers();
            ck_assert_str_eq(localeconv()->decimal_point, ",");
            return;
        }
    }
    test_skipped("no locale with a decimal comma is installed");
}
END_TEST

static sali_scan scan_of(const char *text, unsigned comments, sal_error *err)
{
    return sali_scan_of("f", text, (int64_t)strlen(text), comments, err);
}

START_TEST(words_have_lines_and_comments_are_blanks)
{
    sali_scan scan = scan_of("\xef\xbb\xbf"
                             "a/* 1\n 2 */b // 3\nc 4 # 5\r\nc\nc x\n cc",
                             15, NULL);
    static const struct {
        const char *text;
        int line;
    } want[] = { { "a", 1 }, { "b", 2 }, { "cc", 6 }, { "", 6 }, { "", 6 } };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        sali_token token = sali_scan_token(&scan);
        ck_assert_int_eq(scan.status, SAL_OK);
        ck_assert_int_eq(token.size, (int64_t)strlen(want[i].text));
        ck_assert_mem_eq(token.text, want[i].text, (size_t)token.size);
        ck_assert_int_eq(token.line, want[i].line);
    }
    scan = scan_of("c#//x", 0, NULL);
    sali_token token = sali_scan_token(&scan);
    ck_assert(sali_token_is(&token, "C#//X"));
    ck_assert(!sali_token_is(&token, "C#//") && !sali_token_is(&token, "C#//X1"));
}
END_TEST

/* What reading a text as one thing says. */
typedef enum { AN_INT, A_REAL, A_COUNT, THE_END } scan_kind;

static sal_status scan_as(scan_kind kind, const char *text, int64_t max, sal_error *err)
{
    sali_scan scan = scan_of(text, SALI_COMMENT_C, err);
    if (kind == AN_INT) {
        ck_assert_int_eq(sali_scan_int(&scan, "a count", 1, max), 1);
    } else if (kind == A_REAL) {
        ck_assert(sali_scan_double(&scan, "a weight") == 0);
    } else if (kind == A_COUNT) {
        ck_assert_int_eq(sali_scan_count(&scan, "n", 0), 0);
    }
    return sali_scan_end(&scan);
}

START_TEST(scan_errors_name_file_line_and_word)
{
    sal_error err = { 0 };
    static const struct {
        scan_kind kind;
        const char *text;
        int64_t max;
        const char *message;
    } cases[] = {
        { AN_INT, "\n\n abc", 9, "f:3: expected a count (an integer, 1 to 9), found 'abc'" },
        { AN_INT, "", INT64_MAX, "at least 1), found the end of the file" },
        { AN_INT, "10", 9, "'10'" },
        { A_REAL, "nan", 0, "f:1: expected a weight (a finite decimal number), found 'nan'" },
        { A_COUNT, "3 1 2", 0, "n is 3, more than the rest of the file can hold" },
        { AN_INT, "1 /* x", 9, "f:1: this comment has no end" },
        { THE_END,
          "\n\x01\xff"
          "0123456789012345678901234567890123456789012345678901234",
          0, "f:2: expected the end of the file, found '?\?012345678901234567890123456789" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ck_fails(scan_as(cases[k].kind, cases[k].text, cases[k].max, &err), SAL_ERR_DATA, &err,
                 cases[k].message);
    }
    ck_assert_ptr_nonnull(strstr(err.message, "...'"));
}
END_TEST

static sal_status fail_twice(sal_error *err)
{
    sali_scan scan = scan_of("x 7\n8 9\n", 0, err), line = { 0 };
    sali_scan_int(&scan, "a count", 0, 9);
    const char *stood = scan.next;
    ck_assert_int_eq(sali_scan_int(&scan, "a second", 3, 9), 3);
    ck_assert_int_eq(sali_scan_token(&scan).size, 0);
    ck_assert(!sali_scan_more(&scan) && !sali_scan_line(&scan, &line) && scan.next == stood);
    ck_assert_ptr_null(sali_scan_alloc(&scan, 1, 1));
    sali_scan_refuse(&scan, "later");
    return sali_scan_end(&scan);
}

static sal_status fail_in_line(sal_error *err)
{
    sali_scan scan = scan_of("1\nx\n3\n", 0, err), line = { 0 };
    int lines = 0;
    for (; sali_scan_line(&scan, &line); lines++) {
        sali_scan_int(&line, "a count", 0, 9);
    }
    ck_assert_int_eq(lines, 2);
    return scan.status;
}

static sal_status fail_memory(sal_error *err)
{
    sali_scan scan = scan_of("", 0, err);
    ck_assert(!sali_scan_granted(&scan, false));
    return sali_scan_refuse(&scan, "later");
}

START_TEST(the_first_failure_of_a_scan_is_kept)
{
    sal_error err = { 0 };
    ck_fails(fail_twice(&err), SAL_ERR_DATA, &err, "f:1: expected a count");
    ck_fails(fail_in_line(&err), SAL_ERR_DATA, &err, "f:2: expected a count");
    ck_fails(fail_memory(&err), SAL_ERR_MEMORY, &err, "out of memory");
    sali_scan scan = scan_of("1 /* x", SALI_COMMENT_C, &err);
    sali_scan_token(&scan);
    ck_assert(!sali_scan_on_line(&scan, 1)); /* looking ahead fails nothing */
    ck_assert_int_eq(scan.status, SAL_OK);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io_file");
    TCase *files = tcase_create("files");
    tcase_add_checked_fixture(files, temp_dir_make, temp_dir_remove);
    tcase_add_test(files, a_file_is_on_the_disk_before_it_has_its_name);
    tcase_add_test(files, file_is_read_whole_with_a_nul_after);
    tcase_add_test(files, what_is_no_file_is_not_found);
    tcase_add_test(files, write_replaces_the_file_and_leaves_no_temporary);
    tcase_add_test(files, discarded_output_leaves_the_old_file);
    tcase_add_test(files, write_refuses_directories_and_devices);
    tcase_add_test(files, full_disk_is_an_error_and_leaves_the_old_file);
    tcase_add_test(files, a_reserved_file_is_written_by_its_process_only);
    tcase_add_test(files, a_file_being_written_is_locked_to_the_end);
    tcase_add_test(files, who_is_refused_changes_nothing);
    tcase_add_test(files, a_reservation_that_was_used_removes_nothing);
    tcase_add_test(files, a_file_that_another_process_is_writing_is_left_to_it);
    tcase_add_test(files, a_reservation_that_is_not_used_leaves_nothing);
    tcase_add_test(files, many_writers_leave_a_whole_file);
    tcase_add_test(files, file_functions_survive_failing_allocations);
    suite_add_tcase(suite, files);
    TCase *text = tcase_create("text");
    tcase_add_test(text, integers_are_checked);
    tcase_add_test(text, doubles_are_checked);
    tcase_add_test(text, numbers_do_not_depend_on_the_locale);
    tcase_add_test(text, words_have_lines_and_comments_are_blanks);
    tcase_add_test(text, scan_errors_name_file_line_and_word);
    tcase_add_test(text, the_first_failure_of_a_scan_is_kept);
    suite_add_tcase(suite, text);
    return test_main(suite);
}
