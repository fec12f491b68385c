/* SPDX-License-Identifier: MIT */
/* Dead code: nodes that f does not need are dropped. Parameters all stay, so that their places in
 * the flat vector do not depend on f. */
#include "ad/passes.h"
#include "core/alloc.h"
#include "core/error.h"

/* Set live [n_nodes], false before, for the output, all parameters, and every node that they
 * need. */
static void mark_live(const sal_tape *tape, int32_t output, bool *live)
{
    live[output] = true;
    for (int64_t i = tape->n_nodes - 1; i >= 0; i--) {
        const sali_node *node = &tape->nodes[i];
        live[i] |= node->op == SALI_OP_param;
        for (int32_t k = 0; live[i] && k < node->n_in; k++) {
            live[node->in[k]] = true;
        }
    }
}

sal_status sali_pass_dead_code(sal_tape *tape, int32_t *output, sal_error *err)
{
    bool *live = SALI_NEW_ARRAY(bool, tape->n_nodes);
    int32_t *map = SALI_NEW_ARRAY(int32_t, tape->n_nodes);
    int64_t n = tape->n_nodes;
    sal_status status = live && map ? SAL_OK : sali_fail_memory(err);
    if (status == SAL_OK) {
        mark_live(tape, *output, live);
        tape->n_nodes = 0;
        for (int64_t i = 0; i < n; i++) {
            if (live[i]) {
                map[i] = sali_tape_keep(tape, i, map);
            } else {
                sali_node_clear(&tape->nodes[i]);
            }
        }
        *output = map[*output];
    }
    sali_free(live);
    sali_free(map);
    return status;
}
