/* SPDX-License-Identifier: MIT */
/* Exchanges of clusters between chains of tempered runs: what draws follow, where exchanges happen,
 * what is refused. The exchange by itself: test_cluster_exchange.c. */
#include "test.h"

#include <math.h>
#include <stdlib.h>

#include "run/part.h"
#include "run/parts/houdayer.h"
#include "run/parts/tempering.h"
#include "run_helpers.h"

static sal_model *open_model(const char *specification)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(specification, SAL_F64, &model, &err), &err);
    return model;
}

static double *rising_temperatures(int n, double factor)
{
    double *temperatures = malloc((size_t)n * sizeof *temperatures);
    for (int r = 0; r < n; r++) {
        temperatures[r] = pow(factor, r);
    }
    return temperatures;
}

/* ---- draws */

/* The last states of many chains are independent, also of chains that exchange clusters: their
 * target is a product. With 7 samplers or more, a correct one fails with a probability of about
 * 1e-5 over the choice of seed. */
START_TEST(draws_follow_the_target)
{
    static const double temperatures[] = { 1, 1.6, 4 };
    const sali_sampler *sampler;
    for (int64_t k = 0; (sampler = sali_sampler_at(k)) != NULL; k++) {
        sal_space *space = tiny_space_make(tiny_space_named("factors"));
        sal_model *model = tiny_tables(space, SAL_F64);
        const sal_run_options options = { .sampler = sampler->name,
                                          .chains = TEST_CHAINS(1500),
                                          .warmup = 120,
                                          .draws = 1,
                                          .tempering = { .replicas = 3,
                                                         .temperatures = temperatures,
                                                         .swap_every = 3,
                                                         .houdayer = true },
                                          .threads = 1,
                                          .seed = 12 };
        if (can_be_tempered(sampler) && sali_sampler_serves(sampler, model)) {
            sal_run *run = run_it(model, &options);
            const double p = last_states_p(model, run);
            ck_assert_msg(p > 1e-6, "%s: p = %g", sampler->name, p);
            ck_assert_int_eq(summary_of(run).houdayer_levels, 3);
            sal_run_destroy(run);
        }
        sal_model_destroy(model);
        sal_space_destroy(space);
    }
}
END_TEST

/* f of draws is f of their states, whatever a sampler keeps of its chains. */
START_TEST(draws_come_with_their_f)
{
    enum { CHAINS = 4, DRAWS = 50, V = 25 };
    static const char *const samplers[] = { "gibbs", "gwg", "ncg", "pavg", "lb" };
    sal_model *model = open_model("ising:side=5,theta=0.15,bias=0.2");
    for (size_t k = 0; k < sizeof samplers / sizeof *samplers; k++) {
        const sal_run_options options = {
            .sampler = samplers[k],
            .chains = CHAINS,
            .warmup = 100,
            .draws = DRAWS,
            .thin = 1,
            .tempering = { .replicas = 3, .swap_every = 2, .houdayer = true },
            .record.draws = true
        };
        sal_run *run = run_it(model, &options);
        for (int64_t at = 0; at < CHAINS * DRAWS; at++) {
            int32_t codes[V];
            double f;
            sal_error err;
            for (int64_t v = 0; v < V; v++) {
                codes[v] = sali_run_draw(run, at / DRAWS, at % DRAWS, v);
            }
            ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
            ck_assert_double_eq_tol(sal_run_log_probs(run)[at], f, 1e-9);
        }
        sal_run_destroy(run);
    }
    sal_model_destroy(model);
}
END_TEST

/* Ladders of few chains are cut into parts, which shards have; those of many chains are whole. The
 * first chains have the same random streams in both: their draws are the same. */
START_TEST(cut_ladders_exchange_what_whole_ones_do)
{
    enum { REPLICAS = 36, DRAWS = 160 };
    double *temperatures = rising_temperatures(REPLICAS, 1.07);
    sal_model *model = open_model("ising:side=4,theta=0.2");
    sal_run_options options = { .sampler = "gibbs",
                                .chains = 2,
                                .draws = DRAWS,
                                .warmup = -1,
                                .tempering = { .replicas = REPLICAS,
                                               .temperatures = temperatures,
                                               .swap_every = 3,
                                               .houdayer = true },
                                .record.draws = true,
                                .threads = 2 };
    sal_run *cut = run_it(model, &options);
    options.tempering.houdayer = false;
    sal_run *without = run_it(model, &options);
    options.tempering.houdayer = true;
    options.chains = 33;
    sal_run *whole = run_it(model, &options);
    ck_assert(sali_run_has_seams(cut) && !sali_run_has_seams(whole));
    int64_t others = 0;
    for (int64_t at = 0; at < 2 * DRAWS * 16; at++) {
        const int64_t c = at / (DRAWS * 16), draw = at / 16 % DRAWS, v = at % 16;
        const int32_t code = sali_run_draw(cut, c, draw, v);
        ck_assert_int_eq(code, sali_run_draw(whole, c, draw, v));
        others += code != sali_run_draw(without, c, draw, v);
    }
    ck_assert_int_gt(others, 100); /* exchanges were made */
    sal_run_destroy(cut);
    sal_run_destroy(without);
    sal_run_destroy(whole);
    sal_model_destroy(model);
    free(temperatures);
}
END_TEST

/* f of all slots of a run, in their order. */
static void read_f(const sal_run *run, double *f)
{
    for (int64_t k = 0; k < run->n_shards; k++) {
        const sali_chains *chains = run->shards[k].chains;
        memcpy(f + run->slot_begin[k], chains->f, (size_t)chains->n * sizeof *f);
    }
}

/* An exchange keeps the sum of f of the replicas of chains 2k and 2k + 1 at each temperature, and
 * moves no other chain. */
START_TEST(replicas_of_one_temperature_exchange_clusters)
{
    enum { CHAINS = 5, REPLICAS = 4, SLOTS = CHAINS * REPLICAS };
    sal_model *model = open_model("ising-er:graph=torus,nodes=36,group=6,weights=sign,theta=0.4,"
                                  "bias=0.3");
    const sal_run_options options = { .sampler = "gibbs",
                                      .chains = CHAINS,
                                      .draws = 20,
                                      .tempering = { .replicas = REPLICAS, .houdayer = true } };
    sal_run *run = run_it(model, &options);
    const int64_t every = sali_run_ladder(run)->every;
    int changes = 0;
    for (int64_t k = 1; k <= 20; k++) {
        double f[SLOTS], g[SLOTS];
        bool refresh = false;
        sal_error err;
        read_f(run, f);
        ck_ok(
            sali_part_houdayer.meet(run->selves[SALI_PART_houdayer], every * k + 1, &refresh, &err),
            &err);
        ck_assert(!refresh); /* it is not due */
        ck_ok(sali_part_houdayer.meet(run->selves[SALI_PART_houdayer], every * k, &refresh, &err),
              &err);
        ck_assert(refresh);
        sali_run_refresh(run);
        read_f(run, g);
        for (int64_t a = 0; a < SLOTS; a++) {
            const int64_t c = a / REPLICAS;
            const int64_t b = c == CHAINS - 1 ? a : a + (c % 2 == 0 ? REPLICAS : -REPLICAS);
            ck_assert_double_eq_tol(g[a] + g[b], f[a] + f[b], 1e-9);
            changes += g[a] != f[a];
        }
    }
    ck_assert_int_gt(changes, 20);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* ---- where exchanges are made */

/* On a square lattice clusters of differing spins do not percolate. */
START_TEST(exchanges_are_made_where_clusters_are_small)
{
    sal_model *model = open_model("ising-er:graph=torus,nodes=64,group=8,weights=sign,theta=0.5");
    double *temperatures = rising_temperatures(6, 1.5);
    const sal_run_options options = {
        .sampler = "gibbs",
        .chains = 4,
        .draws = 200,
        .warmup = 64 * 200,
        .tempering = { .replicas = 6, .temperatures = temperatures, .houdayer = true }
    };
    sal_run *run = run_it(model, &options);
    const sal_run_summary s = summary_of(run);
    ck_assert_int_eq(s.houdayer_levels, 6);
    for (int64_t r = 0; r < 6; r++) {
        ck_assert_msg(s.houdayer_shares[r] > 0.1 && s.houdayer_shares[r] < SALI_HOUDAYER_LIMIT,
                      "%d: %g", (int)r, s.houdayer_shares[r]);
    }
    sal_run_destroy(run);
    sal_model_destroy(model);
    free(temperatures);
}
END_TEST

/* Every visible variable interacts with every hidden one: clusters have all differing variables,
 * unless these are of one layer. Draws then have no exchanges. */
START_TEST(no_exchanges_are_made_where_clusters_are_all)
{
    static const int64_t pairs[] = { 0, 4, 0, 5, 0, 6, 0, 7, 1, 4, 1, 5, 1, 6, 1, 7,
                                     2, 4, 2, 5, 2, 6, 2, 7, 3, 4, 3, 5, 3, 6, 3, 7 };
    double J[16], h[8];
    sal_model *model = NULL;
    sal_error err;
    sal_space *space = sal_space_create();
    ck_ok(sal_space_add(space, &(sal_block)TINY_SPIN(8), &err), &err);
    tiny_normals(31, 16, 0.1, J);
    tiny_normals(32, 8, 0.1, h);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr s = sal_state(tape);
    sal_expr f = sal_add(sal_edges(s, sal_constant(tape, J, SAL_SHAPE(16)), 16, pairs),
                         sal_dot(sal_constant(tape, h, SAL_SHAPE(8)), s));
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    const sal_run_options options = { .sampler = "gibbs",
                                      .chains = 4,
                                      .draws = 200,
                                      .warmup = 8 * 200,
                                      .tempering = { .replicas = 3, .houdayer = true } };
    sal_run *run = run_it(model, &options);
    const sal_run_summary summary = summary_of(run);
    char text[SAL_ERROR_SIZE];
    ck_assert_int_eq(summary.houdayer_levels, 0);
    ck_assert_double_gt(summary.houdayer_shares[0], SALI_HOUDAYER_LIMIT);
    ck_assert(sal_run_warning(&summary, text, sizeof text));
    ck_assert_ptr_nonnull(strstr(text, "exchanged no clusters"));
    sal_run_destroy(run);
    sal_model_destroy(model);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}
END_TEST

/* Two or three chains have one pair that exchanges clusters, which R-hat does not know. */
START_TEST(few_chains_are_reported)
{
    sal_model *model = open_model("ising:side=4,theta=0.1");
    sal_run_options options = { .sampler = "gibbs",
                                .chains = 3,
                                .draws = 400,
                                .tempering = { .replicas = 3, .houdayer = true } };
    char text[SAL_ERROR_SIZE];
    for (; options.chains < 5; options.chains++) {
        sal_run *run = run_it(model, &options);
        const sal_run_summary s = summary_of(run);
        ck_assert_int_gt(s.houdayer_levels, 0);
        const bool found =
            sal_run_warning(&s, text, sizeof text) && strstr(text, "4 chains or more") != NULL;
        ck_assert(found == (options.chains == 3));
        sal_run_destroy(run);
    }
    sal_model_destroy(model);
}
END_TEST

/* ---- what is refused */

START_TEST(mistakes_are_named)
{
    const struct {
        const char *model;
        sal_run_options options;
        sal_status status;
        const char *text;
    } cases[] = {
        { "ising:side=3", { .tempering.houdayer = true }, SAL_ERR_ARGUMENT, "wants tempering" },
        { "ising:side=3",
          { .annealing.on = true, .tempering.houdayer = true },
          SAL_ERR_ARGUMENT,
          "wants tempering" },
        { "ising:side=3",
          { .chains = 1, .tempering = { .replicas = 3, .houdayer = true } },
          SAL_ERR_ARGUMENT,
          "there is one" },
        { "ising-dense:dim=6",
          { .tempering = { .replicas = 3, .houdayer = true } },
          SAL_ERR_UNSUPPORTED,
          "every two variables interact" },
        { "ordinal-poly2:dim=4",
          { .sampler = "gibbs", .tempering = { .replicas = 3, .houdayer = true } },
          SAL_ERR_UNSUPPORTED,
          "which variables interact" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_model *model = open_model(cases[k].model);
        run_refused(model, &cases[k].options, cases[k].status, cases[k].text);
        sal_model_destroy(model);
    }
}
END_TEST

/* The exchange of a cluster would change the sums of both states. */
START_TEST(fixed_sums_are_refused)
{
    static const int64_t pairs[] = { 0, 1, 1, 2, 2, 3, 3, 4, 4, 5 };
    const double J[] = { 1, -1, 1, 1, -1 };
    const sal_block block = {
        .name = "x", .kind = SAL_SPIN, .count = 6, .fixed_sum = true, .sum = 2
    };
    sal_model *model = NULL;
    sal_error err;
    sal_space *space = sal_space_create();
    ck_ok(sal_space_add(space, &block, &err), &err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr s = sal_state(tape);
    ck_ok(sal_model_from_tape(tape, sal_edges(s, sal_constant(tape, J, SAL_SHAPE(5)), 5, pairs),
                              &model, &err),
          &err);
    const sal_run_options options = { .tempering = { .replicas = 3, .houdayer = true } };
    run_refused(model, &options, SAL_ERR_UNSUPPORTED, "exchange of clusters cannot keep the fixed");
    sal_model_destroy(model);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}
END_TEST

static Suite *houdayer_suite(void)
{
    Suite *suite = suite_create("houdayer");
    TCase *tcase = tcase_create("houdayer");
    tcase_add_test(tcase, draws_follow_the_target);
    tcase_add_test(tcase, draws_come_with_their_f);
    tcase_add_test(tcase, cut_ladders_exchange_what_whole_ones_do);
    tcase_add_test(tcase, replicas_of_one_temperature_exchange_clusters);
    tcase_add_test(tcase, exchanges_are_made_where_clusters_are_small);
    tcase_add_test(tcase, no_exchanges_are_made_where_clusters_are_all);
    tcase_add_test(tcase, few_chains_are_reported);
    tcase_add_test(tcase, mistakes_are_named);
    tcase_add_test(tcase, fixed_sums_are_refused);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(houdayer_suite());
}
