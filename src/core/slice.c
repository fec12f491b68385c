/* SPDX-License-Identifier: MIT */
#include "core/slice.h"

#include <math.h>
#include <string.h>

/* The most numbers of the table by which states of a fixed sum of more than two levels are counted;
 * with more variables or larger sums there are too many states to enumerate. */
#define MOST_TABLE 4096

/* States below this number are counted exactly, and can be enumerated. */
#define MOST_STATES (INT64_C(1) << 40)

/* ---- counting */

/* log of n! / product of the m[k]!. */
static double log_arrangements(int64_t n, int32_t states, const int64_t *m)
{
    double sum = lgamma((double)n + 1);
    for (int32_t k = 0; k < states; k++) {
        sum -= lgamma((double)m[k] + 1);
    }
    return sum;
}

/* n! / product of the m[k]!, or MOST_STATES if it is no less. */
static int64_t arrangements(int64_t n, int32_t states, const int64_t *m)
{
    int64_t count = 1, left = n;
    for (int32_t k = 0; k < states; k++) {
        const int64_t few = m[k] < left - m[k] ? m[k] : left - m[k];
        int64_t choices = 1; /* of the positions of code k among those left */
        for (int64_t i = 0; i < few && choices < MOST_STATES; i++) {
            choices = choices * (left - i) / (i + 1);
        }
        if ((double)count * (double)choices >= (double)MOST_STATES) {
            return MOST_STATES;
        }
        count *= choices;
        left -= m[k];
    }
    return count;
}

/* Whether states of a fixed sum can be counted by a table, of (count + 1) (sum + 1) numbers. */
static bool has_table(const sali_stretch *s)
{
    return (double)(s->count + 1) * ((double)s->fixed_total + 1) <= MOST_TABLE;
}

/* N[m][r] at N[m (sum + 1) + r]: how many states of m variables have the sum r. */
static void fill_table(const sali_stretch *s, double N[MOST_TABLE])
{
    const int64_t width = s->fixed_total + 1;
    memset(N, 0, MOST_TABLE * sizeof *N);
    N[0] = 1;
    for (int64_t m = 1; m <= s->count; m++) {
        for (int64_t r = 0; r < width; r++) {
            for (int64_t v = 0; v < s->states && v <= r; v++) {
                N[m * width + r] += N[(m - 1) * width + r - v];
            }
        }
    }
}

double sali_slice_count(const sali_stretch *s)
{
    double N[MOST_TABLE];
    if (s->fixed_codes) {
        const int64_t count = arrangements(s->count, s->states, s->fixed_codes);
        return count < MOST_STATES ? (double)count
                                   : exp(log_arrangements(s->count, s->states, s->fixed_codes));
    }
    if (!has_table(s)) {
        return INFINITY;
    }
    fill_table(s, N);
    return N[s->count * (s->fixed_total + 1) + s->fixed_total];
}

/* log10 of the number of states of a fixed sum, for messages: by the normal density of the sum of
 * uniform codes, and at most as if codes had no upper end. */
static double log10_of_sum(const sali_stretch *s)
{
    const double n = (double)s->count, K = s->states,
                 off = (double)s->fixed_total - n * (K - 1) / 2;
    const double variance = n * (K * K - 1) / 12;
    const double log_density = -off * off / (2 * variance) - 0.5 * log(2 * M_PI * variance);
    const double off_end = fmin((double)s->fixed_total, n * (K - 1) - (double)s->fixed_total);
    const double unbounded = lgamma(n + off_end) - lgamma(off_end + 1) - lgamma(n);
    return fmin(fmax(0, n * log10(K) + log_density / log(10)), unbounded / log(10));
}

double sali_stretch_log10(const sali_stretch *s)
{
    if (s->fixed_codes) {
        return log_arrangements(s->count, s->states, s->fixed_codes) / log(10);
    }
    if (s->fixed_total >= 0) {
        const double count = sali_slice_count(s);
        return count < INFINITY ? log10(count) : log10_of_sum(s);
    }
    return s->states > 0 ? (double)s->count * log10(s->states) : 0;
}

/* ---- the states of fixed numbers of codes
 *
 * Of M words of n letters, M m / n begin with a letter that occurs m times. */

/* The next word in the order of words: Narayana's algorithm, 14th century. */
static bool next_word(int64_t n, int32_t *codes)
{
    int64_t i = n - 1, j = n - 1;
    while (i > 0 && codes[i - 1] >= codes[i]) {
        i--;
    }
    for (int64_t a = i, b = n - 1; a < b; a++, b--) { /* the tail, which falls, is to rise */
        const int32_t code = codes[a];
        codes[a] = codes[b];
        codes[b] = code;
    }
    if (i == 0) {
        return false;
    }
    for (j = i; codes[j] <= codes[i - 1]; j++) {
    }
    const int32_t code = codes[i - 1];
    codes[i - 1] = codes[j];
    codes[j] = code;
    return true;
}

static void sorted_word(const sali_stretch *s, int32_t *codes)
{
    for (int32_t k = 0; k < s->states; k++) {
        for (int64_t i = 0; i < s->fixed_codes[k]; i++) {
            *codes++ = k;
        }
    }
}

static void word_at(const sali_stretch *s, int64_t index, int32_t *codes)
{
    int64_t M = arrangements(s->count, s->states, s->fixed_codes);
    sorted_word(s, codes);
    for (int64_t n = s->count; n > 1; n--, codes++) { /* codes [n] are those left, sorted */
        int64_t first = index * n / M, end = first + 1;
        const int32_t code = codes[first];
        while (first > 0 && codes[first - 1] == code) {
            first--;
        }
        while (end < n && codes[end] == code) {
            end++;
        }
        index -= M * first / n;
        M = M * (end - first) / n;
        memmove(codes + 1, codes, (size_t)first * sizeof *codes);
        *codes = code;
    }
}

static int64_t index_of_word(const sali_stretch *s, const int32_t *codes)
{
    int64_t M = arrangements(s->count, s->states, s->fixed_codes), index = 0;
    for (int64_t n = s->count; n > 1; n--, codes++) {
        int64_t smaller = 0, equal = 0;
        for (int64_t i = 0; i < n; i++) {
            smaller += codes[i] < codes[0];
            equal += codes[i] == codes[0];
        }
        index += M * smaller / n;
        M = M * equal / n;
    }
    return index;
}

/* ---- the states of a fixed sum */

/* Set codes [n] to the first word of this sum: large codes last. */
static void first_of_sum(int64_t n, int32_t states, int64_t sum, int32_t *codes)
{
    for (int64_t i = n - 1; i >= 0; i--) {
        codes[i] = (int32_t)(sum < states - 1 ? sum : states - 1);
        sum -= codes[i];
    }
}

static bool next_of_sum(const sali_stretch *s, int32_t *codes)
{
    int64_t tail = 0; /* the sum of the codes after i */
    for (int64_t i = s->count - 1; i >= 0; i--) {
        if (tail > 0 && codes[i] < s->states - 1) {
            codes[i]++;
            first_of_sum(s->count - i - 1, s->states, tail - 1, codes + i + 1);
            return true;
        }
        tail += codes[i];
    }
    first_of_sum(s->count, s->states, s->fixed_total, codes);
    return false;
}

static void sum_at(const sali_stretch *s, int64_t index, int32_t *codes)
{
    double N[MOST_TABLE], left = (double)index;
    const int64_t width = s->fixed_total + 1;
    int64_t r = s->fixed_total;
    fill_table(s, N);
    for (int64_t m = s->count - 1; m >= 0; m--, codes++) {
        *codes = 0;
        while (left >= N[m * width + r]) {
            left -= N[m * width + r];
            ++*codes;
            r--;
        }
    }
}

static int64_t index_of_sum(const sali_stretch *s, const int32_t *codes)
{
    double N[MOST_TABLE], index = 0;
    const int64_t width = s->fixed_total + 1;
    int64_t r = s->fixed_total;
    fill_table(s, N);
    for (int64_t m = s->count - 1; m >= 0; m--, codes++) {
        for (int32_t k = 0; k < *codes; k++) {
            index += N[m * width + r--];
        }
    }
    return (int64_t)index;
}

/* ---- both */

bool sali_slice_next(const sali_stretch *s, int32_t *codes)
{
    return s->fixed_codes ? next_word(s->count, codes) : next_of_sum(s, codes);
}

void sali_slice_at(const sali_stretch *s, int64_t index, int32_t *codes)
{
    if (s->fixed_codes) {
        word_at(s, index, codes);
    } else {
        sum_at(s, index, codes);
    }
}

int64_t sali_slice_index(const sali_stretch *s, const int32_t *codes)
{
    return s->fixed_codes ? index_of_word(s, codes) : index_of_sum(s, codes);
}

/* Codes that share a sum about evenly: each variable takes up to twice its part of what is left. */
static void random_sum(const sali_stretch *s, const sali_stream *stream, uint32_t element,
                       int32_t *codes)
{
    const int64_t most = s->states - 1;
    int64_t r = s->fixed_total;
    for (int64_t i = 0; i < s->count; i++) {
        const int64_t rest = s->count - i - 1, low = r > rest * most ? r - rest * most : 0;
        int64_t high = 2 * ((r + rest) / (rest + 1));
        high = high > most ? most : high;
        high = high > r || rest == 0 ? r : high;
        high = high < low ? low : high;
        codes[i] = (int32_t)(low + sali_rng_below(stream, element + (uint32_t)i,
                                                  (uint32_t)(high - low + 1)));
        r -= codes[i];
    }
}

void sali_slice_random(const sali_stretch *s, const sali_stream *stream, uint32_t element,
                       int32_t *codes)
{
    if (!s->fixed_codes) {
        random_sum(s, stream, element, codes);
        return;
    }
    sorted_word(s, codes);
    for (int64_t i = s->count - 1; i > 0; i--) { /* Fisher & Yates */
        const int64_t j = sali_rng_below(stream, element + (uint32_t)i, (uint32_t)i + 1);
        const int32_t code = codes[i];
        codes[i] = codes[j];
        codes[j] = code;
    }
}
