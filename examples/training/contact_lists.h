/* Lists of pairs of sites: what they share, and how many known contacts are in them. */
#ifndef CONTACT_LISTS_H
#define CONTACT_LISTS_H

#include <stdbool.h>
#include <saltus/saltus.h>

typedef struct contact {
    int64_t i, j;
    double score;
} contact;

/* Lists of the same pairs of sites, each in an order of its own. */
typedef struct contact_lists {
    int64_t sites, pairs;
    bool *touch; /* [sites x sites] known contacts, or NULL */
    int n;
    const char *const *names; /* [n] */
    contact **lists;          /* [n][pairs], the strongest first */
} contact_lists;

/* Read known contacts into touch: "i j" a line, sites from 1. */
sal_status contact_lists_read(contact_lists *l, const char *path, sal_error *err);

/* Sort pairs by falling score. */
void contact_lists_sort(int64_t pairs, contact *list);

/* DIRECTORY/NAME.csv; whether it could be written. */
bool contact_lists_write(const contact_lists *l, int k, const char *directory);

/* Print what share of the first `sites` pairs, and of half as many, two lists have in common. */
void contact_lists_print_shared(const contact_lists *l);

/* Print the share of known contacts among the first pairs, of all and of those with j - i >= 5. */
void contact_lists_print_known(const contact_lists *l);

#endif

/* SPDX-License-Identifier: MIT */
