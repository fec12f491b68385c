/* SPDX-License-Identifier: MIT */
/* Looking at a model from outside: names of its variables and states, its operations, its program.
 */
#include "temp_dir.h"

#include <saltus/io.h>
#include <saltus/model.h>
#include <saltus/program.h>

#include "alloc_fail.h"
#include "models/tape_model.h"

static const char weather[] = "<BIF VERSION=\"0.3\"><NETWORK>"
                              "<VARIABLE><NAME>rain</NAME><OUTCOME>no</OUTCOME>"
                              "<OUTCOME>yes</OUTCOME></VARIABLE>"
                              "<VARIABLE><NAME>wind</NAME><OUTCOME>calm</OUTCOME>"
                              "<OUTCOME>gale</OUTCOME><OUTCOME>storm</OUTCOME></VARIABLE>"
                              "<DEFINITION><FOR>rain</FOR><TABLE>.3 .7</TABLE></DEFINITION>"
                              "<DEFINITION><FOR>wind</FOR><TABLE>.2 .3 .5</TABLE></DEFINITION>"
                              "</NETWORK></BIF>";

static sal_model *opened(const char *specification)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    ck_ok(sal_model_open(specification, SAL_F64, &model, &err), &err);
    return model;
}

START_TEST(labels_are_the_names_in_the_file)
{
    const int64_t rain = 0;
    const int32_t yes = 1;
    sal_error err = { 0 };
    sal_model *clamped = NULL, *without = opened("ising:side=2");
    sal_model *model = opened(temp_write("w.xmlbif", weather, strlen(weather)));
    ck_assert_str_eq(sal_model_label(model, 0, -1), "rain");
    ck_assert_str_eq(sal_model_label(model, 0, 1), "yes");
    ck_assert_str_eq(sal_model_label(model, 1, 2), "storm");
    ck_assert_ptr_null(sal_model_label(model, 0, 2)); /* it has two states */
    ck_assert_ptr_null(sal_model_label(model, 2, -1));
    ck_assert_ptr_null(sal_model_label(model, -1, -1));
    ck_assert_ptr_null(sal_model_label(without, 0, -1));
    ck_ok(sal_model_clamp(model, 1, &rain, &yes, &clamped, &err), &err);
    ck_assert_str_eq(sal_model_label(clamped, 0, -1), "wind");
    ck_assert_str_eq(sal_model_label(clamped, 0, 1), "gale");
    ck_assert_ptr_null(sal_model_label(clamped, 1, -1));
    sal_model_destroy(without);
    sal_model_destroy(clamped);
    sal_model_destroy(model);
}
END_TEST

/* Softplus sums out the hidden units of an RBM; a sampler's callback has no operations. */
static double zero(const double *x, double *gradient, void *data)
{
    (void)x;
    (void)gradient;
    (void)data;
    return 0;
}

START_TEST(operations_are_counted)
{
    sal_error err = { 0 };
    sal_model *rbm = opened("rbm:visible=4,hidden=3"), *callback = NULL;
    const sal_callback given = { .f = zero };
    sal_space *space = sal_space_create();
    ck_ok(sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_BINARY, .count = 2 }, &err),
          &err);
    ck_ok(sal_model_from_callback(space, &given, &callback, &err), &err);
    ck_assert_int_eq(sali_model_operations(rbm, "softplus"), 1);
    ck_assert_int_eq(sali_model_operations(rbm, "conv2d"), 0);
    ck_assert_int_eq(sali_model_operations(rbm, "no operation"), 0);
    ck_assert_int_eq(sali_model_operations(rbm, NULL), 0);
    ck_assert_int_eq(sali_model_operations(callback, "softplus"), 0);
    sal_space_destroy(space);
    sal_model_destroy(callback);
    sal_model_destroy(rbm);
}
END_TEST

START_TEST(programs_are_printed)
{
    static char text[20000];
    sal_error err = { 0 };
    sal_model *model = opened("rbm:visible=4,hidden=3");
    FILE *stream = fmemopen(text, sizeof text, "w");
    ck_ok(sal_model_print_program(model, stream, &err), &err);
    fclose(stream);
    const char *runs = strstr(text, "as it runs");
    ck_assert(strstr(text, "as recorded") && runs && strstr(runs, "softplus"));
    ck_assert_ptr_nonnull(strstr(runs, "gradient"));
    stream = fopen("/dev/full", "w");
    if (stream) {
        ck_fails(sal_model_print_program(model, stream, &err), SAL_ERR_IO, &err, "cannot print");
        fclose(stream);
    }
    stream = fopen("/dev/null", "w");
    ck_alloc_sweep(sal_model_print_program(model, stream, &err), (void)0);
    fclose(stream);
    sal_model_destroy(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("looking");
    TCase *tcase = tcase_create("looking");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, labels_are_the_names_in_the_file);
    tcase_add_test(tcase, operations_are_counted);
    tcase_add_test(tcase, programs_are_printed);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
