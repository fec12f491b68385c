/* SPDX-License-Identifier: MIT */
/* How well the draws represent the target: ESS, autocorrelation and R-hat. */
#include "run/parts/mixing.h"

#include <float.h>
#include <math.h>

#include <saltus/stats.h>
#include "core/alloc.h"
#include "core/error.h"
#include "core/number.h"
#include "models/exact/rounding.h"
#include "models/tape_model.h"
#include "run/parts/record.h"

/* ESS with a cap. Estimates for antithetic chains exceed their number of draws without bound, and
 * beyond that turn negative; the cap is that of Vehtari et al. 2021. */
static double capped_ess(double ess, double draws)
{
    double cap = draws * log10(draws);
    return ess <= 0 || ess > cap ? cap : ess;
}

/* The largest magnitude of f among the draws, without its additive constants. */
static double largest_log_prob(const sal_run *run, double offset)
{
    const sali_draw_record *record = sali_run_record(run);
    double largest = 0;
    for (int64_t c = 0; c < run->options.chains; c++) {
        const double *f = record->log_prob + sali_record_at(record, c);
        for (int64_t d = 0; d < run->draws_made; d++) {
            largest = fmax(largest, fabs(f[d] - offset));
        }
    }
    return largest;
}

/* f of all draws without its additive constants, rounded so that values which differ by rounding
 * errors become equal: a sampler that follows f by differences gives equal states slightly
 * different values, and ranks of values must not depend on that. */
static void round_log_probs(const sal_run *run, sal_run_summary *s, double *f)
{
    const sali_draw_record *record = sali_run_record(run);
    const double offset = sali_model_offset(run->base), largest = largest_log_prob(run, offset);
    const bool single = run->base->dtype == SAL_F32;
    double rounding = largest * (single ? 8 * FLT_EPSILON : 1024 * DBL_EPSILON);
    rounding = fmax(rounding, offset != 0 ? 1024 * DBL_EPSILON * fabs(offset) : 0);
    double unit = exp2(ceil(log2(fmax(rounding, DBL_MIN))));
    for (int64_t c = 0, k = 0; c < run->options.chains; c++) {
        const double *of = record->log_prob + sali_record_at(record, c);
        for (int64_t d = 0; d < run->draws_made; d++, k++) {
            f[k] = rint((of[d] - offset) / unit) * unit;
        }
    }
    s->dtype = run->base->dtype;
    s->rounding = sali_rounding(s->dtype, largest);
}

static void forget_ess(sal_run_summary *s)
{
    s->ess_min = s->ess_median = s->ess_max = NAN;
    s->ess_total = s->ess_per_step = s->ess_per_second = NAN;
}

/* Set the figures of ESS in a summary: of each chain's distance to the reference state, or if that
 * never changes, of f (as `round_log_probs` made it). NaN if the ESS of some chain is not known. */
static sal_status summarise_ess(const sal_run *run, const double *f, sal_run_summary *s,
                                sal_error *err)
{
    const sali_draw_record *record = sali_run_record(run);
    int64_t chains = run->options.chains, known = 0;
    double sum = 0;
    double *ess = SALI_NEW_ARRAY(double, chains);
    sal_status status = ess ? SAL_OK : sali_fail_memory(err);
    for (int64_t c = 0; status == SAL_OK && c < chains && run->draws_made > 0; c++) {
        status = sal_stats_ess_tfp(run->draws_made, record->distance + sali_record_at(record, c),
                                   &ess[known], err);
        if (status == SAL_OK && isnan(ess[known])) { /* the distance happens not to change */
            status = sal_stats_ess_tfp(run->draws_made, f + c * run->draws_made, &ess[known], err);
        }
        if (status == SAL_OK && !isnan(ess[known])) {
            ess[known] = capped_ess(ess[known], (double)run->draws_made);
            sum += ess[known++];
        }
    }
    forget_ess(s);
    if (status == SAL_OK && known == chains) {
        sali_sort_doubles(known, ess);
        s->ess_min = ess[0];
        s->ess_median = (ess[(known - 1) / 2] + ess[known / 2]) / 2;
        s->ess_max = ess[known - 1];
        s->ess_total = sum;
        s->ess_per_step = sum / ((double)chains * (double)run->steps);
        s->ess_per_second = run->seconds > 0 ? sum / run->seconds : NAN;
    }
    sali_free(ess);
    return status;
}

/* Set R-hat and the mean of f in a summary. `f` is as `round_log_probs` made it. */
static sal_status summarise_log_prob(const sal_run *run, const double *f, sal_run_summary *s,
                                     sal_error *err)
{
    const sali_draw_record *record = sali_run_record(run);
    int64_t n = run->options.chains * run->draws_made;
    s->log_prob_mean = s->rhat_max = NAN;
    s->rhat_variable = -1;
    if (n == 0) {
        return SAL_OK;
    }
    sal_diagnostics d;
    sal_status status = sal_stats_diagnose(run->options.chains, run->draws_made, f, &d, err);
    if (status == SAL_OK) {
        double sum = 0;
        for (int64_t c = 0; c < run->options.chains; c++) {
            const double *own = record->log_prob + sali_record_at(record, c);
            for (int64_t k = 0; k < run->draws_made; k++) {
                sum += own[k];
            }
        }
        s->log_prob_mean = sum / (double)n;
        s->rhat_max = d.rhat;
    }
    return status;
}

/* Set the autocorrelation time in the summary of a run that is over. */
static sal_status summarise_time(const sal_run *run, sal_run_summary *s, sal_error *err)
{
    double tau = NAN;
    sal_status status =
        run->draws_made > 0
            ? sal_stats_autocorrelation_time(run->options.chains, run->draws_made,
                                             sali_run_record(run)->distance, &tau, err)
            : SAL_OK;
    s->autocorrelation_time = tau * (double)run->options.thin;
    return status;
}

/* Replicas that swap states which no step changes look like chains that mix. So if a chain never
 * moved, no figure of mixing is reported, except an R-hat that shows disagreement. */
static void forget_mixing(sal_run_summary *s)
{
    forget_ess(s);
    s->autocorrelation_time = NAN;
    if (s->unmoved == s->chains || !(s->rhat_max > SAL_RHAT_LIMIT)) {
        s->rhat_max = NAN;
        s->rhat_variable = -1;
        s->disagreeing = 0;
    }
}

sal_status sali_mixing_summarise(const sal_run *run, sal_run_summary *s, sal_error *err)
{
    double *f = SALI_NEW_ARRAY(double, run->options.chains * run->draws_made);
    sal_status status = f ? SAL_OK : sali_fail_memory(err);
    if (status == SAL_OK) {
        round_log_probs(run, s, f);
        status = summarise_ess(run, f, s, err);
    }
    status = status ? status : summarise_log_prob(run, f, s, err);
    status = status ? status : sali_agreement_summarise(run, s, err);
    sali_free(f);
    if (s->unmoved > 0) {
        forget_mixing(s);
    }
    return status;
}

static sal_status summarise(const void *self, sal_run_summary *s, sal_error *err)
{
    const sal_run *run = self;
    sal_status status = summarise_time(run, s, err);
    return status ? status : sali_mixing_summarise(run, s, err);
}

const sali_run_part sali_part_mixing = {
    .name = "mixing",
    .summarise = summarise,
};
