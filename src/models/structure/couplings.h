/* f as a quadratic polynomial, read off the formula at the cost of a look at its parameters: no
 * evaluations. One reader (couplings_read.c) serves two kinds of unknowns: the reals x [N] of the
 * embedding, of any mix of kinds of variables, kept as a dense matrix here; and the bits of
 * two-state variables, kept as sparse rows (pairwise.h).
 *
 *     f = constant + linear'x + scale x'Jx / 2,    J [N x N] symmetric,
 *
 * so that the gradient of f follows the move of a variable by one or two rows of J. Where f has one
 * quadratic form of the whole state (sal_quad), J is that form's own matrix, read in place.
 * Samplers whose shards share one object find the couplings of the present parameters there. */
#ifndef SALI_COUPLINGS_H
#define SALI_COUPLINGS_H

#include "models/structure/affine_rows.h"

/* The couplings at one version of the parameters. */
typedef struct sali_coupling_values {
    int64_t n;      /* N, of the model (of the free variables, if some are clamped) */
    const void *J;  /* real [N x N], by rows, in the model's type */
    double scale;   /* not 0, unless J is */
    double *linear; /* [N] */
    double constant;
    bool finite; /* all of J is; SALI_ANY_COUPLINGS only */
} sali_coupling_values;

typedef struct sali_couplings sali_couplings;

/* Which couplings are wanted. */
typedef enum sali_couplings_wish {
    SALI_DENSE_COUPLINGS, /* where many unknowns meet in one node, of a bounded space, and of no
                             more than SALI_MOST_COUPLED reals unless J is read in place */
    SALI_ANY_COUPLINGS    /* whatever their number */
} sali_couplings_wish;

#define SALI_MOST_COUPLED 4096

/* *out is NULL, with SAL_OK, if it cannot be told from the ops and their attributes that f is such
 * a polynomial, or if its couplings are not those wished for (sparse ones are left to
 * models/structure/pairwise.h and models/tracker.h). No values are kept yet. Returns:
 * SAL_ERR_MEMORY. Cost:    O(size of the formula). */
sal_status sali_couplings_create(const sal_model *model, sali_couplings_wish wish,
                                 sali_couplings **out, sal_error *err);
void sali_couplings_destroy(sali_couplings *couplings);

/* The values of the model's present parameters, read at the first call after they changed; NULL
 * when there is no memory. Valid until the parameters change. J may hold what is not finite, as the
 * parameters may.
 * Cost:    O(N), or O(N^2) where J has to be made.
 * Threads: safe from several at once, as parameters do not change while they run. */
const sali_coupling_values *sali_couplings_values(sali_couplings *couplings);

/* Whether f is such a polynomial, and finite everywhere, as the parameters are now. */
bool sali_is_quadratic(const sal_model *model);

/* ---- between reading and keeping (couplings_read.c) */

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
    /* Take `rise` u_i u_j in; of bits i is not j. NULL: products are counted only. Returns:
     * SAL_ERR_UNSUPPORTED when there are too many, SAL_ERR_MEMORY. */
    sal_status (*add)(struct sali_coupling_terms *terms, int32_t i, int32_t j, double rise);
    void *to;
} sali_coupling_terms;

/* Add the terms of a model's f. Returns: SAL_ERR_UNSUPPORTED when f is no such polynomial or cannot
 * be seen to be one, SAL_ERR_MEMORY; no messages. */
sal_status sali_couplings_read(const sal_model *model, sali_coupling_terms *terms);

#endif
