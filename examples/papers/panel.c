#include "panel.h"

#include <math.h>
#include <string.h>

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
                                           .y = { .label = p->y_label } });
    for (int c = 0; c < p->curves; c++) {
        for (int k = 0; k < p->points; k++) {
            x[k] = p->x[k] * (p->x_of[c] > 0 ? p->x_of[c] : 1);
            low[k] = p->y[c][k] - p->sd[c][k];
            high[k] = p->y[c][k] + p->sd[c][k];
        }
        sal_figure_series(figure, &(sal_series){ .name = p->name[c],
                                                 .n = p->points,
                                                 .x = x,
                                                 .y = p->y[c],
                                                 .low = low,
                                                 .high = high });
    }
}

bool arguments_read(int argc, char **argv, bool files, arguments *a)
{
    *a = (arguments){ .size = USUAL };
    int k = 1;
    for (; k < argc && strncmp(argv[k], "--", 2) == 0; k++) {
        if (strcmp(argv[k], "--quick") == 0 || strcmp(argv[k], "--full") == 0) {
            a->size = argv[k][2] == 'q' ? QUICK : FULL;
        } else if (strcmp(argv[k], "--svg") == 0 && k + 1 < argc) {
            a->svg = argv[++k];
        } else {
            break;
        }
    }
    a->files = argv + k;
    if (k < argc && (!files || argv[k][0] == '-')) {
        fprintf(stderr, "usage: %s [--quick | --full] [--svg FIGURE.svg]%s\n", argv[0],
                files ? " [FILE ..]" : "");
        return false;
    }
    return true;
}

sal_status figure_begin(const arguments *a, const char *title, const char *caption,
                        sal_figure **figure, sal_error *err)
{
    const sal_figure_options o = { .title = title, .caption = caption };
    *figure = NULL;
    return a->svg ? sal_figure_create(&o, figure, err) : SAL_OK;
}

int figure_finish(sal_figure *figure, sal_status status, const arguments *a, sal_error *err)
{
    if (status == SAL_OK && figure) {
        status = sal_figure_write(figure, a->svg, err);
    }
    if (status != SAL_OK) {
        fprintf(stderr, "%s\n", status == SAL_ERR_MEMORY ? "out of memory" : err->message);
    }
    sal_figure_destroy(figure);
    return status != SAL_OK;
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
