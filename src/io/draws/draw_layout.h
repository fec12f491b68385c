/* Where draws lie in a netCDF file: ArviZ's groups, their dimensions, variables and attributes.
 * Source: the InferenceData schema specification of ArviZ. */
#ifndef SALI_DRAW_LAYOUT_H
#define SALI_DRAW_LAYOUT_H

#include <jansson.h>

#include <saltus/sample.h>
#include "io/draws/draw_writer.h"
#include "io/draws/netcdf.h"

/* A block of the space: its variables, their type in the file, and the names there. */
typedef struct sali_draw_block {
    sali_dtype dtype; /* U8 or I32 */
    int64_t first, count;
    char *variable, *dimension;
} sali_draw_block;

/* The groups of draws, or those of warm-up. */
typedef struct sali_draw_section {
    int posterior, stats;           /* groups */
    int posterior_draw, stats_draw; /* the coordinate `draw` in each */
    int *blocks;                    /* [blocks] variables of posterior */
    int figures[SALI_DRAW_FIGURES]; /* variables of stats */
} sali_draw_section;

typedef struct sali_draw_layout {
    int64_t chains, V;
    int64_t window;  /* draws that are written, and compressed, together */
    int64_t figures; /* of SALI_DRAW_FIGURES, the first ones that there are */
    int64_t n_blocks;
    sali_draw_block *blocks;
    int n_sections;                /* 2 with warm-up */
    sali_draw_section sections[2]; /* of draws; of warm-up */
    int observed;                  /* group, or 0 */
    json_t *configuration;
} sali_draw_layout;

/* Define all of a file for draws of `model`; `figures`: how many statistics there will be.
 * Returns: ARGUMENT for clamped variables or a number of chains out of range; MEMORY; else the
 *          file keeps its errors. On failure too *layout is to be freed. */
sal_status sali_draw_layout_define(sali_draw_layout *layout, sali_netcdf *file,
                                   const sal_model *model, const sal_run_options *options,
                                   const sali_draw_arguments *arguments, int64_t figures,
                                   sal_error *err);
void sali_draw_layout_free(sali_draw_layout *layout);

/* What the attributes of a run take in the file at most. */
#define SALI_DRAW_ATTRIBUTES ((int64_t)128 << 10)

/* Attributes of all groups: who made the file, and the options as they were given; and what came
 * out of the run (draw_attributes.c). */
sal_status sali_draw_note_origin(sali_draw_layout *layout, sali_netcdf *file,
                                 const sal_model *model, const sal_run_options *options,
                                 const sali_draw_arguments *arguments, sal_error *err);
sal_status sali_draw_note_run(sali_draw_layout *layout, sali_netcdf *file, const sal_run *run,
                              sal_error *err);

#endif
