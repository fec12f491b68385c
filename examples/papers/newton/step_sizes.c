/* How many coordinates move at once, and how often that is accepted: figure 3 of Xiang et al. 2023,
 * MANA's step size on the facility location problem.
 *
 *     step_sizes [--quick | --full] [--svg FIGURE.svg]
 *
 * The paper's utilities are not published. Ours are those of the model facility-location, of the
 * paper's size, and a smaller problem whose states are more alike. */
#include <math.h>
#include "../convergence.h"
#include "../panel.h"

static const char *const problems[] = { "facility-location",
                                        "facility-location:customers=4,lambda=1" };
static const double alphas[] = { 0.1, 0.2, 0.5, 1, 2, 5, 10, 100 };
enum { ALPHAS = sizeof alphas / sizeof *alphas, PROBLEMS = sizeof problems / sizeof *problems };

enum { ACCEPTANCE, CHANGED, PROPOSED, ESS, LB_ESS, GIBBS_ESS, COLUMNS };

static sal_status sample(const truth *t, const char *sampler, double step_size, int64_t draws,
                         curve *c, sal_error *err)
{
    const sal_run_options o = {
        .sampler = sampler, .step_size = step_size, .chains = 20, .warmup = 500, .draws = draws
    };
    return curve_run(t, 0, &o, c, err);
}

static sal_status scan(const char *problem, int64_t draws, panel *p, double *lb_acceptance,
                       sal_error *err)
{
    truth t;
    curve lb, gibbs, c;
    sal_status status = truth_open(problem, &t, err);
    status = status ? status : sample(&t, "lb", 0, draws, &lb, err);
    status = status ? status : sample(&t, "gibbs:scan=random", 0, draws, &gibbs, err);
    *lb_acceptance = status ? NAN : lb.acceptance;
    for (int k = 0; k < ALPHAS && status == SAL_OK; k++) {
        status = sample(&t, "mana", alphas[k], draws, &c, err);
        p->x[k] = alphas[k];
        p->y[ACCEPTANCE][k] = c.acceptance;
        p->y[CHANGED][k] = c.jump;
        p->y[PROPOSED][k] = c.jump / c.acceptance;
        p->y[ESS][k] = c.ess[1];
        p->y[LB_ESS][k] = lb.ess[1];
        p->y[GIBBS_ESS][k] = gibbs.ess[1];
        p->points = k + 1;
    }
    truth_free(&t);
    return status;
}

int main(int argc, char **argv)
{
    static panel p[PROBLEMS];
    arguments a;
    sal_figure *figure = NULL;
    sal_error err = { 0 };
    if (!arguments_read(argc, argv, false, &a)) {
        return 2;
    }
    int64_t draws = a.size == FULL ? 30000 : a.size == QUICK ? 500 : 5000;
    sal_status status = figure_begin(&a, "Step sizes of MANA", NULL, &figure, &err);
    for (int k = 0; k < PROBLEMS && status == SAL_OK; k++) {
        double lb = NAN;
        p[k] = (panel){ .title = problems[k],
                        .x_label = "alpha",
                        .y_label = "of MANA (ESS: median, in 1000 steps)",
                        .y_format = "%.2f",
                        .curves = COLUMNS,
                        .name = { "acceptance", "changed a step", "if accepted", "ESS", "ESS of LB",
                                  "ESS of Gibbs" } };
        status = scan(problems[k], draws, &p[k], &lb, &err);
        panel_print(&p[k]);
        printf("acceptance of LB %.3f\n", lb);
        panel_draw(&p[k], figure);
    }
    return figure_finish(figure, status, &a, &err);
}
