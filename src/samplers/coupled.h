/* SPDX-License-Identifier: MIT */
/* Proposals of two chains that are to meet (run/coupling/coupling.h). Both chains of a pair have
 * the same random numbers, and each knows the state of the other one before the step: `partner` of
 * its sali_chains. Each chain by itself moves by the kernel of its sampler, whatever its partner
 * does.
 *
 * One move of one variable, by weights w of the moves (sali_coupled_pick). Each chain sorts its
 * moves into classes. One class, called common, has staying and all moves towards the partner: to
 * its label, or to its level or one between. Every other slot is a class of its own. The weight w_l
 * of a class l is the sum over its moves. Staying weighs stay / (1 - stay) times all moves, and the
 * step is then accepted or not without `stay`. Both chains have the same exponential random numbers
 * E_l, and choose the class with the least E_l / w_l. Within the common class, cumulative sums and
 * a uniform number U choose; the second chain uses U + 1/2 mod 1.
 *
 *   Each chain. E_l / w_l is the least with probability w_l / sum w, and U + 1/2 mod 1 is uniform.
 *   So the chain stays with probability `stay`, and else moves in proportion to w: this is the
 *   sampler's kernel. The classes depend on the states before the step, and these are independent
 *   of the step's random numbers.
 *
 *   The pair. Let the classes have the probabilities a in one chain and b in the other, of total
 *   variation TV. Both chains choose l with probability 1 / sum_m max(a_m / a_l, b_m / b_l), which
 *   is at least min(a_l, b_l) / (1 + TV). The sum over l is (1 - TV) / (1 + TV): the least
 *   probability of the same class. In that case both chains change the same variable in the same
 *   way, or each stays or moves towards the other. U + 1/2 mostly pairs the move of a variable with
 *   that of another one, since a swap brings nothing, or with staying: else spins that differ in an
 *   odd number would always do. Two chains in the same state make the same move, as the common
 *   class is then to stay.
 *
 * All variables, each by a uniform number of its own (sali_coupled_uniforms). A two-level variable
 * flips if u is below the probability of a flip. With 1 - u in place of u where the code is 1, the
 * new code is 1 if u is below the probability of 1, for either present code. So the new codes of
 * both chains differ as rarely as they can: with the difference of their probabilities of 1. The
 * codes of other variables are drawn by cumulative sums in the order of codes, and need no change.
 */
#ifndef SALI_COUPLED_H
#define SALI_COUPLED_H

#include "samplers/sampler.h"

/* The slot of chain c's move by the weights real [S] of all slots, not all of them 0; -1: it stays.
 * chains->partner is not NULL; chains->noise is overwritten. */
int64_t sali_coupled_pick(const sali_chains *chains, int64_t c, const void *weight);

/* If chains->partner is not NULL: replace the uniforms real [V] of chain c as above. */
void sali_coupled_uniforms(const sali_chains *chains, int64_t c, void *uniforms);

#endif
