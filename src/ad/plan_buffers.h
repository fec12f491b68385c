/* SPDX-License-Identifier: MIT */
/* Buffer planning: where in one block of memory the values of a replay lie, so that values that are
 * not needed at the same time share a place. */
#ifndef SALI_PLAN_BUFFERS_H
#define SALI_PLAN_BUFFERS_H

#include "ad/program.h"

/* Byte offsets by node, of what varies with the state and has a buffer of its own; -1: none. */
typedef struct sali_buffer_plan {
    int64_t *value, *saved, *adjoint;
    /* What is local to a run of calls (ad/fusion.h) has the rows of one tile only. */
    bool local_values, local_adjoints;
    int64_t bytes; /* of the block */
    int64_t apart; /* bytes of the block if every buffer had all chains' rows and its own place */
} sali_buffer_plan;

/* For `chains` chains and what a workspace wants (SALI_WANT_*, ad/workspace.h). */
sal_status sali_buffer_plan_create(const sali_program *program, int64_t chains, unsigned wants,
                                   sali_buffer_plan *plan, sal_error *err);
void sali_buffer_plan_clear(sali_buffer_plan *plan);

#endif
