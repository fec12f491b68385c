/* SPDX-License-Identifier: MIT */
/* exp a. */
#define VALUES RN(sali_vexp)
#define SLOPE(x, y) (y)
#include "ad/ops/unary.h"

UNARY_RECORD(exp, "exp a", -2, 2);
