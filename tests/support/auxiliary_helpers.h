/* SPDX-License-Identifier: MIT */
/* Benches of samplers with Gaussian auxiliary variables, on small models. */
#ifndef AUXILIARY_HELPERS_H
#define AUXILIARY_HELPERS_H

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

static inline TCase *new_case(Suite *suite, const char *name)
{
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, 240);
    suite_add_tcase(suite, tcase);
    return tcase;
}

#endif
