#include "samplers/hessian.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "samplers/preconditioner.h"

/* Gradients are taken at this many points at once. */
enum { POINTS = 64 };

struct sali_hessian {
    const sal_model *model;
    uint64_t version; /* of the model's parameters */
    bool tried;
    void *H; /* NULL: none was found */
    pthread_mutex_t lock;
};

sal_status sali_hessian_create(const sal_model *model, sali_hessian **out, sal_error *err)
{
    *out = NULL;
    if (!model->has_gradient || model->space->width > SALI_MOST_HESSIAN ||
        !sali_has_constant_hessian(model)) {
        return SAL_OK;
    }
    sali_hessian *h = SALI_NEW(sali_hessian);
    if (!h) {
        return sali_fail_memory(err);
    }
    h->model = model;
    h->version = sali_model_version(model);
    pthread_mutex_init(&h->lock, NULL);
    *out = h;
    return SAL_OK;
}

void sali_hessian_destroy(sali_hessian *h)
{
    if (h) {
        pthread_mutex_destroy(&h->lock);
        sali_free(h->H);
        sali_free(h);
    }
}

/* What finding it takes. */
typedef struct search {
    sal_dtype dtype;
    int64_t n;
    sali_evaluator *evaluator;
    void *points, *gradients; /* real [POINTS x N] */
    double *f, *origin;       /* [POINTS]; [N] the gradient at 0 */
} search;

/* Gradients at `count` unit vectors from number `first` on, less that at 0. */
static void find_rows(search *s, int64_t first, int64_t count, void *H)
{
    size_t element = s->dtype == SAL_F32 ? sizeof(float) : sizeof(double);
    memset(s->points, 0, (size_t)(count * s->n) * element);
    for (int64_t k = 0; k < count; k++) {
        sali_store(s->dtype, s->points, k * s->n + first + k, 1);
    }
    sali_gradient(s->evaluator, count, NULL, s->points, s->f, s->gradients);
    for (int64_t k = 0; k < count * s->n; k++) {
        sali_store(s->dtype, H, first * s->n + k,
                   sali_load(s->dtype, s->gradients, k) - s->origin[k % s->n]);
    }
}

static void find(search *s, void *H)
{
    size_t element = s->dtype == SAL_F32 ? sizeof(float) : sizeof(double);
    memset(s->points, 0, (size_t)s->n * element);
    sali_gradient(s->evaluator, 1, NULL, s->points, s->f, s->gradients);
    for (int64_t k = 0; k < s->n; k++) {
        s->origin[k] = sali_load(s->dtype, s->gradients, k);
    }
    for (int64_t first = 0; first < s->n; first += POINTS) {
        find_rows(s, first, s->n - first < POINTS ? s->n - first : POINTS, H);
    }
}

/* H = (H + H') / 2; whether all of it is finite. */
static bool symmetrise(sal_dtype dtype, int64_t n, void *H)
{
    bool finite = true;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++) {
            double mean = 0.5 * (sali_load(dtype, H, i * n + j) + sali_load(dtype, H, j * n + i));
            finite &= isfinite(mean);
            sali_store(dtype, H, i * n + j, mean);
            sali_store(dtype, H, j * n + i, mean);
        }
    }
    return finite;
}

static void *find_hessian(const sal_model *model)
{
    size_t element = model->dtype == SAL_F32 ? sizeof(float) : sizeof(double);
    search s = { .dtype = model->dtype, .n = model->space->width };
    s.points = sali_alloc(POINTS * s.n, element);
    s.gradients = sali_alloc(POINTS * s.n, element);
    s.f = SALI_NEW_ARRAY(double, POINTS);
    s.origin = SALI_NEW_ARRAY(double, s.n);
    void *H = sali_alloc(s.n * s.n, element);
    if (s.points && s.gradients && s.f && s.origin && H &&
        sali_evaluator_create(model, POINTS, SALI_WANT_GRADIENT, &s.evaluator, NULL) == SAL_OK) {
        find(&s, H);
    }
    if (!s.evaluator || !symmetrise(s.dtype, s.n, H)) {
        sali_free(H);
        H = NULL;
    }
    sali_evaluator_destroy(s.evaluator);
    sali_free(s.points);
    sali_free(s.gradients);
    sali_free(s.f);
    sali_free(s.origin);
    return H;
}

const void *sali_hessian_rows(sali_hessian *h)
{
    if (sali_model_version(h->model) != h->version) {
        return NULL;
    }
    pthread_mutex_lock(&h->lock);
    if (!h->tried) {
        h->tried = true;
        h->H = find_hessian(h->model);
    }
    pthread_mutex_unlock(&h->lock);
    return h->H;
}
