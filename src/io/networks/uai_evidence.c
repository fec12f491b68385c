/* SPDX-License-Identifier: MIT */
/* Evidence beside a network: which variables were observed, and in which state. */
#include "io/networks/uai.h"

#include <string.h>

#include "core/alloc.h"
#include "io/file.h"

/* The next number. */
static int64_t read_number(sali_scan *scan)
{
    return sali_scan_int(scan, "a count, a variable or a state", 0, INT32_MAX);
}

/* Step over the count of observations, and the count of samples before it. All words are numbers,
 * `count` of them. */
static void skip_counts(sali_scan *scan, int64_t count)
{
    int64_t samples = count % 2 == 0 ? read_number(scan) : 1, rest = (count - 1) / 2 * 2;
    if (samples != 1) {
        sali_scan_fail(
            scan, scan->line,
            "%lld numbers that begin with %lld; expected \"n variable state ...\" with n "
            "pairs, or the same after a 1 (one sample)",
            (long long)count, (long long)samples);
    }
    int64_t n = read_number(scan);
    if (rest != 2 * n) {
        sali_scan_fail(scan, scan->line,
                       "expected %lld pairs of a variable and a state, found %lld numbers",
                       (long long)n, (long long)rest);
    }
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

/* All observations into `observed`, which is all -1 before. */
static void read_observations(sali_scan *scan, const sali_factor_graph *graph, int32_t *observed)
{
    sali_scan numbers = *scan;
    int64_t count = 0;
    for (; sali_scan_more(&numbers); count++) {
        read_number(&numbers);
    }
    scan->status = numbers.status;
    if (count > 0) {
        skip_counts(scan, count);
    }
    for (int64_t pairs = (count - 1) / 2; scan->status == SAL_OK && pairs > 0; pairs--) {
        observe(scan, graph, observed);
    }
}

sal_status sali_uai_parse_evidence(const char *name, const void *text, int64_t size,
                                   const sali_factor_graph *graph, int32_t *observed,
                                   sal_error *err)
{
    sali_scan scan = sali_scan_of(name, text, size, SALI_UAI_COMMENTS, err);
    int32_t *found = SALI_SCAN_ARRAY(&scan, int32_t, graph->variables);
    for (int64_t v = 0; found && v < graph->variables; v++) {
        found[v] = -1;
    }
    if (found) {
        read_observations(&scan, graph, found);
    }
    if (scan.status == SAL_OK) {
        memcpy(observed, found, (size_t)graph->variables * sizeof *found);
    }
    sali_free(found);
    return scan.status;
}

sal_status sali_uai_read_evidence(const char *path, const sali_factor_graph *graph,
                                  int32_t *observed, sal_error *err)
{
    sali_bytes file = { 0 };
    sal_status status = sali_file_read(path, &file, err);
    status =
        status ? status : sali_uai_parse_evidence(path, file.data, file.size, graph, observed, err);
    sali_bytes_free(&file);
    return status;
}
