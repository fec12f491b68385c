/* SPDX-License-Identifier: MIT */
/* Codes between the model that is sampled and the one that was given: they differ by the variables
 * that the run itself clamps. */
#include <string.h>

#include "models/clamp.h"
#include "run/run.h"

static void copy_codes(const sal_run *run, int64_t chains, const int32_t *from, int32_t *to)
{
    memcpy(to, from, (size_t)(chains * run->model->space->n_variables) * sizeof *to);
}

void sali_run_expand(const sal_run *run, int64_t chains, const int32_t *codes, int32_t *full)
{
    if (run->model == run->base) {
        copy_codes(run, chains, codes, full);
    } else {
        sali_clamp_expand(run->model, chains, codes, full);
    }
}

void sali_run_restrict(const sal_run *run, int64_t chains, const int32_t *full, int32_t *codes)
{
    if (run->model == run->base) {
        copy_codes(run, chains, full, codes);
    } else {
        sali_clamp_restrict(run->model, chains, full, codes);
    }
}

void sali_run_variables(const sal_run *run, int64_t *original)
{
    if (run->model != run->base) {
        sali_clamp_variables(run->model, original);
        return;
    }
    for (int64_t v = 0; v < run->model->space->n_variables; v++) {
        original[v] = v;
    }
}
