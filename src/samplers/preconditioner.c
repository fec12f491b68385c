#include "samplers/preconditioner.h"

#include <math.h>
#include <string.h>

#include "ad/quadratic.h"
#include "core/alloc.h"
#include "core/error.h"
#include "core/lapack.h"
#include "models/clamp.h"
#include "models/tape_model.h"

/* Gradients of the Hessian are taken at this many points at once. */
enum { POINTS = 64 };

/* ---- eigenvectors */

void sali_eigen_sizes(int n, int *work_size, int *iwork_size)
{
    double work = 0;
    int iwork = 0, ask = -1, info = 0;
    dsyevd_("V", "L", &n, NULL, &n, NULL, &work, &ask, &iwork, &ask, &info, 1, 1);
    *work_size = (int)work;
    *iwork_size = iwork;
}

bool sali_eigen(int n, double *A, double *lambda, double *work, int work_size, int32_t *iwork,
                int iwork_size)
{
    int info = 0;
    dsyevd_("V", "L", &n, A, &n, lambda, work, &work_size, iwork, &iwork_size, &info, 1, 1);
    return info == 0;
}

static bool all_zero(const sali_preconditioner *p)
{
    for (int64_t k = 0; k < p->n * p->n; k++) {
        if (p->M[k] != 0) {
            return false;
        }
    }
    return true;
}

/* Everything that is made of M. One that is not finite, or that has no eigenvectors to be found,
 * counts as 0: the sampler is exact with any M. */
static void prepare(sali_preconditioner *p)
{
    int n = (int)p->n;
    p->prepared = p->revision;
    p->zero = !sali_preconditioner_finite(p) || all_zero(p);
    if (p->zero) {
        return;
    }
    memcpy(p->Q, p->M, (size_t)(p->n * p->n) * sizeof *p->Q);
    p->zero = !sali_eigen(n, p->Q, p->lambda, p->work, p->work_size, p->iwork, p->iwork_size);
    for (int64_t k = 0; k < p->n * p->n; k++) {
        sali_store(p->dtype, p->Q_real, k, p->Q[k]);
        sali_store(p->dtype, p->M_real, k, p->M[k]);
    }
}

double sali_preconditioner_least(const sali_preconditioner *p, double factor)
{
    return p->zero ? 0 : fmin(factor * p->lambda[0], factor * p->lambda[p->n - 1]);
}

bool sali_preconditioner_finite(const sali_preconditioner *p)
{
    for (int64_t k = 0; k < p->n * p->n; k++) {
        if (!isfinite(p->M[k])) {
            return false;
        }
    }
    return true;
}

/* ---- the matrix */

/* Whether a table of the program holds -inf: f is no polynomial then. */
static bool forbids(const sali_tape_model *tape)
{
    for (int32_t i = 0; i < tape->program->n_nodes; i++) {
        const sali_node *node = &tape->program->nodes[i];
        int32_t T = node->op == SALI_OP_table ? node->in[1] : 0;
        for (int64_t k = 0; node->op == SALI_OP_table && k < tape->program->steps[T].size; k++) {
            if (!isfinite(sali_load(tape->program->dtype, tape->params->value[T], k))) {
                return true;
            }
        }
    }
    return false;
}

bool sali_has_constant_hessian(const sal_model *model)
{
    const sali_tape_model *tape = sali_model_tape(model);
    return tape && sali_program_is_quadratic(tape->program) && !forbids(tape);
}

/* M = (M + M') / 2. */
static void symmetrise(int64_t n, double *M)
{
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++) {
            M[i * n + j] = M[j * n + i] = 0.5 * (M[i * n + j] + M[j * n + i]);
        }
    }
}

void sali_preconditioner_changed(sali_preconditioner *p)
{
    symmetrise(p->n, p->M);
    p->revision++;
}

/* Gradients at `count` unit vectors from number `first` on, less that at 0, are rows of M. */
static void hessian_rows(sali_preconditioner *p, int64_t first, int64_t count)
{
    int64_t n = p->n;
    memset(p->points, 0,
           (size_t)(count * n) * (p->dtype == SAL_F32 ? sizeof(float) : sizeof(double)));
    for (int64_t k = 0; k < count; k++) {
        sali_store(p->dtype, p->points, k * n + first + k, 1);
    }
    sali_gradient(p->evaluator, count, NULL, p->points, p->f, p->gradients);
    for (int64_t k = 0; k < count * n; k++) {
        p->M[first * n + k] = sali_load(p->dtype, p->gradients, k) - p->origin[k % n];
    }
}

/* The Hessian of a quadratic f. Entries between states of one variable are kept: with them the
 * sampler is an exact block Gibbs sampler. */
static void fill_hessian(sali_preconditioner *p)
{
    memset(p->points, 0, (size_t)p->n * (p->dtype == SAL_F32 ? sizeof(float) : sizeof(double)));
    sali_gradient(p->evaluator, 1, NULL, p->points, p->f, p->gradients);
    for (int64_t k = 0; k < p->n; k++) {
        p->origin[k] = sali_load(p->dtype, p->gradients, k);
    }
    for (int64_t first = 0; first < p->n; first += POINTS) {
        hessian_rows(p, first, p->n - first < POINTS ? p->n - first : POINTS);
    }
    symmetrise(p->n, p->M);
    p->revision++;
}

void sali_preconditioner_refresh(sali_preconditioner *p)
{
    if (p->kind == SALI_PRECONDITIONER_NONE) {
        return;
    }
    pthread_mutex_lock(&p->lock);
    if (p->kind == SALI_PRECONDITIONER_HESSIAN && p->version != sali_model_version(p->model)) {
        p->version = sali_model_version(p->model);
        fill_hessian(p);
    }
    if (p->prepared != p->revision) {
        prepare(p);
    }
    pthread_mutex_unlock(&p->lock);
}

void sali_separate_states(const sal_space *space, double *M)
{
    for (int64_t v = 0; v < space->n_variables; v++) {
        int64_t first = space->variables[v].offset, width = space->variables[v].width;
        for (int64_t k = 0; k < width * width; k++) {
            if (k / width != k % width) {
                M[(first + k / width) * space->width + first + k % width] = 0;
            }
        }
    }
}

double *sali_preconditioner_restrict(const sal_model *whole, const sal_model *model,
                                     const double *M)
{
    const sal_space *space = model->space;
    int64_t N = space->width, *variable = SALI_NEW_ARRAY(int64_t, space->n_variables);
    int64_t *real_of = SALI_NEW_ARRAY(int64_t, N);
    double *part = SALI_NEW_ARRAY(double, N *N);
    if (variable && real_of && part) {
        sali_clamp_variables(model, variable);
        for (int64_t v = 0, k = 0; v < space->n_variables; v++) {
            for (int32_t i = 0; i < space->variables[v].width; i++) {
                real_of[k++] = whole->space->variables[variable[v]].offset + i;
            }
        }
        for (int64_t k = 0; k < N * N; k++) {
            part[k] = M[real_of[k / N] * whole->space->width + real_of[k % N]];
        }
    } else {
        sali_free(part);
        part = NULL;
    }
    sali_free(variable);
    sali_free(real_of);
    return part;
}

/* ---- creation */

void sali_preconditioner_destroy(sali_preconditioner *p)
{
    if (!p) {
        return;
    }
    sali_history_clear(&p->adaptation);
    sali_evaluator_destroy(p->evaluator);
    sali_free(p->M);
    sali_free(p->lambda);
    sali_free(p->Q);
    sali_free(p->Q_real);
    sali_free(p->M_real);
    sali_free(p->work);
    sali_free(p->iwork);
    sali_free(p->points);
    sali_free(p->gradients);
    sali_free(p->f);
    sali_free(p->origin);
    pthread_mutex_destroy(&p->lock);
    sali_free(p);
}

static bool allocate(sali_preconditioner *p)
{
    size_t element = p->dtype == SAL_F32 ? sizeof(float) : sizeof(double);
    sali_eigen_sizes((int)p->n, &p->work_size, &p->iwork_size);
    p->M = SALI_NEW_ARRAY(double, p->n * p->n);
    p->Q = SALI_NEW_ARRAY(double, p->n * p->n);
    p->lambda = SALI_NEW_ARRAY(double, p->n);
    p->Q_real = sali_alloc(p->n * p->n, element);
    p->M_real = sali_alloc(p->n * p->n, element);
    p->work = SALI_NEW_ARRAY(double, p->work_size);
    p->iwork = SALI_NEW_ARRAY(int32_t, p->iwork_size);
    return p->M && p->Q && p->lambda && p->Q_real && p->M_real && p->work && p->iwork;
}

static sal_status open_hessian(sali_preconditioner *p, sal_error *err)
{
    size_t element = p->dtype == SAL_F32 ? sizeof(float) : sizeof(double);
    p->points = sali_alloc(POINTS * p->n, element);
    p->gradients = sali_alloc(POINTS * p->n, element);
    p->f = SALI_NEW_ARRAY(double, POINTS);
    p->origin = SALI_NEW_ARRAY(double, p->n);
    p->version = sali_model_version(p->model) - 1;
    return p->points && p->gradients && p->f && p->origin
               ? sali_evaluator_create(p->model, POINTS, SALI_WANT_GRADIENT, &p->evaluator, err)
               : sali_fail_memory(err);
}

static sal_status take_given(sali_preconditioner *p, const double *given, sal_error *err)
{
    memcpy(p->M, given, (size_t)(p->n * p->n) * sizeof *p->M);
    for (int64_t k = 0; k < p->n * p->n; k++) {
        if (!isfinite(given[k])) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "preconditioner: entry (%lld, %lld) is %g; expected a number",
                             (long long)(k / p->n), (long long)(k % p->n), given[k]);
        }
    }
    symmetrise(p->n, p->M);
    sali_separate_states(p->model->space, p->M);
    return SAL_OK;
}

sal_status sali_preconditioner_create(const sal_model *model, sali_preconditioner_kind kind,
                                      const double *given, sali_preconditioner **out,
                                      sal_error *err)
{
    sali_preconditioner *p = SALI_NEW(sali_preconditioner);
    if (!p) {
        return sali_fail_memory(err);
    }
    pthread_mutex_init(&p->lock, NULL);
    p->kind = kind;
    p->model = model;
    p->n = model->space->width;
    p->dtype = model->dtype;
    p->gamma = 1;
    p->revision = 1;
    p->zero = true;
    sal_status status =
        kind == SALI_PRECONDITIONER_NONE || allocate(p) ? SAL_OK : sali_fail_memory(err);
    if (status == SAL_OK && kind == SALI_PRECONDITIONER_HESSIAN) {
        status = open_hessian(p, err);
    }
    if (status == SAL_OK && kind == SALI_PRECONDITIONER_GIVEN) {
        status = take_given(p, given, err);
    }
    if (status != SAL_OK) {
        sali_preconditioner_destroy(p);
        return status;
    }
    *out = p;
    return SAL_OK;
}
