/* SPDX-License-Identifier: MIT */
/* gzip, by zlib. */
#include "io/config.h"
#include "io/unpack.h"

#ifdef SALI_HAVE_ZLIB

#define ZLIB_CONST
#include <zlib.h>

#include "core/alloc.h"

/* One compressed byte becomes at most this many. */
#define MOST_EXPANSION 1032

static void *begin_window(int window)
{
    z_stream *z = SALI_NEW(z_stream);
    if (z && inflateInit2(z, window) != Z_OK) {
        sali_free(z);
        return NULL;
    }
    return z;
}

static void *begin(void)
{
    return begin_window(15 + 16); /* the largest window, in a gzip wrapper */
}

static void *begin_zlib(void)
{
    return begin_window(15);
}

static void end(void *state)
{
    inflateEnd(state);
    sali_free(state);
}

static sali_unpack_result step(void *state, sali_unpack_piece *p, const char **why)
{
    z_stream *z = state;
    z->next_in = p->in;
    z->avail_in = p->in_left;
    z->next_out = p->out;
    z->avail_out = p->out_left;
    const int result = inflate(z, Z_NO_FLUSH);
    p->in_left = z->avail_in;
    p->out_left = z->avail_out;
    *why = z->msg;
    return result == Z_STREAM_END                    ? SALI_UNPACK_END
           : result == Z_OK || result == Z_BUF_ERROR ? SALI_UNPACK_MORE
           : result == Z_MEM_ERROR                   ? SALI_UNPACK_MEMORY
                                                     : SALI_UNPACK_DAMAGED;
}

static bool restart(void *state)
{
    inflateReset(state);
    return true;
}

/* The size that the last member declares, modulo 2^32: that of the whole file, for most files. */
static int64_t told(const unsigned char *data, int64_t size)
{
    if (size < 18) {
        return 0;
    }
    const unsigned char *p = data + size - 4;
    const int64_t bytes = p[0] | p[1] << 8 | p[2] << 16 | (int64_t)p[3] << 24;
    return bytes / MOST_EXPANSION <= size ? bytes : 0;
}

#endif

const sali_packing sali_packing_gzip = {
    .name = "gzip",
    .suffix = ".gz",
    .library = "zlib",
    .magic = "\x1f\x8b",
    .magic_size = 2,
#ifdef SALI_HAVE_ZLIB
    .open = begin,
    .close = end,
    .step = step,
    .restart = restart,
    .told = told,
#endif
};

const sali_packing sali_packing_zlib = {
    .name = "zlib",
    .library = "zlib",
#ifdef SALI_HAVE_ZLIB
    .open = begin_zlib,
    .close = end,
    .step = step,
#endif
};
