/* SPDX-License-Identifier: MIT */
/* Graphs of max-cut collections: the G-set, rudy, Biq Mac. */
#include "core/alloc.h"
#include "core/error.h"
#include "io/format.h"
#include "io/graphs/graph_text.h"
#include "io/text_output.h"

#define COMMENTS (SALI_COMMENT_HASH | SALI_COMMENT_LETTER_C | SALI_COMMENT_PERCENT)

/* ---- reading */

/* A line "n m", after the word MAX-CUT in some files. */
static sal_status read_counts(sali_scan *scan, int64_t *nodes, int64_t *edges, sal_error *err)
{
    sali_scan ahead = *scan;
    sali_token token;
    sal_status status = sali_scan_token(&ahead, &token, err);
    if (status == SAL_OK && sali_token_is(&token, "MAX-CUT")) {
        *scan = ahead;
    }
    return status ? status : sali_graph_scan_counts(scan, nodes, edges, err);
}

static sal_status read_edges(sali_scan *scan, int64_t edges, sali_graph_reader *r, sal_error *err)
{
    sal_status status = SAL_OK;
    for (int64_t e = 0; e < edges && status == SAL_OK; e++) {
        int64_t pair[2];
        double weight = 1;
        status = sali_graph_scan_edge(scan, r->graph->nodes, pair, &weight, err);
        status = status ? status : sali_graph_add(r, pair[0], pair[1], weight, err);
    }
    return status;
}

static sal_status parse(const char *name, const char *data, int64_t size, sali_content *out,
                        sal_error *err)
{
    sali_scan scan;
    sali_scan_init(&scan, name, data, size, COMMENTS);
    sali_graph_reader r = { .graph = &out->graph };
    int64_t edges = 0;
    sal_status status = read_counts(&scan, &r.graph->nodes, &edges, err);
    if (status == SAL_OK && edges > sali_scan_room(&scan) / 2) {
        status =
            sali_scan_fail(&scan, scan.line, err,
                           "%lld edges, more than the rest of the file can hold", (long long)edges);
    }
    status = status ? status : read_edges(&scan, edges, &r, err);
    status = status ? status : sali_scan_end(&scan, err);
    return status;
}

/* Files have no usual suffix: "n m", and then "i j" or "i j w" within these numbers. */
static bool recognise(const char *data, int64_t size)
{
    sali_scan scan;
    int64_t nodes, edges, pair[2];
    double weight;
    sali_scan_init(&scan, "", data, size, COMMENTS);
    return read_counts(&scan, &nodes, &edges, NULL) == SAL_OK &&
           (edges == 0 ? sali_scan_end(&scan, NULL)
                       : sali_graph_scan_edge(&scan, nodes, pair, &weight, NULL)) == SAL_OK;
}

/* ---- writing */

static sal_status write(const char *path, const sali_content *content, sal_error *err)
{
    const sali_graph *g = &content->graph;
    sal_status status = sali_graph_refuse_energy(path, g, err);
    if (status == SAL_OK && sali_graph_has_node_weights(g)) {
        status =
            sali_fail(err, SAL_ERR_ARGUMENT,
                      "%s: this format has no weights of nodes; dimacs and graphml have", path);
    }
    int64_t *numbers = SALI_NEW_ARRAY(int64_t, g->nodes);
    status = status ? status
                    : (numbers ? sali_graph_number(path, g, numbers, err) : sali_fail_memory(err));
    if (status == SAL_OK) {
        sali_text_output w;
        sali_text_open(&w, path, false, err);
        sali_put(&w, "%lld %lld\n", (long long)g->nodes, (long long)g->edges);
        for (int64_t e = 0; e < g->edges && w.status == SAL_OK; e++) {
            sali_put(&w, "%lld %lld %g\n", (long long)numbers[g->pairs[2 * e]],
                     (long long)numbers[g->pairs[2 * e + 1]], g->weights[e]);
        }
        status = sali_text_close(&w);
    }
    sali_free(numbers);
    return status;
}

const sali_format sali_format_gset = {
    .name = "gset",
    .doc = "max-cut (G-set, rudy, Biq Mac): \"nodes edges\", then \"i j weight\"; repeated edges "
           "add up",
    .suffixes = { ".gset", ".rud", ".rudy", ".mc" },
    .content = SALI_CONTENT_GRAPH,
    .model = "ising",
    .recognise = recognise,
    .parse = parse,
    .write = write,
};
