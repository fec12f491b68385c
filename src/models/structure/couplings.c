#include "models/structure/couplings.h"

#include <pthread.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/tape_model.h"

struct sali_couplings {
    const sal_model *model;
    bool in_place;    /* J is a node's value */
    bool read;        /* at `version` */
    bool good;        /* `values` are those */
    uint64_t version; /* of the model's parameters when they were read */
    void *J;          /* real [N x N]; NULL: in place */
    sali_coupling_values values;
    pthread_mutex_t lock;
};

void sali_couplings_destroy(sali_couplings *c)
{
    if (c) {
        pthread_mutex_destroy(&c->lock);
        sali_free(c->values.linear);
        sali_free(c->J);
        sali_free(c);
    }
}

static bool allocate(sali_couplings *c)
{
    size_t element = c->model->dtype == SAL_F32 ? sizeof(float) : sizeof(double);
    c->J = c->in_place ? NULL : sali_alloc(c->values.n * c->values.n, element);
    return c->J || c->in_place;
}

/* Dense enough to be worth it, and not too much to keep. */
static bool worthwhile(const sali_coupling_terms *terms)
{
    bool in_place = terms->forms == 1 && terms->others == 0;
    return 2 * terms->widest >= terms->n && (in_place || terms->n <= SALI_MOST_COUPLED);
}

sal_status sali_couplings_create(const sal_model *model, sali_couplings **out, sal_error *err)
{
    int64_t N = model->space->width;
    sali_coupling_terms terms = { .n = N, .form = -1, .linear = SALI_NEW_ARRAY(double, N) };
    *out = NULL;
    sal_status status = terms.linear ? sali_couplings_read(model, &terms) : SAL_ERR_MEMORY;
    if (status != SAL_OK || !worthwhile(&terms)) {
        sali_free(terms.linear);
        return status == SAL_ERR_MEMORY ? sali_fail_memory(err) : SAL_OK;
    }
    sali_couplings *c = SALI_NEW(sali_couplings);
    if (!c) {
        sali_free(terms.linear);
        return sali_fail_memory(err);
    }
    pthread_mutex_init(&c->lock, NULL);
    c->model = model;
    c->in_place = terms.forms == 1 && terms.others == 0;
    c->values = (sali_coupling_values){ .n = N, .linear = terms.linear };
    if (!allocate(c)) {
        sali_couplings_destroy(c);
        return sali_fail_memory(err);
    }
    *out = c;
    return SAL_OK;
}

static bool read_values(sali_couplings *c)
{
    int64_t N = c->values.n;
    size_t element = c->model->dtype == SAL_F32 ? sizeof(float) : sizeof(double);
    sali_coupling_terms terms = { .n = N, .form = -1, .linear = c->values.linear, .J = c->J };
    memset(terms.linear, 0, (size_t)N * sizeof *terms.linear);
    if (c->J) {
        memset(c->J, 0, (size_t)(N * N) * element);
    }
    if (sali_couplings_read(c->model, &terms) != SAL_OK) {
        return false;
    }
    c->values.J = c->J ? c->J : sali_model_tape(c->model)->params->value[terms.form];
    c->values.scale = c->J ? 1 : 2 * terms.weight;
    c->values.constant = terms.constant;
    return true;
}

const sali_coupling_values *sali_couplings_values(sali_couplings *c)
{
    uint64_t version = sali_model_version(c->model);
    pthread_mutex_lock(&c->lock);
    if (!c->read || c->version != version) {
        c->version = version;
        c->good = read_values(c);
        c->read = true;
    }
    bool good = c->good;
    pthread_mutex_unlock(&c->lock);
    return good ? &c->values : NULL;
}
