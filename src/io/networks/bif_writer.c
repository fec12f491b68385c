/* SPDX-License-Identifier: MIT */
/* Writing Bayesian networks in the Interchange Format as bnlearn writes and reads it: names without
 * quotes where they can do without, a row for each states of the parents. */
#include <string.h>

#include "io/networks/bayes.h"
#include "io/networks/bif.h"

/* Whether the format can hold a name, if need be in quotes. */
static bool fits(const char *name)
{
    return !strchr(name, '"');
}

/* Write a name, in quotes if it has characters that separate names or begin a comment. */
static void put_name(sali_text_output *w, const char *name, const char *after)
{
    bool plain = !strpbrk(name, SALI_BIF_MARKS) && !strstr(name, "//") && !strstr(name, "/*");
    sali_put(w, "%s%s%s%s", plain ? "" : "\"", name, plain ? "" : "\"", after);
}

static void put_variable(sali_text_output *w, const sali_factor_graph *g, int64_t v,
                         const char *after)
{
    char room[SALI_BAYES_NAME_SIZE];
    put_name(w, sali_bayes_variable_name(g, v, room), after);
}

static void put_state(sali_text_output *w, const sali_factor_graph *g, int64_t v, int64_t k,
                      const char *after)
{
    char room[SALI_BAYES_NAME_SIZE];
    put_name(w, sali_bayes_state_name(g, v, k, room), after);
}

/* Write the block of variable v. */
static void put_block(sali_text_output *w, const sali_factor_graph *g, int64_t v)
{
    int32_t states = g->states[v];
    sali_put_raw(w, "variable ");
    put_variable(w, g, v, " {\n");
    sali_put(w, "  type discrete [ %d ] { ", states);
    for (int32_t k = 0; k < states; k++) {
        put_state(w, g, v, k, k + 1 < states ? ", " : " };\n}\n");
    }
}

/* Write the states of the parents of factor f that name its row `row`. */
static void put_configuration(sali_text_output *w, const sali_factor_graph *g, int64_t f,
                              int64_t row)
{
    int64_t last = g->scope_begin[f + 1] - 1;
    int64_t rest = (g->table_begin[f + 1] - g->table_begin[f]) / g->states[g->scope[last]];
    sali_put_raw(w, "  (");
    for (int64_t k = g->scope_begin[f]; k < last; k++) {
        rest /= g->states[g->scope[k]];
        put_state(w, g, g->scope[k], row / rest % g->states[g->scope[k]],
                  k + 1 < last ? ", " : ") ");
    }
}

/* Write factor f: a table without parents, or rows. */
static void put_table(sali_text_output *w, const sali_factor_graph *g, int64_t f)
{
    int64_t last = g->scope_begin[f + 1] - 1, first = g->scope_begin[f];
    int32_t states = g->states[g->scope[last]];
    sali_put_raw(w, "probability ( ");
    put_variable(w, g, g->scope[last], first < last ? " | " : " ) {\n");
    for (int64_t k = first; k < last; k++) {
        put_variable(w, g, g->scope[k], k + 1 < last ? ", " : " ) {\n");
    }
    int64_t entries = g->table_begin[f + 1] - g->table_begin[f];
    for (int64_t i = 0; i < entries && w->status == SAL_OK; i++) {
        if (i % states == 0 && first < last) {
            put_configuration(w, g, f, i / states);
        } else if (i == 0) {
            sali_put_raw(w, "  table ");
        }
        sali_put_exp(w, g->log_table[g->table_begin[f] + i],
                     i % states + 1 < states ? ", " : ";\n");
    }
    sali_put_raw(w, "}\n");
}

void sali_bif_write(sali_text_output *w, const sali_content *content)
{
    const sali_factor_graph *g = &content->network;
    sali_bayes_check(w, g, "BIF");
    sali_bayes_check_names(w, g, fits, ", control characters or double quotes");
    sali_put_raw(w, "network unknown {\n}\n");
    for (int64_t v = 0; v < g->variables && w->status == SAL_OK; v++) {
        put_block(w, g, v);
    }
    for (int64_t f = 0; f < g->factors && w->status == SAL_OK; f++) {
        put_table(w, g, f);
    }
}
