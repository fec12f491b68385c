/* SPDX-License-Identifier: MIT */
/* Following a change of a few variables in a table node: their factors' entries, and the gradient
 * of these factors' other variables. Part of table.c. */
#ifndef SALI_TABLE_CHANGE_H
#define SALI_TABLE_CHANGE_H

#include <math.h>

#include "ad/change.h"
#include "ad/ops/table_plan.h"

static inline int64_t entry_of(const table_factor *factor, const int32_t *codes)
{
    int64_t at = factor->start;
    for (const table_place *p = factor->scope; p < factor->scope_end; p++) {
        at += p->stride * codes[p->variable];
    }
    return at;
}

/* The derivative by a variable, anew from its factors' entries: exact also where some are -inf. */
static bool gradient_anew(sali_change *ch, int64_t variable)
{
    const table_plan *plan = ch->call->plan;
    const real *T = ch->call->in[1].value, g = *(const real *)ch->call->out.adjoint;
    const int32_t *entry = ch->call->saved, code = ch->call->codes[variable];
    const table_incidence *first = plan->incidence + plan->begin[variable];
    const table_incidence *end = plan->incidence + plan->begin[variable + 1];
    int64_t states = first->place->two_level ? 1 : first->place->states;
    for (int64_t v = 0; v < states; v++) {
        real sum = 0;
        for (const table_incidence *i = first; i < end; i++) {
            const table_place *p = i->place;
            const real *line = T + entry[i->factor] - code * p->stride;
            sum +=
                p->two_level ? two_level_slope(p, line[0], line[p->stride]) : line[v * p->stride];
        }
        if (!change_set_gradient(ch, first->place->offset + v, g * sum)) {
            return false;
        }
    }
    return true;
}

/* Add what a factor's new entry makes of the derivative by one of its variables. */
static bool gradient_rise(sali_change *ch, const table_place *p, const real *before,
                          const real *after)
{
    const real g = *(const real *)ch->call->out.adjoint;
    for (int64_t v = 0; v < (p->two_level ? 1 : p->states); v++) {
        real old =
            p->two_level ? two_level_slope(p, before[0], before[p->stride]) : before[v * p->stride];
        real new =
            p->two_level ? two_level_slope(p, after[0], after[p->stride]) : after[v * p->stride];
        if (old == new) {
            continue;
        }
        if (!isfinite(old) || !isfinite(new) ||
            !change_gradient(ch, p->offset + v, g * (new - old))) {
            return false;
        }
    }
    return true;
}

/* Add to the gradient what a factor's entry, moved from `before` to `after`, makes of it. */
static bool factor_gradient(sali_change *ch, const table_factor *factor, int64_t before,
                            int64_t after)
{
    const real *T = ch->call->in[1].value;
    for (const table_place *p = factor->scope; p < factor->scope_end; p++) {
        int64_t old_code = (before - factor->start) / p->stride % p->states;
        int64_t new_code = (after - factor->start) / p->stride % p->states;
        int64_t old_line = before - old_code * p->stride, new_line = after - new_code * p->stride;
        if (old_line != new_line && !gradient_rise(ch, p, T + old_line, T + new_line)) {
            return false;
        }
    }
    return true;
}

/* The gradient of all variables that share a factor with one that changed. */
static bool neighbours_gradient(sali_change *ch)
{
    const table_plan *plan = ch->call->plan;
    for (int64_t n = 0; n < ch->n_sites; n++) {
        for (int64_t k = plan->begin[ch->sites[n]]; k < plan->begin[ch->sites[n] + 1]; k++) {
            const table_factor *factor = &plan->factors[plan->incidence[k].factor];
            for (const table_place *p = factor->scope; p < factor->scope_end; p++) {
                bool alone = p->variable == ch->sites[n] && ch->n_sites == 1;
                if (!alone && !gradient_anew(ch, p->variable)) {
                    return false;
                }
            }
        }
    }
    return true;
}

/* Move the entries of the factors of the variables that changed; their rise in *rise. */
static bool move_entries(sali_change *ch, real *rise)
{
    const table_plan *plan = ch->call->plan;
    const real *T = ch->call->in[1].value;
    int32_t *entry = ch->call->saved;
    for (int64_t n = 0; n < ch->n_sites; n++) {
        for (int64_t k = plan->begin[ch->sites[n]]; k < plan->begin[ch->sites[n] + 1]; k++) {
            int64_t m = plan->incidence[k].factor, before = entry[m];
            int64_t after = entry_of(&plan->factors[m], ch->call->codes);
            if (after == before) {
                continue; /* done with another of its variables */
            }
            if (!change_note(ch->journal, &entry[m], sizeof *entry)) {
                return false;
            }
            entry[m] = (int32_t)after;
            *rise += T[after] == T[before] ? 0 : T[after] - T[before];
            if (ch->gradient && !ch->sole &&
                !factor_gradient(ch, &plan->factors[m], before, after)) {
                return false;
            }
        }
    }
    return true;
}

static sali_change_outcome change(sali_change *ch)
{
    const table_plan *plan = ch->call->plan;
    const real *T = ch->call->in[1].value;
    const int32_t *entry = ch->call->saved;
    real rise = 0, f;
    if (!move_entries(ch, &rise)) {
        return SALI_CHANGE_GIVE_UP;
    }
    f = *(const real *)ch->call->out.value + rise;
    if (!isfinite(rise)) { /* to or from a forbidden state: no difference to add */
        f = 0;
        for (int64_t m = 0; m < plan->n_factors; m++) {
            f += T[entry[m]];
        }
    }
    bool done = change_set(ch, 0, f) && (!ch->gradient || !ch->sole || neighbours_gradient(ch));
    return done ? SALI_CHANGE_DONE : SALI_CHANGE_GIVE_UP;
}

#endif
