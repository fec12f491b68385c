/* SPDX-License-Identifier: MIT */
#include "io/networks/uai.h"

#include <math.h>
#include <stdio.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/file.h"
#include "io/format.h"
#include "io/scan.h"

static sal_status read_kind(sali_scan *scan, sali_factor_graph *g, sal_error *err)
{
    sali_token token;
    sal_status status = sali_scan_token(scan, &token, err);
    if (status != SAL_OK) {
        return status;
    }
    bool bayes = sali_token_is(&token, "BAYES");
    g->kind = bayes ? SALI_FACTOR_BAYES : SALI_FACTOR_MARKOV;
    return bayes || sali_token_is(&token, "MARKOV")
               ? SAL_OK
               : sali_scan_expected(scan, &token, "MARKOV or BAYES", err);
}

static sal_status read_states(sali_scan *scan, sali_factor_graph *g, sal_error *err)
{
    sal_status status = sali_scan_count(scan, "the number of variables", 1, &g->variables, err);
    if (status == SAL_OK && g->variables > INT32_MAX) {
        status = sali_scan_fail(scan, scan->line, err, "more than 2^31 - 1 variables");
    }
    if (status != SAL_OK) {
        return status;
    }
    g->states = SALI_NEW_ARRAY(int32_t, g->variables);
    if (!g->states) {
        return sali_fail_memory(err);
    }
    for (int64_t v = 0; v < g->variables; v++) {
        int64_t states;
        status = sali_scan_int(scan, "a variable's number of states", 1, INT32_MAX, &states, err);
        if (status != SAL_OK) {
            return status;
        }
        g->states[v] = (int32_t)states;
    }
    return SAL_OK;
}

/* The scope of factor f, appended to g->scope. last_use[v] = f + 1 marks its variables. */
static sal_status read_scope(sali_scan *scan, sali_factor_graph *g, int64_t f, int64_t *capacity,
                             int64_t *last_use, sal_error *err)
{
    int64_t size;
    sal_status status =
        sali_scan_int(scan, "the number of variables of a factor", 0, g->variables, &size, err);
    if (status != SAL_OK) {
        return status;
    }
    int64_t entries = 1;
    int overflow = 0;
    int64_t begin = g->scope_begin[f];
    for (int64_t i = 0; i < size; i++) {
        int64_t v;
        status = sali_scan_int(scan, "a variable of a factor", 0, g->variables - 1, &v, err);
        if (status != SAL_OK) {
            return status;
        }
        if (last_use[v] == f + 1) {
            return sali_scan_fail(scan, scan->line, err,
                                  "variable %lld is twice in the scope of factor %lld",
                                  (long long)v, (long long)f);
        }
        last_use[v] = f + 1;
        if (sali_grow((void **)&g->scope, capacity, begin + i + 1, sizeof *g->scope) != 0) {
            return sali_fail_memory(err);
        }
        g->scope[begin + i] = (int32_t)v;
        overflow |= __builtin_mul_overflow(entries, g->states[v], &entries);
    }
    g->scope_begin[f + 1] = begin + size;
    overflow |= __builtin_add_overflow(g->table_begin[f], entries, &g->table_begin[f + 1]);
    if (overflow || g->table_begin[f + 1] > sali_scan_room(scan)) {
        return sali_scan_fail(scan, scan->line, err,
                              "the tables up to that of factor %lld would have more entries than "
                              "the rest of the file can hold",
                              (long long)f);
    }
    return SAL_OK;
}

static sal_status read_scopes(sali_scan *scan, sali_factor_graph *g, sal_error *err)
{
    sal_status status = sali_scan_count(scan, "the number of factors", 0, &g->factors, err);
    if (status != SAL_OK) {
        return status;
    }
    g->scope_begin = SALI_NEW_ARRAY(int64_t, g->factors + 1);
    g->table_begin = SALI_NEW_ARRAY(int64_t, g->factors + 1);
    int64_t capacity = 0;
    int64_t *last_use = SALI_NEW_ARRAY(int64_t, g->variables);
    if (!g->scope_begin || !g->table_begin || !last_use ||
        sali_grow((void **)&g->scope, &capacity, 1, sizeof *g->scope) != 0) {
        status = sali_fail_memory(err);
    }
    for (int64_t f = 0; f < g->factors && status == SAL_OK; f++) {
        status = read_scope(scan, g, f, &capacity, last_use, err);
    }
    sali_free(last_use);
    return status;
}

static sal_status read_table(sali_scan *scan, sali_factor_graph *g, int64_t f, sal_error *err)
{
    int64_t entries = g->table_begin[f + 1] - g->table_begin[f];
    char what[96];
    snprintf(what, sizeof what, "the number of entries of the table of factor %lld", (long long)f);
    int64_t count;
    sal_status status = sali_scan_int(scan, what, entries, entries, &count, err);
    for (int64_t i = 0; i < entries && status == SAL_OK; i++) {
        double p;
        status = sali_scan_double(scan, "a table entry", &p, err);
        if (status == SAL_OK && p < 0) {
            status = sali_scan_fail(scan, scan->line, err,
                                    "entry %lld of the table of factor %lld is %g; expected no "
                                    "negative number",
                                    (long long)i, (long long)f, p);
        }
        if (status == SAL_OK) {
            g->log_table[g->table_begin[f] + i] = p > 0 ? log(p) : -INFINITY;
        }
    }
    return status;
}

static sal_status read_tables(sali_scan *scan, sali_factor_graph *g, sal_error *err)
{
    g->log_table = SALI_NEW_ARRAY(double, g->table_begin[g->factors]);
    if (!g->log_table) {
        return sali_fail_memory(err);
    }
    sal_status status = SAL_OK;
    for (int64_t f = 0; f < g->factors && status == SAL_OK; f++) {
        status = read_table(scan, g, f, err);
    }
    return status;
}

sal_status sali_uai_parse(const char *name, const void *text, int64_t size, sali_factor_graph *out,
                          sal_error *err)
{
    sali_scan scan;
    sali_scan_init(&scan, name, text, size, SALI_UAI_COMMENTS);
    sali_factor_graph g = { 0 };
    sal_status status = read_kind(&scan, &g, err);
    status = status ? status : read_states(&scan, &g, err);
    status = status ? status : read_scopes(&scan, &g, err);
    status = status ? status : read_tables(&scan, &g, err);
    status = status ? status : sali_scan_end(&scan, err);
    if (status != SAL_OK) {
        sali_factor_graph_free(&g);
        return status;
    }
    *out = g;
    return SAL_OK;
}

/* ---- the record */

static bool looks_like_uai(const char *data, int64_t size)
{
    sali_scan scan;
    sali_token token;
    sali_scan_init(&scan, "", data, size, SALI_UAI_COMMENTS);
    return sali_scan_token(&scan, &token, NULL) == SAL_OK &&
           (sali_token_is(&token, "MARKOV") || sali_token_is(&token, "BAYES"));
}

static sal_status parse_content(const char *name, const char *data, int64_t size, sali_content *out,
                                sal_error *err)
{
    return sali_uai_parse(name, data, size, &out->network, err);
}

static sal_status write_content(const char *path, const sali_content *content, sal_error *err)
{
    return sali_uai_write(path, &content->network, err);
}

const sali_format sali_format_uai = {
    .name = "uai",
    .doc = "Bayesian and Markov networks of the UAI competitions",
    .suffixes = { ".uai" },
    .content = SALI_CONTENT_NETWORK,
    .recognise = looks_like_uai,
    .has_heading = true,
    .parse = parse_content,
    .write = write_content,
};
