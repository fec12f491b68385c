/* SPDX-License-Identifier: MIT */
/* Models of counts. */
#ifndef COUNT_HELPERS_H
#define COUNT_HELPERS_H

#include "test.h"

#include <saltus/saltus.h>

static const sal_block unbounded_block = { .name = "n", .kind = SAL_COUNT, .count = 3 };
static const sal_block capped_block = { .name = "c", .kind = SAL_COUNT, .count = 2, .cap = 4 };
static const sal_block bit_block = { .name = "b", .kind = SAL_BINARY, .count = 2 };

/* b0 b1 | n0 n1 n2 | c0 c1 */
static inline sal_space *mixed(void)
{
    sal_error err;
    sal_space *space = sal_space_create();
    ck_ok(sal_space_add(space, &bit_block, &err), &err);
    ck_ok(sal_space_add(space, &unbounded_block, &err), &err);
    ck_ok(sal_space_add(space, &capped_block, &err), &err);
    return space;
}

static inline sal_model *builtin(const char *specification, sal_dtype dtype)
{
    sal_error err;
    sal_model *model = NULL;
    ck_ok(sal_model_open(specification, dtype, &model, &err), &err);
    return model;
}

#endif
