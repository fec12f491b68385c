/* SPDX-License-Identifier: MIT */
/* xz, by liblzma. */
#include "io/config.h"
#include "io/unpack.h"

#ifdef SALI_HAVE_LZMA

#include <lzma.h>

#include "core/alloc.h"

/* Memory that a file may ask for; xz -9 asks for 65 MiB. */
#define MOST_MEMORY (UINT64_C(256) << 20)

static void *begin(void)
{
    lzma_stream *z = SALI_NEW(lzma_stream);
    if (z && lzma_stream_decoder(z, MOST_MEMORY, LZMA_CONCATENATED) != LZMA_OK) {
        sali_free(z);
        return NULL;
    }
    return z;
}

static void end(void *state)
{
    lzma_end(state);
    sali_free(state);
}

static sali_unpack_result step(void *state, sali_unpack_piece *p, const char **why)
{
    lzma_stream *z = state;
    z->next_in = p->in;
    z->avail_in = p->in_left;
    z->next_out = p->out;
    z->avail_out = p->out_left;
    const lzma_ret result = lzma_code(z, p->last ? LZMA_FINISH : LZMA_RUN);
    p->in_left = (unsigned)z->avail_in;
    p->out_left = (unsigned)z->avail_out;
    *why = result == LZMA_MEMLIMIT_ERROR  ? "it asks for more than 256 MiB of memory"
           : result == LZMA_DATA_ERROR    ? "a checksum or a block is wrong"
           : result == LZMA_OPTIONS_ERROR ? "compressed by a method that liblzma does not know"
                                          : NULL;
    return result == LZMA_STREAM_END                       ? SALI_UNPACK_END
           : result == LZMA_OK || result == LZMA_BUF_ERROR ? SALI_UNPACK_MORE
           : result == LZMA_MEM_ERROR                      ? SALI_UNPACK_MEMORY
                                                           : SALI_UNPACK_DAMAGED;
}

#endif

const sali_packing sali_packing_xz = {
    .name = "xz",
    .suffix = ".xz",
    .library = "liblzma",
    .magic = "\xfd"
             "7zXZ\0",
    .magic_size = 6,
#ifdef SALI_HAVE_LZMA
    .open = begin,
    .close = end,
    .step = step,
#endif
};
