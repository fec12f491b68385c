/* SPDX-License-Identifier: MIT */
/* a - b. */
#define VALUE(a, b) ((a) - (b))
#define SLOPE_A(a, b) 1
#define SLOPE_B(a, b) -1
#include "ad/ops/binary.h"

static sali_op_term term(const sali_term_place *p)
{
    sali_op_term term = sali_term_either(p);
    term.factor = p->t == 1 ? -1 : 1;
    return term;
}

BINARY_RECORD(sub, "a - b", -2, 2, sali_degree_linear, true, term);
