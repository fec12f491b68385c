/* SPDX-License-Identifier: MIT */
/* The order in which the tables of a Bayesian network list their entries. In the format, the last
 * variable of a scope, the child, changes fastest. pgmpy writes the first variable fastest and the
 * child slowest. Other programs write the child first in its scope, changing slowest. Two facts
 * distinguish the orders: the sums over the child's states are 1, and each variable is the child of
 * one table. */
#include <math.h>
#include <stdio.h>

#include "core/alloc.h"
#include "io/networks/bayes.h"
#include "io/networks/uai.h"

/* If the sums are within the rounding in both orders, the order of pgmpy is chosen where its sums
 * are closer to 1 by this factor. */
#define MUCH_CLOSER 10
/* Sums that differ from 1 by no more than this are as good as exact. */
#define EXACT 1e-6

/* The position of the child in a scope, and how fast it changes among the entries. */
typedef struct order {
    bool child_first;   /* of its scope; else last */
    bool child_fastest; /* else slowest */
} order;

static const order FORMAT = { false, true }, PGMPY = { false, false },
                   CHILD_FIRST = { true, false };

/* How well the tables fit one order. */
typedef struct order_fit {
    double worst;     /* the largest distance of a sum over a child's states from 1 */
    int64_t factor;   /* the first factor with a sum that is too far from 1; -1: none */
    double sum;       /* its sum */
    int64_t variable; /* the first variable that is not the child of exactly one table; -1: none */
    int64_t tables;   /* the number of tables of which it is the child */
} order_fit;

/* Whether the tables fit the order. */
static bool order_holds(const order_fit *found)
{
    return found->factor < 0 && found->variable < 0;
}

/* The child of factor f, whose scope is not empty. */
static int32_t child_of(const sali_factor_graph *g, int64_t f, order o)
{
    return g->scope[o.child_first ? g->scope_begin[f] : g->scope_begin[f + 1] - 1];
}

static bool is_empty(const sali_factor_graph *g, int64_t f)
{
    return g->scope_begin[f + 1] == g->scope_begin[f];
}

/* The number of the child's states; 1 for an empty scope. */
static int64_t child_states(const sali_factor_graph *g, int64_t f, order o)
{
    return is_empty(g, f) ? 1 : g->states[child_of(g, f, o)];
}

/* Measure the sums over the child's states in all tables. The order of the parents does not
 * matter. */
static void measure_sums(const sali_factor_graph *g, order o, order_fit *found)
{
    for (int64_t f = 0; f < g->factors; f++) {
        const double *log_table = g->log_table + g->table_begin[f];
        int64_t states = child_states(g, f, o);
        int64_t rows = (g->table_begin[f + 1] - g->table_begin[f]) / states;
        int64_t stride = o.child_fastest ? 1 : rows, step = o.child_fastest ? states : 1;
        for (int64_t r = 0; r < rows; r++) {
            double sum = 0;
            for (int64_t k = 0; k < states; k++) {
                sum += exp(log_table[r * step + k * stride]);
            }
            double distance = fabs(sum - 1);
            found->worst = fmax(found->worst, distance);
            if (found->factor < 0 && !(distance <= SALI_ROW_ROUNDING)) {
                found->factor = f;
                found->sum = sum;
            }
        }
    }
}

/* Find the first variable that is not the child of exactly one table. */
static void count_children(sali_scan *scan, const sali_factor_graph *g, order o, order_fit *found)
{
    int64_t *tables = SALI_SCAN_ARRAY(scan, int64_t, g->variables);
    for (int64_t f = 0; tables && f < g->factors; f++) {
        if (!is_empty(g, f)) {
            tables[child_of(g, f, o)]++;
        }
    }
    for (int64_t v = 0; tables && found->variable < 0 && v < g->variables; v++) {
        if (tables[v] != 1) {
            found->variable = v;
            found->tables = tables[v];
        }
    }
    sali_free(tables);
}

static order_fit measure_fit(sali_scan *scan, const sali_factor_graph *g, order o)
{
    order_fit found = { .factor = -1, .variable = -1 };
    measure_sums(g, o, &found);
    count_children(scan, g, o, &found);
    return found;
}

/* Rearrange the table of factor f, whose first variable changes fastest, so that the last one does.
 * `scratch` has room for the table. */
static void reverse_table(sali_factor_graph *g, int64_t f, double *scratch)
{
    double *log_table = g->log_table + g->table_begin[f];
    int64_t entries = g->table_begin[f + 1] - g->table_begin[f];
    for (int64_t i = 0; i < entries; i++) {
        int64_t rest = i, to = 0;
        for (int64_t k = g->scope_begin[f]; k < g->scope_begin[f + 1]; k++) {
            int32_t states = g->states[g->scope[k]];
            to = to * states + rest % states;
            rest /= states;
        }
        scratch[to] = log_table[i];
    }
    for (int64_t i = 0; i < entries; i++) {
        log_table[i] = scratch[i];
    }
}

/* Put the child of factor f, which is first in its scope and changes slowest, last, where it
 * changes fastest. `scratch` has room for the table. */
static void move_child(sali_factor_graph *g, int64_t f, double *scratch)
{
    double *log_table = g->log_table + g->table_begin[f];
    int64_t entries = g->table_begin[f + 1] - g->table_begin[f];
    if (is_empty(g, f)) {
        return;
    }
    int32_t child = g->scope[g->scope_begin[f]];
    int64_t states = g->states[child], rows = entries / states;
    for (int64_t i = 0; i < entries; i++) {
        scratch[i % rows * states + i / rows] = log_table[i];
    }
    for (int64_t i = 0; i < entries; i++) {
        log_table[i] = scratch[i];
    }
    for (int64_t k = g->scope_begin[f] + 1; k < g->scope_begin[f + 1]; k++) {
        g->scope[k - 1] = g->scope[k];
    }
    g->scope[g->scope_begin[f + 1] - 1] = child;
}

/* Bring each table into the order of the format by `change`, and add the remark `why`. */
static void change_tables(sali_scan *scan, sali_factor_graph *g,
                          void (*change)(sali_factor_graph *g, int64_t f, double *scratch),
                          sali_remark *remark, const char *why)
{
    int64_t most = 1;
    for (int64_t f = 0; f < g->factors; f++) {
        int64_t entries = g->table_begin[f + 1] - g->table_begin[f];
        most = entries > most ? entries : most;
    }
    double *scratch = SALI_SCAN_ARRAY(scan, double, most);
    for (int64_t f = 0; scratch && f < g->factors; f++) {
        change(g, f, scratch);
    }
    sali_free(scratch);
    if (scan->status == SAL_OK) {
        scan->status = sali_remark_add(remark, true, scan->err, "%s", why);
    }
}

#define WRITE_MARKOV "If the tables are factors of a product, write MARKOV for BAYES"

/* Fail with an error about the table in which a sum is not 1. */
static void fail_sum(sali_scan *scan, const sali_factor_graph *g, const order_fit *found,
                     bool logarithms)
{
    int64_t f = found->factor;
    char child[48] = "without variables";
    if (!is_empty(g, f)) {
        snprintf(child, sizeof child, "of variable %d", child_of(g, f, FORMAT));
    }
    sali_scan_refuse(
        scan,
        "table %lld, %s: a row sums to %.6g%s; in a BAYES network the probabilities of "
        "the last variable of each scope sum to 1, for each state of the others. "
        "%s" WRITE_MARKOV,
        (long long)(f + 1), child, found->sum,
        logarithms ? " (the entries are read as natural logarithms because of the "
                     "file's name)"
                   : "",
        logarithms ? "If the entries are probabilities, call the file NAME.uai. " : "");
}

/* Fail with an error about the variable that is not the child of exactly one table. */
static void fail_children(sali_scan *scan, const sali_factor_graph *g, const order_fit *found)
{
    int64_t tables[2] = { 0 }, n = 0;
    for (int64_t f = 0; n < 2 && f < g->factors; f++) {
        if (!is_empty(g, f) && child_of(g, f, FORMAT) == found->variable) {
            tables[n++] = f + 1;
        }
    }
    char which[64] = "of no table";
    if (n == 2) {
        snprintf(which, sizeof which, "of table %lld and of table %lld", (long long)tables[0],
                 (long long)tables[1]);
    }
    sali_scan_refuse(
        scan,
        "variable %lld is the last of the scope %s; in a BAYES network each variable "
        "is the last of the scope of one table, that of its probabilities. " WRITE_MARKOV,
        (long long)found->variable, which);
}

void sali_uai_settle_order(sali_scan *scan, sali_factor_graph *g, bool logarithms,
                           sali_remark *remark)
{
    order_fit format = measure_fit(scan, g, FORMAT), pgmpy = measure_fit(scan, g, PGMPY);
    order_fit first = measure_fit(scan, g, CHILD_FIRST);
    bool closer = format.worst > MUCH_CLOSER * fmax(pgmpy.worst, EXACT);
    if (scan->status != SAL_OK) {
        return;
    }
    if (order_holds(&pgmpy) && (!order_holds(&format) || closer)) {
        change_tables(scan, g, reverse_table, remark,
                      "its tables are read with the first variable of each scope fastest and the "
                      "child slowest, as pgmpy writes them, because their rows do not sum to 1 in "
                      "the order of the format");
    } else if (!order_holds(&format) && order_holds(&first)) {
        change_tables(scan, g, move_child, remark,
                      "its tables are read with the child first in each scope, not last as in the "
                      "format, because each variable is first once and its probabilities sum to 1");
    } else if (format.factor >= 0) {
        fail_sum(scan, g, &format, logarithms);
    } else if (format.variable >= 0) {
        fail_children(scan, g, &format);
    }
}
