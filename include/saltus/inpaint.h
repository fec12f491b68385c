/* SPDX-License-Identifier: MIT */
/* In-painting: drawing the unknown variables of states whose other variables are known. */
#ifndef SALTUS_INPAINT_H
#define SALTUS_INPAINT_H

#include <stdbool.h>
#include <stdint.h>
#include <saltus/model.h>
#include <saltus/options.h>
#include <saltus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How to in-paint. Fields left zero take their defaults. */
typedef struct sal_inpaint_options {
    const char *sampler; /* as in sal_run_options */
    double step_size; /* of samplers that have one; 0: adapted over the first half of the steps */
    int64_t samples;  /* of each row, each from its own chain; 0: 8 */
    int64_t steps;    /* of each chain, at least 2; 0: 1000 */
    bool mask_by_row; /* whether the mask is [rows x V], not [V] */
    uint64_t seed;    /* the same seed gives the same bits */
    int threads;      /* 0: OMP_NUM_THREADS, or all processors; the results do not depend on it */

    /* Called with the number of steps done and the total for all rows, by one thread at a time, not
     * always the calling thread. A return value other than 0 stops the call. NULL: not called. */
    int (*progress)(int64_t done, int64_t total, void *data);
    void *progress_data; /* passed to `progress` */

    const struct sal_sampler_descriptor *const *own_samplers; /* as in sal_run_options */
} sal_inpaint_options;

/* Draw the unknown variables of some states from their distribution given the known variables. For
 * each row the known variables are clamped, and chains run on the unknown variables from random
 * states.
 * Params:  codes  [rows x V]; those of unknown variables are ignored.
 *          mask   [V], or [rows x V] with mask_by_row: 1 unknown, 0 known. Each row has at least
 *                 one unknown variable.
 *          out    [rows x samples x V]: the last states of the chains, with the given codes for
 *                 known variables. If `progress` stops the call, unfinished rows are -1 throughout.
 *          options  NULL for the defaults. A row's result depends only on its number, codes and
 *                   mask, not on other rows.
 * Returns: SAL_OK (also when stopped); SAL_ERR_ARGUMENT (a mask, code or option out of range,
 *          naming the row); SAL_ERR_UNSUPPORTED (a sampler that cannot sample the model);
 *          SAL_ERR_MODEL (NaN or +inf, or no state with finite f has the known values);
 *          SAL_ERR_MEMORY. On failure `out` is unspecified.
 * Cost:    rows x samples chains of `steps` steps.
 * Threads: several calls may share a model whose parameters do not change. */
SAL_API sal_status sal_inpaint(sal_model *model, int64_t rows, const uint8_t *codes,
                               const uint8_t *mask, const sal_inpaint_options *options,
                               int32_t *out, sal_error *err);

#ifdef __cplusplus
}
#endif
#endif
