/* SPDX-License-Identifier: MIT */
/* Models whose variables, parameters and f are given by a text:
 *
 *     x: spin[10, 10] cyclic; theta = 0.3; theta sum(i~j: x[i] x[j]) + 0.1 sum(i: x[i])
 *
 * Declarations, each ended by ';', then f:
 *
 *     x: spin[10]          a block of 10 variables; of 10 x 10, spin[10, 10]; up to four sides.
 *                          Kinds: binary, spin, count, count(20) up to 20, ordinal(5) with the
 *                          levels 0 .. 4, ordinal(5, -1, 1) with 5 levels from -1 to 1 at equal
 *                          distances, categorical(3) with the labels 0 .. 2, permutation of as
 *                          many labels as variables, each of which occurs once
 *     x: spin[10] cyclic   the sides of the lattice meet
 *     x: binary[9] sum 4   the values of the block sum to 4 in every state; also of spins, and of
 *                          counts up to a number
 *     x: categorical(3)[9] labels 4 3 2   4 variables have the label 0, 3 have 1, 2 have 2
 *     x: spin[3] 0~1, 0~2  variable 0 has the neighbours 1 and 2, and no others are neighbours
 *     theta = 0.3          a parameter, which training changes
 *     h = [0.1, -2, 3]     one for each variable
 *
 *     f         a sum of products of powers x^2, whose exponents are numbers; a product may be
 *               written without '*'
 *     x[0]      a variable by its number; of a lattice too, rows first
 *     h[0]      a number of a parameter
 *     sum(i: e) over all variables, sum(i~j: e) over all pairs of neighbours, each once,
 *               sum(i<j: e) over all pairs; in e, x[i] and x[j], h[i] and h[j]. Blocks that occur
 *               in one sum have equally many variables. sum(i~j: e) uses the neighbours in the
 *               first block, sum(i~j in x: e) those in x. Sums within sums have their own i and j.
 *     functions exp log log1p sqrt abs sin cos tanh sigmoid softplus silu relu erf lgamma,
 *               min(a, b), max(a, b); numbers; pi
 *     x[i] == x[j], x[i] == 2   of categorical variables, which are no numbers: 1 or 0
 *
 * Within a sum all terms are one vector: a variable of the sum is a gather of the block, and
 * numbers broadcast. So a formula is as fast as one written in C. */
#ifndef SALI_FORMULA_H
#define SALI_FORMULA_H

#include <saltus/model.h>

/* The beginning of a specification that contains the text of a formula. */
#define SALI_FORMULA "formula:"

/* Whether a specification contains the text of a formula. */
bool sali_formula_is(const char *specification);

/* Make the model of a text. *place is set to the position of the first mistake in the text, or to
 * -1 if there is none. Returns: SAL_ERR_DATA for a mistake (the message does not contain the
 * place); as sal_model_from_tape; SAL_ERR_MEMORY.
 * Cost:    O(text + variables + pairs). */
sal_status sali_formula_read(const char *text, sal_dtype dtype, sal_model **model, int64_t *place,
                             sal_error *err);

/* Make the model of a specification, in f64 if dtype is 0. Messages contain the place of a
 * mistake. */
sal_status sali_formula_open(const char *specification, sal_dtype dtype, sal_model **model,
                             sal_error *err);

#endif
