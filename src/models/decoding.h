/* SPDX-License-Identifier: MIT */
/* A model's rule for turning any state into a feasible one of large f nearby: an independent set
 * from a set of nodes with edges inside it. Searches apply it to the states that they meet. */
#ifndef SALI_DECODING_H
#define SALI_DECODING_H

#include "models/model.h"

/* A variable and the key by which it is ranked. */
typedef struct sali_decoding_item {
    double key;
    int64_t v;
} sali_decoding_item;

typedef struct sali_decoding {
    const char *name;      /* what a decoded state is, in words: "independent set" */
    const char *otherwise; /* what a decoded state is if fixed variables allow no feasible one */
    /* Decode the state `codes` [V] of the model in place; variables with fixed[v] keep their codes
     * (NULL: none is fixed). A feasible state stays feasible, and its f does not decrease. Returns
     * whether the decoded state is feasible, which depends on the fixed variables alone. `work` has
     * room for V items. Reads model->statistic_data; called from several threads at once. */
    bool (*decode)(const sal_model *model, const bool *fixed, int32_t *codes,
                   sali_decoding_item *work);
} sali_decoding;

#endif
