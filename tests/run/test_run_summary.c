/* SPDX-License-Identifier: MIT */
/* The figures of a run, and what they warn of. */
#include "test.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <saltus/program.h>
#include <saltus/sample.h>
#include <saltus/stats.h>
#include "io/file.h"
#include "run/results/figures.h"
#include "run_helpers.h"
#include "stats/rhat.h"

/* The acceptance that adaptation aims at, or where steps of any length do better the one of the
 * longest: it falls to that of a proposal without a bound on the distance, and no further. */
static double expected_acceptance(sal_model *model, const char *sampler)
{
    sal_run_options options = { .sampler = sampler, .chains = 8, .draws = 2000, .seed = 4 };
    sal_run_summary s;
    sal_error err;
    options.step_size = sali_default_step_size(model->space, 1e3); /* the longest that is tried */
    sal_run *run = run_it(model, &options);
    ck_ok(sal_run_summarise(run, &s, &err), &err);
    sal_run_destroy(run);
    return fmax(s.acceptance_rate, 0.574);
}

START_TEST(summary_describes_the_run)
{
    sal_model *model = tiny_formula_over("mixed", SAL_F64);
    sal_sampler_info info;
    for (int64_t k = 0; sal_sampler_list(k, &info); k++) {
        if (!sali_sampler_serves(sali_sampler_at(k), model)) {
            continue;
        }
        sal_run_options options = {
            .sampler = info.name, .chains = 8, .warmup = 1000, .draws = 800, .thin = 2, .seed = 3
        };
        bool has_step = sali_sampler_at(k)->has_step_size;
        bool adapts = sali_sampler_adapts(sali_sampler_at(k));
        options.step_size = has_step && !adapts ? 2 : 0;
        double mean = 0;
        sal_run_summary s;
        sal_error err;
        sal_run *run = run_it(model, &options);
        ck_ok(sal_run_summarise(run, &s, &err), &err);
        ck_assert_str_eq(s.sampler, info.name);
        ck_assert_str_eq(s.model, sal_model_name(model));
        ck_assert(s.variables == 7 && s.chains == 8 && s.warmup == 1000 && s.draws == 800);
        ck_assert(s.thin == 2 && s.seed == 3 && s.threads >= 1 && !s.stopped);
        ck_assert(has_step ? s.step_size > 0 : isnan(s.step_size));
        ck_assert(s.acceptance_rate > 0.1 && s.acceptance_rate <= 1);
        ck_assert_msg(!adapts ||
                          fabs(s.acceptance_rate - expected_acceptance(model, info.name)) < 0.12,
                      "%s: acceptance %g", info.name, s.acceptance_rate);
        ck_assert(s.mean_jump > 0.01 && s.mean_jump < 20);
        ck_assert(s.ess_min > 10 && s.ess_min <= s.ess_median && s.ess_median <= s.ess_max);
        ck_assert(s.ess_max < 800 * 3 && s.ess_per_second > 0);
        ck_assert_msg(s.rhat_max > 0.99 && s.rhat_max < 1.1, "%s: R-hat %g", info.name, s.rhat_max);
        ck_assert(s.rhat_variable >= -1 && s.rhat_variable < 7 && s.disagreeing == 0);
        ck_assert(s.seconds > 0 && s.warmup_seconds > 0 && s.steps_per_second > 0);
        for (int64_t d = 0; d < 8 * 800; d++) {
            mean += sal_run_log_probs(run)[d] / (8 * 800);
        }
        ck_assert_double_eq_tol(s.log_prob_mean, mean, 1e-9);
        sal_run_destroy(run);
    }
    sal_model_destroy(model);
}
END_TEST

/* The declarations of the members of sal_run_summary, as the header has them, without comments:
 * each ends with a semicolon. To be freed. */
static char *members_of_summary(void)
{
    sali_bytes header = { 0 };
    sal_error err = { 0 };
    ck_ok(sali_file_read(SALTUS_SOURCE_DIR "/include/saltus/sample.h", &header, &err), &err);
    const char *at = strstr((const char *)header.data, "typedef struct sal_run_summary {");
    ck_assert_ptr_nonnull(at);
    char *members = strdup(strchr(at, '{') + 1), *to = members;
    ck_assert_ptr_nonnull(strchr(members, '}'));
    for (const char *from = members; *from != '}'; from++) {
        if (strncmp(from, "/*", 2) == 0) {
            from = strstr(from, "*/") + 1;
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
    sali_bytes_free(&header);
    return members;
}

/* The name that the declaration of a member ends with, which is cut after it. */
static const char *name_of_member(char *declaration)
{
    declaration[strcspn(declaration, "[")] = '\0';
    const char *name = declaration + strlen(declaration);
    while (name > declaration && (isalnum((unsigned char)name[-1]) || name[-1] == '_')) {
        name--;
    }
    return name;
}

/* The entry of a field in the table of figures, which has no other of it; NULL: none. */
static const sali_figure *figure_of(const char *field)
{
    const sali_figure *f, *found = NULL;
    for (int64_t k = 0; (f = sali_figure_at(k)); k++) {
        if (f->field && strcmp(f->field, field) == 0) {
            ck_assert_msg(!found, "%s is in the table twice", field);
            found = f;
        }
    }
    return found;
}

START_TEST(every_member_of_a_summary_is_in_the_table)
{
    sal_model *model = tiny_formula_over("mixed", SAL_F64);
    sal_run_options options = { .chains = 2, .draws = 50, .seed = UINT64_C(7) };
    sal_run *run = run_it(model, &options);
    sal_run_summary s = summary_of(run);
    sal_error err = { 0 };
    double value = -5;
    int members = 0, fields = 0;
    char *text = members_of_summary(), *rest = NULL;
    for (char *one = strtok_r(text, ";", &rest); one && one[strspn(one, "\n ")];
         one = strtok_r(NULL, ";", &rest)) {
        const char *name = name_of_member(one);
        const sali_figure *f = figure_of(name);
        ck_assert_msg(f, "src/run/results/figures.c lacks %s", name);
        sal_status status = sal_run_summary_value(run, name, &value, &err);
        ck_assert_int_eq(status, f->kind < SAL_OPTION_WORD ? SAL_OK : SAL_ERR_NOT_FOUND);
        members++;
    }
    free(text);
    for (int64_t k = 0; sali_figure_at(k); k++) {
        fields += sali_figure_at(k)->field != NULL;
    }
    ck_assert_int_gt(members, 60);
    ck_assert_int_eq(fields, members);
    const struct {
        const char *name;
        double value;
    } some[] = {
        { "rhat_max", s.rhat_max }, { "chains", 2 },          { "seed", 7 },
        { "stopped", 0 },           { "threads", s.threads }, { "rhat_code", s.rhat_code },
    };
    for (size_t k = 0; k < sizeof some / sizeof *some; k++) {
        ck_ok(sal_run_summary_value(run, some[k].name, &value, &err), &err);
        ck_assert_double_eq(value, some[k].value);
    }
    value = -5;
    ck_fails(sal_run_summary_value(run, "rhat_mx", &value, &err), SAL_ERR_NOT_FOUND, &err,
             "did you mean 'rhat_max'?");
    ck_fails(sal_run_summary_value(run, "temperature of the sea", &value, &err), SAL_ERR_NOT_FOUND,
             &err, "such as 'rhat_max'");
    ck_fails(sal_run_summary_value(run, NULL, &value, &err), SAL_ERR_ARGUMENT, &err, "NULL");
    ck_assert_double_eq(value, -5);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* Two chains, so that the median lies between them; and steps between draws. */
START_TEST(times_are_in_steps_and_medians_in_the_middle)
{
    sal_model *model = tiny_formula_over("spin", SAL_F64);
    sal_run_options options = {
        .sampler = "gibbs", .chains = 2, .warmup = 50, .draws = 900, .thin = 3, .seed = 2
    };
    double tau;
    sal_error err;
    sal_run *run = run_it(model, &options);
    sal_run_summary s = summary_of(run);
    ck_ok(sal_stats_autocorrelation_time(2, 900, sali_run_record(run)->distance, &tau, &err), &err);
    ck_assert_double_eq_tol(s.autocorrelation_time, 3 * tau, 1e-9);
    ck_assert_double_lt(s.ess_min, s.ess_max);
    ck_assert_double_eq_tol(s.ess_median, (s.ess_min + s.ess_max) / 2, 1e-9);
    ck_assert_double_eq_tol(s.ess_total, s.ess_min + s.ess_max, 1e-9);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* Halves of 50 and 51 draws: shares of the longer ones are taken as of 50 draws. */
START_TEST(rhat_of_odd_draws_compares_shares)
{
    enum { CHAINS = 4, HALF = 50, DRAWS = 2 * HALF + 1, V = 9 };
    sal_model *model = NULL;
    sal_run_options options = {
        .sampler = "gwg", .chains = CHAINS, .draws = DRAWS, .seed = 3, .record.draws = true
    };
    double largest = 0;
    sal_error err;
    int bytes;
    ck_ok(sal_model_open("ising:side=3,theta=0.3,bias=0.4", 0, &model, &err), &err);
    sal_run *run = run_it(model, &options);
    const uint8_t *draws = sal_run_draws(run, &bytes);
    sal_run_summary s = summary_of(run);
    for (int v = 0; v < V; v++) {
        int64_t ones[2 * CHAINS];
        double rhat;
        for (int c = 0; c < CHAINS; c++) {
            double sum[2] = { 0 };
            for (int d = 0; d < DRAWS; d++) {
                sum[d >= HALF] += draws[(c * DRAWS + d) * V + v];
            }
            ones[2 * c] = (int64_t)sum[0];
            ones[2 * c + 1] = llround(sum[1] / (HALF + 1) * HALF);
        }
        ck_ok(sali_rhat_counts(2 * CHAINS, HALF, ones, &rhat, &err), &err);
        largest = fmax(largest, rhat);
    }
    ck_assert_int_ge(s.rhat_variable, 0);
    ck_assert_double_eq_tol(s.rhat_max, largest, 1e-9);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* 1000 steps, or 10 sweeps if these are more: of as many steps as there are variables, or blocks
 * to go through; samplers that move all variables have 5 steps in place of a sweep. */
START_TEST(warm_up_is_ten_sweeps_at_least)
{
    const struct {
        const char *model;
        sal_run_options options;
        int64_t warmup;
    } cases[] = {
        { "ising:side=10", { .sampler = "gibbs" }, 1000 },
        { "ising:side=11", { .sampler = "gibbs" }, 1210 },
        { "ising:side=11", { .sampler = "gwg" }, 1210 },
        { "ising:side=11", { .sampler = "mh-uniform" }, 1210 },
        { "ising:side=11", { .sampler = "ncg" }, 1000 },
        { "ising:side=11", { .sampler = "block-gibbs" }, 1000 },
        { "ising:side=11", { .sampler = "gibbs", .warmup = 3 }, 3 },
        { "ising:side=11", { .sampler = "gibbs", .warmup = -1 }, 0 },
        { "ising:side=2", { .sampler = "gibbs", .tempering.replicas = 2 }, 4000 },
        { "ising:side=11",
          { .sampler = "gwg", .tempering = { .replicas = 2, .swap_every = 1 } },
          1210 },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_run_options options = cases[k].options;
        sal_model *model = NULL;
        sal_run_summary s;
        sal_error err = { 0 };
        options.chains = 1;
        options.draws = 4;
        ck_ok(sal_model_open(cases[k].model, 0, &model, &err), &err);
        sal_run *run = run_it(model, &options);
        ck_ok(sal_run_summarise(run, &s, &err), &err);
        ck_assert_msg(s.warmup == cases[k].warmup, "%s, %s: %lld", cases[k].model, options.sampler,
                      (long long)s.warmup);
        sal_run_destroy(run);
        sal_model_destroy(model);
    }
}
END_TEST

/* What the chains propose with when warm-up is over is the step size that is reported. */
START_TEST(adapted_step_size_is_the_one_in_use)
{
    sal_model *model = tiny_formula_over("mixed", SAL_F64);
    for (int64_t k = 0; sali_sampler_at(k); k++) {
        if (!sali_sampler_serves(sali_sampler_at(k), model)) {
            continue;
        }
        const sali_sampler *sampler = sali_sampler_at(k);
        sal_run_options options = { .sampler = sampler->name, .warmup = 70, .draws = 5 };
        double used[4], reported[4];
        sal_run_summary s;
        sal_error err;
        sal_run *run = run_it(model, &options);
        ck_ok(sal_run_summarise(run, &s, &err), &err);
        for (int64_t i = 0;
             (sampler->has_step_size) && sali_engine(sampler)->log_q && i < run->n_shards; i++) {
            sali_run_shard *shard = &run->shards[i];
            sali_engine(sampler)->log_q(shard->self, shard->chains, shard->chains->codes, used);
            for (int64_t c = 0; c < shard->chains->n; c++) {
                shard->chains->step_size[c] = s.step_size;
            }
            sali_engine(sampler)->refresh(shard->self, shard->chains);
            sali_engine(sampler)->log_q(shard->self, shard->chains, shard->chains->codes, reported);
            for (int64_t c = 0; c < shard->chains->n; c++) {
                ck_assert_double_eq_tol(used[c], reported[c], 1e-12);
            }
        }
        sal_run_destroy(run);
    }
    sal_model_destroy(model);
}
END_TEST

static int stop_at_once(int64_t done, int64_t total, void *data)
{
    (void)done;
    (void)total;
    (void)data;
    return 1;
}

/* The summary for people of a run of Gibbs on a 4 x 4 Ising lattice, on one line. Static. */
static const char *printed_of(const char *specification, int (*progress)(int64_t, int64_t, void *))
{
    static char text[4096];
    sal_model *model = NULL;
    sal_error err;
    sal_run_options options = { .sampler = "gibbs",
                                .chains = 8,
                                .warmup = 400,
                                .draws = 2000,
                                .thin = 4,
                                .callbacks.progress = progress };
    ck_ok(sal_model_open(specification, 0, &model, &err), &err);
    sal_run *run = run_it(model, &options);
    memset(text, 0, sizeof text);
    FILE *stream = fmemopen(text, sizeof text - 1, "w");
    ck_assert_int_eq(sal_run_print_summary(run, stream), SAL_OK);
    fclose(stream);
    for (char *end = strchr(text, '\n'); end; end = strchr(end, '\n')) {
        *end = ' ';
    }
    sal_run_destroy(run);
    sal_model_destroy(model);
    return text;
}

static const char *printed(const char *specification)
{
    return printed_of(specification, NULL);
}

START_TEST(printed_summary_of_no_draws_has_no_figures)
{
    const char *text = printed_of("ising:side=4,theta=0.05", stop_at_once);
    ck_assert_ptr_nonnull(strstr(text, "8 x 0 draws"));
    ck_assert_ptr_nonnull(strstr(text, "stopped before its first draw"));
    ck_assert_ptr_null(strstr(text, "nan"));
    ck_assert_ptr_null(strstr(text, "acceptance"));
}
END_TEST

START_TEST(printed_summary_warns_when_chains_disagree)
{
    /* Magnetised up or down: spins flip now and then, but no chain crosses over. */
    ck_assert_ptr_nonnull(strstr(printed("ising:side=4,theta=0.35"), "The chains disagree"));
    /* So cold that no spin flips. */
    ck_assert_ptr_nonnull(strstr(printed("ising:side=4,theta=2"), "Nothing moved"));
    const char *easy = printed("ising:side=4,theta=0.05");
    ck_assert_ptr_nonnull(strstr(easy, "gibbs"));
    ck_assert_ptr_null(strstr(easy, "disagree"));
    ck_assert_ptr_null(strstr(easy, "moved"));
}
END_TEST

/* Variables of so many states with tables over them, whose scopes begin at `begin`. */
static sal_model *tables_model(int64_t variables, int32_t states, int64_t n, const int64_t *begin,
                               const int64_t *scope, int64_t numbers, const double *values)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    sal_space *space = sal_space_create();
    const sal_block block = {
        .name = "x", .kind = SAL_CATEGORICAL, .count = variables, .states = states
    };
    ck_ok(sal_space_add(space, &block, &err), &err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_space_destroy(space);
    sal_expr T = sal_constant(tape, values, SAL_SHAPE(numbers));
    ck_ok(sal_model_from_tape(tape, sal_table(tape, T, n, begin, scope), &model, &err), &err);
    sal_tape_destroy(tape);
    return model;
}

/* Two variables with a table over them, [states x states]. */
static sal_model *table_model(int32_t states, const double *values)
{
    const int64_t begin[] = { 0, 2 }, scope[] = { 0, 1 };
    return tables_model(2, states, 1, begin, scope, states * states, values);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The larger split R-hat of the codes of variable v in draws [chains x draws x V], one byte each,
 * and of their distances to the median. */
static double rhat_of_codes(int64_t chains, int64_t draws, int64_t V, const uint8_t *codes,
                            int64_t v)
{
    const int64_t n = chains * draws;
    double *x = calloc((size_t)n, sizeof *x), *sorted = calloc((size_t)n, sizeof *sorted);
    ck_assert(x && sorted && draws % 2 == 0);
    for (int64_t k = 0; k < n; k++) {
        x[k] = sorted[k] = codes[k * V + v];
    }
    const double values = sali_rhat(2 * chains, draws / 2, x);
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);
    for (int64_t k = 0; k < n; k++) {
        x[k] = fabs(x[k] - sorted[(n - 1) / 2]);
    }
    const double distances = sali_rhat(2 * chains, draws / 2, x);
    free(x);
    free(sorted);
    return fmax(values, distances);
}

/* Slow chains wander through levels that each have few draws: indicators would say little. */
START_TEST(rhat_of_levels_is_that_of_their_values)
{
    enum { CHAINS = 8, DRAWS = 400 };
    const char *models[] = { "ordinal-poly4:dim=5", "poisson:dim=5,rate=30,cap=90" };
    for (int m = 0; m < 2; m++) {
        sal_model *model = NULL;
        sal_run_options options = { .sampler = m == 0 ? "ncg" : "gwg",
                                    .chains = CHAINS,
                                    .warmup = 100,
                                    .draws = DRAWS,
                                    .record.draws = true };
        sal_run_summary s;
        sal_error err = { 0 };
        char text[SAL_ERROR_SIZE], place[40];
        int bytes, disagreeing = 0;
        double largest = 0, here;
        ck_ok(sal_model_open(models[m], 0, &model, &err), &err);
        sal_run *run = run_it(model, &options);
        const uint8_t *draws = sal_run_draws(run, &bytes);
        ck_assert_int_eq(bytes, 1);
        ck_ok(sal_run_summarise(run, &s, &err), &err);
        for (int64_t v = 0; v < 5; v++) {
            here = rhat_of_codes(CHAINS, DRAWS, 5, draws, v);
            largest = fmax(largest, here);
            disagreeing += here > SAL_RHAT_LIMIT;
            if (v == s.rhat_variable) {
                ck_assert_double_eq_tol(s.rhat_max, here, 1e-9);
            }
        }
        ck_assert_msg(s.rhat_variable >= 0, "%s: f has %g, variables %g", models[m], s.rhat_max,
                      largest);
        ck_assert_double_eq_tol(s.rhat_max, largest, 1e-9);
        ck_assert_int_eq(s.rhat_code, -1);
        ck_assert(s.disagreeing == disagreeing && disagreeing > 0);
        ck_assert(sal_run_warning(&s, text, sizeof text));
        snprintf(place, sizeof place, "for variable %lld;", (long long)s.rhat_variable);
        ck_assert_msg(strstr(text, place) != NULL, "%s", text);
        sal_run_destroy(run);
        sal_model_destroy(model);
    }
}
END_TEST

/* Where a is 1, x is at either end, and in the middle where a is 0: no change of one of them leads
 * from here to there, and the means of x are equal. */
START_TEST(chains_that_differ_in_spread_disagree)
{
    const int32_t init[] = { 1, 0, 0, 1, 1, 2, 0, 1 };
    sal_error err = { 0 };
    sal_model *model = NULL;
    sal_space *space = sal_space_create();
    const sal_block a = { .name = "a", .kind = SAL_BINARY, .count = 1 };
    const sal_block x = { .name = "x", .kind = SAL_ORDINAL, .count = 1, .states = 3 };
    ck_ok(sal_space_add(space, &a, &err), &err);
    ck_ok(sal_space_add(space, &x, &err), &err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_space_destroy(space);
    sal_expr one = sal_constant(tape, (double[]){ 1 }, SAL_SHAPE(1));
    sal_expr away = sal_square(sal_sub(sal_state_block(tape, "x"), one));
    sal_expr wrong = sal_square(sal_sub(away, sal_state_block(tape, "a")));
    ck_ok(sal_model_from_tape(tape, sal_scale(sal_sum(wrong), -1000), &model, &err), &err);
    sal_tape_destroy(tape);
    sal_run_options options = {
        .sampler = "gibbs", .chains = 4, .warmup = -1, .draws = 1000, .init = init
    };
    sal_run_summary s;
    sal_run *run = run_it(model, &options);
    ck_ok(sal_run_summarise(run, &s, &err), &err);
    ck_assert_int_eq(s.disagreeing, 2);
    ck_assert(isinf(s.rhat_max));
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* One chain of 128 is caught at a = 1, x = 2, where no other comes; the rest move between x = 0 and
 * 1. Fewer than 1% of the draws are there: too few to say that chains disagree. */
START_TEST(states_of_few_draws_are_no_disagreement)
{
    enum { CHAINS = 128 };
    int32_t init[2 * CHAINS] = { 1, 2 };
    sal_error err = { 0 };
    sal_model *model = NULL;
    sal_space *space = sal_space_create();
    const sal_block a = { .name = "a", .kind = SAL_BINARY, .count = 1 };
    const sal_block x = { .name = "x", .kind = SAL_CATEGORICAL, .count = 1, .states = 3 };
    ck_ok(sal_space_add(space, &a, &err), &err);
    ck_ok(sal_space_add(space, &x, &err), &err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_space_destroy(space);
    sal_expr s = sal_state(tape); /* a, then x one-hot */
    sal_expr wrong = sal_square(sal_sub(sal_slice(s, 0, 0, 1), sal_slice(s, 0, 3, 1)));
    ck_ok(sal_model_from_tape(tape, sal_scale(sal_sum(wrong), -1000), &model, &err), &err);
    sal_tape_destroy(tape);
    sal_run_options options = {
        .sampler = "gibbs", .chains = CHAINS, .warmup = -1, .draws = 200, .init = init
    };
    sal_run_summary summary;
    sal_run *run = run_it(model, &options);
    ck_ok(sal_run_summarise(run, &summary, &err), &err);
    ck_assert_int_eq(summary.disagreeing, 0);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* The two variables must agree, so that no change of one is allowed. Replicas swap, which moves
 * nothing either. */
START_TEST(standing_still_is_the_first_thing_said)
{
    const double agree[] = { 0,         -INFINITY, -INFINITY, -INFINITY, 0.5,
                             -INFINITY, -INFINITY, -INFINITY, 1 };
    sal_model *model = table_model(3, agree);
    for (int replicas = 1; replicas <= 4; replicas += 3) {
        sal_run_options options = {
            .sampler = "gibbs", .chains = 4, .draws = 100, .tempering.replicas = replicas, .seed = 2
        };
        char text[2000] = "";
        sal_run_summary s;
        sal_error err;
        sal_run *run = run_it(model, &options);
        ck_ok(sal_run_summarise(run, &s, &err), &err);
        ck_assert(s.unmoved == 4 && s.isolated && isnan(s.ess_median) && isnan(s.ess_total));
        FILE *stream = fmemopen(text, sizeof text - 1, "w");
        ck_assert_int_eq(sal_run_print_summary(run, stream), SAL_OK);
        fclose(stream);
        ck_assert_msg(strncmp(text, "Nothing moved: ", 15) == 0, "%s", text);
        ck_assert_ptr_nonnull(strstr(text, "gibbs:block="));
        ck_assert_ptr_null(strstr(text, "ESS a chain"));
        sal_run_destroy(run);
    }
    /* What is advised helps. */
    sal_run_options options = { .sampler = "gibbs:block=2", .chains = 4, .draws = 2000 };
    sal_run_summary s;
    sal_error err;
    sal_run *run = run_it(model, &options);
    ck_ok(sal_run_summarise(run, &s, &err), &err);
    ck_assert(s.unmoved == 0 && s.ess_min > 20 && s.rhat_max < 1.1);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* A sudoku of 4 x 4 cells without clues: f is `broken` for each pair of equal cells in a row, a
 * column or a block. */
static sal_model *sudoku(double broken)
{
    enum { CELLS = 16, PAIRS = 56 };
    int64_t begin[PAIRS + 1] = { 0 }, scope[2 * PAIRS], n = 0;
    double values[16 * PAIRS];
    for (int a = 0; a < CELLS; a++) {
        for (int b = a + 1; b < CELLS; b++) {
            bool block = a / 8 == b / 8 && a % 4 / 2 == b % 4 / 2;
            if (block || a / 4 == b / 4 || a % 4 == b % 4) {
                scope[2 * n] = a;
                scope[2 * n + 1] = b;
                n++;
                begin[n] = 2 * n;
            }
        }
    }
    ck_assert_int_eq(n, PAIRS);
    for (int k = 0; k < 16 * PAIRS; k++) {
        values[k] = k % 16 % 5 == 0 ? broken : 0;
    }
    return tables_model(CELLS, 4, PAIRS, begin, scope, 16 * PAIRS, values);
}

/* Eight variables of which four are 1: f is `broken` elsewhere. */
static sal_model *half_ones(double broken)
{
    const int64_t begin[] = { 0, 8 }, scope[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    double values[256];
    for (unsigned k = 0; k < 256; k++) {
        values[k] = __builtin_popcount(k) == 4 ? 0 : broken;
    }
    return tables_model(8, 2, 1, begin, scope, 256, values);
}

/* The summary and the warning of a run of four chains; the share of its draws with f = 0. */
static double share_allowed(sal_model *model, const char *sampler, int64_t replicas,
                            sal_run_summary *s, char warning[2000])
{
    sal_run_options options = {
        .sampler = sampler, .chains = 4, .draws = 2000, .tempering.replicas = replicas, .seed = 2
    };
    sal_error err;
    sal_run *run = run_it(model, &options);
    int64_t allowed = 0;
    ck_ok(sal_run_summarise(run, s, &err), &err);
    sal_run_warning(s, warning, 2000);
    for (int64_t d = 0; d < 4 * 2000; d++) {
        allowed += sal_run_log_probs(run)[d] > -1;
    }
    sal_run_destroy(run);
    return (double)allowed / (4 * 2000);
}

/* Where forbidden states part the allowed ones, what is advised helps and what is advised against
 * does not: a penalty with tempering everywhere, blocks where one holds a whole constraint. */
START_TEST(advice_on_constraints_holds)
{
    sal_model *const forbidding[] = { sudoku(-INFINITY), half_ones(-INFINITY) };
    sal_model *const penalising[] = { sudoku(-3), half_ones(-3) };
    const char *const blocks[] = { "gibbs:block=8", "hamming-ball:block=8,radius=2" };
    char text[2000];
    sal_run_summary s;
    for (int k = 0; k < 2; k++) {
        share_allowed(forbidding[k], "gwg:hops=2", 1, &s, text);
        ck_assert_int_eq(s.unmoved, 4);
        ck_assert_msg(strstr(text, "finite penalty") && strstr(text, "--tempering"), "%s", text);
        ck_assert_msg(strstr(text, "hops of gwg do not pass"), "%s", text);
        double share = share_allowed(penalising[k], "gwg:hops=2", 8, &s, text);
        ck_assert_msg(s.unmoved == 0 && s.rhat_max < 1.05, "model %d: R-hat %g", k, s.rhat_max);
        ck_assert_msg(share > 0.5 && share < 1, "model %d: %g", k, share);
    }
    for (int k = 0; k < 2; k++) {
        share_allowed(forbidding[1], "gibbs", 1, &s, text);
        ck_assert_msg(s.unmoved == 4 && strstr(text, blocks[k]), "%s: %s", blocks[k], text);
        share_allowed(forbidding[1], blocks[k], 1, &s, text);
        ck_assert_msg(s.unmoved == 0 && s.rhat_max < 1.05, "%s: %s", blocks[k], text);
    }
    for (int k = 0; k < 2; k++) {
        sal_model_destroy(forbidding[k]);
        sal_model_destroy(penalising[k]);
    }
}
END_TEST

/* Of so many states the distance to one state never changes. */
START_TEST(chains_over_many_states_have_an_ess)
{
    enum { STATES = 1000 };
    double *values = calloc((size_t)STATES * STATES, sizeof *values);
    for (int k = 0; k < STATES * STATES; k++) {
        values[k] = sin(0.001 * k);
    }
    sal_model *model = table_model(STATES, values);
    sal_run_options options = { .sampler = "gibbs", .chains = 4, .draws = 500, .thin = 2 };
    char text[SAL_ERROR_SIZE];
    sal_run_summary s;
    sal_error err;
    sal_run *run = run_it(model, &options);
    ck_ok(sal_run_summarise(run, &s, &err), &err);
    ck_assert_msg(s.ess_min > 100 && s.ess_max < 2000, "%g to %g", s.ess_min, s.ess_max);
    ck_assert_msg(!sal_run_warning(&s, text, sizeof text), "%s", text);
    sal_run_destroy(run);
    sal_model_destroy(model);
    free(values);
}
END_TEST

/* States 01 and 10: f is the same, and so may be their distances to a third one. */
START_TEST(a_chain_that_moves_is_not_called_unmoved)
{
    const double differ[] = { -INFINITY, 0, 0, -INFINITY };
    sal_model *model = table_model(2, differ);
    bool none = false;
    for (uint64_t seed = 0; seed < 8; seed++) {
        sal_run_options options = {
            .sampler = "gibbs:block=2", .chains = 4, .draws = 200, .seed = seed
        };
        char text[SAL_ERROR_SIZE] = "";
        sal_run_summary s;
        sal_error err;
        sal_run *run = run_it(model, &options);
        ck_ok(sal_run_summarise(run, &s, &err), &err);
        ck_assert_int_eq(s.unmoved, 0);
        bool warns = sal_run_warning(&s, text, sizeof text);
        ck_assert_ptr_null(strstr(text, "moved"));
        ck_assert(!isnan(s.ess_median) || (warns && strstr(text, "neither the distance")));
        none |= isnan(s.ess_median);
        sal_run_destroy(run);
    }
    ck_assert(none);
    sal_model_destroy(model);
}
END_TEST

/* Samplers that follow f by differences come to equal states with values that differ by rounding,
 * each chain with its own. */
START_TEST(rounding_of_f_is_no_disagreement)
{
    for (int dtype = SAL_F32; dtype <= SAL_F64; dtype++) {
        sal_model *model = tiny_formula_over("mixed", (sal_dtype)dtype);
        sal_run_options options = { .sampler = "gibbs", .chains = 4, .draws = 500, .thin = 20 };
        sal_run_summary before, after;
        sal_error err;
        sal_run *run = run_it(model, &options);
        double *log_prob = sali_run_record(run)->log_prob;
        double most = 0, rounding = dtype == SAL_F32 ? 1e-8 : 1e-16;
        for (int64_t k = 0; k < 4 * 500; k++) { /* few values, half of all draws the same */
            log_prob[k] = k % 2 ? 1.75 : rint(2 * log_prob[k]) / 2;
            most = fmax(most, fabs(log_prob[k]));
        }
        ck_ok(sal_run_summarise(run, &before, &err), &err);
        for (int64_t k = 0; k < 4 * 500; k++) {
            log_prob[k] += most * rounding * (double)(k / 500 * 10);
        }
        ck_ok(sal_run_summarise(run, &after, &err), &err);
        ck_assert_double_eq(before.rhat_max, after.rhat_max);
        ck_assert_double_lt(after.rhat_max, 1.1);
        sal_run_destroy(run);
        sal_model_destroy(model);
    }
}
END_TEST

/* 20 variables on a grid of 1000 levels, normal about its middle with deviation `spread`. */
static sal_model *wide_grid(double spread)
{
    enum { LEVELS = 1000, DIM = 20 };
    static double levels[LEVELS], middle[DIM];
    sal_error err = { 0 };
    sal_model *model = NULL;
    for (int k = 0; k < LEVELS; k++) {
        levels[k] = k;
    }
    for (int i = 0; i < DIM; i++) {
        middle[i] = LEVELS / 2.0;
    }
    sal_space *space = sal_space_create();
    const sal_block block = {
        .name = "x", .kind = SAL_ORDINAL, .count = DIM, .states = LEVELS, .levels = levels
    };
    ck_ok(sal_space_add(space, &block, &err), &err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_space_destroy(space);
    sal_expr off = sal_sub(sal_state(tape), sal_constant(tape, middle, SAL_SHAPE(DIM)));
    sal_expr f = sal_scale(sal_sum(sal_square(off)), -0.5 / (spread * spread));
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    return model;
}

/* Where moves are wide, steps may be: the best are 30,000 of the least moves here. And what says
 * that adaptation came to nothing. */
START_TEST(adaptation_reaches_wide_and_steep_models)
{
    const struct {
        double spread;
        int64_t warmup;
        const char *said;
    } cases[] = { { 170, 1000, NULL },
                  { 2, 1000, NULL },
                  { 170, 0, "The step size had not settled" },
                  { 2, 25, "The step size had not settled" } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_model *model = wide_grid(cases[k].spread);
        const sal_run_options o = { .sampler = "ncg",
                                    .chains = 8,
                                    .warmup = cases[k].warmup ? cases[k].warmup : 25,
                                    .draws = 400,
                                    .seed = 1 };
        char text[SAL_ERROR_SIZE] = "";
        sal_run *run = NULL;
        sal_run_summary s;
        sal_error err;
        ck_ok(sal_sample(model, &o, &run, &err), &err);
        ck_ok(sal_run_summarise(run, &s, &err), &err);
        sal_run_warning(&s, text, sizeof text);
        fprintf(stderr, "spread %g, warm-up %d: step size %g, acceptance %g\n", cases[k].spread,
                (int)o.warmup, s.step_size, s.acceptance_rate);
        ck_assert_double_eq(s.step_size_target, 0.574);
        ck_assert_msg((strstr(text, "The step size") != NULL) == (cases[k].said != NULL),
                      "case %d: %s", (int)k, text);
        ck_assert(cases[k].said || fabs(s.acceptance_rate - 0.574) < 0.1);
        sal_run_destroy(run);
        sal_model_destroy(model);
    }
}
END_TEST

START_TEST(a_step_size_at_its_bound_is_said)
{
    const sal_run_summary s = { .chains = 4,
                                .draws = 1000,
                                .ess_median = 20,
                                .rhat_max = 1,
                                .swap_rate_min = NAN,
                                .step_size = 1e-8,
                                .step_size_bound = -1,
                                .step_size_target = 0.574,
                                .acceptance_rate = 0.001 };
    char text[SAL_ERROR_SIZE] = "";
    ck_assert(sal_run_warning(&s, text, sizeof text));
    ck_assert_ptr_nonnull(strstr(text, "lower bound, 1e-08, with an acceptance of 0.001"));
}
END_TEST

/* The advice fits the cause: steps too small to move anything, because larger ones are rejected;
 * too short a warm-up, at either side of the acceptance aimed at; draws that have hardly begun. */
START_TEST(advice_follows_the_cause)
{
    const sal_run_summary fine = { .chains = 4,
                                   .draws = 1000,
                                   .thin = 1,
                                   .variables = 10000,
                                   .ess_median = 20,
                                   .rhat_max = 1,
                                   .swap_rate_min = NAN,
                                   .step_size = 0.1,
                                   .step_size_target = 0.574,
                                   .acceptance_rate = 0.574,
                                   .mean_jump = 1,
                                   .replicas = 1 };
    sal_run_summary s[6];
    for (int k = 0; k < 6; k++) {
        s[k] = fine;
    }
    s[0].unmoved = s[1].unmoved = 4;
    s[0].ess_median = s[1].ess_median = NAN;
    s[1].step_size_target = NAN; /* a given step size */
    s[2].acceptance_rate = 0.8;
    s[3].acceptance_rate = 0.1;
    s[4].rhat_max = s[5].rhat_max = 3;
    s[5].mean_jump = 100;
    const char *const said[] = {
        "its gradient tells little", "a larger --step-size", "a longer --warmup.",
        "--anneal has found",        "--thin 10000",         "cannot cross between"
    };
    for (int k = 0; k < 6; k++) {
        char text[SAL_ERROR_SIZE] = "";
        ck_assert(sal_run_warning(&s[k], text, sizeof text));
        for (int j = 0; j < 6; j++) {
            ck_assert_msg((strstr(text, said[j]) != NULL) == (j == k), "case %d, '%s': %s", k,
                          said[j], text);
        }
    }
}
END_TEST

/* R-hat and ESS of a biased sampler are fine; a search needs no distribution. */
START_TEST(an_approximate_sampler_is_said_to_be_one)
{
    static const struct {
        const char *sampler;
        bool annealed, warns;
    } cases[] = { { "rlsa", false, true },
                  { "dula", false, true },
                  { "ncg", false, false },
                  { "rlsa", true, false } };
    sal_model *model = tiny_formula_over("mixed", SAL_F64);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[SAL_WARNING_SIZE];
        sal_run_options o = { .sampler = cases[k].sampler,
                              .draws = 500,
                              .annealing = { .on = cases[k].annealed } };
        sal_run *run = run_it(model, &o);
        sal_run_summary s;
        sal_error err;
        ck_ok(sal_run_summarise(run, &s, &err), &err);
        sal_run_warning(&s, text, sizeof text);
        ck_assert_msg((strstr(text, "is approximate") != NULL) == cases[k].warns, "%s: %s",
                      cases[k].sampler, text);
        ck_assert_int_eq(s.approximate, cases[k].warns || cases[k].annealed);
        ck_assert(!cases[k].warns || s.exact); /* the better way for so small a model */
        sal_run_destroy(run);
    }
    sal_model_destroy(model);
}
END_TEST

START_TEST(one_chain_is_said_to_be_few)
{
    char text[2000] = "";
    sal_model *model = tiny_formula_over("mixed", SAL_F64);
    sal_run_options options = { .sampler = "gibbs", .chains = 1, .draws = 500 };
    sal_run *run = run_it(model, &options);
    FILE *stream = fmemopen(text, sizeof text - 1, "w");
    ck_assert_int_eq(sal_run_print_summary(run, stream), SAL_OK);
    fclose(stream);
    ck_assert_ptr_nonnull(strstr(text, "halves of one chain; several tell more"));
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* Chains of a draw or two are too short to judge, even if every step was accepted. */
START_TEST(few_draws_are_not_called_stuck)
{
    sal_model *model = NULL;
    char text[SAL_ERROR_SIZE];
    sal_error err;
    ck_ok(sal_model_open("ising:side=4,theta=0", SAL_F64, &model, &err), &err);
    for (int64_t draws = 1; draws <= 3; draws++) {
        sal_run_options options = { .draws = draws, .warmup = 10 };
        sal_run *run = NULL;
        sal_run_summary s;
        ck_ok(sal_sample(model, &options, &run, &err), &err);
        ck_ok(sal_run_summarise(run, &s, &err), &err);
        ck_assert(sal_run_warning(&s, text, sizeof text));
        ck_assert_ptr_nonnull(strstr(text, "Too few draws"));
        sal_run_destroy(run);
    }
    sal_model_destroy(model);
}
END_TEST

/* Too short a warm-up to collect states; states between which nothing moved; and enough. */
START_TEST(pavg_without_a_matrix_says_why)
{
    static const struct {
        int64_t warmup;
        double step_size;
        const char *text;
    } cases[] = {
        { 25, 0, "too short to collect" },
        { 1000, 1e-3, "hardly moved" },
        { 1000, 0, NULL },
    };
    sal_model *model = tiny_formula_over("spin", SAL_F64);
    for (int k = 0; k < 3; k++) {
        sal_run_options options = { .sampler = "pavg",
                                    .chains = 2,
                                    .warmup = cases[k].warmup,
                                    .step_size = cases[k].step_size,
                                    .draws = 100 };
        char text[SAL_ERROR_SIZE] = "";
        sal_run *run = run_it(model, &options);
        sal_run_summary s = summary_of(run);
        bool warns = sal_run_warning(&s, text, sizeof text);
        ck_assert(!cases[k].text || (warns && sal_run_warning(&s, NULL, 0)));
        ck_assert_msg(cases[k].text ? strstr(text, cases[k].text) != NULL
                                    : strstr(text, "no matrix") == NULL,
                      "case %d: %s", k, text);
        sal_run_destroy(run);
    }
    sal_model_destroy(model);
}
END_TEST

/* Of a linear f a matrix of zeros is the right one. */
START_TEST(pavg_on_a_linear_f_misses_nothing)
{
    sal_model *model = NULL;
    sal_run_options options = {
        .sampler = "pavg:preconditioner=empirical", .chains = 2, .warmup = 500, .draws = 100
    };
    sal_error err;
    ck_ok(sal_model_open("ising:side=3,theta=0,bias=0.2", 0, &model, &err), &err);
    sal_run *run = run_it(model, &options);
    sal_run_summary s = summary_of(run);
    ck_assert_ptr_null(s.missed);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

static Suite *summary_suite(void)
{
    Suite *suite = suite_create("run_summary");
    TCase *tcase = tcase_create("summary");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, rhat_of_levels_is_that_of_their_values);
    tcase_add_test(tcase, chains_that_differ_in_spread_disagree);
    tcase_add_test(tcase, states_of_few_draws_are_no_disagreement);
    tcase_add_test(tcase, few_draws_are_not_called_stuck);
    tcase_add_test(tcase, standing_still_is_the_first_thing_said);
    tcase_add_test(tcase, advice_on_constraints_holds);
    tcase_add_test(tcase, adaptation_reaches_wide_and_steep_models);
    tcase_add_test(tcase, a_step_size_at_its_bound_is_said);
    tcase_add_test(tcase, advice_follows_the_cause);
    tcase_add_test(tcase, an_approximate_sampler_is_said_to_be_one);
    tcase_add_test(tcase, one_chain_is_said_to_be_few);
    tcase_add_test(tcase, chains_over_many_states_have_an_ess);
    tcase_add_test(tcase, a_chain_that_moves_is_not_called_unmoved);
    tcase_add_test(tcase, rounding_of_f_is_no_disagreement);
    tcase_add_test(tcase, summary_describes_the_run);
    tcase_add_test(tcase, every_member_of_a_summary_is_in_the_table);
    tcase_add_test(tcase, times_are_in_steps_and_medians_in_the_middle);
    tcase_add_test(tcase, rhat_of_odd_draws_compares_shares);
    tcase_add_test(tcase, warm_up_is_ten_sweeps_at_least);
    tcase_add_test(tcase, adapted_step_size_is_the_one_in_use);
    tcase_add_test(tcase, pavg_without_a_matrix_says_why);
    tcase_add_test(tcase, pavg_on_a_linear_f_misses_nothing);
    tcase_add_test(tcase, printed_summary_of_no_draws_has_no_figures);
    tcase_add_test(tcase, printed_summary_warns_when_chains_disagree);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(summary_suite());
}
