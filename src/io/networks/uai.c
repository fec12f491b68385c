/* SPDX-License-Identifier: MIT */
/* Networks in the UAI format. Numbers may be on any lines. */
#include "io/networks/uai.h"

#include <math.h>
#include <stdio.h>

#include "core/alloc.h"
#include "io/format.h"

static bool is_kind(const sali_token *word)
{
    return sali_token_is(word, "MARKOV") || sali_token_is(word, "BAYES");
}

static void read_kind(sali_scan *scan, sali_factor_graph *g)
{
    sali_token word = sali_scan_token(scan);
    if (!is_kind(&word)) {
        sali_scan_expected(scan, &word, "MARKOV or BAYES");
    }
    g->kind = sali_token_is(&word, "BAYES") ? SALI_FACTOR_BAYES : SALI_FACTOR_MARKOV;
}

/* Read the number of variables and of the states of each. */
static void read_states(sali_scan *scan, sali_factor_graph *g)
{
    g->variables = sali_scan_count(scan, "the number of variables", 1);
    if (g->variables > INT32_MAX) {
        sali_scan_fail(scan, scan->line, "more than 2^31 - 1 variables");
    }
    g->states = SALI_SCAN_ARRAY(scan, int32_t, g->variables);
    for (int64_t v = 0; scan->status == SAL_OK && v < g->variables; v++) {
        g->states[v] = (int32_t)sali_scan_int(scan, "a variable's number of states", 1, INT32_MAX);
    }
}

/* Read the scope of factor f and append it to g->scope. last_use[v] = f + 1 marks its variables. */
static void read_scope(sali_scan *scan, sali_factor_graph *g, int64_t f, int64_t *capacity,
                       int64_t *last_use)
{
    int64_t size = sali_scan_int(scan, "the number of variables of a factor", 0, g->variables);
    int64_t entries = 1, at = g->scope_begin[f], end = at + size;
    int overflow = 0;
    for (; scan->status == SAL_OK && at < end; at++) {
        int64_t v = sali_scan_int(scan, "a variable of a factor", 0, g->variables - 1);
        if (last_use[v] == f + 1) {
            sali_scan_fail(scan, scan->line, "variable %lld is twice in the scope of table %lld",
                           (long long)v, (long long)(f + 1));
        }
        last_use[v] = f + 1;
        overflow |= __builtin_mul_overflow(entries, g->states[v], &entries);
        if (sali_scan_grow(scan, (void **)&g->scope, capacity, at + 1, sizeof *g->scope)) {
            g->scope[at] = (int32_t)v;
        }
    }
    g->scope_begin[f + 1] = end;
    overflow |= __builtin_add_overflow(g->table_begin[f], entries, &g->table_begin[f + 1]);
    if (overflow || g->table_begin[f + 1] > sali_scan_room(scan)) {
        sali_scan_fail(
            scan, scan->line,
            "the tables up to table %lld would have more entries than the rest of the file "
            "can hold",
            (long long)(f + 1));
    }
}

/* Read the number of factors and their scopes; the sizes of the tables follow from these. */
static void read_scopes(sali_scan *scan, sali_factor_graph *g)
{
    g->factors = sali_scan_count(scan, "the number of factors", 0);
    g->scope_begin = SALI_SCAN_ARRAY(scan, int64_t, g->factors + 1);
    g->table_begin = SALI_SCAN_ARRAY(scan, int64_t, g->factors + 1);
    int64_t capacity = 0, *last_use = SALI_SCAN_ARRAY(scan, int64_t, g->variables);
    sali_scan_grow(scan, (void **)&g->scope, &capacity, 1, sizeof *g->scope);
    for (int64_t f = 0; scan->status == SAL_OK && f < g->factors; f++) {
        read_scope(scan, g, f, &capacity, last_use);
    }
    sali_free(last_use);
}

/* Read an entry of the table of factor f and return its natural logarithm; `number` is its index in
 * the table, from 0. */
static double read_factor(sali_scan *scan, int64_t f, int64_t number)
{
    double p = sali_scan_double(scan, "a table entry");
    if (p < 0) {
        sali_scan_fail(scan, scan->line,
                       "entry %lld of table %lld is %g; expected no negative number. If the tables "
                       "hold logarithms, call the file NAME.LG",
                       (long long)(number + 1), (long long)(f + 1), p);
    }
    return p > 0 ? log(p) : -INFINITY;
}

/* Read an entry of a table that holds natural logarithms; "-inf" is allowed. */
static double read_logarithm(sali_scan *scan)
{
    sali_scan ahead = *scan;
    ahead.err = NULL;
    sali_token word = sali_scan_token(&ahead);
    if (sali_token_is(&word, "-inf") || sali_token_is(&word, "-infinity")) {
        sali_scan_token(scan);
        return -INFINITY;
    }
    return sali_scan_double(scan, "a table entry (a natural logarithm)");
}

/* Read the table of factor f, whose number of entries must fit the scope. */
static void read_table(sali_scan *scan, sali_factor_graph *g, int64_t f, bool logarithms)
{
    int64_t begin = g->table_begin[f], entries = g->table_begin[f + 1] - begin;
    char what[96];
    snprintf(what, sizeof what, "the number of entries of table %lld", (long long)(f + 1));
    sali_scan_int(scan, what, entries, entries);
    for (int64_t i = 0; scan->status == SAL_OK && i < entries; i++) {
        g->log_table[begin + i] = logarithms ? read_logarithm(scan) : read_factor(scan, f, i);
    }
}

/* Add a remark if no entry is negative: the file may hold probabilities under the wrong name. */
static void remark_logarithms(sali_scan *scan, const sali_factor_graph *g, sali_remark *remark)
{
    int64_t entries = g->table_begin[g->factors];
    bool negative = entries == 0;
    for (int64_t i = 0; !negative && i < entries; i++) {
        negative = g->log_table[i] < 0;
    }
    if (!negative) {
        scan->status = sali_remark_add(
            remark, true, scan->err,
            "no entry of its tables is negative, and they are read as natural logarithms because "
            "of the file's name; if they are probabilities or factors, call the file NAME.uai");
    }
}

/* Read a network whose tables hold factors or, if `logarithms`, their natural logarithms. */
static void read_network(sali_scan *scan, sali_content *out, bool logarithms)
{
    sali_factor_graph *g = &out->network;
    read_kind(scan, g);
    read_states(scan, g);
    read_scopes(scan, g);
    g->log_table =
        scan->status == SAL_OK ? SALI_SCAN_ARRAY(scan, double, g->table_begin[g->factors]) : NULL;
    for (int64_t f = 0; scan->status == SAL_OK && f < g->factors; f++) {
        read_table(scan, g, f, logarithms);
    }
    if (sali_scan_end(scan) == SAL_OK && g->kind == SALI_FACTOR_BAYES) {
        sali_uai_settle_order(scan, g, logarithms, &out->remark);
    }
    if (scan->status == SAL_OK && logarithms) {
        remark_logarithms(scan, g, &out->remark);
    }
}

static void parse(sali_scan *scan, sali_content *out)
{
    read_network(scan, out, false);
}

static void parse_logarithms(sali_scan *scan, sali_content *out)
{
    read_network(scan, out, true);
}

static bool recognise(sali_scan *scan)
{
    sali_token word = sali_scan_token(scan);
    return is_kind(&word);
}

/* ---- writing */

static void put_scope(sali_text_output *w, const sali_factor_graph *g, int64_t f)
{
    int64_t size = g->scope_begin[f + 1] - g->scope_begin[f];
    sali_put(w, "%lld%s", (long long)size, sali_separator(0, size + 1));
    for (int64_t i = 0; i < size; i++) {
        sali_put(w, "%d%s", g->scope[g->scope_begin[f] + i], sali_separator(i, size));
    }
}

static void put_table(sali_text_output *w, const sali_factor_graph *g, int64_t f)
{
    int64_t entries = g->table_begin[f + 1] - g->table_begin[f];
    sali_put(w, "%lld\n", (long long)entries);
    for (int64_t i = 0; i < entries; i++) {
        sali_put_exp(w, g->log_table[g->table_begin[f] + i], sali_separator(i, entries));
    }
}

/* Write the network; fails for entries whose exponential is no positive finite number or 0. */
static void write(sali_text_output *w, const sali_content *content)
{
    const sali_factor_graph *g = &content->network;
    sali_put(w, "%s\n%lld\n", g->kind == SALI_FACTOR_BAYES ? "BAYES" : "MARKOV",
             (long long)g->variables);
    for (int64_t v = 0; v < g->variables; v++) {
        sali_put(w, "%d%s", g->states[v], sali_separator(v, g->variables));
    }
    sali_put(w, "%lld\n", (long long)g->factors);
    for (int64_t f = 0; f < g->factors && w->status == SAL_OK; f++) {
        put_scope(w, g, f);
    }
    for (int64_t f = 0; f < g->factors && w->status == SAL_OK; f++) {
        put_table(w, g, f);
    }
}

const sali_format sali_format_uai = {
    .name = "uai",
    .doc = "Bayesian and Markov networks of the UAI competitions",
    .suffixes = { ".uai" },
    .content = SALI_CONTENT_NETWORK,
    .comments = SALI_UAI_COMMENTS,
    .recognise = recognise,
    .has_heading = true,
    .parse = parse,
    .write = write,
};

/* This format has the same heading as uai; only the suffix shows that the tables hold logarithms,
 * so it comes first in the list of formats. */
const sali_format sali_format_uai_lg = {
    .name = "uai-lg",
    .doc = "networks of the UAI competitions with natural logarithms in their tables",
    .suffixes = { ".LG", ".lg" },
    .content = SALI_CONTENT_NETWORK,
    .comments = SALI_UAI_COMMENTS,
    .recognise = recognise,
    .parse = parse_logarithms,
};
