/* SPDX-License-Identifier: MIT */
/* Broadcasting: a nest of loops over the output of an elementwise op of OPERANDS operands, which an
 * op file defines before it includes this one.
 *
 * An operand that is stretched along an axis has step 0 there. The chains are one more axis: an
 * operand that does not depend on the state has step 0 along it. Axes of size 1 are dropped and
 * neighbours that run on are merged, so that the innermost loop is long. The plan is the nest of
 * one state; a call adds the chains. */
#ifndef SALI_NEST_H
#define SALI_NEST_H

#include "ad/ops/ops.h"
#include "core/alloc.h"
#include "core/error.h"

typedef struct loop_axis {
    int64_t count;
    int64_t step[OPERANDS];
} loop_axis;

/* Innermost axis first. Its steps are 0 or 1, and not all 0. */
typedef struct loop_nest {
    int32_t rank;
    loop_axis axis[SAL_MAX_RANK + 1];
} loop_nest;

/* Add an axis outside of the others. An axis of size 1 is dropped; one that runs on from the last
 * axis, in all operands, is merged with it. */
static void nest_append(loop_nest *nest, loop_axis next)
{
    loop_axis *last = &nest->axis[nest->rank - 1];
    bool runs_on = true;
    for (int k = 0; k < OPERANDS; k++) {
        runs_on &= next.step[k] == last->step[k] * last->count;
    }
    if (next.count == 1) {
        return;
    }
    if (last->count == 1) {
        *last = next;
    } else if (runs_on) {
        last->count *= next.count;
    } else {
        nest->axis[nest->rank++] = next;
    }
}

/* The plan is a loop_nest over the elements of one state's output. */
static sal_status plan_create(const sali_node *node, const sali_node *const *in,
                              const sal_space *space, void **plan, sal_error *err)
{
    (void)space;
    loop_nest *made = SALI_NEW(loop_nest);
    if (!made) {
        return sali_fail_memory(err);
    }
    *made = (loop_nest){ .rank = 1, .axis[0] = { .count = 1 } };
    int64_t stride[OPERANDS];
    for (int k = 0; k < OPERANDS; k++) {
        made->axis[0].step[k] = stride[k] = 1;
    }
    for (int32_t i = 1; i <= node->shape.rank; i++) {
        loop_axis next = { .count = node->shape.dim[node->shape.rank - i] };
        for (int k = 0; k < OPERANDS; k++) {
            const sal_shape *shape = &in[k]->shape;
            int64_t count = i <= shape->rank ? shape->dim[shape->rank - i] : 1;
            next.step[k] = count > 1 ? stride[k] : 0;
            stride[k] *= count;
        }
        nest_append(made, next);
    }
    *plan = made;
    return SAL_OK;
}

/* A walk over the rows (innermost loops) of a call. */
typedef struct row_walk {
    loop_nest nest;
    int64_t rows, length;
    int64_t at[OPERANDS]; /* where this row begins in each operand */
    int64_t index[SAL_MAX_RANK + 1];
} row_walk;

/* A walk at the first row of a call: the nest of the plan with the chains as one more axis. */
static inline row_walk walk_begin(const sali_call *call)
{
    row_walk walk = { .nest = *(const loop_nest *)call->plan };
    loop_axis chains = { .count = call->chains };
    for (int k = 0; k < OPERANDS; k++) {
        chains.step[k] = call->in[k].stride;
    }
    nest_append(&walk.nest, chains);
    walk.length = walk.nest.axis[0].count;
    walk.rows = call->chains * call->out.size / walk.length;
    return walk;
}

/* Move the operands' places in walk->at on to the next row. */
static inline void walk_next(row_walk *walk)
{
    for (int32_t i = 1; i < walk->nest.rank; i++) {
        const loop_axis *axis = &walk->nest.axis[i];
        bool more = ++walk->index[i] < axis->count;
        for (int k = 0; k < OPERANDS; k++) {
            walk->at[k] += more ? axis->step[k] : axis->step[k] - axis->count * axis->step[k];
        }
        if (more) {
            return;
        }
        walk->index[i] = 0;
    }
}

#endif
