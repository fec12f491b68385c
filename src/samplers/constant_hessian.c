#include "samplers/constant_hessian.h"

#include <math.h>
#include <string.h>

#include "ad/quadratic.h"
#include "core/alloc.h"
#include "core/error.h"
#include "models/tape_model.h"

/* Gradients are taken at this many points at once. */
enum { POINTS = 64 };

struct sali_hessian_search {
    sal_dtype dtype;
    int64_t n; /* N */
    sali_evaluator *evaluator;
    void *points, *gradients; /* real [POINTS x N] */
    double *f, *origin;       /* [POINTS]; [N] the gradient at 0 */
};

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

bool sali_could_have_constant_hessian(const sal_model *model)
{
    const sali_tape_model *tape = sali_model_tape(model);
    return tape && sali_program_is_quadratic(tape->program);
}

bool sali_has_constant_hessian(const sal_model *model)
{
    return sali_could_have_constant_hessian(model) && !forbids(sali_model_tape(model));
}

void sali_hessian_search_destroy(sali_hessian_search *s)
{
    if (s) {
        sali_evaluator_destroy(s->evaluator);
        sali_free(s->points);
        sali_free(s->gradients);
        sali_free(s->f);
        sali_free(s->origin);
        sali_free(s);
    }
}

sal_status sali_hessian_search_create(const sal_model *model, sali_hessian_search **out,
                                      sal_error *err)
{
    size_t element = model->dtype == SAL_F32 ? sizeof(float) : sizeof(double);
    sali_hessian_search *s = SALI_NEW(sali_hessian_search);
    if (!s) {
        return sali_fail_memory(err);
    }
    s->dtype = model->dtype;
    s->n = model->space->width;
    s->points = sali_alloc(POINTS * s->n, element);
    s->gradients = sali_alloc(POINTS * s->n, element);
    s->f = SALI_NEW_ARRAY(double, POINTS);
    s->origin = SALI_NEW_ARRAY(double, s->n);
    sal_status status =
        s->points && s->gradients && s->f && s->origin
            ? sali_evaluator_create(model, POINTS, SALI_WANT_GRADIENT, &s->evaluator, err)
            : sali_fail_memory(err);
    if (status != SAL_OK) {
        sali_hessian_search_destroy(s);
        return status;
    }
    *out = s;
    return SAL_OK;
}

/* Gradients at `count` points, zero but for point k at `unit` + k (none if `unit` is negative). */
static void gradients_at(sali_hessian_search *s, int64_t count, int64_t unit)
{
    size_t element = s->dtype == SAL_F32 ? sizeof(float) : sizeof(double);
    memset(s->points, 0, (size_t)(count * s->n) * element);
    for (int64_t k = 0; unit >= 0 && k < count; k++) {
        sali_store(s->dtype, s->points, k * s->n + unit + k, 1);
    }
    sali_gradient(s->evaluator, count, NULL, s->points, s->f, s->gradients);
}

void sali_hessian_find(sali_hessian_search *s, double *H)
{
    gradients_at(s, 1, -1);
    for (int64_t k = 0; k < s->n; k++) {
        s->origin[k] = sali_load(s->dtype, s->gradients, k);
    }
    for (int64_t first = 0; first < s->n; first += POINTS) {
        int64_t count = s->n - first < POINTS ? s->n - first : POINTS;
        gradients_at(s, count, first);
        for (int64_t k = 0; k < count * s->n; k++) {
            H[first * s->n + k] = sali_load(s->dtype, s->gradients, k) - s->origin[k % s->n];
        }
    }
    sali_symmetrise(s->n, H);
}

void sali_symmetrise(int64_t n, double *M)
{
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++) {
            M[i * n + j] = M[j * n + i] = 0.5 * (M[i * n + j] + M[j * n + i]);
        }
    }
}
