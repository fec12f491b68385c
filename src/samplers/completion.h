/* SPDX-License-Identifier: MIT */
/* States completed one variable after another, by the tables that a formula is a sum of. In a
 * Bayesian network this draws every variable given its parents; in other models with tables it is a
 * guess that avoids the entries that forbid a state.
 *
 * The tables are those of a Bayesian network if every row of each table sums to 1 over one variable
 * of its scope, the child; every variable is the child of one table; and no variable is its own
 * ancestor. This is decided by the present values of the tables, whatever file or program they come
 * from. If the tables are no network but forbid states, variables are drawn in their own order,
 * each uniformly among the codes that the fewest tables forbid. */
#ifndef SALI_COMPLETION_H
#define SALI_COMPLETION_H

#include "models/model.h"
#include "core/rng.h"

typedef struct sali_completion sali_completion;

/* A workspace of one thread for the tables of a model's formula, with the present values of its
 * parameters. *out is NULL when the model has no tables, or when no table forbids a state and the
 * tables are not those of a Bayesian network, so that random states are as good. `forbids`: whether
 * a table forbids a state (the model has a feasibility model). Returns: SAL_ERR_MEMORY. Cost:
 * O(entries of all tables times their variables). */
sal_status sali_completion_create(const sal_model *model, bool forbids, sali_completion **out,
                                  sal_error *err);
void sali_completion_destroy(sali_completion *completion);

/* Draw codes [V of the model] of one state. Clamped variables keep their codes; a variable takes
 * its code at once when the variables drawn so far leave it only one. Without clamped variables,
 * the state is a draw from the Bayesian network if the model is one. Cost: O(variables of all
 * tables + states of all variables). */
void sali_completion_draw(sali_completion *completion, const sali_stream *stream, int32_t *codes);

#endif
