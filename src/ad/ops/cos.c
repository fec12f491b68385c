/* SPDX-License-Identifier: MIT */
/* cos a. */
#include "core/real.h"
#include "core/vector/vmath.h"

/* slope = -sin x for n numbers. */
static void slopes(int64_t n, const real *x, real *slope)
{
    RN(sali_vsin)(n, x, slope);
    for (int64_t i = 0; i < n; i++) {
        slope[i] = -slope[i];
    }
}

#define VALUES RN(sali_vcos)
#define SLOPES slopes
#include "ad/ops/unary.h"

UNARY_RECORD(cos, "cos a", -4, 4);
