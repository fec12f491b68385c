/* SPDX-License-Identifier: MIT */
/* Whether chains agree: R-hat of the variables, from the counts of a run's draws. */
#include <math.h>

#include <saltus/stats.h>
#include "core/memory.h"
#include "run/parts/record.h"
#include "run/parts/mixing.h"
#include "stats/rhat.h"

/* States rarer than this are not judged: one visit more or less changes their R-hat at will. */
#define RARE 0.01

/* Half-chains, R-hat's chains. */
typedef struct halves {
    const sal_run *run;
    int64_t count;    /* 2 x chains; the two halves of a chain are neighbours */
    int64_t draws[2]; /* draws of a first half and of a second half, as record.c divides them */
    int64_t n;        /* the smaller of both: R-hat takes all half-chains as this long */
    int64_t *ones;    /* [count] */
    double *mean;     /* [count] */
    double *variance; /* [count] */
} halves;

/* The half-chains of the draws that `run` has made so far, with arrays of m, which may have
 * failed. */
static halves halves_of(const sal_run *run, sali_memory *m)
{
    const int64_t count = 2 * run->options.chains;
    const int64_t first = sali_record_first_half(sali_run_record(run), run->draws_made);
    const int64_t second = run->draws_made - first;
    return (halves){ .run = run,
                     .count = count,
                     .draws = { first, second },
                     .n = first < second ? first : second,
                     .ones = SALI_TAKE(m, int64_t, count),
                     .mean = SALI_TAKE(m, double, count),
                     .variance = SALI_TAKE(m, double, count) };
}

/* The counts of half-chain k, beginning with those of `bin`. */
static const uint32_t *counts_of(const halves *h, int64_t k, int64_t bin)
{
    return sali_run_record(h->run)->counts + k * h->run->model->space->bins + bin;
}

/* ---- indicators of states */

/* Split R-hat of the indicator of the state that `bin` counts; NaN if the state is too rare or too
 * common to judge. */
static double bin_rhat(halves *h, int64_t bin)
{
    double rhat = NAN, p = 0;
    for (int64_t k = 0; k < h->count; k++) {
        double share = (double)*counts_of(h, k, bin) / (double)h->draws[k % 2];
        h->ones[k] = (int64_t)llround(share * (double)h->n); /* odd numbers of draws: same size */
        p += share / (double)h->count;
    }
    if (p >= RARE && p <= 1 - RARE) {
        sali_rhat_counts(h->count, h->n, h->ones, &rhat, NULL);
    }
    return rhat;
}

/* ---- values */

/* Split R-hat of variable v, a count without a cap. */
static double count_rhat(halves *h, int64_t v)
{
    const int64_t V = h->run->model->space->n_variables;
    for (int64_t k = 0; k < h->count; k++) {
        const sali_running *moments = &sali_run_record(h->run)->moments[k * V + v];
        h->mean[k] = moments->mean;
        h->variance[k] = moments->squares / (double)(h->draws[k % 2] - 1);
    }
    return sali_rhat_moments(h->count, h->n, h->mean, h->variance);
}

/* The number that R-hat compares for a code: the value of its level, or its distance to a centre
 * that is not NaN. */
static double value_at(const sali_variable *v, int32_t code, double centre)
{
    return isnan(centre) ? v->levels[code] : fabs(v->levels[code] - centre);
}

/* Mean and variance of the values behind counts [K]. They are exact where all values are equal:
 * sums are taken of differences from the first value that occurs. */
static void find_moments(const sali_variable *v, const uint32_t *counts, double centre,
                         double *mean, double *variance)
{
    double n = 0, sum = 0, squares = 0, base = NAN;
    for (int32_t code = 0; code < v->states; code++) {
        if (counts[code] > 0) {
            double x = value_at(v, code, centre);
            base = isnan(base) ? x : base;
            sum += counts[code] * (x - base);
            n += counts[code];
        }
    }
    *mean = base + sum / n;
    for (int32_t code = 0; code < v->states; code++) {
        double off = value_at(v, code, centre) - *mean;
        squares += counts[code] * off * off;
    }
    *variance = squares / (n - 1);
}

static double moments_rhat(halves *h, const sali_variable *v, double centre)
{
    for (int64_t k = 0; k < h->count; k++) {
        find_moments(v, counts_of(h, k, v->bin), centre, &h->mean[k], &h->variance[k]);
    }
    return sali_rhat_moments(h->count, h->n, h->mean, h->variance);
}

/* The median of a variable's draws; NaN if nearly all have one value. */
static double find_median(const halves *h, const sali_variable *v)
{
    const double all = (double)h->run->options.chains * (double)h->run->draws_made;
    double below = 0, most = 0, median = NAN;
    for (int32_t code = 0; code < v->states; code++) {
        double here = 0;
        for (int64_t k = 0; k < h->count; k++) {
            here += *counts_of(h, k, v->bin + code);
        }
        below += here;
        most = fmax(most, here);
        median = isnan(median) && below >= all / 2 ? v->levels[code] : median;
    }
    return most <= (1 - RARE) * all ? median : NAN;
}

/* Split R-hat of the values of a variable with levels, or of their distances to the median if that
 * is larger, as for chains that differ in spread. */
static double level_rhat(halves *h, const sali_variable *v)
{
    const double median = find_median(h, v);
    return isnan(median) ? NAN : fmax(moments_rhat(h, v, NAN), moments_rhat(h, v, median));
}

/* ---- all variables */

/* R-hat of variable v of the sampled space. For categorical and two-level variables the largest
 * R-hat of a state, whose code *code receives; -1: R-hat is of values. */
static double variable_rhat(halves *h, int64_t v, int32_t *code)
{
    const sali_variable *variable = &h->run->model->space->variables[v];
    *code = -1;
    if (variable->states == 0) {
        return count_rhat(h, v);
    }
    if (sali_is_two_level(variable)) {
        *code = 1;
        return bin_rhat(h, variable->bin);
    }
    if (variable->levels) {
        return level_rhat(h, variable);
    }
    double largest = NAN;
    for (int32_t k = 0; k < variable->states; k++) {
        double rhat = bin_rhat(h, variable->bin + k);
        if (rhat > largest || (isnan(largest) && !isnan(rhat))) {
            largest = rhat;
            *code = k;
        }
    }
    return largest;
}

sal_status sali_agreement_summarise(const sal_run *run, sal_run_summary *s, sal_error *err)
{
    const sal_space *space = run->model->space;
    sali_memory memory = { 0 };
    halves h = halves_of(run, &memory);
    int64_t *original = SALI_TAKE(&memory, int64_t, space->n_variables);
    sal_status status = sali_memory_status(&memory, err);
    if (status == SAL_OK) {
        sali_run_variables(run, original);
    }
    for (int64_t v = 0; status == SAL_OK && h.n >= 2 && v < space->n_variables; v++) {
        int32_t code;
        double rhat = variable_rhat(&h, v, &code);
        if (rhat > s->rhat_max || (isnan(s->rhat_max) && !isnan(rhat))) {
            s->rhat_max = rhat;
            s->rhat_variable = original[v];
            s->rhat_code = code;
        }
        s->disagreeing += rhat > SAL_RHAT_LIMIT;
    }
    sali_memory_free(&memory);
    return status;
}
