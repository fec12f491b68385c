/* SPDX-License-Identifier: MIT */
/* bzip2, by libbz2. */
#include "io/config.h"
#include "io/unpack.h"

#ifdef SALI_HAVE_BZIP2

#include <bzlib.h>

#include "core/alloc.h"

static void *begin(void)
{
    bz_stream *z = SALI_NEW(bz_stream);
    if (z && BZ2_bzDecompressInit(z, 0, 0) != BZ_OK) {
        sali_free(z);
        return NULL;
    }
    return z;
}

static void end(void *state)
{
    BZ2_bzDecompressEnd(state);
    sali_free(state);
}

static sali_unpack_result step(void *state, sali_unpack_piece *p, const char **why)
{
    bz_stream *z = state;
    z->next_in = (char *)p->in; /* libbz2 does not write there */
    z->avail_in = p->in_left;
    z->next_out = (char *)p->out;
    z->avail_out = p->out_left;
    const int result = BZ2_bzDecompress(z);
    p->in_left = z->avail_in;
    p->out_left = z->avail_out;
    *why = result == BZ_DATA_ERROR ? "a checksum or a block is wrong" : NULL;
    return result == BZ_STREAM_END  ? SALI_UNPACK_END
           : result == BZ_OK        ? SALI_UNPACK_MORE
           : result == BZ_MEM_ERROR ? SALI_UNPACK_MEMORY
                                    : SALI_UNPACK_DAMAGED;
}

static bool restart(void *state)
{
    BZ2_bzDecompressEnd(state);
    *(bz_stream *)state = (bz_stream){ 0 };
    return BZ2_bzDecompressInit(state, 0, 0) == BZ_OK;
}

#endif

const sali_packing sali_packing_bzip2 = {
    .name = "bzip2",
    .suffix = ".bz2",
    .library = "libbz2",
    .magic = "BZh",
    .magic_size = 3,
#ifdef SALI_HAVE_BZIP2
    .open = begin,
    .close = end,
    .step = step,
    .restart = restart,
#endif
};
