/* SPDX-License-Identifier: MIT */
#include "models/base.h"

#include <math.h>

#include "ad/tape.h"
#include "core/alloc.h"
#include "core/error.h"

/* ---- checking */

/* SAL_ERR_ARGUMENT unless all log-probabilities given [states] of variable v are finite and their
 * exponentials sum to 1 within 1e-6. */
static sal_status check_variable(int64_t v, int32_t states, const double *given, sal_error *err)
{
    double sum = 0;
    for (int32_t k = 0; k < states; k++) {
        if (!isfinite(given[k])) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "base: log-probability %g of state %d of variable %lld; all must be "
                             "finite",
                             given[k], k, (long long)v);
        }
        sum += exp(given[k]);
    }
    return fabs(sum - 1) <= 1e-6
               ? SAL_OK
               : sali_fail(err, SAL_ERR_ARGUMENT,
                           "base: the probabilities of variable %lld sum to %g; expected 1",
                           (long long)v, sum);
}

/* out [states] = `given` less the log of the sum of its exponentials; uniform if `given` is
 * NULL. */
static void normalise_variable(int32_t states, const double *given, double *out)
{
    double sum = 0;
    for (int32_t k = 0; k < states; k++) {
        sum += given ? exp(given[k]) : 1;
    }
    for (int32_t k = 0; k < states; k++) {
        out[k] = (given ? given[k] : 0) - log(sum);
    }
}

sal_status sali_base_create(const sal_space *space, const double *log_base, double **out,
                            sal_error *err)
{
    if (space->unbounded && !log_base) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED,
                         "base: counts without a cap have no uniform distribution; give them a "
                         "cap, or a base");
    }
    double *base = SALI_NEW_ARRAY(double, space->n_states);
    sal_status status = base ? SAL_OK : sali_fail_memory(err);
    for (int64_t v = 0, at = 0; status == SAL_OK && v < space->n_variables; v++) {
        const int32_t states = sali_entries(space->variables[v].states);
        status = log_base ? check_variable(v, states, log_base + at, err) : SAL_OK;
        normalise_variable(states, log_base ? log_base + at : NULL, base + at);
        at += states;
    }
    if (status != SAL_OK) {
        sali_free(base);
        return status;
    }
    *out = base;
    return SAL_OK;
}

/* ---- states */

double sali_base_value(const sal_space *space, const double *log_base, const int32_t *codes)
{
    double sum = 0;
    for (int64_t v = 0; v < space->n_variables; v++) {
        const int32_t states = space->variables[v].states;
        sum += states > 0 ? log_base[codes[v]] : log_base[0] + codes[v] * log_base[1];
        log_base += sali_entries(states);
    }
    return sum;
}

/* A draw from the distribution P(k) = (1 - t) t^k by a uniform. */
static int32_t draw_geometric(double uniform, double log_t)
{
    const double count = floor(log(uniform) / log_t);
    return count < SAL_COUNT_MOST ? (int32_t)count : SAL_COUNT_MOST;
}

/* A draw from a list of the log-probabilities of codes 0 .. last by a uniform. */
static int32_t draw_listed(double uniform, int32_t last, const double *log_p)
{
    int32_t code = 0;
    double left = uniform - exp(log_p[0]);
    while (code < last && left > 0) {
        left -= exp(log_p[++code]);
    }
    return code;
}

void sali_base_draw(const sal_space *space, const double *log_base, const sali_stream *stream,
                    double *uniform, int32_t *codes)
{
    sali_rng_uniform_f64(stream, space->n_variables, uniform);
    for (int64_t v = 0; v < space->n_variables; v++) {
        const int32_t states = space->variables[v].states;
        codes[v] = states > 0 ? draw_listed(uniform[v], states - 1, log_base)
                              : draw_geometric(uniform[v], log_base[1]);
        log_base += sali_entries(states);
    }
}

/* ---- the formula */

/* Find alpha, m and bend [K - 2], an entry for each inner level l_k, such that alpha + m x + sum_k
 * bend_k |x - l_k| passes through the points (l_k, log_p_k) of all K levels. */
static void interpolate_levels(const sali_variable *v, const double *log_p, double *alpha,
                               double *m, double *bend)
{
    int32_t K = v->states;
    double before = 0, first = 0, slope = 0, bends = 0;
    for (int32_t k = 0; k + 1 < K; k++) {
        slope = (log_p[k + 1] - log_p[k]) / (sali_level(v, k + 1) - sali_level(v, k));
        if (k == 0) {
            first = slope;
        } else {
            bend[k - 1] = (slope - before) / 2;
            bends += bend[k - 1] * (sali_level(v, k) - sali_level(v, 0));
        }
        before = slope;
    }
    *m = (first + slope) / 2;
    *alpha = log_p[0] - *m * sali_level(v, 0) - bends;
}

/* The linear part of log p_0: fills weights [N] and returns the constant. `bend` is scratch for one
 * variable. */
static double linear_part(const sal_space *space, const double *log_base, double *bend,
                          double *weights)
{
    double constant = 0;
    for (int64_t i = 0; i < space->n_variables; i++) {
        const sali_variable *v = &space->variables[i];
        for (int32_t k = 0; v->width > 1 && k < v->states; k++) {
            weights[v->offset + k] = log_base[k];
        }
        if (v->states == 0) {
            weights[v->offset] = log_base[1];
            constant += log_base[0];
        } else if (v->kind != SAL_CATEGORICAL) {
            double alpha;
            interpolate_levels(v, log_base, &alpha, &weights[v->offset], bend);
            constant += alpha;
        } /* a label of one state has probability 1 */
        log_base += sali_entries(v->states);
    }
    return constant;
}

void sali_base_kinks(const sal_space *space, const double *log_base, double *kinks)
{
    for (int64_t i = 0; i < space->n_variables; i++) {
        const sali_variable *v = &space->variables[i];
        double alpha, m;
        if (v->kind != SAL_CATEGORICAL && v->states > 2) {
            interpolate_levels(v, log_base, &alpha, &m, kinks);
            for (int32_t k = 0; k < v->states; k++) {
                kinks[k] = log_base[k] - alpha - m * sali_level(v, k);
            }
        }
        log_base += v->states;
        kinks += v->states;
    }
}

/* `sum` plus the kinks bend |x - level| of a block, whose variables have more than two levels.
 * `bends` is scratch, an entry for each inner level of each variable. */
static sal_expr add_kinks(sal_tape *tape, const sali_stretch *stretch, const char *block,
                          const sal_space *space, const double *log_base, double *bends,
                          sal_expr sum)
{
    int64_t inner = stretch->states - 2;
    bool any = false;
    for (int64_t k = 0; k < stretch->count; k++) {
        double alpha, m;
        interpolate_levels(&space->variables[stretch->first + k], log_base + k * stretch->states,
                           &alpha, &m, bends + k * inner);
    }
    for (int64_t k = 0; k < stretch->count * inner; k++) {
        any |= fabs(bends[k]) > 0;
    }
    if (!any) {
        return sum;
    }
    sal_expr x = sal_reshape(sal_state_block(tape, block), SAL_SHAPE(stretch->count, 1));
    sal_expr levels = sal_constant(tape, stretch->levels + 1, SAL_SHAPE(1, inner));
    sal_expr weights = sal_constant(tape, bends, SAL_SHAPE(stretch->count, inner));
    return sal_add(sum, sal_sum(sal_mul(sal_abs(sal_sub(x, levels)), weights)));
}

sal_expr sali_base_record(sal_tape *tape, const sal_space *space, const double *log_base)
{
    double *weights = SALI_NEW_ARRAY(double, space->width);
    double *bends = SALI_NEW_ARRAY(double, space->n_states);
    if (!weights || !bends) {
        sali_free(weights);
        sali_free(bends);
        return sali_record_error(tape, NULL, 0, SAL_ERR_MEMORY, "out of memory");
    }
    double constant = linear_part(space, log_base, bends, weights);
    sal_expr linear =
        sal_dot(sal_constant(tape, weights, SAL_SHAPE(space->width)), sal_state(tape));
    sal_expr sum = sal_add(linear, sal_scalar(tape, constant));
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *stretch = &space->stretches[b];
        if (stretch->kind != SAL_CATEGORICAL && stretch->states > 2) {
            sum = add_kinks(tape, stretch, space->blocks[b].name, space, log_base, bends, sum);
        }
        log_base += stretch->count * sali_entries(stretch->states);
    }
    sali_free(weights);
    sali_free(bends);
    return sum;
}
