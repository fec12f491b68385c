/* SPDX-License-Identifier: MIT */
#include "io/unpack.h"

#include <string.h>

#include "core/alloc.h"
#include "core/error.h"

static const sali_packing *const packings[] = { &sali_packing_gzip, &sali_packing_bzip2,
                                                &sali_packing_xz };

#define N_PACKINGS (sizeof packings / sizeof *packings)

const sali_packing *sali_packing_of(const void *data, int64_t size)
{
    for (size_t k = 0; k < N_PACKINGS; k++) {
        const sali_packing *p = packings[k];
        if (size >= p->magic_size && memcmp(data, p->magic, (size_t)p->magic_size) == 0) {
            return p;
        }
    }
    return NULL;
}

size_t sali_unpacked_length(const char *path)
{
    const size_t length = strlen(path);
    for (size_t k = 0; k < N_PACKINGS; k++) {
        const size_t n = strlen(packings[k]->suffix);
        if (length > n && strcmp(path + length - n, packings[k]->suffix) == 0) {
            return length - n;
        }
    }
    return length;
}

/* Libraries count in unsigned int: input and output are passed in pieces of at most this size. */
#define PIECE ((int64_t)1 << 30)

static unsigned piece_size(int64_t size)
{
    return (unsigned)(size < PIECE ? size : PIECE);
}

/* A decompression in progress. */
typedef struct unpacking {
    const sali_packing *packing;
    void *state; /* of the packing */
    const char *name;
    const unsigned char *data;
    int64_t size, used; /* of data */
    int64_t max_size, capacity;
    sali_bytes out;
} unpacking;

static sal_status too_large(const unpacking *u, sal_error *err)
{
    return sali_fail(err, SAL_ERR_DATA, "%s: decompresses to more than %lld bytes", u->name,
                     (long long)u->max_size);
}

/* Room for one more byte and the final NUL. The first allocation has the declared size, if there is
 * one; later ones double, up to the limit. */
static sal_status make_room(unpacking *u, sal_error *err)
{
    if (u->out.size + 1 < u->capacity) {
        return SAL_OK;
    }
    const bool first = u->capacity == 0;
    const int64_t most = u->max_size + 2;
    const int64_t told = first && u->packing->told ? u->packing->told(u->data, u->size) : 0;
    int64_t room = first ? told + 65536 : 2 * u->capacity;
    room = room < most ? room : most;
    unsigned char *grown = sali_alloc(room, 1);
    if (!grown) {
        return sali_fail_memory(err);
    }
    if (!first) {
        memcpy(grown, u->out.data, (size_t)u->out.size);
    }
    sali_free(u->out.data);
    u->out.data = grown;
    u->capacity = room;
    return SAL_OK;
}

/* One step of the library: make room, feed input, update the counts. *moved: something was read or
 * written. SAL_ERR_DATA for damaged or excessive data. */
static sal_status unpack_some(unpacking *u, sali_unpack_result *result, bool *moved, sal_error *err)
{
    /* Allow one byte more than the limit, to distinguish reaching the limit from exceeding it. */
    if (u->out.size > u->max_size) {
        return too_large(u, err);
    }
    sal_status status = make_room(u, err);
    if (status != SAL_OK) {
        return status;
    }
    const int64_t room = u->capacity - 1 - u->out.size;
    const int64_t allowed = u->max_size - u->out.size + 1;
    const char *why = NULL;
    sali_unpack_piece piece = {
        .in = u->data + u->used,
        .out = u->out.data + u->out.size,
        .in_left = piece_size(u->size - u->used),
        .out_left = piece_size(room < allowed ? room : allowed),
    };
    piece.last = u->used + piece.in_left == u->size;
    const unsigned in = piece.in_left, space = piece.out_left;
    *result = u->packing->step(u->state, &piece, &why);
    *moved = piece.in_left < in || piece.out_left < space;
    u->used += in - piece.in_left;
    u->out.size += space - piece.out_left;
    return *result == SALI_UNPACK_MEMORY ? sali_fail_memory(err)
           : *result == SALI_UNPACK_DAMAGED
               ? sali_fail(err, SAL_ERR_DATA, "%s: byte %lld: the compressed data is damaged: %s",
                           u->name, (long long)u->used, why ? why : "not of its format")
               : SAL_OK;
}

/* Decompress all streams into u->out, followed by a NUL. */
static sal_status unpack_all(unpacking *u, sal_error *err)
{
    sali_unpack_result result = SALI_UNPACK_MORE;
    while (result != SALI_UNPACK_END || u->used < u->size) {
        bool moved = false;
        sal_status status = unpack_some(u, &result, &moved, err);
        if (status != SAL_OK) {
            return status;
        }
        if (result == SALI_UNPACK_MORE && !moved && u->used == u->size) {
            return sali_fail(err, SAL_ERR_DATA, "%s: the compressed data ends too early", u->name);
        }
        if (result != SALI_UNPACK_END || u->used == u->size) {
            continue;
        }
        if (!u->packing->restart ||
            sali_packing_of(u->data + u->used, u->size - u->used) != u->packing) {
            return sali_fail(err, SAL_ERR_DATA,
                             "%s: byte %lld: something follows the compressed data", u->name,
                             (long long)u->used);
        }
        if (!u->packing->restart(u->state)) {
            return sali_fail_memory(err);
        }
    }
    if (u->out.size > u->max_size) {
        return too_large(u, err);
    }
    u->out.data[u->out.size] = '\0';
    return SAL_OK;
}

sal_status sali_unpack(const sali_packing *packing, const char *name, const void *data,
                       int64_t size, int64_t max_size, sali_bytes *out, sal_error *err)
{
    unpacking u = {
        .packing = packing, .name = name, .data = data, .size = size, .max_size = max_size
    };
    if (!packing->open) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED,
                         "%s: is compressed with %s, and saltus was built without %s; "
                         "decompress it first",
                         name, packing->name, packing->library);
    }
    u.state = packing->open();
    sal_status status = u.state ? unpack_all(&u, err) : sali_fail_memory(err);
    if (u.state) {
        packing->close(u.state);
    }
    if (status != SAL_OK) {
        sali_bytes_free(&u.out);
        return status;
    }
    *out = u.out;
    return SAL_OK;
}

sal_status sali_file_read_unpacked(const char *path, int64_t max_size, sali_bytes *out,
                                   sal_error *err)
{
    sali_bytes raw = { 0 };
    sal_status status = sali_file_read(path, &raw, err);
    if (status != SAL_OK) {
        return status;
    }
    const sali_packing *packing = sali_packing_of(raw.data, raw.size);
    if (!packing) {
        *out = raw;
        return SAL_OK;
    }
    status = sali_unpack(packing, path, raw.data, raw.size, max_size, out, err);
    sali_bytes_free(&raw);
    return status;
}
