/* SPDX-License-Identifier: MIT */
/* min(a, b); NaN if one is. At a tie the derivative goes to a alone. */

/* Whether the result is a: the smaller one, the first of equals, or a NaN. */
#define IS_FIRST(a, b) (((a) <= (b)) | ((a) != (a)))
#define VALUE(a, b) (IS_FIRST(a, b) ? (a) : (b))
#define SLOPE_A(a, b) IS_FIRST(a, b)
#define SLOPE_B(a, b) !IS_FIRST(a, b)
#include "ad/ops/binary.h"

BINARY_RECORD(minimum, "min(a, b)", -1, 1, sali_degree_nonlinear, false, NULL);
