/* SPDX-License-Identifier: MIT */
/* sal_sample end to end: what comes out of a run. */
#include "test.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include <saltus/program.h>
#include <saltus/sample.h>
#include "run_helpers.h"

/* ---- the same bits */

/* The outputs of two runs agree bit for bit. */
static bool same_bits(const sal_model *model, const sal_run *a, const sal_run *b, int64_t chains)
{
    int bytes[2];
    double marginals[2][32] = { { 0 } };
    int32_t last[2][200 * 8] = { { 0 } };
    sal_run_summary s[2];
    sal_error err;
    const sal_run *runs[] = { a, b };
    int64_t draws = draws_of(a), V = model->space->n_variables;
    for (int k = 0; k < 2; k++) {
        ck_ok(sal_run_marginals(runs[k], marginals[k], &err), &err);
        ck_ok(sal_run_last(runs[k], last[k], &err), &err);
        ck_ok(sal_run_summarise(runs[k], &s[k], &err), &err);
    }
    const void *draws_a = sal_run_draws(a, &bytes[0]), *draws_b = sal_run_draws(b, &bytes[1]);
    ck_assert_int_eq(bytes[0], 1);
    ck_assert_int_eq(bytes[1], 1);
    bool same = memcmp(sal_run_log_probs(a), sal_run_log_probs(b),
                       (size_t)(chains * draws) * sizeof(double)) == 0 &&
                memcmp(draws_a, draws_b, (size_t)(chains * draws * V)) == 0 &&
                memcmp(marginals[0], marginals[1], sizeof marginals[0]) == 0 &&
                memcmp(last[0], last[1], sizeof last[0]) == 0;
    return same && memcmp(&s[0].step_size, &s[1].step_size, sizeof(double)) == 0 &&
           s[0].acceptance_rate == s[1].acceptance_rate && s[0].mean_jump == s[1].mean_jump &&
           memcmp(&s[0].log_prob_mean, &s[1].log_prob_mean, sizeof(double)) == 0 &&
           memcmp(&s[0].ess_min, &s[1].ess_min, sizeof(double)) == 0 &&
           memcmp(&s[0].rhat_max, &s[1].rhat_max, sizeof(double)) == 0;
}

START_TEST(same_seed_gives_the_same_bits_on_any_number_of_threads)
{
    static const int threads[] = { 1, 2, 7 };
    const sal_dtype dtype = _i == 0 ? SAL_F64 : SAL_F32;
    sal_model *model = NULL;
    sal_sampler_info info;
    sal_error err;
    if (_i < 2) {
        model = tiny_formula_over("mixed", dtype);
    } else {
        ck_ok(sal_model_open("potts-dense:dim=4,states=3", 0, &model, &err), &err);
    }
    for (int64_t k = 0; sal_sampler_list(k, &info); k++) {
        if (!sali_sampler_serves(sali_sampler_at(k), model)) {
            continue;
        }
        sal_run *runs[4];
        sal_run_options options = { .sampler = info.name,
                                    .chains = TEST_SANITIZED ? 80 : 200,
                                    .warmup = 120,
                                    .draws = 40,
                                    .record.draws = true,
                                    .seed = 5 };
        for (int t = 0; t < 4; t++) {
            options.threads = threads[t % 3];
            options.seed = t == 3 ? 6 : 5;
            runs[t] = run_it(model, &options);
        }
        ck_assert_msg(same_bits(model, runs[0], runs[1], options.chains), "%s: 2 threads differ",
                      info.name);
        ck_assert_msg(same_bits(model, runs[0], runs[2], options.chains), "%s: 7 threads differ",
                      info.name);
        ck_assert_msg(!same_bits(model, runs[0], runs[3], options.chains), "%s: seed has no effect",
                      info.name);
        for (int t = 0; t < 4; t++) {
            sal_run_destroy(runs[t]);
        }
    }
    sal_model_destroy(model);
}
END_TEST

/* Samplers that follow f by its changes keep it right: each draw has the f of its codes. */
START_TEST(draws_have_the_f_of_their_codes)
{
    static const char *const models[] = {
        "ising:side=4,theta=0.3",     "ising-dense:dim=12",
        "potts-dense:dim=6,states=4", "potts:side=3,states=3",
        "rbm:visible=8,hidden=4",     "ordinal-poly2:dim=4,components=3,levels=5",
        "poisson:dim=4,cap=6"
    };
    sal_model *model = NULL;
    sal_sampler_info info;
    sal_error err;
    ck_ok(sal_model_open(models[_i], SAL_F64, &model, &err), &err);
    const int64_t V = model->space->n_variables;
    int runs = 0;
    for (int64_t k = 0; sal_sampler_list(k, &info); k++) {
        if (!sali_sampler_serves(sali_sampler_at(k), model)) {
            continue;
        }
        sal_run_options options = {
            .sampler = info.name, .chains = 5, .warmup = 20, .draws = 30, .record.draws = true
        };
        sal_run *run = run_it(model, &options);
        int bytes;
        const uint8_t *draws = sal_run_draws(run, &bytes);
        const double *f = sal_run_log_probs(run);
        ck_assert_int_eq(bytes, 1);
        for (int64_t d = 0; d < 5 * draws_of(run); d++) {
            int32_t codes[64];
            double want;
            for (int64_t v = 0; v < V; v++) {
                codes[v] = draws[d * V + v];
            }
            ck_ok(sal_model_evaluate(model, 1, codes, &want, NULL, NULL, &err), &err);
            ck_assert_msg(fabs(f[d] - want) <= 1e-9 * (1 + fabs(want)),
                          "%s: f %.15g, of its codes %.15g", info.name, f[d], want);
        }
        sal_run_destroy(run);
        runs++;
    }
    ck_assert_int_ge(runs, 4);
    sal_model_destroy(model);
}
END_TEST

/* ---- convergence */

/* Exact marginals, laid out as by sal_run_marginals. */
static void exact_marginals(const sal_model *model, double *marginals)
{
    double f[TINY_MOST_STATES], pi[TINY_MOST_STATES];
    int32_t codes[TINY_MOST_REALS];
    const sal_space *space = model->space;
    states_probabilities(model, 1, f, pi);
    for (int64_t i = 0; i < states_count(space); i++) {
        double *row = marginals;
        state_codes(space, i, codes);
        for (int64_t v = 0; v < space->n_variables; v++) {
            row[codes[v]] += pi[i];
            row += space->variables[v].states;
        }
    }
}

/* Standard error of the share of draws with variable v at `code`, from the chains' own averages. */
static double share_error(const sal_run *run, int64_t chains, int64_t V, int64_t v, int code)
{
    int bytes;
    const uint8_t *draws = sal_run_draws(run, &bytes);
    int64_t n = draws_of(run);
    double sum = 0, square = 0;
    for (int64_t c = 0; c < chains; c++) {
        double share = 0;
        for (int64_t d = 0; d < n; d++) {
            share += draws[(c * n + d) * V + v] == code;
        }
        sum += share / (double)n;
        square += share / (double)n * (share / (double)n);
    }
    double mean = sum / (double)chains, variance = square / (double)chains - mean * mean;
    return sqrt(fmax(variance, 0) / (double)(chains - 1));
}

/* The chains are independent, so the variance between their averages gives the standard error of
 * the marginals; with 63 degrees of freedom, 5.5 standard errors are passed with probability 1e-6,
 * and there are 17 marginals a sampler. States so rare that few chains meet them have averages that
 * are not normal: those below 2e-3 get room of 1e-3. */
START_TEST(marginals_converge_to_enumeration)
{
    sal_model *model = tiny_formula_over("mixed", SAL_F64);
    sal_sampler_info info;
    double exact[32] = { 0 };
    exact_marginals(model, exact);
    for (int64_t k = 0; sal_sampler_list(k, &info); k++) {
        if (!sali_sampler_serves(sali_sampler_at(k), model)) {
            continue;
        }
        double marginals[32];
        sal_error err;
        sal_run_options options = { .sampler = info.name,
                                    .chains = 64,
                                    .warmup = 300,
                                    .draws = 500,
                                    .thin = 3,
                                    .record.draws = true,
                                    .seed = 17 };
        sal_run *run = run_it(model, &options);
        ck_ok(sal_run_marginals(run, marginals, &err), &err);
        const double *row = marginals, *row_exact = exact;
        for (int64_t v = 0; info.exact && v < model->space->n_variables; v++) {
            int32_t states = model->space->variables[v].states;
            for (int32_t code = 0; code < states; code++) {
                double error = share_error(run, 64, model->space->n_variables, v, code);
                double room = row_exact[code] < 2e-3 ? 1e-3 : 1e-12;
                ck_assert_msg(fabs(row[code] - row_exact[code]) <= 5.5 * error + room,
                              "%s: P(x%d = %d) = %.4f +- %.4f, exactly %.4f", info.name, (int)v,
                              code, row[code], error, row_exact[code]);
                ck_assert_double_le(error, 0.02);
            }
            row += states;
            row_exact += states;
        }
        sal_run_destroy(run);
    }
    sal_model_destroy(model);
}
END_TEST

/* ---- clamped variables, starting states */

/* The f kept of every draw is that of its codes. */
static void check_log_probs(const sal_model *model, const sal_run *run, int64_t draws)
{
    int bytes;
    const uint8_t *kept = sal_run_draws(run, &bytes);
    for (int64_t d = 0; d < draws; d++) {
        int32_t codes[TINY_MOST_REALS];
        double f;
        sal_error err;
        for (int64_t v = 0; v < model->space->n_variables; v++) {
            codes[v] = kept[d * model->space->n_variables + v];
        }
        ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
        ck_assert_double_eq_tol(f, sal_run_log_probs(run)[d], 1e-4); /* single precision */
    }
}

START_TEST(clamped_variables_keep_their_codes)
{
    static const int64_t variables[] = { 5, 1 };
    static const int32_t codes[] = { 2, 1 };
    sal_model *model = tiny_formula_over("mixed", SAL_F32);
    const sal_space *space = model->space;
    sal_sampler_info info;
    for (int64_t k = 0; sal_sampler_list(k, &info); k++) {
        if (!sali_sampler_serves(sali_sampler_at(k), model)) {
            continue;
        }
        sal_run_options options = { .sampler = info.name,
                                    .warmup = 50,
                                    .draws = 100,
                                    .clamps = { .n = 2, .variables = variables, .codes = codes },
                                    .record.draws = true };
        int bytes;
        int32_t last[4 * 8];
        double marginals[32];
        sal_error err;
        sal_run *run = run_it(model, &options);
        const uint8_t *draws = sal_run_draws(run, &bytes);
        ck_assert_int_eq(bytes, 1);
        ck_ok(sal_run_last(run, last, &err), &err);
        ck_ok(sal_run_marginals(run, marginals, &err), &err);
        for (int64_t d = 0; d < 4 * 100; d++) {
            ck_assert_int_eq(draws[d * space->n_variables + 5], 2);
            ck_assert_int_eq(draws[d * space->n_variables + 1], 1);
        }
        check_log_probs(model, run, 4 * 100);
        for (int64_t c = 0; c < 4; c++) { /* the last states are the last draws */
            for (int64_t v = 0; v < space->n_variables; v++) {
                ck_assert_int_eq(last[c * space->n_variables + v],
                                 draws[(c * 100 + 99) * space->n_variables + v]);
            }
        }
        const double *row = marginals;
        for (int64_t v = 0; v < space->n_variables; v++) {
            double sum = 0;
            for (int32_t code = 0; code < space->variables[v].states; code++) {
                sum += row[code];
            }
            ck_assert_double_eq_tol(sum, 1, 1e-12);
            ck_assert(v != 1 || (row[0] == 0 && row[1] == 1));
            ck_assert(v != 5 || (row[0] == 0 && row[1] == 0 && row[2] == 1));
            row += space->variables[v].states;
        }
        sal_run_destroy(run);
    }
    sal_model_destroy(model);
}
END_TEST

/* One step of Gibbs moves variable 0 only: the rest of `init` is still there. */
START_TEST(chains_start_at_init)
{
    static const int32_t init[2 * 7] = { 1, 0, 1, 3, 1, 2, 0, 0, 1, 0, 2, 0, 1, 0 };
    sal_model *model = tiny_formula_over("mixed", SAL_F64);
    sal_run_options options = {
        .sampler = "gibbs", .chains = 2, .warmup = -1, .draws = 1, .init = init
    };
    int32_t last[2 * 7];
    sal_error err;
    sal_run *run = run_it(model, &options);
    ck_ok(sal_run_last(run, last, &err), &err);
    for (int c = 0; c < 2; c++) {
        ck_assert_mem_eq(last + 7 * c + 1, init + 7 * c + 1, 6 * sizeof *init);
    }
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* Exact draws of layers, chains and mixtures are the default; not at other temperatures, where
 * draws of layers are proposals only, nor where clamped variables leave no such structure. */
START_TEST(default_sampler_draws_known_structures)
{
    static const char *const models[] = { "rbm:visible=6,hidden=3", "hmm:length=5", "mixture" };
    static const int64_t variables[] = { 2 };
    static const int32_t codes[] = { 1 };
    const sal_run_options options[] = {
        { .draws = 5 },
        { .draws = 5, .tempering.replicas = 3 },
        { .draws = 5, .annealing.on = true },
        { .draws = 5, .clamps = { .n = 1, .variables = variables, .codes = codes } }
    };
    for (int k = 0; k < 4; k++) {
        sal_model *model = NULL;
        sal_error err;
        ck_ok(sal_model_open(models[_i], 0, &model, &err), &err);
        sal_run *run = run_it(model, &options[k]);
        const bool known = run->model->structure != NULL;
        ck_assert_int_eq(known, k < 3 || _i == 1); /* a chain with a clamped variable is one */
        ck_assert_msg((strcmp(summary_of(run).sampler, "block-gibbs") == 0) ==
                          (known && (k == 0 || k == 3)),
                      "%s, options %d: %s", models[_i], k, summary_of(run).sampler);
        sal_run_destroy(run);
        sal_model_destroy(model);
    }
}
END_TEST

/* Draws of fair bits by chain and draw number that are the same state in two runs. */
static int64_t count_equal_draws(const sal_run *one, const sal_run *two)
{
    int64_t chains, draws, V, equal = 0;
    int bytes;
    sal_run_size(one, &chains, &draws, &V);
    const uint8_t *a = sal_run_draws(one, &bytes), *b = sal_run_draws(two, &bytes);
    for (int64_t k = 0; k < chains * draws; k++) {
        equal += memcmp(a + k * V, b + k * V, (size_t)V) == 0;
    }
    return equal;
}

/* A run from the last states of another one, with the same seed. Draws are independent states of 16
 * fair bits, equal with probability 2^-16: of 800 pairs one or more with probability .012, and 8
 * with less than 1e-19. The same start and seed give the same bits. */
START_TEST(last_states_and_the_same_seed_give_other_draws)
{
    sal_model *model = NULL;
    sal_error err;
    int32_t last[4 * 16];
    sal_run_options options = { .sampler = "gibbs",
                                .chains = 4,
                                .draws = 200,
                                .thin = 16,
                                .seed = (uint64_t)_i,
                                .record.draws = true };
    ck_ok(sal_model_open("bernoulli:dim=16,scale=0", SAL_F64, &model, &err), &err);
    sal_run *first = run_it(model, &options);
    ck_ok(sal_run_last(first, last, &err), &err);
    options.init = last;
    sal_run *next = run_it(model, &options), *again = run_it(model, &options);
    ck_assert_int_lt(count_equal_draws(first, next), 8);
    ck_assert_int_eq(count_equal_draws(next, again), 4 * 200);
    options.seed++;
    sal_run *other = run_it(model, &options);
    ck_assert_int_lt(count_equal_draws(next, other), 8);
    sal_run_destroy(other);
    sal_run_destroy(again);
    sal_run_destroy(next);
    sal_run_destroy(first);
    sal_model_destroy(model);
}
END_TEST

/* n variables of 3 states that must all be equal: of 3^n states, 3 are not forbidden. */
static sal_model *all_equal_model(int64_t n)
{
    static const int32_t states[] = { 3, 3, 3, 3, 3, 3, 3, 3 };
    int64_t begin[8], scope[16];
    double tables[9 * 8];
    sal_model *model = NULL;
    sal_error err;
    for (int64_t m = 0; m < n - 1; m++) {
        begin[m] = 2 * m;
        scope[2 * m] = m;
        scope[2 * m + 1] = m + 1;
        for (int k = 0; k < 9; k++) {
            tables[9 * m + k] = k % 4 == 0 ? 0.1 * k : -INFINITY;
        }
    }
    begin[n - 1] = 2 * (n - 1);
    ck_ok(sal_model_from_factors(n, states, n - 1, begin, scope, tables, SAL_F64, &model, &err),
          &err);
    return model;
}

START_TEST(forbidden_starts_are_repaired)
{
    static const int32_t init[2 * 8] = { 0, 1, 2, 0, 1, 2, 0, 1, 2, 2, 2, 2, 2, 2, 2, 2 };
    sal_model *model = all_equal_model(8);
    for (int given = 0; given < 2; given++) {
        sal_run_options options = { .chains = 2,
                                    .warmup = 10,
                                    .draws = 20,
                                    .record.draws = true,
                                    .init = given ? init : NULL };
        int bytes;
        sal_run *run = run_it(model, &options);
        const uint8_t *draws = sal_run_draws(run, &bytes);
        for (int64_t k = 0; k < 2 * 20 * 8; k++) {
            ck_assert_int_eq(draws[k], draws[k / 8 * 8]);
            ck_assert(!given || k < 20 * 8 || draws[k] == 2); /* a good start is left alone */
        }
        for (int64_t k = 0; k < 2 * 20; k++) {
            ck_assert(isfinite(sal_run_log_probs(run)[k]));
        }
        sal_run_destroy(run);
    }
    sal_model_destroy(model);
}
END_TEST

START_TEST(forbidden_states_are_never_drawn)
{
    sal_space *space = tiny_space_make(tiny_space_named("factors"));
    sal_model *model = tiny_tables(space, SAL_F32);
    sal_sampler_info info;
    for (int64_t k = 0; sal_sampler_list(k, &info); k++) {
        if (!sali_sampler_serves(sali_sampler_at(k), model)) {
            continue;
        }
        sal_run_options options = {
            .sampler = info.name, .chains = 40, .warmup = 100, .draws = 500
        };
        sal_run *run = run_it(model, &options);
        for (int64_t d = 0; d < 40 * 500; d++) {
            ck_assert(isfinite(sal_run_log_probs(run)[d]));
        }
        sal_run_destroy(run);
    }
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

/* ---- thin, stopping */

START_TEST(thin_keeps_every_third_state)
{
    sal_model *model = tiny_formula_over("mixed", SAL_F64);
    sal_run_options every = { .chains = 3, .warmup = 10, .draws = 300, .record.draws = true };
    sal_run_options third = every;
    int bytes;
    third.draws = 100;
    third.thin = 3;
    sal_run *all = run_it(model, &every), *some = run_it(model, &third);
    const uint8_t *a = sal_run_draws(all, &bytes), *b = sal_run_draws(some, &bytes);
    for (int64_t c = 0; c < 3; c++) {
        for (int64_t d = 0; d < 100; d++) {
            ck_assert_mem_eq(b + (c * 100 + d) * 7, a + (c * 300 + 3 * d + 2) * 7, 7);
        }
    }
    sal_run_destroy(all);
    sal_run_destroy(some);
    every.record.draws = false;
    all = run_it(model, &every);
    ck_assert_ptr_null(sal_run_draws(all, &bytes));
    sal_run_destroy(all);
    sal_model_destroy(model);
}
END_TEST

typedef struct watch {
    int64_t stop_at, last, total;
    int calls;
} watch;

static int stop_after(int64_t done, int64_t total, void *data)
{
    watch *w = data;
    ck_assert_int_gt(done, w->last);
    ck_assert_int_le(done, total);
    w->last = done;
    w->total = total;
    w->calls++;
    return done >= w->stop_at;
}

START_TEST(progress_reports_and_stops)
{
    sal_model *model = tiny_formula_over("mixed", SAL_F64);
    static const int64_t stops[] = { 20, 1000, INT64_MAX };
    for (int k = 0; k < 3; k++) {
        watch w = { .stop_at = stops[k] };
        sal_run_options options = { .warmup = 100,
                                    .draws = 1000,
                                    .thin = 2,
                                    .record.draws = true,
                                    .callbacks = { .progress = stop_after, .progress_data = &w } };
        double marginals[32];
        sal_error err;
        sal_run_summary s;
        sal_run *run = run_it(model, &options);
        ck_ok(sal_run_summarise(run, &s, &err), &err);
        ck_assert_int_eq(w.total, 2100);
        ck_assert_int_eq(s.draws, draws_of(run));
        ck_assert_int_eq(s.draws, w.last <= 100 ? 0 : (w.last - 100) / 2);
        ck_assert(s.stopped == (k < 2));
        ck_assert(k < 2 || w.last == 2100);
        if (s.draws > 0) {
            ck_ok(sal_run_marginals(run, marginals, &err), &err);
            ck_assert_double_eq_tol(marginals[0] + marginals[1], 1, 1e-12);
        } else {
            ck_fails(sal_run_marginals(run, marginals, &err), SAL_ERR_ARGUMENT, &err, "first draw");
        }
        for (int64_t d = 0; d < s.draws; d++) {
            ck_assert(isfinite(sal_run_log_probs(run)[d]));
        }
        sal_run_destroy(run);
    }
    sal_model_destroy(model);
}
END_TEST

static Suite *run_suite(void)
{
    Suite *suite = suite_create("run");
    TCase *tcase = tcase_create("run");
    tcase_set_timeout(tcase, 240);
    tcase_add_loop_test(tcase, same_seed_gives_the_same_bits_on_any_number_of_threads, 0,
                        TEST_SANITIZED ? 1 : 3);
    tcase_add_loop_test(tcase, draws_have_the_f_of_their_codes, 0, 7);
    if (!TEST_SANITIZED) { /* slow there, and says nothing about memory */
        tcase_add_test(tcase, marginals_converge_to_enumeration);
    }
    tcase_add_test(tcase, clamped_variables_keep_their_codes);
    tcase_add_test(tcase, chains_start_at_init);
    tcase_add_loop_test(tcase, default_sampler_draws_known_structures, 0, 3);
    tcase_add_loop_test(tcase, last_states_and_the_same_seed_give_other_draws, 0, 2);
    tcase_add_test(tcase, forbidden_starts_are_repaired);
    tcase_add_test(tcase, forbidden_states_are_never_drawn);
    tcase_add_test(tcase, thin_keeps_every_third_state);
    tcase_add_test(tcase, progress_reports_and_stops);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(run_suite());
}
