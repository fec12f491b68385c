/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include <saltus/space.h>

#include "io/networks/marginals.h"

/* Marginals of variables of 2, 2 and 3 states, as JSON or MAR: all are probabilities. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sal_error err = { 0 };
    double p[7], log_z;
    int64_t evidence;
    sal_space *space = sal_space_create();
    const sal_block two = { .name = "b", .kind = SAL_BINARY, .count = 2 };
    const sal_block three = { .name = "c", .kind = SAL_CATEGORICAL, .count = 1, .states = 3 };
    if (!space || sal_space_add(space, &two, &err) || sal_space_add(space, &three, &err)) {
        abort();
    }
    sal_status status =
        sali_marginals_parse("fuzz", data, (int64_t)size, space, p, &log_z, &evidence, &err);
    fuzz_check(status, &err);
    for (int k = 0; status == SAL_OK && k < 7; k++) {
        if (!(p[k] >= 0 && p[k] <= 1)) {
            abort();
        }
    }
    sal_space_destroy(space);
    return 0;
}
