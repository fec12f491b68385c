/* SPDX-License-Identifier: MIT */
/* What an oracle says of a small model. */
#ifndef EXACT_ANSWERS_H
#define EXACT_ANSWERS_H

#include <string.h>

#include "models/model.h"
#include "test.h"

enum { MOST_R = 80 }; /* the sum of the variables' states */

typedef struct answers {
    sal_exact exact;
    double marginals[MOST_R], pairs[MOST_R * MOST_R];
} answers;

static inline void ask(const sal_model *model, const char *oracle, answers *a)
{
    sal_error err;
    sal_exact_options options = { .oracle = oracle };
    memset(a, 0, sizeof *a);
    ck_assert_int_le(model->space->n_states, MOST_R);
    ck_ok(sal_model_exact(model, &options, &a->exact, a->marginals, a->pairs, NULL, &err), &err);
}

static inline double exact_log_z(const sal_model *model)
{
    sal_exact exact;
    sal_error err;
    ck_ok(sal_model_exact(model, NULL, &exact, NULL, NULL, NULL, &err), &err);
    return exact.log_z;
}

#endif
