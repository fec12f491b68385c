/* SPDX-License-Identifier: MIT */
/* The ready-made balancing functions, on arrays of log t. Compiled for float and double. */
#include <math.h>

#include "core/real.h"
#include "core/vector/vmath.h"
#include "samplers/balance.h"

SALI_CLONES
static void sqrt_log_g(int64_t n, const real *restrict log_t, real *restrict log_g)
{
    for (int64_t k = 0; k < n; k++) {
        log_g[k] = (real)0.5 * log_t[k];
    }
}

SALI_CLONES
static void negate_logs(int64_t n, const real *log_t, real *log_g)
{
    for (int64_t k = 0; k < n; k++) {
        log_g[k] = -log_t[k];
    }
}

SALI_CLONES
static void min_log_g(int64_t n, const real *restrict log_t, real *restrict log_g)
{
    for (int64_t k = 0; k < n; k++) {
        log_g[k] = log_t[k] > 0 ? 0 : log_t[k];
    }
}

SALI_CLONES
static void max_log_g(int64_t n, const real *restrict log_t, real *restrict log_g)
{
    for (int64_t k = 0; k < n; k++) {
        bool worse = log_t[k] < 0 && log_t[k] != -INFINITY;
        log_g[k] = worse ? 0 : log_t[k];
    }
}

static void log_sqrt(const void *context, int64_t n, const void *log_t, void *log_g)
{
    (void)context;
    sqrt_log_g(n, log_t, log_g);
}

/* log(t / (1 + t)) = -softplus(-log t) */
static void log_barker(const void *context, int64_t n, const void *log_t, void *log_g)
{
    (void)context;
    negate_logs(n, log_t, log_g);
    RN(sali_vsoftplus)(n, log_g, log_g);
    negate_logs(n, log_g, log_g);
}

static void log_min(const void *context, int64_t n, const void *log_t, void *log_g)
{
    (void)context;
    min_log_g(n, log_t, log_g);
}

static void log_max(const void *context, int64_t n, const void *log_t, void *log_g)
{
    (void)context;
    max_log_g(n, log_t, log_g);
}

sali_log_g *const RN(sali_log_balance)[SALI_BALANCES] = { log_sqrt, log_barker, log_min, log_max };
