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
    int32_t n;       /* variables of the model */
    int32_t *states; /* [n] */
    double constant;
    int64_t n_terms, terms_room;
    sali_local_term *terms;
    int64_t n_scopes, scopes_room;
    int32_t *scopes;
    int64_t n_tables;
    double *tables;
    int64_t n_slots, *slots; /* [n_slots] 1 + a term's index by the hash of its scope, or 0 */
    double effort;           /* numbers to be computed for the tables, or somewhat less */
    struct sali_terms_reader *reader; /* until the tables are filled */
} sali_local_terms;

/* Steps that an entry of a table takes. */
#define SALI_ENTRY_STEPS 8

/* local_terms_read.c: find the terms of a model's formula, with n_tables counted and no tables yet;
 * clamped variables count as the constants that they are. `memory` bounds the bytes of the tables
 * and of what they are made of; `steps` bounds those of reading and of filling, of a few
 * nanoseconds each. Returns: SAL_ERR_UNSUPPORTED with the reason in `why` when f is not seen to be
 * such a sum, or its tables are too large; SAL_ERR_MEMORY. */
sal_status sali_local_terms_read(const sal_model *model, double memory, int64_t steps,
                                 sali_local_terms *terms, char *why, size_t room, sal_error *err);

/* The tables and the constant, once, while the model is unchanged. Returns: SAL_ERR_UNSUPPORTED
 * with the reason in `why` when they take too long; SAL_ERR_MODEL when a term is NaN or +inf;
 * SAL_ERR_MEMORY. The terms are empty then. */
sal_status sali_local_terms_fill(sali_local_terms *terms, char *why, size_t room, sal_error *err);

void sali_local_terms_free(sali_local_terms *terms);

/* The terms are to have one with this scope, n > 0, and table [size]. Returns: false: no memory. */
bool sali_local_terms_add(sali_local_terms *terms, int32_t n, const int32_t *scope, int64_t size);

/* The table of the term that was added, once there are tables; the constant for n = 0. */
double *sali_local_terms_at(sali_local_terms *terms, int32_t n, const int32_t *scope);

/* local_terms_read.c */
void sali_terms_reader_free(struct sali_terms_reader *reader);

#endif
