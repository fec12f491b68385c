/* SPDX-License-Identifier: MIT */
/* A figure of a state that those who use a model look at beside f: how well a hidden state explains
 * the data, how many constraints an assignment violates. Runs report its mean over draws. */
#ifndef SALI_STATISTIC_H
#define SALI_STATISTIC_H

#include "models/model.h"

typedef struct sali_statistic {
    const char *name; /* in words: "reconstruction error" */
    /* Its value at codes [V] of the model that has it; called from several threads at once. */
    double (*of)(const sal_model *model, const int32_t *codes);
    void (*destroy)(void *data); /* NULL: the data is not the statistic's own */
} sali_statistic;

/* Give a model its statistic and, as model->statistic_data, what that needs to know; the data is
 * taken over if there is a `destroy`. */
static inline void sali_model_set_statistic(sal_model *model, const sali_statistic *statistic,
                                            void *data)
{
    model->statistic = statistic;
    model->statistic_data = data;
}

#endif
