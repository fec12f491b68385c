/* The exact transition matrix of a sampler on a tiny space, and chains to step by hand. */
#ifndef TRANSITION_H
#define TRANSITION_H

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

/* f of all states, and the probabilities that they have under exp(f). */
static inline void states_probabilities(const sal_model *model, double *f, double *pi)
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
    void *self;
} bench;

/* Chains c = 0 .. n - 1 with ids 0 .. n - 1, at state c mod (number of states), step counters at
 * `step`; refreshed. */
static inline bench bench_open(const sali_sampler *sampler, const sal_model *model,
                               const sali_sampler_settings *settings, int64_t n, uint64_t step)
{
    bench b = { .sampler = sampler };
    sal_error err;
    unsigned wants = (sampler->flags & SALI_SAMPLER_GRADIENT ? SALI_WANT_GRADIENT : 0) |
                     (sampler->flags & SALI_SAMPLER_DIFFERENCES ? SALI_WANT_DIFFERENCES : 0);
    int64_t states = states_count(model->space);
    ck_ok(sali_chains_create(model, n, wants, 987654321, &b.chains, &err), &err);
    ck_ok(sampler->create(b.chains, settings, &b.self, &err), &err);
    for (int64_t c = 0; c < n; c++) {
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
    double *f, *pi;    /* [n] */
    double *log_q, *P; /* [n x n]; rows of forbidden states mean nothing */
} transition;

static inline double acceptance(const transition *t, int64_t i, int64_t j)
{
    double log_ratio =
        sali_mh_log_ratio(t->f[i], t->f[j], t->log_q[i * t->n + j], t->log_q[j * t->n + i]);
    return log_ratio >= 0 ? 1 : exp(log_ratio);
}

/* Metropolis-Hastings with the sampler's log_q; a piece of a sweep takes what it proposes. */
static inline transition transition_make(const sali_sampler *sampler, const sal_model *model,
                                         const sali_sampler_settings *settings, uint64_t step)
{
    int64_t n = states_count(model->space);
    size_t square = (size_t)(n * n) * sizeof(double);
    transition t = { n, malloc((size_t)n * sizeof(double)), malloc((size_t)n * sizeof(double)),
                     malloc(square), malloc(square) };
    bench b = bench_open(sampler, model, settings, n, step);
    bool metropolis =
        (sampler->flags & SALI_SAMPLER_EXACT) && !(sampler->flags & SALI_SAMPLER_SWEEP);
    states_probabilities(model, t.f, t.pi);
    bench_log_q(&b, t.log_q);
    for (int64_t i = 0; i < n; i++) {
        double elsewhere = 0;
        for (int64_t j = 0; j < n; j++) {
            double q = exp(t.log_q[i * n + j]);
            t.P[i * n + j] = metropolis && q > 0 ? q * acceptance(&t, i, j) : q;
            elsewhere += j == i ? 0 : t.P[i * n + j];
        }
        t.P[i * n + i] = metropolis ? 1 - elsewhere : t.P[i * n + i];
    }
    bench_close(&b);
    return t;
}

static inline void transition_free(transition *t)
{
    free(t->f);
    free(t->pi);
    free(t->log_q);
    free(t->P);
}

/* ---- the cases that contract tests loop over */

static inline bool has_grid(const sal_space *space)
{
    bool found = false;
    for (int64_t b = 0; b < space->n_blocks; b++) {
        found |= space->blocks[b].kind == SAL_ORDINAL && space->blocks[b].states > 2;
    }
    return found;
}

/* Settings to try, the `k`-th; false past the last. Step sizes small and large, windows of 1 and 2
 * levels, for samplers that have them. */
static inline bool settings_at(const sali_sampler *sampler, const sal_space *space, int k,
                               sali_sampler_settings *settings)
{
    static const double steps[] = { 0.5, 4.0 };
    static const int64_t radii[] = { INT64_MAX, 1, 2 };
    int n_steps = sampler->flags & SALI_SAMPLER_STEP_SIZE ? 2 : 1;
    int n_radii = sampler->flags & SALI_SAMPLER_RADIUS && has_grid(space) ? 3 : 1;
    *settings = (sali_sampler_settings){
        .step_size = sali_default_step_size(space, steps[k % n_steps]),
        .radius = radii[k / n_steps % n_radii],
    };
    return k < n_steps * n_radii;
}

/* One case of a contract test: a model that the sampler serves, and the same in double. */
typedef struct contract_case {
    const sali_sampler *sampler;
    const sal_model *model, *exact;
    sali_sampler_settings settings;
    const char *where;
} contract_case;

typedef void contract_check(const contract_case *k);

/* Check every sampler that serves a model, with all its settings. */
static inline void for_every_sampler(const sal_model *model, const sal_model *exact,
                                     const char *name, contract_check *check)
{
    contract_case k = { .model = model, .exact = exact };
    for (int64_t i = 0; (k.sampler = sali_sampler_at(i)) != NULL; i++) {
        for (int o = 0; sali_sampler_check(k.sampler, model, NULL) == SAL_OK &&
                        settings_at(k.sampler, model->space, o, &k.settings);
             o++) {
            char where[160];
            snprintf(where, sizeof where, "%s, %s, step size %g, radius %lld", k.sampler->name,
                     name, k.settings.step_size, (long long)k.settings.radius);
            k.where = where;
            check(&k);
        }
    }
}

/* Check every sampler on every tiny space and model of a type. */
static inline void for_every_case(sal_dtype dtype, contract_check *check)
{
    for (int s = 0; s < N_TINY_SPACES; s++) {
        sal_space *space = tiny_space_make(&tiny_spaces[s]);
        for (int m = 0; m < N_TINY_MODELS; m++) {
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

#endif
