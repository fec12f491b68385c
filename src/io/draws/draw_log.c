/* SPDX-License-Identifier: MIT */
#include "io/draws/draw_log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/checksum.h"
#include "io/file.h"

#define MAGIC INT64_C(0x32776172646c6173) /* "saldraw2" */
#define BUFFER_BYTES ((int64_t)1 << 18)

enum { DRAWS, WARMUP, STATE, HEAD };

typedef struct record_head {
    uint64_t kind, size, hash;
} record_head;

typedef struct first_record {
    int64_t magic, chains, V, code_bytes;
} first_record;

static uint64_t begin_record(uint64_t h, const record_head *record)
{
    return sali_checksum(h, record, 2 * sizeof(uint64_t));
}

static sal_status fail_log(const sali_draw_log *log, const char *what, sal_error *err)
{
    return sali_fail(err, SAL_ERR_IO, "%s: cannot be %s: %m", log->path, what);
}

static bool read_at(const sali_draw_log *log, void *to, int64_t bytes, int64_t at)
{
    return fseeko(log->file, at, SEEK_SET) == 0 &&
           fread(to, 1, (size_t)bytes, log->file) == (size_t)bytes;
}

/* ---- reading it through */

/* Set the log's shape from its first record; false if the record is not valid. */
static bool set_shape(sali_draw_log *log, const first_record *first)
{
    int64_t codes;
    if (first->magic != MAGIC || first->chains < 1 || first->chains > INT32_MAX || first->V < 1 ||
        (first->code_bytes != 1 && first->code_bytes != 4) ||
        __builtin_mul_overflow(first->chains, first->V, &codes) || codes > INT64_MAX / 64) {
        return false;
    }
    log->chains = first->chains;
    log->V = first->V;
    log->code_bytes = first->code_bytes;
    log->row = SALI_NOTED * log->chains * (int64_t)sizeof(double) + codes * log->code_bytes;
    return true;
}

/* Register a whole record whose data begin at offset `at`; false if such a record cannot be
 * there. */
static bool take_record(sali_draw_log *log, const record_head *record, int64_t at)
{
    first_record first;
    if (record->kind == HEAD) {
        return log->chains == 0 && record->size == sizeof first &&
               read_at(log, &first, sizeof first, at) && set_shape(log, &first);
    }
    if (log->chains > 0 && record->kind == STATE && record->size > 0) {
        log->state_at = at;
        log->state_size = (int64_t)record->size;
        return true;
    }
    if (log->chains == 0 || record->kind > WARMUP || record->size != (uint64_t)log->row) {
        return false;
    }
    log->made[record->kind]++;
    return true;
}

/* Read and check the record after the last whole one; `size` is that of the file. False if there is
 * none, or it is not whole. */
static bool next_record(sali_draw_log *log, int64_t size)
{
    record_head record;
    char piece[4096];
    int64_t at = log->end + (int64_t)sizeof record;
    if (at > size || !read_at(log, &record, sizeof record, log->end) ||
        record.size > (uint64_t)(size - at)) {
        return false;
    }
    int64_t bytes = (int64_t)record.size;
    uint64_t hash = begin_record(log->hash, &record);
    for (int64_t done = 0, n; done < bytes; done += n) {
        n = bytes - done < (int64_t)sizeof piece ? bytes - done : (int64_t)sizeof piece;
        if (fread(piece, 1, (size_t)n, log->file) != (size_t)n) {
            return false;
        }
        hash = sali_checksum(hash, piece, n);
    }
    if (hash != record.hash || !take_record(log, &record, at)) {
        return false;
    }
    log->hash = hash;
    log->end = at + bytes;
    return true;
}

/* Read all whole records. SAL_ERR_DATA if the file has a first record's length but is no log of
 * draws. */
static sal_status scan_records(sali_draw_log *log, sal_error *err)
{
    struct stat info;
    int64_t magic = 0;
    if (fstat(fileno(log->file), &info) != 0 || !S_ISREG(info.st_mode)) {
        return sali_fail(err, SAL_ERR_IO, "%s: is no regular file", log->path);
    }
    log->hash = SALI_CHECKSUM_START;
    while (next_record(log, (int64_t)info.st_size)) {
    }
    const int64_t least = (int64_t)(sizeof(record_head) + sizeof(first_record));
    if (log->chains == 0 && info.st_size >= least) {
        bool ours = read_at(log, &magic, sizeof magic, sizeof(record_head)) && magic == MAGIC;
        return sali_fail(err, SAL_ERR_DATA, "%s: %s", log->path,
                         ours ? "its beginning is damaged" : "is no file of draws");
    }
    return SAL_OK;
}

/* ---- opening and closing */

char *sali_draw_log_path(const char *path)
{
    size_t length = strlen(path);
    char *log = sali_alloc((int64_t)length + 7, 1);
    if (log) {
        memcpy(log, path, length);
        memcpy(log + length, ".draws", 7);
    }
    return log;
}

void sali_draw_log_close(void *source)
{
    sali_draw_log *log = source;
    if (log) {
        if (log->file) {
            fclose(log->file);
        }
        sali_free(log->path);
        sali_free(log->buffer);
        sali_free(log->figures);
        sali_free(log->codes);
        sali_free(log);
    }
}

/* Whether no other process writes the log; to write, lock it. The log must still be at `path`:
 * another process may just have finished and removed it. */
static bool is_free(int fd, const char *path, bool to_write)
{
    bool locked = to_write ? flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
                           : sali_file_is_locked(fd, false);
    return !locked && sali_file_is_at(fd, path);
}

/* Open and scan the log; for writing, cut it behind the last whole record. */
static sal_status open_file(sali_draw_log *log, bool to_write, sal_error *err)
{
    int flags = (to_write ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    int fd = open(log->path, flags, 0666);
    if (fd < 0) {
        return sali_fail(err, to_write || errno != ENOENT ? SAL_ERR_IO : SAL_ERR_NOT_FOUND,
                         "%s: cannot be %s: %m", log->path, to_write ? "created" : "opened");
    }
    log->file = fdopen(fd, to_write ? "r+" : "r");
    if (!log->file) {
        close(fd);
        return sali_fail_memory(err);
    }
    setvbuf(log->file, log->buffer, _IOFBF, BUFFER_BYTES);
    if (!is_free(fd, log->path, to_write)) {
        return sali_fail(err, SAL_ERR_IO, "%s: its run is not over: another process is writing it",
                         log->path);
    }
    sal_status status = scan_records(log, err);
    if (status == SAL_OK && to_write && /* behind the last whole record */
        (ftruncate(fd, log->end) != 0 || fseeko(log->file, log->end, SEEK_SET) != 0)) {
        status = fail_log(log, "written", err);
    }
    return status;
}

sal_status sali_draw_log_open(const char *path, bool to_write, sali_draw_log **out, sal_error *err)
{
    sali_draw_log *log = SALI_NEW(sali_draw_log);
    if (!log) {
        return sali_fail_memory(err);
    }
    log->path = sali_draw_log_path(path);
    log->buffer = sali_alloc(BUFFER_BYTES, 1);
    sal_status status =
        log->path && log->buffer ? open_file(log, to_write, err) : sali_fail_memory(err);
    return SALI_GIVE(status, log, out, sali_draw_log_close);
}

/* ---- writing */

/* Append a record to the stream's buffer, from which it goes to the file; false: it cannot be
 * written. */
static bool append_record(sali_draw_log *log, uint64_t kind, const void *data, int64_t size)
{
    record_head record = { kind, (uint64_t)size, 0 };
    record.hash = sali_checksum(begin_record(log->hash, &record), data, size);
    if (fwrite(&record, sizeof record, 1, log->file) != 1 ||
        fwrite(data, (size_t)size, 1, log->file) != 1) {
        return false;
    }
    log->hash = record.hash;
    log->end += (int64_t)sizeof record + size;
    return true;
}

static sal_status cannot_write(const sali_draw_log *log, sal_error *err)
{
    return sali_fail(err, SAL_ERR_IO, "%s: cannot be written: %m; what was written before is there",
                     log->path);
}

sal_status sali_draw_log_begin(sali_draw_log *log, int64_t chains, int64_t V, int64_t code_bytes,
                               sal_error *err)
{
    const first_record first = { MAGIC, chains, V, code_bytes };
    if (!set_shape(log, &first)) {
        return sali_fail_memory(err);
    }
    log->made[0] = log->made[1] = log->state_size = log->end = 0;
    log->hash = SALI_CHECKSUM_START;
    return fseeko(log->file, 0, SEEK_SET) == 0 && ftruncate(fileno(log->file), 0) == 0 &&
                   append_record(log, HEAD, &first, sizeof first)
               ? sali_draw_log_flush(log, err)
               : cannot_write(log, err);
}

static sal_status make_room(sali_draw_log *log, sal_error *err)
{
    if (!log->codes) {
        log->figures = log->figures ? log->figures : sali_alloc(log->row, 1);
        log->codes = log->figures ? SALI_NEW_ARRAY(int32_t, log->chains * log->V) : NULL;
    }
    return log->codes ? SAL_OK : sali_fail_memory(err);
}

sal_status sali_draw_log_add(sali_draw_log *log, const sal_draw *draw, sal_error *err)
{
    const double *from[SALI_NOTED] = { draw->log_prob, draw->acceptance_rate, draw->jump,
                                       draw->step_size };
    sal_status status = make_room(log, err);
    if (status != SAL_OK) {
        return status;
    }
    for (int k = 0; k < SALI_NOTED; k++) {
        memcpy(log->figures + k * log->chains, from[k], (size_t)log->chains * sizeof **from);
    }
    void *codes = log->figures + SALI_NOTED * log->chains;
    for (int64_t k = 0; k < log->chains * log->V; k++) {
        if (log->code_bytes == 1) {
            ((uint8_t *)codes)[k] = (uint8_t)draw->codes[k];
        } else {
            ((int32_t *)codes)[k] = draw->codes[k];
        }
    }
    if (!append_record(log, draw->warmup, log->figures, log->row)) {
        return cannot_write(log, err);
    }
    log->made[draw->warmup]++;
    return SAL_OK;
}

sal_status sali_draw_log_add_state(sali_draw_log *log, const void *bytes, int64_t size,
                                   sal_error *err)
{
    if (!append_record(log, STATE, bytes, size)) {
        return cannot_write(log, err);
    }
    log->state_at = log->end - size;
    log->state_size = size;
    return sali_draw_log_flush(log, err);
}

sal_status sali_draw_log_flush(sali_draw_log *log, sal_error *err)
{
    return fflush(log->file) == 0 ? SAL_OK : cannot_write(log, err);
}

/* ---- reading */

/* Read draw `index` of kind `in`, which exists, into log->figures; false: it cannot be read. Fast
 * if draws are read in order. */
static bool find_draw(sali_draw_log *log, int in, int64_t index)
{
    record_head record;
    if (in != log->in || index < log->index) {
        log->in = in;
        log->index = log->next = 0;
    }
    for (; log->index <= index; log->index += record.kind == (uint64_t)in) {
        if (!read_at(log, &record, sizeof record, log->next)) {
            return false;
        }
        log->next += (int64_t)(sizeof record + record.size);
    }
    return read_at(log, log->figures, log->row, log->next - log->row);
}

/* The function `read` of the log's sali_replay. */
static sal_status read_draw(void *source, bool warmup, int64_t index, sal_draw *draw,
                            sal_error *err)
{
    sali_draw_log *log = source;
    const int64_t chains = log->chains;
    if (index >= log->made[warmup]) {
        return sali_fail(err, SAL_ERR_DATA, "%s: has fewer draws than its state counts", log->path);
    }
    sal_status status = make_room(log, err);
    if (status != SAL_OK) {
        return status;
    }
    if (!find_draw(log, warmup, index)) {
        log->index = INT64_MAX; /* search from the beginning next time */
        return fail_log(log, "read", err);
    }
    const void *from = log->figures + SALI_NOTED * chains;
    for (int64_t k = 0; k < chains * log->V; k++) {
        log->codes[k] =
            log->code_bytes == 1 ? ((const uint8_t *)from)[k] : ((const int32_t *)from)[k];
    }
    *draw = sali_draw_of(warmup, index, chains, log->V, log->codes, log->figures);
    return SAL_OK;
}

sali_replay sali_draw_log_replay(sali_draw_log *log)
{
    return (sali_replay){ log, read_draw, sali_draw_log_close, log->made[0], log->made[1] };
}

sal_status sali_draw_log_state(sali_draw_log *log, void **bytes, sal_error *err)
{
    void *room = sali_alloc(log->state_size, 1);
    if (!room) {
        return sali_fail_memory(err);
    }
    if (!read_at(log, room, log->state_size, log->state_at)) {
        sali_free(room);
        return fail_log(log, "read", err);
    }
    *bytes = room;
    return SAL_OK;
}
