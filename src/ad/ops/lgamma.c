/* SPDX-License-Identifier: MIT */
/* log |Gamma(a)|; infinite at 0 and the negative integers, where the derivative is NaN. */
#include "ad/ops/digamma.h"
#include "core/real.h"

/* slope = psi(x) for n <= DIGAMMA_BLOCK numbers, by way of doubles. */
static void slopes(int64_t n, const real *x, real *slope)
{
    double wide[DIGAMMA_BLOCK], psi[DIGAMMA_BLOCK];
    for (int64_t i = 0; i < n; i++) {
        wide[i] = (double)x[i];
    }
    digamma_block(n, wide, psi);
    for (int64_t i = 0; i < n; i++) {
        slope[i] = (real)psi[i];
    }
}

#define VALUES RN(sali_vlgamma)
#define SLOPES slopes
#include "ad/ops/unary.h"

_Static_assert((int)SLOPES_BLOCK <= (int)DIGAMMA_BLOCK, "a block of slopes is one of digamma");

UNARY_RECORD(lgamma, "log |Gamma(a)|", 0.25, 6);
