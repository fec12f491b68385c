/* SPDX-License-Identifier: MIT */
/* max(a, b); NaN if one is. At a tie the derivative goes to a alone. */
#include <stdbool.h>

#include "core/real.h"

/* Whether the result is a: the larger one, the first of equals, or a NaN. */
static inline bool is_first(real a, real b)
{
    return (a >= b) | (a != a);
}

static inline real value(real a, real b)
{
    return is_first(a, b) ? a : b;
}

static inline real slope_a(real a, real b)
{
    return is_first(a, b);
}

static inline real slope_b(real a, real b)
{
    return !is_first(a, b);
}

#include "ad/ops/binary.h"

BINARY_RECORD(maximum, "max(a, b)", -1, 1, sali_degree_nonlinear, false, NULL);
