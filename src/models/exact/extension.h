/* SPDX-License-Identifier: MIT */
/* The methods of sal_model_extension: one file each. */
#ifndef SALI_EXTENSION_H
#define SALI_EXTENSION_H

#include "models/model.h"

/* States evaluated at a time. */
#define SALI_EXTENSION_ROWS 64

/* A request: theta is scaled to rows that sum to one, and the outputs are scratch of the
 * library. */
typedef struct sali_extension {
    const sal_model *model;
    sal_extension_options options; /* defaults filled in */
    const double *theta;           /* [R] */
    double F, F_error;
    double *gradient, *gradient_error; /* [R], zeroed; NULL when not wanted */
} sali_extension;

sal_status sali_extension_closed(sali_extension *ext, sal_error *err);
sal_status sali_extension_enumerate(sali_extension *ext, sal_error *err);
sal_status sali_extension_sample(sali_extension *ext, sal_error *err);

#endif
