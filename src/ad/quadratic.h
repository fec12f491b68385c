/* Whether a program computes a polynomial of low degree: in the state's reals, in the parameters.
 */
#ifndef SALI_QUADRATIC_H
#define SALI_QUADRATIC_H

#include "ad/program.h"

/* Whether f is known to be a polynomial of at most the second degree in the reals of the embedding,
 * everywhere, so that its Hessian is constant. By the program's ops, whatever the parameters;
 * tables are polynomials unless they hold -inf. */
bool sali_program_is_quadratic(const sali_program *program);

/* Whether f is known to be affine in the parameters at each state, so that its gradient by them is
 * the same whatever they are. By the program's ops. SAL_ERR_MEMORY. */
sal_status sali_program_is_linear_in_params(const sali_program *program, bool *linear,
                                            sal_error *err);

#endif
