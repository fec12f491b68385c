/* SPDX-License-Identifier: MIT */
/* The draws of a run while it makes them, and what it needs to go on: a file of records that only
 * grows (docs/formats.md).
 *
 * A record is three numbers, its kind, its bytes and their hash, then the bytes, filled up with
 * zeros to a multiple of 8. The first tells what draws are: a magic number, chains, variables and
 * bytes of a code. Others are windows of draws, of warm-up or after it, or a state of the run,
 * which counts draws before it. A draw is a row: what is noted [SALI_NOTED x chains], then codes
 * [chains x V], filled up likewise. The hash goes on from that of the record before: the file ends
 * where a record is not whole, whatever comes after. Numbers are the machine's. */
#ifndef SALI_DRAW_LOG_H
#define SALI_DRAW_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include <saltus/sample.h>
#include "io/draws/noted.h"

typedef enum sali_log_kind {
    SALI_LOG_DRAWS,
    SALI_LOG_WARMUP,
    SALI_LOG_STATE,
    SALI_LOG_HEAD
} sali_log_kind;

typedef struct sali_draw_log {
    char *path;
    int fd;
    int64_t chains, V, code_bytes;
    int64_t row;                  /* bytes of a draw */
    int64_t made[2];              /* draws after warm-up, and of it */
    int64_t state_at, state_size; /* the last state; 0: none */
    int64_t end;                  /* of the last whole record */
    uint64_t hash;                /* up to there */

    /* The window that was read last: draws first .. first + n - 1 of `in`, before `next`. */
    int in;
    int64_t first, n, next, room;
    char *rows;
    int32_t *codes; /* [chains x V] of one draw */
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

/* Add a record: rows of draws, or a state. On failure the log ends before it. */
sal_status sali_draw_log_append(sali_draw_log *log, sali_log_kind kind, const void *data,
                                int64_t size, sal_error *err);

/* A draw of a log; the function `read` of a sali_replay. */
sal_status sali_draw_log_read(void *log, bool warmup, int64_t index, sal_draw *draw,
                              sal_error *err);

/* The bytes of the last state, to be freed. */
sal_status sali_draw_log_state(const sali_draw_log *log, void **bytes, sal_error *err);

#endif
