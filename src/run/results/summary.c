/* SPDX-License-Identifier: MIT */
/* The figures of a run. */
#include <float.h>
#include <math.h>
#include <string.h>

#include <saltus/program.h>
#include <saltus/stats.h>
#include "core/memory.h"
#include "core/error.h"
#include "core/number.h"
#include "models/exact/exact.h"
#include "models/exact/rounding.h"
#include "models/tape_model.h"
#include "run/parts/record.h"
#include "run/results/results.h"
#include "samplers/clusters/graph.h"

/* SHORT_WAIT: nanoseconds of estimated cost that take about a second: the estimate is right within
 * a factor of ten, and the quick estimate used here is up to twice the cost of the answer, for
 * which a good order is searched longer. LEAST_OF_STEP: a lower bound on the nanoseconds of one
 * step of a chain, to find answers that take less time than the run took. Neither depends on a
 * clock, so that the same run has the same summary whenever it is made. */
#define SHORT_WAIT 2e8
#define LEAST_OF_STEP 100.0

/* Set s->exact to an exact method that takes little time, if the draws cannot be trusted and there
 * is one; else to NULL. */
static sal_status summarise_exact(const sal_run *run, sal_run_summary *s, sal_error *err)
{
    const bool doubtful = s->approximate || s->unmoved > 0 || s->rhat_max > SAL_RHAT_LIMIT ||
                          s->stuck[0] >= 0 || s->unreached > 0;
    const char *oracle = NULL;
    double cost = INFINITY;
    s->exact = NULL;
    s->exact_is_short = false;
    if (!doubtful || s->annealed || s->draws < SALI_FEW_DRAWS) {
        return SAL_OK;
    }
    const double steps = (double)(run->warmup_done + run->steps) * (double)s->chains;
    const sal_status status = sali_exact_cost(run->model, &oracle, &cost, err);
    if (cost <= fmax(SHORT_WAIT, steps * (double)s->replicas * LEAST_OF_STEP)) {
        s->exact = oracle;
        s->exact_is_short = cost <= SHORT_WAIT;
    }
    return status == SAL_ERR_UNSUPPORTED || status == SAL_ERR_MODEL ? SAL_OK : status;
}

/* Set s->clusters where single variables seem to move too slowly, or not at all, and clusters of
 * them can: after the exact method, which is better where there is one. */
static void summarise_clusters(const sal_run *run, sal_run_summary *s)
{
    const bool doubtful = s->rhat_max > SAL_RHAT_LIMIT || isnan(s->ess_median);
    const bool used = strcmp(run->sampler->name, "swendsen-wang") == 0 ||
                      strcmp(run->sampler->name, "wolff") == 0;
    s->clusters = doubtful && !used && !s->annealed && !s->exact && s->draws >= SALI_FEW_DRAWS &&
                  sali_clusters_suit(run->model);
}

sal_status sal_run_summarise(const sal_run *run, sal_run_summary *summary, sal_error *err)
{
    if (sali_run_check_results(run, "sal_run_summarise", err) != SAL_OK) {
        return SAL_ERR_ARGUMENT;
    }
    const sal_run_options *o = &run->options;
    sal_run_summary s = {
        .model = run->base->name,
        .sampler = run->options.sampler,
        .approximate = run->sampler->unadjusted,
        .variables = run->base->space->n_variables,
        .chains = o->chains,
        .warmup = o->warmup,
        .draws = run->draws_made,
        .thin = o->thin,
        .seed = o->seed,
        .threads = sal_threads_number(o->threads),
        .stopped = run->stopped,
        .acceptance_rate = NAN,
        .mean_jump = NAN,
        .step_size = NAN,
        .step_size_target = NAN,
        .seconds = run->seconds,
        .warmup_seconds = run->warmup_seconds,
        .steps_per_second = run->seconds > 0 ? (double)run->steps / run->seconds : NAN,
        .replicas = run->replicas,
        .swap_rate_min = NAN,
        .round_trips = NAN,
        .barrier = NAN,
        .level_rate_min = NAN,
        .arrivals = NAN,
        .coolings = run->search.coolings,
        .cooling = run->search.cooling,
        .reheat_to = NAN,
        .search_seconds = run->search.coolings > 1 ? run->search.seconds : NAN,
        .best_log_prob = NAN,
        .decoded_log_prob = NAN,
        .statistic_mean = NAN,
        .statistic_deviation = NAN,
        .statistic_best = NAN,
        .statistic_decoded = NAN,
    };
    sal_status status = SAL_OK;
    SALI_EACH_PART (run, k, part, summarise) {
        status = status ? status : part->summarise(run->selves[k], &s, err);
    }
    s.missed = run->search.failure[0] ? run->search.failure : s.missed;
    status = status ? status : sali_unchanged_summarise(run, &s, err);
    status = status ? status : sali_unreached_summarise(run, &s, err);
    status = status ? status : summarise_exact(run, &s, err);
    if (status == SAL_OK) {
        summarise_clusters(run, &s);
        *summary = s;
    }
    return status;
}

/* ---- marginals and draws */

/* Entries of a variable's row of marginals. */
static int32_t levels_of(const sali_variable *v)
{
    return v->states > 0 ? v->states : SAL_COUNT_LEVELS;
}

sal_status sal_run_marginals(const sal_run *run, double *marginals, sal_error *err)
{
    if (sali_run_check_results(run, "sal_run_marginals", err) != SAL_OK) {
        return SAL_ERR_ARGUMENT;
    }
    const sal_space *whole = run->base->space, *space = run->model->space;
    if (run->draws_made == 0) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "the run was stopped before its first draw");
    }
    int64_t draws = run->options.chains * run->draws_made;
    sali_memory m = { 0 };
    int64_t *original = SALI_TAKE(&m, int64_t, space->n_variables);
    int32_t *full = SALI_TAKE(&m, int32_t, whole->n_variables);
    int64_t *row_of = SALI_TAKE(&m, int64_t, whole->n_variables + 1);
    if (m.refused) {
        sali_memory_free(&m);
        return sali_fail_memory(err);
    }
    for (int64_t v = 0; v < whole->n_variables; v++) {
        row_of[v + 1] = row_of[v] + levels_of(&whole->variables[v]);
    }
    memset(marginals, 0, (size_t)row_of[whole->n_variables] * sizeof *marginals);
    sali_run_expand(run, 1, run->shards[0].chains->codes, full);
    for (int64_t v = 0; v < whole->n_variables; v++) {
        int32_t last = levels_of(&whole->variables[v]) - 1;
        int32_t level = full[v] < last ? full[v] : last;
        marginals[row_of[v] + level] = 1; /* stays so for clamped variables */
    }
    sali_run_variables(run, original);
    for (int64_t v = 0; v < space->n_variables; v++) {
        const sali_variable *variable = &space->variables[v];
        double *row = marginals + row_of[original[v]];
        bool two = sali_is_two_level(variable);
        for (int32_t k = 0; k < levels_of(variable); k++) {
            double ones = 0;
            for (int64_t h = 0; h < 2 * run->options.chains; h++) {
                ones +=
                    sali_run_record(run)->counts[h * space->bins + variable->bin + (two ? 0 : k)];
            }
            row[k] = two && k == 0 ? 1 - ones / (double)draws : ones / (double)draws;
        }
    }
    sali_memory_free(&m);
    return SAL_OK;
}

const double *sal_run_log_probs(const sal_run *run)
{
    return run->rank == 0 ? sali_run_record(run)->log_prob : NULL;
}

const void *sal_run_draws(const sal_run *run, int *bytes)
{
    *bytes = sali_run_record(run)->draw_bytes;
    return run->rank == 0 ? sali_run_record(run)->draws : NULL;
}

void sal_run_size(const sal_run *run, int64_t *chains, int64_t *draws, int64_t *variables)
{
    if (chains) {
        *chains = run->options.chains;
    }
    if (draws) {
        *draws = run->draws_made;
    }
    if (variables) {
        *variables = run->base->space->n_variables;
    }
}

const sal_model *sali_run_model(const sal_run *run)
{
    return run->base;
}

sal_status sal_run_last(const sal_run *run, int32_t *codes, sal_error *err)
{
    sal_status status = sali_run_check_results(run, "sal_run_last", err);
    if (status != SAL_OK) {
        return status;
    }
    for (int64_t k = 0; k < run->n_shards; k++) {
        const sali_run_shard *shard = &run->shards[k];
        int64_t V = run->model->space->n_variables, whole = run->base->space->n_variables;
        for (int64_t g = 0; g < shard->groups; g++) {
            sali_run_expand(run, 1, shard->chains->codes + g * run->replicas * V,
                            codes + (shard->first + g) * whole);
        }
    }
    return SAL_OK;
}
