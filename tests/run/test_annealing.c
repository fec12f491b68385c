/* SPDX-License-Identifier: MIT */
/* Annealing, and the best state met. */
#include "test.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "run/parts/annealing.h"
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
                                        .annealing.on = true,
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

/* At the end the temperature is the last one, however far it is from the one before. */
START_TEST(linear_ends_where_it_should)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open("ising:side=6,theta=0.4", SAL_F64, &model, &err), &err);
    sal_run_options options = { .sampler = "gibbs",
                                .draws = 2048,
                                .thin = 1,
                                .annealing = {
                                    .schedule = SAL_ANNEAL_LINEAR, .from = 1000, .to = 0.01 } };
    sal_run *run = run_it(model, &options);
    ck_assert_double_eq_tol(sali_anneal_temperature_at(run, 1024), 500, 1e-9);
    ck_assert_double_eq_tol(sali_anneal_temperature_at(run, 2032), 1000. * 16 / 2048, 1e-9);
    ck_assert_double_eq(sali_anneal_temperature_at(run, 2040), 0.01);
    for (int64_t k = 0; k < run->n_shards; k++) {
        ck_assert_double_eq_tol(run->shards[k].chains->beta[0], 100, 1e-9);
    }
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* Temperatures fall geometrically, and the last states are colder than the first. */
START_TEST(temperature_falls_geometrically)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open("ising:side=6,theta=0.4", SAL_F64, &model, &err), &err);
    sal_run_options options = { .sampler = "gibbs",
                                .draws = 300,
                                .annealing = { .on = true, .from = 50, .to = 0.5 } };
    sal_run *run = run_it(model, &options);
    sal_run_summary s = summary_of(run);
    ck_assert(s.annealed && s.anneal_from == 50 && s.anneal_to == 0.5);
    ck_assert_double_eq_tol(sali_anneal_temperature_at(run, 0), 50, 1e-12);
    ck_assert_double_eq_tol(sali_anneal_temperature_at(run, 150 * run->options.thin), 5, 1e-12);
    ck_assert_double_eq_tol(sali_anneal_temperature_at(run, 300 * run->options.thin), 0.5, 1e-12);
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

/* With few steps each is a level: the first is at the first temperature, and the last one is one
 * level above the last. */
START_TEST(levels_begin_at_the_first_temperature)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open("ising:side=3,theta=0.4", SAL_F64, &model, &err), &err);
    for (int draws = 1; draws <= 4; draws++) {
        sal_run_options options = { .sampler = "gibbs",
                                    .draws = draws,
                                    .thin = 1,
                                    .warmup = -1,
                                    .annealing = { .on = true, .from = 16, .to = 1 } };
        sal_run *run = run_it(model, &options);
        double expected = 16 * pow(1 / 16.0, (draws - 1.0) / draws);
        ck_assert_double_eq_tol(1 / run->shards[0].chains->beta[0], expected, 1e-12);
        sal_run_destroy(run);
    }
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
        ck_ok(sal_model_open(models[k], SAL_F64, &model, &err), &err);
        sal_run_options options = {
            .sampler = "gibbs", .draws = 10, .warmup = -1, .annealing.on = true
        };
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
    ck_ok(sal_model_open("ising:side=5,theta=0.2", SAL_F64, &model, &err), &err);
    for (int tempered = 0; tempered < 2; tempered++) {
        sal_run_options options = { .sampler = "gwg",
                                    .draws = 300,
                                    .thin = 1,
                                    .warmup = 20,
                                    .tempering.replicas = tempered ? 3 : 0,
                                    .record.best = true };
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
    ck_fails(sal_run_best(run, NULL, &best, &err), SAL_ERR_ARGUMENT, &err, "record.best");
    ck_assert(isnan(summary_of(run).best_log_prob));
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* ---- the usual temperatures */

static sal_model *ready_made(const char *specification)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(specification, SAL_F64, &model, &err), &err);
    return model;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* f = theta'x: the sizes of differences are |theta| at every state. */
START_TEST(usual_range_is_the_rule_of_independent_variables)
{
    sal_model *model = ready_made("bernoulli:dim=30,scale=2");
    double size[30], f, rows[60], mean = 0;
    int32_t zeros[30] = { 0 };
    sal_error err;
    ck_ok(sal_model_evaluate(model, 1, zeros, &f, NULL, rows, &err), &err);
    for (int v = 0; v < 30; v++) {
        size[v] = fabs(rows[2 * v + 1]);
        mean += size[v] / 30;
    }
    qsort(size, 30, sizeof *size, ascending);
    sal_run_options options = {
        .sampler = "gibbs", .draws = 5, .warmup = -1, .annealing.on = true
    };
    sal_run *run = run_it(model, &options);
    sal_run_summary s = summary_of(run);
    ck_assert_double_eq_tol(s.anneal_from, mean, 1e-9 * mean);
    ck_assert_double_eq_tol(s.anneal_to, size[6 - 1] / (1 + log(30)), 1e-9); /* sqrt(30) up: 6 */
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* Taken from the states of highest f within reach, not from random ones. */
START_TEST(last_temperature_knows_what_penalties_leave)
{
    sal_model *model = ready_made("clique");
    sal_run_options options = {
        .sampler = "gibbs", .draws = 300, .warmup = 20, .annealing.on = true
    };
    sal_run *run = run_it(model, &options);
    sal_run_summary s = summary_of(run);
    /* where chains start, about 97: 2 for half of 100 pairs */
    ck_assert_double_gt(s.anneal_from, 1);
    ck_assert_double_lt(s.anneal_from, 20);
    ck_assert_double_eq_tol(s.anneal_to, 1 / (1 + log(200)), 1e-12);
    ck_assert_double_ge(s.best_log_prob, 9);
    for (int64_t c = 0; c < 4; c++) {
        ck_assert_double_ge(sal_run_log_probs(run)[c * 300 + 299], 6); /* frozen */
    }
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

static double usual_first_temperature(const char *specification)
{
    sal_model *model = ready_made(specification);
    sal_run_options options = {
        .sampler = "gibbs", .draws = 5, .warmup = -1, .annealing.on = true
    };
    sal_run *run = run_it(model, &options);
    const double from = summary_of(run).anneal_from;
    sal_run_destroy(run);
    sal_model_destroy(model);
    return from;
}

/* Of 20 nodes with all edges, chains start with about 10: sizes about 45. Nothing leads up from
 * one: sizes of 1 to take it out, and 4 to add one of the 19 others. */
START_TEST(first_temperature_knows_of_penalties)
{
    const double from =
        usual_first_temperature("independent-set:nodes=20,density=1,beta=1,penalty=5");
    ck_assert_double_eq_tol(from, (1 + 19 * 4) / 20.0, 1e-12);
}
END_TEST

/* Of aligned spins the sizes are 6.4, of random ones 3.2 and sometimes 6.4. */
START_TEST(first_temperature_is_that_of_starts_where_it_is_smaller)
{
    const double from = usual_first_temperature("ising:side=6,theta=0.4");
    ck_assert_double_gt(from, 3.2);
    ck_assert_double_lt(from, 4.6);
}
END_TEST

START_TEST(usual_range_is_the_same_for_any_threads)
{
    sal_model *model = ready_made("independent-set:nodes=60");
    double from[2], to[2];
    for (int k = 0; k < 2; k++) {
        sal_run_options options = { .draws = 5,
                                    .warmup = -1,
                                    .annealing.on = true,
                                    .chains = 70,
                                    .threads = k ? 3 : 1,
                                    .seed = 4 };
        sal_run *run = run_it(model, &options);
        from[k] = summary_of(run).anneal_from;
        to[k] = summary_of(run).anneal_to;
        sal_run_destroy(run);
    }
    ck_assert(from[0] == from[1] && to[0] == to[1]);
    sal_model_destroy(model);
}
END_TEST

/* Where f does not vary, where it varies in one variable only, with counts, and where states are
 * forbidden. */
START_TEST(usual_range_is_usable_for_every_model)
{
    const struct {
        const char *model;
        double from, to; /* 0: any */
    } cases[] = {
        { "max-cut:nodes=20,degree=0", 1, 0.1 },
        { "max-cut:nodes=2,degree=1", 1, 0.1 },
        { "bernoulli:dim=1", 0, 0 },
        { "poisson:dim=4", 0, 0 },
        { "limit", 0, 0 },
        { "poisson:dim=4,cap=9", 0, 0 },
        { "potts:side=3,theta=-2", 0, 0 },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bool limit = strcmp(cases[k].model, "limit") == 0;
        sal_model *model = limit ? tiny_limit(SAL_F64) : ready_made(cases[k].model);
        sal_run_options options = {
            .sampler = "gwg", .draws = 5, .warmup = 5, .annealing.on = true
        };
        sal_run *run = run_it(model, &options);
        sal_run_summary s = summary_of(run);
        ck_assert_msg(isfinite(s.anneal_from) && s.anneal_to > 0 &&
                          s.anneal_to <= s.anneal_from / 10 * (1 + 1e-12),
                      "%s: %g to %g", cases[k].model, s.anneal_from, s.anneal_to);
        ck_assert(cases[k].from == 0 ? s.anneal_from != 1 : s.anneal_from == cases[k].from);
        ck_assert(cases[k].to == 0 || s.anneal_to == cases[k].to);
        sal_run_destroy(run);
        sal_model_destroy(model);
    }
}
END_TEST

/* One end given, the other as usual. */
START_TEST(given_temperatures_are_kept)
{
    sal_model *model = ready_made("ising:side=6,theta=0.4");
    const double given[3][2] = { { 0, 0.01 }, { 70, 0 }, { 0.001, 0 } };
    for (int k = 0; k < 3; k++) {
        sal_run_options options = { .sampler = "gibbs",
                                    .draws = 5,
                                    .warmup = -1,
                                    .annealing = {
                                        .on = true, .from = given[k][0], .to = given[k][1] } };
        sal_run *run = run_it(model, &options);
        sal_run_summary s = summary_of(run);
        ck_assert(given[k][0] == 0 ? s.anneal_from > 1 : s.anneal_from == given[k][0]);
        ck_assert(given[k][1] == 0 ? s.anneal_to < s.anneal_from : s.anneal_to == given[k][1]);
        sal_run_destroy(run);
    }
    sal_model_destroy(model);
}
END_TEST

/* The largest f, by walking all states of variables with `states` codes. */
static double largest_by_enumeration(const sal_model *model, int32_t states)
{
    enum { ROWS = 4096 };
    int64_t V = sal_space_variables(sal_model_space(model)), rows = 0;
    int32_t *codes = calloc((size_t)(ROWS * V), sizeof *codes),
            *now = calloc((size_t)V, sizeof *now);
    double f[ROWS], largest = -INFINITY;
    sal_error err;
    for (int64_t v = 0; v < V;) {
        memcpy(codes + rows++ * V, now, (size_t)V * sizeof *codes);
        for (v = 0; v < V && ++now[v] == states; v++) {
            now[v] = 0;
        }
        if (rows == ROWS || v == V) {
            ck_ok(sal_model_evaluate(model, rows, codes, f, NULL, NULL, &err), &err);
            for (int64_t k = 0; k < rows; k++) {
                largest = fmax(largest, f[k]);
            }
            rows = 0;
        }
    }
    free(codes);
    free(now);
    return largest;
}

START_TEST(usual_settings_reach_the_optimum)
{
    const struct {
        const char *model;
        int32_t states;
    } cases[] = {
        { "max-cut:nodes=15,weights=normal", 2 }, { "max-cut:nodes=15,weights=sign", 2 },
        { "independent-set:nodes=15", 2 },        { "clique:nodes=15", 2 },
        { "ising-er:nodes=15,weights=sign", 2 },  { "potts:side=3,theta=-0.7", 3 },
        { "mlp:visible=12,hidden=8", 2 },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        for (int seed = 0; seed < 3; seed++) {
            char text[128];
            bool seeded = strncmp(cases[k].model, "potts", 5) != 0;
            snprintf(text, sizeof text, "%s%s%.0d", cases[k].model, seeded ? ",seed=" : "",
                     seeded ? seed + 1 : 0);
            sal_model *model = ready_made(text);
            sal_run_options options = { .sampler = "gibbs",
                                        .chains = 32,
                                        .draws = 200,
                                        .warmup = 10,
                                        .annealing.on = true,
                                        .seed = 5 };
            sal_run *run = run_it(model, &options);
            double best = summary_of(run).best_log_prob, sum = 0;
            double largest = largest_by_enumeration(model, cases[k].states);
            ck_assert_msg(fabs(best - largest) < 1e-9, "%s: found %.9g of %.9g", text, best,
                          largest);
            for (int64_t c = 0; c < 32; c++) {
                sum += sal_run_log_probs(run)[c * 200 + 199] / 32;
            }
            ck_assert_msg(sum >= largest - 0.15 * fabs(largest), "%s: ends at %g of %g", text, sum,
                          largest);
            sal_run_destroy(run);
            sal_model_destroy(model);
        }
    }
}
END_TEST

START_TEST(mistakes_are_named)
{
    const struct {
        sal_run_options options;
        const char *text;
    } cases[] = {
        { { .annealing = { .on = true, .from = -1 } }, "annealing.from" },
        { { .annealing = { .on = true, .to = NAN } }, "annealing.to" },
        { { .annealing = { .on = true, .from = 1, .to = 2 } }, "to fall" },
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
    tcase_add_test(tcase, linear_ends_where_it_should);
    tcase_add_test(tcase, temperature_falls_geometrically);
    tcase_add_test(tcase, levels_begin_at_the_first_temperature);
    tcase_add_test(tcase, usual_range_fits_the_model);
    tcase_add_test(tcase, best_state_is_the_best_of_all);
    tcase_add_test(tcase, usual_range_is_the_rule_of_independent_variables);
    tcase_add_test(tcase, last_temperature_knows_what_penalties_leave);
    tcase_add_test(tcase, first_temperature_knows_of_penalties);
    tcase_add_test(tcase, first_temperature_is_that_of_starts_where_it_is_smaller);
    tcase_add_test(tcase, usual_range_is_the_same_for_any_threads);
    tcase_add_test(tcase, usual_range_is_usable_for_every_model);
    tcase_add_test(tcase, given_temperatures_are_kept);
    tcase_add_test(tcase, usual_settings_reach_the_optimum);
    tcase_add_test(tcase, mistakes_are_named);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(annealing_suite());
}
