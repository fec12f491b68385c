/* SPDX-License-Identifier: MIT */
/* f as a quadratic polynomial of unknowns u, read from the formula and its parameters without
 * evaluating f.
 *
 *     f = constant + linear'u + scale u'Ju / 2,    J symmetric.
 *
 * Either the unknowns are the reals [N] of the embedding, of any mix of kinds of variables, and J
 * is dense: when a variable moves, one or two rows of J update the gradient of f. Where f has one
 * quadratic form of the whole state (sal_quad), J is that form's own matrix, read in place. Or the
 * unknowns are the bits of two-state variables, and J has sparse rows: f(b_i = 1) - f(b_i = 0) is
 * linear_i + sum_j J_ij b_j whatever b_i is. This holds on the lattice, not between its points. */
#ifndef SALI_COUPLINGS_H
#define SALI_COUPLINGS_H

#include "models/structure/affine_rows.h"

/* One coupling of a variable, to variable `to`. Both numbers share a cache line: a step of a
 * sampler waits for one. */
typedef struct sali_coupling {
    double J;
    int32_t to;
} sali_coupling;

/* The couplings at one version of the parameters. */
typedef struct sali_coupling_values {
    int64_t n;                /* unknowns: reals of the model's embedding, or its variables */
    double constant, *linear; /* [n] */
    double scale;             /* 0 only if J is 0; 1 for bits */
    bool finite;   /* all of J is finite; false for SALI_DENSE_COUPLINGS, which are not checked */
    const void *J; /* real [n x n], by rows, in the model's type; NULL for bits */
    /* For bits: the couplings of variable i are couplings[k], k = begin[i] .. begin[i + 1] - 1,
     * with `to` ascending, never i itself, and J never 0; the same J couples `to` to i. Variables
     * with one state have neither linear terms nor couplings. */
    int64_t *begin; /* [n + 1] */
    sali_coupling *couplings;
    double largest; /* for bits: the largest |linear_i| + sum_j |J_ij|, which rounding errors are
                       relative to */
} sali_coupling_values;

typedef struct sali_couplings sali_couplings;

/* Which couplings are wanted. */
typedef enum sali_couplings_wish {
    SALI_DENSE_COUPLINGS, /* for reals, if one node multiplies a quarter of all pairs, the space is
                             bounded, and there are at most SALI_MOST_COUPLED reals unless J is read
                             in place */
    SALI_ANY_COUPLINGS,   /* for reals, whatever their number */
    SALI_FORM_COUPLINGS,  /* for reals, if J is read in place: its rows take no more memory, and the
                             formula's gradient is a product by all of J */
    SALI_BIT_COUPLINGS    /* for bits: variables with two states at most, none of them a count
                             (samplers move counts in ways of their own) */
} sali_couplings_wish;

#define SALI_MOST_COUPLED 4096

/* *out is NULL, with SAL_OK, if the ops and their attributes do not show that f is such a
 * polynomial, if its couplings are not what `wish` asks for, or if chains have linear terms of
 * their own (model->fields). Clamped variables count as the constants that they are. Couplings of
 * bits are one object, which all callers share until the last one destroys it; destroy it before
 * the model. Returns: SAL_ERR_MEMORY.
 * Cost:    O(size of the formula). */
sal_status sali_couplings_create(const sal_model *model, sali_couplings_wish wish,
                                 sali_couplings **out, sal_error *err);
void sali_couplings_destroy(sali_couplings *couplings);

/* The values of the model's present parameters, read at the first call after they changed; NULL
 * without memory, when tables forbid states, or when couplings of bits are not finite. Valid until
 * the parameters change. A dense J may have elements that are not finite, as parameters may.
 * Cost:    O(size of the formula), less where J is read in place.
 * Threads: safe from several at once, as parameters do not change while they run. */
const sali_coupling_values *sali_couplings_values(sali_couplings *couplings);

/* Whether f is such a polynomial of the embedding, and no table forbids a state, at the present
 * parameters. */
bool sali_is_quadratic(const sal_model *model);

/* For bits: f at codes [n], and f with b_i = 1 minus f with b_i = 0, the other variables at
 * `codes`. */
double sali_couplings_value(const sali_coupling_values *values, const int32_t *codes);
double sali_couplings_rise(const sali_coupling_values *values, const int32_t *codes, int64_t i);

/* ---- between reading and keeping */

/* Terms of f, gathered in the order of the formula's nodes. */
typedef struct sali_coupling_terms {
    sali_unknowns unknowns;
    int64_t n;                /* number of unknowns */
    double constant, *linear; /* [n] */
    int32_t form;             /* the node of the matrix of a form u'Su of all unknowns; or -1 */
    double weight;            /* factor of u'Su in f */
    int64_t forms, others;    /* how many such forms there are, and how many other nodes that
                                 multiply */
    int64_t most;             /* the largest number of products of two unknowns in one node */
    /* Where products of two unknowns go; with both NULL they are only counted. For reals: the
     * coefficients [n x n]; the one of u_i u_j is added in row i or in row j. For bits: a function
     * that takes the term `rise` u_i u_j, i not j, and returns SAL_ERR_UNSUPPORTED when there are
     * too many, or SAL_ERR_MEMORY. */
    double *products;
    sal_status (*add)(struct sali_coupling_terms *terms, int32_t i, int32_t j, double rise);
    void *to; /* for `add` */
} sali_coupling_terms;

/* couplings_read.c: add the terms of a model's f. Returns: SAL_ERR_UNSUPPORTED when f is no such
 * polynomial or cannot be seen to be one, SAL_ERR_MEMORY; no messages. */
sal_status sali_couplings_read(const sal_model *model, sali_coupling_terms *terms);

/* couplings_rows.c: read the couplings of bits, replacing the rows in `values`, whose `linear` [n]
 * is allocated. Returns: as sali_couplings_read. */
sal_status sali_couplings_read_rows(const sal_model *model, sali_coupling_values *values);

#endif
