/* SPDX-License-Identifier: MIT */
/* Energies of binary variables (QUBO) as D-Wave's qbsolv reads them. */
#include "core/alloc.h"
#include "io/format.h"
#include "io/graphs/graph_energy.h"

/* ---- reading */

/* Read the line "p qubo TOPOLOGY VARIABLES DIAGONALS COUPLINGS"; the topology may be any word.
 * counts[0] and counts[1] receive the last two numbers. */
static void read_problem(sali_scan *scan, int64_t *nodes, int64_t counts[2])
{
    static const char what[] = "a line 'p qubo 0 VARIABLES DIAGONALS COUPLINGS'";
    sali_token p = sali_scan_token(scan), word = sali_scan_token(scan);
    if (!sali_token_is(&p, "p") || !sali_token_is(&word, "qubo") || word.line != p.line) {
        sali_scan_expected(scan, sali_token_is(&p, "p") ? &word : &p, what);
    }
    sali_scan_token(scan);
    *nodes = sali_graph_scan_nodes(scan, "the number of variables", SALI_GRAPH_FREE_WEIGHTS);
    counts[0] = sali_scan_int(scan, "the number of diagonals", 0, INT64_MAX);
    counts[1] = sali_scan_int(scan, "the number of couplings", 0, INT64_MAX);
    if (scan->line != p.line) {
        sali_scan_fail(scan, p.line, "expected %s", what);
    }
    sali_graph_scan_line_end(scan, p.line);
}

/* Read all entries; their numbers must be those of the line p. A pair counts once. */
static void parse(sali_scan *scan, sali_content *out)
{
    sali_graph_reader r = { .scan = scan, .graph = &out->graph };
    int64_t said[2], diagonals = 0;
    read_problem(scan, &r.graph->nodes, said);
    r.graph->vartype = SALI_VARTYPE_BINARY;
    while (sali_scan_more(scan)) {
        diagonals += sali_graph_scan_entry(&r, 0, 1);
    }
    if (diagonals != said[0] || r.graph->edges != said[1]) {
        sali_scan_refuse(scan,
                         "has %lld diagonals and %lld couplings; its line p says %lld and %lld",
                         (long long)diagonals, (long long)r.graph->edges, (long long)said[0],
                         (long long)said[1]);
    }
    sali_graph_check_biases(scan, r.graph);
}

static bool recognise(sali_scan *scan)
{
    int64_t nodes, counts[2];
    read_problem(scan, &nodes, counts);
    return scan->status == SAL_OK;
}

/* ---- writing */

static void put_entry(sali_text_output *w, int64_t i, int64_t j, double value)
{
    sali_put(w, "%lld %lld %g\n", (long long)(i < j ? i : j), (long long)(i < j ? j : i), value);
}

/* Write the energy, of spins as one of binary variables; the constant becomes a comment. */
static void write(sali_text_output *w, const sali_content *content)
{
    const sali_graph *g = &content->graph;
    sali_graph binary = { 0 };
    int64_t diagonals = 0;
    sali_graph_refuse_weights(w, g);
    int64_t *numbers = sali_graph_number(w, g);
    sali_graph_binary(w, g, &binary);
    for (int64_t k = 0; k < g->nodes && w->status == SAL_OK; k++) {
        diagonals += binary.node_weights[k] != 0;
    }
    if (binary.offset != 0) {
        sali_put(w, "c offset : %g\n", binary.offset);
    }
    sali_put(w, "p qubo 0 %lld %lld %lld\n", (long long)g->nodes, (long long)diagonals,
             (long long)g->edges);
    for (int64_t k = 0; k < g->nodes && w->status == SAL_OK; k++) {
        if (binary.node_weights[k] != 0) {
            put_entry(w, numbers[k] - 1, numbers[k] - 1, binary.node_weights[k]);
        }
    }
    for (int64_t e = 0; e < g->edges && w->status == SAL_OK; e++) {
        put_entry(w, numbers[g->pairs[2 * e]] - 1, numbers[g->pairs[2 * e + 1]] - 1,
                  binary.weights[e]);
    }
    sali_graph_drop_offset(w, binary.offset);
    sali_graph_binary_free(&binary);
    sali_free(numbers);
}

const sali_format sali_format_qubo = {
    .name = "qubo",
    .doc = "energies of binary variables (QUBO) of qbsolv: \"p qubo 0 variables diagonals "
           "couplings\", then \"i j value\" from 0; f is minus the energy",
    .suffixes = { ".qubo" },
    .content = SALI_CONTENT_GRAPH,
    .model = "ising",
    .comments = SALI_COMMENT_LETTER_C,
    .recognise = recognise,
    .has_heading = true,
    .parse = parse,
    .write = write,
};
