/* SPDX-License-Identifier: MIT */
/* Draws in netCDF, read back by libnetcdf itself. */
#define TEST_FORKS 1
#include "netcdf_helpers.h"

#include <math.h>

#include "alloc_fail.h"
#include "io/draws/draw_log.h"
#include "io/file.h"
#include "io/format.h"

#ifdef SALI_HAVE_NETCDF
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* What the blocks and their dimensions are called in the file. */
static const char *const variables[BLOCKS] = { "x", "x_site", "draw_2", "_-c", "wide", "n" };
static const char *const dimensions[BLOCKS] = { "x_site_2", "x_site_site", "draw_site",
                                                "_-c_site", "wide_site",   "n_site" };

/* What a run showed, and the writer that it was handed on to. */
typedef struct watcher {
    sal_draw_writer *writer;
    int (*add)(const sal_draw *draw, void *data);
    void *add_data;
    int64_t room, n, stop_at, kill_at; /* 0: never */
    double *figures[4];                /* [room x CHAINS] */
} watcher;

static int watch(const sal_draw *draw, void *data)
{
    watcher *w = data;
    const double *figures[4] = { draw->log_prob, draw->acceptance_rate, draw->jump,
                                 draw->step_size };
    int stop = w->add(draw, w->add_data);
    if (!draw->warmup) {
        for (int k = 0; k < 4 && w->n < w->room; k++) {
            memcpy(w->figures[k] + w->n * CHAINS, figures[k], CHAINS * sizeof(double));
        }
        w->n++;
    }
    if (w->kill_at && draw->index == w->kill_at) {
        raise(SIGKILL);
    }
    return stop || (w->stop_at && w->n >= w->stop_at);
}

/* Sample into a.nc; the run. */
static sal_run *run_into(sal_model *model, sal_run_options options, watcher *w)
{
    sal_run *run = NULL;
    sal_error err = { 0 };
    for (int k = 0; k < 4; k++) {
        w->figures[k] = calloc((size_t)(w->room * CHAINS + 1), sizeof(double));
    }
    ck_ok(sal_draw_writer_open(temp_path("a.nc"), model, &options, NULL, &w->writer, &err), &err);
    w->add = options.callbacks.draw;
    w->add_data = options.callbacks.draw_data;
    options.callbacks.draw = watch;
    options.callbacks.draw_data = w;
    ck_ok(sal_sample(model, &options, &run, &err), &err);
    return run;
}

static void watcher_free(watcher *w)
{
    for (int k = 0; k < 4; k++) {
        free(w->figures[k]);
    }
}

static int open_group(const char *path, const char *name, int *file)
{
    int group;
    ck_nc(nc_open(path, NC_NOWRITE, file));
    ck_nc(nc_inq_grp_ncid(*file, name, &group));
    return group;
}

static void check_text(int group, int variable, const char *name, const char *want)
{
    char text[4096] = "";
    size_t length;
    ck_nc(nc_inq_attlen(group, variable, name, &length));
    ck_assert_uint_lt(length, sizeof text);
    ck_nc(nc_get_att_text(group, variable, name, text));
    if (want) {
        ck_assert_str_eq(text, want);
    } else {
        ck_assert_uint_gt(length, 0);
    }
}

static size_t length_of(int group, const char *name)
{
    int dimension;
    size_t length;
    ck_nc(nc_inq_dimid(group, name, &dimension));
    ck_nc(nc_inq_dimlen(group, dimension, &length));
    return length;
}

/* A coordinate 0, 1, 2, .. of the type int64. */
static void check_coordinate(int group, const char *name, int64_t n)
{
    int variable, dimension, over;
    nc_type type;
    long long *values = malloc((size_t)(n + 1) * sizeof *values);
    ck_assert_uint_eq(length_of(group, name), (size_t)n);
    ck_nc(nc_inq_varid(group, name, &variable));
    ck_nc(nc_inq_dimid(group, name, &dimension));
    ck_nc(nc_inq_vartype(group, variable, &type));
    ck_nc(nc_inq_vardimid(group, variable, &over));
    ck_assert_int_eq(type, NC_INT64);
    ck_assert_int_eq(over, dimension);
    ck_nc(nc_get_var_longlong(group, variable, values));
    for (int64_t k = 0; k < n; k++) {
        ck_assert_int_eq(values[k], k);
    }
    free(values);
}

/* A variable over named dimensions, compressed at level 4, without _FillValue. */
static int check_variable(int group, const char *name, nc_type want, int n, const char *const *over)
{
    int variable, found, shuffle, deflate, level, ids[3];
    nc_type type;
    ck_nc(nc_inq_varid(group, name, &variable));
    ck_nc(nc_inq_var(group, variable, NULL, &type, &found, ids, NULL));
    ck_assert_int_eq(type, want);
    ck_assert_int_eq(found, n);
    for (int k = 0; k < n; k++) {
        char text[NC_MAX_NAME + 1];
        ck_nc(nc_inq_dimname(group, ids[k], text));
        ck_assert_str_eq(text, over[k]);
    }
    ck_nc(nc_inq_var_deflate(group, variable, &shuffle, &deflate, &level));
    ck_assert(deflate && level == 4);
    ck_assert_int_eq(nc_inq_attid(group, variable, "_FillValue", &found), NC_ENOTATT);
    return variable;
}

/* Spins are packed, bits and labels are codes, levels that are not equally spaced are values. */
static void check_packing(int group, int variable, int b)
{
    int there;
    double scale = 0, offset = 0;
    if (blocks[b].kind != SAL_SPIN) {
        ck_assert_int_eq(nc_inq_attid(group, variable, "scale_factor", &there), NC_ENOTATT);
        ck_assert_int_eq(nc_inq_attid(group, variable, "add_offset", &there), NC_ENOTATT);
        return;
    }
    ck_nc(nc_get_att_double(group, variable, "scale_factor", &scale));
    ck_nc(nc_get_att_double(group, variable, "add_offset", &offset));
    ck_assert(scale == 2 && offset == -1);
}

/* The posterior of an open group against what the run kept. */
static void check_codes(int group, const sal_run *run)
{
    int bytes;
    int64_t chains, draws, all, first = 0;
    sal_run_size(run, &chains, &draws, &all);
    const int32_t *kept = sal_run_draws(run, &bytes);
    ck_assert_int_eq(bytes, 4);
    for (int b = 0; b < BLOCKS; first += blocks[b++].count) {
        const char *over[] = { "chain", "draw", dimensions[b] };
        int64_t n = blocks[b].count;
        const nc_type type = blocks[b].levels ? NC_DOUBLE : b < 4 ? NC_UBYTE : NC_INT;
        int variable = check_variable(group, variables[b], type, 3, over);
        double *stored = malloc((size_t)(chains * draws * n) * sizeof *stored);
        check_packing(group, variable, b);
        ck_nc(nc_get_var_double(group, variable, stored));
        for (int64_t k = 0; k < chains * draws * n; k++) {
            const int32_t code = kept[k / n * V + first + k % n];
            ck_assert_double_eq(stored[k], blocks[b].levels ? blocks[b].levels[code] : code);
        }
        check_coordinate(group, dimensions[b], n);
        free(stored);
    }
}

static void check_stats(int group, const watcher *w)
{
    static const char *const names[] = { "lp", "acceptance_rate", "jump", "step_size" };
    const char *over[] = { "chain", "draw" };
    double *values = malloc((size_t)(w->n * CHAINS) * sizeof *values);
    for (int k = 0; k < 4; k++) {
        int variable = check_variable(group, names[k], NC_DOUBLE, 2, over);
        ck_nc(nc_get_var_double(group, variable, values));
        for (int64_t c = 0; c < CHAINS; c++) {
            for (int64_t d = 0; d < w->n; d++) {
                double want = w->figures[k][d * CHAINS + c], got = values[c * w->n + d];
                ck_assert(got == want || (isnan(got) && isnan(want)));
            }
        }
    }
    free(values);
}

static void check_attributes(int group)
{
    static const char *const names[] = {
        "created_at",
        "creation_library_version",
        "inference_library_version",
        "arviz_version",
        "sampler",
        "configuration",
        "creation_library",
        "inference_library",
    };
    unsigned long long seed;
    double time;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        check_text(group, NC_GLOBAL, names[k], k < 6 ? NULL : "saltus");
    }
    check_text(group, NC_GLOBAL, "creation_library_language", "C");
    check_text(group, NC_GLOBAL, "sampler", "mh-uniform");
    ck_nc(nc_get_att_ulonglong(group, NC_GLOBAL, "seed", &seed));
    ck_assert_uint_eq(seed, 7);
    ck_nc(nc_get_att_double(group, NC_GLOBAL, "sampling_time", &time));
}

static void check_sample_dims(int group)
{
    char *texts[2];
    size_t n;
    ck_nc(nc_inq_attlen(group, NC_GLOBAL, "sample_dims", &n));
    ck_assert_uint_eq(n, 2);
    ck_nc(nc_get_att_string(group, NC_GLOBAL, "sample_dims", texts));
    ck_assert_str_eq(texts[0], "chain");
    ck_assert_str_eq(texts[1], "draw");
    nc_free_string(2, texts);
}

/* 2500 draws are two full windows of 1024 and a part of one. */
START_TEST(file_has_arviz_layout_and_the_run)
{
    int file, group;
    sal_error err = { 0 };
    sal_model *model = make_model();
    watcher w = { .room = 2500 };
    sal_run *run = run_into(model, usual, &w);
    ck_assert_int_eq(temp_count(), 1); /* a.nc.draws */
    ck_ok(sal_draw_writer_close(w.writer, run, &err), &err);
    ck_assert_int_eq(temp_count(), 1);
    group = open_group(temp_path("a.nc"), "posterior", &file);
    check_coordinate(group, "chain", CHAINS);
    check_coordinate(group, "draw", 2500);
    check_codes(group, run);
    check_attributes(group);
    check_sample_dims(group);
    ck_nc(nc_inq_grp_ncid(file, "sample_stats", &group));
    check_coordinate(group, "chain", CHAINS);
    check_coordinate(group, "draw", 2500);
    check_stats(group, &w);
    check_attributes(group);
    check_sample_dims(group);
    check_attributes(file);
    ck_assert_int_ne(nc_inq_grp_ncid(file, "warmup_posterior", &group), NC_NOERR);
    ck_assert_int_ne(nc_inq_grp_ncid(file, "observed_data", &group), NC_NOERR);
    nc_close(file);
    watcher_free(&w);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

START_TEST(warm_up_and_clamped_variables_have_groups)
{
    static const int64_t clamped[] = { 8, 4, 0 };
    static const int32_t codes[] = { 200, 1, 0 };
    int file, group, variable, got[3];
    long long sites[2];
    sal_error err = { 0 };
    sal_model *model = make_model();
    watcher w = { 0 };
    sal_run_options options = usual;
    options.clamps.n = 3;
    options.clamps.variables = clamped;
    options.clamps.codes = codes;
    options.record.warmup = true;
    options.thin = 3;
    options.draws = 30;
    sal_run *run = run_into(model, options, &w);
    ck_ok(sal_draw_writer_close(w.writer, run, &err), &err);
    group = open_group(temp_path("a.nc"), "posterior", &file);
    check_coordinate(group, "draw", 30);
    check_codes(group, run);
    ck_nc(nc_inq_grp_ncid(file, "warmup_posterior", &group));
    check_coordinate(group, "draw", 16); /* 50 steps, every third */
    check_coordinate(group, "x_site_2", 5);
    ck_nc(nc_inq_grp_ncid(file, "warmup_sample_stats", &group));
    check_coordinate(group, "draw", 16);
    ck_nc(nc_inq_grp_ncid(file, "observed_data", &group));
    ck_assert_uint_eq(length_of(group, "x_site_2"), 2);
    ck_nc(nc_inq_varid(group, "x", &variable));
    ck_nc(nc_get_var_int(group, variable, got));
    ck_assert(got[0] == 0 && got[1] == 1);
    ck_nc(nc_inq_varid(group, "x_site_2", &variable));
    ck_nc(nc_get_var_longlong(group, variable, sites));
    ck_assert(sites[0] == 0 && sites[1] == 4);
    ck_nc(nc_inq_varid(group, "_-c", &variable));
    ck_nc(nc_get_var_int(group, variable, got));
    ck_assert_int_eq(got[0], 200);
    ck_assert_int_ne(nc_inq_varid(group, "wide", &variable), NC_NOERR);
    check_attributes(group);
    nc_close(file);
    watcher_free(&w);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

START_TEST(names_of_variables_are_coordinates)
{
    static const char bif[] =
        "<BIF VERSION=\"0.3\"><NETWORK>"
        "<VARIABLE><NAME>rain</NAME><OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME></VARIABLE>"
        "<VARIABLE><NAME>wet grass</NAME><OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME></VARIABLE>"
        "<DEFINITION><FOR>rain</FOR><TABLE>0.8 0.2</TABLE></DEFINITION>"
        "<DEFINITION><FOR>wet grass</FOR><GIVEN>rain</GIVEN><TABLE>0.9 0.1 0.2 0.8</TABLE>"
        "</DEFINITION></NETWORK></BIF>";
    int file, variable;
    char *texts[2];
    sal_error err = { 0 };
    sal_model *model = NULL;
    sal_run *run = NULL;
    sal_run_options options = { .draws = 10, .chains = CHAINS };
    watcher w = { 0 };
    ck_ok(sal_model_open(temp_write("n.xmlbif", bif, sizeof bif - 1), 0, &model, &err), &err);
    run = run_into(model, options, &w);
    ck_ok(sal_draw_writer_close(w.writer, run, &err), &err);
    int group = open_group(temp_path("a.nc"), "posterior", &file);
    char name[256];
    snprintf(name, sizeof name, "%s_site", sal_space_block(sal_model_space(model), 0)->name);
    ck_nc(nc_inq_varid(group, name, &variable));
    ck_nc(nc_get_var_string(group, variable, texts));
    ck_assert_str_eq(texts[0], "rain");
    ck_assert_str_eq(texts[1], "wet grass");
    nc_free_string(2, texts);
    nc_close(file);
    watcher_free(&w);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* A model's name has its file's path, which may be of any bytes. */
START_TEST(a_name_in_latin_1_is_readable)
{
    static const char in_file[] = "caf\xef\xbf\xbd.uai";
    static char configuration[4096];
    int file;
    size_t length;
    sal_error err = { 0 };
    sal_model *model = make_model();
    ck_ok(sal_model_set_name(model, "caf\xe9.uai", &err), &err);
    watcher w = { .room = 20 };
    sal_run *run = run_into(
        model, (sal_run_options){ .sampler = "mh-uniform", .chains = CHAINS, .draws = 20 }, &w);
    ck_ok(sal_draw_writer_close(w.writer, run, &err), &err);
    open_group(temp_path("a.nc"), "posterior", &file);
    check_text(file, NC_GLOBAL, "model", in_file);
    ck_nc(nc_inq_attlen(file, NC_GLOBAL, "configuration", &length));
    ck_assert_uint_lt(length, sizeof configuration);
    ck_nc(nc_get_att_text(file, NC_GLOBAL, "configuration", configuration));
    ck_assert_ptr_nonnull(strstr(configuration, "\"model\":\"caf\xef\xbf\xbd.uai\""));
    nc_close(file);
    watcher_free(&w);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* ---- runs that end early */

/* How many draws a.nc.draws has. */
static int64_t log_draws(void)
{
    sali_draw_log *log = NULL;
    sal_error err = { 0 };
    ck_ok(sali_draw_log_open(temp_path("a.nc"), false, &log, &err), &err);
    int64_t made = log->made[0];
    sali_draw_log_close(log);
    return made;
}

START_TEST(a_stopped_run_leaves_its_draws)
{
    int file;
    sal_error err = { 0 };
    sal_model *model = make_model();
    watcher w = { .stop_at = 300 };
    sal_run *run = run_into(model, usual, &w);
    ck_ok(sal_draw_writer_close(w.writer, run, &err), &err);
    check_coordinate(open_group(temp_path("a.nc"), "sample_stats", &file), "draw", 300);
    nc_close(file);
    /* an older file gives way; a failed run leaves what there is beside it */
    sal_run_destroy(run);
    watcher_free(&w);
    w = (watcher){ .stop_at = 200 };
    run = run_into(model, usual, &w);
    ck_ok(sal_draw_writer_close(w.writer, NULL, &err), &err);
    check_coordinate(open_group(temp_path("a.nc"), "posterior", &file), "draw", 300);
    nc_close(file);
    ck_assert_int_eq(log_draws(), 200);
    watcher_free(&w);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

START_TEST(without_a_draw_there_is_no_file)
{
    sal_error err = { 0 };
    sal_run *run = NULL;
    sal_draw_writer *writer = NULL;
    sal_model *model = make_model();
    sal_run_options options = usual;
    ck_ok(sal_draw_writer_open(temp_path("a.nc"), model, &options, NULL, &writer, &err), &err);
    ck_ok(sal_sample(model, &usual, &run, &err), &err); /* which shows it nothing */
    ck_fails(sal_draw_writer_close(writer, run, &err), SAL_ERR_ARGUMENT, &err,
             "stopped before its first draw");
    ck_assert_int_eq(temp_count(), 0);
    ck_ok(sal_draw_writer_open(temp_path("a.nc"), model, &options, NULL, &writer, &err), &err);
    ck_ok(sal_draw_writer_close(writer, NULL, &err), &err);
    ck_assert_int_eq(temp_count(), 0);
    ck_ok(sal_draw_writer_close(NULL, run, &err), &err);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* Two bits that may be neither equal nor different: no state is allowed. */
static sal_model *make_contradiction(void)
{
    static const int32_t states[] = { 2, 2 };
    static const int64_t begin[] = { 0, 2 }, scope[] = { 0, 1 };
    const double table[] = { -INFINITY, -INFINITY, -INFINITY, -INFINITY };
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_from_factors(2, states, 1, begin, scope, table, SAL_F64, &model, &err), &err);
    return model;
}

static int stop_at_once(int64_t done, int64_t total, void *data)
{
    (void)done, (void)total, (void)data;
    return 1;
}

START_TEST(a_run_without_starts_leaves_the_file_that_was_there)
{
    sal_error err = { 0 };
    sal_model *model = make_model(), *impossible = make_contradiction();
    sali_bytes before = { 0 }, after = { 0 };
    watcher w = { 0 };
    sal_run *run = run_into(model, usual, &w);
    ck_ok(sal_draw_writer_close(w.writer, run, &err), &err);
    ck_ok(sali_file_read(temp_path("a.nc"), &before, &err), &err);
    sal_run_destroy(run);
    watcher_free(&w);
    w = (watcher){ 0 };
    run = run_into(impossible,
                   (sal_run_options){ .draws = 10, .callbacks = { .progress = stop_at_once } }, &w);
    ck_fails(sal_draw_writer_close(w.writer, run, &err), SAL_ERR_ARGUMENT, &err,
             "a.nc: the run was stopped before its first draw: no file is written");
    ck_ok(sali_file_read(temp_path("a.nc"), &after, &err), &err);
    ck_assert_int_eq(after.size, before.size);
    ck_assert_mem_eq(after.data, before.data, (size_t)before.size);
    ck_assert_int_eq(temp_count(), 1); /* no draws, no temporary */
    sali_bytes_free(&before);
    sali_bytes_free(&after);
    watcher_free(&w);
    sal_run_destroy(run);
    sal_model_destroy(model);
    sal_model_destroy(impossible);
}
END_TEST

/* A process killed at any draw leaves at least the windows that were full. */
START_TEST(a_killed_run_leaves_full_windows)
{
    static const int64_t at[] = { 1023, 1024, 3500, 9000 };
    sal_model *model = make_model();
    for (int k = 0; k < 4; k++) {
        int status;
        sal_draw_writer *writer = NULL;
        sal_error err = { 0 };
        pid_t child = fork();
        if (child == 0) {
            watcher w = { .kill_at = at[k] };
            sal_run_options options = usual;
            options.draws = 10000;
            run_into(model, options, &w);
            _exit(0);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        int64_t n = log_draws();
        ck_assert_int_ge(n, (at[k] + 1) / 1024 * 1024);
        /* which another run does not overwrite */
        sal_run_options options = usual;
        ck_fails(sal_draw_writer_open(temp_path("a.nc"), model, &options, NULL, &writer, &err),
                 SAL_ERR_IO, &err, "holds the draws of a run that ended early");
        ck_assert_int_eq(log_draws(), n);
        ck_assert_int_eq(unlink(temp_path("a.nc.draws")), 0);
    }
    sal_model_destroy(model);
}
END_TEST

static void limit_files(rlim_t bytes, struct rlimit *before)
{
    getrlimit(RLIMIT_FSIZE, before);
    struct rlimit limit = { bytes, before->rlim_max };
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* The process lives on, the reason is told, and what was written can be read. */
START_TEST(a_full_disk_is_an_error_and_loses_nothing)
{
    sal_error err = { 0 };
    sal_model *model = make_model();
    struct rlimit before;
    watcher w = { .room = 1 };
    sal_run_options options = usual;
    options.draws = 200000;
    options.record.draws = false;
    limit_files(1200000, &before);
    sal_run *run = run_into(model, options, &w);
    sal_status status = sal_draw_writer_close(w.writer, run, &err);
    setrlimit(RLIMIT_FSIZE, &before);
    ck_assert_int_eq(status, SAL_ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.message, "a.nc.draws: cannot be written: File too large"));
    ck_assert_int_lt(w.n, 200000);
    ck_assert_int_eq(temp_count(), 1);
    ck_assert_int_ge(log_draws(), 1024);
    watcher_free(&w);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* The draws fit, but what is written of them at the end does not: they stay where they are. */
START_TEST(a_disk_that_is_full_at_the_end_loses_nothing)
{
    sal_error err = { 0 };
    sal_model *model = make_model();
    struct rlimit before;
    watcher w = { .room = 1 };
    sal_run_options options = usual;
    options.draws = 1500;
    sal_run *run = run_into(model, options, &w);
    limit_files(700000, &before);
    sal_status status = sal_draw_writer_close(w.writer, run, &err);
    setrlimit(RLIMIT_FSIZE, &before);
    ck_assert_int_eq(status, SAL_ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.message, "a.nc.tmp: cannot be written: File too large"));
    ck_assert_int_eq(temp_count(), 1);
    ck_assert_int_eq(log_draws(), 1500);
    sal_run_destroy(run);
    watcher_free(&w);
    sal_run_state *state = NULL;
    ck_ok(sal_run_state_open(temp_path("a.nc"), &state, &err), &err);
    ck_ok(sal_run_state_options(state, &options, &err), &err);
    w = (watcher){ .room = 1 };
    run = run_into(model, options, &w);
    ck_ok(sal_draw_writer_close(w.writer, run, &err), &err);
    ck_assert_int_eq(temp_count(), 1);
    sal_run_state_destroy(state);
    watcher_free(&w);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* Of sites of sequences the file says what letters the codes are. */
START_TEST(letters_of_sites_are_an_attribute)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    sal_run *run = NULL;
    char text[300];
    int file, variable;
    snprintf(text, sizeof text, "potts-alignment:alphabet=-BA,file=%s",
             temp_write("a.aln", "AB-\nBBA\n", 8));
    ck_ok(sal_model_open(text, 0, &model, &err), &err);
    sal_run_options options = { .chains = 1, .draws = 2, .record = { .draws = true } };
    ck_ok(sal_sample(model, &options, &run, &err), &err);
    ck_ok(sal_run_save(run, temp_path("a.nc"), NULL, &err), &err);
    const int group = open_group(temp_path("a.nc"), "posterior", &file);
    ck_nc(nc_inq_varid(group, "site", &variable));
    check_text(group, variable, "letters", "-BA");
    ck_nc(nc_close(file));
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* Before each window of draws room is looked for. */
START_TEST(a_disk_that_fills_up_leaves_the_file_before)
{
    sal_error err = { 0 };
    sal_model *model = make_model();
    struct rlimit before;
    sal_run *run = NULL;
    sal_run_options options = usual;
    options.draws = 300000;
    ck_ok(sal_sample(model, &options, &run, &err), &err);
    limit_files(2000000, &before);
    ck_fails(sal_run_save(run, temp_path("a.nc"), NULL, &err), SAL_ERR_IO, &err,
             "cannot be written: File too large");
    setrlimit(RLIMIT_FSIZE, &before);
    ck_assert_int_eq(temp_count(), 0);
    ck_ok(sal_run_save(run, temp_path("a.nc"), NULL, &err), &err);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

START_TEST(what_cannot_be_opened_is_refused)
{
    sal_error err = { 0 };
    sal_draw_writer *mark = (sal_draw_writer *)&mark, *writer = mark;
    sal_model *model = make_model();
    sal_run_options good = usual;
    ck_fails(sal_draw_writer_open(temp_path("a.npy"), model, &good, NULL, &writer, &err),
             SAL_ERR_UNSUPPORTED, &err, "NAME.nc");
    ck_fails(sal_draw_writer_open(NULL, model, &good, NULL, &writer, &err), SAL_ERR_UNSUPPORTED,
             &err, "no path");
    ck_fails(sal_draw_writer_open(temp_path("no/a.nc"), model, &good, NULL, &writer, &err),
             SAL_ERR_IO, &err, "cannot be created");
    sal_run_options options = { .chains = -1 };
    ck_fails(sal_draw_writer_open(temp_path("a.nc"), model, &options, NULL, &writer, &err),
             SAL_ERR_ARGUMENT, &err, "chains -1");
    ck_assert_ptr_eq(writer, mark);
    ck_assert_int_eq(temp_count(), 0);
    sal_model_destroy(model);
}
END_TEST

START_TEST(draws_out_of_order_are_refused)
{
    sal_model *model = make_model();
    int32_t codes[CHAINS * V] = { 0 };
    double zero[CHAINS] = { 0 };
    const sal_draw good = { .chains = CHAINS,
                            .variables = V,
                            .codes = codes,
                            .log_prob = zero,
                            .jump = zero,
                            .acceptance_rate = zero,
                            .step_size = zero };
    for (int k = 0; k < 5; k++) {
        sal_error err = { 0 };
        sal_draw_writer *writer = NULL;
        sal_draw bad = good;
        sal_run_options options = usual;
        bad.index = k == 0 ? 0 : k == 1 ? 2 : 1;
        bad.chains += k == 2;
        bad.variables += k == 3;
        bad.warmup = k == 4;
        ck_ok(sal_draw_writer_open(temp_path("a.nc"), model, &options, NULL, &writer, &err), &err);
        ck_assert_int_eq(options.callbacks.draw(&good, options.callbacks.draw_data), 0);
        ck_assert_int_eq(options.callbacks.draw(&bad, options.callbacks.draw_data), 1);
        ck_fails(sal_draw_writer_close(writer, NULL, &err), SAL_ERR_ARGUMENT, &err,
                 "is not the next one");
    }
    sal_model_destroy(model);
}
END_TEST

/* ---- memory */

static long resident(sal_model *model, int64_t draws)
{
    int status, ends[2];
    long kilobytes = 0;
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        struct rusage usage;
        sal_error err = { 0 };
        sal_draw_writer *writer = NULL;
        sal_run *run = NULL;
        sal_run_options options = {
            .sampler = "gibbs", .chains = 4, .draws = draws, .warmup = -1, .threads = 1
        };
        bool ok =
            sal_draw_writer_open(temp_path("m.nc"), model, &options, NULL, &writer, &err) == SAL_OK;
        ok = ok && sal_sample(model, &options, &run, &err) == SAL_OK;
        ok = ok && sal_draw_writer_close(writer, run, &err) == SAL_OK;
        getrusage(RUSAGE_SELF, &usage);
        long peak = ok ? usage.ru_maxrss : -1;
        _exit(write(ends[1], &peak, sizeof peak) != sizeof peak);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(read(ends[0], &kilobytes, sizeof kilobytes), sizeof kilobytes);
    close(ends[0]);
    close(ends[1]);
    ck_assert_int_gt(kilobytes, 0);
    return kilobytes;
}

/* 4 chains of 1024 variables: 4 KiB a draw, 55 MB for the 13500 by which the runs differ. Of a draw
 * a run keeps 64 bytes itself; libhdf5 has caches that fill up to about 12 MB. */
START_TEST(memory_does_not_grow_with_draws)
{
    sal_model *model = NULL;
    sal_error err = { 0 };
    if (TEST_SANITIZED) {
        test_skipped("a sanitizer keeps memory that is free");
        return;
    }
    ck_ok(sal_model_open("ising:side=32", 0, &model, &err), &err);
    long few = resident(model, 1500), many = resident(model, 15000);
    ck_assert_msg(many - few < 20000, "%ld and %ld KiB", few, many);
    sal_model_destroy(model);
}
END_TEST

/* ---- memory that is not there */

static sal_status save_once(const sal_run *run)
{
    return sal_run_save(run, temp_path("s.nc"), NULL, NULL);
}

static sal_status read_once(const char *path)
{
    sali_content content = { 0 };
    sal_status status = sali_content_read(path, NULL, SALI_CONTENT_ARRAY, &content, NULL, NULL);
    sali_content_free(&content);
    return status;
}

START_TEST(failing_allocations_are_survived)
{
    sal_error err = { 0 };
    sal_model *model = make_model();
    sal_run *run = NULL;
    sal_run_options options = usual;
    options.draws = 3;
    ck_ok(sal_sample(model, &options, &run, &err), &err);
    ck_alloc_sweep(save_once(run), (void)0);
    char path[512];
    snprintf(path, sizeof path, "%s", temp_path("s.nc"));
    ck_alloc_sweep(read_once(path), (void)0);
    ck_assert_int_eq(temp_count(), 1);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

static void add_tests(TCase *tc)
{
    tcase_add_test(tc, file_has_arviz_layout_and_the_run);
    tcase_add_test(tc, warm_up_and_clamped_variables_have_groups);
    tcase_add_test(tc, names_of_variables_are_coordinates);
    tcase_add_test(tc, a_name_in_latin_1_is_readable);
    tcase_add_test(tc, a_stopped_run_leaves_its_draws);
    tcase_add_test(tc, without_a_draw_there_is_no_file);
    tcase_add_test(tc, a_run_without_starts_leaves_the_file_that_was_there);
    tcase_add_test(tc, a_killed_run_leaves_full_windows);
    tcase_add_test(tc, a_full_disk_is_an_error_and_loses_nothing);
    tcase_add_test(tc, a_disk_that_is_full_at_the_end_loses_nothing);
    tcase_add_test(tc, a_disk_that_fills_up_leaves_the_file_before);
    tcase_add_test(tc, what_cannot_be_opened_is_refused);
    tcase_add_test(tc, draws_out_of_order_are_refused);
    tcase_add_test(tc, letters_of_sites_are_an_attribute);
    tcase_add_test(tc, memory_does_not_grow_with_draws);
    tcase_add_test(tc, failing_allocations_are_survived);
}

#else
START_TEST(netcdf_is_unsupported_without_libnetcdf)
{
    sal_error err = { 0 };
    sali_content content = { 0 };
    sal_draw_writer *writer = NULL;
    sal_run *run = NULL;
    sal_model *model = make_model();
    sal_run_options options = { .draws = 3, .record.draws = true, .sampler = "mh-uniform" };
    ck_fails(sal_draw_writer_open(temp_path("a.nc"), model, &options, NULL, &writer, &err),
             SAL_ERR_UNSUPPORTED, &err, "built without libnetcdf");
    ck_ok(sal_sample(model, &options, &run, &err), &err);
    ck_fails(sal_run_save(run, temp_path("a.nc"), NULL, &err), SAL_ERR_UNSUPPORTED, &err,
             "built without libnetcdf");
    ck_assert_int_eq(temp_count(), 0);
    ck_fails(sali_content_read(temp_write("x.nc", "x", 1), NULL, SALI_CONTENT_ARRAY, &content, NULL,
                               &err),
             SAL_ERR_UNSUPPORTED, &err, "built without libnetcdf");
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

START_TEST(netcdf_files_are_right)
{
    test_skipped("built without libnetcdf");
}
END_TEST

static void add_tests(TCase *tc)
{
    tcase_add_test(tc, netcdf_is_unsupported_without_libnetcdf);
    tcase_add_test(tc, netcdf_files_are_right);
}
#endif

int main(void)
{
    Suite *suite = suite_create("io_netcdf");
    TCase *tc = tcase_create("io_netcdf");
    tcase_add_checked_fixture(tc, temp_dir_make, temp_dir_remove);
    add_tests(tc);
    suite_add_tcase(suite, tc);
    return test_main(suite);
}
