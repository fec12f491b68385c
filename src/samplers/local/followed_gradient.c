/* SPDX-License-Identifier: MIT */
#include "samplers/local/followed_gradient.h"

#include <math.h>
#include <string.h>

#include "core/object.h"

/* Gradients and f are made anew at multiples of this many steps. */
#define RENEW_EVERY 4096

void sali_followed_gradient_open(sali_followed_gradient *g, void *object, const sali_chains *chains,
                                 sali_couplings *couplings)
{
    int64_t N = chains->space->width;
    g->couplings = couplings;
    if (couplings) {
        g->rows = sali_object_array(object, 2 * chains->n * N, chains->element);
        g->current = SALI_OBJECT_ARRAY(object, uint8_t, chains->n);
        g->coordinate = SALI_OBJECT_ARRAY(object, int64_t, N);
        g->change = SALI_OBJECT_ARRAY(object, double, N);
        g->weight = SALI_OBJECT_ARRAY(object, double, N);
    }
}

void *sali_followed_gradient_now(const sali_followed_gradient *g, const sali_chains *chains,
                                 int64_t c)
{
    return sali_row(chains, g->rows, 2 * c + g->current[c], chains->space->width);
}

void *sali_followed_gradient_next(const sali_followed_gradient *g, const sali_chains *chains,
                                  int64_t c)
{
    return sali_row(chains, g->rows, 2 * c + 1 - g->current[c], chains->space->width);
}

void sali_followed_gradient_start(sali_followed_gradient *g, sali_chains *chains)
{
    int64_t N = chains->space->width;
    g->values = g->couplings ? sali_couplings_values(g->couplings) : NULL;
    g->values = g->values && g->values->finite ? g->values : NULL;
    sali_chains_start(chains, true);
    for (int64_t c = 0; g->values && c < chains->n; c++) {
        memcpy(sali_followed_gradient_now(g, chains, c), sali_row(chains, chains->gradient, c, N),
               (size_t)N * chains->element);
    }
}

bool sali_followed_gradient_renew(sali_followed_gradient *g, sali_chains *chains, int64_t c)
{
    int64_t V = chains->space->n_variables, N = chains->space->width;
    if (chains->step[c] % RENEW_EVERY != 0) {
        return false;
    }
    void *gradient = sali_followed_gradient_now(g, chains, c);
    sali_gradient(chains->evaluator, 1, chains->codes + c * V, sali_row(chains, chains->x, c, N),
                  &chains->f[c], gradient);
    sali_chains_temper(chains, c, N, gradient);
    return true;
}

/* List where the proposed state of chain c differs; the number of coordinates. */
static int64_t list_changes(sali_followed_gradient *g, const sali_chains *chains, int64_t c)
{
    const sal_space *space = chains->space;
    const int32_t *from = chains->codes + c * space->n_variables;
    const int32_t *to = chains->codes_new + c * space->n_variables;
    int64_t k = 0;
    for (int64_t i = 0; i < space->n_variables; i++) {
        const sali_variable *v = &space->variables[i];
        if (from[i] == to[i]) {
            continue;
        }
        if (v->kind == SAL_CATEGORICAL) {
            g->coordinate[k] = v->offset + from[i];
            g->change[k++] = -1;
            g->coordinate[k] = v->offset + to[i];
            g->change[k++] = 1;
        } else {
            g->coordinate[k] = v->offset;
            g->change[k++] = sali_level(v, to[i]) - sali_level(v, from[i]);
        }
    }
    for (int64_t j = 0; j < k; j++) {
        g->weight[j] = chains->beta[c] * g->values->scale * g->change[j];
    }
    return k;
}

static void follow(const sali_followed_gradient *g, const sali_chains *chains, int64_t k,
                   const void *now, void *next)
{
    int64_t N = chains->space->width;
    if (chains->model->dtype == SAL_F32) {
        sali_follow_rows_f32(N, g->values->J, k, g->coordinate, g->weight, now, next);
    } else {
        sali_follow_rows_f64(N, g->values->J, k, g->coordinate, g->weight, now, next);
    }
}

void sali_followed_gradient_propose(sali_followed_gradient *g, sali_chains *chains)
{
    sal_dtype dtype = chains->model->dtype;
    for (int64_t c = 0; c < chains->n; c++) {
        const void *now = sali_followed_gradient_now(g, chains, c);
        void *next = sali_followed_gradient_next(g, chains, c);
        int64_t k = list_changes(g, chains, c);
        follow(g, chains, k, now, next);
        double rise = 0;
        for (int64_t j = 0; j < k; j++) {
            int64_t i = g->coordinate[j];
            rise += g->change[j] * (sali_load(dtype, now, i) + sali_load(dtype, next, i));
        }
        chains->f_new[c] = chains->f[c] + rise / (2 * chains->beta[c]);
        if (!(chains->f_new[c] < INFINITY)) {
            sali_chains_note_bad(chains, c, chains->codes_new, chains->f_new[c]);
        }
    }
}
