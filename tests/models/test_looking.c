/* SPDX-License-Identifier: MIT */
/* Looking at a model from outside: names of its variables and states, its operations, its program.
 */
#include "temp_dir.h"

#include <saltus/io.h>
#include <saltus/model.h>
#include <saltus/program.h>
#include <saltus/train.h>

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

START_TEST(training_options_are_those_of_the_models_record)
{
    sal_train_options options = { .iterations = 7 };
    const char *settings = "as before";
    ck_assert(!sal_train_suggest("ising:side=3", &options, &settings));
    ck_assert(!sal_train_suggest("no model", &options, &settings));
    ck_assert(!sal_train_suggest(NULL, &options, &settings));
    ck_assert(!sal_train_suggest("rbm", NULL, &settings));
    ck_assert_int_eq(options.iterations, 7);
    ck_assert_str_eq(settings, "as before");
    ck_assert(sal_train_suggest("rbm:hidden=20", &options, NULL));
    ck_assert_str_eq(options.sampler, "block-gibbs");
    ck_assert_int_eq(options.objective, SAL_PTT);
    static const char *const after_rbm[] = { "usps-conv", "mlp:kind=binary",
                                             "strided-conv:channels=8,levels=0" };
    for (int k = 0; k < 3; k++) {
        ck_assert(sal_train_suggest(after_rbm[k], &options, &settings));
        ck_assert_str_eq(settings, "units=500");
        ck_assert_str_eq(options.sampler, "block-gibbs");
        ck_assert_int_eq(options.objective, SAL_PTT);
    }
    static const char *const alone[] = { "usps-conv:kind=spin", "conv:states=4", "mlp:units=0",
                                         "resnet:kind=ordinal" };
    for (int k = 0; k < 4; k++) {
        ck_assert(sal_train_suggest(alone[k], &options, &settings));
        ck_assert_str_eq(settings, "base=1");
        ck_assert_str_eq(options.sampler, "ncg");
        ck_assert_int_eq(options.objective, SAL_PTT);
    }
    ck_assert(sal_train_suggest("usps-conv:channels=8,levels=6", &options, &settings));
    ck_assert_int_eq(options.objective, SAL_DENOISING);
    static const char *const chains[] = { "strided-conv", "mnist-conv", "mnist-resnet:channels=8" };
    for (int k = 0; k < 3; k++) {
        ck_assert(sal_train_suggest(chains[k], &options, &settings));
        ck_assert_str_eq(settings, "base=1,levels=8,units=64");
        ck_assert_int_eq(options.objective, SAL_DENOISING);
        ck_assert_double_eq(options.learning_rate, k < 2 ? 0.002 : 0.001);
    }
}
END_TEST

START_TEST(nets_of_bits_are_trained_after_an_rbm)
{
    static const char *const cases[][2] = {
        { "usps-conv", "rbm:hidden=500" },
        { "strided-conv:levels=0,units=20", "rbm:hidden=20" },
        { "mlp:kind=binary,states=2", "rbm:hidden=500" },
        { "strided-conv", NULL },
        { "mnist-conv", NULL },
        { "mnist-conv:levels=0", "rbm:hidden=500" },
        { "usps-conv:levels=4", NULL },
        { "usps-conv:units=0", NULL },
        { "usps-conv:base=1", NULL },
        { "usps-conv:base=0", "rbm:hidden=500" },
        { "usps-conv:kind=spin", NULL },
        { "conv:states=4", NULL },
        { "rbm", NULL },
        { "no model", NULL },
    };
    char *first = NULL;
    sal_error err;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ck_ok(sal_train_first(cases[k][0], &first, &err), &err);
        ck_assert(cases[k][1] ? first && strcmp(first, cases[k][1]) == 0 : !first);
        sal_free(first);
    }
    ck_fails(sal_train_first(NULL, &first, &err), SAL_ERR_ARGUMENT, &err, "NULL");
}
END_TEST

START_TEST(specifications_are_completed_for_training)
{
    static const char *const cases[][2] = {
        { "usps-conv", "usps-conv:units=500" },
        { "usps-conv:levels=4", "usps-conv:levels=4,base=1,units=64" },
        { "usps-conv:quadratic=1,units=0", "usps-conv:quadratic=1,units=0" },
        { "usps-conv:kind=ordinal,states=4", "usps-conv:kind=ordinal,states=4" },
        { "strided-conv", "strided-conv:base=1,levels=8,units=64" },
        { "strided-conv:base=0,channels=8", "strided-conv:base=0,channels=8,levels=8,units=64" },
        { "strided-conv:levels=0", "strided-conv:levels=0,units=500" },
        { "mnist-resnet", "mnist-resnet:base=1,levels=8,units=64" },
        { "mlp", "mlp:visible=9,units=500" },
        { "rbm:hidden=3", "rbm:hidden=3,visible=9" },
        { "rbm:kind=spin", "rbm:kind=spin,visible=9" },
        { "rbm:kind=ordinal,hidden=3", "rbm:kind=ordinal,hidden=3,visible=9,states=7" },
        { "rbm:visible=9,kind=categorical", "rbm:visible=9,kind=categorical,states=7" },
        { "rbm:kind=categorical,states=8", "rbm:kind=categorical,states=8,visible=9" },
    };
    uint8_t codes[] = { 0, 1, 0, 0, 6, 1, 0, 0, 0 };
    sal_data data = { .rows = 1, .variables = 9, .codes = codes };
    sal_error err;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char *text = NULL;
        ck_ok(sal_train_specification(cases[k][0], &data, true, &text, &err), &err);
        ck_assert_str_eq(text, cases[k][1]);
        sal_free(text);
    }
}
END_TEST

static sal_status complete(const char *specification, const sal_data *data, char **text)
{
    return sal_train_specification(specification, data, true, text, NULL);
}

/* .. unless the specification has letters, or another number of states. */
START_TEST(letters_of_data_are_added_for_training)
{
    static const char *const cases[][3] = {
        { "rbm:kind=categorical", "-ACDEFGHIKLMNPQRSTVWY",
          "rbm:kind=categorical,visible=9,alphabet=-ACDEFGHIKLMNPQRSTVWY" },
        { "rbm:kind=categorical", "ACGT", "rbm:kind=categorical,visible=9,alphabet=ACGT" },
        { "rbm:kind=categorical,states=5,visible=9", "-ACGT",
          "rbm:kind=categorical,states=5,visible=9,alphabet=-ACGT" },
        { "rbm:kind=categorical,alphabet=auto,hidden=3", "-ACGT",
          "rbm:kind=categorical,hidden=3,visible=9,alphabet=-ACGT" },
        { "rbm:kind=categorical,states=21", "-ACGT", "rbm:kind=categorical,states=21,visible=9" },
        { "rbm:kind=categorical,alphabet=rna", "-ACGT",
          "rbm:kind=categorical,alphabet=rna,visible=9" },
        { "rbm:kind=categorical,alphabet=auto", "",
          "rbm:kind=categorical,alphabet=auto,visible=9,states=7" },
        { "rbm:kind=ordinal", "-ACGTXY", "rbm:kind=ordinal,visible=9,states=7" },
        { "rbm:hidden=3", "-ACGT", "rbm:hidden=3,visible=9" },
        { "mlp:visible=9,kind=categorical,states=5", "-ACGT",
          "mlp:visible=9,kind=categorical,states=5" },
    };
    uint8_t codes[] = { 0, 1, 0, 0, 6, 1, 0, 0, 0 };
    sal_data data = { .rows = 1, .variables = 9, .codes = codes };
    char *text = NULL;
    sal_error err;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        strcpy(data.alphabet, cases[k][1]);
        ck_ok(sal_train_specification(cases[k][0], &data, false, &text, &err), &err);
        ck_assert_str_eq(text, cases[k][2]);
        sal_free(text);
        text = NULL;
    }
    ck_fails(sal_train_specification("rbm:kind=categorical,alphabet=auto,alphabet=auto",
                                     &(sal_data){ .rows = 1, .variables = 9, .alphabet = "-AC" },
                                     false, &text, &err),
             SAL_ERR_ARGUMENT, &err, "alphabet= is given twice");
    strcpy(data.alphabet, "-ACGT");
    ck_alloc_sweep(complete("rbm:kind=categorical,alphabet=auto", &data, &text),
                   (sal_free(text), text = NULL));
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
    tcase_add_test(tcase, training_options_are_those_of_the_models_record);
    tcase_add_test(tcase, nets_of_bits_are_trained_after_an_rbm);
    tcase_add_test(tcase, specifications_are_completed_for_training);
    tcase_add_test(tcase, letters_of_data_are_added_for_training);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
