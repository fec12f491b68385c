/* Annealing, and the best state met. */
#include "test.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "run_helpers.h"

/* The largest f over all states. */
static double largest_f(const sal_model *model)
{
    double f[TINY_MOST_STATES], pi[TINY_MOST_STATES], largest = -INFINITY;
    states_probabilities(model, 1, f, pi);
    for (int64_t i = 0; i < states_count(model->space); i++) {
        largest = fmax(largest, f[i]);
    }
    return largest;
}

START_TEST(annealing_finds_the_best_state)
{
    const sali_sampler *sampler;
    for (int64_t k = 0; (sampler = sali_sampler_at(k)) != NULL; k++) {
        for (int s = 0; s < N_TINY_SPACES; s++) {
            sal_model *model = tiny_formula_over(tiny_spaces[s].name, SAL_F64);
            sal_run_options options = { .sampler = sampler->name,
                                        .draws = 200,
                                        .thin = 5,
                                        .warmup = 50,
                                        .anneal = true,
                                        .threads = 1 };
            double found, f;
            int32_t codes[TINY_MOST_REALS];
            sal_error err;
            if (sali_sampler_serves(sampler, model)) {
                sal_run *run = run_it(model, &options);
                ck_ok(sal_run_best(run, codes, &found, &err), &err);
                ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
                ck_assert_double_eq_tol(found, f, 1e-9);
                ck_assert_double_eq_tol(found, largest_f(model), 1e-9);
                sal_run_destroy(run);
            }
            sal_model_destroy(model);
        }
    }
}
END_TEST

/* Temperatures fall geometrically, and the last states are colder than the first. */
START_TEST(temperature_falls_geometrically)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_builtin("ising:side=6,theta=0.4", SAL_F64, &model, &err), &err);
    sal_run_options options = {
        .sampler = "gibbs", .draws = 300, .anneal = true, .anneal_from = 50, .anneal_to = 0.5
    };
    sal_run *run = run_it(model, &options);
    sal_run_summary s = summary_of(run);
    ck_assert(s.annealed && s.anneal_from == 50 && s.anneal_to == 0.5);
    ck_assert_double_eq_tol(sali_anneal_temperature(run, 0), 50, 1e-12);
    ck_assert_double_eq_tol(sali_anneal_temperature(run, 0.5), 5, 1e-12);
    ck_assert_double_eq_tol(sali_anneal_temperature(run, 1), 0.5, 1e-12);
    for (int64_t k = 0; k < run->n_shards; k++) {
        ck_assert_double_eq_tol(run->shards[k].chains->beta[0], 2, 0.05);
    }
    double first = 0, last = 0;
    for (int64_t c = 0; c < 4; c++) {
        for (int64_t d = 0; d < 30; d++) {
            first += sal_run_log_probs(run)[c * 300 + d];
            last += sal_run_log_probs(run)[c * 300 + 299 - d];
        }
    }
    ck_assert_double_gt(last, first + 100);
    char text[SAL_ERROR_SIZE];
    ck_assert(!sal_run_warning(&s, text, sizeof text)); /* R-hat says nothing about a search */
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

START_TEST(usual_range_fits_the_model)
{
    const char *models[] = { "ising:side=6,theta=0.4", "ising:side=6,theta=40" };
    double from[2], to[2];
    for (int k = 0; k < 2; k++) {
        sal_model *model = NULL;
        sal_error err;
        ck_ok(sal_model_builtin(models[k], SAL_F64, &model, &err), &err);
        sal_run_options options = { .sampler = "gibbs", .draws = 10, .warmup = -1, .anneal = true };
        sal_run *run = run_it(model, &options);
        sal_run_summary s = summary_of(run);
        from[k] = s.anneal_from;
        to[k] = s.anneal_to;
        ck_assert(from[k] > 10 * to[k] * 0.999 && to[k] > 0);
        sal_run_destroy(run);
        sal_model_destroy(model);
    }
    ck_assert_double_eq_tol(from[1] / from[0], 100, 1e-3);
    ck_assert_double_eq_tol(to[1] / to[0], 100, 1e-3);
}
END_TEST

/* With every state kept, the best state is the best draw. */
START_TEST(best_state_is_the_best_of_all)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_builtin("ising:side=5,theta=0.2", SAL_F64, &model, &err), &err);
    for (int tempered = 0; tempered < 2; tempered++) {
        sal_run_options options = { .sampler = "gwg",
                                    .draws = 300,
                                    .thin = 1,
                                    .warmup = 20,
                                    .replicas = tempered ? 3 : 0,
                                    .track_best = true };
        double best, largest = -INFINITY;
        sal_run *run = run_it(model, &options);
        ck_ok(sal_run_best(run, NULL, &best, &err), &err);
        for (int64_t d = 0; d < 4 * 300; d++) {
            largest = fmax(largest, sal_run_log_probs(run)[d]);
        }
        ck_assert(tempered ? best >= largest : best == largest);
        ck_assert_double_eq(summary_of(run).best_log_prob, best);
        sal_run_destroy(run);
    }
    sal_run_options options = { .draws = 5, .warmup = 5 };
    double best;
    sal_run *run = run_it(model, &options);
    ck_fails(sal_run_best(run, NULL, &best, &err), SAL_ERR_ARGUMENT, &err, "track_best");
    ck_assert(isnan(summary_of(run).best_log_prob));
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

START_TEST(mistakes_are_named)
{
    const struct {
        sal_run_options options;
        const char *text;
    } cases[] = {
        { { .anneal = true, .anneal_from = -1 }, "anneal_from" },
        { { .anneal = true, .anneal_to = NAN }, "anneal_to" },
        { { .anneal = true, .anneal_from = 1, .anneal_to = 2 }, "to fall" },
    };
    sal_model *model = tiny_formula_over("binary", SAL_F64);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        run_refused(model, &cases[k].options, SAL_ERR_ARGUMENT, cases[k].text);
    }
    sal_model_destroy(model);
}
END_TEST

static Suite *annealing_suite(void)
{
    Suite *suite = suite_create("annealing");
    TCase *tcase = tcase_create("annealing");
    tcase_set_timeout(tcase, 240);
    tcase_add_test(tcase, annealing_finds_the_best_state);
    tcase_add_test(tcase, temperature_falls_geometrically);
    tcase_add_test(tcase, usual_range_fits_the_model);
    tcase_add_test(tcase, best_state_is_the_best_of_all);
    tcase_add_test(tcase, mistakes_are_named);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(annealing_suite());
}
