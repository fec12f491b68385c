/* Dense couplings: f as a quadratic polynomial of the reals x [N] of the embedding,
 *
 *     f = constant + linear'x + scale x'Jx / 2,    J [N x N] symmetric,
 *
 * so that the gradient of f follows the move of a variable by one or two rows of J. Read off the
 * formula, at the cost of a look at its parameters: no evaluations. Where f has one quadratic form
 * of the whole state (sal_quad), J is that form's own matrix, read in place. Samplers whose shards
 * share one object find the couplings of the present parameters there. */
#ifndef SALI_COUPLINGS_H
#define SALI_COUPLINGS_H

#include "models/model.h"

/* The couplings at one version of the parameters. */
typedef struct sali_coupling_values {
    int64_t n;      /* N, of the model (of the free variables, if some are clamped) */
    const void *J;  /* real [N x N], by rows, in the model's type */
    double scale;   /* not 0, unless J is */
    double *linear; /* [N] */
    double constant;
} sali_coupling_values;

typedef struct sali_couplings sali_couplings;

/* The most reals of a J that has to be made, of several terms or for clamped variables. */
#define SALI_MOST_COUPLED 4096

/* *out is NULL, with SAL_OK, if it cannot be told from the ops and their attributes that f is such
 * a polynomial, or if its couplings are not dense: no form of at least half of the state (sparse
 * ones are left to models/structure/pairwise.h and models/tracker.h). Says "no" where it cannot
 * prove it: tables, counts without a cap, operands that mix variables. Nothing is read yet.
 * Returns: SAL_ERR_MEMORY. Cost:    O(size of the formula). */
sal_status sali_couplings_create(const sal_model *model, sali_couplings **out, sal_error *err);
void sali_couplings_destroy(sali_couplings *couplings);

/* The values of the model's present parameters, read at the first call after they changed; NULL
 * when there is no memory. Valid until the parameters change. J may hold what is not finite, as the
 * parameters may.
 * Cost:    O(N), or O(N^2) where J has to be made.
 * Threads: safe from several at once, as parameters do not change while they run. */
const sali_coupling_values *sali_couplings_values(sali_couplings *couplings);

/* ---- between reading and keeping (couplings_read.c) */

/* Terms of f: forms of the whole state stay where they are, as long as there is only one. */
typedef struct sali_coupling_terms {
    int64_t n;
    double constant, *linear; /* [n] */
    int32_t form;             /* the node of the matrix of a form x'Sx of the state itself; or -1 */
    double weight;            /* of it */
    int64_t forms, others;    /* how many such forms there are, and how many other products */
    int64_t widest;           /* the most coordinates of one form, of the state or not */
    void *J;                  /* real [n x n] to add to, all terms among them; NULL: do not add */
} sali_coupling_terms;

/* Add the terms of a model's f. Returns: SAL_ERR_UNSUPPORTED when f is no such polynomial or cannot
 * be seen to be one, SAL_ERR_MEMORY; no messages. */
sal_status sali_couplings_read(const sal_model *model, sali_coupling_terms *terms);

#endif
