/* SPDX-License-Identifier: MIT */
#include "samplers/jump_search.h"

#include <string.h>

void sali_jump_search_begin(sali_jump_search *s, int64_t candidates, int64_t length, int64_t done)
{
    s->candidates = candidates;
    s->begin = done;
    s->length = length;
    memset(s->jump, 0, (size_t)(s->rungs * s->room) * sizeof *s->jump);
}

int64_t sali_jump_search_turn(const sali_jump_search *s, int64_t group, int64_t done)
{
    return (group + (done - s->begin) / s->length) % s->candidates;
}

bool sali_jump_search_over(const sali_jump_search *s, int64_t done)
{
    return done - s->begin >= s->length * s->candidates;
}

int64_t sali_jump_search_best(const sali_jump_search *s, int64_t r)
{
    const double *jump = s->jump + r * s->room;
    int64_t best = 0;
    for (int64_t k = 1; k < s->candidates; k++) {
        best = jump[k] > jump[best] ? k : best;
    }
    return best;
}
