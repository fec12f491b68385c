/* SPDX-License-Identifier: MIT */
/* Opening a sampler to inspect it, from the options of a run. */
#ifndef SALI_INSPECTION_H
#define SALI_INSPECTION_H

#include "samplers/proof/transition.h"

/* The sampler and settings that options ask for, and the inverse temperature. */
typedef struct sali_inspection {
    const sali_sampler *sampler;
    sali_sampler_settings settings;
    double beta;
    uint64_t seed;
} sali_inspection;

sal_status sali_inspection_open(const sal_model *model, const sal_run_options *options,
                                sali_inspection *inspection, sal_error *err);

/* n chains at states of code 0, at step `step`. */
sal_status sali_inspection_bench(const sali_inspection *inspection, const sal_model *model,
                                 int64_t n, uint64_t step, sali_bench *bench, sal_error *err);

#endif
