/* SPDX-License-Identifier: MIT */
/* Functions on netCDF files of a build without libnetcdf: all of them fail. */
#include "core/error.h"
#include "io/draws/draw_netcdf.h"
#include "io/draws/netcdf_posterior.h"
#include "io/draws/run_record.h"

static sal_status not_read(const char *name, sal_error *err)
{
    return sali_fail(err, SAL_ERR_UNSUPPORTED, "%s: not read: saltus was built without libnetcdf",
                     name);
}

sal_status sali_draw_netcdf_check(const char *path, sal_error *err)
{
    return sali_fail(err, SAL_ERR_UNSUPPORTED,
                     "%s: not written: saltus was built without libnetcdf; write .npy instead",
                     path);
}

sal_status sali_draw_netcdf_write(const char *path, const sal_run *run,
                                  const sali_draw_source *source, sal_error *err)
{
    (void)run;
    (void)source;
    return sali_draw_netcdf_check(path, err);
}

sal_status sali_draw_netcdf_state(const char *path, sal_run_state *state, sal_error *err)
{
    (void)state;
    return not_read(path, err);
}

sal_status sali_netcdf_parse(const char *name, const char *data, int64_t size, sali_content *out,
                             sal_error *err)
{
    (void)data;
    (void)size;
    (void)out;
    return not_read(name, err);
}

sal_status sali_run_record_parse(const char *name, const char *data, int64_t size,
                                 sali_run_record *out, sal_error *err)
{
    (void)data;
    (void)size;
    (void)out;
    return not_read(name, err);
}
