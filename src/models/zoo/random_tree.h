/* SPDX-License-Identifier: MIT */
/* Random expressions: the probabilistic context-free grammar of van den Hoek 2022, section 3.2. */
#ifndef SALI_RANDOM_TREE_H
#define SALI_RANDOM_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/rng.h"

typedef enum sali_tree_op {
    SALI_TREE_ADD,
    SALI_TREE_SUBTRACT,
    SALI_TREE_MULTIPLY,
    SALI_TREE_LOG,
    SALI_TREE_SQUARE,
    SALI_TREE_INVERSE,
    SALI_TREE_NEGATE,
    SALI_TREE_VARIABLE,
    SALI_TREE_CONSTANT
} sali_tree_op;

typedef struct sali_tree_node {
    sali_tree_op op;
    int32_t in[2];    /* earlier nodes; a unary op has one */
    int64_t variable; /* of VARIABLE */
    double constant;  /* of CONSTANT */
} sali_tree_node;

/* Most nodes of a tree (13 on average), and most distinct variables. */
#define SALI_TREE_NODES 400
#define SALI_TREE_VARIABLES 12

/* Nodes come after their inputs; the last is the root. */
typedef struct sali_tree {
    int32_t n;
    sali_tree_node nodes[SALI_TREE_NODES];
} sali_tree;

/* Draw an expression from the start symbol, with Parameter = `parameter`, and AnyParameter uniform
 * among variables [n]. False if the expression does not fit; the tree is then unusable. */
bool sali_tree_draw(const sali_stream *stream, int64_t parameter, int64_t n,
                    const int64_t *variables, sali_tree *tree);

/* Whether the function scale times tree is valid for variables in 0 .. states - 1: at none of their
 * values does the function take the logarithm of a negative number or the inverse of 0, or is NaN
 * or +inf, and at one of them at least it is finite. log 0 is -inf. Stricter than the thesis: the
 * function is also refused if rounding in single precision decides whether a logarithm or an
 * inverse is defined, if a number exceeds 1e30, or if there are too many variables to list their
 * values. */
bool sali_tree_valid(const sali_tree *tree, double scale, int32_t states);

#endif
