/* SPDX-License-Identifier: MIT */
/* Looking at samplers through the public interface: that right ones are found right and wrong ones
 * wrong, and that proposals are what they are told to be. */
#include "alloc_fail.h"
#include "chi_square.h"
#include "own_samplers.h"
#include "transition.h"

static sal_balance balance_of(const sal_model *model, const char *sampler, int64_t draws,
                              double temperature)
{
    sal_balance b;
    sal_error err;
    sal_run_options o = { .sampler = sampler,
                          .own_samplers = own_all,
                          .draws = draws,
                          .tempering = { .replicas = 1, .temperatures = &temperature } };
    ck_ok(sal_sampler_balance(model, &o, &b, NULL, &err), &err);
    return b;
}

/* log q of all pairs of states, by the public function. */
static double *proposals_of(const sal_model *model, const char *sampler, double step_size)
{
    const sal_space *space = model->space;
    int64_t n = states_count(space), V = space->n_variables;
    double *log_q = malloc((size_t)(n * n) * sizeof *log_q), f[TINY_MOST_STATES];
    int32_t codes[TINY_MOST_STATES * TINY_MOST_REALS] = { 0 };
    sal_run_options o = { .sampler = sampler, .own_samplers = own_all, .step_size = step_size };
    sal_error err;
    for (int64_t i = 0; i < n; i++) {
        state_codes(space, i, codes + i * V);
    }
    ck_ok(sal_model_evaluate(model, n, codes, f, NULL, NULL, &err), &err);
    for (int64_t i = 0; i < n; i++) {
        if (f[i] > -INFINITY) {
            ck_ok(sal_sampler_log_q(model, &o, codes + i * V, n, codes, log_q + i * n, &err), &err);
        }
        for (int64_t j = 0; f[i] == -INFINITY && j < n; j++) {
            log_q[i * n + j] = NAN;
        }
    }
    return log_q;
}

/* A sampler of one's own proposes what the library's does. */
static void check_same(const sal_model *model, const char *own, const char *library,
                       double step_size, const char *where)
{
    int64_t n = states_count(model->space);
    double *a = proposals_of(model, own, step_size), *b = proposals_of(model, library, step_size);
    for (int64_t k = 0; k < n * n; k++) {
        ck_assert_msg(isnan(a[k]) ? isnan(b[k]) : fabs(exp(a[k]) - exp(b[k])) < 1e-12,
                      "%s, %s: log q is %g, of %s %g", where, own, a[k], library, b[k]);
    }
    free(a);
    free(b);
}

static void check_right(const sal_model *model, const char *own, const char *where)
{
    for (int hot = 0; hot < 2; hot++) {
        sal_balance b = balance_of(model, own, 60, hot ? 1.7 : 1);
        ck_assert_msg(b.invariance < 1e-12 && b.reversibility < 1e-12 && b.normalisation < 1e-12,
                      "%s, %s: %g %g %g", where, own, b.invariance, b.reversibility,
                      b.normalisation);
        ck_assert_msg(b.unreached == 0, "%s, %s: %lld states unreached", where, own,
                      (long long)b.unreached);
        /* a hundred or so of these */
        ck_assert_msg(b.frequency < 4.5, "%s, %s: frequency %g", where, own, b.frequency);
    }
}

START_TEST(own_samplers_are_right_and_propose_as_the_librarys)
{
    for (int s = 0; s < N_TINY_SPACES; s++) {
        sal_space *space = tiny_space_make(&tiny_spaces[s]);
        for (int m = 0; m < N_TINY_MODELS && strcmp(tiny_spaces[s].name, "mixed") != 0; m++) {
            sal_model *model = tiny_models[m].make(space, SAL_F64);
            char where[80];
            snprintf(where, sizeof where, "%s over %s", tiny_models[m].name, tiny_spaces[s].name);
            /* windows of counts are the library's */
            bool counts = strcmp(tiny_spaces[s].name, "count") == 0;
            if (model) {
                check_right(model, "own-gwg", where);
                check_right(model, "own-lb", where);
                check_right(model, "own-ncg", where);
                check_same(model, "own-ncg", "ncg:preconditioner=none", 0.8, where);
            }
            if (model && !counts) {
                check_same(model, "own-gwg", "gwg", 0, where);
                check_same(model, "own-lb", "lb", 0, where);
            }
            sal_model_destroy(model);
        }
        sal_space_destroy(space);
    }
}
END_TEST

static sal_model *small_model(const char *name, sal_dtype dtype)
{
    sal_space *space = tiny_space_make(tiny_space_named(name));
    sal_model *model = tiny_formula(space, dtype);
    sal_space_destroy(space);
    return model;
}

START_TEST(wrong_samplers_are_found)
{
    sal_model *model = small_model("factors", SAL_F64);
    sal_balance b = balance_of(model, "own-loose", -1, 1);
    ck_assert_msg(b.normalisation > 0.1 && b.invariance > 1e-4, "%g %g", b.normalisation,
                  b.invariance);
    ck_assert(isnan(b.frequency));
    b = balance_of(model, "own-dropped", -1, 1);
    ck_assert(b.normalisation > 1e-3);
    b = balance_of(model, "own-other", 1000, 1);
    ck_assert(b.invariance < 1e-12 && b.reversibility < 1e-12 && b.normalisation < 1e-12);
    ck_assert_msg(b.frequency > 5, "frequency %g", b.frequency);
    b = balance_of(model, "own-stuck", 100, 1);
    ck_assert(b.invariance < 1e-12 && b.frequency < 4.5);
    ck_assert_int_eq(b.unreached, b.states - 2);
    sal_model_destroy(model);
}
END_TEST

/* One ordinal variable of 4 levels, f = s / 10. */
static sal_model *grid_model(void)
{
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    sal_error err;
    sal_block block = { .name = "s", .kind = SAL_ORDINAL, .count = 1, .states = 4 };
    ck_ok(sal_space_add(space, &block, &err), &err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    ck_ok(sal_model_from_tape(tape, sal_scale(sal_sum(sal_state(tape)), 0.1), &model, &err), &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return model;
}

/* The reversal of two states is the worst pair: a proposal that is symmetric but for this one. */
static void lopsided_draw(const sal_origin *s, sal_random *random, int32_t *to)
{
    (void)s;
    to[0] = (int32_t)sal_random_below(random, 4);
}

static double lopsided_log_q(const sal_origin *s, const int32_t *to)
{
    return s->codes[0] == 2 && to[0] == 1 ? log(0.01) : -log(4);
}

/* Draws what it tells, but at state 3. */
static void mostly_draw(const sal_origin *s, sal_random *random, int32_t *to)
{
    bool other = s->codes[0] == 3 && sal_random_uniform(random) < 0.5;
    to[0] = other ? 1 : (int32_t)sal_random_below(random, 4);
}

static double quarter(const sal_origin *s, const int32_t *to)
{
    (void)s;
    (void)to;
    return -log(4);
}

START_TEST(the_worst_pair_is_shown)
{
    static const sal_sampler_descriptor lopsided = { .name = "lopsided",
                                                     .draw = lopsided_draw,
                                                     .log_q = lopsided_log_q };
    static const sal_sampler_descriptor mostly = { .name = "mostly",
                                                   .draw = mostly_draw,
                                                   .log_q = quarter };
    static const sal_sampler_descriptor *const own[] = { &lopsided, &mostly, NULL };
    sal_model *model = grid_model();
    sal_balance b;
    int32_t worst[2];
    sal_error err;
    sal_run_options o = { .sampler = "lopsided", .own_samplers = own, .draws = -1 };
    ck_ok(sal_sampler_balance(model, &o, &b, worst, &err), &err);
    ck_assert_int_eq(b.states, 4);
    ck_assert_double_eq_tol(b.normalisation, 0.24, 1e-12);
    /* pi q a is symmetric whatever q is; but the row of 2 sums to less than 1. */
    ck_assert(b.reversibility < 1e-12);
    ck_assert_int_eq(worst[0], 2);
    ck_assert_int_eq(worst[1], 2);
    ck_assert(b.invariance > 0.01);
    o = (sal_run_options){ .sampler = "mostly", .own_samplers = own };
    ck_ok(sal_sampler_balance(model, &o, &b, worst, &err), &err);
    ck_assert(b.normalisation < 1e-12 && b.frequency > 5);
    ck_assert_int_eq(worst[0], 3);
    o = (sal_run_options){ .sampler = "dula", .draws = -1 };
    ck_ok(sal_sampler_balance(model, &o, &b, worst, &err), &err);
    ck_assert(b.reversibility > 1e-4 && b.invariance > 1e-4 && worst[0] != worst[1]);
    sal_model_destroy(model);
}
END_TEST

START_TEST(the_librarys_samplers_are_looked_at)
{
    sal_model *model = small_model("label", SAL_F64);
    sal_sampler_info info;
    int looked = 0;
    for (int64_t k = 0; sal_sampler_list(k, &info); k++) {
        sal_run_options o = { .sampler = info.name, .draws = 100 };
        sal_balance b = { .states = -1 };
        sal_error err = { 0 };
        sal_status status = sal_sampler_balance(model, &o, &b, NULL, &err);
        bool matrix =
            has_matrix(sali_sampler_at(k)) && sali_sampler_serves(sali_sampler_at(k), model);
        ck_assert_msg(status == (matrix ? SAL_OK : SAL_ERR_UNSUPPORTED), "%s: %s", info.name,
                      err.message);
        ck_assert(matrix || b.states == -1);
        if (matrix) {
            looked++;
            ck_assert_msg(info.exact == (b.invariance < 1e-12), "%s: %g", info.name, b.invariance);
            ck_assert_msg(b.frequency < 4.5 && b.unreached == 0 && b.normalisation < 1e-12,
                          "%s: %g, %lld, %g", info.name, b.frequency, (long long)b.unreached,
                          b.normalisation);
        }
    }
    ck_assert_int_gt(looked, 8);
    sal_model_destroy(model);
}
END_TEST

/* ---- proposals */

START_TEST(draws_of_proposals_follow_log_q)
{
    enum { DRAWS = 20000 };
    static const char *const names[] = { "gwg", "gwg:hops=2", "ncg",     "mh-uniform", "lb",
                                         "pas", "own-gwg",    "own-ncg", "gwg:ball=2", "gibbs" };
    sal_model *model = small_model("factors", SAL_F32);
    const sal_space *space = model->space;
    int64_t n = states_count(space), V = space->n_variables;
    int32_t *to = malloc((size_t)(DRAWS * V) * sizeof *to);
    int32_t all[TINY_MOST_STATES * TINY_MOST_REALS] = { 0 }, from[TINY_MOST_REALS];
    double expected[TINY_MOST_STATES];
    state_codes(space, 7, from);
    for (int64_t i = 0; i < n; i++) {
        state_codes(space, i, all + i * V);
    }
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        sal_run_options o = { .sampler = names[k], .own_samplers = own_all, .seed = 5 };
        double observed[TINY_MOST_STATES] = { 0 };
        sal_error err;
        ck_ok(sal_sampler_log_q(model, &o, from, n, all, expected, &err), &err);
        ck_ok(sal_sampler_draw_proposals(model, &o, from, DRAWS, to, &err), &err);
        for (int64_t d = 0; d < DRAWS; d++) {
            observed[state_of(space, to + d * V)]++;
        }
        for (int64_t i = 0; i < n; i++) {
            expected[i] = DRAWS * exp(expected[i]);
        }
        double p = chi_square_p((int)n, observed, expected);
        ck_assert_msg(p > 1e-4, "%s: p = %g", names[k], p);
    }
    free(to);
    sal_model_destroy(model);
}
END_TEST

/* One binary variable with f = 0.8 s: given w ~ N(0, delta), delta = 2 / eps, avg draws s' = 1 with
 * probability sigmoid(0.8 + delta s + w - delta / 2) (Rhodes & Gutmann 2022, sec. 3.2). */
START_TEST(draws_of_avg_are_what_its_integral_says)
{
    enum { DRAWS = 100000 };
    const double eps = 0.9, delta = 2 / eps;
    int32_t from = 0, *to = malloc(DRAWS * sizeof *to);
    double want = 0, got = 0, mass = 0;
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_BINARY, .count = 1 }, &err),
          &err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    ck_ok(sal_model_from_tape(tape, sal_scale(sal_sum(sal_state(tape)), 0.8), &model, &err), &err);
    for (double z = -8; z < 8; z += 1e-3) {
        double weight = exp(-z * z / 2);
        want += weight / (1 + exp(-(0.8 + sqrt(delta) * z - delta / 2)));
        mass += weight;
    }
    sal_run_options o = { .sampler = "avg", .step_size = eps };
    ck_ok(sal_sampler_draw_proposals(model, &o, &from, DRAWS, to, &err), &err);
    for (int d = 0; d < DRAWS; d++) {
        got += to[d];
    }
    ck_assert_double_eq_tol(got / DRAWS, want / mass, 4 * sqrt(0.25 / DRAWS));
    ck_fails(sal_sampler_log_q(model, &o, &from, 1, &from, &want, &err), SAL_ERR_UNSUPPORTED, &err,
             "sampler 'avg' cannot tell the probabilities of its proposals");
    free(to);
    sal_tape_destroy(tape);
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

START_TEST(what_cannot_be_looked_at_is_refused)
{
    sal_model *model = small_model("factors", SAL_F64), *large = NULL;
    sal_balance b = { .states = 77 };
    sal_error err;
    int32_t code[TINY_MOST_REALS] = { 0 }, bad[TINY_MOST_REALS] = { 0, 3 };
    double log_q;
    ck_ok(sal_model_open("ising:side=4", 0, &large, &err), &err);
    sal_run_options o = { .sampler = "gwg" };
    ck_fails(sal_sampler_balance(large, &o, &b, NULL, &err), SAL_ERR_UNSUPPORTED, &err,
             "has 65536 states; a sampler's matrix is made for up to 4096");
    o.sampler = "nonsense";
    ck_fails(sal_sampler_balance(model, &o, &b, NULL, &err), SAL_ERR_ARGUMENT, &err,
             "there is no sampler 'nonsense'");
    o = (sal_run_options){ .sampler = "gwg", .draws = INT64_C(1) << 40 };
    ck_fails(sal_sampler_balance(model, &o, &b, NULL, &err), SAL_ERR_ARGUMENT, &err,
             "draws is 1099511627776; expected at most");
    double cold = 0, preconditioner[TINY_MOST_REALS * TINY_MOST_REALS] = { 0 };
    o = (sal_run_options){ .sampler = "gwg",
                           .tempering = { .replicas = 1, .temperatures = &cold } };
    ck_fails(sal_sampler_balance(model, &o, &b, NULL, &err), SAL_ERR_ARGUMENT, &err,
             "temperature is 0");
    o.tempering.replicas = 0;
    ck_fails(sal_sampler_balance(model, &o, &b, NULL, &err), SAL_ERR_ARGUMENT, &err,
             "temperatures are given, but replicas is 0");
    o = (sal_run_options){ .sampler = "gwg", .preconditioner = preconditioner };
    ck_fails(sal_sampler_balance(model, &o, &b, NULL, &err), SAL_ERR_ARGUMENT, &err,
             "sampler 'gwg' takes no preconditioner");
    o = (sal_run_options){ .sampler = "gwg", .clamps.n = 1 };
    ck_fails(sal_sampler_balance(model, &o, &b, NULL, &err), SAL_ERR_ARGUMENT, &err,
             "clamp it first");
    ck_assert_int_eq(b.states, 77);
    ck_fails(sal_sampler_log_q(model, NULL, bad, 1, code, &log_q, &err), SAL_ERR_ARGUMENT, &err,
             "from: ");
    ck_fails(sal_sampler_log_q(model, NULL, code, 1, bad, &log_q, &err), SAL_ERR_ARGUMENT, &err,
             "to: ");
    ck_fails(sal_sampler_log_q(model, NULL, code, -1, code, &log_q, &err), SAL_ERR_ARGUMENT, &err,
             "to: -1 states; expected 0 or more");
    ck_fails(sal_sampler_draw_proposals(model, NULL, code, -1, bad, &err), SAL_ERR_ARGUMENT, &err,
             "-1 draws");
    sal_model_destroy(model);
    sal_model_destroy(large);
}
END_TEST

static double nowhere(const double *x, double *gradient, void *data)
{
    (void)x;
    (void)gradient;
    (void)data;
    return -INFINITY;
}

START_TEST(a_model_without_states_is_refused)
{
    sal_space *space = tiny_space_make(tiny_space_named("binary"));
    sal_model *model = NULL;
    sal_balance b = { .states = 77 };
    sal_error err;
    ck_ok(sal_model_from_callback(space, &(sal_callback){ .f = nowhere }, &model, &err), &err);
    sal_run_options o = { .sampler = "mh-uniform" };
    ck_fails(sal_sampler_balance(model, &o, &b, NULL, &err), SAL_ERR_MODEL, &err,
             "f is -inf at all of its 16 states");
    ck_assert_int_eq(b.states, 77);
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

static double not_a_number(const sal_origin *s, const int32_t *to)
{
    return to[0] == 1 && s->codes[0] == 2 ? NAN : -log(4);
}

static double too_much(const sal_origin *s, const int32_t *to)
{
    (void)s;
    return to[0] == 3 ? INFINITY : -log(4);
}

START_TEST(log_q_must_be_numbers)
{
    const sal_sampler_descriptor bad[] = {
        { .name = "bad", .draw = lopsided_draw, .log_q = not_a_number },
        { .name = "worse", .draw = lopsided_draw, .log_q = too_much },
    };
    const sal_sampler_descriptor *const own[] = { &bad[0], &bad[1], NULL };
    sal_model *model = grid_model();
    sal_balance b;
    sal_error err;
    sal_run_options o = { .sampler = "bad", .own_samplers = own };
    ck_fails(sal_sampler_balance(model, &o, &b, NULL, &err), SAL_ERR_ARGUMENT, &err,
             "sampler 'bad': log_q from state number 2 to number 1 is nan");
    o.sampler = "worse";
    ck_fails(sal_sampler_balance(model, &o, &b, NULL, &err), SAL_ERR_ARGUMENT, &err,
             "sampler 'worse': log_q from state number 0 to number 3 is inf");
    sal_model_destroy(model);
}
END_TEST

/* Forbidden states have no mass: steps from them, where a start is repaired, are not looked at. */
START_TEST(forbidden_states_are_left_out)
{
    sal_sampler_info info;
    for (int s = 0; s < N_TINY_SPACES; s++) {
        sal_space *space = tiny_space_make(&tiny_spaces[s]);
        const bool small = states_count(space) <= 16;
        sal_model *model = small ? tiny_tables(space, SAL_F64) : NULL;
        for (int64_t k = 0; model && sal_sampler_list(k, &info); k++) {
            sal_run_options o = { .sampler = info.name, .draws = 60 };
            sal_balance b;
            sal_error err;
            sal_status status = sal_sampler_balance(model, &o, &b, NULL, &err);
            if (status == SAL_ERR_UNSUPPORTED) {
                continue;
            }
            ck_ok(status, &err);
            ck_assert_msg(isfinite(b.invariance) && isfinite(b.reversibility) &&
                              b.normalisation < 1e-12 && b.frequency < 4.5,
                          "%s over %s: %g %g %g, frequency %g", info.name, tiny_spaces[s].name,
                          b.invariance, b.reversibility, b.normalisation, b.frequency);
            ck_assert_msg(!info.exact || b.invariance < 1e-12, "%s over %s: %g", info.name,
                          tiny_spaces[s].name, b.invariance);
        }
        sal_model_destroy(model);
        sal_space_destroy(space);
    }
}
END_TEST

START_TEST(forbidden_states_propose_nothing)
{
    sal_space *space = tiny_space_make(tiny_space_named("label"));
    sal_model *model = tiny_tables(space, SAL_F64);
    int64_t n = states_count(space), refused = 0;
    sal_error err;
    for (int64_t i = 0; i < n; i++) {
        int32_t codes[TINY_MOST_REALS], to[TINY_MOST_REALS];
        double f;
        state_codes(space, i, codes);
        ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
        if (f == -INFINITY) {
            refused++;
            ck_fails(sal_sampler_log_q(model, NULL, codes, 1, codes, &f, &err), SAL_ERR_ARGUMENT,
                     &err, "from: the state is forbidden");
            ck_fails(sal_sampler_draw_proposals(model, NULL, codes, 1, to, &err), SAL_ERR_ARGUMENT,
                     &err, "from: the state is forbidden");
        }
    }
    ck_assert_int_gt(refused, 0);
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

START_TEST(allocation_failures_leave_nothing)
{
    sal_model *model = small_model("factors", SAL_F64);
    static const char *const names[] = { "own-gwg", "gwg:hops=2", "own-flips" };
    int32_t code[TINY_MOST_REALS] = { 0 }, to[2 * TINY_MOST_REALS], worst[2 * TINY_MOST_REALS];
    double log_q;
    sal_balance b;
    sal_error err;
    for (int k = 0; k < 2; k++) {
        sal_run_options o = { .sampler = names[k], .own_samplers = own_all, .draws = 2 };
        ck_alloc_sweep(sal_sampler_balance(model, &o, &b, worst, &err), (void)0);
        ck_alloc_sweep(sal_sampler_log_q(model, &o, code, 1, code, &log_q, &err), (void)0);
        ck_alloc_sweep(sal_sampler_draw_proposals(model, &o, code, 2, to, &err), (void)0);
    }
    sal_model_destroy(model);
}
END_TEST

static Suite *make(void)
{
    Suite *suite = suite_create("sampler_balance");
    TCase *tests = statistics_create("balance");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, own_samplers_are_right_and_propose_as_the_librarys);
    tcase_add_test(tests, wrong_samplers_are_found);
    tcase_add_test(tests, the_worst_pair_is_shown);
    tcase_add_test(tests, the_librarys_samplers_are_looked_at);
    tcase_add_test(tests, draws_of_proposals_follow_log_q);
    tcase_add_test(tests, draws_of_avg_are_what_its_integral_says);
    tcase_add_test(tests, what_cannot_be_looked_at_is_refused);
    tcase_add_test(tests, a_model_without_states_is_refused);
    tcase_add_test(tests, log_q_must_be_numbers);
    tcase_add_test(tests, forbidden_states_are_left_out);
    tcase_add_test(tests, forbidden_states_propose_nothing);
    tcase_add_test(tests, allocation_failures_leave_nothing);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return test_main(make());
}
