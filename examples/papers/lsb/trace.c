/* SPDX-License-Identifier: MIT */
#include "trace.h"

#include <math.h>
#include <stdlib.h>
#include "autocorrelation.h"
#include "learned.h"

static const char *const names[METHODS] = { "t/(1+t)", "sqrt(t)", "min(1,t)", "max(1,t)",
                                            "LSB1",    "LSB2",    "LSB2x2" };

static const char *sampler_of(const trace_options *o, int method)
{
    static const char *const ready_made[] = { "lb:balance=barker", "lb:balance=sqrt",
                                              "lb:balance=min", "lb:balance=max" };
    return method < LSB1 ? ready_made[method] : method == LSB1 ? o->lsb1 : o->lsb2;
}

double trace_t(int point)
{
    return 0.1 * (point + 1);
}

/* ---- what is measured of a method */

typedef struct measurement {
    const trace_options *options;
    trace *out;
    int model;                  /* under way */
    int64_t steps;              /* of burn-in that are one iteration */
    int64_t n, total;           /* numbers of a chain's series, and chains of all models */
    double *series[STATISTICS]; /* [total x n] */
} measurement;

static void keep_picture(const sal_draw *draw, trace *out)
{
    out->picture = malloc((size_t)draw->variables);
    for (int64_t v = 0; out->picture && v < draw->variables; v++) {
        out->picture[v] = (uint8_t)draw->codes[v];
    }
}

static double sum_of(int64_t n, const int32_t *codes)
{
    double sum = 0;
    for (int64_t v = 0; v < n; v++) {
        sum += codes[v];
    }
    return sum;
}

static int note(const sal_draw *draw, void *data)
{
    const measurement *m = data;
    const trace_options *o = m->options;
    if (draw->warmup && (draw->index + 1) % m->steps != 0) {
        return 0;
    }
    int64_t iteration = draw->warmup ? draw->index / m->steps : o->burn_in + draw->index;
    for (int64_t c = 0; c < draw->chains; c++) {
        const double value[STATISTICS] = {
            draw->log_prob[c], sum_of(draw->variables, draw->codes + c * draw->variables)
        };
        for (int k = 0; k < STATISTICS; k++) {
            if (draw->warmup) {
                m->out->path[k][iteration] += value[k] / (double)m->total;
            } else {
                m->series[k][(m->model * o->chains + c) * m->n + draw->index] = value[k];
            }
        }
    }
    if (m->model == 0 && iteration + 1 == o->picture_at) {
        keep_picture(draw, m->out);
    }
    return 0;
}

/* The first model's run tells what was learned; shares of the figures are added up. */
static sal_status add_run(measurement *m, const sal_run *run, int method, sal_error *err)
{
    double t[TRACE_POINTS], one = 1, g_of_one;
    sal_run_summary s;
    sal_status status = sal_run_summarise(run, &s, err);
    if (status == SAL_OK) {
        m->out->ess_distance += 1000 * s.ess_per_step / m->options->models;
        m->out->acceptance += s.acceptance_rate / m->options->models;
    }
    for (int k = 0; k < TRACE_POINTS; k++) {
        t[k] = trace_t(k);
    }
    if (m->model == 0) {
        status = status ? status : balancing_function(run, method, 1, &one, &g_of_one, err);
        status = status ? status : balancing_function(run, method, TRACE_POINTS, t, m->out->g, err);
        for (int k = 0; status == SAL_OK && k < TRACE_POINTS; k++) {
            m->out->g[k] /= g_of_one;
        }
    }
    return status;
}

static sal_status run_model(measurement *m, int method, sal_error *err)
{
    const trace_options *o = m->options;
    sal_model *model = NULL;
    sal_run *run = NULL;
    sal_status status = o->open(o->data, m->model, &model, err);
    int64_t V = status == SAL_OK && o->init ? sal_space_variables(sal_model_space(model)) : 0;
    int32_t *init = V > 0 ? malloc((size_t)(o->chains * V) * sizeof *init) : NULL;
    status = status == SAL_OK && V > 0 && !init ? SAL_ERR_MEMORY : status;
    for (int64_t i = 0; init && i < o->chains * V; i++) {
        init[i] = o->init[i % V];
    }
    sal_run_options options = { .sampler = sampler_of(o, method),
                                .chains = o->chains,
                                .warmup = m->steps * o->burn_in,
                                .draws = o->iterations,
                                .seed = 1 + (uint64_t)m->model,
                                .threads = 1,
                                .init = init,
                                .callbacks = { .draw = note, .draw_data = m },
                                .record.warmup = true };
    if (method >= LSB1 || o->all_clamped) {
        options.clamps = o->evidence;
    }
    status = status ? status : sal_sample(model, &options, &run, err);
    status = status ? status : add_run(m, run, method, err);
    sal_run_destroy(run);
    sal_model_destroy(model);
    free(init);
    return status;
}

/* ---- what it says */

static sal_status ess_of_f(const measurement *m, sal_error *err)
{
    const int64_t n = m->options->iterations;
    sal_status status = SAL_OK;
    for (int64_t c = 0; c < m->total && status == SAL_OK; c++) {
        double ess;
        const double *f = m->series[OF_F] + c * m->n;
        status = sal_stats_ess_tfp(n, f, &ess, err);
        m->out->ess_f += status == SAL_OK ? 1000 * ess / (double)(n * m->total) : 0;
    }
    return status;
}

static sal_status summarise(const measurement *m, sal_error *err)
{
    const trace_options *o = m->options;
    const double *shown = m->series[o->statistic];
    trace *out = m->out;
    double sd;
    for (int k = 0; k < TRACE_POINTS; k++) {
        out->burn_in[k] = out->path[o->statistic][(k + 1) * o->burn_in / TRACE_POINTS - 1];
        out->mixing[k] = shown[k * o->iterations / TRACE_POINTS];
    }
    for (int k = 0; k < STATISTICS; k++) {
        for (int64_t c = 0; c < m->total; c++) {
            out->mean[k] += mean_of(o->iterations, m->series[k] + c * m->n, &sd) / (double)m->total;
        }
    }
    double *ess = malloc((size_t)m->total * sizeof *ess);
    sal_status status = ess ? SAL_OK : SAL_ERR_MEMORY;
    if (status == SAL_OK) {
        autocorrelations(m->total, m->n, shown, TRACE_POINTS, o->lag, out->correlation);
        for (int64_t c = 0; c < m->total; c++) {
            ess[c] = ess_of_program(m->n, m->series[OF_SUM] + c * m->n, o->lags);
        }
        out->ess_program = mean_of(m->total, ess, &out->ess_program_sd);
        status = ess_of_f(m, err);
    }
    free(ess);
    return status;
}

static sal_status measure(const trace_options *o, int method, trace *out, sal_error *err)
{
    measurement m = { .options = o,
                      .out = out,
                      .steps = method == LSB2_TWICE ? 2 : 1,
                      .n = o->iterations,
                      .total = o->models * o->chains };
    sal_status status = SAL_OK;
    for (int k = 0; k < STATISTICS; k++) {
        out->path[k] = calloc((size_t)o->burn_in, sizeof *out->path[k]);
        m.series[k] = malloc((size_t)(m.total * m.n) * sizeof *m.series[k]);
        status = out->path[k] && m.series[k] ? status : SAL_ERR_MEMORY;
    }
    for (; status == SAL_OK && m.model < o->models; m.model++) {
        status = run_model(&m, method, err);
    }
    status = status ? status : summarise(&m, err);
    for (int k = 0; k < STATISTICS; k++) {
        free(m.series[k]);
    }
    return status;
}

/* See trace_print; 0: never. */
static int64_t find_arrival(const double *path, int64_t n, double mean)
{
    for (int64_t k = 0; k < n; k++) {
        if ((path[k] - path[0]) / (mean - path[0]) >= 0.95) {
            return k + 1;
        }
    }
    return 0;
}

sal_status trace_all(const trace_options *options, trace traces[METHODS], sal_error *err)
{
    sal_status status = SAL_OK;
    for (int m = 0; m < METHODS; m++) {
        traces[m] = (trace){ 0 };
    }
    for (int m = 0; m < METHODS && status == SAL_OK; m++) {
        status = measure(options, m, &traces[m], err);
    }
    bool alike = options->all_clamped || options->evidence.n == 0;
    for (int m = 0; m < METHODS && status == SAL_OK; m++) {
        const trace *judge = &traces[alike || m < LSB1 ? BARKER : LSB1];
        for (int k = 0; k < STATISTICS; k++) {
            traces[m].arrival[k] =
                find_arrival(traces[m].path[k], options->burn_in, judge->mean[k]);
        }
    }
    return status;
}

void trace_free(trace traces[METHODS])
{
    for (int m = 0; m < METHODS; m++) {
        for (int k = 0; k < STATISTICS; k++) {
            free(traces[m].path[k]);
        }
        free(traces[m].picture);
    }
}

void trace_print(const char *title, const trace traces[METHODS], const double *paper)
{
    printf("\n%s\n%-9s %8s %8s  %8s %6s %6s  %7s %7s  %10s  %9s\n", title, "", "arrival", "by sum",
           "ESS", "sd", "paper", "ESS(f)", "ESS(d)", "acceptance", "mean f");
    for (int m = 0; m < METHODS; m++) {
        const trace *t = &traces[m];
        char arrival[STATISTICS][32] = { "-", "-" }, given[32] = "-";
        for (int k = 0; k < STATISTICS; k++) {
            if (t->arrival[k] > 0) {
                snprintf(arrival[k], sizeof arrival[k], "%d", (int)t->arrival[k]);
            }
        }
        if (paper) {
            snprintf(given, sizeof given, "%.2f", paper[m < LSB2_TWICE ? m : LSB2]);
        }
        printf("%-9s %8s %8s  %8.2f %6.2f %6s  %7.2f %7.2f  %10.3f  %9.2f\n", names[m],
               arrival[OF_F], arrival[OF_SUM], t->ess_program, t->ess_program_sd, given, t->ess_f,
               t->ess_distance, t->acceptance, t->mean[OF_F]);
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
    static const char *const labels[VIEWS - 1][STATISTICS] = {
        [BURN_IN] = { "mean f of chains", "mean sum of codes" },
        [CORRELATION] = { "autocorrelation of f", "autocorrelation of the sum" },
        [MIXING] = { "f of a chain", "sum of codes, a chain" },
    };
    double burn_in_step = (double)o->burn_in / TRACE_POINTS;
    double step = (double)o->iterations / TRACE_POINTS;
    if (view == BURN_IN) {
        draw_one(title, "iteration of burn-in", labels[view][o->statistic], burn_in_step,
                 burn_in_step, offsetof(trace, burn_in), traces, figure);
    } else if (view == CORRELATION) {
        draw_one(title, "lag", labels[view][o->statistic], 0, (double)o->lag,
                 offsetof(trace, correlation), traces, figure);
    } else if (view == MIXING) {
        draw_one(title, "iteration after burn-in", labels[view][o->statistic], 0, step,
                 offsetof(trace, mixing), traces, figure);
    } else {
        draw_one(title, "t", "g(t) / g(1)", trace_t(0), trace_t(1) - trace_t(0), offsetof(trace, g),
                 traces, figure);
    }
}
