/* SPDX-License-Identifier: MIT */
#include "io/networks/uai_results.h"

#include <math.h>

#include "io/networks/marginals.h"
#include "io/networks/uai.h"
#include "io/text_output.h"

bool sali_uai_is_mar(const sali_scan *scan)
{
    sali_scan ahead = *scan;
    ahead.err = NULL;
    sali_token word = sali_scan_token(&ahead);
    return sali_token_is(&word, "MAR");
}

/* Read the heading and, if one word more than `words` follows, the count of samples, which must be
 * 1. */
static void read_heading(sali_scan *scan, const char *heading, int64_t words)
{
    sali_token word = sali_scan_token(scan);
    if (!sali_token_is(&word, heading)) {
        sali_scan_expected(scan, &word, heading);
    }
    if (sali_scan_words(scan) == words + 1) {
        sali_scan_int(scan, "the number of samples", 1, 1);
    }
}

/* ---- MAR */

/* The number of words in a MAR file for `space`, after the heading and the count of samples. */
static sal_status count_numbers(const char *name, const sal_space *space, int64_t *words,
                                sal_error *err)
{
    sal_status status = SAL_OK;
    *words = 1;
    for (int64_t v = 0; status == SAL_OK && v < sal_space_variables(space); v++) {
        status = sali_marginals_states(name, space, v, err);
        *words += 1 + sal_space_states(space, v);
    }
    return status;
}

/* Read the marginals of variable v, p [states], which must sum to 1. */
static void read_row(sali_scan *scan, int64_t v, int64_t states, double *p)
{
    sali_scan_int(scan, "a variable's number of states", states, states);
    int64_t line = scan->line;
    double sum = 0;
    for (int64_t k = 0; k < states && scan->status == SAL_OK; k++) {
        p[k] = sali_scan_double(scan, "a probability");
        if (!(p[k] >= 0 && p[k] <= 1)) {
            sali_scan_fail(scan, scan->line,
                           "variable %lld, state %lld: %g; expected a number from 0 to 1",
                           (long long)v, (long long)k, p[k]);
        }
        sum += p[k];
    }
    if (!(fabs(sum - 1) <= SALI_MARGINALS_TOLERANCE)) {
        sali_scan_fail(scan, line, "the probabilities of variable %lld sum to %.6g; expected 1",
                       (long long)v, sum);
    }
}

void sali_uai_read_mar(sali_scan *scan, const sal_space *space, double *marginals)
{
    int64_t V = sal_space_variables(space), words;
    scan->status = count_numbers(scan->name, space, &words, scan->err);
    read_heading(scan, "MAR", words);
    sali_scan_int(scan, "the number of variables", V, V);
    for (int64_t v = 0; v < V && scan->status == SAL_OK; v++) {
        int64_t states = sal_space_states(space, v);
        read_row(scan, v, states, marginals);
        marginals += states;
    }
    sali_scan_end(scan);
}

sal_status sali_uai_write_mar(const char *path, const sal_space *space, const double *marginals,
                              sal_error *err)
{
    int64_t words;
    sali_text_output w;
    sal_status status = count_numbers(path, space, &words, err);
    if (status != SAL_OK) {
        return status;
    }
    sali_text_open(&w, path, false, err);
    sali_put(&w, "MAR\n%lld\n", (long long)sal_space_variables(space));
    for (int64_t v = 0; v < sal_space_variables(space); v++) {
        int64_t states = sal_space_states(space, v);
        sali_put(&w, "%lld ", (long long)states);
        for (int64_t k = 0; k < states; k++) {
            sali_put(&w, "%g%s", *marginals++, sali_separator(k, states));
        }
    }
    return sali_text_close(&w);
}

/* ---- PR */

sal_status sali_uai_parse_pr(const char *name, const void *text, int64_t size, double *log_z,
                             sal_error *err)
{
    sali_scan scan = sali_scan_of(name, text, size, SALI_UAI_COMMENTS, err);
    read_heading(&scan, "PR", 1);
    double log10_z = sali_scan_double(&scan, "log10 of Z");
    if (sali_scan_end(&scan) == SAL_OK) {
        *log_z = log10_z * M_LN10;
    }
    return scan.status;
}
