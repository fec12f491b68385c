/* SPDX-License-Identifier: MIT */
/* a / b. */
#include "core/real.h"

static inline real value(real a, real b)
{
    return a / b;
}

static inline real slope_a(real a, real b)
{
    (void)a;
    return 1 / b;
}

static inline real slope_b(real a, real b)
{
    return -(a / b) / b;
}

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
