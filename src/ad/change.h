/* SPDX-License-Identifier: MIT */
/* What a change rule works with. After some elements of an op's inputs changed in one chain, the
 * rule brings the output, and what is saved for backward, up to date at the cost of what changed.
 * Every write goes through the journal, so that taking a change back restores each bit. */
#ifndef SALI_CHANGE_H
#define SALI_CHANGE_H

#include "ad/op.h"

/* Elements of a row that changed, with their values before. */
typedef struct sali_delta {
    int64_t n;      /* 0: none; SALI_ALL: any may have changed, none are listed */
    int32_t *index; /* [n], distinct */
    void *old;      /* real [n] */
} sali_delta;

#define SALI_ALL (-1)

/* One overwritten word, of at most 8 bytes. */
typedef struct sali_cell {
    void *at;
    uint64_t old;
    size_t size;
} sali_cell;

/* The words overwritten in one chain since its last change was kept or undone. A full journal
 * refuses writes. */
typedef struct sali_journal {
    sali_cell *cells;
    int64_t used, room;
} sali_journal;

typedef struct sali_change {
    const sali_call *call; /* of one chain: inputs and codes are new, output and saved are old */
    const sali_delta *const *in; /* by input */
    sali_delta *out;             /* to fill; its lists have room for the whole output */
    sali_journal *journal;
    /* All inputs that vary are at most affine in the state: their elements are of similar size, and
     * adding rises to a sum loses nothing. Otherwise a large term that vanishes would leave its
     * rounding error in the sum, so the sum must be recomputed. */
    bool affine;
    /* The variables that changed. */
    int64_t n_sites;
    const int64_t *sites;
    /* Room for a copy of the output's row, followed by the saved row, made before a rule overwrites
     * whole rows. *shadowed: the copy has been made. */
    void *shadow;
    bool *shadowed;
    /* The state's gradient, real [N], if the rule must keep it up to date; else NULL. `sole`: no
     * other node contributes to this gradient. */
    void *gradient;
    void *gradient_shadow;
    bool *gradient_shadowed;
    bool sole;
} sali_change;

#ifdef SALI_REAL_BITS

#include <string.h>

#include "core/real.h"

/* Store the word at `at` in the journal, before the caller overwrites it; false: the journal is
 * full, and the rule must give up. */
static inline bool change_note(sali_journal *journal, void *at, size_t size)
{
    if (journal->used == journal->room) {
        return false;
    }
    sali_cell *cell = &journal->cells[journal->used++];
    cell->at = at;
    cell->size = size;
    memcpy(&cell->old, at, size);
    return true;
}

/* Set *at, after its old value is stored in the journal; false: the journal is full. */
static inline bool change_write(sali_change *change, real *at, real value)
{
    if (!change_note(change->journal, at, sizeof *at)) {
        return false;
    }
    *at = value;
    return true;
}

/* Set element i of the output and add it to the list change->out, unless it has this value already.
 * False: no room, give up. */
static inline bool change_set(sali_change *change, int64_t i, real value)
{
    real *at = (real *)change->call->out.value + i;
    sali_delta *out = change->out;
    if (*at == value) {
        return true;
    }
    if (out->n == change->call->out.size) {
        return false;
    }
    out->index[out->n] = (int32_t)i;
    ((real *)out->old)[out->n++] = *at;
    return change_write(change, at, value);
}

/* Copy the output's row and the saved row [saved_size] to the shadow, once a change, so that the
 * rule may overwrite both rows freely. Marks all elements of the output as changed. */
static inline void change_save_row(sali_change *change, int64_t saved_size)
{
    const sali_call *call = change->call;
    if (!*change->shadowed) {
        memcpy(change->shadow, call->out.value, (size_t)call->out.size * sizeof(real));
        memcpy((real *)change->shadow + call->out.size, call->saved,
               (size_t)saved_size * sizeof(real));
        *change->shadowed = true;
    }
    change->out->n = SALI_ALL;
}

/* Copy the state's gradient [size] to its shadow, once a change, so that the rule may overwrite the
 * gradient freely. */
static inline void change_save_gradient(sali_change *change, int64_t size)
{
    if (!*change->gradient_shadowed) {
        memcpy(change->gradient_shadow, change->gradient, (size_t)size * sizeof(real));
        *change->gradient_shadowed = true;
    }
}

/* Set the state's gradient at a coordinate; false: the journal is full. */
static inline bool change_set_gradient(sali_change *change, int64_t coordinate, real value)
{
    real *at = (real *)change->gradient + coordinate;
    if (*change->gradient_shadowed) { /* the copy restores it */
        *at = value;
        return true;
    }
    return change_write(change, at, value);
}

/* Add `term` to the state's gradient at a coordinate; false: the journal is full. */
static inline bool change_gradient(sali_change *change, int64_t coordinate, real term)
{
    return change_set_gradient(change, coordinate, ((real *)change->gradient)[coordinate] + term);
}

/* The new value of element number k in the list of changed elements of input `in`. */
static inline real change_new(const sali_change *change, int in, int64_t k)
{
    return ((const real *)change->call->in[in].value)[change->in[in]->index[k]];
}

/* The new value minus the old one of element number k in the list of changed elements of input
 * `in`. */
static inline real change_rise(const sali_change *change, int in, int64_t k)
{
    return change_new(change, in, k) - ((const real *)change->in[in]->old)[k];
}

#endif
#endif
