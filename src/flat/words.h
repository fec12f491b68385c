/* SPDX-License-Identifier: MIT */
/* Words for what the headers number. */
#ifndef SALI_FLAT_WORDS_H
#define SALI_FLAT_WORDS_H

#include <saltus/space.h>

/* By sal_kind. */
static const char *const sali_flat_kinds[] = {
    [SAL_BINARY] = "binary",           [SAL_SPIN] = "spin",   [SAL_ORDINAL] = "ordinal",
    [SAL_CATEGORICAL] = "categorical", [SAL_COUNT] = "count",
};

#endif
