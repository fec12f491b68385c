/* SPDX-License-Identifier: MIT */
/* The attribute `configuration` of a file of draws: the options of its run as JSON, in the words of
 * `saltus sample`. They are those of the first start: the file keeps them with the
 * run's state, for when it is resumed. */
#ifndef SALI_DRAW_CONFIGURATION_H
#define SALI_DRAW_CONFIGURATION_H

#include <jansson.h>

#include <saltus/io.h>

/* The item of a run's state that keeps them. */
#define SALI_DRAW_CONFIGURATION "file.configuration"

/* Flags of json_dumps: decimals as they were typed. */
#define SALI_DRAW_CONFIGURATION_STYLE (JSON_COMPACT | JSON_REAL_PRECISION(15))

/* The options as they are given, or as the state that the run goes on from has them; NULL when out
 * of memory. `notes`, which may be NULL, tell where they are from. */
json_t *sali_draw_configuration(const sal_model *model, const sal_run_options *options,
                                const sal_note *notes);

/* Add what the run took where nothing was given, and what it found. */
void sali_draw_configuration_complete(json_t *configuration, const sal_run *run,
                                      const sal_run_summary *summary);

#endif
