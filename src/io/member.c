/* SPDX-License-Identifier: MIT */
#include "io/member.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/format.h"

/* ---- paths */

static bool is_file(const char *path)
{
    struct stat there;
    return stat(path, &there) == 0 && S_ISREG(there.st_mode);
}

/* The first colon behind the name of a file that exists; NULL: there is none. `path` is as before
 * afterwards. */
static char *find_colon(char *path)
{
    struct stat there;
    if (stat(path, &there) == 0) {
        return NULL;
    }
    for (char *colon = strchr(path, ':'); colon; colon = strchr(colon + 1, ':')) {
        *colon = '\0';
        const bool found = is_file(path);
        *colon = ':';
        if (found) {
            return colon;
        }
    }
    return NULL;
}

/* What may follow the name, and where its value goes. */
static int *setting_of(sali_member *m, const char *part, int *value)
{
    static const struct {
        const char *text;
        int which, value;
    } settings[] = {
        { "rows=first", 0, SALI_MEMBER_ROWS_FIRST },
        { "rows=last", 0, SALI_MEMBER_ROWS_LAST },
        { "pixels=rows", 1, SALI_MEMBER_PIXELS_ROWS },
        { "pixels=columns", 1, SALI_MEMBER_PIXELS_COLUMNS },
        { "ink=0", 2, SALI_MEMBER_INK_0 },
        { "ink=1", 2, SALI_MEMBER_INK_1 },
    };
    int *fields[] = { (int *)&m->rows, (int *)&m->pixels, (int *)&m->ink };
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        if (strcmp(part, settings[k].text) == 0) {
            *value = settings[k].value;
            return fields[settings[k].which];
        }
    }
    return NULL;
}

/* Read the parts of m->text, between commas: a name, which comes first, and settings. */
static sal_status read_parts(const char *path, sali_member *m, sal_error *err)
{
    char *rest = m->text;
    for (char *part; (part = strsep(&rest, ","));) {
        int value = 0, *field = setting_of(m, part, &value);
        if (field && *field == 0) {
            *field = value;
        } else if (part == m->text && part[0] && !strchr(part, '=')) {
            m->name = part + (part[0] == '/'); /* as paths in HDF5 may begin */
        } else {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "%s: '%.40s' after the file %s; expected the name of an array, or "
                             "each once: rows=first|last, pixels=rows|columns, ink=0|1",
                             path, part, m->file);
        }
    }
    return SAL_OK;
}

sal_status sali_member_split(const char *path, sali_member *out, sal_error *err)
{
    sali_member m = { .file = sali_strdup(path) };
    char *colon = m.file ? find_colon(m.file) : NULL;
    sal_status status = m.file ? SAL_OK : sali_fail_memory(err);
    if (colon) {
        *colon = '\0';
        m.text = sali_strdup(colon + 1);
        status = m.text ? read_parts(path, &m, err) : sali_fail_memory(err);
    }
    return SALI_GIVE_STRUCT(status, m, out, sali_member_free);
}

void sali_member_free(sali_member *member)
{
    sali_free(member->file);
    sali_free(member->text);
    *member = (sali_member){ 0 };
}

static const sali_member *member_of(const sali_scan *scan)
{
    static const sali_member none = { 0 };
    return scan->reading && scan->reading->member ? scan->reading->member : &none;
}

/* ---- which array */

/* List the names of the arrays, as many as fit, "a, b, .." */
#define LIST_SIZE 200
static void list_arrays(const sali_candidates *arrays, char text[LIST_SIZE])
{
    size_t used = 0;
    text[0] = '\0';
    for (int64_t k = 0; k < arrays->n; k++) {
        char shown[SALI_SHOW_SIZE];
        if (used + SALI_SHOW_SIZE + 8 > LIST_SIZE) {
            snprintf(text + used, LIST_SIZE - used, ", ..");
            return;
        }
        used += (size_t)snprintf(text + used, LIST_SIZE - used, "%s%s", k > 0 ? ", " : "",
                                 sali_show(arrays->list[k].name, -1, shown));
    }
}

bool sali_candidates_add(sali_scan *scan, sali_candidates *arrays, const char *name, int64_t length,
                         uint64_t size, int64_t place)
{
    if (sali_scan_grow(scan, (void **)&arrays->list, &arrays->room, arrays->n + 1,
                       sizeof *arrays->list)) {
        char *copy = sali_scan_copy(scan, name, length);
        arrays->list[arrays->n] = (sali_candidate){ copy, size, place };
        arrays->n += copy != NULL;
    }
    return scan->status == SAL_OK;
}

void sali_candidates_free(sali_candidates *arrays)
{
    for (int64_t k = 0; k < arrays->n; k++) {
        sali_free(arrays->list[k].name);
    }
    sali_free(arrays->list);
    *arrays = (sali_candidates){ 0 };
}

const sali_candidate *sali_member_choose(sali_scan *scan, const sali_candidates *arrays,
                                         sali_remark *remark)
{
    if (scan->status != SAL_OK) {
        return NULL;
    }
    const char *name = member_of(scan)->name;
    char list[LIST_SIZE], shown[SALI_SHOW_SIZE];
    const sali_candidate *largest = arrays->list;
    list_arrays(arrays, list);
    for (int64_t k = 0; k < arrays->n; k++) {
        const sali_candidate *array = &arrays->list[k];
        if (name && strcmp(name, array->name) == 0) {
            return array;
        }
        largest = array->size > largest->size ? array : largest;
    }
    if (arrays->n == 0) {
        sali_scan_refuse(scan, "holds no array of numbers");
    } else if (name) {
        scan->status = sali_fail(scan->err, SAL_ERR_NOT_FOUND,
                                 "%s: holds no array of numbers '%.100s'; there are: %s",
                                 scan->name, name, list);
    } else if (arrays->n > 1) {
        scan->status = sali_remark_add(
            remark, true, scan->err,
            "'%s' is read, the largest of %lld arrays: %s (FILE:NAME reads another)",
            sali_show(largest->name, -1, shown), (long long)arrays->n, list);
    }
    return scan->status == SAL_OK ? largest : NULL;
}

/* ---- how its numbers are arranged */

static bool is_square(int64_t n)
{
    const int64_t side = llround(sqrt((double)n));
    return n > 1 && side * side == n;
}

/* Pixels of a picture of MNIST, and of data sets made like it. */
#define USUAL_PIXELS 784

/* Whether the last dimension of MATLAB's array counts the rows, as far as one can guess. Of a
 * matrix, the size that is the known length of a row counts pixels, or else the usual one, or else
 * the only square, or else the smaller. */
static bool guess_last(const sali_scan *scan, const sal_array *a)
{
    const int64_t *n = a->shape, known = scan->reading ? scan->reading->columns : 0;
    if (a->ndim != 2) {
        return a->ndim == 3 && n[0] == n[1] && n[1] != n[2];
    }
    return (n[0] == known) != (n[1] == known)                 ? n[0] == known
           : (n[0] == USUAL_PIXELS) != (n[1] == USUAL_PIXELS) ? n[0] == USUAL_PIXELS
           : is_square(n[0]) != is_square(n[1])               ? is_square(n[0])
                                                              : n[0] < n[1];
}

/* Make the last dimension the first. */
static void put_last_first(sali_scan *scan, sal_array *a)
{
    double *values = SALI_SCAN_ARRAY(scan, double, a->count);
    const int64_t rows = a->shape[a->ndim - 1], others = values ? a->count / rows : 0;
    for (int64_t k = 0; k < others; k++) {
        for (int64_t r = 0; r < rows; r++) {
            values[r * others + k] = a->values[k * rows + r];
        }
    }
    if (values) {
        memmove(a->shape + 1, a->shape, (size_t)(a->ndim - 1) * sizeof *a->shape);
        a->shape[0] = rows;
        sali_free(a->values);
        a->values = values;
    }
}

static void arrange_rows(sali_scan *scan, bool matlab, sali_content *content)
{
    sal_array *a = &content->array;
    const sali_member_rows rows = member_of(scan)->rows;
    const bool guess = rows == SALI_MEMBER_ROWS_FIND && matlab && a->ndim > 1;
    const bool last = guess ? guess_last(scan, a) : rows == SALI_MEMBER_ROWS_LAST && a->ndim > 1;
    if (guess) {
        scan->status = sali_remark_add(
            &content->remark, true, scan->err,
            "its %s dimension, of %lld, is taken for that of the rows (FILE:NAME,rows=%s if it is "
            "not)",
            last ? "last" : "first", (long long)a->shape[last ? a->ndim - 1 : 0],
            last ? "first" : "last");
    }
    if (last && scan->status == SAL_OK) {
        put_last_first(scan, a);
    }
}

/* The side of the square pictures in the rows; 0: they are none. */
static int64_t side_of(const sal_array *a)
{
    return a->ndim == 3 && a->shape[1] == a->shape[2] ? a->shape[1]
           : a->ndim == 2 && is_square(a->shape[1])   ? (int64_t)llround(sqrt((double)a->shape[1]))
                                                      : 0;
}

/* Exchange the rows and columns of square pictures, if the path says so. */
static void arrange_pixels(sali_scan *scan, bool matlab, sali_content *content)
{
    sal_array *a = &content->array;
    const sali_member_pixels pixels = member_of(scan)->pixels;
    const int64_t side = side_of(a);
    if (pixels == SALI_MEMBER_PIXELS_COLUMNS && side == 0) {
        sali_scan_refuse(scan, "has no rows that are square pictures, which pixels=columns turns");
    } else if (pixels == SALI_MEMBER_PIXELS_FIND && matlab && a->ndim == 2 && side > 0) {
        scan->status =
            sali_remark_add(&content->remark, true, scan->err,
                            "the pixels of a picture are taken row by row (FILE:NAME,pixels="
                            "columns if pictures come out on their side)");
    }
    for (double *p = a->values;
         scan->status == SAL_OK && pixels == SALI_MEMBER_PIXELS_COLUMNS && p < a->values + a->count;
         p += side * side) {
        for (int64_t y = 0; y < side; y++) {
            for (int64_t x = 0; x < y; x++) {
                const double swapped = p[y * side + x];
                p[y * side + x] = p[x * side + y];
                p[x * side + y] = swapped;
            }
        }
    }
}

/* Whether the numbers are 0 and 1, and most of those at the borders of square pictures are 1. */
static bool has_light_borders(const sal_array *a)
{
    const int64_t side = side_of(a);
    int64_t at = 0, light = 0;
    for (int64_t i = 0; i < a->count; i++) {
        const double value = a->values[i];
        if (side == 0 || (value != 0 && value != 1)) {
            return false;
        }
        const int64_t x = i % side, y = i / side % side;
        const bool border = x == 0 || y == 0 || x == side - 1 || y == side - 1;
        at += border;
        light += border && value > 0;
    }
    return 2 * light > at;
}

/* Exchange black and white where ink is 0: of pictures of 0 and 1, or of greys up to 255. */
static void arrange_ink(sali_scan *scan, bool matlab, sali_content *content)
{
    sal_array *a = &content->array;
    const sali_member_ink ink = member_of(scan)->ink;
    const bool guess = ink == SALI_MEMBER_INK_FIND && matlab && scan->reading &&
                       scan->reading->pictures && has_light_borders(a);
    double low = 0, high = 0;
    for (int64_t i = 0; i < a->count && ink == SALI_MEMBER_INK_0; i++) {
        low = a->values[i] < low ? a->values[i] : low;
        high = a->values[i] > high ? a->values[i] : high;
    }
    if (guess) {
        scan->status = sali_remark_add(&content->remark, true, scan->err,
                                       "most pixels at the borders of the pictures are 1, so ink "
                                       "is taken for 0, and 0 and 1 are exchanged (FILE:NAME,ink=1 "
                                       "leaves them)");
    } else if (low < 0 || high > 255) {
        sali_scan_refuse(scan,
                         "has numbers from %g to %g; ink=0 is for pictures of 0 and 1, or of "
                         "greys of 0 to 255",
                         low, high);
    }
    const double white = high > 1 ? 255 : 1;
    for (int64_t i = 0;
         i < a->count && scan->status == SAL_OK && (guess || ink == SALI_MEMBER_INK_0); i++) {
        a->values[i] = white - a->values[i];
    }
}

void sali_member_arrange(sali_scan *scan, bool matlab, sali_content *content)
{
    void (*const steps[])(sali_scan *, bool, sali_content *) = { arrange_rows, arrange_pixels,
                                                                 arrange_ink };
    for (int k = 0; k < 3 && scan->status == SAL_OK; k++) {
        steps[k](scan, matlab, content);
    }
}
