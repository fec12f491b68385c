/* SPDX-License-Identifier: MIT */
/* Whether a sampler leaves the distribution of a small model invariant: its exact matrix against
 * the states' probabilities, and steps that it makes against the matrix. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/states.h"
#include "samplers/proof/transition.h"

#define MOST_STATES 4096
#define USUAL_STEPS 1000
#define ROUNDING 1e-12

/* The largest value so far of a pair of states. */
typedef struct worst_pair {
    double value;
    int64_t from, to;
} worst_pair;

static void keep_worst(worst_pair *w, double value, int64_t from, int64_t to)
{
    if (!(value <= w->value)) {
        *w = (worst_pair){ value, from, to };
    }
}

typedef struct findings {
    sal_balance b;
    worst_pair reversibility, normalisation, steps;
    double chi_square, cells;
    int64_t places; /* states times directions */
    bool *reached;  /* [places x places] by one step of any kind */
} findings;

/* ---- the matrix */

/* Check that log q is a number below +inf everywhere: a user's own log_q may return anything. */
static sal_status check_numbers(const sali_transition *t, const sali_sampler *sampler,
                                sal_error *err)
{
    const int64_t states = t->n / t->directions;
    for (int64_t k = 0; k < t->n * states; k++) {
        if (t->pi[k / states] > 0 && !(t->log_q[k] < INFINITY)) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "sampler '%s': log_q from state number %lld to number %lld is %g (the "
                             "last variable counts fastest); expected a log-probability, or -inf",
                             sampler->name, (long long)(k / states / t->directions),
                             (long long)(k % states), t->log_q[k]);
        }
    }
    return SAL_OK;
}

/* Record the largest violation of detailed balance over pairs of places, the largest error of a
 * row's sum of q, and which places a step reaches. */
static void look_at_rows(const sali_bench *b, const sali_transition *t, findings *f)
{
    const int64_t states = t->n / t->directions;
    for (int64_t i = 0; i < t->n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < states; j++) {
            sum += exp(t->log_q[i * states + j]);
        }
        for (int64_t j = 0; j < t->n; j++) {
            const int64_t from = sali_bench_reverse(b, j), to = sali_bench_reverse(b, i);
            double there = t->pi[i] * t->P[i * t->n + j], back = t->pi[j] * t->P[from * t->n + to];
            /* Rows of forbidden states mean nothing. */
            there = t->pi[i] == 0 ? 0 : there;
            back = t->pi[j] == 0 ? 0 : back;
            f->reached[i * t->n + j] |= t->P[i * t->n + j] > 0;
            keep_worst(&f->reversibility, fabs(there - back), i, j);
        }
        if (t->pi[i] > 0) {
            keep_worst(&f->normalisation, fabs(sum - 1), i, i);
        }
    }
}

/* Record the largest error of pi P = pi. */
static void look_at_columns(const sali_transition *t, findings *f)
{
    for (int64_t j = 0; j < t->n; j++) {
        double sum = 0;
        for (int64_t i = 0; i < t->n; i++) {
            sum += t->pi[i] > 0 ? t->pi[i] * t->P[i * t->n + j] : 0;
        }
        if (!(fabs(sum - t->pi[j]) <= f->b.invariance)) {
            f->b.invariance = fabs(sum - t->pi[j]);
        }
    }
}

static int64_t most_probable(const sali_transition *t)
{
    int64_t most = 0;
    for (int64_t i = 1; i < t->n; i++) {
        most = t->pi[i] > t->pi[most] ? i : most;
    }
    return most;
}

/* Number of states of positive probability that cannot be reached from place `start` by steps, in
 * any direction; `seen` and `stack` [n] are scratch. */
static int64_t unreached_from(const sali_transition *t, const findings *f, int64_t start,
                              bool *seen, int64_t *stack)
{
    int64_t top = 0, unreached = 0;
    memset(seen, 0, (size_t)t->n * sizeof *seen);
    stack[top++] = start;
    seen[start] = true;
    while (top > 0) {
        int64_t i = stack[--top];
        for (int64_t j = 0; j < t->n; j++) {
            if (!seen[j] && f->reached[i * t->n + j]) {
                seen[j] = true;
                stack[top++] = j;
            }
        }
    }
    for (int64_t i = 0; i < t->n; i += t->directions) {
        bool met = false;
        for (int64_t v = 0; v < t->directions; v++) {
            met |= seen[i + v];
        }
        unreached += !met && t->pi[i] > 0;
    }
    return unreached;
}

/* f->b.unreached = the number of states that cannot be reached from the most probable one, starting
 * in the direction for which they are most. */
static sal_status count_unreached(const sali_transition *t, findings *f, sal_error *err)
{
    bool *seen = SALI_NEW_ARRAY(bool, t->n);
    int64_t *stack = SALI_NEW_ARRAY(int64_t, t->n), start = most_probable(t);
    sal_status status = seen && stack ? SAL_OK : sali_fail_memory(err);
    f->b.unreached = 0;
    for (int64_t v = 0; status == SAL_OK && v < t->directions; v++) {
        int64_t unreached = unreached_from(t, f, start + v, seen, stack);
        f->b.unreached = unreached > f->b.unreached ? unreached : f->b.unreached;
    }
    sali_free(seen);
    sali_free(stack);
    return status;
}

/* ---- steps */

/* Add the chi-square statistic of row i: `steps` steps, counted [n], against P. Cells that expect
 * fewer than 5 are one cell, or part of the largest one. */
static void add_row(findings *f, const sali_transition *t, int64_t i, const double *counted,
                    double steps)
{
    const int64_t n = t->n;
    const double *p = t->P + i * n;
    double rest_expected = 0, rest_counted = 0, sum = 0;
    int64_t largest = 0, cells = 0;
    for (int64_t j = 0; j < n; j++) {
        largest = p[j] > p[largest] ? j : largest;
        if (counted[j] > 0 && !(p[j] > 0)) {
            f->chi_square = INFINITY; /* a move of probability 0 was seen */
            keep_worst(&f->steps, INFINITY, i, j);
        }
        if (p[j] * steps < 5) {
            rest_expected += p[j] * steps;
            rest_counted += counted[j];
        }
    }
    bool joins = rest_expected < 5;
    for (int64_t j = 0; j < n; j++) {
        double expected = p[j] * steps, count = counted[j];
        if (expected >= 5) {
            expected += joins && j == largest ? rest_expected : 0;
            count += joins && j == largest ? rest_counted : 0;
            double term = (count - expected) * (count - expected) / expected;
            keep_worst(&f->steps, term, i, j);
            sum += term;
            cells++;
        }
    }
    if (!joins) {
        sum += (rest_counted - rest_expected) * (rest_counted - rest_expected) / rest_expected;
        cells++;
    }
    if (cells > 1) {
        f->chi_square += sum;
        f->cells += (double)(cells - 1);
    }
}

/* The place (state and direction) of chain c. */
static int64_t place_of(const sali_bench *b, int64_t c)
{
    const sal_space *space = b->chains->space;
    const int64_t D = sali_sampler_directions(b->sampler);
    int64_t state = sali_states_index(space, b->chains->codes + c * space->n_variables);
    return D == 1 ? state : state * D + sali_engine(b->sampler)->directions(b->self)[c] - 1;
}

/* Make `steps` independent steps from every state that is not forbidden, and add their chi-square
 * statistics. Chains of forbidden states step from the most probable state and are ignored: a
 * sampler need not leave forbidden states. */
static sal_status make_steps(sali_bench *b, const sali_transition *t, int64_t steps, findings *f,
                             sal_error *err)
{
    const sal_space *space = b->chains->space;
    const int64_t n = t->n, V = space->n_variables;
    const uint64_t step = b->chains->step[0];
    const int64_t most = most_probable(t);
    double *counted = SALI_NEW_ARRAY(double, n *n);
    if (!counted) {
        return sali_fail_memory(err);
    }
    for (int64_t k = 0; k < steps && b->chains->bad_chain < 0; k++) {
        sali_bench_spread(b);
        for (int64_t c = 0; c < n; c++) {
            b->chains->id[c] = (uint32_t)(c + k * n);
            b->chains->step[c] = step;
            if (t->pi[c] == 0) {
                sali_states_at(space, most / t->directions, b->chains->codes + c * V);
            }
        }
        sali_bench_start(b);
        sali_engine(b->sampler)->step(b->self, b->chains);
        for (int64_t c = 0; c < n; c++) {
            counted[c * n + place_of(b, c)]++;
        }
    }
    for (int64_t i = 0; i < n; i++) {
        if (t->pi[i] > 0 && steps > 0) {
            add_row(f, t, i, counted + i * n, (double)steps);
        }
    }
    sali_free(counted);
    return b->chains->bad_chain < 0
               ? SAL_OK
               : sali_chains_report(b->chains, b->sampler, b->chains->bad_chain, err);
}

/* A chi-square statistic of `cells` degrees of freedom as a standard normal (Wilson and Hilferty);
 * 0 without cells. */
static double as_normal(double chi_square, double cells)
{
    double share = 2 / (9 * cells);
    return cells > 0 ? (cbrt(chi_square / cells) - 1 + share) / sqrt(share) : 0;
}

/* ---- all of it */

/* Check step number `piece` of a sweep, of a sampler opened anew; *pieces receives the number of
 * pieces. The last piece also counts the states that no piece reaches. */
static sal_status look_at_piece(const sali_inspection *inspection, const sal_model *model,
                                int64_t piece, int64_t steps, int64_t *pieces, findings *f,
                                sal_error *err)
{
    sali_bench b = { 0 };
    sali_transition t = { 0 };
    sal_status status = sali_bench_open(inspection, model, f->places, (uint64_t)piece, &b, err);
    if (status == SAL_OK) {
        sali_bench_spread(&b);
        sali_bench_start(&b);
        *pieces = sali_bench_pieces(&b);
        status = sali_transition_make(&b, &t, err);
    }
    status = status ? status : check_numbers(&t, inspection->sampler, err);
    if (status == SAL_OK) {
        look_at_rows(&b, &t, f);
        look_at_columns(&t, f);
        status = make_steps(&b, &t, steps, f, err);
    }
    if (status == SAL_OK && piece == *pieces - 1) {
        status = count_unreached(&t, f, err);
    }
    sali_transition_free(&t);
    sali_bench_close(&b);
    return status;
}

/* SAL_ERR_UNSUPPORTED if the matrix would have too many rows; SAL_ERR_ARGUMENT if `steps` needs
 * more chain numbers than there are. */
static sal_status check_size(const sal_model *model, int64_t directions, int64_t steps,
                             sal_error *err)
{
    double states = sali_states_count(model->space) * (double)directions;
    if (states > MOST_STATES) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED,
                         "%s has %g states%s; a sampler's matrix is made for up to %d", model->name,
                         states, directions > 1 ? ", counted with each direction" : "",
                         MOST_STATES);
    }
    /* Chains have numbers of 32 bits. */
    return (double)steps <= UINT32_MAX / states
               ? SAL_OK
               : sali_fail(err, SAL_ERR_ARGUMENT, "draws is %lld; expected at most %lld",
                           (long long)steps, (long long)(UINT32_MAX / states));
}

sal_status sal_sampler_balance(const sal_model *model, const sal_run_options *options,
                               sal_balance *balance, int32_t *worst, sal_error *err)
{
    const int64_t draws = options ? options->draws : 0;
    const int64_t steps = draws == 0 ? USUAL_STEPS : draws < 0 ? 0 : draws;
    sali_inspection inspection;
    sal_status status = check_size(model, 1, steps, err);
    status = status ? status : sali_inspection_of(model, options, &inspection, err);
    const int64_t D = status ? 1 : sali_sampler_directions(inspection.sampler);
    status = status ? status : check_size(model, D, steps, err);
    if (status != SAL_OK) {
        return status;
    }
    findings f = { .b = { .states = (int64_t)sali_states_count(model->space), .directions = D } };
    int64_t pieces = 1;
    f.places = D * f.b.states;
    f.reached = SALI_NEW_ARRAY(bool, f.places *f.places);
    status = f.reached ? SAL_OK : sali_fail_memory(err);
    for (int64_t k = 0; status == SAL_OK && k < pieces; k++) {
        status = look_at_piece(&inspection, model, k, steps, &pieces, &f, err);
    }
    if (status == SAL_OK) {
        const worst_pair *w = f.reversibility.value > ROUNDING   ? &f.reversibility
                              : f.normalisation.value > ROUNDING ? &f.normalisation
                                                                 : &f.steps;
        f.b.reversibility = f.reversibility.value;
        f.b.normalisation = f.normalisation.value;
        f.b.frequency = steps > 0 ? as_normal(f.chi_square, f.cells) : NAN;
        *balance = f.b;
        if (worst) {
            sali_states_at(model->space, w->from / D, worst);
            sali_states_at(model->space, w->to / D, worst + model->space->n_variables);
        }
    }
    sali_free(f.reached);
    return status;
}
