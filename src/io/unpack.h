/* SPDX-License-Identifier: MIT */
/* Decompression in memory. To add a method: a file with its record, and its name in unpack.c. */
#ifndef SALI_UNPACK_H
#define SALI_UNPACK_H

#include <stdbool.h>

#include "io/file.h"

/* The next part of the compressed bytes, and the room for what comes of them. A step moves the
 * pointers. */
typedef struct sali_unpack_piece {
    const unsigned char *in;
    unsigned char *out;
    unsigned in_left, out_left;
    bool last; /* no input follows this */
} sali_unpack_piece;

typedef enum sali_unpack_result {
    SALI_UNPACK_MORE,
    SALI_UNPACK_END, /* the stream ended */
    SALI_UNPACK_DAMAGED,
    SALI_UNPACK_MEMORY /* out of memory */
} sali_unpack_result;

/* A method of compression. */
typedef struct sali_packing {
    const char *name;    /* "gzip" */
    const char *suffix;  /* ".gz" */
    const char *library; /* "zlib" */
    const char *magic;   /* the first bytes [magic_size] of such files */
    int magic_size;
    /* A new state, NULL when out of memory. `open` NULL: built without the library. */
    void *(*open)(void);
    void (*close)(void *state);
    /* Decompress some of a piece. *why may receive what is wrong. */
    sali_unpack_result (*step)(void *state, sali_unpack_piece *piece, const char **why);
    /* Begin a stream that follows another; false when out of memory. NULL: `step` does it. */
    bool (*restart)(void *state);
    /* The size that the last stream declares, if the file can hold that much; 0: unknown. NULL:
     * always unknown. */
    int64_t (*told)(const unsigned char *data, int64_t size);
} sali_packing;

extern const sali_packing sali_packing_gzip, sali_packing_bzip2, sali_packing_xz;

/* What gzip has inside, as other formats have it: a file does not begin with it. */
extern const sali_packing sali_packing_zlib;

/* The method of compressed bytes; NULL: they are not compressed. */
const sali_packing *sali_packing_of(const void *data, int64_t size);

/* The length of a path without the suffix of a method. */
size_t sali_unpacked_length(const char *path);

/* Decompress bytes (several streams are joined), followed by a NUL; `name` is for messages.
 * Returns: DATA for damaged data, and for more than max_size bytes; UNSUPPORTED without the
 *          library; MEMORY. */
sal_status sali_unpack(const sali_packing *packing, const char *name, const void *data,
                       int64_t size, int64_t max_size, sali_bytes *out, sal_error *err);

#endif
