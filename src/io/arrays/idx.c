#include "io/arrays/idx.h"

#include "core/error.h"

static int dtype_of_code(int code, sali_dtype *dtype)
{
    static const struct {
        int code;
        sali_dtype dtype;
    } types[] = {
        { 0x08, SALI_DTYPE_U8 },  { 0x09, SALI_DTYPE_I8 },  { 0x0b, SALI_DTYPE_I16 },
        { 0x0c, SALI_DTYPE_I32 }, { 0x0d, SALI_DTYPE_F32 }, { 0x0e, SALI_DTYPE_F64 },
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].code == code) {
            *dtype = types[i].dtype;
            return 1;
        }
    }
    return 0;
}

/* The four bytes before the sizes. */
static sal_status read_magic(const char *name, const unsigned char *bytes, int64_t size,
                             sali_idx *array, sal_error *err)
{
    if (size < 4 || bytes[0] != 0 || bytes[1] != 0) {
        return sali_fail(err, SAL_ERR_DATA,
                         "%s: is not an IDX file (it does not begin with two "
                         "zero bytes, a type and a number of dimensions)",
                         name);
    }
    if (!dtype_of_code(bytes[2], &array->dtype)) {
        return sali_fail(err, SAL_ERR_DATA,
                         "%s: IDX type 0x%02x; expected 0x08, 0x09, 0x0b, 0x0c, 0x0d or 0x0e", name,
                         bytes[2]);
    }
    array->ndim = bytes[3];
    if (array->ndim < 1 || array->ndim > SALI_IDX_MAX_DIM) {
        return sali_fail(err, SAL_ERR_DATA, "%s: %d dimensions; expected 1 to 4", name,
                         array->ndim);
    }
    return SAL_OK;
}

sal_status sali_idx_parse(const char *name, const void *bytes, int64_t size, sali_idx *out,
                          sal_error *err)
{
    sali_idx array = { 0 };
    const unsigned char *p = bytes;
    sal_status status = read_magic(name, p, size, &array, err);
    if (status != SAL_OK) {
        return status;
    }
    int64_t begin = 4 + 4 * array.ndim;
    if (size < begin) {
        return sali_fail(err, SAL_ERR_DATA, "%s: the IDX header ends too early", name);
    }
    for (int i = 0; i < array.ndim; i++) {
        array.shape[i] = (int64_t)sali_dtype_load(SALI_DTYPE_U32, p + 4 + 4 * i, 1);
    }
    int width = sali_dtype_bytes(array.dtype);
    array.count = sali_shape_count(array.shape, array.ndim, width);
    if (array.count < 0 || array.count * width != size - begin) {
        return sali_fail(err, SAL_ERR_DATA,
                         "%s: %lld bytes follow the IDX header; expected the product of its sizes "
                         "times %d",
                         name, (long long)(size - begin), width);
    }
    array.data = p + begin;
    *out = array;
    return SAL_OK;
}

sal_status sali_idx_read(const char *path, sali_idx *out, sal_error *err)
{
    sali_bytes file = { 0 };
    sal_status status = sali_file_read_gz(path, SALI_GUNZIP_MAX, &file, err);
    if (status != SAL_OK) {
        return status;
    }
    status = sali_idx_parse(path, file.data, file.size, out, err);
    if (status != SAL_OK) {
        sali_bytes_free(&file);
        return status;
    }
    out->file = file;
    return SAL_OK;
}

void sali_idx_free(sali_idx *array)
{
    sali_bytes_free(&array->file);
    *array = (sali_idx){ 0 };
}

void sali_idx_doubles(const sali_idx *array, double *out)
{
    for (int64_t i = 0; i < array->count; i++) {
        const unsigned char *bytes = array->data + i * sali_dtype_bytes(array->dtype);
        out[i] = sali_dtype_load(array->dtype, bytes, 1);
    }
}
