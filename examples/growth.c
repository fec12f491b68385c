/* SPDX-License-Identifier: MIT */
/* How the time of a step grows with the model, with the number of chains and with threads: the
 * figure of docs/speed.md.
 *
 *     growth [SECONDS]      prints a table and writes growth.svg; SECONDS for each point [0.5]
 *
 * A step of gibbs moves one variable of every chain, one of gwg proposes one, ncg proposes all.
 * Times are by chain: microseconds of a step over the number of chains. */
#include <math.h>
#include <saltus/figure.h>
#include <saltus/saltus.h>
#include <stdlib.h>
#include <unistd.h>

enum { SAMPLERS = 4, MOST = 8 };
static const char *const samplers[SAMPLERS] = { "gibbs", "gwg", "pafs:length=10", "ncg" };

/* One line of a panel. */
typedef struct series {
    int n;
    double x[MOST], y[MOST];
} series;

/* Microseconds of a step and chain: runs of twice the length until one is long enough. */
static sal_status measure(const char *specification, const char *sampler, int64_t chains,
                          int threads, double seconds, double *us, sal_error *err)
{
    sal_model *model = NULL;
    sal_status status = sal_model_open(specification, SAL_F32, &model, err);
    double spent = 0;
    for (int64_t steps = 64; status == SAL_OK && spent < seconds; steps *= 2) {
        sal_run_options o = { .sampler = sampler, .chains = chains, .draws = 1, .warmup = -1 };
        sal_run *run = NULL;
        sal_run_summary s;
        o.thin = steps;
        o.threads = threads;
        o.step_size = sampler[0] == 'n' ? 0.5 : 0;
        status = sal_sample(model, &o, &run, err);
        if (status == SAL_OK && (status = sal_run_summarise(run, &s, err)) == SAL_OK) {
            spent = s.seconds;
            *us = 1e6 / (s.steps_per_second * (double)chains);
        }
        sal_run_destroy(run);
    }
    sal_model_destroy(model);
    return status;
}

/* A point more, and a line of the table. */
static sal_status add(series *to, double x, const char *what, const char *specification,
                      const char *sampler, int64_t chains, int threads, double seconds,
                      sal_error *err)
{
    double us = NAN;
    sal_status status = measure(specification, sampler, chains, threads, seconds, &us, err);
    printf("%-10s %-16s %10.0f %12.4f us a step and chain\n", what, sampler, x, us);
    to->x[to->n] = x;
    to->y[to->n++] = us;
    return status;
}

static void panel(sal_figure *figure, const char *title, const char *label, const series *lines)
{
    sal_figure_panel(figure,
                     &(sal_panel){ .title = title,
                                   .x = { .label = label, .logarithmic = true },
                                   .y = { .label = "us a step and chain", .logarithmic = true } });
    for (int k = 0; k < SAMPLERS; k++) {
        sal_figure_series(figure, &(sal_series){ .name = samplers[k],
                                                 .mark = SAL_MARK_BOTH,
                                                 .n = lines[k].n,
                                                 .x = lines[k].x,
                                                 .y = lines[k].y });
    }
}

static sal_status draw(const series *sizes, const series *chains, const series *threads,
                       sal_error *err)
{
    sal_figure *figure = NULL;
    sal_figure_options options = { .title = "Growth of the time of a step, Ising lattices",
                                   .columns = 3,
                                   .panel_width = 240,
                                   .panel_height = 200 };
    sal_status status = sal_figure_create(&options, &figure, err);
    if (status == SAL_OK) {
        panel(figure, "32 chains, 1 thread", "variables", sizes);
        panel(figure, "40 x 40, 1 thread", "chains", chains);
        panel(figure, "160 x 160, 64 chains", "threads", threads);
        status = sal_figure_write(figure, "growth.svg", err);
    }
    sal_figure_destroy(figure);
    return status;
}

int main(int argc, char **argv)
{
    static const int sides[] = { 10, 20, 40, 80, 160, 320 }, crowds[] = { 1, 4, 16, 64, 256 };
    const double seconds = argc > 1 ? atof(argv[1]) : 0.5;
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    series sizes[SAMPLERS] = { 0 }, chains[SAMPLERS] = { 0 }, threads[SAMPLERS] = { 0 };
    sal_error err = { 0 };
    sal_status status = SAL_OK;
    for (int k = 0; status == SAL_OK && k < SAMPLERS; k++) {
        for (int i = 0; status == SAL_OK && i < 6; i++) {
            char model[64];
            snprintf(model, sizeof model, "ising:side=%d,theta=0.2", sides[i]);
            status = add(&sizes[k], sides[i] * sides[i], "variables", model, samplers[k], 32, 1,
                         seconds, &err);
        }
        for (int i = 0; status == SAL_OK && i < 5; i++) {
            status = add(&chains[k], crowds[i], "chains", "ising:side=40,theta=0.2", samplers[k],
                         crowds[i], 1, seconds, &err);
        }
        for (int t = 1; status == SAL_OK && t <= processors; t *= 2) {
            status = add(&threads[k], t, "threads", "ising:side=160,theta=0.2", samplers[k], 64, t,
                         seconds, &err);
        }
    }
    status = status == SAL_OK ? draw(sizes, chains, threads, &err) : status;
    if (status != SAL_OK) {
        fprintf(stderr, "growth: %s\n", err.message);
    }
    return status == SAL_OK ? 0 : 1;
}
