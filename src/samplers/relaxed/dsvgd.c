/* SPDX-License-Identifier: MIT */
/* Discrete Stein variational gradient descent (Han et al. 2020, in Grathwohl et al. 2021, sec. 5):
 * the chains are particles y of a relaxation (samplers/relaxed/relaxation.h) that move together,
 *
 *   y_c += eps sum over j of w_j (k(y_j, y_c) slope(y_j) + d/dy_j k(y_j, y_c)),
 *   k(y, y') = exp(-|y - y'|^2 / (2 bandwidth V)),
 *
 * towards high density and away from each other. w_j, which sum to 1, are proportional to
 * p(y_j) over the same with f of the thresholded state: they correct for the relaxation to first
 * order. Nothing is random after the start, and the particles come to rest: the draws are one
 * sample of as many states as there are chains. */
#include <math.h>

#include "core/object.h"
#include "samplers/relaxed/relaxation.h"

enum { BANDWIDTH = SALI_RELAXATION_SETTINGS };

static const sal_setting known_settings[] = {
    SALI_TEMPERATURE_SETTING,
    { "bandwidth", 1, 1e-6, 1e6, false, "of the kernel, mean squared distance by variable", NULL },
    { 0 },
};

typedef struct dsvgd {
    sali_relaxation relaxation;
    double bandwidth;
    double *w; /* [n] */
} dsvgd;

/* Creates a shard's state; one shard has all chains. */
static sal_status dsvgd_create(const sali_chains *chains, const sali_sampler_settings *settings,
                               void *shared, void **self, sal_error *err)
{
    (void)shared;
    dsvgd *d = SALI_OBJECT(dsvgd);
    if (d) {
        d->bandwidth = settings->values[BANDWIDTH];
        d->w = SALI_OBJECT_ARRAY(d, double, chains->n);
        sali_relaxation_create(&d->relaxation, chains,
                               settings->values[SALI_RELAXATION_TEMPERATURE]);
    }
    return sali_object_give(d, self, err);
}

/* d->w = the weights of the particles, which sum to 1; 0 for a particle whose f, relaxed or
 * thresholded, is not finite. */
static void weigh_particles(dsvgd *d, const sali_chains *chains)
{
    double largest = -INFINITY, sum = 0;
    for (int64_t c = 0; c < chains->n; c++) {
        double log_w = chains->beta[c] * (d->relaxation.now.f[c] - chains->f[c]);
        d->w[c] = isfinite(log_w) ? log_w : -INFINITY;
        largest = fmax(largest, d->w[c]);
    }
    for (int64_t c = 0; c < chains->n; c++) {
        d->w[c] = d->w[c] > -INFINITY ? exp(d->w[c] - largest) : 0;
        sum += d->w[c];
    }
    for (int64_t c = 0; sum > 0 && c < chains->n; c++) {
        d->w[c] /= sum;
    }
}

/* Add particle j's pull and push, times `size`, to the next point of particle c. */
static void add_interaction(const dsvgd *d, int64_t V, int64_t j, int64_t c, double size)
{
    const sali_relaxed *now = &d->relaxation.now;
    const double *from = now->y + j * V, *at = now->y + c * V, *slope = now->slope + j * V;
    double *next = d->relaxation.next.y + c * V;
    double square = 0, scale = d->bandwidth * (double)V;
    for (int64_t v = 0; v < V; v++) {
        square += (from[v] - at[v]) * (from[v] - at[v]);
    }
    double k = size * exp(-square / (2 * scale));
    for (int64_t v = 0; v < V; v++) {
        next[v] += k * (slope[v] + (at[v] - from[v]) / scale);
    }
}

/* Move all particles at once; a particle stays where the new point has no density. */
static void dsvgd_step(void *self, sali_chains *chains)
{
    dsvgd *d = self;
    sali_relaxation *r = &d->relaxation;
    int64_t V = chains->space->n_variables;
    weigh_particles(d, chains);
    for (int64_t k = 0; k < chains->n * V; k++) {
        r->next.y[k] = r->now.y[k];
    }
    for (int64_t c = 0; c < chains->n; c++) {
        double eps = chains->step_size[c] / r->unit;
        for (int64_t j = 0; j < chains->n; j++) {
            add_interaction(d, V, j, c, eps * d->w[j]);
        }
    }
    sali_relaxation_evaluate(r, chains, &r->next);
    sali_relaxation_propose(r, chains);
    for (int64_t c = 0; c < chains->n; c++) {
        chains->log_ratio[c] = r->next.log_p[c] > -INFINITY ? INFINITY : -INFINITY;
    }
    sali_relaxation_decide(r, chains);
}

const sali_sampler sali_sampler_d_svgd = {
    .name = "d-svgd",
    .doc = "discrete Stein variational gradient descent: the chains are particles that interact",
    .source = "Han et al. 2020; Grathwohl et al. 2021, sec. 5",
    .needs_gradient = true,
    .has_step_size = true,
    .unadjusted = true,
    .kinds = SAL_MOVES_BINARY | SAL_MOVES_SPIN,
    .settings = known_settings,
    .engine =
        &(const sal_sampler_engine){
            .coupled = true,
            .create = dsvgd_create,
            .destroy = sali_object_free,
            .refresh = sali_relaxation_refresh,
            .state = sali_relaxation_state,
            .step = dsvgd_step,
        },
};
