/* SPDX-License-Identifier: MIT */
#include "samplers/langevin/preconditioner.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/object.h"
#include "core/vector/lapack.h"
#include "models/clamp.h"
#include "samplers/langevin/auxiliary.h"

/* ---- eigenvectors */

bool sali_eigen(const sali_preconditioner *p, double *A, double *lambda)
{
    int n = (int)p->n, info = 0;
    dsyevd_("V", "L", &n, A, &n, lambda, p->work, &p->work_size, p->iwork, &p->iwork_size, &info, 1,
            1);
    return info == 0;
}

/* Whether all entries of M are 0. */
static bool all_zero(const sali_preconditioner *p)
{
    for (int64_t k = 0; k < p->n * p->n; k++) {
        if (p->M[k] != 0) {
            return false;
        }
    }
    return true;
}

/* Compute all that depends on M. An M that is not finite, or whose eigenvectors cannot be found,
 * counts as 0: the sampler is exact with any M. */
static void prepare_matrix(sali_preconditioner *p)
{
    p->prepared = p->revision;
    p->zero = !sali_preconditioner_finite(p) || all_zero(p);
    if (p->zero) {
        return;
    }
    memcpy(p->Q, p->M, (size_t)(p->n * p->n) * sizeof *p->Q);
    p->zero = !sali_eigen(p, p->Q, p->lambda);
    void (*pack)(int64_t n, const double *M, bool transposed, void *scratch, void *panels) =
        p->dtype == SAL_F32 ? sali_auxiliary_pack_f32 : sali_auxiliary_pack_f64;
    pack(p->n, p->Q, false, p->real, p->Q_panels);
    pack(p->n, p->M, false, p->real, p->M_panels);
    if (p->Q_transposed_panels) {
        pack(p->n, p->Q, true, p->real, p->Q_transposed_panels);
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

void sali_symmetrise(int64_t n, double *M)
{
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++) {
            M[i * n + j] = M[j * n + i] = 0.5 * (M[i * n + j] + M[j * n + i]);
        }
    }
}

/* M receives the Hessian, or NaN if the couplings cannot be found. */
static void take_hessian(sali_preconditioner *p)
{
    const sali_coupling_values *values = sali_couplings_values(p->couplings);
    for (int64_t k = 0; k < p->n * p->n; k++) {
        p->M[k] = values ? values->scale * sali_load(p->dtype, values->J, k) : NAN;
    }
}

void sali_preconditioner_changed(sali_preconditioner *p)
{
    sali_symmetrise(p->n, p->M);
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
        take_hessian(p);
        p->revision++;
    }
    if (p->prepared != p->revision) {
        prepare_matrix(p);
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

void sali_preconditioner_destroy(void *preconditioner)
{
    sali_preconditioner *p = preconditioner;
    if (!p) {
        return;
    }
    sali_history_clear(&p->adaptation);
    sali_couplings_destroy(p->couplings);
    pthread_mutex_destroy(&p->lock);
    sali_object_free(p);
}

/* Allocate M, what is computed from M, and LAPACK's work space; Q_transposed_panels only if it
 * `turns`. The object records a failed allocation. */
static void allocate_arrays(sali_preconditioner *p, bool turns)
{
    size_t element = p->dtype == SAL_F32 ? sizeof(float) : sizeof(double);
    int n = (int)p->n, ask = -1, info = 0;
    double work = 0;
    dsyevd_("V", "L", &n, NULL, &n, NULL, &work, &ask, &p->iwork_size, &ask, &info, 1, 1);
    p->work_size = (int)work;
    p->M = SALI_OBJECT_ARRAY(p, double, p->n * p->n);
    p->Q = SALI_OBJECT_ARRAY(p, double, p->n * p->n);
    p->lambda = SALI_OBJECT_ARRAY(p, double, p->n);
    int64_t size =
        p->dtype == SAL_F32 ? sali_auxiliary_panels_f32(p->n) : sali_auxiliary_panels_f64(p->n);
    p->Q_panels = sali_object_array(p, size, element);
    p->M_panels = sali_object_array(p, size, element);
    p->Q_transposed_panels = turns ? sali_object_array(p, size, element) : NULL;
    p->real = sali_object_array(p, p->n * p->n, element);
    p->work = SALI_OBJECT_ARRAY(p, double, p->work_size);
    p->iwork = SALI_OBJECT_ARRAY(p, int32_t, p->iwork_size);
}

/* Copy the user's matrix `given` [N x N] to M, symmetrise it, and drop entries between states of a
 * variable. SAL_ERR_ARGUMENT for an entry that is not finite. */
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
    sali_symmetrise(p->n, p->M);
    sali_separate_states(p->model->space, p->M);
    return SAL_OK;
}

sal_status sali_preconditioner_create(const sal_model *model, sali_preconditioner_kind kind,
                                      const double *given, bool turns, sali_preconditioner **out,
                                      sal_error *err)
{
    sali_preconditioner *p = SALI_OBJECT(sali_preconditioner);
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
    if (kind != SALI_PRECONDITIONER_NONE) {
        allocate_arrays(p, turns);
    }
    sal_status status = sali_object_failed(p) ? sali_fail_memory(err) : SAL_OK;
    if (status == SAL_OK && kind == SALI_PRECONDITIONER_HESSIAN) {
        p->version = sali_model_version(model) - 1;
        status = sali_couplings_create(model, SALI_ANY_COUPLINGS, &p->couplings, err);
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
