/* SPDX-License-Identifier: MIT */
#include "samplers/langevin/history.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/object.h"
#include "samplers/langevin/preconditioner.h"
#include "stats/covariance.h"

/* Constants of app. F. */
#define IGNORED 100
#define COLLECTED 1000
#define BLOCK 100
#define RATE 0.25
#define DECAY 0.99
/* Directions of the covariance with less than this part of the largest variance have no inverse. */
#define SINGULAR 1e-6

/* ---- collecting */

/* g(s)'(s' - s) of chain c's proposal; coordinates that do not move count 0, even where g is
 * infinite. */
static double along_gradient(const sali_chains *chains, const void *gradient, int64_t c)
{
    int64_t N = chains->space->width;
    sal_dtype type = chains->model->dtype;
    double sum = 0;
    for (int64_t i = c * N; i < (c + 1) * N; i++) {
        double d = sali_load(type, chains->x_new, i) - sali_load(type, chains->x, i);
        sum += d != 0 ? d * sali_load(type, gradient, i) : 0;
    }
    return sum;
}

static bool collects_step(const sali_history *h, const sali_chains *chains)
{
    return h->seen % h->every == 0 && h->n + chains->n <= h->room;
}

void sali_history_propose(sali_history *h, const sali_chains *chains, const void *gradient)
{
    size_t bytes = (size_t)(chains->n * chains->space->n_variables) * sizeof *h->from;
    if (!collects_step(h, chains)) {
        return;
    }
    memcpy(h->from + h->n * chains->space->n_variables, chains->codes, bytes);
    memcpy(h->to + h->n * chains->space->n_variables, chains->codes_new, bytes);
    for (int64_t c = 0; c < chains->n; c++) { /* y is of f itself, not of beta f */
        h->y[h->n + c] =
            chains->f_new[c] - chains->f[c] - along_gradient(chains, gradient, c) / chains->beta[c];
    }
}

void sali_history_decide(sali_history *h, const sali_chains *chains)
{
    int64_t V = chains->space->n_variables;
    bool kept = collects_step(h, chains);
    h->seen++;
    double coldest = kept ? sali_chains_coldest(chains) : 0;
    for (int64_t c = 0, at = h->n; kept && c < chains->n; c++, at++) {
        if (chains->beta[c] != coldest) {
            continue;
        }
        const int32_t *to = chains->accepted[c] ? h->to + at * V : h->from + at * V;
        memmove(h->from + h->n * V, h->from + at * V, (size_t)V * sizeof *h->from);
        memmove(h->to + h->n * V, to, (size_t)V * sizeof *h->to);
        h->y[h->n++] = chains->accepted[c] ? h->y[at] : 0;
    }
}

void sali_history_plan(sali_adaptation_history *a, int64_t total, int64_t window, bool empirical)
{
    a->phase = empirical ? SALI_PHASE_IGNORE : SALI_PHASE_GAMMA;
    int64_t ignored = total / 10 < IGNORED ? total / 10 : IGNORED;
    int64_t collected = total / 2 < COLLECTED ? total / 2 : COLLECTED;
    a->begin = (ignored + window - 1) / window * window;
    a->end = a->begin + (collected + window - 1) / window * window;
    a->jump_before = -1;
    a->direction = 1;
    a->rate = RATE;
}

bool sali_history_collects(const sali_adaptation_history *a)
{
    return a->phase == SALI_PHASE_IGNORE || a->phase == SALI_PHASE_COLLECT;
}

double sali_history_step_size(const sali_adaptation_history *a)
{
    return sali_history_collects(a) ? a->step_size : 0;
}

void sali_history_clear(sali_adaptation_history *a)
{
    sali_object_free(a->shards); /* and the arrays, which belong to it */
    a->shards = NULL;
}

/* Give each shard its slice of the arrays from, to and y. */
static void divide_arrays(sali_adaptation_history *a, int64_t V)
{
    for (int64_t k = 0, first = 0; k < a->n_shards; k++) {
        sali_history *h = &a->shards[k];
        h->from = a->from + first * V;
        h->to = a->to + first * V;
        h->y = a->y + first;
        first += h->room;
    }
}

sal_status sali_history_open(sali_adaptation_history *a, const sali_warmup *warmup, sal_error *err)
{
    int64_t V = warmup->model->space->n_variables, chains = 0, steps = a->end - a->begin;
    for (int64_t k = 0; k < warmup->n_shards; k++) {
        chains += warmup->chains[k]->n;
    }
    double pair = 2.0 * sizeof(int32_t) * (double)V + sizeof(double);
    double bytes = (double)steps * (double)chains * pair;
    int64_t every = (int64_t)ceil(bytes / (double)SALI_HISTORY_BYTES);
    a->n_shards = warmup->n_shards;
    a->room = 0;
    a->shards = sali_object((size_t)a->n_shards * sizeof *a->shards);
    if (!a->shards) {
        return sali_fail_memory(err);
    }
    for (int64_t k = 0; k < a->n_shards; k++) {
        sali_history *h = &a->shards[k];
        h->every = every;
        h->room = ((steps + every - 1) / every) * warmup->chains[k]->n;
        a->room += h->room;
    }
    a->from = SALI_OBJECT_ARRAY(a->shards, int32_t, a->room * V);
    a->to = SALI_OBJECT_ARRAY(a->shards, int32_t, a->room * V);
    a->y = SALI_OBJECT_ARRAY(a->shards, double, a->room);
    a->progress = SALI_OBJECT_ARRAY(a->shards, int64_t, 2 * a->n_shards);
    if (sali_object_failed(a->shards)) {
        sali_history_clear(a);
        return sali_fail_memory(err);
    }
    divide_arrays(a, V);
    return SAL_OK;
}

/* ---- of other ranks */

/* Exchange among ranks the number of pairs of each shard, and of steps seen. before [n_shards + 1]
 * receives the pairs known until now, begin [n_shards + 1] where each shard's new pairs begin among
 * all new ones. */
static sal_status gather_progress(sali_adaptation_history *a, const sali_ranks *ranks,
                                  int64_t *before, int64_t *begin, sal_error *err)
{
    for (int64_t k = 0; k < a->n_shards; k++) {
        begin[k + 1] = 2 * (k + 1);
        before[k] = a->progress[2 * k];
        if (sali_ranks_own(ranks, k)) {
            a->progress[2 * k] = a->shards[k].n;
            a->progress[2 * k + 1] = a->shards[k].seen;
        }
    }
    sal_status status = sali_ranks_gather(ranks, a->progress, begin, sizeof *a->progress, err);
    for (int64_t k = 0; status == SAL_OK && k < a->n_shards; k++) {
        a->shards[k].n = a->progress[2 * k];
        a->shards[k].seen = a->progress[2 * k + 1];
        begin[k + 1] = begin[k] + a->progress[2 * k] - before[k];
    }
    return status;
}

/* Copy the pairs of a shard from number `before` on into rows of (y, from, to) if `pack`, else out
 * of such rows. */
static void carry_pairs(const sali_history *h, int64_t V, int64_t before, bool pack, char *rows)
{
    const size_t codes = (size_t)V * sizeof *h->from;
    for (int64_t m = before; m < h->n; m++) {
        void *own[] = { h->y + m, h->from + m * V, h->to + m * V };
        for (int j = 0; j < 3; j++) {
            const size_t bytes = j == 0 ? sizeof *h->y : codes;
            memcpy(pack ? rows : own[j], pack ? own[j] : rows, bytes);
            rows += bytes;
        }
    }
}

sal_status sali_history_gather(sali_adaptation_history *a, const sali_warmup *warmup,
                               sal_error *err)
{
    const sali_ranks *ranks = warmup->ranks;
    const int64_t V = warmup->model->space->n_variables;
    const size_t row = sizeof *a->y + 2 * (size_t)V * sizeof *a->from;
    if (!ranks || !sali_ranks_several(ranks)) {
        return SAL_OK;
    }
    sali_memory memory = { 0 };
    int64_t *before = SALI_TAKE(&memory, int64_t, a->n_shards + 1);
    int64_t *begin = SALI_TAKE(&memory, int64_t, a->n_shards + 1);
    sal_status status = sal_comm_agree(ranks->comm, sali_memory_status(&memory, err), err);
    status = status ? status : gather_progress(a, ranks, before, begin, err);
    char *rows = status == SAL_OK ? sali_memory_take(&memory, begin[a->n_shards], row) : NULL;
    status = status ? status : sal_comm_agree(ranks->comm, sali_memory_status(&memory, err), err);
    for (int pack = 1; pack >= 0 && status == SAL_OK; pack--) {
        for (int64_t k = 0; k < a->n_shards; k++) {
            if (sali_ranks_own(ranks, k) == (pack == 1)) {
                carry_pairs(&a->shards[k], V, before[k], pack, rows + (size_t)begin[k] * row);
            }
        }
        status = pack ? sali_ranks_gather(ranks, rows, begin, row, err) : SAL_OK;
    }
    sali_memory_free(&memory);
    return status;
}

/* ---- candidates */

/* M receives the covariance of the collected states, with variances below 0.01 raised; `x` and
 * `sums` [N] must be zeros and are zeros again on return. */
static void state_covariance(const sal_space *space, const sali_adaptation_history *a, double *M,
                             double *x, double *sums)
{
    int64_t N = space->width, states = 0;
    for (int64_t k = 0; k < a->n_shards; k++) {
        for (int64_t m = 0; m < a->shards[k].n; m++, states++) {
            sali_embed_f64(space, 1, a->shards[k].from + m * space->n_variables, x);
            sali_covariance_add(N, 1, x, sums, M);
        }
    }
    if (states > 0) {
        sali_covariance_finish(N, (double)states, sums, M);
    }
    memset(x, 0, (size_t)N * sizeof *x);
    memset(sums, 0, (size_t)N * sizeof *sums);
}

/* M receives the inverse of the covariance C, by eigenvectors; directions without variance, as
 * one-hot variables have, get 0. `lambda` [N] is scratch. */
static void invert_covariance(const sali_preconditioner *p, const double *C, double *M,
                              double *lambda)
{
    int n = (int)p->n;
    memcpy(p->Q, C, (size_t)(p->n * p->n) * sizeof *C);
    memset(M, 0, (size_t)(p->n * p->n) * sizeof *M);
    if (!sali_eigen(p, p->Q, lambda)) {
        return;
    }
    for (int64_t k = 0; k < n; k++) {
        const double *q = p->Q + k * n;
        for (int64_t i = 0; lambda[k] > SINGULAR * lambda[n - 1] && i < n; i++) {
            for (int64_t j = 0; j < n; j++) {
                M[i * n + j] += q[i] * q[j] / lambda[k];
            }
        }
    }
}

/* ---- the better candidate, by least squares (eq. 36) */

typedef struct fit_sums {
    double n, x, y, xx, xy, yy;
} fit_sums;

/* d'M d / 2 for the move d between two states; only variables that moved cost time. `d` [N] must be
 * zeros and is zeros again on return; `moved` [N] is scratch. */
static double half_curvature(const sal_space *space, const double *M, const int32_t *from,
                             const int32_t *to, double *d, int64_t *moved)
{
    int64_t n = 0;
    double sum = 0;
    for (int64_t v = 0; v < space->n_variables; v++) {
        const sali_variable *variable = &space->variables[v];
        if (from[v] == to[v]) {
            continue;
        }
        if (variable->kind == SAL_CATEGORICAL) {
            d[moved[n++] = variable->offset + from[v]] = -1;
            d[moved[n++] = variable->offset + to[v]] = 1;
        } else {
            d[moved[n++] = variable->offset] = variable->levels[to[v]] - variable->levels[from[v]];
        }
    }
    for (int64_t a = 0; a < n; a++) {
        for (int64_t b = 0; b < n; b++) {
            sum += M[moved[a] * space->width + moved[b]] * d[moved[a]] * d[moved[b]];
        }
    }
    for (int64_t a = 0; a < n; a++) {
        d[moved[a]] = 0;
    }
    return 0.5 * sum;
}

/* The sums of a regression of y on x = d'M d / 2 over all collected pairs with finite y. `d` and
 * `moved` as for `half_curvature`. */
static fit_sums fit_candidate(const sal_space *space, const sali_adaptation_history *a,
                              const double *M, double *d, int64_t *moved)
{
    fit_sums s = { 0 };
    for (int64_t k = 0; k < a->n_shards; k++) {
        const sali_history *h = &a->shards[k];
        for (int64_t m = 0; m < h->n; m++) {
            double y = h->y[m];
            if (!isfinite(y)) {
                continue;
            }
            double x = half_curvature(space, M, h->from + m * space->n_variables,
                                      h->to + m * space->n_variables, d, moved);
            s.n++;
            s.x += x;
            s.y += y;
            s.xx += x * x;
            s.xy += x * y;
            s.yy += y * y;
        }
    }
    return s;
}

/* The least-squares slope of y on x; *loss receives the residual sum of squares, infinite where x
 * does not vary. */
static double fitted_slope(const fit_sums *s, double *loss)
{
    double xx = s->xx - s->x * s->x / s->n, xy = s->xy - s->x * s->y / s->n;
    bool varies = s->n > 1 && xx > 1e-12 * s->xx;
    *loss = varies ? s->yy - s->y * s->y / s->n - xy * xy / xx : INFINITY;
    return varies ? xy / xx : 0;
}

/* If the loss of the candidate M is less than *least, the loss becomes *least, and M times its
 * slope becomes p->M. */
static void try_candidate(const sal_model *model, sali_preconditioner *p, double *M, double *least,
                          double *d, int64_t *moved)
{
    double loss;
    sali_separate_states(model->space, M);
    fit_sums s = fit_candidate(model->space, &p->adaptation, M, d, moved);
    double scale = fitted_slope(&s, &loss);
    if (loss < *least) {
        *least = loss;
        for (int64_t k = 0; k < p->n * p->n; k++) {
            p->M[k] = scale * M[k];
        }
        p->revision++;
    }
}

/* Scratch of sali_history_choose, an object (core/object.h). */
typedef struct scratch {
    double *C, *M, *lambda, *d; /* [N x N], [N x N], [N], [N] */
    int64_t *moved;             /* [N] */
} scratch;

sal_status sali_history_choose(const sal_model *model, sali_preconditioner *p, sal_error *err)
{
    double least = INFINITY;
    scratch *s = SALI_OBJECT(scratch);
    if (!s) {
        return sali_fail_memory(err);
    }
    s->C = SALI_OBJECT_ARRAY(s, double, p->n * p->n);
    s->M = SALI_OBJECT_ARRAY(s, double, p->n * p->n);
    s->lambda = SALI_OBJECT_ARRAY(s, double, p->n);
    s->d = SALI_OBJECT_ARRAY(s, double, p->n);
    s->moved = SALI_OBJECT_ARRAY(s, int64_t, p->n);
    bool ok = !sali_object_failed(s);
    if (ok) {
        state_covariance(model->space, &p->adaptation, s->C, s->d, s->lambda);
    }
    if (ok && (p->adaptation.candidates & SALI_PRECISION)) {
        invert_covariance(p, s->C, s->M, s->lambda);
        try_candidate(model, p, s->M, &least, s->d, s->moved);
    }
    if (ok && (p->adaptation.candidates & SALI_COVARIANCE)) {
        try_candidate(model, p, s->C, &least, s->d, s->moved);
    }
    p->adaptation.phase = least < INFINITY ? SALI_PHASE_GAMMA : SALI_PHASE_NO_MATRIX;
    sali_object_free(s);
    return ok ? SAL_OK : sali_fail_memory(err);
}

/* ---- gamma */

double sali_gamma_next(double gamma, bool fell, double *direction, double rate)
{
    *direction = fell ? -*direction : *direction;
    if (fabs(gamma) < 1) {
        return gamma + *direction * rate;
    }
    return *direction * gamma > 0 ? gamma * (1 + rate) : gamma / (1 + rate);
}

bool sali_gamma_adapt(sali_adaptation_history *a, const sali_warmup *warmup, double *gamma)
{
    for (int64_t k = 0; k < warmup->n_shards; k++) {
        const sali_chains *chains = warmup->chains[k];
        double coldest = sali_chains_coldest(chains);
        for (int64_t c = 0; c < chains->n; c++) {
            a->jump += chains->beta[c] == coldest ? chains->jump_sum[c] : 0;
        }
    }
    a->steps += warmup->window;
    if (a->steps < BLOCK) {
        return false;
    }
    double mean = a->jump / (double)a->steps;
    *gamma = sali_gamma_next(*gamma, mean < a->jump_before, &a->direction, a->rate);
    a->rate *= DECAY;
    a->jump_before = mean;
    a->jump = 0;
    a->steps = 0;
    return true;
}
