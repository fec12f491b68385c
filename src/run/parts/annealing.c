/* SPDX-License-Identifier: MIT */
/* Annealing: schedules of temperatures (Kirkpatrick, Gelatt & Vecchi 1983). */
#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "run/ascent.h"
#include "run/run.h"
#include "run/sync.h"

/* The usual temperatures. The first is the mean size of a difference, where it is smaller: at the
 * starts, or at states from which no single change leads up. A step down by that much is accepted
 * with probability 1/e. (Random starts break many penalties, and have differences far larger than
 * those that matter.) The last is d / (1 + log V), d a small size at the latter states:
 * of V variables that can step down by d about one does so in three sweeps. */

/* Temperatures that a cooling goes through; with heating there are several short ones. */
#define LEVELS 256
#define SHORT_COOLINGS 4

/* Chains that are looked at, and entries of all of them. */
#define CHAINS 8
#define ENTRIES (INT64_C(1) << 22)
/* Where f does not vary; and the least range. */
#define FLAT_FROM 1.0
#define LEAST_RANGE 10.0

static sal_status find_range(sal_run *run, double *from, double *to, sal_error *err)
{
    const sali_chains *chains = run->shards[0].chains;
    const sal_space *space = chains->space;
    int64_t n = ENTRIES / space->n_states;
    n = n < 1 ? 1 : n > CHAINS ? CHAINS : n;
    n = n < chains->n ? n : chains->n;
    sali_sizes_seen seen = { 0 };
    int32_t *codes = sali_memdup(chains->codes, n * space->n_variables, sizeof *codes);
    sal_status status = codes ? sali_ascend(run->model, n, codes, run->options.seed, &seen, err)
                              : sali_fail_memory(err);
    *from =
        seen.mean_at_ends > 0 ? fmin(seen.mean_at_starts, seen.mean_at_ends) : seen.mean_at_starts;
    *from = *from > 0 ? *from : FLAT_FROM;
    *to = seen.small / (1 + log((double)space->n_variables));
    *to = *to > 0 && *to < *from / LEAST_RANGE ? *to : *from / LEAST_RANGE;
    sali_free(codes);
    return status;
}

sal_status sali_anneal_range(sal_run *run, sal_error *err)
{
    const sal_run_options *o = &run->options;
    double from = o->annealing.from, to = o->annealing.to;
    if (from == 0 || to == 0) {
        double found[2] = { from, to };
        sal_status status =
            sali_ranks_own(&run->ranks, 0) ? find_range(run, &found[0], &found[1], err) : SAL_OK;
        status = sali_sync_status(run, status, err);
        status = status ? status : sali_sync_value(run, found, sizeof found, err);
        if (status != SAL_OK) {
            return status;
        }
        from = found[0];
        to = found[1];
    }
    run->anneal_from = o->annealing.from > 0 ? o->annealing.from : from;
    run->anneal_to = o->annealing.to > 0     ? o->annealing.to
                     : to < run->anneal_from ? to
                                             : run->anneal_from / LEAST_RANGE;
    if (run->anneal_to > run->anneal_from) {
        return sali_fail(
            err, SAL_ERR_ARGUMENT, "annealing from temperature %g%s to %g; expected it to fall",
            run->anneal_from, o->annealing.from > 0 ? "" : " (computed from f)", run->anneal_to);
    }
    return SAL_OK;
}

static bool is_linear(const sal_run *run)
{
    const sal_annealing_schedule schedule = run->options.annealing.schedule;
    return schedule == SAL_ANNEAL_LINEAR || schedule == SAL_ANNEAL_RLSA;
}

double sali_anneal_temperature(const sal_run *run, double share)
{
    return is_linear(run) ? fmax(run->anneal_from * (1 - share), run->anneal_to)
                          : run->anneal_from * pow(run->anneal_to / run->anneal_from, share);
}

double sali_anneal_temperature_at(const sal_run *run, int64_t step)
{
    const int64_t steps = run->options.draws * run->options.thin, level = sali_anneal_level(run);
    if (run->options.annealing.schedule == SAL_ANNEAL_REHEAT) {
        return sali_reheat_temperature(run, step);
    }
    if (is_linear(run) && level < steps && step + level >= steps) {
        return run->anneal_to; /* from the level before it may be far */
    }
    return sali_anneal_temperature(run, (double)step / (double)steps);
}

int64_t sali_anneal_level(const sal_run *run)
{
    const bool reheats = run->options.annealing.schedule == SAL_ANNEAL_REHEAT;
    const int64_t steps = run->options.draws * run->options.thin;
    const int64_t levels = reheats ? SHORT_COOLINGS * LEVELS : LEVELS;
    return steps > levels ? steps / levels : 1;
}

void sali_set_temperature(sali_chains *chains, double temperature)
{
    for (int64_t c = 0; c < chains->n; c++) {
        chains->beta[c] = 1 / temperature;
    }
}
