/* How many coordinates move at once, and how often that is accepted: figure 3 of Xiang et al. 2023,
 * MANA's step size on the facility location problem.
 *
 *     step_sizes [--quick | --full] [--svg FIGURE.svg]
 *
 * The paper's utilities are not published. Ours are those of the model facility-location, of the
 * paper's size: with lambda = 10 for each open facility, and with lambda = 0, as the printed
 * lambda |V| is a constant. A smaller problem has states that are more alike. capped: at most 3
 * coordinates a step. */
#include <math.h>
#include "../convergence.h"
#include "../panel.h"
#include "../program.h"

static const char *const problems[] = { "facility-location", "facility-location:lambda=0",
                                        "facility-location:customers=4,lambda=1" };
static const double alphas[] = { 0.1, 0.2, 0.5, 1, 2, 5, 10 };
enum { MOST_FACILITIES = 15 };
enum { ALPHAS = sizeof alphas / sizeof *alphas, PROBLEMS = sizeof problems / sizeof *problems };

/* Curves of the two panels. */
enum {
    ACCEPTANCE,
    CHANGED,
    IF_ACCEPTED,
    PROPOSED,
    LB_ACCEPTANCE,
    CAP_ACCEPTANCE,
    CAP_CHANGED,
    MOVES
};
enum { MANA_ESS, LB_ESS, GIBBS_ESS, CAP_ESS, EFFECTIVE };

static const panel moves = { .x_label = "alpha",
                             .y_label = "acceptance and coordinates changed",
                             .log_x = true,
                             .log_y = true,
                             .curves = MOVES,
                             .name = { "acceptance", "changed a step", "if accepted", "proposed",
                                       "acceptance, LB", "acceptance, capped",
                                       "changed, capped" } };
static const panel effective = { .x_label = "alpha",
                                 .y_label = "ESS in 1000 steps, median",
                                 .y_format = "%.1f",
                                 .log_x = true,
                                 .curves = EFFECTIVE,
                                 .name = { "MANA", "LB", "Gibbs", "MANA, capped" } };

static sal_status sample(const truth *t, const char *sampler, double step_size, int64_t draws,
                         curve *c, sal_error *err)
{
    const sal_run_options o = {
        .sampler = sampler, .step_size = step_size, .chains = 20, .warmup = 500, .draws = draws
    };
    return curve_run(t, 0, &o, c, err);
}

/* How many coordinates MANA proposes to change at equilibrium, by the sum over all states:
 * coordinate i flips with probability sigmoid(Delta_i / 2 - 1 / (2 alpha)). */
static sal_status find_proposed(const truth *t, double *proposed, sal_error *err)
{
    enum { BATCH = 1024 };
    static int32_t codes[BATCH * MOST_FACILITIES];
    static double f[BATCH], differences[BATCH * 2 * MOST_FACILITIES];
    double total = 0, largest = -INFINITY, sum[ALPHAS] = { 0 };
    int64_t V = t->V, states = INT64_C(1) << V;
    sal_status status = V <= MOST_FACILITIES ? SAL_OK : SAL_ERR_ARGUMENT;
    for (int64_t first = 0; status == SAL_OK && first < states; first += BATCH) {
        int64_t n = states - first < BATCH ? states - first : BATCH;
        for (int64_t c = 0; c < n * V; c++) {
            codes[c] = (int32_t)((first + c / V) >> (c % V) & 1);
        }
        status = sal_model_evaluate(t->model, n, codes, f, NULL, differences, err);
        for (int64_t c = 0; status == SAL_OK && c < n; c++) {
            double scale = f[c] > largest ? exp(largest - f[c]) : 1;
            largest = fmax(largest, f[c]);
            double weight = exp(f[c] - largest);
            total = total * scale + weight;
            for (int k = 0; k < ALPHAS; k++) {
                double mean = 0;
                for (int64_t i = 0; i < V; i++) {
                    double delta = differences[2 * (c * V + i) + !codes[c * V + i]];
                    mean += 1 / (1 + exp(0.5 / alphas[k] - delta / 2));
                }
                sum[k] = sum[k] * scale + weight * mean;
            }
        }
    }
    for (int k = 0; k < ALPHAS; k++) {
        proposed[k] = sum[k] / total;
    }
    return status;
}

/* Fill the two panels p. */
static sal_status scan(const char *problem, int64_t draws, panel *p, sal_error *err)
{
    truth t;
    curve lb, gibbs, c, capped;
    double proposed[ALPHAS];
    sal_status status = truth_open(problem, &t, err);
    status = status ? status : find_proposed(&t, proposed, err);
    status = status ? status : sample(&t, "lb", 0, draws, &lb, err);
    status = status ? status : sample(&t, "gibbs:scan=random", 0, draws, &gibbs, err);
    for (int k = 0; k < ALPHAS && status == SAL_OK; k++) {
        status = sample(&t, "mana", alphas[k], draws, &c, err);
        status = status ? status : sample(&t, "mana:most=3", alphas[k], draws, &capped, err);
        p[0].x[k] = p[1].x[k] = alphas[k];
        p[0].y[ACCEPTANCE][k] = c.acceptance;
        p[0].y[CHANGED][k] = c.jump;
        p[0].y[IF_ACCEPTED][k] = c.jump / c.acceptance;
        p[0].y[PROPOSED][k] = proposed[k];
        p[0].y[LB_ACCEPTANCE][k] = lb.acceptance;
        p[0].y[CAP_ACCEPTANCE][k] = capped.acceptance;
        p[0].y[CAP_CHANGED][k] = capped.jump;
        p[1].y[MANA_ESS][k] = c.ess[1];
        p[1].y[CAP_ESS][k] = capped.ess[1];
        p[1].y[LB_ESS][k] = lb.ess[1];
        p[1].y[GIBBS_ESS][k] = gibbs.ess[1];
        p[0].points = p[1].points = k + 1;
    }
    truth_free(&t);
    return status;
}

static sal_status make_figure(const arguments *a, sal_figure *figure, sal_error *err)
{
    static panel p[2];
    int64_t draws = a->size == FULL ? 30000 : a->size == QUICK ? 500 : 5000;
    sal_status status = SAL_OK;
    for (int k = 0; k < PROBLEMS && status == SAL_OK; k++) {
        p[0] = moves;
        p[1] = effective;
        p[0].title = p[1].title = problems[k];
        status = scan(problems[k], draws, p, err);
        for (int side = 0; side < 2; side++) {
            panel_print(&p[side]);
            panel_draw(&p[side], figure);
        }
    }
    return status;
}

int main(int argc, char **argv)
{
    static const program p = { .title = "Xiang et al. 2023, figure 3: step sizes of MANA",
                               .run = make_figure };
    return program_main(argc, argv, &p);
}

/* SPDX-License-Identifier: MIT */
