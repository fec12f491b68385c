/* SPDX-License-Identifier: MIT */
#include "io/alignments/alignment_writer.h"

#define COLUMNS 60

void sali_alignment_write(sali_text_output *w, const sali_alignment *a,
                          const sali_alignment_style *style)
{
    sali_put_raw(w, style->head);
    for (int64_t r = 0; r < a->sequences && w->status == SAL_OK; r++) {
        if (style->named && a->names) {
            sali_put(w, "%s%s%s", style->before_name, a->names[r], style->after_name);
        } else if (style->named) {
            sali_put(w, "%s%lld%s", style->before_name, (long long)(r + 1), style->after_name);
        }
        for (int64_t i = 0; i < a->length;) {
            char piece[COLUMNS + 1] = "";
            for (int k = 0; k < COLUMNS && i < a->length; k++, i++) {
                piece[k] = a->alphabet[a->codes[r * a->length + i]];
            }
            sali_put(w, "%s%s", piece, style->wrapped || i == a->length ? "\n" : "");
        }
    }
    sali_put_raw(w, style->foot);
}
