/* SPDX-License-Identifier: MIT */
#include "models/conversion.h"

#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/sequences.h"

bool sali_content_converts(sali_content_kind from, sali_content_kind to)
{
    return (from == SALI_CONTENT_NETWORK && to == SALI_CONTENT_GRAPH) ||
           (from == SALI_CONTENT_GRAPH && to == SALI_CONTENT_NETWORK) ||
           (from == SALI_CONTENT_ARRAY && to == SALI_CONTENT_ALIGNMENT);
}

/* Copies of names [n] in *out; NULL stays NULL. */
static sal_status copy_names(char *const *names, int64_t n, char ***out, sal_error *err)
{
    char **copies = names ? SALI_NEW_ARRAY(char *, n) : NULL;
    bool ok = copies || !names;
    for (int64_t k = 0; names && ok && k < n; k++) {
        copies[k] = sali_strdup(names[k]);
        ok = copies[k];
    }
    if (!ok) {
        sali_names_free(copies, n);
        return sali_fail_memory(err);
    }
    *out = copies;
    return SAL_OK;
}

/* ---- networks as energies */

/* SAL_ERR_ARGUMENT unless all variables of `net` have two states, and all factors have at most two
 * variables and finite tables. */
static sal_status check_network(const sali_factor_graph *net, sal_error *err)
{
    for (int64_t v = 0; v < net->variables; v++) {
        if (net->states[v] != 2) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "an energy has variables of two states, and variable %lld of the "
                             "network has %d",
                             (long long)v, (int)net->states[v]);
        }
    }
    for (int64_t f = 0; f < net->factors; f++) {
        long long size = (long long)(net->scope_begin[f + 1] - net->scope_begin[f]);
        if (size > 2) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "an energy has terms of two variables at most, and factor %lld of "
                             "the network has %lld",
                             (long long)f, size);
        }
        for (int64_t k = net->table_begin[f]; k < net->table_begin[f + 1]; k++) {
            if (!isfinite(net->log_table[k])) {
                return sali_fail(err, SAL_ERR_ARGUMENT,
                                 "an energy is finite, and factor %lld of the network forbids a "
                                 "state",
                                 (long long)f);
            }
        }
    }
    return SAL_OK;
}

/* Add factor f to the energy of *g, which is -log p without its constant: log p = t[0] + (t[1] -
 * t[0]) x for one variable, and t00 + (t10 - t00) x + (t01 - t00) y + (t11 - t10 - t01 + t00) x y
 * for two. */
static void add_factor(const sali_factor_graph *net, int64_t f, sali_graph *g)
{
    const int32_t *scope = &net->scope[net->scope_begin[f]];
    const double *t = &net->log_table[net->table_begin[f]];
    int64_t size = net->scope_begin[f + 1] - net->scope_begin[f];
    if (size == 1) {
        g->node_weights[scope[0]] -= t[1] - t[0];
    } else if (size == 2) {
        g->node_weights[scope[0]] -= t[2] - t[0];
        g->node_weights[scope[1]] -= t[1] - t[0];
        g->pairs[2 * g->edges] = scope[0];
        g->pairs[2 * g->edges + 1] = scope[1];
        g->weights[g->edges++] = -((t[3] - t[2]) - (t[1] - t[0]));
    }
}

/* Fill *g with the energy -log p over binary variables. On failure *g may be partly filled, and is
 * still to be freed. */
static sal_status network_to_graph(const sali_factor_graph *net, sali_graph *g, sal_error *err)
{
    sal_status status = check_network(net, err);
    if (status != SAL_OK) {
        return status;
    }
    g->vartype = SALI_VARTYPE_BINARY;
    g->nodes = net->variables;
    g->pairs = SALI_NEW_ARRAY(int64_t, 2 * net->factors);
    g->weights = SALI_NEW_ARRAY(double, net->factors);
    g->node_weights = SALI_NEW_ARRAY(double, net->variables);
    if (!g->pairs || !g->weights || !g->node_weights) {
        return sali_fail_memory(err);
    }
    for (int64_t f = 0; f < net->factors; f++) {
        add_factor(net, f, g);
    }
    return copy_names(net->names, net->variables, &g->names, err);
}

/* ---- energies as networks: a factor for each node that has a weight, for each edge, and for the
 * constant */

/* Set the sizes of *net and allocate its arrays, with room for a factor of each node, if nodes have
 * weights, and of each edge. Returns: SAL_ERR_ARGUMENT if there are too many nodes;
 * SAL_ERR_MEMORY. */
static sal_status allocate_network(const sali_graph *g, sali_factor_graph *net, sal_error *err)
{
    int64_t nodes = g->node_weights ? g->nodes : 0, constants = g->offset != 0, factors;
    if (g->nodes > INT32_MAX || __builtin_add_overflow(nodes + constants, g->edges, &factors)) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "a network has at most 2^31 - 1 variables");
    }
    net->kind = SALI_FACTOR_MARKOV;
    net->variables = g->nodes;
    net->factors = factors;
    net->states = SALI_NEW_ARRAY(int32_t, g->nodes);
    net->scope_begin = SALI_NEW_ARRAY(int64_t, factors + 1);
    net->table_begin = SALI_NEW_ARRAY(int64_t, factors + 1);
    net->scope = SALI_NEW_ARRAY(int32_t, nodes + 2 * g->edges);
    net->log_table = SALI_NEW_ARRAY(double, constants + 2 * nodes + 4 * g->edges);
    bool ok = net->states && net->scope_begin && net->table_begin && net->scope && net->log_table;
    return ok ? SAL_OK : sali_fail_memory(err);
}

/* Append factor f over `nodes` [size], at most 2 nodes: its logarithms are -weight, -weight x or
 * -weight x y. In state 0 x and y are `first`, in state 1 they are 1. */
static void put_factor(sali_factor_graph *net, int64_t f, const int64_t *nodes, int size,
                       double weight, double first)
{
    int64_t begin = net->scope_begin[f], table = net->table_begin[f];
    for (int k = 0; k < size; k++) {
        net->scope[begin + k] = (int32_t)nodes[k];
    }
    for (int k = 0; k < 1 << size; k++) {
        double x = size == 0 || k >> (size - 1) ? 1 : first;
        double y = size <= 1 || k & 1 ? 1 : first;
        net->log_table[table + k] = -weight * (x * y);
    }
    net->scope_begin[f + 1] = begin + size;
    net->table_begin[f + 1] = table + (1 << size);
}

/* Fill *net with the Markov network whose log p is minus the energy of `g`. On failure *net may be
 * partly filled, and is still to be freed. Returns: SAL_ERR_ARGUMENT if `g` is no energy. */
static sal_status graph_to_network(const sali_graph *g, sali_factor_graph *net, sal_error *err)
{
    if (g->vartype == SALI_VARTYPE_NONE) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "only an energy of spin or binary variables is a network, and the graph "
                         "has weights");
    }
    sal_status status = allocate_network(g, net, err);
    if (status != SAL_OK) {
        return status;
    }
    double first = g->vartype == SALI_VARTYPE_SPIN ? -1 : 0;
    int64_t f = 0;
    for (int64_t v = 0; v < g->nodes; v++) {
        net->states[v] = 2;
        if (g->node_weights) {
            put_factor(net, f++, &v, 1, g->node_weights[v], first);
        }
    }
    for (int64_t e = 0; e < g->edges; e++) {
        put_factor(net, f++, &g->pairs[2 * e], 2, g->weights[e], first);
    }
    if (g->offset != 0) {
        put_factor(net, f++, NULL, 0, g->offset, first);
    }
    return copy_names(g->names, g->nodes, &net->names, err);
}

sal_status sali_content_convert(const sali_content *from, sali_content_kind to, sali_content *out,
                                sal_error *err)
{
    sali_content made = { .kind = to };
    if (to == SALI_CONTENT_ALIGNMENT) {
        return sali_sequences_of_array(&from->array, "", out, err);
    }
    sal_status status = from->kind == SALI_CONTENT_NETWORK
                            ? network_to_graph(&from->network, &made.graph, err)
                            : graph_to_network(&from->graph, &made.network, err);
    if (status != SAL_OK) {
        sali_content_free(&made);
        return status;
    }
    *out = made;
    return SAL_OK;
}
