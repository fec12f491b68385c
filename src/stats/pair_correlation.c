/* SPDX-License-Identifier: MIT */
/* The correlation of connected pair frequencies between two samples. */
#include <math.h>

#include <saltus/data.h>
#include <saltus/program.h>

#include "core/error.h"
#include "stats/pairs.h"

/* Set *total to the sum of the weights of a sample. SAL_ERR_ARGUMENT: it is no sample of `space`,
 * for which sali_pairs_exist holds. */
static sal_status check_sample(const sal_space *space, const sal_data *sample, double *total,
                               sal_error *err)
{
    const int64_t V = space->n_variables, rows = sample->rows;
    if (rows < 1 || sample->variables != V || !sample->codes) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "pair correlation: expected samples of at least one row of %lld "
                         "variables; got %lld rows of %lld",
                         (long long)V, (long long)rows, (long long)sample->variables);
    }
    *total = sample->weight ? 0 : (double)rows;
    for (int64_t r = 0; sample->weight && r < rows; r++) {
        const double weight = sample->weight[r];
        if (!(weight > 0) || !isfinite(weight)) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "pair correlation: row %lld has the weight %g; expected finite "
                             "weights above 0",
                             (long long)r, weight);
        }
        *total += weight;
    }
    for (int64_t k = 0; k < rows * V; k++) {
        const int32_t states = space->variables[k % V].states;
        if (sample->codes[k] >= states) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "pair correlation: row %lld, variable %lld: code %d; expected 0 to "
                             "%d",
                             (long long)(k / V), (long long)(k % V), sample->codes[k], states - 1);
        }
    }
    return SAL_OK;
}

/* The number of rows with equal weights whose means are as precise as those of this sample. */
static double effective_rows(const sal_data *sample, double total)
{
    double squares = sample->weight ? 0 : (double)sample->rows;
    for (int64_t r = 0; sample->weight && r < sample->rows; r++) {
        squares += sample->weight[r] * sample->weight[r];
    }
    return total * total / squares;
}

static sal_status correlate(const sal_space *space, const sal_data *const sample[2],
                            const double total[2], int threads, sali_memory *memory,
                            double *correlation, double *limit, sal_error *err)
{
    const int64_t na = sample[0]->rows, nb = sample[1]->rows;
    sali_pair_frequencies f[2];
    sali_pairs pairs;
    sal_status status = sali_pairs_create(&pairs, memory, space, na > nb ? na : nb, err);
    for (int k = 0; status == SAL_OK && k < 2; k++) {
        const sal_data *s = sample[k];
        status = sali_pairs_frequencies(&pairs, memory, &f[k], err);
        if (status == SAL_OK) {
            sali_pairs_count_rows(&pairs, s->rows, s->codes, s->weight, total[k], threads, &f[k]);
        }
    }
    if (status == SAL_OK) {
        *correlation = sali_pairs_correlation(&pairs, &f[0], &f[1]);
        if (limit) {
            *limit = sali_pairs_limit(&pairs, &f[0], effective_rows(sample[1], total[1]));
        }
    }
    return status;
}

sal_status sal_stats_pair_correlation(const sal_space *space, const sal_data *a, const sal_data *b,
                                      int threads, double *correlation, double *limit,
                                      sal_error *err)
{
    const sal_data *const sample[2] = { a, b };
    double total[2] = { 0 };
    if (!space || !a || !b || !correlation || !sali_pairs_exist(space)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "pair correlation: expected a space of at least 2 variables, which have "
                         "256 states at most, two samples and a place for the result");
    }
    sal_status status = check_sample(space, a, &total[0], err);
    status = status ? status : check_sample(space, b, &total[1], err);
    if (status == SAL_OK) {
        sali_memory memory = { 0 };
        status = correlate(space, sample, total, threads, &memory, correlation, limit, err);
        sali_memory_free(&memory);
    }
    return status;
}
