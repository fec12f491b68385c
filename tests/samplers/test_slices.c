/* SPDX-License-Identifier: MIT */
/* Fixed sums and labels: the numbering of their states, conditioned draws, starts, refusals. That
 * samplers keep to them is shown by the exact matrices of every sampler (test samplers, over
 * tiny_slices). */
#include "chi_square.h"
#include "core/object.h"
#include "core/slice.h"
#include "models/fingerprint.h"
#include "models/states.h"
#include "samplers/fixed_sum.h"
#include "samplers/start.h"
#include "transition.h"

/* ---- the states */

START_TEST(states_are_numbered_in_the_order_of_their_words)
{
    sal_space *space = tiny_space_make(&tiny_slices[_i]);
    const int64_t V = space->n_variables, n = states_count(space);
    int32_t at[TINY_MOST_REALS], next[TINY_MOST_REALS], want[TINY_MOST_REALS];
    ck_assert_double_eq(sali_states_count(space), (double)n);
    ck_assert_double_eq_tol(sali_states_log10(space), log10((double)n), 1e-12);
    sali_states_at(space, 0, next);
    for (int64_t k = 0; k < n; k++) {
        state_codes(space, k, want);
        sali_states_at(space, k, at);
        ck_assert_mem_eq(at, want, (size_t)V * sizeof *at);
        ck_assert_mem_eq(next, want, (size_t)V * sizeof *at);
        ck_assert_int_eq(sali_states_index(space, at), k);
        ck_assert_int_eq(sali_states_next(space, next), k + 1 < n);
    }
    state_codes(space, 0, want);
    ck_assert_mem_eq(next, want, (size_t)V * sizeof *at);
    sal_space_destroy(space);
}
END_TEST

static sal_space *one_block(sal_block block)
{
    sal_error err;
    sal_space *space = sal_space_create();
    block.name = "b";
    ck_ok(sal_space_add(space, &block, &err), &err);
    return space;
}

static double count_of(sal_block block)
{
    sal_space *space = one_block(block);
    const double count = sali_states_count(space);
    sal_space_destroy(space);
    return count;
}

START_TEST(states_of_large_blocks_are_counted)
{
    int64_t once[15];
    for (int k = 0; k < 15; k++) {
        once[k] = 1;
    }
    const sal_block bits = { .kind = SAL_BINARY, .count = 40, .fixed_sum = true, .sum = 3 };
    const sal_block spins = {
        .kind = SAL_SPIN, .count = 1 << 20, .fixed_sum = true, .sum = -1048574
    };
    const sal_block half = { .kind = SAL_BINARY, .count = 40, .fixed_sum = true, .sum = 20 };
    const sal_block many = { .kind = SAL_BINARY, .count = 100000, .fixed_sum = true, .sum = 50000 };
    const sal_block order = { .kind = SAL_CATEGORICAL, .count = 14, .states = 14, .labels = once };
    const sal_block wide = {
        .kind = SAL_COUNT, .count = 1000, .cap = 9, .fixed_sum = true, .sum = 500
    };
    ck_assert_double_eq(count_of(bits), 9880);
    ck_assert_double_eq(count_of(spins), 1048576);
    ck_assert_double_eq(count_of(half), 137846528820.);
    ck_assert_double_eq(count_of(order), 87178291200.);
    ck_assert(isinf(count_of(many)) && isinf(count_of(wide)));
    sal_space *space = one_block(many); /* 100000! / 50000!^2 by Stirling's series */
    ck_assert_double_eq_tol(sali_states_log10(space), 30100.4015, 1e-3);
    sal_space_destroy(space);
}
END_TEST

/* Words of 40 bits of which 3 are ones: too many to list, few enough to number. */
START_TEST(states_at_random_places_have_their_numbers)
{
    sal_space *space =
        one_block((sal_block){ .kind = SAL_BINARY, .count = 40, .fixed_sum = true, .sum = 20 });
    int32_t codes[40];
    for (int64_t k = 0; k < 137846528820; k += 1234567891) {
        sali_states_at(space, k, codes);
        ck_ok(sali_codes_check(space, 1, codes, NULL), &(sal_error){ 0 });
        ck_assert_int_eq(sali_states_index(space, codes), k);
    }
    sal_space_destroy(space);
}
END_TEST

START_TEST(random_states_are_states_and_uniform_where_they_say_so)
{
    sal_space *space = tiny_space_make(&tiny_slices[_i]);
    const int64_t n = states_count(space), draws = 40 * n;
    double observed[TINY_MOST_STATES] = { 0 }, expected[TINY_MOST_STATES];
    int32_t codes[TINY_MOST_REALS];
    sal_error err;
    bool uniform = true;
    for (int64_t b = 0; b < space->n_blocks; b++) {
        uniform &= space->stretches[b].fixed_total < 0;
    }
    for (int64_t d = 0; d < draws; d++) {
        const sali_stream stream = { .seed = 5, .step = (uint64_t)d, .purpose = SALI_RNG_TEST };
        sali_random_codes(space, &stream, codes);
        ck_ok(sali_codes_check(space, 1, codes, &err), &err);
        observed[state_of(space, codes)]++;
    }
    for (int64_t k = 0; k < n; k++) {
        expected[k] = (double)draws / (double)n;
    }
    ck_assert(!uniform || chi_square_p((int)n, observed, expected) > 1e-4);
    sal_space_destroy(space);
}
END_TEST

/* ---- draws given the sum */

/* Log-weights of n variables of K codes: some forbidden, spread by `scale`. */
static void fill_weights(sali_fixed_sum *sum, int64_t n, int32_t K, double scale)
{
    tiny_normals((uint64_t)(n + K), n * K, scale, sum->log_weight);
    for (int64_t v = 0; v < n; v++) {
        for (int32_t k = 0; scale > 1 && k < K; k++) {
            if ((v * K + k) % 7 == 3) {
                sum->log_weight[v * K + k] = -INFINITY;
            }
        }
    }
}

/* log E of each sum 0 .. n (K - 1), by adding up in logarithms. */
static void log_polynomial(const double *w, int64_t n, int32_t K, double *log_e)
{
    const int64_t sums = n * (K - 1) + 1;
    double *before = malloc((size_t)sums * sizeof *before);
    for (int64_t j = 0; j < sums; j++) {
        log_e[j] = j == 0 ? 0 : -INFINITY;
    }
    for (int64_t v = 0; v < n; v++) {
        memcpy(before, log_e, (size_t)sums * sizeof *before);
        for (int64_t j = 0; j < sums; j++) {
            double largest = -INFINITY, total = 0;
            for (int32_t k = 0; k < K && k <= j; k++) {
                largest = fmax(largest, before[j - k] + w[v * K + k]);
            }
            for (int32_t k = 0; largest > -INFINITY && k < K && k <= j; k++) {
                total += exp(before[j - k] + w[v * K + k] - largest);
            }
            log_e[j] = total > 0 ? largest + log(total) : -INFINITY;
        }
    }
    free(before);
}

static const struct {
    int64_t n;
    int32_t K;
    double scale;
} sums[] = { { 1, 2, .5 },  { 2, 2, 3 },    { 9, 2, .7 },    { 40, 2, 20 },
             { 300, 2, 1 }, { 300, 2, 90 }, { 2000, 2, .5 }, { 7, 4, .6 },
             { 60, 5, 3 },  { 200, 3, 40 }, { 12, 2, 2000 }, { 60, 2, 1e5 } };

START_TEST(norms_are_elementary_symmetric_polynomials)
{
    const int64_t n = sums[_i].n, all = n * (sums[_i].K - 1);
    sali_fixed_sum sum;
    void *object = sali_object(16);
    double *log_e = malloc((size_t)(all + 1) * sizeof *log_e);
    int64_t compared = 0;
    sali_fixed_sum_create(object, n + 3, sums[_i].K, &sum);
    fill_weights(&sum, n, sums[_i].K, sums[_i].scale);
    log_polynomial(sum.log_weight, n, sums[_i].K, log_e);
    for (int64_t total = 0; total <= all; total += 1 + all / 50) {
        if (log_e[total] > -INFINITY) {
            const double E = sali_fixed_sum_prepare(&sum, n, sums[_i].K, total);
            ck_assert_msg(fabs(E - log_e[total]) < 1e-11 * fmax(1, fabs(log_e[total])),
                          "sum %lld: %.17g, expected %.17g", (long long)total, E, log_e[total]);
            compared++;
        }
    }
    ck_assert_int_gt(compared, all > 40 ? 10 : 0);
    free(log_e);
    sali_object_free(object);
}
END_TEST

START_TEST(codes_are_drawn_given_their_sum)
{
    enum { N = 6, K = 3, SUM = 5, DRAWS = 40000, WORDS = 729 };
    double observed[WORDS] = { 0 }, expected[WORDS], u[N], total = 0;
    sali_fixed_sum sum;
    void *object = sali_object(16);
    int32_t codes[N];
    sali_fixed_sum_create(object, N, K, &sum);
    fill_weights(&sum, N, K, 1.5);
    sali_fixed_sum_prepare(&sum, N, K, SUM);
    for (int word = 0; word < WORDS; word++) {
        double w = 0;
        int rest = word, all = 0;
        for (int v = 0; v < N; v++, rest /= K) {
            w += sum.log_weight[v * K + rest % K];
            all += rest % K;
        }
        total += expected[word] = all == SUM ? exp(w) : 0;
    }
    for (int d = 0; d < DRAWS; d++) {
        const sali_stream stream = { .seed = 3, .step = (uint64_t)d, .purpose = SALI_RNG_TEST };
        sali_rng_uniform_f64(&stream, N, u);
        sali_fixed_sum_draw(&sum, u, codes);
        int word = 0;
        for (int v = N; v-- > 0;) {
            word = word * K + codes[v];
        }
        observed[word]++;
    }
    for (int word = 0; word < WORDS; word++) {
        expected[word] *= DRAWS / total;
    }
    ck_assert_double_gt(chi_square_p(WORDS, observed, expected), 1e-4);
    sali_object_free(object);
}
END_TEST

/* Rows of partial sums that are computed again: many variables, one of them free to be a one. */
START_TEST(draws_of_many_variables_have_the_sum)
{
    enum { N = 5000, SUM = 1700 };
    sali_fixed_sum sum;
    void *object = sali_object(16);
    double *u = malloc(N * sizeof *u), mean = 0;
    int32_t *codes = malloc(N * sizeof *codes);
    sali_fixed_sum_create(object, N, 2, &sum);
    for (int v = 0; v < N; v++) {
        sum.log_weight[2 * v] = 0;
        sum.log_weight[2 * v + 1] = v < N / 2 ? 1 : -1;
    }
    sali_fixed_sum_prepare(&sum, N, 2, SUM);
    for (int d = 0; d < 20; d++) {
        const sali_stream stream = { .seed = 3, .step = (uint64_t)d, .purpose = SALI_RNG_TEST };
        int all = 0;
        sali_rng_uniform_f64(&stream, N, u);
        sali_fixed_sum_draw(&sum, u, codes);
        for (int v = 0; v < N; v++) {
            all += codes[v];
            mean += v < N / 2 ? codes[v] / 20. : 0;
        }
        ck_assert_int_eq(all, SUM);
    }
    /* the odds of the halves differ by e^2: x / (1 - x) = e^2 y / (1 - y), x + y = 2 SUM / N */
    double x = 0.68;
    for (int k = 0; k < 100; k++) {
        const double y = 2. * SUM / N - x, ratio = exp(2) * y / (1 - y);
        x = 0.5 * x + 0.5 * ratio / (1 + ratio);
    }
    ck_assert_double_eq_tol(mean, x * N / 2, 25); /* 5 standard errors */
    free(u);
    free(codes);
    sali_object_free(object);
}
END_TEST

START_TEST(weights_that_are_no_numbers_are_told)
{
    sali_fixed_sum sum;
    void *object = sali_object(16);
    sali_fixed_sum_create(object, 4, 2, &sum);
    for (int k = 0; k < 3; k++) {
        memset(sum.log_weight, 0, 8 * sizeof *sum.log_weight);
        sum.log_weight[3] = k == 0 ? (double)NAN : k == 1 ? (double)INFINITY : -INFINITY;
        ck_assert(isnan(sali_fixed_sum_prepare(&sum, 4, 2, 2)) == (k < 2));
    }
    sali_object_free(object);
}
END_TEST

/* A gradient that is infinite at 0: told, not taken for a state that nothing leaves. */
START_TEST(bad_gradients_are_told)
{
    static const char *const samplers[] = { "exchange", "ncg", "dlmc", "avg", "dula" };
    sal_space *space = tiny_space_make(&tiny_slices[0]);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_from_tape(tape, sal_sum(sal_sqrt(sal_state(tape))), &model, &err), &err);
    for (size_t k = 0; k < sizeof samplers / sizeof *samplers; k++) {
        sal_run_options o = { .sampler = samplers[k], .chains = 2, .draws = 20, .seed = 2 };
        sal_run *run = NULL;
        ck_fails(sal_sample(model, &o, &run, &err), SAL_ERR_MODEL, &err, "NaN");
    }
    sal_model_destroy(model);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}
END_TEST

/* f is NaN where the first two variables are 0; the state that is told is one of these, in whatever
 * chain it was met. */
START_TEST(bad_values_are_told)
{
    static const char *const samplers[] = { "lb-exchange", "pair-gibbs" };
    const int32_t codes[] = { 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 1, 0 };
    const double h[] = { 1, 1, 0, 0, 0 }, less = -0.5;
    sal_space *space = tiny_space_make(&tiny_slices[0]);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr sum = sal_dot(sal_state(tape), sal_constant(tape, h, SAL_SHAPE(5)));
    sal_expr f = sal_sqrt(sal_add(sum, sal_constant(tape, &less, SAL_SCALAR)));
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    for (size_t k = 0; k < sizeof samplers / sizeof *samplers; k++) {
        for (uint64_t seed = 0; seed < 20; seed++) {
            sal_run_options o = {
                .sampler = samplers[k], .chains = 3, .draws = 100, .seed = seed, .init = codes
            };
            sal_run *run = NULL;
            ck_fails(sal_sample(model, &o, &run, &err), SAL_ERR_MODEL, &err, "state 0 0");
        }
    }
    sal_model_destroy(model);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}
END_TEST

/* Weights of counts beyond what double tells apart: the message says so, and does not blame f. */
START_TEST(lost_norms_are_told)
{
    static const char *const samplers[] = { "ncg", "avg" };
    const double h[] = { 5e19, -1e20, 6.999999999999999e19, 1.5e20 };
    sal_space *space = tiny_space_make(&tiny_slices[3]);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_model *model = NULL;
    sal_error err;
    sal_expr f = sal_dot(sal_state(tape), sal_constant(tape, h, SAL_SHAPE(4)));
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    for (size_t k = 0; k < sizeof samplers / sizeof *samplers; k++) {
        sal_run_options o = {
            .sampler = samplers[k], .chains = 16, .draws = 100, .seed = 2, .step_size = 0.01
        };
        sal_run *run = NULL;
        ck_fails(sal_sample(model, &o, &run, &err), SAL_ERR_ARGUMENT, &err,
                 "too far apart to be summed up given the fixed sum");
    }
    sal_model_destroy(model);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}
END_TEST

/* ---- the steps of samplers, against their matrices */

START_TEST(steps_are_those_of_the_matrix)
{
    static const char *const samplers[] = { "exchange",    "exchange:radius=2",
                                            "lb-exchange", "pair-gibbs",
                                            "ncg",         "dlmc:balance=barker" };
    const tiny_space *tiny = &tiny_slices[_i];
    sal_space *space = tiny_space_make(tiny);
    int served = 0;
    for (int m = 0; m < N_TINY_MODELS; m++) {
        sal_model *model = tiny_models[m].make(space, SAL_F64);
        for (size_t k = 0; model && k < sizeof samplers / sizeof *samplers; k++) {
            const double temperature = m % 2 ? 1.6 : 1;
            sal_run_options o = { .sampler = samplers[k],
                                  .draws = 300,
                                  .seed = 7,
                                  .tempering = { .replicas = 1, .temperatures = &temperature } };
            sal_balance b;
            sal_error err;
            sal_status status = sal_sampler_balance(model, &o, &b, NULL, &err);
            if (status != SAL_ERR_UNSUPPORTED) {
                ck_ok(status, &err);
                const bool apart =
                    strcmp(tiny_models[m].name, "tables") == 0; /* forbidden states */
                ck_assert_msg(b.invariance < 1e-12 && b.reversibility < 1e-12 &&
                                  b.normalisation < 1e-12 && b.frequency < 5 &&
                                  (apart || b.unreached == 0),
                              "%s, %s over %s: %g, %g, %g, %g, %d unreached", samplers[k],
                              tiny_models[m].name, tiny->name, b.invariance, b.reversibility,
                              b.normalisation, b.frequency, (int)b.unreached);
                served++;
            }
        }
        sal_model_destroy(model);
    }
    ck_assert_int_ge(served, 6);
    sal_space_destroy(space);
}
END_TEST

/* ---- samplers that have no matrix */

/* Draws of chains against the probabilities of all states; one in `thin` steps. */
static void check_draws(const char *sampler, const tiny_space *tiny, int m, double step_size)
{
    sal_space *space = tiny_space_make(tiny);
    sal_model *model = tiny_models[m].make(space, SAL_F64);
    const int64_t n = states_count(space), V = space->n_variables;
    enum { CHAINS = 400, DRAWS = 20 };
    double f[TINY_MOST_STATES], pi[TINY_MOST_STATES], observed[TINY_MOST_STATES] = { 0 };
    int32_t *codes = malloc((size_t)V * sizeof *codes);
    sal_error err;
    sal_run *run = NULL;
    states_probabilities(model, 1, f, pi);
    sal_run_options o = { .sampler = sampler,
                          .chains = CHAINS,
                          .draws = DRAWS,
                          .warmup = 50,
                          .thin = 25,
                          .seed = 11,
                          .step_size = step_size,
                          .record.draws = true };
    ck_ok(sal_sample(model, &o, &run, &err), &err);
    int bytes = 0;
    const uint8_t *draws = sal_run_draws(run, &bytes);
    ck_assert_int_eq(bytes, 1);
    for (int64_t k = 0; k < CHAINS * DRAWS; k++) {
        for (int64_t v = 0; v < V; v++) {
            codes[v] = draws[k * V + v];
        }
        observed[state_of(space, codes)]++;
    }
    for (int64_t k = 0; k < n; k++) {
        pi[k] *= CHAINS * DRAWS;
    }
    ck_assert_msg(chi_square_p((int)n, observed, pi) > 1e-4, "%s over %s", sampler, tiny->name);
    sal_run_destroy(run);
    sal_model_destroy(model);
    sal_space_destroy(space);
    free(codes);
}

START_TEST(auxiliary_variables_keep_the_sum)
{
    check_draws("avg", &tiny_slices[0], 0, 1.5);
    check_draws("avg:momentum=0.7,correction=0.5", &tiny_slices[3], 0, 1.5);
    check_draws("avg", &tiny_slices[8], 0, 1.5);
}
END_TEST

/* What a summary finds out about variables that did not change must not leave the sum. */
START_TEST(runs_are_summarised)
{
    static const char *const samplers[] = { NULL, "pair-gibbs", "ncg" };
    sal_space *space = tiny_space_make(&tiny_slices[0]);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_model *model = NULL;
    const double h[] = { 60, 0.3, -0.4, 0.2, -60 };
    sal_error err;
    sal_expr f = sal_dot(sal_state(tape), sal_constant(tape, h, SAL_SHAPE(5)));
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    for (int k = 0; k < 3; k++) {
        sal_run_options o = { .sampler = samplers[k], .chains = 8, .draws = 400, .seed = 2 };
        sal_run *run = NULL;
        sal_run_summary s;
        ck_ok(sal_sample(model, &o, &run, &err), &err);
        ck_ok(sal_run_summarise(run, &s, &err), &err);
        ck_assert_int_eq(s.unchanged, 2);
        ck_assert_int_eq(s.unmoved, 0);
        ck_assert_double_gt(s.acceptance_rate, 0.2);
        sal_run_destroy(run);
    }
    sal_model_destroy(model);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}
END_TEST

static sal_model *formula_over(const tiny_space *tiny)
{
    sal_space *space = tiny_space_make(tiny);
    sal_model *model = tiny_formula(space, SAL_F64);
    sal_space_destroy(space);
    return model;
}

/* f of a draw comes from what a sampler follows; it is f of the draw's state. */
static void check_values(sal_model *model, const char *sampler)
{
    const int64_t V = model->space->n_variables;
    const sal_run_options o = {
        .sampler = sampler, .chains = 2, .draws = 100, .seed = 3, .record = { .draws = true }
    };
    sal_run *run = NULL;
    int32_t codes[TINY_MOST_REALS];
    double f;
    int bytes;
    sal_error err;
    const sal_status status = sal_sample(model, &o, &run, &err);
    ck_assert(status == SAL_OK || status == SAL_ERR_UNSUPPORTED);
    for (int64_t d = 0; status == SAL_OK && d < 200; d++) {
        const uint8_t *draw = (const uint8_t *)sal_run_draws(run, &bytes) + d * V;
        for (int64_t v = 0; v < V; v++) {
            codes[v] = draw[v];
        }
        ck_assert_int_eq(bytes, 1);
        ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
        ck_assert_double_eq_tol(sal_run_log_probs(run)[d], f, 1e-10);
    }
    sal_run_destroy(run);
}

START_TEST(values_of_draws_are_those_of_their_states)
{
    static const char *const samplers[] = { "exchange", "lb-exchange", "pair-gibbs", "ncg" };
    sal_space *space = tiny_space_make(&tiny_slices[_i]);
    int followed = 0;
    for (int m = 0; m < N_TINY_MODELS; m++) {
        sal_model *model = tiny_models[m].make(space, SAL_F64);
        for (size_t k = 0; model && k < sizeof samplers / sizeof *samplers; k++) {
            check_values(model, samplers[k]);
            followed += model->trackable;
        }
        sal_model_destroy(model);
    }
    ck_assert_int_gt(followed, 0);
    sal_space_destroy(space);
}
END_TEST

/* ---- spaces, starts, and what refuses */

static const struct {
    sal_block block;
    const char *text;
} bad_blocks[] = {
    { { .kind = SAL_BINARY, .count = 4, .fixed_sum = true, .sum = 5 }, "expected 0 to 4" },
    { { .kind = SAL_BINARY, .count = 4, .fixed_sum = true, .sum = -1 }, "expected 0 to 4" },
    { { .kind = SAL_SPIN, .count = 5, .fixed_sum = true, .sum = 2 }, "an odd number from -5 to 5" },
    { { .kind = SAL_SPIN, .count = 4, .fixed_sum = true, .sum = -6 }, "an even number from -4" },
    { { .kind = SAL_COUNT, .count = 2, .fixed_sum = true, .sum = 2 }, "needs a cap" },
    { { .kind = SAL_COUNT, .count = 2, .cap = 3, .fixed_sum = true, .sum = 7 }, "expected 0 to 6" },
    { { .kind = SAL_ORDINAL, .count = 2, .states = 3, .fixed_sum = true, .sum = 1 },
      "is for binary" },
    { { .kind = SAL_BINARY, .count = 2, .sum = 1 }, "a sum without fixed_sum" },
    { { .kind = SAL_CATEGORICAL, .count = 5, .states = 3, .labels = tiny_seats }, "sum to 4" },
    { { .kind = SAL_CATEGORICAL, .count = 3, .states = 3, .labels = tiny_seats },
      "label 2 occurs 1" },
    { { .kind = SAL_BINARY, .count = 3, .labels = tiny_seats }, "categorical variables only" },
};

START_TEST(bad_sums_and_labels_are_refused)
{
    sal_space *space = sal_space_create();
    sal_error err;
    for (size_t k = 0; k < sizeof bad_blocks / sizeof *bad_blocks; k++) {
        sal_block block = bad_blocks[k].block;
        block.name = "b";
        ck_fails(sal_space_add(space, &block, &err), SAL_ERR_ARGUMENT, &err, bad_blocks[k].text);
        ck_assert_int_eq(sal_space_variables(space), 0);
    }
    ck_fails(sal_space_permutation(space, "p", 0, &err), SAL_ERR_ARGUMENT, &err, "1 to 4096");
    ck_ok(sal_space_add(space, &(sal_block){ .name = "b", .kind = SAL_BINARY, .count = 4 }, &err),
          &err);
    ck_fails(sal_space_fix_sum(space, "c", 2, &err), SAL_ERR_NOT_FOUND, &err, "there are: b");
    ck_fails(sal_space_fix_sum(space, "b", 5, &err), SAL_ERR_ARGUMENT, &err, "expected 0 to 4");
    ck_assert(!space->fixed);
    ck_ok(sal_space_fix_sum(space, "b", 1, &err), &err);
    ck_ok(sal_space_fix_sum(space, "b", 3, &err), &err); /* another one in its place */
    ck_assert_double_eq(sali_states_count(space), 4);
    ck_assert_int_eq(sal_space_block(space, 0)->sum, 3);
    ck_ok(sal_space_permutation(space, "p", 3, &err), &err);
    ck_assert_double_eq(sali_states_count(space), 24);
    ck_assert_int_eq(sal_space_block(space, 1)->labels[2], 1);
    sal_space_destroy(space);
}
END_TEST

START_TEST(clamps_take_their_part_of_the_sum)
{
    sal_model *model = formula_over(&tiny_slices[0]), *clamped = NULL;
    sal_model *permuted = formula_over(&tiny_slices[5]), *rest = NULL;
    const int64_t two[] = { 1, 4 }, first[] = { 0, 1 }, three[] = { 0, 1, 2 };
    const int32_t codes[] = { 1, 0 }, ones[] = { 1, 1, 1 }, twice[] = { 2, 2 };
    sal_error err;
    sal_exact all, given;
    double marginals[10], pairs[100];
    ck_ok(sal_model_clamp(model, 2, two, codes, &clamped, &err), &err);
    ck_assert_double_eq(sali_states_count(clamped->space), 3);
    ck_ok(sal_model_exact(model, NULL, &all, marginals, pairs, NULL, &err), &err);
    ck_ok(sal_model_exact(clamped, NULL, &given, NULL, NULL, NULL, &err), &err);
    ck_assert_double_eq_tol(exp(given.log_z - all.log_z), pairs[(2 * 1 + 1) * 10 + 2 * 4], 1e-13);
    ck_fails(sal_model_clamp(model, 3, three, ones, &rest, &err), SAL_ERR_ARGUMENT, &err,
             "no state has the sum -1");
    ck_fails(sal_model_clamp(permuted, 2, first, twice, &rest, &err), SAL_ERR_ARGUMENT, &err,
             "label 2 occurs -1 times");
    ck_assert_ptr_null(rest);
    sal_model_destroy(clamped);
    sal_model_destroy(permuted);
    sal_model_destroy(model);
}
END_TEST

START_TEST(saved_runs_know_the_sum)
{
    sal_space *space = tiny_space_make(&tiny_slices[0]), *other = sal_space_create();
    sal_error err;
    ck_ok(sal_space_add(other, &(sal_block)TINY_CHOSEN(5, 3), &err), &err);
    sal_model *two = tiny_formula(space, SAL_F64), *three = tiny_formula(other, SAL_F64);
    sal_model *again = tiny_formula(space, SAL_F64);
    ck_assert(sali_model_structure(two) == sali_model_structure(again));
    ck_assert(sali_model_structure(two) != sali_model_structure(three));
    ck_assert(!sali_space_equal(two->space, three->space));
    ck_assert(sali_space_equal(two->space, again->space));
    sal_model_destroy(two);
    sal_model_destroy(three);
    sal_model_destroy(again);
    sal_space_destroy(space);
    sal_space_destroy(other);
}
END_TEST

START_TEST(exact_answers_are_of_the_states_with_the_sum)
{
    sal_model *model = formula_over(&tiny_slices[_i]);
    const int64_t n = states_count(model->space);
    double f[TINY_MOST_STATES], pi[TINY_MOST_STATES], log_z = -INFINITY, sum = 0;
    sal_exact exact;
    sal_error err;
    states_probabilities(model, 1, f, pi);
    for (int64_t k = 0; k < n; k++) {
        log_z = fmax(log_z, f[k]);
    }
    for (int64_t k = 0; k < n; k++) {
        sum += exp(f[k] - log_z);
    }
    ck_ok(sal_model_exact(model, NULL, &exact, NULL, NULL, NULL, &err), &err);
    ck_assert_str_eq(exact.oracle, "enumeration");
    ck_assert_double_eq_tol(exact.log_z, log_z + log(sum), 1e-12);
    sal_model_destroy(model);
}
END_TEST

/* States of other sums are refused wherever states are given. */
START_TEST(states_of_other_sums_are_refused)
{
    sal_model *model = formula_over(&tiny_slices[0]), *permuted = formula_over(&tiny_slices[5]);
    const int32_t codes[] = { 1, 1, 1, 0, 0 }, twice[] = { 0, 1, 2, 2 };
    double f;
    sal_error err;
    sal_run *run = NULL;
    sal_run_options o = { .chains = 1, .init = codes, .draws = 3 };
    ck_fails(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), SAL_ERR_ARGUMENT, &err,
             "block 'chosen' sums to 3; its sum is fixed to 2");
    ck_fails(sal_model_evaluate(permuted, 1, twice, &f, NULL, NULL, &err), SAL_ERR_ARGUMENT, &err,
             "block 'permuted' has label 2 2 times; expected 1");
    ck_fails(sal_sample(model, &o, &run, &err), SAL_ERR_ARGUMENT, &err, "its sum is fixed to 2");
    ck_assert_ptr_null(run);
    sal_model_destroy(permuted);
    sal_model_destroy(model);
}
END_TEST

static const struct {
    const char *sampler, *text;
} refusing[] = {
    { "gibbs", "it cannot keep the fixed sum of block 'chosen'; samplers that can:" },
    { "gwg", "exchange" },
    { "block-gibbs", "pair-gibbs" },
    { "pavg", "ncg" },
    { "ncg:most=2", "not both" },
    { "exchange:balance=barker", "sqrt" },
};

START_TEST(what_cannot_keep_a_sum_says_so)
{
    sal_model *model = formula_over(&tiny_slices[0]), *labels = formula_over(&tiny_slices[4]);
    sal_model *mixed = formula_over(&tiny_slices[8]);
    const double theta[10] = { 1, 0, 1, 0, 1, 0, 1, 0, 1, 0 };
    sal_error err;
    sal_run *run = NULL;
    sal_log_z_estimate z;
    sal_ais_estimate ais;
    sal_extension extension;
    for (size_t k = 0; k < sizeof refusing / sizeof *refusing; k++) {
        sal_run_options o = { .sampler = refusing[k].sampler, .draws = 3 };
        ck_fails(sal_sample(model, &o, &run, &err), SAL_ERR_UNSUPPORTED, &err, refusing[k].text);
    }
    ck_fails(sal_sample(labels, &(sal_run_options){ .sampler = "dlmc", .draws = 3 }, &run, &err),
             SAL_ERR_UNSUPPORTED, &err, "of labels there is none");
    ck_fails(sal_sample(mixed, &(sal_run_options){ .sampler = "exchange", .draws = 3 }, &run, &err),
             SAL_ERR_UNSUPPORTED, &err, "pair-gibbs");
    ck_fails(sal_log_z(model, NULL, &z, &err), SAL_ERR_UNSUPPORTED, &err, "fixed sum of block");
    ck_fails(sal_ais(model, NULL, &ais, NULL, &err), SAL_ERR_UNSUPPORTED, &err, "fixed sum of");
    ck_fails(sal_model_extension(model, NULL, theta, &extension, NULL, NULL, &err),
             SAL_ERR_UNSUPPORTED, &err, "fixed sum of");
    ck_assert_ptr_null(run);
    sal_model_destroy(model);
    sal_model_destroy(labels);
    sal_model_destroy(mixed);
}
END_TEST

/* ---- pairs that are in a term together */

/* An open chain of n bits of which k are 1; without the coupling after bit `cut`. */
static sal_model *chain_of(int64_t n, int64_t k, int64_t cut)
{
    sal_space *space =
        one_block((sal_block){ .kind = SAL_BINARY, .count = n, .fixed_sum = true, .sum = k });
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_model *model = NULL;
    sal_error err;
    int64_t pairs[32], m = 0;
    for (int64_t i = 0; i + 1 < n; i++) {
        if (i != cut) {
            pairs[2 * m] = i;
            pairs[2 * m++ + 1] = i + 1;
        }
    }
    const double J[16] = { 1, -.5, .7, .3, -1, .4, .9, -.2 };
    sal_expr f = sal_edges(sal_state(tape), sal_constant(tape, J, SAL_SHAPE(m)), m, pairs);
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return model;
}

START_TEST(coupled_pairs_reach_all_states_or_are_refused)
{
    sal_model *whole = chain_of(7, 3, -1), *parts = chain_of(7, 3, 2);
    sal_run_options o = { .sampler = "pair-gibbs:pairs=coupled" };
    sal_balance b;
    sal_error err;
    ck_ok(sal_sampler_balance(whole, &o, &b, NULL, &err), &err);
    ck_assert_int_eq(b.states, 35);
    ck_assert(b.invariance < 1e-12 && b.reversibility < 1e-12 && b.normalisation < 1e-12);
    ck_assert(b.unreached == 0 && b.frequency < 5);
    ck_fails(sal_sampler_balance(parts, &o, &b, NULL, &err), SAL_ERR_UNSUPPORTED, &err,
             "do not connect all of block 'b'");
    sal_model_destroy(whole);
    sal_model_destroy(parts);
}
END_TEST

/* ---- searches */

/* An assignment: the sum of C[i][p_i] over the permutations p; `best`: the largest. */
static sal_model *assignment(int64_t n, double *C, double *best)
{
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    sal_error err;
    double top[1 << 8] = { 0 }; /* of the first rows, by the set of columns taken */
    ck_ok(sal_space_permutation(space, "p", n, &err), &err);
    tiny_normals(40, n * n, 1, C);
    for (int set = 1; set < 1 << n; set++) {
        const int row = __builtin_popcount((unsigned)set) - 1;
        top[set] = -INFINITY;
        for (int k = 0; k < n; k++) {
            top[set] = set >> k & 1 ? fmax(top[set], top[set ^ 1 << k] + C[row * n + k]) : top[set];
        }
    }
    *best = top[(1 << n) - 1];
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr f = sal_dot(sal_state(tape), sal_constant(tape, C, SAL_SHAPE(n * n)));
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return model;
}

START_TEST(annealing_finds_the_best_assignment)
{
    double C[64], best, found;
    int32_t codes[8];
    sal_model *model = assignment(8, C, &best);
    sal_error err;
    sal_run *run = NULL;
    sal_run_options o = { .chains = 8, .draws = 1500, .seed = 4, .annealing.on = true };
    ck_ok(sal_sample(model, &o, &run, &err), &err);
    ck_ok(sal_run_best(run, codes, &found, &err), &err);
    ck_ok(sali_codes_check(model->space, 1, codes, &err), &err);
    ck_assert_double_eq_tol(found, best, 1e-12);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

START_TEST(decoding_raises_f_and_keeps_the_sum)
{
    sal_model *model = formula_over(&tiny_slices[_i]);
    const int64_t n = states_count(model->space);
    sal_error err;
    int raised = 0;
    for (int64_t k = 0; k < n; k++) {
        int32_t codes[TINY_MOST_REALS];
        double before, after;
        state_codes(model->space, k, codes);
        ck_ok(sal_model_evaluate(model, 1, codes, &before, NULL, NULL, &err), &err);
        ck_ok(sal_model_decode(model, codes, &after, &err), &err);
        ck_ok(sali_codes_check(model->space, 1, codes, &err), &err);
        ck_assert_double_ge(after, before);
        raised += after > before;
    }
    ck_assert_int_gt(raised, 0);
    sal_model_destroy(model);
}
END_TEST

int main(void)
{
    enum { SUMS = sizeof sums / sizeof *sums };
    Suite *suite = suite_create("slices");
    TCase *tc = tcase_create("slices");
    tcase_add_loop_test(tc, states_are_numbered_in_the_order_of_their_words, 0, N_TINY_SLICES);
    tcase_add_test(tc, states_of_large_blocks_are_counted);
    tcase_add_test(tc, states_at_random_places_have_their_numbers);
    tcase_add_loop_test(tc, random_states_are_states_and_uniform_where_they_say_so, 0,
                        N_TINY_SLICES);
    tcase_add_loop_test(tc, norms_are_elementary_symmetric_polynomials, 0, SUMS);
    tcase_add_test(tc, weights_that_are_no_numbers_are_told);
    tcase_add_test(tc, bad_gradients_are_told);
    tcase_add_test(tc, lost_norms_are_told);
    tcase_add_test(tc, bad_values_are_told);
    tcase_add_test(tc, codes_are_drawn_given_their_sum);
    tcase_add_test(tc, draws_of_many_variables_have_the_sum);
    tcase_add_test(tc, auxiliary_variables_keep_the_sum);
    tcase_add_test(tc, runs_are_summarised);
    tcase_add_loop_test(tc, values_of_draws_are_those_of_their_states, 0, N_TINY_SLICES);
    tcase_add_test(tc, bad_sums_and_labels_are_refused);
    tcase_add_test(tc, clamps_take_their_part_of_the_sum);
    tcase_add_test(tc, saved_runs_know_the_sum);
    tcase_add_loop_test(tc, steps_are_those_of_the_matrix, 0, N_TINY_SLICES);
    tcase_add_loop_test(tc, exact_answers_are_of_the_states_with_the_sum, 0, N_TINY_SLICES);
    tcase_add_test(tc, states_of_other_sums_are_refused);
    tcase_add_test(tc, what_cannot_keep_a_sum_says_so);
    tcase_add_test(tc, coupled_pairs_reach_all_states_or_are_refused);
    tcase_add_test(tc, annealing_finds_the_best_assignment);
    tcase_add_loop_test(tc, decoding_raises_f_and_keeps_the_sum, 0, N_TINY_SLICES);
    suite_add_tcase(suite, tc);
    return test_main(suite);
}
