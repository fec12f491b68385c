#include "models.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "../gwg/states.h"

/* ---- one block of variables, and f of it */

typedef struct recording {
    sal_space *space;
    sal_tape *tape;
} recording;

static sal_status begin(recording *r, sal_kind kind, int64_t count, int64_t states, sal_error *err)
{
    *r = (recording){ .space = sal_space_create() };
    const sal_block block = { .name = "x", .kind = kind, .count = count, .states = states };
    sal_status status = r->space ? sal_space_add(r->space, &block, err) : SAL_ERR_MEMORY;
    r->tape = status ? NULL : sal_tape_create(r->space, SAL_F32);
    return status ? status : r->tape ? SAL_OK : SAL_ERR_MEMORY;
}

static sal_status finish(recording *r, sal_status status, sal_expr f, sal_model **out,
                         sal_error *err)
{
    status = status ? status : sal_model_from_tape(r->tape, f, out, err);
    sal_tape_destroy(r->tape);
    sal_space_destroy(r->space);
    return status;
}

/* ---- lattices with free borders, f = lambda sum_<ij> [s_i = s_j] - sum_i b_i(s_i) for labels,
 * with s_i s_j and b_i s_i for spins. b is +mu in a disc of half the area and -mu outside of it,
 * and uniform numbers up to sigma. */

static void draw_fields(const discs_model *m, int64_t labels, double *b)
{
    const int64_t side = m->rows, n = side * side * labels;
    states_normals(n, m->seed, b);
    for (int64_t k = 0; k < n; k++) {
        double uniform = erfc(-b[k] / sqrt(2)) / 2;
        double y = (double)(k / labels / side) / (double)side - 0.5;
        double x = (double)(k / labels % side) / (double)side - 0.5;
        bool inside = x * x + y * y < 0.5 / M_PI;
        b[k] = -(inside ? m->field : -m->field) - (2 * uniform - 1) * m->spread;
    }
}

/* Pairs of reals, each listed once: of neighbours, and of equal labels there. */
static int64_t list_pairs(int64_t side, int64_t labels, int64_t *pairs)
{
    int64_t n = 0;
    for (int64_t k = 0; k < side * side * labels; k++) {
        int64_t site = k / labels;
        if (site % side + 1 < side) {
            pairs[2 * n] = k;
            pairs[2 * n++ + 1] = k + labels;
        }
        if (site / side + 1 < side) {
            pairs[2 * n] = k;
            pairs[2 * n++ + 1] = k + side * labels;
        }
    }
    return n;
}

static sal_status lattice(const discs_model *m, sal_model **out, sal_error *err)
{
    const int64_t side = m->rows, labels = m->states > 2 ? m->states : 1, n = side * side * labels;
    recording r;
    sal_expr f = { 0 };
    double *b = malloc((size_t)n * sizeof *b), *w = malloc((size_t)(2 * n) * sizeof *w);
    int64_t *pairs = malloc((size_t)(4 * n) * sizeof *pairs);
    if (!b || !w || !pairs) {
        free(b);
        free(w);
        free(pairs);
        return SAL_ERR_MEMORY;
    }
    sal_status status = begin(&r, labels > 1 ? SAL_CATEGORICAL : SAL_SPIN, side * side,
                              labels > 1 ? labels : 0, err);
    if (status == SAL_OK) {
        const int64_t edges = list_pairs(side, labels, pairs);
        sal_expr s = sal_state(r.tape);
        for (int64_t e = 0; e < edges; e++) {
            w[e] = m->coupling;
        }
        draw_fields(m, labels, b);
        f = sal_edges(s, sal_constant(r.tape, w, SAL_SHAPE(edges)), edges, pairs);
        if (m->field != 0 || m->spread != 0) {
            f = sal_add(f, sal_dot(sal_constant(r.tape, b, SAL_SHAPE(n)), s));
        }
    }
    free(b);
    free(w);
    free(pairs);
    return finish(&r, status, f, out, err);
}

/* ---- independent variables with normal logits */

static sal_status independent(const discs_model *m, sal_model **out, sal_error *err)
{
    const int64_t labels = m->states > 2 ? m->states : 1, n = m->rows * labels;
    recording r;
    sal_expr f = { 0 };
    double *w = malloc((size_t)n * sizeof *w);
    sal_status status = w ? begin(&r, labels > 1 ? SAL_CATEGORICAL : SAL_BINARY, m->rows,
                                  labels > 1 ? labels : 0, err)
                          : SAL_ERR_MEMORY;
    if (status == SAL_OK) {
        states_normals(n, m->seed, w);
        for (int64_t k = 0; k < n; k++) {
            w[k] *= m->spread;
        }
        f = sal_dot(sal_constant(r.tape, w, SAL_SHAPE(n)), sal_state(r.tape));
    }
    free(w);
    return w ? finish(&r, status, f, out, err) : status;
}

/* ---- factorial hidden Markov models: sigma 2, first states on with .1, states kept with .8 */

static sal_status binary_chains(const discs_model *m, sal_model **out, sal_error *err)
{
    char text[120];
    snprintf(text, sizeof text, "fhmm:length=%d,factors=%d,sigma=2,v=0.1,p=0.8", (int)m->rows,
             (int)m->columns);
    return sal_model_open(text, 0, out, err);
}

/* Labels: log p of staying less that of changing is what their matrix of weights has, whose rows do
 * not sum to 1: with n labels 1 / (n - 1) beside the diagonal, and there d + (1 - d) / (n - 1) for
 * d = .8 - .2 / (n - 1). */
static double log_stay(int64_t n)
{
    double other = 1 / (double)(n - 1), d = 0.8 - 0.2 * other;
    return log((d + (1 - d) * other) / other);
}

/* Weights W [K x n], then data y [T] of states from these chains, from normals z. */
static void draw_data(const discs_model *m, const double *z, double *y)
{
    const int64_t T = m->rows, K = m->columns, n = m->states;
    const double stay = 1 / (1 + (double)(n - 1) * exp(-log_stay(n)));
    const double *u = z + K * n;
    for (int64_t t = 0; t < T; t++) {
        y[t] = 2 * u[T * K + t];
    }
    for (int64_t k = 0; k < K; k++) {
        int64_t label = 0;
        for (int64_t t = 0; t < T; t++) {
            double uniform = erfc(-u[k * T + t] / sqrt(2)) / 2, keeps = t > 0 ? stay : 0.9;
            if (uniform > keeps) { /* one of the others, all alike */
                int64_t step = 1 + (int64_t)((uniform - keeps) / (1 - keeps) * (double)(n - 1));
                label = (label + (step < n ? step : n - 1)) % n;
            }
            y[t] += z[k * n + label];
        }
    }
}

static sal_expr chains_f(const discs_model *m, sal_tape *tape, const double *W, const double *y,
                         double *first)
{
    const int64_t T = m->rows, K = m->columns, n = m->states;
    sal_expr s = sal_state(tape), rows = sal_reshape(s, SAL_SHAPE(T, K * n));
    sal_expr mean = sal_matvec(rows, sal_constant(tape, W, SAL_SHAPE(K * n)));
    sal_expr residual = sal_sub(sal_constant(tape, y, SAL_SHAPE(T)), mean);
    sal_expr stays =
        sal_dot(sal_slice(s, 0, 0, (T - 1) * K * n), sal_slice(s, 0, K * n, (T - 1) * K * n));
    for (int64_t k = 0; k < K * n; k++) {
        first[k] = log(k % n == 0 ? 0.9 : 0.1 / (double)(n - 1));
    }
    sal_expr start =
        sal_dot(sal_constant(tape, first, SAL_SHAPE(K * n)), sal_slice(s, 0, 0, K * n));
    return sal_add(sal_add(sal_scale(stays, log_stay(n)), start),
                   sal_scale(sal_dot(residual, residual), -1.0 / 8));
}

static sal_status label_chains(const discs_model *m, sal_model **out, sal_error *err)
{
    const int64_t T = m->rows, K = m->columns, n = m->states, all = K * n + T * K + T;
    recording r;
    sal_expr f = { 0 };
    double *z = malloc((size_t)(all + T + K * n) * sizeof *z);
    sal_status status = z ? begin(&r, SAL_CATEGORICAL, T * K, n, err) : SAL_ERR_MEMORY;
    if (status == SAL_OK) {
        states_normals(all, m->seed, z);
        draw_data(m, z, z + all);
        f = chains_f(m, r.tape, z, z + all, z + all + T);
    }
    free(z);
    return z ? finish(&r, status, f, out, err) : status;
}

/* ---- the list */

/* Raw result files in their repository's history, commit 5bb441c of May 2023. Chains that never
 * moved count as 1. */
#define THEIRS(dlmc, dlmc_barker, dlmcf, dlmcf_barker, ncg, pafs, pafs_barker, gwg, gwg_barker, \
               block, walk)                                                                     \
    { "dlmc", dlmc }, { "dlmc:balance=barker", dlmc_barker }, { "dlmcf", dlmcf },               \
        { "dlmcf:balance=barker", dlmcf_barker }, { "ncg", ncg }, { "pafs", pafs },             \
        { "pafs:balance=barker", pafs_barker }, { "gwg:hops=adapt", gwg },                      \
        { "gwg:hops=adapt,balance=barker", gwg_barker }, { "gibbs:block=2", block },            \
    {                                                                                           \
        "mh-uniform", walk                                                                      \
    }

static const published ising_warm[] = {
    THEIRS(502.8, 541.8, 231.3, 547.9, 1, 204.4, 539.1, 145.4, 443.2, 17.2, 7.9), { NULL, 0 }
};
static const published ising_cold[] = {
    THEIRS(1, 58.2, 1, 61.5, 47.6, 48.8, 64.8, 50.9, 59.2, 16.1, 7.4), { NULL, 0 }
};
static const published labels_4[] = { THEIRS(49586, 49586, 4170, 9444, 1381, 1890, 2969, 17.0, 19.0,
                                             50.9, 13.5),
                                      { "hamming-ball", 26.6 },
                                      { NULL, 0 } };
static const published labels_8[] = { THEIRS(49676, 49676, 3020, 6386, 1027, 1410, 2142, 14.9, 14.1,
                                             47.7, 10.3),
                                      { "hamming-ball", 26.3 },
                                      { NULL, 0 } };

/* Without fields, at a coupling. */
#define TEMPERATURE(lambda)                                                                     \
    { "temperatures", "ising 50, " #lambda, lattice, 50, 0, 2, lambda, 0, 0, NULL, 1, 8 },      \
    {                                                                                           \
        "temperatures-100", "ising 100, " #lambda, lattice, 100, 0, 2, lambda, 0, 0, NULL, 1, 8 \
    }

const discs_model discs_models[] = {
    { "ising", "ising 50, .5", lattice, 50, 0, 2, 0.5, 0.5, 1.5, ising_warm, 1, 1 },
    { "ising", "ising 50, 1", lattice, 50, 0, 2, 1, 1, 3, ising_cold, 1, 1 },
    /* The program that made the raw files counts every edge twice. */
    { "twice", "ising 50, .5 twice", lattice, 50, 0, 2, 1, 0.5, 1.5, ising_warm, 1, 1 },
    { "twice", "ising 50, .5 twice, fields 2", lattice, 50, 0, 2, 1, 0.5, 1.5, ising_warm, 2, 1 },
    { "twice", "ising 50, .5 twice, fields 3", lattice, 50, 0, 2, 1, 0.5, 1.5, ising_warm, 3, 1 },
    { "twice", "ising 50, .5 twice, fields 4", lattice, 50, 0, 2, 1, 0.5, 1.5, ising_warm, 4, 1 },
    { "twice", "ising 50, 1 twice", lattice, 50, 0, 2, 2, 1, 3, ising_cold, 1, 1 },
    { "sizes", "ising 25, .5", lattice, 25, 0, 2, 0.5, 0.5, 1.5, NULL, 1, 1 },
    { "sizes", "ising 100, .5", lattice, 100, 0, 2, 0.5, 0.5, 1.5, NULL, 1, 1 },
    { "sizes", "ising 250, .5", lattice, 250, 0, 2, 0.5, 0.5, 1.5, NULL, 1, 1 },
    TEMPERATURE(0.1607),
    TEMPERATURE(0.2007),
    TEMPERATURE(0.2407),
    TEMPERATURE(0.2807),
    TEMPERATURE(0.3207),
    TEMPERATURE(0.3607),
    TEMPERATURE(0.4007),
    TEMPERATURE(0.4407),
    TEMPERATURE(0.4807),
    TEMPERATURE(0.5207),
    TEMPERATURE(0.5607),
    TEMPERATURE(0.6007),
    TEMPERATURE(0.6407),
    TEMPERATURE(0.6807),
    TEMPERATURE(0.7207),
    TEMPERATURE(0.7607),
    { "potts", "potts 30, 4 labels", lattice, 30, 0, 4, 1, 0.5, 1.5, NULL, 1, 1 },
    { "potts", "potts 30, 8 labels", lattice, 30, 0, 8, 1, 0.5, 1.5, NULL, 1, 1 },
    { "bernoulli", "bernoulli, .5", independent, 10000, 0, 2, 0, 0, 0.5, NULL, 1, 1 },
    { "bernoulli", "bernoulli, 1.5", independent, 10000, 0, 2, 0, 0, 1.5, NULL, 1, 1 },
    { "categorical", "categorical, 4", independent, 2000, 0, 4, 0, 0, 1.5, labels_4, 1, 1 },
    { "categorical", "categorical, 8", independent, 2000, 0, 8, 0, 0, 1.5, labels_8, 1, 1 },
    { "labels", "categorical, 16", independent, 2000, 0, 16, 0, 0, 1.5, NULL, 1, 1 },
    { "labels", "categorical, 64", independent, 2000, 0, 64, 0, 0, 1.5, NULL, 1, 1 },
    { "labels", "categorical, 256", independent, 2000, 0, 256, 0, 0, 1.5, NULL, 1, 1 },
    { "fhmm", "fhmm 200 x 50", binary_chains, 200, 50, 2, 0, 0, 0, NULL, 1, 1 },
    { "fhmm", "fhmm 1000 x 10", binary_chains, 1000, 10, 2, 0, 0, 0, NULL, 1, 1 },
    { "fhmm", "fhmm 200 x 10, 4", label_chains, 200, 10, 4, 0, 0, 0, NULL, 1, 1 },
    { "fhmm", "fhmm 200 x 10, 8", label_chains, 200, 10, 8, 0, 0, 0, NULL, 1, 1 },
    { 0 },
};
