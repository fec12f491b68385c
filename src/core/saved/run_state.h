/* SPDX-License-Identifier: MIT */
/* All that a run needs to go on from where it stood: named arrays, and the draws made by then.
 * Between runs and files, which know nothing of each other. */
#ifndef SALI_RUN_STATE_H
#define SALI_RUN_STATE_H

#include <saltus/sample.h>
#include "core/state.h"

/* What is noted of each draw and chain, in this order everywhere. */
enum { SALI_NOTED_LP, SALI_NOTED_ACCEPTANCE, SALI_NOTED_JUMP, SALI_NOTED_STEP_SIZE, SALI_NOTED };

/* A draw of codes [chains x variables] and figures [SALI_NOTED x chains]. */
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

/* Draws made before, in a file or in memory. */
typedef struct sali_replay {
    void *source;
    /* Draw number `index`, of warm-up or after it: good until the next call. NULL: there are none.
     */
    sal_status (*read)(void *source, bool warmup, int64_t index, sal_draw *draw, sal_error *err);
    void (*close)(void *source); /* may be NULL */
    /* Draws after warm-up, and of it: more than the state counts, where the run was stopped. */
    int64_t made, made_in_warmup;
} sali_replay;

struct sal_run_state {
    char *name; /* of the file that it is from, for messages; NULL */
    int64_t n, room;
    sali_state_item *items; /* names and data are its own */
    sali_replay replay;
};

/* The model that was given to sal_sample. It lives as long as the run. */
const sal_model *sali_run_model(const sal_run *run);

/* Room [count] for an item of a name, in place of the one before if it had another type or count;
 * NULL when out of memory. */
void *sali_run_state_room(struct sal_run_state *state, const char *name, sali_dtype type,
                          int64_t count);

/* The same with a copy of the data; false: out of memory. */
bool sali_run_state_put(struct sal_run_state *state, const sali_state_item *item);

/* Likewise a text, which becomes bytes of type U8, the last one 0. */
bool sali_run_state_put_text(struct sal_run_state *state, const char *name, const char *text);

/* The item of a name, or NULL. */
sali_state_item *sali_run_state_find(const struct sal_run_state *state, const char *name);

/* A text among the items, or NULL. */
const char *sali_run_state_text(const struct sal_run_state *state, const char *name);

/* The name of the model of the run; "" if it is not told. */
const char *sali_run_state_model(const struct sal_run_state *state);

/* A whole number among the items, or -1. */
int64_t sali_run_state_whole(const struct sal_run_state *state, const char *name);

/* What is taken out of a state. */
typedef struct sali_run_state_reader {
    const struct sal_run_state *state;
    const char *prefix; /* before the names of what is fetched */
    int64_t fetched;    /* items, which are fetched once each */
} sali_run_state_reader;

/* Fill n items with arrays of their names, types and counts, and check them (sali_state_check), up
 * to the first failure. Returns: SAL_ERR_DATA. */
sal_status sali_run_state_fill(sali_run_state_reader *reader, int64_t n,
                               const sali_state_item *items, sal_error *err);

/* Drop the items whose names begin with `prefix`, but for the n whose names go on as `kept` do. */
void sali_run_state_retain(struct sal_run_state *state, const char *prefix, int64_t n,
                           const sali_state_item *kept);

/* Free all in it, but not itself. */
void sali_run_state_clear(struct sal_run_state *state);

#endif
