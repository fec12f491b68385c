/* SPDX-License-Identifier: MIT */
/* The verdict on a trained model: verdict.json of its directory. */
#include <jansson.h>
#include <string.h>

#include "io/json_text.h"
#include "report/report.h"
#include "stats/mmd.h"

/* A table cell; an MMD of 0 is written as "below noise". */
static void put_value(sali_page *page, const char *figure, double value, int digits)
{
    if (value == 0 && strcmp(figure, "mmd") == 0) {
        char text[SALI_MMD_TEXT];
        sali_mmd_text(value, text);
        sali_put(&page->w, "<td>%s</td>", text);
    } else {
        sali_page_number(page, value, digits);
    }
}

/* The table of the verdict's figures: fresh samples, persistent chains and training rows against
 * held-out rows. */
static void put_figures(sali_page *page, const json_t *root)
{
    static const struct {
        const char *key, *title;
        int digits;
    } figures[] = { { "log_prob", "mean f", 5 },
                    { "means_correlation", "correlation of means", 3 },
                    { "covariances_correlation", "correlation of covariances", 3 },
                    { "mmd", "MMD (U-statistic)", 3 } };
    static const sali_column columns[] = {
        { "against held-out rows", 0 }, { "fresh samples", 3 },  { "standard error", 2 },
        { "persistent chains", 3 },     { "standard error", 2 }, { "training rows", 3 },
        { "standard error", 2 }
    };
    static const char *const keys[] = { "fresh", "fresh_error", "persistent", "persistent_error",
                                        "train", "train_error" };
    sali_page_table(page,
                    "Fresh samples are drawn from the model from scratch; as many training "
                    "rows show what a perfect model would reach",
                    7, columns);
    for (size_t k = 0; k < sizeof figures / sizeof *figures; k++) {
        const json_t *figure = json_object_get(root, figures[k].key);
        sali_put(&page->w, "<tr><td>%s</td>", figures[k].title);
        for (int c = 0; c < 6; c++) {
            put_value(page, figures[k].key, sali_json_number(figure, keys[c]),
                      c % 2 ? 2 : figures[k].digits);
        }
        sali_put_raw(&page->w, "</tr>");
    }
    sali_put_raw(&page->w, SALI_TABLE_END);
}

sal_status sali_report_verdict(sali_page *page, const char *directory, sal_error *err)
{
    json_t *root = NULL;
    sal_status status = sali_report_json(directory, "verdict.json", "sentence",
                                         "the verdict on a training", &root, err);
    const char *sentence = json_string_value(json_object_get(root, "sentence"));
    if (root) {
        sali_page_paragraph(page, "%s", sentence ? sentence : "");
        put_figures(page, root);
    } else if (status == SAL_OK) {
        sali_page_paragraph(page, "Not judged: the training has drawn no fresh samples of the "
                                  "model to compare with held-out rows. 'saltus evaluate' would.");
    }
    json_decref(root);
    return status;
}
