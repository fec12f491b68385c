#include "trace.h"

#include <math.h>
#include <stdlib.h>
#include "learned.h"

static const char *const names[METHODS] = { "t/(1+t)",  "sqrt(t)", "min(1,t)",
                                            "max(1,t)", "LSB1",    "LSB2" };
static const char *const samplers[METHODS] = {
    "lb:balance=barker", "lb:balance=sqrt", "lb:balance=min", "lb:balance=max", "lsb1", "lsb2"
};

double trace_t(int point)
{
    return 0.1 * (point + 1);
}

/* ---- burn-in, as it goes on */

typedef struct burn_in {
    const trace_options *options;
    trace *out;
} burn_in;

static int note(const sal_draw *draw, void *data)
{
    const burn_in *b = data;
    trace *out = b->out;
    if (draw->warmup) {
        double sd;
        out->path[draw->index] = mean_of(draw->chains, draw->log_prob, &sd);
    }
    if (draw->warmup && draw->index + 1 == b->options->picture_at) {
        out->picture = malloc((size_t)draw->variables);
        for (int64_t v = 0; out->picture && v < draw->variables; v++) {
            out->picture[v] = (uint8_t)draw->codes[v];
        }
    }
    return 0;
}

/* ---- after it */

/* The autocorrelation of chains' series about their own means. */
static void correlate(int64_t chains, int64_t n, const double *f, int64_t lag, double *rho)
{
    double sum[TRACE_POINTS] = { 0 }, sd;
    for (int64_t c = 0; c < chains; c++) {
        const double *x = f + c * n;
        double mean = mean_of(n, x, &sd);
        for (int64_t k = 0; k < TRACE_POINTS && k * lag < n; k++) {
            double product = 0;
            for (int64_t i = 0; i + k * lag < n; i++) {
                product += (x[i] - mean) * (x[i + k * lag] - mean);
            }
            sum[k] += product / (double)n;
        }
    }
    for (int k = 0; k < TRACE_POINTS; k++) {
        rho[k] = sum[k] / sum[0];
    }
}

static sal_status ess_of_f(int64_t chains, int64_t n, const double *f, trace *out, sal_error *err)
{
    double *ess = malloc((size_t)chains * sizeof *ess);
    sal_status status = ess ? SAL_OK : SAL_ERR_MEMORY;
    for (int64_t c = 0; c < chains && status == SAL_OK; c++) {
        status = sal_stats_ess_tfp(n, f + c * n, &ess[c], err);
        ess[c] *= 1000.0 / (double)n;
    }
    if (status == SAL_OK) {
        out->ess[0] = mean_of(chains, ess, &out->ess_sd[0]);
    }
    free(ess);
    return status;
}

static sal_status summarise(const sal_run *run, int method, const trace_options *o, trace *out,
                            sal_error *err)
{
    double t[TRACE_POINTS], one = 1, g_of_one, sd;
    const double *f = sal_run_log_probs(run);
    const int64_t n = o->iterations;
    sal_run_summary s;
    for (int k = 0; k < TRACE_POINTS; k++) {
        t[k] = trace_t(k);
        out->burn_in[k] = out->path[(k + 1) * o->burn_in / TRACE_POINTS - 1];
        out->mixing[k] = f[k * n / TRACE_POINTS];
    }
    out->first = out->path[0];
    out->mean = mean_of(o->chains * n, f, &sd);
    correlate(o->chains, n, f, o->lag, out->correlation);
    sal_status status = ess_of_f(o->chains, n, f, out, err);
    status = status ? status : sal_run_summarise(run, &s, err);
    status = status ? status : balancing_function(run, method, 1, &one, &g_of_one, err);
    status = status ? status : balancing_function(run, method, TRACE_POINTS, t, out->g, err);
    if (status == SAL_OK) {
        out->ess[1] = 1000 * s.ess_per_step;
        out->acceptance = s.acceptance_rate;
        for (int k = 0; k < TRACE_POINTS; k++) {
            out->g[k] /= g_of_one;
        }
    }
    return status;
}

/* ---- all functions */

static sal_status measure(sal_model *model, const trace_options *options, int method, trace *out,
                          sal_error *err)
{
    sal_run *run = NULL;
    burn_in b = { options, out };
    const sal_run_options o = { .sampler = samplers[method],
                                .chains = options->chains,
                                .warmup = options->burn_in,
                                .draws = options->iterations,
                                .seed = 1,
                                .threads = 1,
                                .callbacks = { .draw = note, .draw_data = &b },
                                .record.warmup = true };
    out->path = malloc((size_t)options->burn_in * sizeof *out->path);
    sal_status status = out->path ? sal_sample(model, &o, &run, err) : SAL_ERR_MEMORY;
    status = status ? status : summarise(run, method, options, out, err);
    sal_run_destroy(run);
    return status;
}

/* See trace_print; 0: never. */
static int64_t find_arrival(const trace *t, const trace_options *o, double mean)
{
    for (int64_t k = 0; k < o->burn_in; k++) {
        if (t->path[k] >= t->first + 0.95 * (mean - t->first)) {
            return k + 1;
        }
    }
    return 0;
}

sal_status trace_all(sal_model *model, const trace_options *options, trace traces[METHODS],
                     sal_error *err)
{
    sal_status status = SAL_OK;
    for (int m = 0; m < METHODS; m++) {
        traces[m] = (trace){ 0 };
    }
    for (int m = 0; m < METHODS && status == SAL_OK; m++) {
        status = measure(model, options, m, &traces[m], err);
    }
    for (int m = 0; m < METHODS && status == SAL_OK; m++) {
        traces[m].arrival = find_arrival(&traces[m], options, traces[BARKER].mean);
    }
    return status;
}

void trace_free(trace traces[METHODS])
{
    for (int m = 0; m < METHODS; m++) {
        free(traces[m].path);
        free(traces[m].picture);
    }
}

void trace_print(const char *title, const trace traces[METHODS], const double *paper)
{
    printf("\n%s\n%-9s %8s  %8s %8s %8s  %8s  %10s  %9s\n", title, "", "arrival", "ESS(f)", "sd",
           "paper", "ESS(d)", "acceptance", "mean f");
    for (int m = 0; m < METHODS; m++) {
        const trace *t = &traces[m];
        char arrival[32] = "-", given[32] = "-";
        if (t->arrival > 0) {
            snprintf(arrival, sizeof arrival, "%d", (int)t->arrival);
        }
        if (paper) {
            snprintf(given, sizeof given, "%.2f", paper[m]);
        }
        printf("%-9s %8s  %8.2f %8.2f %8s  %8.2f  %10.3f  %9.2f\n", names[m], arrival, t->ess[0],
               t->ess_sd[0], given, t->ess[1], t->acceptance, t->mean);
    }
    fflush(stdout);
}

/* ---- panels */

/* `offset` of one of the arrays in a trace. */
static void draw_one(const char *title, const char *x_label, const char *y_label, double from,
                     double step, size_t offset, const trace traces[METHODS], sal_figure *figure)
{
    panel p = { .title = title,
                .x_label = x_label,
                .y_label = y_label,
                .points = TRACE_POINTS,
                .curves = METHODS };
    for (int m = 0; m < METHODS; m++) {
        const double *values = (const double *)((const char *)&traces[m] + offset);
        p.name[m] = names[m];
        for (int k = 0; k < TRACE_POINTS; k++) {
            p.x[k] = from + step * k;
            p.y[m][k] = values[k];
        }
    }
    panel_draw(&p, figure);
}

void trace_draw(int view, const char *title, const trace_options *o, const trace traces[METHODS],
                sal_figure *figure)
{
    double burn_in_step = (double)o->burn_in / TRACE_POINTS;
    double step = (double)o->iterations / TRACE_POINTS;
    if (view == BURN_IN) {
        draw_one(title, "iteration of burn-in", "mean f of chains", burn_in_step, burn_in_step,
                 offsetof(trace, burn_in), traces, figure);
    } else if (view == CORRELATION) {
        draw_one(title, "lag", "autocorrelation of f", 0, (double)o->lag,
                 offsetof(trace, correlation), traces, figure);
    } else if (view == MIXING) {
        draw_one(title, "iteration after burn-in", "f of a chain", 0, step, offsetof(trace, mixing),
                 traces, figure);
    } else {
        draw_one(title, "t", "g(t) / g(1)", trace_t(0), trace_t(1) - trace_t(0), offsetof(trace, g),
                 traces, figure);
    }
}

/* SPDX-License-Identifier: MIT */
