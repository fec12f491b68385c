/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include <saltus/io.h>

#include "core/rng.h"
#include "core/slice.h"
#include "io/tape/tape_xml.h"

/* Codes of a state: zeros, but for blocks whose sum or labels are fixed. */
static void fill_codes(const sal_space *space, int32_t *codes)
{
    const sali_stream stream = { 0 };
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        if (sali_is_fixed(s)) {
            sali_slice_random(s, &stream, 0, codes + s->first);
        }
    }
}

/* A formula that was accepted runs: f and its derivatives at a state. */
static void run(const sal_model *model)
{
    sal_error err = { 0 };
    const sal_space *space = sal_model_space(model);
    int64_t variables = sal_space_variables(space), moves = space->n_states;
    int32_t *codes = fuzz_alloc(variables, sizeof *codes);
    double *gradient = fuzz_alloc(sal_space_width(space), sizeof *gradient), f;
    double *differences = fuzz_alloc(moves, sizeof *differences);
    fill_codes(space, codes);
    sal_status status =
        sal_model_evaluate(model, 1, codes, &f, gradient, moves <= 64 ? differences : NULL, &err);
    if (status != SAL_OK && status != SAL_ERR_MODEL) {
        abort();
    }
    free(codes);
    free(gradient);
    free(differences);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    char *params = NULL;
    sal_status status = sali_tape_xml_parse("fuzz", data, (int64_t)size, 0, &model, &params, &err);
    fuzz_check(status, &err);
    if (status == SAL_OK) {
        run(model);
    }
    sal_model_destroy(model);
    sal_free(params);
    return 0;
}
