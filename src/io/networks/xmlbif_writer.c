/* SPDX-License-Identifier: MIT */
/* Writing Bayesian networks as XMLBIF 0.3. */
#include "io/networks/xmlbif.h"

#include "io/networks/bayes.h"

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

/* Write <ELEMENT>name</ELEMENT>. */
static void put_name(sali_text_output *w, const char *element, const char *name)
{
    sali_put(w, "  <%s>%s</%s>\n", element, name, element);
}

static void put_variable(sali_text_output *w, const sali_factor_graph *g, const char *element,
                         int64_t v)
{
    char room[SALI_BAYES_NAME_SIZE];
    put_name(w, element, sali_bayes_variable_name(g, v, room));
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
    char room[SALI_BAYES_NAME_SIZE];
    sali_bayes_check(w, g, "XMLBIF");
    sali_bayes_check_names(w, g, NULL, " or control characters");
    sali_put_raw(w, head);
    for (int64_t v = 0; v < g->variables && w->status == SAL_OK; v++) {
        sali_put_raw(w, "<VARIABLE TYPE=\"nature\">\n");
        put_variable(w, g, "NAME", v);
        for (int32_t k = 0; k < g->states[v]; k++) {
            put_name(w, "OUTCOME", sali_bayes_state_name(g, v, k, room));
        }
        sali_put_raw(w, "</VARIABLE>\n");
    }
    for (int64_t f = 0; f < g->factors && w->status == SAL_OK; f++) {
        put_definition(w, g, f);
    }
    sali_put_raw(w, "</NETWORK>\n</BIF>\n");
}
