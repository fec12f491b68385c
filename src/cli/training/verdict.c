/* SPDX-License-Identifier: MIT */
/* A verdict as lines, and as JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/training/fresh.h"
#include "cli/json.h"
#include "stats/mmd.h"

static const char *const answers[] = { "unknown", "like", "unlike" };

/* The figures, in the order of sal_verdict_kind. */
static const struct {
    const char *key, *name;
    int decimals;
} figures[SAL_VERDICT_KINDS] = {
    { "log_prob", "mean f", 2 },
    { "means_correlation", "means' correlation", 3 },
    { "covariances_correlation", "covariances' correlation", 3 },
    { "mmd", "MMD", 4 },
};

static void set_value(json_t *object, const char *key, sal_verdict_value value)
{
    char error[64];
    snprintf(error, sizeof error, "%s_error", key);
    cli_json_number(object, key, value.value);
    cli_json_number(object, error, value.standard_error);
}

static json_t *figure_json(const sal_verdict_figure *f, bool with_test)
{
    json_t *object = json_object();
    set_value(object, "fresh", f->fresh);
    set_value(object, "persistent", f->persistent);
    set_value(object, "train", f->train);
    if (with_test) {
        set_value(object, "test", f->test);
        return object;
    }
    set_value(object, "shortfall", f->shortfall);
    cli_json_number(object, "margin", f->margin);
    json_object_set_new(object, "judged", json_boolean(f->judged));
    return object;
}

json_t *cli_verdict_json(const sal_verdict *v)
{
    char text[512];
    sal_verdict_sentence(v, text, sizeof text);
    json_t *log_z = json_object();
    set_value(log_z, "forward", v->forward);
    set_value(log_z, "reverse", v->reverse);
    set_value(log_z, "bennett", v->bennett);
    json_t *object =
        json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:o}", "verdict", answers[v->answer],
                  "sentence", text, "chains", (json_int_t)v->chains, "draws", (json_int_t)v->draws,
                  "persistent_rows", (json_int_t)v->persistent_rows, "train_rows",
                  (json_int_t)v->train_rows, "test_rows", (json_int_t)v->test_rows, "log_z", log_z);
    cli_json_number(object, "rhat", v->rhat);
    cli_json_number(object, "round_trips", v->round_trips);
    for (int k = 0; k < SAL_VERDICT_KINDS; k++) {
        json_object_set_new(object, figures[k].key,
                            figure_json(&v->figures[k], k == SAL_VERDICT_F));
    }
    return object;
}

/* "0.981 (0.004)", or a dash; of the MMD "below noise" too. */
static void print_value(sal_verdict_value value, int kind)
{
    const int decimals = figures[kind].decimals;
    char text[48] = "-";
    if (isfinite(value.value) && isfinite(value.standard_error)) {
        snprintf(text, sizeof text, "%.*f (%.*f)", decimals, value.value, decimals,
                 value.standard_error);
    } else if (isfinite(value.value) && kind == SAL_VERDICT_MMD) {
        sali_mmd_text(value.value, text);
    } else if (isfinite(value.value)) {
        snprintf(text, sizeof text, "%.*f", decimals, value.value);
    }
    printf(" %18s", text);
}

void cli_verdict_print(const sal_verdict *v)
{
    char text[512];
    printf("against held-out rows%*s %18s %18s %18s\n", 5, "", "fresh samples", "persistent chains",
           "training rows");
    for (int k = 0; k < SAL_VERDICT_KINDS; k++) {
        const sal_verdict_figure *f = &v->figures[k];
        printf("  %-24s", figures[k].name);
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
    if (!isnan(v->bennett.value)) {
        printf("  log Z by Bennett's ratio %.3f, standard error %.3f\n", v->bennett.value,
               v->bennett.standard_error);
    }
    sal_verdict_sentence(v, text, sizeof text);
    printf("%s\n", text);
}
