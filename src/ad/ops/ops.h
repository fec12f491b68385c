/* SPDX-License-Identifier: MIT */
/* The op records, and how an op file defines its own. A missing record fails to link. */
#ifndef SALI_OPS_H
#define SALI_OPS_H

#include "core/real.h"
#include "ad/op.h"

#define SALI_OP(name) extern const sali_op RN(sali_op_##name);
#include "ad/ops.def"
#undef SALI_OP

/* g times d, with the rule that a zero adjoint contributes zero even when d is infinite. */
static inline real sali_pull(real g, real d)
{
    return g == 0 ? 0 : g * d;
}

#endif
