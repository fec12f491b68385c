/* SPDX-License-Identifier: MIT */
/* Steps of coupled chains: each chain of a pair moves by its sampler's kernel, whatever the state
 * of the other one, and pairs meet soon. */
#include "test.h"

#include <saltus/meeting.h>
#include "count_helpers.h"
#include "run/coupling/coupling.h"
#include "run_helpers.h"

enum { PAIRS = TEST_CHAINS(4000) };

/* ---- pairs at given states */

typedef struct pairs {
    sali_coupling coupling;
    int64_t tau[PAIRS];
} pairs;

static void open_pairs(sal_model *model, const char *sampler, uint64_t seed, pairs *p)
{
    const bool size = sali_sampler_find(sampler)->has_step_size;
    const sal_run_options options = {
        .sampler = sampler, .chains = PAIRS, .warmup = -1, .step_size = size ? 0.7 : 0, .threads = 1
    };
    sal_error err;
    ck_ok(sali_coupling_open(model, &options, seed, false, 1, p->tau, &p->coupling, &err), &err);
}

static void put(sal_run *run, const int32_t *codes)
{
    for (int64_t k = 0; k < run->n_shards; k++) {
        sali_chains *chains = run->shards[k].chains;
        const int64_t V = chains->space->n_variables;
        for (int64_t c = 0; c < chains->n; c++) {
            memcpy(chains->codes + c * V, codes, (size_t)V * sizeof *codes);
        }
        sali_chains_embed(chains);
    }
    sali_run_refresh(run);
}

/* One step of all pairs, from x and y [V]. */
static void step_from(pairs *p, const int32_t *x, const int32_t *y)
{
    put(p->coupling.x, x);
    put(p->coupling.y, y);
    for (int64_t k = 0; k < p->coupling.x->n_shards; k++) {
        sali_coupling_step(&p->coupling, k);
    }
}

/* Add the chains of a run to the counts of states; counts without a cap are below 4. */
static void count_states(const sal_run *run, double *counts)
{
    for (int64_t k = 0; k < run->n_shards; k++) {
        const sali_chains *chains = run->shards[k].chains;
        const int64_t V = chains->space->n_variables;
        for (int64_t c = 0; c < chains->n; c++) {
            int64_t state = 0;
            for (int64_t v = 0; v < V; v++) {
                const int32_t states = chains->space->variables[v].states;
                state = state * (states > 0 ? states : 4) + chains->codes[c * V + v];
            }
            counts[state]++;
        }
    }
}

/* ---- the law of each chain */

static const char *const samplers[] = { "gwg",        "gwg:radius=1", "lb",  "lsb1",
                                        "gwg:hops=2", "mh-uniform",   "ncg", "dlmc" };
#define N_SAMPLERS ((int)(sizeof samplers / sizeof *samplers))

static void check_row(const sal_run *run, const transition *P, int64_t from, const char *where)
{
    double counts[TINY_MOST_STATES] = { 0 }, expected[TINY_MOST_STATES];
    count_states(run, counts);
    for (int64_t j = 0; j < P->n; j++) {
        expected[j] = P->P[from * P->n + j] * PAIRS;
    }
    const double p = chi_square_p((int)P->n, counts, expected);
    ck_assert_msg(p > 1e-6, "%s: p = %g", where, p);
}

/* Chi-square of the states after one step against the row of the transition matrix. */
static void check_kernel(sal_model *model, const char *name, pairs *p, const char *where)
{
    const sali_sampler *sampler;
    sali_sampler_settings settings;
    sal_error err;
    int32_t x[TINY_MOST_REALS], y[TINY_MOST_REALS];
    const double size = sali_sampler_find(name)->has_step_size ? 0.7 : 0;
    ck_ok(sali_sampler_choose(name, model, size, &sampler, &settings, &err), &err);
    transition P = transition_make(sampler, model, &settings, 1, 0);
    open_pairs(model, name, 3, p);
    for (int64_t k = 0; k < 4; k++) { /* the last two: the same state, all codes different */
        const int64_t i = (5 + 31 * k) % P.n, j = k == 2 ? i : k == 3 ? P.n - 1 - i : 77 * k % P.n;
        state_codes(model->space, i, x);
        state_codes(model->space, j, y);
        step_from(p, x, y);
        check_row(p->coupling.x, &P, i, where);
        check_row(p->coupling.y, &P, j, where);
    }
    sali_coupling_close(&p->coupling);
    transition_free(&P);
}

START_TEST(each_chain_moves_by_its_kernel)
{
    pairs *p = malloc(sizeof *p);
    for (int s = 0; s < N_SAMPLERS; s++) {
        const char *space = tiny_spaces[_i].name;
        sal_model *model = tiny_formula_over(space, s % 2 == _i % 2 ? SAL_F32 : SAL_F64);
        char where[100];
        snprintf(where, sizeof where, "%s, %s", space, samplers[s]);
        if (sal_sampler_find(samplers[s], model, 0, NULL, NULL) == SAL_OK) {
            check_kernel(model, samplers[s], p, where);
        }
        sal_model_destroy(model);
    }
    free(p);
}
END_TEST

/* States after one step of coupled chains against those of chains by themselves, of which there are
 * 16 times as many. `n` states. */
static void check_alone(sal_model *model, const char *sampler, int n, const int32_t *x,
                        const int32_t *y)
{
    double counts[2][64] = { 0 }, expected[2][64] = { 0 };
    pairs *p = malloc(sizeof *p);
    open_pairs(model, sampler, 3, p);
    step_from(p, x, y);
    count_states(p->coupling.x, counts[0]);
    count_states(p->coupling.y, counts[1]);
    for (int64_t k = 0; k < p->coupling.x->n_shards; k++) {
        p->coupling.x->shards[k].chains->partner = p->coupling.y->shards[k].chains->partner = NULL;
    }
    for (int round = 0; round < 16; round++) {
        step_from(p, x, y);
        count_states(p->coupling.x, expected[0]);
        count_states(p->coupling.y, expected[1]);
    }
    for (int chain = 0; chain < 2; chain++) {
        for (int i = 0; i < n; i++) {
            expected[chain][i] /= 16;
            counts[chain][i] *= expected[chain][i] > 0;
        }
        const double value = chi_square_p(n, counts[chain], expected[chain]);
        ck_assert_msg(value > 1e-6, "%s, chain %d: p = %g", sampler, chain, value);
    }
    sali_coupling_close(&p->coupling);
    free(p);
}

START_TEST(chains_without_a_matrix_move_as_chains_by_themselves)
{
    static const char *const names[] = { "gwg", "lb", "dlmc", "avg", "pavg" };
    static const int32_t low[] = { 0, 1, 2 }, high[] = { 2, 2, 1 };
    static const int32_t up[] = { 1, 1, 0, 1 }, down[] = { 0, 1, 1, 0 };
    sal_model *spins = tiny_formula_over("spin", SAL_F64);
    sal_model *counts = builtin("formula:n: count[3]; sum(i: 0.3 n[i] - lgamma(n[i] + 1)) - 0.2 "
                                "n[0] n[1]",
                                SAL_F64);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if (sal_sampler_find(names[k], counts, 0, NULL, NULL) == SAL_OK) {
            check_alone(counts, names[k], 64, low, high);
        }
        check_alone(spins, names[k], 16, up, down);
    }
    sal_model_destroy(spins);
    sal_model_destroy(counts);
}
END_TEST

/* ---- meetings */

static double median_of(sal_model *model, const char *sampler)
{
    const sal_run_options options = { .sampler = sampler, .warmup = 500 };
    sal_meeting r;
    sal_error err;
    ck_ok(sal_meeting_times(model, &options, NULL, NULL, &r, &err), &err);
    ck_assert_msg(r.not_met == 0, "%s: %d pairs did not meet", sampler, (int)r.not_met);
    return r.median;
}

/* In a model whose halves are symmetric, pairs meet about as soon as those of gibbs. */
START_TEST(pairs_meet_as_soon_as_those_of_gibbs)
{
    static const char *const one[] = { "gwg", "lb", "lsb1" };
    static const char *const all[] = { "ncg", "dlmc", "dlmcf", "mana", "avg", "pavg" };
    sal_model *model = builtin("ising:side=4,theta=0.1", SAL_F32);
    const double gibbs = median_of(model, "gibbs");
    for (size_t k = 0; k < sizeof one / sizeof *one; k++) {
        ck_assert_msg(median_of(model, one[k]) < 2 * gibbs, "%s", one[k]);
    }
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        ck_assert_msg(median_of(model, all[k]) < gibbs, "%s", all[k]);
    }
    sal_model_destroy(model);
}
END_TEST

/* Spins without a model, of which every accepted step flips one: those of a pair that differ in an
 * odd number meet, as one chain stays. */
START_TEST(odd_numbers_of_different_spins_meet)
{
    sal_model *model = builtin("ising:side=3,theta=0", SAL_F64);
    ck_assert(median_of(model, "lb") <= 20);
    sal_model_destroy(model);
}
END_TEST

/* One variable: both chains propose the same code with the greatest probability. */
START_TEST(one_variable_meets_as_often_as_it_can)
{
    sal_model *model = builtin("formula:x: spin[1]; 0.4 x[0]", SAL_F64);
    const sali_sampler *sampler;
    sali_sampler_settings settings;
    sal_error err;
    const int32_t low = 0, high = 1;
    double met = 0;
    pairs *p = malloc(sizeof *p);
    ck_ok(sali_sampler_choose("ncg", model, 0.7, &sampler, &settings, &err), &err);
    transition P = transition_make(sampler, model, &settings, 1, 0);
    open_pairs(model, "ncg", 3, p);
    for (int64_t k = 0; k < p->coupling.x->n_shards; k++) {
        p->coupling.x->shards[k].chains->take_all = p->coupling.y->shards[k].chains->take_all =
            true;
    }
    step_from(p, &low, &high);
    for (int64_t k = 0; k < p->coupling.x->n_shards; k++) {
        for (int64_t c = 0; c < p->coupling.x->shards[k].chains->n; c++) {
            met += sali_coupling_is_met(&p->coupling, k, c);
        }
    }
    const double most = 1 - fabs(exp(P.log_q[1]) - exp(P.log_q[3]));
    ck_assert_double_eq_tol(met / PAIRS, most, 4 * sqrt(most * (1 - most) / PAIRS));
    sali_coupling_close(&p->coupling);
    transition_free(&P);
    free(p);
    sal_model_destroy(model);
}
END_TEST

static Suite *make(void)
{
    Suite *suite = suite_create("coupled");
    TCase *tc = tcase_create("coupled");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, each_chain_moves_by_its_kernel, 0, N_TINY_SPACES);
    tcase_add_test(tc, chains_without_a_matrix_move_as_chains_by_themselves);
    tcase_add_test(tc, pairs_meet_as_soon_as_those_of_gibbs);
    tcase_add_test(tc, odd_numbers_of_different_spins_meet);
    tcase_add_test(tc, one_variable_meets_as_often_as_it_can);
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void)
{
    return test_main(make());
}
