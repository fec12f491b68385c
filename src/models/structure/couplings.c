/* SPDX-License-Identifier: MIT */
#include "models/structure/couplings.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "ad/polynomial.h"
#include "core/alloc.h"
#include "core/error.h"

struct sali_couplings {
    const sal_model *model;
    int64_t owners; /* guarded by the model's `busy` */
    sali_couplings_wish wish;
    bool in_place;    /* J is the value of a node of the formula */
    bool read;        /* `values` were read, for `version` */
    bool good;        /* reading succeeded */
    uint64_t version; /* of the model's parameters when they were read */
    void *J;          /* real [N x N]; NULL if in place, and for bits */
    sali_coupling_values values;
    pthread_mutex_t lock;
};

/* ---- couplings of bits are one object for all shards and runs: they take as much memory as a
 * chain or more, and chains that share the object find it in the cache. The model does not keep it
 * alive. */

static sal_model *lock_model(const sal_model *model)
{
    sal_model *m = (sal_model *)model;
    while (atomic_exchange(&m->busy, true)) {
        sched_yield();
    }
    return m;
}

static void unlock_model(sal_model *m)
{
    atomic_store(&m->busy, false);
}

/* The couplings of bits that the model shares, with one owner more; NULL: there are none. */
static sali_couplings *find_bits(const sal_model *model)
{
    sal_model *m = lock_model(model);
    sali_couplings *c = m->couplings;
    if (c) {
        c->owners++;
    }
    unlock_model(m);
    return c;
}

/* Let the model share c, unless another thread was first. */
static void offer_bits(sali_couplings *c)
{
    sal_model *m = lock_model(c->model);
    m->couplings = m->couplings ? m->couplings : c;
    unlock_model(m);
}

/* Take one owner away. True for the last one: the model does not share c any more, and the caller
 * frees it. */
static bool give_up(sali_couplings *c)
{
    sal_model *m = lock_model(c->model);
    bool last = --c->owners == 0;
    if (last && m->couplings == c) {
        m->couplings = NULL;
    }
    unlock_model(m);
    return last;
}

void sali_couplings_destroy(sali_couplings *c)
{
    if (c && give_up(c)) {
        pthread_mutex_destroy(&c->lock);
        sali_free(c->values.linear);
        sali_free(c->values.begin);
        sali_free(c->values.couplings);
        sali_free(c->J);
        sali_free(c);
    }
}

/* ---- creation */

static bool is_one_form(const sali_coupling_terms *terms)
{
    return terms->forms == 1 && terms->others == 0;
}

/* Whether the couplings in `terms` are what `wish` asks for. SALI_DENSE_COUPLINGS: one node
 * multiplies a quarter of all pairs of unknowns, the space is bounded, and a copy of J does not
 * take too much memory. */
static bool terms_suit(const sali_coupling_terms *terms, const sal_model *model,
                       sali_couplings_wish wish)
{
    double n = (double)terms->n;
    if (wish == SALI_FORM_COUPLINGS) {
        return is_one_form(terms);
    }
    return wish == SALI_ANY_COUPLINGS ||
           (4 * (double)terms->most >= n * n && !model->space->unbounded &&
            (is_one_form(terms) || terms->n <= SALI_MOST_COUPLED));
}

/* Whether all variables have at most two states, and none is a count. */
static bool has_bits(const sal_space *space)
{
    return space->max_states <= 2 && !(sali_space_kinds(space) & 1u << SAL_COUNT);
}

/* Whether tables forbid states at the present parameters: couplings are differences of entries,
 * which are then no numbers. Other parameters may allow these states. */
static bool tables_forbid(const sal_model *model)
{
    const sali_tape_model *tape = sali_model_tape(model);
    return tape && sali_program_forbids(tape->program, tape->params);
}

/* Check that the model has the couplings that c->wish asks for (else SAL_ERR_UNSUPPORTED), and
 * allocate J unless it is read in place. Couplings of bits are read at once. */
static sal_status open_couplings(sali_couplings *c)
{
    int64_t n = c->values.n;
    sali_coupling_terms terms = { .n = n, .form = -1, .linear = c->values.linear };
    if (c->wish == SALI_BIT_COUPLINGS) {
        c->read = c->good = true;
        c->version = sali_model_version(c->model);
        return sali_couplings_read_rows(c->model, &c->values);
    }
    sal_status status = sali_couplings_read(c->model, &terms);
    if (status != SAL_OK || !terms_suit(&terms, c->model, c->wish)) {
        return status ? status : SAL_ERR_UNSUPPORTED;
    }
    c->in_place = is_one_form(&terms);
    c->J = c->in_place ? NULL : sali_alloc(n * n, sali_dtype_size(c->model->dtype));
    return c->J || c->in_place ? SAL_OK : SAL_ERR_MEMORY;
}

sal_status sali_couplings_create(const sal_model *model, sali_couplings_wish wish,
                                 sali_couplings **out, sal_error *err)
{
    bool bits = wish == SALI_BIT_COUPLINGS;
    *out = NULL;
    if (model->fields || (bits && !has_bits(model->space))) {
        return SAL_OK;
    }
    sali_couplings *c = bits ? find_bits(model) : NULL;
    if (c) {
        *out = c;
        return SAL_OK;
    }
    c = SALI_NEW(sali_couplings);
    if (!c) {
        return sali_fail_memory(err);
    }
    pthread_mutex_init(&c->lock, NULL);
    c->model = model;
    c->owners = 1;
    c->wish = wish;
    c->values.n = bits ? model->space->n_variables : model->space->width;
    c->values.linear = SALI_NEW_ARRAY(double, c->values.n);
    sal_status status = c->values.linear ? open_couplings(c) : SAL_ERR_MEMORY;
    if (status != SAL_OK) {
        sali_couplings_destroy(c);
        return status == SAL_ERR_MEMORY ? sali_fail_memory(err) : SAL_OK;
    }
    if (bits) {
        offer_bits(c);
    }
    *out = c;
    return SAL_OK;
}

/* Set J to P + P', where P = products [n x n] has the coefficients of u_i u_j. */
static void take_products(sali_couplings *c, const double *products)
{
    int64_t n = c->values.n;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++) {
            double sum = products[i * n + j] + products[j * n + i];
            sali_store(c->model->dtype, c->J, i * n + j, sum);
            sali_store(c->model->dtype, c->J, j * n + i, sum);
        }
    }
}

static bool is_finite(const sali_couplings *c)
{
    bool finite = true;
    for (int64_t k = 0; k < c->values.n * c->values.n && finite; k++) {
        finite = isfinite(sali_load(c->model->dtype, c->values.J, k));
    }
    return finite;
}

/* Read c->values from the present parameters. False: no memory, or f is no such polynomial now. */
static bool read_values(sali_couplings *c)
{
    int64_t N = c->values.n;
    if (c->wish == SALI_BIT_COUPLINGS) {
        return sali_couplings_read_rows(c->model, &c->values) == SAL_OK;
    }
    sali_coupling_terms terms = { .n = N,
                                  .form = -1,
                                  .linear = c->values.linear,
                                  .products = c->J ? SALI_NEW_ARRAY(double, N *N) : NULL };
    memset(terms.linear, 0, (size_t)N * sizeof *terms.linear);
    bool good = (terms.products || !c->J) && !tables_forbid(c->model) &&
                sali_couplings_read(c->model, &terms) == SAL_OK;
    if (good && c->J) {
        take_products(c, terms.products);
    }
    sali_free(terms.products);
    c->values.J = c->J || !good ? c->J : sali_model_tape(c->model)->params->value[terms.form];
    c->values.scale = c->J ? 1 : 2 * terms.weight;
    c->values.constant = terms.constant;
    c->values.finite = good && c->wish != SALI_DENSE_COUPLINGS && is_finite(c);
    return good;
}

bool sali_is_quadratic(const sal_model *model)
{
    int64_t N = model->space->width;
    sali_coupling_terms terms = { .n = N, .form = -1, .linear = SALI_NEW_ARRAY(double, N) };
    bool is = terms.linear && sali_couplings_read(model, &terms) == SAL_OK && !tables_forbid(model);
    sali_free(terms.linear);
    return is;
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
    bool good = c->good && (c->values.finite || c->wish != SALI_BIT_COUPLINGS);
    pthread_mutex_unlock(&c->lock);
    return good ? &c->values : NULL;
}
