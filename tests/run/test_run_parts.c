/* SPDX-License-Identifier: MIT */
/* What holds for every part of a run (run/parts.def): a new one is tested as soon as it is listed,
 * and fails here without a case. */
#include "test.h"

#include <stdio.h>

#include "alloc_fail.h"
#include "same_runs.h"

/* Runs that together have all parts. */
typedef struct part_case {
    const char *model;
    bool shown; /* the caller sees the draws */
    sal_run_options options;
} part_case;

static const part_case cases[] = {
    { "ising:side=4,theta=0.2", false, { .sampler = "ncg", .chains = 40 } },
    { "ising:side=4,theta=0.2",
      false,
      { .sampler = "dlmc", .step_size_rule = SAL_STEP_SIZE_SEARCH } },
    { "potts:side=3,states=3,theta=0.4", true, { .sampler = "gwg", .tempering.replicas = 3 } },
    { "ising:side=3,theta=0.3",
      false,
      { .sampler = "gibbs", .chains = 1, .tempering.replicas = 40 } },
    { "ising:side=4,theta=0.2",
      false,
      { .sampler = "gibbs", .chains = 5, .tempering = { .replicas = 8, .houdayer = true } } },
    { "potts:side=3,states=3,theta=0.4",
      false,
      { .sampler = "gwg", .chains = 3, .tempering = { .replicas = 34, .houdayer = true } } },
    { "max-cut:nodes=12,degree=3", false, { .sampler = "gwg", .annealing.on = true } },
    { "max-cut:nodes=12,degree=3",
      false,
      { .sampler = "gibbs", .chains = 8, .annealing.schedule = SAL_ANNEAL_REHEAT } },
    { "ising:side=3,theta=0.1", false, { .sampler = "gibbs", .until = "ess=1e9" } },
    { "independent-set:nodes=12,degree=3", true, { .sampler = "gwg", .record.best = true } },
};
enum { CASES = sizeof cases / sizeof *cases, MOST_CHAINS = 40 };

static int look(const sal_draw *draw, void *data)
{
    int64_t *seen = data;
    *seen += draw->chains;
    return 0;
}

static sal_run_options options_of_case(const part_case *c, int64_t warmup, int64_t draws,
                                       int64_t *seen)
{
    sal_run_options options = c->options;
    options.warmup = warmup;
    options.draws = draws;
    options.thin = 2;
    options.seed = 3;
    options.record.warmup = c->shown;
    options.callbacks.draw = c->shown ? look : NULL;
    options.callbacks.draw_data = seen;
    return options;
}

static sal_model *model_of(const part_case *c)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(c->model, SAL_F64, &model, &err), &err);
    return model;
}

/* ---- the list */

START_TEST(records_are_whole_and_names_are_unique)
{
    for (int k = 0; k < SALI_PARTS; k++) {
        const sali_run_part *part = sali_run_parts[k];
        ck_assert_msg(part->name, "part %d", k);
        for (int i = 0; i < k; i++) {
            ck_assert_str_ne(part->name, sali_run_parts[i]->name);
            ck_assert(!part->prefix || !sali_run_parts[i]->prefix ||
                      strcmp(part->prefix, sali_run_parts[i]->prefix) != 0);
        }
        ck_assert_msg(!part->replayed || (part->draw && !part->items), "%s", part->name);
        ck_assert_msg(!part->sees_warmup || part->draw, "%s", part->name);
        ck_assert_msg(!part->restored || part->items, "%s", part->name);
        ck_assert_msg(!(part->before || part->after) || part->due || part->each_step, "%s",
                      part->name);
        ck_assert_msg(!part->meet == !part->apart, "%s", part->name);
    }
}
END_TEST

/* Sweeps over a trajectory's levels and statistics of models have tests of their own; here they
 * are only to be known. */
static bool has_own_test(int part)
{
    return part == SALI_PART_levels;
}

START_TEST(some_case_has_each_part)
{
    bool there[SALI_PARTS] = { false };
    for (int k = 0; k < CASES; k++) {
        int64_t seen = 0;
        sal_model *model = model_of(&cases[k]);
        const sal_run_options options = options_of_case(&cases[k], 60, 5, &seen);
        sal_run *run = run_it(model, &options);
        for (int p = 0; p < SALI_PARTS; p++) {
            there[p] |= run->selves[p] != NULL;
        }
        sal_run_destroy(run);
        sal_model_destroy(model);
    }
    for (int p = 0; p < SALI_PARTS; p++) {
        ck_assert_msg(there[p] || has_own_test(p), "no case has the part '%s'",
                      sali_run_parts[p]->name);
    }
}
END_TEST

/* ---- items */

/* Items of a run, and of each of its shards, have names of their own, and data. */
START_TEST(items_have_names_of_their_own)
{
    int64_t seen = 0;
    sal_model *model = model_of(&cases[_i]);
    const sal_run_options options = options_of_case(&cases[_i], 60, 5, &seen);
    sal_run *run = run_it(model, &options);
    for (int64_t k = 0; k < run->n_shards; k++) {
        sali_state_item items[SALI_MOST_SHARD_ITEMS];
        const int64_t n = sali_run_shard_items(run, &run->shards[k], ~0U, items);
        ck_assert_int_le(n, SALI_MOST_SHARD_ITEMS);
        for (int64_t i = 0; i < n; i++) {
            ck_assert_msg(items[i].count == 0 || items[i].data, "%s", items[i].name);
            for (int64_t j = 0; j < i; j++) {
                ck_assert_str_ne(items[i].name, items[j].name);
            }
        }
    }
    const sal_run_state *state = sal_run_last_state(run);
    for (int64_t i = 0; i < state->n; i++) {
        ck_assert_ptr_eq(sali_run_state_find(state, state->items[i].name), &state->items[i]);
    }
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* ---- bits */

/* Stops in the first window, in warm-up, after its end and among the draws, and goes on. */
START_TEST(runs_go_on_with_the_same_bits)
{
    static const int64_t stops[] = { 1, 280, 301, 600, 900 };
    int64_t seen = 0;
    sal_model *model = model_of(&cases[_i]);
    sal_run_options options = options_of_case(&cases[_i], 300, 400, &seen);
    options.record.warmup = false; /* they are not kept for another run */
    check_stops(cases[_i].model, model, options, sizeof stops / sizeof *stops, stops, 2);
    sal_model_destroy(model);
}
END_TEST

START_TEST(threads_do_not_change_the_bits)
{
    static const int threads[] = { 2, 7 };
    int64_t seen = 0, first = 0;
    sal_model *model = model_of(&cases[_i]);
    sal_run_options options = options_of_case(&cases[_i], 100, 300, &seen);
    options.record.draws = true;
    options.threads = 1;
    sal_run *one = run_it(model, &options);
    first = seen;
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        options.threads = threads[t];
        seen = 0;
        sal_run *run = run_it(model, &options);
        same_runs(cases[_i].model, one, run);
        ck_assert_int_eq(seen, first);
        sal_run_destroy(run);
    }
    ck_assert(!cases[_i].shown || first > 0);
    sal_run_destroy(one);
    sal_model_destroy(model);
}
END_TEST

/* ---- out of memory */

static sal_status sample_and_summarise(sal_model *model, const sal_run_options *options)
{
    sal_run *run = NULL;
    sal_run_summary summary;
    sal_status status = sal_sample(model, options, &run, NULL);
    status = status ? status : sal_run_summarise(run, &summary, NULL);
    sal_run_destroy(run);
    return status;
}

START_TEST(every_allocation_may_fail)
{
    int64_t seen = 0;
    sal_model *model = model_of(&cases[_i]);
    sal_run_options options = options_of_case(&cases[_i], 40, 3, &seen);
    options.chains = options.chains == MOST_CHAINS ? 2 : options.chains;
    options.threads = 1;
    ck_alloc_sweep(sample_and_summarise(model, &options), (void)0);
    sal_model_destroy(model);
}
END_TEST

static Suite *run_parts_suite(void)
{
    Suite *suite = suite_create("run_parts");
    TCase *tcase = tcase_create("run_parts");
    tcase_add_test(tcase, records_are_whole_and_names_are_unique);
    tcase_add_test(tcase, some_case_has_each_part);
    tcase_add_loop_test(tcase, items_have_names_of_their_own, 0, CASES);
    tcase_add_loop_test(tcase, runs_go_on_with_the_same_bits, 0, CASES);
    tcase_add_loop_test(tcase, threads_do_not_change_the_bits, 0, CASES);
    tcase_add_loop_test(tcase, every_allocation_may_fail, 0, CASES);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(run_parts_suite());
}
