/* SPDX-License-Identifier: MIT */
/* Random graphs, and the pairs of a graph. */
#include "test.h"

#include <math.h>

#include "alloc_fail.h"
#include "models/zoo/graph_terms.h"
#include "models/zoo/random_graph.h"

static sali_graph draw(int64_t nodes, double p, sali_edge_weights weights, uint64_t seed)
{
    sali_random_graph spec = { .nodes = nodes, .p = p, .weights = weights, .seed = seed };
    sali_graph graph = { 0 };
    sal_error err;
    ck_ok(sali_random_graph_draw(&spec, &graph, &err), &err);
    ck_assert_int_eq(graph.nodes, nodes);
    ck_assert(graph.vartype == SALI_VARTYPE_NONE && !graph.node_weights && !graph.names);
    return graph;
}

static bool same_graph(const sali_graph *a, const sali_graph *b)
{
    size_t edges = (size_t)a->edges;
    return a->edges == b->edges && memcmp(a->pairs, b->pairs, 2 * edges * sizeof *a->pairs) == 0 &&
           memcmp(a->weights, b->weights, edges * sizeof *a->weights) == 0;
}

START_TEST(same_seed_same_graph)
{
    sali_graph a = draw(300, 0.05, SALI_WEIGHTS_NORMAL, 4);
    sali_graph b = draw(300, 0.05, SALI_WEIGHTS_NORMAL, 4);
    sali_graph c = draw(300, 0.05, SALI_WEIGHTS_NORMAL, 5);
    sali_graph ones = draw(300, 0.05, SALI_WEIGHTS_ONE, 4);
    ck_assert(same_graph(&a, &b));
    ck_assert(!same_graph(&a, &c));
    ck_assert_int_eq(ones.edges, a.edges); /* weights do not change which edges there are */
    ck_assert_mem_eq(ones.pairs, a.pairs, 2 * (size_t)a.edges * sizeof *a.pairs);
    sali_graph_free(&a);
    sali_graph_free(&b);
    sali_graph_free(&c);
    sali_graph_free(&ones);
}
END_TEST

/* In order, so no pair twice, no loop, none out of range. */
static void check_order(const sali_graph *graph)
{
    for (int64_t e = 0; e < graph->edges; e++) {
        const int64_t *pair = graph->pairs + 2 * e;
        ck_assert(0 <= pair[1] && pair[1] < pair[0] && pair[0] < graph->nodes);
        if (e > 0) {
            ck_assert(pair[-2] < pair[0] || (pair[-2] == pair[0] && pair[-1] < pair[1]));
        }
    }
}

START_TEST(number_of_edges_is_binomial)
{
    const struct {
        int64_t nodes;
        double p;
    } cases[] = { { 2000, 0.001 }, { 2000, 0.3 }, { 300, 0.97 }, { 100000, 0.0002 } };
    for (int k = 0; k < 4; k++) {
        sali_graph graph = draw(cases[k].nodes, cases[k].p, SALI_WEIGHTS_ONE, (uint64_t)k);
        double n = (double)cases[k].nodes, mean = n * (n - 1) / 2 * cases[k].p;
        double deviation = sqrt(mean * (1 - cases[k].p));
        ck_assert_double_le(fabs((double)graph.edges - mean), 4 * deviation);
        check_order(&graph);
        sali_graph_free(&graph);
    }
}
END_TEST

/* Over many seeds each of the 28 pairs is an edge equally often, and no two go together. */
START_TEST(pairs_are_edges_independently)
{
    enum { NODES = 8, PAIRS = 28, SEEDS = 4000 };
    double p = 0.3, edge[PAIRS] = { 0 }, next[PAIRS] = { 0 };
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        sali_graph graph = draw(NODES, p, SALI_WEIGHTS_ONE, seed);
        bool there[PAIRS + 1] = { false };
        for (int64_t e = 0; e < graph.edges; e++) {
            int64_t i = graph.pairs[2 * e], j = graph.pairs[2 * e + 1];
            there[i * (i - 1) / 2 + j] = true;
        }
        for (int k = 0; k < PAIRS; k++) {
            edge[k] += there[k];
            next[k] += there[k] && there[(k + 1) % PAIRS];
        }
        sali_graph_free(&graph);
    }
    for (int k = 0; k < PAIRS; k++) {
        ck_assert_double_le(fabs(edge[k] - SEEDS * p), 4.5 * sqrt(SEEDS * p * (1 - p)));
        ck_assert_double_le(fabs(next[k] - SEEDS * p * p), 4.5 * sqrt(SEEDS * p * p * (1 - p * p)));
    }
}
END_TEST

START_TEST(extremes_of_p)
{
    for (int64_t n = 1; n <= 6; n++) {
        sali_graph none = draw(n, 0, SALI_WEIGHTS_SIGN, 0), all = draw(n, 1, SALI_WEIGHTS_SIGN, 0);
        ck_assert_int_eq(none.edges, 0);
        ck_assert_int_eq(all.edges, n * (n - 1) / 2);
        check_order(&all);
        sali_graph_free(&none);
        sali_graph_free(&all);
    }
    sali_graph rare = draw(TEST_SANITIZED ? 100000 : 10000000, 1e-15, SALI_WEIGHTS_ONE, 1);
    ck_assert_int_le(rare.edges, 5);
    sali_graph_free(&rare);
}
END_TEST

START_TEST(weights_follow_their_laws)
{
    sali_graph sign = draw(1000, 0.1, SALI_WEIGHTS_SIGN, 3);
    sali_graph normal = draw(1000, 0.1, SALI_WEIGHTS_NORMAL, 3);
    sali_graph one = draw(1000, 0.1, SALI_WEIGHTS_ONE, 3);
    double n = (double)sign.edges, sums[3] = { 0 }, squares = 0;
    for (int64_t e = 0; e < sign.edges; e++) {
        ck_assert(fabs(sign.weights[e]) == 1 && one.weights[e] == 1);
        sums[0] += sign.weights[e];
        sums[1] += normal.weights[e];
        squares += normal.weights[e] * normal.weights[e];
    }
    ck_assert_double_le(fabs(sums[0]), 4 * sqrt(n));
    ck_assert_double_le(fabs(sums[1]), 4 * sqrt(n));
    ck_assert_double_le(fabs(squares - n), 4 * sqrt(2 * n));
    sali_graph_free(&sign);
    sali_graph_free(&normal);
    sali_graph_free(&one);
}
END_TEST

START_TEST(too_much_is_refused)
{
    sali_random_graph spec = { .nodes = 1000000, .p = 0.5 };
    sali_graph graph = { 0 };
    double p = -1;
    sal_error err;
    ck_fails(sali_random_graph_draw(&spec, &graph, &err), SAL_ERR_ARGUMENT, &err,
             "2.5e+11 edges among 1000000 nodes are expected");
    ck_assert_ptr_null(graph.pairs);
    ck_fails(sali_random_graph_degree("max-cut", 10, 9.5, &p, &err), SAL_ERR_ARGUMENT, &err,
             "max-cut: degree=9.5, and a node has 9 others");
    ck_assert_double_eq(p, -1);
    ck_ok(sali_random_graph_degree("max-cut", 10, 9, &p, &err), &err);
    ck_assert_double_eq(p, 1);
    ck_ok(sali_random_graph_degree("max-cut", 1, 0, &p, &err), &err);
    ck_assert_double_eq(p, 0);
}
END_TEST

/* ---- pairs of a graph */

START_TEST(pairs_are_listed_once_in_order)
{
    int64_t pairs[] = { 3, 1, 0, 4, 1, 3, 2, 0, 4, 0, 1, 3, 3, 4 }, found[14];
    double weights[7] = { 1, 2, 3, 4, 5, 6, 7 };
    const int64_t want[] = { 0, 2, 0, 4, 1, 3, 3, 4 };
    sali_graph graph = { .nodes = 5, .edges = 7, .pairs = pairs, .weights = weights };
    ck_assert_int_eq(sali_graph_pairs(&graph, found), 4);
    ck_assert_mem_eq(found, want, sizeof want);
    graph.edges = 0;
    ck_assert_int_eq(sali_graph_pairs(&graph, found), 0);
}
END_TEST

START_TEST(failed_allocations_are_reported)
{
    sali_random_graph spec = { .nodes = 60, .p = 0.5, .weights = SALI_WEIGHTS_SIGN };
    sali_graph graph = { 0 };
    sal_error err;
    ck_alloc_sweep(sali_random_graph_draw(&spec, &graph, &err), sali_graph_free(&graph));
    graph = draw(10, 0.5, SALI_WEIGHTS_ONE, 0);
    int64_t pairs[90];
    for (int64_t n = 1; n <= 2; n++) {
        alloc_fail_at(n);
        ck_assert_int_eq(sali_graph_pairs(&graph, pairs), -1);
    }
    alloc_fail_at(0);
    sali_graph_free(&graph);
}
END_TEST

/* ---- other families */

static sali_graph draw_family(sali_random_graph spec)
{
    sali_graph graph = { 0 };
    sal_error err;
    ck_ok(sali_random_graph_draw(&spec, &graph, &err), &err);
    return graph;
}

/* No pair twice, no loop; the degrees. */
static void check_simple(const sali_graph *graph, int64_t *degree)
{
    int64_t *pairs = calloc((size_t)graph->edges, 2 * sizeof *pairs);
    ck_assert_int_eq(sali_graph_pairs(graph, pairs), graph->edges);
    memset(degree, 0, (size_t)graph->nodes * sizeof *degree);
    for (int64_t e = 0; e < graph->edges; e++) {
        ck_assert_int_ne(graph->pairs[2 * e], graph->pairs[2 * e + 1]);
        degree[graph->pairs[2 * e]]++;
        degree[graph->pairs[2 * e + 1]]++;
    }
    free(pairs);
}

/* Every clique is there, and between two cliques a multiple of s = p n^(2a) links, or all. */
START_TEST(rb_is_cliques_with_links)
{
    enum { N = 20, K = 10, V = N * K };
    sali_graph graph = draw_family((sali_random_graph){
        .family = SALI_GRAPH_RB, .nodes = V, .group = K, .tightness = 0.3, .seed = 2 });
    int64_t degree[V], inside = 0, links = 0;
    static int64_t between[N][N];
    memset(between, 0, sizeof between);
    check_simple(&graph, degree);
    for (int64_t e = 0; e < graph.edges; e++) {
        const int64_t i = graph.pairs[2 * e] / K, j = graph.pairs[2 * e + 1] / K;
        inside += i == j;
        between[i > j ? i : j][i > j ? j : i] += i != j;
    }
    const double a = log(K) / log(N);
    const int64_t s = (int64_t)(0.3 * pow(N, 2 * a));
    ck_assert_int_eq(s, 30); /* 0.3 of 100 pairs */
    ck_assert_int_eq(inside, N * K * (K - 1) / 2);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < i; j++) {
            ck_assert(between[i][j] % s == 0 || between[i][j] == K * K);
            links += (between[i][j] + s - 1) / s;
        }
    }
    const int64_t expected = (int64_t)(-a / log(1 - 0.3) * N * log(N) - 1);
    ck_assert(links <= expected && links >= expected - 8); /* few cliques are chosen too often */
    sali_graph_free(&graph);
}
END_TEST

START_TEST(ba_attaches_to_nodes_of_large_degree)
{
    enum { V = 2000, M = 4 };
    sali_graph graph = draw_family(
        (sali_random_graph){ .family = SALI_GRAPH_BA, .nodes = V, .degree = 2 * M, .seed = 1 });
    int64_t degree[V], largest = 0, few = 0;
    check_simple(&graph, degree);
    ck_assert_int_eq(graph.edges, M * (V - M));
    for (int i = 0; i < V; i++) {
        ck_assert_int_ge(degree[i], i > 0 ? 1 : M);
        largest = degree[i] > largest ? degree[i] : largest;
        few += degree[i] == M;
    }
    ck_assert_int_gt(largest, 60); /* M sqrt(V) is 179; without preference it is about M log V */
    /* the law 2 m (m + 1) / (k (k + 1) (k + 2)): a third has k = m */
    ck_assert_double_le(fabs((double)few / V - 2.0 / (M + 2)), 0.05);
    sali_graph_free(&graph);
}
END_TEST

START_TEST(torus_has_four_neighbours)
{
    int64_t degree[800];
    for (int64_t group = 0; group <= 8; group += 8) {
        sali_graph graph = draw_family(
            (sali_random_graph){ .family = SALI_GRAPH_TORUS, .nodes = 800, .group = group });
        check_simple(&graph, degree);
        ck_assert_int_eq(graph.edges, 1600);
        for (int i = 0; i < 800; i++) {
            ck_assert_int_eq(degree[i], 4);
        }
        sali_graph_free(&graph);
    }
}
END_TEST

START_TEST(planar_is_the_union_of_two_triangulations)
{
    sali_graph graph =
        draw_family((sali_random_graph){ .family = SALI_GRAPH_PLANAR, .nodes = 800, .seed = 3 });
    int64_t degree[800];
    check_simple(&graph, degree);
    const double both = 2 * 0.99 * (3 * 800 - 6);
    ck_assert_double_le((double)graph.edges, both + 20);
    ck_assert_double_ge((double)graph.edges, both - 80); /* some edges are in both */
    sali_graph_free(&graph);
}
END_TEST

START_TEST(numbers_of_nodes_are_drawn)
{
    int64_t least = 100, most = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        const int64_t n = sali_random_graph_nodes(5, 9, seed);
        least = n < least ? n : least;
        most = n > most ? n : most;
    }
    ck_assert(least == 5 && most == 9);
    ck_assert_int_eq(sali_random_graph_nodes(5, 0, 3), 5);
}
END_TEST

START_TEST(families_refuse_what_they_cannot_have)
{
    const sali_random_graph bad[] = {
        { .family = SALI_GRAPH_RB, .nodes = 21, .group = 10, .tightness = 0.5 },
        { .family = SALI_GRAPH_BA, .nodes = 4, .degree = 8 },
        { .family = SALI_GRAPH_BA, .nodes = 40, .degree = 5 },
        { .family = SALI_GRAPH_TORUS, .nodes = 17 },
        { .family = SALI_GRAPH_PLANAR, .nodes = 2 },
    };
    const char *says[] = { "multiple", "below the 4 nodes", "degree=5", "rows", "3 nodes" };
    for (int k = 0; k < 5; k++) {
        sali_graph graph = { 0 };
        sal_error err;
        ck_fails(sali_random_graph_draw(&bad[k], &graph, &err), SAL_ERR_ARGUMENT, &err, says[k]);
    }
    sal_model *model = NULL;
    sal_error err;
    ck_fails(sal_model_open("max-cut:nodes=50,most=49", SAL_F64, &model, &err), SAL_ERR_ARGUMENT,
             &err, "max-cut: most=49; expected 0 (so many as nodes), or nodes=50 at least");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("random_graph");
    TCase *tc = tcase_create("random_graph");
    tcase_add_test(tc, same_seed_same_graph);
    tcase_add_test(tc, number_of_edges_is_binomial);
    tcase_add_test(tc, pairs_are_edges_independently);
    tcase_add_test(tc, extremes_of_p);
    tcase_add_test(tc, weights_follow_their_laws);
    tcase_add_test(tc, too_much_is_refused);
    tcase_add_test(tc, pairs_are_listed_once_in_order);
    tcase_add_test(tc, failed_allocations_are_reported);
    tcase_add_test(tc, rb_is_cliques_with_links);
    tcase_add_test(tc, ba_attaches_to_nodes_of_large_degree);
    tcase_add_test(tc, torus_has_four_neighbours);
    tcase_add_test(tc, planar_is_the_union_of_two_triangulations);
    tcase_add_test(tc, numbers_of_nodes_are_drawn);
    tcase_add_test(tc, families_refuse_what_they_cannot_have);
    suite_add_tcase(suite, tc);
    return test_main(suite);
}
