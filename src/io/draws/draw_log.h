/* SPDX-License-Identifier: MIT */
/* The log of a run: its draws while it makes them, and its states for resuming. A file of
 * records that only grows (docs/formats.md).
 *
 * A record is three numbers, namely its kind, the size of its data in bytes, and a hash,
 * followed by the data. The first record describes the draws: a magic number, chains, variables
 * and bytes of a code. Each later record is a draw, of warm-up or after it, or a state of the
 * run, which counts draws before it. The data of a draw are its figures [SALI_NOTED x chains],
 * then codes [chains x V]. Each hash continues the hash of the record before: the log ends at
 * the first record that is not whole, whatever follows. Numbers are in the machine's byte order. */
#ifndef SALI_DRAW_LOG_H
#define SALI_DRAW_LOG_H

#include <stdbool.h>
#include <stdio.h>

#include <saltus/sample.h>
#include "core/saved/run_state.h"

typedef struct sali_draw_log {
    char *path;
    FILE *file;
    char *buffer; /* for stdio */
    int64_t chains, V, code_bytes;
    int64_t row;                  /* bytes of a draw */
    int64_t made[2];              /* numbers of draws after warm-up, and in it */
    int64_t state_at, state_size; /* the last state; 0: none */
    int64_t end;                  /* offset of the end of the last whole record */
    uint64_t hash;                /* hash up to `end` */

    double *figures; /* [row bytes] one draw: figures, followed by codes as in the file */
    int32_t *codes;  /* [chains x V] the codes of the draw */
    /* Reading position: the record at `next`, which follows `index` draws of kind `in`. */
    int in;
    int64_t index, next;
} sali_draw_log;

/* PATH.draws, the log of the run whose file is PATH; NULL: out of memory. */
char *sali_draw_log_path(const char *path);

/* Open a log and read it to its end. To write, it is locked, and created if it does not exist. A
 * log that is empty, or cut before its first record ends, has no chains.
 * Returns: NOT_FOUND when it does not exist; DATA for another kind of file; IO, also while
 *          another process writes it; MEMORY. */
sal_status sali_draw_log_open(const char *path, bool to_write, sali_draw_log **out, sal_error *err);
void sali_draw_log_close(void *log);

/* Empty the log, for draws of `chains` chains and V variables, whose codes take 1 or 4 bytes. */
sal_status sali_draw_log_begin(sali_draw_log *log, int64_t chains, int64_t V, int64_t code_bytes,
                               sal_error *err);

/* Append a draw, of the log's chains and variables; or a state. After an error the log must not be
 * written to any more; it ends with its last whole record. */
sal_status sali_draw_log_add(sali_draw_log *log, const sal_draw *draw, sal_error *err);
sal_status sali_draw_log_add_state(sali_draw_log *log, const void *bytes, int64_t size,
                                   sal_error *err);

/* Pass everything appended so far to the file. */
sal_status sali_draw_log_flush(sali_draw_log *log, sal_error *err);

/* The draws of the log, which must have been flushed; closing the replay closes the log. */
sali_replay sali_draw_log_replay(sali_draw_log *log);

/* The bytes of the last state, to be freed; the log must have been flushed. */
sal_status sali_draw_log_state(sali_draw_log *log, void **bytes, sal_error *err);

#endif
