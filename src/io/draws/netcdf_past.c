/* The state of a run, and its draws, out of the netCDF file that they were written to. */
#include <netcdf.h>
#include <string.h>
#include <sys/stat.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/arrays/state_file.h"
#include "io/draws/draw_netcdf.h"
#include "io/draws/netcdf_lock.h"
#include "io/draws/netcdf_posterior.h"
#include "io/draws/noted.h"
#include "io/draws/run_state_file.h"

/* Draws that are read at once take so much, or are one. */
#define WINDOW_BYTES ((int64_t)4 << 20)
#define WINDOW_DRAWS 1024

/* The draws of a file: [0] of the run, [1] of its warm-up. */
typedef struct section {
    sali_netcdf_posterior posterior; /* id -1: not there */
    int stats, figures[SALI_NOTED];
} section;

typedef struct draws {
    char *name;
    int file; /* -1: not open */
    section sections[2];
    /* Draws first .. first + n - 1 of a section; n = 0: none. */
    int in;
    int64_t first, n, most;
    int32_t *block, *codes; /* [n x chains x V]; block: of a variable */
    double *row, *figures;  /* [SALI_NOTED x most x chains]; row: of one, as in the file */
} draws;

static sal_status cannot_read(const char *name, int code, sal_error *err)
{
    return sali_fail(err, SAL_ERR_DATA, "%s: cannot be read: %s", name, nc_strerror(code));
}

static void close_draws(void *source)
{
    draws *d = source;
    if (d->file >= 0) {
        pthread_mutex_lock(&sali_netcdf_mutex);
        nc_close(d->file);
        pthread_mutex_unlock(&sali_netcdf_mutex);
    }
    sali_free(d->sections[0].posterior.variables);
    sali_free(d->sections[1].posterior.variables);
    sali_free(d->name);
    sali_free(d->block);
    sali_free(d->codes);
    sali_free(d->row);
    sali_free(d->figures);
    sali_free(d);
}

/* ---- draws */

/* A group of draws, if it is there and has any. With the lock. */
static sal_status find_section(draws *d, int k, int64_t size, sal_error *err)
{
    static const char *const groups[] = { "posterior", "warmup_posterior" };
    static const char *const stats[] = { "sample_stats", "warmup_sample_stats" };
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
    for (int i = 0; known && i < SALI_NOTED; i++) {
        known = sali_netcdf_find_noted(s->stats, i, &s->figures[i]);
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
            d->figures[(i * d->n + k) * chains + c] = d->row[c * d->n + k];
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
    for (int i = 0; code == NC_NOERR && i < SALI_NOTED; i++) {
        code = read_figure(d, s, i);
    }
    pthread_mutex_unlock(&sali_netcdf_mutex);
    d->n = code == NC_NOERR ? d->n : 0;
    return code == NC_NOERR ? SAL_OK : cannot_read(d->name, code, err);
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
    const int64_t at = (index - d->first) * p->chains, next = d->n * p->chains;
    *draw = (sal_draw){ .index = index,
                        .warmup = warmup,
                        .chains = p->chains,
                        .variables = p->V,
                        .codes = d->codes + at * p->V,
                        .log_prob = d->figures + at + SALI_NOTED_LP * next,
                        .acceptance_rate = d->figures + at + SALI_NOTED_ACCEPTANCE * next,
                        .jump = d->figures + at + SALI_NOTED_JUMP * next,
                        .step_size = d->figures + at + SALI_NOTED_STEP_SIZE * next };
    return status;
}

/* Room for a window, if draws are of no more chains and variables than the state, whose arrays are
 * in the file byte by byte, where draws may be a few bytes that claim to be many. */
static sal_status make_room(draws *d, const sal_run_state *state, sal_error *err)
{
    sal_run_options o;
    const sali_state_item *codes = sali_run_state_find(state, "codes");
    const sali_state_item *f = sali_run_state_find(state, "f"); /* of each chain and replica */
    sal_status status = sal_run_state_options(state, &o, err);
    if (status != SAL_OK) {
        return status;
    }
    int64_t chains = f ? f->count : 0;
    int64_t V = codes && chains > 0 ? codes->count / chains + o.clamped : 0, most = 1;
    for (int k = 0; k < 2; k++) {
        const sali_netcdf_posterior *p = &d->sections[k].posterior;
        if (p->id >= 0 && (p->chains > chains || p->V > V)) {
            return sali_fail(err, SAL_ERR_DATA,
                             "%s: its draws are of %lld chains and %lld variables, the state of "
                             "its run is of %lld and %lld",
                             d->name, (long long)p->chains, (long long)p->V, (long long)chains,
                             (long long)V);
        }
        most = p->id >= 0 && p->chains * p->V > most ? p->chains * p->V : most;
    }
    d->most = WINDOW_BYTES / (most * (int64_t)sizeof(int32_t));
    d->most = d->most < 1 ? 1 : d->most > WINDOW_DRAWS ? WINDOW_DRAWS : d->most;
    d->block = SALI_NEW_ARRAY(int32_t, d->most * most);
    d->codes = SALI_NEW_ARRAY(int32_t, d->most * most);
    d->row = SALI_NEW_ARRAY(double, d->most *chains);
    d->figures = SALI_NEW_ARRAY(double, SALI_NOTED * d->most * chains);
    return d->block && d->codes && d->row && d->figures ? SAL_OK : sali_fail_memory(err);
}

/* ---- the state; with the lock */

static sal_status read_state(const draws *d, int64_t file_size, sal_run_state *state,
                             sal_error *err)
{
    int variable, n, dimension;
    nc_type type;
    size_t size;
    if (nc_inq_varid(d->file, SALI_DRAW_STATE, &variable) != NC_NOERR ||
        nc_inq_vartype(d->file, variable, &type) != NC_NOERR || type != NC_UBYTE ||
        nc_inq_varndims(d->file, variable, &n) != NC_NOERR || n != 1 ||
        nc_inq_vardimid(d->file, variable, &dimension) != NC_NOERR ||
        nc_inq_dimlen(d->file, dimension, &size) != NC_NOERR || size > (size_t)file_size) {
        return sali_fail(err, SAL_ERR_DATA,
                         "%s: has no state of a run to go on from; 'saltus sample --out NAME.nc' "
                         "and draw writers leave one",
                         d->name);
    }
    unsigned char *bytes = sali_alloc((int64_t)size, 1);
    if (!bytes) {
        return sali_fail_memory(err);
    }
    sal_status status =
        nc_get_var_uchar(d->file, variable, bytes) == NC_NOERR
            ? sali_state_parse(d->name, bytes, (int64_t)size, state, err)
            : sali_fail(err, SAL_ERR_DATA, "%s: the state of its run is damaged", d->name);
    sali_free(bytes);
    return status;
}

/* ---- the file */

static sal_status open_file(draws *d, sal_run_state *state, sal_error *err)
{
    struct stat info;
    if (stat(d->name, &info) != 0 || !S_ISREG(info.st_mode)) {
        return sali_fail(err, SAL_ERR_NOT_FOUND, "%s: cannot be opened, or is no file", d->name);
    }
    pthread_mutex_lock(&sali_netcdf_mutex);
    sal_status status = sali_netcdf_open(d->name, NULL, (int64_t)info.st_size, &d->file, err);
    status = status ? status : read_state(d, (int64_t)info.st_size, state, err);
    for (int k = 0; status == SAL_OK && k < 2; k++) {
        status = find_section(d, k, (int64_t)info.st_size, err);
    }
    pthread_mutex_unlock(&sali_netcdf_mutex);
    return status ? status : make_room(d, state, err);
}

sal_status sali_netcdf_state(const char *path, sal_run_state *state, sal_error *err)
{
    draws *d = SALI_NEW(draws);
    if (!d) {
        return sali_fail_memory(err);
    }
    d->file = -1;
    d->name = sali_strdup(path);
    state->past = (sali_past){ .source = d, .read = read_draw, .close = close_draws };
    sal_status status = d->name ? open_file(d, state, err) : sali_fail_memory(err);
    state->past.made = d->sections[0].posterior.draws;
    return status;
}
