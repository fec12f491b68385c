/* SPDX-License-Identifier: MIT */
#include "models/zoo/random_graph.h"

#include <stddef.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/zoo/graph_families.h"

const char *const sali_edge_weights_choices[] = { "one", "sign", "normal", NULL };

/* Fill weights [edges] as spec->weights demands: 1, -1 or 1, or standard normal. */
static void draw_weights(const sali_random_graph *spec, int64_t edges, double *weights)
{
    sali_stream stream = { .seed = spec->seed, .chain = 1, .purpose = SALI_RNG_PARAMS };
    if (spec->weights == SALI_WEIGHTS_NORMAL) {
        sali_rng_normal(&stream, edges, weights);
    } else if (spec->weights == SALI_WEIGHTS_SIGN) {
        sali_rng_uniform_f64(&stream, edges, weights);
    }
    for (int64_t e = 0; e < edges && spec->weights != SALI_WEIGHTS_NORMAL; e++) {
        weights[e] = spec->weights == SALI_WEIGHTS_SIGN && weights[e] < 0.5 ? -1 : 1;
    }
}

sal_status sali_random_graph_draw(const sali_random_graph *spec, sali_graph *out, sal_error *err)
{
    double n = (double)spec->nodes;
    sali_edge_list list = { 0 };
    if (spec->family == SALI_GRAPH_ER && spec->p * n * (n - 1) / 2 > (double)SALI_RANDOM_EDGES) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "random graph: %g edges among %lld nodes are expected; at most %lld",
                         spec->p * n * (n - 1) / 2, (long long)spec->nodes,
                         (long long)SALI_RANDOM_EDGES);
    }
    sal_status status = sali_graph_families[spec->family].draw(spec, &list, err);
    double *weights = status == SAL_OK ? SALI_NEW_ARRAY(double, list.edges) : NULL;
    if (status == SAL_OK && !weights) {
        status = sali_fail_memory(err);
    }
    if (status != SAL_OK) {
        sali_free(list.pairs);
        return status;
    }
    draw_weights(spec, list.edges, weights);
    *out = (sali_graph){
        .nodes = spec->nodes, .edges = list.edges, .pairs = list.pairs, .weights = weights
    };
    return SAL_OK;
}

int64_t sali_random_graph_nodes(int64_t nodes, int64_t most, uint64_t seed)
{
    sali_stream stream = { .seed = seed, .chain = 2, .purpose = SALI_RNG_PARAMS };
    return most > nodes ? nodes + sali_rng_below(&stream, 0, (uint32_t)(most - nodes + 1)) : nodes;
}

sal_status sali_random_graph_degree(const char *model, int64_t nodes, double degree, double *p,
                                    sal_error *err)
{
    double others = (double)(nodes - 1);
    if (degree > others) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "%s: degree=%g, and a node has %g others; expected nodes above degree",
                         model, degree, others);
    }
    *p = others > 0 ? degree / others : 0;
    return SAL_OK;
}
