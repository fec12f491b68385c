/* SPDX-License-Identifier: MIT */
/* Evidence beside a network: which variables were observed, and in which state. */
#include "io/networks/uai.h"

#include <stdbool.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/file.h"

/* The next number. */
static int64_t read_number(sali_scan *scan)
{
    return sali_scan_int(scan, "a count, a variable or a state", 0, INT32_MAX);
}

/* Step over n observations. */
static void skip_pairs(sali_scan *scan, int64_t n)
{
    for (int64_t k = 0; scan->status == SAL_OK && k < 2 * n; k++) {
        read_number(scan);
    }
}

/* How many samples the words hold, `count` numbers, and whether their count stands before them;
 * 0 if they are in neither layout. What both layouts fit is one sample. */
static int64_t find_samples(const sali_scan *scan, int64_t count, bool *counted)
{
    sali_scan ahead = *scan;
    ahead.err = NULL;
    int64_t first = read_number(&ahead), left = count - 1;
    *counted = count % 2 == 0 || first != count / 2;
    for (int64_t s = 0; *counted && s < first; s++) {
        int64_t n = left > 0 ? read_number(&ahead) : left;
        if (left < 1 || n > (left - 1) / 2) {
            return 0;
        }
        skip_pairs(&ahead, n);
        left -= 1 + 2 * n;
    }
    return !*counted ? 1 : left == 0 ? first : 0;
}

/* The error of `count` numbers that are in neither layout. */
static void fail_layout(sali_scan *scan, int64_t count)
{
    int64_t first = read_number(scan), pairs = (count - 1) / 2 * 2;
    if (count % 2 == 0 && first != 1) {
        sali_scan_fail(
            scan, scan->line,
            "%lld numbers that begin with %lld; expected \"n variable state ...\" with n "
            "pairs, or a number of samples and this for each sample",
            (long long)count, (long long)first);
    }
    int64_t n = count % 2 == 0 ? read_number(scan) : first;
    sali_scan_fail(scan, scan->line,
                   "expected %lld pairs of a variable and a state, found %lld numbers",
                   (long long)n, (long long)pairs);
}

/* Whether the file has the sample that is asked for (0: its only one): ARGUMENT else. */
static bool has_sample(sali_scan *scan, int64_t samples, int64_t sample)
{
    if (scan->status == SAL_OK && (sample < 0 || sample > samples)) {
        scan->status = sali_fail(scan->err, SAL_ERR_ARGUMENT,
                                 "%s: there is no sample %lld of evidence; expected 1 to %lld",
                                 scan->name, (long long)sample, (long long)samples);
    } else if (scan->status == SAL_OK && sample == 0 && samples > 1) {
        scan->status = sali_fail(scan->err, SAL_ERR_ARGUMENT,
                                 "%s: holds %lld samples of evidence; choose one by its number, "
                                 "from 1 (--sample K)",
                                 scan->name, (long long)samples);
    }
    return scan->status == SAL_OK;
}

static void observe(sali_scan *scan, const sali_factor_graph *graph, int32_t *observed)
{
    int64_t v = read_number(scan);
    if (v >= graph->variables) {
        sali_scan_fail(scan, scan->line, "variable %lld is observed; expected 0 to %lld",
                       (long long)v, (long long)(graph->variables - 1));
    }
    int64_t state = read_number(scan);
    if (scan->status != SAL_OK) {
        return;
    }
    if (state >= graph->states[v]) {
        sali_scan_fail(scan, scan->line,
                       "variable %lld is observed in state %lld; expected 0 to %d", (long long)v,
                       (long long)state, graph->states[v] - 1);
    }
    if (observed[v] >= 0 && observed[v] != state) {
        sali_scan_fail(scan, scan->line,
                       "variable %lld is observed in state %lld and before in state %d; expected "
                       "one",
                       (long long)v, (long long)state, observed[v]);
    }
    observed[v] = (int32_t)state;
}

/* All observations of a sample into `observed`, which is all -1 before. */
static void read_observations(sali_scan *scan, const sali_factor_graph *graph, int64_t sample,
                              int32_t *observed)
{
    sali_scan numbers = *scan;
    int64_t count = 0;
    bool counted = false;
    for (; sali_scan_more(&numbers); count++) {
        read_number(&numbers);
    }
    scan->status = numbers.status;
    int64_t samples = count > 0 && scan->status == SAL_OK ? find_samples(scan, count, &counted) : 1;
    if (samples == 0) {
        fail_layout(scan, count);
    }
    if (!has_sample(scan, samples, sample) || count == 0) {
        return;
    }
    if (counted) {
        read_number(scan);
    }
    for (int64_t s = 1; s < sample; s++) {
        skip_pairs(scan, read_number(scan));
    }
    for (int64_t pairs = read_number(scan); scan->status == SAL_OK && pairs > 0; pairs--) {
        observe(scan, graph, observed);
    }
}

sal_status sali_uai_parse_evidence(const char *name, const void *text, int64_t size,
                                   const sali_factor_graph *graph, int64_t sample,
                                   int32_t *observed, sal_error *err)
{
    sali_scan scan = sali_scan_of(name, text, size, SALI_UAI_COMMENTS, err);
    int32_t *found = SALI_SCAN_ARRAY(&scan, int32_t, graph->variables);
    for (int64_t v = 0; found && v < graph->variables; v++) {
        found[v] = -1;
    }
    if (found) {
        read_observations(&scan, graph, sample, found);
    }
    if (scan.status == SAL_OK) {
        memcpy(observed, found, (size_t)graph->variables * sizeof *found);
    }
    sali_free(found);
    return scan.status;
}

sal_status sali_uai_read_evidence(const char *path, const sali_factor_graph *graph, int64_t sample,
                                  int32_t *observed, sal_error *err)
{
    sali_bytes file = { 0 };
    sal_status status = sali_file_read_gz(path, SALI_GUNZIP_MAX, &file, err);
    status =
        status ? status
               : sali_uai_parse_evidence(path, file.data, file.size, graph, sample, observed, err);
    sali_bytes_free(&file);
    return status;
}
