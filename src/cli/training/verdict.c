/* SPDX-License-Identifier: MIT */
#include "cli/training/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/pictures.h"
#include "cli/sheet.h"

/* ---- finding it */

static int show_progress(int64_t done, int64_t total, void *data)
{
    cli_progress_show(data, "fresh samples", done, total);
    return cli_interrupted();
}

/* Write some samples, evenly spaced, as a sheet of pictures of the data's size. */
static sal_status write_sheet(const sal_data *pictures, const char *path, const sal_verdict *v,
                              const uint8_t *samples, bool *written, sal_error *err)
{
    if (!path || pictures->height == 0) {
        return SAL_OK;
    }
    sal_status status = cli_sheet_codes(path, v->chains * v->draws, samples, pictures->height,
                                        pictures->width, err);
    *written = status == SAL_OK;
    return status == SAL_ERR_UNSUPPORTED ? SAL_OK : status;
}

sal_status cli_judge(sal_model *model, sal_verdict_inputs *inputs, const char *sheet,
                     sal_verdict *verdict, bool *judged, bool *written, sal_error *err)
{
    uint8_t *samples = NULL;
    cli_progress progress = cli_progress_begin();
    inputs->sampling.progress = show_progress;
    inputs->sampling.progress_data = &progress;
    sal_status status = sal_verdict_judge(model, inputs, verdict, &samples, err);
    cli_progress_end(&progress);
    if (status == SAL_ERR_UNSUPPORTED || status == SAL_ERR_MODEL || status == SAL_ERR_ARGUMENT) {
        fprintf(stderr, "saltus: no verdict: %s\n", err->message);
        return SAL_OK;
    }
    *judged = status == SAL_OK && !verdict->stopped;
    if (*judged) {
        status = write_sheet(inputs->train, sheet, verdict, samples, written, err);
    }
    sal_free(samples);
    return status;
}

/* ---- telling it */

double cli_mmd_of(double squared)
{
    return squared > 0 ? sqrt(squared) : isnan(squared) ? NAN : 0;
}

void cli_mmd_text(double mmd, char text[CLI_MMD_TEXT])
{
    snprintf(text, CLI_MMD_TEXT, mmd <= 0 ? "below noise" : "%.4f", mmd);
}

/* Names of the figures, in the order of sal_verdict_kind. */
static const struct {
    const char *name;
    int decimals;
} figures[SAL_VERDICT_KINDS] = {
    { "mean f", 2 },           { "means' correlation", 3 }, { "covariances' correlation", 3 },
    { "MMD, U-statistic", 4 }, { "told by neighbours", 3 },
};

json_t *cli_verdict_json(const sal_verdict *v)
{
    char *text = NULL;
    return sal_verdict_json(v, &text, NULL) == SAL_OK ? cli_json_take(text) : NULL;
}

/* Print "0.981 (0.004)", or a dash; for the MMD also "below noise". */
static void print_value(sal_verdict_value value, int kind)
{
    const int decimals = figures[kind].decimals;
    char text[48] = "-";
    if (isfinite(value.value) && isfinite(value.standard_error)) {
        snprintf(text, sizeof text, "%.*f (%.*f)", decimals, value.value, decimals,
                 value.standard_error);
    } else if (isfinite(value.value) && kind == SAL_VERDICT_MMD) {
        cli_mmd_text(value.value, text);
    } else if (isfinite(value.value)) {
        snprintf(text, sizeof text, "%.*f", decimals, value.value);
    }
    printf(" %18s", text);
}

void cli_verdict_print(const sal_verdict *v)
{
    char text[1024];
    printf("against held-out rows%*s %18s %18s %18s\n", 5, "", "fresh samples", "persistent chains",
           "training rows");
    for (int k = 0; k < SAL_VERDICT_KINDS; k++) {
        const sal_verdict_figure *f = &v->figures[k];
        printf("  %-24s",
               k == SAL_VERDICT_F && v->levels > 0 ? "mean f of level 0" : figures[k].name);
        print_value(f->fresh, k);
        print_value(f->persistent, k);
        print_value(f->train, k);
        if (k == SAL_VERDICT_F) {
            printf("  held out %.2f", f->test.value);
        }
        printf("\n");
    }
    printf("  %lld fresh chains of %lld draws, R-hat of f %.2f", (long long)v->chains,
           (long long)v->draws, v->rhat);
    if (!isnan(v->round_trips)) {
        printf(", %.1f round trips a chain", v->round_trips);
    }
    printf("\n");
    if (v->steps.judged) {
        char mmd[CLI_MMD_TEXT];
        cli_mmd_text(v->steps.fresh.value, mmd);
        printf("  MMD to as many samples with twice the steps at each level: %s%s\n", mmd,
               v->steps.differs ? ", so more steps change them" : "");
    }
    if (!isnan(v->bennett.value)) {
        printf("  log Z by Bennett's ratio %.3f, standard error %.3f\n", v->bennett.value,
               v->bennett.standard_error);
    }
    sal_verdict_sentence(v, text, sizeof text);
    printf("%s\n", text);
}
