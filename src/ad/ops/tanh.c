/* SPDX-License-Identifier: MIT */
/* tanh a. */
#define VALUES RN(sali_vtanh)
#define SLOPE(x, y) (1 - (y) * (y))
#include "ad/ops/unary.h"

UNARY_RECORD(tanh, "tanh a", -2, 2);
