/* SPDX-License-Identifier: MIT */
/* Products with a constant matrix that is mostly zeros (ad/sparse.h): the plan of such a call of
 * matvec or matmul, and kernels that run over the nonzero entries only. */
#ifndef SALI_SPARSE_PRODUCT_H
#define SALI_SPARSE_PRODUCT_H

#include "ad/change.h"
#include "core/real.h"

/* *plan is NULL if a node is no such product. Returns: SAL_ERR_MEMORY. */
sal_status RN(sali_sparse_plan)(const sali_node *node, const sali_node *const *in,
                                const sal_space *space, void **plan, sal_error *err);
int64_t RN(sali_sparse_scratch)(const sali_node *node, const sali_node *const *in, int64_t chains);

/* For calls with a plan. */
void RN(sali_sparse_forward)(const sali_call *call);
void RN(sali_sparse_backward)(const sali_call *call);
sali_change_outcome RN(sali_sparse_change)(sali_change *change);

#endif
