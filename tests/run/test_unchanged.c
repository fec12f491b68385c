/* SPDX-License-Identifier: MIT */
/* Variables that never changed in any chain: that they are counted, and told from variables that
 * are right to stay. */
#include "test.h"

#include <math.h>
#include <string.h>

#include "alloc_fail.h"
#include "run/results/results.h"
#include "run_helpers.h"

enum { BITS = 50, V = BITS + 2, CHAINS = 4 };

/* 50 fair bits, and a pair of bits: f is `equal` where these two are equal, log 9 at 0, 1, and 0 at
 * 1, 0. */
static sal_model *bits_and_pair(double equal)
{
    int32_t states[V];
    const double table[] = { equal, log(9), 0, equal };
    const int64_t begin[] = { 0, 2 }, scope[] = { BITS, BITS + 1 };
    sal_model *model = NULL;
    sal_error err;
    for (int v = 0; v < V; v++) {
        states[v] = 2;
    }
    ck_ok(sal_model_from_factors(V, states, 1, begin, scope, table, SAL_F64, &model, &err), &err);
    return model;
}

/* All chains at 1, 0 for the pair. */
static const int32_t *one_side(void)
{
    static int32_t init[CHAINS * V];
    for (int c = 0; c < CHAINS; c++) {
        init[c * V + BITS] = 1;
    }
    return init;
}

static sal_run_summary summary_with_text(const sal_run *run, char text[SAL_WARNING_SIZE])
{
    sal_run_summary s = summary_of(run);
    bool warns = sal_run_warning(&s, text, SAL_WARNING_SIZE);
    ck_assert_int_eq(warns, sal_run_warning(&s, NULL, 0));
    return s;
}

/* 0, 1 has probability .9, and no chain gets there. */
START_TEST(a_pair_that_must_differ_is_named)
{
    static const double equal[] = { -INFINITY, -60 };
    static const char *const samplers[] = { "gibbs", "gwg", "ncg" };
    char text[SAL_WARNING_SIZE];
    for (int k = 0; k < 2; k++) {
        sal_model *model = bits_and_pair(equal[k]);
        sal_run_options options = {
            .sampler = samplers[_i], .chains = CHAINS, .thin = 20, .init = one_side()
        };
        sal_run *run = run_it(model, &options);
        const sal_run_summary s = summary_with_text(run, text);
        ck_assert_int_eq(s.unmoved, 0);
        ck_assert_int_eq(s.unchanged, 2);
        ck_assert(s.unchanged_first[0] == BITS && s.unchanged_first[1] == BITS + 1);
        ck_assert_int_eq(s.unchanged_first[2], -1);
        ck_assert(s.stuck[0] == BITS && s.stuck[1] == BITS + 1);
        ck_assert_double_eq_tol(s.stuck_chance, 0.9, 1e-12);
        ck_assert_msg(strstr(text, "2 variables never changed in any chain (50, 51)"), "%s", text);
        sal_run_destroy(run);
        sal_model_destroy(model);
    }
}
END_TEST

/* A pair that must differ is found beside many variables that f pins, whether it is known which
 * variables meet (tables) or not (a function, whose f has all of them). */
enum { PINNED = 30 };

static double pinned_and_pair(const double *s, double *gradient, void *data)
{
    (void)gradient;
    (void)data;
    for (int v = 0; v < PINNED; v++) {
        if (s[v] != 0) {
            return -INFINITY;
        }
    }
    return s[BITS] + s[BITS + 1] == 1 ? 0 : -INFINITY;
}

static sal_model *pinned_model(bool tables)
{
    int32_t states[V];
    double entries[2 * PINNED + 4];
    int64_t begin[PINNED + 2], scope[PINNED + 2];
    sal_model *model = NULL;
    sal_error err;
    for (int v = 0; v < V; v++) {
        states[v] = 2;
    }
    for (int v = 0; v < PINNED; v++) {
        begin[v] = scope[v] = v;
        entries[2 * v] = 0;
        entries[2 * v + 1] = -INFINITY;
    }
    begin[PINNED] = PINNED;
    begin[PINNED + 1] = PINNED + 2;
    for (int k = 0; k < 2; k++) {
        scope[PINNED + k] = BITS + k;
        entries[2 * PINNED + 3 * k] = -INFINITY;
        entries[2 * PINNED + 1 + k] = 0;
    }
    if (tables) {
        ck_ok(sal_model_from_factors(V, states, PINNED + 1, begin, scope, entries, SAL_F64, &model,
                                     &err),
              &err);
        return model;
    }
    sal_space *space = sal_space_create();
    const sal_block block = { .name = "s", .kind = SAL_BINARY, .count = V };
    const sal_callback callback = { .f = pinned_and_pair };
    ck_ok(sal_space_add(space, &block, &err), &err);
    ck_ok(sal_model_from_callback(space, &callback, &model, &err), &err);
    sal_space_destroy(space);
    return model;
}

START_TEST(a_pair_is_found_beside_pinned_variables)
{
    char text[SAL_WARNING_SIZE];
    sal_model *model = pinned_model(_i == 0);
    sal_run_options options = {
        .sampler = "gibbs", .chains = CHAINS, .draws = 200, .thin = V, .init = one_side()
    };
    sal_run *run = run_it(model, &options);
    const sal_run_summary s = summary_with_text(run, text);
    ck_assert_int_eq(s.unchanged, PINNED + 2);
    ck_assert(s.stuck[0] == BITS && s.stuck[1] == BITS + 1);
    ck_assert_double_eq_tol(s.stuck_chance, 0.5, 1e-12);
    ck_assert_ptr_nonnull(strstr(text, "50 and 51 change together"));
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* What the warning advises. */
START_TEST(advice_on_stuck_pairs_holds)
{
    sal_model *const models[] = { bits_and_pair(-INFINITY), bits_and_pair(-20) };
    const sal_run_options options[] = {
        { .sampler = "gibbs:block=8,blocks=random", .chains = CHAINS, .init = one_side() },
        { .sampler = "gibbs", .chains = CHAINS, .init = one_side(), .tempering.replicas = 10 }
    };
    for (int k = 0; k < 2; k++) {
        char text[SAL_WARNING_SIZE];
        double marginals[2 * V];
        sal_error err;
        sal_run *run = run_it(models[k], &options[k]);
        const sal_run_summary s = summary_with_text(run, text);
        ck_assert_msg(s.unchanged == 0 && s.stuck[0] == -1 && isnan(s.stuck_chance), "%s", text);
        ck_ok(sal_run_marginals(run, marginals, &err), &err);
        ck_assert_double_eq_tol(marginals[2 * BITS], 0.9, 0.1);
        sal_run_destroy(run);
        sal_model_destroy(models[k]);
    }
}
END_TEST

/* A variable that is fixed by others, or as good as fixed by f, stays without a warning; a clamped
 * one, and one of a single state, are none that could change. */
START_TEST(variables_that_are_right_to_stay_are_no_alarm)
{
    const int32_t states[] = { 2, 2, 2, 3, 1 };
    const int64_t begin[] = { 0, 1, 2, 4 }, scope[] = { 0, 1, 2, 3 }, clamped[] = { 2 };
    const int32_t code[] = { 1 };
    const double tables[] = { 0, 1, /* */ 0, -30, /* */ 0, 0, 0, -INFINITY, 0, -INFINITY };
    char text[SAL_WARNING_SIZE];
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_from_factors(5, states, 3, begin, scope, tables, SAL_F64, &model, &err), &err);
    sal_run_options options = { .sampler = "gibbs",
                                .chains = CHAINS,
                                .thin = 4,
                                .clamps = { .n = 1, .variables = clamped, .codes = code } };
    sal_run *run = run_it(model, &options);
    const sal_run_summary s = summary_with_text(run, text);
    ck_assert_int_eq(s.unchanged, 2);
    ck_assert(s.unchanged_first[0] == 1 && s.unchanged_first[1] == 3);
    ck_assert_msg(s.stuck[0] == -1 && text[0] == '\0', "%s", text);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* 20 draws of a scan over 2000 fair bits from one start: most bits had no turn. */
START_TEST(variables_that_had_no_turn_are_said)
{
    enum { MANY = 2000 };
    static const int32_t zeros[CHAINS * MANY];
    char text[SAL_WARNING_SIZE];
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open("bernoulli:dim=2000,scale=0", SAL_F64, &model, &err), &err);
    sal_run_options options = {
        .sampler = "gibbs", .chains = CHAINS, .warmup = -1, .draws = 20, .init = zeros
    };
    sal_run *run = run_it(model, &options);
    const sal_run_summary s = summary_with_text(run, text);
    ck_assert_int_ge(s.unchanged, MANY - 20);
    ck_assert(s.stuck[0] >= 0 && s.stuck[1] == -1);
    ck_assert_double_eq_tol(s.stuck_chance, 0.5, 1e-12);
    ck_assert_msg(strstr(text, ", ..), but f lets"), "%s", text);
    sal_run_destroy(run);
    options.draws = 3;
    run = run_it(model, &options);
    ck_assert_int_eq(summary_with_text(run, text).unchanged, 0);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* A count without a cap that all chains leave at 70, past the last bin, and one that moves there.
 */
START_TEST(counts_past_the_last_bin_are_told_apart)
{
    static const int32_t init[2 * 2] = { 70, 70, 70, 70 };
    char text[SAL_WARNING_SIZE];
    sal_model *model = NULL;
    sal_error err;
    sal_space *space = sal_space_create();
    const sal_block block = { .name = "n", .kind = SAL_COUNT, .count = 2 };
    ck_ok(sal_space_add(space, &block, &err), &err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_space_destroy(space);
    const double centres[] = { 70, 70 }, slopes[] = { -50, -0.01 };
    sal_expr centre = sal_constant(tape, centres, SAL_SHAPE(2));
    sal_expr off = sal_sub(sal_state(tape), centre);
    sal_expr steep = sal_constant(tape, slopes, SAL_SHAPE(2));
    ck_ok(sal_model_from_tape(tape, sal_dot(steep, sal_square(off)), &model, &err), &err);
    sal_tape_destroy(tape);
    sal_run_options options = { .sampler = "lb", .chains = 2, .init = init, .thin = 2 };
    sal_run *run = run_it(model, &options);
    const sal_run_summary s = summary_with_text(run, text);
    ck_assert_int_eq(s.unchanged, 1);
    ck_assert_int_eq(s.unchanged_first[0], 0);
    ck_assert_int_eq(s.stuck[0], -1);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* Whether the summary of a run points to exact answers; the warning says what the field does. */
static bool points_to_exact(const char *model_name, const sal_run_options *options,
                            const char *expected_oracle)
{
    char text[SAL_WARNING_SIZE];
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(model_name, 0, &model, &err), &err);
    sal_run *run = run_it(model, options);
    const sal_run_summary s = summary_with_text(run, text);
    ck_assert_int_eq(s.exact != NULL, strstr(text, "'saltus exact'") != NULL);
    ck_assert_msg(!s.exact || strcmp(s.exact, expected_oracle) == 0, "%s", s.exact);
    sal_run_destroy(run);
    sal_model_destroy(model);
    return s.exact;
}

/* A lattice of 9 x 9 spins in two modes is eliminated at once; of couplings of all 60 spins nobody
 * knows an exact answer; and chains that agree need none. */
START_TEST(doubtful_runs_point_to_exact_answers)
{
    const sal_run_options options = { .sampler = "gibbs", .chains = 8, .draws = 100, .thin = 20 };
    ck_assert(points_to_exact("ising:side=9,theta=1.5", &options, "elimination"));
    ck_assert(!points_to_exact("ising:side=9,theta=0.01", &options, ""));
    ck_assert(!points_to_exact("ising-dense:dim=60,scale=3", &options, ""));
}
END_TEST

static int stop_there(int64_t done, int64_t total, void *data)
{
    (void)total;
    return done >= *(const int64_t *)data;
}

/* The finding of a run that was stopped and resumed is that of a run in one piece. */
START_TEST(resumed_runs_have_the_same_finding)
{
    sal_model *model = bits_and_pair(-INFINITY);
    int64_t at = 900;
    sal_run_options options = { .sampler = "gibbs",
                                .chains = CHAINS,
                                .warmup = 100,
                                .draws = 200,
                                .thin = 10,
                                .init = one_side(),
                                .record.draws = true },
                    rest;
    sal_error err;
    sal_run *whole = run_it(model, &options);
    options.callbacks.progress = stop_there;
    options.callbacks.progress_data = &at;
    sal_run *part = run_it(model, &options);
    ck_assert(summary_of(part).stopped);
    ck_ok(sal_run_state_options(sal_run_last_state(part), &rest, &err), &err);
    sal_run *resumed = run_it(model, &rest);
    const sal_run_summary s = summary_of(whole), t = summary_of(resumed);
    ck_assert_int_eq(s.unchanged, t.unchanged);
    ck_assert_mem_eq(s.unchanged_first, t.unchanged_first, sizeof s.unchanged_first);
    ck_assert_mem_eq(s.stuck, t.stuck, sizeof s.stuck);
    ck_assert(s.stuck_chance == t.stuck_chance || (isnan(s.stuck_chance) && isnan(t.stuck_chance)));
    sal_run_destroy(resumed);
    sal_run_destroy(part);
    sal_run_destroy(whole);
    sal_model_destroy(model);
}
END_TEST

/* 8 bits whose sum is even: consecutive blocks of two keep their own parities. Blocks of random
 * pairs reach everything, which is not known, and so does a block of all bits. */
START_TEST(states_out_of_reach_are_counted)
{
    enum { STATES = 256 };
    static const char *const samplers[] = { "gibbs:block=2", "gibbs:block=2,blocks=random",
                                            "gibbs:block=8" };
    static const int64_t unreached[] = { 128 - 16, -1, 0 };
    const int32_t two[8] = { 2, 2, 2, 2, 2, 2, 2, 2 };
    const int64_t begin[] = { 0, 8 }, scope[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    double table[STATES];
    char text[SAL_WARNING_SIZE];
    sal_model *model = NULL;
    sal_error err;
    for (int i = 0; i < STATES; i++) {
        table[i] = __builtin_popcount((unsigned)i) % 2 == 0 ? 0 : -INFINITY;
    }
    ck_ok(sal_model_from_factors(8, two, 1, begin, scope, table, SAL_F64, &model, &err), &err);
    for (int k = 0; k < 3; k++) {
        sal_run_options options = { .sampler = samplers[k], .chains = 4, .draws = 500 };
        sal_run *run = run_it(model, &options);
        const sal_run_summary s = summary_with_text(run, text);
        ck_assert_int_eq(s.unreached, unreached[k]);
        ck_assert_int_eq(s.unchanged, 0);
        ck_assert_int_eq(strstr(text, "112 states that f allows are out of reach") != NULL, k == 0);
        ck_assert_int_eq(s.exact != NULL, k == 0);
        sal_run_destroy(run);
    }
    sal_run_options options = {
        .sampler = "gibbs:block=2", .chains = 4, .draws = 20, .threads = 1
    };
    sal_run *run = run_it(model, &options);
    sal_run_summary s;
    ck_alloc_sweep(sal_run_summarise(run, &s, NULL), (void)0);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* More states than a matrix is made for: 10 bits whose sum is even. Steps of a sampler that is not
 * known to move blocks are not looked at, nor are more than 4096 states. */
START_TEST(states_out_of_reach_are_counted_where_there_is_no_matrix)
{
    enum { MOST = 13, STATES = 1 << MOST };
    static const struct {
        const char *sampler;
        int bits;
        int64_t unreached;
    } cases[] = {
        { "gibbs:block=2", 10, 512 - 32 },
        { "gibbs:block=3", 10, 512 - 64 },
        { "gibbs:block=3,scan=shuffled", 10, 512 - 64 },
        { "gibbs:block=2,blocks=random", 10, -1 },
        { "gibbs:block=10", 10, 0 },
        { "gibbs:block=2", 12, 2048 - 64 },
        { "gibbs:block=2", 13, -1 },
        { "gibbs", 10, 512 - 1 },
        { "lb", 10, 512 - 1 },
        { "lsb2", 10, 512 - 1 },
        { "lb:radius=1", 10, -1 },
        { "pas", 10, -1 },
    };
    static double table[STATES];
    int32_t two[MOST];
    int64_t scope[MOST];
    for (int i = 0; i < STATES; i++) {
        table[i] = __builtin_popcount((unsigned)i) % 2 == 0 ? 0 : -INFINITY;
    }
    for (int v = 0; v < MOST; v++) {
        two[v] = 2;
        scope[v] = v;
    }
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const int64_t begin[] = { 0, cases[k].bits };
        sal_run_options options = { .sampler = cases[k].sampler, .chains = 4, .draws = 50 };
        char text[SAL_WARNING_SIZE], said[64];
        sal_model *model = NULL;
        sal_error err;
        ck_ok(sal_model_from_factors(cases[k].bits, two, 1, begin, scope, table, SAL_F64, &model,
                                     &err),
              &err);
        sal_run *run = run_it(model, &options);
        const sal_run_summary s = summary_with_text(run, text);
        ck_assert_msg(s.unreached == cases[k].unreached, "%s, %d bits: %lld", cases[k].sampler,
                      cases[k].bits, (long long)s.unreached);
        snprintf(said, sizeof said, "%lld states that f allows are out of reach",
                 (long long)s.unreached);
        ck_assert_int_eq(strstr(text, said) != NULL, s.unreached > 0 && s.unmoved < s.chains);
        if (k == 0) {
            sal_run_summary t;
            ck_alloc_sweep(sal_run_summarise(run, &t, NULL), (void)0);
        }
        sal_run_destroy(run);
        sal_model_destroy(model);
    }
}
END_TEST

/* Joining states by blocks counts what the matrix does, at random states that f forbids. */
START_TEST(states_joined_by_blocks_are_those_that_the_matrix_joins)
{
    static const char *const samplers[] = { "gibbs", "gibbs:block=2", "gibbs:block=3", "lb",
                                            "lsb1" };
    static const int64_t sizes[] = { 1, 2, 3, 1, 1 };
    const int32_t states[] = { 2, 3, 4, 2, 3 };
    const int64_t begin[] = { 0, 5 }, scope[] = { 0, 1, 2, 3, 4 };
    enum { STATES = 2 * 3 * 4 * 2 * 3 };
    double table[STATES];
    int64_t cut_off = 0;
    for (uint32_t seed = 0; seed < 12; seed++) {
        const sali_stream stream = { .seed = seed, .purpose = SALI_RNG_TEST };
        const double part = .1 + .07 * seed;
        sal_model *model = NULL;
        sal_error err;
        for (uint32_t i = 0; i < STATES; i++) {
            table[i] = sali_rng_uniform_at(&stream, 2 * i) < part
                           ? -INFINITY
                           : sali_rng_uniform_at(&stream, 2 * i + 1);
        }
        ck_ok(sal_model_from_factors(5, states, 1, begin, scope, table, SAL_F64, &model, &err),
              &err);
        for (int k = 0; k < 5; k++) {
            const sal_run_options options = { .sampler = samplers[k], .draws = -1 };
            sal_balance balance;
            int64_t unreached = -1;
            ck_ok(sal_sampler_balance(model, &options, &balance, NULL, &err), &err);
            ck_ok(sali_unreached_by_blocks(model->space, table, sizes[k], &unreached, &err), &err);
            ck_assert_msg(unreached == balance.unreached, "%s, seed %d: %lld for %lld", samplers[k],
                          (int)seed, (long long)unreached, (long long)balance.unreached);
            cut_off += unreached > 0;
        }
        sal_model_destroy(model);
    }
    ck_assert_int_gt(cut_off, 10);
}
END_TEST

/* What the warning says of exact answers where all else is well but for that R-hat. */
START_TEST(exact_answers_are_said_in_the_time_that_holds)
{
    sal_run_summary s = { .chains = 4,
                          .draws = 1000,
                          .ess_median = 20,
                          .rhat_max = 3,
                          .mean_jump = 1,
                          .thin = 1,
                          .variables = 1,
                          .swap_rate_min = NAN,
                          .step_size_target = NAN,
                          .exact = "elimination" };
    char text[SAL_WARNING_SIZE];
    for (int k = 0; k < 2; k++) {
        s.exact_is_short = k == 1;
        ck_assert(sal_run_warning(&s, text, sizeof text));
        ck_assert_int_eq(strstr(text, "in about a second,") != NULL, k == 1);
        ck_assert_int_eq(strstr(text, "in less time than this run took,") != NULL, k == 0);
    }
}
END_TEST

/* Two draws of chains in two modes say nothing, and not that exact answers are to be had. */
START_TEST(few_draws_point_to_more_draws_only)
{
    const sal_run_options few = { .sampler = "gibbs", .chains = 8, .draws = 2 };
    const sal_run_options enough = { .sampler = "gibbs", .chains = 8, .draws = 4 };
    ck_assert(!points_to_exact("ising:side=4,theta=1.5", &few, "elimination"));
    ck_assert(points_to_exact("ising:side=4,theta=1.5", &enough, "elimination"));
}
END_TEST

/* As many findings as there can be at once; each is whole. */
START_TEST(no_warning_is_cut)
{
    sal_run_summary s = { .chains = INT64_MAX,
                          .draws = INT64_MAX,
                          .thin = 1,
                          .variables = INT64_MAX,
                          .unmoved = INT64_MAX - 1,
                          .ess_median = NAN,
                          .isolated = true,
                          .rhat_max = 1e300,
                          .rhat_variable = INT64_MAX,
                          .rhat_code = INT32_MAX,
                          .disagreeing = INT64_MAX,
                          .mean_jump = 1e3,
                          .replicas = INT64_MAX,
                          .swap_rate_min = 0,
                          .barrier = (double)INT64_MAX,
                          .step_size = 1e-300,
                          .step_size_bound = -1,
                          .step_size_target = 0.574,
                          .unchanged = INT64_MAX,
                          .stuck = { INT64_MAX, INT64_MAX },
                          .stuck_chance = 1,
                          .unreached = INT64_MAX,
                          .rounding = 1e30,
                          .exact = "forward-backward" };
    char missed[SAL_ERROR_SIZE], text[SAL_WARNING_SIZE];
    for (int k = 0; k < SAL_RUN_NAMED; k++) {
        s.unchanged_first[k] = INT64_MAX;
    }
    memset(missed, 'x', sizeof missed);
    memcpy(missed + sizeof missed - 6, " end.", 6);
    s.missed = missed;
    for (int k = 0; k < 2; k++) {
        s.unmoved =
            k == 0 ? INT64_MAX - 1 : 0; /* the findings on stuck variables need the latter */
        ck_assert(sal_run_warning(&s, text, sizeof text));
        ck_assert_uint_lt(strlen(text), sizeof text - 200);
        ck_assert_str_eq(text + strlen(text) - 5, " end.");
        ck_assert_ptr_nonnull(strstr(text, "than this run took, "));
        ck_assert_ptr_nonnull(strstr(text, "swap too rarely"));
        ck_assert_ptr_nonnull(strstr(text, "out of reach"));
        ck_assert_ptr_nonnull(strstr(text, "single precision"));
        ck_assert_ptr_nonnull(strstr(text, k == 0 ? "never moved" : "change together"));
    }
}
END_TEST

START_TEST(no_memory_for_the_finding_is_an_error)
{
    sal_model *model = bits_and_pair(-INFINITY);
    sal_run_options options = {
        .sampler = "gibbs", .chains = CHAINS, .draws = 20, .init = one_side(), .threads = 1
    };
    sal_run *run = run_it(model, &options);
    sal_run_summary s;
    ck_alloc_sweep(sal_run_summarise(run, &s, NULL), (void)0);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("unchanged");
    TCase *tcase = tcase_create("unchanged");
    tcase_add_loop_test(tcase, a_pair_that_must_differ_is_named, 0, 3);
    tcase_add_loop_test(tcase, a_pair_is_found_beside_pinned_variables, 0, 2);
    tcase_add_test(tcase, advice_on_stuck_pairs_holds);
    tcase_add_test(tcase, variables_that_are_right_to_stay_are_no_alarm);
    tcase_add_test(tcase, variables_that_had_no_turn_are_said);
    tcase_add_test(tcase, counts_past_the_last_bin_are_told_apart);
    tcase_add_test(tcase, doubtful_runs_point_to_exact_answers);
    tcase_add_test(tcase, resumed_runs_have_the_same_finding);
    tcase_add_test(tcase, states_out_of_reach_are_counted);
    tcase_add_test(tcase, states_out_of_reach_are_counted_where_there_is_no_matrix);
    tcase_add_test(tcase, states_joined_by_blocks_are_those_that_the_matrix_joins);
    tcase_add_test(tcase, exact_answers_are_said_in_the_time_that_holds);
    tcase_add_test(tcase, few_draws_point_to_more_draws_only);
    tcase_add_test(tcase, no_warning_is_cut);
    tcase_add_test(tcase, no_memory_for_the_finding_is_an_error);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
