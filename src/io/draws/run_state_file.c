/* SPDX-License-Identifier: MIT */
/* Reading the state of a run from its file, or from the log that the run left when it was
 * killed. */
#include <string.h>

#include <saltus/io.h>
#include "core/alloc.h"
#include "core/error.h"
#include "core/text.h"
#include "io/arrays/state_file.h"
#include "io/draws/draw_log.h"
#include "io/draws/draw_netcdf.h"

/* Read the state from the log of PATH. SAL_ERR_NOT_FOUND if there is no log, or it has no state. */
static sal_status read_log(const char *path, sal_run_state *state, sal_error *err)
{
    void *bytes = NULL;
    sal_run_options options;
    sali_draw_log *log = NULL;
    sal_status status = sali_draw_log_open(path, false, &log, err);
    if (status != SAL_OK) {
        return status;
    }
    state->replay = sali_draw_log_replay(log);
    if (log->state_size == 0) {
        return sali_fail(err, SAL_ERR_NOT_FOUND, "%s: has no state of a run to go on from",
                         log->path);
    }
    status = sali_draw_log_state(log, &bytes, err);
    status = status ? status : sali_state_parse(log->path, bytes, log->state_size, state, err);
    sali_free(bytes);
    if (status != SAL_OK) {
        return status;
    }
    status = sal_run_state_options(state, &options, err);
    return status ? sali_fail_prefix(err, status, "%s", log->path) : SAL_OK;
}

/* Open the state of a run from its log or, if not `log`, from its netCDF file. */
static sal_status open_state(const char *path, bool log, sal_run_state **out, sal_error *err)
{
    sal_run_state *state = SALI_NEW(sal_run_state);
    if (!state) {
        return sali_fail_memory(err);
    }
    state->name = log ? sali_draw_log_path(path) : sali_strdup(path);
    sal_status status = !state->name ? sali_fail_memory(err)
                        : log        ? read_log(path, state, err)
                                     : sali_draw_netcdf_state(path, state, err);
    return SALI_GIVE(status, state, out, sal_run_state_destroy);
}

/* Whether both states belong to the same run; the numbers of draws requested may differ. */
static bool are_alike(const sal_run_state *a, const sal_run_state *b)
{
    sal_run_options one, two;
    return sal_run_state_options(a, &one, NULL) == SAL_OK &&
           sal_run_state_options(b, &two, NULL) == SAL_OK && one.seed == two.seed &&
           one.chains == two.chains && one.warmup == two.warmup && one.thin == two.thin &&
           strcmp(one.sampler, two.sampler) == 0 &&
           strcmp(sali_run_state_model(a), sali_run_state_model(b)) == 0;
}

static int64_t steps_of(const sal_run_state *state)
{
    return sali_run_state_whole(state, "warmup_done") + sali_run_state_whole(state, "steps");
}

/* ---- states of chains, which have no draws */

#define STATE_SUFFIX ".safetensors"

static sal_status open_saved(const char *path, sal_run_state **out, sal_error *err)
{
    sal_run_options options;
    sal_run_state *state = SALI_NEW(sal_run_state);
    if (!state) {
        return sali_fail_memory(err);
    }
    state->name = sali_strdup(path);
    sal_status status = state->name ? sali_state_read(path, state, err) : sali_fail_memory(err);
    status = status ? status : sal_run_state_options(state, &options, err);
    return SALI_GIVE(status, state, out, sal_run_state_destroy);
}

sal_status sal_run_state_save(const sal_run_state *state, const char *path, sal_error *err)
{
    return sali_has_suffix(path, STATE_SUFFIX)
               ? sali_state_save(path, state->items, state->n, err)
               : sali_fail(err, SAL_ERR_ARGUMENT, "%s: the state of chains is saved as NAME%s",
                           path ? path : "no path", STATE_SUFFIX);
}

/* ---- states of runs */

sal_status sal_run_state_open(const char *path, sal_run_state **out, sal_error *err)
{
    sal_run_state *state = NULL, *left = NULL;
    sal_error why = { 0 };
    if (sali_has_suffix(path, STATE_SUFFIX)) {
        return open_saved(path, out, err);
    }
    if (!sali_has_suffix(path, ".nc")) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED,
                         "%s: runs are resumed from NAME.nc, and chains from NAME" STATE_SUFFIX
                         "; other files do not hold their state",
                         path ? path : "no path");
    }
    sal_status killed = open_state(path, true, &left, &why);
    if (killed != SAL_OK && killed != SAL_ERR_NOT_FOUND) {
        return sali_fail(err, killed, "%s", why.message);
    }
    sal_status status = open_state(path, false, &state, err);
    if (left && state && !are_alike(state, left)) {
        status = sali_fail(err, SAL_ERR_DATA,
                           "%s: beside it is %s, of another run that was killed; move one of them "
                           "elsewhere",
                           path, left->name);
    } else if (left && (status != SAL_OK || steps_of(left) >= steps_of(state))) {
        sal_run_state *other = state;
        state = left;
        left = other;
        status = SAL_OK;
    }
    sal_run_state_destroy(left);
    return SALI_GIVE(status, state, out, sal_run_state_destroy);
}
