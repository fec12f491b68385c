/* What a build without libnetcdf says of netCDF files. */
#include "core/error.h"
#include "io/draws/draw_writer.h"
#include "io/draws/netcdf.h"
#include "io/draws/run_record.h"

sal_status sali_draw_writer_open(const char *path, const sal_model *model,
                                 const sal_run_options *options,
                                 const sali_draw_arguments *arguments, int64_t figures,
                                 sal_draw_writer **writer, sal_error *err)
{
    (void)model;
    (void)options;
    (void)arguments;
    (void)figures;
    (void)writer;
    return sali_fail(err, SAL_ERR_UNSUPPORTED,
                     "%s: not written: saltus was built without libnetcdf; write .npy instead",
                     path ? path : "no path");
}

sal_status sal_draw_writer_open(const char *path, const sal_model *model,
                                const sal_run_options *options, sal_draw_writer **writer,
                                sal_error *err)
{
    return sali_draw_writer_open(path, model, options, NULL, 0, writer, err);
}

/* There is no writer to call these with. */
int sal_draw_writer_add(const sal_draw *draw, void *writer)
{
    (void)draw;
    (void)writer;
    return 1;
}

int sal_draw_writer_state(const sal_run_state *state, void *writer)
{
    (void)state;
    (void)writer;
    return 1;
}

bool sali_draw_writer_note(sal_draw_writer *writer, const char *name, const char *text)
{
    (void)writer;
    (void)name;
    (void)text;
    return true;
}

sal_status sal_run_state_open(const char *path, sal_run_state **state, sal_error *err)
{
    (void)state;
    return sali_fail(err, SAL_ERR_UNSUPPORTED, "%s: not read: saltus was built without libnetcdf",
                     path);
}

sal_status sal_draw_writer_sync(sal_draw_writer *writer, sal_error *err)
{
    (void)writer;
    return sali_fail(err, SAL_ERR_UNSUPPORTED, "saltus was built without libnetcdf");
}

sal_status sal_draw_writer_close(sal_draw_writer *writer, const sal_run *run, sal_error *err)
{
    (void)writer;
    (void)run;
    (void)err;
    return SAL_OK;
}

sal_status sali_netcdf_parse(const char *name, const char *data, int64_t size, sali_content *out,
                             sal_error *err)
{
    (void)data;
    (void)size;
    (void)out;
    return sali_fail(err, SAL_ERR_UNSUPPORTED, "%s: not read: saltus was built without libnetcdf",
                     name);
}

sal_status sali_run_record_parse(const char *name, const char *data, int64_t size,
                                 sali_run_record *out, sal_error *err)
{
    (void)data;
    (void)size;
    (void)out;
    return sali_fail(err, SAL_ERR_UNSUPPORTED, "%s: not read: saltus was built without libnetcdf",
                     name);
}
