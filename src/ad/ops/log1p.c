/* SPDX-License-Identifier: MIT */
/* log(1 + a), exact for small a; -inf at -1, NaN below. */
#define VALUES RN(sali_vlog1p)
#define SLOPE(x, y) (1 / (1 + (x)))
#include "ad/ops/unary.h"

UNARY_RECORD(log1p, "log(1 + a)", -0.5, 2);
