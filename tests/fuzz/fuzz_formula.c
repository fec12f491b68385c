/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include <math.h>

#include <saltus/model.h>

#include "ad/changes.h"
#include "ad/workspace.h"
#include "core/space.h"
#include "models/tape_model.h"
#include "random_tape.h"
#include "slow_tape.h"

enum { STATES = 3, TRIES = 6 };

static void check(double got, double want)
{
    if (!(fabs(got - want) <= 1e-9 * (1 + slow_largest())) && !(isnan(got) && isnan(want))) {
        abort();
    }
}

/* Values that follow changes of single variables, and where they are taken back. */
static void follow(const sal_tape *tape, sal_expr f, const sal_model *model, uint64_t seed)
{
    sal_error err = { 0 };
    sali_changes *changes;
    const sali_tape_model *t = sali_model_tape(model);
    const sal_space *space = tape->space;
    int32_t *codes = fuzz_alloc(space->n_variables, sizeof *codes);
    double numbers[2 * TRIES];
    if (t->program->state < 0) {
        free(codes);
        return; /* f is a constant */
    }
    if (sali_changes_create(t->program, t->params, 1, seed % 2 ? SALI_WANT_STATE_GRADIENT : 0,
                            &changes, &err) != SAL_OK) {
        abort();
    }
    random_numbers(seed, 4, sizeof numbers / sizeof *numbers, 0, 1, numbers);
    sali_changes_start(changes, 1, codes);
    for (int k = 0; k < TRIES; k++) {
        int64_t site = (int64_t)(numbers[2 * k] * (double)space->n_variables);
        int32_t code = (int32_t)(numbers[2 * k + 1] * space->variables[site].states);
        double got = sali_changes_try(changes, 0, 1, &site, &code);
        check(got, slow_value(tape, f, model, sali_changes_codes(changes, 0),
                              sali_changes_state(changes, 0)));
        k % 3 == 2 ? sali_changes_undo(changes, 0) : sali_changes_keep(changes, 0);
    }
    sali_changes_destroy(changes);
    free(codes);
}

/* The bytes are the choices of a random tape; its values are those of a second implementation. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint64_t seed = size > 0 ? data[0] / 3 : 0;
    const random_style style = size > 0 ? (random_style)(data[0] % 3) : RANDOM_ANY;
    sal_error err = { 0 };
    sal_model *model;
    sal_expr f;
    sal_tape *tape = size > 0 ? random_tape_by(data + 1, size - 1, seed, style, SAL_F64, &f)
                              : random_tape(seed, style, SAL_F64, &f);
    const sal_space *space = tape->space;
    if (sal_model_from_tape(tape, f, &model, &err) != SAL_OK) {
        abort();
    }
    int64_t V = space->n_variables, n = sal_model_parameters_size(model);
    int32_t *codes = fuzz_alloc(STATES * V, sizeof *codes);
    double *params = fuzz_alloc(n, sizeof *params), value[STATES];
    double *numbers = fuzz_alloc(STATES * V, sizeof *numbers);
    double *x = fuzz_alloc(STATES * space->width, sizeof *x);
    random_numbers(seed, 1, n, -1, 1, params);
    random_numbers(seed, 2, STATES * V, 0, 1, numbers);
    for (int64_t k = 0; k < STATES * V; k++) {
        codes[k] = (int32_t)(numbers[k] * space->variables[k % V].states);
    }
    sali_embed_f64(space, STATES, codes, x);
    if (sal_model_set_params(model, NULL, params, &err) != SAL_OK ||
        sal_model_evaluate(model, STATES, codes, value, NULL, NULL, &err) != SAL_OK) {
        abort();
    }
    for (int64_t k = 0; k < STATES; k++) {
        check(value[k], slow_value(tape, f, model, codes + k * V, x + k * space->width));
    }
    follow(tape, f, model, seed);
    free(codes);
    free(params);
    free(numbers);
    free(x);
    sal_model_destroy(model);
    sal_tape_destroy(tape);
    return 0;
}
