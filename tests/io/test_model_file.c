/* SPDX-License-Identifier: MIT */
/* Opening models by path or name, their parameters in safetensors, and evidence. */
#include "temp_dir.h"
#include "npy_file.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>

#include <saltus/io.h>
#include <saltus/sample.h>

#include "alloc_fail.h"
#include "io/config.h"
#include "io/file.h"
#include "io/arrays/safetensors.h"
#include "model_equal.h"

static sal_model *open_model(const char *spec)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    ck_ok(sal_model_open(spec, 0, &model, &err), &err);
    return model;
}

static int64_t file_size(const char *name)
{
    struct stat info;
    ck_assert_int_eq(stat(temp_path(name), &info), 0);
    return (int64_t)info.st_size;
}

static const char *write_text(const char *name, const char *text)
{
    return temp_write(name, text, strlen(text));
}

/* ---- which reader */

START_TEST(name_opens_a_builtin)
{
    sal_model *model = open_model("ising:side=4,theta=0.25");
    ck_assert_str_eq(sal_model_name(model), "ising:side=4,theta=0.25");
    ck_assert_int_eq(sal_space_variables(sal_model_space(model)), 16);
    sal_model_destroy(model);
}
END_TEST

START_TEST(what_cannot_be_opened_is_named)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    const char *other = write_text("a.bin", "x");
    char cwd[512];
    ck_fails(sal_model_open("isng", 0, &model, &err), SAL_ERR_NOT_FOUND, &err,
             "there is no model or file 'isng'");
    ck_fails(sal_model_open("", 0, &model, &err), SAL_ERR_NOT_FOUND, &err, "''");
    ck_fails(sal_model_open("ising:side=x", 0, &model, &err), SAL_ERR_ARGUMENT, &err, "side=x");
    ck_fails(sal_model_open("no.uai", 0, &model, &err), SAL_ERR_NOT_FOUND, &err, "no.uai");
    ck_fails(sal_model_open("no.xml", 0, &model, &err), SAL_ERR_NOT_FOUND, &err, "no.xml");
    ck_fails(sal_model_open("no/rbm", 0, &model, &err), SAL_ERR_NOT_FOUND, &err, "no/rbm");
    ck_fails(sal_model_open(other, 0, &model, &err), SAL_ERR_ARGUMENT, &err, "expected one of");
    ck_fails(sal_model_open(temp_dir, 0, &model, &err), SAL_ERR_NOT_FOUND, &err, temp_dir);
    ck_fails(sal_model_open(NULL, 0, &model, &err), SAL_ERR_ARGUMENT, &err, "expected");
    ck_fails(sal_model_open("rbm", (sal_dtype)7, &model, &err), SAL_ERR_ARGUMENT, &err, "dtype");
    /* Builtins are found whatever directories there are; a file comes before one. */
    ck_assert_ptr_nonnull(getcwd(cwd, sizeof cwd));
    ck_assert_int_eq(chdir(temp_dir), 0);
    ck_assert_int_eq(mkdir("ising", 0777), 0);
    sal_model_destroy(open_model("ising"));
    ck_assert_int_eq(rmdir("ising"), 0);
    write_text("ising", "x");
    ck_fails(sal_model_open("ising", 0, &model, &err), SAL_ERR_ARGUMENT, &err, "expected one of");
    ck_assert_int_eq(chdir(cwd), 0);
    ck_assert_ptr_null(model);
}
END_TEST

START_TEST(bad_files_are_refused)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    const char *path = temp_path("d.xml");
    ck_assert_int_eq(mkdir(path, 0777), 0);
    ck_fails(sal_model_open(path, 0, &model, &err), SAL_ERR_NOT_FOUND, &err, "no model.xml");
    rmdir(path);
    ck_fails(sal_model_open(write_text("e.xml", ""), 0, &model, &err), SAL_ERR_DATA, &err,
             "e.xml:1: ");
    ck_fails(sal_model_open(write_text("e.xml", "MARKOV 1"), 0, &model, &err), SAL_ERR_DATA, &err,
             "e.xml:1: ");
    ck_fails(sal_model_open(write_text("e.xml", "\n<GIF/>"), 0, &model, &err), SAL_ERR_DATA, &err,
             "e.xml:2: the root element is <GIF>");
    ck_fails(sal_model_open(write_text("e.uai", "<BIF/>"), 0, &model, &err), SAL_ERR_DATA, &err,
             "e.uai:1: ");
    ck_assert_ptr_null(model);
}
END_TEST

/* ---- networks */

START_TEST(network_is_a_model)
{
    sal_error err = { 0 };
    const char *path = write_text("n.uai", "MARKOV 2 2 3 2  1 1  2 0 1  3 1 2 4  6 1 0 1 1 1 8");
    sal_model *model = open_model(path);
    ck_assert_str_eq(sal_model_name(model), path);
    ck_assert(sal_model_dtype(model) == SAL_F64 && sal_model_is_multilinear(model));
    const int32_t codes[] = { 0, 1, 1, 2 };
    double f[2];
    ck_ok(sal_model_evaluate(model, 2, codes, f, NULL, NULL, &err), &err);
    ck_assert(f[0] == -INFINITY);
    ck_assert_double_eq_tol(f[1], log(32), 1e-14);
    sal_model_destroy(model);
    ck_ok(sal_model_open(path, SAL_F32, &model, &err), &err);
    ck_assert(sal_model_dtype(model) == SAL_F32);
    sal_model_destroy(model);
}
END_TEST

START_TEST(network_without_factors_is_uniform)
{
    sal_error err = { 0 };
    sal_model *model = open_model(write_text("n.uai", "MARKOV 2 2 3 0"));
    double f = 1;
    ck_ok(sal_model_evaluate(model, 1, (const int32_t[]){ 1, 2 }, &f, NULL, NULL, &err), &err);
    ck_assert(f == 0);
    sal_model_destroy(model);
}
END_TEST

/* Networks of the competition: f and its gradient exist, and a saved copy is the same. */
START_TEST(competition_networks_open)
{
    static const struct {
        const char *file;
        int64_t variables;
    } networks[] = {
        { "data/uai/BN_1.uai", 100 }, { "data/uai/BN_8.uai", 0 },
        { "data/uai/CSP_12.uai", 0 }, { "data/uai/Grids_11.uai", 100 },
        { "data/uai/DBN_11.uai", 0 },
    };
    const char *path = test_data(networks[_i].file);
    if (!path) {
        return;
    }
    sal_error err = { 0 };
    sal_model *model = open_model(path), *copy = NULL;
    const sal_space *space = sal_model_space(model);
    if (networks[_i].variables) {
        ck_assert_int_eq(sal_space_variables(space), networks[_i].variables);
    }
    int32_t *codes = model_equal_codes(space);
    double f[MODEL_EQUAL_STATES];
    ck_ok(sal_model_evaluate(model, MODEL_EQUAL_STATES, codes, f, NULL, NULL, &err), &err);
    for (int k = 0; k < MODEL_EQUAL_STATES; k++) {
        ck_assert(isfinite(f[k]) || f[k] == -INFINITY);
    }
    ck_ok(sal_model_save(model, temp_path("n.xml"), &err), &err);
    ck_ok(sal_model_open(temp_path("n.xml"), 0, &copy, &err), &err);
    ck_models_equal(model, copy);
    free(codes);
    sal_model_destroy(model);
    sal_model_destroy(copy);
}
END_TEST

/* ---- saving */

START_TEST(formula_and_parameters_are_two_files)
{
    sal_error err = { 0 };
    sal_model *model = open_model("rbm:visible=6,hidden=4"), *copy = NULL;
    ck_ok(sal_model_save(model, temp_path("r.xml"), &err), &err);
    ck_assert_int_eq(temp_count(), 2);
    ck_assert_int_eq(access(temp_path("r.safetensors"), R_OK), 0);
    ck_ok(sal_model_open(temp_path("r.xml"), 0, &copy, &err), &err);
    ck_assert_str_eq(sal_model_name(copy), temp_path("r.xml"));
    ck_models_equal(model, copy);
    sal_model_destroy(copy);
    /* Without its parameters it does not open; in the working directory it does. */
    char cwd[512];
    ck_assert_ptr_nonnull(getcwd(cwd, sizeof cwd));
    ck_assert_int_eq(chdir(temp_dir), 0);
    copy = open_model("r.xml");
    ck_models_equal(model, copy);
    ck_assert_int_eq(remove("r.safetensors"), 0);
    ck_fails(sal_model_open("r.xml", 0, &copy, &err), SAL_ERR_NOT_FOUND, &err, "r.safetensors");
    ck_assert_int_eq(chdir(cwd), 0);
    sal_model_destroy(model);
    sal_model_destroy(copy);
}
END_TEST

/* A link within the directory is followed, another one is not. */
START_TEST(parameters_stay_in_the_directory)
{
    sal_error err = { 0 };
    sal_model *model = open_model("rbm:visible=6,hidden=4"), *copy = NULL;
    ck_assert_int_eq(mkdir(temp_path("in"), 0700), 0);
    ck_assert_int_eq(mkdir(temp_path("in/below"), 0700), 0);
    ck_ok(sal_model_save(model, temp_path("in/r.xml"), &err), &err);
    char params[512];
    strcpy(params, temp_path("in/r.safetensors"));
    ck_assert_int_eq(rename(params, temp_path("in/below/p.safetensors")), 0);
    ck_assert_int_eq(symlink("below/p.safetensors", params), 0);
    ck_ok(sal_model_open(temp_path("in/r.xml"), 0, &copy, &err), &err);
    ck_models_equal(model, copy);
    sal_model_destroy(copy);
    ck_assert_int_eq(rename(temp_path("in/below/p.safetensors"), temp_path("inp.safetensors")), 0);
    ck_assert_int_eq(unlink(params), 0);
    ck_assert_int_eq(symlink("../inp.safetensors", params), 0);
    ck_fails(sal_model_open(temp_path("in/r.xml"), 0, &copy, &err), SAL_ERR_DATA, &err,
             "is a link that leaves its directory");
    sal_model_destroy(model);
}
END_TEST

START_TEST(formula_without_parameters_is_one_file)
{
    sal_error err = { 0 };
    sal_model *model = open_model(write_text("n.uai", "MARKOV 1 2 1  1 0  2 1 3")), *copy = NULL;
    ck_ok(sal_model_save(model, temp_path("n.xml"), &err), &err);
    ck_assert_int_eq(temp_count(), 2);
    ck_ok(sal_model_open(temp_path("n.xml"), 0, &copy, &err), &err);
    ck_models_equal(model, copy);
    sal_model_destroy(model);
    sal_model_destroy(copy);
}
END_TEST

static double zero(const double *x, double *gradient, void *data)
{
    (void)x;
    (void)gradient;
    (void)data;
    return 0;
}

/* What 'saltus train' writes, by its name alone; averaged parameters go before the model's own. */
START_TEST(a_directory_of_a_training_is_a_model)
{
    sal_error err = { 0 };
    char directory[512], averages[600];
    double own[64], read[64];
    snprintf(directory, sizeof directory, "%s", temp_path("trained"));
    snprintf(averages, sizeof averages, "%s", temp_path("trained/ema.safetensors"));
    ck_assert_int_eq(mkdir(directory, 0777), 0);
    sal_model *model = open_model("rbm:visible=3,hidden=2"), *again = NULL;
    const int64_t n = sal_model_parameters_size(model);
    ck_fails(sal_model_open(directory, 0, &again, &err), SAL_ERR_NOT_FOUND, &err,
             "trained: the directory has no model.xml");
    for (int with = 0; with < 2; with++) {
        for (int64_t k = 0; k < n; k++) {
            own[k] = 0.25 * (double)(k + 1) + with;
        }
        ck_ok(sal_model_set_params(model, NULL, own, &err), &err);
        ck_ok(with ? sal_model_save_params(model, averages, &err)
                   : sal_model_save(model, temp_path("trained/model.xml"), &err),
              &err);
        again = open_model(directory);
        ck_assert_str_eq(sal_model_name(again), directory);
        ck_ok(sal_model_get_params(again, NULL, read, &err), &err);
        ck_assert_mem_eq(own, read, (size_t)n * sizeof *own);
        sal_model_destroy(again);
    }
    again = NULL;
    temp_write("trained/ema.safetensors", "none", 4);
    ck_fails(sal_model_open(directory, 0, &again, &err), SAL_ERR_DATA, &err, "ema.safetensors");
    ck_assert_ptr_null(again);
    sal_model_destroy(model);
}
END_TEST

/* A bit of each byte, whatever it makes of the formula; in the comment itself it does not matter.
 */
START_TEST(damage_of_a_formula_is_noticed)
{
    sal_error err = { 0 };
    sali_bytes file = { 0 };
    sal_model *model = open_model("ising:side=3,theta=0.25"), *again = NULL;
    const char *path = temp_path("d.xml");
    ck_ok(sal_model_save(model, path, &err), &err);
    ck_ok(sali_file_read(path, &file, &err), &err);
    const char *comment = strstr((const char *)file.data, "<!-- saltus_checksum ");
    ck_assert_ptr_nonnull(comment);
    for (int64_t at = 0; at < file.size; at++) {
        char *byte = (char *)file.data + at;
        bool matters = byte < comment || (byte >= comment + 21 && byte < comment + 37);
        *byte = (char)(*byte ^ 1 << at % 7);
        temp_write("d.xml", file.data, (size_t)file.size);
        *byte = (char)(*byte ^ 1 << at % 7);
        if (matters) {
            ck_fails(sal_model_open(path, 0, &again, &err), SAL_ERR_DATA, &err, "d.xml");
        } else if (sal_model_open(path, 0, &again, &err) == SAL_OK) {
            sal_model_destroy(again);
        }
        again = NULL;
    }
    /* What was changed on purpose is read without its last line. */
    temp_write("d.xml", file.data, (size_t)(comment - (const char *)file.data));
    sal_model_destroy(open_model(path));
    sali_bytes_free(&file);
    sal_model_destroy(model);
}
END_TEST

START_TEST(what_cannot_be_saved_is_refused)
{
    sal_error err = { 0 };
    sal_model *model = open_model("ising:side=3"), *clamped = NULL, *callback = NULL;
    ck_ok(sal_model_clamp(model, 1, (const int64_t[]){ 2 }, (const int32_t[]){ 1 }, &clamped, &err),
          &err);
    ck_ok(sal_model_from_callback(sal_model_space(model), &(sal_callback){ .f = zero }, &callback,
                                  &err),
          &err);
    ck_fails(sal_model_save(clamped, temp_path("c.xml"), &err), SAL_ERR_UNSUPPORTED, &err,
             "save the model that it clamps");
    ck_fails(sal_model_save(callback, temp_path("c.xml"), &err), SAL_ERR_UNSUPPORTED, &err,
             "made from a tape");
    ck_fails(sal_model_save_params(callback, temp_path("c.safetensors"), &err), SAL_ERR_UNSUPPORTED,
             &err, "made from a tape");
    ck_fails(sal_model_load_params(callback, temp_path("c.safetensors"), &err), SAL_ERR_UNSUPPORTED,
             &err, "made from a tape");
    const char *paths[] = { "c",        "c.safetensors", ".xml",    "a..xml",
                            "\xff.xml", "a\nb.xml",      "a\\b.xml" };
    for (size_t k = 0; k < sizeof paths / sizeof *paths; k++) {
        ck_fails(sal_model_save(model, temp_path(paths[k]), &err), SAL_ERR_ARGUMENT, &err,
                 "ends in .xml");
    }
    ck_fails(sal_model_save(model, temp_path("no/c.xml"), &err), SAL_ERR_IO, &err, "no/c.xml");
    ck_assert_int_eq(temp_count(), 0);
    sal_model_destroy(clamped);
    sal_model_destroy(callback);
    sal_model_destroy(model);
}
END_TEST

START_TEST(failed_save_leaves_the_old_files)
{
    sal_error err = { 0 };
    sal_model *model = open_model("ising:side=3"), *copy = NULL;
    ck_ok(sal_model_save(model, temp_path("a.xml"), &err), &err);
    sal_model *other = open_model("rbm:visible=3,hidden=2");
    /* The parameters cannot be written: a directory has the name of their temporary file. */
    ck_assert_int_eq(mkdir(temp_path("a.safetensors.tmp"), 0777), 0);
    ck_fails(sal_model_save(other, temp_path("a.xml"), &err), SAL_ERR_IO, &err, "a.safetensors");
    ck_assert_int_eq(temp_count(), 3);
    ck_ok(sal_model_open(temp_path("a.xml"), 0, &copy, &err), &err);
    ck_models_equal(model, copy);
    sal_model_destroy(model);
    sal_model_destroy(other);
    sal_model_destroy(copy);
}
END_TEST

/* ---- parameters */

/* On a disk that has room for the parameters, but not for the formula, the old parameters stay with
 * the old formula. */
START_TEST(a_full_disk_leaves_formula_and_parameters)
{
    sal_error err = { 0 };
    sal_model *model = open_model("rbm:visible=2,hidden=1"), *after = NULL;
    double before[5], values[5];
    struct rlimit limits;
    ck_assert_int_eq(sal_model_parameters_size(model), 5);
    ck_ok(sal_model_save(model, temp_path("a.xml"), &err), &err);
    ck_ok(sal_model_get_params(model, NULL, before, &err), &err);
    for (int k = 0; k < 5; k++) {
        values[k] = before[k] + 1;
    }
    ck_ok(sal_model_set_params(model, NULL, values, &err), &err);
    getrlimit(RLIMIT_FSIZE, &limits);
    const struct rlimit narrow = { (rlim_t)file_size("a.safetensors"), limits.rlim_max };
    ck_assert_int_lt((int64_t)narrow.rlim_cur, file_size("a.xml"));
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &narrow);
    const sal_status status = sal_model_save(model, temp_path("a.xml"), &err);
    setrlimit(RLIMIT_FSIZE, &limits);
    ck_assert_int_eq(status, SAL_ERR_IO);
    ck_ok(sal_model_open(temp_path("a.xml"), 0, &after, &err), &err);
    ck_ok(sal_model_get_params(after, NULL, values, &err), &err);
    ck_assert_mem_eq(values, before, sizeof values);
    sal_model_destroy(after);
    sal_model_destroy(model);
}
END_TEST

START_TEST(parameters_round_trip_in_the_models_type)
{
    sal_error err = { 0 };
    const sal_dtype types[] = { SAL_F32, SAL_F64 };
    for (int k = 0; k < 2; k++) {
        sal_model *model = NULL, *copy = NULL;
        ck_ok(sal_model_open("rbm:visible=5,hidden=3", types[k], &model, &err), &err);
        ck_ok(sal_model_open("rbm:visible=5,hidden=3,scale=0", types[k], &copy, &err), &err);
        const char *path = temp_path("p.safetensors");
        ck_ok(sal_model_save_params(model, path, &err), &err);
        sali_safetensors *file = NULL;
        ck_ok(sali_safetensors_open(path, &file, &err), &err);
        const sali_tensor *W = sali_safetensors_find(file, "W");
        ck_assert(W->dtype == (k ? SALI_DTYPE_F64 : SALI_DTYPE_F32));
        ck_assert(W->ndim == 2 && W->shape[0] == 3 && W->shape[1] == 5);
        sali_safetensors_close(file);
        ck_ok(sal_model_load_params(copy, path, &err), &err);
        ck_models_equal(model, copy);
        sal_model_destroy(model);
        sal_model_destroy(copy);
    }
}
END_TEST

/* Write tensors that are to go into rbm:visible=2,hidden=3 (W [3, 2], b [2], c [3]). */
static const char *write_tensors(const sali_tensor *tensors, int64_t n)
{
    sal_error err = { 0 };
    const char *path = temp_path("t.safetensors");
    ck_ok(sali_safetensors_write(path, tensors, n, &err), &err);
    return path;
}

static const double numbers[] = { 1, 2, 3, 4, 5, 6 }, with_nan[] = { 1, NAN },
                    large[] = { 1, 1e200 };
#define TENSOR(label, values, n, ...)                                                    \
    {                                                                                    \
        .name = (label), .dtype = SALI_DTYPE_F64, .ndim = (n), .shape = { __VA_ARGS__ }, \
        .data = (values)                                                                 \
    }

START_TEST(parameters_that_do_not_fit_are_all_named)
{
    static const struct {
        sali_tensor tensors[4];
        int64_t n;
        const char *messages[3];
    } cases[] = {
        { { { 0 } }, 0, { "'W' is missing", "'b' is missing", "'c' is missing" } },
        { { TENSOR("W", numbers, 2, 3, 2), TENSOR("b", numbers, 1, 2) }, 2, { "'c' is missing" } },
        { { TENSOR("W", numbers, 2, 2, 3), TENSOR("b", numbers, 2, 1, 2), TENSOR("d", numbers, 0) },
          3,
          { "'W' has shape [2, 3], expected [3, 2]; 'b' has shape [1, 2], expected [2]",
            "'c' is missing", "'d' is no parameter of the model" } },
        { { TENSOR("W", numbers, 2, 3, 2), TENSOR("b", with_nan, 1, 2),
            TENSOR("c", numbers, 1, 3) },
          3,
          { "'b' holds NaN" } },
        { { TENSOR("W", numbers, 2, 3, 2), TENSOR("b", large, 1, 2), TENSOR("c", numbers, 1, 3) },
          3,
          { "'b' holds numbers too large" } },
    };
    sal_error err = { 0 };
    sal_model *model = open_model("rbm:visible=2,hidden=3"),
              *same = open_model("rbm:visible=2,hidden=3");
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const char *path = write_tensors(cases[k].tensors, cases[k].n);
        for (int m = 0; m < 3 && cases[k].messages[m]; m++) {
            ck_fails(sal_model_load_params(model, path, &err), SAL_ERR_DATA, &err,
                     cases[k].messages[m]);
            ck_assert_ptr_nonnull(strstr(err.message, path));
        }
    }
    ck_models_equal(model, same);
    sal_model_destroy(model);
    sal_model_destroy(same);
}
END_TEST

START_TEST(integers_are_no_parameters)
{
    static const char header[] =
        "{\"b\":{\"dtype\":\"I32\",\"shape\":[1],\"data_offsets\":[0,4]},"
        "\"W\":{\"dtype\":\"BF16\",\"shape\":[1,1],\"data_offsets\":[4,6]},"
        "\"c\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[6,8]}}";
    char file[512] = { (char)(sizeof header - 1) };
    memcpy(file + 8, header, sizeof header - 1);
    sal_error err = { 0 };
    sal_model *model = open_model("rbm:visible=1,hidden=1");
    const char *path = temp_write("i.safetensors", file, 8 + sizeof header - 1 + 8);
    ck_fails(sal_model_load_params(model, path, &err), SAL_ERR_DATA, &err,
             "'b' is not of real numbers");
    ck_fails(sal_model_load_params(model, "no.safetensors", &err), SAL_ERR_NOT_FOUND, &err, "no.");
    sal_model_destroy(model);
}
END_TEST

/* ---- evidence */

START_TEST(evidence_is_read)
{
    sal_error err = { 0 };
    sal_model *model = open_model(write_text("n.uai", "MARKOV 3 2 3 2 0")), *clamped = NULL;
    int64_t n = -1, *variables = NULL;
    int32_t *codes = NULL;
    ck_ok(sal_model_evidence(write_text("e", "2 2 1 0 1"), model, 0, &n, &variables, &codes, NULL,
                             &err),
          &err);
    ck_assert(n == 2 && variables[0] == 0 && variables[1] == 2 && codes[0] == 1 && codes[1] == 1);
    ck_ok(sal_model_clamp(model, n, variables, codes, &clamped, &err), &err);
    ck_assert_int_eq(sal_space_variables(sal_model_space(clamped)), 1);
    sal_free(variables);
    sal_free(codes);
    ck_ok(sal_model_evidence(write_text("e", "0"), model, 0, &n, &variables, &codes, NULL, &err),
          &err);
    ck_assert_int_eq(n, 0);
    sal_free(variables);
    sal_free(codes);
    char *remark = "";
    ck_ok(sal_model_evidence(write_text("e", "1 0 1"), model, 0, &n, &variables, &codes, &remark,
                             &err),
          &err);
    ck_assert(n == 1 && !remark);
    sal_free(variables);
    sal_free(codes);
    const char *both = write_text("e", "2 0 1 1 2");
    ck_ok(sal_model_evidence(both, model, 0, &n, &variables, &codes, &remark, &err), &err);
    ck_assert(n == 2 && strncmp(remark, both, strlen(both)) == 0);
    ck_assert_ptr_nonnull(strstr(remark, ": the numbers fit one sample of 2 observations, and 2"));
    sal_free(remark);
    sal_free(variables);
    sal_free(codes);
    n = 0;
    sal_free(NULL);
    variables = NULL;
    ck_fails(
        sal_model_evidence(write_text("e", "1 1 3"), model, 0, &n, &variables, &codes, NULL, &err),
        SAL_ERR_DATA, &err, "e:1: ");
    ck_fails(
        sal_model_evidence(write_text("e", "1 3 0"), model, 0, &n, &variables, &codes, NULL, &err),
        SAL_ERR_DATA, &err, "e:1: ");
    ck_fails(sal_model_evidence("no.evid", model, 0, &n, &variables, &codes, NULL, &err),
             SAL_ERR_NOT_FOUND, &err, "no.evid");
    ck_assert(n == 0 && !variables);
    sal_model_destroy(clamped);
    sal_model_destroy(model);
}
END_TEST

START_TEST(a_model_has_the_remark_of_its_file)
{
    sal_error err = { 0 };
    bool warns = true;
    sal_model *model = open_model(write_text("n.uai", "MARKOV 3 2 3 2 0")), *clamped = NULL;
    ck_assert(!sal_model_remark(model, &warns) && !warns);
    sal_model_destroy(model);
    const char *path = write_text("p.uai", "BAYES 2 2 2 2 1 0 2 0 1 2 .3 .7 4 .1 .2 .9 .8");
    model = open_model(path);
    ck_ok(sal_model_clamp(model, 1, (int64_t[]){ 0 }, (int32_t[]){ 1 }, &clamped, &err), &err);
    const char *remark = sal_model_remark(clamped, &warns);
    ck_assert(warns && strncmp(remark, path, strlen(path)) == 0 && strstr(remark, "pgmpy"));
    sal_model_destroy(clamped);
    sal_model_destroy(model);
    /* p(a) = .3 .7, p(b = 1 | a) = .9 .8: the first variable of the scope is the fastest */
    double marginals[4];
    sal_exact exact;
    model = open_model(path);
    ck_ok(sal_model_exact(model, NULL, &exact, marginals, NULL, NULL, &err), &err);
    ck_assert_double_eq_tol(exact.log_z, 0, 1e-12);
    ck_assert_double_eq_tol(marginals[0], .3, 1e-12);
    ck_assert_double_eq_tol(marginals[3], .3 * .9 + .7 * .8, 1e-12);
    sal_model_destroy(model);
    write_text("a.fasta", ">x\nacgu\n>y\nac-u\n>z\nac-u\n");
    char specification[300];
    snprintf(specification, sizeof specification,
             "potts-alignment:couplings=zero,duplicates=drop,file=%s", temp_path("a.fasta"));
    model = open_model(specification);
    remark = sal_model_remark(model, NULL);
    ck_assert_ptr_nonnull(strstr(remark, "a.fasta: 2 sequences of 4 sites (RNA); no letter is in"));
    ck_assert_ptr_nonnull(strstr(remark, "; 1 sequences that equal an earlier one were dropped"));
    sal_model_destroy(model);
}
END_TEST

#ifdef SALI_HAVE_ZLIB
/* The same, by gzip. */
static const unsigned char evidence_gz[] = { 0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02,
                                             0x03, 0x33, 0xe2, 0x52, 0x30, 0x54, 0x30, 0x50, 0x30,
                                             0xe4, 0x52, 0x30, 0x02, 0x32, 0x8c, 0x40, 0x24, 0x17,
                                             0x00, 0xda, 0x8f, 0x27, 0xa5, 0x14, 0x00, 0x00, 0x00 };
#endif

START_TEST(compressed_evidence_and_samples_are_read)
{
    sal_error err = { 0 };
    sal_model *model = open_model(write_text("n.uai", "MARKOV 3 2 3 2 0"));
    int64_t n = 0, *variables = NULL;
    int32_t *codes = NULL;
    const char *path = write_text("e", "2\n 1 0 1\n 2 1 2 2 1\n");
    ck_fails(sal_model_evidence(path, model, 0, &n, &variables, &codes, NULL, &err),
             SAL_ERR_ARGUMENT, &err,
             "holds 2 samples of evidence; choose one by its number, from 1 (--sample K)");
    ck_ok(sal_model_evidence(path, model, 2, &n, &variables, &codes, NULL, &err), &err);
    ck_assert(n == 2 && variables[1] == 2 && codes[0] == 2);
    sal_free(variables);
    sal_free(codes);
#ifdef SALI_HAVE_ZLIB
    path = temp_write("e.evid.gz", (const char *)evidence_gz, sizeof evidence_gz);
    ck_ok(sal_model_evidence(path, model, 1, &n, &variables, &codes, NULL, &err), &err);
    ck_assert(n == 1 && variables[0] == 0 && codes[0] == 1);
    sal_free(variables);
    sal_free(codes);
#endif
    sal_model_destroy(model);
}
END_TEST

START_TEST(competition_evidence_is_read)
{
    const char *path = test_data("data/uai/BN_1.uai");
    if (!path) {
        return;
    }
    sal_error err = { 0 };
    sal_model *model = open_model(path);
    int64_t n = 0, *variables = NULL;
    int32_t *codes = NULL;
    ck_ok(sal_model_evidence(test_data("data/uai/BN_1.uai.evid"), model, 0, &n, &variables, &codes,
                             NULL, &err),
          &err);
    ck_assert_int_gt(n, 0);
    sal_free(variables);
    sal_free(codes);
    sal_model_destroy(model);
}
END_TEST

/* ---- memory */

static sal_status evidence_once(const char *path, const sal_model *model)
{
    int64_t n = 0, *variables = NULL;
    int32_t *codes = NULL;
    sal_status status = sal_model_evidence(path, model, 0, &n, &variables, &codes, NULL, NULL);
    sal_free(variables);
    sal_free(codes);
    return status;
}

START_TEST(allocation_failures_are_survived)
{
    const char *network = write_text("n.uai", "MARKOV 2 2 3 1  2 0 1  6 1 0 1 1 1 8");
    const char *evidence = write_text("e", "1 0 1");
    sal_model *model = NULL;
    ck_alloc_sweep(sal_model_open(network, 0, &model, NULL),
                   (sal_model_destroy(model), model = NULL));
    sal_model *rbm = open_model("rbm:visible=2,hidden=3");
    char path[512];
    snprintf(path, sizeof path, "%s", temp_path("r.xml"));
    ck_alloc_sweep(sal_model_save(rbm, path, NULL), (void)0);
    ck_alloc_sweep(sal_model_open(path, 0, &model, NULL), (sal_model_destroy(model), model = NULL));
    ck_alloc_sweep(evidence_once(evidence, rbm), (void)0);
    sal_model_destroy(rbm);
}
END_TEST

START_TEST(draws_are_saved_or_the_reason_is_told)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    sal_run *run = NULL;
    sali_npy array = { 0 };
    int bytes;
    sal_run_options options = { .chains = 3, .warmup = -1, .draws = 5, .record.draws = true };
    ck_ok(sal_model_open("ising:side=2", 0, &model, &err), &err);
    ck_ok(sal_sample(model, &options, &run, &err), &err);
    ck_ok(sal_run_save(run, temp_path("draws.npy"), NULL, &err), &err);
    ck_ok(npy_read(temp_path("draws.npy"), &array, &err), &err);
    ck_assert_int_eq(array.count, 3 * 5 * 4);
    ck_assert_mem_eq(array.data, sal_run_draws(run, &bytes), 3 * 5 * 4);
    npy_free(&array);
    ck_fails(sal_run_save(run, temp_path("draws.csv"), NULL, &err), SAL_ERR_UNSUPPORTED, &err,
             ".npy");
    ck_fails(sal_run_save(run, NULL, NULL, &err), SAL_ERR_UNSUPPORTED, &err, ".npy");
    sal_run_destroy(run);
    options.record.draws = false;
    ck_ok(sal_sample(model, &options, &run, &err), &err);
    ck_fails(sal_run_save(run, temp_path("b.npy"), NULL, &err), SAL_ERR_ARGUMENT, &err,
             "record.draws");
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("model_file");
    TCase *tc = tcase_create("model_file");
    tcase_add_checked_fixture(tc, temp_dir_make, temp_dir_remove);
    tcase_add_test(tc, name_opens_a_builtin);
    tcase_add_test(tc, what_cannot_be_opened_is_named);
    tcase_add_test(tc, bad_files_are_refused);
    tcase_add_test(tc, network_is_a_model);
    tcase_add_test(tc, network_without_factors_is_uniform);
    tcase_add_loop_test(tc, competition_networks_open, 0, 5);
    tcase_add_test(tc, formula_and_parameters_are_two_files);
    tcase_add_test(tc, parameters_stay_in_the_directory);
    tcase_add_test(tc, formula_without_parameters_is_one_file);
    tcase_add_test(tc, a_directory_of_a_training_is_a_model);
    tcase_add_test(tc, damage_of_a_formula_is_noticed);
    tcase_add_test(tc, what_cannot_be_saved_is_refused);
    tcase_add_test(tc, failed_save_leaves_the_old_files);
    tcase_add_test(tc, a_full_disk_leaves_formula_and_parameters);
    tcase_add_test(tc, parameters_round_trip_in_the_models_type);
    tcase_add_test(tc, parameters_that_do_not_fit_are_all_named);
    tcase_add_test(tc, integers_are_no_parameters);
    tcase_add_test(tc, evidence_is_read);
    tcase_add_test(tc, a_model_has_the_remark_of_its_file);
    tcase_add_test(tc, compressed_evidence_and_samples_are_read);
    tcase_add_test(tc, competition_evidence_is_read);
    tcase_add_test(tc, allocation_failures_are_survived);
    tcase_add_test(tc, draws_are_saved_or_the_reason_is_told);
    suite_add_tcase(suite, tc);
    return test_main(suite);
}
