/* SPDX-License-Identifier: MIT */
#include "ad/passes.h"

#include "core/error.h"

/* The order matters: canonical also rewrites edges that sparse and products make, and makes
 * constants. These passes leave nodes that nobody needs and nodes that are equal, so common and
 * dead-code come after them. */
static const sali_pass passes[] = {
    { SAL_PASS_SPARSE, "sparse", "quadratic forms of constants that are mostly zeros become edges",
      sali_pass_sparse },
    { SAL_PASS_PRODUCTS, "products", "sums of products of coordinates become edges and tables",
      sali_pass_products },
    { SAL_PASS_CANONICAL, "canonical", "squares of two-level coordinates in linear form",
      sali_pass_canonical },
    { SAL_PASS_CONSTANTS, "constants",
      "additive constants come last, where they are added in double", sali_pass_constants },
    { SAL_PASS_COMMON, "common", "equal nodes are computed once", sali_pass_common },
    { SAL_PASS_DEAD_CODE, "dead-code", "nodes that f does not need are dropped",
      sali_pass_dead_code },
    { SAL_PASS_FUSION, "fusion", "elementwise nodes run together, a few chains at a time", NULL },
    { SAL_PASS_BUFFERS, "buffers", "values that are not needed at once share memory", NULL },
};

const sali_pass *sali_pass_at(int64_t k)
{
    return k >= 0 && k < (int64_t)(sizeof passes / sizeof *passes) ? &passes[k] : NULL;
}

sal_status sali_passes_run(sal_tape *tape, uint32_t set, int32_t *output, sal_error *err)
{
    sal_status status = SAL_OK;
    const sali_pass *pass;
    for (int64_t k = 0; status == SAL_OK && (pass = sali_pass_at(k)); k++) {
        if (sali_pass_is_on(pass, set) && pass->run) {
            status = pass->run(tape, output, err);
        }
    }
    return status;
}

void sal_tape_set_passes(sal_tape *tape, uint32_t set)
{
    if (!tape) {
        return;
    }
    uint32_t known = 0;
    const sali_pass *pass;
    for (int64_t k = 0; (pass = sali_pass_at(k)); k++) {
        known |= pass->bit;
    }
    if (set & ~known) {
        sali_record_error(tape, NULL, 0, SAL_ERR_ARGUMENT,
                          "sal_tape_set_passes: expected an OR of SAL_PASS_* constants");
        return;
    }
    tape->passes = set;
}
