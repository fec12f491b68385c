/* SPDX-License-Identifier: MIT */
#include "samplers/coupled.h"

#include <math.h>

#include "core/vector/vmath.h"

/* ---- one move */

/* The moves of one chain. */
typedef struct moves {
    const sal_model *model;
    const int32_t *now, *there; /* codes [V] of the chain and of its partner */
    const void *weight;         /* real [S] */
} moves;

static double weight_of(const moves *m, int64_t slot)
{
    return sali_load(m->model->dtype, m->weight, slot);
}

static int32_t slots_of(const sali_variable *v)
{
    return sali_is_two_level(v) ? 1 : sali_entries(v->states);
}

/* Whether the move of slot number k of variable i leads towards the partner. */
static bool is_towards(const moves *m, int64_t i, int32_t k)
{
    const sali_variable *v = &m->model->space->variables[i];
    const int32_t now = m->now[i], there = m->there[i];
    const int32_t code = sali_is_two_level(v) ? 1 - now : sali_entry_code(v->states, now, k);
    if (now == there || v->kind == SAL_CATEGORICAL) {
        return now != there && code == there;
    }
    return now < there ? now < code && code <= there : there <= code && code < now;
}

/* The sums of the weights of all moves, and of moves towards the partner. */
typedef struct sums {
    double all, towards;
} sums;

/* Let the slots that are classes of their own race, by E = -log_u: *first receives the least E / w,
 * INFINITY if none has weight. Returns its slot. */
static int64_t race(const moves *m, const double *log_u, double *first, sums *sum)
{
    const sal_space *space = m->model->space;
    int64_t winner = -1;
    *first = INFINITY;
    *sum = (sums){ 0, 0 };
    for (int64_t i = 0; i < space->n_variables; i++) {
        const sali_variable *v = &space->variables[i];
        for (int32_t k = 0; k < slots_of(v); k++) {
            const double w = weight_of(m, v->slot + k);
            sum->all += w;
            if (is_towards(m, i, k)) {
                sum->towards += w;
            } else if (w > 0 && -log_u[v->slot + k] / w < *first) {
                *first = -log_u[v->slot + k] / w;
                winner = v->slot + k;
            }
        }
    }
    return winner;
}

/* The first slot towards the partner up to which the weights of such slots sum to more than
 * `target`; -1 if they all do not. */
static int64_t pick_towards(const moves *m, double target)
{
    const sal_space *space = m->model->space;
    for (int64_t i = 0; i < space->n_variables; i++) {
        const sali_variable *v = &space->variables[i];
        for (int32_t k = 0; m->now[i] != m->there[i] && k < slots_of(v); k++) {
            target -= is_towards(m, i, k) ? weight_of(m, v->slot + k) : 0;
            if (target < 0) {
                return v->slot + k;
            }
        }
    }
    return -1;
}

int64_t sali_coupled_pick(const sali_chains *chains, int64_t c, const void *weight)
{
    const int64_t V = chains->space->n_variables, S = chains->space->slots;
    const moves m = { chains->model, chains->codes + c * V, chains->partner + c * V, weight };
    const sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
    double first, *noise = chains->noise;
    sums sum;
    sali_rng_uniform_f64(&stream, S + 2, noise);
    const double u = noise[S] + (chains->second ? 0.5 : 0);
    sali_vlog_f64(S + 2, noise, noise);
    const int64_t winner = race(&m, noise, &first, &sum);
    const double common = sum.towards + sum.all * chains->stay / (1 - chains->stay);
    return first < -noise[S + 1] / common ? winner : pick_towards(&m, (u - floor(u)) * common);
}

/* ---- all variables */

void sali_coupled_uniforms(const sali_chains *chains, int64_t c, void *uniforms)
{
    const sal_space *space = chains->space;
    const sal_dtype dtype = chains->model->dtype;
    const int32_t *codes = chains->codes + c * space->n_variables;
    for (int64_t v = 0; chains->partner && v < space->n_variables; v++) {
        if (sali_is_two_level(&space->variables[v]) && codes[v] == 1) {
            sali_store(dtype, uniforms, v, 1 - sali_load(dtype, uniforms, v));
        }
    }
}
