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

/* What is overwritten in one chain since the last decision. When it is full, writes are refused. */
typedef struct sali_journal {
    sali_cell *cells;
    int64_t used, room;
} sali_journal;

typedef struct sali_change {
    const sali_call *call; /* of one chain: inputs and codes are new, output and saved are old */
    const sali_delta *const *in; /* by input */
    sali_delta *out;             /* to fill; its lists have room for the whole output */
    sali_journal *journal;
    /* All inputs that vary are at most affine in the state: their elements are of one size, and
     * adding rises to a sum loses nothing. Otherwise large terms that vanish would leave their
     * rounding errors behind, and the sum is to be made anew. */
    bool affine;
    /* The variables that changed. */
    int64_t n_sites;
    const int64_t *sites;
    /* Where a copy of the output's and the saved row goes, before a rule changes all of it. */
    void *shadow;
    bool *shadowed;
    /* Of the state, when the rule is to keep it: real [N]; else NULL. `sole`: no other node
     * contributes to it. */
    void *gradient;
    void *gradient_shadow;
    bool *gradient_shadowed;
    bool sole;
} sali_change;

#ifdef SALI_REAL_BITS

#include <string.h>

#include "core/real.h"

/* Note the word at `at` before it is overwritten; false: the journal is full, give up. */
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

static inline bool change_write(sali_change *change, real *at, real value)
{
    if (!change_note(change->journal, at, sizeof *at)) {
        return false;
    }
    *at = value;
    return true;
}

/* Set element i of the output and list it, unless it is that already. */
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

/* Copy the output's row and what it saves; they may then be changed freely, as a whole. */
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

/* The same for the state's gradient [size]. */
static inline void change_save_gradient(sali_change *change, int64_t size)
{
    if (!*change->gradient_shadowed) {
        memcpy(change->gradient_shadow, change->gradient, (size_t)size * sizeof(real));
        *change->gradient_shadowed = true;
    }
}

/* Set the state's gradient at a coordinate. */
static inline bool change_set_gradient(sali_change *change, int64_t coordinate, real value)
{
    real *at = (real *)change->gradient + coordinate;
    if (*change->gradient_shadowed) { /* the copy restores it */
        *at = value;
        return true;
    }
    return change_write(change, at, value);
}

/* Add to the state's gradient at a coordinate. */
static inline bool change_gradient(sali_change *change, int64_t coordinate, real term)
{
    return change_set_gradient(change, coordinate, ((real *)change->gradient)[coordinate] + term);
}

/* The new value of listed element k of input `in`, and how much it rose. */
static inline real change_new(const sali_change *change, int in, int64_t k)
{
    return ((const real *)change->call->in[in].value)[change->in[in]->index[k]];
}

static inline real change_rise(const sali_change *change, int in, int64_t k)
{
    return change_new(change, in, k) - ((const real *)change->in[in]->old)[k];
}

#endif
#endif
