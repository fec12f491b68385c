/* SPDX-License-Identifier: MIT */
/* Checksums that detect damage; no protection against deliberate changes. */
#ifndef SALI_CHECKSUM_H
#define SALI_CHECKSUM_H

#include <endian.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define SALI_CHECKSUM_START UINT64_C(0xcbf29ce484222325)

/* What texts call it. */
#define SALI_CHECKSUM_KEY "saltus_checksum"

/* Room for a checksum as text. */
#define SALI_CHECKSUM_TEXT 17

/* The checksum h continued by `bytes` bytes; the last word is padded with zeros, and pieces of
 * whole words may be added one by one. Each step is one-to-one in the word, so a change of a single
 * word is always detected. The same on all machines. */
static inline uint64_t sali_checksum(uint64_t h, const void *data, int64_t bytes)
{
    for (int64_t k = 0; k < bytes; k += 8) {
        uint64_t word = 0;
        memcpy(&word, (const char *)data + k, (size_t)(bytes - k < 8 ? bytes - k : 8));
        h = (h ^ le64toh(word)) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 32;
    }
    return h;
}

/* The 16 hexadecimal digits of a checksum. */
static inline void sali_checksum_text(uint64_t checksum, char text[SALI_CHECKSUM_TEXT])
{
    snprintf(text, SALI_CHECKSUM_TEXT, "%016" PRIx64, checksum);
}

#endif
