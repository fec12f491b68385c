/* Writing networks in the UAI format. */
#include "io/uai.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "io/file.h"
#include "core/number.h"

/* Where the text goes; after the first failure the rest is dropped. */
typedef struct writer {
    sali_output out;
    sal_status status;
    sal_error *err;
} writer;

static void put_text(writer *w, const char *text)
{
    if (w->status == SAL_OK) {
        w->status = sali_output_write(&w->out, text, (int64_t)strlen(text), w->err);
    }
}

/* A number and what follows it. */
static void put_int(writer *w, int64_t value, const char *after)
{
    char text[SALI_NUMBER_SIZE];
    snprintf(text, sizeof text, "%lld", (long long)value);
    put_text(w, text);
    put_text(w, after);
}

static void put_exp(writer *w, double log_value, const char *after)
{
    char text[SALI_NUMBER_SIZE];
    double value = exp(log_value);
    if (!isfinite(value) || (value == 0 && isfinite(log_value))) {
        if (w->status == SAL_OK) {
            w->status = sali_fail(w->err, SAL_ERR_ARGUMENT,
                                  "%s: a table entry has log %g, whose exponential is no positive "
                                  "finite number; subtract a constant from that table",
                                  w->out.path, log_value);
        }
        return;
    }
    if (sali_format_double(value, text) != SAL_OK) {
        w->status = sali_fail_memory(w->err);
    }
    put_text(w, text);
    put_text(w, after);
}

static const char *separator(int64_t i, int64_t n)
{
    return i + 1 == n ? "\n" : " ";
}

static void put_scope(writer *w, const sali_factor_graph *g, int64_t f)
{
    int64_t size = g->scope_begin[f + 1] - g->scope_begin[f];
    put_int(w, size, separator(0, size + 1));
    for (int64_t i = 0; i < size; i++) {
        put_int(w, g->scope[g->scope_begin[f] + i], separator(i, size));
    }
}

static void put_table(writer *w, const sali_factor_graph *g, int64_t f)
{
    int64_t entries = g->table_begin[f + 1] - g->table_begin[f];
    put_int(w, entries, "\n");
    for (int64_t i = 0; i < entries; i++) {
        put_exp(w, g->log_table[g->table_begin[f] + i], separator(i, entries));
    }
}

sal_status sali_uai_write(const char *path, const sali_factor_graph *graph, sal_error *err)
{
    writer w = { .err = err };
    w.status = sali_output_open(path, &w.out, err);
    if (w.status != SAL_OK) {
        return w.status;
    }
    put_text(&w, graph->kind == SALI_FACTOR_BAYES ? "BAYES\n" : "MARKOV\n");
    put_int(&w, graph->variables, "\n");
    for (int64_t v = 0; v < graph->variables; v++) {
        put_int(&w, graph->states[v], separator(v, graph->variables));
    }
    put_int(&w, graph->factors, "\n");
    for (int64_t f = 0; f < graph->factors && w.status == SAL_OK; f++) {
        put_scope(&w, graph, f);
    }
    for (int64_t f = 0; f < graph->factors && w.status == SAL_OK; f++) {
        put_table(&w, graph, f);
    }
    if (w.status == SAL_OK) {
        return sali_output_commit(&w.out, err);
    }
    sali_output_discard(&w.out);
    return w.status;
}
