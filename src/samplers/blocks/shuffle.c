/* SPDX-License-Identifier: MIT */
#include "samplers/blocks/shuffle.h"

#include <string.h>

#include "core/object.h"

sali_shuffle *sali_shuffle_open(void *object, const sali_chains *chains, int64_t n)
{
    sali_shuffle *s = SALI_OBJECT_ARRAY(object, sali_shuffle, 1);
    if (s) {
        s->seed = chains->seed;
        s->n = n;
        s->rows = chains->n;
        s->sweep = SALI_OBJECT_ARRAY(object, uint64_t, chains->n);
        s->order = SALI_OBJECT_ARRAY(object, int64_t, chains->n * n);
    }
    return s;
}

void sali_shuffle_refresh(sali_shuffle *s, const sali_chains *chains)
{
    if (s && s->seed != chains->seed) {
        s->seed = chains->seed;
        memset(s->sweep, 0, (size_t)s->rows * sizeof *s->sweep);
    }
}

/* Fill order [n] with the permutation of a sweep, by Fisher and Yates. */
static void fill_order(const sali_shuffle *s, uint64_t sweep, int64_t *order)
{
    const sali_stream stream = { .seed = s->seed, .step = sweep, .purpose = SALI_RNG_VISITS };
    for (int64_t i = 0; i < s->n; i++) {
        order[i] = i;
    }
    for (int64_t i = s->n - 1; i > 0; i--) {
        int64_t j = sali_rng_below(&stream, (uint32_t)i, (uint32_t)i + 1), last = order[i];
        order[i] = order[j];
        order[j] = last;
    }
}

const int64_t *sali_shuffle_order(sali_shuffle *s, int64_t c, uint64_t sweep)
{
    int64_t row = s->sweep[0] == sweep + 1 ? 0 : c;
    if (s->sweep[row] != sweep + 1) {
        fill_order(s, sweep, s->order + row * s->n);
        s->sweep[row] = sweep + 1;
    }
    return s->order + row * s->n;
}
