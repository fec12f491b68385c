#include "compare.h"

#include <math.h>
#include <time.h>

enum { CHAINS = 16 };

const char *const samplers[SAMPLERS] = { "gibbs:scan=random", "gwg", "gibbs" };
const char *const sampler_names[SAMPLERS] = { "Gibbs", "GWG", "Gibbs in turn" };

sal_status compare_measure(sal_model *model, const char *sampler, int64_t draws, uint64_t seed,
                           figures *out, sal_error *err)
{
    sal_run *run = NULL;
    sal_run_summary s;
    int64_t sites = sal_space_variables(sal_model_space(model));
    sal_run_options o = { .sampler = sampler, .chains = CHAINS, .draws = draws, .threads = 1 };
    o.thin = sites < 8 ? 1 : sites / 4;
    o.warmup = draws / 4 * o.thin;
    o.seed = seed;
    clock_t start = clock();
    sal_status status = sal_sample(model, &o, &run, err);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    status = status ? status : sal_run_summarise(run, &s, err);
    if (status == SAL_OK) {
        double steps = (double)CHAINS * (double)(o.warmup + o.draws * o.thin);
        double kept = (double)CHAINS * (double)(o.draws * o.thin);
        out->ess = isnan(s.ess_total) ? 0 : 1000 * s.ess_total / kept;
        out->draw = 1e6 * seconds / steps;
        out->per_sample = out->ess > 0 ? 1000 * out->draw / out->ess : NAN;
        out->rhat = s.rhat_max;
    }
    sal_run_destroy(run);
    return status;
}

sal_status compare_begin(sal_error *err)
{
    figures unused;
    sal_model *model = NULL;
    sal_status status = sal_model_open("ising:side=2", 0, &model, err);
    status = status ? status : compare_measure(model, samplers[GWG], 100, 0, &unused, err);
    sal_model_destroy(model);
    return status;
}

void compare_head(const char *title, const char *model)
{
    printf("\n%s\n%14s", title, "");
    for (int k = 0; k < SAMPLERS; k++) {
        printf("  | %-24s", sampler_names[k]);
    }
    printf("\n%14s", model);
    for (int k = 0; k < SAMPLERS; k++) {
        printf("  |%9s %6s %8s", "ESS/1000", "us", "us/ESS");
    }
    printf("\n");
}

sal_status compare_row(const char *specification, int64_t draws, figures out[SAMPLERS],
                       sal_error *err)
{
    sal_model *model = NULL;
    sal_status status = sal_model_open(specification, 0, &model, err);
    for (int k = 0; k < SAMPLERS && status == SAL_OK; k++) {
        status = compare_measure(model, samplers[k], draws, 0, &out[k], err);
        if (status == SAL_OK) {
            printf("  |%8.2f%c %6.3f %8.2f", out[k].ess, out[k].rhat > 1.1 ? '*' : ' ', out[k].draw,
                   out[k].per_sample);
        }
    }
    printf("\n");
    fflush(stdout);
    sal_model_destroy(model);
    return status;
}

void compare_panel(const char *title, int sides, const double *N, const figures (*of)[SAMPLERS],
                   compare_shown what, sal_figure *figure)
{
    static const char *const labels[] = { "ESS of 1000 draws", "µs per draw",
                                          "µs per effective sample" };
    panel p = { .title = title,
                .x_label = "N",
                .y_label = labels[what],
                .log_y = true,
                .points = sides,
                .curves = SAMPLERS };
    for (int k = 0; k < SAMPLERS; k++) {
        p.name[k] = sampler_names[k];
        for (int n = 0; n < sides; n++) {
            const figures *f = &of[n][k];
            p.x[n] = N[n];
            p.y[k][n] = what == SHOW_ESS ? f->ess : what == SHOW_DRAW ? f->draw : f->per_sample;
        }
    }
    panel_draw(&p, figure);
}

/* SPDX-License-Identifier: MIT */
