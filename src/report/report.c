/* SPDX-License-Identifier: MIT */
/* The page as a whole. */
#include "report/report.h"

#include <sys/stat.h>
#include <string.h>

#include "io/format.h"

sal_figure *sali_report_figure(const sal_panel *panel)
{
    sal_figure *figure = NULL;
    sal_figure_options options = { .title = panel->title };
    if (sal_figure_create(&options, &figure, NULL) == SAL_OK) {
        sal_figure_panel(figure, panel);
    }
    return figure;
}

/* Write section k from a file or directory: draws of a run, a comparison of samplers, or a
 * training. */
static sal_status write_section(sali_page *page, int64_t k, const char *path,
                                const sal_report_options *options, sal_error *err)
{
    struct stat there;
    if (stat(path, &there) == 0 && S_ISDIR(there.st_mode)) {
        return sali_report_training(page, k, path, err);
    }
    if (sali_format_has_suffix(&sali_format_netcdf, path) ||
        sali_format_has_suffix(&sali_format_npy, path)) {
        return sali_report_run(page, k, path, options, err);
    }
    return sali_report_compare(page, k, path, err);
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

sal_status sal_report_write(int64_t n, const char *const *paths, const sal_report_options *options,
                            const char *out, sal_error *err)
{
    const sal_report_options usual = { 0 };
    char title[512];
    sali_page page;
    snprintf(title, sizeof title, "Report on %s", n == 1 ? file_name(paths[0]) : "several files");
    sali_page_begin(&page, out, title, n, paths, err);
    for (int64_t k = 0; k < n && page.w.status == SAL_OK; k++) {
        sal_status status = write_section(&page, k + 1, paths[k], options ? options : &usual, err);
        page.w.status = page.w.status ? page.w.status : status;
    }
    return sali_page_end(&page);
}
