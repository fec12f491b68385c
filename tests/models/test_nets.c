/* SPDX-License-Identifier: MIT */
/* The ready-made nets against PyTorch's values in double precision, of the same weights. */
#include "test.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>

#include <saltus/saltus.h>
#include "ad/workspace.h"
#include "npy_file.h"
#include "models/tape_model.h"

static const struct {
    const char *file, *specification;
} nets[] = {
    { "usps_conv", "usps-conv:channels=16" },
    { "mnist_conv", "mnist-conv:channels=8" },
    { "mnist_resnet", "mnist-resnet:channels=8" },
};
#define NETS ((int)(sizeof nets / sizeof *nets))
#define STATES 8

/* The path of a reference file of net _i. */
static const char *reference(int net, const char *end)
{
    char name[128];
    snprintf(name, sizeof name, "reference/%s%s", nets[net].file, end);
    return test_data(name);
}

static double *read_array(int net, const char *end, int64_t count)
{
    sali_npy array;
    sal_error err = { 0 };
    ck_ok(npy_read(reference(net, end), &array, &err), &err);
    ck_assert_int_eq(array.count, count);
    double *values = calloc((size_t)count, sizeof *values);
    sali_npy_doubles(&array, values);
    npy_free(&array);
    return values;
}

static sal_model *open_net(int net, sal_dtype dtype)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    ck_ok(sal_model_open(nets[net].specification, dtype, &model, &err), &err);
    ck_ok(sal_model_load_params(model, reference(net, ".safetensors"), &err), &err);
    return model;
}

/* The largest error over the largest number. */
static double relative_error(int64_t n, const double *got, const double *want)
{
    double error = 0, scale = 0;
    for (int64_t k = 0; k < n; k++) {
        error = fmax(error, fabs(got[k] - want[k]));
        scale = fmax(scale, fabs(want[k]));
    }
    return error / scale;
}

START_TEST(value_and_gradient_match_pytorch)
{
    if (!reference(_i, ".safetensors")) {
        return;
    }
    for (int dtype = SAL_F32; dtype <= SAL_F64; dtype++) {
        double tolerance = dtype == SAL_F32 ? 1e-4 : 1e-10;
        sal_error err = { 0 };
        sal_model *model = open_net(_i, (sal_dtype)dtype);
        int64_t n = STATES * sal_space_width(sal_model_space(model));
        double *x = read_array(_i, "_x.npy", n), *f = read_array(_i, "_f.npy", STATES);
        double *gradient = read_array(_i, "_grad.npy", n);
        double got_f[STATES], *got_gradient = calloc((size_t)n, sizeof(double));
        ck_ok(sal_model_evaluate_at(model, STATES, x, got_f, got_gradient, &err), &err);
        ck_assert_double_le(relative_error(STATES, got_f, f), tolerance);
        ck_assert_double_le(relative_error(n, got_gradient, gradient), tolerance);
        free(x);
        free(f);
        free(gradient);
        free(got_gradient);
        sal_model_destroy(model);
    }
}
END_TEST

/* d sum f / d parameters, in the order of the flat vector. */
static double *parameter_gradient(const sal_model *model, const double *x)
{
    const sali_tape_model *tape = sali_model_tape(model);
    sali_workspace *ws = NULL;
    sal_error err = { 0 };
    int64_t n = STATES * model->space->width;
    ck_ok(sali_workspace_create(tape->program, tape->params, STATES, SALI_WANT_PARAM_GRADIENT, &ws,
                                &err),
          &err);
    float *narrow = calloc((size_t)n, sizeof *narrow);
    for (int64_t k = 0; k < n; k++) {
        narrow[k] = (float)x[k];
    }
    double weight[STATES], f[STATES];
    for (int k = 0; k < STATES; k++) {
        weight[k] = 1;
    }
    double *gradient = calloc((size_t)tape->program->parameters_size, sizeof *gradient);
    sali_workspace_param_zero(ws);
    sali_workspace_param_gradient(ws, STATES, NULL,
                                  model->dtype == SAL_F64 ? (const void *)x : narrow, weight, f);
    sali_workspace_param_reduce(&ws, 1, 1, gradient);
    sali_workspace_destroy(ws);
    free(narrow);
    return gradient;
}

START_TEST(parameter_gradient_norms_match_pytorch)
{
    if (!reference(_i, ".safetensors")) {
        return;
    }
    for (int dtype = SAL_F32; dtype <= SAL_F64; dtype++) {
        double tolerance = dtype == SAL_F32 ? 1e-4 : 1e-10;
        sal_model *model = open_net(_i, (sal_dtype)dtype);
        double *x = read_array(_i, "_x.npy", STATES * sal_space_width(sal_model_space(model)));
        double *gradient = parameter_gradient(model, x), *at = gradient;
        json_t *norms = json_load_file(reference(_i, "_param_grad_norms.json"), 0, NULL);
        const int64_t n = (int64_t)json_object_size(norms);
        ck_assert_ptr_nonnull(sal_model_parameter(model, n - 1, NULL));
        ck_assert_ptr_null(sal_model_parameter(model, n, NULL));
        sal_shape shape;
        const char *name;
        for (int64_t k = 0; (name = sal_model_parameter(model, k, &shape)); k++) {
            double sum = 0, want = json_number_value(json_object_get(norms, name));
            for (int64_t i = 0; i < sali_shape_size(&shape); i++, at++) {
                sum += *at * *at;
            }
            ck_assert_msg(fabs(sqrt(sum) - want) <= tolerance * want, "%s: %.12g, not %.12g", name,
                          sqrt(sum), want);
        }
        json_decref(norms);
        free(x);
        free(gradient);
        sal_model_destroy(model);
    }
}
END_TEST

/* ---- specifications */

static double value_of(const char *specification)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    ck_ok(sal_model_open(specification, SAL_F64, &model, &err), &err);
    int64_t n = sal_space_variables(sal_model_space(model));
    int32_t *codes = calloc((size_t)n, sizeof *codes);
    double f = NAN;
    for (int64_t i = 0; i < n; i += 3) {
        codes[i] = 1;
    }
    ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
    free(codes);
    sal_model_destroy(model);
    return f;
}

START_TEST(keys_mean_what_they_say)
{
    double f = value_of("usps-conv:channels=2");
    ck_assert(isfinite(f) && f != 0);
    ck_assert_double_eq(f, value_of("usps-conv:channels=2,kind=binary,seed=0,quadratic=0"));
    ck_assert_double_ne(f, value_of("usps-conv:channels=2,kind=spin"));
    ck_assert_double_ne(f, value_of("usps-conv:channels=2,seed=1"));
    ck_assert_double_ne(f, value_of("usps-conv:channels=2,quadratic=1"));
    ck_assert(isfinite(value_of("mnist-conv:channels=2")));
    ck_assert(isfinite(value_of("mnist-resnet:channels=2,kind=spin,quadratic=1")));
    sal_error err = { 0 };
    sal_model *model = NULL;
    ck_fails(sal_model_open("usps-conv:kind=1", 0, &model, &err), SAL_ERR_ARGUMENT, &err,
             "kind=1; expected binary or spin or ordinal");
    ck_fails(sal_model_open("usps-conv:size=1", 0, &model, &err), SAL_ERR_ARGUMENT, &err,
             "channels=16, kind=binary, states=2, quadratic=0, base=0, seed=0");
}
END_TEST

/* quadratic=1 adds s'Js + b's. */
START_TEST(quadratic_terms_are_added)
{
    sal_error err = { 0 };
    sal_model *plain = NULL, *model = NULL;
    ck_ok(sal_model_open("usps-conv:channels=1,kind=spin", SAL_F64, &plain, &err), &err);
    ck_ok(sal_model_open("usps-conv:channels=1,kind=spin,quadratic=1", SAL_F64, &model, &err),
          &err);
    double *J = calloc(256 * 256, sizeof *J), b[256], f[2];
    int32_t codes[256];
    ck_ok(sal_model_get_params(model, "J", J, &err), &err);
    ck_ok(sal_model_get_params(model, "b", b, &err), &err);
    double sum = 0;
    for (int i = 0; i < 256; i++) {
        codes[i] = i % 5 == 0;
        b[i] = 0.01 * i;
        sum += b[i] * (2 * codes[i] - 1);
    }
    for (int i = 0; i < 256; i++) {
        for (int j = 0; j < 256; j++) {
            sum += J[256 * i + j] * (2 * codes[i] - 1) * (2 * codes[j] - 1);
        }
    }
    ck_ok(sal_model_set_params(model, "b", b, &err), &err);
    ck_ok(sal_model_evaluate(plain, 1, codes, &f[0], NULL, NULL, &err), &err);
    ck_ok(sal_model_evaluate(model, 1, codes, &f[1], NULL, NULL, &err), &err);
    ck_assert_double_eq_tol(f[1], f[0] + sum, 1e-10);
    free(J);
    sal_model_destroy(plain);
    sal_model_destroy(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("nets");
    TCase *pytorch = tcase_create("pytorch");
    tcase_add_loop_test(pytorch, value_and_gradient_match_pytorch, 0, NETS);
    tcase_add_loop_test(pytorch, parameter_gradient_norms_match_pytorch, 0, NETS);
    suite_add_tcase(suite, pytorch);
    TCase *keys = tcase_create("keys");
    tcase_add_test(keys, keys_mean_what_they_say);
    tcase_add_test(keys, quadratic_terms_are_added);
    suite_add_tcase(suite, keys);
    return test_main(suite);
}
