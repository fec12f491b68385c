/* SPDX-License-Identifier: MIT */
/* How well a model's gradient and differences agree with differences of f. */
#ifndef CLI_DERIVATIVES_H
#define CLI_DERIVATIVES_H

#include <saltus/saltus.h>

#define CLI_CHECKED_STATES 4

/* The largest errors over the states, relative to the largest entry; NaN: nothing was compared. */
typedef struct cli_derivatives {
    int64_t kinks;     /* coordinates where f has one, over all states */
    int64_t slopes;    /* entries of gradients that were compared and are not a present state's */
    int64_t changes;   /* of one variable that are not forbidden, over all states */
    double gradient;   /* against central differences, at kinks against the slopes on both sides */
    double taylor;     /* first-order differences against exact ones */
    double strategies; /* any other way to make differences against the one in use */
} cli_derivatives;

/* At CLI_CHECKED_STATES random states, repaired as where sampling starts; `exact` is the same model
 * in double. Returns: MODEL where no state has a finite f; MEMORY. */
sal_status cli_measure_derivatives(const sal_model *model, const sal_model *exact, int64_t seed,
                                   cli_derivatives *out, sal_error *err);

#endif
