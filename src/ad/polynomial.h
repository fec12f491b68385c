/* SPDX-License-Identifier: MIT */
/* Properties of programs that follow from the ops' terms (ad/op.h): which nodes are linear in what
 * varies, and the degree of f in the state's reals and in the parameters. */
#ifndef SALI_POLYNOMIAL_H
#define SALI_POLYNOMIAL_H

#include "ad/params.h"

/* Term t of element k of node i, whose op must have terms. */
static inline sali_op_term sali_term_of(const sali_program *program, int32_t i, int64_t k,
                                        int64_t t)
{
    const sali_step *step = &program->steps[i];
    return step->op->term(&(sali_term_place){ &program->nodes[i], step->in, k, t });
}

/* Number of terms of each element of node i; 0: the node is a leaf, or no polynomial of its
 * inputs. */
static inline int64_t sali_terms_of(const sali_program *program, int32_t i)
{
    return program->steps[i].op->term ? sali_term_of(program, i, 0, 0).count : 0;
}

/* Number of elements of a term that depend on the state; *which receives the position of the last
 * such element, 0 without one. */
static inline int sali_term_varying(const sali_program *program, int32_t i,
                                    const sali_op_term *term, int *which)
{
    int varying = 0;
    *which = 0;
    for (int j = 0; j < term->n; j++) {
        if (program->nodes[program->nodes[i].in[term->input[j]]].varying) {
            *which = j;
            varying++;
        }
    }
    return varying;
}

/* x combined with element j of a term, whose value is `value`: multiplied, divided, kept, or set to
 * 0. */
static inline double sali_term_take(const sali_op_term *term, int j, double x, double value)
{
    sali_term_end end = j == term->n - 1 ? term->end : SALI_MULTIPLIES;
    return end == SALI_MULTIPLIES                      ? x * value
           : end == SALI_DIVIDES                       ? x / value
           : (value != 0) == (end == SALI_IF_NOT_ZERO) ? x
                                                       : 0;
}

/* x times the factor of a term and all its elements except number `but`. These elements must not
 * depend on the state. */
double sali_term_times(const sali_program *program, const sali_params *params, int32_t i,
                       const sali_op_term *term, int but, double x);

/* The largest number of varying elements that a term of node i multiplies: 1 where the node is
 * affine in the inputs that vary. -1: the node is no polynomial of these inputs. */
int sali_node_factors(const sali_program *program, int32_t i);

/* Whether node i is a linear op: all its terms have one element. */
bool sali_node_is_linear(const sali_program *program, int32_t i);

/* Apply the transpose of linear node i to out [size of i] and add the result for each input k to
 * in[k] [size of input k], in double whatever the program's type. Returns: SAL_ERR_MEMORY. */
sal_status sali_linear_backward(const sali_program *program, int32_t i, const double *out,
                                double *const *in);

/* Whether f is known to be a polynomial of at most the second degree in the reals of the embedding,
 * everywhere, so that its Hessian is constant. The answer follows from the program's ops and holds
 * for all parameters; tables are polynomials unless they hold -inf. */
bool sali_program_is_quadratic(const sali_program *program);

/* Whether a table of the program holds -inf, or another number that is not finite. */
bool sali_program_forbids(const sali_program *program, const sali_params *params);

/* Store in *linear whether f is known to be affine in the parameters at each state, so that its
 * gradient by the parameters is the same for all their values. The answer follows from the
 * program's ops. Returns: SAL_ERR_MEMORY. */
sal_status sali_program_is_linear_in_params(const sali_program *program, bool *linear,
                                            sal_error *err);

#endif
