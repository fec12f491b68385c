/* SPDX-License-Identifier: MIT */
/* f as a quadratic polynomial of unknowns u, read off the formula at the cost of a look at its
 * parameters: no evaluations.
 *
 *     f = constant + linear'u + scale u'Ju / 2,    J symmetric.
 *
 * The unknowns are the reals [N] of the embedding, of any mix of kinds of variables, with a dense
 * J, by one or two rows of which the gradient of f follows the move of a variable. Where f has one
 * quadratic form of the whole state (sal_quad), J is that form's own matrix, read in place. Or they
 * are the bits of two-state variables, with sparse rows J: f(b_i = 1) - f(b_i = 0) is
 * linear_i + sum_j J_ij b_j whatever b_i is; that holds on the lattice, and nothing is said of f
 * between its points. */
#ifndef SALI_COUPLINGS_H
#define SALI_COUPLINGS_H

#include "models/structure/affine_rows.h"

/* What a variable is coupled to. Both are read together: a step of a sampler waits for one line of
 * memory. */
typedef struct sali_coupling {
    double J;
    int32_t to;
} sali_coupling;

/* The couplings at one version of the parameters. */
typedef struct sali_coupling_values {
    int64_t n;                /* unknowns: reals of the model's embedding, or its variables */
    double constant, *linear; /* [n] */
    double scale;             /* not 0, unless J is; 1 of bits */
    bool finite;              /* all of J is; false of SALI_DENSE_COUPLINGS, where nobody asks */
    const void *J;            /* real [n x n], by rows, in the model's type; NULL of bits */
    /* Of bits: those of i are couplings[k] for k in begin[i] .. begin[i + 1] - 1: `to` ascending,
     * never i itself, J never 0; i is coupled to each of them by the same J. Variables with one
     * state have neither linear terms nor couplings. */
    int64_t *begin; /* [n + 1] */
    sali_coupling *couplings;
    double largest; /* |linear_i| + sum_j |J_ij|: rounding errors are relative to it */
} sali_coupling_values;

typedef struct sali_couplings sali_couplings;

/* Which couplings are wanted. */
typedef enum sali_couplings_wish {
    SALI_DENSE_COUPLINGS, /* of reals, where many meet in one node, of a bounded space, and of no
                             more than SALI_MOST_COUPLED reals unless J is read in place */
    SALI_ANY_COUPLINGS,   /* of reals, whatever their number */
    SALI_FORM_COUPLINGS,  /* of reals, where J is read in place: its rows take no more memory, and
                             the formula's gradient is a product by all of it */
    SALI_BIT_COUPLINGS    /* of bits: of variables with two states at most that are no counts (how
                             those move is the samplers' own) */
} sali_couplings_wish;

#define SALI_MOST_COUPLED 4096

/* *out is NULL, with SAL_OK, if it cannot be told from the ops and their attributes that f is such
 * a polynomial, if its couplings are not those wished for, or if chains have linear terms of their
 * own (model->fields). Dense ones are refused where a table
 * forbids states. Clamped variables count as the constants that they are. Those of bits are one
 * object as long as somebody has it; it must go before the model. Returns: SAL_ERR_MEMORY.
 * Cost:    O(size of the formula). */
sal_status sali_couplings_create(const sal_model *model, sali_couplings_wish wish,
                                 sali_couplings **out, sal_error *err);
void sali_couplings_destroy(sali_couplings *couplings);

/* The values of the model's present parameters, read at the first call after they changed; NULL
 * when there is no memory, and when tables forbid states, or bits are not finite. Valid until the
 * parameters change. A dense J may hold what is not finite, as the parameters may.
 * Cost:    O(size of the formula), less where J is read in place.
 * Threads: safe from several at once, as parameters do not change while they run. */
const sali_coupling_values *sali_couplings_values(sali_couplings *couplings);

/* Whether f is such a polynomial of the embedding, and finite everywhere, as the parameters are
 * now. */
bool sali_is_quadratic(const sal_model *model);

/* Of bits: f at codes [n], and f with b_i = 1 less f with b_i = 0, the other variables at `codes`.
 */
double sali_couplings_value(const sali_coupling_values *values, const int32_t *codes);
double sali_couplings_rise(const sali_coupling_values *values, const int32_t *codes, int64_t i);

/* ---- between reading and keeping */

/* Terms of f, gathered in the order of the formula's nodes. */
typedef struct sali_coupling_terms {
    sali_unknowns unknowns;
    int64_t n;                /* of them */
    double constant, *linear; /* [n] */
    int32_t form;             /* the node of the matrix of a form u'Su of all unknowns; or -1 */
    double weight;            /* of it */
    int64_t forms, others;    /* how many such forms there are, and how many other nodes that
                                 multiply */
    int64_t most;             /* the most products of two unknowns of one node */
    /* Where products of two unknowns go; without either they are counted only. Of reals: their
     * coefficients [n x n], that of u_i u_j in row i or in row j. Of bits: a function that takes
     * `rise` u_i u_j in, i not j. Returns: SAL_ERR_UNSUPPORTED when there are too many,
     * SAL_ERR_MEMORY. */
    double *products;
    sal_status (*add)(struct sali_coupling_terms *terms, int32_t i, int32_t j, double rise);
    void *to; /* of `add` */
} sali_coupling_terms;

/* couplings_read.c: add the terms of a model's f. Returns: SAL_ERR_UNSUPPORTED when f is no such
 * polynomial or cannot be seen to be one, SAL_ERR_MEMORY; no messages. */
sal_status sali_couplings_read(const sal_model *model, sali_coupling_terms *terms);

/* couplings_rows.c: the couplings of bits, whose `linear` is there, read anew. The same returns. */
sal_status sali_couplings_read_rows(const sal_model *model, sali_coupling_values *values);

#endif
