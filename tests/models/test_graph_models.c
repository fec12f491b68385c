/* SPDX-License-Identifier: MIT */
/* Models over graphs, from a file's content or random, against formulas; what they refuse. */
#include "graph_formulas.h"

#include "alloc_fail.h"
#include "models/lattice.h"
#include "models/zoo/random_graph.h"

/* ---- formulas */

/* beta (theta sum over ordered pairs of A_ij s_i s_j + sum (h_i + bias) s_i), A symmetric. */
static double ising(const int32_t *codes, const void *data)
{
    const graph_case *t = data;
    const sali_graph *g = t->graph;
    double A[8][8] = { { 0 } }, f = 0;
    for (int64_t e = 0; e < g->edges; e++) {
        A[g->pairs[2 * e]][g->pairs[2 * e + 1]] += g->weights[e];
        A[g->pairs[2 * e + 1]][g->pairs[2 * e]] += g->weights[e];
    }
    for (int i = 0; i < 8; i++) {
        double si = codes[i] ? t->high : t->low;
        f += ((g->node_weights ? g->node_weights[i] : 0) + t->bias) * si;
        for (int j = 0; j < 8; j++) {
            f += t->theta * A[i][j] * si * (codes[j] ? t->high : t->low);
        }
    }
    return t->beta * f;
}

/* beta (bias sum s - E), E = sum h_i s_i + sum J_ij s_i s_j. */
static double minus_energy(const int32_t *codes, const void *data)
{
    const graph_case *t = data;
    const sali_graph *g = t->graph;
    double E = 0, sum = 0;
    for (int i = 0; i < 8; i++) {
        double si = codes[i] ? t->high : t->low;
        E += (g->node_weights ? g->node_weights[i] : 0) * si;
        sum += si;
    }
    for (int64_t e = 0; e < g->edges; e++) {
        double si = codes[g->pairs[2 * e]] ? t->high : t->low;
        E += g->weights[e] * si * (codes[g->pairs[2 * e + 1]] ? t->high : t->low);
    }
    return t->beta * (t->bias * sum - E);
}

START_TEST(ising_of_a_graph)
{
    for (int node_weights = 0; node_weights <= 1; node_weights++) {
        sali_content content = odd_graph(node_weights, SALI_VARTYPE_NONE);
        graph_case t = { &content.graph, 0.3, -0.4, 1.5, 0, -1, 1 };
        sal_model *model = make_of("ising:theta=0.3,bias=-0.4,beta=1.5", &content, SAL_F64);
        check_model(model, true, ising, &t);
        ck_assert(sal_model_is_multilinear(model) && check_pairwise(model));
        sal_model_destroy(model);
    }
}
END_TEST

START_TEST(energies_are_negated)
{
    for (int k = 0; k < 4; k++) {
        bool spin = k < 2;
        sali_content content = odd_graph(k % 2, spin ? SALI_VARTYPE_SPIN : SALI_VARTYPE_BINARY);
        graph_case t = { &content.graph, 0, 0.25, 2, 0, spin ? -1 : 0, 1 };
        sal_model *model = make_of("ising:bias=0.25,beta=2", &content, SAL_F64);
        ck_assert_int_eq(model->space->stretches[0].kind, spin ? SAL_SPIN : SAL_BINARY);
        check_model(model, true, minus_energy, &t);
        ck_assert(check_pairwise(model));
        sal_model_destroy(model);
    }
}
END_TEST

/* Both at the same random states. */
static void check_same(const sal_model *a, const sal_model *b)
{
    int32_t codes[64];
    double f, g;
    sal_error err;
    for (uint32_t k = 0; k < 5; k++) {
        sali_stream stream = { .seed = 2, .chain = k, .purpose = SALI_RNG_TEST };
        sali_random_codes(a->space, &stream, codes);
        ck_ok(sal_model_evaluate(a, 1, codes, &f, NULL, NULL, &err), &err);
        ck_ok(sal_model_evaluate(b, 1, codes, &g, NULL, NULL, &err), &err);
        check_close(f, g, 1e-13, "f");
    }
}

START_TEST(lattice_in_a_file_is_the_lattice)
{
    const char *lattices[] = { "ising:side=6,theta=0.35,bias=0.1", "potts:side=6,theta=0.35" };
    const char *graphs[] = { "ising:theta=0.35,bias=0.1", "potts:theta=0.35" };
    const int64_t side[] = { 6, 6 };
    int64_t pairs[144];
    double ones[72];
    sali_content content = { .kind = SALI_CONTENT_GRAPH };
    content.graph = (sali_graph){ .nodes = 36,
                                  .edges = sali_lattice_pairs(2, side, true, pairs, pairs + 1, 2),
                                  .pairs = pairs,
                                  .weights = ones };
    for (int e = 0; e < 72; e++) {
        ones[e] = 1;
    }
    for (int k = 0; k < 2; k++) {
        sal_model *lattice = make_of(lattices[k], NULL, SAL_F64);
        sal_model *graph = make_of(graphs[k], &content, SAL_F64);
        check_same(lattice, graph);
        sal_model_destroy(lattice);
        sal_model_destroy(graph);
    }
}
END_TEST

START_TEST(models_follow_their_formulas)
{
    for (int node_weights = 0; node_weights <= 1; node_weights++) {
        sali_content content = odd_graph(node_weights, SALI_VARTYPE_NONE);
        graph_case t = { &content.graph, -0.6, 0, 0.75, 1.25, 0, 1 };
        const struct {
            const char *specification;
            model_formula *formula;
            bool pairwise;
        } models[] = {
            { "potts:states=3,theta=-0.6", potts, false },
            { "potts:states=2,theta=-0.6", potts, true },
            { "max-cut:beta=0.75", cut, true },
            { "independent-set:beta=0.75,penalty=1.25", independent_set, true },
            { "clique:beta=0.75,penalty=1.25", clique, true },
        };
        for (int k = 0; k < 5; k++) {
            sal_model *model = make_of(models[k].specification, &content, SAL_F64);
            check_model(model, true, models[k].formula, &t);
            ck_assert_int_eq(check_pairwise(model), models[k].pairwise);
            sal_model_destroy(model);
        }
    }
}
END_TEST

START_TEST(graphs_without_edges)
{
    const char *specifications[] = { "ising", "potts", "max-cut", "independent-set", "clique" };
    const double want[] = { 0.5, 0, 0, 1, 1 };
    double weight = 0.5;
    for (int k = 0; k < 5; k++) {
        sali_content content = { .kind = SALI_CONTENT_GRAPH };
        content.graph = (sali_graph){ .nodes = 1, .node_weights = k == 0 ? &weight : NULL };
        sal_model *model = make_of(specifications[k], &content, SAL_F64);
        int32_t codes[] = { 1 };
        double f, gradient[3];
        sal_error err;
        ck_ok(sal_model_evaluate(model, 1, codes, &f, gradient, NULL, &err), &err);
        ck_assert_double_eq(f, want[k]);
        sal_model_destroy(model);
    }
}
END_TEST

/* theta s'As of the graph that the same seed gives, alone and with weights. */
START_TEST(ising_er_is_the_ising_model_of_a_random_graph)
{
    const char *names[] = { "one", "sign", "normal" };
    for (int w = 0; w < 3; w++) {
        sali_random_graph spec = {
            .nodes = 40, .p = 5.0 / 39, .weights = (sali_edge_weights)w, .seed = 6
        };
        sali_content content = { .kind = SALI_CONTENT_GRAPH };
        char text[80];
        sal_error err;
        ck_ok(sali_random_graph_draw(&spec, &content.graph, &err), &err);
        ck_assert_int_gt(content.graph.edges, 50);
        snprintf(text, sizeof text,
                 "ising-er:nodes=40,degree=5,theta=-0.3,bias=0.2,seed=6,"
                 "weights=%s",
                 names[w]);
        sal_model *a = make_of(text, NULL, SAL_F64);
        sal_model *b = make_of("ising:theta=-0.3,bias=0.2", &content, SAL_F64);
        check_same(a, b);
        sal_model_destroy(a);
        sal_model_destroy(b);
        sali_graph_free(&content.graph);
    }
}
END_TEST

/* ---- what is refused */

START_TEST(bad_input_is_refused)
{
    const struct {
        const char *specification, *text;
        sali_vartype vartype;
        sal_status status;
    } bad[] = {
        { "ising:side=5", "ising: side means nothing for this file", 0, SAL_ERR_ARGUMENT },
        { "ising:cyclic=0", "cyclic means nothing", 0, SAL_ERR_ARGUMENT },
        { "ising:theta=1", "theta means nothing", SALI_VARTYPE_SPIN, SAL_ERR_ARGUMENT },
        { "potts:side=5", "potts: side means nothing", 0, SAL_ERR_ARGUMENT },
        { "potts", "energies of spin variables; ising:file", SALI_VARTYPE_SPIN, SAL_ERR_DATA },
        { "max-cut:degree=3", "degree means nothing", 0, SAL_ERR_ARGUMENT },
        { "max-cut", "energies of binary variables", SALI_VARTYPE_BINARY, SAL_ERR_DATA },
        { "independent-set:nodes=3", "nodes means nothing", 0, SAL_ERR_ARGUMENT },
        { "independent-set", "energies of spin", SALI_VARTYPE_SPIN, SAL_ERR_DATA },
        { "clique:density=0.1", "density means nothing", 0, SAL_ERR_ARGUMENT },
        { "clique", "energies of spin", SALI_VARTYPE_SPIN, SAL_ERR_DATA },
        { "clique:penalty=-1", "expected a number from 0", 0, SAL_ERR_ARGUMENT },
    };
    sal_model *model = NULL;
    sal_error err;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        sali_content content = odd_graph(true, bad[k].vartype);
        ck_fails(sali_builtin_make(bad[k].specification, &content, 0, &model, &err), bad[k].status,
                 &err, bad[k].text);
        ck_assert_ptr_null(model);
    }
    const char *of_graphs[] = { "ising", "potts", "max-cut", "independent-set", "clique" };
    for (int k = 0; k < 5; k++) {
        sali_content content = odd_graph(false, SALI_VARTYPE_NONE);
        content.graph.nodes = 1000000000;
        ck_fails(sali_builtin_make(of_graphs[k], &content, 0, &model, &err), SAL_ERR_DATA, &err,
                 "a graph of 1000000000 nodes; expected at most 33554432");
    }
    ck_fails(sal_model_open("max-cut:nodes=4", 0, &model, &err), SAL_ERR_ARGUMENT, &err,
             "max-cut: degree=4, and a node has 3 others");
    ck_fails(sal_model_open("clique:nodes=1000000", 0, &model, &err), SAL_ERR_ARGUMENT, &err,
             "edges among 1000000 nodes");
}
END_TEST

START_TEST(weights_of_any_size_keep_f_finite)
{
    const char *specifications[] = { "ising", "potts", "max-cut", "independent-set", "clique" };
    sal_error err;
    for (int k = 0; k < 10; k++) {
        double weights[9], nodes[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
        sali_content content = odd_graph(true, SALI_VARTYPE_NONE);
        content.graph.weights = weights;
        content.graph.node_weights = nodes;
        for (int e = 0; e < 9; e++) {
            weights[e] = 1e30;
        }
        int32_t codes[8] = { 1, 0, 1, 0, 1, 0, 1, 1 };
        double f;
        sal_model *model = make_of(specifications[k / 2], &content, SAL_F32);
        ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
        ck_assert(isfinite(f));
        sal_model_destroy(model);
        model = NULL;
        *(k % 2 ? &weights[4] : &nodes[4]) = k % 2 ? -2e30 : NAN;
        ck_fails(sali_builtin_make(specifications[k / 2], &content, 0, &model, &err), SAL_ERR_DATA,
                 &err, k % 2 ? "edge 4 weighs -2e+30" : "node 4 weighs nan");
    }
}
END_TEST

START_TEST(failed_allocations_are_reported)
{
    const char *specifications[] = { "ising:side=3",    "potts:side=3",
                                     "max-cut:nodes=9", "independent-set:nodes=9",
                                     "clique:nodes=9",  "ising-er:nodes=9" };
    sali_content content = odd_graph(true, SALI_VARTYPE_NONE);
    sal_model *model = NULL;
    sal_error err;
    for (int k = 0; k < 6; k++) {
        ck_alloc_sweep(sal_model_open(specifications[k], SAL_F64, &model, &err),
                       sal_model_destroy(model));
    }
    const char *of_graphs[] = { "ising", "potts", "max-cut", "independent-set", "clique" };
    for (int k = 0; k < 5; k++) {
        ck_alloc_sweep(sali_builtin_make(of_graphs[k], &content, SAL_F64, &model, &err),
                       sal_model_destroy(model));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("graph_models");
    TCase *tc = tcase_create("graph_models");
    tcase_add_test(tc, ising_of_a_graph);
    tcase_add_test(tc, energies_are_negated);
    tcase_add_test(tc, lattice_in_a_file_is_the_lattice);
    tcase_add_test(tc, models_follow_their_formulas);
    tcase_add_test(tc, graphs_without_edges);
    tcase_add_test(tc, ising_er_is_the_ising_model_of_a_random_graph);
    tcase_add_test(tc, bad_input_is_refused);
    tcase_add_test(tc, weights_of_any_size_keep_f_finite);
    tcase_add_test(tc, failed_allocations_are_reported);
    suite_add_tcase(suite, tc);
    return test_main(suite);
}
