/* SPDX-License-Identifier: MIT */
/* Figures of the steps of a run: acceptance, jumps, step sizes. */
#include <math.h>

#include "report/report.h"

#define BINS 120

/* A curve in BINS stretches of draws: the mean over the chains, and the lowest and highest
 * chain. */
typedef struct binned {
    int64_t n;
    double x[BINS], mean[BINS], low[BINS], high[BINS];
} binned;

static double stretch_mean(const double *values, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += values[i];
    }
    return sum / (double)n;
}

/* Average values [chains x n] over stretches of draws; a stretch is one draw if n <= BINS. */
static void make_bins(int64_t chains, int64_t n, const double *values, binned *out)
{
    out->n = n < BINS ? n : BINS;
    for (int64_t b = 0; b < out->n; b++) {
        int64_t begin = b * n / out->n, end = (b + 1) * n / out->n;
        out->x[b] = (double)(begin + end - 1) / 2;
        out->mean[b] = 0;
        out->low[b] = INFINITY;
        out->high[b] = -INFINITY;
        for (int64_t c = 0; c < chains; c++) {
            double mean = stretch_mean(values + c * n + begin, end - begin);
            out->mean[b] += mean / (double)chains;
            out->low[b] = fmin(out->low[b], mean);
            out->high[b] = fmax(out->high[b], mean);
        }
    }
}

/* A figure of values [chains x n] against the draw: the mean over the chains and the range of
 * chains. */
static void put_figure(sali_page *page, const char *title, const char *label, int64_t chains,
                       int64_t n, const double *values, bool logarithmic)
{
    binned bins = { 0 };
    sal_panel panel = { .title = title,
                        .x = { .label = "draw" },
                        .y = { .label = label, .logarithmic = logarithmic } };
    sal_figure *figure = sali_report_figure(&panel);
    make_bins(chains, n, values, &bins);
    sal_figure_series(
        figure, &(sal_series){
                    .n = bins.n, .x = bins.x, .y = bins.mean, .low = bins.low, .high = bins.high });
    sali_page_figure(page, figure,
                     "%s: mean over the chains, and from the lowest chain to the "
                     "highest%s.",
                     title, bins.n < n ? ", over stretches of draws" : "");
}

/* Whether a step size was recorded and changes. */
static bool step_varies(const double *values, int64_t n)
{
    for (int64_t i = 1; values && i < n; i++) {
        if (values[i] != values[0] && values[i] > 0) {
            return true;
        }
    }
    return false;
}

void sali_report_steps(sali_page *page, const sali_run_record *run)
{
    static const struct {
        const char *title, *label;
        int noted;
        bool warmup, size; /* step sizes are shown if they change, on a logarithmic axis */
    } figures[] = { { "Acceptance", "acceptance rate", SALI_NOTED_ACCEPTANCE, false, false },
                    { "Jump distance a draw", "L1 distance", SALI_NOTED_JUMP, false, false },
                    { "Step size in warm-up", "step size", SALI_NOTED_STEP_SIZE, true, true },
                    { "Step size", "step size", SALI_NOTED_STEP_SIZE, false, true } };
    for (size_t k = 0; k < sizeof figures / sizeof *figures; k++) {
        int64_t n = figures[k].warmup ? run->n_warmup : run->n_draws;
        const double *values =
            (figures[k].warmup ? run->warmup_noted : run->noted)[figures[k].noted];
        if (figures[k].size ? step_varies(values, run->chains * n) : values != NULL) {
            put_figure(page, figures[k].title, figures[k].label, run->chains, n, values,
                       figures[k].size);
        }
    }
}
