/* A document taken apart, for summary.c: how alike its sentences are, and groups of like ones. */
#ifndef DOCUMENT_H
#define DOCUMENT_H

#include <stddef.h>

#include "texts.h"

typedef struct document {
    char *text;
    int64_t n; /* sentences */
    span *sentences;
    double *words;  /* [n] how many each has */
    double *W;      /* [n x n] similarities */
    int64_t *group; /* [n] from 0 */
} document;

/* Set `words` and W: W_ij is the cosine of the tf-idf vectors of sentences i and j, which have tf
 * log(1 + n / df) for each stem that is no stop word; 0 for a sentence without such words. */
void document_compare(document *d);

/* Set `group` by k-means (Lloyd) on the vectors whose inner products are W, from centres far from
 * each other: the sentence most like all, then always the one least like the nearest centre. Equal
 * W give equal groups; some may be empty. */
void document_group(document *d, int64_t groups);

/* End the program with a message; zeros, at least one byte of them, or such an end. */
void stop_with(const char *message);
void *room(int64_t n, size_t size);

#endif

/* SPDX-License-Identifier: MIT */
