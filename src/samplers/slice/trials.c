/* SPDX-License-Identifier: MIT */
#include "samplers/slice/trials.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/object.h"

sal_status sali_trials_open(void *object, const sali_chains *chains, int64_t most,
                            sali_trials *trials, sal_error *err)
{
    sal_status status = SAL_OK;
    *trials = (sali_trials){ .rows = SALI_OBJECT_ARRAY(object, sali_trial_row, chains->n),
                             .undone = SALI_OBJECT_ARRAY(object, sali_few, chains->n) };
    for (int64_t c = 0; trials->rows && c < chains->n; c++) {
        trials->rows[c].move = SALI_OBJECT_ARRAY(object, sali_few, most);
        trials->rows[c].f = SALI_OBJECT_ARRAY(object, double, most + 1);
    }
    if (chains->model->trackable) {
        status = sali_tracker_create_values(chains->model, chains->n, &trials->tracker, err);
        status =
            status ? status : sali_object_own(object, trials->tracker, sali_tracker_destroy, err);
    }
    return status;
}

void sali_trials_refresh(sali_trials *trials, sali_chains *chains)
{
    sali_chains_start(chains, false);
    if (trials->tracker) {
        sali_tracker_start(trials->tracker, chains->n, chains->codes, chains->f);
    }
}

void sali_trials_start(sali_chains *chains)
{
    memcpy(chains->codes_new, chains->codes,
           (size_t)(chains->n * chains->space->n_variables) * sizeof *chains->codes);
    memcpy(chains->x_new, chains->x, (size_t)(chains->n * chains->space->width) * chains->element);
}

void sali_trials_propose(sali_chains *chains, int64_t c, const sali_few *move)
{
    int32_t *codes = chains->codes_new + c * chains->space->n_variables;
    void *x = sali_row(chains, chains->x_new, c, chains->space->width);
    for (int64_t k = 0; k < move->n; k++) {
        codes[move->site[k]] = move->code[k];
        sali_model_embed_one(chains->model, move->site[k], move->code[k], x);
    }
}

/* The move back to the proposed state of chain c from the state after `move`. */
static sali_few way_back(const sali_chains *chains, int64_t c, const sali_few *move)
{
    const int32_t *codes = chains->codes_new + c * chains->space->n_variables;
    sali_few back = *move;
    for (int64_t k = 0; k < move->n; k++) {
        back.code[k] = codes[move->site[k]];
    }
    return back;
}

/* Evaluate move k of all chains that have one. */
static void evaluate_move(sali_trials *t, sali_chains *chains, int64_t k)
{
    for (int64_t c = 0; c < chains->n; c++) {
        if (k < t->rows[c].n) {
            t->undone[c] = way_back(chains, c, &t->rows[c].move[k]);
            sali_trials_propose(chains, c, &t->rows[c].move[k]);
        }
    }
    sali_value(chains->evaluator, chains->n, chains->codes_new, chains->x_new, chains->f_new);
    for (int64_t c = 0; c < chains->n; c++) {
        if (k < t->rows[c].n) {
            t->rows[c].f[k] = chains->f_new[c];
            sali_trials_propose(chains, c, &t->undone[c]);
        }
    }
}

void sali_trials_evaluate(sali_trials *t, sali_chains *chains)
{
    int64_t largest = 0;
    for (int64_t c = 0; c < chains->n; c++) {
        sali_trial_row *row = &t->rows[c];
        largest = row->n > largest ? row->n : largest;
        for (int64_t k = 0; t->tracker && k < row->n; k++) {
            const sali_few *move = &row->move[k];
            row->f[k] = sali_tracker_try(t->tracker, c, move->n, move->site, move->code, false);
        }
    }
    for (int64_t k = 0; !t->tracker && k < largest; k++) {
        evaluate_move(t, chains, k);
    }
}

void sali_trials_follow(sali_trials *t, int64_t c, const sali_few *move)
{
    if (t->tracker) {
        sali_tracker_try(t->tracker, c, move->n, move->site, move->code, true);
    }
}

void sali_trials_note_bad(const sali_trials *t, sali_chains *chains, int64_t c)
{
    const sali_trial_row *row = &t->rows[c];
    int64_t k = 0;
    while (k < row->n - 1 && row->f[k] < INFINITY) {
        k++;
    }
    const sali_few back = way_back(chains, c, &row->move[k]);
    sali_trials_propose(chains, c, &row->move[k]);
    sali_chains_note_bad(chains, c, chains->codes_new, row->f[k]);
    sali_trials_propose(chains, c, &back);
}
