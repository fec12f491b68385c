/* Lesson 5. What the step size does, and what auxiliary variables are.
 *
 * ncg proposes every variable at once, each near its present value by a penalty |s' - s|^2/(2 eps)
 * (Rhodes & Gutmann 2022, eq. 8). A small eps: little moves, and everything is accepted. A large
 * one: much would move, and nothing is accepted. In between lies the best.
 *
 * avg first draws Gaussian auxiliary variables z_i ~ N(s_i sqrt(2/eps), 1), then s given z (eq.
 * 13). The step size sets how far apart the two Gaussians of a variable are, hence whether z
 * remembers which of them it came from (appendix D). The last two panels of the figure are figure 5
 * of the paper: at eps = 0.02 a z near 0 can only have come from s = 0, and s stays; at 0.2 it may
 * move. (There s = 0 or 1. Spins, -1 or +1, are twice as far apart: they need four times the eps.)
 *
 * The other panels: acceptance, jump and effective samples against eps on an Ising lattice. The
 * paper's figure 7 makes their point by the error of what is learned: ncg bears 0.3 to 10 times the
 * step size that it was given there.
 *
 *     05_step_size      prints a table and writes 05_step_size.svg */
#include <math.h>
#include <saltus/figure.h>
#include <saltus/saltus.h>

enum { SAMPLERS = 2, STEPS = 11, GRID = 161 };
static const char *const samplers[SAMPLERS] = { "ncg", "avg" };

typedef struct sweep {
    double acceptance[STEPS], jump[STEPS], ess[STEPS]; /* the last in 1000 draws of a chain */
} sweep;

static sal_status measure(sal_model *model, const char *sampler, const double *eps, sweep *out,
                          sal_error *err)
{
    for (int k = 0; k < STEPS; k++) {
        sal_run *run = NULL;
        sal_run_summary s;
        sal_run_options o = { .sampler = sampler, .chains = 16, .warmup = 500, .draws = 1000 };
        o.thin = 4;
        o.step_size = eps[k]; /* given, so nothing is adapted */
        sal_status status = sal_sample(model, &o, &run, err);
        if (status == SAL_OK) {
            status = sal_run_summarise(run, &s, err);
        }
        sal_run_destroy(run);
        if (status != SAL_OK) {
            return status;
        }
        out->acceptance[k] = s.acceptance_rate;
        out->jump[k] = s.mean_jump;
        out->ess[k] = s.ess_median; /* NaN: a chain that never moved has none */
    }
    return SAL_OK;
}

/* The densities of z given a binary s. */
static void auxiliary_panel(sal_figure *figure, double eps)
{
    char title[64];
    double z[GRID], p[2][GRID];
    for (int k = 0; k < GRID; k++) {
        z[k] = -4 + 0.11 * k;
        for (int s = 0; s < 2; s++) {
            double d = z[k] - s * sqrt(2 / eps);
            p[s][k] = exp(-d * d / 2) / sqrt(2 * acos(-1));
        }
    }
    snprintf(title, sizeof title, "auxiliary variables, eps = %g", eps);
    sal_figure_panel(
        figure, &(sal_panel){ .title = title, .x = { .label = "z" }, .y = { .label = "density" } });
    for (int s = 0; s < 2; s++) {
        sal_figure_series(
            figure, &(sal_series){ .name = s ? "s = 1" : "s = 0", .n = GRID, .x = z, .y = p[s] });
    }
}

static void sweep_panel(sal_figure *figure, const char *label, const double *eps, const double *ncg,
                        const double *avg)
{
    const double *const y[SAMPLERS] = { ncg, avg };
    sal_figure_panel(figure,
                     &(sal_panel){ .title = label, .x = { .label = "eps", .logarithmic = true } });
    for (int k = 0; k < SAMPLERS; k++) {
        sal_figure_series(
            figure,
            &(sal_series){
                .name = samplers[k], .mark = SAL_MARK_BOTH, .n = STEPS, .x = eps, .y = y[k] });
    }
}

static sal_status draw(const double *eps, const sweep *ncg, const sweep *avg, sal_error *err)
{
    sal_figure *figure = NULL;
    sal_status status = sal_figure_create(&(sal_figure_options){ .title = "What the step size does",
                                                                 .columns = 3,
                                                                 .panel_width = 240,
                                                                 .panel_height = 170 },
                                          &figure, err);
    if (status != SAL_OK) {
        return status;
    }
    sweep_panel(figure, "acceptance", eps, ncg->acceptance, avg->acceptance);
    sweep_panel(figure, "mean jump (L1)", eps, ncg->jump, avg->jump);
    sweep_panel(figure, "effective samples in 1000", eps, ncg->ess, avg->ess);
    auxiliary_panel(figure, 0.02);
    auxiliary_panel(figure, 0.2);
    status = sal_figure_write(figure, "05_step_size.svg", err);
    sal_figure_destroy(figure);
    return status;
}

/* What to see:
 *
 * - Too small: everything is accepted and nothing moves. Too large: all would move, and next to
 *   nothing is accepted. Acceptance alone does not say which sampler is better.
 * - The jump and the effective samples rise and fall together, which is why the paper tunes eps by
 *   the jump ('--step-size auto'). Saltus usually tunes by an acceptance of 0.574, which lies close
 *   to the top of both.
 * - The top is flat: half or double the best eps still gives useful chains. avg is the flatter one,
 *   ncg the higher one here. */
int main(void)
{
    double eps[STEPS];
    sweep ncg, avg;
    sal_error err = { 0 };
    sal_model *model = NULL;
    for (int k = 0; k < STEPS; k++) {
        eps[k] = 0.25 * pow(2, 0.5 * k); /* 0.25 .. 8 */
    }
    if (sal_model_open("ising:side=10,theta=0.15", 0, &model, &err) != SAL_OK ||
        measure(model, "ncg", eps, &ncg, &err) != SAL_OK ||
        measure(model, "avg", eps, &avg, &err) != SAL_OK || draw(eps, &ncg, &avg, &err) != SAL_OK) {
        return fprintf(stderr, "%s\n", err.message), 1;
    }
    printf("%s, 16 chains of 1000 draws, every 4th state\n\n", sal_model_name(model));
    printf("         ncg                          avg\n");
    printf("    eps  acceptance    jump     ESS   acceptance    jump     ESS\n");
    for (int k = 0; k < STEPS; k++) {
        printf("%7.3f  %10.3f %7.2f %7.1f   %10.3f %7.2f %7.1f\n", eps[k], ncg.acceptance[k],
               ncg.jump[k], ncg.ess[k], avg.acceptance[k], avg.jump[k], avg.ess[k]);
    }
    printf("\nwrote 05_step_size.svg\n");
    sal_model_destroy(model);
}

/* SPDX-License-Identifier: MIT */
