/* Writing .npy, version 1.0. */
#include "io/arrays/npy.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"

struct sali_npy_writer {
    sali_output out;
    int64_t left; /* elements still to come */
    int size;     /* bytes of one */
};

static const char *descr_of(sali_dtype dtype)
{
    int big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    switch (dtype) {
    case SALI_DTYPE_U8:
        return "|u1";
    case SALI_DTYPE_I32:
        return big ? ">i4" : "<i4";
    case SALI_DTYPE_F32:
        return big ? ">f4" : "<f4";
    case SALI_DTYPE_F64:
        return big ? ">f8" : "<f8";
    default:
        return NULL;
    }
}

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

sal_status sali_npy_writer_open(const char *path, sali_dtype dtype, int ndim, const int64_t *shape,
                                sali_npy_writer **out, sal_error *err)
{
    const char *descr = descr_of(dtype);
    int size = sali_dtype_bytes(dtype);
    if (!descr) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "%s: .npy arrays are written as float, double, uint8 or int32 only", path);
    }
    int64_t count =
        ndim >= 0 && ndim <= SALI_NPY_MAX_DIM ? sali_shape_count(shape, ndim, size) : -1;
    if (count < 0) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "%s: not a shape: expected 0 to 4 dimensions, none negative, and a "
                         "product within 64 bits",
                         path);
    }
    sali_npy_writer *writer = SALI_NEW(sali_npy_writer);
    if (!writer) {
        return sali_fail_memory(err);
    }
    *writer = (sali_npy_writer){ .left = count, .size = size };
    sal_status status = sali_output_open(path, &writer->out, err);
    if (status != SAL_OK) {
        goto fail;
    }
    char header[HEADER_SIZE];
    int length = format_header(header, descr, ndim, shape);
    status = sali_output_write(&writer->out, header, length, err);
    if (status != SAL_OK) {
        goto fail;
    }
    *out = writer;
    return SAL_OK;
fail:
    sali_npy_writer_discard(writer);
    return status;
}

sal_status sali_npy_writer_append(sali_npy_writer *writer, const void *data, int64_t count,
                                  sal_error *err)
{
    if (count < 0 || count > writer->left) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "%s: %lld elements given, but the shape has room for %lld more",
                         writer->out.path, (long long)count, (long long)writer->left);
    }
    sal_status status = sali_output_write(&writer->out, data, count * writer->size, err);
    if (status == SAL_OK) {
        writer->left -= count;
    }
    return status;
}

sal_status sali_npy_writer_close(sali_npy_writer *writer, sal_error *err)
{
    sal_status status;
    if (writer->left > 0) {
        status = sali_fail(err, SAL_ERR_ARGUMENT, "%s: not written: %lld elements are missing",
                           writer->out.path, (long long)writer->left);
    } else {
        status = sali_output_commit(&writer->out, err);
    }
    sali_npy_writer_discard(writer);
    return status;
}

void sali_npy_writer_discard(sali_npy_writer *writer)
{
    if (writer) {
        sali_output_discard(&writer->out);
        sali_free(writer);
    }
}

sal_status sali_npy_write(const char *path, sali_dtype dtype, int ndim, const int64_t *shape,
                          const void *data, sal_error *err)
{
    sali_npy_writer *writer = NULL;
    sal_status status = sali_npy_writer_open(path, dtype, ndim, shape, &writer, err);
    if (status != SAL_OK) {
        return status;
    }
    status = sali_npy_writer_append(writer, data, writer->left, err);
    if (status != SAL_OK) {
        sali_npy_writer_discard(writer);
        return status;
    }
    return sali_npy_writer_close(writer, err);
}
