/* SPDX-License-Identifier: MIT */
/* Writing Bayesian networks in the NET language of Hugin. */
#include "io/networks/hugin.h"

#include <string.h>

#include "core/alloc.h"
#include "core/name_table.h"
#include "io/networks/bayes.h"

/* ---- names */

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

char *sali_hugin_identifier(const char *name)
{
    size_t size = strlen(name), at = 0;
    char *identifier = SALI_NEW_ARRAY(char, (int64_t)size + 2);
    if (identifier && !is_letter(*name)) {
        identifier[at++] = 'x';
    }
    for (size_t k = 0; identifier && k < size; k++) {
        bool kept = is_letter(name[k]) || (name[k] >= '0' && name[k] <= '9');
        identifier[at++] = kept ? name[k] : '_';
    }
    return identifier;
}

/* Whether a text in quotes can hold a name. */
static bool fits(const char *name)
{
    return !strpbrk(name, "\"\\");
}

/* Add the identifiers of all variables to `identifiers`; fails if two are equal. */
static void make_identifiers(sali_text_output *w, const sali_factor_graph *g,
                             sali_name_table *identifiers)
{
    char room[SALI_BAYES_NAME_SIZE];
    for (int64_t v = 0; w->status == SAL_OK && v < g->variables; v++) {
        char *name = sali_hugin_identifier(sali_bayes_variable_name(g, v, room));
        int64_t number = name ? sali_name_table_put(identifiers, name, (int64_t)strlen(name)) : -1;
        if (sali_text_granted(w, number >= 0) && number < v) {
            char shown[2][SALI_SHOW_SIZE], other[SALI_BAYES_NAME_SIZE];
            sali_text_fail(w, SAL_ERR_ARGUMENT,
                           "variables '%s' and '%s' would both be node %s, as this format allows "
                           "letters, digits and _; rename one, or write .bif or .xmlbif",
                           sali_show(sali_bayes_variable_name(g, number, other), -1, shown[0]),
                           sali_show(sali_bayes_variable_name(g, v, room), -1, shown[1]), name);
        }
        sali_free(name);
    }
}

/* ---- blocks */

/* Write the node of variable v. */
static void put_node(sali_text_output *w, const sali_factor_graph *g, char *const *identifiers,
                     int64_t v)
{
    char room[SALI_BAYES_NAME_SIZE];
    const char *name = sali_bayes_variable_name(g, v, room);
    sali_put(w, "node %s\n{\n", identifiers[v]);
    if (strcmp(name, identifiers[v]) != 0) {
        sali_put(w, "  label = \"%s\";\n", name);
    }
    sali_put_raw(w, "  states = (");
    for (int32_t k = 0; k < g->states[v]; k++) {
        sali_put(w, "\"%s\"%s", sali_bayes_state_name(g, v, k, room),
                 k + 1 < g->states[v] ? " " : ");\n}\n");
    }
}

/* Put the brackets that open before entry i of the table of factor f, or that close behind it. */
static void put_brackets(sali_text_output *w, const sali_factor_graph *g, int64_t f, int64_t i,
                         const char *bracket)
{
    int64_t size = 1;
    for (int64_t k = g->scope_begin[f + 1] - 1; k >= g->scope_begin[f]; k--) {
        size *= g->states[g->scope[k]];
        if (i % size == 0) {
            sali_put_raw(w, bracket);
        }
    }
}

/* Write factor f as the potential of the last variable of its scope. */
static void put_potential(sali_text_output *w, const sali_factor_graph *g, char *const *identifiers,
                          int64_t f)
{
    int64_t last = g->scope_begin[f + 1] - 1, first = g->scope_begin[f];
    int64_t begin = g->table_begin[f], entries = g->table_begin[f + 1] - begin;
    int32_t states = g->states[g->scope[last]];
    sali_put(w, "potential ( %s %s", identifiers[g->scope[last]], first < last ? "| " : "");
    for (int64_t k = first; k < last; k++) {
        sali_put(w, "%s ", identifiers[g->scope[k]]);
    }
    sali_put_raw(w, ")\n{\n  data = ");
    for (int64_t i = 0; i < entries && w->status == SAL_OK; i++) {
        put_brackets(w, g, f, i, "(");
        sali_put_exp(w, g->log_table[begin + i], (i + 1) % states ? " " : "");
        put_brackets(w, g, f, i + 1, ")");
        if (i + 1 < entries && (i + 1) % states == 0) {
            sali_put_raw(w, "\n          ");
        }
    }
    sali_put_raw(w, ";\n}\n");
}

void sali_hugin_write(sali_text_output *w, const sali_content *content)
{
    const sali_factor_graph *g = &content->network;
    sali_name_table identifiers = { 0 };
    sali_bayes_check(w, g, "Hugin's NET");
    sali_bayes_check_names(w, g, fits, ", control characters, double quotes or backslashes");
    make_identifiers(w, g, &identifiers);
    sali_put_raw(w, "net\n{\n}\n");
    for (int64_t v = 0; v < g->variables && w->status == SAL_OK; v++) {
        put_node(w, g, identifiers.names, v);
    }
    for (int64_t f = 0; f < g->factors && w->status == SAL_OK; f++) {
        put_potential(w, g, identifiers.names, f);
    }
    sali_name_table_clear(&identifiers);
}
