/* SPDX-License-Identifier: MIT */
/* The list of objectives. */
#include "train/objectives/objective.h"

static const sali_objective *const objectives[] = {
#define SALI_OBJECTIVE(id, name, word) [id] = &sali_objective_##name,
#include "train/objectives/objectives.def"
#undef SALI_OBJECTIVE
};
enum { OBJECTIVES = sizeof objectives / sizeof *objectives };

const char *const sali_objective_words[] = {
#define SALI_OBJECTIVE(id, name, word) [id] = (word),
#include "train/objectives/objectives.def"
#undef SALI_OBJECTIVE
    NULL,
};

const sali_objective *sali_objective_of(sal_objective id)
{
    return (unsigned)id < OBJECTIVES ? objectives[id] : &sali_objective_pcd;
}
