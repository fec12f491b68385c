/* SPDX-License-Identifier: MIT */
#include "models/structure/local_terms.h"

#include <string.h>

#include "core/alloc.h"
#include "models/fingerprint.h"

/* The slot of the term with this scope [n], or the empty slot where such a term belongs. */
static int64_t *find_slot(const sali_local_terms *t, int32_t n, const int32_t *scope)
{
    uint64_t mask = (uint64_t)t->n_slots - 1;
    uint64_t hash = sali_hash(SALI_HASH_START, scope, n * (int64_t)sizeof *scope);
    for (uint64_t at = (hash ^ hash >> 32) & mask;; at = (at + 1) & mask) {
        const sali_local_term *term = t->slots[at] > 0 ? &t->terms[t->slots[at] - 1] : NULL;
        if (!term || (term->n == n &&
                      memcmp(t->scopes + term->scope, scope, (size_t)n * sizeof *scope) == 0)) {
            return &t->slots[at];
        }
    }
}

/* Double the slots, and enter all terms again, if half of them would be taken. False: no memory. */
static bool make_slots(sali_local_terms *t)
{
    if (2 * (t->n_terms + 1) <= t->n_slots) {
        return true;
    }
    sali_free(t->slots);
    t->n_slots = t->n_slots > 0 ? 2 * t->n_slots : 64;
    t->slots = SALI_NEW_ARRAY(int64_t, t->n_slots);
    for (int64_t m = 0; t->slots && m < t->n_terms; m++) {
        *find_slot(t, t->terms[m].n, t->scopes + t->terms[m].scope) = m + 1;
    }
    return t->slots != NULL;
}

bool sali_local_terms_add(sali_local_terms *t, int32_t n, const int32_t *scope, int64_t size)
{
    if (!make_slots(t)) {
        return false;
    }
    int64_t *slot = find_slot(t, n, scope);
    if (*slot > 0) {
        return true;
    }
    if (sali_grow((void **)&t->terms, &t->terms_room, t->n_terms + 1, sizeof *t->terms) != 0 ||
        sali_grow((void **)&t->scopes, &t->scopes_room, t->n_scopes + n, sizeof *t->scopes) != 0) {
        return false;
    }
    t->terms[t->n_terms++] = (sali_local_term){ n, t->n_scopes, t->n_tables, size };
    *slot = t->n_terms;
    memcpy(t->scopes + t->n_scopes, scope, (size_t)n * sizeof *scope);
    t->n_scopes += n;
    t->n_tables += size;
    return true;
}

double *sali_local_terms_at(sali_local_terms *t, int32_t n, const int32_t *scope)
{
    return n == 0 ? &t->constant : t->tables + t->terms[*find_slot(t, n, scope) - 1].table;
}
