/* SPDX-License-Identifier: MIT */
/* Benches of samplers with Gaussian auxiliary variables, on small models. */
#ifndef AUXILIARY_HELPERS_H
#define AUXILIARY_HELPERS_H

#include "samplers/langevin/auxiliary.h"
#include "transition.h"

#define MOST TINY_MOST_REALS

/* What the library makes of G: symmetric, zeros between states of one categorical variable. */
static inline void intended_matrix(const sal_space *space, const double *G, double *M)
{
    int64_t N = space->width;
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < N; j++) {
            bool apart = i == j || sali_space_owner(space, i) != sali_space_owner(space, j);
            M[i * N + j] = apart ? (G[i * N + j] + G[j * N + i]) / 2 : 0;
        }
    }
}

static inline bench open_named(const char *specification, const sal_model *model,
                               const double *given, int64_t n)
{
    const sali_sampler *sampler;
    sali_sampler_settings settings;
    sal_error err;
    ck_ok(sali_sampler_choose(specification, model, 1, &sampler, &settings, &err), &err);
    settings.preconditioner = given;
    return bench_open(sampler, model, &settings, 1, n, 0);
}

/* ---- z, and the proposal given z, by what a bench knows of H and delta */

/* out = R v for the symmetric root R of H + delta I of chain c. */
static inline void times_root(const sali_auxiliary_state *a, int64_t c, int64_t N, const double *v,
                              double *out)
{
    const sali_preconditioner *p = a->preconditioner;
    for (int64_t i = 0; i < N; i++) {
        out[i] = a->flat ? sqrt(a->delta[c]) * v[i] : 0;
    }
    for (int64_t k = 0; !a->flat && k < N; k++) {
        double along = 0;
        for (int64_t i = 0; i < N; i++) {
            along += p->Q[k * N + i] * v[i];
        }
        along *= sqrt(a->factor[c] * p->lambda[k] + a->delta[c]);
        for (int64_t i = 0; i < N; i++) {
            out[i] += along * p->Q[k * N + i];
        }
    }
}

/* log N(z; R s, I), and y = R z - H s, of chain c. */
static inline double place_z(sali_auxiliary_state *a, const sali_chains *chains, int64_t c,
                             const double *z, double *work)
{
    const sali_preconditioner *p = a->preconditioner;
    int64_t N = chains->space->width;
    double *s = work, *mean = work + N, *y = work + 2 * N,
           log_p = -0.5 * (double)N * log(2 * acos(-1.0));
    for (int64_t i = 0; i < N; i++) {
        s[i] = sali_load(chains->model->dtype, chains->x, c * N + i);
    }
    times_root(a, c, N, s, mean);
    times_root(a, c, N, z, y);
    for (int64_t i = 0; i < N; i++) {
        log_p -= 0.5 * (z[i] - mean[i]) * (z[i] - mean[i]);
        for (int64_t j = 0; !a->flat && j < N; j++) {
            y[i] -= a->factor[c] * p->M[i * N + j] * s[j];
        }
        sali_store(chains->model->dtype, a->y, i, y[i]);
    }
    return log_p;
}

/* log q(z, to | present state), [n], of a bench: z [N], to [n x V]. */
static inline void joint_log_q(bench *b, const double *z, const int32_t *to, double *out)
{
    sali_auxiliary_state *a = b->self;
    sali_chains *chains = b->chains;
    const sal_space *space = chains->space;
    int64_t N = space->width, V = space->n_variables;
    double work[3 * MOST];
    for (int64_t c = 0; c < chains->n; c++) {
        out[c] = place_z(a, chains, c, z, work);
        const sali_factorised q = { .alpha = 1,
                                    .beta = 1,
                                    .b = -0.5 * a->delta[c],
                                    .gradient = sali_row(chains, a->gradient, c, N),
                                    .y = a->y };
        a->kernels->prepare(space, chains->codes + c * V, &q, &a->moves.rows[0]);
        out[c] += a->kernels->log_q(space, chains->codes + c * V, to + c * V, &a->moves.rows[0]);
    }
}

static inline TCase *new_case(Suite *suite, const char *name)
{
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, 240);
    suite_add_tcase(suite, tcase);
    return tcase;
}

#endif
