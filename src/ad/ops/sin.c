/* SPDX-License-Identifier: MIT */
/* sin a. */
#define VALUES RN(sali_vsin)
#define SLOPES RN(sali_vcos)
#include "ad/ops/unary.h"

UNARY_RECORD(sin, "sin a", -4, 4);
