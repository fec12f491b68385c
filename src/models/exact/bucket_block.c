/* SPDX-License-Identifier: MIT */
#include "models/exact/bucket_block.h"

int32_t sali_block_axes(int32_t n, const int32_t *states, int64_t most, int64_t *size)
{
    int32_t axes = 0;
    *size = 1;
    while (axes < n && (axes == 0 || *size * states[n - 1 - axes] <= most)) {
        *size *= states[n - 1 - axes++];
    }
    return axes;
}

int64_t sali_block_strides(const sali_bucket_tree *tree, int32_t n_clique, const int32_t *clique,
                           int32_t n_scope, const int32_t *scope, int64_t *strides)
{
    int64_t stride = 1;
    int32_t k = n_scope - 1;
    for (int32_t a = n_clique - 1; a >= 0; a--) {
        bool has = k >= 0 && scope[k] == clique[a];
        strides[a] = has ? stride : 0;
        stride *= has ? tree->states[clique[a]] : 1;
        k -= has;
    }
    return stride;
}

sali_operand_reach sali_block_reach(int32_t n, const int32_t *states, const int64_t *strides,
                                    int64_t size, int32_t *map)
{
    int32_t present = 0;
    for (int32_t a = 0; a < n; a++) {
        present += strides[a] > 0;
    }
    if (present == n) {
        return SALI_REACH_WHOLE;
    }
    for (int64_t j = 0; j < size && present > 0; j++) {
        map[j] = (int32_t)sali_block_offset(j, n, states, strides);
    }
    return present > 0 ? SALI_REACH_SOME : SALI_REACH_NONE;
}
