/* SPDX-License-Identifier: MIT */
/* Files of a Potts model's parameters by adabmDCA and bmDCA, which are not read. */
#ifndef SALI_POTTS_PARAMETERS_H
#define SALI_POTTS_PARAMETERS_H

#include <stdint.h>

#include <saltus/status.h>

/* Refuse a text whose first line is "J i j a b value" or "h i a value", and say what to do with it.
 * Returns: OK for anything else; DATA. */
sal_status sali_refuse_potts_parameters(const char *path, const void *bytes, int64_t size,
                                        sal_error *err);

#endif
