/* SPDX-License-Identifier: MIT */
/* Digits drawn procedurally, for demonstrations and tests without a data set. */
#include <math.h>

#include <saltus/data.h>
#include "core/alloc.h"
#include "core/error.h"
#include "core/rng.h"

/* A stroke is an elliptic arc from angle `from` to `to` (degrees, clockwise from the right, y
 * down), or with rx < 0 the straight line from (cx, cy) to (from, to). Coordinates lie in the unit
 * square. */
typedef struct stroke {
    double cx, cy, rx, ry, from, to;
} stroke;

#define LINE(x0, y0, x1, y1)  \
    {                         \
        x0, y0, -1, 0, x1, y1 \
    }
#define MAX_STROKES 4

static const struct {
    int n;
    stroke strokes[MAX_STROKES];
} glyphs[10] = {
    { 1, { { .5, .5, .3, .45, 0, 360 } } },
    { 2, { LINE(.5, .05, .5, .95), LINE(.5, .05, .35, .25) } },
    { 3, { { .5, .28, .28, .23, -180, 30 }, LINE(.74, .4, .22, .95), LINE(.22, .95, .8, .95) } },
    { 2, { { .47, .27, .27, .22, -150, 90 }, { .47, .72, .3, .23, -90, 150 } } },
    { 3, { LINE(.62, .05, .2, .62), LINE(.2, .62, .85, .62), LINE(.65, .35, .65, .95) } },
    { 4,
      { LINE(.75, .05, .3, .05),
        LINE(.3, .05, .27, .45),
        { .48, .67, .28, .28, -140, 140 },
        LINE(.27, .45, .33, .44) } },
    { 2, { { .78, .62, .55, .57, 180, 262 }, { .5, .7, .27, .25, 0, 360 } } },
    { 2, { LINE(.2, .05, .8, .05), LINE(.8, .05, .4, .95) } },
    { 2, { { .5, .27, .22, .22, 0, 360 }, { .5, .72, .27, .23, 0, 360 } } },
    { 2, { { .5, .3, .25, .25, 0, 360 }, { .2, .38, .55, .57, 0, 82 } } },
};

/* How one picture differs from the glyph. */
typedef struct style {
    double slant, width, scale_x, scale_y, shift_x, shift_y;
} style;

/* A random style: the slant, width, scale and shift of a picture. */
static style random_style(const sali_stream *stream)
{
    double u[6];
    sali_rng_uniform_f64(stream, 6, u);
    return (style){
        .slant = 0.7 * (u[0] - 0.5),
        .width = 0.055 + 0.05 * u[1],
        .scale_x = 0.6 + 0.3 * u[2],
        .scale_y = 0.75 + 0.17 * u[3],
        .shift_x = 0.12 * (u[4] - 0.5),
        .shift_y = 0.08 * (u[5] - 0.5),
    };
}

/* Square of the distance from (x, y) to the segment from (x0, y0) to (x1, y1). */
static double segment_distance2(double x, double y, double x0, double y0, double x1, double y1)
{
    double dx = x1 - x0, dy = y1 - y0, length2 = dx * dx + dy * dy;
    double t = length2 > 0 ? ((x - x0) * dx + (y - y0) * dy) / length2 : 0;
    t = fmin(fmax(t, 0), 1);
    double ex = x - x0 - t * dx, ey = y - y0 - t * dy;
    return ex * ex + ey * ey;
}

/* *px and *py receive where a point (x, y) of the glyph is in the picture. */
static void place_point(const style *s, double x, double y, double *px, double *py)
{
    *px = 0.5 + s->shift_x + s->scale_x * (x - 0.5) - s->slant * s->scale_y * (y - 0.5);
    *py = 0.5 + s->shift_y + s->scale_y * (y - 0.5);
}

/* Set the pixels of a picture [side x side] that are near a segment of the glyph to 1. */
static void draw_segment(const style *s, int64_t side, double x0, double y0, double x1, double y1,
                         uint8_t *picture)
{
    double ax, ay, bx, by;
    place_point(s, x0, y0, &ax, &ay);
    place_point(s, x1, y1, &bx, &by);
    for (int64_t r = 0; r < side; r++) {
        for (int64_t c = 0; c < side; c++) {
            double x = ((double)c + 0.5) / (double)side, y = ((double)r + 0.5) / (double)side;
            if (segment_distance2(x, y, ax, ay, bx, by) < s->width * s->width) {
                picture[r * side + c] = 1;
            }
        }
    }
}

/* Draw a stroke: a line, or an arc as short segments. */
static void draw_stroke(const style *s, int64_t side, const stroke *k, uint8_t *picture)
{
    const int pieces = 16;
    const double degree = M_PI / 180;
    if (k->rx < 0) {
        draw_segment(s, side, k->cx, k->cy, k->from, k->to, picture);
        return;
    }
    for (int i = 0; i < pieces; i++) {
        double a = degree * (k->from + (k->to - k->from) * i / pieces);
        double b = degree * (k->from + (k->to - k->from) * (i + 1) / pieces);
        draw_segment(s, side, k->cx + k->rx * cos(a), k->cy + k->ry * sin(a),
                     k->cx + k->rx * cos(b), k->cy + k->ry * sin(b), picture);
    }
}

sal_status sal_data_digits(int64_t rows, int64_t side, uint64_t seed, sal_data *data,
                           sal_error *err)
{
    if (rows < 1 || rows > INT32_MAX || side < 8 || side > 64) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "digits: %lld pictures of side %lld; expected at least 1, side 8 to 64",
                         (long long)rows, (long long)side);
    }
    uint8_t *codes = SALI_NEW_ARRAY(uint8_t, rows * side * side);
    if (!codes) {
        return sali_fail_memory(err);
    }
    for (int64_t r = 0; r < rows; r++) {
        sali_stream stream = { .seed = seed, .chain = (uint32_t)r, .purpose = SALI_RNG_DIGITS };
        style s = random_style(&stream);
        int64_t digit = r % 10;
        for (int k = 0; k < glyphs[digit].n; k++) {
            draw_stroke(&s, side, &glyphs[digit].strokes[k], codes + r * side * side);
        }
    }
    *data = (sal_data){
        .rows = rows, .variables = side * side, .codes = codes, .height = side, .width = side
    };
    return SAL_OK;
}
