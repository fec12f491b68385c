#include "panel.h"

#include <math.h>
#include <stdio.h>

enum { FEW = 16 }; /* points that have markers */

void panel_print(const panel *p)
{
    printf("\n%s\n%s over %s\n%12s", p->title, p->y_label, p->x_label, "");
    for (int c = 0; c < p->curves; c++) {
        printf("  %14s", p->name[c]);
    }
    for (int k = 0; k < p->points; k++) {
        char text[64];
        snprintf(text, sizeof text, p->x_format ? p->x_format : "%g", p->x[k]);
        printf("\n%12s", text);
        for (int c = 0; c < p->curves; c++) {
            int n = snprintf(text, sizeof text, p->y_format ? p->y_format : "%.3f", p->y[c][k]);
            if (p->sd[c][k] > 0) {
                snprintf(text + n, sizeof text - (size_t)n, " (%.2g)", p->sd[c][k]);
            }
            printf("  %14s", text);
        }
    }
    printf("\n");
    fflush(stdout);
}

void panel_draw(const panel *p, sal_figure *figure)
{
    if (!figure) {
        return;
    }
    double x[PANEL_POINTS], low[PANEL_POINTS], high[PANEL_POINTS];
    sal_figure_panel(figure, &(sal_panel){ .title = p->title,
                                           .x = { .label = p->x_label, .logarithmic = p->log_x },
                                           .y = { .label = p->y_label,
                                                  .logarithmic = p->log_y,
                                                  .low = p->y_low,
                                                  .high = p->y_high } });
    for (int c = 0; c < p->curves; c++) {
        bool spread = false;
        for (int k = 0; k < p->points; k++) {
            spread |= p->sd[c][k] > 0;
            x[k] = p->x[k] * (p->x_of[c] > 0 ? p->x_of[c] : 1);
            low[k] = p->y[c][k] - p->sd[c][k];
            high[k] = p->y[c][k] + p->sd[c][k];
        }
        sal_figure_series(figure,
                          &(sal_series){ .name = p->name[c],
                                         .mark = p->points > FEW ? SAL_MARK_LINE : SAL_MARK_BOTH,
                                         .n = p->points,
                                         .x = x,
                                         .y = p->y[c],
                                         .low = spread ? low : NULL,
                                         .high = spread ? high : NULL });
    }
}

double mean_of(int64_t n, const double *values, double *sd)
{
    double sum = 0, square = 0;
    for (int64_t k = 0; k < n; k++) {
        sum += values[k];
    }
    for (int64_t k = 0; k < n; k++) {
        square += (values[k] - sum / (double)n) * (values[k] - sum / (double)n);
    }
    *sd = n > 1 ? sqrt(square / (double)(n - 1)) : 0;
    return sum / (double)n;
}

/* SPDX-License-Identifier: MIT */
