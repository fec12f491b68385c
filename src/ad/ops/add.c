/* SPDX-License-Identifier: MIT */
/* a + b. */
#define VALUE(a, b) ((a) + (b))
#define SLOPE_A(a, b) 1
#define SLOPE_B(a, b) 1
#include "ad/ops/binary.h"

BINARY_RECORD(add, "a + b", -2, 2, sali_degree_linear, true, sali_term_either);
