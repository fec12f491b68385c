/* SPDX-License-Identifier: MIT */
/* a + b. */
#include "core/real.h"

static inline real value(real a, real b)
{
    return a + b;
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
    return 1;
}

#include "ad/ops/binary.h"

BINARY_RECORD(add, "a + b", -2, 2, sali_degree_linear, true, sali_term_either);
