/* SPDX-License-Identifier: MIT */
/* Changes: the value and gradient of a program, kept up to date for some chains while single
 * variables move. A change is tried, then kept or undone. An op with a change rule (sali_op.change)
 * costs as much as what changes in its output; an op without one evaluates its row again.
 *
 * Every word that a change overwrites is noted in a journal, or its row is copied first, so that
 * undoing a change restores each bit. Sums are updated by differences only where their inputs are
 * at most affine in the state; elsewhere large terms that vanish would leave rounding errors
 * behind, so these sums are recomputed. The gradient follows at the same cost where the adjoints on
 * the way to the state do not depend on the state (lattices, factor graphs, quadratic forms, and
 * sums of these); for other formulas a backward pass recomputes it. */
#ifndef SALI_CHANGES_H
#define SALI_CHANGES_H

#include "ad/params.h"

typedef struct sali_changes sali_changes;

/* For `chains` chains; `wants`: SALI_WANT_STATE_GRADIENT to keep the state's gradient as well,
 * SALI_WANT_UNLIMITED for f without its hard limits (ad/workspace.h). */
sal_status sali_changes_create(const sali_program *program, const sali_params *params,
                               int64_t chains, unsigned wants, sali_changes **out, sal_error *err);
void sali_changes_destroy(sali_changes *changes);

/* Evaluate the first n chains at codes [n x V]. Changes under way, in any chain, can no longer be
 * undone. Call it also after the parameters changed, and now and then, because rounding errors add
 * up over many kept changes. */
void sali_changes_start(sali_changes *changes, int64_t n, const int32_t *codes);

/* Move n variables of chain c: sites[k], distinct, to codes[k]. Returns f of the new state. Keep or
 * undo this change before you try another one in the same chain. */
double sali_changes_try(sali_changes *changes, int64_t c, int64_t n, const int64_t *sites,
                        const int32_t *codes);

/* Keep or undo the change that was tried in chain c. */
void sali_changes_keep(sali_changes *changes, int64_t c);
void sali_changes_undo(sali_changes *changes, int64_t c);

/* f, codes [V] and embedding real [N] of chain c, with the change under way. */
double sali_changes_value(const sali_changes *changes, int64_t c);
const int32_t *sali_changes_codes(const sali_changes *changes, int64_t c);
const void *sali_changes_state(const sali_changes *changes, int64_t c);

/* Whether change rules keep the gradient too, which is then always up to date. */
bool sali_changes_has_local_gradient(const sali_changes *changes);

/* The gradient real [N] of chain c. A gradient that is not local is the one of the last call of
 * sali_changes_start or sali_changes_backward, which computes the gradient of all chains as they
 * stand. */
const void *sali_changes_gradient(const sali_changes *changes, int64_t c);
void sali_changes_backward(sali_changes *changes);

#endif
