/* SPDX-License-Identifier: MIT */
/* A program of a user: draws from an Ising lattice, and prints the library's version. */
#include <stdio.h>

#include <saltus/saltus.h>

int main(void)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    sal_run *run = NULL;
    sal_run_options options = { .sampler = "gwg", .chains = 2, .draws = 10, .warmup = 10 };
    sal_status status = sal_model_open("ising:side=4", 0, &model, &err);
    if (status == SAL_OK) {
        status = sal_sample(model, &options, &run, &err);
    }
    int64_t draws = 0;
    if (status == SAL_OK) {
        sal_run_size(run, NULL, &draws, NULL);
    }
    if (draws == 10) {
        printf("saltus %s\n", sal_version());
    } else {
        fprintf(stderr, "%s\n", err.message);
    }
    sal_run_destroy(run);
    sal_model_destroy(model);
    return status != SAL_OK;
}
