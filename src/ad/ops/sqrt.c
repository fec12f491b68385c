/* SPDX-License-Identifier: MIT */
/* sqrt a; NaN below 0. The derivative is infinite at 0. */
#define VALUE(x) square_root(x)
#define SLOPE(x, y) ((real)0.5 / (y))
#include "ad/ops/unary.h"

UNARY_RECORD(sqrt, "sqrt a", 0.5, 3);
