/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include <saltus/model.h>

#include "models/formula/formula.h"

/* A model given by a text. A mistake has a message and a place within the text. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    int64_t place = -2;
    sal_model *model = NULL;
    sal_error err = { 0 };
    if (!text) {
        abort();
    }
    memcpy(text, data, size);
    text[size] = '\0';
    const sal_status status = sali_formula_read(text, SAL_F64, &model, &place, &err);
    fuzz_check_any(status, &err);
    if ((status == SAL_ERR_DATA) != (place >= 0) || place > (int64_t)size ||
        (status == SAL_OK) != (model != NULL)) {
        abort();
    }
    sal_model_destroy(model);
    free(text);
    return 0;
}
