/* SPDX-License-Identifier: MIT */
/* UTF-8, a code point at a time. */
#ifndef SALI_UTF8_H
#define SALI_UTF8_H

#include <stdint.h>

/* The code point that replaces a byte which is not valid UTF-8. */
#define SALI_UTF8_REPLACEMENT 0xfffd

/* Read the code point at *at, which is before `end`, and move *at past it. Returns -1 if no valid
 * sequence begins there (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF); *at then
 * moves by one byte. */
static inline int32_t sali_utf8_next(const char **at, const char *end)
{
    static const int32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char *p = (const unsigned char *)(*at)++;
    int size = *p < 0x80 ? 1 : *p >> 5 == 6 ? 2 : *p >> 4 == 14 ? 3 : *p >> 3 == 30 ? 4 : 0;
    if (size == 1) {
        return *p;
    }
    if (size == 0 || end - (const char *)p < size) {
        return -1;
    }
    int32_t code = *p & (0x7f >> size);
    for (int k = 1; k < size; k++) {
        if (p[k] >> 6 != 2) {
            return -1;
        }
        code = code << 6 | (p[k] & 0x3f);
    }
    if (code < least[size] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
        return -1;
    }
    *at = (const char *)p + size;
    return code;
}

/* Write the code point `code` to `out`, at most 4 bytes. Returns their number. */
static inline int sali_utf8_put(int32_t code, char *out)
{
    int size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (size == 1) {
        out[0] = (char)code;
        return 1;
    }
    for (int k = size - 1; k > 0; k--, code >>= 6) {
        out[k] = (char)(0x80 | (code & 0x3f));
    }
    out[0] = (char)((0xf00 >> size & 0xff) | code);
    return size;
}

/* A copy of `text` in which each byte that is not valid UTF-8 is replaced by U+FFFD; free it with
 * sali_free. NULL: out of memory. */
char *sali_utf8_valid(const char *text);

#endif
