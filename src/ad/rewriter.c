/* SPDX-License-Identifier: MIT */
#include "ad/rewriter.h"

#include "core/alloc.h"
#include "core/error.h"

sal_status sali_rewriter_open(sali_rewriter *r, sal_tape *tape)
{
    *r = (sali_rewriter){ .tape = tape,
                          .map = SALI_NEW_ARRAY(int32_t, tape->n_nodes),
                          .old = tape->nodes,
                          .n_old = tape->n_nodes };
    tape->nodes = NULL;
    tape->n_nodes = tape->nodes_room = 0;
    return r->map ? SAL_OK : SAL_ERR_MEMORY;
}

void sali_rewriter_close(sali_rewriter *r)
{
    for (int64_t i = 0; i < r->n_old; i++) {
        sali_node_clear(&r->old[i]);
    }
    sali_free(r->old);
    sali_free(r->map);
}

/* Append a copy of old node i; whether it varies follows from its new inputs. */
static sal_status append_copy(sali_rewriter *r, int64_t i)
{
    sal_tape *tape = r->tape;
    if (sali_grow((void **)&tape->nodes, &tape->nodes_room, tape->n_nodes + 1, sizeof(sali_node)) !=
        0) {
        return SAL_ERR_MEMORY;
    }
    sali_node *node = &tape->nodes[tape->n_nodes];
    if (!sali_node_copy(node, &r->old[i], r->map)) {
        return SAL_ERR_MEMORY;
    }
    node->varying = node->op == SALI_OP_state;
    for (int32_t k = 0; k < node->n_in; k++) {
        node->varying |= tape->nodes[node->in[k]].varying;
    }
    r->map[i] = (int32_t)tape->n_nodes++;
    return SAL_OK;
}

sal_status sali_rewriter_run(sali_rewriter *r, sali_rewrite_node *rewrite, int32_t *output,
                             sal_error *err)
{
    sal_status status = SAL_OK;
    for (int64_t i = 0; status == SAL_OK && i < r->n_old; i++) {
        sal_expr made = { 0 };
        status = rewrite(r, i, &made);
        if (status == SAL_OK && made.tape) {
            r->map[i] = made.node;
            status = r->tape->status;
        } else if (status == SAL_OK) {
            status = append_copy(r, i);
        }
    }
    if (status == SAL_OK) {
        *output = r->map[*output];
    } else if (r->tape->status != SAL_OK && err) {
        *err = r->tape->error;
    }
    return status;
}

sal_expr sali_rewriter_record(sali_rewriter *r, const sali_node *place, sali_op_id op, int32_t n_in,
                              const sal_expr *in, int64_t n_ints, const int64_t *ints)
{
    return sali_record(r->tape, &(sali_node_spec){ .op = op,
                                                   .n_in = n_in,
                                                   .in = in,
                                                   .n_ints = n_ints,
                                                   .ints = ints,
                                                   .file = place->file,
                                                   .line = place->line });
}

sal_expr sali_rewriter_two(sali_rewriter *r, const sali_node *place, sali_op_id op, sal_expr a,
                           sal_expr b)
{
    return sali_rewriter_record(r, place, op, 2, (sal_expr[]){ a, b }, 0, NULL);
}

sal_expr sali_rewriter_constant(sali_rewriter *r, const sali_node *place, const double *values,
                                sal_shape shape)
{
    return sal_constant_at(place->file, place->line, r->tape, values, shape);
}
