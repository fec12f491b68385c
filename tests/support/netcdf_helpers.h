/* SPDX-License-Identifier: MIT */
/* A model of variables of all kinds whose draws are written to netCDF files. */
#ifndef NETCDF_HELPERS_H
#define NETCDF_HELPERS_H

#include "temp_dir.h"

#include <saltus/saltus.h>
#include "io/config.h"

/* A space in which names collide and codes need all widths. */
static const double three_levels[] = { -1, 0.25, 7 };
static const sal_block blocks[] = {
    { .name = "x", .kind = SAL_BINARY, .count = 5 },
    { .name = "x_site", .kind = SAL_SPIN, .count = 1 },
    { .name = "draw", .kind = SAL_ORDINAL, .count = 2, .states = 3, .levels = three_levels },
    { .name = "-c", .kind = SAL_CATEGORICAL, .count = 1, .states = 256 },
    { .name = "wide", .kind = SAL_CATEGORICAL, .count = 2, .states = 257 },
    { .name = "n", .kind = SAL_COUNT, .count = 1 },
};
enum { BLOCKS = 6, V = 12, CHAINS = 3 };

/* Of the first variables and the count, which is the last real. */
static inline double log_prob(const double *x, double *gradient, void *data)
{
    double count = x[5 + 1 + 2 + 256 + 2 * 257];
    (void)gradient;
    (void)data;
    return 0.3 * x[0] * x[5] - 0.1 * x[6] * x[7] - 0.2 * count * count;
}

static inline sal_model *make_model(void)
{
    sal_model *model = NULL;
    sal_error err = { 0 };
    sal_callback callback = { .f = log_prob };
    sal_space *space = sal_space_create();
    for (int b = 0; b < BLOCKS; b++) {
        ck_ok(sal_space_add(space, &blocks[b], &err), &err);
    }
    ck_ok(sal_model_from_callback(space, &callback, &model, &err), &err);
    sal_space_destroy(space);
    return model;
}

static const sal_run_options usual = { .sampler = "mh-uniform",
                                       .chains = CHAINS,
                                       .warmup = 50,
                                       .draws = 2500,
                                       .seed = 7,
                                       .record.draws = true };

#ifdef SALI_HAVE_NETCDF
#include <netcdf.h>

static inline void ck_nc(int code)
{
    ck_assert_msg(code == NC_NOERR, "%s", nc_strerror(code));
}
#endif

#endif
