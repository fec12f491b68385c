/* SPDX-License-Identifier: MIT */
/* All that is needed to resume a run: named arrays, and the draws made so far. It connects runs and
 * files, neither of which knows the other. */
#ifndef SALI_RUN_STATE_H
#define SALI_RUN_STATE_H

#include <saltus/sample.h>
#include "core/state.h"

/* The figures recorded with each draw for each chain, in this order everywhere. */
enum { SALI_NOTED_LP, SALI_NOTED_ACCEPTANCE, SALI_NOTED_JUMP, SALI_NOTED_STEP_SIZE, SALI_NOTED };

/* A draw with codes [chains x variables] and figures [SALI_NOTED x chains], which it points to. */
static inline sal_draw sali_draw_of(bool warmup, int64_t index, int64_t chains, int64_t variables,
                                    const int32_t *codes, const double *figures)
{
    return (sal_draw){ .index = index,
                       .warmup = warmup,
                       .chains = chains,
                       .variables = variables,
                       .codes = codes,
                       .log_prob = figures + SALI_NOTED_LP * chains,
                       .acceptance_rate = figures + SALI_NOTED_ACCEPTANCE * chains,
                       .jump = figures + SALI_NOTED_JUMP * chains,
                       .step_size = figures + SALI_NOTED_STEP_SIZE * chains };
}

/* The draws made before a run is resumed, in a file or in memory. */
typedef struct sali_replay {
    void *source;
    /* Read draw number `index` of the warm-up or of the draws after it; valid until the next call.
     * NULL: there are no draws. */
    sal_status (*read)(void *source, bool warmup, int64_t index, sal_draw *draw, sal_error *err);
    void (*close)(void *source); /* may be NULL */
    /* Numbers of draws after warm-up and in it; if the run was killed, these are more than the
     * state counts. */
    int64_t made, made_in_warmup;
} sali_replay;

struct sal_run_state {
    char *name; /* of the file it was read from, for messages; NULL if none */
    int64_t n, room;
    sali_state_item *items; /* the state owns names and data */
    sali_replay replay;
};

/* The model that was given to sal_sample. It lives as long as the run. */
const sal_model *sali_run_model(const sal_run *run);

/* Room for `count` elements of the item called `name`. An existing item keeps its array if type and
 * count agree, else the array is replaced. NULL when out of memory. */
void *sali_run_state_room(struct sal_run_state *state, const char *name, sali_dtype type,
                          int64_t count);

/* Add or replace an item with a copy of `item`; false: out of memory. */
bool sali_run_state_put(struct sal_run_state *state, const sali_state_item *item);

/* Add or replace an item with a text, stored as bytes of type U8, the last one 0; false: out of
 * memory. */
bool sali_run_state_put_text(struct sal_run_state *state, const char *name, const char *text);

/* The item of a name, or NULL. */
sali_state_item *sali_run_state_find(const struct sal_run_state *state, const char *name);

/* The text of the item called `name`; NULL if there is none or it is no text. */
const char *sali_run_state_text(const struct sal_run_state *state, const char *name);

/* The name of the model of the run; "" if it is not recorded. */
const char *sali_run_state_model(const struct sal_run_state *state);

/* The integer of the item called `name`; -1 if there is none. */
int64_t sali_run_state_whole(const struct sal_run_state *state, const char *name);

/* A reader that copies items out of a state. */
typedef struct sali_run_state_reader {
    const struct sal_run_state *state;
    const char *prefix; /* put before the name of each item that is fetched */
    int64_t fetched;    /* number of items fetched so far; each is fetched once */
} sali_run_state_reader;

/* Fill n items from the state's arrays of the same names (after the prefix), types and counts, and
 * check them (sali_state_check), up to the first failure. Returns: SAL_ERR_DATA. */
sal_status sali_run_state_fill(sali_run_state_reader *reader, int64_t n,
                               const sali_state_item *items, sal_error *err);

/* Remove the items whose names begin with `prefix`, except those whose names continue with the name
 * of one of the n items `kept`. */
void sali_run_state_retain(struct sal_run_state *state, const char *prefix, int64_t n,
                           const sali_state_item *kept);

/* Free everything that `state` owns, but not `state` itself. */
void sali_run_state_clear(struct sal_run_state *state);

#endif
