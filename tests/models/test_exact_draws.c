/* SPDX-License-Identifier: MIT */
/* Draws of the oracles against exact probabilities. */
#include <math.h>
#include <saltus/saltus.h>

#include "alloc_fail.h"
#include "chi_square.h"
#include "elimination_helpers.h"
#include "models/exact/exact.h"
#include "models/states.h"
#include "rbm_formula.h"

/* Below this a test fails: of some hundred tests with fixed seeds, one in 10^4 would by chance. */
#define LEAST_P 1e-6
#define DRAWS 100000

static int32_t codes[DRAWS * 20], others[DRAWS * 20];

static bool draws_of(const sal_model *model, const char *oracle, int64_t n, sal_exact *exact)
{
    const sal_exact_options options = { .oracle = oracle };
    sal_error err;
    const sal_status status = sal_model_exact_draws(model, &options, n, 7, codes, exact, &err);
    ck_assert_msg(status == SAL_OK || status == SAL_ERR_UNSUPPORTED, "%s", err.message);
    return status == SAL_OK;
}

/* Draw from a model by an oracle, if that can serve it, and compare the numbers of all states with
 * their probabilities, and the figures with the oracle's answers. */
static int check_states(const sal_model *model, const char *oracle)
{
    const sal_space *space = sal_model_space(model);
    const int64_t count = (int64_t)sali_states_count(space), V = sal_space_variables(space);
    const sal_exact_options options = { .oracle = oracle };
    sal_exact exact, answer;
    sal_error err;
    double log_z;
    if (!draws_of(model, oracle, DRAWS, &exact)) {
        return 0;
    }
    double *expected = new_numbers(count), *observed = new_numbers(count);
    ck_ok(sali_enumerate_table(model, count, 1, expected, &log_z, &err), &err);
    for (int64_t i = 0; i < count; i++) {
        expected[i] = DRAWS * exp(expected[i]);
        observed[i] = 0;
    }
    for (int64_t d = 0; d < DRAWS; d++) {
        observed[sali_states_index(space, codes + d * V)]++;
    }
    const double p = chi_square_p((int)count, observed, expected);
    ck_assert_msg(p > LEAST_P, "%s by %s: p = %g", sal_model_name(model), oracle, p);
    ck_ok(sal_model_exact(model, &options, &answer, NULL, NULL, NULL, &err), &err);
    ck_assert_str_eq(exact.oracle, oracle);
    ck_assert_double_eq_tol(exact.log_z, answer.log_z, 1e-10 * (1 + fabs(log_z)));
    ck_assert(isnan(answer.log_prob_mean) == isnan(exact.log_prob_mean));
    if (!isnan(answer.log_prob_mean)) {
        ck_assert_double_eq_tol(exact.log_prob_mean, answer.log_prob_mean,
                                1e-9 * (1 + fabs(log_z)));
    }
    free(expected);
    free(observed);
    return 1;
}

static const char *const oracles[] = { "enumeration", "elimination", "closed form",
                                       "enumeration of hidden units" };
#define N_ORACLES ((int)(sizeof oracles / sizeof *oracles))

START_TEST(frequencies_of_states_are_their_probabilities)
{
    int served[N_ORACLES] = { 0 };
    for (int s = 0; s < N_TINY_SPACES; s++) {
        sal_space *space = tiny_space_make(&tiny_spaces[s]);
        for (int m = 0; m < N_TINY_MODELS; m++) {
            sal_model *model = tiny_models[m].make(space, SAL_F64);
            for (int k = 0; model && k < N_ORACLES; k++) {
                served[k] += check_states(model, oracles[k]);
            }
            sal_model_destroy(model);
        }
        sal_model *rbm = rbm_over(space, 8, 0.8, SAL_F64);
        served[3] += check_states(rbm, oracles[3]);
        sal_model_destroy(rbm);
        sal_space_destroy(space);
    }
    for (int b = 0; b < N_TINY_BUILTINS; b++) {
        sal_model *model = tiny_builtin(b, SAL_F64);
        for (int k = 0; k < N_ORACLES; k++) {
            served[k] += check_states(model, oracles[k]);
        }
        sal_model_destroy(model);
    }
    sal_model *independent = open_model("categorical:dim=3,states=3");
    served[2] += check_states(independent, "closed form");
    sal_model_destroy(independent);
    ck_assert_int_ge(served[0], 30);
    ck_assert_int_ge(served[1], 15);
    ck_assert_int_ge(served[2], 2);
    ck_assert_int_eq(served[3], N_TINY_SPACES + 2); /* two RBMs are ready-made */
}
END_TEST

/* A network of 12 variables of 2, 3 and 4 states, with factors of two and three variables. */
static sal_model *network(void)
{
    enum { V = 12, FACTORS = 18 };
    int32_t states[V];
    int64_t begin[FACTORS + 1] = { 0 }, scope[3 * FACTORS], size = 0;
    double tables[3000];
    sal_model *model = NULL;
    sal_error err;
    for (int v = 0; v < V; v++) {
        states[v] = 2 + v % 3;
    }
    for (int m = 0; m < FACTORS; m++) {
        const int n = m < V ? 2 : 3, first = m % V;
        int64_t entries = 1;
        for (int k = 0; k < n; k++) {
            const int v = (first + k * (m < V ? 1 : 3)) % V;
            scope[begin[m] + k] = v;
            entries *= states[v];
        }
        begin[m + 1] = begin[m] + n;
        for (int64_t e = 0; e < entries; e++) {
            tables[size++] = 3 * uniform() - 1.5;
        }
    }
    ck_ok(sal_model_from_factors(V, states, FACTORS, begin, scope, tables, SAL_F64, &model, &err),
          &err);
    return model;
}

START_TEST(pairs_by_elimination_are_those_of_the_model)
{
    sal_model *model = network();
    const sal_space *space = sal_model_space(model);
    int64_t begin[13] = { 0 };
    sal_error err;
    sal_exact exact;
    for (int v = 0; v < 12; v++) {
        begin[v + 1] = begin[v] + sal_space_states(space, v);
    }
    const int64_t R = begin[12];
    double *pairs = new_numbers(R * R);
    ck_ok(sal_model_exact(model, &by_elimination, &exact, NULL, pairs, NULL, &err), &err);
    ck_assert(draws_of(model, "elimination", DRAWS, &exact));
    ck_assert_int_ge(exact.width, 3);
    for (int i = 0; i < 12; i++) {
        for (int j = 0; j < i; j++) {
            const int I = (int)sal_space_states(space, i), J = (int)sal_space_states(space, j);
            double observed[16] = { 0 }, expected[16];
            for (int a = 0; a < I * J; a++) {
                expected[a] = DRAWS * pairs[(begin[i] + a / J) * R + begin[j] + a % J];
            }
            for (int64_t d = 0; d < DRAWS; d++) {
                observed[codes[12 * d + i] * J + codes[12 * d + j]]++;
            }
            const double p = chi_square_p(I * J, observed, expected);
            ck_assert_msg(p > LEAST_P, "variables %d and %d: p = %g", i, j, p);
        }
    }
    free(pairs);
    sal_model_destroy(model);
}
END_TEST

/* Spins in a row with strong couplings, whose ends point in opposite directions: exp(-20) of the
 * whole, so that no draw of the whole model would ever meet it. */
START_TEST(evidence_may_be_improbable)
{
    sal_model *model = NULL, *clamped = NULL;
    const int32_t states[5] = { 2, 2, 2, 2, 2 }, ends[] = { 0, 1 };
    const int64_t scope[] = { 0, 1, 1, 2, 2, 3, 3, 4 }, begin[] = { 0, 2, 4, 6, 8 };
    const int64_t variables[] = { 0, 4 };
    double tables[16];
    sal_error err;
    for (int k = 0; k < 16; k++) {
        tables[k] = k % 4 == 0 || k % 4 == 3 ? 22 + 0.1 * (k / 4) : 0;
    }
    ck_ok(sal_model_from_factors(5, states, 4, begin, scope, tables, SAL_F64, &model, &err), &err);
    ck_ok(sal_model_clamp(model, 2, variables, ends, &clamped, &err), &err);
    sal_exact whole, part;
    ck_ok(sal_model_exact(model, NULL, &whole, NULL, NULL, NULL, &err), &err);
    ck_ok(sal_model_exact(clamped, NULL, &part, NULL, NULL, NULL, &err), &err);
    ck_assert_double_lt(part.log_z - whole.log_z, log(1e-8));
    for (int k = 0; k < 2; k++) {
        ck_assert_int_eq(check_states(clamped, oracles[k]), 1);
    }
    sal_model_destroy(clamped);
    sal_model_destroy(model);
}
END_TEST

START_TEST(forbidden_states_are_not_drawn)
{
    sal_model *model = NULL;
    const int32_t states[] = { 3, 3 };
    const int64_t scope[] = { 0, 1 }, begin[] = { 0, 2 };
    double tables[9];
    sal_error err;
    sal_exact exact;
    for (int k = 0; k < 9; k++) {
        tables[k] = k == 1 || k == 6 ? 0 : k == 8 ? -700 : -INFINITY;
    }
    ck_ok(sal_model_from_factors(2, states, 1, begin, scope, tables, SAL_F64, &model, &err), &err);
    for (int k = 0; k < 2; k++) {
        ck_assert(draws_of(model, oracles[k], DRAWS, &exact));
        for (int64_t d = 0; d < DRAWS; d++) {
            const int32_t state = 3 * codes[2 * d] + codes[2 * d + 1];
            ck_assert(state == 1 || state == 6);
        }
    }
    sal_model_destroy(model);
}
END_TEST

START_TEST(draws_depend_on_seed_and_number_only)
{
    sal_model *models[] = { network(), open_model("ising:side=3,theta=0.3"),
                            open_model("mixture:dim=4,states=3,components=3"),
                            open_model("rbm:visible=15,hidden=9") };
    const char *const by[] = { "elimination", "enumeration", "closed form", oracles[3] };
    sal_error err;
    for (int m = 0; m < 4; m++) {
        const size_t V = (size_t)sal_space_variables(sal_model_space(models[m]));
        sal_exact_options options = { .oracle = by[m], .threads = 1 };
        ck_ok(sal_model_exact_draws(models[m], &options, 3001, 3, codes, NULL, &err), &err);
        for (int k = 0; k < 3; k++) {
            const int64_t n = k == 2 ? 130 : 3001;
            options.threads = k == 0 ? 2 : 5;
            ck_ok(sal_model_exact_draws(models[m], &options, n, 3, others, NULL, &err), &err);
            ck_assert(memcmp(codes, others, (size_t)n * V * sizeof *codes) == 0);
        }
        ck_ok(sal_model_exact_draws(models[m], &options, 3001, 4, others, NULL, &err), &err);
        ck_assert(memcmp(codes, others, 3001 * V * sizeof *codes) != 0);
        sal_model_destroy(models[m]);
    }
}
END_TEST

/* Chains are drawn by elimination, mixtures in closed form, and RBMs by their hidden units if those
 * are few, whatever the number of states. */
START_TEST(the_cheapest_oracle_that_draws_is_chosen)
{
    static const char *const cases[][2] = {
        { "hmm:length=20,states=3", "elimination" },
        { "fhmm:length=6,factors=3", "elimination" },
        { "mixture:dim=20,states=4,components=3", "closed form" },
        { "bernoulli:dim=20", "closed form" },
        { "ising-dense:dim=10", "enumeration" },
        { "rbm:visible=12,hidden=5", "enumeration" },
        { "rbm:visible=20,hidden=5", "enumeration of hidden units" },
        { "rbm:visible=20,hidden=30", "enumeration" },
    };
    for (int k = 0; k < 8; k++) {
        sal_model *model = open_model(cases[k][0]);
        sal_exact exact;
        ck_assert(draws_of(model, NULL, 100, &exact));
        ck_assert_str_eq(exact.oracle, cases[k][1]);
        sal_model_destroy(model);
    }
}
END_TEST

START_TEST(what_cannot_be_drawn_is_refused)
{
    sal_model *counts = open_model("poisson:dim=3"), *chain = open_model("hmm:length=5");
    sal_model *wide = open_model("ising-dense:dim=60"), *narrow = open_model("fhmm:factors=9");
    sal_exact exact = { .log_z = 5 };
    sal_error err;
    codes[0] = -7;
    ck_fails(sal_model_exact_draws(counts, NULL, 1, 0, codes, &exact, &err), SAL_ERR_UNSUPPORTED,
             &err, "no exact draws");
    ck_fails(sal_model_exact_draws(wide, NULL, 1, 0, codes, &exact, &err), SAL_ERR_UNSUPPORTED,
             &err, "width");
    ck_fails(sal_model_exact_draws(chain, &(sal_exact_options){ .oracle = "forward-backward" }, 1,
                                   0, codes, &exact, &err),
             SAL_ERR_UNSUPPORTED, &err, "it makes no draws");
    ck_fails(sal_model_exact_draws(narrow, &(sal_exact_options){ .memory = 100000 }, 1, 0, codes,
                                   &exact, &err),
             SAL_ERR_UNSUPPORTED, &err, "memory");
    ck_fails(sal_model_exact_draws(chain, NULL, 0, 0, codes, &exact, &err), SAL_ERR_ARGUMENT, &err,
             "0 draws");
    ck_fails(sal_model_exact_draws(chain, NULL, 1, 0, NULL, &exact, &err), SAL_ERR_ARGUMENT, &err,
             "codes are NULL");
    ck_fails(sal_model_exact_draws(NULL, NULL, 1, 0, codes, &exact, &err), SAL_ERR_ARGUMENT, &err,
             "the model is NULL");
    ck_assert(codes[0] == -7 && exact.log_z == 5);
    sal_model_destroy(counts);
    sal_model_destroy(wide);
    sal_model_destroy(narrow);
    sal_model_destroy(chain);
}
END_TEST

/* Set codes to marks; after a failure they must be there still. */
static sal_status draw_anew(const sal_model *model, const char *oracle)
{
    const sal_exact_options options = { .oracle = oracle, .threads = 1 };
    sal_error err;
    codes[0] = -7;
    const sal_status status = sal_model_exact_draws(model, &options, 200, 0, codes, NULL, &err);
    ck_assert((status == SAL_OK) == (codes[0] != -7));
    return status;
}

START_TEST(allocation_failures_are_reported)
{
    sal_model *models[] = { open_model("ising:side=2"), open_model("ising:side=2"),
                            open_model("mixture:dim=3,states=2,components=2"),
                            open_model("rbm:visible=3,hidden=2") };
    for (int m = 0; m < 4; m++) {
        ck_alloc_sweep(draw_anew(models[m], oracles[m]), (void)0);
        sal_model_destroy(models[m]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exact_draws");
    TCase *tcase = tcase_create("exact_draws");
    tcase_add_test(tcase, frequencies_of_states_are_their_probabilities);
    tcase_add_test(tcase, pairs_by_elimination_are_those_of_the_model);
    tcase_add_test(tcase, evidence_may_be_improbable);
    tcase_add_test(tcase, forbidden_states_are_not_drawn);
    tcase_add_test(tcase, draws_depend_on_seed_and_number_only);
    tcase_add_test(tcase, the_cheapest_oracle_that_draws_is_chosen);
    tcase_add_test(tcase, what_cannot_be_drawn_is_refused);
    tcase_add_test(tcase, allocation_failures_are_reported);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
