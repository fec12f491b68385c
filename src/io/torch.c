/* SPDX-License-Identifier: MIT */
#include "io/torch.h"

#include <stdbool.h>
#include <string.h>

#include "core/error.h"

/* Whether the bytes are what Python's torch.save writes: a zip file whose first member is data.pkl,
 * or a pickle that begins with PyTorch's magic number. Neither can begin a safetensors file. */
static bool is_torch(const unsigned char *bytes, int64_t size)
{
    static const unsigned char magic[] = { 0x80, 2, 0x8a, 10, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20 };
    const int64_t first = size < 256 ? size : 256; /* holds the name of the first member */
    if (size >= (int64_t)sizeof magic && memcmp(bytes, magic, sizeof magic) == 0) {
        return true;
    }
    return size > 4 && memcmp(bytes, "PK\3\4", 4) == 0 &&
           memmem(bytes, (size_t)first, "data.pkl", 8) != NULL;
}

sal_status sali_refuse_torch(const char *path, const void *bytes, int64_t size, sal_error *err)
{
    return !is_torch(bytes, size)
               ? SAL_OK
               : sali_fail(err, SAL_ERR_DATA,
                           "%s: is a file of Python's torch.save; expected safetensors for "
                           "parameters (--params), .npy for data. To convert a state_dict: python3 "
                           "-c 'import torch, safetensors.torch as s; "
                           "s.save_file(torch.load(\"%s\", map_location=\"cpu\"), "
                           "\"model.safetensors\")'; a tensor x: numpy.save(\"data.npy\", "
                           "x.numpy())",
                           path, path);
}
