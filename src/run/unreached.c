/* SPDX-License-Identifier: MIT */
/* States that f allows and that a run's sampler cannot reach: with forbidden states, blocks or
 * single variables may leave out parts of the space in which every variable still changes, which
 * neither R-hat nor ESS shows. Few states can be told exactly, by the sampler's transition matrix.
 */
#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/states.h"
#include "run/run.h"

/* The most states for which a matrix is made: a fraction of a second. */
#define MOST_STATES 256

/* Whether the sampler's steps have matrices that are the same in every sweep: blocks that are drawn
 * anew join other states each time. */
static bool has_fixed_blocks(const sal_run *run)
{
    return sali_sampler_value(run->sampler, &run->settings, "blocks") == 0;
}

/* Whether f forbids some of the model's states. */
static sal_status find_forbidden(const sal_model *model, int64_t states, bool *found,
                                 sal_error *err)
{
    const int64_t V = model->space->n_variables;
    int32_t *codes = SALI_NEW_ARRAY(int32_t, states * V);
    double *f = SALI_NEW_ARRAY(double, states);
    sal_status status = codes && f ? SAL_OK : sali_fail_memory(err);
    for (int64_t i = 0; status == SAL_OK && i < states; i++) {
        sali_states_at(model->space, i, codes + i * V);
    }
    status = status ? status : sal_model_evaluate(model, states, codes, f, NULL, NULL, err);
    *found = false;
    for (int64_t i = 0; status == SAL_OK && i < states; i++) {
        *found |= f[i] == -INFINITY;
    }
    sali_free(codes);
    sali_free(f);
    return status;
}

sal_status sali_unreached_summarise(const sal_run *run, sal_run_summary *s, sal_error *err)
{
    const sal_space *space = run->model->space;
    bool forbidden = false;
    s->unreached = -1;
    if (s->draws == 0 || s->annealed || run->inner || !run->sampler->engine || space->unbounded ||
        !has_fixed_blocks(run) || !(sali_states_count(space) <= MOST_STATES)) {
        return SAL_OK;
    }
    sal_status status =
        find_forbidden(run->model, (int64_t)sali_states_count(space), &forbidden, err);
    if (status != SAL_OK) {
        return status;
    }
    if (!forbidden) { /* any state leads to any other */
        s->unreached = 0;
        return SAL_OK;
    }
    char sampler[SALI_SAMPLER_TEXT];
    sali_run_sampler_text(run, sampler);
    const sal_run_options options = { .sampler = sampler,
                                      .step_size =
                                          run->sampler->has_step_size ? run->settings.step_size : 0,
                                      .draws = -1 };
    sal_balance balance;
    status = sal_sampler_balance(run->model, &options, &balance, NULL, err);
    if (status == SAL_OK) {
        s->unreached = balance.unreached;
    }
    return status == SAL_ERR_MEMORY ? status : SAL_OK; /* others have no matrix */
}
