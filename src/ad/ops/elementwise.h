/* SPDX-License-Identifier: MIT */
/* Operations of one operand that go element by element. */
#ifndef SALI_ELEMENTWISE_H
#define SALI_ELEMENTWISE_H

#include "ad/change.h"
#include "ad/ops/ops.h"

/* Change rule of elementwise ops: runs the op's forward on the changed elements, taken out of their
 * row. The forward may read attributes and values, no shapes; it saves one number an element, or
 * nothing. */
sali_change_outcome RN(sali_change_elementwise)(sali_change *change);

#endif
