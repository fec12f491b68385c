/* SPDX-License-Identifier: MIT */
/* max(a, 0), a NaN for a NaN; its derivative at 0 is 0. */
#define VALUE(x) ((x) <= 0 ? 0 : (x))
#define SLOPE(x, y) (real)((x) > 0)
#include "ad/ops/unary.h"

UNARY_RECORD(relu, "max(a, 0)", -1, 1);
