/* Lesson 8. Variables that depend on each other, and preconditioning.
 *
 * Three variables on a lattice of 31 levels each follow a normal distribution with correlations
 * rho: all mass lies around the diagonal of a cube, the closer the larger rho is. Changing one
 * variable leaves the diagonal. ncg and avg (lesson 5) change all of them at once, but each by
 * itself: they do not know that the variables should move together.
 *
 * pavg does. Its auxiliary variables are z ~ N(M_eps^(1/2) s, I) with a matrix M_eps = gamma M +
 * delta I, and given z the variables are independent again (Rhodes & Gutmann 2022, eq. 14 to 17).
 * Where f is quadratic Saltus takes its Hessian for M: the proposal is then the exact conditional
 * of s given z, and is always accepted. Another M can be given, such as the covariance (the paper's
 * appendix F.1); warm-up finds its factor gamma.
 *
 *     08_preconditioning      prints a table */
#include <math.h>
#include <saltus/saltus.h>

enum { DIM = 3, LEVELS = 31, ROWS = DIM * LEVELS, METHODS = 6 };

static const struct {
    const char *name, *sampler;
} methods[METHODS] = {
    { "gibbs", "gibbs" }, { "gwg", "gwg:radius=3" }, { "ncg", "ncg" },
    { "avg", "avg" },     { "pavg", "pavg" },        { "pavg, covariance", "pavg" },
};

typedef struct truth {
    double marginals[ROWS], pairs[ROWS * ROWS], covariance[DIM * DIM];
} truth;

/* f(s) = -s'A s / 2, A the inverse of the matrix with 1 on and rho off its diagonal. */
static sal_status make_model(double rho, sal_model **model, sal_error *err)
{
    double levels[LEVELS], A[DIM * DIM];
    sal_block block = { .name = "s", .kind = SAL_ORDINAL, .count = DIM, .states = LEVELS };
    for (int k = 0; k < LEVELS; k++) {
        levels[k] = 0.2 * (k - LEVELS / 2); /* -3 .. 3 */
    }
    for (int i = 0; i < DIM * DIM; i++) {
        double identity = i % (DIM + 1) == 0;
        A[i] = (identity - rho / (1 + (DIM - 1) * rho)) / (1 - rho);
    }
    block.levels = levels;
    sal_space *space = sal_space_create();
    sal_status status = sal_space_add(space, &block, err);
    sal_tape *tape = status ? NULL : sal_tape_create(space, SAL_F64);
    if (tape) {
        sal_expr s = sal_state(tape);
        sal_expr As = sal_matvec(sal_constant(tape, A, SAL_SHAPE(DIM, DIM)), s);
        status = sal_model_from_tape(tape, sal_scale(sal_dot(s, As), -0.5), model, err);
    }
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return status;
}

static sal_status measure(sal_model *model, int method, const truth *t, sal_error *err)
{
    sal_run *run = NULL;
    sal_run_summary s;
    sal_run_errors e;
    sal_run_options o = { .sampler = methods[method].sampler, .chains = 16, .warmup = 2000 };
    o.draws = 2000;
    o.record.draws = true; /* for the pairs */
    o.preconditioner = method == METHODS - 1 ? t->covariance : NULL;
    sal_status status = sal_sample(model, &o, &run, err);
    status = status ? status : sal_run_summarise(run, &s, err);
    status = status ? status : sal_run_measure_errors(run, t->marginals, t->pairs, &e, err);
    if (status == SAL_OK) {
        printf("%-17s %8.3f %7.2f %9.1f %7.3f %8.4f\n", methods[method].name, s.acceptance_rate,
               s.mean_jump, 1000 * s.ess_per_step, s.rhat_max, e.pair_l1);
    }
    sal_run_destroy(run);
    return status;
}

static sal_status compare(double rho, sal_error *err)
{
    static truth t;
    sal_exact exact;
    sal_model *model = NULL;
    sal_status status = make_model(rho, &model, err);
    status = status ? status
                    : sal_model_exact(model, NULL, &exact, t.marginals, t.pairs, t.covariance, err);
    if (status == SAL_OK) {
        printf("\nrho = %g\n", rho);
    }
    for (int k = 0; status == SAL_OK && k < METHODS; k++) {
        status = measure(model, k, &t, err);
    }
    sal_model_destroy(model);
    return status;
}

/* What to see:
 *
 * - pavg accepts everything, jumps furthest and has the smallest error of pairs at every rho. The
 *   paper finds it first on its correlated lattices, too (figure 2, top).
 * - Correlations slow it down like all others. From rho = 0.8 on it has hardly more effective
 *   samples than gibbs: it jumps far, but not along the diagonal. To be real, M_eps^(1/2) needs a
 * delta as large as the steepest curvature of f, 1 / (1 - rho) across the diagonal. And delta
 * counts in all directions: along the diagonal too, where f is flat, z says within about sqrt(1 -
 * rho) where s was.
 * - The covariance for M is no help here but for rho = 0, where it is the identity: the acceptance
 *   falls to that of avg, and so does the rest. */
int main(void)
{
    const double rho[] = { 0, 0.5, 0.8, 0.95 };
    sal_error err = { 0 };
    printf("                  accepted    jump  ESS/1000   R-hat    pairs\n");
    for (int k = 0; k < 4; k++) {
        if (compare(rho[k], &err) != SAL_OK) {
            return fprintf(stderr, "%s\n", err.message), 1;
        }
    }
}

/* SPDX-License-Identifier: MIT */
