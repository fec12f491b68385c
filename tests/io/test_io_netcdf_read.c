/* SPDX-License-Identifier: MIT */
/* Draws out of netCDF files, of this program and of others. */
#include "netcdf_helpers.h"

#include <fcntl.h>
#include <math.h>
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
#include "io/draws/run_record.h"

/* What a code of a variable of the model stands for. */
static double value_of(int64_t v, int32_t code)
{
    return v == 5 ? 2.0 * code - 1 : v == 6 || v == 7 ? three_levels[code] : code;
}

START_TEST(draws_are_read_as_arrays)
{
    int bytes;
    sal_error err = { 0 };
    sali_content content = { 0 };
    const sali_format *found = NULL;
    sal_model *model = make_model();
    sal_run *run = NULL;
    ck_ok(sal_sample(model, &usual, &run, &err), &err);
    ck_ok(sal_run_save(run, temp_path("b.nc"), NULL, &err), &err);
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
    ck_assert_ptr_nonnull(content.array.codes);
    for (int64_t k = 0; k < content.array.count; k++) {
        ck_assert_int_eq(content.array.codes[k], kept[k]);
        ck_assert_double_eq(content.array.values[k], value_of(k % V, kept[k]));
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

/* A posterior of y (chain, draw), its dimensions' labels, and `n` other variables. */
static const char *mixed_file(int n)
{
    static const int orders[][3] = { { 1, 0, 2 }, { 2, 0, 1 }, { 0, 2, 1 } };
    static const double values[6] = { 0 };
    const char *path = temp_path("m.nc");
    int file, group, d[3], v;
    ck_nc(nc_create(path, NC_NETCDF4 | NC_CLOBBER, &file));
    ck_nc(nc_def_grp(file, "posterior", &group));
    ck_nc(nc_def_dim(group, "chain", 2, &d[0]));
    ck_nc(nc_def_dim(group, "draw", 3, &d[1]));
    ck_nc(nc_def_dim(group, "s", 2, &d[2]));
    ck_nc(nc_def_var(group, "draw", NC_INT, 1, &d[1], &v));
    ck_nc(nc_def_var(group, "s", NC_DOUBLE, 1, &d[2], &v));
    ck_nc(nc_def_var(group, "text", NC_STRING, 1, &d[1], &v));
    for (int k = 0; k < n; k++) {
        char name[20];
        int turned[3];
        for (int i = 0; i < 3; i++) {
            turned[i] = d[orders[k % 3][i]];
        }
        snprintf(name, sizeof name, "x%d", k);
        ck_nc(nc_def_var(group, name, NC_DOUBLE, k == 3 ? 0 : 3, turned, &v));
    }
    ck_nc(nc_def_var(group, "y", NC_DOUBLE, 2, d, &v));
    ck_nc(nc_put_var_double(group, v, values));
    ck_nc(nc_close(file));
    return path;
}

START_TEST(variables_that_are_no_draws_are_named)
{
#define LEFT(name, dimensions)                               \
    "'" name "' is not read: its dimensions are " dimensions \
    " (those of draws begin with chain, draw)"
    static const struct {
        int n;
        const char *remark;
    } cases[] = {
        { 0, "" },
        { 1, LEFT("x0", "draw, chain, s") },
        { 6, LEFT("x0", "draw, chain, s") "; " LEFT("x1", "s, chain, draw") "; " LEFT(
                 "x2", "chain, s, draw") "; " LEFT("x3", "none") "; nor are 2 more variables" },
    };
#undef LEFT
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_error err = { 0 };
        sali_content content = { 0 };
        ck_ok(sali_content_read(mixed_file(cases[k].n), NULL, SALI_CONTENT_ARRAY, &content, NULL,
                                &err),
              &err);
        ck_assert_int_eq(content.array.shape[2], 1);
        ck_assert_str_eq(content.remark.text ? content.remark.text : "", cases[k].remark);
        ck_assert_int_eq(content.remark.warns, cases[k].n > 0);
        sali_content_free(&content);
    }
}
END_TEST

/* ---- packed numbers */

/* A posterior of one chain of four draws of x, in a type of the file, with attributes. */
typedef struct packed {
    nc_type type;
    double scale, offset; /* 0: no such attribute */
    const char *is_unsigned;
    bool fill, missing; /* -1 is the _FillValue; 3 and 4 are missing_value */
    double stored[4], values[4];
} packed;

static const char *packed_file(const packed *p)
{
    const char *path = temp_path("p.nc");
    static const double missing[] = { 3, 4 };
    const int fill = -1;
    int file, group, d[2], v;
    ck_nc(nc_create(path, NC_NETCDF4 | NC_CLOBBER, &file));
    ck_nc(nc_def_grp(file, "posterior", &group));
    ck_nc(nc_def_dim(group, "chain", 1, &d[0]));
    ck_nc(nc_def_dim(group, "draw", 4, &d[1]));
    ck_nc(nc_def_var(group, "x", p->type, 2, d, &v));
    if (p->fill) {
        ck_nc(nc_put_att_int(group, v, "_FillValue", p->type, 1, &fill));
    }
    if (p->scale != 0) {
        ck_nc(nc_put_att_double(group, v, "scale_factor", NC_DOUBLE, 1, &p->scale));
    }
    if (p->offset != 0) {
        ck_nc(nc_put_att_double(group, v, "add_offset", NC_FLOAT, 1, &p->offset));
    }
    if (p->missing) {
        ck_nc(nc_put_att_double(group, v, "missing_value", p->type, 2, missing));
    }
    if (p->is_unsigned) {
        ck_nc(nc_put_att_string(group, v, "_Unsigned", 1, (const char **)&p->is_unsigned));
    }
    ck_nc(nc_put_var_double(group, v, p->stored));
    ck_nc(nc_close(file));
    return path;
}

START_TEST(packed_numbers_are_unpacked)
{
    static const packed cases[] = {
        { .type = NC_BYTE, .stored = { -128, -1, 0, 127 }, .values = { -128, -1, 0, 127 } },
        { NC_BYTE, 2, -1, NULL, false, false, { 0, 1, 1, 0 }, { -1, 1, 1, -1 } },
        { NC_SHORT, 0.5, 10, NULL, true, true, { -2, 0, 1, 100 }, { 9, 10, 10.5, 60 } },
        { NC_INT, 0.25, 0, NULL, true, false, { -4, 4, 8, 3 }, { -1, 1, 2, 0.75 } },
        { NC_FLOAT, 0, 1, NULL, true, false, { -4, 4, 8, 0.5 }, { -3, 5, 9, 1.5 } },
        { NC_BYTE, 0, 0, "true", false, false, { -128, -1, 0, 127 }, { 128, 255, 0, 127 } },
        { NC_SHORT, 0.5, 1, "True", false, false, { -1, 0, 2, 1 }, { 32768.5, 1, 2, 1.5 } },
        { NC_UBYTE, 0, 0, "false", false, false, { 255, 128, 0, 127 }, { -1, -128, 0, 127 } },
        { NC_UBYTE, 0, 0, "true", false, false, { 255, 128, 0, 127 }, { 255, 128, 0, 127 } },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_error err = { 0 };
        sali_content content = { 0 };
        ck_ok(sali_content_read(packed_file(&cases[k]), NULL, SALI_CONTENT_ARRAY, &content, NULL,
                                &err),
              &err);
        ck_assert_ptr_null(content.array.codes);
        for (int i = 0; i < 4; i++) {
            ck_assert_double_eq(content.array.values[i], cases[k].values[i]);
        }
        sali_content_free(&content);
    }
}
END_TEST

/* ---- runs */

enum { MANY = 5000, LEVEL_BLOCKS = 4 };

/* Spins; levels a step apart, few and many; levels that are not. */
static const sal_block *level_blocks(void)
{
    static double few[50], many[MANY], squares[MANY];
    static const sal_block made[LEVEL_BLOCKS] = {
        { .name = "spin", .kind = SAL_SPIN, .count = 2 },
        { .name = "few", .kind = SAL_ORDINAL, .count = 2, .states = 50, .levels = few },
        { .name = "many", .kind = SAL_ORDINAL, .count = 1, .states = MANY, .levels = many },
        { .name = "squares", .kind = SAL_ORDINAL, .count = 1, .states = MANY, .levels = squares },
    };
    for (int k = 0; k < MANY; k++) {
        few[k % 50] = -1.5 + 4.5 * (k % 50) / 49;
        many[k] = 3 + 0.5 * k;
        squares[k] = k * k / 7.0;
    }
    return made;
}

/* Of the first four variables, which all models have. */
static double level_log_prob(const double *x, double *gradient, void *data)
{
    (void)gradient;
    (void)data;
    return 0.4 * x[0] * x[2] - x[3] * x[3] + 0.1 * x[1];
}

/* Of the first blocks. */
static sal_model *level_model(int n)
{
    sal_model *model = NULL;
    sal_error err = { 0 };
    sal_callback callback = { .f = level_log_prob };
    sal_space *space = sal_space_create();
    for (int b = 0; b < n; b++) {
        ck_ok(sal_space_add(space, &level_blocks()[b], &err), &err);
    }
    ck_ok(sal_model_from_callback(space, &callback, &model, &err), &err);
    sal_space_destroy(space);
    return model;
}

/* Sample into a file that can be resumed; the run. */
static sal_run *run_into(const char *path, sal_model *model, sal_run_options options)
{
    sal_run *run = NULL;
    sal_draw_writer *writer = NULL;
    sal_error err = { 0 };
    ck_ok(sal_draw_writer_open(path, model, &options, NULL, &writer, &err), &err);
    ck_ok(sal_sample(model, &options, &run, &err), &err);
    ck_ok(sal_draw_writer_close(writer, run, &err), &err);
    return run;
}

/* Codes and values of a file against the draws that the run kept. */
static void check_levels(const char *path, const sal_run *run)
{
    int bytes;
    sal_error err = { 0 };
    sali_content content = { 0 };
    sali_run_record record = { 0 };
    const void *kept = sal_run_draws(run, &bytes);
    ck_ok(sali_content_read(path, NULL, SALI_CONTENT_ARRAY, &content, NULL, &err), &err);
    ck_ok(sali_run_record_read(path, &record, &err), &err);
    ck_assert_ptr_nonnull(content.array.codes);
    for (int64_t k = 0; k < content.array.count; k++) {
        const int64_t v = k % content.array.shape[2];
        const sal_block *b = &level_blocks()[v < 2 ? 0 : v < 4 ? 1 : v - 2];
        const int32_t code = bytes == 1 ? ((const uint8_t *)kept)[k] : ((const int32_t *)kept)[k];
        const double value = v < 2 ? 2.0 * code - 1 : b->levels[code];
        ck_assert_int_eq(content.array.codes[k], code);
        ck_assert_double_eq(content.array.values[k], value);
        ck_assert_double_eq(record.draws.values[k], code);
        ck_assert_double_eq(record.levels[v][code], value);
    }
    sali_content_free(&content);
    sali_run_record_free(&record);
}

/* A run that goes on from a file to 70 draws has the bits of one that never stopped. */
static void check_resumed(const char *path, sal_model *model)
{
    int bytes;
    int64_t n[3];
    sal_error err = { 0 };
    sal_run *whole = NULL;
    sal_run_state *state = NULL;
    sal_run_options options = usual;
    options.draws = 70;
    ck_ok(sal_sample(model, &options, &whole, &err), &err);
    ck_ok(sal_run_state_open(path, &state, &err), &err);
    ck_ok(sal_run_state_options(state, &options, &err), &err);
    options.draws = 70;
    options.record.draws = true;
    sal_run *resumed = run_into(path, model, options);
    sal_run_size(whole, &n[0], &n[1], &n[2]);
    const void *draws = sal_run_draws(whole, &bytes);
    ck_assert_mem_eq(sal_run_draws(resumed, &bytes), draws, (size_t)(n[0] * n[1] * n[2] * bytes));
    check_levels(path, resumed);
    sal_run_state_destroy(state);
    sal_run_destroy(resumed);
    sal_run_destroy(whole);
}

START_TEST(runs_are_stored_by_value)
{
    static const char *const names[] = { "spin", "few", "many", "squares" };
    static const nc_type types[] = { NC_UBYTE, NC_UBYTE, NC_INT, NC_DOUBLE };
    const char *path = temp_path("v.nc");
    int file, group, v;
    size_t n;
    sal_model *model = level_model(LEVEL_BLOCKS);
    sal_run_options options = usual;
    options.draws = 40;
    sal_run *run = run_into(path, model, options);
    check_levels(path, run);
    ck_nc(nc_open(path, NC_NOWRITE, &file));
    ck_nc(nc_inq_grp_ncid(file, "posterior", &group));
    for (int k = 0; k < LEVEL_BLOCKS; k++) {
        nc_type type;
        double scale = 0;
        ck_nc(nc_inq_varid(group, names[k], &v));
        ck_nc(nc_inq_vartype(group, v, &type));
        ck_assert_int_eq(type, types[k]);
        ck_assert_int_eq(nc_get_att_double(group, v, "scale_factor", &scale),
                         k < 3 ? NC_NOERR : NC_ENOTATT);
        ck_assert_double_eq_tol(scale, k == 0 ? 2 : k == 1 ? 4.5 / 49 : k == 2 ? 0.5 : 0, 1e-15);
        ck_assert_int_eq(nc_inq_attlen(group, v, "levels", &n),
                         k % 2 ? NC_NOERR : NC_ENOTATT); /* few, or not a step apart */
    }
    ck_nc(nc_close(file));
    check_resumed(path, model);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* The file of a run without scales. */
static const char *unscaled_file(sal_model *model, sal_run **run)
{
    static const char *const packed_ones[] = { "spin", "few" };
    static const char *const attributes[] = { "scale_factor", "add_offset" };
    const char *path = temp_path("v.nc");
    int file, group, v;
    sal_run_options options = usual;
    options.draws = 40;
    *run = run_into(path, model, options);
    ck_nc(nc_open(path, NC_WRITE, &file));
    ck_nc(nc_inq_grp_ncid(file, "posterior", &group));
    for (int k = 0; k < 4; k++) {
        ck_nc(nc_inq_varid(group, packed_ones[k / 2], &v));
        ck_nc(nc_del_att(group, v, attributes[k % 2]));
    }
    ck_nc(nc_close(file));
    return path;
}

/* Files of earlier versions have codes, and no scale; they are sealed, or of version 0.1. */
START_TEST(runs_that_were_stored_by_code_are_read)
{
    sal_error err = { 0 };
    sal_run *run = NULL;
    sal_model *model = level_model(2);
    const char *path = unscaled_file(model, &run);
    if (_i == 0) {
        int fd = open(path, O_RDWR);
        ck_ok(sali_netcdf_seal(fd, path, &err), &err);
        close(fd);
    } else {
        int file;
        ck_nc(nc_open(path, NC_WRITE, &file));
        ck_nc(nc_put_att_text(file, NC_GLOBAL, "inference_library_version", 5, "0.1.0"));
        ck_nc(nc_close(file));
    }
    check_levels(path, run);
    check_resumed(path, model);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* A program that unpacks the values and writes them as whole numbers leaves the other attributes:
 * these are values, not codes. */
START_TEST(whole_numbers_of_other_programs_are_values)
{
    sal_error err = { 0 };
    sal_run *run = NULL;
    sali_content content = { 0 };
    sal_model *model = level_model(1);
    const char *path = temp_path("v.nc");
    int file, group, v;
    sal_run_options options = usual;
    options.draws = 2;
    run = run_into(path, model, options);
    ck_nc(nc_open(path, NC_WRITE, &file));
    ck_nc(nc_inq_grp_ncid(file, "posterior", &group));
    ck_nc(nc_inq_varid(group, "spin", &v));
    ck_nc(nc_del_att(group, v, "scale_factor"));
    ck_nc(nc_del_att(group, v, "add_offset"));
    unsigned char ones[1000];
    memset(ones, 1, sizeof ones);
    ck_nc(nc_put_var_uchar(group, v, ones));
    ck_nc(nc_close(file));
    ck_ok(sali_content_read(path, NULL, SALI_CONTENT_ARRAY, &content, NULL, &err), &err);
    ck_assert_int_le(content.array.count, 1000);
    for (int64_t i = 0; i < content.array.count; i++) {
        ck_assert_double_eq(content.array.values[i], 1);
        ck_assert_int_eq(content.array.codes[i], 1);
    }
    sali_content_free(&content);
    /* what is no level is a number all the same, not a code */
    memset(ones, 0, sizeof ones);
    ck_nc(nc_open(path, NC_WRITE, &file));
    ck_nc(nc_inq_grp_ncid(file, "posterior", &group));
    ck_nc(nc_put_var_uchar(group, v, ones));
    ck_nc(nc_close(file));
    ck_ok(sali_content_read(path, NULL, SALI_CONTENT_ARRAY, &content, NULL, &err), &err);
    ck_assert_double_eq(content.array.values[0], 0);
    ck_assert_ptr_null(content.array.codes);
    sali_content_free(&content);
    sal_run_destroy(run);
    sal_model_destroy(model);
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

START_TEST(missing_values_are_refused)
{
    static const packed cases[] = {
        { NC_BYTE, 2, 0, NULL, true, false, { 0, 0, -1, 0 }, { 0 } },
        { NC_BYTE, 2, 0, NULL, true, true, { 0, 0, 3, -1 }, { 0 } },
        { NC_BYTE, 2, 0, NULL, false, true, { -1, 0, 4, 3 }, { 0 } },
        { NC_BYTE, 0, 0, "true", true, false, { 0, 1, -1, 0 }, { 0 } },
        { NC_SHORT, 2, 0, NULL, false, false, { 0, 0, NC_FILL_SHORT, 0 }, { 0 } },
        { NC_DOUBLE, 0, 0, NULL, false, false, { 0, 0, NC_FILL_DOUBLE, 0 }, { 0 } },
        { NC_DOUBLE, 0, 0, NULL, false, false, { 0, 0, NAN, 0 }, { 0 } },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        check_refused(packed_file(&cases[k]), "'x' has no value in draw 2 of chain 0");
    }
    check_refused(packed_file(&(packed){ .type = NC_DOUBLE, .stored = { 0, INFINITY, 0, 0 } }),
                  "'x' has a number in draw 1 of chain 0 that is infinite");
    check_refused(packed_file(&(packed){ .type = NC_BYTE, .is_unsigned = "perhaps" }),
                  "the attribute _Unsigned of its variable 'x' is not \"true\" or \"false\"");
    check_refused(packed_file(&(packed){ .type = NC_BYTE, .scale = INFINITY }),
                  "the attribute scale_factor of its variable 'x' is not a finite number");
}
END_TEST

/* A file that another handle writes is locked, whatever is in it by now. */
START_TEST(files_that_are_being_written_are_locked)
{
    int file;
    sal_run_state *state = NULL;
    sal_error err = { 0 };
    sali_content content = { 0 };
    const char *path = packed_file(&(packed){ .type = NC_BYTE });
    ck_nc(nc_open(path, NC_WRITE, &file));
    ck_fails(sali_content_read(path, NULL, SALI_CONTENT_ARRAY, &content, NULL, &err), SAL_ERR_IO,
             &err, "p.nc: is locked: another program has it open for writing");
    ck_fails(sal_run_state_open(path, &state, &err), SAL_ERR_IO, &err, "is locked");
    ck_nc(nc_close(file));
    ck_ok(sali_content_read(path, NULL, SALI_CONTENT_ARRAY, &content, NULL, &err), &err);
    sali_content_free(&content);
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
    ck_ok(sal_run_save(run, temp_path("s.nc"), NULL, &err), &err);
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
    tcase_add_test(tcase, variables_that_are_no_draws_are_named);
    tcase_add_test(tcase, runs_are_stored_by_value);
    tcase_add_loop_test(tcase, runs_that_were_stored_by_code_are_read, 0, 2);
    tcase_add_test(tcase, whole_numbers_of_other_programs_are_values);
    tcase_add_test(tcase, packed_numbers_are_unpacked);
    tcase_add_test(tcase, missing_values_are_refused);
    tcase_add_test(tcase, files_that_are_being_written_are_locked);
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
