/* SPDX-License-Identifier: MIT */
/* Evidence beside a network: which variables were observed, and in which state. */
#include "io/networks/uai.h"

#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/file.h"
#include "io/scan.h"

/* The next number. */
static sal_status read_number(sali_scan *scan, int64_t *value, sal_error *err)
{
    return sali_scan_int(scan, "a count, a variable or a state", 0, INT32_MAX, value, err);
}

/* Step over the count of observations, and the count of samples before it. All words are numbers,
 * `count` of them. */
static sal_status skip_counts(sali_scan *scan, int64_t count, sal_error *err)
{
    int64_t n = 1, rest = count - 1;
    sal_status status = SAL_OK;
    if (count % 2 == 0) {
        rest--;
        status = read_number(scan, &n, err);
    }
    if (status == SAL_OK && n != 1) {
        return sali_scan_fail(scan, scan->line, err,
                              "%lld numbers that begin with %lld; expected \"n variable state ...\""
                              " with n pairs, or the same after a 1 (one sample)",
                              (long long)count, (long long)n);
    }
    status = status ? status : read_number(scan, &n, err);
    return status || rest == 2 * n
               ? status
               : sali_scan_fail(scan, scan->line, err,
                                "expected %lld pairs of a variable and a state, found %lld numbers",
                                (long long)n, (long long)rest);
}

static sal_status observe(sali_scan *scan, const sali_factor_graph *graph, int32_t *observed,
                          sal_error *err)
{
    int64_t v = 0, state = 0;
    sal_status status = read_number(scan, &v, err);
    if (status == SAL_OK && v >= graph->variables) {
        return sali_scan_fail(scan, scan->line, err,
                              "variable %lld is observed; expected 0 to %lld", (long long)v,
                              (long long)(graph->variables - 1));
    }
    status = status ? status : read_number(scan, &state, err);
    if (status != SAL_OK) {
        return status;
    }
    if (state >= graph->states[v]) {
        return sali_scan_fail(scan, scan->line, err,
                              "variable %lld is observed in state %lld; expected 0 to %d",
                              (long long)v, (long long)state, graph->states[v] - 1);
    }
    if (observed[v] >= 0 && observed[v] != state) {
        return sali_scan_fail(scan, scan->line, err,
                              "variable %lld is observed in state %lld and before in state %d; "
                              "expected one",
                              (long long)v, (long long)state, observed[v]);
    }
    observed[v] = (int32_t)state;
    return SAL_OK;
}

/* All observations into `observed`, which is all -1 before. */
static sal_status read_observations(sali_scan *scan, const sali_factor_graph *graph,
                                    int32_t *observed, sal_error *err)
{
    sali_scan ahead = *scan;
    int64_t count, value;
    sal_status status = SAL_OK;
    sali_scan_words(scan, &count, NULL);
    for (int64_t i = 0; status == SAL_OK && i < count; i++) {
        status = read_number(&ahead, &value, err);
    }
    status = status ? status : sali_scan_end(&ahead, err); /* or a comment without end */
    status = status || count == 0 ? status : skip_counts(scan, count, err);
    for (int64_t pairs = (count - 1) / 2; status == SAL_OK && pairs > 0; pairs--) {
        status = observe(scan, graph, observed, err);
    }
    return status;
}

sal_status sali_uai_parse_evidence(const char *name, const void *text, int64_t size,
                                   const sali_factor_graph *graph, int32_t *observed,
                                   sal_error *err)
{
    sali_scan scan;
    sali_scan_init(&scan, name, text, size, SALI_UAI_COMMENTS);
    int32_t *found = SALI_NEW_ARRAY(int32_t, graph->variables);
    if (!found) {
        return sali_fail_memory(err);
    }
    for (int64_t v = 0; v < graph->variables; v++) {
        found[v] = -1;
    }
    sal_status status = read_observations(&scan, graph, found, err);
    if (status == SAL_OK) {
        memcpy(observed, found, (size_t)graph->variables * sizeof *found);
    }
    sali_free(found);
    return status;
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
