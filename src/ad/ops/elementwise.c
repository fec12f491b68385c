/* SPDX-License-Identifier: MIT */
#include "ad/ops/elementwise.h"

sali_change_outcome RN(sali_change_elementwise)(sali_change *ch)
{
    enum { BLOCK = 64 };
    const sali_call *row = ch->call;
    const sali_op *op = RN(sali_op)(row->node->op);
    real x[BLOCK], y[BLOCK], saved[BLOCK];
    sali_arg in = { .value = x };
    sali_call call = { .node = row->node,
                       .chains = 1,
                       .unlimited = row->unlimited,
                       .in = &in,
                       .out.value = y,
                       .saved = saved };
    for (int64_t first = 0; first < ch->in[0]->n; first += BLOCK) {
        int64_t left = ch->in[0]->n - first, n = left < BLOCK ? left : BLOCK;
        in.size = call.out.size = n;
        for (int64_t k = 0; k < n; k++) {
            x[k] = change_new(ch, 0, first + k);
        }
        op->forward(&call);
        for (int64_t k = 0; k < n; k++) {
            int64_t i = ch->in[0]->index[first + k];
            if ((op->saved_size && !change_write(ch, (real *)row->saved + i, saved[k])) ||
                !change_set(ch, i, y[k])) {
                return SALI_CHANGE_GIVE_UP;
            }
        }
    }
    return SALI_CHANGE_DONE;
}
