/* SPDX-License-Identifier: MIT */
/* What is done with draws: shown one by one, and majority votes. */
#include "test.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "run_helpers.h"

/* ---- draws shown to the caller */

typedef struct watcher {
    int64_t next, stop_at, chains, V;
    int32_t *codes;                        /* [draws x chains x V] */
    double *f;                             /* [draws x chains] */
    double *jump, *acceptance, *step_size; /* [draws x chains], or NULL */
    int64_t warmup;                        /* draws of warm-up so far */
} watcher;

static void note(const sal_draw *draw, const double *from, double *to)
{
    if (to) {
        memcpy(to + draw->index * draw->chains, from, (size_t)draw->chains * sizeof *to);
    }
}

static int watch(const sal_draw *draw, void *data)
{
    watcher *w = data;
    int64_t row = w->chains * w->V;
    ck_assert_int_eq(draw->chains, w->chains);
    ck_assert_int_eq(draw->variables, w->V);
    if (draw->warmup) {
        ck_assert_int_eq(draw->index, w->warmup++);
        ck_assert_int_eq(w->next, 0);
        return 0;
    }
    ck_assert_int_eq(draw->index, w->next++);
    memcpy(w->codes + draw->index * row, draw->codes, (size_t)row * sizeof *w->codes);
    note(draw, draw->log_prob, w->f);
    note(draw, draw->jump, w->jump);
    note(draw, draw->acceptance_rate, w->acceptance);
    note(draw, draw->step_size, w->step_size);
    return w->next == w->stop_at;
}

static const int64_t clamp_variables[] = { 3 };
static const int32_t clamp_codes[] = { 2 };

START_TEST(draws_are_shown_in_order)
{
    sal_model *model = tiny_formula_over("mixed", SAL_F64);
    for (int tempered = 0; tempered < 2; tempered++) {
        watcher w = { .chains = 40,
                      .V = 7,
                      .codes = calloc(700 * 40 * 7, sizeof *w.codes),
                      .f = calloc(700 * 40, sizeof *w.f) };
        sal_run_options options = {
            .sampler = "gibbs",
            .chains = 40,
            .warmup = 10,
            .draws = 700,
            .thin = 1 + 2 * tempered,
            .tempering.replicas = 1 + tempered,
            .clamps = { .n = 1, .variables = clamp_variables, .codes = clamp_codes },
            .record.draws = true,
            .callbacks = { .draw = watch, .draw_data = &w }
        };
        int bytes;
        sal_run *run = run_it(model, &options);
        const uint8_t *draws = sal_run_draws(run, &bytes);
        ck_assert_int_eq(w.next, 700);
        for (int64_t d = 0; d < 700; d++) {
            for (int64_t c = 0; c < 40; c++) {
                ck_assert_double_eq(w.f[d * 40 + c], sal_run_log_probs(run)[c * 700 + d]);
                for (int v = 0; v < 7; v++) {
                    ck_assert_int_eq(w.codes[(d * 40 + c) * 7 + v], draws[(c * 700 + d) * 7 + v]);
                }
            }
        }
        sal_run_destroy(run);
        free(w.codes);
        free(w.f);
    }
    sal_model_destroy(model);
}
END_TEST

/* At thin = 1 a draw's jump is the distance from the draw before it, and 0 where nothing was
 * accepted; over all draws the figures add up to the run's own. */
START_TEST(figures_of_each_draw_are_shown)
{
    enum { DRAWS = 600, CHAINS = 3, V = 7 };
    static const char *const samplers[] = { "ncg", "gibbs" };
    sal_model *model = tiny_formula_over("mixed", SAL_F64);
    for (int thin = 1; thin <= 300; thin += 299) {
        static int32_t codes[DRAWS * CHAINS * V];
        static double f[DRAWS * CHAINS], jump[DRAWS * CHAINS], rate[DRAWS * CHAINS],
            step[DRAWS * CHAINS];
        watcher w = { .chains = CHAINS, .V = V, .codes = codes, .f = f };
        w.jump = jump;
        w.acceptance = rate;
        w.step_size = step;
        sal_run_options options = { .sampler = samplers[_i],
                                    .chains = CHAINS,
                                    .warmup = 100,
                                    .thin = thin,
                                    .draws = thin == 1 ? DRAWS : 7,
                                    .callbacks = { .draw = watch, .draw_data = &w } };
        sal_run *run = run_it(model, &options);
        sal_run_summary s = summary_of(run);
        double total = 0, mean_rate = 0;
        for (int64_t k = 0; k < s.draws * CHAINS; k++) {
            total += jump[k];
            mean_rate += rate[k];
            ck_assert(step[k] == s.step_size || (isnan(step[k]) && isnan(s.step_size)));
            ck_assert(rate[k] >= 0 && rate[k] <= 1);
            if (thin == 1 && k >= CHAINS) {
                double distance =
                    sali_distance(model->space, codes + k * V, codes + (k - CHAINS) * V);
                ck_assert_double_eq_tol(jump[k], distance, 1e-9);
            }
        }
        ck_assert_double_eq_tol(total / (double)(s.draws * CHAINS * thin), s.mean_jump, 1e-9);
        mean_rate /= (double)(s.draws * CHAINS); /* probabilities, of which the other is a sample */
        ck_assert_double_eq_tol(mean_rate, s.acceptance_rate, 0.05);
        sal_run_destroy(run);
    }
    sal_model_destroy(model);
}
END_TEST

/* Looking at warm-up changes nothing, though windows are cut at its draws. */
START_TEST(warm_up_is_shown_and_the_draws_stay_the_same)
{
    enum { DRAWS = 300, CHAINS = 3, V = 7 };
    sal_model *model = tiny_formula_over("mixed", SAL_F64);
    static int32_t codes[2][DRAWS * CHAINS * V];
    static double f[2][DRAWS * CHAINS];
    for (int shown = 0; shown < 2; shown++) {
        watcher w = { .chains = CHAINS, .V = V, .codes = codes[shown], .f = f[shown] };
        sal_run_options options = { .sampler = "ncg",
                                    .chains = CHAINS,
                                    .warmup = 205,
                                    .thin = 4,
                                    .draws = DRAWS,
                                    .callbacks = { .draw = watch, .draw_data = &w },
                                    .record.warmup = shown == 1 };
        sal_run *run = run_it(model, &options);
        ck_assert_int_eq(w.warmup, shown ? 51 : 0);
        ck_assert_int_eq(w.next, DRAWS);
        sal_run_destroy(run);
    }
    ck_assert_mem_eq(codes[0], codes[1], sizeof codes[0]);
    ck_assert_mem_eq(f[0], f[1], sizeof f[0]);
    sal_model_destroy(model);
}
END_TEST

START_TEST(a_shown_draw_can_stop_the_run)
{
    sal_model *model = tiny_formula_over("binary", SAL_F64);
    watcher w = { .chains = 2,
                  .V = 4,
                  .stop_at = 300,
                  .codes = calloc(1000 * 2 * 4, sizeof *w.codes),
                  .f = calloc(1000 * 2, sizeof *w.f) };
    sal_run_options options = { .chains = 2,
                                .warmup = 10,
                                .callbacks = { .draw = watch, .draw_data = &w } };
    sal_run *run = run_it(model, &options);
    sal_run_summary s = summary_of(run);
    ck_assert_int_eq(w.next, 300);
    ck_assert(s.stopped && s.draws >= 300 && s.draws < 1000);
    sal_run_destroy(run);
    free(w.codes);
    free(w.f);
    sal_model_destroy(model);
}
END_TEST

/* ---- votes */

/* The winner by comparing all pairs of draws. */
static int64_t brute_force_vote(const uint8_t *draws, const double *f, int64_t n, int64_t V,
                                int64_t *most)
{
    int64_t winner = -1;
    *most = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t votes = 0;
        for (int64_t j = 0; j < n; j++) {
            votes += memcmp(draws + i * V, draws + j * V, (size_t)V) == 0;
        }
        if (votes > *most || (votes == *most && f[i] > f[winner])) {
            *most = votes;
            winner = i;
        }
    }
    return winner;
}

START_TEST(majority_of_states_is_the_most_frequent_one)
{
    sal_model *model = tiny_formula_over("mixed", SAL_F64);
    for (uint64_t seed = 0; seed < 12; seed++) {
        sal_run_options options = { .chains = 5,
                                    .warmup = 20,
                                    .draws = seed % 2 ? 60 : 1,
                                    .record.draws = true,
                                    .seed = seed };
        int32_t codes[7];
        int64_t votes, most;
        int bytes;
        sal_error err;
        sal_run *run = run_it(model, &options);
        const uint8_t *draws = sal_run_draws(run, &bytes);
        ck_ok(sal_run_vote(run, codes, &votes, &err), &err);
        int64_t winner =
            brute_force_vote(draws, sal_run_log_probs(run), 5 * options.draws, 7, &most);
        ck_assert_int_eq(votes, most);
        for (int v = 0; v < 7; v++) {
            ck_assert_int_eq(codes[v], draws[winner * 7 + v]);
        }
        sal_run_destroy(run);
    }
    sal_run_options options = { .draws = 5, .warmup = 5 };
    sal_error err;
    sal_run *run = run_it(model, &options);
    ck_fails(sal_run_vote(run, NULL, NULL, &err), SAL_ERR_ARGUMENT, &err, "record.draws");
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

static int stop_late(const sal_draw *draw, void *data)
{
    return draw->index >= *(const int64_t *)data;
}

/* Of a stopped run only the draws that were made have a vote. */
START_TEST(majority_of_a_stopped_run_counts_what_was_drawn)
{
    sal_model *model = tiny_formula_over("mixed", SAL_F64);
    for (uint64_t seed = 0; seed < 6; seed++) {
        int64_t last = 200, votes, most;
        sal_run_options options = { .chains = 5,
                                    .warmup = 20,
                                    .draws = 1000,
                                    .record.draws = true,
                                    .seed = seed,
                                    .callbacks = { .draw = stop_late, .draw_data = &last } };
        int32_t codes[7];
        int bytes;
        sal_error err;
        sal_run *run = run_it(model, &options);
        int64_t made = draws_of(run);
        const uint8_t *draws = sal_run_draws(run, &bytes);
        ck_assert_int_lt(made, 1000);
        ck_ok(sal_run_vote(run, codes, &votes, &err), &err);
        int64_t winner = brute_force_vote(draws, sal_run_log_probs(run), 5 * made, 7, &most);
        ck_assert_int_eq(votes, most);
        for (int v = 0; v < 7; v++) {
            ck_assert_int_eq(codes[v], draws[winner * 7 + v]);
        }
        sal_run_destroy(run);
    }
    sal_model_destroy(model);
}
END_TEST

START_TEST(majority_by_dimension_follows_the_marginals)
{
    sal_model *model = tiny_formula_over("mixed", SAL_F64);
    sal_run_options options = { .draws = 101, .warmup = 20, .sampler = "gibbs" };
    double marginals[32], *row = marginals;
    int32_t codes[7];
    sal_error err;
    sal_run *run = run_it(model, &options);
    ck_ok(sal_run_marginals(run, marginals, &err), &err);
    ck_ok(sal_run_vote_by_dimension(run, 0, codes, &err), &err);
    for (int v = 0; v < 7; v++) {
        for (int k = 0; k < model->space->variables[v].states; k++) {
            ck_assert_double_le(row[k], row[codes[v]]);
        }
        row += model->space->variables[v].states;
    }
    ck_fails(sal_run_vote_by_dimension(run, 2, codes, &err), SAL_ERR_ARGUMENT, &err, "two levels");
    ck_fails(sal_run_vote_by_dimension(run, 8, codes, &err), SAL_ERR_ARGUMENT, &err, "0 to 7");
    ck_fails(sal_run_vote_by_dimension(run, -1, codes, &err), SAL_ERR_ARGUMENT, &err, "0 to 7");
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* The selected variables are those with the largest marginals. */
START_TEST(top_variables_are_selected)
{
    sal_model *model = NULL;
    sal_error err;
    double marginals[18];
    int32_t codes[9];
    ck_ok(sal_model_open("ising:side=3,theta=0.1", SAL_F64, &model, &err), &err);
    sal_run_options options = { .draws = 50, .warmup = 20 };
    sal_run *run = run_it(model, &options);
    ck_ok(sal_run_marginals(run, marginals, &err), &err);
    for (int64_t ones = 1; ones <= 9; ones++) {
        int64_t selected = 0;
        double least_in = 1, most_out = 0;
        ck_ok(sal_run_vote_by_dimension(run, ones, codes, &err), &err);
        for (int v = 0; v < 9; v++) {
            double p = marginals[2 * v + 1];
            selected += codes[v];
            least_in = codes[v] ? fmin(least_in, p) : least_in;
            most_out = codes[v] ? most_out : fmax(most_out, p);
        }
        ck_assert_int_eq(selected, ones);
        ck_assert_double_ge(least_in, most_out);
    }
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

static Suite *votes_suite(void)
{
    Suite *suite = suite_create("votes");
    TCase *tcase = tcase_create("votes");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, draws_are_shown_in_order);
    tcase_add_test(tcase, a_shown_draw_can_stop_the_run);
    tcase_add_loop_test(tcase, figures_of_each_draw_are_shown, 0, 2);
    tcase_add_test(tcase, warm_up_is_shown_and_the_draws_stay_the_same);
    tcase_add_test(tcase, majority_of_states_is_the_most_frequent_one);
    tcase_add_test(tcase, majority_of_a_stopped_run_counts_what_was_drawn);
    tcase_add_test(tcase, majority_by_dimension_follows_the_marginals);
    tcase_add_test(tcase, top_variables_are_selected);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(votes_suite());
}
