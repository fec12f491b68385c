/* SPDX-License-Identifier: MIT */
/* A number computed from a state that users of a model want beside f: how well a hidden state
 * explains the data, how many constraints an assignment violates. Runs report its mean over
 * draws. */
#ifndef SALI_STATISTIC_H
#define SALI_STATISTIC_H

#include "models/model.h"

typedef struct sali_statistic {
    const char *name; /* in words: "reconstruction error" */
    /* Value of the statistic at codes [V]; called from several threads at once. */
    double (*of)(const sal_model *model, const int32_t *codes);
    void (*destroy)(void *data); /* NULL: the statistic does not own the data */
} sali_statistic;

/* Set the statistic of a model, and its data as model->statistic_data. The model takes the data
 * over if the statistic has a `destroy`. */
static inline void sali_model_set_statistic(sal_model *model, const sali_statistic *statistic,
                                            void *data)
{
    model->statistic = statistic;
    model->statistic_data = data;
}

#endif
