/* SPDX-License-Identifier: MIT */
/* The table of op records, made from the one list. Compiled for float and double. */
#include "core/real.h"
#include "ad/op.h"
#include "ad/ops/ops.h"

const sali_op *RN(sali_op)(sali_op_id id)
{
    static const sali_op *const table[SALI_OP_COUNT] = {
#define SALI_OP(name) &RN(sali_op_##name),
#include "ad/ops.def"
#undef SALI_OP
    };
    return table[id];
}
