/* SPDX-License-Identifier: MIT */
/* Draws in netCDF as arrays: their record. */
#include "io/format.h"
#include "io/draws/netcdf_posterior.h"

static void parse(sali_scan *scan, sali_content *out)
{
    scan->status =
        sali_netcdf_parse(scan->name, scan->begin, scan->end - scan->begin, out, scan->err);
}

/* By its suffix alone: what else is HDF5 is not to reach its library unasked. */
const sali_format sali_format_netcdf = {
    .name = "netcdf",
    .doc = "draws in ArviZ's layout, if built with libnetcdf",
    .suffixes = { ".nc" },
    .content = SALI_CONTENT_ARRAY,
    .comments = SALI_BYTES,
    .parse = parse,
};
