/* SPDX-License-Identifier: MIT */
/* f of the states that moves of one or two variables lead to, of many chains at once: by the
 * changes of a tracker where the model can be followed, else by evaluating the states. */
#ifndef SALI_TRIALS_H
#define SALI_TRIALS_H

#include "models/tracker.h"
#include "samplers/sampler.h"

/* New codes of n variables, 1 or 2. */
typedef struct sali_few {
    int64_t n, site[2];
    int32_t code[2];
} sali_few;

/* The moves that are tried from one chain's state. */
typedef struct sali_trial_row {
    int64_t n;
    sali_few *move; /* [most] */
    double *f;      /* [most + 1]; entry n is free to use */
} sali_trial_row;

typedef struct sali_trials {
    sali_tracker *tracker; /* NULL: states are evaluated */
    sali_trial_row *rows;  /* [n] */
    sali_few *undone;      /* [n] the ways back from the states that are evaluated */
} sali_trials;

/* Room for up to `most` moves of each chain; the arrays and the tracker belong to `object`
 * (core/object.h), which records a failed allocation. Returns: SAL_ERR_MEMORY. */
sal_status sali_trials_open(void *object, const sali_chains *chains, int64_t most,
                            sali_trials *trials, sal_error *err);

/* Start from the chains' states: f anew. */
void sali_trials_refresh(sali_trials *trials, sali_chains *chains);

/* Make the chains' proposed states the present ones. */
void sali_trials_start(sali_chains *chains);

/* Fill f of all rows, whose moves are from the chains' proposed states; these are the same
 * afterwards. With a tracker they must be its states. */
void sali_trials_evaluate(sali_trials *trials, sali_chains *chains);

/* Make a move in chain c's proposed state. */
void sali_trials_propose(sali_chains *chains, int64_t c, const sali_few *move);

/* Bring the tracker, if there is one, to the state of chain c after a move. */
void sali_trials_follow(sali_trials *trials, int64_t c, const sali_few *move);

/* Note the first f of chain c's row that is NaN or +inf; the moves are from its proposed state. */
void sali_trials_note_bad(const sali_trials *trials, sali_chains *chains, int64_t c);

#endif
