/* SPDX-License-Identifier: MIT */
/* Writing Bayesian networks as XMLBIF 0.3. */
#include "io/networks/xmlbif.h"

#include <math.h>
#include <string.h>

#include <libxml/xmlstring.h>

#include "core/alloc.h"

/* Validating readers need the declarations of the format's author. */
static const char head[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                           "<!DOCTYPE BIF [\n"
                           "\t<!ELEMENT BIF ( NETWORK )*>\n"
                           "\t<!ATTLIST BIF VERSION CDATA #REQUIRED>\n"
                           "\t<!ELEMENT NETWORK ( NAME, ( PROPERTY | VARIABLE | DEFINITION )* )>\n"
                           "\t<!ELEMENT NAME (#PCDATA)>\n"
                           "\t<!ELEMENT VARIABLE ( NAME, ( OUTCOME | PROPERTY )* )>\n"
                           "\t<!ATTLIST VARIABLE TYPE (nature|decision|utility) \"nature\">\n"
                           "\t<!ELEMENT OUTCOME (#PCDATA)>\n"
                           "\t<!ELEMENT DEFINITION ( FOR | GIVEN | TABLE | PROPERTY )*>\n"
                           "\t<!ELEMENT FOR (#PCDATA)>\n"
                           "\t<!ELEMENT GIVEN (#PCDATA)>\n"
                           "\t<!ELEMENT TABLE (#PCDATA)>\n"
                           "\t<!ELEMENT PROPERTY (#PCDATA)>\n"
                           "]>\n"
                           "<BIF VERSION=\"0.3\">\n"
                           "<NETWORK>\n"
                           "<NAME>network</NAME>\n";

/* ---- what the format can say */

/* Whether a name is UTF-8, not empty, without control characters and without blanks around it. */
static bool can_be_name(const char *name)
{
    bool good =
        xmlCheckUTF8(BAD_CAST name) && *name && *name != ' ' && name[strlen(name) - 1] != ' ';
    for (const char *c = name; good && *c; c++) {
        good = (unsigned char)*c >= ' ' && *c != 127;
    }
    return good;
}

static bool can_be_names(char *const *names, int64_t n)
{
    bool good = true;
    for (int64_t k = 0; good && names && k < n; k++) {
        good = can_be_name(names[k]);
    }
    return good;
}

/* Fails if the name of a variable or state cannot be written. */
static void check_names(sali_text_output *w, const sali_factor_graph *g)
{
    bool good = can_be_names(g->names, g->variables);
    for (int64_t v = 0; good && g->state_names && v < g->variables; v++) {
        good = can_be_names(g->state_names[v], g->states[v]);
    }
    if (!good) {
        sali_text_fail(w, SAL_ERR_ARGUMENT,
                       "a name is empty, is not UTF-8, or has blanks around it or control "
                       "characters; XMLBIF cannot hold it");
    }
}

/* Whether every row of factor f, over the last variable of its scope, sums to 1. */
static bool rows_sum_to_one(const sali_factor_graph *g, int64_t f)
{
    int32_t states = g->states[g->scope[g->scope_begin[f + 1] - 1]];
    for (int64_t i = g->table_begin[f]; i < g->table_begin[f + 1]; i += states) {
        double sum = 0;
        for (int32_t k = 0; k < states; k++) {
            sum += exp(g->log_table[i + k]);
        }
        if (!(fabs(sum - 1) <= SALI_XMLBIF_ROUNDING)) {
            return false;
        }
    }
    return true;
}

/* Fails unless each factor is the conditional distribution of the last variable of its scope, and
 * no two have the same child. */
static void check_factors(sali_text_output *w, const sali_factor_graph *g)
{
    bool *defined = SALI_NEW_ARRAY(bool, g->variables);
    for (int64_t f = 0; sali_text_granted(w, defined) && f < g->factors; f++) {
        bool empty = g->scope_begin[f] == g->scope_begin[f + 1];
        int32_t child = empty ? 0 : g->scope[g->scope_begin[f + 1] - 1];
        if (empty || defined[child] || !rows_sum_to_one(g, f)) {
            sali_text_fail(w, SAL_ERR_ARGUMENT,
                           "factor %lld is not the distribution of its last variable: %s",
                           (long long)f,
                           empty            ? "it has none"
                           : defined[child] ? "another factor is"
                                            : "a row does not sum to 1");
        }
        defined[child] = true;
    }
    sali_free(defined);
}

/* Fails unless the network is Bayesian, acyclic, and has names that can be written. */
static void check_graph(sali_text_output *w, const sali_factor_graph *g)
{
    int64_t v = -1;
    if (g->kind != SALI_FACTOR_BAYES || g->factors != g->variables) {
        sali_text_fail(w, SAL_ERR_ARGUMENT,
                       "not a Bayesian network with a table for each variable; XMLBIF holds "
                       "nothing else (write it as .uai)");
        return;
    }
    check_factors(w, g);
    w->status = w->status ? w->status : sali_factor_graph_cycle(g, &v, w->err);
    if (v >= 0) {
        sali_text_fail(w, SAL_ERR_ARGUMENT, "a cycle of parents leads to variable %lld",
                       (long long)v);
    }
    check_names(w, g);
}

/* ---- writing */

/* Write <ELEMENT>name</ELEMENT>; if `name` is NULL, letter and number take its place. */
static void put_name(sali_text_output *w, const char *element, const char *name, char letter,
                     int64_t number)
{
    if (name) {
        sali_put(w, "  <%s>%s</%s>\n", element, name, element);
    } else {
        sali_put(w, "  <%s>%c%lld</%s>\n", element, letter, (long long)number, element);
    }
}

static void put_variable(sali_text_output *w, const sali_factor_graph *g, const char *element,
                         int64_t v)
{
    put_name(w, element, g->names ? g->names[v] : NULL, 'x', v);
}

/* Write factor f as a DEFINITION; the child, last in its scope, is FOR. */
static void put_definition(sali_text_output *w, const sali_factor_graph *g, int64_t f)
{
    int64_t last = g->scope_begin[f + 1] - 1;
    int32_t states = g->states[g->scope[last]];
    sali_put_raw(w, "<DEFINITION>\n");
    put_variable(w, g, "FOR", g->scope[last]);
    for (int64_t k = g->scope_begin[f]; k < last; k++) {
        put_variable(w, g, "GIVEN", g->scope[k]);
    }
    sali_put_raw(w, "  <TABLE>\n");
    for (int64_t i = g->table_begin[f]; i < g->table_begin[f + 1] && w->status == SAL_OK; i++) {
        sali_put_exp(w, g->log_table[i], sali_separator((i - g->table_begin[f]) % states, states));
    }
    sali_put_raw(w, "  </TABLE>\n</DEFINITION>\n");
}

void sali_xmlbif_write(sali_text_output *w, const sali_content *content)
{
    const sali_factor_graph *g = &content->network;
    check_graph(w, g);
    sali_put_raw(w, head);
    for (int64_t v = 0; v < g->variables && w->status == SAL_OK; v++) {
        sali_put_raw(w, "<VARIABLE TYPE=\"nature\">\n");
        put_variable(w, g, "NAME", v);
        char *const *names = g->state_names ? g->state_names[v] : NULL;
        for (int32_t k = 0; k < g->states[v]; k++) {
            put_name(w, "OUTCOME", names ? names[k] : NULL, 's', k);
        }
        sali_put_raw(w, "</VARIABLE>\n");
    }
    for (int64_t f = 0; f < g->factors && w->status == SAL_OK; f++) {
        put_definition(w, g, f);
    }
    sali_put_raw(w, "</NETWORK>\n</BIF>\n");
}
