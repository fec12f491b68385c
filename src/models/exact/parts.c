/* SPDX-License-Identifier: MIT */
/* The oracle for models that fall into parts which share no term of f: independent of each other,
 * they are enumerated one by one, with all others held at one state s0 of finite f. As
 * f(s) - f(s0) = sum over parts c of f(s_c, s0 elsewhere) - f(s0),
 *
 *     log Z - f(s0) = sum over c of log Z_c - f(s0),
 *
 * and so for E f; pairs of variables in two parts are products of marginals. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/rng.h"
#include "models/clamp.h"
#include "models/exact/exact.h"
#include "models/structure/interactions.h"
#include "models/states.h"

/* Most of parts times variables: each part looks at all. */
#define MOST_WORK 0x1p30

/* ---- which parts */

/* Part c has the variables site[begin[c]] .. site[begin[c + 1] - 1], ascending. */
typedef struct parts {
    sali_memory memory;
    int64_t V, n;
    int64_t *begin; /* [n + 1] */
    int64_t *site;  /* [V] */
    double most;    /* states of the part that has the most, */
    double digits;  /* and log10 of them */
    double states;  /* of all parts, added up */
} parts;

static void release(void *plan)
{
    parts *p = plan;
    sali_memory_free(&p->memory);
    sali_free(p);
}

/* Lists of the variables of each part, from part[v]. */
static void sort_sites(const sal_space *space, const int64_t *part, parts *p)
{
    for (int64_t v = 0; v < p->V; v++) {
        p->begin[part[v] + 1]++;
    }
    for (int64_t c = 0; c < p->n; c++) {
        p->begin[c + 1] += p->begin[c];
    }
    for (int64_t v = p->V; v-- > 0;) { /* from the ends, which then are the beginnings */
        p->site[--p->begin[part[v] + 1]] = v;
    }
    memmove(p->begin, p->begin + 1, (size_t)p->n * sizeof *p->begin);
    p->begin[p->n] = p->V;
    for (int64_t c = 0; c < p->n; c++) {
        double digits = 0, states = 1;
        for (int64_t k = p->begin[c]; k < p->begin[c + 1]; k++) {
            states *= space->variables[p->site[k]].states;
            digits += log10(space->variables[p->site[k]].states);
        }
        p->digits = fmax(p->digits, digits);
        p->most = fmax(p->most, states);
        p->states += states;
    }
}

static sal_status find_parts(const sal_space *space, const sali_interactions *graph, parts *p,
                             sal_error *err)
{
    int64_t V = space->n_variables, *part = SALI_NEW_ARRAY(int64_t, V);
    *p = (parts){ .V = V };
    p->begin = SALI_TAKE(&p->memory, int64_t, V + 2);
    p->site = SALI_TAKE(&p->memory, int64_t, V);
    p->n = part ? sali_interactions_components(graph, part) : -1;
    bool ok = p->n >= 0 && !p->memory.refused;
    if (ok) {
        sort_sites(space, part, p);
    } else {
        sali_memory_free(&p->memory);
        *p = (parts){ 0 };
    }
    sali_free(part);
    return ok ? SAL_OK : sali_fail_memory(err);
}

/* p->n = 0: it is not known which variables interact. */
static sal_status parts_create(const sal_model *model, parts *p, sal_error *err)
{
    sali_interactions graph;
    bool known;
    *p = (parts){ 0 };
    sal_status status = sali_interactions_create(model, &graph, &known, err);
    if (status == SAL_OK && known) {
        status = find_parts(model->space, &graph, p, err);
        sali_interactions_free(&graph);
    }
    return status;
}

/* Whether these parts can be enumerated, or why not. */
static bool suits(const parts *p, const sal_exact_options *options, char *why, size_t room)
{
    if (p->n < 2) {
        snprintf(why, room, "it is not known to fall into independent parts");
        return false;
    }
    if ((double)p->n * (double)p->V > MOST_WORK) {
        snprintf(why, room, "it has too many parts, %lld", (long long)p->n);
        return false;
    }
    char text[32];
    snprintf(why, room, "its largest part has %s states, more than the limit of %lld",
             sali_print_power(p->digits, text), (long long)options->limit);
    return p->most <= (double)options->limit && p->most < 0x1p62;
}

static sal_status offer(const sali_question *q, sali_offer *offer, sal_error *err)
{
    if (q->model->space->unbounded) {
        snprintf(offer->why, sizeof offer->why, "it has counts without a cap");
        return SAL_OK;
    }
    parts *p = SALI_NEW(parts);
    sal_status status = p ? parts_create(q->model, p, err) : sali_fail_memory(err);
    if (status != SAL_OK) {
        sali_free(p);
        return status;
    }
    double V = (double)p->V;
    offer->serves = suits(p, &q->options, offer->why, sizeof offer->why);
    offer->cost = p->states * (20 + 4 * V + (q->with_pairs ? V * V : 0));
    offer->plan = p;
    return SAL_OK;
}

/* ---- a state of finite f */

#define TRIES 32
#define ROWS 32

/* The k-th lot of states: the first state, and random ones. */
static void try_states(const sal_space *space, int64_t k, int32_t *codes)
{
    int64_t V = space->n_variables;
    for (int64_t c = 0; c < ROWS; c++) {
        sali_stream stream = { .step = (uint64_t)(k * ROWS + c), .purpose = SALI_RNG_EXTENSION };
        for (int64_t v = 0; v < V; v++) {
            uint32_t states = (uint32_t)space->variables[v].states;
            codes[c * V + v] =
                k + c == 0 ? 0 : (int32_t)sali_rng_below(&stream, (uint32_t)v, states);
        }
    }
}

/* s0 [V] and f(s0). */
static sal_status find_state(const sal_model *model, int32_t *s0, double *f0, sal_error *err)
{
    int64_t V = model->space->n_variables;
    int32_t *codes = SALI_NEW_ARRAY(int32_t, ROWS * V);
    double f[ROWS];
    sal_status status = codes ? SAL_OK : sali_fail_memory(err);
    *f0 = -INFINITY;
    for (int64_t k = 0; status == SAL_OK && *f0 == -INFINITY && k < TRIES; k++) {
        try_states(model->space, k, codes);
        status = sal_model_evaluate(model, ROWS, codes, f, NULL, NULL, err);
        for (int64_t c = 0; status == SAL_OK && c < ROWS; c++) {
            if (f[c] > *f0) {
                *f0 = f[c];
                memcpy(s0, codes + c * V, (size_t)V * sizeof *s0);
            }
        }
    }
    sali_free(codes);
    if (status == SAL_OK && *f0 == -INFINITY) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED,
                         "%s: no exact answers; parts: f is -inf at all of %d states tried",
                         model->name, TRIES * ROWS);
    }
    return status;
}

/* ---- the answer */

typedef struct work {
    sali_memory memory;
    sali_question *q;
    const parts *parts;
    int32_t *s0;       /* [V of the inner model], a state of finite f */
    int64_t *original; /* [V] inner index of each variable */
    int64_t *row;      /* [V] of a variable's first state among the marginals */
    int64_t *fixed;    /* [V of the inner model]: variables and their codes */
    int32_t *codes;
} work;

static sal_status work_create(work *w, double *f0, sal_error *err)
{
    const sal_model *model = w->q->model, *inner = sali_clamp_inner(model);
    int64_t V = model->space->n_variables, all = inner->space->n_variables;
    w->s0 = SALI_TAKE(&w->memory, int32_t, all);
    w->original = SALI_TAKE(&w->memory, int64_t, V);
    w->row = SALI_TAKE(&w->memory, int64_t, V);
    w->fixed = SALI_TAKE(&w->memory, int64_t, all);
    w->codes = SALI_TAKE(&w->memory, int32_t, all);
    if (w->memory.refused) {
        return sali_fail_memory(err);
    }
    sali_clamp_variables(model, w->original);
    for (int64_t v = 1; v < V; v++) {
        w->row[v] = w->row[v - 1] + model->space->variables[v - 1].states;
    }
    sal_status status = find_state(model, w->codes, f0, err);
    if (status == SAL_OK) {
        sali_clamp_expand(model, 1, w->codes, w->s0);
    }
    return status;
}

/* The model over part c alone. */
static sal_status isolate(work *w, int64_t c, sal_model **part, sal_error *err)
{
    const sal_model *inner = sali_clamp_inner(w->q->model);
    int64_t at = w->parts->begin[c], n = 0;
    for (int64_t v = 0; v < inner->space->n_variables; v++) {
        if (at < w->parts->begin[c + 1] && w->original[w->parts->site[at]] == v) {
            at++;
        } else {
            w->fixed[n] = v;
            w->codes[n++] = w->s0[v];
        }
    }
    return sal_model_clamp((sal_model *)inner, n, w->fixed, w->codes, part, err); /* only held */
}

/* Copy a part's marginals and pairs to where its variables are. */
static void place(const work *w, int64_t c, const double *marginals, const double *pairs)
{
    const sali_variable *variables = w->q->model->space->variables;
    const int64_t *site = w->parts->site + w->parts->begin[c];
    int64_t n = w->parts->begin[c + 1] - w->parts->begin[c], R = w->q->model->space->n_states;
    int64_t inner = 0;
    for (int64_t i = 0; i < n; i++) {
        inner += variables[site[i]].states;
    }
    for (int64_t i = 0, from = 0; i < n; from += variables[site[i++]].states) {
        for (int32_t a = 0; a < variables[site[i]].states; a++) {
            int64_t row = w->row[site[i]] + a, to = 0;
            w->q->marginals[row] = marginals[from + a];
            for (int64_t j = 0; pairs && j < n; to += variables[site[j++]].states) {
                memcpy(w->q->pairs + row * R + w->row[site[j]], pairs + (from + a) * inner + to,
                       (size_t)variables[site[j]].states * sizeof *pairs);
            }
        }
    }
}

static sal_status answer_part(work *w, int64_t c, sal_exact *exact, sal_error *err)
{
    sal_model *part = NULL;
    sal_exact_options options = w->q->options;
    options.oracle = "enumeration";
    sal_status status = isolate(w, c, &part, err);
    if (status != SAL_OK) {
        return status;
    }
    int64_t R = part->space->n_states;
    double *marginals = SALI_NEW_ARRAY(double, R);
    double *pairs = w->q->pairs ? SALI_NEW_ARRAY(double, R *R) : NULL;
    status = marginals && (pairs || !w->q->pairs) ? SAL_OK : sali_fail_memory(err);
    status = status ? status : sal_model_exact(part, &options, exact, marginals, pairs, NULL, err);
    if (status == SAL_OK) {
        place(w, c, marginals, pairs);
    }
    sali_free(marginals);
    sali_free(pairs);
    sal_model_destroy(part);
    return status;
}

/* Pairs of variables in two parts. */
static void multiply(const work *w)
{
    const sal_space *space = w->q->model->space;
    const double *p = w->q->marginals;
    int64_t R = space->n_states, *part = w->original; /* no longer needed */
    for (int64_t c = 0; c < w->parts->n; c++) {
        for (int64_t k = w->parts->begin[c]; k < w->parts->begin[c + 1]; k++) {
            part[w->parts->site[k]] = c;
        }
    }
    for (int64_t i = 0; i < space->n_variables; i++) {
        for (int64_t j = i + 1; j < space->n_variables; j++) {
            int64_t a_end = w->row[i] + space->variables[i].states;
            int64_t b_end = w->row[j] + space->variables[j].states;
            for (int64_t a = w->row[i]; part[i] != part[j] && a < a_end; a++) {
                for (int64_t b = w->row[j]; b < b_end; b++) {
                    w->q->pairs[a * R + b] = p[a] * p[b];
                }
            }
        }
    }
}

static sal_status answer_parts(work *w, sal_error *err)
{
    sali_question *q = w->q;
    double f0 = 0;
    sal_status status = work_create(w, &f0, err);
    for (int64_t c = 0; status == SAL_OK && c < w->parts->n; c++) {
        sal_exact exact;
        status = answer_part(w, c, &exact, err);
        if (status == SAL_OK) {
            q->log_z += exact.log_z - f0;
            q->log_prob_mean += exact.log_prob_mean - f0;
        }
    }
    if (status == SAL_OK) {
        q->log_z += f0;
        q->log_prob_mean += f0;
    }
    if (status == SAL_OK && q->pairs) {
        multiply(w);
    }
    return status;
}

static sal_status answer(sali_question *q, const sali_offer *offer, sal_error *err)
{
    work w = { .q = q, .parts = offer->plan };
    sal_status status = answer_parts(&w, err);
    sali_memory_free(&w.memory);
    return status;
}

const sali_oracle sali_oracle_parts = { "parts", offer, answer, release };
