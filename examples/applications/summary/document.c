#include "document.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "texts.h"

void stop_with(const char *message)
{
    fprintf(stderr, "summary: %s\n", message);
    exit(1);
}

void *room(int64_t n, size_t size)
{
    void *array = calloc((size_t)n + 1, size);
    if (!array) {
        stop_with("out of memory");
    }
    return array;
}

/* ---- similarities */

/* One stem in one sentence. */
typedef struct term {
    char stem[TEXT_WORD];
    int64_t sentence;
    double weight;
} term;

static int by_stem(const void *a, const void *b)
{
    const term *x = a, *y = b;
    int order = strcmp(x->stem, y->stem);
    return order ? order : (x->sentence > y->sentence) - (x->sentence < y->sentence);
}

/* The terms of words that are no stop words, by stem, each once with the number of its words. */
static int64_t list_terms(document *d, term *terms)
{
    int64_t listed = 0, n = 0;
    for (int64_t i = 0; i < d->n; i++) {
        token *words = room(d->sentences[i].size, sizeof *words);
        int64_t count = text_words(d->sentences[i], words);
        d->words[i] = (double)count;
        for (int64_t k = 0; k < count; k++) {
            if (!words[k].stop) {
                memcpy(terms[listed].stem, words[k].stem, TEXT_WORD);
                terms[listed].sentence = i;
                terms[listed++].weight = 1;
            }
        }
        free(words);
    }
    qsort(terms, (size_t)listed, sizeof *terms, by_stem);
    for (int64_t k = 0; k < listed; k++) {
        if (n > 0 && by_stem(&terms[n - 1], &terms[k]) == 0) {
            terms[n - 1].weight++;
        } else {
            terms[n++] = terms[k];
        }
    }
    return n;
}

static int64_t end_of_stem(int64_t n, const term *terms, int64_t first)
{
    int64_t end = first;
    while (end < n && strcmp(terms[end].stem, terms[first].stem) == 0) {
        end++;
    }
    return end;
}

void document_compare(document *d)
{
    term *terms = room((int64_t)strlen(d->text) / 2 + 1, sizeof *terms);
    double *square = room(d->n, sizeof *square);
    int64_t n = list_terms(d, terms);
    for (int64_t first = 0, end; first < n; first = end) {
        end = end_of_stem(n, terms, first);
        for (int64_t k = first; k < end; k++) {
            terms[k].weight *= log1p((double)d->n / (double)(end - first));
            square[terms[k].sentence] += terms[k].weight * terms[k].weight;
        }
    }
    for (int64_t k = 0; k < n; k++) {
        terms[k].weight /= sqrt(square[terms[k].sentence]);
    }
    for (int64_t first = 0, end; first < n; first = end) {
        end = end_of_stem(n, terms, first);
        for (int64_t a = first; a < end; a++) {
            for (int64_t b = first; b < end; b++) {
                d->W[terms[a].sentence * d->n + terms[b].sentence] +=
                    terms[a].weight * terms[b].weight;
            }
        }
    }
    free(terms);
    free(square);
}

/* ---- groups */

/* The group with the nearest mean. to [groups]: sums of W_ij over the group; within: over it twice.
 */
static int64_t nearest_group(int64_t groups, const double *to, const double *within,
                             const double *size)
{
    int64_t best = 0;
    double least = INFINITY;
    for (int64_t c = 0; c < groups; c++) {
        double distance = within[c] / (size[c] * size[c]) - 2 * to[c] / size[c];
        if (size[c] > 0 && distance < least) {
            least = distance;
            best = c;
        }
    }
    return best;
}

void document_group(document *d, int64_t groups)
{
    int64_t n = d->n, centre = 0;
    double *nearest = room(n, sizeof *nearest), *to = room(n * groups, sizeof *to);
    double *within = room(groups, sizeof *within), *size = room(groups, sizeof *size), most = -1;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) {
            sum += d->W[i * n + j];
        }
        centre = sum > most ? i : centre;
        most = fmax(sum, most);
        nearest[i] = -1;
    }
    for (int64_t c = 0; c < groups; c++) {
        for (int64_t i = 0; i < n; i++) {
            d->group[i] = d->W[i * n + centre] > nearest[i] ? c : d->group[i];
            nearest[i] = fmax(nearest[i], d->W[i * n + centre]);
        }
        nearest[centre] = INFINITY;
        for (int64_t i = 0; i < n; i++) {
            centre = nearest[i] < nearest[centre] ? i : centre;
        }
    }
    bool changed = true;
    for (int round = 0; round < 100 && changed; round++) {
        memset(to, 0, (size_t)(n * groups) * sizeof *to);
        memset(within, 0, (size_t)groups * sizeof *within);
        memset(size, 0, (size_t)groups * sizeof *size);
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < n; j++) {
                to[i * groups + d->group[j]] += d->W[i * n + j];
            }
            within[d->group[i]] += to[i * groups + d->group[i]];
            size[d->group[i]]++;
        }
        changed = false;
        for (int64_t i = 0; i < n; i++) {
            int64_t group = nearest_group(groups, to + i * groups, within, size);
            changed |= group != d->group[i];
            d->group[i] = group;
        }
    }
    free(nearest);
    free(to);
    free(within);
    free(size);
}

/* SPDX-License-Identifier: MIT */
