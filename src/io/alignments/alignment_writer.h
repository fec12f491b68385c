/* SPDX-License-Identifier: MIT */
/* What the writers of alignments share. */
#ifndef SALI_ALIGNMENT_WRITER_H
#define SALI_ALIGNMENT_WRITER_H

#include "io/text_output.h"
#include "models/content.h"

/* What surrounds a file and each of its sequences; "" for nothing. Sequences without names are
 * called by their numbers, from 1. */
typedef struct sali_alignment_style {
    const char *head, *foot; /* of the file */
    bool named;              /* before_name NAME after_name, then the letters */
    const char *before_name, *after_name;
    bool wrapped; /* 60 letters a line; else all in one */
} sali_alignment_style;

void sali_alignment_write(sali_text_output *w, const sali_alignment *alignment,
                          const sali_alignment_style *style);

#endif
