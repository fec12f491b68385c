/* SPDX-License-Identifier: MIT */
/* The correlation of the connected pair frequencies of data and samples, by which a training can
 * stop. */
#include <math.h>

#include "core/error.h"
#include "train/data.h"
#include "train/trainer.h"

sal_status sali_pearson_create(sal_trainer *t, sal_error *err)
{
    const sal_space *space = t->model->space;
    t->pairs.limit = NAN;
    if (t->options.pearson == 0) {
        return SAL_OK;
    }
    if (!t->objective->compares) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: pearson compares data with samples of the model, which objective "
                         "%s does not have",
                         sali_objective_words[t->options.objective]);
    }
    if (!sali_pairs_exist(space)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: pearson compares pairs of variables with 256 states at most; %s "
                         "has others, or a single variable",
                         t->model->name);
    }
    if (t->data->intensity) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: pearson compares samples with rows that stay as they are, not "
                         "with ones that are drawn from greys");
    }
    const int64_t chains = t->buffer.slots, rows = t->data->rows;
    sal_status status =
        sali_pairs_create(&t->pairs.of, &t->memory, space, chains > rows ? chains : rows, err);
    status =
        status ? status : sali_pairs_frequencies(&t->pairs.of, &t->memory, &t->pairs.data, err);
    status =
        status ? status : sali_pairs_frequencies(&t->pairs.of, &t->memory, &t->pairs.samples, err);
    if (status == SAL_OK) {
        sali_pairs_count_rows(&t->pairs.of, rows, t->data->codes, t->data->weight,
                              sali_data_weight(t->data), t->options.threads, &t->pairs.data);
        t->pairs.limit = sali_pairs_limit(&t->pairs.of, &t->pairs.data, (double)chains);
    }
    return status;
}

void sali_pearson_measure(sal_trainer *t)
{
    if (t->options.pearson != 0) {
        sali_pairs_count_states(&t->pairs.of, t->buffer.slots, t->buffer.codes, t->options.threads,
                                &t->pairs.samples);
        t->now.pearson = sali_pairs_correlation(&t->pairs.of, &t->pairs.data, &t->pairs.samples);
    }
}
