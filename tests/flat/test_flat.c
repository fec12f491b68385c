/* SPDX-License-Identifier: MIT */
/* The interface for other languages: it does what the C functions do, refuses what is wrong, and
 * survives allocation failures. */
#include <math.h>
#include <jansson.h>

#include <saltus/saltus.h>
#include "alloc_fail.h"
#include "run/results/figures.h"
#include "test.h"

/* ---- formulas */

/* 0.5 sum_i s_i s_(i+1) over four spins, by numbers of nodes. */
static sal_model *chain_model(void)
{
    sal_error err = { 0 };
    sal_space *space = sal_space_create();
    ck_ok(sal_flat_space_add(space, "s", SAL_SPIN, 4, 0, NULL, 0, &err), &err);
    sal_tape *tape = sal_flat_tape_create(space, true);
    const int64_t first[] = { 0, 0, 3 }, second[] = { 0, 1, 3 };
    const int32_t s = sal_flat_state(NULL, 0, tape, "s");
    const int32_t a = sal_flat_operation(NULL, 0, tape, "slice", 1, &s, 3, first, 0, NULL);
    const int32_t b = sal_flat_operation(NULL, 0, tape, "slice", 1, &s, 3, second, 0, NULL);
    const int32_t both[] = { a, b };
    int32_t f = sal_flat_operation(NULL, 0, tape, "dot", 2, both, 0, NULL, 0, NULL);
    f = sal_flat_operation(NULL, 0, tape, "scale", 1, &f, 0, NULL, 1, &(double){ 0.5 });
    sal_model *model = NULL;
    ck_ok(sal_flat_model(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return model;
}

START_TEST(version_has_major_and_minor)
{
    int major = 0, minor = 0;
    ck_assert_int_eq(sscanf(sal_version(), "%d.%d", &major, &minor), 2);
    ck_assert_int_eq(sal_flat_version(), 1000 * major + minor);
}
END_TEST

START_TEST(formulas_by_numbers)
{
    sal_model *model = chain_model();
    sal_error err = { 0 };
    double f;
    ck_ok(sal_model_evaluate(model, 1, (int32_t[]){ 1, 1, 0, 0 }, &f, NULL, NULL, &err), &err);
    ck_assert_double_eq(f, 0.5 * (1 - 1 + 1));
    sal_model_destroy(model);
}
END_TEST

/* Numbers of labels are the levels of a categorical block; sums are fixed in the space. */
START_TEST(fixed_sums_and_labels)
{
    sal_error err = { 0 };
    char *json = NULL;
    sal_model *model = NULL;
    sal_space *space = sal_space_create();
    const double labels[] = { 2, 0, 2 }, bad[] = { 2, 0.5, 1.5 }, few[] = { 1, 1, 1 };
    ck_ok(sal_flat_space_add(space, "l", SAL_CATEGORICAL, 4, 3, labels, 0, &err), &err);
    ck_fails(sal_flat_space_add(space, "m", SAL_CATEGORICAL, 4, 3, bad, 0, &err), SAL_ERR_ARGUMENT,
             &err, "label 1 occurs 0.5 times; expected a whole number");
    ck_fails(sal_flat_space_add(space, "m", SAL_CATEGORICAL, 4, 3, few, 0, &err), SAL_ERR_ARGUMENT,
             &err, "sum to 3");
    ck_fails(sal_flat_space_add(space, "m", SAL_BINARY, 4, 0, labels, 0, &err), SAL_ERR_ARGUMENT,
             &err, "levels are for");
    ck_ok(sal_flat_space_add(space, "s", SAL_SPIN, 3, 0, NULL, 0, &err), &err);
    ck_ok(sal_space_fix_sum(space, "s", -1, &err), &err);
    sal_tape *tape = sal_flat_tape_create(space, true);
    int32_t f = sal_flat_state(NULL, 0, tape, NULL);
    f = sal_flat_operation(NULL, 0, tape, "sum", 1, &f, 1, &(int64_t){ -1 }, 0, NULL);
    ck_ok(sal_flat_model(tape, f, &model, &err), &err);
    ck_ok(sal_flat_model_info(model, &json, &err), &err);
    json_t *info = json_loads(json, 0, NULL);
    json_t *blocks = json_object_get(info, "blocks");
    json_t *first = json_array_get(blocks, 0), *second = json_array_get(blocks, 1);
    ck_assert(!json_object_get(first, "sum") && !json_object_get(second, "labels"));
    ck_assert_int_eq(json_integer_value(json_object_get(second, "sum")), -1);
    for (size_t k = 0; k < 3; k++) {
        const json_t *n = json_array_get(json_object_get(first, "labels"), k);
        ck_assert_int_eq(json_integer_value(n), (int64_t)labels[k]);
    }
    json_decref(info);
    sal_free(json);
    sal_model_destroy(model);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}
END_TEST

START_TEST(nodes_that_do_not_exist)
{
    sal_error err = { 0 };
    sal_space *space = sal_space_create();
    ck_ok(sal_flat_space_add(space, "s", SAL_SPIN, 4, 0, NULL, 0, &err), &err);
    ck_fails(sal_flat_space_add(space, "t", 9, 4, 0, NULL, 0, &err), SAL_ERR_ARGUMENT, &err,
             "kind");
    sal_tape *tape = sal_flat_tape_create(space, true);
    const int32_t s = sal_flat_state(NULL, 0, tape, NULL);
    int64_t dim[SAL_MAX_RANK];
    ck_assert_int_eq(sal_flat_shape(tape, s, dim), 1);
    ck_assert_int_eq(dim[0], 4);
    for (int32_t wrong = -2; wrong < 4; wrong++) {
        if (wrong != s) {
            ck_assert_int_eq(sal_flat_shape(tape, wrong, dim), -1);
        }
    }
    sal_model *model = NULL;
    ck_fails(sal_flat_model(tape, 1000000, &model, &err), SAL_ERR_ARGUMENT, &err, "");
    const int32_t wrong[] = { s, 77 };
    ck_assert_int_eq(sal_flat_operation("u.py", 7, tape, "add", 2, wrong, 0, NULL, 0, NULL), -1);
    ck_assert_int_eq(sal_flat_operation("u.py", 7, tape, "add", 0, NULL, 0, NULL, 0, NULL), -1);
    ck_fails(sal_tape_check(tape, &err), SAL_ERR_ARGUMENT, &err, "u.py:7");
    ck_assert_ptr_null(model);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}
END_TEST

START_TEST(mistakes_name_the_users_line)
{
    sal_error err = { 0 };
    sal_space *space = sal_space_create();
    ck_ok(sal_flat_space_add(space, "s", SAL_SPIN, 4, 0, NULL, 0, &err), &err);
    sal_tape *tape = sal_flat_tape_create(space, true);
    const int32_t p = sal_flat_param("u.py", 3, tape, "p", 1, (int64_t[]){ 3 });
    const int32_t both[] = { sal_flat_state("u.py", 4, tape, "s"), p };
    ck_assert_int_eq(sal_flat_operation("u.py", 5, tape, "add", 2, both, 0, NULL, 0, NULL), -1);
    ck_fails(sal_tape_check(tape, &err), SAL_ERR_SHAPE, &err, "u.py:5");
    sal_tape_destroy(tape);
    tape = sal_flat_tape_create(space, true);
    ck_assert_int_eq(sal_flat_constant("u.py", 8, tape, &(double){ 1 }, 9, (int64_t[9]){ 1 }), -1);
    ck_fails(sal_tape_check(tape, &err), SAL_ERR_SHAPE, &err, "u.py:8");
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}
END_TEST

/* ---- options */

START_TEST(options_from_json_and_lines_are_the_same)
{
    sal_model *model = chain_model();
    sal_error err = { 0 };
    const char *const texts[] = {
        "{\"sampler\": \"gwg:radius=2\", \"chains\": 3, \"draws\": 20, \"warmup\": 5, \"seed\": "
        "\"7\", "
        "\"track-best\": true, \"threads\": null}",
        "sampler=gwg:radius=2\n\nchains=3\ndraws=20\nwarmup=5\nseed=7\ntrack_best=yes\n",
    };
    sal_run *runs[2] = { NULL };
    for (int k = 0; k < 2; k++) {
        sal_flat_options *options = NULL;
        ck_ok(sal_flat_options_create(SAL_OPTIONS_RUN, texts[k], &options, &err), &err);
        ck_ok(sal_flat_sample(model, options, true, NULL, &runs[k], &err), &err);
        sal_flat_options_destroy(options);
    }
    const sal_run_options plain = { .sampler = "gwg:radius=2",
                                    .chains = 3,
                                    .draws = 20,
                                    .warmup = 5,
                                    .seed = 7,
                                    .record = { .draws = true, .best = true } };
    sal_run *by_struct = NULL;
    ck_ok(sal_sample(model, &plain, &by_struct, &err), &err);
    int bytes;
    const size_t size = 3 * 20 * 4;
    const void *expected = sal_run_draws(by_struct, &bytes);
    for (int k = 0; k < 2; k++) {
        ck_assert_mem_eq(sal_run_draws(runs[k], &bytes), expected, size);
        ck_ok(sal_run_best(runs[k], NULL, NULL, &err), &err);
        sal_run_destroy(runs[k]);
    }
    sal_run_destroy(by_struct);
    sal_model_destroy(model);
}
END_TEST

START_TEST(wrong_options)
{
    static const struct {
        const char *text;
        sal_status status;
        const char *says;
    } cases[] = {
        { "{\"chain\": 3}", SAL_ERR_NOT_FOUND, "did you mean 'chains'" },
        { "{\"zzzzzz\": 3}", SAL_ERR_NOT_FOUND, "no option 'zzzzzz'" },
        { "{\"chains\": -3}", SAL_ERR_ARGUMENT, "chains -3: expected" },
        { "{\"chains\": 1.5}", SAL_ERR_ARGUMENT, "chains 1.5: expected" },
        { "{\"chains\": [3]}", SAL_ERR_ARGUMENT, "chains: expected a number" },
        { "{\"chains\": 3, \"chains\": 4}", SAL_ERR_ARGUMENT, "duplicate" },
        { "{\"chains\": 3", SAL_ERR_ARGUMENT, "line 1" },
        { "{\"anneal\": 3}", SAL_ERR_ARGUMENT, "yes|no" },
        { "chains", SAL_ERR_ARGUMENT, "NAME=VALUE" },
        { "chains=", SAL_ERR_ARGUMENT, "chains" },
        { "chains=3\nstep-size=fast", SAL_ERR_ARGUMENT, "adapt|auto|X" },
        { "\xff\xfe=3", SAL_ERR_NOT_FOUND, "no option" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_error err = { 0 };
        sal_flat_options *options = NULL;
        ck_fails(sal_flat_options_create(SAL_OPTIONS_RUN, cases[k].text, &options, &err),
                 cases[k].status, &err, cases[k].says);
        ck_assert_ptr_null(options);
    }
    sal_error err = { 0 };
    sal_flat_options *options = NULL;
    ck_fails(sal_flat_options_create(SAL_OPTIONS_INPAINT, NULL, &options, &err), SAL_ERR_ARGUMENT,
             &err, "expected those of a run");
}
END_TEST

/* Codes of one state are the start of every chain. */
START_TEST(one_start_for_all_chains)
{
    sal_model *model = chain_model();
    sal_error err = { 0 };
    sal_flat_options *options = NULL;
    sal_run *run = NULL;
    const int32_t ones[4] = { 1, 1, 1, 1 };
    int bytes;
    ck_ok(sal_flat_options_create(SAL_OPTIONS_RUN, "sampler=gibbs\nchains=3\nwarmup=0\ndraws=1",
                                  &options, &err),
          &err);
    ck_ok(sal_flat_options_codes(options, "init", 4, ones, &err), &err);
    ck_ok(sal_flat_sample(model, options, true, NULL, &run, &err), &err);
    const uint8_t *codes = sal_run_draws(run, &bytes);
    for (int chain = 0; chain < 3; chain++) {
        int sum = 0;
        for (int v = 0; v < 4; v++) {
            sum += codes[4 * chain + v];
        }
        ck_assert_int_ge(sum, 3); /* a step moves one variable at most */
    }
    sal_run_destroy(run);
    sal_flat_options_destroy(options);
    sal_model_destroy(model);
}
END_TEST

START_TEST(arrays_that_do_not_fit)
{
    sal_model *model = chain_model();
    sal_error err = { 0 };
    sal_flat_options *options = NULL;
    sal_run *run = NULL;
    const double reals[4] = { 1, 2, 3, 4 };
    const int32_t codes[5] = { 0 };
    ck_ok(sal_flat_options_create(SAL_OPTIONS_RUN, "chains=2\ndraws=2", &options, &err), &err);
    ck_fails(sal_flat_options_reals(options, "log-base", 4, reals, &err), SAL_ERR_NOT_FOUND, &err,
             "temperatures, preconditioner");
    ck_fails(sal_flat_options_codes(options, "reverse-from", 4, codes, &err), SAL_ERR_NOT_FOUND,
             &err, "init");
    ck_fails(sal_flat_options_handle(options, "test", model, &err), SAL_ERR_NOT_FOUND, &err,
             "tuning, trajectory, sampler");
    ck_fails(sal_flat_options_reals(options, "temperatures", -1, reals, &err), SAL_ERR_ARGUMENT,
             &err, "-1");
    ck_ok(sal_flat_options_reals(options, "preconditioner", 0, reals, &err), &err); /* none */
    ck_ok(sal_flat_sample(model, options, true, NULL, &run, &err), &err);
    sal_run_destroy(run);
    run = NULL;
    ck_ok(sal_flat_options_codes(options, "init", 5, codes, &err), &err);
    ck_fails(sal_flat_sample(model, options, true, NULL, &run, &err), SAL_ERR_ARGUMENT, &err,
             "init: expected codes [4], or [2 x 4]; there are 5");
    ck_ok(sal_flat_options_codes(options, "init", 4, codes, &err), &err);
    ck_ok(sal_flat_options_reals(options, "preconditioner", 4, reals, &err), &err);
    ck_fails(sal_flat_sample(model, options, true, NULL, &run, &err), SAL_ERR_ARGUMENT, &err,
             "preconditioner: expected 16");
    sal_flat_options_destroy(options);
    ck_ok(sal_flat_options_create(SAL_OPTIONS_AIS, NULL, &options, &err), &err);
    ck_fails(sal_flat_sample(model, options, true, NULL, &run, &err), SAL_ERR_ARGUMENT, &err,
             "expected options of a run; these are of AIS");
    ck_fails(sal_flat_options_clamp(options, 0, NULL, NULL, &err), SAL_ERR_NOT_FOUND, &err,
             "clamp");
    ck_fails(sal_flat_sample(NULL, NULL, true, NULL, &run, &err), SAL_ERR_ARGUMENT, &err, "model");
    ck_assert_ptr_null(run);
    sal_flat_options_destroy(options);
    sal_flat_options_destroy(NULL);
    sal_model_destroy(model);
}
END_TEST

/* ---- answers */

static json_t *parse(char *text)
{
    json_t *object = json_loads(text, JSON_DECODE_ANY, NULL);
    ck_assert_ptr_nonnull(object);
    sal_free(text);
    return object;
}

START_TEST(exact_answers)
{
    sal_model *model = chain_model();
    sal_error err = { 0 };
    double marginals[8];
    char *text = NULL;
    ck_ok(
        sal_flat_exact(model, "{\"oracle\": \"enumeration\"}", marginals, NULL, NULL, &text, &err),
        &err);
    json_t *object = parse(text);
    const double log_z = 4 * log(2) + 3 * log(cosh(0.5));
    ck_assert_double_eq_tol(json_real_value(json_object_get(object, "log_z")), log_z, 1e-12);
    ck_assert_str_eq(json_string_value(json_object_get(object, "oracle")), "enumeration");
    for (int k = 0; k < 8; k++) {
        ck_assert_double_eq_tol(marginals[k], 0.5, 1e-12);
    }
    json_decref(object);
    text = NULL;
    ck_fails(sal_flat_exact(model, "oracle=guess", NULL, NULL, NULL, &text, &err), SAL_ERR_ARGUMENT,
             &err, "guess");
    ck_fails(sal_flat_exact(model, "limits=3", NULL, NULL, NULL, &text, &err), SAL_ERR_NOT_FOUND,
             &err, "did you mean 'limit'");
    ck_assert_ptr_null(text);
    sal_model_destroy(model);
}
END_TEST

START_TEST(lists)
{
    static const char *const names[] = { "samplers", "models",  "ops",
                                         "formats",  "options", "figures" };
    sal_error err = { 0 };
    char *text = NULL;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        ck_ok(sal_flat_list(names[k], &text, &err), &err);
        json_t *list = parse(text);
        ck_assert_uint_gt(json_array_size(list), 10);
        json_decref(list);
    }
    text = NULL;
    ck_fails(sal_flat_list("nothing", &text, &err), SAL_ERR_NOT_FOUND, &err, "samplers, models");
    ck_assert_ptr_null(text);
}
END_TEST

/* Options of every struct can be set by what the list says of them. */
START_TEST(listed_options_are_known)
{
    sal_error err = { 0 };
    char *text = NULL;
    ck_ok(sal_flat_list("options", &text, &err), &err);
    json_t *list = parse(text), *item;
    size_t k;
    int known = 0;
    json_array_foreach(list, k, item)
    {
        const char *of = json_string_value(json_object_get(item, "of"));
        const char *name = json_string_value(json_object_get(item, "name"));
        const sal_options which = strcmp(of, "run") == 0     ? SAL_OPTIONS_RUN
                                  : strcmp(of, "train") == 0 ? SAL_OPTIONS_TRAIN
                                  : strcmp(of, "ais") == 0   ? SAL_OPTIONS_AIS
                                                             : SAL_OPTIONS_INPAINT;
        char line[100];
        sal_flat_options *options = NULL;
        snprintf(line, sizeof line, "{\"%s\": null}", name);
        if (which != SAL_OPTIONS_INPAINT) {
            ck_ok(sal_flat_options_create(which, line, &options, &err), &err);
            snprintf(line, sizeof line, "%s=?", name);
            sal_flat_options_destroy(options);
            options = NULL;
            sal_status status = sal_flat_options_create(which, line, &options, &err);
            ck_assert_int_ne(status, SAL_ERR_NOT_FOUND);
            sal_flat_options_destroy(options);
            known++;
        }
    }
    ck_assert_int_gt(known, 40);
    json_decref(list);
}
END_TEST

/* ---- functions of users */

static void batch_sum(int64_t states, const double *x, double *values, double *gradient, void *data)
{
    ++*(int *)data;
    for (int64_t s = 0; s < states; s++) {
        values[s] = x[4 * s] + 2 * x[4 * s + 1] - x[4 * s + 2];
        for (int k = 0; gradient && k < 4; k++) {
            gradient[4 * s + k] = (double[]){ 1, 2, -1, 0 }[k];
        }
    }
}

static void batch_of_nothing(int64_t states, const double *x, double *values, double *gradient,
                             void *data)
{
    (void)states;
    (void)x;
    (void)values;
    (void)gradient;
    (void)data;
}

START_TEST(functions_of_many_states)
{
    sal_error err = { 0 };
    int calls = 0;
    double f[3];
    const int32_t codes[] = { 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 1 };
    sal_space *space = sal_space_create();
    sal_model *model = NULL, *empty = NULL;
    ck_ok(sal_flat_space_add(space, "b", SAL_BINARY, 4, 0, NULL, 0, &err), &err);
    ck_ok(sal_flat_model_from_function(space, batch_sum, &calls, true, &model, &err), &err);
    ck_ok(sal_model_evaluate(model, 3, codes, f, NULL, NULL, &err), &err);
    ck_assert_double_eq(f[0], 2);
    ck_assert_double_eq(f[1], 0);
    ck_assert_double_eq(f[2], 2);
    ck_assert_int_eq(calls, 1);
    ck_ok(sal_flat_model_from_function(space, batch_of_nothing, NULL, false, &empty, &err), &err);
    ck_fails(sal_model_evaluate(empty, 3, codes, f, NULL, NULL, &err), SAL_ERR_MODEL, &err, "NaN");
    sal_model *none = NULL;
    ck_fails(sal_flat_model_from_function(space, NULL, NULL, false, &none, &err), SAL_ERR_ARGUMENT,
             &err, "function");
    sal_model_destroy(model);
    sal_model_destroy(empty);
    sal_space_destroy(space);
}
END_TEST

/* Flips one random variable: the proposal is symmetric. */
static void flip_one(const void *origin, void *random, int32_t *to, void *data)
{
    int64_t n;
    double u;
    (void)data;
    const int32_t *codes = sal_flat_origin_codes(origin, &n);
    sal_flat_random(random, false, 1, &u);
    const int64_t v = (int64_t)(u * (double)n);
    to[v] = 1 - codes[v];
    ck_assert(isfinite(sal_flat_origin_number(origin, "f")));
    ck_assert_double_eq(sal_flat_origin_number(origin, "beta"), 1);
    ck_assert(isnan(sal_flat_origin_number(origin, "nothing")));
    ck_assert_ptr_null(sal_flat_origin_array(origin, "differences", &n));
    ck_assert_ptr_nonnull(sal_flat_origin_array(origin, "gradient", &n));
    ck_assert_int_eq(n, 4);
}

static double log_q_of_flip(const void *origin, const int32_t *to, void *data)
{
    int64_t n, moved = 0;
    (void)data;
    const int32_t *codes = sal_flat_origin_codes(origin, &n);
    for (int64_t v = 0; v < n; v++) {
        moved += codes[v] != to[v];
    }
    return moved == 1 ? -log((double)n) : -INFINITY;
}

START_TEST(samplers_of_functions)
{
    sal_model *model = chain_model();
    sal_error err = { 0 };
    sal_flat_sampler *sampler = NULL;
    sal_flat_options *options = NULL;
    char *text = NULL;
    ck_fails(sal_flat_sampler_create("mine", 0, true, false, false, false, flip_one, NULL, NULL,
                                     &sampler, &err),
             SAL_ERR_ARGUMENT, &err, "log_q");
    ck_ok(sal_flat_sampler_create("mine", 0, true, false, false, false, flip_one, log_q_of_flip,
                                  NULL, &sampler, &err),
          &err);
    ck_ok(sal_flat_options_create(SAL_OPTIONS_RUN, "sampler=mine", &options, &err), &err);
    ck_ok(sal_flat_options_handle(options, "sampler", sampler, &err), &err);
    ck_ok(sal_flat_balance(model, options, &text, &err), &err);
    json_t *balance = parse(text);
    ck_assert_double_lt(json_number_value(json_object_get(balance, "invariance")), 1e-12);
    ck_assert_double_lt(json_number_value(json_object_get(balance, "normalisation")), 1e-12);
    ck_assert_double_lt(json_number_value(json_object_get(balance, "frequency")), 5);
    json_decref(balance);
    sal_flat_options_destroy(options);
    sal_flat_sampler_destroy(sampler);
    sal_flat_sampler_destroy(NULL);
    sal_model_destroy(model);
}
END_TEST

/* ---- figures */

/* The entry of a key in a summary as JSON: of "ess.min", the entry "min" of the object "ess". */
static const json_t *entry_of(const json_t *object, const char *key)
{
    char outer[32];
    const char *dot = strchr(key, '.');
    snprintf(outer, sizeof outer, "%.*s", (int)strcspn(key, "."), key);
    object = json_object_get(object, outer);
    return dot ? json_object_get(object, dot + 1) : object;
}

/* Whether an entry of a summary is the figure with the value `value`. Null and texts stand for
 * values that JSON has no numbers for, and for whole numbers that are not known: those below 0. */
static bool is_value(const json_t *entry, double value)
{
    return json_is_boolean(entry)   ? json_is_true(entry) == (value != 0)
           : json_is_integer(entry) ? json_number_value(entry) == value && value >= 0
           : json_is_real(entry)    ? json_number_value(entry) == value
                                    : !(isfinite(value) && value >= 0);
}

/* Every figure of the table is in the JSON of a run that has it, with the value of its field, and
 * in no other. Figures of ladders: test_trajectory_suggest. */
START_TEST(figures_of_the_table_are_in_the_json)
{
    static const struct {
        const char *model, *options;
    } runs[] = {
        { "ising:side=3", "chains=2\ndraws=20\nwarmup=20\ntempering=3\nuntil=ess=5" },
        { "ising:side=3", "chains=2\ndraws=20\nwarmup=20\ntempering=3\nhoudayer=yes" },
        { "independent-set:nodes=9", "chains=2\ndraws=20\nwarmup=20\nanneal=yes" },
    };
    enum { RUNS = sizeof runs / sizeof *runs, MOST = 100 };
    int seen[MOST] = { 0 };
    sal_error err = { 0 };
    const sali_figure *f;
    for (int r = 0; r < RUNS; r++) {
        sal_flat_options *options = NULL;
        sal_model *model = NULL;
        sal_run *run = NULL;
        sal_run_summary s;
        char *text = NULL;
        double value = NAN;
        ck_ok(sal_model_open(runs[r].model, SAL_F64, &model, &err), &err);
        ck_ok(sal_flat_options_create(SAL_OPTIONS_RUN, runs[r].options, &options, &err), &err);
        ck_ok(sal_flat_sample(model, options, false, NULL, &run, &err), &err);
        ck_ok(sal_run_summarise(run, &s, &err), &err);
        ck_alloc_sweep(sal_flat_run_summary(run, &text, &err), sal_free(text));
        ck_ok(sal_flat_run_summary(run, &text, &err), &err);
        json_t *summary = parse(text);
        for (int64_t k = 0; (f = sali_figure_at(k)); k++) {
            const json_t *entry = f->key ? entry_of(summary, f->key) : NULL;
            ck_assert_msg(!f->key || f->kind != SAL_OPTION_WORD, "no JSON for %s", f->field);
            if (f->key && f->when != SALI_WITH_RHAT) {
                ck_assert_msg(!entry == !sali_figure_applies(f, &s), "%s", f->key);
            }
            if (entry && f->kind < SAL_OPTION_WORD) {
                ck_ok(sal_run_summary_value(run, f->field, &value, &err), &err);
                ck_assert_msg(is_value(entry, value), "%s is not %g", f->key, value);
            }
            seen[k] += entry != NULL;
        }
        json_decref(summary);
        sal_flat_options_destroy(options);
        sal_run_destroy(run);
        sal_model_destroy(model);
    }
    for (int64_t k = 0; (f = sali_figure_at(k)); k++) {
        ck_assert_int_lt(k, MOST);
        ck_assert_msg(seen[k] || !f->key || f->when == SALI_WITH_LEVELS, "no run has %s", f->key);
    }
}
END_TEST

/* ---- data and training */

START_TEST(data_sets)
{
    sal_error err = { 0 };
    sal_data *data = NULL, *held = NULL;
    const float greys[6] = { 0, 1, 0.4F, 0.6F, 0.5F, 1 };
    const double weight[2] = { 1, 2 };
    ck_ok(sal_flat_data_create(2, 3, NULL, greys, weight, 0, 0, &data, &err), &err);
    ck_assert_mem_eq(sal_flat_data_codes(data), ((uint8_t[]){ 0, 1, 0, 1, 0, 1 }), 6);
    ck_assert_mem_eq(sal_flat_data_weight(data), weight, sizeof weight);
    ck_ok(sal_flat_data_split(data, 1, &(uint64_t){ 1 }, &held, &err), &err);
    int64_t rows, variables;
    sal_flat_data_size(held, &rows, &variables, NULL, NULL);
    ck_assert_int_eq(rows, 1);
    ck_assert_int_eq(variables, 3);
    sal_flat_data_destroy(held);
    sal_flat_data_destroy(data);
    sal_flat_data_destroy(NULL);
    data = NULL;
    ck_fails(sal_flat_data_create(2, 3, NULL, (float[6]){ 0, 2 }, NULL, 0, 0, &data, &err),
             SAL_ERR_ARGUMENT, &err, "row 0 has the intensity 2");
    ck_fails(sal_flat_data_create(2, 3, NULL, (float[6]){ 0, NAN }, NULL, 0, 0, &data, &err),
             SAL_ERR_ARGUMENT, &err, "intensity");
    ck_fails(sal_flat_data_create(2, 3, NULL, greys, (double[]){ 1, 0 }, 0, 0, &data, &err),
             SAL_ERR_ARGUMENT, &err, "row 1 has the weight 0");
    ck_fails(sal_flat_data_create(2, 3, NULL, greys, NULL, 2, 2, &data, &err), SAL_ERR_ARGUMENT,
             &err, "2 x 2");
    ck_fails(sal_flat_data_create(0, 3, NULL, greys, NULL, 0, 0, &data, &err), SAL_ERR_ARGUMENT,
             &err, "1 row");
    ck_fails(sal_flat_data_read("/nowhere.npy", "kind=codes", &data, &err), SAL_ERR_NOT_FOUND, &err,
             "nowhere");
    ck_fails(sal_flat_data_read("/nowhere.npy", "kind=words", &data, &err), SAL_ERR_ARGUMENT, &err,
             "pictures|codes|draws|alignment");
    ck_assert_ptr_null(data);
}
END_TEST

/* log Z of the directions that sal_flat_evaluate reported. */
struct directions {
    int n;
    double log_z[2];
};

/* object[part][key], or object[key] without a part. */
static double number_in(const json_t *object, const char *part, const char *key)
{
    const json_t *value = json_object_get(part ? json_object_get(object, part) : object, key);
    ck_assert_msg(json_is_real(value), "%s is no number", key);
    return json_real_value(value);
}

static void note_direction(const char *direction, void *data)
{
    struct directions *seen = data;
    json_t *object = json_loads(direction, 0, NULL);
    seen->log_z[seen->n++] = number_in(object, NULL, "log_z");
    json_decref(object);
}

/* Suggested options are those of sal_train_suggest for the names in the text. */
START_TEST(options_are_suggested_beside_the_text)
{
    static const struct {
        const char *model, *text;
        bool suggested;
    } cases[] = {
        { "rbm", NULL, true },
        { "rbm", "steps=3\nbatch=10\nsteps=4\n", true },
        { "rbm", "{\"objective\": null, \"buffer_start\": null, \"steps\": 3}", true },
        { "rbm", "objective=ptt", true },
        { "rbm", "steps=3\nobjective=pcd", false },
        { "rbm", "{\"steps\": 3, \"buffer_start\": \"data\"}", false },
        { "potts-alignment:file=a.fa", "buffer=20\nobjective=pcd", true },
        { "ising:side=3", "steps=3", false },
    };
    sal_error err = { 0 };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_flat_options *options = (void *)&err;
        ck_ok(sal_flat_options_suggested(cases[k].model, 40, cases[k].text, &options, &err), &err);
        ck_assert_msg((options != NULL) == cases[k].suggested, "%s", cases[k].text);
        sal_flat_options_destroy(options);
    }
    sal_flat_options *options = NULL;
    ck_fails(sal_flat_options_suggested("rbm", 40, "stepps=3", &options, &err), SAL_ERR_NOT_FOUND,
             &err, "stepps");
    ck_alloc_sweep(sal_flat_options_suggested("rbm", 40, "steps=3", &options, &err),
                   sal_flat_options_destroy(options));
}
END_TEST

START_TEST(training_and_evaluation)
{
    sal_error err = { 0 };
    sal_data *data = NULL;
    sal_model *model = NULL;
    sal_flat_options *options = NULL, *ais = NULL;
    sal_trainer *trainer = NULL;
    char *text = NULL;
    int64_t n;
    ck_ok(sal_flat_data_digits(40, 8, 1, &data, &err), &err);
    ck_ok(sal_model_open("rbm:visible=64,hidden=4", 0, &model, &err), &err);
    ck_ok(sal_model_train_start(model, "rbm:visible=64,hidden=4", data, 1, &err), &err);
    ck_ok(sal_flat_options_create(SAL_OPTIONS_TRAIN, "iterations=5\nbatch=10", &options, &err),
          &err);
    ck_ok(sal_flat_trainer_create(model, data, options, NULL, &trainer, &err), &err);
    ck_ok(sal_trainer_run(trainer, 3, &err), &err);
    ck_ok(sal_flat_trainer_report(trainer, &text, &err), &err);
    json_t *report = parse(text);
    ck_assert_int_eq(json_integer_value(json_object_get(report, "iteration")), 3);
    ck_assert_int_eq(json_integer_value(json_object_get(report, "iterations")), 5);
    json_decref(report);
    ck_assert_ptr_nonnull(sal_flat_trainer_samples(trainer, &n));
    ck_assert_int_ge(n, 10);
    sal_trainer_destroy(trainer);
    ck_ok(sal_flat_options_create(SAL_OPTIONS_AIS, "chains=20\ntemperatures=50", &ais, &err), &err);
    struct directions seen = { 0 };
    ck_ok(sal_flat_evaluate(model, ais, NULL, data, data, note_direction, &seen, &text, &err),
          &err);
    json_t *answer = parse(text);
    ck_assert_int_eq(seen.n, 2);
    ck_assert_double_eq(seen.log_z[1], number_in(answer, "reverse", "log_z"));
    const double log_z = number_in(answer, "forward", "log_z");
    const double mean_f = number_in(answer, "forward", "mean_f");
    ck_assert_double_eq(seen.log_z[0], log_z);
    ck_assert_double_eq_tol(number_in(answer, "forward", "log_likelihood"), mean_f - log_z, 1e-9);
    json_decref(answer);
    ck_ok(sal_flat_likelihood(model, data, log_z, 0.1, &text, &err), &err);
    answer = parse(text);
    ck_assert_double_eq(number_in(answer, NULL, "mean_f"), mean_f);
    json_decref(answer);
    ck_ok(sal_flat_evaluate(model, ais, NULL, NULL, NULL, NULL, NULL, &text, &err), &err);
    answer = parse(text);
    ck_assert_double_eq(number_in(answer, "forward", "log_z"), log_z);
    ck_assert_ptr_null(json_object_get(json_object_get(answer, "forward"), "mean_f"));
    ck_assert(json_is_null(json_object_get(answer, "reverse")));
    json_decref(answer);
    ck_fails(sal_flat_evaluate(NULL, NULL, NULL, data, NULL, NULL, NULL, &text, &err),
             SAL_ERR_ARGUMENT, &err, "expected a model");
    sal_flat_options_destroy(ais);
    sal_flat_options_destroy(options);
    sal_flat_data_destroy(data);
    sal_model_destroy(model);
}
END_TEST

/* ---- no memory */

static sal_status run_once(sal_model *model, char **text, sal_error *err)
{
    sal_flat_options *options = NULL;
    sal_run *run = NULL;
    sal_status status = sal_flat_options_create(
        SAL_OPTIONS_RUN, "{\"chains\": 2, \"draws\": 3, \"warmup\": 2, \"sampler\": \"gibbs\"}",
        &options, err);
    status = status ? status
                    : sal_flat_options_codes(options, "init", 4, (int32_t[]){ 0, 1, 1, 0 }, err);
    status = status ? status
                    : sal_flat_options_clamp(options, 1, (int64_t[]){ 2 }, (int32_t[]){ 1 }, err);
    status = status ? status : sal_flat_sample(model, options, true, NULL, &run, err);
    status = status ? status : sal_flat_run_summary(run, text, err);
    sal_run_destroy(run);
    sal_flat_options_destroy(options);
    return status;
}

START_TEST(runs_without_memory)
{
    sal_model *model = chain_model();
    sal_error err = { 0 };
    char *text = NULL;
    ck_alloc_sweep(run_once(model, &text, &err), sal_free(text));
    sal_model_destroy(model);
}
END_TEST

START_TEST(evaluations_without_memory)
{
    const uint8_t codes[] = { 0, 1, 1, 0, 1, 1, 0, 0, 0, 1, 0, 1 };
    sal_model *model = chain_model();
    sal_error err = { 0 };
    sal_data *data = NULL;
    sal_flat_options *options = NULL;
    char *text = NULL;
    ck_ok(sal_flat_data_create(3, 4, codes, NULL, NULL, 0, 0, &data, &err), &err);
    ck_ok(sal_flat_options_create(SAL_OPTIONS_AIS, "chains=4\ntemperatures=3\nthreads=1", &options,
                                  &err),
          &err);
    ck_alloc_sweep(sal_flat_evaluate(model, options, NULL, data, data, NULL, NULL, &text, &err),
                   sal_free(text));
    sal_flat_options_destroy(options);
    sal_flat_data_destroy(data);
    sal_model_destroy(model);
}
END_TEST

/* Rows are in one of both data sets, whatever allocation fails. */
START_TEST(splits_without_memory)
{
    const uint8_t codes[6] = { 0, 1, 2, 3, 4, 5 };
    const uint64_t seed = 1;
    sal_status status = SAL_ERR_MEMORY;
    for (int random = 0; random < 2; random++, status = SAL_ERR_MEMORY) {
        for (int64_t n = 1; status != SAL_OK; n++) {
            sal_error err = { 0 };
            sal_data *data = NULL, *held = NULL;
            int64_t rows;
            ck_ok(sal_flat_data_create(6, 1, codes, NULL, NULL, 0, 0, &data, &err), &err);
            alloc_fail_at(n);
            status = sal_flat_data_split(data, 2, random ? &seed : NULL, &held, &err);
            alloc_fail_at(0);
            sal_flat_data_size(data, &rows, NULL, NULL, NULL);
            ck_assert_int_eq(rows, status == SAL_OK ? 4 : 6);
            ck_assert_int_eq(held == NULL, status != SAL_OK);
            sal_flat_data_destroy(data);
            if (held) {
                sal_flat_data_destroy(held);
            }
        }
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("flat");
    TCase *t = tcase_create("flat");
    tcase_add_test(t, version_has_major_and_minor);
    tcase_add_test(t, formulas_by_numbers);
    tcase_add_test(t, fixed_sums_and_labels);
    tcase_add_test(t, nodes_that_do_not_exist);
    tcase_add_test(t, mistakes_name_the_users_line);
    tcase_add_test(t, options_from_json_and_lines_are_the_same);
    tcase_add_test(t, wrong_options);
    tcase_add_test(t, one_start_for_all_chains);
    tcase_add_test(t, arrays_that_do_not_fit);
    tcase_add_test(t, exact_answers);
    tcase_add_test(t, lists);
    tcase_add_test(t, listed_options_are_known);
    tcase_add_test(t, functions_of_many_states);
    tcase_add_test(t, samplers_of_functions);
    tcase_add_test(t, figures_of_the_table_are_in_the_json);
    tcase_add_test(t, data_sets);
    tcase_add_test(t, options_are_suggested_beside_the_text);
    tcase_add_test(t, training_and_evaluation);
    tcase_add_test(t, runs_without_memory);
    tcase_add_test(t, evaluations_without_memory);
    tcase_add_test(t, splits_without_memory);
    suite_add_tcase(s, t);
    return test_main(s);
}
