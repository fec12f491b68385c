/* SPDX-License-Identifier: MIT */
#include "io/draws/draw_netcdf.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netcdf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/name_table.h"
#include "core/text.h"
#include "core/utf8.h"
#include "io/draws/draw_configuration.h"
#include "io/draws/netcdf_posterior.h"
#include "io/draws/run_record.h"
#include "io/file.h"
#include "models/model.h"
#include "models/names.h"

/* The version of ArviZ whose layout this file follows: readers of ArviZ before 1.0 expect one. */
#define ARVIZ_VERSION "0.17.0"
#define DEFLATE_LEVEL 4

/* Upper limits of a window of draws and of a chunk, and the least size of a chunk, where the draws
 * allow it. */
#define WINDOW_BYTES ((int64_t)4 << 20)
#define WINDOW_DRAWS 1024
#define CHUNK_BYTES ((int64_t)1 << 20)
#define CHUNK_LEAST ((int64_t)64 << 10)

/* Upper bounds of what definitions take in the file: each block, apart from levels that are not
 * equally spaced; and everything else. */
#define BLOCK_BYTES ((int64_t)32 << 10)
#define OTHER_BYTES ((int64_t)512 << 10)

/* The longest list of levels that is written although scale and offset give the same values. */
#define MOST_LEVELS 4096

/* A block of the space in the file. */
typedef struct block {
    int64_t first, count;
    sali_netcdf_storage stored;
    int64_t bytes; /* of an element */
    char *variable, *dimension;
    int ids[2]; /* of its variable in each section */
} block;

/* The groups of draws after warm-up, or in it: posterior and statistics. */
typedef struct section {
    int groups[2], draw[2]; /* groups, and their variables of the coordinate `draw` */
    int figures[SALI_NOTED];
} section;

/* A file being written. After an error further calls are harmless, and their results are lost. */
typedef struct writer {
    sali_memory memory; /* owns arrays and names */
    const sal_model *model;
    const sal_run *run;
    const sali_draw_source *source;
    sal_run_options options;
    sal_run_summary summary;
    char created[40], warning[SAL_WARNING_SIZE], *configuration; /* attributes of all groups */

    sali_output out; /* the temporary, which libnetcdf opens by its name */
    int file, code;  /* code: the first error of libnetcdf */
    int reason;      /* or errno of a lack of room */
    int64_t chains, window;
    int64_t n_blocks;
    block *blocks;
    section sections[2];
    int32_t *codes;   /* [chains x window x V], block by block */
    double *values;   /* [chains x window x V] values, if a block is stored as values; or NULL */
    double *figures;  /* [SALI_NOTED x chains x window] */
    int64_t *numbers; /* [longest axis] room for numbers of a coordinate; and for names */
    const char **names;
} writer;

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* Keep the first error. HDF5 does not report the system's reason, but errno still has it. */
static void keep_error(writer *w, int code)
{
    if (w->code == NC_NOERR && code != NC_NOERR) {
        w->code = code;
        w->reason = errno == ENOSPC || errno == EFBIG || errno == EIO || errno == EDQUOT ||
                            errno == EMFILE || errno == ENFILE
                        ? errno
                        : 0;
    }
}

/* SAL_OK, or the first error of the writer: SAL_ERR_MEMORY or SAL_ERR_IO. */
static sal_status status_of(const writer *w, sal_error *err)
{
    if (w->code == NC_NOERR && w->reason == 0) {
        return SAL_OK;
    }
    return w->code == NC_ENOMEM
               ? sali_fail_memory(err)
               : sali_fail(err, SAL_ERR_IO, "%s: cannot be written: %s", w->out.temporary,
                           w->reason ? strerror(w->reason) : nc_strerror(w->code));
}

/* ---- room on the disk */

/* Reserve `bytes` more bytes for the file where the file system can do that. Returns 0, or the
 * errno of the reason why so many bytes cannot be written. */
static int set_aside(int fd, int64_t bytes)
{
    struct stat info;
    struct statvfs space;
    struct rlimit limit;
    if (fstat(fd, &info) != 0) {
        return errno;
    }
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        (rlim_t)(info.st_size + bytes) > limit.rlim_cur) {
        return EFBIG;
    }
    if (fallocate(fd, FALLOC_FL_KEEP_SIZE, info.st_size, bytes) == 0) {
        return 0;
    }
    if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO) {
        return errno;
    }
    bool full = fstatvfs(fd, &space) == 0 &&
                (double)space.f_bavail * (double)space.f_frsize < (double)bytes;
    return full ? ENOSPC : 0;
}

/* Reserve `bytes` on the disk; false after a failure. A full disk must be noticed here: after a
 * failed write, HDF5 cannot close the file, and crashes the process when it exits. */
static bool reserve_bytes(writer *w, int64_t bytes)
{
    if (w->code == NC_NOERR && w->reason == 0) {
        w->reason = set_aside(fileno(w->out.file), bytes);
    }
    return w->code == NC_NOERR && w->reason == 0;
}

/* ---- names */

/* A new name `name` + `suffix` that is not in `taken`, numbered if need be; it begins with a
 * letter, a digit or '_', as netCDF requires. NULL or memory->refused: out of memory. */
static char *new_name(sali_memory *memory, sali_name_table *taken, const char *name,
                      const char *suffix)
{
    size_t room = strlen(name) + strlen(suffix) + 32;
    char *text = SALI_TAKE(memory, char, (int64_t)room);
    const char *before = name[0] == '-' || name[0] == '.' ? "_" : "";
    if (!text) {
        return NULL;
    }
    snprintf(text, room, "%s%s%s", before, name, suffix);
    for (int64_t k = 2; sali_name_table_find(taken, text, (int64_t)strlen(text)) >= 0; k++) {
        snprintf(text, room, "%s%s%s_%lld", before, name, suffix, (long long)k);
    }
    memory->refused |= sali_name_table_put(taken, text, (int64_t)strlen(text)) < 0;
    return text;
}

/* Choose the names of all variables, then of their dimensions: no dimension may have the name of
 * another variable. False: out of memory. */
static bool name_blocks(writer *w)
{
    const sal_space *space = w->model->space;
    sali_name_table taken = { 0 };
    bool ok =
        sali_name_table_put(&taken, "chain", 5) >= 0 && sali_name_table_put(&taken, "draw", 4) >= 0;
    for (int64_t b = 0; b < w->n_blocks; b++) {
        w->blocks[b].variable = new_name(&w->memory, &taken, space->blocks[b].name, "");
    }
    for (int64_t b = 0; b < w->n_blocks; b++) {
        w->blocks[b].dimension = new_name(&w->memory, &taken, space->blocks[b].name, "_site");
    }
    sali_name_table_clear(&taken);
    return ok && !w->memory.refused;
}

static const char *name_of(const sal_model *model, int64_t v)
{
    const sali_names *names = model->names;
    bool named = names && names->names && names->variables == model->space->n_variables;
    return named ? names->names[v] : NULL;
}

/* ---- attributes */

/* Write a text attribute. Bytes that are not UTF-8, which paths may have, become U+FFFD: readers
 * refuse other files. */
static void write_attribute(writer *w, int group, int variable, const char *name, const char *text)
{
    char *valid = sali_utf8_valid(text);
    keep_error(w, valid ? nc_put_att_text(group, variable, name, strlen(valid), valid) : NC_ENOMEM);
    sali_free(valid);
}

/* Write the attributes about the run, which all groups have. */
static void note_run(writer *w, int group, bool has_draws)
{
    static const char *sample_dims[] = { "chain", "draw" };
    const sal_run_summary *s = &w->summary;
    const char *const pairs[][2] = {
        { "created_at", w->created },
        { "creation_library", "saltus" },
        { "creation_library_version", SALI_VERSION },
        { "creation_library_language", "C" },
        { "inference_library", "saltus" },
        { "inference_library_version", SALI_VERSION },
        { "arviz_version", ARVIZ_VERSION },
        { "model", w->model->name },
        { "sampler", s->sampler },
        { "configuration", w->configuration },
        { "warning", w->warning },
    };
    const double steps = (double)s->warmup;
    const unsigned long long seed = s->seed, unmoved = (unsigned long long)s->unmoved;
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        if (pairs[k][1][0]) {
            write_attribute(w, group, NC_GLOBAL, pairs[k][0], pairs[k][1]);
        }
    }
    if (has_draws) {
        keep_error(w, nc_put_att_string(group, NC_GLOBAL, "sample_dims", 2, sample_dims));
    }
    keep_error(w, nc_put_att_ulonglong(group, NC_GLOBAL, "seed", NC_UINT64, 1, &seed));
    keep_error(w, nc_put_att_double(group, NC_GLOBAL, "sampling_time", NC_DOUBLE, 1, &s->seconds));
    keep_error(w, nc_put_att_double(group, NC_GLOBAL, "tuning_steps", NC_DOUBLE, 1, &steps));
    keep_error(w, nc_put_att_ulonglong(group, NC_GLOBAL, "unmoved_chains", NC_UINT64, 1, &unmoved));
}

/* Set the summary, configuration, warning and date that become attributes. */
static sal_status describe_run(writer *w, sal_error *err)
{
    time_t now = time(NULL);
    struct tm utc;
    sal_status status = sal_run_summarise(w->run, &w->summary, err);
    if (status != SAL_OK) {
        return status;
    }
    json_t *all = json_copy(w->source->configuration);
    sali_draw_configuration_complete(all, w->run, &w->summary);
    w->configuration = json_dumps(all, SALI_DRAW_CONFIGURATION_STYLE);
    json_decref(all);
    sal_run_warning(&w->summary, w->warning, sizeof w->warning);
    strftime(w->created, sizeof w->created, "%Y-%m-%dT%H:%M:%S+00:00", gmtime_r(&now, &utc));
    return w->configuration ? SAL_OK : sali_fail_memory(err);
}

/* ---- groups, dimensions, variables */

static int define_group(writer *w, const char *name, bool has_draws)
{
    int group = -1;
    keep_error(w, nc_def_grp(w->file, name, &group));
    note_run(w, group, has_draws);
    return group;
}

/* Define a variable of draws, compressed; without the attribute _FillValue, which would make
 * readers turn codes into floats. The cache holds a window of `window` bytes: the number of slots
 * is prime, and whole chunks are evicted first. */
static int define_variable(writer *w, int group, const char *name, nc_type type, int n,
                           const int *dimensions, const size_t *chunk, int64_t window)
{
    int variable = -1;
    keep_error(w, nc_def_var(group, name, type, n, dimensions, &variable));
    keep_error(w, nc_def_var_chunking(group, variable, NC_CHUNKED, chunk));
    keep_error(w, nc_def_var_deflate(group, variable, type != NC_UBYTE, 1, DEFLATE_LEVEL));
    keep_error(w,
               nc_set_var_chunk_cache(group, variable, (size_t)(window + CHUNK_BYTES), 1009, 1.0F));
    return variable;
}

/* Define a dimension of size n with its coordinate, `numbers` or if NULL 0, 1, .. */
static int define_axis(writer *w, int group, const char *name, int64_t n, const int64_t *numbers)
{
    int dimension = -1, variable = -1;
    for (int64_t k = 0; k < n; k++) {
        w->numbers[k] = numbers ? numbers[k] : k;
    }
    keep_error(w, nc_def_dim(group, name, (size_t)n, &dimension));
    keep_error(w, nc_def_var(group, name, NC_INT64, 1, &dimension, &variable));
    keep_error(w, nc_put_var(group, variable, w->numbers));
    return dimension;
}

/* Define the dimension of n variables of a block: those at `sites`, or all if NULL. Its coordinate
 * is their names if all have one, else their numbers within the block. */
static int define_sites(writer *w, int group, const block *b, int64_t n, const int64_t *sites)
{
    int dimension = -1, variable = -1;
    bool named = true;
    for (int64_t k = 0; k < n && named; k++) {
        w->names[k] = name_of(w->model, b->first + (sites ? sites[k] : k));
        named = w->names[k] != NULL;
    }
    if (!named) {
        return define_axis(w, group, b->dimension, n, sites);
    }
    keep_error(w, nc_def_dim(group, b->dimension, (size_t)n, &dimension));
    keep_error(w, nc_def_var(group, b->dimension, NC_STRING, 1, &dimension, &variable));
    keep_error(w, nc_put_var_string(group, variable, w->names));
    return dimension;
}

/* Write the attributes that turn stored numbers into values, for all readers, and into codes, for
 * this library. */
static void note_coding(writer *w, int group, int variable, int64_t b)
{
    const sal_block *own = &w->model->space->blocks[b];
    const sali_netcdf_storage *stored = &w->blocks[b].stored;
    write_attribute(w, group, variable, "kind", sali_kind_name(own->kind));
    if (own->letters) {
        write_attribute(w, group, variable, "letters", own->letters);
    }
    if (stored->scale != 1 || stored->offset != 0) {
        const double pair[] = { stored->scale, stored->offset };
        keep_error(w, nc_put_att_double(group, variable, "scale_factor", NC_DOUBLE, 1, &pair[0]));
        keep_error(w, nc_put_att_double(group, variable, "add_offset", NC_DOUBLE, 1, &pair[1]));
    }
    if (own->levels && (own->states <= MOST_LEVELS || stored->levels)) {
        keep_error(w, nc_put_att_double(group, variable, "levels", NC_DOUBLE, (size_t)own->states,
                                        own->levels));
    }
}

/* Write n codes of a block to the part of its variable given by `start` and `count`. */
static void put_codes(writer *w, int group, int variable, const block *b, const size_t *start,
                      const size_t *count, int64_t n, const int32_t *codes)
{
    if (!b->stored.levels) {
        keep_error(w, nc_put_vara_int(group, variable, start, count, codes));
        return;
    }
    for (int64_t k = 0; k < n; k++) {
        const bool is_code = codes[k] >= 0 && codes[k] < b->stored.states;
        w->values[k] = is_code ? b->stored.levels[codes[k]] : NAN;
    }
    keep_error(w, nc_put_vara_double(group, variable, start, count, w->values));
}

/* ---- clamped variables */

/* Write the clamped variables of a block; given [V] is 1 + the code, or 0 where a variable is
 * free. */
static void define_observed_block(writer *w, int group, int64_t b, const int32_t *given)
{
    const block *at = &w->blocks[b];
    int64_t n = 0;
    int variable = -1;
    for (int64_t k = 0; k < at->count; k++) {
        if (given[at->first + k]) {
            w->numbers[n] = k;
            w->codes[n++] = given[at->first + k] - 1;
        }
    }
    if (n > 0) {
        int dimension = define_sites(w, group, at, n, w->numbers);
        const size_t start = 0, count = (size_t)n;
        keep_error(w, nc_def_var(group, at->variable, at->stored.type, 1, &dimension, &variable));
        note_coding(w, group, variable, b);
        put_codes(w, group, variable, at, &start, &count, n, w->codes);
    }
}

/* Write the group observed_data with the clamped variables, if there are any. */
static void define_observed(writer *w)
{
    const sal_run_options *o = &w->options;
    int32_t *given =
        o->clamps.n > 0 ? SALI_TAKE(&w->memory, int32_t, w->model->space->n_variables) : NULL;
    if (!given) {
        keep_error(w, o->clamps.n > 0 ? NC_ENOMEM : NC_NOERR);
        return;
    }
    int group = define_group(w, "observed_data", false);
    for (int64_t k = 0; k < o->clamps.n; k++) {
        given[o->clamps.variables[k]] = 1 + o->clamps.codes[k];
    }
    for (int64_t b = 0; b < w->n_blocks; b++) {
        define_observed_block(w, group, b, given);
    }
}

/* ---- draws */

/* Copy a draw, as number k of n, to the buffers of a window. */
static void buffer_draw(writer *w, const sal_draw *draw, int64_t k, int64_t n)
{
    const double *figures[SALI_NOTED] = { draw->log_prob, draw->acceptance_rate, draw->jump,
                                          draw->step_size };
    for (int64_t c = 0; c < w->chains; c++) {
        const int32_t *codes = draw->codes + c * draw->variables;
        for (int64_t b = 0; b < w->n_blocks; b++) {
            const block *at = &w->blocks[b];
            memcpy(w->codes + w->chains * n * at->first + (c * n + k) * at->count,
                   codes + at->first, (size_t)at->count * sizeof *codes);
        }
        for (int64_t i = 0; i < w->source->figures; i++) {
            w->figures[(i * w->chains + c) * n + k] = figures[i][c];
        }
    }
}

/* Define the groups, dimensions and variables of the draws after warm-up (0) or in it (1). */
static void define_section(writer *w, int warmup)
{
    static const char *const names[2][2] = { { "posterior", "sample_stats" },
                                             { "warmup_posterior", "warmup_sample_stats" } };
    int axes[2][3];
    section *s = &w->sections[warmup];
    const size_t window = (size_t)w->window;
    for (int k = 0; k < 2; k++) {
        s->groups[k] = define_group(w, names[warmup][k], true);
        axes[k][0] = define_axis(w, s->groups[k], "chain", w->chains, NULL);
        keep_error(w, nc_def_dim(s->groups[k], "draw", NC_UNLIMITED, &axes[k][1]));
        s->draw[k] = define_variable(w, s->groups[k], "draw", NC_INT64, 1, &axes[k][1], &window,
                                     8 * w->window);
    }
    for (int64_t b = 0; b < w->n_blocks; b++) {
        block *at = &w->blocks[b];
        int64_t bytes = w->window * at->bytes;
        int64_t sites = clamp(CHUNK_BYTES / bytes, 1, at->count);
        int64_t chains = clamp(CHUNK_LEAST / (bytes * sites), 1, w->chains);
        const size_t chunk[3] = { (size_t)chains, window, (size_t)sites };
        axes[0][2] = define_sites(w, s->groups[0], at, at->count, NULL);
        at->ids[warmup] = define_variable(w, s->groups[0], at->variable, at->stored.type, 3,
                                          axes[0], chunk, w->chains * at->count * bytes);
        note_coding(w, s->groups[0], at->ids[warmup], b);
    }
    for (int64_t k = 0; k < w->source->figures; k++) {
        int64_t chains = clamp(CHUNK_BYTES / (8 * w->window), 1, w->chains);
        const size_t chunk[2] = { (size_t)chains, window };
        s->figures[k] = define_variable(w, s->groups[1], sali_noted_names[k], NC_DOUBLE, 2, axes[1],
                                        chunk, 8 * w->chains * w->window);
    }
}

/* Write draws first .. first + n - 1 from the buffers of a window. */
static void write_window(writer *w, int warmup, int64_t first, int64_t n)
{
    const section *s = &w->sections[warmup];
    const size_t begin[3] = { 0, (size_t)first, 0 };
    size_t count[3] = { (size_t)w->chains, (size_t)n, 0 };
    for (int64_t k = 0; k < n; k++) {
        w->numbers[k] = first + k;
    }
    for (int k = 0; k < 2; k++) {
        keep_error(w, nc_put_vara(s->groups[k], s->draw[k], &begin[1], &count[1], w->numbers));
    }
    for (int64_t b = 0; b < w->n_blocks; b++) {
        const block *at = &w->blocks[b];
        count[2] = (size_t)at->count;
        put_codes(w, s->groups[0], at->ids[warmup], at, begin, count, w->chains * n * at->count,
                  w->codes + w->chains * n * at->first);
    }
    for (int64_t k = 0; k < w->source->figures; k++) {
        keep_error(w, nc_put_vara_double(s->groups[1], s->figures[k], begin, count,
                                         w->figures + k * w->chains * n));
    }
    keep_error(w, nc_sync(w->file));
}

/* An upper bound of the bytes that a window of n draws takes: compression may not make it
 * smaller. */
static int64_t most_bytes(const writer *w, int64_t n)
{
    int64_t bytes = 8 * w->source->figures + 16;
    for (int64_t b = 0; b < w->n_blocks; b++) {
        bytes += w->blocks[b].count * w->blocks[b].bytes;
    }
    bytes *= w->chains * n;
    return bytes + bytes / 8 + (w->n_blocks + w->source->figures + 4) * ((int64_t)16 << 10);
}

/* Write all `made` draws of a section, window by window. */
static sal_status write_section(writer *w, int warmup, int64_t made, sal_error *err)
{
    const sali_replay *replay = &w->source->replay;
    sal_status status = status_of(w, err);
    for (int64_t first = 0; status == SAL_OK && first < made; first += w->window) {
        int64_t n = made - first < w->window ? made - first : w->window;
        for (int64_t k = 0; status == SAL_OK && k < n; k++) {
            sal_draw draw;
            status = replay->read(replay->source, warmup, first + k, &draw, err);
            if (status == SAL_OK) {
                buffer_draw(w, &draw, k, n);
            }
        }
        if (status == SAL_OK && reserve_bytes(w, most_bytes(w, w->window))) {
            errno = 0;
            write_window(w, warmup, first, n);
        }
        status = status ? status : status_of(w, err);
    }
    return status;
}

/* ---- all of it */

/* Write the state of the run, if there is one, with a checksum by which HDF5 detects damage. */
static void write_state(writer *w)
{
    const sali_draw_source *s = w->source;
    const size_t size = (size_t)s->state_size;
    const size_t chunk = size < (size_t)CHUNK_BYTES ? size : (size_t)CHUNK_BYTES;
    int dimension = -1, variable = -1;
    if (!s->state || !reserve_bytes(w, 2 * (int64_t)size + OTHER_BYTES)) {
        return;
    }
    keep_error(w, nc_def_dim(w->file, "saltus_byte", size, &dimension));
    keep_error(w, nc_def_var(w->file, SALI_DRAW_STATE, NC_UBYTE, 1, &dimension, &variable));
    keep_error(w, nc_def_var_chunking(w->file, variable, NC_CHUNKED, &chunk));
    keep_error(w, nc_def_var_fletcher32(w->file, variable, NC_FLETCHER32));
    keep_error(w, nc_put_var_uchar(w->file, variable, s->state));
    keep_error(w, nc_sync(w->file));
}

/* Decide how each block is stored, allocate the buffers, and reserve room for the definitions. */
static sal_status describe_blocks(writer *w, sal_error *err)
{
    const sal_space *space = w->model->space;
    int64_t bytes = 0, names = 0, levels = 0, V = space->n_variables;
    w->chains = w->options.chains;
    w->n_blocks = space->n_blocks;
    w->blocks = SALI_TAKE(&w->memory, block, w->n_blocks);
    if (!w->blocks) {
        return sali_fail_memory(err);
    }
    for (int64_t b = 0; b < w->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        const sali_netcdf_storage stored = sali_netcdf_storage_of(s);
        const int64_t width = stored.type == NC_UBYTE ? 1 : stored.type == NC_INT ? 4 : 8;
        w->blocks[b] =
            (block){ .first = s->first, .count = s->count, .stored = stored, .bytes = width };
        bytes += s->count * width;
        levels += stored.levels ? s->states : 0;
    }
    if (__builtin_mul_overflow(bytes, w->chains, &bytes)) {
        return sali_fail_memory(err);
    }
    w->window = clamp(WINDOW_BYTES / bytes, 1, WINDOW_DRAWS);
    int64_t longest = w->window > w->chains ? w->window : w->chains;
    longest = V > longest ? V : longest;
    w->codes = sali_memory_take(&w->memory, w->chains * w->window, (size_t)V * sizeof *w->codes);
    w->values = levels > 0 ? sali_memory_take(&w->memory, w->chains * w->window,
                                              (size_t)V * sizeof *w->values)
                           : NULL;
    w->figures = SALI_TAKE(&w->memory, double, SALI_NOTED * w->chains * w->window);
    w->numbers = SALI_TAKE(&w->memory, int64_t, longest);
    w->names = SALI_TAKE(&w->memory, const char *, longest);
    bool ok = !w->memory.refused && name_blocks(w);
    for (int64_t v = 0; ok && v < V; v++) {
        const char *name = name_of(w->model, v);
        names += 64 + (name ? (int64_t)strlen(name) : 0);
    }
    reserve_bytes(w, 3 * (names + 8 * levels + w->n_blocks * BLOCK_BYTES) + OTHER_BYTES);
    return ok ? status_of(w, err) : sali_fail_memory(err);
}

/* Write everything to the open file. */
static sal_status write_all(writer *w, sal_error *err)
{
    const sali_replay *replay = &w->source->replay;
    const int n = w->source->warmup ? 2 : 1;
    note_run(w, w->file, false);
    for (int k = 0; k < n; k++) {
        define_section(w, k);
    }
    define_observed(w);
    keep_error(w, nc_sync(w->file));
    write_state(w);
    sal_status status = write_section(w, 0, replay->made, err);
    return status || n == 1 ? status : write_section(w, 1, replay->made_in_warmup, err);
}

/* Create the file, write and close it, also after an error, and seal it. */
static sal_status write_file(writer *w, sal_error *err)
{
    struct stat info;
    sali_output_unlock(&w->out);
    pthread_mutex_lock(&sali_hdf5_mutex);
    errno = 0;
    keep_error(w, nc_create(w->out.temporary, NC_NETCDF4 | NC_CLOBBER, &w->file));
    bool open = w->code == NC_NOERR;
    sal_status status = open ? describe_blocks(w, err) : status_of(w, err);
    status = status ? status : write_all(w, err);
    if (open) {
        keep_error(w, nc_close(w->file));
    }
    pthread_mutex_unlock(&sali_hdf5_mutex);
    int fd = fileno(w->out.file); /* release what was reserved but not used */
    bool cut = fstat(fd, &info) == 0 && ftruncate(fd, info.st_size) == 0;
    status = status ? status : status_of(w, err);
    if (status == SAL_OK && !cut) {
        status = sali_fail(err, SAL_ERR_IO, "%s: cannot be written: %m", w->out.temporary);
    }
    return status ? status : sali_netcdf_seal(fd, w->out.temporary, err);
}

sal_status sali_draw_netcdf_write(const char *path, const sal_run *run,
                                  const sali_draw_source *source, sal_error *err)
{
    writer w = { .model = sali_run_model(run), .run = run, .source = source };
    sal_status status = sal_run_state_options(sal_run_last_state(run), &w.options, err);
    status = status ? status : describe_run(&w, err);
    status = status ? status : sali_output_open(path, &w.out, err);
    status = status ? status : write_file(&w, err);
    status = status ? status : sali_output_commit(&w.out, err);
    sali_output_discard(&w.out);
    sali_memory_free(&w.memory);
    free(w.configuration);
    return status;
}

sal_status sali_draw_netcdf_check(const char *path, sal_error *err)
{
    return sali_has_suffix(path, ".nc")
               ? SAL_OK
               : sali_fail(err, SAL_ERR_UNSUPPORTED, "%s: draws are written to NAME.nc",
                           path ? path : "no path");
}
