/* SPDX-License-Identifier: MIT */
#include "samplers/start.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/object.h"
#include "samplers/conditional.h"

/* Attempts from new random states: with repair, and without (which is all that can be done when
 * nothing is known of the forbidden states); sweeps of repair within each. */
#define ATTEMPTS 20
#define BLIND_ATTEMPTS 1000
#define SWEEPS 100
/* Counts without a cap start below this. */
#define COUNT_START 10

void sali_random_codes(const sal_space *space, const sali_stream *stream, int32_t *codes)
{
    for (int64_t v = 0; v < space->n_variables; v++) {
        int32_t states = space->variables[v].states;
        codes[v] =
            (int32_t)sali_rng_below(stream, (uint32_t)v, (uint32_t)(states ? states : COUNT_START));
    }
}

/* ---- repair: Gibbs on minus the number of forbidden factors, cooling down */

typedef struct repair {
    sali_evaluator *guide;
    double *violations; /* [n], minus their number */
    double *delta;      /* [n x max_states] */
    int64_t *site;      /* [n] */
    void *x;            /* of the guide's type, double */
} repair;

static void repair_free(repair *r)
{
    if (r) {
        sali_evaluator_destroy(r->guide);
        sali_object_free(r);
    }
}

static sal_status repair_create(const sali_chains *chains, const sal_model *guide, repair **out,
                                sal_error *err)
{
    const sal_space *space = chains->space;
    repair *r = *out = SALI_OBJECT(repair);
    if (r) {
        r->violations = SALI_OBJECT_ARRAY(r, double, chains->n);
        r->delta = SALI_OBJECT_ARRAY(r, double, chains->n * space->max_states);
        r->site = SALI_OBJECT_ARRAY(r, int64_t, chains->n);
        r->x = SALI_OBJECT_ARRAY(r, double, chains->n * space->width);
    }
    return !r || sali_object_failed(r)
               ? sali_fail_memory(err)
               : sali_evaluator_create(guide, chains->n, SALI_WANT_DIFFERENCES, &r->guide, err);
}

/* One sweep over the variables of the chains that are still forbidden, in codes and r->x. */
static void repair_sweep(repair *r, sali_chains *chains, const bool *forbidden, int64_t attempt,
                         int64_t sweep)
{
    const sal_space *space = chains->space;
    double beta = 1 + 9 * (double)(sweep % 20) / 19;
    for (int64_t v = 0; v < space->n_variables; v++) {
        if (space->variables[v].states == 0) {
            continue; /* factors have no counts without a cap */
        }
        for (int64_t c = 0; c < chains->n; c++) {
            r->site[c] = v;
        }
        sali_differences_at(r->guide, chains->n, chains->codes, r->x, r->site, r->violations,
                            r->delta);
        for (int64_t c = 0; c < chains->n; c++) {
            if (!forbidden[c]) {
                continue;
            }
            sali_stream stream = { .seed = chains->seed,
                                   .step = (uint64_t)(attempt * SWEEPS + sweep),
                                   .chain = chains->id[c],
                                   .purpose = SALI_RNG_REPAIR };
            int32_t code = (int32_t)sali_conditional_draw(
                space->variables[v].states, r->delta + c * space->max_states, beta,
                sali_rng_uniform_at(&stream, (uint32_t)v));
            chains->codes[c * space->n_variables + v] = code;
            sali_embed_one_f64(space, v, code, (double *)r->x + c * space->width);
        }
    }
}

/* Sweep until no chain is forbidden, or the sweeps are used up. */
static void repair_run(repair *r, sali_chains *chains, bool *forbidden, int64_t attempt)
{
    const sal_space *space = chains->space;
    sali_embed_f64(space, chains->n, chains->codes, r->x);
    for (int64_t sweep = 0; sweep < SWEEPS; sweep++) {
        sali_value(r->guide, chains->n, chains->codes, r->x, r->violations);
        bool any = false;
        for (int64_t c = 0; c < chains->n; c++) {
            forbidden[c] = forbidden[c] && r->violations[c] < 0;
            any |= forbidden[c];
        }
        if (!any) {
            return;
        }
        repair_sweep(r, chains, forbidden, attempt, sweep);
    }
}

/* ---- the start */

static void randomise(sali_chains *chains, const bool *which, int64_t attempt)
{
    for (int64_t c = 0; c < chains->n; c++) {
        if (which[c]) {
            sali_stream stream = { .seed = chains->seed,
                                   .step = (uint64_t)attempt,
                                   .chain = chains->id[c],
                                   .purpose = SALI_RNG_INIT };
            sali_random_codes(chains->space, &stream,
                              chains->codes + c * chains->space->n_variables);
        }
    }
}

/* Evaluate f and mark where it is -inf; the number of such chains. */
static int64_t mark_forbidden(sali_chains *chains, bool *forbidden)
{
    int64_t n = 0;
    sali_chains_embed(chains);
    sali_chains_start(chains, false);
    for (int64_t c = 0; c < chains->n; c++) {
        forbidden[c] = chains->f[c] == -INFINITY;
        n += forbidden[c];
    }
    return n;
}

static sal_status give_up(const sali_chains *chains, const bool *forbidden, int64_t attempts,
                          sal_error *err)
{
    int64_t c = 0, factors[5], n = 0;
    char names[128] = "";
    while (!forbidden[c]) {
        c++;
    }
    if (chains->model->ops->violated) {
        n = chains->model->ops->violated(
            chains->model, chains->codes + c * chains->space->n_variables, 5, factors);
    }
    for (int64_t k = 0; k < n; k++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%lld",
                 k ? ", "
                   : "; factors that forbid the "
                     "best state found: ",
                 (long long)factors[k]);
    }
    return sali_fail(err, SAL_ERR_MODEL,
                     "%s: no state with finite f found for chain %u in %lld attempts%s; give a "
                     "starting state (init)",
                     chains->model->name, chains->id[c], (long long)attempts, names);
}

static sal_status find_states(sali_chains *chains, const int32_t *init, repair *r, bool *forbidden,
                              sal_error *err)
{
    int64_t attempts = r ? ATTEMPTS : BLIND_ATTEMPTS;
    for (int64_t attempt = 0; attempt < attempts; attempt++) {
        if (attempt == 0 && init) {
            memcpy(chains->codes, init,
                   (size_t)(chains->n * chains->space->n_variables) * sizeof *init);
        } else {
            randomise(chains, forbidden, attempt);
        }
        if (mark_forbidden(chains, forbidden) > 0 && r) {
            repair_run(r, chains, forbidden, attempt);
        }
        if (mark_forbidden(chains, forbidden) == 0) {
            return SAL_OK;
        }
    }
    return give_up(chains, forbidden, attempts, err);
}

sal_status sali_start(sali_chains *chains, const int32_t *init, const sal_model *guide,
                      sal_error *err)
{
    repair *r = NULL;
    bool *forbidden = SALI_NEW_ARRAY(bool, chains->n);
    sal_status status = forbidden ? SAL_OK : sali_fail_memory(err);
    if (status == SAL_OK && guide) {
        status = repair_create(chains, guide, &r, err);
    }
    if (status == SAL_OK) {
        memset(forbidden, 1, (size_t)chains->n * sizeof *forbidden);
        status = find_states(chains, init, r, forbidden, err);
    }
    repair_free(r);
    sali_free(forbidden);
    return status;
}
