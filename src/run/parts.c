/* SPDX-License-Identifier: MIT */
#include "run/part.h"

const sali_run_part *const sali_run_parts[SALI_PARTS] = {
#define SALI_RUN_PART(name) &sali_part_##name,
#include "run/parts.def"
#undef SALI_RUN_PART
};
