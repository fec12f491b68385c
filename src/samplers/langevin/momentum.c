/* SPDX-License-Identifier: MIT */
#include "samplers/langevin/momentum.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/object.h"
#include "samplers/langevin/auxiliary.h"

#define BY_TYPE(chains, name) ((chains)->model->dtype == SAL_F32 ? name##_f32 : name##_f64)

static void *chain_row(const sali_chains *chains, void *rows, int64_t c)
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

int64_t sali_momentum_state(sali_auxiliary_state *a, sali_state_item *items)
{
    const sali_momentum *m = &a->momentum;
    const sali_chains *chains = a->chains;
    const bool single = chains->model->dtype == SAL_F32;
    if (!(m->a > 0)) {
        return 0;
    }
    sali_momentum_settle(a);
    items[0] = (sali_state_item){ .name = "momentum",
                                  .type = single ? SALI_DTYPE_F32 : SALI_DTYPE_F64,
                                  .count = chains->n * chains->space->width,
                                  .data = m->zeta,
                                  .kept = SALI_STATE_KEPT };
    items[0] = sali_state_within(items[0], -FLT_MAX, FLT_MAX);
    return 1;
}

/* After a change of parameters another shard may have replaced M already: then the result is wrong,
 * and sali_momentum_check drops it. */
void sali_momentum_settle(sali_auxiliary_state *a)
{
    sali_momentum *m = &a->momentum;
    const sali_chains *chains = a->chains;
    if (!m->carried) {
        return;
    }
    pthread_mutex_lock(&a->preconditioner->lock);
    BY_TYPE(chains, sali_auxiliary_product)
    (chains->n, chains->space->width, a->w, a->preconditioner->Q_transposed_panels, m->zeta);
    pthread_mutex_unlock(&a->preconditioner->lock);
    BY_TYPE(chains, sali_divide_each)(chains->n * chains->space->width, a->scale, m->zeta);
    m->carried = false;
}

void sali_momentum_check(sali_auxiliary_state *a)
{
    sali_momentum *m = &a->momentum;
    const sali_chains *chains = a->chains;
    const sali_preconditioner *p = a->preconditioner;
    if (!m->zeta || !p || p->kind != SALI_PRECONDITIONER_HESSIAN) {
        return;
    }
    if (m->of != 0 && m->of != p->prepared) {
        memset(m->zeta, 0, (size_t)(chains->n * chains->space->width) * chains->element);
    }
    m->of = p->prepared;
}

/* Whether no u is kept of chain c: its zeta is all zeros. */
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
    (chains->space->width, keep, sqrt(1 - keep * keep), noise, chain_row(chains, m->zeta, c));
}

void sali_momentum_carry(sali_auxiliary_state *a, const sali_chains *chains, const void *noise)
{
    const sali_momentum *m = &a->momentum;
    const int64_t N = chains->space->width;
    BY_TYPE(chains, sali_auxiliary_product)
    (chains->n, N, noise, a->preconditioner->Q_panels, m->v);
    BY_TYPE(chains, sali_mix)(chains->n * N, m->a, sqrt(1 - m->a * m->a), m->v, a->w);
}

/* c of chain c into `to`, and y of its reverse proposal; `product` is M d [n x N] or NULL. */
static void fill_change(sali_auxiliary_state *a, const sali_chains *chains, int64_t c,
                        const void *w, const void *product, void *to)
{
    const double phi = a->exact ? 1 : a->momentum.phi;
    BY_TYPE(chains, sali_momentum_change)
    (chains->space->width, a->delta[c], chain_row(chains, chains->x, c),
     chain_row(chains, chains->x_new, c), chain_row(chains, (void *)w, c), (1 - phi) * a->factor[c],
     product ? chain_row(chains, (void *)product, c) : NULL, phi, chain_row(chains, a->gradient, c),
     chain_row(chains, chains->gradient, c), to, chain_row(chains, a->y, c));
}

void sali_momentum_propose(sali_auxiliary_state *a, const sali_chains *chains, const void *w,
                           const void *product)
{
    const sali_momentum *m = &a->momentum;
    const int64_t N = chains->space->width;
    void *from = a->flat || a->exact ? m->v : a->noise;
    for (int64_t c = 0; c < chains->n; c++) {
        if (m->corrects || a->exact) {
            fill_change(a, chains, c, w, product, chain_row(chains, from, c));
        } else {
            BY_TYPE(chains, sali_subtract)
            (N, chain_row(chains, chains->x_new, c), chain_row(chains, chains->x, c),
             chain_row(chains, from, c));
        }
    }
    if (a->exact) { /* w changes by c itself */
        return;
    }
    if (!a->flat) {
        BY_TYPE(chains, sali_auxiliary_product)
        (chains->n, N, from, a->preconditioner->Q_transposed_panels, m->v);
    }
    for (int64_t c = 0; c < chains->n; c++) {
        double root = sqrt(a->delta[c]);
        if (a->flat) {
            BY_TYPE(chains, sali_scale_all)
            (N, m->corrects ? 1 / root : root, chain_row(chains, m->v, c));
        } else if (m->corrects) {
            BY_TYPE(chains, sali_divide_each)
            (N, chain_row(chains, a->scale, c), chain_row(chains, m->v, c));
        } else {
            BY_TYPE(chains, sali_scale_each)
            (N, chain_row(chains, a->scale, c), chain_row(chains, m->v, c));
        }
    }
}

double sali_momentum_ratio(const sali_auxiliary_state *a, const sali_chains *chains, int64_t c)
{
    return BY_TYPE(chains, sali_turn_ratio)(chains->space->width,
                                            chain_row(chains, a->momentum.zeta, c),
                                            chain_row(chains, a->momentum.v, c));
}

void sali_momentum_decide(sali_auxiliary_state *a, const sali_chains *chains)
{
    sali_momentum *m = &a->momentum;
    void *turned = a->exact ? a->w : m->zeta;
    for (int64_t c = 0; c < chains->n; c++) {
        BY_TYPE(chains, sali_turn)
        (chains->space->width, chains->accepted[c] ? chain_row(chains, m->v, c) : NULL,
         chain_row(chains, turned, c));
    }
    m->carried = a->exact;
}
