/* SPDX-License-Identifier: MIT */
/* A Bayesian network for the tests of formats: rain (2 states) -> wet (3 states) <- wind (2
 * states). */
#ifndef WEATHER_H
#define WEATHER_H

#include <math.h>
#include <string.h>

#include <saltus/saltus.h>

#include "alloc_fail.h"
#include "io/format.h"
#include "test.h"

/* p(rain, wet, wind), from the numbers of the tables. */
static inline double weather_probability(int rain, int wet, int wind)
{
    static const double given[2][2][3] = { { { .7, .2, .1 }, { .3, .3, .4 } },
                                           { { 1, 0, 0 }, { .5, .25, .25 } } };
    return (rain ? .75 : .25) * (wind ? .6 : .4) * given[wind][rain][wet];
}

/* log p of the states x of all variables, by the tables of the graph. */
static inline double weather_log_prob(const sali_factor_graph *g, const int *x)
{
    double f = 0;
    for (int64_t k = 0; k < g->factors; k++) {
        int64_t entry = 0;
        for (int64_t i = g->scope_begin[k]; i < g->scope_begin[k + 1]; i++) {
            entry = entry * g->states[g->scope[i]] + x[g->scope[i]];
        }
        f += g->log_table[g->table_begin[k] + entry];
    }
    return f;
}

/* The graph is this network, its variables in the order rain, wet, wind. */
static inline void weather_check_tables(const sali_factor_graph *g)
{
    ck_assert(g->variables == 3 && g->factors == 3);
    ck_assert(g->states[0] == 2 && g->states[1] == 3 && g->states[2] == 2);
    for (int s = 0; s < 12; s++) {
        const int x[] = { s / 6, s / 2 % 3, s % 2 };
        ck_assert_double_eq_tol(exp(weather_log_prob(g, x)), weather_probability(x[0], x[1], x[2]),
                                1e-15);
    }
}

/* The same, with its names. */
static inline void weather_check(const sali_factor_graph *g)
{
    ck_assert(g->kind == SALI_FACTOR_BAYES);
    weather_check_tables(g);
    ck_assert_str_eq(g->names[0], "rain");
    ck_assert_str_eq(g->names[2], "wind");
    ck_assert_str_eq(g->state_names[1][1], "d&mp");
    ck_assert_str_eq(g->state_names[1][2], "soaked");
}

/* Read a network from memory. */
static inline sal_status weather_parse(const sali_format *format, const char *name,
                                       const void *data, int64_t size, sali_factor_graph *g,
                                       sal_error *err)
{
    sali_content content = { 0 };
    sal_status status = sali_format_parse(format, name, data, size, &content, err);
    if (status == SAL_OK) {
        *g = content.network;
        sali_remark_free(&content.remark);
    }
    return status;
}

/* Write a network. */
static inline sal_status weather_write(const sali_format *format, const char *path,
                                       const sali_factor_graph *g, sal_error *err)
{
    const sali_content content = { .kind = SALI_CONTENT_NETWORK, .network = *g };
    return sali_format_write(format, path, &content, err);
}

/* Read a network from memory and drop it. */
static inline sal_status weather_skim(const sali_format *format, const void *data, int64_t size,
                                      sal_error *err)
{
    sali_factor_graph g = { 0 };
    sal_status status = weather_parse(format, "mem", data, size, &g, err);
    sali_factor_graph_free(&g);
    return status;
}

/* Each of n texts is this network with its names. */
static inline void weather_check_texts(const sali_format *format, const char *const *texts,
                                       size_t n)
{
    for (size_t i = 0; i < n; i++) {
        sal_error err = { 0 };
        sali_factor_graph g = { 0 };
        ck_ok(weather_parse(format, "f", texts[i], (int64_t)strlen(texts[i]), &g, &err), &err);
        weather_check(&g);
        sali_factor_graph_free(&g);
    }
}

/* Failing allocations: reading `text`, writing the network of `other` to `path`, and opening that.
 */
static inline void weather_alloc_sweeps(const sali_format *format, const char *text,
                                        const char *other, const char *path)
{
    sal_error err = { 0 };
    sali_factor_graph g = { 0 };
    sal_model *model = NULL;
    ck_alloc_sweep(weather_skim(format, text, (int64_t)strlen(text), &err), (void)0);
    ck_ok(weather_parse(format, "f", other, (int64_t)strlen(other), &g, &err), &err);
    ck_alloc_sweep(weather_write(format, path, &g, &err), (void)0);
    ck_alloc_sweep(sal_model_open(path, 0, &model, &err), sal_model_destroy(model));
    sali_factor_graph_free(&g);
}

#endif
