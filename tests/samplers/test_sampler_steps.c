/* SPDX-License-Identifier: MIT */
/* What the step of every sampler does: simulated transitions against the exact matrix, and caches
 * that agree with the state after many steps. */
#include "test.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "chi_square.h"
#include "models/structure/couplings.h"
#include "transition.h"

/* ---- frequencies of single steps */

/* Chains of a case, shared out among the starting states; the suite `slow` has more. Float repeats
 * the cases of double, to test its kernels. */
static int64_t chains_of(const contract_case *k)
{
    int all = getenv("SALTUS_SLOW") ? 5000 : 2000;
    return TEST_CHAINS(k->model->dtype == SAL_F64 ? all : all / 2);
}

#define MOST_REPLICAS 1000
/* The seed is fixed, so a case passes always or never. A correct step fails the smallest of the n
 * p-values of a case (n starting states) at P_LEAST / n with probability P_LEAST over the choice of
 * seed, and likewise Fisher's sum of all of them; with about 700 matrices a correct library had a
 * chance of about 1e-3 to meet an unlucky seed. */
#define P_LEAST 1e-6

static void compare_frequencies(const transition *t, const double *counts, int64_t replicas,
                                const char *where)
{
    double fisher = 0, rows = 0;
    double *expected = calloc((size_t)t->n, sizeof *expected);
    for (int64_t i = 0; i < t->n; i++) {
        if (t->pi[i] == 0) {
            continue; /* chains never are in a forbidden state */
        }
        for (int64_t j = 0; j < t->n; j++) { /* 1 minus a sum: rounding is not a possible move */
            double p = t->P[i * t->n + j];
            expected[j] = p > 1e-12 ? p * (double)replicas : 0;
        }
        double p = chi_square_p((int)t->n, counts + i * t->n, expected);
        ck_assert_msg(p > P_LEAST / (double)t->n, "%s: from state %d: p = %g", where, (int)i, p);
        fisher -= 2 * log(p);
        rows++;
    }
    double p = chi_square_survival(2 * rows, fisher);
    ck_assert_msg(p > P_LEAST, "%s: all states together: p = %g", where, p);
    free(expected);
}

/* Step number `step` of the sampler, from every state. */
static void check_step(const contract_case *k, uint64_t step)
{
    int64_t n = states_count(k->model->space), V = k->model->space->n_variables;
    int64_t share = chains_of(k) / n, most = share < MOST_REPLICAS ? share : MOST_REPLICAS;
    int64_t replicas = most > 0 ? most : 1;
    double *counts = calloc((size_t)(n * n), sizeof *counts);
    transition t = transition_make(k->sampler, k->exact, &k->settings, k->beta, step);
    bench b = bench_open(k->sampler, k->model, &k->settings, k->beta, n * replicas, step);
    for (int64_t c = 0; c < n * replicas; c++) { /* forbidden starts would be reported as NaN */
        if (t.pi[c % n] == 0) {
            state_codes(k->model->space, 0, b.chains->codes + c * V);
        }
    }
    sali_chains_embed(b.chains);
    sali_engine(k->sampler)->refresh(b.self, b.chains);
    sali_engine(k->sampler)->step(b.self, b.chains);
    ck_assert_int_eq(b.chains->bad_chain, -1);
    for (int64_t c = 0; c < n * replicas; c++) {
        ck_assert_uint_eq(b.chains->step[c], step + 1);
        counts[c % n * n + state_of(k->model->space, b.chains->codes + c * V)]++;
    }
    compare_frequencies(&t, counts, replicas, k->where);
    bench_close(&b);
    transition_free(&t);
    free(counts);
}

static void check_all_pieces(const contract_case *k)
{
    int64_t pieces = pieces_of(k->sampler, k->model, &k->settings);
    for (int64_t piece = 0; has_matrix(k->sampler) && piece < pieces; piece++) {
        check_step(k, (uint64_t)(10 * pieces + piece));
    }
}

START_TEST(steps_follow_the_exact_matrix_f64)
{
    for_every_space(SAL_F64, check_all_pieces);
}
END_TEST

START_TEST(steps_follow_the_exact_matrix_f32)
{
    for_every_space(SAL_F32, check_all_pieces);
}
END_TEST

START_TEST(steps_on_ready_made_models_follow_the_exact_matrix)
{
    for_every_builtin(SAL_F64, check_all_pieces);
    for_every_builtin(SAL_F32, check_all_pieces);
}
END_TEST

/* ---- caches */

/* Put chains at forbidden states at the first state that is not: all codes are 0, where sums are
 * not fixed. */
static void leave_forbidden(bench *b)
{
    int32_t allowed[TINY_MOST_REALS];
    double f = -INFINITY;
    sal_error err;
    for (int64_t state = 0; f == -INFINITY; state++) {
        state_codes(b->chains->space, state, allowed);
        ck_ok(sal_model_evaluate(b->chains->model, 1, allowed, &f, NULL, NULL, &err), &err);
    }
    const int64_t V = b->chains->space->n_variables;
    for (int64_t c = 0; c < b->chains->n; c++) {
        if (b->chains->f[c] == -INFINITY) {
            memcpy(b->chains->codes + c * V, allowed, (size_t)V * sizeof *allowed);
        }
    }
    sali_chains_embed(b->chains);
    sali_engine(b->sampler)->refresh(b->self, b->chains);
}

/* Sum over chains of the L1 distance from x_before to the embedding now. */
static double moved(const bench *b, const double *x_before)
{
    double sum = 0;
    for (int64_t k = 0; k < b->chains->n * b->chains->space->width; k++) {
        sum += fabs(((const double *)b->chains->x)[k] - x_before[k]);
    }
    return sum;
}

static void same_numbers(int64_t n, const double *a, const double *b, const char *what,
                         const char *where)
{
    for (int64_t i = 0; i < n; i++) {
        ck_assert_msg(a[i] == b[i] || fabs(a[i] - b[i]) < 1e-10 * (1 + fabs(b[i])),
                      "%s: %s: %.15g, expected %.15g", where, what, a[i], b[i]);
    }
}

static void check_caches(const contract_case *k)
{
    const sal_space *space = k->model->space;
    int64_t n = states_count(space), N = space->width, steps = 20;
    size_t row = (size_t)n * sizeof(double), square = (size_t)n * row;
    double *x = malloc((size_t)N * row), *f = malloc(row), jumps = 0;
    double *cached = malloc(square), *fresh = malloc(square);
    sal_error err;
    bench b = bench_open(k->sampler, k->model, &k->settings, k->beta, n, 0);
    leave_forbidden(&b);
    for (int step = 0; step < steps; step++) {
        memcpy(x, b.chains->x, (size_t)N * row);
        sali_engine(k->sampler)->step(b.self, b.chains);
        jumps += moved(&b, x);
    }
    ck_assert_int_eq(b.chains->bad_chain, -1);
    sali_chains_sums sums = sali_chains_take_sums(b.chains);
    ck_assert_double_le(sums.accepted, (double)(steps * n));
    ck_assert_double_le(sums.acceptance, (double)(steps * n));
    same_numbers(1, &sums.jump, &jumps, "jump_sum", k->where);
    ck_ok(sal_space_embed(space, n, b.chains->codes, x, &err), &err);
    same_numbers(n * N, b.chains->x, x, "x", k->where);
    ck_ok(sal_model_evaluate(k->model, n, b.chains->codes, f, NULL, NULL, &err), &err);
    same_numbers(n, b.chains->f, f, "f", k->where);
    if (has_matrix(k->sampler) && !(TEST_SANITIZED && auxiliary_size(&b) > 0)) {
        bench_proposals(&b, cached);
        sali_engine(k->sampler)->refresh(b.self, b.chains);
        bench_proposals(&b, fresh);
        same_numbers(n * n, cached, fresh, "log_q", k->where);
    }
    bench_close(&b);
    free(x);
    free(f);
    free(cached);
    free(fresh);
}

START_TEST(caches_agree_with_the_state_after_many_steps)
{
    for_every_case(SAL_F64, check_caches);
}
END_TEST

/* A step size set later proposes as one given at the start. */
static void check_step_size(const contract_case *k)
{
    int64_t n = states_count(k->model->space);
    double *set = malloc((size_t)(n * n) * sizeof *set),
           *given = malloc((size_t)(n * n) * sizeof *set);
    sali_sampler_settings other = k->settings;
    other.step_size *= 3;
    if (k->sampler->has_step_size && has_matrix(k->sampler)) {
        bench a = bench_open(k->sampler, k->model, &k->settings, k->beta, n, 0);
        bench b = bench_open(k->sampler, k->model, &other, k->beta, n, 0);
        for (int64_t c = 0; c < n; c++) {
            a.chains->step_size[c] = other.step_size;
        }
        sali_engine(k->sampler)->refresh(a.self, a.chains);
        bench_proposals(&a, set);
        bench_proposals(&b, given);
        same_numbers(n * n, set, given, "log_q", k->where);
        bench_close(&a);
        bench_close(&b);
    }
    free(set);
    free(given);
}

START_TEST(step_size_can_be_set_later)
{
    sal_space *space = tiny_space_make(tiny_space_named("mixed"));
    sal_model *model = tiny_formula(space, SAL_F64);
    for_every_sampler(model, model, "formula over mixed", check_step_size);
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

/* ---- random numbers */

/* Chains where those of `from` are, with step counters at `step`. */
static bench continue_at(const contract_case *k, const bench *from, uint64_t step)
{
    int64_t n = from->chains->n;
    bench b = bench_open(k->sampler, k->model, &k->settings, k->beta, n, step);
    memcpy(b.chains->codes, from->chains->codes,
           (size_t)(n * k->model->space->n_variables) * sizeof *b.chains->codes);
    sali_chains_embed(b.chains);
    sali_engine(k->sampler)->refresh(b.self, b.chains);
    return b;
}

/* Whether two benches go through the same states in 40 steps. */
static bool move_alike(const contract_case *k, bench *a, bench *b)
{
    size_t bytes = (size_t)(a->chains->n * k->model->space->n_variables) * sizeof(int32_t);
    bool same = true;
    for (int i = 0; i < 40; i++) {
        sali_engine(k->sampler)->step(a->self, a->chains);
        sali_engine(k->sampler)->step(b->self, b->chains);
        same &= memcmp(a->chains->codes, b->chains->codes, bytes) == 0;
    }
    return same;
}

/* Whether codes and counters do not fix the next step. */
static bool hides(const contract_case *k)
{
    sali_state_item items[SALI_MOST_STATE];
    bench b = bench_open(k->sampler, k->model, &k->settings, k->beta, 1, 0);
    int64_t n = sali_sampler_items(k->sampler, NULL, b.self, SALI_STATE_KEPT, items);
    bench_close(&b);
    return n > 0;
}

/* A run that passes step 2^32 goes on as from there, not as from step 0 again. */
static void check_counters(const contract_case *k)
{
    if (hides(k)) {
        return;
    }
    const uint64_t wrap = UINT64_C(1) << 32;
    int64_t n = states_count(k->model->space);
    for (int passed = 0; passed < 2; passed++) {
        bench run = bench_open(k->sampler, k->model, &k->settings, k->beta, n, wrap - 2);
        sali_engine(k->sampler)->step(run.self, run.chains);
        sali_engine(k->sampler)->step(run.self, run.chains);
        bench other = continue_at(k, &run, passed ? wrap : 0);
        ck_assert_uint_eq(run.chains->step[0], wrap);
        ck_assert_msg(move_alike(k, &run, &other) == (passed == 1), "%s: %s", k->where,
                      passed ? "the state and the counters do not fix the next step"
                             : "random numbers repeat after 2^32 steps");
        bench_close(&run);
        bench_close(&other);
    }
}

START_TEST(step_counters_pass_two_to_the_32)
{
    sal_space *space = tiny_space_make(tiny_space_named("binary"));
    sal_model *model = tiny_formula(space, SAL_F64);
    for_every_sampler(model, model, "formula over binary", check_counters);
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

/* ---- many steps at once */

static void check_same_chains(const bench *a, const bench *b, const char *where)
{
    int64_t n = a->chains->n, V = a->chains->space->n_variables;
    size_t reals = (size_t)(n * a->chains->space->width) * a->chains->element;
    size_t doubles = (size_t)n * sizeof(double);
    ck_assert_msg(memcmp(a->chains->codes, b->chains->codes, (size_t)(n * V) * sizeof(int32_t)) ==
                      0,
                  "%s: codes", where);
    ck_assert_msg(memcmp(a->chains->x, b->chains->x, reals) == 0, "%s: x", where);
    ck_assert_msg(memcmp(a->chains->f, b->chains->f, doubles) == 0, "%s: f", where);
    ck_assert_msg(memcmp(a->chains->step, b->chains->step, doubles) == 0, "%s: step", where);
    for (int64_t c = 0; c < n; c++) {
        const double sums[][2] = { { a->chains->accepted_sum[c], b->chains->accepted_sum[c] },
                                   { a->chains->acceptance_sum[c], b->chains->acceptance_sum[c] },
                                   { a->chains->jump_sum[c], b->chains->jump_sum[c] } };
        for (int k = 0; k < 3; k++) {
            ck_assert_msg(fabs(sums[k][0] - sums[k][1]) < 1e-10 * (1 + sums[k][1]), "%s: sum %d",
                          where, k);
        }
    }
}

/* Stretches of any length, past the step where f is made anew. */
static void check_stretches(const contract_case *k)
{
    static const int64_t lengths[] = { 1, 3, 2, 40, 5, 1, 67 };
    int64_t n = states_count(k->model->space);
    if (!sali_engine(k->sampler)->steps) {
        return;
    }
    bench a = bench_open(k->sampler, k->model, &k->settings, k->beta, n, 65536 - 50);
    bench b = bench_open(k->sampler, k->model, &k->settings, k->beta, n, 65536 - 50);
    leave_forbidden(&a);
    leave_forbidden(&b);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        sali_engine(k->sampler)->steps(a.self, a.chains, lengths[i]);
        for (int64_t step = 0; step < lengths[i]; step++) {
            sali_engine(k->sampler)->step(b.self, b.chains);
        }
        check_same_chains(&a, &b, k->where);
    }
    bench_close(&a);
    bench_close(&b);
}

START_TEST(steps_at_once_are_those_one_by_one)
{
    for_every_case(SAL_F64, check_stretches);
    for_every_case(SAL_F32, check_stretches);
}
END_TEST

/* ---- chains of unlike steps, and a refresh for other chains, as training has them */

enum { UNLIKE = 5 };

/* Chains for `unlike`: ids, step counters and states of their own. */
static void set_apart(bench *b, int64_t first)
{
    static const uint64_t steps[UNLIKE] = { 3, 0, 65530, 7, 14 };
    for (int64_t c = 0; c < b->chains->n; c++) {
        b->chains->id[c] = (uint32_t)(40 + first + c);
        b->chains->step[c] = steps[first + c];
        state_codes(b->chains->space, 0, b->chains->codes + c * b->chains->space->n_variables);
    }
    sali_chains_embed(b->chains);
    sali_engine(b->sampler)->refresh(b->self, b->chains);
}

/* A systematic scan of couplings has other random numbers for chains in step. */
static bool scans_couplings(const contract_case *k)
{
    sali_couplings *pairs = NULL;
    ck_assert_int_eq(sali_couplings_create(k->model, SALI_BIT_COUPLINGS, &pairs, NULL), SAL_OK);
    bool scans = pairs && k->sampler == sali_sampler_find("gibbs") && k->settings.values[0] == 0;
    sali_couplings_destroy(pairs);
    return scans;
}

static void check_alone(const contract_case *k)
{
    if (sali_engine(k->sampler)->coupled || hides(k) || scans_couplings(k)) {
        return;
    }
    int64_t V = k->model->space->n_variables;
    bench all = bench_open(k->sampler, k->model, &k->settings, k->beta, UNLIKE, 0);
    set_apart(&all, 0);
    for (int step = 0; step < 20; step++) {
        sali_engine(k->sampler)->step(all.self, all.chains);
    }
    for (int64_t c = 0; c < UNLIKE; c++) {
        bench one = bench_open(k->sampler, k->model, &k->settings, k->beta, 1, 0);
        set_apart(&one, c);
        for (int step = 0; step < 20; step++) {
            sali_engine(k->sampler)->step(one.self, one.chains);
        }
        ck_assert_msg(
            memcmp(one.chains->codes, all.chains->codes + c * V, (size_t)V * sizeof(int32_t)) == 0,
            "%s: chain %d", k->where, (int)c);
        bench_close(&one);
    }
    bench_close(&all);
}

/* What a chain does depends on its own step number, not on those of its shard. */
START_TEST(chains_of_unlike_steps_do_not_depend_on_each_other)
{
    for_every_case(SAL_F64, check_alone);
}
END_TEST

/* A systematic scan at unlike steps draws each chain's own variable. */
START_TEST(scans_at_unlike_steps_draw_each_chains_variable)
{
    static const char *const models[] = { "ising:side=3,theta=0.05", "ising:side=3,theta=0.3" };
    for (int m = 0; m < 2; m++) {
        const sali_sampler *gibbs = sali_sampler_find("gibbs");
        sali_sampler_settings settings = { .values = { 0, 1 } };
        sal_model *model = NULL;
        int32_t before[9 * UNLIKE];
        sal_error err;
        ck_ok(sal_model_open(models[m], SAL_F64, &model, &err), &err);
        bench b = bench_open(gibbs, model, &settings, 1, UNLIKE, 0);
        set_apart(&b, 0);
        for (int step = 0; step < 40; step++) {
            uint64_t site[UNLIKE];
            for (int c = 0; c < UNLIKE; c++) {
                site[c] = b.chains->step[c] % 9;
            }
            memcpy(before, b.chains->codes, sizeof before);
            sali_engine(gibbs)->step(b.self, b.chains);
            for (int i = 0; i < 9 * UNLIKE; i++) {
                ck_assert((uint64_t)(i % 9) == site[i / 9] || b.chains->codes[i] == before[i]);
            }
        }
        bench_close(&b);
        sal_model_destroy(model);
    }
}
END_TEST

static const char *changed_parameter;

/* Used before, for other chains of another seed, temperature and other parameters of the model, and
 * refreshed, a sampler does what a new one does. */
static void check_refresh(const contract_case *k)
{
    double old[64] = { 0.3 }, new[64] = { -0.25 };
    bool rbm = strcmp(changed_parameter, "theta") != 0;
    sal_model *model = (sal_model *)k->model;
    sal_error err;
    if (hides(k)) {
        return;
    }
    const int64_t biases = rbm ? sal_space_width(model->space) : 0;
    tiny_normals(6, biases, 0.7, old);
    tiny_normals(11, biases, 0.7, new);
    bench used = bench_open(k->sampler, k->model, &k->settings, k->beta, 6, 100);
    for (int step = 0; step < 33; step++) {
        sali_engine(k->sampler)->step(used.self, used.chains);
    }
    ck_ok(sal_model_set_params(model, changed_parameter, new, &err), &err);
    bench fresh = { .sampler = k->sampler };
    ck_ok(sali_chains_create(model, 6, sali_sampler_wants(k->sampler), 5, &fresh.chains, &err),
          &err);
    ck_ok(sali_sampler_open(k->sampler, &k->settings, used.shared, fresh.chains, &fresh.self, &err),
          &err);
    for (int i = 0; i < 2; i++) {
        bench *b = i ? &fresh : &used;
        b->chains->seed = 5;
        for (int64_t c = 0; c < 6; c++) {
            b->chains->id[c] = (uint32_t)(70 + c);
            b->chains->step[c] = 131;
            b->chains->beta[c] = 0.8;
            b->chains->step_size[c] = 1.5;
            state_codes(model->space, 2 * c, b->chains->codes + c * model->space->n_variables);
        }
        sali_chains_embed(b->chains);
        sali_engine(k->sampler)->refresh(b->self, b->chains);
        sali_chains_take_sums(b->chains);
        sali_sampler_steps(k->sampler, b->self, b->chains, 25);
    }
    check_same_chains(&used, &fresh, k->where);
    sali_engine(k->sampler)->destroy(fresh.self);
    sali_chains_destroy(fresh.chains);
    bench_close(&used);
    ck_ok(sal_model_set_params(model, changed_parameter, old, &err), &err);
}

START_TEST(refresh_forgets_what_was_before)
{
    for (int k = 0; k < 4; k++) { /* three RBMs, an Ising model */
        sal_model *model = tiny_builtin(k, SAL_F64);
        changed_parameter = strncmp(tiny_builtins[k], "rbm", 3) == 0 ? "b" : "theta";
        for_every_sampler(model, model, tiny_builtins[k], check_refresh);
        sal_model_destroy(model);
    }
}
END_TEST

/* A vectorised scan follows each chain's temperature: without couplings, magnetisations are known.
 */
START_TEST(scans_are_tempered_chain_by_chain)
{
    static const double betas[] = { 1, 0.3 };
    const sali_sampler *gibbs = sali_sampler_find("gibbs");
    sali_sampler_settings settings = { .values = { 0, 1 } };
    sal_model *model = NULL;
    double up[2] = { 0 }, f[2];
    sal_error err;
    ck_ok(sal_model_open("ising:side=3,theta=0,bias=0.6", SAL_F64, &model, &err), &err);
    int32_t codes[18] = { 1 };
    ck_ok(sal_model_evaluate(model, 2, codes, f, NULL, NULL, &err), &err);
    bench b = bench_open(gibbs, model, &settings, 1, 40, 0);
    for (int64_t c = 0; c < 40; c++) {
        b.chains->beta[c] = betas[c % 2];
    }
    sali_engine(gibbs)->refresh(b.self, b.chains);
    for (int sweep = 0; sweep < 200; sweep++) {
        sali_sampler_steps(gibbs, b.self, b.chains, 9);
        for (int64_t i = 0; i < 40 * 9; i++) {
            up[i / 9 % 2] += b.chains->codes[i] / (20.0 * 9 * 200);
        }
    }
    for (int k = 0; k < 2; k++) {
        ck_assert_double_eq_tol(up[k], 1 / (1 + exp(-betas[k] * (f[0] - f[1]))), 0.015);
    }
    bench_close(&b);
    sal_model_destroy(model);
}
END_TEST

static TCase *add_case(Suite *suite, TCase *tcase)
{
    tcase_set_timeout(tcase, 240);
    suite_add_tcase(suite, tcase);
    return tcase;
}

/* The build runs the cases side by side, by their names. */
static Suite *steps_suite(void)
{
    Suite *suite = suite_create("sampler_steps");
    tcase_add_test(add_case(suite, statistics_create("f64")), steps_follow_the_exact_matrix_f64);
    tcase_add_test(add_case(suite, tcase_create("f32")), steps_follow_the_exact_matrix_f32);
    tcase_add_test(add_case(suite, statistics_create("ready")),
                   steps_on_ready_made_models_follow_the_exact_matrix);
    TCase *rest = add_case(suite, statistics_create("rest"));
    tcase_add_test(rest, caches_agree_with_the_state_after_many_steps);
    tcase_add_test(rest, step_size_can_be_set_later);
    tcase_add_test(rest, step_counters_pass_two_to_the_32);
    tcase_add_test(rest, steps_at_once_are_those_one_by_one);
    TCase *shards = add_case(suite, tcase_create("shards"));
    tcase_add_test(shards, chains_of_unlike_steps_do_not_depend_on_each_other);
    tcase_add_test(shards, scans_at_unlike_steps_draw_each_chains_variable);
    tcase_add_test(shards, refresh_forgets_what_was_before);
    tcase_add_test(shards, scans_are_tempered_chain_by_chain);
    return suite;
}

int main(void)
{
    return test_main(steps_suite());
}
