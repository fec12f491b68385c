/* SPDX-License-Identifier: MIT */
/* Changes: a program's value and gradient kept for some chains while single variables move. A
 * change is tried, then kept or taken back; it costs what it changes where the ops have rules for
 * that (sali_op.change), and an evaluation of the op's row where they have none. */
#ifndef SALI_CHANGES_H
#define SALI_CHANGES_H

#include "ad/params.h"

typedef struct sali_changes sali_changes;

/* For `chains` chains; `wants`: SALI_WANT_STATE_GRADIENT to keep the state's gradient as well,
 * SALI_WANT_UNLIMITED for f without its hard limits (ad/workspace.h). */
sal_status sali_changes_create(const sali_program *program, const sali_params *params,
                               int64_t chains, unsigned wants, sali_changes **out, sal_error *err);
void sali_changes_destroy(sali_changes *changes);

/* Evaluate the first n chains anew at codes [n x V]; forgets what was tried in any. Also to be
 * called when the parameters changed, and now and then, as rounding adds up over many kept changes.
 */
void sali_changes_start(sali_changes *changes, int64_t n, const int32_t *codes);

/* Move n variables of chain c: sites[k], distinct, to codes[k]. f of the state tried. A chain has
 * one change under way at most. */
double sali_changes_try(sali_changes *changes, int64_t c, int64_t n, const int64_t *sites,
                        const int32_t *codes);

/* Decide about what was tried in chain c. */
void sali_changes_keep(sali_changes *changes, int64_t c);
void sali_changes_undo(sali_changes *changes, int64_t c);

/* f, codes [V] and embedding real [N] of chain c as they stand, with what is tried. */
double sali_changes_value(const sali_changes *changes, int64_t c);
const int32_t *sali_changes_codes(const sali_changes *changes, int64_t c);
const void *sali_changes_state(const sali_changes *changes, int64_t c);

/* Whether the gradient follows changes by rules: then it is always up to date, at the same cost. */
bool sali_changes_has_local_gradient(const sali_changes *changes);

/* The gradient real [N] of chain c as it stands. Without a local gradient it is the one of the last
 * call of sali_changes_backward, which makes it anew for all chains. */
const void *sali_changes_gradient(const sali_changes *changes, int64_t c);
void sali_changes_backward(sali_changes *changes);

#endif
