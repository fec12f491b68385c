/* SPDX-License-Identifier: MIT */
/* f of a model as a sum of terms, each a table over the states of a few variables. */
#ifndef SALI_LOCAL_TERMS_H
#define SALI_LOCAL_TERMS_H

#include "models/model.h"

/* A table over the states of scope[0] .. scope[n - 1], the last fastest. */
typedef struct sali_local_term {
    int32_t n;
    int64_t scope; /* index of the first in `scopes` */
    int64_t table; /* index of the first entry in `tables` */
    int64_t size;  /* entries */
} sali_local_term;

/* f = constant + the sum of the terms. No two terms have the same scope. Scopes list different
 * variables, ascending, none of them with one state; entries are finite or -inf. */
typedef struct sali_local_terms {
    int32_t n;       /* variables of the model, and hidden ones after them */
    int32_t hidden;  /* of them (models/exact/counters.h) */
    int32_t *states; /* [n] */
    double constant;
    int64_t n_terms, terms_room;
    sali_local_term *terms;
    int64_t n_scopes, scopes_room;
    int32_t *scopes;
    int64_t n_tables;
    double *tables;
    int64_t n_slots, *slots; /* [n_slots] hash table by scope: 1 + the index of a term, or 0 */
    double effort;           /* a lower bound on the numbers to be computed for the tables */
    struct sali_terms_reader *reader; /* NULL once the tables are filled */
} sali_local_terms;

/* Steps that computing an entry of a table counts for. */
#define SALI_ENTRY_STEPS 8

/* ---- local_terms_read.c */

/* Find the terms of a model's formula, with n_tables counted and no tables yet; clamped variables
 * count as the constants that they are. `memory` bounds the bytes of the tables and of the elements
 * that they are made of; `steps` bounds the steps, of a few nanoseconds each, of reading and of
 * filling. Returns: SAL_ERR_UNSUPPORTED with the reason in `why` when f is not seen to be such a
 * sum, or its tables are too large; SAL_ERR_MEMORY. */
sal_status sali_local_terms_read(const sal_model *model, double memory, int64_t steps,
                                 sali_local_terms *terms, char *why, size_t room, sal_error *err);

/* Fill the tables and the constant. Call this once, while the model is unchanged. Returns:
 * SAL_ERR_UNSUPPORTED with the reason in `why` when filling takes too long; SAL_ERR_MODEL when a
 * term is NaN or +inf; SAL_ERR_MEMORY. The terms are empty then. */
sal_status sali_local_terms_fill(sali_local_terms *terms, char *why, size_t room, sal_error *err);

void sali_local_terms_free(sali_local_terms *terms);

/* ---- local_terms.c */

/* Add a term with this scope [n], n > 0, and a table of `size` entries, unless there is one. False:
 * no memory. */
bool sali_local_terms_add(sali_local_terms *terms, int32_t n, const int32_t *scope, int64_t size);

/* The table of the term with this scope, which was added, once there are tables; for n = 0 the
 * constant. */
double *sali_local_terms_at(sali_local_terms *terms, int32_t n, const int32_t *scope);

#endif
