#include "models/zoo/similarity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"

/* ---- tf-idf */

/* One stem in one text. */
typedef struct term {
    int32_t stem, text;
    double weight;
} term;

static int compare_terms(const void *a, const void *b)
{
    const term *x = a, *y = b;
    return x->stem != y->stem ? (x->stem > y->stem) - (x->stem < y->stem)
                              : (x->text > y->text) - (x->text < y->text);
}

/* Number of terms, sorted by stem and text, with tf as their weights. */
static int64_t count_terms(int64_t texts, const sali_words *words, term *terms)
{
    int64_t n = 0, found = 0;
    for (int64_t i = 0; i < texts; i++) {
        for (int64_t k = words->begin[i]; k < words->begin[i + 1]; k++) {
            if (!words->stop[k]) {
                terms[n++] = (term){ .stem = words->stem[k], .text = (int32_t)i, .weight = 1 };
            }
        }
    }
    qsort(terms, (size_t)n, sizeof *terms, compare_terms);
    for (int64_t k = 0; k < n; k++) {
        if (found > 0 && compare_terms(&terms[found - 1], &terms[k]) == 0) {
            terms[found - 1].weight += 1;
        } else {
            terms[found++] = terms[k];
        }
    }
    return found;
}

static int64_t end_of_stem(int64_t n, const term *terms, int64_t first)
{
    int64_t end = first;
    while (end < n && terms[end].stem == terms[first].stem) {
        end++;
    }
    return end;
}

/* Weights tf idf, of vectors of length 1. */
static void weigh(int64_t texts, int64_t n, term *terms, double *norm)
{
    for (int64_t first = 0, end; first < n; first = end) {
        end = end_of_stem(n, terms, first);
        for (int64_t k = first; k < end; k++) {
            terms[k].weight *= log1p((double)texts / (double)(end - first));
            norm[terms[k].text] += terms[k].weight * terms[k].weight;
        }
    }
    for (int64_t k = 0; k < n; k++) {
        terms[k].weight /= sqrt(norm[terms[k].text]);
    }
}

sal_status sali_cosines(int64_t texts, const sali_words *words, double *W, sal_error *err)
{
    term *terms = SALI_NEW_ARRAY(term, words->begin[texts]);
    double *norm = SALI_NEW_ARRAY(double, texts);
    if (!terms || !norm) {
        sali_free(terms);
        sali_free(norm);
        return sali_fail_memory(err);
    }
    int64_t n = count_terms(texts, words, terms);
    weigh(texts, n, terms, norm);
    memset(W, 0, (size_t)(texts * texts) * sizeof *W);
    for (int64_t first = 0, end; first < n; first = end) {
        end = end_of_stem(n, terms, first);
        for (int64_t a = first; a < end; a++) {
            for (int64_t b = first; b < end; b++) {
                W[terms[a].text * texts + terms[b].text] += terms[a].weight * terms[b].weight;
            }
        }
    }
    sali_free(terms);
    sali_free(norm);
    return SAL_OK;
}

/* ---- k-means */

static void choose_centres(int64_t n, const double *W, int64_t k, int32_t *centre, double *nearest)
{
    int64_t next = 0;
    double most = -1;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) {
            sum += W[i * n + j];
        }
        next = sum > most ? i : next;
        most = sum > most ? sum : most;
        nearest[i] = -1;
    }
    for (int64_t c = 0; c < k; c++) {
        centre[c] = (int32_t)next;
        nearest[next] = INFINITY;
        for (int64_t i = 0; i < n; i++) {
            nearest[i] = fmax(nearest[i], W[i * n + centre[c]]);
        }
        for (int64_t i = 0; i < n; i++) {
            next = nearest[i] < nearest[next] ? i : next;
        }
    }
}

/* The group of i whose mean is nearest: least |mean_c|^2 - 2 W_i'mean_c; ties to the first. */
static int32_t nearest_group(int64_t k, const double *to, const double *within, const int64_t *size)
{
    int32_t best = 0;
    double least = INFINITY;
    for (int64_t c = 0; c < k; c++) {
        double m = (double)size[c], d = within[c] / (m * m) - 2 * to[c] / m;
        if (size[c] > 0 && d < least) {
            least = d;
            best = (int32_t)c;
        }
    }
    return best;
}

/* One round of Lloyd's iteration; whether any group changed. `to` [n x k], `within` [k]. */
static bool regroup(int64_t n, const double *W, int64_t k, int32_t *group, double *to,
                    double *within, int64_t *size)
{
    bool changed = false;
    memset(to, 0, (size_t)(n * k) * sizeof *to);
    memset(within, 0, (size_t)k * sizeof *within);
    memset(size, 0, (size_t)k * sizeof *size);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            to[i * k + group[j]] += W[i * n + j];
        }
        within[group[i]] += to[i * k + group[i]];
        size[group[i]]++;
    }
    for (int64_t i = 0; i < n; i++) {
        int32_t g = nearest_group(k, to + i * k, within, size);
        changed |= g != group[i];
        group[i] = g;
    }
    return changed;
}

#define ROUNDS 100

sal_status sali_cluster(int64_t n, const double *W, int64_t k, int32_t *group, sal_error *err)
{
    double *to = SALI_NEW_ARRAY(double, n *k), *within = SALI_NEW_ARRAY(double, n);
    int64_t *size = SALI_NEW_ARRAY(int64_t, k);
    int32_t *centre = SALI_NEW_ARRAY(int32_t, k);
    sal_status status = to && within && size && centre ? SAL_OK : sali_fail_memory(err);
    if (status == SAL_OK) {
        choose_centres(n, W, k, centre, within);
        for (int64_t i = 0; i < n; i++) {
            group[i] = 0;
            for (int32_t c = 1; c < k; c++) {
                bool nearer = W[i * n + centre[c]] > W[i * n + centre[group[i]]];
                group[i] = nearer ? c : group[i];
            }
        }
        for (int round = 0; round < ROUNDS && regroup(n, W, k, group, to, within, size); round++) {
        }
    }
    sali_free(to);
    sali_free(within);
    sali_free(size);
    sali_free(centre);
    return status;
}
