/* SPDX-License-Identifier: MIT */
/* Models with their structure: of a tape, and clamped. */
#include "models/clamp.h"
#include "models/structure/recognise.h"
#include "models/tape_model.h"

sal_status sal_model_from_tape(const sal_tape *tape, sal_expr f, sal_model **model, sal_error *err)
{
    sal_model *made = NULL;
    sal_status status = sali_tape_model_create(tape, f, &made, err);
    status = status ? status : sali_structure_recognise(made, NULL, err);
    if (status != SAL_OK) {
        sal_model_destroy(made);
        return status;
    }
    *model = made;
    return SAL_OK;
}

sal_status sal_model_clamp(sal_model *model, int64_t n, const int64_t *variables,
                           const int32_t *codes, sal_model **clamped, sal_error *err)
{
    sal_status status = sali_clamp_create(model, n, variables, codes, clamped, err);
    if (status == SAL_OK) {
        (*clamped)->structure = sali_chain_clamped(model);
    }
    return status;
}
