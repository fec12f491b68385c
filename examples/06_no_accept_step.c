/* Lesson 6. Dropping the accept step.
 *
 * una and dula propose as mana and ncg do, and always accept. No step is wasted, and it is wrong:
 * the chain has another stationary distribution, pi_alpha, which depends on the step size alpha.
 * How wrong? (Xiang et al. 2023, section 6.1, theorem 1 and figure 1.)
 *
 * On a lattice of 2 x 2 with F(s) = s'A s + b's, s in {0,1}^4, everything can be had exactly. A
 * proposal q(y|x) has the weight exp(grad F(x)'(y - x)/2 - |y - x|^2/(2 alpha)) over a sum Z(x) of
 * such weights, a product over the variables. F is quadratic, hence exp F(x) Z(x) q(y|x) is the
 * same with x and y exchanged, and so pi_alpha(x) is proportional to exp F(x) Z(x). */
#include <math.h>
#include <saltus/saltus.h>

enum { N = 4, ALL = 16 };
static const double J = 0.5, b = -0.8;
static const double lambda_min = -2 * 0.5; /* of A, which is J times a ring of four */

static sal_model *lattice(double constant, sal_error *err)
{
    const int64_t edges[] = { 0, 1, 1, 3, 3, 2, 2, 0 };
    const double couplings[] = { 2 * J, 2 * J, 2 * J, 2 * J }; /* s'A s counts each pair twice */
    sal_model *model = NULL;
    sal_space *space = sal_space_create();
    sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_BINARY, .count = N }, err);
    sal_tape *t = sal_tape_create(space, SAL_F64);
    sal_expr s = sal_state(t), w = sal_constant(t, couplings, SAL_SHAPE(4));
    sal_expr F = sal_add(sal_edges(s, w, 4, edges), sal_scale(sal_sum(s), b));
    sal_model_from_tape(t, sal_add(F, sal_scalar(t, constant)), &model, err);
    sal_tape_destroy(t);
    sal_space_destroy(space);
    return model;
}

/* The 1-norm of pi_alpha - pi, from F and its gradient at all states. */
static double bias(double alpha, const double *F, double (*gradient)[N], int32_t (*x)[N])
{
    double pi[ALL], pi_alpha[ALL], sum = 0, sum_alpha = 0, distance = 0;
    for (int k = 0; k < ALL; k++) {
        double Z = 1;
        for (int i = 0; i < N; i++) {
            Z *= 1 + exp(gradient[k][i] * (1 - 2 * x[k][i]) / 2 - 1 / (2 * alpha));
        }
        pi[k] = exp(F[k]);
        pi_alpha[k] = exp(F[k]) * Z;
        sum += pi[k];
        sum_alpha += pi_alpha[k];
    }
    for (int k = 0; k < ALL; k++) {
        distance += fabs(pi_alpha[k] / sum_alpha - pi[k] / sum);
    }
    return distance;
}

/* The same from draws: twice the total variation. */
static sal_status sampled(sal_model *model, const char *sampler, double alpha, double *distance,
                          sal_error *err)
{
    sal_run *run = NULL;
    sal_run_variation variation;
    sal_run_options o = { .sampler = sampler, .chains = 32, .draws = 1500, .step_size = alpha };
    o.thin = 2 + (int64_t)(0.3 * exp(1 / (2 * alpha))); /* a small step rarely leaves a state */
    o.record.draws = true;
    sal_status status = sal_sample(model, &o, &run, err);
    if (status == SAL_OK) {
        status = sal_run_total_variation(run, 0, 1, &variation, err);
    }
    *distance = status == SAL_OK ? 2 * variation.distance : NAN;
    sal_run_destroy(run);
    return status;
}

/* What to see:
 *
 * - una's bias falls quickly as alpha falls: like exp(-1/(2 alpha)). But so does its speed: a
 *   variable that flips with that probability takes exp(1/(2 alpha)) steps. No free lunch.
 * - Draws confirm it, down to the noise of 48,000 draws, about 0.02.
 * - mana, the same proposal with the accept step, is right at every step size.
 * - The theorem's bound Z exp(-1/(2 alpha) - lambda_min/2) cannot be right: Z = sum exp F
 *   grows with a constant that is added to F, and pi and pi_alpha do not. Below, "printed" is
 *   this bound for F, and "F - 4" for F - 4: less than the bias. The proof needs
 *   F(x) + F(y) >= 0. What holds for any F, if alpha lambda_min > -1, is the last column,
 *       2 (sum exp(F/2))^2 / (sum exp F) exp(-1/(2 alpha) - lambda_min/2),
 *   generous, but with the theorem's rate. */
int main(void)
{
    const double alphas[] = { 0.1, 0.15, 0.2, 0.3, 0.5, 0.8 };
    int32_t x[ALL][N];
    double F[ALL], gradient[ALL][N], Z = 0, halves = 0;
    sal_error err = { 0 };
    sal_model *model = lattice(0, &err);
    for (int k = 0; k < ALL; k++) {
        for (int i = 0; i < N; i++) {
            x[k][i] = k >> i & 1;
        }
    }
    if (!model || sal_model_evaluate(model, ALL, *x, F, *gradient, NULL, &err) != SAL_OK) {
        return fprintf(stderr, "%s\n", err.message), 1;
    }
    for (int k = 0; k < ALL; k++) {
        Z += exp(F[k]);
        halves += exp(F[k] / 2);
    }
    printf("         |pi_alpha - pi|      | draws of    | bound\n"
           "alpha    exact      una draws | mana        | printed    F - 4      corrected\n");
    for (int k = 0; k < 6; k++) {
        double alpha = alphas[k], rate = exp(-1 / (2 * alpha) - lambda_min / 2), una, mana;
        if (sampled(model, "una", alpha, &una, &err) != SAL_OK ||
            sampled(model, "mana", alpha, &mana, &err) != SAL_OK) {
            return fprintf(stderr, "%s\n", err.message), 1;
        }
        printf("%.2f     %-8.4f   %-7.2f   | %-7.2f     | %-8.4f   %-8.4f   %.4f\n", alpha,
               bias(alpha, F, gradient, x), una, mana, Z * rate, Z * exp(-4) * rate,
               2 * halves * halves / Z * rate);
    }
    sal_model_destroy(model);
}

/* SPDX-License-Identifier: MIT */
