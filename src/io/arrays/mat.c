/* SPDX-License-Identifier: MIT */
/* Arrays of MATLAB's .mat files of versions 4 and 5 to 7. Files of version 7.3 are HDF5.
 * Source: The MathWorks, MAT-File Format. libmatio 1.5 reads such files, too, but fills what is
 * missing of a truncated file with zeros, without an error. */
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/arrays/array_file.h"
#include "io/arrays/hdf5.h"
#include "io/format.h"
#include "io/member.h"
#include "io/unpack.h"

/* More than any file has. */
#define MOST_VARIABLES 4096

/* A position in bytes of one byte order. */
typedef struct cursor {
    const unsigned char *next, *end;
    int big_endian;
} cursor;

static int64_t left(const cursor *c)
{
    return c->end - c->next;
}

/* The next 32-bit number; 0 if fewer bytes are left. */
static uint32_t take_u32(cursor *c)
{
    if (left(c) < 4) {
        return 0;
    }
    c->next += 4;
    return (uint32_t)sali_dtype_load(SALI_DTYPE_U32, c->next - 4, c->big_endian);
}

/* A variable of a file: its name, and its array where it has real numbers. */
typedef struct variable {
    const char *name;
    int64_t name_size;
    bool is_array;
    sali_npy view;
} variable;

/* Fail as a file that ends, or contradicts itself, within a variable. */
static void fail_variable(sali_scan *scan, const variable *v, const char *what)
{
    char shown[SALI_SHOW_SIZE];
    sali_scan_refuse(scan, "is damaged: variable '%s' %s",
                     sali_show(v->name ? v->name : "", v->name ? v->name_size : 0, shown), what);
}

/* ---- version 5: elements, which have a type, a size and bytes */

enum { ELEMENT_I8 = 1, ELEMENT_I32 = 5, ELEMENT_U32 = 6, ELEMENT_MATRIX = 14, ELEMENT_PACKED = 15 };
enum { CLASS_DOUBLE = 6, CLASS_U64 = 15, IS_COMPLEX = 0x0800 };

#define HEADER 128 /* a text, then in 4 bytes the version and the letters MI */

typedef struct element {
    uint32_t type;
    int64_t size;
    cursor content;
} element;

/* Take the next element. Matrices may have elements whose bytes are in the place of the size, where
 * they are at most 4. False: it is not whole. */
static bool take_element(cursor *c, element *e)
{
    if (left(c) < 8) {
        return false;
    }
    const uint32_t word = take_u32(c);
    const bool is_small = word >> 16 != 0;
    e->type = is_small ? word & 0xffff : word;
    e->size = is_small ? word >> 16 : take_u32(c);
    if (e->size > left(c) || (is_small && e->size > 4)) {
        return false;
    }
    e->content = (cursor){ c->next, c->next + e->size, c->big_endian };
    const int64_t padded = is_small                    ? 4
                           : e->type == ELEMENT_PACKED ? e->size
                                                       : (e->size + 7) / 8 * 8;
    c->next += padded < left(c) ? padded : left(c);
    return e->type != 0;
}

/* The type of the numbers in an element. */
static bool find_type(uint32_t type, sali_dtype *out)
{
    static const sali_dtype types[] = {
        [1] = SALI_DTYPE_I8,   [2] = SALI_DTYPE_U8,   [3] = SALI_DTYPE_I16, [4] = SALI_DTYPE_U16,
        [5] = SALI_DTYPE_I32,  [6] = SALI_DTYPE_U32,  [7] = SALI_DTYPE_F32, [9] = SALI_DTYPE_F64,
        [12] = SALI_DTYPE_I64, [13] = SALI_DTYPE_U64,
    };
    const bool known = (type >= 1 && type <= 7) || type == 9 || type == 12 || type == 13;
    *out = known ? types[type] : SALI_DTYPE_U8;
    return known;
}

/* Read the dimensions of a matrix into the view. False: there are none, one is 0, or they are more
 * than an array has here. */
static bool take_shape(element *e, sali_npy *view)
{
    const int64_t n = e->size / 4;
    if (n < 1 || n > SALI_NPY_MAX_DIM) {
        return false;
    }
    view->ndim = (int)n;
    for (int d = 0; d < view->ndim; d++) {
        view->shape[d] = (int32_t)take_u32(&e->content);
    }
    return sali_shape_count(view->shape, view->ndim, sizeof(double)) > 0;
}

/* Read the content of a matrix: flags, dimensions, name and numbers. */
static void read_matrix(sali_scan *scan, cursor c, variable *v)
{
    element flags, shape, name, numbers;
    *v = (variable){ .view = { .fortran_order = 1, .big_endian = c.big_endian } };
    if (!take_element(&c, &flags) || flags.type != ELEMENT_U32 || flags.size != 8 ||
        !take_element(&c, &shape) || shape.type != ELEMENT_I32 || !take_element(&c, &name) ||
        name.type != ELEMENT_I8) {
        fail_variable(scan, v, "has no name, class and dimensions");
        return;
    }
    v->name = (const char *)name.content.next;
    v->name_size = name.size;
    const uint32_t word = take_u32(&flags.content), class = word & 0xff;
    if (class < CLASS_DOUBLE || class > CLASS_U64 || word & IS_COMPLEX ||
        !take_shape(&shape, &v->view)) {
        return;
    }
    v->view.count = sali_shape_count(v->view.shape, v->view.ndim, sizeof(double));
    if (!take_element(&c, &numbers) || !find_type(numbers.type, &v->view.dtype) ||
        numbers.size / sali_dtype_bytes(v->view.dtype) != v->view.count ||
        numbers.size % sali_dtype_bytes(v->view.dtype) != 0) {
        fail_variable(scan, v, "has not the numbers that its dimensions ask for");
        return;
    }
    v->view.data = numbers.content.next;
    v->is_array = true;
}

/* Read the next variable. *room receives the bytes that it was unpacked to, which `v` points
 * into. */
static void read_v5(sali_scan *scan, cursor *c, int64_t most, sali_bytes *room, variable *v)
{
    element e;
    *v = (variable){ 0 };
    if (!take_element(c, &e)) {
        sali_scan_refuse(scan, "ends too early, or is damaged");
    } else if (e.type == ELEMENT_PACKED) {
        scan->status = sali_unpack(&sali_packing_zlib, scan->name, e.content.next, e.size, most,
                                   room, scan->err);
    }
    if (room->data) {
        cursor inside = { room->data, room->data + room->size, c->big_endian };
        if (!take_element(&inside, &e)) {
            sali_scan_refuse(scan, "is damaged: a variable ends too early");
        }
    }
    if (scan->status == SAL_OK && e.type != ELEMENT_MATRIX) {
        sali_scan_refuse(scan, "is damaged: element of type %u; expected a matrix", e.type);
    }
    if (scan->status == SAL_OK) {
        read_matrix(scan, e.content, v);
    }
}

/* ---- version 4: five numbers, a name and numbers */

/* The numbers of version 4 by the third digit of their type. */
static const sali_dtype v4_types[] = { SALI_DTYPE_F64, SALI_DTYPE_F32, SALI_DTYPE_I32,
                                       SALI_DTYPE_I16, SALI_DTYPE_U16, SALI_DTYPE_U8 };

/* Split a type of version 4, by its digits M0PT: byte order, precision, and kind of matrix. */
static bool split_type(uint32_t type, int *big_endian, uint32_t *precision, uint32_t *kind)
{
    *big_endian = type / 1000 == 1;
    *precision = type / 10 % 10;
    *kind = type % 10;
    return type / 1000 <= 1 && type / 100 % 10 == 0 && *precision <= 5 && *kind <= 2;
}

/* Read the next variable. */
static void read_v4(sali_scan *scan, cursor *c, variable *v)
{
    uint32_t precision = 0, kind = 0;
    cursor other = *c;
    other.big_endian = 1;
    *v = (variable){ .view = { .fortran_order = 1, .ndim = 2 } };
    c->big_endian = 0;
    bool ok =
        left(c) >= 20 &&
        ((split_type(take_u32(c), &v->view.big_endian, &precision, &kind) && !v->view.big_endian) ||
         (split_type(take_u32(&other), &v->view.big_endian, &precision, &kind) &&
          v->view.big_endian));
    c->big_endian = v->view.big_endian;
    v->view.dtype = v4_types[ok ? precision : 0];
    v->view.shape[0] = take_u32(c);
    v->view.shape[1] = take_u32(c);
    const uint32_t complex = take_u32(c), name_size = take_u32(c);
    const int bytes = sali_dtype_bytes(v->view.dtype);
    v->view.count = sali_shape_count(v->view.shape, 2, 2 * sizeof(double));
    ok = ok && complex <= 1 && v->view.count >= 0 && name_size > 0 && name_size <= left(c) &&
         v->view.count * bytes * (1 + (int64_t)complex) <= left(c) - name_size;
    if (!ok) {
        sali_scan_refuse(scan, "is no MAT-file, ends too early, or is damaged");
        return;
    }
    v->name = (const char *)c->next;
    v->name_size = name_size;
    v->view.data = c->next + name_size;
    v->is_array = kind == 0 && !complex && v->view.count > 0;
    c->next += name_size + v->view.count * bytes * (1 + (int64_t)complex);
}

/* ---- the file */

/* Whether a header has this version, in either byte order. *big_endian receives the order. */
static bool is_version(const sali_scan *scan, int version, int *big_endian)
{
    const char *b = scan->begin + HEADER - 4;
    const bool has_header =
        scan->end - scan->begin >= HEADER && memcmp(scan->begin, "MATLAB ", 7) == 0;
    *big_endian = has_header && b[2] == 'M' && b[3] == 'I';
    return has_header && ((b[1] == version && b[0] == 0 && b[2] == 'I' && b[3] == 'M') ||
                          (*big_endian && b[0] == version && b[1] == 0));
}

static bool recognise(sali_scan *scan)
{
    int big_endian;
    return is_version(scan, 1, &big_endian) || is_version(scan, 2, &big_endian);
}

/* Go through all variables: list the arrays, or with `list` NULL take number `wanted`. */
static void read_variables(sali_scan *scan, sali_candidates *list, int64_t wanted, sal_array *out)
{
    cursor c = { (const unsigned char *)scan->begin, (const unsigned char *)scan->end, 0 };
    const bool v5 = is_version(scan, 1, &c.big_endian);
    int64_t most = SALI_UNPACK_MAX;
    c.next += v5 ? HEADER : 0;
    for (int64_t k = 0; scan->status == SAL_OK && left(&c) > 0 && (list || k <= wanted); k++) {
        variable v;
        sali_bytes room = { 0 };
        if (k == MOST_VARIABLES) {
            sali_scan_refuse(scan, "holds more than %d variables", MOST_VARIABLES);
        } else if (v5) {
            read_v5(scan, &c, most, &room, &v);
        } else {
            read_v4(scan, &c, &v);
        }
        if (scan->status == SAL_OK && list && v.is_array) {
            sali_candidates_add(scan, list, v.name, v.name_size, (uint64_t)v.view.count, k);
        } else if (scan->status == SAL_OK && !list && k == wanted) {
            scan->status = sali_array_take(scan->name, &v.view, out, scan->err);
        }
        most -= room.size;
        sali_bytes_free(&room);
    }
}

static void parse(sali_scan *scan, sali_content *out)
{
    sali_candidates list = { 0 };
    int big_endian;
    if (is_version(scan, 2, &big_endian)) {
        sali_hdf5_parse(scan, true, out);
        return;
    }
    if (scan->begin == scan->end) {
        sali_scan_refuse(scan, "is empty");
    }
    read_variables(scan, &list, -1, NULL);
    const sali_candidate *chosen = sali_member_choose(scan, &list, &out->remark);
    if (chosen) {
        read_variables(scan, NULL, chosen->place, &out->array);
    }
    sali_candidates_free(&list);
    sali_member_arrange(scan, true, out);
}

const sali_format sali_format_mat = {
    .name = "mat",
    .doc = "one of MATLAB's arrays (FILE:NAME); of version 7.3 if built with libhdf5",
    .suffixes = { ".mat" },
    .content = SALI_CONTENT_ARRAY,
    .comments = SALI_BYTES,
    .recognise = recognise,
    .has_heading = true,
    .has_members = true,
    .parse = parse,
};
