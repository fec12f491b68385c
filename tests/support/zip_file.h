/* SPDX-License-Identifier: MIT */
/* Zip files of stored members, made in memory. */
#ifndef ZIP_FILE_H
#define ZIP_FILE_H

#include <stdint.h>
#include <string.h>

typedef struct zip_bytes {
    unsigned char data[8192];
    size_t size;
} zip_bytes;

/* A member to store. `claimed` is the size that the lists give; 0: the true one. */
typedef struct zip_member {
    const char *name;
    const void *data;
    size_t size;
    uint32_t claimed;
    int method;
} zip_member;

static inline void zip_put(zip_bytes *z, uint32_t value, int bytes)
{
    for (int k = 0; k < bytes; k++) {
        z->data[z->size++] = (unsigned char)(value >> 8 * k);
    }
}

static inline void zip_append(zip_bytes *z, const void *data, size_t size)
{
    memcpy(z->data + z->size, data, size);
    z->size += size;
}

static inline uint32_t zip_crc(const unsigned char *data, size_t size)
{
    uint32_t crc = ~0U;
    for (size_t k = 0; k < size; k++) {
        crc ^= data[k];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320U : crc >> 1;
        }
    }
    return ~crc;
}

/* What both lists say of a member, from its flags to the lengths of its name and extra field. */
static inline void zip_describe(zip_bytes *z, const zip_member *m)
{
    zip_put(z, 0, 2);
    zip_put(z, (uint32_t)m->method, 2);
    zip_put(z, 0, 4);
    zip_put(z, zip_crc(m->data, m->size), 4);
    zip_put(z, (uint32_t)m->size, 4);
    zip_put(z, m->claimed ? m->claimed : (uint32_t)m->size, 4);
    zip_put(z, (uint32_t)strlen(m->name), 2);
    zip_put(z, 0, 2);
}

static inline zip_bytes zip_of(const zip_member *members, int n)
{
    zip_bytes z = { .size = 0 };
    uint32_t at[16] = { 0 };
    for (int k = 0; k < n; k++) {
        at[k] = (uint32_t)z.size;
        zip_append(&z, "PK\3\4\24\0", 6);
        zip_describe(&z, &members[k]);
        zip_append(&z, members[k].name, strlen(members[k].name));
        zip_append(&z, members[k].data, members[k].size);
    }
    const uint32_t list = (uint32_t)z.size;
    for (int k = 0; k < n; k++) {
        zip_append(&z, "PK\1\2\24\3\24\0", 8);
        zip_describe(&z, &members[k]);
        zip_append(&z, "\0\0\0\0\0\0\0\0\0", 10); /* no comment, the first disk, attributes */
        zip_put(&z, at[k], 4);
        zip_append(&z, members[k].name, strlen(members[k].name));
    }
    const uint32_t size = (uint32_t)z.size - list;
    zip_append(&z, "PK\5\6\0\0\0\0", 8);
    zip_put(&z, (uint32_t)n, 2);
    zip_put(&z, (uint32_t)n, 2);
    zip_put(&z, size, 4);
    zip_put(&z, list, 4);
    zip_put(&z, 0, 2);
    return z;
}

#endif
