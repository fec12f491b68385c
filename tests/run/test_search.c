/* SPDX-License-Identifier: MIT */
/* Searches: schedules of temperatures, heating, and several coolings. */
#include "test.h"

#include <math.h>

#include "graph_formulas.h"
#include "run/parts/annealing.h"
#include "run/parts/best.h"
#include "run/search/search.h"
#include "run_helpers.h"

static sal_model *opened(const char *specification)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(specification, SAL_F64, &model, &err), &err);
    return model;
}

/* ---- several coolings */

static const sal_run_options small = { .sampler = "gwg",
                                       .chains = 3,
                                       .draws = 40,
                                       .warmup = 20,
                                       .thin = 10,
                                       .seed = 5,
                                       .annealing = { .on = true } };

/* The mean over chains of the largest f that each met; of a run in one shard or several. */
static double mean_of_best(const sal_run *run)
{
    double sum = 0;
    for (int64_t k = 0; k < run->n_shards; k++) {
        for (int64_t c = 0; c < run->shards[k].chains->n; c++) {
            sum += sali_run_best(run)[k].worth[c];
        }
    }
    return sum / (double)run->options.chains;
}

/* The variance of that mean, by the spread of the chains. */
static double variance_of_best(const sal_run *run)
{
    const double mean = mean_of_best(run), n = (double)run->options.chains;
    double sum = 0;
    for (int64_t k = 0; k < run->n_shards; k++) {
        for (int64_t c = 0; c < run->shards[k].chains->n; c++) {
            sum += pow(sali_run_best(run)[k].worth[c] - mean, 2);
        }
    }
    return sum / (n - 1) / n;
}

/* The temperature that the second cooling begins at: the one that the first one, a run of the
 * options `small`, found by the specific heat, unless a trial from there on ends lower. */
static double from_after_trial(sal_model *model, const sal_run *first)
{
    const sal_run_summary s = summary_of(first);
    const double from = sali_heat_temperature(first);
    const double share = log(from / s.anneal_to) / log(s.anneal_from / s.anneal_to);
    sal_run_options options = small;
    options.draws = (int64_t)fmax(16, fmin(2 * share * 40, 40));
    options.seed = sali_cooling_seed(small.seed, SALI_TRIAL_NUMBER);
    options.annealing.from = from;
    options.annealing.to = s.anneal_to;
    sal_run *trial = run_it(model, &options);
    const double error = sqrt(variance_of_best(first) + variance_of_best(trial));
    const bool fails = mean_of_best(trial) + 2 * error < mean_of_best(first);
    sal_run_destroy(trial);
    return fails ? s.anneal_from : from;
}

/* A search of n coolings is the best of n runs, each of which can be made alone. */
START_TEST(a_search_is_the_best_of_its_coolings)
{
    enum { COOLINGS = 9 };
    sal_model *model = opened("max-cut:nodes=40,weights=normal");
    sal_run_options options = small;
    options.annealing.coolings = COOLINGS;
    sal_run *search = run_it(model, &options);
    sal_run_summary s = summary_of(search);
    ck_assert_int_eq(s.coolings, COOLINGS);
    ck_assert(s.search_seconds > 0);
    options.annealing.coolings = 0;
    sal_run *first = run_it(model, &options);
    double best = -INFINITY, from = from_after_trial(model, first);
    int64_t which = -1;
    for (int64_t k = 0; k < COOLINGS; k++) {
        sal_run_options one = small;
        one.seed = sali_cooling_seed(small.seed, k);
        if (k > 0) {
            one.annealing.from = from;
            one.annealing.to = summary_of(first).anneal_to;
        }
        sal_run *run = run_it(model, &one);
        double f = summary_of(run).best_log_prob;
        from = mean_of_best(run) < mean_of_best(first) ? summary_of(first).anneal_from : from;
        if (f > best) {
            best = f;
            which = k;
        }
        if (k == s.cooling) {
            ck_assert_mem_eq(sal_run_log_probs(run), sal_run_log_probs(search),
                             3 * 40 * sizeof(double));
        }
        sal_run_destroy(run);
    }
    ck_assert_int_eq(which, s.cooling);
    ck_assert(best == s.best_log_prob);
    sal_run_destroy(first);
    sal_run_destroy(search);
    sal_model_destroy(model);
}
END_TEST

/* A maximum cut of 200 nodes with 900 edges at random, their weights 10^u, u uniform in 0 .. 5. */
static sal_model *wide_weights(void)
{
    enum { NODES = 200, EDGES = 900 };
    static int64_t pairs[2 * EDGES];
    static double weights[EDGES];
    const sali_stream stream = { .seed = 1, .purpose = SALI_RNG_TEST };
    sali_content content = { .kind = SALI_CONTENT_GRAPH };
    for (uint32_t e = 0; e < EDGES; e++) {
        const int64_t a = sali_rng_below(&stream, 3 * e, NODES);
        const int64_t b = sali_rng_below(&stream, 3 * e + 1, NODES - 1);
        pairs[2 * e] = a;
        pairs[2 * e + 1] = (a + 1 + b) % NODES;
        weights[e] = pow(10, 5 * sali_rng_uniform_at(&stream, 3 * e + 2));
    }
    content.graph =
        (sali_graph){ .nodes = NODES, .edges = EDGES, .pairs = pairs, .weights = weights };
    return make_of("max-cut", &content, SAL_F64);
}

/* Where differences have all sizes, a cooling that begins where chains freeze is a quench. Searches
 * against single coolings as long as the last cooling of a search. Of 24 pairs the searches are
 * above by .13% with a standard error of .08%, and below by .37% (.11%) if all but the first
 * cooling are quenches; the mean of eight has a standard error of .14%. */
START_TEST(coolings_reach_what_one_cooling_reaches_where_weights_span_decades)
{
    enum { COOLINGS = 4, PAIRS = 8 };
    sal_model *model = wide_weights();
    double search_sum = 0, single_sum = 0;
    for (uint64_t seed = 1; seed <= PAIRS; seed++) {
        sal_run_options options = { .sampler = "gwg",
                                    .seed = seed,
                                    .annealing = { .on = true, .coolings = COOLINGS } };
        sal_run *search = run_it(model, &options);
        const sal_run_summary s = summary_of(search);
        options.annealing.coolings = 0;
        options.draws = sali_cooling_draws(COOLINGS - 1);
        sal_run *single = run_it(model, &options);
        const sal_run_summary t = summary_of(single);
        ck_assert_double_ge(s.anneal_from, .99 * t.anneal_from);
        ck_assert_double_le(s.anneal_to, 1.01 * t.anneal_to);
        search_sum += s.best_log_prob;
        single_sum += t.best_log_prob;
        sal_run_destroy(search);
        sal_run_destroy(single);
    }
    ck_assert_double_ge(search_sum, .997 * single_sum);
    sal_model_destroy(model);
}
END_TEST

/* The second of two coolings begins hot where the first one's chains froze at many temperatures,
 * which a trial shows, and cold where they did not. A cooling that begins cold where weights span
 * decades is never the best. */
START_TEST(the_second_cooling_begins_where_it_is_of_use)
{
    sal_model *models[] = { wide_weights(),
                            opened("max-cut:graph=torus,nodes=800,group=8,weights=sign,seed=1") };
    const uint64_t seeds[] = { 6, 2 };
    for (int m = 0; m < 2; m++) {
        int hot = 0, cold = 0;
        for (uint64_t seed = 1; seed <= seeds[m]; seed++) {
            sal_run_options options = { .sampler = "gwg",
                                        .seed = seed,
                                        .annealing = { .on = true, .coolings = 2 } };
            sal_run *search = run_it(models[m], &options);
            const sal_run_summary s = summary_of(search);
            options.annealing.coolings = 0;
            options.draws = sali_cooling_draws(0);
            sal_run *first = run_it(models[m], &options);
            const sal_run_summary t = summary_of(first);
            ck_assert_double_ge(s.best_log_prob, t.best_log_prob);
            ck_assert_int_eq(s.coolings, 2);
            hot += s.cooling == 1 && s.anneal_from > .99 * t.anneal_from;
            cold += s.cooling == 1 && s.anneal_from < .5 * t.anneal_from;
            sal_run_destroy(search);
            sal_run_destroy(first);
        }
        ck_assert_msg(m == 0 ? hot > 0 && cold == 0 : cold > 0 && hot == 0, "%d: %d hot, %d cold",
                      m, hot, cold);
        sal_model_destroy(models[m]);
    }
}
END_TEST

START_TEST(coolings_have_seeds_and_lengths_of_their_own)
{
    ck_assert_uint_eq(sali_cooling_seed(7, 0), 7);
    for (int64_t k = 0; k < 20; k++) {
        for (int64_t j = 0; j < k; j++) {
            ck_assert_uint_ne(sali_cooling_seed(7, k), sali_cooling_seed(7, j));
        }
        ck_assert_uint_lt(sali_cooling_seed(7, k), (uint64_t)1 << 63);
    }
    ck_assert_int_eq(sali_cooling_draws(0), 240);
    ck_assert_int_eq(sali_cooling_draws(1), 480);
    ck_assert_int_eq(sali_cooling_draws(4), 3840);
    ck_assert_int_lt(sali_cooling_draws(1000000), INT32_MAX);
}
END_TEST

/* The time decides only how many coolings there are. */
START_TEST(time_decides_only_how_many)
{
    sal_model *model = opened("independent-set:nodes=50,degree=8");
    sal_run_options options = small;
    options.draws = 0;
    options.annealing.seconds = 0.3;
    sal_run *timed = run_it(model, &options);
    sal_run_summary s = summary_of(timed);
    ck_assert_int_ge(s.coolings, 1);
    ck_assert_double_lt(s.search_seconds > 0 ? s.search_seconds : 0, TEST_SANITIZED ? 60 : 10);
    options.annealing.seconds = 0;
    options.annealing.coolings = s.coolings;
    sal_run *counted = run_it(model, &options);
    sal_run_summary t = summary_of(counted);
    if (!s.stopped) {
        int32_t a[50], b[50];
        sal_error err;
        ck_ok(sal_run_decoded(timed, a, NULL, &err), &err);
        ck_ok(sal_run_decoded(counted, b, NULL, &err), &err);
        ck_assert(t.cooling == s.cooling && t.coolings == s.coolings);
        ck_assert_mem_eq(a, b, sizeof a);
    }
    sal_run_destroy(timed);
    sal_run_destroy(counted);
    sal_model_destroy(model);
}
END_TEST

static int stop_later(int64_t done, int64_t total, void *data)
{
    int64_t *most = data;
    ck_assert_int_le(done, total);
    return done >= *most;
}

START_TEST(a_search_can_be_stopped)
{
    sal_model *model = opened("max-cut:nodes=40");
    sal_run_options options = small;
    int64_t most = 1300; /* in the third cooling of 420 steps, after a trial of 180 to 420 */
    options.annealing.coolings = 5;
    options.callbacks.progress = stop_later;
    options.callbacks.progress_data = &most;
    sal_run *run = run_it(model, &options);
    ck_assert_int_eq(summary_of(run).coolings, 3);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* -s of one variable, and NaN after so many times. */
static double fails_later(const double *x, double *gradient, void *data)
{
    int *left = data;
    if (gradient) {
        gradient[0] = -1;
    }
    return (*left)-- > 0 ? -x[0] : NAN;
}

/* What was found before a cooling that fails is kept, and the report says so; a first one that
 * fails is an error. */
START_TEST(a_cooling_that_fails_ends_the_search)
{
    sal_space *space = sal_space_create();
    sal_error err;
    int left = 2000;
    sal_model *model = NULL;
    ck_ok(sal_space_add(space, &(sal_block){ .name = "x", .kind = SAL_BINARY, .count = 1 }, &err),
          &err);
    const sal_callback callback = { .f = fails_later, .data = &left };
    ck_ok(sal_model_from_callback(space, &callback, &model, &err), &err);
    sal_run_options options = { .sampler = "gibbs",
                                .chains = 1,
                                .threads = 1,
                                .draws = 10,
                                .warmup = 10,
                                .annealing = { .on = true, .coolings = 1000, .from = 2, .to = 1 } };
    sal_run *run = run_it(model, &options);
    sal_run_summary s = summary_of(run);
    ck_assert_int_gt(s.coolings, 1);
    ck_assert_int_lt(s.coolings, 1000);
    ck_assert_double_eq(s.best_log_prob, 0);
    ck_assert_ptr_nonnull(s.missed);
    char text[SAL_ERROR_SIZE], begin[64];
    ck_assert(sal_run_warning(&s, text, sizeof text));
    snprintf(begin, sizeof begin, "Cooling %lld failed", (long long)s.coolings + 1);
    ck_assert_ptr_nonnull(strstr(text, begin));
    ck_assert_ptr_nonnull(strstr(text, "NaN"));
    sal_run_destroy(run);
    run_refused(model, &options, SAL_ERR_MODEL, "NaN");
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

static int keep_state(const sal_run_state *state, void *data)
{
    (void)state;
    (void)data;
    return 0;
}

START_TEST(what_a_search_cannot_do_is_refused)
{
    sal_model *model = opened("max-cut:nodes=10");
    sal_run_options options = small;
    options.annealing.coolings = 2;
    options.callbacks.state = keep_state;
    run_refused(model, &options, SAL_ERR_ARGUMENT, "saving the run's state");
    options = small;
    options.annealing.coolings = -1;
    run_refused(model, &options, SAL_ERR_ARGUMENT, "annealing.coolings");
    options = small;
    options.annealing.seconds = NAN;
    run_refused(model, &options, SAL_ERR_ARGUMENT, "annealing.seconds");
    options = small;
    options.annealing.schedule = SAL_ANNEAL_RLSA;
    run_refused(model, &options, SAL_ERR_ARGUMENT, "has the sampler rlsa");
    sal_model_destroy(model);
}
END_TEST

/* ---- schedules */

START_TEST(linear_falls_to_the_last_temperature)
{
    sal_model *model = opened("ising:side=4,theta=0.4");
    for (int k = 0; k < 2; k++) {
        sal_run_options options = { .sampler = k ? NULL : "gibbs",
                                    .draws = 20,
                                    .annealing = { .schedule =
                                                       k ? SAL_ANNEAL_RLSA : SAL_ANNEAL_LINEAR,
                                                   .from = 8,
                                                   .to = 0.5 } };
        sal_run *run = run_it(model, &options);
        ck_assert_str_eq(summary_of(run).sampler, k ? "rlsa" : "gibbs");
        ck_assert_double_eq(sali_anneal_temperature_at(run, 0), 8);
        ck_assert_double_eq(sali_anneal_temperature_at(run, 10 * run->options.thin), 4);
        ck_assert_double_eq(sali_anneal_temperature_at(run, 19 * run->options.thin), 0.5);
        sal_run_destroy(run);
    }
    sal_model_destroy(model);
}
END_TEST

START_TEST(chains_freeze_at_a_tenth_of_the_heat)
{
    const double heat[] = { 10, 90, 30, 20, 8, 12, 1, 5, 1 };
    ck_assert_int_eq(sali_heat_edge(9, heat), 5); /* 12 is more than a tenth of 90, and 5 is not */
    ck_assert_int_eq(sali_heat_edge(4, heat), 3);
    ck_assert_int_eq(sali_heat_edge(1, heat), 0);
    ck_assert_int_eq(sali_heat_edge(3, (const double[3]){ 0 }), 0);
    const double rising[] = { 0, 1, 2 };
    ck_assert_int_eq(sali_heat_edge(3, rising), 2);
}
END_TEST

/* Heating is the same for any number of threads, and after a resume; the temperature rises to the
 * peak of the specific heat and falls again. */
START_TEST(heating_is_reproducible)
{
    sal_model *model = opened("ising:side=6,theta=0.3");
    sal_run_options options = { .sampler = "gibbs",
                                .chains = 70,
                                .draws = 400,
                                .warmup = 50,
                                .seed = 3,
                                .threads = 1,
                                .record.draws = true,
                                .annealing = { .schedule = SAL_ANNEAL_REHEAT } };
    sal_run *run = run_it(model, &options);
    sal_run_summary s = summary_of(run);
    ck_assert_int_ge(s.reheats, 3);
    ck_assert(s.reheat_to < s.anneal_from && s.reheat_to > s.anneal_to);
    options.threads = 3;
    sal_run *again = run_it(model, &options);
    ck_assert_mem_eq(sal_run_log_probs(run), sal_run_log_probs(again), 70 * 400 * sizeof(double));
    sal_run_destroy(again);
    int64_t most = 9000;
    options.callbacks.progress = stop_later;
    options.callbacks.progress_data = &most;
    sal_run *part = run_it(model, &options);
    sal_run_options rest;
    sal_error err;
    ck_ok(sal_run_state_options(sal_run_last_state(part), &rest, &err), &err);
    ck_assert(rest.annealing.schedule == SAL_ANNEAL_REHEAT);
    rest.record.draws = true;
    sal_run *whole = run_it(model, &rest);
    ck_assert_mem_eq(sal_run_log_probs(run), sal_run_log_probs(whole), 70 * 400 * sizeof(double));
    ck_assert_int_eq(summary_of(whole).reheats, s.reheats);
    sal_run_destroy(whole);
    sal_run_destroy(part);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* Later coolings begin where heating rose to. */
START_TEST(coolings_with_heating_begin_where_it_rises_to)
{
    sal_model *model = opened("max-cut:nodes=60,weights=normal");
    sal_run_options options = { .sampler = "gibbs",
                                .draws = 240,
                                .annealing = { .schedule = SAL_ANNEAL_REHEAT } };
    int seen = 0;
    for (options.seed = 1; options.seed <= 8; options.seed++) {
        options.annealing.coolings = 0;
        sal_run *one = run_it(model, &options);
        options.annealing.coolings = 2;
        sal_run *two = run_it(model, &options);
        sal_run_summary s = summary_of(one), t = summary_of(two);
        if (t.cooling == 1 && s.reheats > 0) {
            ck_assert_double_eq(t.anneal_from, s.reheat_to);
            seen++;
        }
        sal_run_destroy(one);
        sal_run_destroy(two);
    }
    ck_assert_int_ge(seen, 1);
    sal_model_destroy(model);
}
END_TEST

static int64_t number_below(const double *f, int64_t n, double than)
{
    int64_t below = 0;
    for (int64_t c = 0; c < n; c++) {
        below += f[c] < than;
    }
    return below;
}

/* A quarter of 70 chains, over three shards, takes the best state: those with the smallest f, of
 * equal ones the first; all others stay. */
START_TEST(the_worst_quarter_takes_the_best_state)
{
    enum { CHAINS = 70, V = 8, WORST = 17 };
    sal_model *model = opened("max-cut:nodes=8,degree=3");
    sal_run_options options = { .sampler = "gibbs",
                                .chains = CHAINS,
                                .draws = 4,
                                .seed = 2,
                                .annealing = {
                                    .schedule = SAL_ANNEAL_REHEAT, .from = 9, .to = 3 } };
    sal_run *run = run_it(model, &options);
    int32_t best[V], before[CHAINS * V], after[CHAINS * V];
    double f[CHAINS];
    sal_error err;
    ck_ok(sal_run_best(run, best, NULL, &err), &err);
    for (int64_t k = 0, n = 0; k < run->n_shards; n += run->shards[k++].chains->n) {
        const sali_chains *chains = run->shards[k].chains;
        memcpy(before + n * V, chains->codes, (size_t)(chains->n * V) * sizeof *before);
        memcpy(f + n, chains->f, (size_t)chains->n * sizeof *f);
    }
    ck_ok(sali_share_best(run, &err), &err);
    for (int64_t k = 0, n = 0; k < run->n_shards; n += run->shards[k++].chains->n) {
        const sali_chains *chains = run->shards[k].chains;
        memcpy(after + n * V, chains->codes, (size_t)(chains->n * V) * sizeof *after);
    }
    int64_t moved = 0, ties = 0;
    for (int64_t c = 0; c < CHAINS; c++) {
        int64_t worse = number_below(f, CHAINS, f[c]), same_before = 0;
        for (int64_t k = 0; k < c; k++) {
            same_before += f[k] == f[c];
        }
        const bool moves = worse + same_before < WORST;
        ck_assert_mem_eq(after + c * V, moves ? best : before + c * V, V * sizeof *best);
        moved += moves;
        ties += !moves && worse < WORST;
    }
    ck_assert_int_eq(moved, WORST);
    ck_assert_int_gt(run->n_shards, 2);
    ck_assert_int_gt(ties, 0);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* ---- rlsa */

/* Flips of a model whose differences are known: the formula, by hand. */
START_TEST(rlsa_flips_by_its_formula)
{
    sal_model *model = opened("max-cut:nodes=6,weights=normal");
    sal_sampler_info info;
    sal_error err;
    ck_ok(sal_sampler_find("rlsa:d=2", model, 0, &info, &err), &err);
    ck_assert(!info.exact);
    int32_t codes[6] = { 0, 1, 1, 0, 1, 0 };
    double f, rows[12], half[6], sorted[6];
    ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, rows, &err), &err);
    for (int v = 0; v < 6; v++) {
        half[v] = sorted[v] = rows[2 * v + !codes[v]] / 2;
    }
    for (int a = 0; a < 6; a++) {
        for (int b = a + 1; b < 6; b++) {
            if (sorted[b] > sorted[a]) {
                double x = sorted[a];
                sorted[a] = sorted[b];
                sorted[b] = x;
            }
        }
    }
    const sali_sampler *rlsa = NULL;
    sali_sampler_settings settings;
    ck_ok(sali_sampler_choose("rlsa:d=2", model, 0, &rlsa, &settings, &err), &err);
    sali_chains *chains = NULL;
    void *self = NULL;
    ck_ok(sali_chains_create(model, 1, sali_sampler_wants(rlsa), 1, &chains, &err), &err);
    memcpy(chains->codes, codes, sizeof codes);
    sali_chains_embed(chains);
    ck_ok(sali_sampler_open(rlsa, &settings, NULL, chains, &self, &err), &err);
    chains->beta[0] = 0.7;
    sali_engine(rlsa)->refresh(self, chains);
    for (int state = 0; state < 64; state++) {
        int32_t to[6];
        double expected = 0, log_q;
        for (int v = 0; v < 6; v++) {
            double p = 1 / (1 + exp(-0.7 * (half[v] - sorted[1])));
            to[v] = state >> v & 1;
            expected += log(to[v] != codes[v] ? p : 1 - p);
        }
        sali_engine(rlsa)->log_q(self, chains, to, &log_q);
        ck_assert_double_eq_tol(log_q, expected, 1e-10);
    }
    sali_sampler_close(rlsa, self);
    sali_chains_destroy(chains);
    sal_model_destroy(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("search");
    TCase *tc = tcase_create("search");
    tcase_add_test(tc, a_search_is_the_best_of_its_coolings);
    tcase_add_test(tc, the_second_cooling_begins_where_it_is_of_use);
    tcase_add_test(tc, coolings_have_seeds_and_lengths_of_their_own);
    tcase_add_test(tc, time_decides_only_how_many);
    tcase_add_test(tc, a_search_can_be_stopped);
    tcase_add_test(tc, a_cooling_that_fails_ends_the_search);
    tcase_add_test(tc, what_a_search_cannot_do_is_refused);
    tcase_add_test(tc, linear_falls_to_the_last_temperature);
    tcase_add_test(tc, chains_freeze_at_a_tenth_of_the_heat);
    tcase_add_test(tc, heating_is_reproducible);
    tcase_add_test(tc, coolings_with_heating_begin_where_it_rises_to);
    tcase_add_test(tc, the_worst_quarter_takes_the_best_state);
    tcase_add_test(tc, rlsa_flips_by_its_formula);
    suite_add_tcase(suite, tc);
    tc = statistics_create("coolings");
    tcase_add_test(tc, coolings_reach_what_one_cooling_reaches_where_weights_span_decades);
    suite_add_tcase(suite, tc);
    return test_main(suite);
}
