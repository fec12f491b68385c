/* SPDX-License-Identifier: MIT */
/* The matrix M of PAVG and its eigenvectors, shared by all shards of a run. */
#ifndef SALI_PRECONDITIONER_H
#define SALI_PRECONDITIONER_H

#include <pthread.h>

#include "models/structure/couplings.h"
#include "samplers/langevin/history.h"

/* The largest N for which M is stored. */
#define SALI_MOST_PRECONDITIONED 4096

/* Where M comes from. */
typedef enum sali_preconditioner_kind {
    SALI_PRECONDITIONER_NONE,      /* 0 */
    SALI_PRECONDITIONER_HESSIAN,   /* of a quadratic f; recomputed when its parameters change */
    SALI_PRECONDITIONER_GIVEN,     /* by the user */
    SALI_PRECONDITIONER_EMPIRICAL, /* found in warm-up, see history.h; 0 until then */
} sali_preconditioner_kind;

typedef struct sali_preconditioner {
    sali_preconditioner_kind kind;
    int64_t n; /* N, reals of the embedding */
    sal_dtype dtype;
    double *M;         /* [N x N], symmetric; NULL if NONE */
    double gamma;      /* the samplers use gamma M */
    uint64_t revision; /* number of M's version; code that changes M must raise it */

    /* Computed from M, for the samplers. */
    uint64_t prepared;         /* the revision that the rest was computed from */
    bool zero;                 /* M = 0 */
    double *lambda;            /* [N] eigenvalues, ascending */
    double *Q;                 /* [N x N]: row k is the eigenvector of lambda[k] */
    void *Q_panels, *M_panels; /* for products */
    void *Q_transposed_panels; /* NULL unless created with `turns` */
    void *real;                /* real [N x N], scratch */
    double *work;
    int32_t *iwork;
    int work_size, iwork_size;

    /* For a Hessian. */
    const sal_model *model;
    uint64_t version; /* of the model's parameters */
    sali_couplings *couplings;

    sali_adaptation_history adaptation;
    pthread_mutex_t lock; /* of refresh */
} sali_preconditioner;

/* `given` [N x N] is copied and symmetrised; NULL unless the kind is GIVEN. `turns`: also keep what
 * is needed to take vectors into the basis of M's eigenvectors. */
sal_status sali_preconditioner_create(const sal_model *model, sali_preconditioner_kind kind,
                                      const double *given, bool turns, sali_preconditioner **out,
                                      sal_error *err);
void sali_preconditioner_destroy(void *preconditioner);

/* Recompute what depends on M and the model's parameters, if it is out of date. Safe from several
 * threads at once, as M and parameters do not change while they run. */
void sali_preconditioner_refresh(sali_preconditioner *p);

/* M = (M + M') / 2, of n rows. */
void sali_symmetrise(int64_t n, double *M);

/* Call after new numbers were stored in M: makes M symmetric, as all code that uses it requires,
 * and raises its revision. */
void sali_preconditioner_changed(sali_preconditioner *p);

/* Whether all entries of M are finite, after a refresh. */
bool sali_preconditioner_finite(const sali_preconditioner *p);

/* Set the entries between different states of one categorical variable to 0. */
void sali_separate_states(const sal_space *space, double *M);

/* The rows and columns of M [N x N, of the model `whole`] that belong to the free variables of
 * `model`, which is `whole` itself or clamps some of its variables; NULL when out of memory. The
 * caller frees the result. */
double *sali_preconditioner_restrict(const sal_model *whole, const sal_model *model,
                                     const double *M);

/* The least eigenvalue of `factor` M, after a refresh. */
double sali_preconditioner_least(const sali_preconditioner *p, double factor);

/* Replace A [n x n], symmetric, by its eigenvectors (rows), with eigenvalues in lambda [n]. Uses
 * the work space of `p`; false if the algorithm did not converge. */
bool sali_eigen(const sali_preconditioner *p, double *A, double *lambda);

#endif
