/* SPDX-License-Identifier: MIT */
#include "samplers/langevin/momentum.h"

#include <float.h>
#include <math.h>

#include "core/object.h"
#include "samplers/langevin/auxiliary.h"

#define BY_TYPE(chains, name) ((chains)->model->dtype == SAL_F32 ? name##_f32 : name##_f64)

static void *row(const sali_chains *chains, void *rows, int64_t c)
{
    return sali_row(chains, rows, c, chains->space->width);
}

void sali_momentum_create(sali_auxiliary_state *a, const sali_chains *chains,
                          const sali_sampler_settings *settings)
{
    sali_momentum *m = &a->momentum;
    m->a = sali_sampler_value(settings->sampler, settings, "momentum");
    m->phi = sali_sampler_value(settings->sampler, settings, "correction");
    if (m->a > 0 || m->phi > 0) {
        m->zeta = sali_object_array(a, chains->n * chains->space->width, chains->element);
        m->v = sali_object_array(a, chains->n * chains->space->width, chains->element);
    }
}

int64_t sali_momentum_state(const sali_momentum *m, const sali_chains *chains,
                            sali_state_item *items)
{
    const bool single = chains->model->dtype == SAL_F32;
    if (!(m->a > 0)) {
        return 0;
    }
    items[0] = (sali_state_item){ .name = "momentum",
                                  .type = single ? SALI_DTYPE_F32 : SALI_DTYPE_F64,
                                  .count = chains->n * chains->space->width,
                                  .data = m->zeta,
                                  .kept = SALI_STATE_KEPT };
    items[0] = sali_state_within(items[0], -FLT_MAX, FLT_MAX);
    return 1;
}

/* Whether nothing is kept of chain c. */
static bool is_new(const sali_momentum *m, const sali_chains *chains, int64_t c)
{
    const int64_t N = chains->space->width;
    int64_t k = 0;
    while (k < N && sali_load(chains->model->dtype, m->zeta, c * N + k) == 0) {
        k++;
    }
    return k == N;
}

void sali_momentum_draw(sali_auxiliary_state *a, const sali_chains *chains, int64_t c, void *noise)
{
    sali_momentum *m = &a->momentum;
    double keep = is_new(m, chains, c) ? 0 : m->a;
    BY_TYPE(chains, sali_mix)
    (chains->space->width, keep, sqrt(1 - keep * keep), noise, row(chains, m->zeta, c));
}

/* c of chain c, and the y of its way back. */
static void change(sali_auxiliary_state *a, const sali_chains *chains, int64_t c, const void *w,
                   const void *product, void *to)
{
    const double phi = a->momentum.phi;
    BY_TYPE(chains, sali_momentum_change)
    (chains->space->width, a->delta[c], row(chains, chains->x, c), row(chains, chains->x_new, c),
     row(chains, (void *)w, c), (1 - phi) * a->factor[c],
     product ? row(chains, (void *)product, c) : NULL, phi, row(chains, a->gradient, c),
     row(chains, chains->gradient, c), to, row(chains, a->y, c));
}

void sali_momentum_propose(sali_auxiliary_state *a, const sali_chains *chains, const void *w,
                           const void *product)
{
    const sali_momentum *m = &a->momentum;
    const int64_t N = chains->space->width;
    void *from = a->flat ? m->v : a->noise;
    for (int64_t c = 0; c < chains->n; c++) {
        if (m->corrects) {
            change(a, chains, c, w, product, row(chains, from, c));
        } else {
            BY_TYPE(chains, sali_subtract)
            (N, row(chains, chains->x_new, c), row(chains, chains->x, c), row(chains, from, c));
        }
    }
    if (!a->flat) {
        BY_TYPE(chains, sali_auxiliary_product)
        (chains->n, N, from, a->preconditioner->Q_transposed_panels, m->v);
    }
    for (int64_t c = 0; c < chains->n; c++) {
        double root = sqrt(a->delta[c]);
        if (a->flat) {
            BY_TYPE(chains, sali_scale_all)(N, m->corrects ? 1 / root : root, row(chains, m->v, c));
        } else if (m->corrects) {
            BY_TYPE(chains, sali_divide_each)(N, row(chains, a->scale, c), row(chains, m->v, c));
        } else {
            BY_TYPE(chains, sali_scale_each)(N, row(chains, a->scale, c), row(chains, m->v, c));
        }
    }
}

double sali_momentum_ratio(const sali_auxiliary_state *a, const sali_chains *chains, int64_t c)
{
    return BY_TYPE(chains, sali_turn_ratio)(chains->space->width, row(chains, a->momentum.zeta, c),
                                            row(chains, a->momentum.v, c));
}

void sali_momentum_decide(sali_auxiliary_state *a, const sali_chains *chains)
{
    const sali_momentum *m = &a->momentum;
    for (int64_t c = 0; c < chains->n; c++) {
        BY_TYPE(chains, sali_turn)
        (chains->space->width, chains->accepted[c] ? row(chains, m->v, c) : NULL,
         row(chains, m->zeta, c));
    }
}
