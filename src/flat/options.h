/* SPDX-License-Identifier: MIT */
/* Options as text, with the arrays that belong to them. */
#ifndef SALI_FLAT_OPTIONS_H
#define SALI_FLAT_OPTIONS_H

#include <saltus/evaluate.h>
#include <saltus/flat.h>
#include <saltus/log_z.h>
#include <saltus/program.h>

/* The most samplers of the user's own in one run. */
#define SALI_FLAT_SAMPLERS 32

/* Numbers of elements of the arrays, 0: not given. */
typedef struct sali_flat_sizes {
    int64_t temperatures, preconditioner, log_base, init;
} sali_flat_sizes;

/* Memory that is freed together. */
typedef struct sali_flat_owner {
    void **items;
    int64_t n, room;
} sali_flat_owner;

/* Hand an allocation over; it is freed at once if there is no room for it. NULL: no memory. */
void *sali_flat_own(sali_flat_owner *owner, void *allocation);
void sali_flat_release(sali_flat_owner *owner);

struct sal_flat_options {
    sal_options which;
    union {
        sal_run_options run;
        sal_train_options train;
        sal_ais_options ais;
        sal_log_z_options log_z;
    } of;
    sali_flat_sizes sizes;
    const char *model, *training, *ladder; /* of a run, for sal_trajectory_suggest */
    const sal_trainer *trainer;            /* of a run; NULL: none */
    const int32_t *init;                   /* as given, [V] or [chains x V]; NULL: none */
    const struct sal_sampler_descriptor *samplers[SALI_FLAT_SAMPLERS + 1];
    sali_flat_owner owner; /* of copies of texts and arrays */
};

/* Set options of a struct from text, JSON or lines; NULL: nothing. `owner` keeps copies of texts.
 * Returns: SAL_ERR_NOT_FOUND, SAL_ERR_ARGUMENT, SAL_ERR_MEMORY. */
sal_status sali_flat_read(const sal_option_table *table, const char *text, void *options,
                          sali_flat_owner *owner, sal_error *err);

/* Check that options are of the kind `which`, and that their arrays fit the model; then fill in the
 * struct's fields that depend on the model. NULL options are fine. Returns: SAL_ERR_ARGUMENT,
 * SAL_ERR_MEMORY. */
sal_status sali_flat_fit(sal_flat_options *options, sal_options which, const sal_model *model,
                         sal_error *err);

#endif
