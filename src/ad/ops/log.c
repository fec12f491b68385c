/* SPDX-License-Identifier: MIT */
/* log a, natural; log 0 = -inf. */
#define VALUES RN(sali_vlog)
#define SLOPE(x, y) (1 / (x))
#include "ad/ops/unary.h"

UNARY_RECORD(log, "log a", 0.2, 3);
