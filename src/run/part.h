/* SPDX-License-Identifier: MIT */
/* A run is a list of parts: what it can have beside chains that are moved by a sampler. A part is
 * one file of run/parts with one record, and a line in run/parts.def. Saving a run, resuming it,
 * and what ranks tell each other follow from the items that a part lists. */
#ifndef SALI_PART_H
#define SALI_PART_H

#include "core/saved/run_state.h"
#include "run/run.h"

/* Steps that all shards make before the calling thread looks at them again. */
typedef struct sali_window {
    bool warmup;
    int64_t done;  /* steps before this window, of warm-up or after it */
    int64_t steps; /* of this window */
} sali_window;

/* No step is due. */
#define SALI_NEVER INT64_MAX

/* What a part does. NULL functions do nothing. They are called in the order of run/parts.def, which
 * is part of the bits. `due`, `before`, `after` and `draw` are called in a shard's thread; the
 * others in the calling thread, on all ranks alike, where a failure of one rank must be made one of
 * all (sali_sync_status) before ranks wait for each other. */
typedef struct sali_run_part {
    const char *name;
    const char *prefix; /* before the names of its items of the run in a saved state; NULL: none */
    /* Draws read back when a run is resumed go through `draw` as new ones do. Without it the items
     * hold what `draw` made of them. */
    bool replayed;
    bool sees_warmup; /* `draw` is also called for draws of warm-up, if they are recorded */
    bool each_step;   /* `before` and `after` come with each step after warm-up, not when `due` */

    /* Whether the run has the part, once the sampler is known and the parts before it are created;
     * NULL: every run has. */
    bool (*wanted)(const sal_run *run);
    /* Of its `self`, memory of the run's: zeros but for the first member, a `sal_run *`. 0: `self`
     * is the run. */
    size_t size;
    /* Before there are shards. */
    sal_status (*create)(void *self, sal_error *err);
    /* Once there are shards, and all options are resolved. */
    sal_status (*open)(void *self, sal_error *err);
    /* Of a new run, once chains are where they start: they are fresh, and so they must be after it.
     */
    sal_status (*begin)(void *self, sal_error *err);

    /* The most steps of the window that begins at w->done, of w->steps at most. */
    int64_t (*longest)(const void *self, const sali_window *w);
    /* Steps from step `step` of the run, warm-up included, on that shards make without each other,
     * and what they do together after these; *refresh: the shards are to be refreshed. */
    int64_t (*apart)(const void *self, int64_t step);
    sal_status (*meet)(void *self, int64_t step, bool *refresh, sal_error *err);

    /* Steps from a shard's present one until `before` or `after` is due; and then whether the shard
     * is to be refreshed before it goes on. */
    int64_t (*due)(const void *self, const sali_run_shard *shard);
    bool (*before)(void *self, const sali_window *w, sali_run_shard *shard, int64_t step);
    bool (*after)(void *self, const sali_window *w, sali_run_shard *shard);
    /* The shard's present states are draw number `draw` of warm-up, or after it. */
    void (*draw)(void *self, sali_run_shard *shard, int64_t draw);

    /* After a window, when the run's counters count it and the chains' sums are of it; *refresh:
     * the shards are to be refreshed. And when warm-up is over. */
    sal_status (*window)(void *self, const sali_window *w, bool *refresh, sal_error *err);
    void (*warmed_up)(void *self);

    /* All that it owns, of the run (shard NULL) or of a shard, and for what each item is kept; the
     * number of items. Of another rank's shard it lists at least those that are SENT or LAST, as on
     * their owner: SENT ones with data, LAST ones with data at rank 0. */
    int64_t (*items)(void *self, sali_run_shard *shard, sali_state_item *items);
    /* Fill the items of the run; NULL: in one go. */
    sal_status (*restore)(void *self, sali_run_state_reader *reader, sal_error *err);
    /* Whether numbers that were put into its items of the run, or of a shard, go together: DATA. */
    sal_status (*restored)(void *self, const sali_run_shard *shard, sal_error *err);

    /* After the last step; and what it says in the summary, at rank 0. */
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

/* A statement for each part of the run that has a function, in their order; k is its number. */
#define SALI_EACH_PART(run, k, part, function)                                             \
    for (int k = 0; k < SALI_PARTS; k++)                                                   \
        for (const sali_run_part *part = sali_run_part_of(run, k); part && part->function; \
             part = NULL)

#endif
