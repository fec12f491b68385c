#include "io/arrays/npy_header.h"

#include <string.h>

#include "core/error.h"
#include "core/number.h"
#include "io/scan.h"

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
    static const struct {
        const char *code;
        sali_dtype dtype;
    } types[] = {
        { "b1", SALI_DTYPE_BOOL }, { "i1", SALI_DTYPE_I8 },  { "u1", SALI_DTYPE_U8 },
        { "i2", SALI_DTYPE_I16 },  { "u2", SALI_DTYPE_U16 }, { "i4", SALI_DTYPE_I32 },
        { "u4", SALI_DTYPE_U32 },  { "i8", SALI_DTYPE_I64 }, { "u8", SALI_DTYPE_U64 },
        { "f2", SALI_DTYPE_F16 },  { "f4", SALI_DTYPE_F32 }, { "f8", SALI_DTYPE_F64 },
    };
    const char *what = "the type of a plain number, such as '<f8', '|u1' or '>i4'";
    cursor before = *c;
    char descr[8];
    sal_status status = read_string(c, what, descr, sizeof descr);
    if (status != SAL_OK) {
        return status;
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (descr[0] && strcmp(descr + 1, types[i].code) == 0) {
            int single = sali_dtype_bytes(types[i].dtype) == 1;
            if (!strchr(single ? "|<>=" : "<>=", descr[0])) {
                break;
            }
            array->dtype = types[i].dtype;
            array->big_endian =
                descr[0] == '>' || (descr[0] == '=' && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
            return SAL_OK;
        }
    }
    skip_blanks(&before);
    return expected(&before, what);
}

static sal_status read_order(cursor *c, sali_npy *array)
{
    skip_blanks(c);
    if (c->end - c->next >= 4 && memcmp(c->next, "True", 4) == 0) {
        array->fortran_order = 1;
        c->next += 4;
        return SAL_OK;
    }
    if (c->end - c->next >= 5 && memcmp(c->next, "False", 5) == 0) {
        array->fortran_order = 0;
        c->next += 5;
        return SAL_OK;
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

sal_status sali_npy_header_parse(const char *name, const char *text, int64_t size, sali_npy *array,
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
