/* SPDX-License-Identifier: MIT */
/* One array of a file that holds several: FILE:NAME,SETTING=VALUE,.. says which array is read, and
 * how its numbers are arranged. */
#ifndef SALI_MEMBER_H
#define SALI_MEMBER_H

#include <stdbool.h>
#include <stdint.h>

#include <saltus/status.h>
#include "io/scan.h"
#include "models/content.h"

/* The dimension of the array that counts the rows of the data; that in which pixels follow each
 * other in a row; the value of ink. FIND is the reader's guess, or as the file has it. */
typedef enum sali_member_rows {
    SALI_MEMBER_ROWS_FIND,
    SALI_MEMBER_ROWS_FIRST,
    SALI_MEMBER_ROWS_LAST
} sali_member_rows;
typedef enum sali_member_pixels {
    SALI_MEMBER_PIXELS_FIND,
    SALI_MEMBER_PIXELS_ROWS,
    SALI_MEMBER_PIXELS_COLUMNS
} sali_member_pixels;
typedef enum sali_member_ink {
    SALI_MEMBER_INK_FIND,
    SALI_MEMBER_INK_0,
    SALI_MEMBER_INK_1
} sali_member_ink;

/* A path in two parts. Zeros: nothing. */
typedef struct sali_member {
    char *file;       /* the path of the file */
    char *text;       /* what follows the colon, cut into its parts; NULL: nothing does */
    const char *name; /* within `text`; NULL: none is given */
    sali_member_rows rows;
    sali_member_pixels pixels;
    sali_member_ink ink;
} sali_member;

/* Split a path. If a file of that name exists, or none whose name ends before a colon, all of the
 * path is the file. Returns: ARGUMENT for settings that there are not; MEMORY. */
sal_status sali_member_split(const char *path, sali_member *out, sal_error *err);

void sali_member_free(sali_member *member);

/* An array that a file holds; `size` orders arrays, as their bytes or elements do. */
typedef struct sali_candidate {
    char *name;
    uint64_t size;
    int64_t place; /* where in the file it is, as its reader counts */
} sali_candidate;

/* The arrays of a file, in its order. Zeros: none. */
typedef struct sali_candidates {
    sali_candidate *list; /* [n] */
    int64_t n, room;
} sali_candidates;

/* Add an array, whose name has `length` characters. False after a failure. */
bool sali_candidates_add(sali_scan *scan, sali_candidates *arrays, const char *name, int64_t length,
                         uint64_t size, int64_t place);

void sali_candidates_free(sali_candidates *arrays);

/* The array that the path names, else the only one, else the largest, with a remark that warns.
 * NULL after a failure: there is no array, or none of that name. */
const sali_candidate *sali_member_choose(sali_scan *scan, const sali_candidates *arrays,
                                         sali_remark *remark);

/* Arrange the numbers of an array as the path says. For an array of MATLAB (`matlab`) guess, with
 * remarks that warn, what the path leaves open. */
void sali_member_arrange(sali_scan *scan, bool matlab, sali_content *content);

#endif
