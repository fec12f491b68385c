/* Evidence beside a network: which variables were observed, and in which state. */
#include "io/networks/uai.h"

#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/file.h"
#include "io/scan.h"

/* A number of the file and where it stood. */
typedef struct number {
    int64_t value;
    int64_t line;
} number;

static sal_status read_numbers(sali_scan *scan, number **numbers, int64_t *count, sal_error *err)
{
    int64_t capacity = 0;
    for (;;) {
        sali_scan ahead = *scan;
        sali_token token;
        sal_status status = sali_scan_token(&ahead, &token, err);
        if (status != SAL_OK || token.size == 0) {
            return status;
        }
        void *grown = *numbers;
        if (sali_grow(&grown, &capacity, *count + 1, sizeof **numbers) != 0) {
            return sali_fail_memory(err);
        }
        *numbers = grown;
        number *next = &(*numbers)[*count];
        status =
            sali_scan_int(scan, "a count, a variable or a state", 0, INT32_MAX, &next->value, err);
        if (status != SAL_OK) {
            return status;
        }
        next->line = token.line;
        ++*count;
    }
}

/* Where the count of observations is among the numbers: 0, or 1 after a count of samples. */
static sal_status find_layout(const sali_scan *scan, const number *numbers, int64_t count,
                              int64_t *first, sal_error *err)
{
    int older = count % 2 == 0;
    if (older && numbers[0].value != 1) {
        return sali_scan_fail(scan, numbers[0].line, err,
                              "%lld numbers that begin with %lld; expected \"n variable state ...\""
                              " with n pairs, or the same after a 1 (one sample)",
                              (long long)count, (long long)numbers[0].value);
    }
    const number *n = &numbers[older];
    int64_t rest = count - 1 - older;
    if (rest != 2 * n->value) {
        return sali_scan_fail(scan, n->line, err,
                              "expected %lld pairs of a variable and a state, found %lld numbers",
                              (long long)n->value, (long long)rest);
    }
    *first = older;
    return SAL_OK;
}

static sal_status observe(const sali_scan *scan, const sali_factor_graph *graph, const number *pair,
                          int32_t *observed, sal_error *err)
{
    int64_t v = pair[0].value;
    int64_t state = pair[1].value;
    if (v >= graph->variables) {
        return sali_scan_fail(scan, pair[0].line, err,
                              "variable %lld is observed; expected 0 to %lld", (long long)v,
                              (long long)(graph->variables - 1));
    }
    if (state >= graph->states[v]) {
        return sali_scan_fail(scan, pair[1].line, err,
                              "variable %lld is observed in state %lld; expected 0 to %d",
                              (long long)v, (long long)state, graph->states[v] - 1);
    }
    if (observed[v] >= 0 && observed[v] != state) {
        return sali_scan_fail(scan, pair[1].line, err,
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
    number *numbers = NULL;
    int64_t count = 0;
    int64_t first = 0;
    sal_status status = read_numbers(scan, &numbers, &count, err);
    if (status == SAL_OK && count > 0) {
        status = find_layout(scan, numbers, count, &first, err);
    }
    for (int64_t i = first + 1; i < count && status == SAL_OK; i += 2) {
        status = observe(scan, graph, &numbers[i], observed, err);
    }
    sali_free(numbers);
    return status;
}

sal_status sali_uai_parse_evidence(const char *name, const void *text, int64_t size,
                                   const sali_factor_graph *graph, int32_t *observed,
                                   sal_error *err)
{
    sali_scan scan;
    sali_scan_init(&scan, name, text, size, SALI_COMMENT_C | SALI_COMMENT_CPP | SALI_COMMENT_HASH);
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
    if (status == SAL_OK) {
        status = sali_uai_parse_evidence(path, file.data, file.size, graph, observed, err);
    }
    sali_bytes_free(&file);
    return status;
}
