/* SPDX-License-Identifier: MIT */
/* The correlation of the connected pair frequencies of data and samples, by which a training can
 * stop. */
#include <math.h>

#include <saltus/program.h>
#include "core/error.h"
#include "core/vector/blas.h"
#include "train/trainer.h"

/* The states of every variable; 0: they differ, or a code does not fit into a byte. */
static int64_t common_states(const sal_space *space)
{
    const int64_t q = space->variables[0].states;
    for (int64_t i = 1; i < space->n_variables; i++) {
        if (space->variables[i].states != q) {
            return 0;
        }
    }
    return q <= UINT8_MAX + 1 && space->n_variables > 1 ? q : 0;
}

sal_status sali_pearson_create(sal_trainer *t, sal_error *err)
{
    const int64_t V = t->model->space->n_variables, q = common_states(t->model->space);
    if (t->options.pearson == 0) {
        return SAL_OK;
    }
    if (!t->sampler || t->levels) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: pearson compares data with samples of the model, which objective "
                         "%s does not have",
                         sali_objective_words[t->options.objective]);
    }
    if (q < 1) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: pearson compares pairs of variables that all have the same number "
                         "of states, 256 at most; %s has others",
                         t->model->name);
    }
    if (t->data->intensity) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: pearson compares samples with rows that stay as they are, not "
                         "with ones that are drawn from greys");
    }
    t->pairs = SALI_TAKE(&t->memory, float, V *q *V *q);
    sal_status status = sali_memory_status(&t->memory, err);
    sali_blas_single_thread_begin(); /* the same bits on any number of threads */
    status = status ? status
                    : sal_stats_pair_covariance(V, q, t->data->rows, t->data->codes,
                                                t->data->weight, t->pairs, err);
    sali_blas_single_thread_end();
    return status;
}

sal_status sali_pearson_measure(sal_trainer *t, sal_error *err)
{
    if (!t->pairs) {
        return SAL_OK;
    }
    const sali_buffer *b = &t->buffer;
    const int64_t V = t->model->space->n_variables, q = common_states(t->model->space);
    uint8_t *codes = SALI_NEW_ARRAY(uint8_t, b->slots * V);
    float *own = SALI_NEW_ARRAY(float, V *q *V *q);
    sal_status status = codes && own ? SAL_OK : sali_fail_memory(err);
    for (int64_t i = 0; codes && i < b->slots * V; i++) {
        codes[i] = (uint8_t)b->codes[i];
    }
    status = status ? status : sal_stats_pair_covariance(V, q, b->slots, codes, NULL, own, err);
    status =
        status ? status : sal_stats_pair_correlation(V, q, t->pairs, own, &t->now.pearson, err);
    sali_free(own);
    sali_free(codes);
    return status;
}
