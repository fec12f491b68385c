/* SPDX-License-Identifier: MIT */
/* A tiny model with a limit. */
#ifndef LIMIT_MODEL_H
#define LIMIT_MODEL_H

#include <saltus/saltus.h>

#include "test.h"

/* Ways to say that two of four may be chosen. */
enum { LIMIT_BY_LOG, LIMIT_BY_AT_MOST, LIMIT_NONE };

/* What two of four selected rows of a table cover, and -inf for more of them: forbidden states that
 * no table shows, and kinks. */
static inline sal_model *tiny_limited(int how, sal_dtype dtype)
{
    static const double cover[16] = {
        1, .5, .2, .9, .4, 1, .3, .1, .7, .2, .8, .6, 0, .3, .5, 1.2
    };
    const sal_block block = { .name = "chosen", .kind = SAL_BINARY, .count = 4 };
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_space_add(space, &block, &err), &err);
    sal_tape *tape = sal_tape_create(space, dtype);
    sal_expr s = sal_state(tape), left = sal_relu(sal_sub(sal_scalar(tape, 3), sal_sum(s)));
    sal_expr f = sal_max_coverage(s, sal_constant(tape, cover, SAL_SHAPE(4, 4)));
    if (how == LIMIT_BY_LOG) {
        f = sal_add(f, sal_log(sal_minimum(sal_scalar(tape, 1), left)));
    } else if (how == LIMIT_BY_AT_MOST) {
        f = sal_add(f, sal_at_most(sal_sum(s), 2));
    }
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return model;
}

static inline sal_model *tiny_limit(sal_dtype dtype)
{
    return tiny_limited(LIMIT_BY_LOG, dtype);
}

#endif
