/* SPDX-License-Identifier: MIT */
#include "samplers/proof/transition.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/states.h"
#include "models/structure.h"

/* ---- chains */

sal_status sali_bench_open(const sali_inspection *inspection, const sal_model *model, int64_t n,
                           uint64_t step, sali_bench *bench, sal_error *err)
{
    const sali_sampler *sampler = inspection->sampler;
    const sali_sampler_settings *settings = &inspection->settings;
    *bench = (sali_bench){ .sampler = sampler };
    sal_status status = sali_chains_create(model, n, sali_sampler_wants(sampler), inspection->seed,
                                           &bench->chains, err);
    status = status ? status : sali_sampler_share(sampler, model, settings, &bench->shared, err);
    status = status ? status
                    : sali_sampler_open(sampler, settings, bench->shared, bench->chains,
                                        &bench->self, err);
    for (int64_t c = 0; status == SAL_OK && c < n; c++) {
        bench->chains->beta[c] = inspection->beta;
        bench->chains->id[c] = (uint32_t)c;
        bench->chains->step[c] = step;
    }
    if (status != SAL_OK) {
        sali_bench_close(bench);
    }
    return status;
}

void sali_bench_close(sali_bench *bench)
{
    sali_sampler_close(bench->sampler, bench->self);
    sali_sampler_unshare(bench->sampler, bench->shared);
    sali_chains_destroy(bench->chains);
    *bench = (sali_bench){ 0 };
}

void sali_bench_spread(sali_bench *bench)
{
    const sal_space *space = bench->chains->space;
    const int64_t D = sali_sampler_directions(bench->sampler);
    int64_t states = (int64_t)sali_states_count(space);
    for (int64_t c = 0; c < bench->chains->n; c++) {
        sali_states_at(space, c / D % states, bench->chains->codes + c * space->n_variables);
    }
    bench->spread = true;
}

int64_t sali_bench_reverse(const sali_bench *bench, int64_t i)
{
    const int64_t D = sali_sampler_directions(bench->sampler);
    return i / D * D + sali_sampler_reverse(bench->sampler, (int32_t)(i % D));
}

/* 1 + the direction of each chain, [n], or NULL. */
static int32_t *chain_directions(const sali_bench *b)
{
    return sali_sampler_directions(b->sampler) > 1 ? sali_engine(b->sampler)->directions(b->self)
                                                   : NULL;
}

void sali_bench_start(sali_bench *bench)
{
    sali_chains_embed(bench->chains);
    sali_sampler_forget(bench->sampler, bench->self);
    int32_t *direction = bench->spread ? chain_directions(bench) : NULL;
    for (int64_t c = 0; direction && c < bench->chains->n; c++) {
        direction[c] = 1 + (int32_t)(c % sali_sampler_directions(bench->sampler));
    }
    sali_engine(bench->sampler)->refresh(bench->self, bench->chains);
}

int64_t sali_bench_pieces(const sali_bench *bench)
{
    const sal_sampler_engine *engine = sali_engine(bench->sampler);
    return engine->pieces ? engine->pieces(bench->self, bench->chains) : 1;
}

/* ---- discrete auxiliary variables u */

#define MOST_AUXILIARY 64
#define MOST_VALUES (INT64_C(1) << 20) /* most vectors u */

/* Number of auxiliary variables; 0 if there are none. */
static int64_t auxiliary_size(const sali_bench *b)
{
    const sali_auxiliary *a = sali_engine(b->sampler)->auxiliary;
    return a ? a->size(b->self, b->chains) : 0;
}

/* Number of vectors u; 1 without. */
static int64_t auxiliary_count(const sali_bench *b)
{
    int64_t count = 1;
    for (int64_t k = 0, size = auxiliary_size(b); k < size && count <= MOST_VALUES; k++) {
        count *= sali_engine(b->sampler)->auxiliary->bound(b->self, b->chains, k);
    }
    return count;
}

/* u = auxiliary vector number `index`. */
static void auxiliary_vector(const sali_bench *b, int64_t index, int32_t *u)
{
    for (int64_t k = 0, size = auxiliary_size(b); k < size; k++) {
        int32_t bound = sali_engine(b->sampler)->auxiliary->bound(b->self, b->chains, k);
        u[k] = (int32_t)(index % bound);
        index /= bound;
    }
}

/* Number of an auxiliary vector; -1 if it is out of bounds. */
static int64_t auxiliary_index(const sali_bench *b, const int32_t *u)
{
    int64_t index = 0;
    for (int64_t k = auxiliary_size(b) - 1; k >= 0; k--) {
        int32_t bound = sali_engine(b->sampler)->auxiliary->bound(b->self, b->chains, k);
        if (u[k] < 0 || u[k] >= bound) {
            return -1;
        }
        index = index * bound + u[k];
    }
    return index;
}

sal_status sali_bench_can(const sali_bench *b, sal_error *err)
{
    const sal_sampler_engine *engine = sali_engine(b->sampler);
    const bool told = b->sampler->engine ? engine->log_q != NULL : b->sampler->log_q != NULL;
    if (!told && !engine->auxiliary) {
        return sali_fail(
            err, SAL_ERR_UNSUPPORTED,
            "sampler '%s' cannot tell the probabilities of its proposals; draws of them "
            "can be looked at (sal_sampler_draw_proposals)",
            b->sampler->name);
    }
    if (auxiliary_size(b) > MOST_AUXILIARY || auxiliary_count(b) > MOST_VALUES) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED,
                         "sampler '%s' has auxiliary variables with more than 2^20 values to be "
                         "summed over",
                         b->sampler->name);
    }
    return SAL_OK;
}

/* log q(u, to | present states) for auxiliary vector number `index`, or log q(to | present states)
 * if there are no auxiliary variables. */
static void log_q_at(sali_bench *b, int64_t index, const int32_t *to, double *log_q)
{
    int32_t u[MOST_AUXILIARY];
    if (auxiliary_size(b) == 0 && sali_engine(b->sampler)->log_q) {
        sali_engine(b->sampler)->log_q(b->self, b->chains, to, log_q);
        return;
    }
    auxiliary_vector(b, index, u);
    sali_engine(b->sampler)->auxiliary->log_q(b->self, b->chains, u, to, log_q);
}

sal_status sali_bench_log_q(sali_bench *b, const int32_t *to, double *log_q, sal_error *err)
{
    sal_status status = sali_bench_can(b, err);
    const int64_t D = sali_sampler_directions(b->sampler);
    const int64_t count = status == SAL_OK ? D * auxiliary_count(b) : 0;
    int32_t *direction = chain_directions(b);
    double one = -INFINITY, sum = 0;
    for (int64_t k = 0; k < count; k++) {
        if (direction) {
            direction[0] = 1 + (int32_t)(k % D);
        }
        log_q_at(b, k / D, to, &one);
        sum += exp(one) / (double)D;
    }
    *log_q = count == 1 ? one : log(sum);
    return status;
}

/* ---- the matrix */

void sali_transition_free(sali_transition *t)
{
    sali_free(t->f);
    sali_free(t->pi);
    sali_free(t->log_q);
    sali_free(t->P);
    *t = (sali_transition){ 0 };
}

double sali_transition_acceptance(const sali_transition *t, int64_t i, int64_t j, double forward,
                                  double reverse)
{
    double log_ratio = sali_mh_log_ratio(t->f[i], t->f[j], forward, reverse);
    return log_ratio == INFINITY ? 1 : (1 - t->stay) * exp(fmin(log_ratio, 0));
}

/* Whether every proposal is accepted. Draws by a model's structure that are not exact when tempered
 * are proposals then (models/structure.h). */
static bool is_taken(const sali_bench *b)
{
    const sal_model *model = b->chains->model;
    bool by_structure = strcmp(b->sampler->name, "block-gibbs") == 0 && model->structure;
    if (by_structure && !sali_structure_is_exact(model->structure, b->chains->beta[0])) {
        return false;
    }
    return b->sampler->unadjusted || sali_engine(b->sampler)->rejection_free;
}

/* Fill all [count x n x states] with log q(u, j | i) of all places i and states j; codes [n x V]
 * and column [n] are scratch. The loop over u is the outer one, because samplers cache what they
 * computed for the last u. */
static void fill_all(sali_bench *b, int64_t count, double *all, int32_t *codes, double *column)
{
    const int64_t n = b->chains->n, V = b->chains->space->n_variables;
    const int64_t states = n / sali_sampler_directions(b->sampler);
    for (int64_t k = 0; k < count * states; k++) {
        int64_t u = k / states, j = k % states;
        sali_states_at(b->chains->space, j, codes);
        for (int64_t c = 1; c < n; c++) {
            memcpy(codes + c * V, codes, (size_t)V * sizeof *codes);
        }
        log_q_at(b, u, codes, column);
        for (int64_t i = 0; i < n; i++) {
            all[(u * n + i) * states + j] = column[i];
        }
    }
}

/* Number of the auxiliary vector back(u) of chain i's move from its present state to state j; -1:
 * out of bounds. `to` [V] is scratch. */
static int64_t back_of(const sali_bench *b, int64_t u, int64_t i, int64_t j, int32_t *to)
{
    const sali_auxiliary *a = sali_engine(b->sampler)->auxiliary;
    const sal_space *space = b->chains->space;
    int32_t vector[MOST_AUXILIARY], other[MOST_AUXILIARY];
    if (auxiliary_size(b) == 0 || !a->back) {
        return u;
    }
    auxiliary_vector(b, u, vector);
    sali_states_at(space, j, to);
    a->back(b->self, b->chains, b->chains->codes + i * space->n_variables, to, vector, other);
    return auxiliary_index(b, other);
}

/* Add the moves with auxiliary vector u to P and their q to log_q: accepted by Metropolis-Hastings,
 * or if every proposal is accepted, unless the state is forbidden. */
static sal_status add_moves(const sali_bench *b, sali_transition *t, int64_t u, const double *all,
                            int32_t *codes, sal_error *err)
{
    const int64_t n = t->n, D = t->directions, states = n / D;
    for (int64_t k = 0; k < n * states; k++) {
        const int64_t i = k / states, state = k % states, j = state * D + i % D;
        const double log_q = all[u * n * states + k], q = exp(log_q);
        double accepted = t->taken ? t->f[j] > -INFINITY : 1;
        if (!t->taken && q > 0) { /* NaN: a forbidden state */
            int64_t back = back_of(b, u, i, state, codes);
            if (back < 0) {
                return sali_fail(err, SAL_ERR_INTERNAL,
                                 "sampler '%s': an auxiliary variable is out of its bounds",
                                 b->sampler->name);
            }
            int64_t from = sali_bench_reverse(b, j);
            accepted =
                sali_transition_acceptance(t, i, j, log_q, all[(back * n + from) * states + i / D]);
        }
        t->log_q[k] += q; /* not yet its log */
        t->P[i * n + j] += q * accepted;
        t->P[i * n + sali_bench_reverse(b, i)] += q * (1 - accepted);
    }
    return SAL_OK;
}

/* Account in P for directions that are redrawn with some probability before a step. */
static void refresh_directions(const sali_bench *b, sali_transition *t)
{
    const int64_t n = t->n, D = t->directions;
    const double anew = D > 1 ? b->sampler->refresh_direction : 0;
    for (int64_t k = 0; anew > 0 && k < n / D * n; k++) {
        double *from = t->P + k / n * D * n + k % n, mean = 0; /* from a state's first place to
                                                                  place k % n */
        for (int64_t v = 0; v < D; v++) {
            mean += from[v * n] / (double)D;
        }
        for (int64_t v = 0; v < D; v++) {
            from[v * n] += anew * (mean - from[v * n]);
        }
    }
}

/* Fill t->f with beta f of all places, evaluated by the model and not taken from the sampler, and
 * t->pi with their probabilities under exp(beta f). */
static sal_status fill_probabilities(const sali_bench *b, sali_transition *t, int32_t *codes,
                                     sal_error *err)
{
    const sal_model *model = b->chains->model;
    double largest = -INFINITY, total = 0;
    for (int64_t i = 0; i < t->n; i++) {
        sali_states_at(model->space, i / t->directions, codes + i * model->space->n_variables);
    }
    sal_status status = sal_model_evaluate(model, t->n, codes, t->f, NULL, NULL, err);
    if (status != SAL_OK) {
        return status;
    }
    for (int64_t i = 0; i < t->n; i++) {
        t->f[i] *= b->chains->beta[i];
        largest = fmax(largest, t->f[i]);
    }
    if (largest == -INFINITY) {
        return sali_fail(err, SAL_ERR_MODEL, "%s: f is -inf at all of its %lld states", model->name,
                         (long long)(t->n / t->directions));
    }
    for (int64_t i = 0; i < t->n; i++) {
        t->pi[i] = exp(t->f[i] - largest);
        total += t->pi[i];
    }
    for (int64_t i = 0; i < t->n; i++) {
        t->pi[i] /= total;
    }
    return SAL_OK;
}

#define MOST_ENTRIES (INT64_C(1) << 26)

/* Fill the matrix of an allocated transition; SAL_ERR_UNSUPPORTED if it would be too large. */
static sal_status fill_matrix(sali_bench *b, sali_transition *t, sal_error *err)
{
    const int64_t n = b->chains->n, V = b->chains->space->n_variables, count = auxiliary_count(b);
    if (n > MOST_ENTRIES / n || count > MOST_ENTRIES / n / n) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED,
                         "sampler '%s': %lld states%s and %lld values of auxiliary variables are "
                         "too many for a matrix",
                         b->sampler->name, (long long)n,
                         t->directions > 1 ? ", counted with each direction," : "",
                         (long long)count);
    }
    int32_t *codes = SALI_NEW_ARRAY(int32_t, (n > 2 ? n : 2) * V);
    double *column = SALI_NEW_ARRAY(double, n);
    double *all = SALI_NEW_ARRAY(double, count *n *n / t->directions);
    sal_status status = codes && column && all ? SAL_OK : sali_fail_memory(err);
    status = status ? status : fill_probabilities(b, t, codes, err);
    if (status == SAL_OK) {
        fill_all(b, count, all, codes, column);
    }
    for (int64_t u = 0; status == SAL_OK && u < count; u++) {
        status = add_moves(b, t, u, all, codes, err);
    }
    if (status == SAL_OK) {
        refresh_directions(b, t);
    }
    for (int64_t k = 0; status == SAL_OK && k < n * n / t->directions; k++) {
        t->log_q[k] =
            count == 1 ? all[k] : log(t->log_q[k]); /* a sum may be 0 where none is -inf */
    }
    sali_free(codes);
    sali_free(column);
    sali_free(all);
    return status;
}

sal_status sali_transition_make(sali_bench *b, sali_transition *t, sal_error *err)
{
    const int64_t n = b->chains->n, D = sali_sampler_directions(b->sampler);
    *t = (sali_transition){ .n = n,
                            .directions = D,
                            .f = SALI_NEW_ARRAY(double, n),
                            .pi = SALI_NEW_ARRAY(double, n),
                            .log_q = SALI_NEW_ARRAY(double, n *n / D),
                            .P = SALI_NEW_ARRAY(double, n *n),
                            .taken = is_taken(b),
                            .stay = b->chains->stay };
    sal_status status =
        t->f && t->pi && t->log_q && t->P ? sali_bench_can(b, err) : sali_fail_memory(err);
    if (status == SAL_OK && b->chains->bad_chain >= 0) {
        status = sali_chains_report(b->chains, b->sampler, b->chains->bad_chain, err);
    }
    status = status ? status : fill_matrix(b, t, err);
    if (status != SAL_OK) {
        sali_transition_free(t);
    }
    return status;
}
