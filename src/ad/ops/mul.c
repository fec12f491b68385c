/* SPDX-License-Identifier: MIT */
/* a b. */
#define VALUE(a, b) ((a) * (b))
#define SLOPE_A(a, b) (b)
#define SLOPE_B(a, b) (a)
#include "ad/ops/binary.h"

static sali_degree degree(const sali_node *node, const sali_node *const *in,
                          const sali_degree *in_degree, const sal_space *space)
{
    return in_degree[0] != SALI_CONSTANT && in_degree[1] != SALI_CONSTANT
               ? SALI_GENERAL
               : sali_degree_linear(node, in, in_degree, space);
}

BINARY_RECORD(mul, "a b", -2, 2, degree, false, sali_term_both);
