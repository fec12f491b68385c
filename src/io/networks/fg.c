/* SPDX-License-Identifier: MIT */
/* Factor graphs of libDAI. A block for each factor: the number of its variables, their labels,
 * their numbers of states, the number of entries that are listed, and these with their indices; the
 * others are 0. The first variable of a block changes fastest, so a scope is kept in reverse order.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/number.h"
#include "io/format.h"
#include "io/networks/bayes.h"

/* A variable of a block. */
typedef struct member {
    int64_t label, states, factor;
} member;

typedef struct reader {
    sali_scan *scan;
    sali_factor_graph *g;
    member *members; /* [of all scopes], in the order of g->scope */
    int64_t n_members, members_room, table_room;
} reader;

/* ---- blocks */

/* Read the labels of the `size` variables of factor f and their numbers of states, from the slowest
 * to the fastest. Returns the number of entries of the table; 0 after a failure. */
static int64_t read_scope(reader *r, int64_t f, int64_t size)
{
    sali_scan *scan = r->scan;
    int64_t entries = 1, all = 0;
    int overflow = 0;
    if (!sali_scan_grow(scan, (void **)&r->members, &r->members_room, r->n_members + size,
                        sizeof *r->members)) {
        return 0;
    }
    int64_t last = r->n_members + size - 1;
    for (int64_t k = 0; k < size; k++) {
        r->members[last - k] =
            (member){ .label = sali_scan_int(scan, "the label of a variable", 0, INT64_MAX),
                      .factor = f };
    }
    for (int64_t k = 0; k < size; k++) {
        r->members[last - k].states =
            sali_scan_int(scan, "a variable's number of states", 1, INT32_MAX);
        overflow |= __builtin_mul_overflow(entries, r->members[last - k].states, &entries);
    }
    overflow |= __builtin_add_overflow(r->g->table_begin[f], entries, &all);
    if (overflow || all > (scan->end - scan->begin) / 2 + SALI_UNLISTED_MAX) {
        sali_scan_fail(scan, scan->line,
                       "the tables up to that of factor %lld would have far more entries than the "
                       "file lists",
                       (long long)(f + 1));
    }
    r->n_members += size;
    r->g->scope_begin[f + 1] = r->n_members;
    r->g->table_begin[f + 1] = all;
    return scan->status == SAL_OK ? entries : 0;
}

/* Read the listed entries of a table as logarithms; the others are -inf. */
static void read_entries(reader *r, int64_t f, double *log_table, int64_t entries)
{
    sali_scan *scan = r->scan;
    for (int64_t i = 0; i < entries; i++) {
        log_table[i] = NAN;
    }
    int64_t listed = sali_scan_int(scan, "the number of listed entries", 0, entries);
    for (int64_t k = 0; scan->status == SAL_OK && k < listed; k++) {
        int64_t index = sali_scan_int(scan, "the index of an entry", 0, entries - 1);
        double p = sali_scan_double(scan, "an entry");
        if (p < 0) {
            sali_scan_fail(scan, scan->line,
                           "entry %lld of factor %lld is %g; expected no negative "
                           "number",
                           (long long)index, (long long)(f + 1), p);
        } else if (scan->status == SAL_OK && !isnan(log_table[index])) {
            sali_scan_fail(scan, scan->line, "a second entry %lld of factor %lld", (long long)index,
                           (long long)(f + 1));
        }
        log_table[index] = p > 0 ? log(p) : -INFINITY;
    }
    for (int64_t i = 0; i < entries; i++) {
        log_table[i] = isnan(log_table[i]) ? -INFINITY : log_table[i];
    }
}

/* Read the block of factor f. */
static void read_factor(reader *r, int64_t f)
{
    sali_scan *scan = r->scan;
    int64_t size = sali_scan_count(scan, "the number of variables of a factor", 0);
    int64_t entries = scan->status == SAL_OK ? read_scope(r, f, size) : 0;
    if (scan->status == SAL_OK && sali_scan_grow(scan, (void **)&r->g->log_table, &r->table_room,
                                                 r->g->table_begin[f + 1], sizeof(double))) {
        read_entries(r, f, r->g->log_table + r->g->table_begin[f], entries);
    }
}

/* ---- labels */

static int compare_labels(const void *a, const void *b)
{
    int64_t x = ((const member *)a)->label, y = ((const member *)b)->label;
    return (x > y) - (x < y);
}

/* Number the variables in the order of their labels: `sorted` holds the members in that order, of
 * which the first of each variable stays. Fails if a variable has two numbers of states. */
static void number_variables(reader *r, member *sorted)
{
    sali_factor_graph *g = r->g;
    int64_t n = 0;
    qsort(sorted, (size_t)r->n_members, sizeof *sorted, compare_labels);
    for (int64_t k = 0; k < r->n_members; k++) {
        if (n == 0 || sorted[n - 1].label != sorted[k].label) {
            sorted[n++] = sorted[k];
        } else if (sorted[n - 1].states != sorted[k].states) {
            sali_scan_refuse(r->scan,
                             "variable %lld has %lld states in factor %lld and %lld in factor %lld",
                             (long long)sorted[k].label, (long long)sorted[n - 1].states,
                             (long long)(sorted[n - 1].factor + 1), (long long)sorted[k].states,
                             (long long)(sorted[k].factor + 1));
        }
    }
    if (n == 0 || n > INT32_MAX) {
        sali_scan_refuse(r->scan, n ? "too many variables" : "a factor graph without variables");
    }
    g->states = SALI_SCAN_ARRAY(r->scan, int32_t, n);
    for (int64_t v = 0; g->states && v < n; v++) {
        g->states[v] = (int32_t)sorted[v].states;
    }
    g->variables = g->states ? n : 0;
}

/* Fill the scopes with the numbers of the variables; fails if one is twice in a scope. */
static void fill_scopes(reader *r, const member *sorted)
{
    sali_factor_graph *g = r->g;
    int64_t *last_use = SALI_SCAN_ARRAY(r->scan, int64_t, g->variables);
    g->scope = SALI_SCAN_ARRAY(r->scan, int32_t, r->n_members);
    for (int64_t k = 0; r->scan->status == SAL_OK && k < r->n_members; k++) {
        const member *m = &r->members[k];
        const member *found =
            bsearch(m, sorted, (size_t)g->variables, sizeof *sorted, compare_labels);
        int64_t v = found - sorted;
        if (last_use[v] == m->factor + 1) {
            sali_scan_refuse(r->scan, "variable %lld is twice in factor %lld", (long long)m->label,
                             (long long)(m->factor + 1));
        }
        last_use[v] = m->factor + 1;
        g->scope[k] = (int32_t)v;
    }
    sali_free(last_use);
}

/* Call the variables by their labels, unless these are 0, 1, .. */
static void take_labels(reader *r, const member *sorted)
{
    sali_factor_graph *g = r->g;
    if (r->scan->status != SAL_OK || sorted[g->variables - 1].label == g->variables - 1) {
        return;
    }
    g->names = SALI_SCAN_ARRAY(r->scan, char *, g->variables);
    for (int64_t v = 0; g->names && v < g->variables; v++) {
        char label[SALI_NUMBER_SIZE];
        snprintf(label, sizeof label, "%lld", (long long)sorted[v].label);
        g->names[v] = sali_scan_copy(r->scan, label, (int64_t)strlen(label));
    }
}

static void parse(sali_scan *scan, sali_content *out)
{
    reader r = { .scan = scan, .g = &out->network };
    sali_factor_graph *g = r.g;
    g->kind = SALI_FACTOR_MARKOV;
    g->factors = sali_scan_count(scan, "the number of factors", 0);
    g->scope_begin = SALI_SCAN_ARRAY(scan, int64_t, g->factors + 1);
    g->table_begin = SALI_SCAN_ARRAY(scan, int64_t, g->factors + 1);
    for (int64_t f = 0; scan->status == SAL_OK && f < g->factors; f++) {
        read_factor(&r, f);
    }
    sali_scan_end(scan);
    member *sorted = SALI_SCAN_ARRAY(scan, member, r.n_members);
    if (sorted && r.n_members > 0) {
        memcpy(sorted, r.members, (size_t)r.n_members * sizeof *sorted);
    }
    if (sorted) {
        number_variables(&r, sorted);
        fill_scopes(&r, sorted);
        take_labels(&r, sorted);
    }
    sali_free(sorted);
    sali_free(r.members);
}

/* Skip `n` whole numbers on one line; false if they are not, or more follows on that line. */
static bool skip_numbers(sali_scan *scan, int64_t n)
{
    sali_token word = { 0 };
    int64_t line = 0, value = 0, k = 0;
    for (; k < n; k++) {
        word = sali_scan_token(scan);
        line = k == 0 ? word.line : line;
        if (word.line != line || sali_parse_int(word.text, word.size, &value) != SAL_OK) {
            return false;
        }
    }
    return !sali_scan_on_line(scan, line);
}

/* The number of factors and an empty line; then the numbers of the first block's lines agree. */
static bool recognise(sali_scan *scan)
{
    bool alone = skip_numbers(scan, 1);
    int64_t line = scan->line;
    if (!alone || !sali_scan_more(scan) || scan->line < line + 2) {
        return false;
    }
    int64_t size = sali_scan_int(scan, "", 1, INT64_MAX);
    return scan->status == SAL_OK && size <= sali_scan_room(scan) &&
           !sali_scan_on_line(scan, scan->line) && skip_numbers(scan, size) &&
           skip_numbers(scan, size) && skip_numbers(scan, 1);
}

/* ---- writing */

/* Whether the variables' names are labels as libDAI has them: numbers in ascending order. Without
 * names the labels are 0, 1, .. */
static bool has_labels(const sali_factor_graph *g)
{
    int64_t before = -1, label = 0;
    bool good = g->names;
    for (int64_t v = 0; good && v < g->variables; v++) {
        char plain[SALI_NUMBER_SIZE] = "";
        good = sali_parse_int(g->names[v], (int64_t)strlen(g->names[v]), &label) == SAL_OK &&
               label > before;
        snprintf(plain, sizeof plain, "%lld", (long long)label);
        good = good && strcmp(plain, g->names[v]) == 0;
        before = label;
    }
    return good;
}

/* Write the label of variable v. */
static void put_label(sali_text_output *w, const sali_factor_graph *g, bool labels, int64_t v)
{
    if (labels) {
        sali_put(w, "%s", g->names[v]);
    } else {
        sali_put(w, "%lld", (long long)v);
    }
}

/* Write the lines of a block up to the number of entries: `size` variables of `scope`, of which the
 * last is the fastest. */
static void put_scope(sali_text_output *w, const sali_factor_graph *g, bool labels,
                      const int32_t *scope, int64_t size)
{
    sali_put(w, "\n%lld\n", (long long)size);
    for (int64_t k = size - 1; k >= 0; k--) {
        put_label(w, g, labels, scope[k]);
        sali_put_raw(w, k ? " " : "");
    }
    sali_put_raw(w, "\n");
    for (int64_t k = size - 1; k >= 0; k--) {
        sali_put(w, "%d%s", g->states[scope[k]], k ? " " : "");
    }
    sali_put_raw(w, "\n");
}

static void put_factor(sali_text_output *w, const sali_factor_graph *g, bool labels, int64_t f)
{
    const double *log_table = g->log_table + g->table_begin[f];
    int64_t entries = g->table_begin[f + 1] - g->table_begin[f], listed = 0;
    for (int64_t i = 0; i < entries; i++) {
        listed += log_table[i] > -INFINITY;
    }
    put_scope(w, g, labels, g->scope + g->scope_begin[f],
              g->scope_begin[f + 1] - g->scope_begin[f]);
    sali_put(w, "%lld\n", (long long)listed);
    for (int64_t i = 0; i < entries && w->status == SAL_OK; i++) {
        if (log_table[i] > -INFINITY) {
            sali_put(w, "%lld ", (long long)i);
            sali_put_exp(w, log_table[i], "\n");
        }
    }
}

/* Write the network; a variable that is in no factor gets one that is 1, as the format has no other
 * place for it. */
static void write(sali_text_output *w, const sali_content *content)
{
    const sali_factor_graph *g = &content->network;
    bool labels = has_labels(g);
    bool *used = SALI_NEW_ARRAY(bool, g->variables);
    int64_t unused = g->variables;
    for (int64_t i = 0; sali_text_granted(w, used) && i < g->scope_begin[g->factors]; i++) {
        unused -= !used[g->scope[i]];
        used[g->scope[i]] = true;
    }
    sali_put(w, "%lld\n", (long long)(g->factors + unused));
    for (int64_t f = 0; f < g->factors && w->status == SAL_OK; f++) {
        put_factor(w, g, labels, f);
    }
    for (int32_t v = 0; v < g->variables && w->status == SAL_OK; v++) {
        if (!used[v]) {
            put_scope(w, g, labels, &v, 1);
            sali_put(w, "%d\n", g->states[v]);
            for (int32_t k = 0; k < g->states[v]; k++) {
                sali_put(w, "%d 1\n", k);
            }
        }
    }
    sali_free(used);
}

const sali_format sali_format_fg = {
    .name = "fg",
    .doc = "factor graphs of libDAI",
    .suffixes = { ".fg" },
    .content = SALI_CONTENT_NETWORK,
    .comments = SALI_COMMENT_HASH,
    .recognise = recognise,
    .parse = parse,
    .write = write,
};
