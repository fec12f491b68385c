// SPDX-License-Identifier: MIT
// The public headers in a program of C++17: options by SAL_DEFAULTS, enumerators for zeros, shapes.
#include <saltus/figure.h>
#include <saltus/program.h>
#include <saltus/saltus.h>

#include <cstdio>

static_assert(SAL_DTYPE_DEFAULT == 0 && SAL_F32 == 1 && SAL_F64 == 2, "files and saltus/flat.h");
static_assert(SAL_KIND_NONE == 0 && SAL_BINARY == 1 && SAL_COUNT == 5, "saltus/flat.h");
static_assert(SAL_PASS_NONE == 0 && SAL_PASS_DEAD_CODE == 1, "bits");

// f = s'Js of four spins, J all 0.1 but for its diagonal of 0.
static sal_status make(sal_model **model, sal_error *err)
{
    sal_block block = SAL_DEFAULTS;
    block.name = "s";
    block.kind = SAL_SPIN;
    block.count = 4;
    sal_space *space = sal_space_create();
    sal_status status = sal_space_add(space, &block, err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    double couplings[16];
    for (int k = 0; k < 16; k++) {
        couplings[k] = k % 5 == 0 ? 0 : 0.1;
    }
    const int64_t side = 4;
    sal_expr J = sal_param(tape, "J", SAL_SHAPE(side, side));
    sal_expr zero = sal_constant(tape, couplings, SAL_SCALAR);
    sal_expr f = sal_add(sal_quad(sal_state(tape), J), sal_scale(zero, 2.0));
    status = status ? status : sal_model_from_tape(tape, f, model, err);
    status = status ? status : sal_model_set_params(*model, "J", couplings, err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return status;
}

int main()
{
    sal_error err = SAL_DEFAULTS;
    sal_model *model = nullptr, *opened = nullptr;
    sal_run *run = nullptr;
    double draws = 0, rhat = 0;
    sal_run_options options = SAL_DEFAULTS;
    options.chains = 2;
    options.draws = 100;
    options.sampler = "ncg";
    options.step_size_rule = SAL_STEP_SIZE_SEARCH;
    sal_status status = make(&model, &err);
    status = status ? status : sal_model_open("ising:side=3", SAL_DTYPE_DEFAULT, &opened, &err);
    status = status ? status : sal_sample(model, &options, &run, &err);
    status = status ? status : sal_run_summary_value(run, "draws", &draws, &err);
    status = status ? status : sal_run_summary_value(run, "rhat_max", &rhat, &err);
    if (status != SAL_OK) {
        std::fprintf(stderr, "%s\n", err.message);
    }
    sal_run_destroy(run);
    sal_model_destroy(opened);
    sal_model_destroy(model);
    return status == SAL_OK && draws == 100 && rhat > 0 ? 0 : 1;
}
