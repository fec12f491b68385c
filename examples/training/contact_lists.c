#include "contact_lists.h"

#include <stdio.h>
#include <stdlib.h>

sal_status contact_lists_read(contact_lists *l, const char *path, sal_error *err)
{
    const int64_t sites = l->sites;
    long long i, j;
    int read = 2;
    FILE *file = fopen(path, "r");
    l->touch = calloc((size_t)(sites * sites), sizeof *l->touch);
    while (file && l->touch && (read = fscanf(file, "%lld %lld", &i, &j)) == 2 && i >= 1 &&
           j >= 1 && i <= sites && j <= sites) {
        l->touch[(i - 1) * sites + j - 1] = l->touch[(j - 1) * sites + i - 1] = true;
    }
    if (file) {
        fclose(file);
    }
    if (!file || !l->touch || read != EOF) {
        snprintf(err->message, sizeof err->message,
                 "%s: cannot be read as contacts, two sites from 1 to %lld a line", path,
                 (long long)sites);
        return SAL_ERR_DATA;
    }
    return SAL_OK;
}

static int by_score(const void *a, const void *b)
{
    double x = ((const contact *)a)->score, y = ((const contact *)b)->score;
    return x < y ? 1 : x > y ? -1 : 0;
}

void contact_lists_sort(int64_t pairs, contact *list)
{
    qsort(list, (size_t)pairs, sizeof *list, by_score);
}

bool contact_lists_write(const contact_lists *l, int k, const char *directory)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/%s.csv", directory, l->names[k]);
    FILE *file = fopen(path, "w");
    if (!file) {
        return false;
    }
    fprintf(file, "i,j,score\n");
    for (int64_t p = 0; p < l->pairs; p++) { /* sites count from 1 */
        const contact *c = &l->lists[k][p];
        fprintf(file, "%lld,%lld,%.6g\n", (long long)c->i + 1, (long long)c->j + 1, c->score);
    }
    return fclose(file) == 0;
}

/* ---- what lists share */

static int64_t shared(int64_t top, const contact *a, const contact *b)
{
    int64_t count = 0;
    for (int64_t k = 0; k < top; k++) {
        for (int64_t l = 0; l < top; l++) {
            count += a[k].i == b[l].i && a[k].j == b[l].j;
        }
    }
    return count;
}

static void print_shared(const contact_lists *l, int64_t top)
{
    printf("\nshared among the first %-6lld", (long long)top);
    for (int b = 0; b < l->n; b++) {
        printf("%19s", l->names[b]);
    }
    printf("\n");
    for (int a = 0; a < l->n; a++) {
        printf("%-29s", l->names[a]);
        for (int b = 0; b < l->n; b++) {
            printf("%19.2f", (double)shared(top, l->lists[a], l->lists[b]) / (double)top);
        }
        printf("\n");
    }
}

void contact_lists_print_shared(const contact_lists *l)
{
    print_shared(l, l->sites < l->pairs ? l->sites : l->pairs);
    print_shared(l, l->sites / 2 < l->pairs ? l->sites / 2 : l->pairs);
}

/* ---- known contacts */

/* The share of contacts among the first pairs of a list of which the sites are apart. */
static double known_share(const contact_lists *l, int k, int64_t apart, int64_t top)
{
    int64_t seen = 0, found = 0;
    for (int64_t p = 0; p < l->pairs && seen < top; p++) {
        const contact *c = &l->lists[k][p];
        if (c->j - c->i >= apart) {
            found += l->touch[c->i * l->sites + c->j];
            seen++;
        }
    }
    return (double)found / (double)seen;
}

static void print_known(const contact_lists *l, int64_t apart)
{
    const int64_t tops[] = { l->sites / 5, l->sites / 2, l->sites, 2 * l->sites };
    printf("\ncontacts, j - i >= %-10lld", (long long)apart);
    for (int t = 0; t < 4; t++) {
        printf("  first %4lld", (long long)tops[t]);
    }
    printf("   all pairs\n");
    for (int k = 0; k < l->n; k++) {
        printf("%-29s", l->names[k]);
        for (int t = 0; t < 4; t++) {
            printf("%12.2f", known_share(l, k, apart, tops[t]));
        }
        printf("%12.2f\n", known_share(l, k, apart, l->pairs));
    }
}

void contact_lists_print_known(const contact_lists *l)
{
    print_known(l, 1);
    print_known(l, 5);
}

/* SPDX-License-Identifier: MIT */
