/* SPDX-License-Identifier: MIT */
/* Balancing functions g(t) = t g(1/t) of locally balanced proposals, q(s -> s') proportional to
 * g(pi(s') / pi(s)) (Zanella 2020; in Grathwohl et al. 2021, sec. 3, and Sansone 2022, eq. 2). All
 * is in logarithms, because t overflows. */
#ifndef SALI_BALANCE_H
#define SALI_BALANCE_H

#include <saltus/ad.h>

/* Computes log g of n numbers log t; both arrays are of the model's type and do not overlap. log g
 * must be -inf where log t is -inf: a forbidden move is never proposed. NaN stays NaN. */
typedef void sali_log_g(const void *context, int64_t n, const void *log_t, void *log_g);

/* One function g, ready-made or learned. */
typedef struct sali_balance {
    sali_log_g *log_g;
    const void *context;
} sali_balance;

/* The ready-made functions g, in the order of sali_balance_names. */
enum {
    SALI_BALANCE_SQRT,   /* sqrt(t) */
    SALI_BALANCE_BARKER, /* t / (1 + t) */
    SALI_BALANCE_MIN,    /* min(1, t) */
    SALI_BALANCE_MAX,    /* max(1, t) */
    SALI_BALANCES
};

extern const char *const sali_balance_names[SALI_BALANCES + 1]; /* ends with NULL */

/* The setting of samplers that use a ready-made g. */
#define SALI_BALANCE_SETTING                                                 \
    {                                                                        \
        "balance", 0, 0, 0, true, "balancing function g", sali_balance_names \
    }

extern sali_log_g *const sali_log_balance_f32[SALI_BALANCES],
    *const sali_log_balance_f64[SALI_BALANCES];
sali_balance sali_balance_of(sal_dtype dtype, int which);

/* ---- learned functions g, which are balanced whatever their parameters are */

/* g = sum_j weight[j] g_j of the ready-made ones, weights positive (Sansone 2022, prop. 1). */
typedef struct sali_mixture {
    double weight[SALI_BALANCES];
} sali_mixture;

sali_log_g sali_log_mixture_f32, sali_log_mixture_f64;

/* g(t) = min(h(t), t h(1/t)) (Sansone 2022, prop. 2) of any h, here one whose logarithm is linear
 * in log t between the nodes of a table, and constant beyond its ends: so g is bounded, and
 * log g(0) = -inf. */
enum {
    SALI_TABLE_REACH = 32, /* the last |log t| */
    SALI_TABLE_RATE = 8,   /* nodes for each unit of log t */
    SALI_TABLE_NODES = 2 * SALI_TABLE_REACH * SALI_TABLE_RATE + 1
};
typedef struct sali_balance_table {
    double log_h[SALI_TABLE_NODES]; /* finite */
} sali_balance_table;

/* log h(t) = (1 - *part) log_h[node] + *part log_h[node + 1] for the node returned. */
static inline int32_t sali_table_place(double log_t, double *part)
{
    double within = log_t > -SALI_TABLE_REACH ? log_t : -SALI_TABLE_REACH;
    within = within < SALI_TABLE_REACH ? within : SALI_TABLE_REACH;
    double at = (within + SALI_TABLE_REACH) * SALI_TABLE_RATE;
    int32_t node = (int32_t)at;
    node = node < SALI_TABLE_NODES - 2 ? node : SALI_TABLE_NODES - 2;
    *part = at - node;
    return node;
}

static inline double sali_table_log_h(const sali_balance_table *table, double log_t)
{
    double part;
    int32_t node = sali_table_place(log_t, &part);
    return table->log_h[node] + part * (table->log_h[node + 1] - table->log_h[node]);
}

sali_log_g sali_log_table_f32, sali_log_table_f64;

#endif
