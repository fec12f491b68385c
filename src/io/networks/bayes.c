/* SPDX-License-Identifier: MIT */
#include "io/networks/bayes.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"

/* Sums that differ from 1 by no more than this, the rounding in double, are left alone: then files
 * read back bit for bit. */
#define EXACT_SUM 1e-12

/* Sums that differ from 1 by more than this are worth a warning, not only a note. */
#define FAIR_SUM 1e-3

void sali_bayes_begin(sali_bayes *b, sali_scan *scan, sali_content *out)
{
    *b = (sali_bayes){ .scan = scan, .g = &out->network, .remark = &out->remark, .worst_sum = 1 };
    sali_factor_graph *g = b->g;
    g->kind = SALI_FACTOR_BAYES;
    if (sali_scan_grow(scan, (void **)&g->scope_begin, &b->scope_begin_room, 1,
                       sizeof *g->scope_begin) &&
        sali_scan_grow(scan, (void **)&g->table_begin, &b->table_begin_room, 1,
                       sizeof *g->table_begin)) {
        g->scope_begin[0] = g->table_begin[0] = 0;
    }
}

/* ---- names */

/* Whether the name has control characters. */
static bool has_controls(const sali_token *name)
{
    bool found = false;
    for (int64_t i = 0; !found && i < name->size; i++) {
        found = (unsigned char)name->text[i] < ' ' || name->text[i] == 127;
    }
    return found;
}

int64_t sali_bayes_new_name(sali_scan *scan, sali_name_table *names, const sali_token *name,
                            const char *what)
{
    char shown[SALI_SHOW_SIZE];
    int64_t number = -1;
    if (scan->status != SAL_OK) {
        return -1;
    }
    if (name->size == 0) {
        sali_scan_fail(scan, name->line, "an empty %s", what);
    } else if (has_controls(name)) {
        sali_scan_fail(scan, name->line, "the %s '%s' has control characters", what,
                       sali_show(name->text, name->size, shown));
    } else if (sali_name_table_find(names, name->text, name->size) >= 0) {
        sali_scan_fail(scan, name->line, "a second %s '%s'", what,
                       sali_show(name->text, name->size, shown));
    } else {
        number = sali_name_table_put(names, name->text, name->size);
        sali_scan_granted(scan, number >= 0);
    }
    return scan->status == SAL_OK ? number : -1;
}

int64_t sali_bayes_find(sali_bayes *b, const sali_token *name, const char *what)
{
    char shown[SALI_SHOW_SIZE];
    if (b->scan->status != SAL_OK) {
        return -1;
    }
    int64_t v = sali_name_table_find(&b->variables, name->text, name->size);
    if (v < 0) {
        sali_scan_fail(b->scan, name->line, "%s names '%s', which is no variable", what,
                       sali_show(name->text, name->size, shown));
    }
    return v;
}

/* The name of variable v as messages show it. */
static const char *shown_name(const sali_bayes *b, int64_t v, char shown[SALI_SHOW_SIZE])
{
    return sali_show(b->variables.names[v], -1, shown);
}

/* ---- variables */

void sali_bayes_add_states(sali_bayes *b, int64_t line, sali_name_table *states)
{
    sali_factor_graph *g = b->g;
    int64_t v = g->variables;
    if (b->scan->status != SAL_OK) {
        return;
    }
    if (states->count == 0 || states->count > INT32_MAX || v >= INT32_MAX) {
        char shown[SALI_SHOW_SIZE];
        sali_scan_fail(b->scan, line, "variable '%s' has %s", shown_name(b, v, shown),
                       states->count ? "too many states" : "no states");
    }
    if (sali_scan_grow(b->scan, (void **)&g->states, &b->states_room, v + 1, sizeof *g->states) &&
        sali_scan_grow(b->scan, (void **)&b->states, &b->names_room, v + 1, sizeof *b->states) &&
        sali_scan_grow(b->scan, (void **)&b->last_use, &b->use_room, v + 1, sizeof *b->last_use) &&
        sali_scan_grow(b->scan, (void **)&b->table_of, &b->table_of_room, v + 1,
                       sizeof *b->table_of)) {
        b->last_use[v] = b->table_of[v] = 0;
        g->states[v] = (int32_t)states->count;
        b->states[v] = *states;
        *states = (sali_name_table){ 0 };
        g->variables = v + 1;
    }
}

int64_t sali_bayes_find_state(sali_bayes *b, int64_t variable, const sali_token *name)
{
    char shown[SALI_SHOW_SIZE], parent[SALI_SHOW_SIZE];
    if (b->scan->status != SAL_OK) {
        return -1;
    }
    int64_t state = sali_name_table_find(&b->states[variable], name->text, name->size);
    if (state < 0) {
        sali_scan_fail(b->scan, name->line, "'%s' is no state of variable '%s'",
                       sali_show(name->text, name->size, shown), shown_name(b, variable, parent));
    }
    return state;
}

/* ---- tables */

void sali_bayes_add_to_scope(sali_bayes *b, int64_t line, int64_t variable)
{
    sali_factor_graph *g = b->g;
    int64_t at = b->scan->status == SAL_OK ? g->scope_begin[g->factors] + b->scope_size : 0;
    if (b->scan->status != SAL_OK) {
        return;
    }
    if (b->last_use[variable] == g->factors + 1) {
        char shown[SALI_SHOW_SIZE];
        sali_scan_fail(b->scan, line, "variable '%s' is twice in a table",
                       shown_name(b, variable, shown));
    }
    if (sali_scan_grow(b->scan, (void **)&g->scope, &b->scope_room, at + 1, sizeof *g->scope)) {
        b->last_use[variable] = g->factors + 1;
        g->scope[at] = (int32_t)variable;
        b->scope_size++;
    }
}

int32_t sali_bayes_child(const sali_bayes *b)
{
    return b->g->scope[b->g->scope_begin[b->g->factors] + b->scope_size - 1];
}

int32_t sali_bayes_child_states(const sali_bayes *b)
{
    return b->g->states[sali_bayes_child(b)];
}

int64_t sali_bayes_close_scope(sali_bayes *b, int64_t line)
{
    sali_factor_graph *g = b->g;
    char shown[SALI_SHOW_SIZE];
    int64_t entries = 1, all = 0;
    int overflow = 0;
    if (b->scan->status != SAL_OK) {
        return 0;
    }
    for (int64_t k = 0; k < b->scope_size; k++) {
        int32_t v = g->scope[g->scope_begin[g->factors] + k];
        overflow |= __builtin_mul_overflow(entries, g->states[v], &entries);
    }
    overflow |= __builtin_add_overflow(g->table_begin[g->factors], entries, &all);
    int32_t child = sali_bayes_child(b);
    if (b->table_of[child]) {
        sali_scan_fail(b->scan, line, "a second table for variable '%s'",
                       shown_name(b, child, shown));
    } else if (overflow) {
        sali_scan_fail(b->scan, line, "the table of variable '%s' would have over 2^63 entries",
                       shown_name(b, child, shown));
    } else if (all > (b->scan->end - b->scan->begin) / 2 + SALI_UNLISTED_MAX) {
        sali_scan_fail(b->scan, line,
                       "the tables up to that of variable '%s' would have %lld entries, far more "
                       "than the file holds",
                       shown_name(b, child, shown), (long long)all);
    }
    return b->scan->status == SAL_OK ? entries : 0;
}

double *sali_bayes_table(sali_bayes *b, int64_t entries)
{
    sali_factor_graph *g = b->g;
    int64_t f = g->factors;
    if (b->scan->status != SAL_OK ||
        !sali_scan_grow(b->scan, (void **)&g->log_table, &b->table_room,
                        g->table_begin[f] + entries, sizeof *g->log_table) ||
        !sali_scan_grow(b->scan, (void **)&g->scope_begin, &b->scope_begin_room, f + 2,
                        sizeof *g->scope_begin) ||
        !sali_scan_grow(b->scan, (void **)&g->table_begin, &b->table_begin_room, f + 2,
                        sizeof *g->table_begin)) {
        return NULL;
    }
    b->table_of[sali_bayes_child(b)] = f + 1;
    g->scope_begin[f + 1] = g->scope_begin[f] + b->scope_size;
    g->table_begin[f + 1] = g->table_begin[f] + entries;
    g->factors = f + 1;
    b->scope_size = 0;
    double *table = g->log_table + g->table_begin[f];
    for (int64_t i = 0; i < entries; i++) {
        table[i] = NAN;
    }
    return table;
}

void sali_bayes_take_row(sali_bayes *b, int64_t line, int64_t f, int64_t row)
{
    const sali_factor_graph *g = b->g;
    char shown[SALI_SHOW_SIZE];
    if (b->scan->status != SAL_OK) {
        return;
    }
    int32_t child = g->scope[g->scope_begin[f + 1] - 1], states = g->states[child];
    double *p = g->log_table + g->table_begin[f] + row * states, sum = 0;
    for (int32_t k = 0; k < states; k++) {
        if (p[k] < 0) {
            sali_scan_fail(b->scan, line,
                           "row %lld of the table of '%s' holds %g; expected no negative number",
                           (long long)(row + 1), shown_name(b, child, shown), p[k]);
        }
        sum += p[k];
    }
    bool rounded = fabs(sum - 1) <= SALI_ROW_ROUNDING;
    bool weights = !rounded && b->weights && sum > 0 && isfinite(sum);
    if (!rounded && !weights) {
        sali_scan_fail(b->scan, line,
                       "row %lld of the table of '%s' sums to %.6g; expected 1, as a row lists the "
                       "probabilities of its states",
                       (long long)(row + 1), shown_name(b, child, shown), sum);
    }
    double scale = fabs(sum - 1) < EXACT_SUM ? 1 : sum;
    b->divided += weights;
    b->rounded += rounded && scale != 1;
    if (rounded && fabs(scale - 1) > fabs(b->worst_sum - 1)) {
        b->worst_sum = scale;
        b->worst_child = child;
    }
    for (int32_t k = 0; k < states; k++) {
        p[k] = p[k] > 0 ? log(p[k] / scale) : -INFINITY;
    }
}

void sali_bayes_take_rows(sali_bayes *b, int64_t line, int64_t f)
{
    const sali_factor_graph *g = b->g;
    if (b->scan->status != SAL_OK) {
        return;
    }
    int64_t entries = g->table_begin[f + 1] - g->table_begin[f];
    int64_t rows = entries / g->states[g->scope[g->scope_begin[f + 1] - 1]];
    for (int64_t row = 0; b->scan->status == SAL_OK && row < rows; row++) {
        sali_bayes_take_row(b, line, f, row);
    }
}

/* ---- the end */

/* Fails if a variable has no table, or is its own ancestor. */
static void check_network(sali_bayes *b)
{
    char shown[SALI_SHOW_SIZE];
    int64_t v = 0;
    while (v < b->g->variables && b->table_of[v]) {
        v++;
    }
    if (b->g->variables == 0) {
        sali_scan_refuse(b->scan, "a network without variables");
    } else if (v < b->g->variables) {
        sali_scan_refuse(b->scan, "variable '%s' has no table of probabilities",
                         shown_name(b, v, shown));
    } else {
        v = -1;
        b->scan->status = sali_factor_graph_cycle(b->g, &v, b->scan->err);
    }
    if (b->scan->status == SAL_OK && v >= 0) {
        sali_scan_refuse(b->scan, "a cycle of parents leads to variable '%s'",
                         shown_name(b, v, shown));
    }
}

void sali_bayes_end(sali_bayes *b)
{
    char shown[SALI_SHOW_SIZE];
    if (b->scan->status == SAL_OK) {
        check_network(b);
    }
    if (b->scan->status == SAL_OK && b->rounded) {
        b->scan->status = sali_remark_add(
            b->remark, fabs(b->worst_sum - 1) > FAIR_SUM, b->scan->err,
            "rows of its tables that sum to 1 only but for rounding are divided by their sums: "
            "%lld, of which one of '%s' is farthest from 1, %.6g",
            (long long)b->rounded, shown_name(b, b->worst_child, shown), b->worst_sum);
    }
    if (b->scan->status == SAL_OK && b->divided) {
        b->scan->status = sali_remark_add(
            b->remark, true, b->scan->err,
            "%lld rows of its tables do not sum to 1; they are taken for weights, and divided by "
            "their sums",
            (long long)b->divided);
    }
    b->g->state_names = SALI_SCAN_ARRAY(b->scan, char **, b->g->variables);
    if (b->scan->status == SAL_OK) {
        b->g->names = sali_name_table_take(&b->variables);
        for (int64_t v = 0; v < b->g->variables; v++) {
            b->g->state_names[v] = sali_name_table_take(&b->states[v]);
        }
    }
}

void sali_bayes_clear(sali_bayes *b)
{
    for (int64_t v = 0; v < b->g->variables; v++) {
        sali_name_table_clear(&b->states[v]);
    }
    sali_name_table_clear(&b->variables);
    sali_free(b->states);
    sali_free(b->last_use);
    sali_free(b->table_of);
}
