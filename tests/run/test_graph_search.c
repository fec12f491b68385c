/* SPDX-License-Identifier: MIT */
/* Models over graphs: best states against exhaustive search, and what samplers see of them. */
#include "graph_formulas.h"

#include "models/structure/interactions.h"
#include "models/zoo/random_graph.h"
#include "run_helpers.h"

/* ---- optima */

/* The best of all states of a graph of n nodes; f by formula. */
static double search_all(int n, model_formula *formula, const graph_case *t, int32_t *best)
{
    double largest = -INFINITY;
    for (int state = 0; state < 1 << n; state++) {
        int32_t codes[16];
        for (int i = 0; i < n; i++) {
            codes[i] = state >> i & 1;
        }
        double f = formula(codes, t);
        if (f > largest) {
            largest = f;
            memcpy(best, codes, (size_t)n * sizeof *codes);
        }
    }
    return largest;
}

/* With a penalty above the largest weight the best state is feasible; a pair of ones joined by an
 * edge shows that one below it is not enough. */
START_TEST(penalty_above_the_largest_weight_makes_optima_feasible)
{
    model_formula *formulas[] = { independent_set, clique };
    for (int k = 0; k < 4; k++) {
        sali_content content = odd_graph(k % 2, SALI_VARTYPE_NONE);
        graph_case t = { &content.graph, 0, 0, 1, 1.01, 0, 1 };
        int32_t best[16];
        int violated;
        search_all(8, formulas[k / 2], &t, best);
        selection(&t, best, k < 2, &violated);
        ck_assert_int_eq(violated, 0);
    }
    int64_t pair[] = { 0, 1 };
    double one = 1;
    sali_content content = { .kind = SALI_CONTENT_GRAPH };
    content.graph = (sali_graph){ .nodes = 2, .edges = 1, .pairs = pair, .weights = &one };
    const double penalties[] = { 0.99, 1.01 };
    for (int k = 0; k < 2; k++) {
        char spec[64];
        int32_t codes[] = { 1, 1, 1, 0 };
        double f[2];
        sal_error err;
        snprintf(spec, sizeof spec, "independent-set:penalty=%g", penalties[k]);
        sal_model *model = make_of(spec, &content, SAL_F64);
        ck_ok(sal_model_evaluate(model, 2, codes, f, NULL, NULL, &err), &err);
        ck_assert_int_eq(f[0] > f[1], k == 0);
        sal_model_destroy(model);
    }
}
END_TEST

static double anneal(sal_model *model, const char *sampler, double to, int64_t draws,
                     int32_t *codes)
{
    sal_run_options options = { .sampler = sampler,
                                .draws = draws,
                                .warmup = 100,
                                .annealing = { .on = true, .to = to },
                                .threads = 1 };
    sal_run *run = run_it(model, &options);
    double best;
    sal_error err;
    ck_ok(sal_run_best(run, codes, &best, &err), &err);
    sal_run_destroy(run);
    return best;
}

START_TEST(annealing_finds_the_optimum)
{
    const struct {
        const char *specification;
        model_formula *formula;
        double density;
    } problems[] = { { "max-cut", cut, 0.5 },
                     { "independent-set", independent_set, 0.25 },
                     { "clique", clique, 0.6 } };
    for (int k = 0; k < 3; k++) {
        sali_random_graph spec = { .nodes = 14, .p = problems[k].density, .seed = 8 };
        sali_content content = { .kind = SALI_CONTENT_GRAPH };
        sal_error err;
        ck_ok(sali_random_graph_draw(&spec, &content.graph, &err), &err);
        graph_case t = { &content.graph, 0, 0, 1, 2, 0, 1 };
        const char *samplers[] = { "gibbs", "gwg", "pas" };
        int32_t codes[16], best[16];
        double optimum = search_all(14, problems[k].formula, &t, best);
        sal_model *model = make_of(problems[k].specification, &content, SAL_F64);
        for (int s = 0; s < 3; s++) {
            double found = anneal(model, samplers[s], 0.1, 200, codes);
            check_close(found, optimum, 1e-12, problems[k].specification);
            check_close(problems[k].formula(codes, &t), optimum, 1e-12, "best state");
        }
        sal_model_destroy(model);
        sali_graph_free(&content.graph);
    }
}
END_TEST

/* The size and density of G1 of the G-set. The optimum of such a graph is about
 * n (d/4 + 0.763 sqrt(d/4)) = 11715 less effects of its size (Dembo, Montanari & Sen 2017). */
START_TEST(annealing_cuts_a_random_graph)
{
    if (TEST_SANITIZED) {
        test_skipped("sanitizers are too slow for it");
        return;
    }
    sal_model *model = make_of("max-cut:nodes=800,degree=48,seed=1", NULL, SAL_F64);
    int32_t codes[800];
    double best = anneal(model, "gibbs", 0, 100, codes);
    ck_assert_double_ge(best, 11550);
    ck_assert_double_le(best, 11850);
    sal_model_destroy(model);
}
END_TEST

/* ---- what samplers see */

START_TEST(colours_follow_the_edges)
{
    const char *specifications[] = { "ising", "potts", "max-cut", "independent-set" };
    int64_t ring[] = { 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 0 };
    double ones[] = { 1, 1, 1, 1, 1, 1 };
    sali_content content = { .kind = SALI_CONTENT_GRAPH };
    content.graph = (sali_graph){ .nodes = 6, .edges = 6, .pairs = ring, .weights = ones };
    for (int k = 0; k < 4; k++) {
        sal_model *model = make_of(specifications[k], &content, 0);
        sali_interactions graph;
        int64_t colour[6];
        bool known = false;
        sal_error err;
        ck_ok(sali_interactions_create(model, &graph, &known, &err), &err);
        ck_assert(known);
        for (int64_t v = 0; v < 6; v++) {
            ck_assert_int_eq(graph.begin[v + 1] - graph.begin[v], 2);
        }
        ck_assert_int_eq(sali_interactions_colour(&graph, colour), 2);
        sali_interactions_free(&graph);
        sal_model_destroy(model);
    }
}
END_TEST

START_TEST(large_graphs_are_made)
{
    const char *specifications[] = { "ising-er:nodes=100000,degree=20,weights=normal",
                                     "max-cut:nodes=100000,degree=20",
                                     "independent-set:nodes=100000,degree=20",
                                     "clique:nodes=100000,density=0.0002" };
    int32_t *codes = calloc(100000, sizeof *codes);
    for (int k = 0; k < (TEST_SANITIZED ? 1 : 4); k++) {
        sal_model *model = make_of(specifications[k], NULL, 0);
        double f;
        sal_error err;
        ck_assert_int_eq(sal_space_variables(sal_model_space(model)), 100000);
        codes[7] = k == 3; /* a clique of one */
        ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
        ck_assert(k == 0 ? isfinite(f) : f == (k == 3));
        ck_assert_int_eq(check_pairwise(model), k < 3);
        sal_model_destroy(model);
    }
    free(codes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("graph_search");
    TCase *tc = tcase_create("graph_search");
    tcase_add_test(tc, penalty_above_the_largest_weight_makes_optima_feasible);
    tcase_add_test(tc, annealing_finds_the_optimum);
    tcase_add_test(tc, annealing_cuts_a_random_graph);
    tcase_add_test(tc, colours_follow_the_edges);
    tcase_add_test(tc, large_graphs_are_made);
    suite_add_tcase(suite, tc);
    return test_main(suite);
}
