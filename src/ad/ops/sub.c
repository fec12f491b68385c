/* SPDX-License-Identifier: MIT */
/* a - b. */
#include "core/real.h"

static inline real value(real a, real b)
{
    return a - b;
}

static inline real slope_a(real a, real b)
{
    (void)a;
    (void)b;
    return 1;
}

static inline real slope_b(real a, real b)
{
    (void)a;
    (void)b;
    return -1;
}

#include "ad/ops/binary.h"

static sali_op_term term(const sali_term_place *p)
{
    sali_op_term term = sali_term_either(p);
    term.factor = p->t == 1 ? -1 : 1;
    return term;
}

BINARY_RECORD(sub, "a - b", -2, 2, sali_degree_linear, true, term);
