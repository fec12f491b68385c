/* SPDX-License-Identifier: MIT */
/* In which order the tables of a Bayesian network list their entries. In the format the last
 * variable of a scope, the child, changes fastest. pgmpy writes the first variable fastest and the
 * child slowest. The sums over the child's states tell the two orders apart. */
#include <math.h>
#include <stdio.h>

#include "core/alloc.h"
#include "io/networks/uai.h"
#include "io/networks/xmlbif.h"

/* If the sums are within the rounding in both orders, that of pgmpy is taken where its sums are
 * closer to 1 by this factor. */
#define MUCH_CLOSER 10
/* Sums that differ from 1 by no more than this are as good as exact. */
#define EXACT 1e-6

/* How the sums over the child's states fit in one order. */
typedef struct fit {
    double worst;   /* the largest distance of a sum from 1 */
    int64_t factor; /* the first factor with a sum that is too far from 1; -1: none */
    double sum;     /* that sum */
} fit;

/* The number of the child's states; 1 for an empty scope. */
static int64_t child_states(const sali_factor_graph *g, int64_t f)
{
    int64_t end = g->scope_begin[f + 1];
    return end > g->scope_begin[f] ? g->states[g->scope[end - 1]] : 1;
}

/* How the sums of all tables fit if the child changes fastest, as in the format, or if it changes
 * slowest. The order of the parents does not matter to the sums. */
static fit measure(const sali_factor_graph *g, bool child_fastest)
{
    fit found = { .factor = -1 };
    for (int64_t f = 0; f < g->factors; f++) {
        const double *log_table = g->log_table + g->table_begin[f];
        int64_t states = child_states(g, f);
        int64_t rows = (g->table_begin[f + 1] - g->table_begin[f]) / states;
        int64_t stride = child_fastest ? 1 : rows, step = child_fastest ? states : 1;
        for (int64_t r = 0; r < rows; r++) {
            double sum = 0;
            for (int64_t k = 0; k < states; k++) {
                sum += exp(log_table[r * step + k * stride]);
            }
            double distance = fabs(sum - 1);
            found.worst = fmax(found.worst, distance);
            if (found.factor < 0 && !(distance <= SALI_XMLBIF_ROUNDING)) {
                found.factor = f;
                found.sum = sum;
            }
        }
    }
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

static void reverse_tables(sali_scan *scan, sali_factor_graph *g)
{
    int64_t most = 1;
    for (int64_t f = 0; f < g->factors; f++) {
        int64_t entries = g->table_begin[f + 1] - g->table_begin[f];
        most = entries > most ? entries : most;
    }
    double *scratch = SALI_SCAN_ARRAY(scan, double, most);
    for (int64_t f = 0; scratch && f < g->factors; f++) {
        reverse_table(g, f, scratch);
    }
    sali_free(scratch);
}

/* The error of a network whose tables sum to 1 in neither order. */
static void fail_sum(sali_scan *scan, const sali_factor_graph *g, const fit *found)
{
    int64_t f = found->factor, end = g->scope_begin[f + 1];
    bool empty = end == g->scope_begin[f];
    char child[48] = "without variables";
    if (!empty) {
        snprintf(child, sizeof child, "of variable %d", g->scope[end - 1]);
    }
    sali_scan_refuse(scan,
                     "table %lld, %s: a row sums to %.6g; in a BAYES network the probabilities of "
                     "the last variable of each scope sum to 1, for each state of the others. If "
                     "the tables are factors of a product, write MARKOV for BAYES",
                     (long long)(f + 1), child, found->sum);
}

void sali_uai_settle_order(sali_scan *scan, sali_factor_graph *g, sali_remark *remark)
{
    fit format = measure(g, true), reverse = measure(g, false);
    bool closer = format.worst > MUCH_CLOSER * fmax(reverse.worst, EXACT);
    if (reverse.factor < 0 && (format.factor >= 0 || closer)) {
        reverse_tables(scan, g);
        if (scan->status == SAL_OK) {
            scan->status = sali_remark_add(
                remark, true, scan->err,
                "its tables are read with the first variable of each scope fastest and the child "
                "slowest, as pgmpy writes them, because their rows do not sum to 1 in the order of "
                "the format");
        }
    } else if (format.factor >= 0) {
        fail_sum(scan, g, &format);
    }
}
