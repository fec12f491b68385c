/* SPDX-License-Identifier: MIT */
#include "models/levels/noise.h"

#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/base.h"

/* ---- the default schedule, for eight levels; for other numbers it is interpolated */

enum { USUAL = 8 };
static const double usual_keep[USUAL + 1] = { 1, 0.93, 0.82, 0.68, 0.5, 0.34, 0.2, 0.1, 0 };
static const double usual_steps[USUAL] = { 3, 2.5, 2, 1.5, 1.25, 1, 1, 1 };

/* The list [n + 1] interpolated linearly at `place`, in 0 .. n. */
static double interpolate_list(const double *list, int64_t n, double place)
{
    const int64_t below = (int64_t)place < n ? (int64_t)place : n - 1;
    const double over = place - (double)below;
    return n > 0 ? list[below] + over * (list[below + 1] - list[below]) : list[0];
}

void sali_noise_usual(int64_t T, double *keep)
{
    for (int64_t t = 0; t <= T; t++) {
        keep[t] = t == T ? 0 : interpolate_list(usual_keep, USUAL, (double)(USUAL * t) / (double)T);
    }
}

double sali_noise_usual_steps(int64_t T, int64_t t)
{
    const double place = T > 1 ? (double)((USUAL - 1) * t) / (double)(T - 1) : USUAL - 1;
    return interpolate_list(usual_steps, USUAL - 1, place);
}

/* ---- making */

/* SAL_ERR_UNSUPPORTED unless all variables have two levels or at most 256 labels; SAL_ERR_ARGUMENT
 * unless keep [T + 1] falls from 1 to 0. */
static sal_status check_noise(const sal_space *space, int64_t T, const double *keep, sal_error *err)
{
    for (int64_t v = 0; v < space->n_variables; v++) {
        const sali_variable *variable = &space->variables[v];
        const bool labels = variable->kind == SAL_CATEGORICAL && variable->states <= 256;
        if (!sali_is_two_level(variable) && !labels) {
            return sali_fail(err, SAL_ERR_UNSUPPORTED,
                             "noise: variable %lld is of kind %s with %d states; expected two "
                             "states, or at most 256 labels (categorical)",
                             (long long)v, sali_kind_name(variable->kind), variable->states);
        }
    }
    bool falls = T >= 1 && keep[0] == 1 && keep[T] == 0;
    for (int64_t t = 0; falls && t < T; t++) {
        falls = keep[t + 1] < keep[t] && keep[t + 1] >= 0;
    }
    return falls ? SAL_OK
                 : sali_fail(err, SAL_ERR_ARGUMENT,
                             "noise: expected shares of kept values that fall from 1 to 0");
}

/* Fill noise->share, same and other. False if a logarithm is not finite. */
static bool fill_tables(sali_noise *noise)
{
    const int64_t R = noise->space->n_states;
    bool finite = true;
    for (int64_t k = 0; k < R; k++) {
        noise->share[k] = exp(noise->log_base[k]);
    }
    for (int64_t i = 0; i < noise->T * R; i++) {
        const double kept = noise->keep[i / R + 1] / noise->keep[i / R], p = noise->share[i % R];
        noise->same[i] = log(kept + (1 - kept) * p);
        noise->other[i] = log((1 - kept) * p);
        finite &= isfinite(noise->same[i]) && isfinite(noise->other[i]);
    }
    return finite;
}

sal_status sali_noise_create(const sal_space *space, int64_t T, const double *keep,
                             const double *log_base, sali_noise **out, sal_error *err)
{
    sali_noise *noise = SALI_NEW(sali_noise);
    if (!noise) {
        return sali_fail_memory(err);
    }
    noise->space = sali_space_clone(space);
    noise->T = T;
    sal_status status = noise->space ? check_noise(space, T, keep, err) : sali_fail_memory(err);
    status = status ? status : sali_base_create(space, log_base, &noise->log_base, err);
    if (status == SAL_OK) {
        noise->keep = sali_memory_copy(&noise->memory, keep, T + 1, sizeof *keep);
        noise->share = SALI_TAKE(&noise->memory, double, space->n_states);
        noise->same = SALI_TAKE(&noise->memory, double, T * space->n_states);
        noise->other = SALI_TAKE(&noise->memory, double, T * space->n_states);
        status = sali_memory_status(&noise->memory, err);
    }
    if (status == SAL_OK && !fill_tables(noise)) {
        status = sali_fail(err, SAL_ERR_ARGUMENT,
                           "noise: a state of p_0 has a probability of 0, or a share is too near "
                           "the one before");
    }
    return SALI_GIVE(status, noise, out, sali_noise_destroy);
}

void sali_noise_destroy(sali_noise *noise)
{
    if (noise) {
        sal_space_destroy(noise->space);
        sali_free(noise->log_base);
        sali_memory_free(&noise->memory);
        sali_free(noise);
    }
}

/* ---- states */

void sali_noise_add(const sali_noise *noise, int64_t from, int64_t to, const sali_stream *stream,
                    double *uniform, const int32_t *codes, int32_t *noisy)
{
    const int64_t V = noise->space->n_variables;
    const double kept = noise->keep[to] / noise->keep[from], *share = noise->share;
    sali_rng_uniform_f64(stream, 2 * V, uniform);
    for (int64_t v = 0; v < V; v++) {
        const int32_t last = noise->space->variables[v].states - 1;
        int32_t code = codes[v];
        if (uniform[v] >= kept) {
            double left = uniform[V + v] - share[0];
            code = 0;
            while (code < last && left > 0) {
                left -= share[++code];
            }
        }
        noisy[v] = code;
        share += last + 1;
    }
}

double sali_noise_field(const sali_noise *noise, int64_t t, const int32_t *above, sal_dtype dtype,
                        void *field)
{
    const double *same_at = noise->same + t * noise->space->n_states;
    const double *other_at = noise->other + t * noise->space->n_states;
    double constant = 0;
    for (int64_t i = 0; i < noise->space->n_variables; i++) {
        const sali_variable *v = &noise->space->variables[i];
        const double same = same_at[above[i]], other = other_at[above[i]];
        if (v->kind == SAL_CATEGORICAL) {
            for (int32_t k = 0; k < v->states; k++) {
                sali_store(dtype, field, v->offset + k, k == above[i] ? same - other : 0);
            }
            constant += other;
        } else {
            const double low = above[i] == 0 ? same : other, high = above[i] == 0 ? other : same;
            const double weight = (high - low) / (sali_level(v, 1) - sali_level(v, 0));
            sali_store(dtype, field, v->offset, weight);
            constant += low - weight * sali_level(v, 0);
        }
        same_at += v->states;
        other_at += v->states;
    }
    return constant;
}
