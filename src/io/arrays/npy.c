/* SPDX-License-Identifier: MIT */
#include "io/arrays/npy.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/number.h"
#include "io/arrays/array_file.h"
#include "io/format.h"

/* ---- the header, a Python dictionary */

static void fail_expected(sali_scan *c, const char *what)
{
    char shown[SALI_SHOW_SIZE];
    sali_scan_refuse(c, ".npy header: expected %s, found '%s'", what,
                     sali_show(c->next, c->end - c->next, shown));
}

/* Whether the next character, after blanks, is `wanted`; blanks are skipped. */
static bool is_next(sali_scan *c, char wanted)
{
    while (c->next < c->end && (*c->next == ' ' || *c->next == '\n')) {
        c->next++;
    }
    return c->status == SAL_OK && c->next < c->end && *c->next == wanted;
}

/* Skip the next character if it is `wanted`. Returns whether it was. */
static bool accept_character(sali_scan *c, char wanted)
{
    bool found = is_next(c, wanted);
    c->next += found;
    return found;
}

/* Read a quoted string of at most 15 characters without escapes. Fails without moving if there is
 * none. */
static void read_string(sali_scan *c, const char *what, char out[16])
{
    const char quote = is_next(c, '"') ? '"' : '\'';
    const char *begin = c->next + 1;
    const char *close = is_next(c, quote) ? memchr(begin, quote, (size_t)(c->end - begin)) : NULL;
    out[0] = '\0';
    if (!close || close - begin >= 16 || memchr(begin, '\0', (size_t)(close - begin))) {
        fail_expected(c, what);
        return;
    }
    memcpy(out, begin, (size_t)(close - begin));
    out[close - begin] = '\0';
    c->next = close + 1;
}

/* Read the value of 'descr': a letter for the byte order, then a type. */
static void read_descr(sali_scan *c, sali_npy *array)
{
    const char *what = "the type of a plain number, such as '<f8', '|u1' or '>i4'";
    is_next(c, '\'');
    const char *before = c->next;
    char descr[16];
    read_string(c, what, descr);
    if (descr[0] && sali_dtype_find(NULL, descr + 1, 0, &array->dtype) &&
        strchr(sali_dtype_bytes(array->dtype) == 1 ? "|<>=" : "<>=", descr[0])) {
        array->big_endian = descr[0] == '>' || (descr[0] == '=' && SALI_BIG_ENDIAN);
        return;
    }
    c->next = before;
    fail_expected(c, what);
}

/* Read the value of 'fortran_order', True or False. */
static void read_order(sali_scan *c, sali_npy *array)
{
    static const char *const words[] = { "False", "True" };
    for (int k = 0; k < 2; k++) {
        size_t n = strlen(words[k]);
        if (is_next(c, words[k][0]) && (size_t)(c->end - c->next) >= n &&
            memcmp(c->next, words[k], n) == 0) {
            array->fortran_order = k;
            c->next += n;
            return;
        }
    }
    fail_expected(c, "True or False");
}

/* Read the value of 'shape': "()", "(3,)", "(3, 4)"; Python 2 wrote long integers as 3L. */
static void read_shape(sali_scan *c, sali_npy *array)
{
    if (!accept_character(c, '(')) {
        fail_expected(c, "a tuple of dimensions");
    }
    array->ndim = 0;
    while (!accept_character(c, ')') && c->status == SAL_OK) {
        const char *digits = c->next;
        if (array->ndim == SALI_NPY_MAX_DIM) {
            fail_expected(c, "at most 4 dimensions");
            return;
        }
        while (c->next < c->end && *c->next >= '0' && *c->next <= '9') {
            c->next++;
        }
        if (sali_parse_int(digits, c->next - digits, &array->shape[array->ndim]) != SAL_OK) {
            c->next = digits;
            fail_expected(c, "a dimension");
        }
        array->ndim++;
        if (c->next < c->end && *c->next == 'L') {
            c->next++;
        }
        if (!accept_character(c, ',') && (array->ndim == 1 || !is_next(c, ')'))) {
            fail_expected(c, "',' in the tuple of dimensions");
        }
    }
}

/* Read one "key: value"; bit k of *seen marks that key k has been read. */
static void read_item(sali_scan *c, sali_npy *array, int *seen)
{
    static const struct {
        const char *key;
        void (*read)(sali_scan *, sali_npy *);
    } items[] = { { "descr", read_descr },
                  { "fortran_order", read_order },
                  { "shape", read_shape } };
    const char *what = "the key 'descr', 'fortran_order' or 'shape', each once";
    const char *before = c->next;
    char key[16];
    read_string(c, what, key);
    for (int i = 0; i < 3; i++) {
        if (strcmp(key, items[i].key) == 0 && !(*seen & 1 << i)) {
            *seen |= 1 << i;
            if (!accept_character(c, ':')) {
                fail_expected(c, "':'");
            }
            items[i].read(c, array);
            return;
        }
    }
    c->next = before;
    fail_expected(c, what);
}

/* Read the header, a Python dictionary and nothing else. */
static void read_header(sali_scan *c, sali_npy *array)
{
    int seen = 0;
    if (!accept_character(c, '{')) {
        fail_expected(c, "'{'");
    }
    while (!accept_character(c, '}') && c->status == SAL_OK) {
        read_item(c, array, &seen);
        if (!accept_character(c, ',') && !is_next(c, '}')) {
            fail_expected(c, "',' or '}'");
        }
    }
    is_next(c, '}');
    if (c->next != c->end) {
        fail_expected(c, "nothing after '}'");
    }
    if (seen != 7) {
        sali_scan_refuse(
            c, ".npy header: expected 'descr', 'fortran_order' and 'shape'; one is missing");
    }
    array->count = sali_shape_count(array->shape, array->ndim, sali_dtype_bytes(array->dtype));
    if (array->count < 0) {
        sali_scan_refuse(c, ".npy header: the size of the array overflows");
    }
}

/* ---- the file */

/* Read the magic string, the version, and the header's length in 2 bytes (version 1) or 4. Returns
 * a scanner of the header; its `end` is where the data begin. */
static sali_scan read_preamble(sali_scan *scan)
{
    const unsigned char *bytes = (const unsigned char *)scan->begin;
    const int64_t size = scan->end - scan->begin;
    sali_scan header = *scan;
    if (size < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0) {
        sali_scan_refuse(&header,
                         "is not a .npy file (it does not begin with \\x93NUMPY and a version)");
        return header;
    }
    int version = bytes[6];
    int64_t begin = version == 1 ? 10 : 12, length = bytes[8] | bytes[9] << 8;
    if (version < 1 || version > 3 || bytes[7] != 0) {
        sali_scan_refuse(&header, ".npy version %d.%d; expected 1.0, 2.0 or 3.0", version,
                         bytes[7]);
    } else if (size < begin) {
        sali_scan_refuse(&header, "the .npy header ends too early");
    } else if (version > 1) {
        length |= (int64_t)bytes[10] << 16 | (int64_t)bytes[11] << 24;
    }
    if (length > size - begin) {
        sali_scan_refuse(&header, "the .npy header should have %lld bytes, but %lld are left",
                         (long long)length, (long long)(size - begin));
    }
    if (header.status == SAL_OK) {
        header.next = scan->begin + begin;
        header.end = header.next + length;
    }
    return header;
}

sali_npy sali_npy_view(sali_scan *scan)
{
    sali_npy array = { 0 };
    sali_scan header = read_preamble(scan);
    if (header.status == SAL_OK) {
        read_header(&header, &array);
    }
    int64_t have = scan->end - header.end, want = array.count * sali_dtype_bytes(array.dtype);
    if (have != want) {
        sali_scan_refuse(&header, "the array needs %lld bytes after the header, but %lld are there",
                         (long long)want, (long long)have);
    }
    scan->status = header.status;
    array.data = (const unsigned char *)header.end;
    return scan->status == SAL_OK ? array : (sali_npy){ 0 };
}

/* The bytes of the element with index i in C order. */
static const unsigned char *element_at(const sali_npy *a, int64_t i)
{
    int64_t at = i;
    if (a->fortran_order) {
        int64_t stride = a->count;
        at = 0;
        for (int d = a->ndim - 1; d >= 0; d--) {
            stride /= a->shape[d]; /* there is an element, so no dimension is 0 */
            at += i % a->shape[d] * stride;
            i /= a->shape[d];
        }
    }
    return a->data + at * sali_dtype_bytes(a->dtype);
}

void sali_npy_doubles(const sali_npy *array, double *out)
{
    for (int64_t i = 0; i < array->count; i++) {
        out[i] = sali_dtype_load(array->dtype, element_at(array, i), array->big_endian);
    }
}

/* ---- writing: version 1.0 */

/* Write preamble and header, padded so that the data begin at a multiple of 64. Returns the
 * length. */
#define HEADER_SIZE 192
static int format_header(char out[HEADER_SIZE], const char *descr, int ndim, const int64_t *shape)
{
    char tuple[SALI_NPY_MAX_DIM * 22 + 1] = "";
    int n = 0;
    for (int i = 0; i < ndim; i++) {
        n += snprintf(tuple + n, sizeof tuple - (size_t)n, i == 0 ? "%lld," : " %lld,",
                      (long long)shape[i]);
    }
    if (ndim > 1) {
        tuple[n - 1] = '\0'; /* only a tuple of one needs its comma */
    }
    int length =
        10 + snprintf(out + 10, HEADER_SIZE - 10,
                      "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, tuple);
    int padded = (length + 1 + 63) / 64 * 64;
    memset(out + length, ' ', (size_t)(padded - length));
    out[padded - 1] = '\n';
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (char)((padded - 10) & 255);
    out[9] = (char)((padded - 10) >> 8);
    return padded;
}

/* Write the header of an array; fails if the format lacks the type or the shape is bad. */
static void put_header(sali_text_output *w, sali_dtype dtype, int ndim, const int64_t *shape)
{
    const char *type = sali_dtype_npy(dtype);
    int size = sali_dtype_bytes(dtype);
    if (!type) {
        sali_text_fail(w, SAL_ERR_ARGUMENT, ".npy has no type %s", sali_dtype_name(dtype));
    }
    if (ndim < 0 || ndim > SALI_NPY_MAX_DIM || sali_shape_count(shape, ndim, size) < 0) {
        sali_text_fail(w, SAL_ERR_ARGUMENT,
                       "not a shape: expected 0 to 4 dimensions, none negative, and a product "
                       "within 64 bits");
    }
    if (type && w->status == SAL_OK) {
        char header[HEADER_SIZE], descr[] = { size == 1         ? '|'
                                              : SALI_BIG_ENDIAN ? '>'
                                                                : '<',
                                              type[0], type[1], '\0' };
        sali_put_bytes(w, header, format_header(header, descr, ndim, shape));
    }
}

sal_status sali_npy_write(const char *path, sali_dtype dtype, int ndim, const int64_t *shape,
                          const void *data, sal_error *err)
{
    sali_text_output w;
    int size = sali_dtype_bytes(dtype);
    sali_text_open(&w, path, false, err);
    put_header(&w, dtype, ndim, shape);
    if (w.status == SAL_OK) {
        sali_put_bytes(&w, data, sali_shape_count(shape, ndim, size) * size);
    }
    return sali_text_close(&w);
}

sal_status sal_array_write(const char *path, const sal_array *array, sal_error *err)
{
    if (!array->whole) {
        return sali_npy_write(path, SALI_DTYPE_F64, array->ndim, array->shape, array->values, err);
    }
    int32_t *whole = SALI_NEW_ARRAY(int32_t, array->count);
    for (int64_t i = 0; whole && i < array->count; i++) {
        whole[i] = (int32_t)array->values[i];
    }
    sal_status status =
        whole ? sali_npy_write(path, SALI_DTYPE_I32, array->ndim, array->shape, whole, err)
              : sali_fail_memory(err);
    sali_free(whole);
    return status;
}

/* ---- the record */

static bool recognise(sali_scan *scan)
{
    return scan->end - scan->begin >= 6 && memcmp(scan->begin, "\x93NUMPY", 6) == 0;
}

/* Read the array; its numbers may be NaN or infinite, which the caller judges. */
static void parse(sali_scan *scan, sali_content *out)
{
    sali_npy npy = sali_npy_view(scan);
    if (scan->status == SAL_OK) {
        scan->status = sali_array_take(scan->name, &npy, &out->array, scan->err);
    }
}

static void write(sali_text_output *w, const sali_content *content)
{
    const sal_array *array = &content->array;
    sali_dtype dtype = sali_array_dtype(array);
    put_header(w, dtype, array->ndim, array->shape);
    sali_array_put(w, array, dtype, SALI_BIG_ENDIAN);
}

const sali_format sali_format_npy = {
    .name = "npy",
    .doc = "NumPy's arrays; written in bytes or floats where they hold all values",
    .suffixes = { ".npy" },
    .content = SALI_CONTENT_ARRAY,
    .comments = SALI_BYTES,
    .recognise = recognise,
    .has_heading = true,
    .parse = parse,
    .write = write,
};
