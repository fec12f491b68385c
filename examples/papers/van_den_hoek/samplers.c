/* What van den Hoek's thesis (2022) describes and leaves open: the adaptive scan (section 2.1.2),
 * total variation, R-hat and autocorrelation time beside effective samples (2.3), and the path
 * auxiliary samplers and larger neighbourhoods that its section 6 asks for, on models small enough
 * for exact answers. Runs have 1000 steps of warm-up; us: processor time of a step, warm-up
 * included; ideal: the distance of as many independent draws as there are effective ones.
 *
 *     samplers [--quick | --full] [--svg FIGURE.svg] */
#include <time.h>
#include "../panel.h"
#include "../program.h"

static const char *const samplers[] = {
    "gibbs:scan=random", "gibbs:scan=adaptive", "gibbs", "gwg",
    "gwg:hops=3",        "gwg:ball=2",          "pas",   "pafs"
};
static const char *const names[] = { "Gibbs",      "adaptive-scan", "in-turn", "GWG",
                                     "GWG-hops-3", "GWG-ball-2",    "PAS",     "PAFS" };
enum { SAMPLERS = 8, CHAINS = 16, LENGTHS = 6 };

static const struct {
    const char *title, *specification;
} models[] = {
    { "Ising 4 x 4, J = 0.1", "ising:cyclic=0,side=4,theta=0.05" },
    { "Ising 4 x 4, J = 0.5", "ising:cyclic=0,side=4,theta=0.25" },
    { "Random model, n = 10, m = 5, p = 0.25", "random-factors:n=10,m=5,p=0.25,seed=0" },
};

/* One run: a point of the panel, and a row of the table if it is the longest. */
static sal_status measure(sal_model *model, int sampler, int k, int64_t draws, panel *p,
                          sal_error *err)
{
    sal_run *run = NULL;
    sal_run_summary s;
    sal_run_variation v;
    const sal_run_options o = { .sampler = samplers[sampler],
                                .chains = CHAINS,
                                .draws = draws,
                                .seed = 1,
                                .threads = 1,
                                .record.draws = true };
    clock_t start = clock();
    sal_status status = sal_sample(model, &o, &run, err);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    status = status ? status : sal_run_summarise(run, &s, err);
    status = status ? status : sal_run_total_variation(run, 0, 1, &v, err);
    if (status == SAL_OK) {
        p->x[k] = (double)draws;
        p->y[sampler][k] = v.distance;
        if (k == p->points - 1) {
            printf("%-14s %7.3f %8.2f %8.2f %8.3f %9.4f %9.4f %8.3f\n", names[sampler],
                   s.acceptance_rate, 1000 * s.ess_per_step, s.autocorrelation_time, s.rhat_max,
                   v.distance, v.ideal, 1e6 * seconds / (CHAINS * (double)(draws + 1000)));
            fflush(stdout);
        }
    }
    sal_run_destroy(run);
    return status;
}

static sal_status show(int which, int lengths, sal_figure *figure, sal_error *err)
{
    sal_model *model = NULL;
    panel p = { .title = models[which].title,
                .x_label = "draws of each of 16 chains",
                .y_label = "total variation",
                .log_x = true,
                .log_y = true,
                .points = lengths,
                .curves = SAMPLERS };
    printf("\n%s\n%-14s %7s %8s %8s %8s %9s %9s %8s\n", models[which].title, "", "accept",
           "ESS/1000", "IAT", "R-hat", "TV", "ideal", "us");
    sal_status status = sal_model_open(models[which].specification, 0, &model, err);
    for (int sampler = 0; sampler < SAMPLERS; sampler++) {
        p.name[sampler] = names[sampler];
        for (int k = 0; k < lengths && status == SAL_OK; k++) {
            status = measure(model, sampler, k, (int64_t)250 << (2 * k), &p, err);
        }
    }
    sal_model_destroy(model);
    if (status == SAL_OK) {
        panel_draw(&p, figure);
    }
    return status;
}

static sal_status make_figure(const arguments *a, sal_figure *figure, sal_error *err)
{
    const int lengths = a->size == QUICK ? 2 : a->size == FULL ? LENGTHS : 3;
    sal_status status = SAL_OK;
    for (int k = 0; k < (a->size == QUICK ? 2 : 3) && status == SAL_OK; k++) {
        status = show(k, lengths, figure, err);
    }
    return status;
}

int main(int argc, char **argv)
{
    static const program p = {
        .title =
            "van den Hoek 2022, sections 2.1.2, 2.3 and 6: samplers on models with exact answers",
        .caption = "Total variation distance between the draws of all "
                   "chains and the exact distribution.",
        .run = make_figure
    };
    return program_main(argc, argv, &p);
}

/* SPDX-License-Identifier: MIT */
