/* SPDX-License-Identifier: MIT */
/* The draws of a run while it makes them, and what it needs to go on: a file of records that only
 * grows (docs/formats.md).
 *
 * A record is three numbers, its kind, its bytes and their hash, then the bytes. The first record
 * tells what draws are: a magic number, chains, variables and bytes of a code. The others are a
 * draw, of warm-up or after it, or a state of the run, which counts draws before it. A draw is what
 * is noted [SALI_NOTED x chains], then codes [chains x V]. The hash goes on from that of the record
 * before: the file ends where a record is not whole, whatever comes after. Numbers are the
 * machine's. */
#ifndef SALI_DRAW_LOG_H
#define SALI_DRAW_LOG_H

#include <stdbool.h>
#include <stdio.h>

#include <saltus/sample.h>
#include "core/saved/run_state.h"

typedef struct sali_draw_log {
    char *path;
    FILE *file;
    char *buffer; /* of the file */
    int64_t chains, V, code_bytes;
    int64_t row;                  /* bytes of a draw */
    int64_t made[2];              /* draws after warm-up, and of it */
    int64_t state_at, state_size; /* the last state; 0: none */
    int64_t end;                  /* of the last whole record */
    uint64_t hash;                /* up to there */

    double *figures; /* [row] one draw, of which the codes follow the figures */
    int32_t *codes;  /* [chains x V] its codes */
    /* What is read next: the record at `next`, which comes after `index` draws of the kind `in`. */
    int in;
    int64_t index, next;
} sali_draw_log;

/* PATH.draws, where a run keeps the draws of PATH; NULL: no memory. */
char *sali_draw_log_path(const char *path);

/* Open a log and read it through; to write, it is locked and made if it is not there. One that is
 * empty, or cut before its first record ends, has no chains.
 * Returns: NOT_FOUND when it is not there; DATA for another file; IO, also while another process
 *          writes it; MEMORY. */
sal_status sali_draw_log_open(const char *path, bool to_write, sali_draw_log **out, sal_error *err);
void sali_draw_log_close(void *log);

/* Empty it, for draws of so many chains and variables, whose codes are of 1 or 4 bytes. */
sal_status sali_draw_log_begin(sali_draw_log *log, int64_t chains, int64_t V, int64_t code_bytes,
                               sal_error *err);

/* Add a draw, of the log's chains and variables; or a state. After an error the log is not to be
 * written to any more, and ends with its last whole record. */
sal_status sali_draw_log_add(sali_draw_log *log, const sal_draw *draw, sal_error *err);
sal_status sali_draw_log_add_state(sali_draw_log *log, const void *bytes, int64_t size,
                                   sal_error *err);

/* Give the file what was added. */
sal_status sali_draw_log_flush(sali_draw_log *log, sal_error *err);

/* Its draws, after a flush; who closes them closes the log. */
sali_replay sali_draw_log_replay(sali_draw_log *log);

/* The bytes of the last state, to be freed; likewise. */
sal_status sali_draw_log_state(sali_draw_log *log, void **bytes, sal_error *err);

#endif
