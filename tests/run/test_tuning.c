/* SPDX-License-Identifier: MIT */
/* Step sizes found in warm-up, frozen after it; tuning saved and given again. */
#include "temp_dir.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include <saltus/io.h>
#include "core/saved/tuning.h"
#include "io/file.h"
#include "run/parts/step_size.h"
#include "run_helpers.h"

static bool has_tunable_step(const sali_sampler *sampler)
{
    return sampler->has_step_size && !sampler->unadjusted;
}

static double mean_jump(sal_model *model, const char *sampler, double step_size)
{
    sal_run_options options = { .sampler = sampler,
                                .chains = 10,
                                .threads = 1,
                                .step_size = step_size,
                                .warmup = 50,
                                .draws = 500,
                                .seed = 9 };
    sal_run *run = run_it(model, &options);
    double jump = summary_of(run).mean_jump;
    sal_run_destroy(run);
    return jump;
}

/* The search ends on its grid, at a step size that jumps about as far as the best of the grid. */
START_TEST(search_finds_the_largest_jump)
{
    const sali_sampler *sampler;
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open("ising:side=4,theta=0.15", SAL_F64, &model, &err), &err);
    double unit = sali_default_step_size(model->space, 1);
    for (int64_t k = 0; (sampler = sali_sampler_at(k)) != NULL; k++) {
        sal_run_options options = { .sampler = sampler->name,
                                    .chains = 10,
                                    .threads = 1,
                                    .warmup = 2000,
                                    .draws = 10,
                                    .step_size_rule = SAL_STEP_SIZE_SEARCH };
        double best = 0;
        bool on_grid = false;
        if (!has_tunable_step(sampler) || !sali_sampler_serves(sampler, model)) {
            continue;
        }
        sal_run *run = run_it(model, &options);
        double found = summary_of(run).step_size;
        for (int m = 0; m < 5; m++) {
            for (int d = 1; d <= 9; d++) {
                double candidate = unit * 0.05 * pow(10, m) * 0.2 * d;
                on_grid |= fabs(found / candidate - 1) < 1e-12;
                best = d % 2 ? fmax(best, mean_jump(model, sampler->name, candidate)) : best;
            }
        }
        ck_assert_msg(on_grid, "%s: %g", sampler->name, found / unit);
        double jump = mean_jump(model, sampler->name, found);
        ck_assert_msg(jump > 0.8 * best, "%s: jump %g at %g, best %g", sampler->name, jump, found,
                      best);
        sal_run_destroy(run);
    }
    sal_model_destroy(model);
}
END_TEST

/* Chains that jump as their step sizes alone say: best at 3 times the least move. */
static double jump_of(double step_size, double unit)
{
    return 10 - fabs(log(step_size / (3 * unit)));
}

/* Every group of chains tries other sizes at a time, and what it finds counts for those. */
START_TEST(search_knows_which_chain_had_which_size)
{
    enum { TOTAL = 400, SHARDS = 2 };
    static const uint32_t first[SHARDS] = { 0, 4 };
    const sali_sampler *ncg;
    sali_sampler_settings settings;
    sali_step_sizes s;
    sali_memory memory = { 0 };
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open("ising:side=3", SAL_F64, &model, &err), &err);
    ck_ok(sali_sampler_choose("ncg", model, 0, &ncg, &settings, &err), &err);
    bench b[SHARDS] = { bench_open(ncg, model, &settings, 1, 4, 0),
                        bench_open(ncg, model, &settings, 1, 3, 0) };
    sali_chains *chains[SHARDS] = { b[0].chains, b[1].chains };
    for (int k = 0; k < SHARDS; k++) {
        for (uint32_t c = 0; c < chains[k]->n; c++) {
            chains[k]->id[c] = first[k] + c;
        }
    }
    double unit = sali_default_step_size(model->space, 1);
    ck_ok(sali_step_sizes_create(&s, &memory, model->space, 1, SAL_STEP_SIZE_SEARCH, unit, NULL,
                                 &err),
          &err);
    sali_step_sizes_set(&s, SHARDS, chains);
    for (int64_t done = 0, n; done < TOTAL; done += n) {
        n = sali_step_sizes_window(&s, done, TOTAL, 25);
        for (int k = 0; k < SHARDS; k++) {
            for (int64_t c = 0; c < chains[k]->n; c++) {
                chains[k]->acceptance_sum[c] = 0.574 * (double)n;
                chains[k]->jump_sum[c] = jump_of(chains[k]->step_size[c], unit) * (double)n;
            }
        }
        sali_step_sizes_learn(&s, SHARDS, chains, n, done + n, TOTAL);
    }
    ck_assert_double_eq_tol(s.value[0], 3 * unit, 1e-9 * unit);
    for (int k = 0; k < SHARDS; k++) {
        bench_close(&b[k]);
    }
    sali_memory_free(&memory);
    sal_model_destroy(model);
}
END_TEST

/* So cold that no flip from the lowest energy is ever proposed: all sizes are alike. */
START_TEST(search_takes_the_smallest_of_equal_sizes)
{
    static const int32_t init[4 * 16] = { 0 };
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open("ising:side=4,theta=50", SAL_F64, &model, &err), &err);
    sal_run_options options = { .sampler = "ncg",
                                .chains = 4,
                                .warmup = 400,
                                .draws = 10,
                                .init = init,
                                .step_size_rule = SAL_STEP_SIZE_SEARCH };
    sal_run *run = run_it(model, &options);
    sal_run_summary s = summary_of(run);
    ck_assert_int_eq(s.unmoved, 4);
    ck_assert_double_eq_tol(s.step_size, sali_default_step_size(model->space, 1) * 0.05 * 0.2,
                            1e-12);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* Fewer chains than candidates: they take turns; every warm-up of the least length or more works.
 */
START_TEST(search_works_for_any_length)
{
    sal_model *model = tiny_formula_over("mixed", SAL_F64);
    for (int64_t warmup = SALI_SEARCH_LEAST; warmup < SALI_SEARCH_LEAST + 150; warmup += 7) {
        sal_run_options options = { .sampler = "ncg",
                                    .chains = 1 + warmup % 3,
                                    .warmup = warmup,
                                    .draws = 3,
                                    .tempering.replicas = 1 + warmup % 2,
                                    .step_size_rule = SAL_STEP_SIZE_SEARCH };
        sal_run *run = run_it(model, &options);
        for (int64_t c = 0; c < run->shards[0].chains->n; c++) {
            ck_assert_double_eq(run->shards[0].chains->step_size[c],
                                sali_run_step_sizes(run)->value[c % run->replicas]);
        }
        ck_assert_int_eq(sali_run_step_sizes(run)->search.candidates, 0);
        sal_run_destroy(run);
    }
    sal_model_destroy(model);
}
END_TEST

/* Forms of one model whose levels lie 1, sqrt 2 and 2 apart are searched alike. */
START_TEST(grid_scales_with_the_squared_spacing)
{
    double found[2];
    for (int spin = 0; spin < 2; spin++) {
        sal_model *model = tiny_formula_over(spin ? "spin" : "binary", SAL_F64);
        sali_memory memory = { 0 };
        sali_step_sizes s;
        ck_ok(sali_step_sizes_create(&s, &memory, model->space, 1, SAL_STEP_SIZE_SEARCH, 1, NULL,
                                     NULL),
              &(sal_error){ 0 });
        found[spin] = s.unit;
        ck_assert_double_eq_tol(exp(s.adaptation.low), 1e-8 * s.unit, 1e-12);
        ck_assert_double_eq_tol(exp(s.adaptation.high), 900 * s.unit, 1e-9);
        sali_memory_free(&memory);
        sal_model_destroy(model);
    }
    ck_assert_double_eq(found[1], 4 * found[0]);
}
END_TEST

START_TEST(rules_are_refused_where_they_make_no_sense)
{
    const sali_sampler *sampler;
    sal_model *model = tiny_formula_over("binary", SAL_F64);
    for (int rule = SAL_STEP_SIZE_ADAPT; rule <= SAL_STEP_SIZE_SEARCH; rule++) {
        for (int64_t k = 0; (sampler = sali_sampler_at(k)) != NULL; k++) {
            sal_run_options options = { .sampler = sampler->name,
                                        .draws = 5,
                                        .step_size_rule = (sal_step_size_rule)rule };
            bool has = sampler->has_step_size;
            if (!has && sali_sampler_serves(sampler, model)) {
                run_refused(model, &options, SAL_ERR_ARGUMENT, "no step size");
            } else if (!has_tunable_step(sampler) && sali_sampler_serves(sampler, model)) {
                run_refused(model, &options, SAL_ERR_UNSUPPORTED, "accepts every proposal");
            }
        }
    }
    sal_run_options options = { .sampler = "ncg",
                                .step_size = 0.5,
                                .step_size_rule = SAL_STEP_SIZE_ADAPT };
    run_refused(model, &options, SAL_ERR_ARGUMENT, "nothing to find");
    options.step_size = 0;
    options.step_size_rule = SAL_STEP_SIZE_SEARCH;
    options.warmup = SALI_SEARCH_LEAST - 1;
    run_refused(model, &options, SAL_ERR_ARGUMENT, "warm-up of 40");
    sal_model_destroy(model);
}
END_TEST

/* ---- what a run used */

static sal_tuning *tuning_of(const sal_run *run)
{
    sal_tuning *tuning = NULL;
    sal_error err;
    ck_ok(sal_run_tuning(run, &tuning, &err), &err);
    return tuning;
}

static bool same_tuning(const sal_tuning *a, const sal_tuning *b)
{
    bool same = strcmp(a->sampler, b->sampler) == 0 && a->variables == b->variables &&
                a->lists.n == b->lists.n;
    for (int64_t k = 0; same && k < a->lists.n; k++) {
        const sali_state_item *one = &a->lists.items[k], *two = &b->lists.items[k];
        same = strcmp(one->name, two->name) == 0 && one->count == two->count &&
               memcmp(one->data, two->data, (size_t)one->count * sizeof(double)) == 0;
    }
    return same;
}

static sal_run_options short_run(const sali_sampler *sampler, int64_t draws)
{
    return (sal_run_options){ .sampler = sampler->name,
                              .chains = 6,
                              .warmup = 300,
                              .draws = draws,
                              .thin = 1,
                              .tempering.replicas = can_be_tempered(sampler) ? 3 : 0,
                              .seed = 2 };
}

/* Two runs that differ in what comes after warm-up only have the same tuning: nothing adapts there.
 */
START_TEST(nothing_adapts_after_warm_up)
{
    const sali_sampler *sampler;
    sal_model *model = tiny_formula_over("mixed", SAL_F64);
    for (int64_t k = 0; (sampler = sali_sampler_at(k)) != NULL; k++) {
        sal_run_options one = short_run(sampler, 1), many = short_run(sampler, 900);
        if (!sali_sampler_serves(sampler, model)) {
            continue;
        }
        sal_run *a = run_it(model, &one), *b = run_it(model, &many);
        sal_tuning *of_a = tuning_of(a), *of_b = tuning_of(b);
        ck_assert_msg(same_tuning(of_a, of_b), "%s", sampler->name);
        ck_assert(one.tempering.replicas == 0 ||
                  sali_run_state_find(&of_a->lists, "temperatures")->count == 3);
        sal_tuning_destroy(of_a);
        sal_tuning_destroy(of_b);
        sal_run_destroy(a);
        sal_run_destroy(b);
    }
    sal_model_destroy(model);
}
END_TEST

/* Saved, read and given again, a tuning is used as it is. */
/* Another letter of the sampler's name in t.json is damage; where it is meant, the checksum goes.
 */
static void change_the_sampler(void)
{
    sal_error err;
    sali_bytes file;
    sal_tuning *read = NULL;
    ck_ok(sali_file_read(temp_path("t.json"), &file, &err), &err);
    char *text = (char *)file.data, *name = strstr(text, "\"sampler\": \"");
    ck_assert_ptr_nonnull(name);
    name[strlen("\"sampler\": \"")] = 'X';
    temp_write("t.json", text, (size_t)file.size);
    ck_fails(sal_tuning_open(temp_path("t.json"), &read, &err), SAL_ERR_DATA, &err,
             "t.json: the file is damaged");
    char *checksum = strstr(text, ",\n \"saltus_checksum\"");
    ck_assert_ptr_nonnull(checksum);
    memcpy(checksum, "}", 2);
    temp_write("t.json", text, strlen(text));
    ck_ok(sal_tuning_open(temp_path("t.json"), &read, &err), &err);
    ck_assert_int_eq(read->sampler[0], 'X');
    sal_tuning_destroy(read);
    sali_bytes_free(&file);
}

/* The checksum is of values: a file from another version of Jansson, which spells numbers
 * otherwise, is whole. This one was computed by another program. */
START_TEST(numbers_may_be_spelt_otherwise)
{
    static const char *const numbers[] = { "0.1", "0.10000000000000001", "1e-1", "0.11" };
    sal_error err;
    for (int k = 0; k < 4; k++) {
        char text[300];
        sal_tuning *read = NULL;
        snprintf(text, sizeof text,
                 "{\"values\": {\"step_size\": [%s]}, \"saltus_tuning\": 1, \"sampler\": \"ncg\", "
                 "\"variables\": 5, \"saltus_checksum\": \"f6dc25467d2c2c99\"}",
                 numbers[k]);
        temp_write("t.json", text, strlen(text));
        ck_assert_int_eq(sal_tuning_open(temp_path("t.json"), &read, &err),
                         k < 3 ? SAL_OK : SAL_ERR_DATA);
        sal_tuning_destroy(read);
    }
}
END_TEST

START_TEST(tuning_is_saved_and_given_again)
{
    const sali_sampler *sampler;
    sal_model *model = tiny_formula_over("mixed", SAL_F64);
    sal_error err;
    for (int64_t k = 0; (sampler = sali_sampler_at(k)) != NULL; k++) {
        sal_run_options options = short_run(sampler, 5);
        sal_tuning *read = NULL;
        if (!sali_sampler_serves(sampler, model)) {
            continue;
        }
        sal_run *first = run_it(model, &options);
        sal_tuning *tuning = tuning_of(first);
        ck_ok(sal_tuning_save(tuning, temp_path("t.json"), &err), &err);
        ck_ok(sal_tuning_open(temp_path("t.json"), &read, &err), &err);
        ck_assert(same_tuning(tuning, read));
        change_the_sampler();
        options.tuning = read;
        options.tempering.replicas = 0;
        options.seed = 77;
        /* Files of before a setting was there do not name it. */
        read->sampler[strcspn(read->sampler, ":")] = '\0';
        sal_run *second = run_it(model, &options);
        sal_tuning *again = tuning_of(second);
        ck_assert_msg(same_tuning(tuning, again), "%s", sampler->name);
        ck_assert_int_eq(second->replicas, first->replicas);
        sal_tuning_destroy(tuning);
        sal_tuning_destroy(read);
        sal_tuning_destroy(again);
        sal_run_destroy(first);
        sal_run_destroy(second);
    }
    sal_model_destroy(model);
}
END_TEST

/* 40 steps of all chains from their first state, of the sampler as it is after a run. */
static void walk_on(const sal_run *run, int32_t *codes)
{
    const sal_space *space = run->model->space;
    int64_t at = 0;
    for (int64_t k = 0; k < run->n_shards; k++) {
        sali_chains *chains = run->shards[k].chains;
        int64_t n = chains->n * space->n_variables;
        memset(chains->codes, 0, (size_t)n * sizeof *codes);
        for (int64_t c = 0; c < chains->n; c++) {
            chains->step[c] = 1000000;
        }
        sali_chains_embed(chains);
        sali_engine(run->sampler)->refresh(run->shards[k].self, chains);
        sali_sampler_steps(run->sampler, run->shards[k].self, chains, 40);
        memcpy(codes + at, chains->codes, (size_t)n * sizeof *codes);
        at += n;
    }
}

/* The sampler that a tuning makes is the one that found it: from the same states by the same random
 * numbers it goes the same way. */
START_TEST(a_tuning_makes_the_sampler_that_found_it)
{
    static const char *const spaces[] = { "mixed", "binary" };
    const sali_sampler *sampler;
    for (size_t s = 0; s < 2; s++) {
        sal_model *model = tiny_formula_over(spaces[s], SAL_F64);
        for (int64_t k = 0; (sampler = sali_sampler_at(k)) != NULL; k++) {
            sal_run_options options = { .sampler = sampler->name,
                                        .chains = 6,
                                        .threads = 1,
                                        .warmup = 400,
                                        .draws = 1,
                                        .seed = 3 };
            int32_t walks[2][6 * 7];
            if (!sali_sampler_serves(sampler, model)) {
                continue;
            }
            sal_run *found = run_it(model, &options);
            sal_tuning *tuning = tuning_of(found);
            options.warmup = -1;
            options.tuning = tuning;
            sal_run *given = run_it(model, &options);
            walk_on(found, walks[0]);
            walk_on(given, walks[1]);
            size_t size = (size_t)(6 * model->space->n_variables) * sizeof(int32_t);
            ck_assert_msg(memcmp(walks[0], walks[1], size) == 0, "%s, %s", sampler->name,
                          spaces[s]);
            sal_tuning_destroy(tuning);
            sal_run_destroy(found);
            sal_run_destroy(given);
        }
        sal_model_destroy(model);
    }
}
END_TEST

/* Values that no warm-up finds, and that would lead a sampler out of its arrays. */
START_TEST(values_out_of_range_are_refused)
{
    static const struct {
        const char *sampler, *spelt, *name;
        double value;
    } cases[] = {
        { "pas", "pas:length=adapt,balance=sqrt,radius=0", "sampler.length", 1e12 },
        { "pas", "pas:length=adapt,balance=sqrt,radius=0", "sampler.length", 0 },
        { "pas", "pas:length=adapt,balance=sqrt,radius=0", "sampler.length", 1.5 },
        { "pas", "pas:length=adapt,balance=sqrt,radius=0", "sampler.length", 5 },
        { "mh-uniform", "mh-uniform:radius=adapt", "sampler.radius", -3 },
        { "mh-uniform", "mh-uniform:radius=adapt", "sampler.radius", 1e18 },
    };
    sal_model *model = tiny_formula_over("binary", SAL_F64);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_tuning *tuning = sali_tuning_make(cases[k].spelt, 4);
        ck_assert(sali_tuning_add(tuning, cases[k].name, 1, &cases[k].value));
        sal_run_options options = {
            .sampler = cases[k].sampler, .draws = 5, .warmup = 5, .tuning = tuning
        };
        run_refused(model, &options, SAL_ERR_DATA, cases[k].name);
        sal_tuning_destroy(tuning);
    }
    sal_model_destroy(model);
}
END_TEST

static int stop_at_once(int64_t done, int64_t total, void *data)
{
    (void)total;
    return done >= *(const int64_t *)data;
}

START_TEST(numbers_of_a_tuning_are_found_by_name)
{
    double ladder[] = { 1, 1.5, 2 };
    sal_model *model = tiny_formula_over("binary", SAL_F64);
    sal_run_options options = { .sampler = "ncg",
                                .step_size = 0.25,
                                .tempering = { .replicas = 3, .temperatures = ladder },
                                .draws = 4 };
    const double *values = NULL, *untouched = ladder;
    int64_t n = 0;
    sal_error err;
    sal_run *run = run_it(model, &options);
    sal_tuning *tuning = tuning_of(run);
    ck_ok(sal_tuning_values(tuning, "step_size", &values, &n, &err), &err);
    ck_assert_int_eq(n, 3);
    ck_assert_double_eq(values[0], 0.25);
    ck_ok(sal_tuning_values(tuning, "temperatures", &values, NULL, &err), &err);
    ck_assert_mem_eq(values, ladder, sizeof ladder);
    ck_ok(sal_tuning_values(tuning, "temperatures", NULL, &n, &err), &err);
    n = 77;
    ck_fails(sal_tuning_values(tuning, "step", &untouched, &n, &err), SAL_ERR_NOT_FOUND, &err,
             "has no 'step'; it has: step_size, temperatures");
    ck_assert(untouched == ladder && n == 77);
    sal_tuning_destroy(tuning);
    sal_run_destroy(run);
    options = (sal_run_options){ .sampler = "lsb1", .warmup = 10, .draws = 4 };
    run = run_it(model, &options);
    tuning = tuning_of(run);
    ck_ok(sal_tuning_values(tuning, "sampler.theta", &values, &n, &err), &err);
    ck_assert_int_eq(n, 4);
    sal_tuning_destroy(tuning);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

START_TEST(a_warm_up_that_was_stopped_leaves_no_tuning)
{
    sal_model *model = tiny_formula_over("binary", SAL_F64);
    int64_t at = 50;
    sal_run_options options = { .sampler = "ncg",
                                .warmup = 500,
                                .callbacks = { .progress = stop_at_once, .progress_data = &at } };
    sal_tuning *mark = (sal_tuning *)&mark, *tuning = mark;
    sal_error err;
    sal_run *run = run_it(model, &options);
    ck_fails(sal_run_tuning(run, &tuning, &err), SAL_ERR_ARGUMENT, &err, "warm-up");
    ck_assert_ptr_eq(tuning, mark);
    sal_run_destroy(run);
    at = 600;
    run = run_it(model, &options);
    ck_assert(summary_of(run).stopped);
    sal_tuning_destroy(tuning_of(run));
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* A tuning made by hand, for ncg over 4 variables; values NULL: no such list. */
static sal_tuning *make_tuning(const char *sampler, int64_t variables, int64_t n_steps,
                               const double *steps, int64_t n, const double *temperatures)
{
    sal_tuning *tuning = sali_tuning_make(sampler, variables);
    ck_assert(!steps || sali_tuning_add(tuning, "step_size", n_steps, steps));
    ck_assert(!temperatures || sali_tuning_add(tuning, "temperatures", n, temperatures));
    return tuning;
}

START_TEST(tuning_of_something_else_is_refused)
{
    static const double steps[] = { 0.2, 0.3 }, zero[] = { 0, 0 }, minus[] = { -1, 1 };
    static const double rising[] = { 1, 2 }, falling[] = { 1, 0.5 };
    const struct {
        const char *sampler;
        int64_t variables, n_steps;
        const double *steps;
        int64_t n;
        const double *temperatures;
        const char *text;
    } cases[] = {
        { "gwg:radius=0", 4, 1, steps, 0, NULL, "of sampler 'gwg:radius=0'" },
        { "avg", 5, 1, steps, 0, NULL, "5 free variables" },
        { "avg", 4, 0, NULL, 0, NULL, "'step_size' of 1" },
        { "avg", 4, 2, steps, 0, NULL, "'step_size' of 1" },
        { "avg", 4, 1, steps, 2, rising, "'step_size' of 2" },
        { "avg", 4, 1, zero, 0, NULL, "step_size is 0" },
        { "avg", 4, 1, minus, 0, NULL, "step_size is -1" },
        { "avg", 4, 2, steps, 2, falling, "number 2 is 0.5" },
        { "avg", 4, 1, steps, 1, rising, "2 to 1000" },
        { "avg", 4, 1, steps, 0, rising, "has 0 temperatures" },
    };
    sal_model *model = tiny_formula_over("binary", SAL_F64);
    sal_run_options options = { .sampler = "avg", .draws = 5, .warmup = 5 };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_tuning *tuning = make_tuning(cases[k].sampler, cases[k].variables, cases[k].n_steps,
                                         cases[k].steps, cases[k].n, cases[k].temperatures);
        options.tuning = tuning;
        run_refused(model, &options, SAL_ERR_DATA, cases[k].text);
        sal_tuning_destroy(tuning);
    }
    sal_tuning *tuning = make_tuning("avg", 4, 2, steps, 2, rising);
    options.tuning = tuning;
    options.tempering.replicas = 3;
    run_refused(model, &options, SAL_ERR_DATA, "2 temperatures, not 3");
    options.tempering.replicas = 0;
    options.step_size = 1;
    run_refused(model, &options, SAL_ERR_ARGUMENT, "both step_size and tuning");
    options.step_size = 0;
    options.annealing.on = true;
    run_refused(model, &options, SAL_ERR_ARGUMENT, "anneals");
    sal_tuning_destroy(tuning);
    sal_model_destroy(model);
}
END_TEST

/* ---- samplers' own values */

/* Settings with which each sampler that has values of its own finds some. */
static const char *const finders[] = { "gibbs:scan=adaptive",
                                       "gwg:radius=search",
                                       "gwg:hops=adapt",
                                       "mh-uniform",
                                       "mh-uniform:radius=search",
                                       "dlmc:radius=search",
                                       "dlmcf:radius=search",
                                       "pas",
                                       "pafs",
                                       "ncg:preconditioner=diagonal",
                                       "ncg:cycle=5,preconditioner=none",
                                       "ncg:cycle=30,preconditioner=diagonal",
                                       "dula:preconditioner=diagonal",
                                       "pavg:preconditioner=empirical",
                                       "pavg:preconditioner=empirical,adapt-step-size=0.1",
                                       "lsb1",
                                       "lsb2:blocks=3,units=4" };
enum { FINDERS = sizeof finders / sizeof *finders };

START_TEST(samplers_with_values_of_their_own_are_tried)
{
    const sali_sampler *sampler;
    for (int64_t k = 0; (sampler = sali_sampler_at(k)) != NULL; k++) {
        bool tried = false;
        for (int i = 0; i < FINDERS; i++) {
            tried |= sali_sampler_find(finders[i]) == sampler;
        }
        bool adapts = sampler->engine ? sampler->engine->adapt != NULL : sampler->adapt != NULL;
        ck_assert_msg(tried == adapts, "%s", sampler->name);
    }
}
END_TEST

/* Whether the values of a run are other than those that a sampler begins with. */
static bool has_learned(const sal_run *run)
{
    sali_state_item of_run[SALI_MOST_STATE], of_new[SALI_MOST_STATE];
    void *shared = NULL;
    sal_error err;
    bool same = true;
    ck_ok(sali_sampler_share(run->sampler, run->model, &run->settings, &shared, &err), &err);
    int64_t n = sali_sampler_items(run->sampler, run->shared, NULL, SALI_STATE_TUNED, of_run);
    ck_assert_int_eq(sali_sampler_items(run->sampler, shared, NULL, SALI_STATE_TUNED, of_new), n);
    for (int64_t k = 0; k < n; k++) {
        same &=
            memcmp(of_run[k].data, of_new[k].data, (size_t)of_run[k].count * sizeof(double)) == 0;
    }
    sali_engine(run->sampler)->unshare(shared);
    return !same;
}

/* From the same states, with the same random numbers, two runs' chains move alike. */
static void check_alike(sal_run *a, sal_run *b, const char *name)
{
    for (int64_t k = 0; k < a->n_shards; k++) {
        sali_chains *x = a->shards[k].chains, *y = b->shards[k].chains;
        size_t bytes = (size_t)(x->n * x->space->n_variables) * sizeof *x->codes;
        memcpy(y->codes, x->codes, bytes);
        memcpy(y->step, x->step, (size_t)x->n * sizeof *x->step);
        y->seed = x->seed;
        sali_chains_embed(y);
        sali_engine(a->sampler)->refresh(a->shards[k].self, x);
        sali_engine(b->sampler)->refresh(b->shards[k].self, y);
        for (int step = 0; step < 60; step++) {
            sali_sampler_steps(a->sampler, a->shards[k].self, x, 1);
            sali_sampler_steps(b->sampler, b->shards[k].self, y, 1);
            ck_assert_msg(memcmp(x->codes, y->codes, bytes) == 0, "%s, step %d", name, step);
        }
    }
}

/* A run that is given the values that another one found makes the proposals that that one makes:
 * all that is made of them is made anew. */
START_TEST(given_values_are_used)
{
    sal_error err;
    for (int k = 0; k < FINDERS; k++) {
        sal_model *models[3] = { tiny_formula_over("mixed", SAL_F64), NULL, NULL };
        bool learned = false;
        ck_ok(sal_model_open("ising:side=4,theta=0.1", SAL_F64, &models[1], &err), &err);
        ck_ok(sal_model_open("ordinal-poly2:dim=3,levels=20", SAL_F64, &models[2], &err), &err);
        for (int m = 0; m < 3; m++) {
            sal_run_options options = {
                .sampler = finders[k], .chains = 6, .warmup = 400, .draws = 3, .seed = 4
            };
            options.step_size = strstr(finders[k], "adapt-step-size") ? 0.7 : 0;
            sal_run *first = run_it(models[m], &options);
            sal_tuning *tuning = tuning_of(first);
            options.tuning = tuning;
            options.step_size = 0;
            options.seed = 5;
            sal_run *second = run_it(models[m], &options);
            learned |= has_learned(first);
            check_alike(first, second, finders[k]);
            sal_tuning_destroy(tuning);
            sal_run_destroy(first);
            sal_run_destroy(second);
            sal_model_destroy(models[m]);
        }
        ck_assert_msg(learned, "%s", finders[k]);
    }
}
END_TEST

/* Values that a sampler cannot work with are refused by name. */
START_TEST(unusable_values_are_refused)
{
    static const double zero[4] = { 0.5, 0.5, 0, 0 }, more[4] = { 1, 1, 1, 1 };
    static const double half[] = { 1.5 }, none[] = { 0 }, far[] = { 5 }, steps[] = { 0.2 };
    const struct {
        const char *sampler, *name;
        int64_t n;
        const double *values;
        const char *text;
    } cases[] = {
        { "gibbs:scan=adaptive", "sampler.scan", 4, zero, "sampler.scan: number 3 is 0" },
        { "gibbs:scan=adaptive", "sampler.scan", 4, more, "add up to 4" },
        { "mh-uniform", "sampler.radius", 1, half, "sampler.radius: number 1 is 1.5" },
        { "mh-uniform", "sampler.radius", 1, none, "sampler.radius: number 1 is 0" },
        { "mh-uniform", "sampler.radius", 1, far, "from 1 to 4" },
        { "pas", "sampler.length", 1, half, "sampler.length: number 1 is 1.5" },
        { "pafs", "sampler.length", 1, none, "sampler.length: number 1 is 0" },
        { "pafs", "sampler.length", 1, far, "from 1 to 4" },
        { "gwg:hops=adapt", "sampler.hops", 1, far, "from 1 to 4" },
        { "ncg:cycle=4", "sampler.beta", 1, half, "sampler.beta: number 1 is 1.5" },
        { "ncg:preconditioner=diagonal", "sampler.preconditioner", 4, zero,
          "sampler.preconditioner: number 3 is 0" },
    };
    sal_model *model = tiny_formula_over("binary", SAL_F64);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_run_options options = { .sampler = cases[k].sampler, .draws = 5, .warmup = 5 };
        sal_run *run = run_it(model, &options);
        sal_tuning *found = tuning_of(run);
        sal_tuning *tuning = make_tuning(found->sampler, 4, 1, steps, 0, NULL);
        ck_assert(sali_tuning_add(tuning, cases[k].name, cases[k].n, cases[k].values));
        options.tuning = tuning;
        run_refused(model, &options, SAL_ERR_DATA, cases[k].text);
        sal_tuning_destroy(found);
        sal_tuning_destroy(tuning);
        sal_run_destroy(run);
    }
    sal_model_destroy(model);
}
END_TEST

/* ---- cycles of step sizes */

/* The step size follows the acceptance of whole cycles, and beta_0 is found. */
START_TEST(cycles_are_adapted_as_a_whole)
{
    static const char *const samplers[] = { "ncg", "ncg:cycle=1", "ncg:cycle=8", "ncg:cycle=90" };
    static const int64_t windows[] = { 25, 25, 32, 90 };
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open("ising:side=8", SAL_F64, &model, &err), &err);
    for (int k = 0; k < 4; k++) {
        const sal_run_options options = { .sampler = samplers[k],
                                          .chains = 20,
                                          .warmup = 2000,
                                          .draws = 1000,
                                          .record.warmup = true,
                                          .seed = 4 };
        sal_run *run = run_it(model, &options);
        sal_run_summary s = summary_of(run);
        ck_assert_int_eq(sali_run_adapt_window(run), windows[k]);
        ck_assert_msg(fabs(s.acceptance_rate - 0.574) < 0.05, "%s: acceptance %g", samplers[k],
                      s.acceptance_rate);
        if (k >= 2) {
            sal_tuning *tuning = tuning_of(run);
            const double *beta;
            ck_ok(sal_tuning_values(tuning, "sampler.beta", &beta, NULL, &err), &err);
            ck_assert(*beta > 0.5 && *beta <= 1); /* it begins at 1/2 */
            sal_tuning_destroy(tuning);
        }
        sal_run_destroy(run);
    }
    ck_fails(sal_sampler_find("ncg:beta=0.8", model, 0, NULL, &err), SAL_ERR_UNSUPPORTED, &err,
             "with these settings: its beta needs a cycle of 2 steps or more");
    ck_fails(sal_sampler_find("ncg:cycle=4,beta=0.3", model, 0, NULL, &err), SAL_ERR_UNSUPPORTED,
             &err, "with these settings: beta is from 1/2, the weight without a cycle, to 1");
    ck_fails(sal_sampler_find("ncg:cycle=4,beta=0", model, 0, NULL, &err), SAL_ERR_ARGUMENT, &err,
             "beta=0; expected search or a number above 0 to 1");
    ck_fails(sal_sampler_find("gwg:hops=0", model, 0, NULL, &err), SAL_ERR_ARGUMENT, &err,
             "hops=0; expected adapt or an integer from 1 to 1024");
    sal_model_destroy(model);
}
END_TEST

/* ---- who is learned from */

enum { COLD = 6 };

/* COLD chains of one temperature, each followed by `hot` ones that are hotter. */
static bench open_with_hot(const sal_model *model, const char *specification, int64_t hot)
{
    const sali_sampler *sampler;
    sali_sampler_settings settings;
    sal_error err;
    ck_ok(sali_sampler_choose(specification, model, 0, &sampler, &settings, &err), &err);
    bench b = bench_open(sampler, model, &settings, 1, COLD * (1 + hot), 0);
    for (int64_t c = 0; c < b.chains->n; c++) {
        int64_t group = c / (1 + hot), replica = c % (1 + hot);
        b.chains->id[c] = (uint32_t)(group + 100 * replica);
        b.chains->beta[c] = replica ? 0.05 : 0.9;
        state_codes(model->space, 5 * group, b.chains->codes + c * model->space->n_variables);
    }
    sali_chains_embed(b.chains);
    sali_engine(sampler)->refresh(b.self, b.chains);
    return b;
}

static void warm_up(bench *b, const sal_model *model)
{
    sali_warmup w = { .model = model,
                      .n_shards = 1,
                      .chains = &b->chains,
                      .selves = &b->self,
                      .window = 25,
                      .total = 800 };
    for (w.done = 25; w.done <= w.total; w.done += 25) {
        bool changed = false;
        sal_error err;
        sali_sampler_steps(b->sampler, b->self, b->chains, 25);
        ck_ok(sali_engine(b->sampler)->adapt(b->shared, &w, &changed, &err), &err);
        if (changed) {
            sali_engine(b->sampler)->refresh(b->self, b->chains);
        }
        sali_chains_take_sums(b->chains);
    }
}

/* What a sampler finds in warm-up depends on its coldest chains only, be they at beta = 1 or, as in
 * annealing, not. */
START_TEST(hot_chains_are_not_learned_from)
{
    static const char *const spaces[] = { "mixed", "binary" };
    for (int k = 0; k < 2 * FINDERS; k++) {
        const char *name = finders[k / 2];
        sal_model *model = tiny_formula_over(spaces[k % 2], SAL_F64);
        bench cold = open_with_hot(model, name, 0), both = open_with_hot(model, name, 2);
        sali_state_item a[SALI_MOST_STATE], b[SALI_MOST_STATE];
        warm_up(&cold, model);
        warm_up(&both, model);
        int64_t n = sali_sampler_items(cold.sampler, cold.shared, NULL, SALI_STATE_TUNED, a);
        ck_assert_int_eq(n,
                         sali_sampler_items(cold.sampler, both.shared, NULL, SALI_STATE_TUNED, b));
        for (int64_t i = 0; i < n; i++) {
            const double *x = a[i].data, *y = b[i].data;
            for (int64_t j = 0; j < a[i].count; j++) {
                ck_assert_msg(fabs(x[j] - y[j]) <= 1e-9 * fmax(1, fabs(x[j])),
                              "%s: %s of %lld: %g, %g", name, a[i].name, (long long)j, x[j], y[j]);
            }
        }
        bench_close(&cold);
        bench_close(&both);
        sal_model_destroy(model);
    }
}
END_TEST

/* At the first temperature of annealing, where nearly all is accepted, paths become long. */
START_TEST(annealing_adapts_lengths)
{
    sal_run_options options = {
        .sampler = "pas", .chains = 4, .warmup = 300, .draws = 20, .annealing.on = true
    };
    sal_model *model = NULL;
    sali_state_item items[SALI_MOST_STATE];
    sal_error err;
    ck_ok(sal_model_open("ising:side=4,theta=0.1", SAL_F64, &model, &err), &err);
    sal_run *run = run_it(model, &options);
    ck_assert_int_eq(sali_sampler_items(run->sampler, run->shared, NULL, SALI_STATE_TUNED, items),
                     1);
    ck_assert_double_gt(*(const double *)items[0].data, 5);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

START_TEST(hostile_files_are_refused)
{
    static const struct {
        const char *content, *text;
    } cases[] = {
        { "", "t.json" },
        { "[", "t.json:1" },
        { "[]", "saltus_tuning" },
        { "{}", "saltus_tuning" },
        { "{\"saltus_tuning\": 2}", "saltus_tuning" },
        { "{\"saltus_tuning\": 1}", "sampler" },
        { "{\"saltus_tuning\": 1, \"sampler\": 3, \"variables\": 4, \"values\": {}}", "sampler" },
        { "{\"saltus_tuning\": 1, \"sampler\": \"a\", \"variables\": 1.5, \"values\": {}}",
          "variables" },
        { "{\"saltus_tuning\": 1, \"sampler\": \"a\", \"variables\": 1, \"values\": []}",
          "values" },
        { "{\"saltus_tuning\": 1, \"sampler\": \"a\", \"variables\": 1, \"values\": {\"x\": 1}}",
          "\"x\"" },
        { "{\"saltus_tuning\": 1, \"sampler\": \"a\", \"variables\": 1, \"values\": "
          "{\"x\": [1, \"2\"]}}",
          "finite numbers" },
        { "{\"saltus_tuning\": 1, \"sampler\": \"a\\u001b[31m\", \"variables\": 1, \"values\": {}}",
          "sampler" },
        { "{\"saltus_tuning\": 1, \"saltus_tuning\": 1}", "duplicate" },
        { "{\"saltus_tuning\": 1, \"sampler\": \"a\", \"variables\": 1, \"values\": "
          "{\"x\": [1e999]}}",
          "t.json" },
    };
    sal_error err;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_tuning *mark = (sal_tuning *)&mark, *tuning = mark;
        temp_write("t.json", cases[k].content, strlen(cases[k].content));
        ck_fails(sal_tuning_open(temp_path("t.json"), &tuning, &err), SAL_ERR_DATA, &err,
                 cases[k].text);
        ck_assert_ptr_eq(tuning, mark);
    }
    static char many[1 << 20];
    size_t used =
        (size_t)sprintf(many, "{\"saltus_tuning\": 1, \"sampler\": \"a\", \"variables\": 1, "
                              "\"values\": {\"x\": [1]");
    for (int k = 0; k < 50000; k++) { /* quickly, too */
        used += (size_t)sprintf(many + used, ",\"%d\": [1]", k);
    }
    used += (size_t)sprintf(many + used, "}}");
    temp_write("t.json", many, used);
    ck_fails(sal_tuning_open(temp_path("t.json"), &(sal_tuning *){ NULL }, &err), SAL_ERR_DATA,
             &err, "more lists");
    ck_fails(sal_tuning_open(temp_path("none.json"), &(sal_tuning *){ NULL }, &err),
             SAL_ERR_NOT_FOUND, &err, "none.json");
}
END_TEST

static Suite *tuning_suite(void)
{
    Suite *suite = suite_create("tuning");
    TCase *tcase = tcase_create("tuning");
    tcase_set_timeout(tcase, 240);
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, search_finds_the_largest_jump);
    tcase_add_test(tcase, search_knows_which_chain_had_which_size);
    tcase_add_test(tcase, search_takes_the_smallest_of_equal_sizes);
    tcase_add_test(tcase, search_works_for_any_length);
    tcase_add_test(tcase, grid_scales_with_the_squared_spacing);
    tcase_add_test(tcase, rules_are_refused_where_they_make_no_sense);
    tcase_add_test(tcase, nothing_adapts_after_warm_up);
    tcase_add_test(tcase, samplers_with_values_of_their_own_are_tried);
    tcase_add_test(tcase, given_values_are_used);
    tcase_add_test(tcase, cycles_are_adapted_as_a_whole);
    tcase_add_test(tcase, unusable_values_are_refused);
    tcase_add_test(tcase, hot_chains_are_not_learned_from);
    tcase_add_test(tcase, annealing_adapts_lengths);
    tcase_add_test(tcase, tuning_is_saved_and_given_again);
    tcase_add_test(tcase, numbers_may_be_spelt_otherwise);
    tcase_add_test(tcase, a_tuning_makes_the_sampler_that_found_it);
    tcase_add_test(tcase, values_out_of_range_are_refused);
    tcase_add_test(tcase, numbers_of_a_tuning_are_found_by_name);
    tcase_add_test(tcase, a_warm_up_that_was_stopped_leaves_no_tuning);
    tcase_add_test(tcase, tuning_of_something_else_is_refused);
    tcase_add_test(tcase, hostile_files_are_refused);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(tuning_suite());
}
