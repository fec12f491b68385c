/* SPDX-License-Identifier: MIT */
/* Log-weights begin with the biases in each block of h, so that rounding errors do not accumulate
 * from block to block. */
#include "models/exact/hidden_weights.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/vector/clones.h"
#include "core/vector/vmath.h"
#include "models/clamp.h"

#define ROWS SALI_HIDDEN_ROWS
/* Products of sums are replaced by their logarithms before they might exceed this. */
#define LARGEST_PRODUCT 0x1p1000

/* ---- reading */

/* g'x(v), with the reals x(v) of a variable at state v. */
static double at_state(const sali_variable *variable, const double *g, int32_t v)
{
    g += variable->offset;
    return variable->kind == SAL_CATEGORICAL ? g[v] : sali_level(variable, v) * g[0];
}

/* The variables of the inner model: index among the free ones, or -1, and code if it is fixed. */
typedef struct fixing {
    const sal_space *space;
    int32_t *index, *code; /* [variables] */
} fixing;

/* Set out[a * stride], a = 0 .. R, to the parts of g'x that belong to row a; row R also has
 * `constant`. */
static void split_linear(const fixing *inner, const double *g, double constant, int64_t R,
                         int64_t stride, double *out)
{
    double *rest = out + R * stride;
    *rest = constant;
    for (int64_t v = 0; v < inner->space->n_variables; v++) {
        const sali_variable *variable = &inner->space->variables[v];
        const bool fixed = inner->index[v] < 0;
        const double base = at_state(variable, g, fixed ? inner->code[v] : 0);
        *rest += base;
        for (int32_t s = 0; !fixed && s < variable->states; s++, out += stride) {
            *out = at_state(variable, g, s) - base;
        }
    }
}

sal_status sali_hidden_weights_read(const sal_model *model, const sali_sum_reader *sum,
                                    const sali_affine_form *units, sali_memory *memory,
                                    sali_hidden_weights *weights, sal_error *err)
{
    fixing inner = { .space = sali_clamp_inner(model)->space };
    const sali_params *params = sum->tape->params;
    const int64_t H = units->size, N = inner.space->width, R = model->space->n_states;
    sali_hidden_weights w = { .space = model->space, .H = H, .R = R, .count = INT64_C(1) << H };
    w.rows = w.count < ROWS ? w.count : ROWS;
    w.bias = SALI_TAKE(memory, double, R + 1);
    w.slope = SALI_TAKE(memory, double, (R + 1) * H);
    double *c = SALI_TAKE(memory, double, H), *row = SALI_TAKE(memory, double, N);
    inner.index = SALI_TAKE(memory, int32_t, inner.space->n_variables);
    inner.code = SALI_TAKE(memory, int32_t, inner.space->n_variables);
    if (memory->refused || sali_clamp_index(model, inner.index, inner.code) != SAL_OK) {
        return sali_fail_memory(err);
    }
    split_linear(&inner, sum->linear, sum->constant, R, 1, w.bias);
    sali_affine_form_bias(units, params, c);
    for (int64_t k = 0; k < H; k++) {
        for (int64_t i = 0; i < N; i++) {
            row[i] = units->factor *
                     sali_load(params->program->dtype, params->value[units->W], k * N + i);
        }
        split_linear(&inner, row, c[k], R, H, w.slope + k);
    }
    *weights = w;
    return SAL_OK;
}

/* ---- rows */

/* x[j] = row a at state number j of a block. */
SALI_CLONES
static void row_of_block(const sali_hidden_weights *w, int64_t block, int64_t a, double *x)
{
    const double *slope = w->slope + a * w->H;
    const int64_t first = block * w->rows;
    x[0] = w->bias[a];
    for (int64_t k = 0; k < w->H; k++) {
        x[0] += first >> k & 1 ? slope[k] : 0;
    }
    for (int64_t n = 1; n < w->rows; n *= 2, slope++) {
#pragma omp simd
        for (int64_t j = 0; j < n; j++) {
            x[n + j] = x[j] + *slope;
        }
    }
}

/* x[j] = row a at the hidden units bits[k][j]. */
SALI_CLONES
static void row_of_bits(const sali_hidden_weights *w, const double *restrict bits, int64_t a,
                        double *restrict x)
{
    const double *slope = w->slope + a * w->H;
    for (int j = 0; j < ROWS; j++) {
        x[j] = w->bias[a];
    }
    for (int64_t k = 0; k < w->H; k++, bits += ROWS) {
        for (int j = 0; j < ROWS; j++) {
            x[j] += slope[k] * bits[j];
        }
    }
}

/* x [SALI_HIDDEN_ROWS]: row a at each h; only the first n are of use. */
static void row_at(const sali_hidden_weights *w, const sali_hidden_states *h, int64_t a, double *x)
{
    if (h->bits) {
        row_of_bits(w, h->bits, a, x);
    } else {
        row_of_block(w, h->block, a, x);
    }
}

/* ---- one variable */

/* For log-weights 0 and x: most = max(0, x), and x becomes -|x|. */
SALI_CLONES
static void split_two(int64_t n, double *restrict x, double *restrict most)
{
#pragma omp simd
    for (int64_t j = 0; j < n; j++) {
        most[j] = x[j] > 0 ? x[j] : 0;
        x[j] = -fabs(x[j]);
    }
}

/* For log-weights 0 and x: the weights relative to the larger one, given p0 = exp(-|x|) and most =
 * max(0, x), and their sum. */
SALI_CLONES
static void weigh_two(int64_t n, const double *restrict most, double *restrict p0,
                      double *restrict p1, double *restrict sum)
{
#pragma omp simd
    for (int64_t j = 0; j < n; j++) {
        const double small = p0[j];
        p0[j] = most[j] > 0 ? small : 1;
        p1[j] = most[j] > 0 ? 1 : small;
        sum[j] = 1 + small;
    }
}

/* sali_hidden_weigh_states for any number of states. */
static void weigh_many(const sali_hidden_weights *w, const sali_hidden_states *h, int64_t first,
                       int64_t states, double *p, double *most, double *sum)
{
    memset(most, 0, (size_t)h->n * sizeof *most);
    memset(sum, 0, (size_t)h->n * sizeof *sum);
    for (int64_t s = 0; s < states; s++) {
        const double *x = p + s * ROWS;
        row_at(w, h, first + s, p + s * ROWS);
        for (int64_t j = 0; j < h->n; j++) {
            most[j] = x[j] > most[j] ? x[j] : most[j];
        }
    }
    for (int64_t s = 0; s < states; s++) {
        double *x = p + s * ROWS;
        for (int64_t j = 0; j < h->n; j++) {
            x[j] -= most[j];
        }
        sali_vexp_f64(h->n, x, x);
        for (int64_t j = 0; j < h->n; j++) {
            sum[j] += x[j];
        }
    }
}

void sali_hidden_weigh_states(const sali_hidden_weights *w, const sali_hidden_states *h,
                              int64_t first, int64_t states, double *p, double *most, double *sum)
{
    if (states != 2) {
        weigh_many(w, h, first, states, p, most, sum);
        return;
    }
    row_at(w, h, first + 1, p);
    split_two(h->n, p, most);
    sali_vexp_f64(h->n, p, p);
    weigh_two(h->n, most, p, p + ROWS, sum);
}

/* ---- all variables */

/* Add logarithms of products to log_weight [n], and set the products to 1. */
static void add_logs(int64_t n, double *product, double *log_weight)
{
    sali_vlog_f64(n, product, product);
    for (int64_t j = 0; j < n; j++) {
        log_weight[j] += product[j];
        product[j] = 1;
    }
}

/* Add `most` to log_weight [n], and multiply the products by `sum`. */
SALI_CLONES
static void take_variable(int64_t n, const double *restrict most, const double *restrict sum,
                          double *restrict product, double *restrict log_weight)
{
#pragma omp simd
    for (int64_t j = 0; j < n; j++) {
        log_weight[j] += most[j];
        product[j] *= sum[j];
    }
}

void sali_hidden_weigh(const sali_hidden_weights *w, const sali_hidden_states *h, double *p,
                       double *log_weight)
{
    double most[ROWS], sum[ROWS], product[ROWS], total[ROWS], bound = 1;
    row_at(w, h, w->R, total);
    for (int64_t j = 0; j < h->n; j++) {
        product[j] = 1;
    }
    for (int64_t v = 0, first = 0; v < w->space->n_variables; v++) {
        const int64_t states = w->space->variables[v].states;
        bound *= (double)states;
        if (bound > LARGEST_PRODUCT) {
            add_logs(h->n, product, total);
            bound = (double)states;
        }
        sali_hidden_weigh_states(w, h, first, states, p, most, sum);
        take_variable(h->n, most, sum, product, total);
        first += states;
    }
    add_logs(h->n, product, total);
    memcpy(log_weight, total, (size_t)h->n * sizeof *log_weight);
}
