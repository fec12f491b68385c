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

/* The possible readings of the numbers in a file. */
typedef struct layouts {
    int64_t count;   /* of all numbers */
    int64_t samples; /* number of samples if the file begins with it; 0: it does not */
    int64_t first;   /* number of observations of the first sample */
    bool one;        /* the numbers fit one sample, whose observations are counted first */
    bool alone;      /* the first number has a line of its own, and more lines follow */
    bool by_line;    /* each sample begins on a new line */
    bool pairs;      /* no observation is split between two lines */
} layouts;

/* Whether the next number is on the line of the last one. */
static bool goes_on(const sali_scan *scan)
{
    return sali_scan_on_line(scan, scan->line);
}

/* Which layouts the `count` numbers fit. */
static layouts find_layouts(const sali_scan *scan, int64_t count)
{
    sali_scan ahead = *scan;
    ahead.err = NULL;
    int64_t first = read_number(&ahead), left = count - 1;
    layouts found = { .count = count,
                      .one = count % 2 == 1 && first == count / 2,
                      .alone = left > 0 && !goes_on(&ahead),
                      .by_line = true,
                      .pairs = true };
    sali_scan pairs = ahead;
    for (int64_t k = 0; found.one && k < first; k++) {
        read_number(&pairs);
        found.pairs = found.pairs && goes_on(&pairs);
        read_number(&pairs);
    }
    for (int64_t s = 0; s < first; s++) {
        found.by_line = found.by_line && !goes_on(&ahead);
        int64_t n = left > 0 ? read_number(&ahead) : left;
        if (left < 1 || n > (left - 1) / 2) {
            return found;
        }
        found.first = s == 0 ? n : found.first;
        skip_pairs(&ahead, n);
        left -= 1 + 2 * n;
    }
    found.samples = left == 0 ? first : 0;
    return found;
}

/* Whether the next n observations are of variables and states of the graph, and none of a variable
 * that was observed before. `seen` [variables] is all -1, here and at the end. */
static bool are_distinct(sali_scan *scan, const sali_factor_graph *graph, int64_t n, int32_t *seen)
{
    sali_scan again = *scan;
    bool good = true;
    for (int64_t k = 0; k < n; k++) {
        int64_t v = read_number(scan), state = read_number(scan);
        good = good && v < graph->variables && state < graph->states[v] && seen[v] < 0;
        if (v < graph->variables) {
            seen[v] = (int32_t)state;
        }
    }
    for (int64_t k = 0; k < n; k++) {
        int64_t v = read_number(&again);
        read_number(&again);
        if (v < graph->variables) {
            seen[v] = -1;
        }
    }
    return good;
}

/* Whether all of `samples` samples, which follow next, make sense for the graph. */
static bool make_sense(sali_scan scan, const sali_factor_graph *graph, int64_t samples,
                       int32_t *seen)
{
    bool good = true;
    for (int64_t s = 0; s < samples; s++) {
        int64_t n = read_number(&scan);
        good = are_distinct(&scan, graph, n, seen) && good;
    }
    return good;
}

/* Whether the first number is the number of samples, where the numbers fit both layouts. The ends
 * of lines decide, if they fit only one layout; then the choice of a sample by the caller; then
 * whether only one layout makes sense for the graph. If nothing decides, the file is one sample,
 * and the remark says so. */
static bool is_counted(sali_scan *scan, const layouts *found, const sali_factor_graph *graph,
                       int64_t sample, int32_t *seen, sali_remark *remark)
{
    if (found->alone && (found->by_line || found->pairs) && sample <= 1) {
        return found->by_line; /* not both: a sample has an odd number of numbers */
    }
    sali_scan counted = *scan;
    counted.err = NULL;
    read_number(&counted);
    bool one = make_sense(*scan, graph, 1, seen);
    bool several = make_sense(counted, graph, found->samples, seen);
    if (found->alone || (!one && several)) {
        return true;
    }
    if (!several && sample <= 0) {
        return false; /* nor does one sample make sense, or it is the only reading that does */
    }
    scan->status = sali_remark_add(
        remark, true, scan->err,
        "the numbers fit one sample of %lld observations, and %lld samples, the first of %lld; "
        "they were read as %s (the number of samples on a line of its own, and each sample on the "
        "next, say that there are several, and so does the choice of one by its number)",
        (long long)(found->count / 2), (long long)found->samples, (long long)found->first,
        sample > 0 ? "several, because one of them was chosen" : "one");
    return sample > 0;
}

/* Fail with an error about `count` numbers that fit neither layout. */
static void fail_layout(sali_scan *scan, int64_t count)
{
    int64_t first = read_number(scan), pairs = (count - 1) / 2 * 2;
    if (count == 2 && first == 1) {
        int64_t v = read_number(scan);
        sali_scan_fail(scan, scan->line,
                       "one observation has no value for variable %lld; expected \"1 variable "
                       "state\", or 0 if nothing was observed",
                       (long long)v);
        return;
    }
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

/* Whether the file has the requested sample (0: its only one); fails with ARGUMENT if not. */
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

/* Read one observation into `observed`; fails if it is out of range or contradicts an earlier
 * one. */
static void read_observation(sali_scan *scan, const sali_factor_graph *graph, int32_t *observed)
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

/* Find the layout, and skip the number of samples if there is one. Returns the number of
 * samples. */
static int64_t read_layout(sali_scan *scan, const sali_factor_graph *graph, int64_t sample,
                           int32_t *seen, sali_remark *remark)
{
    sali_scan numbers = *scan;
    int64_t count = 0;
    for (; sali_scan_more(&numbers); count++) {
        read_number(&numbers);
    }
    scan->status = numbers.status;
    if (scan->status == SAL_OK && count == 0) {
        sali_scan_refuse(scan, "holds no numbers; expected \"n variable state ...\" with n pairs, "
                               "such as 0 if nothing was observed");
    }
    if (scan->status != SAL_OK) {
        return 0;
    }
    layouts found = find_layouts(scan, count);
    /* "1 0" on one line is rather an observation that was cut off than a sample without any */
    if ((!found.one && found.samples == 0) || (count == 2 && !found.alone)) {
        fail_layout(scan, count);
        return 0;
    }
    bool counted =
        !found.one || (found.samples > 0 && is_counted(scan, &found, graph, sample, seen, remark));
    if (counted) {
        read_number(scan);
    }
    return counted ? found.samples : 1;
}

/* Read all observations of a sample into `observed`, which is all -1 before. */
static void read_observations(sali_scan *scan, const sali_factor_graph *graph, int64_t sample,
                              int32_t *observed, sali_remark *remark)
{
    int64_t samples = read_layout(scan, graph, sample, observed, remark);
    if (!has_sample(scan, samples, sample)) {
        return;
    }
    for (int64_t s = 1; s < sample; s++) {
        skip_pairs(scan, read_number(scan));
    }
    for (int64_t pairs = read_number(scan); scan->status == SAL_OK && pairs > 0; pairs--) {
        read_observation(scan, graph, observed);
    }
}

sal_status sali_uai_parse_evidence(const char *name, const void *text, int64_t size,
                                   const sali_factor_graph *graph, int64_t sample,
                                   int32_t *observed, sali_remark *remark, sal_error *err)
{
    sali_scan scan = sali_scan_of(name, text, size, SALI_UAI_COMMENTS, err);
    int32_t *found = SALI_SCAN_ARRAY(&scan, int32_t, graph->variables);
    for (int64_t v = 0; found && v < graph->variables; v++) {
        found[v] = -1;
    }
    if (found) {
        read_observations(&scan, graph, sample, found, remark);
    }
    if (scan.status == SAL_OK) {
        memcpy(observed, found, (size_t)graph->variables * sizeof *found);
    }
    sali_free(found);
    return scan.status;
}

sal_status sali_uai_read_evidence(const char *path, const sali_factor_graph *graph, int64_t sample,
                                  int32_t *observed, sali_remark *remark, sal_error *err)
{
    sali_bytes file = { 0 };
    sal_status status = sali_file_read_unpacked(path, SALI_UNPACK_MAX, &file, err);
    status = status ? status
                    : sali_uai_parse_evidence(path, file.data, file.size, graph, sample, observed,
                                              remark, err);
    sali_bytes_free(&file);
    return status;
}
