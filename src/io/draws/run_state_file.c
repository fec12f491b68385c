/* The state of a run, and its draws, out of the netCDF file that they were written to. */
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <saltus/io.h>
#include "core/alloc.h"
#include "core/error.h"
#include "io/draws/draw_layout.h"
#include "io/draws/draw_state.h"
#include "io/file.h"
#include "io/draws/netcdf_posterior.h"
#include "io/draws/netcdf_lock.h"
#include "io/arrays/state_file.h"

/* Draws that are read at once take so much, or are one. */
#define WINDOW_BYTES ((int64_t)4 << 20)
#define WINDOW_DRAWS 1024

/* The draws of a file: [0] of the run, [1] of its warm-up. */
typedef struct section {
    sali_netcdf_posterior posterior; /* id -1: not there */
    int stats, figures[SALI_DRAW_FIGURES];
} section;

typedef struct draws {
    char *name;
    int file; /* -1: not open */
    section sections[2];
    /* Draws first .. first + n - 1 of a section; n = 0: none. */
    int in;
    int64_t first, n, most;
    int32_t *block, *codes;                   /* [n x chains x V]; block: of a variable */
    double *row, *figures[SALI_DRAW_FIGURES]; /* [n x chains]; row: as in the file */
} draws;

static sal_status cannot_read(const char *name, int code, sal_error *err)
{
    return sali_fail(err, SAL_ERR_DATA, "%s: cannot be read: %s", name, nc_strerror(code));
}

static void close_draws(void *source)
{
    draws *d = source;
    if (d && d->file >= 0) {
        pthread_mutex_lock(&sali_netcdf_mutex);
        nc_close(d->file);
        pthread_mutex_unlock(&sali_netcdf_mutex);
    }
    for (int k = 0; d && k < 2; k++) {
        sali_free(d->sections[k].posterior.variables);
    }
    for (int k = 0; d && k < SALI_DRAW_FIGURES; k++) {
        sali_free(d->figures[k]);
    }
    if (d) {
        sali_free(d->name);
        sali_free(d->block);
        sali_free(d->codes);
        sali_free(d->row);
        sali_free(d);
    }
}

/* ---- the state; with the lock */

/* The bytes of a place, if it is whole; else NULL. */
static unsigned char *read_slot(const draws *d, int variable, size_t slot, size_t length,
                                uint64_t *serial, int64_t *size)
{
    unsigned char head[SALI_DRAW_STATE_HEAD], *bytes;
    size_t begin[2] = { slot, 0 }, count[2] = { 1, SALI_DRAW_STATE_HEAD };
    if (length < SALI_DRAW_STATE_HEAD ||
        nc_get_vara_uchar(d->file, variable, begin, count, head) != NC_NOERR) {
        return NULL;
    }
    uint64_t wide = sali_draw_state_number(head, 1);
    *serial = sali_draw_state_number(head, 0);
    begin[1] = SALI_DRAW_STATE_HEAD;
    count[1] = (size_t)wide;
    if (wide > length - SALI_DRAW_STATE_HEAD || !(bytes = sali_alloc((int64_t)wide, 1))) {
        return NULL;
    }
    *size = (int64_t)wide;
    bool whole = nc_get_vara_uchar(d->file, variable, begin, count, bytes) == NC_NOERR &&
                 sali_draw_state_hash(bytes, *size) == sali_draw_state_number(head, 2);
    if (!whole) {
        sali_free(bytes);
        return NULL;
    }
    return bytes;
}

/* The variable that has it, and how many bytes; false: there is none. */
static bool find_state(const draws *d, int64_t file_size, int *variable, size_t *length)
{
    nc_type type;
    int n, dimensions[2];
    size_t slots;
    return nc_inq_varid(d->file, SALI_DRAW_STATE, variable) == NC_NOERR &&
           nc_inq_vartype(d->file, *variable, &type) == NC_NOERR && type == NC_UBYTE &&
           nc_inq_varndims(d->file, *variable, &n) == NC_NOERR && n == 2 &&
           nc_inq_vardimid(d->file, *variable, dimensions) == NC_NOERR &&
           nc_inq_dimlen(d->file, dimensions[0], &slots) == NC_NOERR && slots == 2 &&
           nc_inq_dimlen(d->file, dimensions[1], length) == NC_NOERR &&
           *length <= (size_t)file_size;
}

static sal_status read_state(const draws *d, int64_t file_size, sal_run_state *state,
                             sal_error *err)
{
    int variable;
    size_t length;
    unsigned char *bytes[2];
    uint64_t serial[2] = { 0 };
    int64_t size[2] = { 0 };
    if (!find_state(d, file_size, &variable, &length)) {
        return sali_fail(err, SAL_ERR_DATA,
                         "%s: has no state of a run to go on from; 'saltus sample --out NAME.nc' "
                         "and draw writers leave one",
                         d->name);
    }
    for (size_t k = 0; k < 2; k++) {
        bytes[k] = read_slot(d, variable, k, length, &serial[k], &size[k]);
    }
    int last = !bytes[0] || (bytes[1] && serial[1] > serial[0]);
    sal_status status =
        bytes[last] ? sali_state_parse(d->name, bytes[last], size[last], state, err)
                    : sali_fail(err, SAL_ERR_DATA, "%s: the state of its run is damaged", d->name);
    sali_free(bytes[0]);
    sali_free(bytes[1]);
    return status;
}

/* ---- draws; with the lock */

/* A group of draws, if it is there and has any. */
static sal_status find_section(draws *d, int k, int64_t size, sal_error *err)
{
    static const char *const groups[] = { "posterior", "warmup_posterior" };
    static const char *const stats[] = { "sample_stats", "warmup_sample_stats" };
    static const char *const names[] = { "lp", "acceptance_rate", "jump", "step_size" };
    section *s = &d->sections[k];
    size_t made = 0;
    int draw, group;
    s->posterior = (sali_netcdf_posterior){ .name = d->name, .size = size, .id = -1 };
    if (nc_inq_grp_ncid(d->file, groups[k], &group) != NC_NOERR ||
        nc_inq_dimid(group, "draw", &draw) != NC_NOERR ||
        nc_inq_dimlen(group, draw, &made) != NC_NOERR || made == 0) {
        return SAL_OK;
    }
    s->posterior.id = group;
    sal_status status = sali_netcdf_find_draws(&s->posterior, err);
    bool known = status == SAL_OK && nc_inq_grp_ncid(d->file, stats[k], &s->stats) == NC_NOERR;
    for (int i = 0; known && i < SALI_DRAW_FIGURES; i++) {
        int n = 0;
        nc_type type = NC_NAT;
        known = nc_inq_varid(s->stats, names[i], &s->figures[i]) == NC_NOERR &&
                nc_inq_vartype(s->stats, s->figures[i], &type) == NC_NOERR && type == NC_DOUBLE &&
                nc_inq_varndims(s->stats, s->figures[i], &n) == NC_NOERR && n == 2;
    }
    return status || known
               ? status
               : sali_fail(err, SAL_ERR_DATA, "%s: has no statistics of its draws", d->name);
}

/* Draws first .. of one variable, to its columns. */
static int read_codes(draws *d, const sali_netcdf_posterior *p, const sali_netcdf_draws *v,
                      int64_t column)
{
    size_t start[SALI_NETCDF_MOST_DIMENSIONS] = { 0, (size_t)d->first };
    size_t count[SALI_NETCDF_MOST_DIMENSIONS];
    memcpy(count, v->sizes, sizeof count);
    count[1] = (size_t)d->n;
    int code = nc_get_vara_int(p->id, v->id, start, count, d->block);
    for (int64_t c = 0; code == NC_NOERR && c < p->chains; c++) {
        for (int64_t k = 0; k < d->n; k++) {
            memcpy(d->codes + (k * p->chains + c) * p->V + column,
                   d->block + (c * d->n + k) * v->sites, (size_t)v->sites * sizeof *d->codes);
        }
    }
    return code;
}

static int read_figure(draws *d, const section *s, int i)
{
    int64_t chains = s->posterior.chains;
    size_t start[2] = { 0, (size_t)d->first }, count[2] = { (size_t)chains, (size_t)d->n };
    int code = nc_get_vara_double(s->stats, s->figures[i], start, count, d->row);
    for (int64_t c = 0; code == NC_NOERR && c < chains; c++) {
        for (int64_t k = 0; k < d->n; k++) {
            d->figures[i][k * chains + c] = d->row[c * d->n + k];
        }
    }
    return code;
}

/* The window that begins with draw `index`. */
static sal_status read_window(draws *d, int in, int64_t index, sal_error *err)
{
    const section *s = &d->sections[in];
    const sali_netcdf_posterior *p = &s->posterior;
    int code = NC_NOERR;
    d->in = in;
    d->first = index;
    d->n = p->draws - index < d->most ? p->draws - index : d->most;
    pthread_mutex_lock(&sali_netcdf_mutex);
    for (int64_t k = 0, column = 0; code == NC_NOERR && k < p->n;
         column += p->variables[k++].sites) {
        code = read_codes(d, p, &p->variables[k], column);
    }
    for (int i = 0; code == NC_NOERR && i < SALI_DRAW_FIGURES; i++) {
        code = read_figure(d, s, i);
    }
    pthread_mutex_unlock(&sali_netcdf_mutex);
    if (code != NC_NOERR) {
        d->n = 0;
        return cannot_read(d->name, code, err);
    }
    return SAL_OK;
}

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
    int64_t at = (index - d->first) * p->chains;
    *draw = (sal_draw){ .index = index,
                        .warmup = warmup,
                        .chains = p->chains,
                        .variables = p->V,
                        .codes = d->codes + at * p->V,
                        .log_prob = d->figures[SALI_DRAW_LP] + at,
                        .acceptance_rate = d->figures[SALI_DRAW_ACCEPTANCE] + at,
                        .jump = d->figures[SALI_DRAW_JUMP] + at,
                        .step_size = d->figures[SALI_DRAW_STEP_SIZE] + at };
    return status;
}

/* Whether draws are of no more chains and variables than the state, whose arrays are in the file
 * byte by byte, where draws may be a few bytes that claim to be many. */
static sal_status check_sections(const draws *d, const sal_run_state *state, sal_error *err)
{
    sal_run_options o;
    const sali_state_item *codes = sali_run_state_find(state, "codes");
    const sali_state_item *f = sali_run_state_find(state, "f"); /* of each chain and replica */
    sal_status status = sal_run_state_options(state, &o, err);
    if (status != SAL_OK) {
        return status;
    }
    int64_t chains = f ? f->count : 0;
    int64_t V = codes && chains > 0 ? codes->count / chains + o.clamped : 0;
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
    return SAL_OK;
}

/* Room for a window of the larger section. */
static sal_status make_room(draws *d, sal_error *err)
{
    int64_t chains = 1, codes = 1;
    for (int k = 0; k < 2; k++) {
        const sali_netcdf_posterior *p = &d->sections[k].posterior;
        chains = p->id >= 0 && p->chains > chains ? p->chains : chains;
        codes = p->id >= 0 && p->chains * p->V > codes ? p->chains * p->V : codes;
    }
    d->most = WINDOW_BYTES / (codes * (int64_t)sizeof(int32_t));
    d->most = d->most < 1 ? 1 : d->most > WINDOW_DRAWS ? WINDOW_DRAWS : d->most;
    d->block = SALI_NEW_ARRAY(int32_t, d->most * codes);
    d->codes = SALI_NEW_ARRAY(int32_t, d->most * codes);
    d->row = SALI_NEW_ARRAY(double, d->most *chains);
    bool ok = d->block && d->codes && d->row;
    for (int i = 0; i < SALI_DRAW_FIGURES; i++) {
        d->figures[i] = SALI_NEW_ARRAY(double, d->most *chains);
        ok = ok && d->figures[i];
    }
    return ok ? SAL_OK : sali_fail_memory(err);
}

/* ---- one file */

/* It must be a file of HDF5: netCDF's readers of other formats are not to see it. */
static sal_status check_file(const char *path, int64_t *size, sal_error *err)
{
    static const char hdf5[] = "\x89HDF\r\n\x1a\n";
    char head[8] = "";
    struct stat info;
    FILE *file = stat(path, &info) == 0 && S_ISREG(info.st_mode) ? fopen(path, "rb") : NULL;
    if (!file) {
        return sali_fail(err, SAL_ERR_NOT_FOUND, "%s: cannot be opened, or is no file", path);
    }
    bool ours = fread(head, 1, 8, file) == 8 && memcmp(head, hdf5, 8) == 0;
    bool locked = sali_file_is_locked(fileno(file), false);
    fclose(file);
    *size = (int64_t)info.st_size;
    if (locked) {
        return sali_fail(err, SAL_ERR_IO, "%s: its run is not over: another process is writing it",
                         path);
    }
    return ours ? SAL_OK : sali_fail(err, SAL_ERR_DATA, "%s: is no netCDF-4 file", path);
}

static sal_status read_file(draws *d, int64_t size, sal_run_state *state, sal_error *err)
{
    pthread_mutex_lock(&sali_netcdf_mutex);
    int code = nc_open(d->name, NC_NOWRITE, &d->file);
    sal_status status = SAL_OK;
    if (code != NC_NOERR) {
        d->file = -1;
        status = cannot_read(d->name, code, err);
    }
    status = status ? status : read_state(d, size, state, err);
    for (int k = 0; status == SAL_OK && k < 2; k++) {
        status = find_section(d, k, size, err);
    }
    pthread_mutex_unlock(&sali_netcdf_mutex);
    status = status ? status : check_sections(d, state, err);
    return status ? status : make_room(d, err);
}

static sal_status open_file(const char *path, sal_run_state **out, sal_error *err)
{
    int64_t size = 0;
    sal_status status = check_file(path, &size, err);
    if (status != SAL_OK) {
        return status;
    }
    sal_run_state *state = SALI_NEW(sal_run_state);
    draws *d = SALI_NEW(draws);
    if (d) {
        d->file = -1;
        d->name = sali_strdup(path);
    }
    if (state && d) {
        state->past = (sali_past){ .source = d, .read = read_draw, .close = close_draws };
        state->name = sali_strdup(path);
    }
    bool ok = state && d && state->name && d->name;
    status = ok ? read_file(d, size, state, err) : sali_fail_memory(err);
    if (status != SAL_OK) {
        if (!(state && d)) {
            close_draws(d);
        }
        sal_run_state_destroy(state);
        return status;
    }
    state->past.made = d->sections[0].posterior.draws;
    *out = state;
    return SAL_OK;
}

/* ---- PATH, or PATH.tmp that a killed run left */

static int64_t number_of(const sal_run_state *state, const char *name)
{
    const sali_state_item *item = sali_run_state_find(state, name);
    return item && item->type == SALI_STATE_I64 && item->count == 1 ? *(int64_t *)item->data : -1;
}

/* Whether `b` is further on than `a`. */
static bool is_further(const sal_run_state *a, const sal_run_state *b)
{
    return number_of(b, "warmup_done") + number_of(b, "steps") >
           number_of(a, "warmup_done") + number_of(a, "steps");
}

/* Whether both are of one run, whatever draws it was to make. */
static bool are_alike(const sal_run_state *a, const sal_run_state *b, sal_error *err)
{
    sal_run_options one, two;
    return sal_run_state_options(a, &one, err) == SAL_OK &&
           sal_run_state_options(b, &two, err) == SAL_OK && one.seed == two.seed &&
           one.chains == two.chains && one.warmup == two.warmup && one.thin == two.thin &&
           strcmp(one.sampler, two.sampler) == 0 &&
           strcmp(sal_run_state_model(a), sal_run_state_model(b)) == 0;
}

static sal_status take_place(const char *temporary, const char *path, sal_run_state *state,
                             sal_error *err)
{
    char *name = sali_strdup(path);
    if (!name) {
        return sali_fail_memory(err);
    }
    sali_free(state->name);
    state->name = name;
    return rename(temporary, path) == 0
               ? SAL_OK
               : sali_fail(err, SAL_ERR_IO, "%s: cannot be renamed to %s: %m", temporary, path);
}

/* Of PATH, which may be missing, and PATH.tmp, which can be resumed. */
static sal_status choose(const char *path, const char *temporary, sal_status found,
                         sal_run_state **state, sal_run_state **left, sal_error *err)
{
    sal_status status = found;
    if (found == SAL_OK && !are_alike(*state, *left, err)) {
        return sali_fail(err, SAL_ERR_DATA,
                         "%s: beside it is %s, of another run that was killed; move one of them "
                         "elsewhere",
                         path, temporary);
    }
    if (found == SAL_ERR_NOT_FOUND || (found == SAL_OK && is_further(*state, *left))) {
        sal_run_state *other = *state;
        *state = *left;
        *left = other;
        status = take_place(temporary, path, *state, err);
    }
    return status;
}

sal_status sal_run_state_open(const char *path, sal_run_state **out, sal_error *err)
{
    char temporary[4096];
    size_t length = path ? strlen(path) : 0;
    sal_run_state *state = NULL, *left = NULL;
    sal_error why = { 0 };
    if (length < 4 || strcmp(path + length - 3, ".nc") != 0) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED,
                         "%s: runs are resumed from NAME.nc; other files do not hold their state",
                         path ? path : "no path");
    }
    if ((size_t)snprintf(temporary, sizeof temporary, "%s.tmp", path) >= sizeof temporary) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "%.100s...: the path is too long", path);
    }
    sal_status status = open_file(path, &state, err);
    sal_status other = open_file(temporary, &left, &why);
    if (other == SAL_OK) {
        status = choose(path, temporary, status, &state, &left, err);
    } else if (status == SAL_ERR_NOT_FOUND && other != SAL_ERR_NOT_FOUND) {
        status = sali_fail(err, other, "%s", why.message);
    }
    sal_run_state_destroy(left);
    if (status != SAL_OK) {
        sal_run_state_destroy(state);
        return status;
    }
    *out = state;
    return SAL_OK;
}
