/* SPDX-License-Identifier: MIT */
#include "samplers/relaxed/relaxation.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/object.h"

static void points_create(sali_relaxation *r, sali_relaxed *p)
{
    p->y = SALI_OBJECT_ARRAY(r, double, r->n * r->V);
    p->f = SALI_OBJECT_ARRAY(r, double, r->n);
    p->log_p = SALI_OBJECT_ARRAY(r, double, r->n);
    p->slope = SALI_OBJECT_ARRAY(r, double, r->n * r->V);
}

void sali_relaxation_create(sali_relaxation *r, const sali_chains *chains, double temperature)
{
    r->n = chains->n;
    r->V = chains->space->n_variables;
    r->temperature = temperature;
    r->unit = sali_default_step_size(chains->space, 1);
    r->made = SALI_OBJECT_ARRAY(r, bool, r->n);
    r->x = sali_object_array(r, r->n * r->V, chains->element);
    points_create(r, &r->now);
    points_create(r, &r->next);
}

static double sigmoid(double t)
{
    double e = exp(-fabs(t));
    return (t >= 0 ? 1 : e) / (1 + e);
}

/* Returns ds/dy of one variable at y; *s receives s(y). */
static double relax_variable(const sali_relaxation *r, const sali_variable *v, double y, double *s)
{
    double p = sigmoid(y / r->temperature), width = v->levels[1] - v->levels[0];
    *s = v->levels[0] + width * p;
    return width * p * (1 - p) / r->temperature;
}

/* log_p and slope of chain c from f and the gradient at s(y). An entry of the gradient that is not
 * finite counts as 0, which leaves the slope of the base: a leapfrog step stays valid with any
 * function of y. */
static void chain_rule(const sali_relaxation *r, const sali_chains *chains, int64_t c,
                       sali_relaxed *at)
{
    int64_t V = chains->space->n_variables;
    double square = 0;
    for (int64_t v = 0; v < V; v++) {
        double s, y = at->y[c * V + v];
        double rise = relax_variable(r, &chains->space->variables[v], y, &s);
        double g =
            chains->beta[c] * rise * sali_load(chains->model->dtype, chains->gradient, c * V + v);
        at->slope[c * V + v] = (isfinite(g) ? g : 0) - y;
        square += y * y;
    }
    double log_p = chains->beta[c] * at->f[c] - square / 2;
    at->log_p[c] = isfinite(log_p) ? log_p : -INFINITY;
}

void sali_relaxation_evaluate(sali_relaxation *r, sali_chains *chains, sali_relaxed *at)
{
    int64_t V = chains->space->n_variables;
    for (int64_t k = 0; k < chains->n * V; k++) {
        double s;
        relax_variable(r, &chains->space->variables[k % V], at->y[k], &s);
        sali_store(chains->model->dtype, r->x, k, s);
    }
    sali_gradient(chains->evaluator, chains->n, NULL, r->x, at->f, chains->gradient);
    for (int64_t c = 0; c < chains->n; c++) {
        chain_rule(r, chains, c, at);
    }
}

/* Whether chain c has a point, and the point lies in the orthant of the chain's codes. */
static bool fits_codes(const sali_relaxation *r, const sali_chains *chains, int64_t c)
{
    int64_t V = chains->space->n_variables;
    bool fit = r->made[c];
    for (int64_t k = c * V; k < (c + 1) * V; k++) {
        fit &= (r->now.y[k] > 0) == (chains->codes[k] == 1);
    }
    return fit;
}

int64_t sali_relaxation_state(void *shared, void *self, sali_state_item *items)
{
    sali_relaxation *r = self;
    (void)shared;
    if (!r) {
        return 0;
    }
    items[0] = sali_state_within(sali_state_u8("made", r->n, (uint8_t *)r->made), 0, 1);
    items[1] = sali_state_reals("y", r->n * r->V, r->now.y);
    return 2;
}

void sali_relaxation_refresh(void *self, sali_chains *chains)
{
    sali_relaxation *r = self;
    int64_t V = chains->space->n_variables;
    for (int64_t c = 0; c < chains->n; c++) {
        double *y = r->now.y + c * V;
        if (fits_codes(r, chains, c)) {
            continue;
        }
        sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_RELAXATION);
        sali_rng_normal(&stream, V, y);
        for (int64_t v = 0; v < V; v++) {
            double size = fmax(fabs(y[v]), 1e-12);
            y[v] = chains->codes[c * V + v] ? size : -size;
        }
        r->made[c] = true;
    }
    sali_chains_start(chains, false);
    sali_relaxation_evaluate(r, chains, &r->now);
}

void sali_relaxation_propose(sali_relaxation *r, sali_chains *chains)
{
    for (int64_t k = 0; k < chains->n * chains->space->n_variables; k++) {
        chains->codes_new[k] = r->next.y[k] > 0;
    }
    sali_model_embed(chains->model, chains->n, chains->codes_new, chains->x_new);
    sali_chains_propose(chains, false);
}

void sali_relaxation_decide(sali_relaxation *r, sali_chains *chains)
{
    int64_t V = chains->space->n_variables;
    for (int64_t c = 0; c < chains->n; c++) {
        if (chains->f_new[c] == -INFINITY) {
            chains->log_ratio[c] = -INFINITY;
        }
    }
    sali_chains_decide(chains);
    for (int64_t c = 0; c < chains->n; c++) {
        if (chains->accepted[c]) {
            memcpy(r->now.y + c * V, r->next.y + c * V, (size_t)V * sizeof *r->now.y);
            memcpy(r->now.slope + c * V, r->next.slope + c * V, (size_t)V * sizeof *r->now.slope);
            r->now.f[c] = r->next.f[c];
            r->now.log_p[c] = r->next.log_p[c];
        }
    }
    sali_chains_tick(chains);
}
