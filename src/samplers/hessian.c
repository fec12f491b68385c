#include "samplers/hessian.h"

#include <math.h>
#include <pthread.h>

#include "core/alloc.h"
#include "core/error.h"
#include "samplers/constant_hessian.h"

struct sali_hessian {
    const sal_model *model;
    bool tried;
    uint64_t version; /* of the model's parameters, when tried */
    void *H;          /* NULL: none was found */
    pthread_mutex_t lock;
};

sal_status sali_hessian_create(const sal_model *model, sali_hessian **out, sal_error *err)
{
    *out = NULL;
    if (!model->has_gradient || model->space->width > SALI_MOST_HESSIAN ||
        !sali_could_have_constant_hessian(model)) {
        return SAL_OK;
    }
    sali_hessian *h = SALI_NEW(sali_hessian);
    if (!h) {
        return sali_fail_memory(err);
    }
    h->model = model;
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

/* In the model's type; NULL if it is not finite. */
static void *find_hessian(const sal_model *model)
{
    int64_t size = model->space->width * model->space->width;
    sali_hessian_search *search = NULL;
    double *M = SALI_NEW_ARRAY(double, size);
    void *H = sali_alloc(size, model->dtype == SAL_F32 ? sizeof(float) : sizeof(double));
    bool good = M && H && sali_has_constant_hessian(model) &&
                sali_hessian_search_create(model, &search, NULL) == SAL_OK;
    if (good) {
        sali_hessian_find(search, M);
    }
    for (int64_t k = 0; good && k < size; k++) {
        sali_store(model->dtype, H, k, M[k]);
        good = isfinite(M[k]);
    }
    sali_hessian_search_destroy(search);
    sali_free(M);
    if (!good) {
        sali_free(H);
        H = NULL;
    }
    return H;
}

const void *sali_hessian_rows(sali_hessian *h)
{
    uint64_t version = sali_model_version(h->model);
    pthread_mutex_lock(&h->lock);
    if (!h->tried || h->version != version) {
        h->tried = true;
        h->version = version;
        sali_free(h->H);
        h->H = find_hessian(h->model);
    }
    pthread_mutex_unlock(&h->lock);
    return h->H;
}
