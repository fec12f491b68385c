/* SPDX-License-Identifier: MIT */
/* Graphs as text: max-cut collections, DIMACS, energies of dimod; and from one format to another.
 */
#include "temp_dir.h"

#include <math.h>

#include "alloc_fail.h"
#include "graph_check.h"

#define N(array) ((int64_t)(sizeof(array) / sizeof *(array)))

static const sali_format *const gset = &sali_format_gset;
static const sali_format *const dimacs = &sali_format_dimacs;
static const sali_format *const coo = &sali_format_coo;

typedef struct bad_text {
    const char *text;
    const char *message;
} bad_text;

static void check_refused(const sali_format *format, const bad_text *cases, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        sal_error err = { 0 };
        sali_graph g = { 0 };
        ck_fails(graph_parse(format, cases[k].text, &g, &err), SAL_ERR_DATA, &err,
                 cases[k].message);
        ck_assert_ptr_null(g.pairs);
    }
}

static sal_status parse_with(const sali_format *format, const void *data, int64_t size,
                             sal_error *err)
{
    sali_content content = { 0 };
    sal_status status = sali_format_parse(format, "mem", data, size, &content, err);
    sali_content_free(&content);
    return status;
}

static sal_status parse_gset(const void *data, int64_t size, sal_error *err)
{
    return parse_with(gset, data, size, err);
}

static sal_status parse_dimacs(const void *data, int64_t size, sal_error *err)
{
    return parse_with(dimacs, data, size, err);
}

static sal_status parse_coo(const void *data, int64_t size, sal_error *err)
{
    return parse_with(coo, data, size, err);
}

/* ---- max-cut */

/* The heading and first lines are those of the G-set, whose files have no suffix. */
START_TEST(all_dialects_of_max_cut_are_read)
{
    static const char *const texts[] = {
        "4 3\n1 2 1\n3 4 -1\n4 1 2.5\n",
        "4 3\r\n1 2\r\n3 4 -1\r\n4 1 2.5",
        "# from rudy\n4 3\nc a comment\n1 2 1\n\n% another\n3 4 -1 # here\n4 1 25e-1\n\n",
        "MAX-CUT 4 3\n1 2\n3 4 -1.0\n4 1 2.5",
        "max-cut\n4 3\n 1\t2 \n3 4 -1\n4 1 2.5",
        "\357\273\2774 3\n1 2 1\n3 4 -1\n4 1 +2.5\n",
    };
    static const graph_edge edges[] = { { 0, 1, 1 }, { 2, 3, -1 }, { 3, 0, 2.5 } };
    for (int64_t k = 0; k < N(texts); k++) {
        sal_error err = { 0 };
        sali_content content = { 0 };
        const sali_format *found = NULL;
        const char *path = temp_write("G1", texts[k], strlen(texts[k]));
        ck_ok(sali_content_read(path, NULL, SALI_CONTENT_NONE, &content, &found, &err), &err);
        ck_assert_ptr_eq(found, gset);
        graph_check(&content.graph, 4, NULL, NULL, 3, edges);
        sali_content_free(&content);
    }
    sal_error err = { 0 };
    sali_graph g = { 0 };
    ck_ok(graph_parse(gset, "7 0", &g, &err), &err);
    graph_check(&g, 7, NULL, NULL, 0, NULL);
    sali_graph_free(&g);
    static const graph_edge twice[] = { { 0, 1, 1 }, { 1, 0, 1 } };
    ck_ok(graph_parse(gset, "2 2\n1 2\n2 1", &g, &err), &err);
    graph_check(&g, 2, NULL, NULL, 2, twice);
    sali_graph_free(&g);
}
END_TEST

START_TEST(bad_max_cut_graphs_are_refused)
{
    static const bad_text cases[] = {
        { "", "f:1: expected the number of nodes" },
        { "x", "found 'x'" },
        { "0 0", "found '0'" },
        { "-3 1\n1 2", "found '-3'" },
        { "3", "f:1: expected the number of edges, found the end of the line" },
        { "3\n2\n1 2", "f:1: expected the number of edges, found the end of the line" },
        { "3 1 1\n1 2", "f:1: expected the end of the line, found '1'" },
        { "3 -1", "found '-1'" },
        { "3 1000\n1 2", "f:1: 1000 edges, more than the rest of the file can hold" },
        { "3 9223372036854775807\n1 2", "more than the rest" },
        { "3 99999999999999999999\n1 2", "found '99999999999999999999'" },
        { "99999999999 1\n1 2", "expected the number of nodes (an integer, 1 to 16777216)" },
        { "3 2\n1 2 1 # none follows", "f:2: expected a node (an integer, 1 to 3), found the end" },
        { "3 1\n1 2\n2 3", "f:3: expected the end of the file, found '2'" },
        { "3 1\n0 2", "f:2: expected a node (an integer, 1 to 3), found '0'" },
        { "3 1\n1 4", "f:2: expected the edge's other node (an integer, 1 to 3), found '4'" },
        { "3 1\n1\n2   ", "f:2: expected the edge's other node, found the end of the line" },
        { "3 1\n2 2", "f:2: an edge from node 2 to itself" },
        { "3 1\n1 2 x", "f:2: expected the edge's weight (a finite decimal number), found 'x'" },
        { "3 1\n1 2 nan", "found 'nan'" },
        { "3 1\n1 2 1e999", "found '1e999'" },
        { "3 1\n1 2 1 1", "f:2: expected the end of the line, found '1'" },
        { "3 1\n1.0 2", "found '1.0'" },
    };
    check_refused(gset, cases, N(cases));
}
END_TEST

/* ---- DIMACS */

START_TEST(dimacs_graphs_are_read)
{
    static const graph_edge edges[] = { { 0, 1, 1 }, { 3, 2, 1 }, { 3, 0, 2.5 } };
    static const double weights[] = { 1, -2, 0.5, 4 };
    sal_error err = { 0 };
    sali_graph g = { 0 };
    static const char *const plain[] = {
        "p edge 4 3\ne 1 2\ne 4 3\ne 4 1 2.5\n",
        "c c\nc FILE: a.col\np col 4 3\nd 5 6\nv 1 2 3\nx p 7\ne 1 2\nc\ne 4 3 1\ne 4 1 2.5",
        /* both directions, counted once or twice */
        "p edge 4 6\ne 1 2\ne 2 1\ne 4 3\ne 3 4\ne 4 1 2.5\ne 1 4 2.5\n",
        "p edge 4 3\ne 1 2\ne 2 1\ne 4 3\ne 3 4\ne 4 1 2.5\ne 1 4 2.5\n",
        "p col 4 6\ne 1 2\ne 4 3\ne 4 1 2.5\n",
        "p edge 4 4\ne 1 2\ne 1 2\ne 4 3\ne 4 1 2.5\n",
    };
    for (int64_t k = 0; k < N(plain); k++) {
        ck_ok(graph_parse(dimacs, plain[k], &g, &err), &err);
        graph_check(&g, 4, NULL, NULL, 3, edges);
        sali_graph_free(&g);
        ck_assert(sali_format_recognises(dimacs, plain[k], (int64_t)strlen(plain[k])));
        ck_assert(!sali_format_recognises(gset, plain[k], (int64_t)strlen(plain[k])));
    }
    ck_ok(graph_parse(dimacs, "p edge 4 3\nn 1 1\nn 3 .5\nn 2 -2\ne 1 2\ne 4 3\ne 4 1 2.5\nn 4 4\n",
                      &g, &err),
          &err);
    graph_check(&g, 4, NULL, weights, 3, edges);
    sali_graph_free(&g);
}
END_TEST

START_TEST(bad_dimacs_graphs_are_refused)
{
    static const bad_text cases[] = {
        { "", "f:1: expected a line 'p edge NODES EDGES', found the end of the file" },
        { "e 1 2", "f:1: expected a line 'p edge NODES EDGES', found 'e'" },
        { "c x\np max 3 2\n", "f:2: expected edge or col, found 'max'" },
        { "p edge", "f:1: expected the number of nodes" },
        { "p edge 3\n1", "f:1: expected the number of edges, found the end of the line" },
        { "p edge 99999999999 1\ne 1 2", "found '99999999999'" },
        { "p edge 3 1\np edge 3 1", "f:2: expected a line e, n or c, found 'p'" },
        { "p edge 3 1\na 1 2 1", "f:2: expected a line e, n or c, found 'a'" },
        { "p edge 3 1\ne 1", "expected the edge's other node, found the end of the line" },
        { "p edge 3 1\ne 1 4", "found '4'" },
        { "p edge 3 1\ne 0 1", "found '0'" },
        { "p edge 3 1\ne 3 3", "f:2: an edge from node 3 to itself" },
        { "p edge 3 1\ne 1 2 inf", "found 'inf'" },
        { "p edge 3 1\ne 1 2 1 1", "expected the end of the line, found '1'" },
        { "p edge 3 1\nn 4 1\ne 1 2", "found '4'" },
        { "p edge 3 1\nn 1\ne 1 2", "expected the node's weight" },
        { "p edge 3 1\nn 1 2 3\ne 1 2", "expected the end of the line" },
        { "p edge 3 1\nn 1 2\nn 1 2\ne 1 2", "f:3: node 1 has two weights" },
        { "p edge 3 1\nn 1 2\nn 3 2\ne 1 2", "f: node 2 has no weight" },
        { "p edge 9 0\nn 1 1\nn 2 1",
          "f:2: the rest of the file cannot hold a weight for each of 9" },
        { "p edge 3 2\ne 1 2 1\ne 2 1 2",
          "f: the edge between nodes 1 and 2 is there with weight 1 and with weight 2" },
        { "p edge 3 3\ne 1 2\ne 2 3\n", "f: has 2 edges; its line p says 3" },
        { "p edge 3 1\ne 1 2\ne 2 3\n", "f: has 2 edges; its line p says 1" },
        { "p edge 3 1\n", "f: has 0 edges; its line p says 1" },
    };
    check_refused(dimacs, cases, N(cases));
}
END_TEST

/* ---- energies */

/* The first is the text of dimod.serialization.coo.dumps of a QUBO, as its documentation shows it.
 */
START_TEST(energies_of_dimod_are_read)
{
    static const graph_edge edges[] = { { 0, 1, 1 }, { 1, 2, -4.5 } };
    static const double biases[] = { -1, 0, 0 };
    static const char *const sparse[] = { "0", "7", "9223372036854775807" };
    sal_error err = { 0 };
    sali_graph g = { 0 };
    ck_ok(
        graph_parse(coo, "# vartype=BINARY\n0 0 -1.000000\n0 1 1.000000\n1 2 -4.500000", &g, &err),
        &err);
    graph_check(&g, 3, NULL, biases, 2, edges);
    ck_assert_int_eq(g.vartype, SALI_VARTYPE_BINARY);
    sali_graph_free(&g);
    ck_ok(graph_parse(coo,
                      "0 7 1\n # of a solver, vartype: spin\r\n7 9223372036854775807 -4.5 # J\n"
                      "0 0 1e0\n\n0 0 -2\n",
                      &g, &err),
          &err);
    graph_check(&g, 3, sparse, biases, 2, edges);
    ck_assert_int_eq(g.vartype, SALI_VARTYPE_SPIN);
    sali_graph_free(&g);
}
END_TEST

START_TEST(bad_energies_are_refused)
{
    static const bad_text cases[] = {
        { "",
          "f:1: expected a line '# vartype=SPIN' (variables are -1 or 1) or '# vartype=BINARY'" },
        { "0 1 1", "f:1: expected a line '# vartype=SPIN'" },
        { "0 1 1", "dimod writes it only with vartype_header=True: add the one that is right" },
        { "0 1 1 # vartype=SPIN", "expected a line '# vartype=SPIN'" },
        { "# vartype SPIN\n0 1 1", "expected a line '# vartype=SPIN'" },
        { "# vartype=", "expected a line '# vartype=SPIN'" },
        { "\n# vartype=INTEGER\n",
          "f:2: expected vartype=SPIN or vartype=BINARY, found 'INTEGER'" },
        { "# vartype=SPIN\n# vartype=BINARY\n", "f:2: another vartype than before" },
        { "# vartype=SPIN\n", "expected an entry 'i j bias'" },
        { "# vartype=SPIN\n-1 0 1",
          "f:2: expected a variable (an integer, at least 0), found '-1'" },
        { "# vartype=SPIN\n0 a 1", "found 'a'" },
        { "# vartype=SPIN\n0 1", "expected the entry's bias" },
        { "# vartype=SPIN\n0 1\n1", "f:2: expected 'i j bias' on one line" },
        { "# vartype=SPIN\n0 1 nan", "found 'nan'" },
        { "# vartype=SPIN\n0 1 1 1", "f:2: expected the end of the line, found '1'" },
        { "# vartype=SPIN\n9223372036854775808 0 1", "found '9223372036854775808'" },
        { "# vartype=SPIN\n3 3 1e308\n3 3 1e308", "f: the biases of variable 3 add up to inf" },
    };
    check_refused(coo, cases, N(cases));
}
END_TEST

/* dimod skips lines whose number has an exponent. */
START_TEST(energies_are_written_without_exponents)
{
    static const graph_edge edges[] = { { 0, 1, 1e-5 },      { 1, 2, -2.5e-300 },
                                        { 2, 3, 1.25e20 },   { 3, 4, -1.7976931348623157e308 },
                                        { 4, 0, 0.1 },       { 0, 2, 5e-324 },
                                        { 1, 3, 1e17 + 16 }, { 2, 4, -123456 } };
    sal_error err = { 0 };
    sali_content content = { .kind = SALI_CONTENT_GRAPH, .graph = graph_make(6, N(edges), edges) },
                 back = { 0 };
    content.graph.vartype = SALI_VARTYPE_SPIN;
    const char *path = temp_path("a.coo");
    ck_ok(sali_content_write(path, NULL, &content, &err), &err);
    char text[4096] = "";
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_gt(fread(text, 1, sizeof text - 1, file), 0);
    fclose(file);
    ck_assert_ptr_null(strpbrk(strchr(text, '\n'), "eE"));
    ck_assert_ptr_nonnull(strstr(text, "\n5 5 0\n0 1 0.00001\n"));
    ck_assert_ptr_nonnull(strstr(text, "\n2 3 125000000000000000000\n"));
    ck_ok(sali_content_read(path, NULL, SALI_CONTENT_NONE, &back, NULL, &err), &err);
    double zeros[6] = { 0 };
    content.graph.node_weights = zeros;
    graph_check_same(&content.graph, &back.graph);
    content.graph.node_weights = NULL;
    sali_content_free(&content);
    sali_content_free(&back);
}
END_TEST

/* ---- conversions */

static void write_then_read(const sali_content *content, const char *file, sali_content *back)
{
    sal_error err = { 0 };
    ck_ok(sali_content_write(temp_path(file), NULL, content, &err), &err);
    ck_ok(sali_content_read(temp_path(file), NULL, content->kind, back, NULL, &err), &err);
}

START_TEST(formats_keep_what_they_can_say)
{
    static const char *const files[] = { "a.graphml", "a.gset", "a.col", "a.coo" };
    static const graph_edge edges[] = { { 0, 1, 1 }, { 0, 2, 1.0 / 3 }, { 1, 3, -1e-7 } };
    double weights[] = { 1, -0.25, 0, 3 };
    for (int file = 0; file < 4; file++) {
        for (int with = 0; with < 2; with++) {
            bool energy = file == 3;
            if (file == 1 && with) {
                continue; /* the G-set has no weights of nodes */
            }
            sali_content content = { .kind = SALI_CONTENT_GRAPH, .graph = graph_make(4, 3, edges) };
            content.graph.vartype = energy ? SALI_VARTYPE_BINARY : SALI_VARTYPE_NONE;
            sali_content back = { 0 };
            double zeros[4] = { 0 };
            content.graph.node_weights = with ? weights : energy ? zeros : NULL;
            write_then_read(&content, files[file], &back);
            graph_check_same(&content.graph, &back.graph);
            content.graph.node_weights = NULL;
            sali_content_free(&back);
            sali_content_free(&content);
        }
    }
}
END_TEST

/* The graph on three nodes with these names, of edges 0 - 1 and 1 - 2. */
static sali_content named_graph(const char *a, const char *b, const char *c)
{
    static const graph_edge edges[] = { { 0, 1, 2 }, { 1, 2, 3 } };
    sali_content content = { .kind = SALI_CONTENT_GRAPH, .graph = graph_make(3, 2, edges) };
    content.graph.names = SALI_NEW_ARRAY(char *, 3);
    content.graph.names[0] = sali_strdup(a);
    content.graph.names[1] = sali_strdup(b);
    content.graph.names[2] = sali_strdup(c);
    return content;
}

/* networkx names nodes 0 .. n - 1 in the order of its edges: node k is number k + 1 of a format
 * that counts from 1. */
START_TEST(names_that_are_numbers_become_numbers)
{
    static const graph_edge from_0[] = { { 2, 0, 2 }, { 0, 1, 3 } };
    static const char *const names[][3] = { { "2", "0", "1" }, { "3", "1", "2" } };
    for (int k = 0; k < 2; k++) {
        sali_content content = named_graph(names[k][0], names[k][1], names[k][2]), back = { 0 };
        write_then_read(&content, "a.gset", &back);
        graph_check(&back.graph, 3, NULL, NULL, 2, from_0);
        sali_content_free(&back);
        write_then_read(&content, "a.col", &back);
        graph_check(&back.graph, 3, NULL, NULL, 2, (graph_edge[]){ { 2, 0, 2 }, { 0, 1, 3 } });
        sali_content_free(&back);
        sali_content_free(&content);
    }
    sali_content content = named_graph("40", "7", "0"), back = { 0 };
    content.graph.vartype = SALI_VARTYPE_SPIN;
    write_then_read(&content, "a.coo", &back);
    static const char *const ascending[] = { "0", "7", "40" };
    static const double zeros[3] = { 0 };
    graph_check(&back.graph, 3, ascending, zeros, 2, (graph_edge[]){ { 2, 1, 2 }, { 1, 0, 3 } });
    sali_content_free(&back);
    sali_content_free(&content);
}
END_TEST

START_TEST(what_a_format_cannot_say_is_refused)
{
    static const struct {
        const char *names[3];
        sali_vartype vartype;
        bool weights;
        const char *file, *message;
    } cases[] = {
        { { "1", "b", "3" }, 0, false, "a.gset", "cannot name one 'b'; number them 0 to 2 first" },
        { { "1", "2", "4" }, 0, false, "a.gset", "cannot name one '4'" },
        { { "0", "1", "3" }, 0, false, "a.col", "cannot name one '3'" },
        { { "-1", "0", "1" }, 0, false, "a.col", "cannot name one '-1'" },
        { { "1", "01", "2" }, 0, false, "a.col", "cannot name one '01'" },
        { { "", "1", "2" }, 0, false, "a.gset", "cannot name one ''" },
        { { "0", "1", "2" }, 0, true, "a.gset", "has no weights of nodes" },
        { { "0", "1", "2" }, SALI_VARTYPE_SPIN, false, "a.gset", "energies of spins" },
        { { "0", "1", "2" }, SALI_VARTYPE_BINARY, false, "a.col", "energies of bits" },
        { { "0", "1", "2" }, 0, false, "a.coo", "holds energies, and the graph has weights" },
        { { "0", "b", "2" }, SALI_VARTYPE_SPIN, false, "a.coo", "cannot name one 'b'" },
        { { "0", "01", "2" }, SALI_VARTYPE_SPIN, false, "a.coo", "cannot name one '01'" },
        { { "0", "-1", "2" }, SALI_VARTYPE_SPIN, false, "a.coo", "cannot name one '-1'" },
        { { "0", "99999999999999999999", "2" }, SALI_VARTYPE_SPIN, false, "a.coo", "name one '9" },
        { { "0", "1", "2" }, 0, false, "a.npy", "a graph can be written as: graphml (.graphml)" },
    };
    for (int64_t k = 0; k < N(cases); k++) {
        sal_error err = { 0 };
        sali_content content = named_graph(cases[k].names[0], cases[k].names[1], cases[k].names[2]);
        double weights[] = { 0, 0, 1 };
        content.graph.vartype = cases[k].vartype;
        content.graph.node_weights = cases[k].weights ? weights : NULL;
        ck_fails(sali_content_write(temp_path(cases[k].file), NULL, &content, &err),
                 SAL_ERR_ARGUMENT, &err, cases[k].message);
        content.graph.node_weights = NULL;
        sali_content_free(&content);
    }
    ck_assert_int_eq(temp_count(), 0);
}
END_TEST

START_TEST(parallel_edges_add_up_in_dimacs)
{
    static const graph_edge edges[] = { { 1, 0, 1 }, { 2, 1, 0.5 }, { 0, 1, 3 }, { 1, 2, 0.5 } };
    static const graph_edge huge[] = { { 1, 0, 1e308 }, { 0, 1, 1e308 } };
    sal_error err = { 0 };
    sali_content content = { .kind = SALI_CONTENT_GRAPH, .graph = graph_make(3, 4, edges) },
                 back = { 0 };
    write_then_read(&content, "a.dimacs", &back);
    graph_check(&back.graph, 3, NULL, NULL, 2, (graph_edge[]){ { 0, 1, 4 }, { 1, 2, 1 } });
    sali_content_free(&back);
    sali_content_free(&content);
    content = (sali_content){ .kind = SALI_CONTENT_GRAPH, .graph = graph_make(2, 2, huge) };
    ck_fails(sali_content_write(temp_path("b.col"), NULL, &content, &err), SAL_ERR_ARGUMENT, &err,
             "the weights of the edges between two nodes add up to inf");
    sali_content_free(&content);
}
END_TEST

/* ---- hostile files */

static const char small_gset[] = "c a\n4 3\n1 2 1\n3 4 -1e2\n4 1 2.5\n";
static const char small_dimacs[] =
    "c a\np edge 3 4\nd 1\nn 1 1\nn 2 -1.5\nn 3 0\ne 1 2\ne 2 1\ne 2 3 4\ne 3 2 4\n";
static const char small_coo[] = "# vartype=SPIN\n0 0 -1\n0 17 1.5e2\n17 3 -4.5\n";

START_TEST(truncated_and_damaged_graphs_are_survived)
{
    temp_sweep(parse_gset, small_gset, sizeof small_gset - 1);
    temp_sweep(parse_dimacs, small_dimacs, sizeof small_dimacs - 1);
    temp_sweep(parse_coo, small_coo, sizeof small_coo - 1);
}
END_TEST

START_TEST(graphs_survive_failing_allocations)
{
    const sali_format *const formats[] = { gset, dimacs, coo };
    const char *const texts[] = { small_gset, small_dimacs, small_coo };
    for (int k = 0; k < 3; k++) {
        sal_error err = { 0 };
        sali_graph g = { 0 };
        sali_content content = { .kind = SALI_CONTENT_GRAPH };
        ck_alloc_sweep(graph_parse(formats[k], texts[k], &g, &err), sali_graph_free(&g));
        ck_ok(graph_parse(formats[k], texts[k], &content.graph, &err), &err);
        const char *path = temp_path("a");
        ck_alloc_sweep(sali_format_write(formats[k], path, &content, &err), (void)0);
        sali_content_free(&content);
    }
}
END_TEST

START_TEST(text_of_other_kinds_is_not_recognised)
{
    static const char *const texts[] = { "",
                                         "MARKOV\n2\n2 2\n1\n",
                                         "1 2\n3 4\n",
                                         "0 1\n1 2\n",
                                         "3 2 1",
                                         ">name\nACD\n",
                                         "# a\n",
                                         "2 0\n1 2",
                                         "2 1\n1 2 3 4",
                                         "p max 3 2\n",
                                         "# vartype=x" };
    for (int64_t k = 0; k < N(texts); k++) {
        int64_t size = (int64_t)strlen(texts[k]);
        ck_assert_msg(!sali_format_recognises(gset, texts[k], size) &&
                          !sali_format_recognises(dimacs, texts[k], size) &&
                          !sali_format_recognises(coo, texts[k], size),
                      "%s", texts[k]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io_graphs");
    TCase *tcase = tcase_create("graphs");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, all_dialects_of_max_cut_are_read);
    tcase_add_test(tcase, bad_max_cut_graphs_are_refused);
    tcase_add_test(tcase, dimacs_graphs_are_read);
    tcase_add_test(tcase, bad_dimacs_graphs_are_refused);
    tcase_add_test(tcase, energies_of_dimod_are_read);
    tcase_add_test(tcase, bad_energies_are_refused);
    tcase_add_test(tcase, energies_are_written_without_exponents);
    tcase_add_test(tcase, formats_keep_what_they_can_say);
    tcase_add_test(tcase, names_that_are_numbers_become_numbers);
    tcase_add_test(tcase, what_a_format_cannot_say_is_refused);
    tcase_add_test(tcase, parallel_edges_add_up_in_dimacs);
    tcase_add_test(tcase, truncated_and_damaged_graphs_are_survived);
    tcase_add_test(tcase, graphs_survive_failing_allocations);
    tcase_add_test(tcase, text_of_other_kinds_is_not_recognised);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
