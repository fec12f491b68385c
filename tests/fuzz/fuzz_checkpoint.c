/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include <saltus/saltus.h>

enum { ROWS = 4, V = 4 };

static sal_status train(bool resume, sal_error *err)
{
    static uint8_t codes[ROWS * V] = { 1, 0, 1, 0, 0, 1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 1 };
    static sal_model *model;
    static char directory[128];
    const sal_data data = { .rows = ROWS, .variables = V, .codes = codes };
    if (!model) {
        snprintf(directory, sizeof directory, "%s", fuzz_path("."));
        if (sal_model_open("rbm:visible=4,hidden=2", 0, &model, err) != SAL_OK) {
            abort();
        }
    }
    const sal_train_options o = { .iterations = 2,
                                  .batch = ROWS,
                                  .buffer.chains = ROWS,
                                  .sampler = "gibbs",
                                  .steps = 1,
                                  .threads = 1,
                                  .checkpoint = { .directory = directory, .resume = resume } };
    return sal_train(model, &data, &o, err);
}

/* checkpoint.json of a training, beside the arrays of a real one. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool trained;
    sal_error err = { 0 };
    if (!trained && train(false, &err) != SAL_OK) {
        abort();
    }
    trained = true;
    fuzz_file("checkpoint.json", data, size);
    fuzz_check_any(train(true, &err), &err);
    return 0;
}
