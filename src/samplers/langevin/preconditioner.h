/* SPDX-License-Identifier: MIT */
/* The matrix M of PAVG and its eigenvectors, shared by all shards of a run. */
#ifndef SALI_PRECONDITIONER_H
#define SALI_PRECONDITIONER_H

#include <pthread.h>

#include "models/structure/couplings.h"
#include "samplers/langevin/history.h"

/* More reals than this and M would be too large. */
#define SALI_MOST_PRECONDITIONED 4096

/* Where M comes from. */
typedef enum sali_preconditioner_kind {
    SALI_PRECONDITIONER_NONE,      /* 0 */
    SALI_PRECONDITIONER_HESSIAN,   /* of a quadratic f; made anew when its parameters change */
    SALI_PRECONDITIONER_GIVEN,     /* by the user */
    SALI_PRECONDITIONER_EMPIRICAL, /* found in warm-up, see history.h; 0 until then */
} sali_preconditioner_kind;

typedef struct sali_preconditioner {
    sali_preconditioner_kind kind;
    int64_t n; /* N, reals of the embedding */
    sal_dtype dtype;
    double *M;         /* [N x N], symmetric; NULL if NONE */
    double gamma;      /* what is used is gamma M */
    uint64_t revision; /* of M; whoever changes M raises it */

    /* What was made of M, for the samplers. */
    uint64_t prepared;         /* the revision */
    bool zero;                 /* M = 0 */
    double *lambda;            /* [N] eigenvalues, ascending */
    double *Q;                 /* [N x N]: row k is the eigenvector of lambda[k] */
    void *Q_panels, *M_panels; /* for products */
    void *Q_transposed_panels; /* NULL unless it turns */
    void *real;                /* real [N x N], scratch */
    double *work;
    int32_t *iwork;
    int work_size, iwork_size;

    /* Of a Hessian. */
    const sal_model *model;
    uint64_t version; /* of the model's parameters */
    sali_couplings *couplings;

    sali_adaptation_history adaptation;
    pthread_mutex_t lock; /* of refresh */
} sali_preconditioner;

/* `given` [N x N] is copied and symmetrised; NULL unless the kind is GIVEN. What turns can take
 * vectors into the basis of M's eigenvectors. */
sal_status sali_preconditioner_create(const sal_model *model, sali_preconditioner_kind kind,
                                      const double *given, bool turns, sali_preconditioner **out,
                                      sal_error *err);
void sali_preconditioner_destroy(void *preconditioner);

/* Bring what is made of M and of the model's parameters up to date. Safe from several threads at
 * once, as M and parameters do not change while they run. */
void sali_preconditioner_refresh(sali_preconditioner *p);

/* M = (M + M') / 2, of n rows. */
void sali_symmetrise(int64_t n, double *M);

/* After other numbers were put into M: makes it symmetric, as all that uses it relies on. */
void sali_preconditioner_changed(sali_preconditioner *p);

/* Whether the Hessian's entries are numbers, after a refresh. */
bool sali_preconditioner_finite(const sali_preconditioner *p);

/* Set the entries between different states of one categorical variable to 0. */
void sali_separate_states(const sal_space *space, double *M);

/* The rows and columns of M [N x N of `whole`] that belong to the free variables of `model`, which
 * is `whole` or clamps it; NULL when out of memory. The caller frees it. */
double *sali_preconditioner_restrict(const sal_model *whole, const sal_model *model,
                                     const double *M);

/* The least eigenvalue of `factor` M, after a refresh. */
double sali_preconditioner_least(const sali_preconditioner *p, double factor);

/* Eigenvalues [n] and eigenvectors (rows) in place of A [n x n] symmetric, with the work space of
 * `p`; false if the algorithm did not converge. */
bool sali_eigen(const sali_preconditioner *p, double *A, double *lambda);

#endif
