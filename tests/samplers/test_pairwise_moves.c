/* SPDX-License-Identifier: MIT */
/* Moves on pairwise models, by sums of weights that follow the chains, against the same samplers
 * where nothing is known of f but its values. */
#include "test.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "samplers/local/single_site_sampler.h"
#include "transition.h"

static const char *const models[] = {
    "ising:side=5,theta=0.15,bias=0.2",
    "ising-dense:dim=12",
    "max-cut:nodes=20",
};

enum { CHAINS = 6 };

static double value_of(const double *x, double *gradient, void *data)
{
    sal_model *model = data;
    const sal_space *space = model->space;
    int32_t codes[64];
    double f;
    sal_error err;
    (void)gradient;
    for (int64_t v = 0; v < space->n_variables; v++) {
        codes[v] = x[v] == sali_level(&space->variables[v], 1);
    }
    ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
    return f;
}

/* The model as a function of which nothing else is known. */
static sal_model *opaque(sal_model *model)
{
    sal_callback callback = { .f = value_of, .data = model };
    sal_model *made = NULL;
    sal_error err;
    ck_ok(sal_model_from_callback(model->space, &callback, &made, &err), &err);
    return made;
}

static bench open_some(const char *sampler, const sal_model *model, double beta, int64_t chains)
{
    const sali_sampler *found;
    sali_sampler_settings settings;
    sal_error err;
    ck_ok(sali_sampler_choose(sampler, model, 0, &found, &settings, &err), &err);
    bench b = bench_open(found, model, &settings, beta, chains, 0);
    for (int64_t i = 0; i < chains * model->space->n_variables; i++) {
        b.chains->codes[i] = (int32_t)(i * i % 7 % 2);
    }
    sali_bench_start(&b);
    return b;
}

static bench open_at(const char *sampler, const sal_model *model, double beta)
{
    return open_some(sampler, model, beta, CHAINS);
}

static bool is_fast(const bench *b)
{
    return ((const sali_single_site *)b->self)->fast;
}

static void check_alike(const bench *a, const bench *b, const char *where)
{
    int64_t n = CHAINS * a->chains->space->n_variables;
    const sali_chains *p = a->chains, *q = b->chains;
    ck_assert_msg(memcmp(p->codes, q->codes, (size_t)n * sizeof(int32_t)) == 0, "%s: codes", where);
    ck_assert_msg(memcmp(p->x, q->x, (size_t)n * sizeof(double)) == 0, "%s: x", where);
    for (int64_t c = 0; c < CHAINS; c++) {
        const double pairs[][2] = { { p->f[c], q->f[c] },
                                    { p->accepted_sum[c], q->accepted_sum[c] },
                                    { p->acceptance_sum[c], q->acceptance_sum[c] },
                                    { p->jump_sum[c], q->jump_sum[c] } };
        for (int k = 0; k < 4; k++) {
            ck_assert_msg(fabs(pairs[k][0] - pairs[k][1]) < 1e-8 * (1 + fabs(pairs[k][1])),
                          "%s: chain %d: sum %d is %.15g, not %.15g", where, (int)c, k, pairs[k][0],
                          pairs[k][1]);
        }
    }
}

/* Both ways use the same random numbers, so they go the same way. */
static void check_paths(const char *specification, const char *sampler, double beta)
{
    char where[128];
    double accepted = 0;
    sal_model *model = NULL;
    sal_error err;
    snprintf(where, sizeof where, "%s, %s", specification, sampler);
    ck_ok(sal_model_open(specification, SAL_F64, &model, &err), &err);
    sal_model *unknown = opaque(model);
    bench a = open_at(sampler, model, beta), b = open_at(sampler, unknown, beta);
    ck_assert_msg(is_fast(&a) && !is_fast(&b), "%s", where);
    for (int step = 0; step < 60; step++) {
        sali_engine(a.sampler)->steps(a.self, a.chains, 1);
        sali_engine(b.sampler)->steps(b.self, b.chains, 1);
        check_alike(&a, &b, where);
    }
    for (int64_t c = 0; c < CHAINS; c++) {
        accepted += a.chains->accepted_sum[c] / (60 * CHAINS);
    }
    ck_assert_msg(accepted > 0.1 && accepted < 0.99, "%s: %g accepted", where, accepted);
    bench_close(&a);
    bench_close(&b);
    sal_model_destroy(unknown);
    sal_model_destroy(model);
}

START_TEST(paths_follow_pairs_as_they_follow_differences)
{
    for (int k = 0; k < 3; k++) {
        check_paths(models[k], "pas:length=2", 1);
        check_paths(models[k], "pas:length=7,balance=barker", 2.5);
        check_paths(models[k], "pas:length=70,balance=min", 2.5);
    }
}
END_TEST

/* ---- what is kept of the chains */

static sali_pairwise_moves *moves_of(const bench *b)
{
    return ((sali_single_site *)b->self)->pairwise;
}

/* After a rejection weights, sums and rises have the bits of before; after an acceptance they are
 * those of the new state. */
static void check_kept(const char *sampler)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open("ising:side=20,theta=0.25,bias=0.2", SAL_F64, &model, &err), &err);
    bench b = open_at(sampler, model, 3);
    sali_pairwise_moves *m = moves_of(&b);
    int64_t reals = CHAINS * model->space->n_variables, rejected = 0, accepted = 0;
    int64_t size = CHAINS * m->tree.size, n = reals + size;
    double *before = calloc((size_t)n, sizeof *before), *after = calloc((size_t)n, sizeof *after);
    for (int step = 0; step < 300; step++) {
        memcpy(before, m->rise, (size_t)reals * sizeof *before);
        memcpy(before + reals, m->nodes, (size_t)size * sizeof *before);
        sali_chains_take_sums(b.chains);
        sali_engine(b.sampler)->steps(b.self, b.chains, 1);
        memcpy(after, m->rise, (size_t)reals * sizeof *before);
        memcpy(after + reals, m->nodes, (size_t)size * sizeof *before);
        for (int64_t c = 0; c < CHAINS; c++) {
            int64_t V = reals / CHAINS, sums = reals + c * m->tree.size;
            if (b.chains->accepted_sum[c] == 0) {
                ck_assert(memcmp(before + c * V, after + c * V, (size_t)V * sizeof *after) == 0);
                ck_assert(
                    memcmp(before + sums, after + sums, (size_t)m->tree.size * sizeof *after) == 0);
                rejected++;
            } else if (step % 10 == 0) {
                sali_pairwise_moves_rebuild(m, b.chains, c);
                for (int64_t k = 0; k < V; k++) {
                    ck_assert_double_eq_tol(m->rise[c * V + k], after[c * V + k], 1e-9);
                    ck_assert_double_eq_tol(m->nodes[c * m->tree.size + k], after[sums + k],
                                            1e-9 * (1 + after[sums + k]));
                }
                accepted++;
            }
        }
    }
    ck_assert_msg(rejected > 20 && accepted > 20, "%s: %d rejected, %d accepted", sampler,
                  (int)rejected, (int)accepted);
    free(before);
    free(after);
    bench_close(&b);
    sal_model_destroy(model);
}

START_TEST(rejected_moves_leave_no_trace)
{
    check_kept("pas:length=40");
    check_kept("pas:length=1");
    check_kept("lb");
}
END_TEST

/* Chain c of `all`, by itself for as many steps. */
static void check_alone(const bench *all, const sal_model *model, int64_t c, uint64_t from,
                        int64_t steps)
{
    const sali_chains *chains = all->chains;
    const int64_t V = model->space->n_variables;
    bench b = open_some("gwg", model, 1, 1);
    for (int64_t v = 0; v < V; v++) { /* as in open_some */
        b.chains->codes[v] = (int32_t)((c * V + v) * (c * V + v) % 7 % 2);
    }
    b.chains->id[0] = chains->id[c];
    b.chains->step[0] = from;
    sali_bench_start(&b);
    sali_engine(b.sampler)->steps(b.self, b.chains, steps);
    ck_assert(memcmp(b.chains->codes, chains->codes + c * V, (size_t)V * sizeof(int32_t)) == 0);
    ck_assert_double_eq(b.chains->f[0], chains->f[c]);
    ck_assert_double_eq(b.chains->acceptance_sum[0], chains->acceptance_sum[c]);
    bench_close(&b);
}

/* Chains that take turns, more of them than do so at a time: whether they have made as many steps
 * or not. Of the models one is so large that its memory is fetched ahead. */
START_TEST(chains_that_take_turns_go_the_way_of_each)
{
    enum { MANY = SALI_SUM_TREE_PICKS + 3, STEPS = 200 };
    static const char *const sides[] = { "ising:side=6,bias=0.1", "ising:side=50,bias=0.1" };
    for (int k = 0; k < 4; k++) {
        const uint64_t apart = k % 2 == 0 ? 0 : 1000;
        sal_model *model = NULL;
        sal_error err;
        ck_ok(sal_model_open(sides[k / 2], SAL_F64, &model, &err), &err);
        bench b = open_some("gwg", model, 1, MANY);
        ck_assert(is_fast(&b));
        for (uint64_t c = 0; c < MANY; c++) {
            b.chains->step[c] = 5 + c * apart;
        }
        sali_bench_start(&b);
        sali_engine(b.sampler)->steps(b.self, b.chains, STEPS);
        for (int64_t c = 0; c < MANY; c += 2) {
            check_alone(&b, model, c, 5 + (uint64_t)c * apart, STEPS);
        }
        bench_close(&b);
        sal_model_destroy(model);
    }
}
END_TEST

/* Made anew after the same number of moves, however steps share them out. */
START_TEST(paths_are_made_anew_as_often_as_moves_are)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open("ising:side=5", SAL_F64, &model, &err), &err);
    bench b = open_at("pas", model, 1);
    sali_pairwise_moves *m = moves_of(&b);
    int64_t one = sali_pairwise_moves_period(m, 1);
    ck_assert_int_eq(one, 65536);
    ck_assert_int_eq(sali_pairwise_moves_period(m, 64), one / 64);
    ck_assert_int_eq(sali_pairwise_moves_period(m, 10 * one), 1);
    bench_close(&b);
    sal_model_destroy(model);
}
END_TEST

/* ---- proposals */

/* All that is proposed is shown, also what would be rejected. */
START_TEST(proposals_on_pairwise_models_are_not_judged)
{
    enum { V = 16, DRAWS = 200 };
    static const char *const samplers[] = { "gwg", "lb:balance=max", "pas:length=1" };
    sal_model *model = NULL;
    sal_error err;
    int32_t from[V] = { 0 }, to[DRAWS * V];
    ck_ok(sal_model_open("ising:side=4,theta=0.5", SAL_F64, &model, &err), &err);
    for (size_t k = 0; k < sizeof samplers / sizeof *samplers; k++) {
        sal_run_options options = { .sampler = samplers[k], .seed = 3 };
        ck_ok(sal_sampler_draw_proposals(model, &options, from, DRAWS, to, &err), &err);
        for (int64_t i = 0; i < DRAWS; i++) {
            int64_t site, moved = sali_sites_moved(model->space, from, to + i * V, &site);
            ck_assert_msg(moved == 1, "%s: draw %d moves %d variables", samplers[k], (int)i,
                          (int)moved);
        }
    }
    sal_model_destroy(model);
}
END_TEST

static Suite *pairwise_moves_suite(void)
{
    Suite *suite = suite_create("pairwise_moves");
    TCase *tcase = tcase_create("pairwise_moves");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, paths_follow_pairs_as_they_follow_differences);
    tcase_add_test(tcase, rejected_moves_leave_no_trace);
    tcase_add_test(tcase, chains_that_take_turns_go_the_way_of_each);
    tcase_add_test(tcase, paths_are_made_anew_as_often_as_moves_are);
    tcase_add_test(tcase, proposals_on_pairwise_models_are_not_judged);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(pairwise_moves_suite());
}
