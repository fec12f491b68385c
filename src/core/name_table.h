/* SPDX-License-Identifier: MIT */
/* Names and their numbers: 0, 1, .. in the order in which they came. */
#ifndef SALI_NAME_TABLE_H
#define SALI_NAME_TABLE_H

#include <stdint.h>

/* Zero is the empty table. */
typedef struct sali_name_table {
    char **names; /* [count], each with its NUL */
    int64_t count;
    int64_t room, *slots, n_slots; /* an open hash table: 1 + a number, or 0 */
    uint64_t key[2];               /* nobody can choose names that collide */
} sali_name_table;

void sali_name_table_clear(sali_name_table *t);

/* The number of a name of `size` characters, none of them NUL. A name that the table lacks is added
 * and gets the next number; -1 when out of memory. Cost: O(size). */
int64_t sali_name_table_put(sali_name_table *t, const char *text, int64_t size);

/* The number of a name, or -1 if the table lacks it, as it lacks texts with a NUL. */
int64_t sali_name_table_find(const sali_name_table *t, const char *text, int64_t size);

/* The list of `count` names, which the caller frees; the table is empty then. */
char **sali_name_table_take(sali_name_table *t);

#endif
