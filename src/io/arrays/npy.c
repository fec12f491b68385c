/* SPDX-License-Identifier: MIT */
#include "io/arrays/npy.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/number.h"
#include "io/arrays/array_file.h"
#include "io/format.h"
#include "io/scan.h"

/* ---- the header, a Python dictionary */

typedef struct cursor {
    const char *name;
    const char *next, *end;
    sal_error *err;
} cursor;

static sal_status expected(const cursor *c, const char *what)
{
    char shown[SALI_SHOW_SIZE];
    return sali_fail(c->err, SAL_ERR_DATA, "%s: .npy header: expected %s, found '%s'", c->name,
                     what, sali_show(c->next, c->end - c->next, shown));
}

static void skip_blanks(cursor *c)
{
    while (c->next < c->end && (*c->next == ' ' || *c->next == '\n')) {
        c->next++;
    }
}

/* Is the next character `wanted`? Then pass it. */
static int accept(cursor *c, char wanted)
{
    skip_blanks(c);
    if (c->next == c->end || *c->next != wanted) {
        return 0;
    }
    c->next++;
    return 1;
}

/* A short quoted string without escapes. */
static sal_status read_string(cursor *c, const char *what, char *out, int64_t room)
{
    skip_blanks(c);
    const char *begin = c->next + 1;
    if (c->next == c->end || (*c->next != '\'' && *c->next != '"')) {
        return expected(c, what);
    }
    const char *close = memchr(begin, *c->next, (size_t)(c->end - begin));
    if (!close || close - begin >= room || memchr(begin, '\0', (size_t)(close - begin))) {
        return expected(c, what);
    }
    memcpy(out, begin, (size_t)(close - begin));
    out[close - begin] = '\0';
    c->next = close + 1;
    return SAL_OK;
}

static sal_status read_descr(cursor *c, sali_npy *array)
{
    const char *what = "the type of a plain number, such as '<f8', '|u1' or '>i4'";
    cursor before = *c;
    char descr[8];
    sal_status status = read_string(c, what, descr, sizeof descr);
    if (status != SAL_OK) {
        return status;
    }
    if (descr[0] && sali_dtype_find(NULL, descr + 1, 0, &array->dtype) &&
        strchr(sali_dtype_bytes(array->dtype) == 1 ? "|<>=" : "<>=", descr[0])) {
        array->big_endian = descr[0] == '>' || (descr[0] == '=' && SALI_BIG_ENDIAN);
        return SAL_OK;
    }
    skip_blanks(&before);
    return expected(&before, what);
}

static sal_status read_order(cursor *c, sali_npy *array)
{
    static const char *const words[] = { "False", "True" };
    skip_blanks(c);
    for (int k = 0; k < 2; k++) {
        size_t n = strlen(words[k]);
        if ((size_t)(c->end - c->next) >= n && memcmp(c->next, words[k], n) == 0) {
            array->fortran_order = k;
            c->next += n;
            return SAL_OK;
        }
    }
    return expected(c, "True or False");
}

/* "()", "(3,)", "(3, 4)"; Python 2 wrote long integers as 3L. */
static sal_status read_shape(cursor *c, sali_npy *array)
{
    if (!accept(c, '(')) {
        return expected(c, "a tuple of dimensions");
    }
    array->ndim = 0;
    while (!accept(c, ')')) {
        const char *digits = c->next;
        if (array->ndim == SALI_NPY_MAX_DIM) {
            return expected(c, "at most 4 dimensions");
        }
        while (c->next < c->end && *c->next >= '0' && *c->next <= '9') {
            c->next++;
        }
        if (sali_parse_int(digits, c->next - digits, &array->shape[array->ndim]) != SAL_OK) {
            c->next = digits;
            return expected(c, "a dimension");
        }
        array->ndim++;
        if (c->next < c->end && *c->next == 'L') {
            c->next++;
        }
        int comma = accept(c, ',');
        skip_blanks(c);
        int closes = c->next < c->end && *c->next == ')';
        if (!comma && (!closes || array->ndim == 1)) {
            return expected(c, "',' in the tuple of dimensions");
        }
    }
    return SAL_OK;
}

static sal_status read_item(cursor *c, sali_npy *array, int *seen)
{
    static const struct {
        const char *key;
        sal_status (*read)(cursor *, sali_npy *);
    } items[] = { { "descr", read_descr },
                  { "fortran_order", read_order },
                  { "shape", read_shape } };
    const char *what = "the key 'descr', 'fortran_order' or 'shape', each once";
    cursor before = *c;
    char key[16];
    sal_status status = read_string(c, what, key, sizeof key);
    if (status != SAL_OK) {
        return status;
    }
    for (int i = 0; i < 3; i++) {
        if (strcmp(key, items[i].key) == 0 && !(*seen & 1 << i)) {
            *seen |= 1 << i;
            return accept(c, ':') ? items[i].read(c, array) : expected(c, "':'");
        }
    }
    return expected(&before, what);
}

static sal_status read_header(const char *name, const char *text, int64_t size, sali_npy *array,
                              sal_error *err)
{
    cursor c = { name, text, text + size, err };
    int seen = 0;
    if (!accept(&c, '{')) {
        return expected(&c, "'{'");
    }
    while (!accept(&c, '}')) {
        sal_status status = read_item(&c, array, &seen);
        if (status != SAL_OK) {
            return status;
        }
        int comma = accept(&c, ',');
        skip_blanks(&c);
        if (!comma && (c.next == c.end || *c.next != '}')) {
            return expected(&c, "',' or '}'");
        }
    }
    skip_blanks(&c);
    if (c.next != c.end) {
        return expected(&c, "nothing after '}'");
    }
    if (seen != 7) {
        return sali_fail(err, SAL_ERR_DATA,
                         "%s: .npy header: expected 'descr', 'fortran_order' and 'shape'; one is "
                         "missing",
                         name);
    }
    array->count = sali_shape_count(array->shape, array->ndim, sali_dtype_bytes(array->dtype));
    if (array->count < 0) {
        return sali_fail(err, SAL_ERR_DATA, "%s: .npy header: the size of the array overflows",
                         name);
    }
    return SAL_OK;
}

/* ---- the file */

/* The magic string, the version, and the header's length in 2 bytes (version 1) or 4. */
static sal_status read_preamble(const char *name, const unsigned char *bytes, int64_t size,
                                int64_t *begin, int64_t *length, sal_error *err)
{
    if (size < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0) {
        return sali_fail(err, SAL_ERR_DATA,
                         "%s: is not a .npy file (it does not begin with "
                         "\\x93NUMPY and a version)",
                         name);
    }
    int version = bytes[6];
    if (version < 1 || version > 3 || bytes[7] != 0) {
        return sali_fail(err, SAL_ERR_DATA, "%s: .npy version %d.%d; expected 1.0, 2.0 or 3.0",
                         name, version, bytes[7]);
    }
    *begin = version == 1 ? 10 : 12;
    if (size < *begin) {
        return sali_fail(err, SAL_ERR_DATA, "%s: the .npy header ends too early", name);
    }
    *length = bytes[8] | bytes[9] << 8;
    if (version > 1) {
        *length |= (int64_t)bytes[10] << 16 | (int64_t)bytes[11] << 24;
    }
    if (*length > size - *begin) {
        return sali_fail(err, SAL_ERR_DATA,
                         "%s: the .npy header should have %lld bytes, but %lld are left", name,
                         (long long)*length, (long long)(size - *begin));
    }
    return SAL_OK;
}

sal_status sali_npy_parse(const char *name, const void *bytes, int64_t size, sali_npy *out,
                          sal_error *err)
{
    int64_t begin = 0;
    int64_t length = 0;
    sal_status status = read_preamble(name, bytes, size, &begin, &length, err);
    if (status != SAL_OK) {
        return status;
    }
    sali_npy array = { 0 };
    status = read_header(name, (const char *)bytes + begin, length, &array, err);
    if (status != SAL_OK) {
        return status;
    }
    int64_t have = size - begin - length;
    int64_t want = array.count * sali_dtype_bytes(array.dtype);
    if (have != want) {
        return sali_fail(err, SAL_ERR_DATA,
                         "%s: the array needs %lld bytes after the header, but %lld are there",
                         name, (long long)want, (long long)have);
    }
    array.data = (const unsigned char *)bytes + begin + length;
    *out = array;
    return SAL_OK;
}

sal_status sali_npy_read(const char *path, sali_npy *out, sal_error *err)
{
    sali_bytes file = { 0 };
    sal_status status = sali_file_read(path, &file, err);
    if (status != SAL_OK) {
        return status;
    }
    status = sali_npy_parse(path, file.data, file.size, out, err);
    if (status != SAL_OK) {
        sali_bytes_free(&file);
        return status;
    }
    out->file = file;
    return SAL_OK;
}

void sali_npy_free(sali_npy *array)
{
    sali_bytes_free(&array->file);
    *array = (sali_npy){ 0 };
}

/* The element of C-order index i. */
static const unsigned char *element(const sali_npy *a, int64_t i)
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
        out[i] = sali_dtype_load(array->dtype, element(array, i), array->big_endian);
    }
}

sal_status sali_npy_codes(const sali_npy *array, const char *name, int32_t *out, sal_error *err)
{
    for (int64_t i = 0; i < array->count; i++) {
        const unsigned char *bytes = element(array, i);
        int64_t code;
        if (!sali_dtype_load_int(array->dtype, bytes, array->big_endian, &code) ||
            code < INT32_MIN || code > INT32_MAX) {
            return sali_fail(err, SAL_ERR_DATA,
                             "%s: element %lld is %g; expected codes: whole numbers of 32 bits",
                             name, (long long)i,
                             sali_dtype_load(array->dtype, bytes, array->big_endian));
        }
        out[i] = (int32_t)code;
    }
    return SAL_OK;
}

/* ---- writing: version 1.0 */

/* Preamble and dict, padded so that the data begin at a multiple of 64. Returns the length. */
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

sal_status sali_npy_write(const char *path, sali_dtype dtype, int ndim, const int64_t *shape,
                          const void *data, sal_error *err)
{
    const char *type = sali_dtype_npy(dtype);
    int size = sali_dtype_bytes(dtype);
    int64_t count =
        ndim >= 0 && ndim <= SALI_NPY_MAX_DIM ? sali_shape_count(shape, ndim, size) : -1;
    if (!type) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "%s: .npy has no type %s", path,
                         sali_dtype_name(dtype));
    }
    if (count < 0) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "%s: not a shape: expected 0 to 4 dimensions, none negative, and a "
                         "product within 64 bits",
                         path);
    }
    char header[HEADER_SIZE], descr[] = { size == 1         ? '|'
                                          : SALI_BIG_ENDIAN ? '>'
                                                            : '<',
                                          type[0], type[1], '\0' };
    sali_output out = { 0 };
    sal_status status = sali_output_open(path, &out, err);
    status = status
                 ? status
                 : sali_output_write(&out, header, format_header(header, descr, ndim, shape), err);
    status = status ? status : sali_output_write(&out, data, count * size, err);
    status = status ? status : sali_output_commit(&out, err);
    sali_output_discard(&out);
    return status;
}

/* ---- the record */

static bool looks_like_npy(const char *data, int64_t size)
{
    return size >= 6 && memcmp(data, "\x93NUMPY", 6) == 0;
}

static sal_status parse_npy(const char *name, const char *data, int64_t size, sali_content *out,
                            sal_error *err)
{
    sali_npy npy = { 0 };
    sal_status status = sali_npy_parse(name, data, size, &npy, err);
    return status ? status : sali_array_take(name, &npy, &out->array, err);
}

static sal_status write_npy(const char *path, const sali_content *content, sal_error *err)
{
    const sal_array *array = &content->array;
    sali_dtype dtype = sali_array_dtype(array);
    void *packed = sali_array_pack(array, dtype);
    sal_status status = packed ? sali_npy_write(path, dtype, array->ndim, array->shape, packed, err)
                               : sali_fail_memory(err);
    sali_free(packed);
    return status;
}

const sali_format sali_format_npy = {
    .name = "npy",
    .doc = "NumPy's arrays; written in bytes or floats where they hold all values",
    .suffixes = { ".npy" },
    .content = SALI_CONTENT_ARRAY,
    .recognise = looks_like_npy,
    .has_heading = true,
    .parse = parse_npy,
    .write = write_npy,
};
