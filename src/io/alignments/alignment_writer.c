#include "io/alignments/alignment_writer.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/alphabet.h"

static sal_status put(sali_output *out, const char *text, sal_error *err)
{
    return sali_output_write(out, text, (int64_t)strlen(text), err);
}

static sal_status put_name(sali_output *out, const sali_alignment *a, int64_t r,
                           const sali_alignment_style *style, sal_error *err)
{
    char number[32];
    snprintf(number, sizeof number, "%lld", (long long)(r + 1));
    sal_status status = put(out, style->before_name, err);
    status = status ? status : put(out, a->names ? a->names[r] : number, err);
    return status ? status : put(out, style->after_name, err);
}

/* `text` has room for a row. */
static sal_status put_letters(sali_output *out, const sali_alignment *a, int64_t r, int64_t columns,
                              char *text, sal_error *err)
{
    const uint8_t *codes = a->codes + r * a->length;
    const char *letters = sali_alphabet_letters(a->alphabet);
    sal_status status = SAL_OK;
    for (int64_t i = 0; i < a->length; i++) {
        text[i] = letters[codes[i]];
    }
    columns = columns ? columns : a->length;
    for (int64_t i = 0; i < a->length && status == SAL_OK; i += columns) {
        int64_t rest = a->length - i;
        status = sali_output_write(out, text + i, rest < columns ? rest : columns, err);
        status = status ? status : put(out, "\n", err);
    }
    return status;
}

sal_status sali_alignment_write(const char *path, const sali_alignment *a,
                                const sali_alignment_style *style, sal_error *err)
{
    sali_output out = { 0 };
    char *text = sali_alloc(a->length, 1);
    sal_status status = text ? sali_output_open(path, &out, err) : sali_fail_memory(err);
    status = status ? status : put(&out, style->head, err);
    for (int64_t r = 0; r < a->sequences && status == SAL_OK; r++) {
        status = style->named ? put_name(&out, a, r, style, err) : SAL_OK;
        status = status ? status : put_letters(&out, a, r, style->columns, text, err);
    }
    status = status ? status : put(&out, style->foot, err);
    status = status ? status : sali_output_commit(&out, err);
    sali_output_discard(&out);
    sali_free(text);
    return status;
}
