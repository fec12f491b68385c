/* A panel of a figure: curves of several methods over common points x, printed as a table and drawn
 * as SVG. And the arguments that programs share. */
#ifndef PANEL_H
#define PANEL_H

#include <saltus/saltus.h>

enum { PANEL_CURVES = 10, PANEL_POINTS = 64 };

typedef struct panel {
    const char *title, *x_label, *y_label;
    const char *x_format, *y_format; /* of printf; NULL: "%g", "%.3f" */
    bool log_x;                      /* drawn over a logarithmic axis */
    int points, curves;
    double x[PANEL_POINTS];
    const char *name[PANEL_CURVES];
    double y[PANEL_CURVES][PANEL_POINTS];
    double sd[PANEL_CURVES][PANEL_POINTS]; /* 0: not shown */
    double x_of[PANEL_CURVES];             /* drawn at x_of x; 0: 1 */
} panel;

/* A row a point, a column a curve. */
void panel_print(const panel *panel);

/* Curves, with bands of one standard deviation, as a panel of `figure` (or NULL: nothing). */
void panel_draw(const panel *panel, sal_figure *figure);

/* ---- arguments */

typedef enum size { QUICK, USUAL, FULL } size;

typedef struct arguments {
    size size;       /* --quick, --full */
    const char *svg; /* --svg FILE, or NULL */
    char **files;    /* what is left, ends with NULL */
} arguments;

/* False after a message on stderr. `files` allowed: whether anything may be left. */
bool arguments_read(int argc, char **argv, bool files, arguments *arguments);

/* An empty figure if --svg was given; else *figure is NULL, and nothing is drawn. */
sal_status figure_begin(const arguments *arguments, const char *title, const char *caption,
                        sal_figure **figure, sal_error *err);

/* Write the figure if `status` is SAL_OK, destroy it, and say what failed; returns the exit code.
 */
int figure_finish(sal_figure *figure, sal_status status, const arguments *arguments,
                  sal_error *err);

/* Mean and standard deviation (divisor n - 1; of one value 0). */
double mean_of(int64_t n, const double *values, double *sd);

#endif
