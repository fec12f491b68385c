/* SPDX-License-Identifier: MIT */
/* A run as read from its file: draws, the figures recorded with them, and how they were made. */
#ifndef SALI_RUN_RECORD_H
#define SALI_RUN_RECORD_H

#include "core/memory.h"
#include "core/saved/run_state.h"
#include "models/content.h"

/* Names in files of the figures recorded with draws. */
extern const char *const sali_noted_names[SALI_NOTED];

typedef struct sali_run_record {
    sali_memory memory; /* owns all arrays and texts except the draws */
    sal_array draws;    /* codes, (chains, draws, V) */
    int64_t chains, n_draws, V;
    char **names;      /* [V], or NULL */
    bool *nominal;     /* [V], or NULL: codes without an order */
    double **levels;   /* [V] each: the value of each code, or NULL: the codes themselves; the list
                          may be NULL */
    bool spins;        /* all codes are of spins: 0 is -1 and 1 is +1 */
    bool clamped;      /* some variables were fixed */
    int64_t n_clamped; /* number of clamped variables listed in the file: either all of them or 0 */
    int64_t *clamp_variables; /* [n_clamped], ascending */
    int32_t *clamp_codes;     /* [n_clamped] */

    double *noted[SALI_NOTED];        /* [chains x n_draws]; NULL: not in the file */
    double *warmup_noted[SALI_NOTED]; /* [chains x n_warmup] */
    int64_t n_warmup;                 /* steps of warm-up that were kept */
    char *model, *sampler, *seed, *created, *version; /* NULL: not in the file */
    char *configuration;                              /* JSON */
    double seconds;                                   /* of sampling; NaN: not in the file */
} sali_run_record;

/* Read a run from a netCDF file in ArviZ's layout, or its draws only from an array (chains, draws)
 * or (chains, draws, V) in .npy.
 * Returns: DATA; NOT_FOUND; ARGUMENT for another kind of file; UNSUPPORTED without libnetcdf;
 *          IO; MEMORY. On failure *out is untouched. */
sal_status sali_run_record_read(const char *path, sali_run_record *out, sal_error *err);
void sali_run_record_free(sali_run_record *record);

/* As sali_run_record_read, from a netCDF file in memory; `name` is for messages. */
sal_status sali_run_record_parse(const char *name, const char *data, int64_t size,
                                 sali_run_record *out, sal_error *err);

#endif
