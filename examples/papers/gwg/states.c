#include "states.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void states_to_bytes(int64_t n, const int32_t *codes, uint8_t *bytes)
{
    for (int64_t k = 0; k < n; k++) {
        bytes[k] = (uint8_t)codes[k];
    }
}

sal_status states_at_end(sal_model *model, const sal_run_options *options, uint8_t *states,
                         sal_error *err)
{
    sal_run *run = NULL;
    int64_t chains, draws, V;
    sal_status status = sal_sample(model, options, &run, err);
    if (status != SAL_OK) {
        return status;
    }
    sal_run_size(run, &chains, &draws, &V);
    int32_t *codes = malloc((size_t)(chains * V) * sizeof *codes);
    status = codes ? sal_run_last(run, codes, err) : SAL_ERR_MEMORY;
    if (status == SAL_OK) {
        states_to_bytes(chains * V, codes, states);
    }
    free(codes);
    sal_run_destroy(run);
    return status;
}

/* Numbers of 53 bits by SplitMix64 (Steele, Lea & Flood 2014). */
static double uniform(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

void states_draw(int64_t rows, int64_t V, const double *p, uint64_t seed, int32_t *codes)
{
    for (int64_t k = 0; k < rows * V; k++) {
        codes[k] = uniform(&seed) < p[k % V];
    }
}

void states_normals(int64_t n, uint64_t seed, double *out)
{
    for (int64_t k = 0; k < n; k++) { /* Box & Muller 1958 */
        double r = sqrt(-2 * log(1 - uniform(&seed)));
        out[k] = r * cos(6.283185307179586 * uniform(&seed));
    }
}

const char *const estimator_names[ESTIMATORS] = { "U-statistic", "V-statistic" };

sal_status log10_mmd2(int64_t V, int64_t na, const uint8_t *a, int64_t nb, const uint8_t *b,
                      double out[ESTIMATORS], sal_error *err)
{
    static const sal_mmd_estimator estimators[ESTIMATORS] = { SAL_MMD_U, SAL_MMD_V };
    sal_status status = SAL_OK;
    for (int e = 0; e < ESTIMATORS && status == SAL_OK; e++) {
        double mmd2;
        status = sal_stats_mmd(V, na, a, nb, b, estimators[e], &mmd2, err);
        out[e] = status == SAL_OK ? log10(fmax(mmd2, 1e-4)) : NAN;
    }
    return status;
}

void panels_make(const panel *common, panel panels[ESTIMATORS])
{
    static char titles[ESTIMATORS][120];
    for (int e = 0; e < ESTIMATORS; e++) {
        panels[e] = *common;
        snprintf(titles[e], sizeof titles[e], "%s, %s", common->title, estimator_names[e]);
        panels[e].title = titles[e];
        panels[e].y_label = "log10 MMD^2";
    }
}

void panels_show(const panel panels[ESTIMATORS], sal_figure *figure)
{
    for (int e = 0; e < ESTIMATORS; e++) {
        panel_print(&panels[e]);
        panel_draw(&panels[e], figure);
    }
}

bool as_run(arguments *a)
{
    const bool is = a->files[0] && strcmp(a->files[0], "as-run") == 0;
    a->files += is;
    printf("settings as %s\n", is ? "run" : "printed");
    return is;
}

/* SPDX-License-Identifier: MIT */
