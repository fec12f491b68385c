/* SPDX-License-Identifier: MIT */
#include "models/sequences.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/alphabet.h"

/* Fill names [chains * draws] with "chain1_draw1" etc., the draws of a chain one after another.
 * False when out of memory. */
static bool make_names(int64_t chains, int64_t draws, char **names)
{
    for (int64_t r = 0; r < chains * draws; r++) {
        char name[64];
        snprintf(name, sizeof name, "chain%lld_draw%lld", (long long)(r / draws + 1),
                 (long long)(r % draws + 1));
        names[r] = sali_strdup(name);
        if (!names[r]) {
            return false;
        }
    }
    return true;
}

sal_status sali_sequences_make(int64_t chains, int64_t draws, int64_t length, int bytes,
                               const void *codes, const char *alphabet, sali_content *out,
                               sal_error *err)
{
    sali_content content = { .kind = SALI_CONTENT_ALIGNMENT };
    sali_alignment *a = &content.alignment;
    a->sequences = (chains > 0 ? chains : 1) * draws;
    a->length = length;
    snprintf(a->alphabet, sizeof a->alphabet, "%s", alphabet);
    a->codes = SALI_NEW_ARRAY(uint8_t, a->sequences * length);
    a->names = chains > 0 ? SALI_NEW_ARRAY(char *, a->sequences) : NULL;
    if (!a->codes || (chains > 0 && (!a->names || !make_names(chains, draws, a->names)))) {
        sali_content_free(&content);
        return sali_fail_memory(err);
    }
    for (int64_t i = 0; i < a->sequences * length; i++) {
        a->codes[i] =
            bytes == 1 ? ((const uint8_t *)codes)[i] : (uint8_t)((const int32_t *)codes)[i];
    }
    *out = content;
    return SAL_OK;
}

sal_status sali_sequences_of_array(const sal_array *array, const char *letters, sali_content *out,
                                   sal_error *err)
{
    const int last = (int)strlen(letters[0] ? letters : sali_protein) - 1;
    double most = 0;
    if (array->ndim < 2 || array->ndim > 3) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sequences have the shape (draws, sites) or (chains, draws, sites), and "
                         "the array has %d dimensions",
                         array->ndim);
    }
    for (int64_t i = 0; i < array->count; i++) {
        double value = array->values[i];
        if (!(value >= 0 && value <= last) || value != floor(value)) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "letters have codes 0 to %d, and element %lld of the array is %g",
                             last, (long long)i, value);
        }
        most = value > most ? value : most;
    }
    uint8_t *codes = SALI_NEW_ARRAY(uint8_t, array->count);
    if (!codes) {
        return sali_fail_memory(err);
    }
    for (int64_t i = 0; i < array->count; i++) {
        codes[i] = (uint8_t)array->values[i];
    }
    if (!letters[0]) {
        letters = most < (double)strlen(sali_rna) ? sali_rna : sali_protein;
    }
    const int64_t *shape = array->shape + array->ndim - 2;
    sal_status status = sali_sequences_make(array->ndim == 3 ? array->shape[0] : 0, shape[0],
                                            shape[1], 1, codes, letters, out, err);
    sali_free(codes);
    return status;
}
