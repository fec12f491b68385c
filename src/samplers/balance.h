/* Balancing functions g(t) = t g(1/t) of locally balanced proposals, q(s -> s') proportional to
 * g(pi(s') / pi(s)) (Zanella 2020; in Grathwohl et al. 2021, sec. 3, and Sansone 2022, eq. 2). All
 * is in logarithms, because t overflows. */
#ifndef SALI_BALANCE_H
#define SALI_BALANCE_H

#include <saltus/ad.h>

/* One function g, ready-made or learned. */
typedef struct sali_balance {
    /* log g of n numbers log t; arrays of the model's type that do not overlap. log g must be -inf
     * where log t is: a forbidden move is never proposed. NaN stays NaN. */
    void (*log_g)(const void *context, int64_t n, const void *log_t, void *log_g);
    const void *context;
} sali_balance;

/* The ready-made ones, in the order of sali_balance_names. */
enum {
    SALI_BALANCE_SQRT,   /* sqrt(t) */
    SALI_BALANCE_BARKER, /* t / (1 + t) */
    SALI_BALANCE_MIN,    /* min(1, t) */
    SALI_BALANCE_MAX,    /* max(1, t) */
    SALI_BALANCES
};

extern const char *const sali_balance_names[SALI_BALANCES + 1]; /* ends with NULL */
sali_balance sali_balance_of(sal_dtype dtype, int which);

#endif
