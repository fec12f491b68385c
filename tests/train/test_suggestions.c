/* SPDX-License-Identifier: MIT */
/* Trainings that suit ready-made models: options beside those that are given, settings, and what is
 * trained first. */
#include "test.h"

#include <math.h>

#include <saltus/program.h>
#include <saltus/saltus.h>

#include "alloc_fail.h"

START_TEST(training_options_are_those_of_the_models_record)
{
    sal_train_options options = { .iterations = 7 };
    const char *settings = "as before";
    ck_assert(!sal_train_suggest("ising:side=3", NULL, 0, &options, &settings));
    ck_assert(!sal_train_suggest("no model", NULL, 0, &options, &settings));
    ck_assert(!sal_train_suggest(NULL, NULL, 0, &options, &settings));
    ck_assert(!sal_train_suggest("rbm", NULL, 0, NULL, &settings));
    ck_assert_int_eq(options.iterations, 7);
    ck_assert_str_eq(settings, "as before");
    ck_assert(sal_train_suggest("rbm:hidden=20", "", 0, &options, NULL));
    ck_assert_str_eq(options.sampler, "block-gibbs");
    ck_assert_int_eq(options.objective, SAL_PTT);
    ck_assert_int_eq(options.iterations, 3600);
    static const char *const after_rbm[] = { "usps-conv", "mlp:kind=binary",
                                             "strided-conv:channels=8,levels=0" };
    for (int k = 0; k < 3; k++) {
        ck_assert(sal_train_suggest(after_rbm[k], "", 0, &options, &settings));
        ck_assert_str_eq(settings, "units=500");
        ck_assert_str_eq(options.sampler, "block-gibbs");
        ck_assert_int_eq(options.objective, SAL_PTT);
    }
    static const char *const alone[] = { "usps-conv:kind=spin", "conv:states=4", "mlp:units=0",
                                         "resnet:kind=ordinal" };
    for (int k = 0; k < 4; k++) {
        ck_assert(sal_train_suggest(alone[k], "", 0, &options, &settings));
        ck_assert_str_eq(settings, "base=1");
        ck_assert_str_eq(options.sampler, "ncg");
        ck_assert_int_eq(options.objective, SAL_PTT);
    }
    ck_assert(sal_train_suggest("usps-conv:channels=8,levels=6", "", 0, &options, &settings));
    ck_assert_int_eq(options.objective, SAL_DENOISING);
    static const char *const chains[] = { "strided-conv", "mnist-conv", "mnist-resnet:channels=8" };
    for (int k = 0; k < 3; k++) {
        ck_assert(sal_train_suggest(chains[k], "", 0, &options, &settings));
        ck_assert_str_eq(settings, "base=1,levels=8,units=64");
        ck_assert_int_eq(options.objective, SAL_DENOISING);
        ck_assert_double_eq(options.learning_rate, k < 2 ? 0.002 : 0.001);
    }
}
END_TEST

/* ---- beside options that are given */

/* Check the options that `want` names: "NAME=VALUE NAME=VALUE". */
static void check_options(const sal_train_options *o, const char *want, const char *about)
{
    static char found[1000];
    const sal_option_table *table = sal_option_table_of(SAL_OPTIONS_TRAIN);
    size_t used = 0;
    sal_error err;
    for (const char *at = want; *at; at += strcspn(at, " "), at += *at == ' ') {
        char name[40], value[40];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "="), at);
        ck_ok(sal_option_get(table, o, name, value, sizeof value, &err), &err);
        used += (size_t)snprintf(found + used, sizeof found - used, "%s%s=%s", used ? " " : "",
                                 name, value);
    }
    ck_assert_msg(strcmp(found, want) == 0, "%s: %s; expected %s", about, found, want);
}

/* Read "NAME=VALUE NAME=VALUE" into options, and the names into `given`. */
static void read_given(const char *text, sal_train_options *o, char given[400])
{
    static char copies[10][40];
    const sal_option_table *table = sal_option_table_of(SAL_OPTIONS_TRAIN);
    sal_error err;
    *o = (sal_train_options){ 0 };
    given[0] = '\0';
    for (int k = 0; *text; k++, text += *text == ' ') {
        char name[40];
        const size_t length = strcspn(text, "="), whole = strcspn(text, " ");
        snprintf(name, sizeof name, "%.*s", (int)length, text);
        snprintf(copies[k], sizeof copies[k], "%.*s", (int)(whole - length - 1), text + length + 1);
        ck_ok(sal_option_set(table, o, name, copies[k], &err), &err);
        strcat(strcat(given, k ? "," : ""), name);
        text += whole;
    }
}

#define ALIGNMENT "potts-alignment:file=a.fa"

static const struct {
    const char *model, *given;
    int64_t rows;
    const char *want; /* NULL: nothing is suggested */
} requests[] = {
    /* all of it */
    { ALIGNMENT, "", 0,
      "objective=pcd sampler=gibbs steps=-1 batch=10000 buffer=10000 optimiser=sgd momentum=0 "
      "pearson=0.95 report=20 iterations=20000" },
    { "rbm", "", 0,
      "objective=ptt sampler=block-gibbs steps=1 batch=500 reservoir=20000 optimiser=sgd "
      "momentum=0 learning-rate=0.03 rate-cooldown=0.5 iterations=3600" },
    /* what is given stays, also at its default value */
    { "rbm", "steps=7 rate-cooldown=0 iterations=2000", 0,
      "objective=ptt sampler=block-gibbs steps=7 rate-cooldown=0 iterations=2000 batch=500" },
    /* persistent chains */
    { ALIGNMENT, "buffer=2000", 0,
      "objective=pcd sampler=gibbs steps=-1 batch=2000 buffer=2000 optimiser=sgd momentum=0 "
      "pearson=0.95" },
    { ALIGNMENT, "buffer=20000", 0, "batch=10000 buffer=20000 sampler=gibbs" },
    { ALIGNMENT, "batch=100 buffer=2000", 0, "batch=100 buffer=2000 sampler=gibbs" },
    { ALIGNMENT, "batch=30000", 0, "batch=30000 buffer=30000 sampler=gibbs" },
    { ALIGNMENT, "batch=100", 0, "batch=100 buffer=10000 sampler=gibbs" },
    { ALIGNMENT, "buffer-start=data restart=0.1", 0,
      "buffer-start=data restart=0.1 buffer=10000 sampler=gibbs" },
    { ALIGNMENT, "magnitude-penalty=0.1", 0, "magnitude-penalty=0.1 sampler=gibbs" },
    { ALIGNMENT, "magnitude-penalty=0.1", 300, "batch=300 buffer=10000 sampler=gibbs" },
    { ALIGNMENT, "centring=on", 300, "batch=300 buffer=10000 sampler=gibbs" },
    { ALIGNMENT, "centring=off", 300, "batch=10000 buffer=10000 sampler=gibbs" },
    { "rbm", "buffer=2000", 0, NULL },
    { "rbm", "buffer-start=data", 0, NULL },
    { "rbm", "buffer-order=passes", 0, NULL },
    { "rbm", "restart=0.1", 0, NULL },
    { "strided-conv", "magnitude-penalty=0.1", 0, NULL },
    /* couplings that are learned one by one */
    { ALIGNMENT, "sparsity=activate", 0, "sparsity=activate learning-rate=1 buffer=10000" },
    { ALIGNMENT, "sparsity=activate learning-rate=0.2", 0, "sparsity=activate learning-rate=0.2" },
    { ALIGNMENT, "sparsity=activate optimiser=adam", 0, "optimiser=adam learning-rate=0.001" },
    { ALIGNMENT, "sparsity=decimate", 0, "sparsity=decimate momentum=0" },
    /* objectives */
    { ALIGNMENT, "objective=pcd", 0,
      "objective=pcd sampler=gibbs steps=-1 batch=10000 buffer=10000 optimiser=sgd momentum=0 "
      "pearson=0.95" },
    { "rbm", "objective=ptt", 0,
      "objective=ptt sampler=block-gibbs steps=1 batch=500 reservoir=20000 optimiser=sgd" },
    { "rbm", "objective=ptt buffer=20", 0, "sampler=block-gibbs buffer=20" },
    { "strided-conv", "objective=denoising", 0, "rate-schedule=cosine iterations=2600" },
    { ALIGNMENT, "objective=ptt", 0, NULL },
    { "rbm", "objective=pcd", 0, NULL },
    { "strided-conv", "objective=cd", 0, NULL },
    /* samplers, whose steps are not alike */
    { ALIGNMENT, "sampler=gwg", 0,
      "objective=pcd sampler=gwg steps=20 batch=10000 buffer=10000 optimiser=sgd momentum=0 "
      "pearson=0.95" },
    { ALIGNMENT, "sampler=gwg steps=5", 0, "sampler=gwg steps=5 optimiser=sgd" },
    { ALIGNMENT, "sampler=gibbs:scan=random", 0, "sampler=gibbs:scan=random steps=-1" },
    { "rbm", "sampler=block-gibbs", 0, "sampler=block-gibbs steps=1 objective=ptt" },
    { "rbm", "sampler=block", 0, "sampler=block steps=20 objective=ptt reservoir=20000" },
    { "strided-conv", "sampler=ncg", 0, "sampler=ncg objective=denoising clip=10" },
    /* optimisers, whose rates are not alike */
    { ALIGNMENT, "optimiser=adam", 0,
      "optimiser=adam momentum=0.9 learning-rate=0.001 sampler=gibbs steps=-1 buffer=10000" },
    { ALIGNMENT, "optimiser=adam learning-rate=0.01", 0, "optimiser=adam learning-rate=0.01" },
    { ALIGNMENT, "optimiser=sgd", 0, "optimiser=sgd momentum=0" },
    { "strided-conv", "optimiser=sgd", 0, "optimiser=sgd beta2=0.999 learning-rate=0.001 clip=10" },
    /* rows, and whole batches in the reservoir */
    { ALIGNMENT, "", 30, "batch=10000 buffer=10000" },
    { "rbm", "", 500, "batch=500 reservoir=20000" },
    { "rbm", "", 499, "batch=499 reservoir=" },
    { "rbm", "batch=400", 300, "batch=400 reservoir=" },
    { "rbm", "batch=500", 300, "batch=500 reservoir=20000" },
    { "rbm", "reservoir=900", 300, "batch=300 reservoir=900" },
};

START_TEST(suggestions_go_with_what_is_given)
{
    sal_train_options o, before;
    char given[400];
    const char *settings = "as before";
    read_given(requests[_i].given, &o, given);
    before = o;
    const bool suggested =
        sal_train_suggest(requests[_i].model, given, requests[_i].rows, &o, &settings);
    ck_assert_msg(suggested == (requests[_i].want != NULL), "%s %s", requests[_i].model, given);
    if (!suggested) {
        ck_assert_mem_eq(&o, &before, sizeof o);
        ck_assert_str_eq(settings, "as before");
        return;
    }
    check_options(&o, requests[_i].want, given);
    sal_train_options again = o; /* the rows may become known later */
    ck_assert(sal_train_suggest(requests[_i].model, given, 7, &again, NULL));
    ck_assert(sal_train_suggest(requests[_i].model, given, requests[_i].rows, &again, NULL));
    check_options(&again, requests[_i].want, given);
}
END_TEST

/* Fields that are no options of a command stay; names that are none count for nothing. Without
 * names what is not 0 is given. */
START_TEST(given_options_have_names_or_are_not_0)
{
    double matrix[1] = { 1 };
    sal_train_options o = { .preconditioner = matrix, .buffer.chains = 300, .seed = 1ULL << 63 };
    ck_assert(sal_train_suggest(ALIGNMENT, NULL, 0, &o, NULL));
    check_options(&o, "batch=300 buffer=300 seed=9223372036854775808 sampler=gibbs", "no names");
    ck_assert_ptr_eq(o.preconditioner, matrix);
    o = (sal_train_options){ .buffer.order = SAL_BUFFER_PASSES, .sampler = "gwg" };
    ck_assert(!sal_train_suggest("rbm", NULL, 0, &o, NULL));
    o = (sal_train_options){ .objective = SAL_PTT };
    ck_assert(!sal_train_suggest(ALIGNMENT, NULL, 0, &o, NULL));
    o = (sal_train_options){ 0 };
    ck_assert(!sal_train_suggest("rbm", "steps,objective", 0, &o, NULL));
    ck_assert(!sal_train_suggest("rbm", "steps,buffer_start,batch", 0, &o, NULL));
    ck_assert(sal_train_suggest("rbm", "buffers,object,objectives,,verbose", 0, &o, NULL));
    check_options(&o, "objective=ptt steps=1 batch=500", "other names");
}
END_TEST

/* The rate of plain ascent on an alignment depends on the number of states; any other training has
 * the usual one. */
START_TEST(plain_ascent_on_alignments_has_a_rate_of_its_own)
{
    static const struct {
        const char *model, *alphabet;
        sal_objective objective;
        sal_optimiser method;
        double momentum, rate;
    } cases[] = {
        { "potts-dense:dim=3,states=5", "-ACGU", SAL_PCD, SAL_SGD, -1, 0.04 },
        { "potts-dense:dim=3,states=21", "-ACDEFGHIKLMNPQRSTVWY", SAL_PCD, SAL_SGD, -1, 0.7056 },
        { "potts-dense:dim=3,states=10", "ABCDEFGHIJ", SAL_PCD, SAL_SGD, -1, 0.16 },
        { "potts-dense:dim=3,states=5", "", SAL_PCD, SAL_SGD, -1, 0 },
        { "potts-dense:dim=3,states=5", "-ACGU", SAL_PCD, SAL_SGD, 0.5, 0 },
        { "potts-dense:dim=3,states=5", "-ACGU", SAL_PCD, SAL_SGD, 0, 0 },
        { "potts-dense:dim=3,states=5", "-ACGU", SAL_PCD, SAL_ADAM, -1, 0 },
        { "potts-dense:dim=3,states=5", "-ACGU", SAL_PTT, SAL_SGD, -1, 0 },
        { "potts-dense:dim=272,states=2", "AB", SAL_PCD, SAL_SGD, -1, 0.0032 },
        { "rbm:kind=categorical,visible=3,states=5,hidden=2", "-ACGU", SAL_PCD, SAL_SGD, -1, 0 },
        { "mixture:dim=3,states=5,components=2", "-ACGU", SAL_PCD, SAL_SGD, -1, 0 },
    };
    uint8_t codes[272] = { 0 };
    sal_error err;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_data data = { .rows = 1, .codes = codes };
        sal_model *model = NULL;
        sal_train_options o = { .objective = cases[k].objective,
                                .optimiser = { .method = cases[k].method,
                                               .momentum = cases[k].momentum } };
        ck_ok(sal_model_open(cases[k].model, SAL_F64, &model, &err), &err);
        snprintf(data.alphabet, sizeof data.alphabet, "%s", cases[k].alphabet);
        data.variables = sal_space_variables(sal_model_space(model));
        ck_ok(sal_train_complete(model, &data, &o, &err), &err);
        ck_assert_msg(fabs(o.learning_rate - cases[k].rate) < 1e-12, "%d: %g", (int)k,
                      o.learning_rate);
        o.learning_rate = 3;
        ck_ok(sal_train_complete(model, &data, &o, &err), &err);
        ck_assert_double_eq(o.learning_rate, 3);
        sal_model_destroy(model);
    }
}
END_TEST

/* ---- settings, and what comes first */

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
    Suite *suite = suite_create("suggestions");
    TCase *tcase = tcase_create("suggestions");
    tcase_add_test(tcase, training_options_are_those_of_the_models_record);
    tcase_add_loop_test(tcase, suggestions_go_with_what_is_given, 0,
                        sizeof requests / sizeof *requests);
    tcase_add_test(tcase, given_options_have_names_or_are_not_0);
    tcase_add_test(tcase, plain_ascent_on_alignments_has_a_rate_of_its_own);
    tcase_add_test(tcase, nets_of_bits_are_trained_after_an_rbm);
    tcase_add_test(tcase, specifications_are_completed_for_training);
    tcase_add_test(tcase, letters_of_data_are_added_for_training);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
