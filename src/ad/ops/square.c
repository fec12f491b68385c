/* SPDX-License-Identifier: MIT */
/* a^2. */
#define VALUE(x) ((x) * (x))
#define SLOPE(x, y) (2 * (x))
#include "ad/ops/unary.h"

static sali_op_term term(const sali_term_place *p)
{
    return (sali_op_term){ .count = 1, .factor = 1, .n = 2, .at = { p->k, p->k } };
}

UNARY_RECORD(square, "a^2", -2, 2, .term = term, .hidden = SALI_HIDES_NORMAL);
