/* SPDX-License-Identifier: MIT */
#include "models/zoo/random_tree.h"

#include <math.h>

/* ---- drawing */

typedef struct grower {
    const sali_stream *stream;
    uint32_t used; /* numbers used of the stream */
    int64_t parameter, n;
    const int64_t *variables;
    sali_tree *tree;
    int32_t open; /* symbols expanded so far; bounds the depth of the recursion */
    bool full;
} grower;

static int64_t draw_below(grower *g, int64_t bound)
{
    return sali_rng_below(g->stream, g->used++, (uint32_t)bound);
}

/* Append a node. Returns its index; 0, which has no meaning, if the tree is full. */
static int32_t append(grower *g, sali_tree_node node)
{
    if (g->tree->n == SALI_TREE_NODES) {
        g->full = true;
        return 0;
    }
    g->tree->nodes[g->tree->n] = node;
    return g->tree->n++;
}

static int32_t leaf(grower *g, int64_t variable)
{
    return append(g, (sali_tree_node){ .op = SALI_TREE_VARIABLE, .variable = variable });
}

/* Expand the symbol Function: 14 alternatives of equal probability. Returns the index of the
 * node. */
static int32_t grow_function(grower *g)
{
    static const double constants[] = { -1, 1, 2 };
    if (g->full || ++g->open > SALI_TREE_NODES) {
        g->full = true;
        return 0;
    }
    int64_t chance = draw_below(g, 14);
    if (chance < 7) {
        sali_tree_node node = { .op = (sali_tree_op)chance };
        node.in[0] = grow_function(g);
        if (node.op <= SALI_TREE_MULTIPLY) {
            node.in[1] = grow_function(g);
        }
        return append(g, node);
    }
    if (chance < 11) {
        return leaf(g, g->parameter);
    }
    if (chance < 13) {
        return leaf(g, g->variables[draw_below(g, g->n)]);
    }
    return append(
        g, (sali_tree_node){ .op = SALI_TREE_CONSTANT, .constant = constants[draw_below(g, 3)] });
}

/* Expand the symbol FunctionWithParam: 10 rules of probability 2/25 each, and Parameter with 5/25.
 * In a binary operation one rule ensures the parameter in the second operand, another in the first.
 * Returns the index of the node. */
static int32_t grow_with_parameter(grower *g)
{
    if (g->full || ++g->open > SALI_TREE_NODES) {
        g->full = true;
        return 0;
    }
    int64_t rule = draw_below(g, 25) / 2;
    if (rule >= 10) {
        return leaf(g, g->parameter);
    }
    if (rule >= 6) {
        sali_tree_node node = { .op = (sali_tree_op)(SALI_TREE_LOG + rule - 6) };
        node.in[0] = grow_with_parameter(g);
        return append(g, node);
    }
    sali_tree_node node = { .op = (sali_tree_op)(rule / 2) };
    node.in[0] = rule % 2 ? grow_with_parameter(g) : grow_function(g);
    node.in[1] = rule % 2 ? grow_function(g) : grow_with_parameter(g);
    return append(g, node);
}

bool sali_tree_draw(const sali_stream *stream, int64_t parameter, int64_t n,
                    const int64_t *variables, sali_tree *tree)
{
    grower g = {
        .stream = stream, .parameter = parameter, .n = n, .variables = variables, .tree = tree
    };
    tree->n = 0;
    grow_with_parameter(&g);
    return !g.full;
}

/* ---- validity */

/* A value, and a bound on its rounding error in single precision. */
typedef struct number {
    double value, error;
} number;

#define ROUNDING 1e-6
#define LARGEST 1e30

/* A value with its rounding error added to `error`. Integers below 2^24 are exact in single
 * precision; a value beyond LARGEST becomes NaN. */
static number rounded(double value, double error)
{
    bool exact = value == rint(value) && fabs(value) < 0x1p24 && error == 0;
    if (isinf(value)) {
        return (number){ value, 0 };
    }
    return fabs(value) > LARGEST ? (number){ NAN, 0 }
                                 : (number){ value, exact ? 0 : error + ROUNDING * fabs(value) };
}

/* Whether rounding errors hide if the number is 0 or not. */
static bool doubtful(number a)
{
    return a.error > 0 && fabs(a.value) <= a.error;
}

static number take_log(number a)
{
    return a.value < 0 || doubtful(a) ? (number){ NAN, 0 }
                                      : rounded(log(a.value), a.error > 0 ? a.error / a.value : 0);
}

static number take_inverse(number a)
{
    return a.value == 0 || doubtful(a)
               ? (number){ NAN, 0 }
               : rounded(1 / a.value, a.error > 0 ? a.error / (a.value * a.value) : 0);
}

static number take_product(number a, number b)
{
    double error = 0;
    error += a.error > 0 ? a.error * (fabs(b.value) + b.error) : 0;
    error += b.error > 0 ? b.error * fabs(a.value) : 0;
    return rounded(a.value * b.value, error);
}

/* Value of the tree; NaN if a logarithm or an inverse is not defined or is doubtful, or a number is
 * too large. codes[place[i]] is the value of leaf i. */
static number evaluate(const sali_tree *tree, const int32_t *place, const int32_t *codes)
{
    number value[SALI_TREE_NODES];
    value[0] = (number){ 0, 0 }; /* the inputs of leaves are node 0 */
    for (int32_t i = 0; i < tree->n; i++) {
        const sali_tree_node *node = &tree->nodes[i];
        number a = value[node->in[0]], b = value[node->in[1]];
        switch (node->op) {
        case SALI_TREE_ADD:
            value[i] = rounded(a.value + b.value, a.error + b.error);
            break;
        case SALI_TREE_SUBTRACT:
            value[i] = rounded(a.value - b.value, a.error + b.error);
            break;
        case SALI_TREE_MULTIPLY:
            value[i] = take_product(a, b);
            break;
        case SALI_TREE_LOG:
            value[i] = take_log(a);
            break;
        case SALI_TREE_SQUARE:
            value[i] = take_product(a, a);
            break;
        case SALI_TREE_INVERSE:
            value[i] = take_inverse(a);
            break;
        case SALI_TREE_NEGATE:
            value[i] = (number){ -a.value, a.error };
            break;
        case SALI_TREE_VARIABLE:
            value[i] = (number){ codes[place[i]], 0 };
            break;
        case SALI_TREE_CONSTANT:
            value[i] = (number){ node->constant, 0 };
            break;
        }
    }
    return value[tree->n - 1];
}

/* Set place[i], for each leaf i that is a variable, to the number of its variable among the
 * distinct variables of the tree. Returns how many these are, -1 if too many. */
static int32_t number_variables(const sali_tree *tree, int32_t *place)
{
    int64_t known[SALI_TREE_VARIABLES];
    int32_t n = 0;
    for (int32_t i = 0; i < tree->n; i++) {
        int32_t k = 0;
        if (tree->nodes[i].op != SALI_TREE_VARIABLE) {
            continue;
        }
        while (k < n && known[k] != tree->nodes[i].variable) {
            k++;
        }
        if (k == SALI_TREE_VARIABLES) {
            return -1;
        }
        known[k] = tree->nodes[i].variable;
        n = k == n ? n + 1 : n;
        place[i] = k;
    }
    return n;
}

/* Advance codes [n] to the next combination of 0 .. states - 1, the first code fastest; false after
 * the last one. */
static bool advance(int32_t n, int32_t states, int32_t *codes)
{
    for (int32_t k = 0; k < n; k++) {
        if (++codes[k] < states) {
            return true;
        }
        codes[k] = 0;
    }
    return false;
}

/* Most joint values of the variables that are tried. */
#define MOST_VALUES 4096.0

bool sali_tree_valid(const sali_tree *tree, double scale, int32_t states)
{
    int32_t place[SALI_TREE_NODES], codes[SALI_TREE_VARIABLES] = { 0 };
    int32_t n = number_variables(tree, place);
    bool finite = false;
    if (n < 0 || pow(states, n) > MOST_VALUES) {
        return false;
    }
    do {
        double value = scale * evaluate(tree, place, codes).value;
        if (isnan(value) || value == INFINITY) {
            return false;
        }
        finite |= isfinite(value);
    } while (advance(n, states, codes));
    return finite;
}
