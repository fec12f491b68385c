/* SPDX-License-Identifier: MIT */
/* Reading the state of a run, and its draws, from the netCDF file that they were written to. */
#include <netcdf.h>
#include <sys/stat.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/arrays/state_file.h"
#include "io/draws/draw_netcdf.h"
#include "io/draws/netcdf_posterior.h"

/* Read draws in windows of at most WINDOW_BYTES, but at least one draw. */
#define WINDOW_BYTES ((int64_t)4 << 20)
#define WINDOW_DRAWS 1024

/* The draws of a file: [0] of the run, [1] of its warm-up. */
typedef struct section {
    sali_netcdf_posterior posterior; /* id -1: not there */
    int stats;
    sali_netcdf_variable figures[SALI_NOTED];
} section;

typedef struct draws {
    char *name;
    int file; /* -1: not open */
    bool own;
    section sections[2];
    /* The window: draws first .. first + n - 1 of section `in`; n = 0: none is loaded. */
    int in;
    int64_t first, n;
    sal_array states; /* (chains, n, V) */
    double *noted;    /* [SALI_NOTED x chains x n] */
    int32_t *codes;   /* [chains x V] of the draw returned last */
    double *figures;  /* [SALI_NOTED x chains] of the draw returned last */
} draws;

/* The function `close` of the sali_replay: closes the file and frees everything. */
static void close_draws(void *source)
{
    draws *d = source;
    if (d->file >= 0) {
        pthread_mutex_lock(&sali_hdf5_mutex);
        nc_close(d->file);
        pthread_mutex_unlock(&sali_hdf5_mutex);
    }
    sali_netcdf_forget_draws(&d->sections[0].posterior);
    sali_netcdf_forget_draws(&d->sections[1].posterior);
    sali_free(d->name);
    sal_array_free(&d->states);
    sali_free(d->noted);
    sali_free(d->codes);
    sali_free(d->figures);
    sali_free(d);
}

/* ---- draws */

/* Find the draws of section k, if the file has any. The caller holds the lock. */
static sal_status find_section(draws *d, int k, int64_t size, sal_error *err)
{
    static const char *const groups[] = { "posterior", "warmup_posterior" };
    static const char *const stats[] = { "sample_stats", "warmup_sample_stats" };
    section *s = &d->sections[k];
    size_t made = 0;
    int draw, group;
    s->posterior =
        (sali_netcdf_posterior){ .name = d->name, .size = size, .id = -1, .own = d->own };
    if (nc_inq_grp_ncid(d->file, groups[k], &group) != NC_NOERR ||
        nc_inq_dimid(group, "draw", &draw) != NC_NOERR ||
        nc_inq_dimlen(group, draw, &made) != NC_NOERR || made == 0) {
        return SAL_OK;
    }
    s->posterior.id = group;
    sal_status status = sali_netcdf_find_draws(&s->posterior, err);
    bool known = status == SAL_OK && nc_inq_grp_ncid(d->file, stats[k], &s->stats) == NC_NOERR;
    for (int i = 0; known && i < SALI_NOTED; i++) {
        known = sali_netcdf_find_noted(s->stats, i, &s->figures[i]);
    }
    return status || known
               ? status
               : sali_fail(err, SAL_ERR_DATA, "%s: has no statistics of its draws", d->name);
}

/* Read the window that begins with draw `index` of section `in`. */
static sal_status read_window(draws *d, int in, int64_t index, sal_error *err)
{
    const section *s = &d->sections[in];
    const sali_netcdf_posterior *p = &s->posterior;
    int64_t n = WINDOW_BYTES / (p->chains * p->V * (int64_t)sizeof(double));
    n = n < 1 ? 1 : n > WINDOW_DRAWS ? WINDOW_DRAWS : n;
    n = n < p->draws - index ? n : p->draws - index;
    const size_t start[2] = { 0, (size_t)index }, count[2] = { (size_t)p->chains, (size_t)n };
    int code = NC_NOERR;
    sal_array_free(&d->states);
    sali_free(d->noted);
    d->noted = SALI_NEW_ARRAY(double, SALI_NOTED * p->chains * n);
    d->n = 0;
    pthread_mutex_lock(&sali_hdf5_mutex);
    sal_status status =
        d->noted ? sali_netcdf_read_draws(p, index, n, &d->states, err) : sali_fail_memory(err);
    for (int i = 0; status == SAL_OK && code == NC_NOERR && i < SALI_NOTED; i++) {
        code = nc_get_vara_double(s->stats, s->figures[i].id, start, count,
                                  d->noted + i * p->chains * n);
    }
    pthread_mutex_unlock(&sali_hdf5_mutex);
    if (code != NC_NOERR) {
        return sali_fail(err, SAL_ERR_DATA, "%s: cannot be read: %s", d->name, nc_strerror(code));
    }
    d->in = in;
    d->first = index;
    d->n = status == SAL_OK ? n : 0;
    return status;
}

/* The function `read` of the sali_replay. */
static sal_status read_draw(void *source, bool warmup, int64_t index, sal_draw *draw,
                            sal_error *err)
{
    draws *d = source;
    const sali_netcdf_posterior *p = &d->sections[warmup].posterior;
    sal_status status = SAL_OK;
    if (p->id < 0 || index >= p->draws) {
        return sali_fail(err, SAL_ERR_DATA, "%s: has fewer draws than its state counts", d->name);
    }
    if (d->in != warmup || index < d->first || index >= d->first + d->n) {
        status = read_window(d, warmup, index, err);
    }
    for (int64_t c = 0, k = index - d->first; status == SAL_OK && c < p->chains; c++) {
        sali_netcdf_find_codes(p, d->states.values + (c * d->n + k) * p->V, d->codes + c * p->V);
        for (int64_t i = 0; i < SALI_NOTED; i++) {
            d->figures[i * p->chains + c] = d->noted[(i * p->chains + c) * d->n + k];
        }
    }
    *draw = sali_draw_of(warmup, index, p->chains, p->V, d->codes, d->figures);
    return status;
}

/* Allocate the buffers of a draw. Fails if the file's draws have more chains or variables than the
 * state. The state's arrays are stored byte by byte, so their sizes are genuine, while a few bytes
 * may claim to be huge draws. */
static sal_status make_room(draws *d, const sal_run_state *state, sal_error *err)
{
    sal_run_options o;
    const sali_state_item *codes = sali_run_state_find(state, "codes");
    const sali_state_item *f = sali_run_state_find(state, "f"); /* of each chain and replica */
    sal_status status = sal_run_state_options(state, &o, err);
    if (status != SAL_OK) {
        return sali_fail_prefix(err, status, "%s", d->name);
    }
    int64_t chains = f ? f->count : 0;
    int64_t V = codes && chains > 0 ? codes->count / chains + o.clamps.n : 0;
    for (int k = 0; k < 2; k++) {
        const sali_netcdf_posterior *p = &d->sections[k].posterior;
        if (p->id >= 0 && (p->chains > chains || p->V > V)) {
            return sali_fail(err, SAL_ERR_DATA,
                             "%s: its draws are of %lld chains and %lld variables, the state of "
                             "its run is of %lld and %lld",
                             d->name, (long long)p->chains, (long long)p->V, (long long)chains,
                             (long long)V);
        }
    }
    d->codes = SALI_NEW_ARRAY(int32_t, chains * V);
    d->figures = SALI_NEW_ARRAY(double, SALI_NOTED *chains);
    return d->codes && d->figures ? SAL_OK : sali_fail_memory(err);
}

/* ---- the state; with the lock */

/* Read the state of the run from the open file of `file_size` bytes. */
static sal_status read_state(const draws *d, int64_t file_size, sal_run_state *state,
                             sal_error *err)
{
    sali_netcdf_variable v;
    if (!sali_netcdf_find(d->file, SALI_DRAW_STATE, 1, &v) || v.type != NC_UBYTE ||
        v.sizes[0] > (size_t)file_size) {
        return sali_fail(err, SAL_ERR_DATA,
                         "%s: has no state of a run to go on from; 'saltus sample --out NAME.nc' "
                         "and draw writers leave one",
                         d->name);
    }
    unsigned char *bytes = sali_alloc((int64_t)v.sizes[0], 1);
    if (!bytes) {
        return sali_fail_memory(err);
    }
    sal_status status =
        nc_get_var_uchar(d->file, v.id, bytes) == NC_NOERR
            ? sali_state_parse(d->name, bytes, (int64_t)v.sizes[0], state, err)
            : sali_fail(err, SAL_ERR_DATA, "%s: the state of its run is damaged", d->name);
    sali_free(bytes);
    return status;
}

/* ---- the file */

/* Open the file d->name, read its state, and find its draws. */
static sal_status open_file(draws *d, sal_run_state *state, sal_error *err)
{
    struct stat info;
    if (stat(d->name, &info) != 0 || !S_ISREG(info.st_mode)) {
        return sali_fail(err, SAL_ERR_NOT_FOUND, "%s: cannot be opened, or is no file", d->name);
    }
    pthread_mutex_lock(&sali_hdf5_mutex);
    sal_status status =
        sali_netcdf_open(d->name, NULL, (int64_t)info.st_size, &d->file, &d->own, err);
    status = status ? status : read_state(d, (int64_t)info.st_size, state, err);
    for (int k = 0; status == SAL_OK && k < 2; k++) {
        status = find_section(d, k, (int64_t)info.st_size, err);
    }
    pthread_mutex_unlock(&sali_hdf5_mutex);
    return status ? status : make_room(d, state, err);
}

sal_status sali_draw_netcdf_state(const char *path, sal_run_state *state, sal_error *err)
{
    draws *d = SALI_NEW(draws);
    if (!d) {
        return sali_fail_memory(err);
    }
    d->file = -1;
    d->name = sali_strdup(path);
    state->replay = (sali_replay){ .source = d, .read = read_draw, .close = close_draws };
    sal_status status = d->name ? open_file(d, state, err) : sali_fail_memory(err);
    state->replay.made = d->sections[0].posterior.draws;
    state->replay.made_in_warmup = d->sections[1].posterior.draws;
    return status;
}
