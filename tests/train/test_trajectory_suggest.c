/* SPDX-License-Identifier: MIT */
/* Runs of a trained model find the trajectory of its training, unless they ask for another way. */
#include "temp_dir.h"

#include <saltus/saltus.h>

#include "alloc_fail.h"
#include "run/results/figures.h"
#include "test.h"

typedef struct trained {
    sal_data data;
    sal_model *model;
} trained;

static int save(const sal_train_report *r, void *data)
{
    sal_error err;
    ck_ok(sal_train_save(r, data, temp_dir, &err), &err);
    return 0;
}

/* A small machine trained by trajectory tempering, saved in temp_dir. */
static trained train_some(void)
{
    sal_error err;
    trained x = { 0 };
    ck_ok(sal_data_digits(60, 8, 1, &x.data, &err), &err);
    temp_dir_make();
    ck_ok(sal_model_open("rbm:visible=64,hidden=3", SAL_F64, &x.model, &err), &err);
    ck_ok(sal_model_train_start(x.model, "rbm:visible=64,hidden=3", &x.data, 1, &err), &err);
    const sal_train_options o = { .objective = SAL_PTT,
                                  .sampler = "gibbs",
                                  .steps = 64,
                                  .batch = 20,
                                  .iterations = 20,
                                  .learning_rate = 0.1,
                                  .callbacks = { .report = save, .report_data = x.model } };
    ck_ok(sal_train(x.model, &x.data, &o, &err), &err);
    return x;
}

static void forget(trained *x)
{
    sal_model_destroy(x->model);
    sal_data_destroy(&x->data);
    temp_dir_remove();
}

START_TEST(a_ladder_is_taken_where_nothing_else_is_asked_for)
{
    trained x = train_some();
    sal_error err;
    const double matrix = 1;
    const sal_run_options others[] = {
        { .sampler = "gibbs" },
        { .tempering.replicas = 2 },
        { .annealing.on = true },
        { .annealing.schedule = SAL_ANNEAL_LINEAR },
        { .tuning = (const sal_tuning *)&matrix },
        { .preconditioner = &matrix },
        { .step_size = 0.1 },
        { .step_size_rule = SAL_STEP_SIZE_SEARCH },
        { .clamps.n = 1 },
    };
    const sal_run_options plain = { .chains = 2, .draws = 3, .thin = 2, .seed = 4 };
    sal_trajectory *path = NULL;
    sal_trajectory_level level;
    ck_ok(sal_trajectory_suggest(temp_dir, x.model, NULL, NULL, &path, &err), &err);
    ck_assert_ptr_nonnull(path);
    sal_trajectory_destroy(path);
    ck_ok(sal_trajectory_suggest(temp_dir, x.model, &plain, NULL, &path, &err), &err);
    ck_assert(sal_trajectory_level_at(path, 1, &level));
    sal_trajectory_destroy(path);
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        ck_ok(sal_trajectory_suggest(temp_dir, x.model, &others[k], NULL, &path, &err), &err);
        ck_assert_msg(!path, "option %zu", k);
        ck_ok(sal_trajectory_suggest(temp_dir, x.model, &others[k], "yes", &path, &err), &err);
        ck_assert_msg(path, "option %zu", k);
        sal_trajectory_destroy(path);
    }
    ck_ok(sal_trajectory_suggest(temp_dir, x.model, &plain, "no", &path, &err), &err);
    ck_assert_ptr_null(path);
    ck_ok(sal_trajectory_suggest("rbm:visible=9", x.model, &plain, NULL, &path, &err), &err);
    ck_assert_ptr_null(path);
    ck_fails(sal_trajectory_suggest("rbm", x.model, &plain, "yes", &path, &err), SAL_ERR_NOT_FOUND,
             &err, "ladder.json");
    ck_fails(sal_trajectory_suggest(temp_dir, x.model, &plain, "maybe", &path, &err),
             SAL_ERR_ARGUMENT, &err, "yes or no");
    ck_fails(sal_trajectory_suggest(NULL, x.model, &plain, NULL, &path, &err), SAL_ERR_ARGUMENT,
             &err, "NULL");
    forget(&x);
}
END_TEST

/* The interface for other languages finds the ladder as the program does, and says that it did. */
START_TEST(options_as_text_find_the_ladder)
{
    static const char *const ladders[] = { NULL, "yes", "no" };
    trained x = train_some();
    sal_error err;
    for (int k = 0; k < 3; k++) {
        sal_flat_options *o = NULL;
        sal_run *run = NULL;
        char *json = NULL;
        ck_ok(sal_flat_options_create(SAL_OPTIONS_RUN, "chains=2\ndraws=3", &o, &err), &err);
        ck_alloc_sweep(sal_flat_options_text(o, "model", temp_dir, &err), (void)0);
        ck_ok(sal_flat_options_text(o, "ladder", ladders[k], &err), &err);
        ck_fails(sal_flat_options_text(o, "trajectory", "x", &err), SAL_ERR_NOT_FOUND, &err,
                 "model, training, ladder");
        ck_ok(sal_flat_sample(x.model, o, true, NULL, &run, &err), &err);
        ck_ok(sal_flat_run_summary(run, &json, &err), &err);
        ck_assert_int_eq(strstr(json, "\"ladder\": {\"levels\": ") != NULL, k < 2);
        const sali_figure *f;
        for (int64_t i = 0; (f = sali_figure_at(i)); i++) {
            const char *key = f->when == SALI_WITH_LEVELS ? strchr(f->key, '.') : NULL;
            ck_assert_msg(!key || (strstr(json, key + 1) != NULL) == (k < 2), "%s", f->key);
        }
        sal_free(json);
        sal_run_destroy(run);
        run = NULL;
        ck_ok(sal_flat_options_text(o, "training", "/nowhere", &err), &err);
        ck_ok(sal_flat_options_text(o, "ladder", "yes", &err), &err);
        ck_fails(sal_flat_sample(x.model, o, true, NULL, &run, &err), SAL_ERR_NOT_FOUND, &err,
                 "/nowhere");
        ck_ok(sal_flat_options_text(o, "training", NULL, &err), &err);
        ck_ok(sal_flat_options_text(o, "model", NULL, &err), &err);
        ck_fails(sal_flat_sample(x.model, o, true, NULL, &run, &err), SAL_ERR_NOT_FOUND, &err,
                 "ptt");
        ck_ok(sal_flat_options_text(o, "ladder", "maybe", &err), &err);
        ck_fails(sal_flat_sample(x.model, o, true, NULL, &run, &err), SAL_ERR_ARGUMENT, &err,
                 "yes or no");
        sal_flat_options_destroy(o);
    }
    sal_flat_options *o = NULL;
    ck_ok(sal_flat_options_create(SAL_OPTIONS_AIS, NULL, &o, &err), &err);
    ck_fails(sal_flat_options_text(o, "model", "x", &err), SAL_ERR_NOT_FOUND, &err, "none");
    sal_flat_options_destroy(o);
    forget(&x);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("trajectory_suggest");
    TCase *tcase = tcase_create("runs of trainings");
    tcase_add_test(tcase, a_ladder_is_taken_where_nothing_else_is_asked_for);
    tcase_add_test(tcase, options_as_text_find_the_ladder);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
