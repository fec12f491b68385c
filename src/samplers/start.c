/* SPDX-License-Identifier: MIT */
#include "samplers/start.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/object.h"
#include "core/slice.h"
#include "models/tracker.h"
#include "samplers/completion.h"
#include "samplers/conditional.h"

/* The most attempts from new random states with repair; the most without repair, where the
 * forbidden states are unknown; and the sweeps of repair in each attempt. */
#define ATTEMPTS 20
#define BLIND_ATTEMPTS 1000
#define SWEEPS 100
/* Counts without a cap start below this. */
#define COUNT_START 10

void sali_random_codes(const sal_space *space, const sali_stream *stream, int32_t *codes)
{
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        const uint32_t below = (uint32_t)(s->states ? s->states : COUNT_START);
        if (sali_is_fixed(s)) {
            sali_slice_random(s, stream, (uint32_t)s->first, codes + s->first);
            continue;
        }
        for (int64_t v = s->first; v < s->first + s->count; v++) {
            codes[v] = (int32_t)sali_rng_below(stream, (uint32_t)v, below);
        }
    }
}

struct sali_start_search {
    sali_chains *chains;
    const int32_t *init;
    sali_completion *completion; /* NULL: states are random */
    sali_tracker *guide;         /* tracks minus the number of forbidding tables; NULL: no repair */
    double *violations;          /* [n], minus their number */
    double *delta;               /* [max_states] */
    bool *forbidden;             /* [n] */
    int64_t attempt, sweep;      /* sweep -1: the attempt has not begun */
    bool over, found;
};

/* ---- repair: Gibbs on minus the number of forbidden factors, cooling down */

/* Redraw variable v of chain c by its conditional under the number of violations, at inverse
 * temperature beta; the tracker `guide` follows the move. */
static void repair_variable(sali_start_search *s, int64_t c, int64_t v, double beta)
{
    sali_chains *chains = s->chains;
    const sal_space *space = chains->space;
    const sali_stream stream = { .seed = chains->seed,
                                 .step = (uint64_t)(s->attempt * SWEEPS + s->sweep),
                                 .chain = chains->id[c],
                                 .purpose = SALI_RNG_REPAIR };
    int32_t *code = &chains->codes[c * space->n_variables + v];
    sali_tracker_differences(s->guide, c, v, s->delta);
    const int32_t drawn = (int32_t)sali_conditional_draw(space->variables[v].states, s->delta, beta,
                                                         sali_rng_uniform_at(&stream, (uint32_t)v));
    if (drawn != *code) {
        sali_tracker_move(s->guide, c, v, drawn);
        *code = drawn;
    }
}

/* Repair all variables of the chains that are still forbidden, one by one. False: no chain is
 * forbidden. */
static bool repair_sweep(sali_start_search *s)
{
    const sal_space *space = s->chains->space;
    const double beta = 1 + 9 * (double)(s->sweep % 20) / 19;
    bool any = false;
    sali_tracker_start(s->guide, s->chains->n, s->chains->codes, s->violations);
    for (int64_t c = 0; c < s->chains->n; c++) {
        s->forbidden[c] = s->forbidden[c] && s->violations[c] < 0;
        any |= s->forbidden[c];
        for (int64_t v = 0; s->forbidden[c] && v < space->n_variables; v++) {
            if (space->variables[v].states > 0) { /* factors have no counts without a cap */
                repair_variable(s, c, v, beta);
            }
        }
    }
    return any;
}

/* ---- the start */

/* Draw new states for the chains whose present state is forbidden. */
static void draw_states(sali_start_search *s)
{
    sali_chains *chains = s->chains;
    for (int64_t c = 0; c < chains->n; c++) {
        const sali_stream stream = { .seed = chains->seed,
                                     .step = (uint64_t)s->attempt,
                                     .chain = chains->id[c],
                                     .purpose = SALI_RNG_INIT };
        int32_t *codes = chains->codes + c * chains->space->n_variables;
        if (s->forbidden[c] && s->completion) {
            sali_completion_draw(s->completion, &stream, codes);
        } else if (s->forbidden[c]) {
            sali_random_codes(chains->space, &stream, codes);
        }
    }
}

/* Evaluate f of all chains; forbidden[c] becomes whether f is -inf. Returns how many chains are
 * forbidden. */
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

/* The error SAL_ERR_MODEL for the first chain that is still forbidden; it names up to 5 factors
 * that forbid the chain's state, where the model can list them. */
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
                     "starting state (init); exact answers, where they can be had, tell whether "
                     "there is such a state",
                     chains->model->name, chains->id[c], (long long)attempts, names);
}

/* ---- the search */

static int64_t most_attempts(const sali_start_search *s)
{
    return s->guide ? ATTEMPTS : BLIND_ATTEMPTS;
}

sal_status sali_start_search_create(sali_chains *chains, const int32_t *init,
                                    const sal_model *guide, sali_start_search **out, sal_error *err)
{
    sali_start_search *s = SALI_OBJECT(sali_start_search);
    if (!s) {
        return sali_fail_memory(err);
    }
    *s = (sali_start_search){ .chains = chains, .init = init, .sweep = -1 };
    s->violations = SALI_OBJECT_ARRAY(s, double, chains->n);
    s->delta = SALI_OBJECT_ARRAY(s, double, chains->space->max_states);
    s->forbidden = SALI_OBJECT_ARRAY(s, bool, chains->n);
    sal_status status = sali_object_failed(s) ? sali_fail_memory(err) : SAL_OK;
    if (status == SAL_OK) {
        memset(s->forbidden, 1, (size_t)chains->n * sizeof *s->forbidden);
        status = chains->space->fixed
                     ? SAL_OK /* single variables cannot be completed or repaired */
                     : sali_completion_create(chains->model, guide != NULL, &s->completion, err);
    }
    if (status == SAL_OK && guide && guide->trackable && !chains->space->fixed) {
        status = sali_tracker_create(guide, chains->n, 0, &s->guide, err);
    }
    if (status != SAL_OK) {
        sali_start_search_destroy(s);
        return status;
    }
    *out = s;
    return SAL_OK;
}

void sali_start_search_destroy(sali_start_search *s)
{
    if (s) {
        sali_tracker_destroy(s->guide);
        sali_completion_destroy(s->completion);
        sali_object_free(s);
    }
}

/* Set the states that an attempt starts from: `init` in the first attempt, if given, else new draws
 * for forbidden chains. */
static void begin_attempt(sali_start_search *s)
{
    const sali_chains *chains = s->chains;
    if (s->attempt == 0 && s->init) {
        memcpy(chains->codes, s->init,
               (size_t)(chains->n * chains->space->n_variables) * sizeof *s->init);
    } else {
        draw_states(s);
    }
}

bool sali_start_search_step(sali_start_search *s)
{
    bool ended = false; /* the attempt */
    if (s->over) {
        return true;
    }
    if (s->sweep < 0) {
        begin_attempt(s);
        s->found = mark_forbidden(s->chains, s->forbidden) == 0;
        ended = !s->guide;
        s->sweep = 0;
    } else if (s->sweep == SWEEPS || !repair_sweep(s)) {
        s->found = mark_forbidden(s->chains, s->forbidden) == 0;
        ended = true;
    } else {
        s->sweep++;
    }
    if (ended && !s->found) {
        s->attempt++;
        s->sweep = -1;
    }
    s->over = s->found || s->attempt == most_attempts(s);
    return s->over;
}

sal_status sali_start_search_status(const sali_start_search *s, sal_error *err)
{
    return s->over && !s->found ? give_up(s->chains, s->forbidden, s->attempt, err) : SAL_OK;
}

sal_status sali_start(sali_chains *chains, const int32_t *init, const sal_model *guide,
                      sal_error *err)
{
    sali_start_search *search = NULL;
    sal_status status = sali_start_search_create(chains, init, guide, &search, err);
    while (status == SAL_OK && !sali_start_search_step(search)) {
    }
    status = status ? status : sali_start_search_status(search, err);
    sali_start_search_destroy(search);
    return status;
}
