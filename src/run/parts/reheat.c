/* SPDX-License-Identifier: MIT */
/* Annealing that heats again when it stagnates (ReSCO 2025).
 *
 * The first cooling takes a quarter of the steps. The specific heat at its temperatures comes from
 * the draws. ReSCO heats to where it is largest; where f has penalties, that is far above the
 * temperatures that matter. So later coolings begin a little above the coldest temperature at which
 * chains still move much: where the specific heat is a tenth of the largest. At each heating the
 * worst chains go on from the best state that any chain met.
 *
 * All is decided between windows by the calling thread, from draws and states in the order of the
 * chains, so it does not depend on the number of threads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "run/run.h"
#include "run/sync.h"

/* The first cooling, and each later one at most, as a part of all steps. */
#define FIRST_PART 4
#define LATER_PART 8
/* Chains are frozen where the specific heat is below this part of the largest; later coolings begin
 * this much above the coldest temperature at which they are not. */
#define FROZEN_PART 10.0
#define ABOVE 1.5
/* A search stagnates when the mean of f changes by less than this part of it, from one look to the
 * next: after so many draws, or fewer in short runs. */
#define STAGNANT 0.01
#define PATIENCE 100
#define LEAST_LOOKS 16
/* Of the chains, one in so many is moved to the best state. */
#define SHARED_PART 4

static int64_t all_steps(const sal_run *run)
{
    return run->options.draws * run->options.thin;
}

static int64_t patience(const sal_run *run)
{
    const int64_t part = run->options.draws / LEAST_LOOKS;
    return part < 1 ? 1 : part > PATIENCE ? PATIENCE : part;
}

/* Steps of the present cooling. */
static double length_of(const sal_run *run)
{
    const int64_t part = run->heating.reheats > 0 ? LATER_PART : FIRST_PART;
    const double steps = (double)all_steps(run) / (double)part;
    return steps > 1 ? steps : 1;
}

double sali_reheat_temperature(const sal_run *run, int64_t step)
{
    const double top = run->heating.reheats > 0 ? run->heating.peak : run->anneal_from;
    const double share = (double)(step - run->heating.begun) / length_of(run);
    return share < 1 ? top * pow(run->anneal_to / top, share) : run->anneal_to;
}

/* ---- the specific heat */

int64_t sali_heat_edge(int64_t n, const double *heat)
{
    double largest = 0;
    int64_t edge = 0;
    for (int64_t k = 0; k < n; k++) {
        largest = fmax(largest, heat[k]);
    }
    for (int64_t k = 0; largest > 0 && k < n; k++) {
        edge = heat[k] * FROZEN_PART >= largest ? k : edge;
    }
    return edge;
}

/* The variance of f at draws first .. last - 1, by differences of successive draws: it is not
 * raised by the fall of the temperature, nor by chains that are frozen at different f. */
static double variance(const sal_run *run, int64_t first, int64_t last)
{
    double sum = 0, n = 0;
    const int64_t row = run->over ? run->draws_made : run->options.draws;
    for (int64_t c = 0; c < run->options.chains; c++) {
        const double *f = run->log_prob + c * row;
        for (int64_t d = first + 1; d < last; d++) {
            if (isfinite(f[d]) && isfinite(f[d - 1])) {
                sum += (f[d] - f[d - 1]) * (f[d] - f[d - 1]) / 2;
                n++;
            }
        }
    }
    return n > 0 ? sum / n : 0;
}

double sali_heat_temperature(const sal_run *run)
{
    const int64_t draws = run->draws_made;
    double heat[SALI_HEAT_BINS], T[SALI_HEAT_BINS];
    for (int64_t k = 0; k < SALI_HEAT_BINS; k++) {
        const int64_t first = k * draws / SALI_HEAT_BINS, last = (k + 1) * draws / SALI_HEAT_BINS;
        T[k] = sali_anneal_temperature_at(run, (first + last) / 2 * run->options.thin);
        heat[k] = variance(run, first > 0 ? first - 1 : 0, last) / (T[k] * T[k]);
    }
    return fmin(ABOVE * T[sali_heat_edge(SALI_HEAT_BINS, heat)], run->anneal_from);
}

/* ---- sharing the best state */

static int by_f(const void *a, const void *b)
{
    const sali_standing *x = a, *y = b;
    return x->f != y->f ? (x->f > y->f) - (x->f < y->f)
                        : (x->chain > y->chain) - (x->chain < y->chain);
}

sal_status sali_share_best(sal_run *run, sal_error *err)
{
    const int64_t V = run->model->space->n_variables, some = run->options.chains / SHARED_PART;
    sali_standing *all = run->heating.standings;
    int64_t n = 0;
    bool known = false;
    sal_status status = sali_sync_best(run, err);
    status = status ? status : sali_sync_best_codes(run, run->heating.best, &known, err);
    if (status != SAL_OK) {
        return status;
    }
    for (int64_t k = 0; k < run->n_shards; k++) {
        sali_run_shard *shard = &run->shards[k];
        for (int64_t c = 0; c < shard->chains->n; c++, n++) {
            all[n] = (sali_standing){ .f = shard->chains->f[c], .shard = shard, .chain = n };
        }
    }
    qsort(all, (size_t)n, sizeof *all, by_f);
    for (int64_t k = 0; known && k < some; k++) {
        sali_run_shard *shard = all[k].shard;
        const int64_t c = all[k].chain - shard->first;
        if (shard->self) { /* of this rank */
            memcpy(shard->chains->codes + c * V, run->heating.best,
                   (size_t)V * sizeof *run->heating.best);
            shard->moved = true;
        }
    }
    for (int64_t k = run->ranks.first; k < run->ranks.end; k++) {
        sali_run_shard *shard = &run->shards[k];
        if (shard->moved) {
            sali_chains_embed(shard->chains);
            sali_sampler_forget(run->sampler, shard->self);
            shard->moved = false;
        }
    }
    return SAL_OK;
}

/* ---- when */

static double mean_of(const sal_run *run, int64_t first, int64_t last)
{
    double sum = 0;
    for (int64_t c = 0; c < run->options.chains; c++) {
        for (int64_t d = first; d < last; d++) {
            sum += run->log_prob[c * run->options.draws + d];
        }
    }
    return sum / (double)(run->options.chains * (last - first));
}

/* Whether it is time to look, and the mean of f is what it was at the last look. */
static bool stagnates(sal_run *run)
{
    sali_heating *h = &run->heating;
    const int64_t n = patience(run);
    if (run->draws_made - h->looked < n || run->draws_made < 2 * n) {
        return false;
    }
    const double now = mean_of(run, run->draws_made - n, run->draws_made);
    const double before = mean_of(run, run->draws_made - 2 * n, run->draws_made - n);
    h->looked = run->draws_made;
    return !(fabs(now - before) > STAGNANT * fabs(before));
}

sal_status sali_reheat(sal_run *run, bool *changed, sal_error *err)
{
    sali_heating *h = &run->heating;
    const double over = (double)(run->steps - h->begun) / length_of(run);
    /* at the ends of whole windows, which do not depend on what is shown */
    if (run->steps % SALI_SAMPLE_WINDOW != 0 || run->steps >= all_steps(run) ||
        (h->reheats == 0 && over < 1)) {
        return SAL_OK;
    }
    if (!stagnates(run) && over < 1) {
        return SAL_OK;
    }
    if (h->reheats == 0) {
        h->peak = sali_heat_temperature(run);
    }
    h->reheats++;
    h->begun = run->steps;
    h->looked = run->draws_made;
    *changed = true;
    for (int64_t k = 0; k < run->n_shards; k++) {
        sali_set_temperature(run->shards[k].chains, h->peak);
    }
    return sali_share_best(run, err);
}
