/* SPDX-License-Identifier: MIT */
#include "stats/pairs.h"

#include <math.h>
#include <string.h>

#include <saltus/program.h>

/* Sums of squares below this are rounding errors of constant variables: (1e-12)^4 at most. */
#define NOTHING 1e-30

bool sali_pairs_exist(const sal_space *space)
{
    return !space->unbounded && space->max_states <= UINT8_MAX + 1 && space->n_variables >= 2;
}

sal_status sali_pairs_create(sali_pairs *p, sali_memory *memory, const sal_space *space,
                             int64_t room, sal_error *err)
{
    const int64_t V = space->n_variables;
    *p = (sali_pairs){ .variables = V, .room = room };
    p->offset = SALI_TAKE(memory, int64_t, V + 1);
    for (int64_t i = 0; p->offset && i < V; i++) {
        p->offset[i + 1] = p->offset[i] + space->variables[i].states;
    }
    p->states = p->offset ? p->offset[V] : 0;
    p->row = SALI_TAKE(memory, int64_t, p->states);
    p->codes = SALI_TAKE(memory, uint8_t, V * room);
    for (int64_t i = 0; p->offset && p->row && i < V; i++) {
        for (int64_t k = p->offset[i]; k < p->offset[i + 1]; k++) {
            p->row[k] = p->n;
            p->n += p->offset[i];
        }
    }
    return sali_memory_status(memory, err);
}

sal_status sali_pairs_frequencies(const sali_pairs *p, sali_memory *memory,
                                  sali_pair_frequencies *out, sal_error *err)
{
    *out = (sali_pair_frequencies){ .single = SALI_TAKE(memory, double, p->states),
                                    .pair = SALI_TAKE(memory, double, p->n) };
    return sali_memory_status(memory, err);
}

/* ---- counting */

typedef struct counting {
    const sali_pairs *pairs;
    int64_t rows;
    const double *weight; /* [rows]; NULL: equal weights */
    double total;         /* of the weights */
    sali_pair_frequencies *to;
} counting;

/* Add up the weights of rows in which variable i has state a and variable j state b, in the element
 * a stride + b of `at`. */
static void count_pair(const counting *c, int64_t i, int64_t j, int64_t stride, double *at)
{
    const uint8_t *a = c->pairs->codes + i * c->pairs->room,
                  *b = c->pairs->codes + j * c->pairs->room;
    for (int64_t r = 0; r < c->rows; r++) {
        at[a[r] * stride + b[r]] += c->weight ? c->weight[r] : 1;
    }
}

static void divide(int64_t n, double total, double *numbers)
{
    for (int64_t k = 0; k < n; k++) {
        numbers[k] /= total;
    }
}

/* The frequencies of the states of variable i, alone and with those of all variables before. */
static void count_variable(void *context, int64_t i)
{
    const counting *c = context;
    const sali_pairs *p = c->pairs;
    const int64_t before = p->offset[i], states = p->offset[i + 1] - before;
    const uint8_t *codes = p->codes + i * p->room;
    double *single = c->to->single + before, *rows = c->to->pair + p->row[before];
    memset(single, 0, (size_t)states * sizeof *single);
    memset(rows, 0, (size_t)(states * before) * sizeof *rows);
    for (int64_t r = 0; r < c->rows; r++) {
        single[codes[r]] += c->weight ? c->weight[r] : 1;
    }
    for (int64_t j = 0; j < i; j++) {
        count_pair(c, i, j, before, rows + p->offset[j]);
    }
    divide(states, c->total, single);
    divide(states * before, c->total, rows);
}

void sali_pairs_count_rows(const sali_pairs *p, int64_t rows, const uint8_t *codes,
                           const double *weight, double total, int threads,
                           sali_pair_frequencies *out)
{
    counting c = { p, rows, weight, total, out };
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t i = 0; i < p->variables; i++) {
            p->codes[i * p->room + r] = codes[r * p->variables + i];
        }
    }
    sal_threads_run(p->variables, threads, count_variable, &c);
}

void sali_pairs_count_states(const sali_pairs *p, int64_t n, const int32_t *codes, int threads,
                             sali_pair_frequencies *out)
{
    counting c = { .pairs = p, .rows = n, .total = (double)n, .to = out };
    for (int64_t r = 0; r < n; r++) {
        for (int64_t i = 0; i < p->variables; i++) {
            p->codes[i * p->room + r] = (uint8_t)codes[r * p->variables + i];
        }
    }
    sal_threads_run(p->variables, threads, count_variable, &c);
}

/* ---- comparing */

double sali_pairs_correlation(const sali_pairs *p, const sali_pair_frequencies *fa,
                              const sali_pair_frequencies *fb)
{
    const double n = (double)p->n;
    double a = 0, b = 0, aa = 0, bb = 0, ab = 0;
    for (int64_t i = 0; i < p->variables; i++) { /* means are near 0 */
        for (int64_t k = p->offset[i]; k < p->offset[i + 1]; k++) {
            const double *x = fa->pair + p->row[k], *y = fb->pair + p->row[k];
            for (int64_t l = 0; l < p->offset[i]; l++) {
                const double u = x[l] - fa->single[k] * fa->single[l];
                const double v = y[l] - fb->single[k] * fb->single[l];
                a += u;
                b += v;
                aa += u * u;
                bb += v * v;
                ab += u * v;
            }
        }
    }
    const double va = aa - a * a / n, vb = bb - b * b / n;
    return va > NOTHING && vb > NOTHING ? (ab - a * b / n) / sqrt(va * vb) : NAN;
}

/* The variance of (x_k - f_k)(x_l - f_l) for x of 0 and 1 with the means f_k and f_l and the mean
 * product f_kl. */
static double product_variance(double fk, double fl, double fkl)
{
    const double c = fkl - fk * fl, k0 = fk * fk, k1 = (1 - fk) * (1 - fk), l0 = fl * fl,
                 l1 = (1 - fl) * (1 - fl);
    return fkl * k1 * l1 + (fk - fkl) * k1 * l0 + (fl - fkl) * k0 * l1 +
           (1 - fk - fl + fkl) * k0 * l0 - c * c;
}

double sali_pairs_limit(const sali_pairs *p, const sali_pair_frequencies *f, double rows)
{
    double signal = 0, noise = 0;
    for (int64_t i = 0; i < p->variables; i++) {
        for (int64_t k = p->offset[i]; k < p->offset[i + 1]; k++) {
            const double *pair = f->pair + p->row[k];
            for (int64_t l = 0; l < p->offset[i]; l++) {
                const double c = pair[l] - f->single[k] * f->single[l];
                signal += c * c;
                noise += product_variance(f->single[k], f->single[l], pair[l]);
            }
        }
    }
    return signal > NOTHING ? sqrt(signal / (signal + noise / rows)) : NAN;
}
