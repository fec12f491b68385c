/* The exact transition matrix of a sampler on a tiny space, and chains to step by hand. */
#ifndef TRANSITION_H
#define TRANSITION_H

#include "models/structure.h"
#include "samplers/sampler.h"
#include "tiny_models.h"

/* ---- all states of a space, the last variable fastest */

static inline int64_t states_count(const sal_space *space)
{
    int64_t n = 1;
    for (int64_t v = 0; v < space->n_variables; v++) {
        n *= space->variables[v].states;
    }
    return n;
}

static inline void state_codes(const sal_space *space, int64_t state, int32_t *codes)
{
    for (int64_t v = space->n_variables - 1; v >= 0; v--) {
        codes[v] = (int32_t)(state % space->variables[v].states);
        state /= space->variables[v].states;
    }
}

static inline int64_t state_of(const sal_space *space, const int32_t *codes)
{
    int64_t state = 0;
    for (int64_t v = 0; v < space->n_variables; v++) {
        state = state * space->variables[v].states + codes[v];
    }
    return state;
}

/* beta f of all states, and the probabilities that they have under exp(beta f). */
static inline void states_probabilities(const sal_model *model, double beta, double *f, double *pi)
{
    int64_t n = states_count(model->space), V = model->space->n_variables;
    int32_t codes[TINY_MOST_STATES * TINY_MOST_REALS];
    double largest = -INFINITY, total = 0;
    sal_error err;
    ck_assert(n > 0 && n <= TINY_MOST_STATES && V <= TINY_MOST_REALS);
    for (int64_t i = 0; i < n; i++) {
        state_codes(model->space, i, codes + i * V);
    }
    ck_ok(sal_model_evaluate(model, n, codes, f, NULL, NULL, &err), &err);
    for (int64_t i = 0; i < n; i++) {
        f[i] *= beta;
        largest = fmax(largest, f[i]);
    }
    for (int64_t i = 0; i < n; i++) {
        pi[i] = exp(f[i] - largest);
        total += pi[i];
    }
    for (int64_t i = 0; i < n; i++) {
        pi[i] /= total;
    }
}

/* ---- chains with a sampler */

typedef struct bench {
    const sali_sampler *sampler;
    sali_chains *chains;
    void *self, *shared;
} bench;

/* Chains c = 0 .. n - 1 with ids 0 .. n - 1, at state c mod (number of states), at the inverse
 * temperature beta, step counters at `step`; refreshed. */
static inline bench bench_open(const sali_sampler *sampler, const sal_model *model,
                               const sali_sampler_settings *settings, double beta, int64_t n,
                               uint64_t step)
{
    bench b = { .sampler = sampler };
    sal_error err;
    int64_t states = states_count(model->space);
    ck_ok(sali_chains_create(model, n, sali_sampler_wants(sampler), 987654321, &b.chains, &err),
          &err);
    if (sampler->share) {
        ck_ok(sampler->share(model, settings, &b.shared, &err), &err);
    }
    ck_ok(sali_sampler_open(sampler, settings, b.shared, b.chains, &b.self, &err), &err);
    for (int64_t c = 0; c < n; c++) {
        b.chains->beta[c] = beta;
        state_codes(model->space, c % states, b.chains->codes + c * model->space->n_variables);
        b.chains->id[c] = (uint32_t)c;
        b.chains->step[c] = step;
    }
    sali_chains_embed(b.chains);
    sampler->refresh(b.self, b.chains);
    return b;
}

static inline void bench_close(bench *b)
{
    b->sampler->destroy(b->self);
    if (b->shared) {
        b->sampler->unshare(b->shared);
    }
    sali_chains_destroy(b->chains);
}

/* log q(i -> j) of all pairs of states [n x n], from chains that sit at all states. */
static inline void bench_log_q(bench *b, double *log_q)
{
    const sal_space *space = b->chains->space;
    int64_t n = b->chains->n, V = space->n_variables;
    int32_t *to = malloc((size_t)(n * V) * sizeof *to);
    double *column = malloc((size_t)n * sizeof *column);
    for (int64_t j = 0; j < n; j++) {
        for (int64_t c = 0; c < n; c++) {
            state_codes(space, j, to + c * V);
        }
        b->sampler->log_q(b->self, b->chains, to, column);
        for (int64_t i = 0; i < n; i++) {
            log_q[i * n + j] = column[i];
        }
    }
    free(to);
    free(column);
}

/* ---- the matrix */

typedef struct transition {
    int64_t n;         /* states */
    double *f, *pi;    /* [n]; f times beta */
    double *log_q, *P; /* [n x n]; rows of forbidden states mean nothing. log_q is summed over
                          auxiliary variables */
    bool taken;        /* what is proposed, always */
} transition;

static inline double acceptance(const transition *t, int64_t i, int64_t j, double forward,
                                double reverse)
{
    double log_ratio = sali_mh_log_ratio(t->f[i], t->f[j], forward, reverse);
    return log_ratio >= 0 ? 1 : exp(log_ratio);
}

/* Whether what is proposed is always taken. Draws of a model's structure that are not exact when
 * tempered are proposals then (models/structure.h). */
static inline bool is_taken(const sali_sampler *sampler, const sal_model *model, double beta)
{
    bool by_structure = strcmp(sampler->name, "block-gibbs") == 0 && model->structure;
    if (by_structure && model->structure->log_density && beta != 1) {
        return false;
    }
    return !(sampler->flags & SALI_SAMPLER_EXACT) || (sampler->flags & SALI_SAMPLER_REJECTION_FREE);
}

/* The proposal as it is (one that is forbidden is refused), or its acceptance by
 * Metropolis-Hastings. */
static inline void add_moves(transition *t, const double *log_q, const double *log_q_back)
{
    int64_t n = t->n;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            double q = exp(log_q[i * n + j]);
            double a = t->taken ? t->f[j] > -INFINITY
                       : q == 0 ? 1
                                : acceptance(t, i, j, log_q[i * n + j], log_q_back[i * n + j]);
            t->log_q[i * n + j] += q; /* not yet its log */
            t->P[i * n + j] += q * a;
            t->P[i * n + i] += q * (1 - a);
        }
    }
}

/* Without auxiliary variables. */
static inline void transition_plain(transition *t, bench *b)
{
    int64_t n = t->n;
    double *log_q = malloc((size_t)(n * n) * sizeof *log_q);
    double *back = malloc((size_t)(n * n) * sizeof *back);
    bench_log_q(b, log_q);
    for (int64_t k = 0; k < n * n; k++) {
        back[k] = log_q[k % n * n + k / n];
    }
    add_moves(t, log_q, back);
    free(log_q);
    free(back);
}

/* The next vector u of a sampler's discrete auxiliary variables; false past the last. */
static inline bool auxiliary_next(const bench *b, int64_t size, int32_t *u)
{
    for (int64_t k = 0; k < size; k++) {
        if (++u[k] < b->sampler->auxiliary->bound(b->self, b->chains, k)) {
            return true;
        }
        u[k] = 0;
    }
    return false;
}

/* Number of a vector u in that order; and of all vectors. */
static inline int64_t auxiliary_index(const bench *b, int64_t size, const int32_t *u)
{
    int64_t index = 0;
    for (int64_t k = size - 1; k >= 0; k--) {
        int32_t bound = b->sampler->auxiliary->bound(b->self, b->chains, k);
        if (u[k] < 0 || u[k] >= bound) { /* ck_assert is too slow for this loop */
            ck_abort_msg("auxiliary variable %d is %d", (int)k, (int)u[k]);
        }
        index = index * bound + u[k];
    }
    return index;
}

static inline int64_t auxiliary_count(const bench *b, int64_t size)
{
    int64_t count = 1;
    for (int64_t k = 0; k < size; k++) {
        count *= b->sampler->auxiliary->bound(b->self, b->chains, k);
    }
    return count;
}

/* Size of the discrete auxiliary variables; 0 without. */
static inline int64_t auxiliary_size(const bench *b)
{
    const sali_auxiliary *a = b->sampler->auxiliary;
    return a && !a->gaussian ? a->size(b->self, b->chains) : 0;
}

#define MOST_AUXILIARY 64

/* log q(u, j | i) of all pairs of states [n x n], for one u. */
static inline void auxiliary_log_q(bench *b, const int32_t *u, double *log_q)
{
    const sal_space *space = b->chains->space;
    int64_t n = b->chains->n, V = space->n_variables;
    int32_t *to = malloc((size_t)(n * V) * sizeof *to);
    double *column = malloc((size_t)n * sizeof *column);
    for (int64_t j = 0; j < n; j++) {
        for (int64_t c = 0; c < n; c++) {
            state_codes(space, j, to + c * V);
        }
        b->sampler->auxiliary->log_q(b->self, b->chains, u, to, column);
        for (int64_t i = 0; i < n; i++) {
            log_q[i * n + j] = column[i];
        }
    }
    free(to);
    free(column);
}

/* log q(back(u), i | j) of all pairs where log q(u, j | i) is finite; `all` [count x n x n] holds
 * log q of all u. */
static inline void auxiliary_back(const bench *b, const int32_t *u, const double *all,
                                  double *log_q_back)
{
    const sali_auxiliary *a = b->sampler->auxiliary;
    int64_t n = b->chains->n, size = a->size(b->self, b->chains);
    int64_t index = auxiliary_index(b, size, u);
    int32_t from[TINY_MOST_REALS], to[TINY_MOST_REALS], other[MOST_AUXILIARY];
    for (int64_t k = 0; k < n * n; k++) {
        int64_t back = index;
        if (a->back && all[index * n * n + k] > -INFINITY) {
            state_codes(b->chains->space, k / n, from);
            state_codes(b->chains->space, k % n, to);
            a->back(b->self, b->chains, from, to, u, other);
            back = auxiliary_index(b, size, other);
        }
        log_q_back[k] = all[back * n * n + k % n * n + k / n];
    }
}

/* With discrete auxiliary variables, by enumerating them. */
static inline void transition_auxiliary(transition *t, bench *b)
{
    int64_t n = t->n, size = auxiliary_size(b), count = auxiliary_count(b, size);
    ck_assert_int_le(size, MOST_AUXILIARY);
    ck_assert_int_le(count * n * n, 1 << 26);
    double *all = malloc((size_t)(count * n * n) * sizeof *all);
    double *back = malloc((size_t)(n * n) * sizeof *back);
    int32_t u[MOST_AUXILIARY] = { 0 };
    do {
        auxiliary_log_q(b, u, all + auxiliary_index(b, size, u) * n * n);
    } while (auxiliary_next(b, size, u));
    do { /* u is all 0 again */
        auxiliary_back(b, u, all, back);
        add_moves(t, all + auxiliary_index(b, size, u) * n * n, back);
    } while (auxiliary_next(b, size, u));
    free(all);
    free(back);
}

/* log q(i -> j) of all pairs [n x n], summed over auxiliary variables. */
static inline void bench_proposals(bench *b, double *log_q)
{
    int64_t n = b->chains->n, size = auxiliary_size(b);
    int32_t u[MOST_AUXILIARY] = { 0 };
    double *one = malloc((size_t)(n * n) * sizeof *one);
    if (size == 0 && b->sampler->log_q) {
        bench_log_q(b, log_q);
        free(one);
        return;
    }
    memset(log_q, 0, (size_t)(n * n) * sizeof *log_q);
    do {
        auxiliary_log_q(b, u, one);
        for (int64_t k = 0; k < n * n; k++) {
            log_q[k] += exp(one[k]);
        }
    } while (auxiliary_next(b, size, u));
    for (int64_t k = 0; k < n * n; k++) {
        log_q[k] = log(log_q[k]);
    }
    free(one);
}

/* The exact matrix of the next step of chains that sit at all states. */
static inline transition transition_of(bench *b)
{
    int64_t n = b->chains->n;
    size_t row = (size_t)n * sizeof(double);
    transition t = { .n = n,
                     .f = malloc(row),
                     .pi = malloc(row),
                     .log_q = calloc((size_t)n, row),
                     .P = calloc((size_t)n, row),
                     .taken = is_taken(b->sampler, b->chains->model, b->chains->beta[0]) };
    states_probabilities(b->chains->model, b->chains->beta[0], t.f, t.pi);
    if (!b->sampler->log_q || auxiliary_size(b) > 0) {
        transition_auxiliary(&t, b);
    } else {
        transition_plain(&t, b);
    }
    for (int64_t k = 0; k < n * n; k++) {
        t.log_q[k] = log(t.log_q[k]);
    }
    return t;
}

/* The exact matrix of step number `step` at an inverse temperature. */
static inline transition transition_make(const sali_sampler *sampler, const sal_model *model,
                                         const sali_sampler_settings *settings, double beta,
                                         uint64_t step)
{
    bench b = bench_open(sampler, model, settings, beta, states_count(model->space), step);
    transition t = transition_of(&b);
    bench_close(&b);
    return t;
}

/* Pieces of a sampler's sweep; 1 if it has none. */
static inline int64_t pieces_of(const sali_sampler *sampler, const sal_model *model,
                                const sali_sampler_settings *settings)
{
    if (!(sampler->flags & SALI_SAMPLER_SWEEP)) {
        return 1;
    }
    bench b = bench_open(sampler, model, settings, 1, 1, 0);
    int64_t pieces =
        sampler->pieces ? sampler->pieces(b.self, b.chains) : model->space->n_variables;
    bench_close(&b);
    return pieces;
}

static inline void transition_free(transition *t)
{
    free(t->f);
    free(t->pi);
    free(t->log_q);
    free(t->P);
}

/* ---- the cases that contract tests loop over */

/* Whether the transitions of a sampler can be enumerated. */
static inline bool has_matrix(const sali_sampler *sampler)
{
    return sampler->log_q || (sampler->auxiliary && !sampler->auxiliary->gaussian);
}

/* Settings to try, the `k`-th; false past the last: the sampler's variants, and step sizes small
 * and large for samplers that have them. */
static inline bool settings_at(const sali_sampler *sampler, const sal_space *space, int k,
                               sali_sampler_settings *settings, char *text, size_t room)
{
    static const char *const usual[] = { "", NULL };
    static const double steps[] = { 0.5, 4.0 };
    const char *const *variants = sampler->variants ? sampler->variants : usual;
    int n_steps = sampler->flags & SALI_SAMPLER_STEP_SIZE && !TEST_SANITIZED ? 2 : 1, n = 0;
    sal_error err;
    while (variants[n]) {
        n++;
    }
    if (k >= n_steps * n) {
        return false;
    }
    const char *variant = variants[k / n_steps];
    snprintf(text, room, "%s%s%s", sampler->name, *variant ? ":" : "", variant);
    *settings = (sali_sampler_settings){
        .step_size = sali_default_step_size(space, steps[k % n_steps]),
    };
    ck_ok(sali_specification_values(text, sampler->parameters, settings->values, &err), &err);
    return true;
}

/* One case of a contract test: a model that the sampler serves, and the same in double. */
typedef struct contract_case {
    const sali_sampler *sampler;
    const sal_model *model, *exact;
    sali_sampler_settings settings;
    double beta; /* inverse temperature */
    const char *where;
} contract_case;

typedef void contract_check(const contract_case *k);

/* Check every sampler that serves a model, with all its settings, untempered and hot. */
static inline void for_every_sampler(const sal_model *model, const sal_model *exact,
                                     const char *name, contract_check *check)
{
    contract_case k = { .model = model, .exact = exact };
    for (int64_t i = 0; (k.sampler = sali_sampler_at(i)) != NULL; i++) {
        char settings[96], where[320];
        for (int o = 0;
             settings_at(k.sampler, model->space, o, &k.settings, settings, sizeof settings); o++) {
            k.beta = (o + (int)strlen(name)) % 2 ? 0.6 : 1;
            snprintf(where, sizeof where, "%s, %s, step size %g, beta %g", settings, name,
                     k.settings.step_size, k.beta);
            k.where = where;
            if (sali_sampler_check(k.sampler, &k.settings, model, NULL) == SAL_OK) {
                check(&k);
            }
        }
    }
}

/* Check every sampler on every model of a type over every tiny space. */
static inline void for_every_space(sal_dtype dtype, contract_check *check)
{
    for (int s = 0; s < N_TINY_SPACES; s++) {
        sal_space *space = tiny_space_make(&tiny_spaces[s]);
        for (int m = TEST_SANITIZED ? s % 2 : 0; m < N_TINY_MODELS; m += TEST_SANITIZED ? 2 : 1) {
            sal_model *model = tiny_models[m].make(space, dtype);
            sal_model *exact = tiny_models[m].make(space, SAL_F64);
            if (model) {
                char name[80];
                snprintf(name, sizeof name, "%s over %s", tiny_models[m].name, tiny_spaces[s].name);
                for_every_sampler(model, exact, name, check);
            }
            sal_model_destroy(model);
            sal_model_destroy(exact);
        }
        sal_space_destroy(space);
    }
}

/* Check every sampler on every tiny ready-made model. */
static inline void for_every_builtin(sal_dtype dtype, contract_check *check)
{
    for (int k = 0; k < N_TINY_BUILTINS; k++) {
        sal_model *model = tiny_builtin(k, dtype), *exact = tiny_builtin(k, SAL_F64);
        char again[100]; /* a name longer by an odd number: the other temperatures */
        snprintf(again, sizeof again, "again, %s", tiny_builtins[k]);
        for_every_sampler(model, exact, tiny_builtins[k], check);
        for_every_sampler(model, exact, again, check);
        sal_model_destroy(model);
        sal_model_destroy(exact);
    }
}

static inline void for_every_case(sal_dtype dtype, contract_check *check)
{
    for_every_space(dtype, check);
    for_every_builtin(dtype, check);
}

#endif
