/* SPDX-License-Identifier: MIT */
/* The change rule of `table` for a few variables: moves the entries of their factors, and updates
 * the gradient by these factors' other variables. Part of table.c. */
#ifndef SALI_TABLE_CHANGE_H
#define SALI_TABLE_CHANGE_H

#include <math.h>

#include "ad/change.h"
#include "ad/ops/table_plan.h"

/* Index, in the vector of all tables, of the entry of a factor at `codes`. */
static inline int64_t entry_of(const table_factor *factor, const int32_t *codes)
{
    int64_t at = factor->start;
    for (const table_place *p = factor->scope; p < factor->scope_end; p++) {
        at += p->stride * codes[p->variable];
    }
    return at;
}

/* Recompute the derivative by a variable from the entries of its factors, which is exact also where
 * entries are -inf. False: no room, give up. */
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

/* Add to the derivative by one variable of a factor what it rises by when the variable's line of
 * the table moves from `before` to `after`. False: no room, or an infinite entry; give up. */
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

/* Add to the state's gradient what it rises by when a factor's entry moves from `before` to
 * `after`. False: give up. */
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

/* Recompute the gradient by all variables that share a factor with a variable that changed. False:
 * give up. */
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

/* Move the entries of all factors of the variables that changed, and add the rise of f to *rise.
 * Updates the gradient too, unless the node is the gradient's sole contributor. False: give up. */
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

/* f rises by the rise of the moved entries; if that is infinite, f is summed again over all
 * factors. */
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
