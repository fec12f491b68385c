/* SPDX-License-Identifier: MIT */
#include "io/networks/uai_results.h"

#include <math.h>

#include "core/error.h"
#include "io/networks/marginals.h"
#include "io/networks/uai.h"
#include "io/scan.h"
#include "io/text_output.h"

bool sali_uai_is_mar(const void *text, int64_t size)
{
    sali_scan scan;
    sali_token token;
    sali_scan_init(&scan, "", text, size, SALI_UAI_COMMENTS);
    return sali_scan_token(&scan, &token, NULL) == SAL_OK && sali_token_is(&token, "MAR");
}

static sal_status read_heading(sali_scan *scan, const char *heading, sal_error *err)
{
    sali_token token;
    sal_status status = sali_scan_token(scan, &token, err);
    return status || sali_token_is(&token, heading)
               ? status
               : sali_scan_expected(scan, &token, heading, err);
}

/* Step over the count of samples, which is there if one word more than `words` follows. */
static sal_status skip_samples(sali_scan *scan, int64_t words, sal_error *err)
{
    int64_t count, samples;
    sal_status status = sali_scan_words(scan, &count, err);
    return status == SAL_OK && count == words + 1
               ? sali_scan_int(scan, "the number of samples", 1, 1, &samples, err)
               : status;
}

/* ---- MAR */

/* Numbers in such a file, after the heading. */
static sal_status count_numbers(const char *name, const sal_space *space, int64_t *words,
                                sal_error *err)
{
    *words = 1;
    for (int64_t v = 0; v < sal_space_variables(space); v++) {
        sal_status status = sali_marginals_states(name, space, v, err);
        if (status != SAL_OK) {
            return status;
        }
        *words += 1 + sal_space_states(space, v);
    }
    return SAL_OK;
}

static sal_status read_row(sali_scan *scan, int64_t v, int64_t states, double *p, sal_error *err)
{
    int64_t found;
    sal_status status =
        sali_scan_int(scan, "a variable's number of states", states, states, &found, err);
    int64_t line = scan->line;
    double sum = 0;
    for (int64_t k = 0; k < states && status == SAL_OK; k++) {
        status = sali_scan_double(scan, "a probability", &p[k], err);
        if (status == SAL_OK && !(p[k] >= 0 && p[k] <= 1)) {
            return sali_scan_fail(scan, scan->line, err,
                                  "variable %lld, state %lld: %g; expected a number from 0 to 1",
                                  (long long)v, (long long)k, p[k]);
        }
        sum += p[k];
    }
    return status || fabs(sum - 1) <= SALI_MARGINALS_TOLERANCE
               ? status
               : sali_scan_fail(scan, line, err,
                                "the probabilities of variable %lld sum to %.6g; expected 1",
                                (long long)v, sum);
}

sal_status sali_uai_parse_mar(const char *name, const void *text, int64_t size,
                              const sal_space *space, double *marginals, sal_error *err)
{
    sali_scan scan;
    int64_t V = sal_space_variables(space), words = 0, n;
    sali_scan_init(&scan, name, text, size, SALI_UAI_COMMENTS);
    sal_status status = read_heading(&scan, "MAR", err);
    status = status ? status : count_numbers(name, space, &words, err);
    status = status ? status : skip_samples(&scan, words, err);
    status = status ? status : sali_scan_int(&scan, "the number of variables", V, V, &n, err);
    for (int64_t v = 0; v < V && status == SAL_OK; v++) {
        int64_t states = sal_space_states(space, v);
        status = read_row(&scan, v, states, marginals, err);
        marginals += states;
    }
    return status ? status : sali_scan_end(&scan, err);
}

sal_status sali_uai_write_mar(const char *path, const sal_space *space, const double *marginals,
                              sal_error *err)
{
    int64_t words;
    sal_status status = count_numbers(path, space, &words, err);
    if (status != SAL_OK) {
        return status;
    }
    sali_text_output w;
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
    sali_scan scan;
    double log10_z = 0;
    sali_scan_init(&scan, name, text, size, SALI_UAI_COMMENTS);
    sal_status status = read_heading(&scan, "PR", err);
    status = status ? status : skip_samples(&scan, 1, err);
    status = status ? status : sali_scan_double(&scan, "log10 of Z", &log10_z, err);
    status = status ? status : sali_scan_end(&scan, err);
    if (status == SAL_OK) {
        *log_z = log10_z * M_LN10;
    }
    return status;
}

sal_status sali_uai_write_pr(const char *path, double log_z, sal_error *err)
{
    sali_text_output w;
    sali_text_open(&w, path, false, err);
    sali_put(&w, "PR\n%g\n", log_z / M_LN10);
    return sali_text_close(&w);
}
