/* SPDX-License-Identifier: MIT */
/* A run is a list of parts. A part is what a run can have beside chains that a sampler moves. Each
 * part is one file of run/parts with one record, and a line in run/parts.def. Saving a run,
 * resuming it, and what ranks send each other follow from the items that a part lists. */
#ifndef SALI_PART_H
#define SALI_PART_H

#include "core/saved/run_state.h"
#include "run/run.h"

/* A number of steps that is never reached: nothing is due, or a window need not be shorter. */
#define SALI_NEVER INT64_MAX

/* What a part does. NULL functions do nothing. They are called in the order of run/parts.def, which
 * is part of the bits. `due`, `before`, `after` and `draw` are called in a shard's thread; the
 * others in the calling thread, on all ranks alike, where a failure of one rank must become a
 * failure of all ranks (sali_sync_status) before ranks wait for each other. */
typedef struct sali_run_part {
    const char *name;
    const char *prefix; /* of the names of its run items in a saved state; NULL: no prefix */
    /* True: draws that are read back when a run is resumed go through `draw`, as new draws do.
     * False: the items hold what `draw` made of the draws. */
    bool replayed;
    bool sees_warmup; /* `draw` is also called for draws of warm-up, if they are recorded */
    bool each_step;   /* `before` and `after` come with each step after warm-up, not when `due` */

    /* Whether the run has the part, once the sampler is known and the parts before it are created;
     * NULL: every run has. */
    bool (*wanted)(const sal_run *run);
    /* Bytes of its `self`, which is in the run's memory: zeros, except that the first member is
     * a `sal_run *`. 0: `self` is the run. */
    size_t size;
    /* Called before there are shards. */
    sal_status (*create)(void *self, sal_error *err);
    /* Called once there are shards, and all options are resolved. */
    sal_status (*open)(void *self, sal_error *err);
    /* Called in a new run, once chains are where they start. Shards are fresh then, and must be
     * fresh after the call. */
    sal_status (*begin)(void *self, sal_error *err);

    /* The most steps of the window that begins at w->done, of w->steps at most. */
    int64_t (*longest)(const void *self, const sali_window *w);
    /* `apart`: how many steps shards can make without each other after step `step` of the run,
     * warm-up included. `meet`: what shards do together after these steps; *refresh becomes true if
     * the shards are to be refreshed. */
    int64_t (*apart)(const void *self, int64_t step);
    sal_status (*meet)(void *self, int64_t step, bool *refresh, sal_error *err);

    /* `due`: steps from a shard's present step until `before` or `after` is to be called. These two
     * return whether the shard is to be refreshed before its next step. */
    int64_t (*due)(const void *self, const sali_run_shard *shard);
    bool (*before)(void *self, const sali_window *w, sali_run_shard *shard, int64_t step);
    bool (*after)(void *self, const sali_window *w, sali_run_shard *shard);
    /* The shard's present states are draw number `draw` of warm-up, or after it. */
    void (*draw)(void *self, sali_run_shard *shard, int64_t draw);

    /* Called after a window, when the run's counters include it and the chains' sums are those of
     * the window; *refresh becomes true if the shards are to be refreshed. `warmed_up`: called when
     * warm-up is over. */
    sal_status (*window)(void *self, const sali_window *w, bool *refresh, sal_error *err);
    void (*warmed_up)(void *self);

    /* List all that the part owns, of the run (shard NULL) or of a shard, and for what each item is
     * kept; returns the number of items. For another rank's shard list at least the items that are
     * SENT or LAST, as their owner does: SENT items with data, LAST items with data at rank 0. */
    int64_t (*items)(void *self, sali_run_shard *shard, sali_state_item *items);
    /* Fill the items of the run; NULL: all at once, by sali_run_state_fill. */
    sal_status (*restore)(void *self, sali_run_state_reader *reader, sal_error *err);
    /* SAL_ERR_DATA unless the numbers that were put into the part's items of the run (shard NULL),
     * or of a shard, fit each other. */
    sal_status (*restored)(void *self, const sali_run_shard *shard, sal_error *err);

    /* `finish`: called after the last step. `summarise`: set the part's fields of the summary, at
     * rank 0. */
    sal_status (*finish)(void *self, sal_error *err);
    sal_status (*summarise)(const void *self, sal_run_summary *summary, sal_error *err);
} sali_run_part;

#define SALI_RUN_PART(name) extern const sali_run_part sali_part_##name;
#include "run/parts.def"
#undef SALI_RUN_PART

/* The parts by number (run.h). */
extern const sali_run_part *const sali_run_parts[SALI_PARTS];

/* Part number k, if the run has it; else NULL. */
static inline const sali_run_part *sali_run_part_of(const sal_run *run, int k)
{
    return run->selves[k] ? sali_run_parts[k] : NULL;
}

/* Loop over the parts of the run that have a certain function, in their order; k is the number of a
 * part. */
#define SALI_EACH_PART(run, k, part, function)                                             \
    for (int k = 0; k < SALI_PARTS; k++)                                                   \
        for (const sali_run_part *part = sali_run_part_of(run, k); part && part->function; \
             part = NULL)

#endif
