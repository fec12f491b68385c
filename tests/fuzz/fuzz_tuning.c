/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include <saltus/saltus.h>

/* A tuning file, and a run that it is given to. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static sal_model *model;
    sal_error err = { 0 };
    sal_tuning *tuning = NULL;
    sal_run *run = NULL;
    if (!model && sal_model_open("ising:side=2", 0, &model, &err) != SAL_OK) {
        abort();
    }
    sal_status status = sal_tuning_open(fuzz_file("t.json", data, size), &tuning, &err);
    fuzz_check(status, &err);
    if (status == SAL_OK) {
        const sal_run_options o = {
            .chains = 2, .warmup = 4, .draws = 4, .threads = 1, .tuning = tuning
        };
        fuzz_check_any(sal_sample(model, &o, &run, &err), &err);
    }
    sal_run_destroy(run);
    sal_tuning_destroy(tuning);
    return 0;
}
