/* SPDX-License-Identifier: MIT */
/* What the ops' polynomials (ad/op.h) say of programs: which nodes are linear in what varies, and
 * the degree of f in the state's reals and in the parameters. */
#ifndef SALI_POLYNOMIAL_H
#define SALI_POLYNOMIAL_H

#include "ad/params.h"

static inline sali_op_term sali_term_of(const sali_program *program, int32_t i, int64_t k,
                                        int64_t t)
{
    const sali_step *step = &program->steps[i];
    return step->op->term(&(sali_term_place){ &program->nodes[i], step->in, k, t });
}

/* Terms of each element of node i; 0: it is a leaf, or no polynomial of its inputs. */
static inline int64_t sali_terms_of(const sali_program *program, int32_t i)
{
    return program->steps[i].op->term ? sali_term_of(program, i, 0, 0).count : 0;
}

/* x with element j of a term, of this value, taken in. */
static inline double sali_term_take(const sali_op_term *term, int j, double x, double value)
{
    sali_term_end end = j == term->n - 1 ? term->end : SALI_MULTIPLIES;
    return end == SALI_MULTIPLIES                      ? x * value
           : end == SALI_DIVIDES                       ? x / value
           : (value != 0) == (end == SALI_IF_NOT_ZERO) ? x
                                                       : 0;
}

/* The elements of a term of node i that depend on the state, by their places in the term. Returns
 * their number. *x, unless NULL, becomes *x times the term's factor and its other elements. */
int sali_term_split(const sali_program *program, const sali_params *params, int32_t i,
                    const sali_op_term *term, int varying[3], double *x);

/* How many elements that vary a term of node i multiplies, at most: 1 where the node is affine in
 * the inputs that vary. -1: it is no polynomial of them. */
int sali_node_factors(const sali_program *program, int32_t i);

/* Whether node i is a linear op: all its terms have one element. */
bool sali_node_is_linear(const sali_program *program, int32_t i);

/* The transpose of linear op i, in double whatever the program's type, with the arrays that it
 * reads and adds to: out [size of i] and in[k] [size of input k], which the caller keeps. Adding to
 * the inputs allocates nothing, so that it cannot fail. Create returns SAL_ERR_MEMORY; NULL can be
 * destroyed. */
typedef struct sali_transpose sali_transpose;
sal_status sali_transpose_create(const sali_program *program, int32_t i, const double *out,
                                 double *const *in, sali_transpose **transpose);
void sali_transpose_add(sali_transpose *transpose);
void sali_transpose_destroy(sali_transpose *transpose);

/* Whether f is known to be a polynomial of at most the second degree in the reals of the embedding,
 * everywhere, so that its Hessian is constant. By the program's ops, whatever the parameters;
 * tables are polynomials unless they hold -inf. */
bool sali_program_is_quadratic(const sali_program *program);

/* Whether a table of the program holds -inf, or another number that is not finite. */
bool sali_program_forbids(const sali_program *program, const sali_params *params);

/* Whether f is known to be affine in the parameters at each state, so that its gradient by them is
 * the same whatever they are. By the program's ops. SAL_ERR_MEMORY. */
sal_status sali_program_is_linear_in_params(const sali_program *program, bool *linear,
                                            sal_error *err);

#endif
