/* SPDX-License-Identifier: MIT */
/* Results as JSON. */
#ifndef SALI_FLAT_JSON_H
#define SALI_FLAT_JSON_H

#include <stddef.h>

#include <saltus/status.h>
#include "io/json_text.h"

/* A real number. JSON has no NaN, which becomes null, and no infinities, which become the texts
 * "inf" and "-inf". */
json_t *sali_flat_real(double value);

/* Set object[key] to a real number. */
void sali_flat_number(json_t *object, const char *key, double value);

/* A text as a JSON string, or null if there is none. */
json_t *sali_flat_text(const char *text);

/* An array of reals; NULL is null. */
json_t *sali_flat_reals(int64_t n, const double *values);

/* Write the object as text into *json, to be freed by sal_free; the object is taken over. NULL
 * counts as an object for which there was no memory. Returns: SAL_ERR_MEMORY. */
sal_status sali_flat_give(json_t *object, char **json, sal_error *err);

/* ---- structs by their fields */

typedef enum sali_flat_kind {
    SALI_FLAT_REAL,  /* double */
    SALI_FLAT_WHOLE, /* int64_t */
    SALI_FLAT_TRUTH, /* bool */
    SALI_FLAT_SEED,  /* uint64_t */
    SALI_FLAT_TEXT   /* const char * */
} sali_flat_kind;

typedef struct sali_flat_field {
    const char *key; /* NULL ends a list */
    sali_flat_kind kind;
    size_t offset;
} sali_flat_field;

#define SALI_FLAT_FIELD(key, kind, type, member)      \
    {                                                 \
        key, SALI_FLAT_##kind, offsetof(type, member) \
    }

/* A seed as an integer, or as a text if it is beyond the integers of readers of JSON. */
json_t *sali_flat_seed(uint64_t seed);

/* The fields of a struct as a JSON object. */
json_t *sali_flat_record(const void *record, const sali_flat_field *fields);

#endif
