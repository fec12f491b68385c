/* SPDX-License-Identifier: MIT */
#include "samplers/shared.h"

#include "core/object.h"

static void destroy_couplings(void *couplings)
{
    sali_couplings_destroy(couplings);
}

sal_status sali_own_couplings(void *object, const sal_model *model, sali_couplings_wish wish,
                              sali_couplings **out, sal_error *err)
{
    sal_status status = sali_couplings_create(model, wish, out, err);
    return status ? status : sali_object_own(object, *out, destroy_couplings, err);
}
