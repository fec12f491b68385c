/* SPDX-License-Identifier: MIT */
/* What is checked before a Bayesian network is written, and its names. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <libxml/xmlstring.h>

#include "core/alloc.h"
#include "io/networks/bayes.h"

/* ---- names */

/* `name`, or if it is NULL letter and number. */
static const char *name_or_number(const char *name, char letter, int64_t number,
                                  char room[SALI_BAYES_NAME_SIZE])
{
    if (!name) {
        snprintf(room, SALI_BAYES_NAME_SIZE, "%c%lld", letter, (long long)number);
    }
    return name ? name : room;
}

const char *sali_bayes_variable_name(const sali_factor_graph *g, int64_t v,
                                     char room[SALI_BAYES_NAME_SIZE])
{
    return name_or_number(g->names ? g->names[v] : NULL, 'x', v, room);
}

const char *sali_bayes_state_name(const sali_factor_graph *g, int64_t v, int64_t k,
                                  char room[SALI_BAYES_NAME_SIZE])
{
    char *const *names = g->state_names ? g->state_names[v] : NULL;
    return name_or_number(names ? names[k] : NULL, 's', k, room);
}

bool sali_bayes_is_name(const char *name)
{
    bool good =
        xmlCheckUTF8(BAD_CAST name) && *name && *name != ' ' && name[strlen(name) - 1] != ' ';
    for (const char *c = name; good && *c; c++) {
        good = (unsigned char)*c >= ' ' && *c != 127;
    }
    return good;
}

void sali_bayes_check_names(sali_text_output *w, const sali_factor_graph *g,
                            bool (*fits)(const char *name), const char *cannot)
{
    char room[SALI_BAYES_NAME_SIZE];
    const char *name = NULL;
    bool good = true;
    for (int64_t v = 0; good && v < g->variables; v++) {
        name = sali_bayes_variable_name(g, v, room);
        good = sali_bayes_is_name(name) && (!fits || fits(name));
        for (int64_t k = 0; good && k < g->states[v]; k++) {
            name = sali_bayes_state_name(g, v, k, room);
            good = sali_bayes_is_name(name) && (!fits || fits(name));
        }
    }
    if (!good) {
        char shown[SALI_SHOW_SIZE];
        sali_text_fail(w, SAL_ERR_ARGUMENT,
                       "the name '%s' is empty, is not UTF-8, or has blanks around it%s, which "
                       "this format cannot hold",
                       sali_show(name, -1, shown), cannot);
    }
}

/* ---- tables */

/* Whether every row of factor f, over the last variable of its scope, sums to 1. */
static bool rows_sum_to_one(const sali_factor_graph *g, int64_t f)
{
    int32_t states = g->states[g->scope[g->scope_begin[f + 1] - 1]];
    for (int64_t i = g->table_begin[f]; i < g->table_begin[f + 1]; i += states) {
        double sum = 0;
        for (int32_t k = 0; k < states; k++) {
            sum += exp(g->log_table[i + k]);
        }
        if (!(fabs(sum - 1) <= SALI_ROW_ROUNDING)) {
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

void sali_bayes_check(sali_text_output *w, const sali_factor_graph *g, const char *format)
{
    int64_t v = -1;
    if (g->kind != SALI_FACTOR_BAYES || g->factors != g->variables) {
        sali_text_fail(w, SAL_ERR_ARGUMENT,
                       "not a Bayesian network with a table for each variable; %s holds nothing "
                       "else (write it as .uai or .fg)",
                       format);
        return;
    }
    check_factors(w, g);
    w->status = w->status ? w->status : sali_factor_graph_cycle(g, &v, w->err);
    if (v >= 0) {
        sali_text_fail(w, SAL_ERR_ARGUMENT, "a cycle of parents leads to variable %lld",
                       (long long)v);
    }
}
