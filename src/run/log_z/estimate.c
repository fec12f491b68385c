/* SPDX-License-Identifier: MIT */
/* log Z from the energies at all levels, and whether to trust it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "run/log_z/log_z.h"
#include "stats/bennett.h"
#include "stats/log_mean_exp.h"
#include "stats/rhat.h"

/* At least so many groups, ladders or parts of them, give the error. */
#define GROUPS 16
/* Levels whose states change places less often overlap too little. */
#define LEAST_SWAPS 0.02
/* Least number of allowed states of a softened model. */
#define LEAST_ALLOWED 50
#define LEAST_ARRIVALS 1.0
/* States whose energies differ give a relative error above this. */
#define SAME 1e-14
/* Two estimates disagree if they differ by more than both of these limits. */
#define APART_ERRORS 4
#define APART_NATS 0.01

/* Rows of sweeps first .. first + n - 1, gathered by level in the order of the ladders. */
typedef struct rows {
    const sali_log_z_record *of;
    int64_t first, n;
    double *difference[2]; /* [ladders x n] to the level above: of its states, of those below */
    uint32_t *group;       /* [ladders x n] */
    double *influence;     /* [groups] of the whole estimate */
    double *entropy;       /* [groups] of the estimate of the entropy */
    double mean;           /* of f over the states of the model */
    int64_t groups;
    double forward, reverse; /* sums of the estimates in one direction */
    double squares;          /* of their errors, as if states were independent */
} rows;

/* Copy the energies of level k, times `scale`, to `to` [ladders x n]. */
static void gather_level(const rows *r, int64_t k, double scale, double *to)
{
    const sali_log_z_record *of = r->of;
    for (int64_t c = 0; c < of->n; c++) {
        for (int64_t t = 0; t < r->n; t++) {
            *to++ = scale * of->energy[((r->first + t) * of->L + k) * of->n + c];
        }
    }
}

/* log Z_(k + 1) - log Z_k; adds to the influences, and to the estimates in one direction. */
static double ratio_of_levels(rows *r, int64_t k)
{
    const double step = r->of->beta[k + 1] - r->of->beta[k];
    const int64_t n = r->of->n * r->n;
    double *below = r->difference[0], *above = r->difference[1];
    gather_level(r, k, step, below);
    gather_level(r, k + 1, step, above);
    const sali_bennett_side a = { n, below, NULL }, b = { n, above, NULL };
    const double ratio = sali_bennett_ratio(&a, &b);
    if (isfinite(ratio)) {
        sali_bennett_influence(&a, r->group, r->influence, &b, r->group, r->influence, ratio);
    }
    const sali_log_mean up = sali_log_mean_exp(n, below);
    double allowed = 0;
    for (int64_t i = 0; i < n; i++) { /* states that are forbidden above are not met there */
        allowed += below[i] > -INFINITY;
        above[i] = -above[i];
    }
    const sali_log_mean down = sali_log_mean_exp(n, above);
    r->forward += up.value;
    r->reverse += log(allowed / (double)n) - down.value;
    r->squares += up.standard_error * up.standard_error + down.standard_error * down.standard_error;
    return ratio;
}

/* The share of the last level's states that f allows; adds what each group contributes to the error
 * of its logarithm. */
static double share_allowed(rows *r)
{
    const sali_log_z_record *of = r->of;
    const int64_t n = of->n * r->n;
    double share = 0;
    for (int64_t c = 0, i = 0; c < of->n; c++) {
        for (int64_t t = 0; t < r->n; t++, i++) {
            r->difference[0][i] = of->gap[(r->first + t) * of->n + c] > -INFINITY;
            share += r->difference[0][i] / (double)n;
        }
    }
    for (int64_t i = 0; share > 0 && i < n; i++) {
        r->influence[r->group[i]] += (r->difference[0][i] / share - 1) / (double)n;
    }
    return share;
}

/* Find the mean of f over the states of the last level that f allows, and the influence of each
 * group on the entropy, log Z less this mean. */
static void find_mean(rows *r)
{
    const sali_log_z_record *of = r->of;
    double n = 0, sum = 0;
    for (int64_t pass = 0; pass < 2; pass++) {
        for (int64_t c = 0, i = 0; c < of->n; c++) {
            for (int64_t t = 0; t < r->n; t++, i++) {
                const int64_t at = (r->first + t) * of->n + c;
                if (of->gap && of->gap[at] == -INFINITY) {
                    continue;
                }
                if (pass == 0) {
                    n++;
                    sum += of->f[at];
                } else {
                    r->entropy[r->group[i]] -= (of->f[at] - r->mean) / n;
                }
            }
        }
        r->mean = sum / n;
    }
}

/* Number the groups: each ladder is cut into as many parts as it takes. */
static void number_groups(rows *r, int64_t parts)
{
    for (int64_t c = 0, i = 0; c < r->of->n; c++) {
        for (int64_t t = 0; t < r->n; t++, i++) {
            r->group[i] = (uint32_t)(c * parts + t * parts / r->n);
        }
    }
}

/* *log_z receives the estimate by some of the sweeps, *allowed the share of states that f allows.
 */
static sal_status estimate_rows(rows *r, double *log_z, double *allowed, sal_error *err)
{
    const int64_t n = r->of->n * r->n, parts = (GROUPS + r->of->n - 1) / r->of->n;
    r->groups = r->of->n * parts;
    r->difference[0] = SALI_NEW_ARRAY(double, n);
    r->difference[1] = SALI_NEW_ARRAY(double, n);
    r->group = SALI_NEW_ARRAY(uint32_t, n);
    r->influence = SALI_NEW_ARRAY(double, r->groups);
    r->entropy = SALI_NEW_ARRAY(double, r->groups);
    if (!r->difference[0] || !r->difference[1] || !r->group || !r->influence || !r->entropy) {
        return sali_fail_memory(err);
    }
    number_groups(r, parts);
    *log_z = 0;
    for (int64_t k = 0; k + 1 < r->of->L; k++) {
        *log_z += ratio_of_levels(r, k);
    }
    *allowed = r->of->gap ? share_allowed(r) : 1;
    *log_z += log(*allowed);
    r->forward += log(*allowed);
    r->reverse += log(*allowed);
    r->mean = NAN;
    memcpy(r->entropy, r->influence, (size_t)r->groups * sizeof *r->entropy);
    if (r->of->f && *allowed > 0) {
        find_mean(r);
    }
    return SAL_OK;
}

static void free_rows(rows *r)
{
    sali_free(r->difference[0]);
    sali_free(r->difference[1]);
    sali_free(r->group);
    sali_free(r->influence);
    sali_free(r->entropy);
}

/* The estimate by the sweeps of one half alone. */
static sal_status estimate_half(const sali_log_z_record *record, int half, double *log_z,
                                sal_error *err)
{
    const int64_t n = record->sweeps / 2;
    rows r = { .of = record, .first = half * (record->sweeps - n), .n = n };
    double allowed;
    sal_status status = estimate_rows(&r, log_z, &allowed, err);
    free_rows(&r);
    return status;
}

/* *rhat receives the largest R-hat of the energies at a level above p_0, between halves of all
 * ladders. */
static sal_status largest_rhat(const sali_log_z_record *record, double *rhat, sal_error *err)
{
    const int64_t half = record->sweeps / 2;
    rows r = { .of = record, .n = 2 * half };
    double *energy = SALI_NEW_ARRAY(double, 2 * half * record->n);
    if (!energy) {
        return sali_fail_memory(err);
    }
    *rhat = 1;
    for (int64_t k = 1; k < record->L; k++) {
        gather_level(&r, k, 1, energy);
        *rhat = fmax(*rhat, sali_rhat(2 * record->n, half, energy));
    }
    sali_free(energy);
    return SAL_OK;
}

static bool are_apart(double a, double b, double error)
{
    return !(fabs(a - b) <= fmax(APART_NATS, APART_ERRORS * error));
}

/* The first reason not to trust an estimate whose halves are these. */
static sal_log_z_doubt doubt_of(const rows *all, const sal_log_z_estimate *z, const double half[2])
{
    const sali_log_z_record *record = all->of;
    const double ends = 2 * fmax(z->standard_error, sqrt(all->squares));
    const double states = (double)(record->n * record->sweeps);
    return !(z->least_swaps >= LEAST_SWAPS) || !isfinite(z->log_z) ? SAL_LOG_Z_GAP
           : z->allowed * states < LEAST_ALLOWED                   ? SAL_LOG_Z_FEW_ALLOWED
           : z->arrivals < LEAST_ARRIVALS                          ? SAL_LOG_Z_NO_ARRIVALS
           : z->rhat > SAL_RHAT_LIMIT                              ? SAL_LOG_Z_LADDERS_APART
           : are_apart(half[0], half[1], 2 * z->standard_error)    ? SAL_LOG_Z_HALVES_APART
           : are_apart(z->forward, z->reverse, ends)               ? SAL_LOG_Z_ENDS_APART
           : z->standard_error <= SAME * (1 + fabs(z->log_z))      ? SAL_LOG_Z_SAME
                                                                   : SAL_LOG_Z_TRUSTED;
}

sal_status sali_log_z_estimate(const sali_log_z_record *record, sal_log_z_estimate *z,
                               sal_error *err)
{
    rows all = { .of = record, .n = record->sweeps };
    double log_z, allowed, half[2];
    sal_status status = estimate_rows(&all, &log_z, &allowed, err);
    if (status == SAL_OK && allowed == 0) {
        status =
            sali_fail(err, SAL_ERR_MODEL,
                      "log Z: none of the %lld states met is allowed by the model; if there are "
                      "any, take more sweeps",
                      (long long)(record->n * record->sweeps));
    }
    status = status ? status : largest_rhat(record, &z->rhat, err);
    for (int k = 0; status == SAL_OK && k < 2; k++) {
        status = estimate_half(record, k, &half[k], err);
    }
    if (status == SAL_OK) {
        z->log_z = log_z;
        z->standard_error = sqrt(sali_bennett_squared_error(all.groups, all.influence));
        z->forward = all.forward;
        z->reverse = all.reverse;
        z->allowed = allowed;
        z->doubt = doubt_of(&all, z, half);
        z->standard_error = hypot(z->standard_error, record->epsilon * fabs(log_z));
        z->entropy = log_z - all.mean;
        z->entropy_error = isnan(all.mean)
                               ? NAN
                               : hypot(sqrt(sali_bennett_squared_error(all.groups, all.entropy)),
                                       record->epsilon * fabs(log_z));
    }
    free_rows(&all);
    return status;
}

void sal_log_z_sentence(const sal_log_z_estimate *z, char *text, size_t room)
{
    static const char more[] = "More sweeps (--sweeps, --until error=E) help, or another sampler.";
    switch (z->doubt) {
    case SAL_LOG_Z_GAP:
        snprintf(text, room,
                 "Two levels next to each other overlap so little (%.2g of the exchanges) that log "
                 "Z may be far off: the model changes at once on the way, it allows hardly any "
                 "state of the independent variables (then others, nearer to it, help), or warm-up "
                 "was too short to place levels there (then a longer one helps, --warmup).",
                 z->least_swaps);
        return;
    case SAL_LOG_Z_FEW_ALLOWED:
        snprintf(
            text, room,
            "Only %.2g of the states met are allowed by the model, too few for a precise share. "
            "%s",
            z->allowed, more);
        return;
    case SAL_LOG_Z_NO_ARRIVALS:
        snprintf(text, room,
                 "Hardly any states came from the independent variables up to the model (%.2g a "
                 "ladder), so modes may be missing, which the standard error does not know. %s",
                 z->arrivals, more);
        return;
    case SAL_LOG_Z_LADDERS_APART:
        snprintf(
            text, room,
            "The ladders disagree (R-hat %.3f): they have not mixed, and the standard error is "
            "a guess. %s",
            z->rhat, more);
        return;
    case SAL_LOG_Z_HALVES_APART:
        snprintf(text, room,
                 "The first and the second half of the sweeps disagree: warm-up was too short, and "
                 "log Z still drifts. A longer warm-up (--warmup) helps.");
        return;
    case SAL_LOG_Z_ENDS_APART:
        snprintf(text, room,
                 "From p_0 up log Z is %.10g, from the model down %.10g, further apart than the "
                 "standard error allows: the levels have not mixed. %s",
                 z->forward, z->reverse, more);
        return;
    case SAL_LOG_Z_SAME:
        snprintf(text, room,
                 "f - log p_0 was the same at all states met. If f varies, the states that matter "
                 "were not met, and log Z is too low.");
        return;
    default:
        break;
    }
    snprintf(text, room, "%s", "");
    if (z->aim > 0 && z->standard_error > z->aim) {
        snprintf(text, room,
                 "The standard error %.2g is above the %.2g that was asked for: the sweeps or the "
                 "time ended before. Allow more (--sweeps, --time).",
                 z->standard_error, z->aim);
    }
}
