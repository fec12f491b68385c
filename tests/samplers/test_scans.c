/* SPDX-License-Identifier: MIT */
/* Sweeps in new orders: orders are uniform, each sweep has every variable once, each step is the
 * exact conditional of its block, and nothing but the seed and the sweep decides. (Balance, steps,
 * resuming and unlike chains: with all other samplers.) */
#include "test.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "alloc_fail.h"
#include "chi_square.h"
#include "core/object.h"
#include "run_helpers.h"
#include "samplers/blocks/shuffle.h"
#include "transition.h"

#define TOLERANCE 1e-12
#define P_LEAST 1e-6

static sal_model *builtin(const char *specification)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(specification, SAL_F64, &model, &err), &err);
    return model;
}

/* ---- the orders */

/* The number of a permutation of 4 items, 0 .. 23. */
static int number_of(const int64_t *order)
{
    int number = 0;
    for (int i = 0; i < 4; i++) {
        int below = 0;
        for (int j = i + 1; j < 4; j++) {
            below += order[j] < order[i];
        }
        number = number * (4 - i) + below;
    }
    return number;
}

/* All permutations of 4, and all pairs of those of a sweep and the next one, are equally likely; no
 * chain and no earlier question matters. */
START_TEST(orders_are_uniform_and_independent)
{
    enum { SWEEPS = 60000, ALL = 24 };
    static double counts[ALL], expected[ALL], pairs[ALL * ALL], expected_pairs[ALL * ALL];
    void *owner = sali_object(1);
    sali_chains chains = { .n = 3, .seed = 17 };
    sali_shuffle *s = sali_shuffle_open(owner, &chains, 4);
    ck_assert(!sali_object_failed(owner));
    int last = -1;
    for (uint64_t sweep = 0; sweep < SWEEPS; sweep++) {
        int64_t order[4];
        memcpy(order, sali_shuffle_order(s, 0, sweep), sizeof order);
        int number = number_of(order);
        counts[number]++;
        if (last >= 0) {
            pairs[last * ALL + number]++;
        }
        last = number;
        ck_assert_int_eq(memcmp(order, sali_shuffle_order(s, 2, sweep), sizeof order), 0);
        sali_shuffle_order(s, 1, sweep * 7 + 1);
        sali_shuffle_order(s, 0, sweep + 5);
        ck_assert_int_eq(memcmp(order, sali_shuffle_order(s, 1, sweep), sizeof order), 0);
    }
    for (int k = 0; k < ALL * ALL; k++) {
        expected[k % ALL] = (double)SWEEPS / ALL;
        expected_pairs[k] = (double)(SWEEPS - 1) / (ALL * ALL);
    }
    ck_assert_double_gt(chi_square_p(ALL, counts, expected), P_LEAST);
    ck_assert_double_gt(chi_square_p(ALL * ALL, pairs, expected_pairs), P_LEAST);
    sali_object_free(owner);
}
END_TEST

/* A refresh with another seed gives the orders of that seed. */
START_TEST(orders_follow_the_seed)
{
    enum { N = 50 };
    void *owner = sali_object(1);
    sali_chains chains = { .n = 1, .seed = 17 };
    sali_shuffle *used = sali_shuffle_open(owner, &chains, N);
    sali_shuffle_order(used, 0, 3);
    chains.seed = 18;
    sali_shuffle *fresh = sali_shuffle_open(owner, &chains, N);
    const size_t bytes = N * sizeof(int64_t);
    ck_assert(!sali_object_failed(owner));
    ck_assert(memcmp(used->order, sali_shuffle_order(fresh, 0, 3), bytes) != 0);
    sali_shuffle_refresh(used, &chains);
    ck_assert(memcmp(sali_shuffle_order(used, 0, 3), sali_shuffle_order(fresh, 0, 3), bytes) == 0);
    sali_object_free(owner);
}
END_TEST

/* ---- what a step is */

/* Which variables step number `step` draws: the matrix is their joint conditional exactly, and no
 * smaller set has it. Returns them as bits. */
static unsigned drawn_at(const sali_sampler *sampler, const sal_model *model,
                         const sali_sampler_settings *settings, uint64_t step, const char *where)
{
    const sal_space *space = model->space;
    int32_t from[TINY_MOST_REALS], to[TINY_MOST_REALS];
    unsigned moved = 0;
    transition t = transition_make(sampler, model, settings, 1, step);
    for (int64_t k = 0; k < t.n * t.n; k++) {
        state_codes(space, k / t.n, from);
        state_codes(space, k % t.n, to);
        for (int64_t v = 0; t.P[k] > 0 && v < space->n_variables; v++) {
            moved |= from[v] != to[v] ? 1u << v : 0;
        }
    }
    for (int64_t i = 0; i < t.n; i++) {
        double expected[TINY_MOST_STATES], sum = 0;
        state_codes(space, i, from);
        for (int64_t j = 0; j < t.n; j++) {
            bool reached = true;
            state_codes(space, j, to);
            for (int64_t v = 0; v < space->n_variables; v++) {
                reached &= (moved >> v & 1) || from[v] == to[v];
            }
            sum += expected[j] = reached ? t.pi[j] : 0;
        }
        for (int64_t j = 0; t.pi[i] > 0 && j < t.n; j++) {
            ck_assert_msg(fabs(t.P[i * t.n + j] - expected[j] / sum) < TOLERANCE,
                          "%s: step %d from %d to %d: %.15g, expected %.15g", where, (int)step,
                          (int)i, (int)j, t.P[i * t.n + j], expected[j] / sum);
        }
    }
    transition_free(&t);
    return moved;
}

static int bits_of(unsigned set)
{
    int n = 0;
    for (; set; set >>= 1) {
        n += set & 1;
    }
    return n;
}

/* In each of `sweeps` sweeps every variable is drawn once, in blocks of `size` (the last one of
 * what is left); in all of them together `sets` different sets of variables are. */
static void check_sweeps(const char *specification, const sal_model *model, int size, int sweeps,
                         int sets)
{
    const sali_sampler *sampler = NULL;
    sali_sampler_settings settings;
    sal_error err;
    bool seen[256] = { false };
    int64_t V = model->space->n_variables, pieces = (V - 1) / size + 1;
    int different = 0, orders = 0;
    unsigned first = 0;
    ck_ok(sali_sampler_choose(specification, model, 0, &sampler, &settings, &err), &err);
    ck_assert_int_eq(pieces_of(sampler, model, &settings), pieces);
    for (int sweep = 0; sweep < sweeps; sweep++) {
        unsigned all = 0;
        for (int64_t k = 0; k < pieces; k++) {
            unsigned set =
                drawn_at(sampler, model, &settings, (uint64_t)(sweep * pieces + k), specification);
            ck_assert_msg((all & set) == 0, "%s: a variable twice in a sweep", specification);
            all |= set;
            different += !seen[set];
            seen[set] = true;
            orders += sweep > 0 && k == 0 && set != first;
            first = k == 0 ? set : first;
        }
        ck_assert_int_eq(bits_of(all), V);
    }
    ck_assert_msg(different == sets, "%s: %d sets, expected %d", specification, different, sets);
    ck_assert_msg(orders > 0, "%s: all sweeps begin alike", specification);
}

/* Of 4 bits, of 6, and of 2 variables with 4 states. */
START_TEST(sweeps_have_every_variable_once)
{
    sal_model *bits = tiny_formula_over("binary", SAL_F64);
    sal_model *fhmm = builtin("fhmm:length=3,factors=2,sigma=0.8,p=0.7,v=0.3,seed=5");
    sal_model *grid = tiny_formula_over("grid", SAL_F64);
    check_sweeps("gibbs:scan=shuffled", bits, 1, 12, 4);
    check_sweeps("gibbs:scan=shuffled", grid, 1, 12, 2);
    check_sweeps("gibbs:block=2,scan=shuffled", bits, 2, 12, 2);
    check_sweeps("gibbs:block=2,blocks=random", bits, 2, 30, 6);  /* all 4 over 2 */
    check_sweeps("gibbs:block=3,blocks=random", bits, 3, 30, 8);  /* of 3, and of the rest */
    check_sweeps("gibbs:block=2,blocks=random", fhmm, 2, 40, 15); /* 6 over 2 */
    check_sweeps("hamming-ball:block=2,radius=2,blocks=random", bits, 2, 30, 6);
    check_sweeps("hamming-ball:block=2,radius=2,scan=shuffled", fhmm, 2, 12, 3);
    check_sweeps("block-gibbs:scan=shuffled", fhmm, 3, 12, 2); /* the two hidden chains */
    sal_model_destroy(bits);
    sal_model_destroy(fhmm);
    sal_model_destroy(grid);
}
END_TEST

/* Of variables with unlike numbers of states, too: there is room for the block of the largest. */
START_TEST(random_blocks_of_unlike_variables_are_conditionals)
{
    sal_model *mixed = tiny_formula_over("mixed", SAL_F64);
    const sali_sampler *sampler = NULL;
    sali_sampler_settings settings;
    sal_error err;
    unsigned all = 0;
    ck_ok(sali_sampler_choose("gibbs:block=2,blocks=random", mixed, 0, &sampler, &settings, &err),
          &err);
    for (uint64_t step = 0; step < 16; step++) {
        all |= drawn_at(sampler, mixed, &settings, step, "mixed");
    }
    ck_assert_int_eq(bits_of(all), mixed->space->n_variables - 1); /* one has one state */
    sal_model_destroy(mixed);
}
END_TEST

/* ---- runs */

static const char *const scans[] = {
    "gibbs:scan=shuffled",         "gibbs:block=2,blocks=random",
    "gibbs:block=2,scan=shuffled", "hamming-ball:block=3,blocks=random",
    "block-gibbs:scan=shuffled",   "block-gibbs:scan=random"
};

static bool same_draws(const sal_run *a, const sal_run *b)
{
    int64_t chains, draws, V;
    int bytes_a, bytes_b;
    sal_run_size(a, &chains, &draws, &V);
    const void *draws_a = sal_run_draws(a, &bytes_a), *draws_b = sal_run_draws(b, &bytes_b);
    ck_assert_int_eq(bytes_a, 1);
    ck_assert_int_eq(bytes_b, 1);
    return memcmp(draws_a, draws_b, (size_t)(chains * draws * V)) == 0;
}

/* Chains of several shards: the same for any number of threads, other ones for another seed; their
 * last states are draws from the model. */
START_TEST(runs_are_right_and_do_not_depend_on_threads)
{
    sal_model *model = builtin("ising:side=2,theta=0.2,bias=0.3");
    sal_run *runs[3];
    for (int t = 0; t < 3; t++) {
        const sal_run_options options = { .sampler = scans[_i],
                                          .chains = TEST_CHAINS(1000),
                                          .draws = 30,
                                          .warmup = 40,
                                          .record.draws = true,
                                          .seed = t == 2 ? 6 : 5,
                                          .threads = t == 1 ? 3 : 1 };
        runs[t] = run_it(model, &options);
    }
    ck_assert(same_draws(runs[0], runs[1]));
    ck_assert(!same_draws(runs[0], runs[2]));
    ck_assert_double_gt(last_states_p(model, runs[0]), P_LEAST);
    for (int t = 0; t < 3; t++) {
        sal_run_destroy(runs[t]);
    }
    sal_model_destroy(model);
}
END_TEST

/* ---- refusals */

static void check_refused(const char *sampler, const char *text)
{
    sal_model *model = builtin("ising:side=3");
    sal_run *run = NULL;
    sal_error err;
    ck_fails(
        sal_sample(model,
                   &(sal_run_options){ .sampler = sampler, .chains = 2, .warmup = 1, .draws = 1 },
                   &run, &err),
        SAL_ERR_UNSUPPORTED, &err, text);
    sal_model_destroy(model);
}

START_TEST(what_does_not_go_together_is_refused)
{
    check_refused("gibbs:block=2,scan=random", "take scan=systematic, scan=shuffled");
    check_refused("gibbs:block=2,scan=adaptive", "take scan=systematic, scan=shuffled");
    check_refused("gibbs:blocks=random", "needs a block of 2 or more");
}
END_TEST

/* A shard that had no memory for a pairwise scan at its refresh steps by other ways until the next
 * one, also when it recomputes f: no allocation that fails makes f or states go wrong. */
START_TEST(steps_go_on_in_their_way_when_f_is_recomputed)
{
    enum { CHAINS = 3 };
    const sali_sampler_settings settings = { .values = { 0, 1 } };
    for (int64_t n = 1, failed = 1; failed; n++) {
        sal_model *model = builtin("ising:side=3,theta=0.1");
        bench b = bench_open(sali_sampler_find("gibbs"), model, &settings, 1, CHAINS, 65536 - 5);
        const double theta = 0.3;
        double f[CHAINS];
        sal_error err;
        ck_ok(sal_model_set_params(model, "theta", &theta, &err), &err);
        alloc_fail_at(n);
        sali_engine(b.sampler)->refresh(b.self, b.chains);
        failed = alloc_failed();
        alloc_fail_at(0);
        for (int k = 0; k < 5; k++) { /* each call is less than a sweep */
            sali_engine(b.sampler)->steps(b.self, b.chains, 4);
            ck_ok(sal_model_evaluate(model, CHAINS, b.chains->codes, f, NULL, NULL, &err), &err);
            for (int64_t c = 0; c < CHAINS; c++) {
                ck_assert_msg(fabs(b.chains->f[c] - f[c]) < TOLERANCE,
                              "allocation %d: %g, expected %g", (int)n, b.chains->f[c], f[c]);
            }
        }
        bench_close(&b);
        sal_model_destroy(model);
    }
}
END_TEST

static Suite *scans_suite(void)
{
    Suite *suite = suite_create("scans");
    TCase *tcase = tcase_create("sweeps");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, orders_are_uniform_and_independent);
    tcase_add_test(tcase, orders_follow_the_seed);
    tcase_add_test(tcase, sweeps_have_every_variable_once);
    tcase_add_test(tcase, random_blocks_of_unlike_variables_are_conditionals);
    tcase_add_loop_test(tcase, runs_are_right_and_do_not_depend_on_threads, 0, 6);
    tcase_add_test(tcase, what_does_not_go_together_is_refused);
    tcase_add_test(tcase, steps_go_on_in_their_way_when_f_is_recomputed);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(scans_suite());
}
