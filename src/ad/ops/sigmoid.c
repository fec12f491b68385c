/* SPDX-License-Identifier: MIT */
/* 1 / (1 + exp(-a)). */
#define VALUES RN(sali_vsigmoid)
#define SLOPE(x, y) ((y) * (1 - (y)))
#include "ad/ops/unary.h"

UNARY_RECORD(sigmoid, "1 / (1 + exp(-a))", -4, 4);
