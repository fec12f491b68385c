/* SPDX-License-Identifier: MIT */
/* The exact transition matrix of a sampler on a tiny space, and chains to step by hand. */
#ifndef TRANSITION_H
#define TRANSITION_H

#include "samplers/proof/transition.h"
#include "tiny_models.h"

/* What warm-up tunes of a sampler that tunes one list of numbers; their number. */
static inline int64_t tuned_values(const sali_sampler *sampler, void *shared, double **values)
{
    sali_state_item items[SALI_MOST_STATE];
    ck_assert_int_eq(sali_sampler_items(sampler, shared, NULL, SALI_STATE_TUNED, items), 1);
    *values = items[0].data;
    return items[0].count;
}

/* ---- all states of a space, the last variable fastest */

/* The number of all codes, those with other sums or labels than the space fixes included. */
static inline int64_t words_count(const sal_space *space)
{
    int64_t n = 1;
    for (int64_t v = 0; v < space->n_variables; v++) {
        n *= space->variables[v].states;
    }
    return n;
}

static inline void word_codes(const sal_space *space, int64_t word, int32_t *codes)
{
    for (int64_t v = space->n_variables - 1; v >= 0; v--) {
        codes[v] = (int32_t)(word % space->variables[v].states);
        word /= space->variables[v].states;
    }
}

static inline bool is_state(const sal_space *space, const int32_t *codes)
{
    return !space->fixed || sali_codes_check(space, 1, codes, NULL) == SAL_OK;
}

/* The number of states before the word `codes`, or of all states where it is NULL. */
static inline int64_t state_of(const sal_space *space, const int32_t *codes)
{
    int32_t other[TINY_MOST_REALS];
    int64_t word = 0, states = 0, words = words_count(space);
    for (int64_t v = 0; codes && v < space->n_variables; v++) {
        word = word * space->variables[v].states + codes[v];
    }
    for (int64_t k = 0; space->fixed && k < (codes ? word : words); k++) {
        word_codes(space, k, other);
        states += is_state(space, other);
    }
    return space->fixed ? states : codes ? word : words;
}

static inline int64_t states_count(const sal_space *space)
{
    return state_of(space, NULL);
}

static inline void state_codes(const sal_space *space, int64_t state, int32_t *codes)
{
    int64_t word = space->fixed ? -1 : state;
    for (state = space->fixed ? state : -1; state >= 0;) {
        word_codes(space, ++word, codes);
        state -= is_state(space, codes);
    }
    word_codes(space, word, codes);
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

typedef sali_bench bench;
typedef sali_transition transition;

/* Chains c = 0 .. n - 1 with ids 0 .. n - 1, at state c mod (number of states), at the inverse
 * temperature beta, step counters at `step`; refreshed. */
static inline bench bench_open(const sali_sampler *sampler, const sal_model *model,
                               const sali_sampler_settings *settings, double beta, int64_t n,
                               uint64_t step)
{
    bench b;
    sal_error err;
    sali_inspection inspection = { sampler, *settings, beta, 987654321 };
    ck_ok(sali_bench_open(&inspection, model, n, step, &b, &err), &err);
    sali_bench_spread(&b);
    sali_bench_start(&b);
    return b;
}

static inline void bench_close(bench *b)
{
    sali_bench_close(b);
}

/* Size of the discrete auxiliary variables; 0 without. */
static inline int64_t auxiliary_size(const bench *b)
{
    const sali_auxiliary *a = sali_engine(b->sampler)->auxiliary;
    return a ? a->size(b->self, b->chains) : 0;
}

/* The exact matrix of the next step of chains that sit at all states. */
static inline transition transition_of(bench *b)
{
    transition t;
    sal_error err;
    ck_ok(sali_transition_make(b, &t, &err), &err);
    return t;
}

/* log q(i -> j) of all pairs of states [n x n], from chains that sit at all states; summed over
 * auxiliary variables. */
static inline void bench_proposals(bench *b, double *log_q)
{
    transition t = transition_of(b);
    memcpy(log_q, t.log_q, (size_t)(t.n * t.n) * sizeof *log_q);
    sali_transition_free(&t);
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
    if (!sali_engine(sampler)->pieces) {
        return 1;
    }
    bench b = bench_open(sampler, model, settings, 1, 1, 0);
    int64_t pieces = sali_bench_pieces(&b);
    bench_close(&b);
    return pieces;
}

static inline void transition_free(transition *t)
{
    sali_transition_free(t);
}

/* ---- what an exact sampler's matrix P [n x n] has; rows of states without probability are not
 * used */

/* The larger, NaN before all. */
static inline double larger_breach(double a, double b)
{
    return b > a || isnan(b) ? b : a;
}

/* The largest |pi_i P_ij - pi_j P_ji|. */
static inline double balance_breach(int64_t n, const double *pi, const double *P)
{
    double worst = 0;
    for (int64_t k = 0; k < n * n; k++) {
        int64_t i = k / n, j = k % n;
        double there = pi[i] > 0 ? pi[i] * P[i * n + j] : 0;
        double back = pi[j] > 0 ? pi[j] * P[j * n + i] : 0;
        worst = larger_breach(worst, fabs(there - back));
    }
    return worst;
}

/* The largest |pi P - pi|. */
static inline double invariance_breach(int64_t n, const double *pi, const double *P)
{
    double worst = 0;
    for (int64_t j = 0; j < n; j++) {
        double arrives = 0;
        for (int64_t i = 0; i < n; i++) {
            arrives += pi[i] > 0 ? pi[i] * P[i * n + j] : 0;
        }
        worst = larger_breach(worst, fabs(arrives - pi[j]));
    }
    return worst;
}

/* ---- the cases that contract tests loop over */

/* Whether the transitions of a sampler can be enumerated. */
static inline bool has_matrix(const sali_sampler *sampler)
{
    return sali_engine(sampler)->log_q || sali_engine(sampler)->auxiliary;
}

/* Settings to try, the `k`-th; false past the last: the sampler's variants, and step sizes small
 * and large for samplers that have them. */
static inline bool settings_at(const sali_sampler *sampler, const sal_space *space, int k,
                               sali_sampler_settings *settings, char *text, size_t room)
{
    static const char *const usual[] = { "", NULL };
    static const double steps[] = { 0.5, 4.0 };
    const char *const *variants =
        sali_engine(sampler)->variants ? sali_engine(sampler)->variants : usual;
    int n_steps = sampler->has_step_size && !TEST_SANITIZED ? 2 : 1, n = 0;
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
    ck_ok(sali_specification_values(text, sampler->settings, settings->values, &err), &err);
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
    for (int s = 0; s < N_TINY_SPACES + N_TINY_SLICES; s++) {
        const tiny_space *tiny =
            s < N_TINY_SPACES ? &tiny_spaces[s] : &tiny_slices[s - N_TINY_SPACES];
        sal_space *space = tiny_space_make(tiny);
        for (int m = TEST_SANITIZED ? s % 2 : 0; m < N_TINY_MODELS; m += TEST_SANITIZED ? 2 : 1) {
            sal_model *model = tiny_models[m].make(space, dtype);
            sal_model *exact = tiny_models[m].make(space, SAL_F64);
            if (model) {
                char name[80];
                snprintf(name, sizeof name, "%s over %s", tiny_models[m].name, tiny->name);
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
