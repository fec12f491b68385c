/* SPDX-License-Identifier: MIT */
/* Decompression of gzip in memory. */
#include "io/config.h"
#include "io/file.h"

#include <string.h>
#ifdef SALI_HAVE_ZLIB
#define ZLIB_CONST
#include <zlib.h>
#endif

#include "core/alloc.h"
#include "core/error.h"

int sali_is_gzip(const void *data, int64_t size)
{
    const unsigned char *p = data;
    return size >= 2 && p[0] == 0x1f && p[1] == 0x8b;
}

#ifdef SALI_HAVE_ZLIB

/* zlib counts in unsigned int: input and output are passed in pieces of at most this size. */
#define PIECE ((int64_t)1 << 30)

static uInt piece_size(int64_t size)
{
    return (uInt)(size < PIECE ? size : PIECE);
}

/* One compressed byte becomes at most this many. */
#define MOST_EXPANSION 1032

/* A decompression in progress. */
typedef struct gunzip {
    z_stream z;
    const char *name;
    const unsigned char *data;
    int64_t size, used; /* of data */
    int64_t max_size, capacity;
    sali_bytes out;
} gunzip;

static sal_status too_large(const gunzip *g, sal_error *err)
{
    return sali_fail(err, SAL_ERR_DATA, "%s: decompresses to more than %lld bytes", g->name,
                     (long long)g->max_size);
}

/* The size that the last member declares, modulo 2^32: that of the whole file, for most files. */
static int64_t told_size(const gunzip *g)
{
    if (g->size < 18) {
        return 0;
    }
    const unsigned char *p = g->data + g->size - 4;
    return p[0] | p[1] << 8 | p[2] << 16 | (int64_t)p[3] << 24;
}

/* Room for one more byte and the final NUL. The first allocation has the declared size, if the file
 * can hold that much; later ones double, up to the limit. */
static sal_status make_room(gunzip *g, sal_error *err)
{
    if (g->out.size + 1 < g->capacity) {
        return SAL_OK;
    }
    const int64_t told = told_size(g), most = g->max_size + 2;
    const bool first = g->capacity == 0, can_be = told / MOST_EXPANSION <= g->size;
    int64_t room = first ? (can_be ? told : 0) + 65536 : 2 * g->capacity;
    room = room < most ? room : most;
    unsigned char *grown = sali_alloc(room, 1);
    if (!grown) {
        return sali_fail_memory(err);
    }
    if (!first) {
        memcpy(grown, g->out.data, (size_t)g->out.size);
    }
    sali_free(g->out.data);
    g->out.data = grown;
    g->capacity = room;
    return SAL_OK;
}

/* One call of inflate: make room, feed input, update the counts. *result is inflate's return
 * value. */
static sal_status inflate_some(gunzip *g, int *result, sal_error *err)
{
    /* Allow one byte more than the limit, to distinguish reaching the limit from exceeding it. */
    if (g->out.size > g->max_size) {
        return too_large(g, err);
    }
    sal_status status = make_room(g, err);
    if (status != SAL_OK) {
        return status;
    }
    int64_t room = g->capacity - 1 - g->out.size;
    int64_t allowed = g->max_size - g->out.size + 1;
    uInt in = piece_size(g->size - g->used);
    uInt space = piece_size(room < allowed ? room : allowed);
    g->z.next_in = g->data + g->used;
    g->z.avail_in = in;
    g->z.next_out = g->out.data + g->out.size;
    g->z.avail_out = space;
    *result = inflate(&g->z, Z_NO_FLUSH);
    g->used += in - g->z.avail_in;
    g->out.size += space - g->z.avail_out;
    return SAL_OK;
}

/* Decompress all members into g->out, followed by a NUL. SAL_ERR_DATA for damaged or excessive
 * data. */
static sal_status inflate_all(gunzip *g, sal_error *err)
{
    for (;;) {
        int result = Z_OK;
        sal_status status = inflate_some(g, &result, err);
        if (status != SAL_OK) {
            return status;
        }
        if (result == Z_STREAM_END && g->used == g->size) {
            break;
        }
        if (result == Z_STREAM_END && sali_is_gzip(g->data + g->used, g->size - g->used)) {
            inflateReset(&g->z);
        } else if (result == Z_STREAM_END) {
            return sali_fail(err, SAL_ERR_DATA,
                             "%s: byte %lld: something follows the compressed data", g->name,
                             (long long)g->used);
        } else if (result == Z_MEM_ERROR) {
            return sali_fail_memory(err);
        } else if (result == Z_BUF_ERROR && g->used == g->size) {
            return sali_fail(err, SAL_ERR_DATA, "%s: the compressed data ends too early", g->name);
        } else if (result != Z_OK && result != Z_BUF_ERROR) {
            return sali_fail(err, SAL_ERR_DATA, "%s: byte %lld: the compressed data is damaged: %s",
                             g->name, (long long)g->used, g->z.msg ? g->z.msg : "not gzip");
        }
    }
    if (g->out.size > g->max_size) {
        return too_large(g, err);
    }
    g->out.data[g->out.size] = '\0';
    return SAL_OK;
}

sal_status sali_gunzip(const char *name, const void *data, int64_t size, int64_t max_size,
                       sali_bytes *out, sal_error *err)
{
    gunzip g = { .name = name, .data = data, .size = size, .max_size = max_size };
    if (inflateInit2(&g.z, 15 + 16) != Z_OK) { /* the largest window, in a gzip wrapper */
        return sali_fail_memory(err);
    }
    sal_status status = inflate_all(&g, err);
    inflateEnd(&g.z);
    if (status != SAL_OK) {
        sali_bytes_free(&g.out);
        return status;
    }
    *out = g.out;
    return SAL_OK;
}

#else

sal_status sali_gunzip(const char *name, const void *data, int64_t size, int64_t max_size,
                       sali_bytes *out, sal_error *err)
{
    (void)data;
    (void)size;
    (void)max_size;
    (void)out;
    return sali_fail(err, SAL_ERR_UNSUPPORTED,
                     "%s: is compressed with gzip, and saltus was built without zlib; "
                     "decompress it first",
                     name);
}

#endif

sal_status sali_file_read_gz(const char *path, int64_t max_size, sali_bytes *out, sal_error *err)
{
    sali_bytes raw = { 0 };
    sal_status status = sali_file_read(path, &raw, err);
    if (status != SAL_OK) {
        return status;
    }
    if (!sali_is_gzip(raw.data, raw.size)) {
        *out = raw;
        return SAL_OK;
    }
    status = sali_gunzip(path, raw.data, raw.size, max_size, out, err);
    sali_bytes_free(&raw);
    return status;
}
