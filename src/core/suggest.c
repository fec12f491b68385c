/* SPDX-License-Identifier: MIT */
/* The nearest of some names to a word that is none of them. */
#include <stdio.h>
#include <string.h>

#include <saltus/options.h>
#include <saltus/program.h>

#define LONGEST 48 /* a longer word has no nearest name */

static int smaller_of(int a, int b)
{
    return a < b ? a : b;
}

/* Number of letters to insert, delete or replace and of neighbours to exchange that turn a into b
 * (optimal string alignment); both words have at most LONGEST letters. */
static int edit_distance(const char *a, const char *b)
{
    int n = (int)strlen(a), m = (int)strlen(b);
    int d[LONGEST + 1][LONGEST + 1];
    for (int i = 0; i <= n; i++) {
        for (int j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            d[i][j] = smaller_of(smaller_of(d[i - 1][j], d[i][j - 1]) + 1,
                                 d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                d[i][j] = smaller_of(d[i][j], d[i - 2][j - 2] + 1);
            }
        }
    }
    return d[n][m];
}

sal_nearest sal_nearest_begin(const char *word)
{
    int length = (int)strlen(word);
    return (sal_nearest){ .word = word, .distance = length > LONGEST ? 0 : 2 + length / 4 };
}

void sal_nearest_offer(sal_nearest *nearest, const char *name)
{
    /* The distance is at least the difference of the lengths, which also leaves out long names. */
    int difference = (int)strlen(name) - (int)strlen(nearest->word);
    if (strlen(name) > LONGEST || difference >= nearest->distance ||
        -difference >= nearest->distance) {
        return;
    }
    int distance = edit_distance(nearest->word, name);
    if (distance < nearest->distance && distance < (int)strlen(name)) {
        nearest->distance = distance;
        nearest->name = name;
    }
}

const char *sal_nearest_hint(sal_nearest *nearest, const char *otherwise)
{
    if (!nearest->name) {
        return otherwise;
    }
    snprintf(nearest->hint, sizeof nearest->hint, "did you mean '%s'?", nearest->name);
    return nearest->hint;
}
