/* SPDX-License-Identifier: MIT */
/* Saving the draws of a run. */
#include <saltus/io.h>
#include "core/error.h"
#include "core/text.h"
#include "io/arrays/npy.h"
#include "io/draws/draw_configuration.h"
#include "io/draws/draw_netcdf.h"

static sal_status save_netcdf(const sal_run *run, const char *path, sal_error *err)
{
    const sal_run_state *state = sal_run_last_state(run);
    sal_run_options options;
    sal_status status = sal_run_state_options(state, &options, err);
    if (status != SAL_OK) {
        return status;
    }
    sali_draw_source source = { .replay = state->replay,
                                .figures = 1,
                                .configuration =
                                    sali_draw_configuration(sal_run_model(run), &options, NULL) };
    status = source.configuration ? sali_draw_netcdf_write(path, run, &source, err)
                                  : sali_fail_memory(err);
    json_decref(source.configuration);
    return status;
}

sal_status sal_run_save(const sal_run *run, const char *path, sal_error *err)
{
    int bytes = 0;
    int64_t shape[3];
    const void *draws = run ? sal_run_draws(run, &bytes) : NULL;
    bool netcdf = sali_has_suffix(path, ".nc");
    if (!netcdf && !sali_has_suffix(path, ".npy")) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED, "%s: draws are saved as NAME.npy or NAME.nc",
                         path ? path : "no path");
    }
    if (!draws) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "%s: the run kept no draws; set record.draws in its options", path);
    }
    sal_run_size(run, &shape[0], &shape[1], &shape[2]);
    if (shape[1] == 0) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "%s: the run was stopped before its first draw",
                         path);
    }
    return netcdf ? save_netcdf(run, path, err)
                  : sali_npy_write(path, bytes == 1 ? SALI_DTYPE_U8 : SALI_DTYPE_I32, 3, shape,
                                   draws, err);
}
