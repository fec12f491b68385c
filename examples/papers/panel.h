/* A panel of a figure: curves of several methods over common points x, printed as a table and drawn
 * as SVG. */
#ifndef PANEL_H
#define PANEL_H

#include <saltus/figure.h>
#include <saltus/saltus.h>

enum { PANEL_CURVES = 10, PANEL_POINTS = 64 };

typedef struct panel {
    const char *title, *x_label, *y_label;
    const char *x_format, *y_format; /* of printf; NULL: "%g", "%.3f" */
    bool log_x, log_y;               /* drawn on logarithmic axes */
    double y_low, y_high;            /* of the axis drawn; both 0: from the data */
    int points, curves;
    double x[PANEL_POINTS];
    const char *name[PANEL_CURVES];
    double y[PANEL_CURVES][PANEL_POINTS];
    double sd[PANEL_CURVES][PANEL_POINTS]; /* 0: not shown */
    double x_of[PANEL_CURVES];             /* drawn at x_of x; 0: 1 */
} panel;

/* A row a point, a column a curve. */
void panel_print(const panel *panel);

/* Curves as a panel of `figure` (or NULL: nothing): of few points with markers and error
 * bars of one standard deviation, else with bands. */
void panel_draw(const panel *panel, sal_figure *figure);

/* Mean and standard deviation (divisor n - 1; of one value 0). */
double mean_of(int64_t n, const double *values, double *sd);

#endif

/* SPDX-License-Identifier: MIT */
