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
#include "io/file.h"

#define MAGIC INT64_C(0x31776172646c6173) /* "saldraw1" */
#define START UINT64_C(0xcbf29ce484222325)
#define PIECE ((int64_t)1 << 16)

typedef struct head {
    uint64_t kind, size, hash;
} head;

typedef struct first_record {
    int64_t magic, chains, V, code_bytes;
} first_record;

static int64_t filled(int64_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

/* The hash that follows h after so many bytes, the last word of them filled up with zeros: each
 * word changes it one to one, so that no change of one word is missed. */
static uint64_t follow(uint64_t h, const void *data, int64_t bytes)
{
    for (int64_t k = 0; k < bytes; k += 8) {
        uint64_t word = 0;
        memcpy(&word, (const char *)data + k, (size_t)(bytes - k < 8 ? bytes - k : 8));
        h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 32;
    }
    return h;
}

static uint64_t begin_record(uint64_t h, const head *record)
{
    return follow(h, record, 2 * sizeof(uint64_t));
}

static sal_status cannot_read(const sali_draw_log *log, sal_error *err)
{
    return sali_fail(err, SAL_ERR_IO, "%s: cannot be read: %m", log->path);
}

/* Whether all bytes are there, or could be written. */
static bool transfer(int fd, bool writes, void *data, int64_t bytes, int64_t at)
{
    for (int64_t done = 0; done < bytes;) {
        char *place = (char *)data + done;
        size_t left = (size_t)(bytes - done);
        ssize_t n = writes ? pwrite(fd, place, left, at + done) : pread(fd, place, left, at + done);
        if (n <= 0 && !(n < 0 && errno == EINTR)) {
            errno = n < 0 ? errno : EIO;
            return false;
        }
        done += n > 0 ? n : 0;
    }
    return true;
}

static bool read_at(int fd, void *to, int64_t bytes, int64_t at)
{
    return transfer(fd, false, to, bytes, at);
}

static bool write_at(int fd, const void *from, int64_t bytes, int64_t at)
{
    return transfer(fd, true, (void *)(uintptr_t)from, bytes, at);
}

/* ---- reading it through */

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
    log->row = SALI_NOTED * log->chains * (int64_t)sizeof(double) + filled(codes * log->code_bytes);
    return true;
}

/* Take up a record whose bytes are whole and begin at `at`; false: it makes no sense there. */
static bool take(sali_draw_log *log, const head *record, int64_t at)
{
    int64_t size = (int64_t)record->size;
    first_record first;
    if ((record->kind == SALI_LOG_HEAD) != (log->chains == 0)) {
        return false;
    }
    if (record->kind == SALI_LOG_HEAD) {
        return size == sizeof first && read_at(log->fd, &first, size, at) && set_shape(log, &first);
    }
    if (record->kind == SALI_LOG_STATE && size > 0) {
        log->state_at = at;
        log->state_size = size;
        return true;
    }
    if (record->kind > SALI_LOG_WARMUP || size % log->row != 0) {
        return false;
    }
    log->made[record->kind] += size / log->row;
    return true;
}

/* The record after the last whole one; false: there is none. `piece` [PIECE] is room. */
static bool next_record(sali_draw_log *log, int64_t size, char *piece)
{
    head record;
    int64_t at = log->end + (int64_t)sizeof record;
    if (at > size || !read_at(log->fd, &record, sizeof record, log->end) ||
        record.size > (uint64_t)(size - at) || filled((int64_t)record.size) > size - at) {
        return false;
    }
    int64_t bytes = filled((int64_t)record.size);
    uint64_t hash = begin_record(log->hash, &record);
    for (int64_t done = 0, n; done < bytes; done += n) {
        n = bytes - done < PIECE ? bytes - done : PIECE;
        if (!read_at(log->fd, piece, n, at + done)) {
            return false;
        }
        hash = follow(hash, piece, n);
    }
    if (hash != record.hash || !take(log, &record, at)) {
        return false;
    }
    log->hash = hash;
    log->end = at + bytes;
    return true;
}

static sal_status scan(sali_draw_log *log, sal_error *err)
{
    struct stat info;
    int64_t magic = 0;
    char *piece = sali_alloc(PIECE, 1);
    if (!piece) {
        return sali_fail_memory(err);
    }
    if (fstat(log->fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        sali_free(piece);
        return sali_fail(err, SAL_ERR_IO, "%s: is no regular file", log->path);
    }
    log->hash = START;
    while (next_record(log, (int64_t)info.st_size, piece)) {
    }
    sali_free(piece);
    const int64_t least = (int64_t)(sizeof(head) + sizeof(first_record));
    bool ours = read_at(log->fd, &magic, sizeof magic, sizeof(head)) && magic == MAGIC;
    if (log->chains == 0 && info.st_size >= least) {
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
        if (log->fd >= 0) {
            close(log->fd);
        }
        sali_free(log->path);
        sali_free(log->rows);
        sali_free(log->codes);
        sali_free(log);
    }
}

/* Whether nobody else writes it, who may just have finished and removed it. */
static bool is_free(int fd, const char *path, bool to_write)
{
    struct stat opened, there;
    bool locked = to_write ? flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
                           : sali_file_is_locked(fd, false);
    return !locked && fstat(fd, &opened) == 0 && stat(path, &there) == 0 &&
           opened.st_ino == there.st_ino && opened.st_dev == there.st_dev;
}

static sal_status open_file(sali_draw_log *log, bool to_write, sal_error *err)
{
    int flags = (to_write ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    log->fd = open(log->path, flags, 0666);
    if (log->fd < 0) {
        return sali_fail(err, to_write || errno != ENOENT ? SAL_ERR_IO : SAL_ERR_NOT_FOUND,
                         "%s: cannot be %s: %m", log->path, to_write ? "created" : "opened");
    }
    return is_free(log->fd, log->path, to_write)
               ? scan(log, err)
               : sali_fail(err, SAL_ERR_IO,
                           "%s: its run is not over: another process is writing it", log->path);
}

sal_status sali_draw_log_open(const char *path, bool to_write, sali_draw_log **out, sal_error *err)
{
    sali_draw_log *log = SALI_NEW(sali_draw_log);
    if (!log) {
        return sali_fail_memory(err);
    }
    log->fd = -1;
    log->path = sali_draw_log_path(path);
    sal_status status = log->path ? open_file(log, to_write, err) : sali_fail_memory(err);
    if (status != SAL_OK) {
        sali_draw_log_close(log);
        return status;
    }
    *out = log;
    return SAL_OK;
}

/* ---- writing */

sal_status sali_draw_log_begin(sali_draw_log *log, int64_t chains, int64_t V, int64_t code_bytes,
                               sal_error *err)
{
    const first_record first = { MAGIC, chains, V, code_bytes };
    log->chains = log->made[0] = log->made[1] = log->state_size = log->end = 0;
    log->hash = START;
    return sali_draw_log_append(log, SALI_LOG_HEAD, &first, sizeof first, err);
}

sal_status sali_draw_log_append(sali_draw_log *log, sali_log_kind kind, const void *data,
                                int64_t size, sal_error *err)
{
    static const char zeros[8] = { 0 };
    head record = { (uint64_t)kind, (uint64_t)size, 0 };
    int64_t at = log->end + (int64_t)sizeof record, end = at + filled(size);
    record.hash = follow(begin_record(log->hash, &record), data, size);
    bool ok = ftruncate(log->fd, log->end) == 0 && /* what is not whole */
              write_at(log->fd, &record, sizeof record, log->end) &&
              write_at(log->fd, data, size, at) &&
              write_at(log->fd, zeros, end - at - size, at + size) && take(log, &record, at);
    if (!ok) {
        int reason = errno;
        (void)!ftruncate(log->fd, log->end);
        errno = reason;
        return sali_fail(err, SAL_ERR_IO,
                         "%s: cannot be written: %m; what was written before is there", log->path);
    }
    log->hash = record.hash;
    log->end = end;
    return SAL_OK;
}

/* ---- reading */

/* The window with draw `index`, which is there. */
static sal_status find_window(sali_draw_log *log, int in, int64_t index, sal_error *err)
{
    if (in != log->in || index < log->first) {
        log->in = in;
        log->first = log->n = log->next = 0;
    }
    while (index >= log->first + log->n) {
        head record;
        if (!read_at(log->fd, &record, sizeof record, log->next)) {
            return cannot_read(log, err);
        }
        int64_t size = (int64_t)record.size, at = log->next + (int64_t)sizeof record;
        log->first += log->n;
        log->n = record.kind == (uint64_t)in ? size / log->row : 0;
        log->next = at + filled(size);
        if (index >= log->first + log->n) {
            continue;
        }
        if (sali_grow((void **)&log->rows, &log->room, size, 1) != 0) {
            return sali_fail_memory(err);
        }
        if (!read_at(log->fd, log->rows, size, at)) {
            return cannot_read(log, err);
        }
    }
    return SAL_OK;
}

sal_status sali_draw_log_read(void *source, bool warmup, int64_t index, sal_draw *draw,
                              sal_error *err)
{
    sali_draw_log *log = source;
    int64_t codes = log->chains * log->V;
    if (index >= log->made[warmup]) {
        return sali_fail(err, SAL_ERR_DATA, "%s: has fewer draws than its state counts", log->path);
    }
    if (!log->codes && !(log->codes = SALI_NEW_ARRAY(int32_t, codes))) {
        return sali_fail_memory(err);
    }
    sal_status status = find_window(log, warmup ? SALI_LOG_WARMUP : SALI_LOG_DRAWS, index, err);
    if (status != SAL_OK) {
        log->n = 0;
        return status;
    }
    const void *row = log->rows + (index - log->first) * log->row;
    const double *figures = row;
    const void *from = figures + SALI_NOTED * log->chains;
    for (int64_t k = 0; log->code_bytes == 1 && k < codes; k++) {
        log->codes[k] = ((const uint8_t *)from)[k];
    }
    *draw = (sal_draw){ .index = index,
                        .warmup = warmup,
                        .chains = log->chains,
                        .variables = log->V,
                        .codes = log->code_bytes == 1 ? log->codes : from,
                        .log_prob = figures + SALI_NOTED_LP * log->chains,
                        .acceptance_rate = figures + SALI_NOTED_ACCEPTANCE * log->chains,
                        .jump = figures + SALI_NOTED_JUMP * log->chains,
                        .step_size = figures + SALI_NOTED_STEP_SIZE * log->chains };
    return SAL_OK;
}

sal_status sali_draw_log_state(const sali_draw_log *log, void **bytes, sal_error *err)
{
    void *room = sali_alloc(log->state_size, 1);
    if (!room) {
        return sali_fail_memory(err);
    }
    if (!read_at(log->fd, room, log->state_size, log->state_at)) {
        sali_free(room);
        return cannot_read(log, err);
    }
    *bytes = room;
    return SAL_OK;
}
