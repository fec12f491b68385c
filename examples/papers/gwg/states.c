#include "states.h"

#include <math.h>
#include <stdlib.h>

void states_to_bytes(int64_t n, const int32_t *codes, uint8_t *bytes)
{
    for (int64_t k = 0; k < n; k++) {
        bytes[k] = (uint8_t)codes[k];
    }
}

sal_status states_at_end(sal_model *model, const sal_run_options *options, uint8_t *states,
                         sal_error *err)
{
    sal_run *run = NULL;
    int64_t chains, draws, V;
    sal_status status = sal_sample(model, options, &run, err);
    if (status != SAL_OK) {
        return status;
    }
    sal_run_size(run, &chains, &draws, &V);
    int32_t *codes = malloc((size_t)(chains * V) * sizeof *codes);
    status = codes ? sal_run_last(run, codes, err) : SAL_ERR_MEMORY;
    if (status == SAL_OK) {
        states_to_bytes(chains * V, codes, states);
    }
    free(codes);
    sal_run_destroy(run);
    return status;
}

double log_mmd(double mmd2)
{
    return log(fmax(mmd2, 1e-4)) / 2;
}

/* SPDX-License-Identifier: MIT */
