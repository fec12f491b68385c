/* SPDX-License-Identifier: MIT */
/* The embedding of states: codes to reals. Compiled for float and double. */
#include <string.h>

#include "core/real.h"
#include "core/space.h"

/* Write the embedding of one state: `codes` [V] to reals x [N]. */
static void embed_row(const sal_space *space, const int32_t *codes, real *x)
{
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        const int32_t *code = codes + s->first;
        real *to = x + s->offset;
        if (s->kind == SAL_CATEGORICAL) {
            memset(to, 0, (size_t)(s->count * s->states) * sizeof *to);
            for (int64_t i = 0; i < s->count; i++) {
                to[i * s->states + code[i]] = 1;
            }
        } else if (s->states == 2) {
            real lo = (real)s->levels[0], step = (real)(s->levels[1] - s->levels[0]);
            for (int64_t i = 0; i < s->count; i++) {
                to[i] = lo + step * (real)code[i];
            }
        } else if (s->states == 0) {
            for (int64_t i = 0; i < s->count; i++) {
                to[i] = (real)code[i];
            }
        } else {
            for (int64_t i = 0; i < s->count; i++) {
                to[i] = (real)s->levels[code[i]];
            }
        }
    }
}

void RN(sali_embed)(const sal_space *space, int64_t chains, const int32_t *codes, real *x)
{
    for (int64_t c = 0; c < chains; c++) {
        embed_row(space, codes + c * space->n_variables, x + c * space->width);
    }
}

void RN(sali_embed_one)(const sal_space *space, int64_t v, int32_t code, real *x)
{
    const sali_variable *variable = sali_space_kind(space, v);
    real *to = x + (space->n_blocks == 1 ? v * variable->width : variable->offset);
    if (variable->kind == SAL_CATEGORICAL) {
        memset(to, 0, (size_t)variable->states * sizeof *to);
        to[code] = 1;
    } else {
        to[0] = (real)sali_level(variable, code);
    }
}
