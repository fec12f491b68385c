/* SPDX-License-Identifier: MIT */
/* Operations of one operand that go element by element. */
#ifndef SALI_ELEMENTWISE_H
#define SALI_ELEMENTWISE_H

#include "ad/change.h"
#include "ad/ops/ops.h"

/* Their change rule: the op's forward on the elements that changed, out of their row. It may read
 * attributes and values, no shapes; what it saves is one number an element, or nothing. */
sali_change_outcome RN(sali_change_elementwise)(sali_change *change);

#endif
