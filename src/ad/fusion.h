/* SPDX-License-Identifier: MIT */
/* Fusion: neighbouring calls of elementwise ops run together, a few chains at a time, so that what
 * one writes is still in the nearest cache when the next reads it. The kernels do not change:
 * chains are independent, so a call over some chains is a call with fewer rows. */
#ifndef SALI_FUSION_H
#define SALI_FUSION_H

#include "ad/op.h"

struct sali_program;

/* Calls (sali_is_called) begin .. end - 1, of which `tile` chains run at a time. */
typedef struct sali_run {
    int32_t begin, end;
    int64_t tile;
} sali_run;

typedef struct sali_fusion {
    int32_t n_runs;
    sali_run *runs;
    int32_t *run; /* by node: the run that computes it, or -1 */
    bool *local;  /* by node: no call outside of its run reads its value */
} sali_fusion;

/* Divide the calls of a program whose steps are made into runs; runs of one call each if the pass
 * is off. Returns: SAL_ERR_MEMORY. */
sal_status sali_fusion_create(const struct sali_program *program, sali_fusion *fusion,
                              sal_error *err);
void sali_fusion_clear(sali_fusion *fusion);

#endif
