/* SPDX-License-Identifier: MIT */
/* Figures: what is in the file, and where. The SVG is read back by libxml2. */
#include "temp_dir.h"

#include <math.h>
#include <locale.h>

#include <saltus/figure.h>
#include <saltus/saltus.h>
#include "alloc_fail.h"
#include "figure/figure.h"
#include "xpath.h"

/* ---- figures to look at */

static sal_figure *new_figure(void)
{
    sal_figure *figure = NULL;
    sal_error err = { 0 };
    sal_figure_options options = { .title = "figure", .panel_width = 300, .panel_height = 200 };
    ck_ok(sal_figure_create(&options, &figure, &err), &err);
    return figure;
}

/* Write, parse and destroy. */
static void reread(sal_figure *figure)
{
    sal_error err = { 0 };
    ck_ok(sal_figure_write(figure, temp_path("a.svg"), &err), &err);
    sal_figure_destroy(figure);
    xmlFreeDoc(document);
    document = xmlReadFile(temp_path("a.svg"), NULL, XML_PARSE_NONET);
    ck_assert_msg(document != NULL, "not well-formed");
}

static void forget(void)
{
    xmlFreeDoc(document);
    document = NULL;
    xmlCleanupParser();
    temp_dir_remove();
}

/* The box of the first panel. */
typedef struct box {
    double x, y, width, height;
} box;

static box panel_box(void)
{
    return (box){ number("//s:rect[@class='axis']/@x"), number("//s:rect[@class='axis']/@y"),
                  number("//s:rect[@class='axis']/@width"),
                  number("//s:rect[@class='axis']/@height") };
}

static void ck_path(const char *expression, const char *want)
{
    ck_assert_str_eq(string(expression), want);
}

/* ---- */

START_TEST(points_lie_where_the_axes_say)
{
    sal_figure *figure = new_figure();
    double x[] = { 0, 5, 10 }, y[] = { -1, 1, 0 };
    sal_figure_panel(figure,
                     &(sal_panel){ .x = { .low = 0, .high = 10 }, .y = { .low = -1, .high = 1 } });
    sal_figure_series(figure, &(sal_series){ .n = 3, .x = x, .y = y });
    reread(figure);
    box b = panel_box();
    ck_assert(b.width == 300 && b.height == 200);
    char want[200];
    snprintf(want, sizeof want, "M%g,%gL%g,%gL%g,%g", b.x, b.y + 200, b.x + 150, b.y, b.x + 300,
             b.y + 100);
    ck_path("//s:path[@class='line']/@d", want);
    /* The tick called 5 is below the second point, that called −0.5 at a quarter. */
    ck_assert_double_eq(number("//s:text[.='6']/@x"), b.x + 180);
    ck_assert_double_eq(number("//s:text[.='−0.5']/@y"), b.y + 150 + 4);
    ck_assert_str_eq(string("//s:text[.='−0.5']/@text-anchor"), "end");
}
END_TEST

START_TEST(logarithmic_axes_are_even_in_powers)
{
    sal_figure *figure = new_figure();
    double x[] = { 1e-6, 1e-4, 0, -1, 1e-2 }, y[] = { 1, 10, 5, 5, 100 };
    sal_figure_panel(figure, &(sal_panel){ .x = { .logarithmic = true, .low = 1e-6, .high = 1e-2 },
                                           .y = { .logarithmic = true, .low = 1, .high = 100 } });
    sal_figure_series(figure, &(sal_series){ .n = 5, .x = x, .y = y });
    reread(figure);
    box b = panel_box();
    char want[200];
    snprintf(want, sizeof want, "M%g,%gL%g,%gM%g,%gh0", b.x, b.y + 200, b.x + 150, b.y + 100,
             b.x + 300, b.y);
    ck_path("//s:path[@class='line']/@d", want);
    ck_assert_double_eq(number("//s:text[.='10⁻⁴']/@x"), b.x + 150);
    ck_assert_double_eq(number("//s:text[.='10⁻²']/@x"), b.x + 300);
    ck_assert_double_eq(number("//s:text[.='10']/@y"), b.y + 104);
}
END_TEST

START_TEST(labels_are_escaped_and_repaired)
{
    sal_figure *figure = NULL;
    sal_error err = { 0 };
    sal_figure_options options = { .title = "a < b & \"c\" </title>",
                                   .caption = "caption\ttwo\nlines",
                                   .description = "what is \xff seen" };
    ck_ok(sal_figure_create(&options, &figure, &err), &err);
    const char *names[] = { "<x>", "]]>", NULL };
    sal_figure_panel(
        figure, &(sal_panel){ .title = "bell \a",
                              .x = { .categories = names, .n_categories = 3, .label = "s′ [θ]" } });
    sal_figure_series(figure, &(sal_series){ .name = "<&>", .n = 1, .y = (double[]){ 1 } });
    reread(figure);
    ck_assert_str_eq(string("/s:svg/s:title"), "a < b & \"c\" </title>");
    ck_assert_str_eq(string("/s:svg/s:desc"), "what is \xef\xbf\xbd seen");
    ck_assert_str_eq(string("//s:text[@class='main']"), "a < b & \"c\" </title>");
    ck_assert_double_eq(number("count(//s:text[.='caption two lines'])"), 1);
    ck_assert_double_eq(number("count(//s:text[.='bell \xef\xbf\xbd'])"), 1);
    ck_assert_double_eq(number("count(//s:text[.='<x>' or .=']]>' or .='<&>' or .='s′ [θ]'])"), 4);
    ck_assert_str_eq(string("/s:svg/@aria-labelledby"), "figure-title figure-desc");
    ck_assert_double_eq(number("count(//s:script)"), 0);
}
END_TEST

START_TEST(gaps_break_lines_and_bands)
{
    sal_figure *figure = new_figure();
    double y[] = { 0, 1, NAN, 1, 0, INFINITY, 0.5 };
    double low[] = { 0, 0, 0, 0, 0, 0, 0 }, high[] = { 1, 1, 1, 1, NAN, 1, 1 };
    sal_figure_panel(figure,
                     &(sal_panel){ .x = { .low = 0, .high = 6 }, .y = { .low = 0, .high = 1 } });
    sal_figure_series(figure, &(sal_series){ .n = 7, .y = y, .low = low, .high = high });
    reread(figure);
    box b = panel_box();
    char want[300];
    snprintf(want, sizeof want, "M%g,%gL%g,%gM%g,%gL%g,%gM%g,%gh0", b.x, b.y + 200, b.x + 50, b.y,
             b.x + 150, b.y, b.x + 200, b.y + 200, b.x + 300, b.y + 100);
    ck_path("//s:path[@class='line']/@d", want);
    snprintf(want, sizeof want, "M%g,%gL%g,%gL%g,%gL%g,%gL%g,%gL%g,%gL%g,%gL%g,%gZ", b.x, b.y,
             b.x + 50, b.y, b.x + 100, b.y, b.x + 150, b.y, b.x + 150, b.y + 200, b.x + 100,
             b.y + 200, b.x + 50, b.y + 200, b.x, b.y + 200);
    ck_assert_msg(strncmp(string("//s:path[@class='band']/@d"), want, strlen(want)) == 0, "%s",
                  string("//s:path[@class='band']/@d"));
}
END_TEST

/* Digits of the longest number before its point, in the attributes of the file. */
static int longest_number(void)
{
    int longest = 0, digits = 0;
    FILE *file = fopen(temp_path("a.svg"), "r");
    ck_assert_ptr_nonnull(file);
    for (int c = fgetc(file); c != EOF; c = fgetc(file)) {
        digits = c >= '0' && c <= '9' ? digits + 1 : 0;
        longest = digits > longest ? digits : longest;
    }
    fclose(file);
    return longest;
}

START_TEST(odd_data_are_survived)
{
    static const double series[][3] = { { 0, 0, 0 },
                                        { 7, 7, 7 },
                                        { NAN, NAN, NAN },
                                        { INFINITY, -INFINITY, INFINITY },
                                        { -1.7e308, 1.7e308, 0 },
                                        { 5e-324, 1e-323, 0 },
                                        { 1e15, 1e15 + 1, 1e15 + 2 },
                                        { 1, 1 + 2e-16, 1 },
                                        { 1e-300, 1e300, 1 },
                                        { 1.1e308, 1.7e308, 5e-324 },
                                        { 1e-322, 1.04e-322, 1e-322 } };
    for (size_t i = 0; i < sizeof series / sizeof *series; i++) {
        for (int log = 0; log < 2; log++) {
            sal_figure *figure = new_figure();
            for (int mark = SAL_MARK_LINE; mark <= SAL_MARK_BARS; mark++) {
                sal_figure_panel(figure,
                                 &(sal_panel){ .x.logarithmic = log, .y.logarithmic = log });
                sal_figure_series(figure, &(sal_series){ .mark = (sal_mark)mark,
                                                         .n = 3,
                                                         .x = series[i],
                                                         .y = series[i],
                                                         .low = series[i],
                                                         .high = series[i] });
            }
            sal_figure_panel(figure,
                             &(sal_panel){ .heatmap = &(sal_heatmap){ .rows = 1,
                                                                      .columns = 3,
                                                                      .values = series[i],
                                                                      .logarithmic = log } });
            sal_figure_panel(figure, NULL);
            sal_figure_series(figure, &(sal_series){ .n = 0, .y = NULL });
            reread(figure);
            ck_assert_double_eq(number("count(//@*[contains(., 'nan') or contains(., 'inf')])"), 0);
            ck_assert_double_eq(number("count(//@*[contains(., '00000000000')])"), 0);
            ck_assert_double_eq(number("count(//s:clipPath)"), 7);
            ck_assert_int_lt(longest_number(), 8);
        }
    }
}
END_TEST

/* Panels lie farther from the corner of the figure than anything may from its panel. */
START_TEST(large_figures_keep_their_places)
{
    enum { PANELS = 150 };
    static const double one[2] = { 1, 2 };
    for (int64_t columns = 1; columns <= 100; columns += 99) {
        sal_figure *figure = NULL;
        sal_error err = { 0 };
        sal_figure_options options = { .columns = columns,
                                       .panel_width = 400,
                                       .panel_height = 250 };
        ck_ok(sal_figure_create(&options, &figure, &err), &err);
        for (int k = 0; k < PANELS; k++) {
            sal_figure_panel(figure, &(sal_panel){ .x = { .low = 1, .high = 2 } });
            sal_figure_series(
                figure, &(sal_series){ .name = "s", .mark = SAL_MARK_BOTH, .n = 2, .y = one });
        }
        reread(figure);
        int last = columns == 1 ? PANELS : (int)columns;
        char axes[80], want[80], line[160];
        snprintf(axes, sizeof axes, "//s:g[s:clipPath/@id='figure-panel-%d']", last);
        snprintf(line, sizeof line, "%s/s:rect[@class='axis']/@%s", axes, columns == 1 ? "y" : "x");
        ck_assert_double_gt(number(line), 30000);
        snprintf(line, sizeof line, "string(%s/s:rect[@class='axis']/@x)", axes);
        snprintf(want, sizeof want, "L%s,", string(line)); /* the second point is at x = 1 */
        snprintf(line, sizeof line, "%s/s:g[@clip-path]//s:path[@class='line']/@d", axes);
        ck_assert_msg(strstr(string(line), want) != NULL, "%s: %s", want, string(line));
        snprintf(line, sizeof line, "%s/s:g[not(@clip-path)]/s:path[@class='marker']/@d", axes);
        ck_assert_msg(*string(line) == 'M', "no marker in the legend");
    }
}
END_TEST

/* A line breaks after 1000 bytes at the latest, between letters. */
START_TEST(long_lines_are_broken_between_letters)
{
    char title[3 * 4000 + 2] = "a"; /* so that 1000 bytes end within a letter */
    sal_figure *figure = NULL;
    sal_error err = { 0 };
    for (int k = 0; k < 4000; k++) {
        strcpy(title + 1 + 3 * k, "∈");
    }
    sal_figure_options options = { .title = title, .panel_width = 4000 };
    ck_ok(sal_figure_create(&options, &figure, &err), &err);
    sal_figure_panel(figure, NULL);
    reread(figure);
    ck_assert_double_ge(number("count(//s:text[@class='main'])"), 12);
    double letters = 0;
    for (int k = 1; k <= (int)number("count(//s:text[@class='main'])"); k++) {
        char line[80];
        snprintf(line, sizeof line, "string-length(//s:text[@class='main'][%d])", k);
        letters += number(line);
    }
    ck_assert_double_eq(letters, 4001);
    ck_assert_double_gt(number("//s:rect[@class='axis']/@y"),
                        16 * number("count(//s:text[@class='main'])"));
}
END_TEST

/* The limits of the axes show a part of the map: cells stay where they are. */
START_TEST(cells_are_cut_by_the_axes)
{
    static double values[200];
    sal_figure *figure = new_figure();
    double x, y, wide, high;
    for (int k = 0; k < 200; k++) {
        values[k] = k;
    }
    sal_figure_panel(figure, &(sal_panel){ .x = { .low = 99.5, .high = 100.5 },
                                           .heatmap = &(sal_heatmap){
                                               .rows = 1, .columns = 200, .values = values } });
    reread(figure);
    box b = panel_box();
    const char *transform = string("//s:g[@shape-rendering]/@transform");
    ck_assert_int_eq(sscanf(transform, "translate(%lf,%lf) scale(%lf,%lf)", &x, &y, &wide, &high),
                     4);
    ck_assert_double_eq_tol(wide, b.width, 1e-3);
    ck_assert_double_eq_tol(x + 100 * wide, b.x, 1e-2);
    ck_assert_double_eq_tol(high, b.height, 1e-3);
}
END_TEST

START_TEST(empty_panels_say_so)
{
    sal_figure *figure = new_figure();
    sal_figure_panel(figure, NULL);
    sal_figure_series(figure, &(sal_series){ .n = 2, .y = (double[]){ NAN, INFINITY } });
    reread(figure);
    ck_assert_double_eq(number("count(//s:text[.='nothing to show'])"), 1);
}
END_TEST

/* Of 10^5 points each pixel column keeps its extremes. */
START_TEST(thinned_lines_keep_their_peaks)
{
    enum { N = 100000 };
    static double y[N];
    for (int i = 0; i < N; i++) {
        y[i] = i % 7 * 0.01;
    }
    y[12345] = 1;
    y[77777] = -1;
    sal_figure *figure = new_figure();
    sal_figure_panel(figure,
                     &(sal_panel){ .x = { .low = 0, .high = N }, .y = { .low = -1, .high = 1 } });
    sal_figure_series(figure, &(sal_series){ .n = N, .y = y });
    reread(figure);
    box b = panel_box();
    const char *path = string("//s:path[@class='line thin']/@d");
    ck_assert(strlen(path) > 5000);
    ck_assert(strlen(path) < 4 * 301 * 20);
    int peaks = 0, holes = 0;
    for (const char *at = path; (at = strpbrk(at, "ML")); at++) {
        double px = 0, py = 0;
        ck_assert_int_eq(sscanf(at + 1, "%lf,%lf", &px, &py), 2);
        peaks += fabs(py - b.y) < 0.006 && fabs(px - b.x - 0.0030 * 12345) < 0.006;
        holes += fabs(py - b.y - 200) < 0.006 && fabs(px - b.x - 0.0030 * 77777) < 0.006;
    }
    ck_assert_int_eq(peaks, 1);
    ck_assert_int_eq(holes, 1);
}
END_TEST

START_TEST(bars_stand_side_by_side_on_zero)
{
    sal_figure *figure = new_figure();
    const char *names[] = { "a", "b", "c" };
    double y[2][3] = { { 1, 2, 4 }, { 4, NAN, -4 } };
    sal_figure_panel(figure, &(sal_panel){ .x = { .categories = names, .n_categories = 3 },
                                           .y = { .low = -4, .high = 4 } });
    for (int k = 0; k < 2; k++) {
        sal_figure_series(
            figure, &(sal_series){
                        .mark = SAL_MARK_BARS, .n = 3, .y = y[k], .name = k ? "second" : "first" });
    }
    reread(figure);
    box b = panel_box();
    /* 100 pixels a name, 80 of them for two bars with 6% between them. */
    double left = b.x + 50 - 20 - 0.47 * 40;
    char want[400];
    snprintf(want, sizeof want, "M%.6g,%gV%gh37.6V%gZM%.6g,%gV%gh37.6V%gZM%.6g,%gV%gh37.6V%gZ",
             left, b.y + 100, b.y + 75, b.y + 100, left + 100, b.y + 100, b.y + 50, b.y + 100,
             left + 200, b.y + 100, b.y, b.y + 100);
    ck_path("//s:g[@class='s1']/s:path[@class='bar']/@d", want);
    ck_assert_str_eq(string("//s:g[@class='s2']/s:path[2]/@fill"), "url(#figure-hatch-1-2)");
    ck_assert_double_eq(number("count(//s:pattern[@id='figure-hatch-1-2'])"), 1);
    ck_assert_double_eq(number("//s:text[.='b']/@x"), b.x + 150);
}
END_TEST

/* Also where all of them are high, and none is cut off at the foot. */
START_TEST(axes_of_bars_begin_at_zero)
{
    double y[2][2] = { { 30, 31 }, { -30, -31 } };
    for (int k = 0; k < 2; k++) {
        double left, end, top;
        sal_figure *figure = new_figure();
        sal_figure_panel(figure, NULL);
        sal_figure_series(figure, &(sal_series){ .mark = SAL_MARK_BARS, .n = 2, .y = y[k] });
        reread(figure);
        box b = panel_box();
        const char *bars = string("//s:path[@class='bar']/@d");
        ck_assert_int_eq(sscanf(bars, "M%lf,%lfV%lf", &left, &end, &top), 3);
        ck_assert_double_ge(fmin(end, top), b.y);
        ck_assert_double_le(fmax(end, top), b.y + b.height);
        ck_assert_double_gt(fabs(end - top), 0.9 * 200 * 30 / 31);
        ck_assert_double_eq(number("count(//s:text[.='0'])"), 1 + 1); /* of both axes */
    }
}
END_TEST

START_TEST(cells_are_where_and_what_they_should_be)
{
    sal_figure *figure = new_figure();
    double values[] = { 0, 0, 1, NAN, 0.5, 1 };
    sal_figure_panel(figure,
                     &(sal_panel){ .title = "down",
                                   .heatmap = &(sal_heatmap){
                                       .rows = 2, .columns = 3, .values = values, .label = "q" } });
    sal_figure_panel(
        figure,
        &(sal_panel){
            .title = "up",
            .square = true,
            .heatmap = &(sal_heatmap){
                .rows = 2, .columns = 3, .values = values, .upward = true, .x0 = 10, .dx = 2 } });
    reread(figure);
    box b = panel_box();
    ck_path("//s:path[@fill='#440154']/@d", "M0,0h2v1h-2z");
    ck_path("//s:path[@fill='#fde725']/@d", "M2,0h1v1h-1zM2,1h1v1h-1z");
    ck_assert_double_eq(number("count((//s:g[@shape-rendering])[1]/s:path)"), 3);
    char want[100];
    snprintf(want, sizeof want, "translate(%g,%g) scale(100,100)", b.x, b.y);
    ck_path("(//s:g[@shape-rendering])[1]/@transform", want);
    /* The second one is three cells of 2 by two of 1, so a third as high, and upside down. */
    ck_assert_double_eq(number("(//s:rect[@class='axis'])[2]/@height"), 100);
    ck_assert(strstr(string("(//s:g[@shape-rendering])[2]/@transform"), "scale(100,-50)"));
    /* The scale of colours has its numbers. */
    ck_assert_double_eq(number("count(//s:linearGradient[@id='figure-colours-1']/s:stop)"), 9);
    ck_assert_double_eq(number("count(//s:rect[@fill='url(#figure-colours-2)'])"), 1);
    ck_assert_double_eq(number("count(//s:text[.='q'])"), 1);
}
END_TEST

START_TEST(large_matrices_are_averaged_and_say_so)
{
    enum { SIDE = 600 };
    static double values[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) {
        values[i] = i / SIDE % 3 == 0 ? 3 : 0; /* one row of three */
    }
    sal_figure *figure = new_figure();
    sal_figure_panel(
        figure,
        &(sal_panel){ .heatmap = &(sal_heatmap){
                          .rows = SIDE, .columns = SIDE, .values = values, .low = 0, .high = 1 } });
    reread(figure);
    ck_path("//s:g[@shape-rendering]/s:path[1]/@fill", "#fde725"); /* the mean is 1 everywhere */
    ck_assert_double_eq(number("count(//s:g[@shape-rendering]/s:path)"), 1);
    ck_assert_double_eq(number("count(//s:text[.='each cell: the mean of 3 × 3'])"), 1);
}
END_TEST

START_TEST(pictures_are_grey_with_lines_between)
{
    sal_figure *figure = new_figure();
    double values[] = { 0, 1, NAN, 2, 0.5, -1 }; /* three pictures of one row of two */
    sal_figure_panel(
        figure, &(sal_panel){
                    .images = &(sal_images){ .n = 3, .height = 1, .width = 2, .values = values } });
    reread(figure);
    ck_path("//s:path[@fill='#000000']/@d", "M0,0h1v1h-1zM3,0h1v1h-1zM1,2h1v1h-1z");
    ck_path("//s:path[@fill='#ffffff']/@d", "M1,0h1v1h-1zM4,0h1v1h-1z");
    ck_path("//s:path[@fill='#808080']/@d", "M0,2h1v1h-1z");
    ck_assert_double_eq(number("count(//s:rect[@class='axis'])"), 0);
}
END_TEST

START_TEST(colours_rise_evenly_in_lightness)
{
    double before = -1;
    for (int i = 0; i <= 100; i++) {
        uint32_t colour = sali_colour(i / 100.0, false);
        double luminance = 0;
        for (int k = 0; k < 3; k++) {
            double c = (colour >> (16 - 8 * k) & 255) / 255.0;
            double linear = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
            luminance += (double[]){ 0.2126, 0.7152, 0.0722 }[k] * linear;
        }
        double lightness = luminance > 0.008856 ? 116 * cbrt(luminance) - 16 : 903.3 * luminance;
        ck_assert_msg(before < 0 || (lightness > before && lightness < before + 1.6), "%d: %g, %g",
                      i, before, lightness);
        before = lightness;
    }
    ck_assert(sali_colour(0.5, true) == 0xf7f7f7);
    ck_assert(sali_colour(NAN, false) == 0x440154 && sali_colour(9, true) == 0xb2182b);
}
END_TEST

/* Whichever of the two ends is farther from zero. */
START_TEST(colours_of_both_signs_meet_at_zero)
{
    double values[2][3] = { { -1, 0, 4 }, { -4, 0.5, 1 } };
    for (int k = 0; k < 2; k++) {
        sali_cells cells = { .rows = 1, .columns = 3, .values = values[k], .diverging = true };
        sali_scale scale = sali_colour_scale(&cells);
        ck_assert_double_eq(scale.low, -4);
        ck_assert_double_eq(scale.high, 4);
        cells.diverging = false;
        scale = sali_colour_scale(&cells);
        ck_assert_double_eq(scale.low, values[k][0]);
        ck_assert_double_eq(scale.high, values[k][2]);
    }
}
END_TEST

START_TEST(ticks_are_round_and_written_as_people_do)
{
    static const struct {
        double low, high;
        const char *want[3];
    } cases[] = { { 0, 1, { "0", "0.2", "0.4" } },
                  { -3, 3, { "−3", "−2", "−1" } },
                  { 0.00012, 0.00037, { "0.00015", "0.0002", "0.00025" } },
                  { 0, 55, { "0", "10", "20" } },
                  { -0.55, 0, { "−0.5", "−0.4", "−0.3" } },
                  { 0, 3e7, { "0", "0.5·10⁷", "10⁷" } },
                  { 1234.5, 1234.6, { "1234.5", "1234.52", "1234.54" } },
                  { 0, 2e-9, { "0", "0.5·10⁻⁹", "10⁻⁹" } } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sali_scale scale = { .low = cases[i].low, .high = cases[i].high };
        sali_ticks ticks = { 0 };
        sali_ticks_make(&scale, 6, &ticks);
        ck_assert_int_ge(ticks.n, 3);
        for (int k = 0; k < 3; k++) {
            ck_assert_str_eq(ticks.tick[k].text, cases[i].want[k]);
        }
    }
}
END_TEST

/* Eight curves: the colour of the first comes again, its dash does not. */
START_TEST(styles_differ_beyond_the_colours)
{
    sal_figure *figure = new_figure();
    double y[] = { 0, 1 };
    for (int k = 0; k < 8; k++) {
        sal_figure_series(figure, &(sal_series){ .mark = SAL_MARK_BOTH, .n = 2, .y = y });
    }
    reread(figure);
    ck_assert_double_eq(number("count(//s:g[@class='s1'])"), 2);
    ck_path("(//s:g[@class='s1']/s:path[@class='line'])[1]/@stroke-dasharray", "");
    ck_path("(//s:g[@class='s1']/s:path[@class='line'])[2]/@stroke-dasharray",
            string("//s:g[@class='s4']/s:path[@class='line']/@stroke-dasharray"));
    bool seen[SALI_STYLES][SALI_STYLES] = { 0 };
    for (int64_t style = 0; style < SALI_LOOKS; style++) {
        bool *was = &seen[sali_style_colour(style)][sali_style_dash(style)];
        ck_assert_msg(!*was, "style %d looks like another", (int)style);
        *was = true;
    }
}
END_TEST

/* A band around a value that is next to zero, on a logarithmic axis. */
START_TEST(low_ends_do_not_stretch_logarithmic_axes)
{
    sal_figure *figure = new_figure();
    double y[] = { 1, 1 }, low[] = { 1e-9, -1 }, high[] = { 10, 10 };
    sal_figure_panel(figure, &(sal_panel){ .x = { .low = 0, .high = 1 }, .y.logarithmic = true });
    sal_figure_series(figure, &(sal_series){ .n = 2, .y = y, .low = low, .high = high });
    reread(figure);
    box b = panel_box();
    /* From 0.1 to 10, and 3% of two decades on both sides. */
    double top = b.y + 200 * 0.06 / 2.12, at[8];
    const char *band = string("//s:path[@class='band']/@d");
    ck_assert_int_eq(sscanf(band, "M%lf,%lfL%lf,%lfL%lf,%lfL%lf,%lfZ", &at[0], &at[1], &at[2],
                            &at[3], &at[4], &at[5], &at[6], &at[7]),
                     8);
    ck_assert_double_eq_tol(at[1], top, 0.01);
    ck_assert_double_eq_tol(at[5], b.y + 200, 0.01); /* -1 has no place: the edge */
    ck_assert_double_gt(at[7], b.y + 200);           /* 1e-9 is farther down, and cut off */
}
END_TEST

START_TEST(marks_without_a_place_are_left_out)
{
    static const double nowhere[][2] = {
        { NAN, NAN }, { INFINITY, 1 }, { 1, -INFINITY }, { NAN, INFINITY }
    };
    sal_figure *figure = new_figure();
    sal_figure_panel(figure, &(sal_panel){ .y.logarithmic = true });
    for (int k = 0; k < 4; k++) {
        sal_figure_mark(figure, nowhere[k][0], nowhere[k][1], "lost");
    }
    sal_figure_panel(figure, &(sal_panel){ .y.logarithmic = true });
    sal_figure_mark(figure, NAN, -1, "lost");
    sal_figure_mark(figure, NAN, 1, "here");
    reread(figure);
    ck_assert_double_eq(number("count(//s:text[.='nothing to show'])"), 1);
    ck_assert_double_eq(number("count(//s:text[.='lost'])"), 0);
    ck_assert_double_eq(number("count(//s:text[.='here'])"), 1);
    ck_assert_double_eq(number("count(//s:path[@class='pointer across'])"), 2);
}
END_TEST

/* In two lines at most, that lie within the figure. */
START_TEST(long_labels_are_broken_and_cut)
{
    char label[1000] = "begin";
    for (int k = 0; k < 60; k++) {
        strcat(label, " and words");
    }
    sal_figure *figure = new_figure();
    sal_figure_panel(
        figure,
        &(sal_panel){ .x.label = label,
                      .y.label = label,
                      .heatmap = &(sal_heatmap){
                          .rows = 1, .columns = 1, .values = &(double){ 1 }, .label = label } });
    sal_figure_panel(figure, &(sal_panel){ .x.label = "one line" });
    reread(figure);
    ck_assert_double_eq(number("count(//s:text[starts-with(., 'begin')])"), 3);
    ck_assert_double_eq(number("count(//s:text[contains(., 'and words') and contains(., '…')])"),
                        3);
    ck_assert_double_eq(number("count(//s:text[contains(., 'and words')])"), 6);
    ck_assert_double_eq(number("count(//s:text[string-length(.) > 80])"), 0);
    ck_assert_double_eq(number("count(//s:text[.='one line'])"), 1);
    /* The second line of x is a line below the first one. */
    const char *x = "//s:text[@text-anchor='middle' and @y and contains(., 'and words')]";
    char each[2][200];
    snprintf(each[0], sizeof each[0], "(%s)[1]/@y", x);
    snprintf(each[1], sizeof each[1], "(%s)[2]/@y", x);
    ck_assert_double_eq_tol(number(each[1]), number(each[0]) + SALI_LINE, 0.02);
}
END_TEST

/* Cells are square up to twice the figure's height; a thinner map than 24 pixels is not made. */
START_TEST(tall_maps_keep_within_bounds)
{
    static const struct {
        int64_t rows, columns;
        double width, height;
    } cases[] = {
        { 3, 3, 300, 300 }, { 40, 10, 100, 400 }, { 10000, 1, 24, 400 }, { 1, 10000, 300, 24 }
    };
    static double values[10000];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sal_figure *figure = new_figure();
        sal_figure_panel(figure,
                         &(sal_panel){ .square = true,
                                       .heatmap = &(sal_heatmap){ .rows = cases[i].rows,
                                                                  .columns = cases[i].columns,
                                                                  .values = values } });
        reread(figure);
        box b = panel_box();
        ck_assert_msg(b.width == cases[i].width && b.height == cases[i].height, "%d: %g x %g",
                      (int)i, b.width, b.height);
    }
}
END_TEST

START_TEST(logarithmic_ticks_keep_apart)
{
    static const struct {
        double low, high; /* decades */
        const char *want;
    } cases[] = { { 0, 4, "1 10 100 1000 10000" },
                  { -5, -3, "10⁻⁵ 2·10⁻⁵ 5·10⁻⁵ 10⁻⁴ 2·10⁻⁴ 5·10⁻⁴ 10⁻³" },
                  { -1, 5, "10⁻¹ 1 10 10² 10³ 10⁴ 10⁵" },
                  { 0.01, 0.68, "2 3" },
                  { 2.35, 3.02, "300 500 700 1000" },
                  { 0.26, 0.49, "2 3" },
                  { 0.62, 0.77, "4.5 5 5.5" },
                  { 2, 20, "10³ 10⁶ 10⁹ 10¹² 10¹⁵ 10¹⁸" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sali_scale scale = { .logarithmic = true, .low = cases[i].low, .high = cases[i].high };
        sali_ticks ticks = { 0 };
        char text[400] = "";
        sali_ticks_make(&scale, 6, &ticks);
        for (int k = 0; k < ticks.n; k++) {
            snprintf(text + strlen(text), sizeof text - strlen(text), k ? " %s" : "%s",
                     ticks.tick[k].text);
        }
        ck_assert_str_eq(text, cases[i].want);
    }
}
END_TEST

START_TEST(same_calls_give_the_same_bytes)
{
    char first[200000], second[200000];
    size_t size[2] = { 0 };
    for (int run = 0; run < 2; run++) {
        if (run == 1) { /* a locale with a decimal comma, if there is one */
            setlocale(LC_ALL, "de_DE.UTF-8");
        }
        sal_figure *figure = new_figure();
        sal_figure_series(figure, &(sal_series){ .n = 3, .y = (double[]){ 0.1, 0.25, 1.5 } });
        reread(figure);
        FILE *file = fopen(temp_path("a.svg"), "rb");
        size[run] = fread(run ? second : first, 1, sizeof first, file);
        fclose(file);
    }
    ck_assert_uint_eq(size[0], size[1]);
    ck_assert_mem_eq(first, second, size[0]);
}
END_TEST

START_TEST(first_mistake_is_kept)
{
    static const double one[1] = { 1 };
    static const struct {
        sal_series series;
        const char *text;
    } cases[] = { { { .name = "s", .n = -1, .y = one }, "series 's' with n -1" },
                  { { .n = 1 }, "no y" },
                  { { .n = 1, .y = one, .low = one }, "one of low and high" },
                  { { .n = 1, .y = one, .mark = (sal_mark)9 }, "mark 9" } };
    sal_error err = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sal_figure *figure = new_figure();
        sal_figure_series(figure, &cases[i].series);
        sal_figure_panel(figure, &(sal_panel){ .x = { .n_categories = -1 } }); /* not told */
        ck_fails(sal_figure_write(figure, temp_path("a.svg"), &err), SAL_ERR_ARGUMENT, &err,
                 cases[i].text);
        ck_assert_ptr_nonnull(strstr(err.message, "panel 1"));
        sal_figure_destroy(figure);
    }
    ck_assert_int_eq(temp_count(), 0);
}
END_TEST

static void ck_refused(sal_figure *figure, const char *text)
{
    sal_error err = { 0 };
    ck_fails(sal_figure_write(figure, temp_path("a.svg"), &err), SAL_ERR_ARGUMENT, &err, text);
    sal_figure_destroy(figure);
}

START_TEST(other_mistakes_are_refused)
{
    sal_error err = { 0 };
    double one[1] = { 1 };
    sal_figure *figure = NULL;
    ck_fails(sal_figure_create(&(sal_figure_options){ .panel_width = 10 }, &figure, &err),
             SAL_ERR_ARGUMENT, &err, "expected 60 to 4000");
    ck_fails(sal_figure_create(&(sal_figure_options){ .columns = -1 }, &figure, &err),
             SAL_ERR_ARGUMENT, &err, "in a row");
    ck_assert_ptr_null(figure);
    ck_refused(new_figure(), "no panels");
    static const struct {
        sal_panel panel;
        const char *text;
    } panels[] = { { { .x = { .low = 2, .high = 1 } }, "axis x from 2 to 1" },
                   { { .y = { .low = 0, .high = INFINITY } }, "axis y from 0 to inf" },
                   { { .y = { .logarithmic = true, .low = -1, .high = 1 } }, "positive" },
                   { { .x = { .n_categories = 2 } }, "no names" },
                   { { .x.logarithmic = true, .square = true }, "square" } };
    for (size_t i = 0; i < sizeof panels / sizeof *panels; i++) {
        figure = new_figure();
        sal_figure_panel(figure, &panels[i].panel);
        ck_refused(figure, panels[i].text);
    }
    static const double one_value[1] = { 1 };
    static const struct {
        sal_heatmap map;
        const char *text;
    } maps[] = {
        { { .rows = 0, .columns = 1 }, "heat map of 0 x 1" },
        { { .rows = INT64_MAX, .columns = INT64_MAX }, "at most 2^28" },
        { { .rows = 1, .columns = 1 }, "without values" },
        { { .rows = 1, .columns = 1, .values = one_value, .x0 = 1e308, .dx = 1e308 },
          "finite numbers to its last cell" },
        { { .rows = 1, .columns = 1, .values = one_value, .dy = NAN }, "no negative size" },
        { { .rows = 1, .columns = 1, .values = one_value, .diverging = true, .low = -1, .high = 3 },
          "diverging colours from -1 to 3; expected -a to a" }
    };
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        figure = new_figure();
        sal_figure_panel(figure, &(sal_panel){ .heatmap = &maps[i].map });
        ck_refused(figure, maps[i].text);
    }
    const sal_heatmap map = { .rows = 1, .columns = 1, .values = one };
    const sal_images images = { .n = 1, .height = 1, .width = 1, .values = one };
    figure = new_figure();
    sal_figure_panel(figure, &(sal_panel){ .heatmap = &map, .images = &images });
    ck_refused(figure, "both a heat map and pictures");
    figure = new_figure();
    sal_figure_panel(figure, &(sal_panel){ .y.logarithmic = true, .heatmap = &map });
    ck_refused(figure, "logarithmic axis");
    figure = new_figure();
    sal_figure_panel(figure, &(sal_panel){ .x.logarithmic = true, .images = &images });
    ck_refused(figure, "logarithmic axis");
    figure = new_figure();
    sal_figure_panel(figure,
                     &(sal_panel){ .images = &(sal_images){
                                       .n = 1, .height = 1 << 20, .width = 2, .values = one } });
    ck_refused(figure, "at most 2^20");
    figure = new_figure();
    sal_figure_panel(figure, NULL);
    ck_fails(sal_figure_write(figure, temp_path("a.png"), &err), SAL_ERR_ARGUMENT, &err, ".svg");
    ck_fails(sal_figure_write(figure, temp_path("no/a.svg"), &err), SAL_ERR_IO, &err, "no/a.svg");
    sal_figure_destroy(figure);
    ck_assert_int_eq(temp_count(), 0);
}
END_TEST

static sal_status make_and_write(sal_error *err)
{
    static const double y[6] = { 1, 2, 3, 4, 5, 6 };
    const char *names[] = { "a", "b" };
    sal_figure *figure = NULL;
    sal_status status =
        sal_figure_create(&(sal_figure_options){ .title = "t", .caption = "c" }, &figure, err);
    if (status != SAL_OK) {
        ck_assert_ptr_null(figure);
        return status;
    }
    sal_figure_panel(figure,
                     &(sal_panel){ .title = "p",
                                   .x = { .categories = names, .n_categories = 2 },
                                   .heatmap = &(sal_heatmap){
                                       .rows = 2, .columns = 3, .values = y, .label = "l" } });
    for (int mark = SAL_MARK_LINE; mark <= SAL_MARK_BARS; mark++) {
        sal_figure_series(
            figure, &(sal_series){
                        .name = "s", .mark = (sal_mark)mark, .n = 6, .y = y, .low = y, .high = y });
    }
    sal_figure_mark(figure, 1, NAN, "m");
    sal_figure_panel(figure, &(sal_panel){ .images = &(sal_images){
                                               .n = 2, .height = 1, .width = 3, .values = y } });
    status = sal_figure_write(figure, temp_path("a.svg"), err);
    sal_figure_destroy(figure);
    return status;
}

START_TEST(failing_allocations_are_reported)
{
    sal_error err = { 0 };
    ck_alloc_sweep(make_and_write(&err), (void)0);
    ck_assert_int_eq(temp_count(), 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("figure");
    TCase *tcase = tcase_create("figure");
    tcase_add_checked_fixture(tcase, temp_dir_make, forget);
    tcase_add_test(tcase, points_lie_where_the_axes_say);
    tcase_add_test(tcase, logarithmic_axes_are_even_in_powers);
    tcase_add_test(tcase, labels_are_escaped_and_repaired);
    tcase_add_test(tcase, gaps_break_lines_and_bands);
    tcase_add_test(tcase, odd_data_are_survived);
    tcase_add_test(tcase, large_figures_keep_their_places);
    tcase_add_test(tcase, long_lines_are_broken_between_letters);
    tcase_add_test(tcase, cells_are_cut_by_the_axes);
    tcase_add_test(tcase, empty_panels_say_so);
    tcase_add_test(tcase, thinned_lines_keep_their_peaks);
    tcase_add_test(tcase, bars_stand_side_by_side_on_zero);
    tcase_add_test(tcase, axes_of_bars_begin_at_zero);
    tcase_add_test(tcase, cells_are_where_and_what_they_should_be);
    tcase_add_test(tcase, large_matrices_are_averaged_and_say_so);
    tcase_add_test(tcase, pictures_are_grey_with_lines_between);
    tcase_add_test(tcase, colours_rise_evenly_in_lightness);
    tcase_add_test(tcase, colours_of_both_signs_meet_at_zero);
    tcase_add_test(tcase, ticks_are_round_and_written_as_people_do);
    tcase_add_test(tcase, styles_differ_beyond_the_colours);
    tcase_add_test(tcase, low_ends_do_not_stretch_logarithmic_axes);
    tcase_add_test(tcase, marks_without_a_place_are_left_out);
    tcase_add_test(tcase, long_labels_are_broken_and_cut);
    tcase_add_test(tcase, tall_maps_keep_within_bounds);
    tcase_add_test(tcase, logarithmic_ticks_keep_apart);
    tcase_add_test(tcase, same_calls_give_the_same_bytes);
    tcase_add_test(tcase, first_mistake_is_kept);
    tcase_add_test(tcase, other_mistakes_are_refused);
    tcase_add_test(tcase, failing_allocations_are_reported);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
