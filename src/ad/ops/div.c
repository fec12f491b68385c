/* SPDX-License-Identifier: MIT */
/* a / b. */
#define VALUE(a, b) ((a) / (b))
#define SLOPE_A(a, b) (1 / (b))
#define SLOPE_B(a, b) (-((a) / (b)) / (b))
#include "ad/ops/binary.h"

static sali_degree degree(const sali_node *node, const sali_node *const *in,
                          const sali_degree *in_degree, const sal_space *space)
{
    return in_degree[1] != SALI_CONSTANT ? SALI_GENERAL
                                         : sali_degree_linear(node, in, in_degree, space);
}

static sali_op_term term(const sali_term_place *p)
{
    sali_op_term term = sali_term_both(p);
    term.end = SALI_DIVIDES;
    return term;
}

BINARY_RECORD(div, "a / b", 0.5, 2, degree, false, term);
