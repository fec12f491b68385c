/* SPDX-License-Identifier: MIT */
/* Potts parameters as plmc writes them (-o): binary, in the order of bytes of the machine, with
 * numbers of 32 or 64 bits. Saltus writes 32, the default of plmc and of its readers. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/alloc.h"
#include "io/potts/potts_content.h"
#include "models/alphabet.h"

/* The head: sites, letters, sequences, sequences that were skipped, iterations. */
enum { SITES, LETTERS, SEQUENCES, SKIPPED, ITERATIONS, HEAD };

/* ---- reading */

/* Read the head; false if the file is too short. */
static bool read_head(const sali_scan *scan, int32_t head[HEAD])
{
    const bool there = scan->end - scan->begin >= (ptrdiff_t)(HEAD * sizeof *head);
    if (there) {
        memcpy(head, scan->begin, HEAD * sizeof *head);
    }
    return there;
}

/* The size of a file with this head whose numbers have `width` bytes; -1 for a head that none
 * has. */
static int64_t size_of(const int32_t head[HEAD], int64_t width)
{
    const int64_t L = head[SITES], q = head[LETTERS];
    if (L < 1 || q < 2 || q > 128 || L > SALI_POTTS_MOST / q || head[SEQUENCES] < 0 ||
        head[SKIPPED] < 0) {
        return -1;
    }
    const int64_t rows = (int64_t)head[SEQUENCES] + head[SKIPPED], pairs = L * (L - 1) / 2;
    return 4 * HEAD + 5 * width + q + rows * width + L + 4 * L +
           2 * (L * q + pairs * q * q) * width;
}

/* The bytes of a number, by the size of the file; 0: this is no such file. */
static int64_t width_of(const sali_scan *scan, int32_t head[HEAD])
{
    const int64_t size = scan->end - scan->begin;
    if (!read_head(scan, head)) {
        return 0;
    }
    return size == size_of(head, 4) ? 4 : size == size_of(head, 8) ? 8 : 0;
}

static bool recognise(sali_scan *scan)
{
    int32_t head[HEAD];
    return width_of(scan, head) > 0;
}

/* Number k of an array of numbers of `width` bytes. */
static double number_at(const char *numbers, int64_t width, int64_t k)
{
    float single;
    double wide;
    if (width == 4) {
        memcpy(&single, numbers + 4 * k, sizeof single);
        return (double)single;
    }
    memcpy(&wide, numbers + 8 * k, sizeof wide);
    return wide;
}

/* As number_at; fails unless it is finite. */
static double finite_at(sali_scan *scan, const char *numbers, int64_t width, int64_t k)
{
    const double x = number_at(numbers, width, k);
    if (!isfinite(x)) {
        sali_scan_refuse(scan, "a parameter is %g; expected finite numbers", x);
    }
    return x;
}

static void parse(sali_scan *scan, sali_content *out)
{
    sali_potts *p = &out->potts;
    int32_t head[HEAD];
    const int64_t width = width_of(scan, head);
    int64_t order[128];
    if (width == 0) {
        sali_scan_refuse(scan, "its size is not that of parameters by plmc (version 2)");
        return;
    }
    const int64_t L = head[SITES], q = head[LETTERS], pairs = L * (L - 1) / 2, N = L * q;
    const int64_t rows = (int64_t)head[SEQUENCES] + head[SKIPPED];
    const char *letters = scan->begin + 4 * HEAD + 5 * width;
    const char *h = letters + q + rows * width + 5 * L + N * width;
    const char *J = h + (N + pairs * q * q) * width;
    sali_potts_order(scan, letters, q, order, p->alphabet);
    if (scan->status != SAL_OK || !sali_potts_allocate(scan, p, L, q)) {
        return;
    }
    for (int64_t k = 0; k < N; k++) {
        p->h[k / q * q + order[k % q]] = finite_at(scan, h, width, k);
    }
    for (int64_t i = 0, k = 0; i < L; i++) {
        for (int64_t j = i + 1; j < L; j++) {
            for (int64_t ab = 0; ab < q * q; ab++, k++) {
                p->J[(i * q + order[ab / q]) * N + j * q + order[ab % q]] =
                    finite_at(scan, J, width, k);
            }
        }
    }
    sali_potts_mirror(p);
    scan->next = scan->end;
}

/* ---- writing */

/* Put n numbers of 32 bits. Fails for numbers that these cannot hold. */
static void put_numbers(sali_text_output *w, int64_t n, const double *x)
{
    float row[SAL_ALPHABET_ROOM];
    for (int64_t k = 0; k < n; k++) {
        row[k] = (float)x[k];
        if (!isfinite(row[k])) {
            sali_text_fail(w, SAL_ERR_ARGUMENT, "a parameter is %g; expected numbers of 32 bits",
                           x[k]);
        }
    }
    sali_put_bytes(w, row, n * (int64_t)sizeof *row);
}

/* Put what a file has before the fields. A model has no sequences: there are none, of no weight;
 * the target is gaps, which EVcouplings takes for no target, and the sites are numbered from 1. Of
 * lambdas -1 means "none" to EVcouplings, except for that of the fields, where it means a model by
 * mean field. */
static void put_head(sali_text_output *w, const sali_potts *p, const char *letters)
{
    static const double regularisation[] = { 0, 0, -1, -1, 0 }; /* theta, lambdas, N_eff */
    const int32_t head[HEAD] = { [SITES] = (int32_t)p->sites, [LETTERS] = (int32_t)p->states };
    sali_put_bytes(w, head, sizeof head);
    put_numbers(w, 5, regularisation);
    sali_put_raw(w, letters);
    for (int64_t i = 0; i < p->sites; i++) {
        sali_put_raw(w, "-");
    }
    for (int32_t i = 1; i <= p->sites; i++) {
        sali_put_bytes(w, &i, sizeof i);
    }
}

/* Put n rows of q frequencies that are all `share`: a model has none, and these are those of no
 * data. */
static void put_frequencies(sali_text_output *w, int64_t n, int64_t q, double share)
{
    double row[SAL_ALPHABET_ROOM];
    for (int64_t a = 0; a < q; a++) {
        row[a] = share;
    }
    for (int64_t k = 0; k < n && w->status == SAL_OK; k++) {
        put_numbers(w, q, row);
    }
}

static void write(sali_text_output *w, const sali_content *content)
{
    const sali_potts *p = &content->potts;
    const int64_t q = p->states, N = p->sites * q, pairs = p->sites * (p->sites - 1) / 2;
    const char *letters = sali_alphabet_fits(q, p->alphabet);
    if (!letters) {
        sali_text_fail(w, SAL_ERR_ARGUMENT,
                       "%lld states without letters; states of plmc are letters (adabmdca has "
                       "numbers, too)",
                       (long long)q);
        return;
    }
    put_head(w, p, letters);
    put_frequencies(w, p->sites, q, 1 / (double)q);
    for (int64_t i = 0; i < p->sites; i++) {
        put_numbers(w, q, p->h + i * q);
    }
    put_frequencies(w, pairs * q, q, 1 / (double)(q * q));
    for (int64_t i = 0; i < p->sites; i++) {
        for (int64_t j = i + 1; j < p->sites && w->status == SAL_OK; j++) {
            for (int64_t a = 0; a < q; a++) {
                put_numbers(w, q, p->J + (i * q + a) * N + j * q);
            }
        }
    }
}

const sali_format sali_format_plmc = {
    .name = "plmc",
    .doc = "Potts parameters of plmc (-o), which EVcouplings uses: binary",
    .suffixes = { ".model", ".model_params", ".eij" },
    .content = SALI_CONTENT_POTTS,
    .model = "potts-parameters",
    .comments = SALI_BYTES,
    .recognise = recognise,
    .has_heading = true,
    .parse = parse,
    .write = write,
};
