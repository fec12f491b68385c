/* SPDX-License-Identifier: MIT */
#include "samplers/blocks/colour_classes.h"

#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/object.h"
#include "models/structure/interactions.h"
#include "samplers/conditional.h"
#include "samplers/kernels.h"

struct sali_class_draws {
    const sali_blocks *classes;
    sali_evaluator *evaluator; /* for differences */
    void *slots;               /* real [chains x S] differences of f from the present states */
    double *uniforms;          /* [largest class] */
    double *logit;             /* [max_states] */
};

/* ---- the classes */

/* Make n blocks of the variables with colours 0 .. n - 1. */
static sal_status gather_classes(const sali_interactions *graph, const int64_t *colour, int64_t n,
                                 sali_blocks *classes, sal_error *err)
{
    *classes = (sali_blocks){ .n = n,
                              .begin = SALI_NEW_ARRAY(int64_t, n + 1),
                              .sites = SALI_NEW_ARRAY(int64_t, graph->n) };
    if (!classes->begin || !classes->sites) {
        sali_blocks_free(classes);
        return sali_fail_memory(err);
    }
    int64_t used = 0;
    for (int64_t k = 0; k < n; k++) {
        for (int64_t v = 0; v < graph->n; v++) {
            if (colour[v] == k) {
                classes->sites[used++] = v;
            }
        }
        classes->begin[k + 1] = used;
    }
    return SAL_OK;
}

sal_status sali_colour_classes(const sal_model *model, sali_blocks *classes, const char **why,
                               sal_error *err)
{
    sali_interactions graph;
    bool known;
    sal_status status = sali_interactions_create(model, &graph, &known, err);
    *classes = (sali_blocks){ 0 };
    *why = NULL;
    if (status != SAL_OK) {
        return status;
    }
    int64_t *colour = known ? SALI_NEW_ARRAY(int64_t, graph.n) : NULL;
    int64_t n = colour ? sali_interactions_colour(&graph, colour) : -1;
    if (!known) {
        *why = "it needs layers, chains, or a tape whose terms have few variables each; 'gibbs' "
               "needs none of these";
    } else if (n < 0) {
        status = sali_fail_memory(err);
    } else if (n == graph.n) {
        *why = "no two of its variables are independent given the others: 'gibbs' draws them one "
               "by one";
    } else {
        status = gather_classes(&graph, colour, n, classes, err);
    }
    sali_free(colour);
    sali_interactions_free(&graph);
    return status;
}

/* ---- draws */

sal_status sali_class_draws_create(const sali_chains *chains, const sali_blocks *classes,
                                   sali_class_draws **out, sal_error *err)
{
    sali_class_draws *d = SALI_OBJECT(sali_class_draws);
    if (!d) {
        return sali_fail_memory(err);
    }
    d->classes = classes;
    d->slots = sali_object_array(d, chains->n * chains->space->slots, chains->element);
    d->uniforms = SALI_OBJECT_ARRAY(d, double, chains->space->n_variables);
    d->logit = SALI_OBJECT_ARRAY(d, double, chains->space->max_states);
    sal_status status = sali_object_failed(d)
                            ? sali_fail_memory(err)
                            : sali_evaluator_create(chains->model, chains->n, SALI_WANT_DIFFERENCES,
                                                    &d->evaluator, err);
    status = status ? status : sali_object_own(d, d->evaluator, sali_evaluator_destroy, err);
    if (status != SAL_OK) {
        sali_object_free(d);
        return status;
    }
    *out = d;
    return SAL_OK;
}

void sali_class_draws_refresh(sali_class_draws *d, sali_chains *chains)
{
    sali_differences(d->evaluator, chains->n, chains->codes, chains->x, chains->f, d->slots);
    sali_chains_check_f(chains, 0, chains->n, chains->codes, chains->f);
}

/* The variables of class k. */
static const int64_t *class_of(const sali_class_draws *d, int64_t k, int64_t *n)
{
    *n = d->classes->begin[k + 1] - d->classes->begin[k];
    return d->classes->sites + d->classes->begin[k];
}

/* Fill d->logit with beta times f of each state of variable `site` of chain c, relative to the
 * present state. Returns the number of states. */
static int32_t find_logits(const sali_class_draws *d, const sali_chains *chains, int64_t c,
                           int64_t site)
{
    const sali_variable *v = &chains->space->variables[site];
    int32_t now = chains->codes[c * chains->space->n_variables + site];
    int64_t first = c * chains->space->slots + v->slot;
    for (int32_t k = 0; k < v->states; k++) {
        double delta = k == now ? 0
                                : sali_load(chains->model->dtype, d->slots,
                                            first + (sali_is_two_level(v) ? 0 : k));
        d->logit[k] = chains->beta[c] * delta;
    }
    return v->states;
}

/* Draw all variables of a class of chain c. They do not enter each other's conditionals, so the
 * differences from the state before the step hold for all of them. */
static void draw_class(const sali_class_draws *d, sali_chains *chains, int64_t c, int64_t class)
{
    int64_t n;
    const int64_t *sites = class_of(d, class, &n);
    int32_t *codes = chains->codes_new + c * chains->space->n_variables; /* scratch, by index in
                                                                            the class */
    sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
    sali_rng_uniform_f64(&stream, n, d->uniforms);
    for (int64_t k = 0; k < n; k++) {
        int32_t states = find_logits(d, chains, c, sites[k]);
        codes[k] = (int32_t)sali_conditional_draw(states, d->logit, 1, d->uniforms[k]);
        if (codes[k] < 0) {
            sali_chains_note_bad(chains, c, chains->codes, NAN);
            return;
        }
    }
    sali_chains_move_several(chains, c, n, sites, codes, chains->f[c]);
}

void sali_class_draws_step(sali_class_draws *d, sali_chains *chains, const int64_t *piece)
{
    for (int64_t c = 0; c < chains->n; c++) {
        draw_class(d, chains, c, piece[c]);
    }
    sali_class_draws_refresh(d, chains);
    sali_chains_tick(chains);
}

void sali_class_draws_log_q(const sali_class_draws *d, const sali_chains *chains,
                            const int64_t *piece, const int32_t *to, double *log_q)
{
    int64_t V = chains->space->n_variables;
    for (int64_t c = 0; c < chains->n; c++) {
        int64_t n, last;
        const int64_t *sites = class_of(d, piece[c], &n);
        const int32_t *from = chains->codes + c * V, *target = to + c * V;
        int64_t elsewhere = sali_sites_moved(chains->space, from, target, &last);
        log_q[c] = 0;
        for (int64_t k = 0; k < n; k++) {
            int32_t states = find_logits(d, chains, c, sites[k]);
            double largest, sum = sali_conditional_norm(states, d->logit, 1, &largest);
            log_q[c] += log(exp(d->logit[target[sites[k]]] - largest) / sum);
            elsewhere -= from[sites[k]] != target[sites[k]];
        }
        log_q[c] = elsewhere > 0 ? -INFINITY : log_q[c];
    }
}
