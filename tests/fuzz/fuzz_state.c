/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include <saltus/saltus.h>

#include "core/saved/run_state.h"
#include "io/arrays/state_file.h"

static bool is_small(const sal_run_options *o)
{
    return o->chains <= 8 && o->draws <= 50 && o->warmup <= 50 && o->thin <= 8 &&
           o->tempering.replicas <= 8 && o->tempering.swap_every <= 100;
}

/* The state of a run, which goes on from it if the state is of this model. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static sal_model *model;
    struct sal_run_state state = { 0 };
    sal_error err = { 0 };
    sal_run *run = NULL;
    sal_run_options o = { 0 };
    if (!model && sal_model_open("ising:side=2", 0, &model, &err) != SAL_OK) {
        abort();
    }
    sal_status status = sali_state_parse("fuzz", data, (int64_t)size, &state, &err);
    fuzz_check(status, &err);
    if (status == SAL_OK) {
        status = sal_run_state_options(&state, &o, &err);
        fuzz_check_any(status, &err);
    }
    if (status == SAL_OK && is_small(&o)) {
        o.resume = &state;
        o.threads = 1;
        fuzz_check_any(sal_sample(model, &o, &run, &err), &err);
    }
    sal_run_destroy(run);
    sali_run_state_clear(&state);
    return 0;
}
