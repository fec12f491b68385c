/* SPDX-License-Identifier: MIT */
/* Exact figures of a locally balanced sampler on a small model of two-level variables: Q(x'|x) =
 * g(t) / Z(x) for the neighbours x' of x, t = p(x') / p(x), accepted with min(1, Z(x) / Z(x')). */
#ifndef EXACT_H
#define EXACT_H

#include <saltus/saltus.h>

/* A model by its states: bit v of a state's number is the code of variable v. */
typedef struct exact {
    int variables, states, moves; /* moves: states x variables, those of a state together */
    double *p;                    /* [states] probabilities */
    double *t;                    /* [moves] p(x') / p(x) */
    double *g, *rate, *Z;         /* [moves], [moves], [states] work */
    double *basis;                /* work of the eigenvalue */
} exact;

/* What a balancing function is worth. */
typedef struct worth {
    double gap;         /* 1 - the second eigenvalue of the transition matrix */
    double jump;        /* mean Hamming distance of a step: the acceptance rate */
    double objective;   /* eq. 6 with p(x') / p(x) in eq. 5: over uniform states, and over p */
    double information; /* eq. 3, the mutual information of accepted moves */
} worth;

/* Enumerates a model of at most 12 variables, none of whose states is forbidden. Free it by
 * exact_close, also on failure. */
sal_status exact_open(const sal_model *model, exact *e, sal_error *err);
void exact_close(exact *e);

/* What e->g is worth, g at the t of all moves, which the caller has filled in. The gap, which costs
 * most, only if asked for, else NaN. */
worth exact_worth(exact *e, bool gap);

#endif
