/* SPDX-License-Identifier: MIT */
/* What training maximises, and by which samples. An objective is a record of functions in a file of
 * its own and a line in objectives.def; the trainer calls its functions at the places that are
 * named here. A function that is NULL does nothing there. */
#ifndef SALI_OBJECTIVE_H
#define SALI_OBJECTIVE_H

#include <stdbool.h>
#include <saltus/sampler.h>
#include <saltus/train.h>
#include "core/saved/run_state.h"

struct sali_workspace;

/* The most items of one objective. */
enum { SALI_OBJECTIVE_ITEMS = 16 };

typedef struct sali_objective {
    bool persistent; /* chains continue from iteration to iteration, by sal_buffer_options */
    bool reservoir;  /* the objective keeps a reservoir, ptt.reservoir */
    bool steers; /* the objective may lower the learning rate; a resumed training keeps the lowered
                    one */
    bool whole_data; /* the gradient over all rows may replace the gradient over a batch */
    bool levels;     /* the model is f(x, t); rows and shards are of one level each */
    bool compares;   /* its chains are samples of the model, whose pair frequencies can be compared
                        with those of the data (options.pearson) */
    bool slow_judge; /* `judge` is called only with ptt.patience */
    bool activates;  /* its samples tell which couplings to activate (options.sparsity) */
    bool decimates;  /* couplings may become 0 between its updates */

    /* ---- before there is a trainer */

    /* Replace zeros in the options by what suits the objective, before the options are resolved. */
    void (*defaults)(sal_train_options *options, const sal_model *model);

    /* Make a batch that was not asked for as small as there are rows of data. */
    void (*fit_rows)(sal_train_options *options, const sal_model *model, int64_t rows);

    /* From here on options are resolved, except options of other objectives. */

    /* Chains in the buffer, `batch` of which move in an iteration; 0: there are no samples. */
    int64_t (*chains)(const sal_train_options *options);
    sal_status (*check)(const sal_train_options *options, const sal_model *model, sal_error *err);
    sal_status (*check_sampler)(const sal_sampler_descriptor *sampler, sal_error *err);

    /* ---- the objective's own part of a trainer, trainer->own */

    /* Last in sal_trainer_create; trainer->own is destroyed also after a failure. */
    sal_status (*create)(sal_trainer *trainer, sal_error *err);
    void (*destroy)(sal_trainer *trainer);

    /* ---- an iteration */

    /* Before the next iteration of each sal_trainer_run; the first time, `iteration` is 0. *stopped
     * becomes true where the caller ends the training here. */
    sal_status (*begin)(sal_trainer *trainer, bool *stopped, sal_error *err);
    /* Choose which slots of the buffer move, and where they start, once the rows of data are
     * chosen. */
    void (*choose)(sal_trainer *trainer);
    /* The same for the rows of shard k only, on the shard's thread. */
    void (*begin_shard)(sal_trainer *trainer, int64_t k);
    /* Steps of the chains of shard k; NULL: the steps of the options. */
    int64_t (*steps)(const sal_trainer *trainer, int64_t k);
    /* Set codes [V] to row c of the batch; NULL: the row is the data's. */
    void (*row)(const sal_trainer *trainer, int64_t c, int32_t *codes);
    /* The gradient without samples, in place of the difference of data and samples. gradient_begin
     * comes first; gradient_shard gathers the gradient of shard k at its rows, shard->codes, and
     * returns the sum of what is maximised; gathered returns the workspaces in which the shards
     * gathered it. */
    void (*gradient_begin)(sal_trainer *trainer);
    double (*gradient_shard)(sal_trainer *trainer, int64_t k);
    struct sali_workspace *const *(*gathered)(const sal_trainer *trainer);
    /* After the update; `good`: all numbers are finite, and mean f of data and samples differ by no
     * more than largest_difference. NULL: training ends after one that is not good. */
    sal_status (*after)(sal_trainer *trainer, bool good, sal_error *err);

    /* ---- reports and checkpoints */

    /* Fill trainer->now by the held-out rows. The best model by them is kept. */
    sal_status (*judge)(sal_trainer *trainer, sal_error *err);
    /* Set the objective's own fields of the report. */
    void (*report)(const sal_trainer *trainer, sal_train_report *report);
    /* List what a checkpoint keeps of the objective; returns the number of items. */
    int (*items)(const sal_trainer *trainer, sali_state_item items[SALI_OBJECTIVE_ITEMS]);
    /* The objective's own files beside the checkpoint. write_files: before the checkpoint is
     * written. read_files: into a new object *files, once `items` are read; `same_sampler`: the
     * sampler and its settings are as they were. exchange_files: exchange this object for what the
     * trainer had, before the items are taken over. destroy_files: destroy such an object. */
    sal_status (*write_files)(sal_trainer *trainer, const char *directory, sal_error *err);
    sal_status (*read_files)(sal_trainer *trainer, const char *directory,
                             const sali_state_item *items, bool same_sampler, void **files,
                             sal_error *err);
    void (*exchange_files)(sal_trainer *trainer, void **files);
    void (*destroy_files)(void *files);
    /* Called when a checkpoint was loaded into the trainer. */
    void (*resumed)(sal_trainer *trainer);
} sali_objective;

#define SALI_OBJECTIVE(id, name, word) extern const sali_objective sali_objective_##name;
#include "train/objectives/objectives.def"
#undef SALI_OBJECTIVE

/* The record of an objective; for an unknown number that of persistent chains. */
const sali_objective *sali_objective_of(sal_objective id);

/* Their words, in the order of sal_objective, and NULL at the end. */
extern const char *const sali_objective_words[];

#endif
