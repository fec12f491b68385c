/* SPDX-License-Identifier: MIT */
#include "core/name_table.h"

#include <string.h>
#include <sys/random.h>

#include "core/alloc.h"

/* ---- SipHash-1-3 (Aumasson & Bernstein 2012, with fewer rounds): files choose the names, and must
 * not be able to choose which collide */

static uint64_t rotate_left(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

/* One SipRound of the state v, as the paper defines it. */
static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotate_left(v[1], 13) ^ v[0];
    v[3] = rotate_left(v[3], 16) ^ v[2];
    v[0] = rotate_left(v[0], 32) + v[3];
    v[2] += v[1];
    v[3] = rotate_left(v[3], 21) ^ v[0];
    v[1] = rotate_left(v[1], 17) ^ v[2];
    v[2] = rotate_left(v[2], 32);
}

static void sip_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_round(v);
    v[0] ^= word;
}

/* SipHash-1-3 of `size` bytes of `text` under the 128-bit `key`. */
static uint64_t sip_hash(const uint64_t key[2], const char *text, int64_t size)
{
    uint64_t v[4] = { key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
                      key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573 };
    uint64_t word = 0;
    int64_t i = 0;
    for (; i + 8 <= size; i += 8) {
        memcpy(&word, text + i, 8);
        sip_word(v, word);
    }
    word = 0;
    if (i < size) {
        memcpy(&word, text + i, (size_t)(size - i));
    }
    sip_word(v, word ^ (uint64_t)size << 56);
    v[2] ^= 0xff;
    sip_round(v);
    sip_round(v);
    sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* ---- the table */

/* The slot of a name, or the free one where it belongs; there is always a free one. */
static int64_t find_slot(const sali_name_table *t, const char *text, int64_t size)
{
    int64_t mask = t->n_slots - 1, at = (int64_t)(sip_hash(t->key, text, size) & (uint64_t)mask);
    for (; t->slots[at]; at = (at + 1) & mask) {
        const char *name = t->names[t->slots[at] - 1];
        if (strnlen(name, (size_t)size + 1) == (size_t)size &&
            memcmp(name, text, (size_t)size) == 0) {
            break;
        }
    }
    return at;
}

/* Make room for one more name at a load of at most one half: doubles the slots where needed. -1:
 * out of memory, the table is unchanged. The first call draws the hash key. */
static int grow_slots(sali_name_table *t)
{
    if (2 * (t->count + 1) <= t->n_slots) {
        return 0;
    }
    sali_name_table larger = *t;
    larger.n_slots = t->n_slots ? 2 * t->n_slots : 64;
    larger.slots = SALI_NEW_ARRAY(int64_t, larger.n_slots);
    if (!larger.slots) {
        return -1;
    }
    if (!t->slots && getrandom(larger.key, sizeof larger.key, GRND_NONBLOCK) < 0) {
        larger.key[0] = (uint64_t)(uintptr_t)larger.slots;
    }
    for (int64_t k = 0; k < t->count; k++) {
        const char *name = t->names[k];
        larger.slots[find_slot(&larger, name, (int64_t)strlen(name))] = k + 1;
    }
    sali_free(t->slots);
    *t = larger;
    return 0;
}

int64_t sali_name_table_find(const sali_name_table *t, const char *text, int64_t size)
{
    return t->n_slots ? t->slots[find_slot(t, text, size)] - 1 : -1;
}

int64_t sali_name_table_put(sali_name_table *t, const char *text, int64_t size)
{
    int64_t number = sali_name_table_find(t, text, size);
    if (number >= 0) {
        return number;
    }
    void *names = t->names;
    char *copy = sali_alloc(size + 1, 1);
    if (!copy || grow_slots(t) != 0 ||
        sali_grow(&names, &t->room, t->count + 1, sizeof *t->names) != 0) {
        sali_free(copy);
        return -1;
    }
    memcpy(copy, text, (size_t)size);
    t->names = names;
    t->names[t->count] = copy;
    t->slots[find_slot(t, text, size)] = t->count + 1;
    return t->count++;
}

void sali_name_table_clear(sali_name_table *t)
{
    for (int64_t k = 0; k < t->count; k++) {
        sali_free(t->names[k]);
    }
    sali_free(t->names);
    sali_free(t->slots);
    *t = (sali_name_table){ 0 };
}

char **sali_name_table_take(sali_name_table *t)
{
    char **names = t->names;
    t->names = NULL;
    t->count = 0;
    sali_name_table_clear(t);
    return names;
}
