/* SPDX-License-Identifier: MIT */
/* Energies of spins and binary variables in the formats of other programs: qbsolv, toulbar2 and Biq
 * Mac, bqpjson, Matrix Market; and from one to another. */
#include "temp_dir.h"

#include <math.h>

#include <saltus/program.h>

#include "alloc_fail.h"
#include "graph_check.h"

#define N(array) ((int64_t)(sizeof(array) / sizeof *(array)))

static const sali_format *const qubo = &sali_format_qubo;
static const sali_format *const qpbo = &sali_format_qpbo;
static const sali_format *const bqpjson = &sali_format_bqpjson;
static const sali_format *const mtx = &sali_format_mtx;

/* The graph of a text, and its remark, which must contain `remark` (NULL: there is none). */
static sali_graph read_text(const sali_format *format, const char *text, sali_vartype vartype,
                            const char *remark)
{
    sal_error err = { 0 };
    sali_content content = { 0 };
    const sali_reading reading = { .vartype = vartype };
    ck_ok(sali_format_parse_as(format, "f", text, (int64_t)strlen(text), &reading, &content, &err),
          &err);
    ck_assert_msg(remark ? content.remark.text && strstr(content.remark.text, remark)
                         : !content.remark.text,
                  "remark '%s'", content.remark.text ? content.remark.text : "");
    sali_remark_free(&content.remark);
    return content.graph;
}

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

/* ---- qbsolv */

static const char small_qubo[] =
    "c of qbsolv\np qubo 0 3 2 2\nc linear\n0 0 3.4\n2 2 -1\nc pairs\n0 1 -2\n1 2 8e-1\n";

/* In this format a pair counts once. */
START_TEST(a_pair_of_a_qubo_counts_once)
{
    static const double energies[] = { 0, 3.4, 0, 1.4, -1, 2.4, -0.2, 1.2 };
    sali_graph g = read_text(qubo, small_qubo, 0, NULL);
    ck_assert_int_eq(g.vartype, SALI_VARTYPE_BINARY);
    graph_check_energies(&g, 3, energies);
    sali_graph_free(&g);
    g = read_text(qubo, "p qubo unconstrained 4 0 1\n1 0 2\n", 0, NULL);
    graph_check(&g, 4, NULL, NULL, 1, (graph_edge[]){ { 1, 0, 2 } });
    sali_graph_free(&g);
}
END_TEST

START_TEST(bad_qubos_are_refused)
{
    static const bad_text cases[] = {
        { "", "f:1: expected a line 'p qubo 0 VARIABLES DIAGONALS COUPLINGS', found the end" },
        { "p edge 3 2", "found 'edge'" },
        { "0 0 1", "found '0'" },
        { "p qubo 0 3 1", "expected the number of couplings" },
        { "p qubo 0 3 1\n1\n0 0 1", "f:1: expected a line 'p qubo 0 VARIABLES" },
        { "p qubo 0 3 1 1 1\n", "expected the end of the line, found '1'" },
        { "p qubo 0 0 0 0", "expected the number of variables (an integer, 1 to 1048576)" },
        { "p qubo 0 99999999 0 0", "found '99999999'" },
        { "p qubo 0 3 -1 0", "found '-1'" },
        { "p qubo 0 3 1 0\n3 3 1", "f:2: expected a variable (an integer, 0 to 2), found '3'" },
        { "p qubo 0 3 0 1\n0 -1 1", "found '-1'" },
        { "p qubo 0 3 0 1\n0 1 x", "f:2: expected the entry's value" },
        { "p qubo 0 3 0 1\n0 1\n1", "f:2: expected 'i j value' on one line" },
        { "p qubo 0 3 0 1\n0 1 1 1", "expected the end of the line" },
        { "p qubo 0 3 1 1\n0 1 1", "f: has 0 diagonals and 1 couplings; its line p says 1 and 1" },
        { "p qubo 0 3 0 1\n0 1 1\n0 2 1", "has 0 diagonals and 2 couplings" },
        { "p qubo 0 3 2 0\n2 2 1e308\n2 2 1e308", "the biases of variable 2 add up to inf" },
    };
    check_refused(qubo, cases, N(cases));
}
END_TEST

/* ---- toulbar2, Biq Mac */

static const char small_qpbo[] = "3 5\n1 1 5\n2 2 -3\n1 2 2\n2 3 -4\n3 3 1\n";

/* The energies are what toulbar2 1.1.1 lists for these files (-s -a). Its value 0 of a spin is 1.
 */
START_TEST(a_pair_of_qpbo_counts_twice_as_in_toulbar2)
{
    static const double energies[] = { 0, 5, -3, 6, 1, 6, -10, -1 };
    static const double of_spins[] = { -7, -5, -5, NAN, NAN, NAN, -19, -1 };
    sali_graph g = read_text(qpbo, small_qpbo, 0, NULL);
    ck_assert_int_eq(g.vartype, SALI_VARTYPE_BINARY);
    graph_check_energies(&g, 3, energies);
    sali_graph_free(&g);
    g = read_text(qpbo, "-3 5\n1 1 5\n2 2 -3\n1 2 2\n2 3 -4\n3 3 1", 0, NULL);
    ck_assert_int_eq(g.vartype, SALI_VARTYPE_SPIN);
    for (int state = 0; state < 8; state++) {
        ck_assert(isnan(of_spins[state]) || graph_energy(&g, state) == of_spins[state]);
    }
    sali_graph_free(&g);
    g = read_text(qpbo, "# Biq Mac\n3 -5\n1 1 5\n2 2 -3\n1 2 2\n2 3 -4\n3 3 1", 0,
                  "the sum is to be maximised, and f is the sum itself");
    for (int state = 0; state < 8; state++) {
        ck_assert_double_eq(graph_energy(&g, state), -energies[state]);
    }
    sali_graph_free(&g);
    g = read_text(qpbo, "3 6\n1 1 5\n2 2 -3\n1 2 2\n2 1 7\n2 3 -4\n3 3 1", 0,
                  "some pairs are listed as i j and as j i; each entry counts twice");
    ck_assert_double_eq(graph_energy(&g, 3), 20);
    ck_assert_double_eq(graph_energy(&g, 7), 13);
    sali_graph_free(&g);
}
END_TEST

START_TEST(bad_qpbos_are_refused)
{
    static const bad_text cases[] = {
        { "", "f:1: expected the number of variables" },
        { "0 1\n1 1 1", "f:1: expected at least one variable" },
        { "3\n1", "f:1: expected 'VARIABLES ENTRIES' on one line" },
        { "3 1 1\n", "expected the end of the line" },
        { "99999999 1\n1 1 1", "found '99999999'" },
        { "-99999999 1\n1 1 1", "found '-99999999'" },
        { "3 9223372036854775807\n1 1 1", "9223372036854775807 entries, more than the rest" },
        { "3 2\n1 1 1", "f:2: expected a variable" },
        { "3 1\n1 1 1\n1 2 1", "f:3: expected the end of the file, found '1'" },
        { "3 1\n0 1 1", "f:2: expected a variable (an integer, 1 to 3), found '0'" },
        { "3 1\n1 4 1", "found '4'" },
        { "3 1\n1 2", "expected the entry's value" },
        { "3 1\n1 2 1e308", "f:2: the value is too large" },
        { "3 2\n1 1 1e308\n1 1 1e308", "the biases of variable 0 add up to inf" },
    };
    check_refused(qpbo, cases, N(cases));
}
END_TEST

/* The same lines are a graph of the max-cut collections, unless the suffix says otherwise. */
START_TEST(the_suffix_tells_qpbo_from_max_cut)
{
    static const struct {
        const char *name, *format;
    } cases[] = { { "a.sparse", "qpbo" }, { "a.bq", "qpbo" }, { "a.qpbo", "qpbo" },
                  { "a", "gset" },        { "a.mc", "gset" }, { "a.qubo", "gset" } };
    static const char text[] = "3 1\n1 2 5\n";
    sal_error err = { 0 };
    for (int64_t k = 0; k < N(cases); k++) {
        const sali_format *found = NULL;
        const char *path = temp_write(cases[k].name, text, sizeof text - 1);
        ck_ok(sali_format_find(path, SALI_CONTENT_NONE, &found, &err), &err);
        ck_assert_str_eq(found->name, cases[k].format);
    }
    sali_content content = { 0 };
    ck_fails(
        sali_content_read(temp_write("b.mc", "3 1\n1 1 5\n", 10), NULL, 0, &content, NULL, &err),
        SAL_ERR_DATA, &err, "an edge from node 1 to itself");
}
END_TEST

/* ---- bqpjson */

#define JSON_REST                                                                              \
    "\"linear_terms\": [{\"id\": 7, \"coeff\": 1.5}], \"quadratic_terms\": [{\"id_tail\": 0, " \
    "\"id_head\": 7, \"coeff\": -2}, {\"id_tail\": 7, \"id_head\": 3, \"coeff\": 1}]}"
static const char small_json[] =
    "{\"version\": \"1.0.0\", \"id\": 5, \"metadata\": {\"a\": {}}, \"variable_ids\": [3, 0, 7],"
    "\"variable_domain\": \"spin\", \"scale\": 2.0, \"offset\": 0.25,\n" JSON_REST;

/* scale (sum + offset), with variables in the order of their numbers. */
START_TEST(scale_and_offset_of_bqpjson_count)
{
    static const char *const names[] = { "0", "3", "7" };
    sali_graph g = read_text(bqpjson, small_json, 0, NULL);
    ck_assert_int_eq(g.vartype, SALI_VARTYPE_SPIN);
    for (int k = 0; k < 3; k++) {
        ck_assert_str_eq(g.names[k], names[k]);
    }
    for (int state = 0; state < 8; state++) {
        double a = graph_value(SALI_VARTYPE_SPIN, state, 0),
               b = graph_value(SALI_VARTYPE_SPIN, state, 1),
               c = graph_value(SALI_VARTYPE_SPIN, state, 2);
        ck_assert_double_eq(graph_energy(&g, state), 2 * (-2 * a * c + b * c + 1.5 * c + 0.25));
    }
    sali_graph_free(&g);
    g = read_text(bqpjson,
                  "{\"variable_ids\": [1, 0], \"variable_domain\": \"boolean\", \"scale\": 1, "
                  "\"offset\": -1, \"linear_terms\": [], \"quadratic_terms\": [], \"solutions\": "
                  "[{}, {}]}",
                  0, "its \"solutions\" (2) are not read");
    ck_assert_ptr_null(g.names);
    graph_check_energies(&g, 2, (const double[]){ -1, -1, -1, -1 });
    sali_graph_free(&g);
}
END_TEST

#define JSON(ids, domain, scale, offset, linear, quadratic)                          \
    "{\"variable_ids\": " ids ", \"variable_domain\": " domain ", \"scale\": " scale \
    ", \"offset\": " offset ", \"linear_terms\": " linear ", \"quadratic_terms\": " quadratic "}"

START_TEST(bad_bqpjsons_are_refused)
{
    static const bad_text cases[] = {
        { "", "f:1: no valid JSON" },
        { "{\"a\": 1,\n,", "f:2: no valid JSON: string or '}' expected near ','" },
        { "{\"scale\": 1, \"scale\": 1}", "no valid JSON: duplicate object key" },
        { "[1]", "\"variable_domain\" is missing; expected a text" },
        { "{\"variable_domain\": 1}", "\"variable_domain\" is of another type; expected a text" },
        { JSON("[0]", "\"SPIN\"", "1", "0", "[]", "[]"), "expected \"spin\" or \"boolean\"" },
        { JSON("[0]", "\"spin\"", "null", "0", "[]", "[]"), "\"scale\" is of another type" },
        { JSON("[0]", "\"spin\"", "1", "\"0\"", "[]", "[]"), "\"offset\" is of another type" },
        { JSON("[0]", "\"spin\"", "1e308", "10", "[]", "[]"), "the constant of the energy is inf" },
        { JSON("0", "\"spin\"", "1", "0", "[]", "[]"), "\"variable_ids\" is of another type" },
        { JSON("[]", "\"spin\"", "1", "0", "[]", "[]"), "\"variable_ids\" names no variable" },
        { JSON("[0, 1.0]", "\"spin\"", "1", "0", "[]", "[]"), "entry 1 of \"variable_ids\"" },
        { JSON("[0, -1]", "\"spin\"", "1", "0", "[]", "[]"), "entry 1 of \"variable_ids\"" },
        { JSON("[0, 3, 0]", "\"spin\"", "1", "0", "[]", "[]"), "names a variable twice" },
        { JSON("[0]", "\"spin\"", "1", "0", "{}", "[]"), "\"linear_terms\" is of another type" },
        { JSON("[0]", "\"spin\"", "1", "0", "[1]", "[]"),
          "entry 0 of \"linear_terms\": \"id\" is none of the \"variable_ids\"" },
        { JSON("[0]", "\"spin\"", "1", "0", "[{\"id\": 1, \"coeff\": 1}]", "[]"),
          "\"id\" is none" },
        { JSON("[0]", "\"spin\"", "1", "0", "[{\"id\": 0, \"coeff\": \"1\"}]", "[]"),
          "linear_terms number 0: expected a number \"coeff\"" },
        { JSON("[0]", "\"spin\"", "1", "0",
               "[{\"id\": 0, \"coeff\": 1e308}, {\"id\": 0, \"coeff\": 1e308}]", "[]"),
          "the biases of variable 0 add up to inf" },
        { JSON("[0]", "\"spin\"", "1", "0", "[]", "7"), "\"quadratic_terms\" is of another type" },
        { JSON("[0, 1]", "\"spin\"", "1", "0", "[]",
               "[{\"id_tail\": 0, \"id_head\": 2, \"coeff\": 1}]"),
          "entry 0 of \"quadratic_terms\": \"id_head\" is none of the \"variable_ids\"" },
        { JSON("[0, 1]", "\"spin\"", "1", "0", "[]",
               "[{\"id_tail\": 1, \"id_head\": 1, \"coeff\": 1}]"),
          "entry 0 of \"quadratic_terms\" has one variable twice" },
        { JSON("[0, 1]", "\"spin\"", "10", "0", "[]",
               "[{\"id_tail\": 1, \"id_head\": 0, \"coeff\": 1e308}]"),
          "entry 0 of \"quadratic_terms\" is too large" },
    };
    check_refused(bqpjson, cases, N(cases));
}
END_TEST

/* ---- Matrix Market */

static const char small_mtx[] =
    "%%MatrixMarket matrix coordinate real symmetric\n% of a test\n3 3 3\n2 1 1.5\n3 2 -2\n3 3 4\n";

/* x'Ax of a dense matrix [n x n]. */
static void check_matrix(const sali_graph *g, int64_t n, const double *A)
{
    ck_assert_int_eq(g->nodes, n);
    for (int state = 0; state < 1 << n; state++) {
        double sum = 0;
        for (int64_t i = 0; i < n * n; i++) {
            sum += A[i] * graph_value(g->vartype, state, i / n) *
                   graph_value(g->vartype, state, i % n);
        }
        ck_assert_double_eq_tol(graph_energy(g, state), sum, 1e-12);
    }
}

START_TEST(a_matrix_is_an_energy_if_somebody_says_so)
{
    static const double symmetric[] = { 0, 1.5, 0, 1.5, 0, -2, 0, -2, 4 },
                        general[] = { 1, 2, 0, -3, 0, 4, 0, 4, 5 };
    static const struct {
        const char *text;
        const double *A;
    } cases[] = {
        { small_mtx, symmetric },
        { "%%matrixmarket MATRIX array real Symmetric\n3 3\n0\n1.5\n0\n0\n-2\n4\n", symmetric },
        { "%%MatrixMarket matrix array real general\n3 3\n0 1.5 0 1.5 0 -2 0 -2 4", symmetric },
        { "%%MatrixMarket matrix coordinate integer general\n3 3 7\n1 1 1\n1 2 2\n2 1 -3\n3 2 4\n"
          "2 3 3\n3 3 5\n2 3 1\n",
          general },
        { "%%MatrixMarket matrix array real general\n%\n3 3\n1\n-3\n0\n2\n0\n4\n0\n4\n5\n",
          general },
    };
    for (int64_t k = 0; k < N(cases); k++) {
        for (int vartype = SALI_VARTYPE_SPIN; vartype <= SALI_VARTYPE_BINARY; vartype++) {
            sali_graph g = read_text(mtx, cases[k].text, (sali_vartype)vartype, NULL);
            ck_assert_int_eq(g.vartype, vartype);
            check_matrix(&g, 3, cases[k].A);
            sali_graph_free(&g);
        }
    }
    sali_graph g = read_text(mtx,
                             "%%MatrixMarket matrix coordinate real symmetric\n%vartype: binary\n"
                             "3 3 3\n2 1 1.5\n3 2 -2\n3 3 4\n",
                             0, NULL);
    ck_assert_int_eq(g.vartype, SALI_VARTYPE_BINARY);
    check_matrix(&g, 3, symmetric);
    sali_graph_free(&g);
}
END_TEST

/* Both entries of a pair are one edge of that weight; so is one, with a remark. */
START_TEST(else_a_matrix_holds_weights)
{
    static const graph_edge edges[] = { { 1, 0, 1.5 }, { 2, 1, -2 } },
                            sorted[] = { { 0, 1, 1.5 }, { 1, 2, -2 } },
                            ones[] = { { 1, 0, 1 }, { 2, 1, 1 } };
    static const struct {
        const char *text;
        const graph_edge *edges;
        const char *remark;
    } cases[] = {
        { "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1.5\n3 2 -2\n", edges, 0 },
        { "%%MatrixMarket matrix array real symmetric\n3 3\n0\n1.5\n0\n0\n-2\n0\n", edges, 0 },
        { "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n", ones, 0 },
        { "%%MatrixMarket matrix coordinate real general\n3 3 4\n3 2 -2\n2 1 1.5\n1 2 1.5\n2 3 "
          "-2\n",
          sorted, 0 },
        { "%%MatrixMarket matrix array real general\n3 3\n0 1.5 0 1.5 0 -2 0 -2 0", sorted, 0 },
        { "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 1.5\n3 2 -2\n", sorted,
          "the matrix is not symmetric, with one entry for each pair" },
    };
    for (int64_t k = 0; k < N(cases); k++) {
        sali_graph g = read_text(mtx, cases[k].text, 0, cases[k].remark);
        ck_assert_int_eq(g.vartype, SALI_VARTYPE_NONE);
        graph_check(&g, 3, NULL, NULL, 2, cases[k].edges);
        sali_graph_free(&g);
    }
}
END_TEST

START_TEST(bad_matrices_are_refused)
{
#define MATRIX "%%MatrixMarket matrix "
    static const bad_text cases[] = {
        { "", "f:1: expected a first line that begins with %%MatrixMarket" },
        { "%MatrixMarket matrix array real general\n1 1\n0", "expected a first line" },
        { "%%MatrixMarket vector coordinate real general\n", "expected matrix, found 'vector'" },
        { MATRIX "sparse real general\n", "expected coordinate or array, found 'sparse'" },
        { MATRIX "array pattern general\n", "expected real, integer or (of coordinates) pattern" },
        { MATRIX "coordinate complex general\n", "found 'complex'" },
        { MATRIX "coordinate real hermitian\n", "expected general or symmetric" },
        { MATRIX "coordinate real\ngeneral\n", "f:1: expected five words on the first line" },
        { MATRIX "coordinate real general 1\n", "expected the end of the line" },
        { MATRIX "coordinate real general\n", "expected the number of rows" },
        { MATRIX "coordinate real general\n99999999 99999999 0", "found '99999999'" },
        { MATRIX "coordinate real general\n2 3 0", "f:2: expected as many columns as rows" },
        { MATRIX "coordinate real general\n2 2\n0", "f:2: expected 'rows columns entries' on one" },
        { MATRIX "coordinate real general\n2 2 1000\n1 2 1", "1000 entries, more than the rest" },
        { MATRIX "coordinate real general\n2 2 2\n1 2 1", "expected a row" },
        { MATRIX "coordinate real general\n2 2 1\n1 2 1\n1 1 1", "expected the end of the file" },
        { MATRIX "coordinate real general\n2 2 1\n0 2 1", "f:3: expected a row (an integer, 1 to" },
        { MATRIX "coordinate real general\n2 2 1\n1 3 1", "expected a column" },
        { MATRIX "coordinate real general\n2 2 1\n1 2\n1", "expected 'row column entry' on one" },
        { MATRIX "coordinate pattern general\n2 2 1\n1\n2", "expected 'row column' on one line" },
        { MATRIX "coordinate real symmetric\n2 2 1\n1 2 1", "f:3: an entry above the diagonal" },
        { MATRIX "coordinate real general\n2 2 2\n1 2 1\n2 1 2",
          "the entries (1, 2) and (2, 1) differ: 1 and 2" },
        { MATRIX "coordinate real general\n3 3 3\n1 2 1\n2 1 1\n2 3 1",
          "f: is not symmetric: of some pairs it has both entries, of others one" },
        { MATRIX "coordinate real general\n2 2 1\n2 2 3", "the diagonal has an entry 3" },
        { MATRIX "coordinate real general\n2 2 2\n1 2 1e308\n1 2 1e308", "add up to inf" },
        { MATRIX "array real general\n2 2\n0 1 1", "expected the next entry" },
        { MATRIX "array real general\n2 2\n0 1 1 0 0", "expected the end of the file" },
        { MATRIX "array real general\n2 2 4\n0 1 1 0", "expected the end of the line" },
        { MATRIX "array real general\n% vartype=x\n1 1\n0", "expected vartype=SPIN or" },
    };
    check_refused(mtx, cases, N(cases));
}
END_TEST

/* ---- what the caller says */

START_TEST(the_caller_says_what_the_variables_are)
{
    static const struct {
        const char *name, *text;
    } files[] = { { "a.coo", "0 1 2.000000\n1 1 -1.000000\n" },
                  { "a.gset", "2 1\n1 2 2\n" },
                  { "a.graphml", "<graphml><key id='w' for='edge' attr.name='bias' "
                                 "attr.type='double'/><graph edgedefault='undirected'><node "
                                 "id='0'/><node id='1'/><edge source='0' target='1'><data "
                                 "key='w'>2</data></edge></graph></graphml>" } };
    sal_error err = { 0 };
    for (int64_t k = 0; k < N(files); k++) {
        sali_content content = { 0 };
        const sali_reading reading = { .vartype = SALI_VARTYPE_BINARY };
        const char *path = temp_write(files[k].name, files[k].text, strlen(files[k].text));
        ck_ok(sali_content_read_as(path, NULL, 0, &reading, &content, NULL, &err), &err);
        ck_assert_int_eq(content.graph.vartype, SALI_VARTYPE_BINARY);
        ck_assert_double_eq(content.graph.weights[0], 2);
        sali_content_free(&content);
    }
    const sali_reading reading = { .vartype = SALI_VARTYPE_SPIN };
    sali_content content = { 0 };
    ck_fails(sali_content_read_as(temp_write("a.qubo", "p qubo 0 2 0 1\n0 1 1\n", 21), NULL, 0,
                                  &reading, &content, NULL, &err),
             SAL_ERR_DATA, &err, "holds an energy of binary variables, and vartype=spin was given");
    ck_fails(sali_content_read_as(temp_write("b.coo", "# vartype=BINARY\n0 1 1\n", 23), NULL, 0,
                                  &reading, &content, NULL, &err),
             SAL_ERR_DATA, &err, "b.coo:1: another vartype than was asked for");
}
END_TEST

static double value(const char *specification, const int32_t *codes)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    double f;
    ck_ok(sal_model_open(specification, SAL_F64, &model, &err), &err);
    ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
    sal_model_destroy(model);
    return f;
}

/* A conversion from a file whose numbers the specification says to be an energy of spins, to every
 * format of energies: f is the same up to the constant that the remark names. */
START_TEST(energies_keep_f_in_every_format)
{
    static const char *const targets[] = { "b.qubo", "b.qpbo", "b.json",   "b.mtx",
                                           "b.coo",  "b.uai",  "b.graphml" };
    static const double shift[] = { 2.5, 0, 0, 2.5, 0, 0, 0 };
    static const char text[] = "0 1 2.5\n1 2 -1.5\n0 0 -1\n2 2 -.5\n";
    sal_error err = { 0 };
    char in[600];
    snprintf(in, sizeof in, "ising:file=%s,vartype=spin",
             temp_write("a.coo", text, sizeof text - 1));
    for (int64_t k = 0; k < N(targets); k++) {
        char *remark = NULL;
        const char *out = temp_path(targets[k]);
        ck_ok(sal_convert(in, out, NULL, &remark, &err), &err);
        ck_assert_msg((remark && strstr(remark, "place for the constant 2.5 of the energy")) ==
                          (shift[k] != 0),
                      "%s: %s", targets[k], remark ? remark : "");
        ck_assert_int_eq(remark && strstr(remark, "spins s became binary variables x"),
                         shift[k] != 0);
        sal_free(remark);
        for (int state = 0; state < 8; state++) {
            const int32_t codes[] = { state & 1, state >> 1 & 1, state >> 2 & 1 };
            ck_assert_double_eq_tol(value(out, codes), value(in, codes) + shift[k], 1e-12);
        }
    }
}
END_TEST

/* A constant is part of f, and survives where the format has a place for it. */
START_TEST(the_constant_of_an_energy_is_kept_or_said)
{
    static const struct {
        const char *out;
        bool kept;
    } cases[] = { { "c.json", true },    { "c.uai", true },  { "c.qubo", false },
                  { "c.qpbo", false },   { "c.coo", false }, { "c.mtx", false },
                  { "c.graphml", false } };
    static const char text[] =
        JSON("[0, 1]", "\"boolean\"", "2", "-3", "[{\"id\": 1, \"coeff\": 4}]",
             "[{\"id_tail\": 1, \"id_head\": 0, \"coeff\": 1}]");
    static const int32_t codes[] = { 1, 1 };
    sal_error err = { 0 };
    char in[600];
    snprintf(in, sizeof in, "%s", temp_write("a.json", text, sizeof text - 1));
    ck_assert_double_eq(value(in, codes), -4);
    for (int64_t k = 0; k < N(cases); k++) {
        char *remark = NULL;
        const char *out = temp_path(cases[k].out);
        ck_ok(sal_convert(in, out, NULL, &remark, &err), &err);
        ck_assert_int_eq(!remark, cases[k].kept);
        ck_assert(!remark || strstr(remark, "no place for the constant -6 of the energy: f of the "
                                            "file is f plus this constant"));
        ck_assert_double_eq_tol(value(out, codes), cases[k].kept ? -4 : -10, 1e-12);
        sal_free(remark);
    }
    snprintf(in, sizeof in, "ising:file=%s,beta=.5", temp_path("a.json"));
    ck_assert_double_eq(value(in, codes), -2);
}
END_TEST

START_TEST(what_these_formats_cannot_say_is_refused)
{
    static const struct {
        const char *text, *file, *message;
    } cases[] = {
        { "2 1\n1 2 1\n", "a.qubo", "this format holds energies, and the graph has weights" },
        { "2 1\n1 2 1\n", "a.json", "ising:file=PATH,vartype=spin" },
        { "2 1\n1 2 1\n", "a.qpbo", "this format holds energies" },
        { "p edge 2 1\nn 1 1\nn 2 1\ne 1 2\n", "a.mtx", "has no weights of nodes" },
        { "# vartype=SPIN\n0 7 1\n", "a.qubo", "cannot name one '7'" },
        { "# vartype=SPIN\n0 7 1\n", "a.mtx", "cannot name one '7'" },
        { "# vartype=SPIN\n0 1 1e308\n", "a.qubo", "the numbers of the energy are too large" },
    };
    for (int64_t k = 0; k < N(cases); k++) {
        sal_error err = { 0 };
        const char *in = temp_write("in", cases[k].text, strlen(cases[k].text));
        ck_fails(sal_convert(in, temp_path(cases[k].file), NULL, NULL, &err), SAL_ERR_ARGUMENT,
                 &err, cases[k].message);
    }
    sal_error err = { 0 };
    sal_model *model = NULL;
    ck_fails(sal_model_open("ising:side=2,vartype=spin", 0, &model, &err), SAL_ERR_ARGUMENT, &err,
             "vartype means nothing for a lattice");
    ck_fails(sal_model_open("ising:vartype=bits,file=a", 0, &model, &err), SAL_ERR_ARGUMENT, &err,
             "vartype");
    ck_assert_int_eq(temp_count(), 1);
}
END_TEST

/* Weights of edges come back from Matrix Market, in any order of the nodes. */
START_TEST(weights_survive_matrix_market)
{
    static const char text[] = "4 3\n1 2 1\n4 3 -0.333\n4 1 1e-7\n";
    sal_error err = { 0 };
    sali_content content = { 0 }, back = { 0 };
    ck_ok(sali_content_read(temp_write("w.gset", text, sizeof text - 1), NULL, 0, &content, NULL,
                            &err),
          &err);
    ck_ok(sali_content_write(temp_path("w.mtx"), NULL, &content, &err), &err);
    ck_ok(sali_content_read(temp_path("w.mtx"), NULL, 0, &back, NULL, &err), &err);
    graph_check(&back.graph, 4, NULL, NULL, 3,
                (graph_edge[]){ { 1, 0, 1 }, { 3, 2, -0.333 }, { 3, 0, 1e-7 } });
    sali_content_free(&content);
    sali_content_free(&back);
}
END_TEST

/* ---- hostile files */

static sal_status parse_bytes(const sali_format *format, const void *data, int64_t size,
                              sal_error *err)
{
    sali_content content = { 0 };
    sal_status status = sali_format_parse(format, "f", data, size, &content, err);
    sali_content_free(&content);
    return status;
}

#define PARSER(format)                                                               \
    static sal_status parse_##format(const void *data, int64_t size, sal_error *err) \
    {                                                                                \
        return parse_bytes(format, data, size, err);                                 \
    }
PARSER(qubo)
PARSER(qpbo)
PARSER(bqpjson)
PARSER(mtx)

static const char general_mtx[] =
    "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 2 3\n2 1 3\n1 1 0\n";

START_TEST(truncated_and_damaged_energies_are_survived)
{
    temp_sweep(parse_qubo, small_qubo, sizeof small_qubo - 1);
    temp_sweep(parse_qpbo, small_qpbo, sizeof small_qpbo - 1);
    temp_sweep(parse_bqpjson, small_json, sizeof small_json - 1);
    temp_sweep(parse_mtx, small_mtx, sizeof small_mtx - 1);
    temp_sweep(parse_mtx, general_mtx, sizeof general_mtx - 1);
}
END_TEST

START_TEST(energies_survive_failing_allocations)
{
    static const char both[] = "3 3\n1 1 5\n1 2 2\n2 1 7\n";
    const struct {
        const sali_format *format;
        const void *data;
        int64_t size;
    } cases[] = { { qubo, small_qubo, sizeof small_qubo - 1 },
                  { qpbo, both, sizeof both - 1 },
                  { bqpjson, small_json, sizeof small_json - 1 },
                  { mtx, general_mtx, sizeof general_mtx - 1 } };
    for (int64_t k = 0; k < N(cases); k++) {
        sal_error err = { 0 };
        sali_content content = { 0 };
        sali_remark remark = { 0 };
        ck_alloc_sweep(
            sali_format_parse(cases[k].format, "f", cases[k].data, cases[k].size, &content, &err),
            sali_content_free(&content));
        if (cases[k].format->write && cases[k].format != bqpjson) {
            ck_ok(sali_format_parse(cases[k].format, "f", cases[k].data, cases[k].size, &content,
                                    &err),
                  &err);
            content.graph.vartype = SALI_VARTYPE_SPIN;
            ck_alloc_sweep(
                sali_format_write_as(cases[k].format, temp_path("a"), &content, &remark, &err),
                sali_remark_free(&remark));
            sali_remark_free(&remark);
            sali_content_free(&content);
        }
    }
    char in[600];
    sal_error err = { 0 };
    snprintf(in, sizeof in, "ising:file=%s,vartype=spin", temp_write("a.coo", "0 1 2\n", 6));
    const char *out = temp_path("a.qubo");
    char *remark = NULL;
    ck_alloc_sweep(sal_convert(in, out, NULL, &remark, &err), sal_free(remark));
}
END_TEST

START_TEST(texts_of_other_kinds_are_no_energies)
{
    static const char *const texts[] = {
        "",     "{}",        "[\"variable_domain\"]", "p edge 3 2\n", "3 2 1", "%MatrixMarket",
        "DIMO", "1 2\n3 4\n"
    };
    const sali_format *const formats[] = { qubo, bqpjson, &sali_format_bqm, mtx };
    for (int64_t k = 0; k < N(texts); k++) {
        for (int64_t f = 0; f < N(formats); f++) {
            ck_assert(!sali_format_recognises(formats[f], texts[k], (int64_t)strlen(texts[k])));
        }
    }
    static const char heading[] = " \n{\"variable_domain\"";
    ck_assert(sali_format_recognises(bqpjson, heading, sizeof heading - 1));
    ck_assert(!sali_format_recognises(qpbo, "3 2\n1 1\n", 8));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io_energies");
    TCase *tcase = tcase_create("energies");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, a_pair_of_a_qubo_counts_once);
    tcase_add_test(tcase, bad_qubos_are_refused);
    tcase_add_test(tcase, a_pair_of_qpbo_counts_twice_as_in_toulbar2);
    tcase_add_test(tcase, bad_qpbos_are_refused);
    tcase_add_test(tcase, the_suffix_tells_qpbo_from_max_cut);
    tcase_add_test(tcase, scale_and_offset_of_bqpjson_count);
    tcase_add_test(tcase, bad_bqpjsons_are_refused);
    tcase_add_test(tcase, a_matrix_is_an_energy_if_somebody_says_so);
    tcase_add_test(tcase, else_a_matrix_holds_weights);
    tcase_add_test(tcase, bad_matrices_are_refused);
    tcase_add_test(tcase, the_caller_says_what_the_variables_are);
    tcase_add_test(tcase, energies_keep_f_in_every_format);
    tcase_add_test(tcase, the_constant_of_an_energy_is_kept_or_said);
    tcase_add_test(tcase, what_these_formats_cannot_say_is_refused);
    tcase_add_test(tcase, weights_survive_matrix_market);
    tcase_add_test(tcase, truncated_and_damaged_energies_are_survived);
    tcase_add_test(tcase, energies_survive_failing_allocations);
    tcase_add_test(tcase, texts_of_other_kinds_are_no_energies);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
