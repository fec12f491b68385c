/* SPDX-License-Identifier: MIT */
/* The same model over the states of one sum of a block. */
#include <stdatomic.h>

#include "core/error.h"
#include "models/clamp.h"
#include "models/structure.h"
#include "models/tape_model.h"

/* A copy of the model's space with the sum fixed, which is settled as every model's space is. */
static sal_status fixed_space(const sal_model *model, const char *block, int64_t sum,
                              sal_space **out, sal_error *err)
{
    sal_space *space = NULL;
    sal_status status = sali_space_subset(model->space, NULL, &space, err);
    status = status ? status : sal_space_fix_sum(space, block, sum, err);
    if (status == SAL_OK) {
        space->settled = true;
    } else if (status != SAL_ERR_MEMORY) {
        sali_fail_prefix(err, status, "%s", model->name);
    }
    return SALI_GIVE(status, space, out, sal_space_destroy);
}

/* Put the space in place of the model's. Draws of pieces, products of independent variables and
 * decoded states know no sums, and go. */
static void replace_space(sal_model *model, sali_tape_model *tape, sal_space *space)
{
    if (tape) {
        sal_space_destroy(tape->program->space);
        tape->program->space = sali_space_clone(space); /* settled: one owner more */
    }
    if (model->structure && model->structure->destroy) {
        model->structure->destroy(model->structure_data);
    }
    sali_model_set_structure(model, NULL, NULL);
    model->products = NULL;
    model->decoding = NULL;
    sal_space_destroy(model->space);
    model->space = space;
}

sal_status sal_model_fix_sum(sal_model *model, const char *block, int64_t sum, sal_error *err)
{
    sal_space *space = NULL;
    if (!model || !block) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "sal_model_fix_sum: the model or block is NULL");
    }
    if (sali_clamp_inner(model) != model) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "%s has clamped variables: fix the sum first, then clamp", model->name);
    }
    sal_status status = sali_model_check_joint(model, err);
    sali_tape_model *tape = status ? NULL : sali_model_tape(model);
    int64_t nobody = 0;
    const bool alone = !tape || atomic_compare_exchange_strong(&tape->users, &nobody, -1);
    if (status == SAL_OK && (!alone || model->holders > 1)) {
        status = sali_fail(err, SAL_ERR_ARGUMENT,
                           "%s is in use by runs, chains, clamped models or other calls, which "
                           "count on its states: fix the sum before, or of another model",
                           model->name);
    }
    status = status ? status : fixed_space(model, block, sum, &space, err);
    if (status == SAL_OK) {
        replace_space(model, tape, space);
    }
    if (tape && alone) {
        tape->users = 0;
    }
    return status;
}
