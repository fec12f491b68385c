/* SPDX-License-Identifier: MIT */
/* Draws out of netCDF files, of this program and of others. */
#include "netcdf_helpers.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "io/attempt.h"
#include "io/file.h"
#include "io/format.h"
#include "io/draws/netcdf_posterior.h"

START_TEST(draws_are_read_as_arrays)
{
    int bytes;
    sal_error err = { 0 };
    sali_content content = { 0 };
    const sali_format *found = NULL;
    sal_model *model = make_model();
    sal_run *run = NULL;
    ck_ok(sal_sample(model, &usual, &run, &err), &err);
    ck_ok(sal_run_save(run, temp_path("b.nc"), 0, &err), &err);
    ck_assert_int_eq(temp_count(), 1);
    ck_ok(sali_content_read(temp_path("b.nc"), NULL, SALI_CONTENT_NONE, &content, &found, &err),
          &err);
    ck_assert_str_eq(found->name, "netcdf");
    ck_assert_int_eq(content.kind, SALI_CONTENT_ARRAY);
    ck_assert_int_eq(content.array.ndim, 3);
    ck_assert_int_eq(content.array.shape[0], CHAINS);
    ck_assert_int_eq(content.array.shape[1], 2500);
    ck_assert_int_eq(content.array.shape[2], V);
    const int32_t *kept = sal_run_draws(run, &bytes);
    for (int64_t k = 0; k < content.array.count; k++) {
        ck_assert_double_eq(content.array.values[k], kept[k]);
    }
    sali_content_free(&content);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* Another program's posterior: floats of several shapes, a text, a variable without draws. */
static const char *foreign_file(size_t draws, bool written)
{
    const char *path = temp_path("f.nc");
    int file, group, d[4], a, b, c, other;
    double values[2 * 3 * 4], mu[2 * 3];
    size_t start[4] = { 0 }, count[4] = { 2, 3, 2, 2 };
    for (int k = 0; k < 24; k++) {
        values[k] = k / 8.0;
        mu[k % 6] = -k;
    }
    ck_nc(nc_create(path, NC_NETCDF4 | NC_CLOBBER, &file));
    ck_nc(nc_def_grp(file, "posterior", &group));
    ck_nc(nc_def_dim(group, "chain", 2, &d[0]));
    ck_nc(nc_def_dim(group, "draw", draws, &d[1]));
    ck_nc(nc_def_dim(group, "i", 2, &d[2]));
    ck_nc(nc_def_dim(group, "j", 2, &d[3]));
    ck_nc(nc_def_var(group, "i", NC_STRING, 1, &d[2], &other));
    ck_nc(nc_def_var(group, "fixed", NC_DOUBLE, 1, &d[2], &other));
    ck_nc(nc_def_var(group, "named", NC_STRING, 2, d, &other));
    ck_nc(nc_def_var(group, "theta", NC_FLOAT, 4, d, &a));
    ck_nc(nc_def_var(group, "mu", NC_DOUBLE, 2, d, &b));
    ck_nc(nc_def_var_deflate(group, a, 0, 1, 1));
    ck_nc(nc_def_var_deflate(group, b, 0, 1, 1));
    c = written ? nc_put_vara_double(group, a, start, count, values) : 0;
    ck_nc(c ? c : written ? nc_put_vara_double(group, b, start, count, mu) : 0);
    ck_nc(nc_close(file));
    return path;
}

START_TEST(other_posteriors_are_read)
{
    sal_error err = { 0 };
    sali_content content = { 0 };
    ck_ok(sali_content_read(foreign_file(3, true), NULL, SALI_CONTENT_ARRAY, &content, NULL, &err),
          &err);
    ck_assert_int_eq(content.array.shape[0], 2);
    ck_assert_int_eq(content.array.shape[1], 3);
    ck_assert_int_eq(content.array.shape[2], 5);
    for (int k = 0; k < 6; k++) {
        for (int i = 0; i < 4; i++) {
            ck_assert_double_eq(content.array.values[5 * k + i], (4 * k + i) / 8.0);
        }
        ck_assert_double_eq(content.array.values[5 * k + 4], -(k + 18));
    }
    sali_content_free(&content);
}
END_TEST

static void check_refused(const char *path, const char *text)
{
    sal_error err = { 0 };
    sali_content content = { 0 };
    ck_fails(sali_content_read(path, NULL, SALI_CONTENT_ARRAY, &content, NULL, &err), SAL_ERR_DATA,
             &err, text);
    ck_assert_int_eq(content.kind, SALI_CONTENT_NONE);
}

/* A group's own dimension `draw` hides that of the file: variables may use either. */
static const char *two_draws(void)
{
    const char *path = temp_path("d.nc");
    int file, group, chain, all[2], own[2], v;
    ck_nc(nc_create(path, NC_NETCDF4 | NC_CLOBBER, &file));
    ck_nc(nc_def_dim(file, "chain", 2, &chain));
    ck_nc(nc_def_dim(file, "draw", 1000, &all[1]));
    ck_nc(nc_def_grp(file, "posterior", &group));
    ck_nc(nc_def_dim(group, "draw", 10, &own[1]));
    all[0] = own[0] = chain;
    ck_nc(nc_def_var(group, "a", NC_DOUBLE, 2, all, &v));
    ck_nc(nc_def_var(group, "b", NC_DOUBLE, 2, own, &v));
    ck_nc(nc_close(file));
    return path;
}

START_TEST(files_without_draws_are_refused)
{
    check_refused(two_draws(), "different numbers of chains or draws");
    int file, group;
    check_refused(foreign_file(1000000000, false), "claims more draws");
    check_refused(foreign_file(0, false), "no draws"); /* a growing dimension that did not grow */
    check_refused(temp_write("x.nc", "CDF\001rest of a file", 18), "is no netCDF-4 file");
    check_refused(temp_write("x.nc", "\x89HDF\r\n\x1a\nnot really", 18), "is no netCDF-4 file");
    check_refused(temp_write("x.nc", "", 0), "is no netCDF-4 file");
    ck_nc(nc_create(temp_path("e.nc"), NC_NETCDF4, &file));
    ck_nc(nc_close(file));
    check_refused(temp_path("e.nc"), "has no group 'posterior'");
    ck_nc(nc_create(temp_path("g.nc"), NC_NETCDF4, &file));
    ck_nc(nc_def_grp(file, "posterior", &group));
    ck_nc(nc_close(file));
    check_refused(temp_path("g.nc"), "no numbers over the dimensions chain, draw");
}
END_TEST

/* Draws of a variable of sizes[0] chains, sizes[1] draws and sizes[2] sites: 0, 1, 2 and so on. */
static void check_large(const size_t *sizes)
{
    const char *path = temp_path("l.nc"), *const names[] = { "chain", "draw", "site" };
    const size_t n = sizes[0] * sizes[1] * sizes[2];
    int file, group, d[3], v;
    sal_error err = { 0 };
    sali_content content = { 0 };
    int32_t *values = malloc(n * sizeof *values);
    for (size_t k = 0; k < n; k++) {
        values[k] = (int32_t)k;
    }
    ck_nc(nc_create(path, NC_NETCDF4 | NC_CLOBBER, &file));
    ck_nc(nc_def_grp(file, "posterior", &group));
    for (int k = 0; k < 3; k++) {
        ck_nc(nc_def_dim(group, names[k], sizes[k], &d[k]));
    }
    ck_nc(nc_def_var(group, "a", NC_INT, 3, d, &v));
    ck_nc(nc_put_var_int(group, v, values));
    ck_nc(nc_close(file));
    free(values);
    ck_ok(sali_content_read(path, NULL, SALI_CONTENT_ARRAY, &content, NULL, &err), &err);
    ck_assert_int_eq(content.array.count, (int64_t)n);
    for (int64_t k = 0; k < content.array.count; k++) {
        ck_assert_double_eq(content.array.values[k], (double)k);
    }
    sali_content_free(&content);
}

/* Of more draws, and draws of more sites, than are read at once. */
START_TEST(large_variables_are_read_part_by_part)
{
    check_large((const size_t[]){ 2, SALI_NETCDF_PART + 3, 2 });
    check_large((const size_t[]){ 1, 3, SALI_NETCDF_PART });
    check_large((const size_t[]){ 2, 2, SALI_NETCDF_PART + 3 });
    check_large((const size_t[]){ 1, 3, 100003 });
}
END_TEST

/* Cut anywhere, a file is refused, or read if what is missing does not matter. */
START_TEST(cut_files_are_refused)
{
    sal_error err = { 0 };
    sali_bytes bytes = { 0 };
    ck_ok(sali_file_read(foreign_file(3, true), &bytes, &err), &err);
    for (int64_t n = 0; n < bytes.size; n += n < 64 ? 1 : 97) {
        sali_content content = { 0 };
        sal_status status = sali_netcdf_parse("cut", (char *)bytes.data, n, &content, &err);
        ck_assert(status == SAL_OK || status == SAL_ERR_DATA || status == SAL_ERR_MEMORY);
        sali_content_free(&content);
    }
    sali_bytes_free(&bytes);
}
END_TEST

/* ---- damage */

/* The bytes of a file that a run was saved to. */
static sali_bytes saved_run(void)
{
    sal_error err = { 0 };
    sali_bytes bytes = { 0 };
    sal_run *run = NULL;
    sal_run_options options = usual;
    options.draws = 40;
    sal_model *model = make_model();
    ck_ok(sal_sample(model, &options, &run, &err), &err);
    ck_ok(sal_run_save(run, temp_path("s.nc"), 0, &err), &err);
    ck_ok(sali_file_read(temp_path("s.nc"), &bytes, &err), &err);
    sal_run_destroy(run);
    sal_model_destroy(model);
    return bytes;
}

#define SEAL 24 /* its first 8 bytes say that there is one */

static double sum_of(const sali_content *content)
{
    double sum = 0;
    for (int64_t k = 0; k < content->array.count; k++) {
        sum += (double)(k + 1) * content->array.values[k];
    }
    return sum;
}

static double parsed_sum(const sali_bytes *bytes, int64_t size)
{
    sal_error err = { 0 };
    sali_content content = { 0 };
    ck_ok(sali_netcdf_parse("f", (char *)bytes->data, size, &content, &err), &err);
    double sum = sum_of(&content);
    sali_content_free(&content);
    return sum;
}

START_TEST(each_changed_bit_of_a_saved_run_is_seen)
{
    sali_bytes bytes = saved_run();
    const double sum = parsed_sum(&bytes, bytes.size);
    ck_assert_double_eq(parsed_sum(&bytes, bytes.size - SEAL), sum); /* as of another program */
    for (int64_t k = 0; k < bytes.size; k += k < bytes.size - SEAL - 64 ? 29 : 1) {
        for (int bit = 0; bit < 8; bit++) {
            sal_error err = { 0 };
            sali_content content = { 0 };
            const int64_t from_end = bytes.size - k;
            bytes.data[k] ^= (unsigned char)(1 << bit);
            sal_status status =
                sali_netcdf_parse("f", (char *)bytes.data, bytes.size, &content, &err);
            if (from_end <= SEAL && from_end > SEAL - 8) {
                ck_ok(status, &err);
                ck_assert_double_eq(sum_of(&content), sum);
            } else {
                ck_assert_int_eq(status, SAL_ERR_DATA);
                ck_assert_ptr_nonnull(
                    strstr(err.message, k < 8 ? "is no netCDF-4 file" : "is damaged"));
            }
            sali_content_free(&content);
            bytes.data[k] ^= (unsigned char)(1 << bit);
        }
    }
    sali_bytes_free(&bytes);
}
END_TEST

START_TEST(a_run_does_not_go_on_from_a_damaged_file)
{
    sali_bytes bytes = saved_run();
    sal_run_state *state = NULL;
    sal_error err = { 0 };
    bytes.data[bytes.size / 2] ^= 1;
    const char *path = temp_write("s.nc", bytes.data, (size_t)bytes.size);
    ck_fails(sal_run_state_open(path, &state, &err), SAL_ERR_DATA, &err, "is damaged");
    sali_bytes_free(&bytes);
}
END_TEST

/* As another program does that has opened it for writing; whether it carries our seal or not. */
START_TEST(a_file_that_is_open_for_writing_is_locked)
{
    sali_bytes bytes = saved_run();
    sal_run_state *state = NULL;
    sal_error err = { 0 };
    const char *path = temp_write("s.nc", bytes.data, (size_t)bytes.size);
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    for (int sealed = 1; sealed >= 0; sealed--) {
        ck_assert_int_eq(flock(fd, LOCK_EX | LOCK_NB), 0);
        ck_fails(sal_run_state_open(path, &state, &err), SAL_ERR_IO, &err, "is locked");
        ck_assert_int_eq(flock(fd, LOCK_UN), 0);
        if (sealed) {
            ck_fails(sal_run_state_open(path, &state, &err), SAL_ERR_DATA, &err, "has no state");
            ck_assert_int_eq(ftruncate(fd, lseek(fd, 0, SEEK_END) - 1), 0);
        }
    }
    close(fd);
    sali_bytes_free(&bytes);
}
END_TEST

/* For the leak sanitizer: both leak when a damaged file cannot be opened. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libnetcdf\nleak:libhdf5\n";
}

/* What libhdf5 makes of such files is its own affair; this process goes on. */
START_TEST(damaged_files_of_others_do_no_harm)
{
    sali_bytes bytes = saved_run();
    uint32_t random = 1;
    for (int k = 0; k < 200; k++) {
        sal_error err = { 0 };
        sali_content content = { 0 };
        sali_bytes copy = { malloc((size_t)bytes.size), bytes.size - SEAL };
        memcpy(copy.data, bytes.data, (size_t)copy.size);
        for (int change = 0; change < 1 + k % 20; change++) {
            random = random * 1664525 + 1013904223;
            copy.data[8 + (random >> 4) % (uint32_t)(copy.size - 8)] = (unsigned char)random;
        }
        sal_status status = sali_netcdf_parse("f", (char *)copy.data, copy.size, &content, &err);
        ck_assert(status == SAL_OK || status == SAL_ERR_DATA || status == SAL_ERR_MEMORY);
        sali_content_free(&content);
        free(copy.data);
    }
    sali_bytes_free(&bytes);
}
END_TEST

/* 200 kB that ask for 10 GB: each text is the one that stands for texts not written. */
START_TEST(files_that_ask_for_much_memory_are_refused)
{
    enum { LENGTH = 100000 };
    const char *path = temp_path("m.nc");
    int file, group, d[2], v;
    char *text = malloc(LENGTH + 1);
    memset(text, 'x', LENGTH);
    text[LENGTH] = 0;
    ck_nc(nc_create(path, NC_NETCDF4 | NC_CLOBBER, &file));
    ck_nc(nc_def_grp(file, "posterior", &group));
    ck_nc(nc_def_dim(group, "chain", 1, &d[0]));
    ck_nc(nc_def_dim(group, "draw", LENGTH, &d[1]));
    ck_nc(nc_def_var(group, "theta", NC_FLOAT, 2, d, &v));
    ck_nc(nc_def_var(group, "text", NC_STRING, 2, d, &v));
    ck_nc(nc_def_var_fill(group, v, NC_FILL, &text));
    ck_nc(nc_close(file));
    free(text);
    check_refused(path, "takes too much time or memory");
}
END_TEST

/* ---- attempts */

static const sali_attempt_limits usual_limits = { 1, 64 << 20 }, tight_limits = { 0, 2 << 20 };

static void end_well(const void *data)
{
    puts(data); /* to nowhere */
}

static void abort_it(const void *data)
{
    (void)data;
    abort();
}

static void read_nothing(const void *data)
{
    (void)data;
    raise(SIGSEGV);
}

static void leave(const void *data)
{
    (void)data;
    _exit(0);
}

static void go_on_for_ever(const void *data)
{
    for (volatile bool more = true; more;) {
        (void)data;
    }
}

/* So many MiB, and each page of them. */
static char *take_memory(size_t size)
{
    char *room = malloc(size << 20);
    for (size_t k = 0; k < size << 20; k += 4096) {
        ((volatile char *)room)[k] = 1;
    }
    return room;
}

/* Work on for a while, and tell. */
static void take_memory_and_time(const void *data)
{
    char *room = take_memory(128);
    while (clock() < CLOCKS_PER_SEC / 2) {
    }
    ck_assert_int_eq(write(*(const int *)data, room, 1), 1);
}

/* In less time than there is between two looks, perhaps. */
static void take_memory_for_a_moment(const void *data)
{
    (void)data;
    free(take_memory(4));
}

/* No more than is allowed if nothing is given back: the address sanitizer keeps it for a while. */
static void take_little(const void *data)
{
    for (int k = 0; k < 30 && !data; k++) {
        free(take_memory(1));
    }
}

static void ignore(int signal_number)
{
    (void)signal_number;
}

START_TEST(attempts_survive_what_is_tried)
{
    static void (*const bad[])(const void *) = { abort_it, read_nothing, leave, go_on_for_ever,
                                                 take_memory_for_a_moment };
    sal_error err = { 0 };
    sigset_t clocks;
    ck_ok(sali_attempt("f", "bad", &usual_limits, end_well, "well", &err), &err);
    ck_ok(sali_attempt("f", "bad", &usual_limits, take_little, NULL, &err), &err);
    signal(SIGSEGV, ignore); /* the program's own handlers are not the child's */
    sigemptyset(&clocks);
    sigaddset(&clocks, SIGPROF);
    sigaddset(&clocks, SIGXCPU);
    sigprocmask(SIG_BLOCK, &clocks, NULL); /* nor is what it blocks */
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        ck_fails(sali_attempt("f", "bad", &tight_limits, bad[k], NULL, &err), SAL_ERR_DATA, &err,
                 "f: bad");
    }
    signal(SIGCHLD, SIG_IGN); /* nobody waits for children */
    ck_ok(sali_attempt("f", "bad", &usual_limits, end_well, "well", &err), &err);
    ck_fails(sali_attempt("f", "bad", &usual_limits, abort_it, NULL, &err), SAL_ERR_DATA, &err,
             "f: bad");
}
END_TEST

START_TEST(too_much_memory_ends_an_attempt_at_once)
{
    char byte;
    int ends[2];
    sal_error err = { 0 };
    ck_assert_int_eq(pipe(ends), 0);
    ck_fails(sali_attempt("f", "bad", &usual_limits, take_memory_and_time, &ends[1], &err),
             SAL_ERR_DATA, &err, "f: bad");
    close(ends[1]);
    ck_assert_int_eq(read(ends[0], &byte, 1), 0);
    close(ends[0]);
}
END_TEST

START_TEST(without_files_or_processes_the_reason_is_told)
{
    struct rlimit before, none;
    sal_error err = { 0 };
    getrlimit(RLIMIT_NOFILE, &before);
    none = before;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &none);
    sal_status status = sali_attempt("f", "bad", &usual_limits, end_well, "well", &err);
    setrlimit(RLIMIT_NOFILE, &before);
    ck_assert_int_eq(status, SAL_ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.message, "Too many open files"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io_netcdf_read");
    TCase *tcase = tcase_create("io_netcdf_read");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, draws_are_read_as_arrays);
    tcase_add_test(tcase, other_posteriors_are_read);
    tcase_add_test(tcase, files_without_draws_are_refused);
    tcase_add_test(tcase, large_variables_are_read_part_by_part);
    tcase_add_test(tcase, cut_files_are_refused);
    tcase_add_test(tcase, each_changed_bit_of_a_saved_run_is_seen);
    tcase_add_test(tcase, a_run_does_not_go_on_from_a_damaged_file);
    tcase_add_test(tcase, a_file_that_is_open_for_writing_is_locked);
    tcase_add_test(tcase, damaged_files_of_others_do_no_harm);
    tcase_add_test(tcase, files_that_ask_for_much_memory_are_refused);
    tcase_add_test(tcase, attempts_survive_what_is_tried);
    tcase_add_test(tcase, too_much_memory_ends_an_attempt_at_once);
    tcase_add_test(tcase, without_files_or_processes_the_reason_is_told);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
