/* SPDX-License-Identifier: MIT */
/* Writing Bayesian networks as XMLBIF 0.3. */
#include "io/networks/xmlbif.h"

#include <math.h>
#include <string.h>

#include <libxml/xmlstring.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/text_output.h"

/* Readers that validate want the declarations of the format's author. */
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

static sal_status check_names(const char *path, const sali_factor_graph *g, sal_error *err)
{
    bool good = can_be_names(g->names, g->variables);
    for (int64_t v = 0; good && g->state_names && v < g->variables; v++) {
        good = can_be_names(g->state_names[v], g->states[v]);
    }
    return good ? SAL_OK
                : sali_fail(err, SAL_ERR_ARGUMENT,
                            "%s: a name is empty, is not UTF-8, or has blanks around it or "
                            "control characters; XMLBIF cannot hold it",
                            path);
}

/* Does every row of factor f, over the last variable of its scope, sum to 1? */
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

static sal_status check_factors(const char *path, const sali_factor_graph *g, bool *defined,
                                sal_error *err)
{
    if (g->kind != SALI_FACTOR_BAYES || g->factors != g->variables) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "%s: not a Bayesian network with a table for each variable; XMLBIF "
                         "holds nothing else (write it as .uai)",
                         path);
    }
    for (int64_t f = 0; f < g->factors; f++) {
        bool empty = g->scope_begin[f] == g->scope_begin[f + 1];
        int32_t child = empty ? 0 : g->scope[g->scope_begin[f + 1] - 1];
        if (empty || defined[child] || !rows_sum_to_one(g, f)) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "%s: factor %lld is not the distribution of its last variable: %s",
                             path, (long long)f,
                             empty            ? "it has none"
                             : defined[child] ? "another factor is"
                                              : "a row does not sum to 1");
        }
        defined[child] = true;
    }
    return SAL_OK;
}

static sal_status check_graph(const char *path, const sali_factor_graph *g, sal_error *err)
{
    bool *defined = SALI_NEW_ARRAY(bool, g->variables);
    sal_status status = defined ? check_factors(path, g, defined, err) : sali_fail_memory(err);
    sali_free(defined);
    int64_t v = -1;
    status = status ? status : sali_factor_graph_cycle(g, &v, err);
    if (status == SAL_OK && v >= 0) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "%s: a cycle of parents leads to variable %lld",
                         path, (long long)v);
    }
    return status ? status : check_names(path, g, err);
}

/* ---- writing */

/* <ELEMENT>name</ELEMENT>, or the letter and the number of what has no name. */
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

sal_status sali_xmlbif_write(const char *path, const sali_factor_graph *graph, sal_error *err)
{
    sal_status status = check_graph(path, graph, err);
    if (status != SAL_OK) {
        return status;
    }
    sali_text_output w;
    sali_text_open(&w, path, true, err);
    sali_put_raw(&w, head);
    for (int64_t v = 0; v < graph->variables && w.status == SAL_OK; v++) {
        sali_put_raw(&w, "<VARIABLE TYPE=\"nature\">\n");
        put_variable(&w, graph, "NAME", v);
        char *const *names = graph->state_names ? graph->state_names[v] : NULL;
        for (int32_t k = 0; k < graph->states[v]; k++) {
            put_name(&w, "OUTCOME", names ? names[k] : NULL, 's', k);
        }
        sali_put_raw(&w, "</VARIABLE>\n");
    }
    for (int64_t f = 0; f < graph->factors && w.status == SAL_OK; f++) {
        put_definition(&w, graph, f);
    }
    sali_put_raw(&w, "</NETWORK>\n</BIF>\n");
    return sali_text_close(&w);
}
