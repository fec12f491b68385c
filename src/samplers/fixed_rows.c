/* SPDX-License-Identifier: MIT */
#include "samplers/fixed_rows.h"

#include <math.h>
#include <string.h>

#include "core/object.h"

const char *sali_fixed_rows_obstacle(const sal_model *model, const double *values, const void *data)
{
    const sal_space *space = model->space;
    (void)values;
    (void)data;
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        if (s->fixed_codes && !sali_two_level(s)) {
            return "it moves variables independently given their sum, and of labels there is none; "
                   "exchange and pair-gibbs keep fixed labels";
        }
    }
    return NULL;
}

void sali_fixed_rows_create(void *object, const sal_space *space, sali_fixed_rows *fixed)
{
    int64_t variables = 0;
    int32_t states = 0;
    *fixed = (sali_fixed_rows){ .on = space->fixed };
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        if (sali_is_fixed(s)) {
            variables = s->count > variables ? s->count : variables;
            states = s->states > states ? s->states : states;
        }
    }
    if (fixed->on) {
        sali_fixed_sum_create(object, variables, states, &fixed->sum);
        fixed->uniforms = SALI_OBJECT_ARRAY(object, double, variables);
    }
}

/* Copy the log-weights of a block from a row, and sum them up; returns log E, NaN if a weight is
 * NaN or +inf, or if the sum is lost. */
static double sum_up(sali_fixed_rows *fixed, const sal_model *model, const sali_stretch *s,
                     const int32_t *codes, const sali_move_row *row)
{
    double *w = fixed->sum.log_weight, log_e;
    bool usable = true;
    for (int64_t v = s->first; v < s->first + s->count; v++) {
        for (int32_t k = 0; k < s->states; k++) {
            const int64_t slot = sali_move_slot(model->space, v, codes[v], k);
            *w = k == codes[v] ? 0 : sali_load(model->dtype, row->log_weight, slot);
            usable &= *w++ < INFINITY;
        }
    }
    log_e = sali_fixed_sum_prepare(&fixed->sum, s->count, s->states,
                                   s->fixed_codes ? s->fixed_codes[1] : s->fixed_total);
    fixed->lost = usable && isnan(log_e);
    return log_e;
}

void sali_fixed_rows_prepare(sali_fixed_rows *fixed, sali_chains *chains, int64_t c,
                             const int32_t *codes, sali_move_row *row)
{
    const sal_space *space = chains->space;
    bool lost = false;
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        if (sali_is_fixed(s)) {
            row->log_norm += sum_up(fixed, chains->model, s, codes + c * space->n_variables, row);
            lost |= fixed->lost;
            for (int64_t v = 0; v < s->count; v++) { /* the norms of free variables */
                row->log_norm -= sali_fixed_sum_norm(&fixed->sum, v);
            }
        }
    }
    if (lost) {
        sali_chains_note_fault(chains, c, codes,
                               "the weights of its proposals are too far apart to be summed up "
                               "given the fixed sum (take a smaller step size, or the samplers "
                               "exchange or pair-gibbs); their sum is",
                               (double)NAN);
    }
}

double sali_fixed_rows_draw(sali_fixed_rows *fixed, const sal_model *model, const int32_t *codes,
                            const void *uniforms, const sali_move_row *row, int32_t *codes_new,
                            void *x_new)
{
    const sali_factorised_kernels *kernels = SALI_KERNELS_OF(model->dtype, sali_factorised_kernels);
    kernels->draw(model->space, codes, uniforms, row, codes_new, x_new);
    for (int64_t b = 0; b < model->space->n_blocks; b++) {
        const sali_stretch *s = &model->space->stretches[b];
        if (!sali_is_fixed(s)) {
            continue;
        }
        if (isnan(sum_up(fixed, model, s, codes, row))) {
            memcpy(codes_new, codes, (size_t)model->space->n_variables * sizeof *codes);
            sali_model_embed(model, 1, codes_new, x_new);
            return NAN;
        }
        for (int64_t v = 0; v < s->count; v++) {
            fixed->uniforms[v] = sali_load(model->dtype, uniforms, s->first + v);
        }
        sali_fixed_sum_draw(&fixed->sum, fixed->uniforms, codes_new + s->first);
        for (int64_t v = s->first; v < s->first + s->count; v++) {
            sali_model_embed_one(model, v, codes_new[v], x_new);
        }
    }
    return kernels->log_q(model->space, codes, codes_new, row);
}
