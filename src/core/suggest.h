/* SPDX-License-Identifier: MIT */
/* The nearest of some names to a mistyped word: "did you mean". */
#ifndef SALI_SUGGEST_H
#define SALI_SUGGEST_H

typedef struct sali_nearest {
    const char *word, *name; /* name: the nearest offered so far; NULL if none is near */
    int distance;            /* only names at a smaller distance are accepted */
} sali_nearest;

sali_nearest sali_nearest_begin(const char *word);
void sali_nearest_offer(sali_nearest *nearest, const char *name);

#endif
