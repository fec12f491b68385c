/* SPDX-License-Identifier: MIT */
/* The attribute `configuration` of a file of draws: the options of its run as JSON, in the words of
 * `saltus sample`. These are the options of the first start; the file keeps them with the state of
 * the run, for when it is resumed. */
#ifndef SALI_DRAW_CONFIGURATION_H
#define SALI_DRAW_CONFIGURATION_H

#include <jansson.h>

#include <saltus/io.h>

/* The item of a run's state that keeps the configuration. */
#define SALI_DRAW_CONFIGURATION "file.configuration"

/* Flags of json_dumps: enough digits for decimals to appear as they were typed. */
#define SALI_DRAW_CONFIGURATION_STYLE (JSON_COMPACT | JSON_REAL_PRECISION(15))

/* The configuration: the options as given or, if the run is resumed, as kept in its state; NULL
 * when out of memory. `notes` (may be NULL) report where models, parameters and the like came
 * from. */
json_t *sali_draw_configuration(const sal_model *model, const sal_run_options *options,
                                const sal_note *notes);

/* Add the values that the run chose for options that were not given, and what it found. */
void sali_draw_configuration_complete(json_t *configuration, const sal_run *run,
                                      const sal_run_summary *summary);

#endif
