/* A restricted Boltzmann machine, f(s) = sum_j softplus((W s)_j + c_j) + b's, written as a tape.
 *
 *     rbm                      random weights
 *     rbm PARAMS.safetensors   W [500, 784], b [784], c [500] from a file
 *     rbm PARAMS.safetensors DRAWS.npy   and save the draws */
#include <saltus/saltus.h>

enum { VISIBLE = 784, HIDDEN = 500 };

/* The formula, as a model without values of its parameters; NULL with a message. */
static sal_model *make_rbm(sal_error *err)
{
    sal_model *rbm = NULL;
    sal_space *space = sal_space_create();
    sal_space_add(space, &(sal_block){ .name = "pixel", .kind = SAL_BINARY, .count = VISIBLE },
                  err);

    sal_tape *t = sal_tape_create(space, SAL_F32);
    sal_expr s = sal_state(t);
    sal_expr W = sal_param(t, "W", SAL_SHAPE(HIDDEN, VISIBLE));
    sal_expr b = sal_param(t, "b", SAL_SHAPE(VISIBLE));
    sal_expr c = sal_param(t, "c", SAL_SHAPE(HIDDEN));
    sal_expr f = sal_add(sal_sum(sal_softplus(sal_add(sal_matvec(W, s), c))), sal_dot(b, s));

    sal_model_from_tape(t, f, &rbm, err); /* a mistake above is reported here */
    sal_tape_destroy(t);
    sal_space_destroy(space);
    return rbm;
}

/* Weights between -0.1 and 0.1; b and c stay zero. */
static sal_status random_weights(sal_model *rbm, sal_error *err)
{
    static double W[HIDDEN * VISIBLE];
    uint32_t x = 1;
    for (int64_t k = 0; k < HIDDEN * VISIBLE; k++) {
        x = 1664525 * x + 1013904223;
        W[k] = 0.2 * (x / 4294967296.0 - 0.5);
    }
    return sal_model_set_params(rbm, "W", W, err);
}

int main(int argc, char **argv)
{
    sal_error err = { 0 };
    sal_run *run = NULL;
    sal_model *rbm = make_rbm(&err);
    sal_status status = !rbm       ? err.status
                        : argc > 1 ? sal_model_load_params(rbm, argv[1], &err)
                                   : random_weights(rbm, &err);
    if (status == SAL_OK) {
        sal_run_options o = {
            .sampler = "ncg", .chains = 20, .warmup = 500, .draws = 2000, .record.draws = argc > 2
        };
        status = sal_sample(rbm, &o, &run, &err);
    }
    if (status == SAL_OK && argc > 2) {
        status = sal_run_save(run, argv[2], NULL, &err);
    }
    if (status == SAL_OK) {
        status = sal_run_print_summary(run, stdout);
    } else {
        fprintf(stderr, "%s\n", err.message);
    }
    sal_run_destroy(run);
    sal_model_destroy(rbm);
    return status != SAL_OK;
}

/* SPDX-License-Identifier: MIT */
