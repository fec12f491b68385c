/* SPDX-License-Identifier: MIT */
/* |a|; its derivative at 0 is 0. */
#define VALUE(x) ((x) > 0 ? (x) : 0 - (x))
#define SLOPE(x, y) (real)(((x) > 0) - ((x) < 0))
#include "ad/ops/unary.h"

UNARY_RECORD(abs, "|a|", -1, 1);
