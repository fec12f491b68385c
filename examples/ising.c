/* A ring of 100 spins: f(s) = K sum_i s_i s_(i+1). Its mean is N K tanh K (to within 1e-33). */
#include <math.h>
#include <saltus/saltus.h>

int main(void)
{
    enum { N = 100 };
    const double K = 0.5;
    sal_error err = { 0 };
    sal_model *ring = NULL;
    sal_run *run = NULL;

    sal_space *space = sal_space_create();
    sal_space_add(space, &(sal_block){ .name = "spin", .kind = SAL_SPIN, .count = N }, &err);
    sal_tape *tape = sal_tape_create(space, SAL_F32);
    sal_expr s = sal_state(tape);
    sal_expr f = sal_add(sal_dot(sal_slice(s, 0, 0, N - 1), sal_slice(s, 0, 1, N - 1)),
                         sal_dot(sal_slice(s, 0, 0, 1), sal_slice(s, 0, N - 1, 1)));
    sal_run_options options = { .sampler = "ncg", .chains = 20, .draws = 10000, .thin = 5 };
    if (sal_model_from_tape(tape, sal_scale(f, K), &ring, &err) != SAL_OK ||
        sal_sample(ring, &options, &run, &err) != SAL_OK) {
        return fprintf(stderr, "%s\n", err.message), 1;
    }
    sal_run_print_summary(run, stdout);
    printf("exact mean       %.4f\n", N * K * tanh(K));
    sal_run_destroy(run);
    sal_model_destroy(ring);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}

/* SPDX-License-Identifier: MIT */
