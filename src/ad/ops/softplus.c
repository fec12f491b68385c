/* SPDX-License-Identifier: MIT */
/* log(1 + exp a), whose slope is sigmoid(a). */
#define VALUES RN(sali_vsoftplus)
#define SLOPES RN(sali_vsigmoid)
#include "ad/ops/unary.h"

UNARY_RECORD(softplus, "log(1 + exp a)", -4, 4, .hidden = SALI_HIDES_BITS);
