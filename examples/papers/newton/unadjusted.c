/* What a step without acceptance does: figure 1 of Xiang et al. 2023, the bias of UNA over its step
 * size alpha, on an Ising model of 2 x 2 variables in {0, 1}, F(s) = s'As + b's.
 *
 *     unadjusted [--quick | --full] [--svg FIGURE.svg]
 *
 * Where F is quadratic the law that UNA leaves invariant is known: pi_alpha(s) is proportional to
 * pi(s) prod_i (1 + exp(d_i / 2 - 1 / (2 alpha))), d_i the difference of F when s_i flips (the
 * proof of theorem 1). Beside its distance |pi_alpha - pi|_1 stand that of long runs; theorem 1's
 * bound as printed, Z exp(-1 / (2 alpha) - lambda_min / 2), with Z = sum exp F; and a bound that
 * holds,
 *
 *     2 (sum exp(F / 2))^2 / sum exp F  exp(-1 / (2 alpha) - lambda_min / 2).
 *
 * A constant added to F changes Z and the printed bound, and nothing else: the last column has it
 * for F - 6. */
#include <math.h>
#include "../panel.h"
#include "../program.h"

enum { D = 4, STATES = 1 << D };

static const double a = 0.1, b = 0.2; /* couplings and field of the paper's other Ising model */
static const double alphas[] = { 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1, 2 };
enum { ALPHAS = sizeof alphas / sizeof *alphas };

static sal_status make_model(sal_model **model, sal_error *err)
{
    static const double A[D * D] = { 0, a, a, 0, a, 0, 0, a, a, 0, 0, a, 0, a, a, 0 };
    sal_space *space = sal_space_create();
    sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_BINARY, .count = D }, err);
    sal_tape *t = sal_tape_create(space, SAL_F64);
    sal_expr s = sal_state(t);
    sal_expr F =
        sal_add(sal_quad(s, sal_constant(t, A, SAL_SHAPE(D, D))), sal_scale(sal_sum(s), b));
    sal_status status = sal_model_from_tape(t, F, model, err);
    sal_tape_destroy(t);
    sal_space_destroy(space);
    return status;
}

typedef struct values {
    double F[STATES], difference[STATES][D]; /* when s_i flips */
} values;

static sal_status evaluate(const sal_model *model, values *v, sal_error *err)
{
    int32_t codes[STATES * D];
    double moves[STATES * D * 2];
    for (int k = 0; k < STATES * D; k++) {
        codes[k] = k / D >> k % D & 1;
    }
    sal_status status = sal_model_evaluate(model, STATES, codes, v->F, NULL, moves, err);
    for (int k = 0; k < STATES * D; k++) {
        v->difference[k / D][k % D] = moves[2 * k + !codes[k]];
    }
    return status;
}

static double sum_exp(const values *v, double factor)
{
    double sum = 0;
    for (int k = 0; k < STATES; k++) {
        sum += exp(factor * v->F[k]);
    }
    return sum;
}

/* |pi_alpha - pi|_1. */
static double distance(const values *v, double alpha)
{
    double weight[STATES], Z = sum_exp(v, 1), sum = 0, l1 = 0;
    for (int k = 0; k < STATES; k++) {
        weight[k] = exp(v->F[k]) / Z;
        for (int i = 0; i < D; i++) {
            weight[k] *= 1 + exp(v->difference[k][i] / 2 - 1 / (2 * alpha));
        }
        sum += weight[k];
    }
    for (int k = 0; k < STATES; k++) {
        l1 += fabs(weight[k] / sum - exp(v->F[k]) / Z);
    }
    return l1;
}

/* The same of the draws of a run, and what sampling noise alone makes of it. */
static sal_status simulate(sal_model *model, double alpha, int64_t draws, double *l1, double *noise,
                           sal_error *err)
{
    sal_run *run = NULL;
    sal_run_variation v = { 0 };
    const sal_run_options o = { .sampler = "una",
                                .step_size = alpha,
                                .chains = 20,
                                .draws = draws,
                                .record.draws = true,
                                .threads = 1 };
    sal_status status = sal_sample(model, &o, &run, err);
    status = status ? status : sal_run_total_variation(run, 0, 1, &v, err);
    *l1 = 2 * v.distance;
    *noise = 2 * v.ideal;
    sal_run_destroy(run);
    return status;
}

static sal_status make_figure(const arguments *args, sal_figure *figure, sal_error *err)
{
    static panel p = { .title = "Figure 1: UNA on a 2 x 2 Ising model",
                       .x_label = "alpha",
                       .y_label = "|pi_alpha - pi|_1",
                       .y_format = "%.2e",
                       .log_x = true,
                       .log_y = true,
                       .curves = 6,
                       .name = { "invariant law", "run", "noise of a run", "bound", "printed bound",
                                 "that of F - 6" } };
    sal_model *model = NULL;
    values v;
    int64_t draws = args->size == FULL ? 500000 : args->size == QUICK ? 1000 : 50000;
    sal_status status = make_model(&model, err);
    status = status ? status : evaluate(model, &v, err);
    for (int k = 0; k < ALPHAS && status == SAL_OK; k++) {
        double lambda_min = -2 * a, Z = sum_exp(&v, 1), root = sum_exp(&v, 0.5);
        double decay = exp(-1 / (2 * alphas[k]) - lambda_min / 2);
        p.x[k] = alphas[k];
        p.y[0][k] = distance(&v, alphas[k]);
        status = simulate(model, alphas[k], draws, &p.y[1][k], &p.y[2][k], err);
        p.y[3][k] = 2 * root * root / Z * decay;
        p.y[4][k] = Z * decay;
        p.y[5][k] = exp(-6) * Z * decay;
        p.points = k + 1;
    }
    panel_print(&p);
    panel_draw(&p, figure);
    sal_model_destroy(model);
    return status;
}

int main(int argc, char **argv)
{
    static const program p = {
        .title = "Xiang et al. 2023, figure 1: bias of UNA",
        .caption = "L1 distance between the invariant law of UNA and the target, by formula "
                   "and of a long run with its noise, and upper bounds.",
        .run = make_figure
    };
    return program_main(argc, argv, &p);
}

/* SPDX-License-Identifier: MIT */
