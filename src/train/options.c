/* SPDX-License-Identifier: MIT */
/* Options of a training: defaults and ranges. */
#include <math.h>
#include <sys/stat.h>

#include "core/error.h"
#include "core/option.h"
#include "ad/polynomial.h"
#include "models/tape_model.h"
#include "train/data.h"
#include "train/trainer.h"

/* ---- the table */

#define TRAIN(member) SALI_FIELD(sal_train_options, member)
#define COUNT SALI_RANGE(1, INT32_MAX)
#define SUITS(number) .usual = "as suits the model, else " #number, .fill = number
#define NOTED .resume = SAL_RESUME_NOTED
#define ANY .resume = SAL_RESUME_ANY

static const char *const optimisers[] = { "adam", "adamw", "sgd", NULL };
static const char *const centrings[] = { "auto", "on", "off", NULL };
static const char *const starts[] = { "mean", "uniform", "data", NULL };
static const char *const orders[] = { "random", "passes", NULL };
static const char *const sparsities[] = { "none", "activate", "decimate", NULL };
static const char *const schedules[] = { "constant", "cosine", "exponential", NULL };

static const sali_option entries[] = {
    SALI_OPTION("iterations", WHOLE, "N", "parameter updates", TRAIN(iterations), SALI_FROM(1),
                SUITS(2000), ANY),
    SALI_OPTION("batch", WHOLE, "N", "data rows and chains in each iteration", TRAIN(batch), COUNT,
                SUITS(50)),
    SALI_OPTION("objective", WORD, "pcd|cd|pseudo-likelihood|ptt|denoising",
                "what training maximises, and by which samples", TRAIN(objective),
                .words = sali_objective_words, .usual = "as suits the model, else pcd"),
    SALI_OPTION("learning-rate", REAL, "X",
                "learning rate; with ptt the largest one; of plain ascent on an "
                "alignment by the number of states",
                TRAIN(learning_rate), SALI_REAL_FROM(0), .range = SALI_ABOVE, SUITS(0.001), NOTED),
    SALI_OPTION(
        "steps", WHOLE, "K",
        "sampler steps in each iteration; -1: the number of variables; with denoising those at "
        "the last level, 3 K at the first",
        TRAIN(steps), COUNT, .range = SALI_OR_MINUS_ONE, SUITS(20), NOTED),
    SALI_OPTION("sampler", TEXT, "NAME", "name, see 'saltus list samplers'", TRAIN(sampler), NOTED,
                .usual = "as suits the model, else gwg; dlmcf:balance=barker with denoising"),
    SALI_OPTION("step-size", REAL, "X", "step size of samplers that have one", TRAIN(step_size),
                SALI_REAL_FROM(0), .usual = "0: adapted to an acceptance of 0.574", NOTED),
    SALI_OPTION("buffer", WHOLE, "N", "number of persistent chains", TRAIN(buffer.chains), COUNT,
                .usual = "as suits the model, else 1000 or the batch, whichever is more"),
    SALI_OPTION("buffer-start", WORD, "mean|uniform|data",
                "persistent chains start at the data's mean, at random states or at data rows",
                TRAIN(buffer.start), .words = starts, .usual = "mean"),
    SALI_OPTION("buffer-order", WORD, "random|passes",
                "chains that move: random ones, or all in turn, reshuffled after each pass",
                TRAIN(buffer.order), .words = orders, .usual = "random"),
    SALI_OPTION("reservoir", WHOLE, "N", "equilibrium states of ptt, a multiple of the batch",
                TRAIN(ptt.reservoir), COUNT, .usual = "as suits the model, else 10 batches"),
    SALI_OPTION("patience", WHOLE, "N", "stop after N reports without a better held-out likelihood",
                TRAIN(ptt.patience), SALI_FROM(0), .usual = "0: never", ANY),
    SALI_OPTION("pearson", REAL, "X",
                "stop at a report in which the connected pair frequencies of data and samples have "
                "this correlation; 0: reports of alignments only tell it",
                TRAIN(pearson), SALI_RANGE(0, 1),
                .range = SALI_BELOW | SALI_OR_NONE | SALI_OR_MINUS_ONE,
                .usual = "as suits the model, else 0; 0.95 with --sparsity", ANY),
    SALI_OPTION("restart", REAL, "P",
                "probability that a persistent chain restarts before an iteration",
                TRAIN(buffer.restart), SALI_RANGE(0, 1), SALI_USUAL(0)),
    SALI_OPTION("optimiser", WORD, "adam|adamw|sgd", "how the parameters follow the gradient",
                TRAIN(optimiser.method), .words = optimisers,
                .usual = "as suits the model, else adam"),
    SALI_OPTION("rate-warmup", WHOLE, "N", "iterations over which the learning rate rises",
                TRAIN(rate.warmup), SALI_FROM(0), SALI_USUAL(0)),
    SALI_OPTION("rate-schedule", WORD, "constant|cosine|exponential",
                "after the rise the learning rate stays, falls to 0, or falls to a hundredth",
                TRAIN(rate.schedule), .words = schedules, .usual = "constant"),
    SALI_OPTION("rate-cooldown", REAL, "X",
                "share of the iterations, at the end, over which the largest rate falls to 0",
                TRAIN(rate.cooldown), SALI_RANGE(0, 1), SUITS(0)),
    SALI_OPTION("momentum", REAL, "X", "momentum of sgd, beta_1 of adam; 0: none",
                TRAIN(optimiser.momentum), SALI_RANGE(0, 1),
                .range = SALI_BELOW | SALI_OR_NONE | SALI_OR_MINUS_ONE, SUITS(0.9)),
    SALI_OPTION("beta2", REAL, "X", "beta_2 of adam; 0: none", TRAIN(optimiser.beta2),
                SALI_RANGE(0, 1), .range = SALI_BELOW | SALI_OR_NONE | SALI_OR_MINUS_ONE,
                SALI_USUAL(0.999)),
    SALI_OPTION("epsilon", REAL, "X", "epsilon of adam", TRAIN(optimiser.epsilon),
                SALI_REAL_FROM(0), .range = SALI_ABOVE, SALI_USUAL(1e-8)),
    SALI_OPTION("weight-decay", REAL, "X",
                "weight decay of learned parameters, except couplings with --l1",
                TRAIN(optimiser.weight_decay), SALI_REAL_FROM(0), SALI_USUAL(0)),
    SALI_OPTION("clip", REAL, "X", "scale gradients with a larger norm down to this norm",
                TRAIN(optimiser.clip_norm), SALI_REAL_FROM(0), .usual = "0: none"),
    SALI_OPTION("fixed", TEXT, "NAMES", "parameters that are not learned", TRAIN(fixed)),
    SALI_OPTION(
        "averaging", REAL, "X",
        "decay of moving averages of the parameters, saved as ema.safetensors; with denoising "
        "they are the model",
        TRAIN(averaging), SALI_RANGE(0, 1), .range = SALI_BELOW, .usual = "0: none"),
    SALI_OPTION("couplings", TEXT, "NAMES",
                "parameters kept symmetric, for penalties and --zero-diagonal",
                TRAIN(couplings.names), .usual = "J"),
    SALI_OPTION("l1", REAL, "X", "penalty X sum |J_ij|", TRAIN(couplings.l1), SALI_REAL_FROM(0),
                SALI_USUAL(0)),
    SALI_OPTION("group-penalty", REAL, "X",
                "penalty X sum_{i<j} norm(J_ij) over the blocks of two variables",
                TRAIN(couplings.group), SALI_REAL_FROM(0), SALI_USUAL(0)),
    SALI_OPTION("zero-diagonal", FLAG, NULL, "keep couplings of a variable with itself at 0",
                TRAIN(couplings.zero_diagonal)),
    SALI_OPTION("sparsity", WORD, "none|activate|decimate",
                "begin with no couplings and activate elements of them, or begin with all and "
                "remove some",
                TRAIN(sparsity.method), .words = sparsities, .usual = "none"),
    SALI_OPTION("sparsity-share", REAL, "X",
                "share of the inactive couplings that one step activates, or of the active ones "
                "that it removes",
                TRAIN(sparsity.share), SALI_RANGE(0, 1), .range = SALI_ABOVE,
                .usual = "0.001 to activate, 0.01 to decimate"),
    SALI_OPTION("sparsity-every", WHOLE, "N", "updates between two such steps",
                TRAIN(sparsity.every), SALI_FROM(1), .usual = "10"),
    SALI_OPTION("density", REAL, "X", "decimate: share of the couplings that are left in the end",
                TRAIN(sparsity.density), SALI_RANGE(0, 1), .range = SALI_ABOVE, .usual = "0.02",
                NOTED),
    SALI_OPTION("magnitude-penalty", REAL, "X", "penalty X (mean f(data)^2 + mean f(samples)^2)",
                TRAIN(magnitude_penalty), SALI_REAL_FROM(0), SALI_USUAL(0)),
    SALI_OPTION("centring", WORD, "auto|on|off",
                "count units from their means while couplings are learned", TRAIN(centring),
                .words = centrings, .usual = "auto: in RBMs"),
    SALI_OPTION("largest-difference", REAL, "X",
                "difference of mean f(data) and mean f(samples) above which training has diverged",
                TRAIN(largest_difference), SALI_FROM(0), .range = SALI_ABOVE, SALI_USUAL(10000),
                ANY),
    SALI_OPTION(
        "report", WHOLE, "N",
        "iterations between reports: each writes a line of log.csv, and of output to a file",
        TRAIN(report_every), SALI_FROM(1), SALI_USUAL(100), ANY),
    SALI_OPTION("checkpoint", WHOLE, "N", "iterations between checkpoints", TRAIN(checkpoint.every),
                SALI_FROM(1), .usual = "as --report", ANY),
    SALI_OPTION("resume", FLAG, NULL, "resume from the checkpoint in --out, if there is one",
                TRAIN(checkpoint.resume), ANY),
    SALI_OPTION("seed", SEED, "N", "the same seed gives the same bits", TRAIN(seed), SALI_FROM(0),
                SALI_USUAL(0)),
    SALI_OPTION("threads", INT, "N", "number of threads; results do not depend on it",
                TRAIN(threads), .usual = "all", SALI_RANGE(0, 4096), ANY),
};

static const sal_option_table table = { "train: ", sizeof entries / sizeof *entries, entries };

const sal_option_table *sali_train_option_table(void)
{
    return &table;
}

/* ---- what goes together */

/* SAL_ERR_ARGUMENT if options do not go with the objective, such as those that only persistent
 * chains have. */
static sal_status check_objective(const sal_train_options *o, sal_error *err)
{
    const char *what = o->buffer.restart != 0  ? "buffer.restart"
                       : o->buffer.chains != 0 ? "buffer.chains"
                       : o->buffer.start != 0  ? "buffer.start"
                       : o->buffer.order != 0  ? "buffer.order"
                                               : NULL;
    const sali_objective *objective = sali_objective_of(o->objective);
    if (!objective->reservoir && o->ptt.reservoir != 0) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: ptt.reservoir goes with trajectory tempering, objective ptt");
    }
    if (!objective->judge && o->ptt.patience != 0) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: ptt.patience goes with the objectives ptt and denoising, which "
                         "judge by held-out rows");
    }
    if (!objective->reservoir && (o->ptt.first || o->ptt.first_model)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: a training to go on from (ptt.first) goes with trajectory "
                         "tempering, objective ptt");
    }
    return objective->persistent || !what
               ? SAL_OK
               : sali_fail(err, SAL_ERR_ARGUMENT,
                           "train: %s goes with persistent chains, which only objective pcd has",
                           what);
}

/* SAL_ERR_ARGUMENT unless batch, rows of data, chains and reservoir fit each other. */
static sal_status check_sizes(const sal_train_options *o, const sal_model *model,
                              const sal_data *data, sal_error *err)
{
    const sali_objective *objective = sali_objective_of(o->objective);
    bool takes = false; /* all rows, however many */
    sal_status status = sali_train_takes_whole_data(o, model, data, &takes, err);
    if (status != SAL_OK) {
        return status;
    }
    if ((data->rows < o->batch && !takes) ||
        (objective->persistent && o->buffer.chains < o->batch)) {
        return objective->persistent
                   ? sali_fail(err, SAL_ERR_ARGUMENT,
                               "train: a batch of %lld needs as many chains and data rows; there "
                               "are %lld chains and %lld rows to train on: take a smaller batch",
                               (long long)o->batch, (long long)o->buffer.chains,
                               (long long)data->rows)
                   : sali_fail(err, SAL_ERR_ARGUMENT,
                               "train: a batch of %lld needs as many data rows; there are %lld to "
                               "train on: take a smaller batch",
                               (long long)o->batch, (long long)data->rows);
    }
    if (objective->reservoir && (o->batch < 2 || o->ptt.reservoir % o->batch != 0)) {
        return sali_fail(
            err, SAL_ERR_ARGUMENT,
            "train: a reservoir of %lld; expected a multiple of the batch, %lld, which "
            "is 2 or more",
            (long long)o->ptt.reservoir, (long long)o->batch);
    }
    if (o->ptt.patience > 0 && (!o->ptt.test || o->ptt.test->rows == 0)) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "train: patience needs held-out rows");
    }
    return SAL_OK;
}

/* Check the directory of checkpoints at once, because they are written long after the start. */
static sal_status check_checkpoint(const sal_train_options *o, sal_error *err)
{
    struct stat info;
    if (!o->checkpoint.directory) {
        return o->checkpoint.resume
                   ? sali_fail(err, SAL_ERR_ARGUMENT,
                               "train: checkpoint.resume needs checkpoint.directory")
                   : SAL_OK;
    }
    if (stat(o->checkpoint.directory, &info) != 0) {
        return sali_fail(err, SAL_ERR_IO, "train: checkpoint %s: %m", o->checkpoint.directory);
    }
    return S_ISDIR(info.st_mode)
               ? SAL_OK
               : sali_fail(err, SAL_ERR_IO, "train: checkpoint %s: expected a directory",
                           o->checkpoint.directory);
}

/* Fill in the defaults that depend on other options. */
static void fill_in(sal_train_options *o, int64_t variables)
{
    o->sampler = o->sampler ? o->sampler : "gwg";
    o->steps = o->steps == -1 ? variables : o->steps;
    o->buffer.chains = o->buffer.chains ? o->buffer.chains : o->batch > 1000 ? o->batch : 1000;
    o->ptt.reservoir = o->ptt.reservoir ? o->ptt.reservoir : 10 * o->batch;
    o->checkpoint.every = o->checkpoint.every ? o->checkpoint.every : o->report_every;
}

/* Learning rate of plain ascent on an alignment of RNA, 5 states at 136 sites. It goes by states^2,
 * as pairs of letters have frequencies of about 1 / states^2, and so have their variances; and it
 * is smaller for more sites, whose pairs with one letter vary together. */
#define RNA_RATE 0.04
#define RNA_STATES 5
#define RNA_SITES 136

static double rate_of_pairs(const sal_space *space)
{
    const double ratio = (double)space->max_states / RNA_STATES;
    return RNA_RATE * ratio * ratio * fmin(1, RNA_SITES / (double)space->n_variables);
}

/* *climbs receives whether a training climbs the likelihood of an alignment, by persistent chains
 * and without momentum, of a model whose gradient is in frequencies: one that is affine in its
 * parameters. */
static sal_status find_climb(const sal_train_options *o, const sal_model *model,
                             const sal_data *data, bool *climbs, sal_error *err)
{
    const sali_tape_model *tape = sali_model_tape(model);
    *climbs = o->objective == SAL_PCD && o->optimiser.method == SAL_SGD &&
              o->optimiser.momentum < 0 && data->alphabet[0] && sali_pairs_exist(model->space);
    return !*climbs ? SAL_OK
           : tape   ? sali_program_is_linear_in_params(tape->program, climbs, err)
                    : (*climbs = false, SAL_OK);
}

sal_status sal_train_complete(const sal_model *model, const sal_data *data,
                              sal_train_options *options, sal_error *err)
{
    bool climbs = false;
    const sal_status status =
        options->learning_rate == 0 ? find_climb(options, model, data, &climbs, err) : SAL_OK;
    const sali_objective *objective = sali_objective_of(options->objective);
    const int64_t given = options->batch;
    if (objective->defaults) {
        objective->defaults(options, model);
    }
    if (objective->fit_rows && given == 0) {
        objective->fit_rows(options, model, data->rows);
    }
    sali_sparsity_defaults(options);
    if (climbs) {
        options->learning_rate = rate_of_pairs(model->space);
    }
    if (options->pearson == 0 && objective->compares && data->alphabet[0] &&
        sali_pairs_exist(model->space)) {
        options->pearson = -1;
    }
    return status;
}

sal_status sali_train_resolve(sal_train_options *options, const sal_model *model,
                              const sal_data *data, sal_error *err)
{
    const sali_objective *objective = sali_objective_of(options->objective);
    sal_status status = check_objective(options, err);
    status = status ? status : sal_train_complete(model, data, options, err);
    status = status ? status : sal_option_resolve(&table, options, err);
    fill_in(options, model->space->n_variables);
    status = status ? status : sali_sparsity_check(options, err);
    status = status ? status : check_sizes(options, model, data, err);
    status = status ? status : check_checkpoint(options, err);
    if (status == SAL_OK && !objective->levels && sal_model_levels(model) > 0 &&
        data->variables == model->space->n_variables - 1) {
        status = sali_fail(err, SAL_ERR_ARGUMENT,
                           "train: %s has levels of noise, and the data have none: they go with "
                           "objective denoising, not with %s",
                           model->name, sali_objective_words[options->objective]);
    }
    status = status ? status : sali_data_check("train", data, model->space, err);
    return status == SAL_OK && objective->check ? objective->check(options, model, err) : status;
}

const sal_option_table *sal_option_table_of(sal_options which)
{
    return which == SAL_OPTIONS_RUN       ? sali_run_option_table()
           : which == SAL_OPTIONS_TRAIN   ? sali_train_option_table()
           : which == SAL_OPTIONS_AIS     ? sali_ais_option_table()
           : which == SAL_OPTIONS_INPAINT ? sali_inpaint_option_table()
           : which == SAL_OPTIONS_EXACT   ? sali_exact_option_table()
           : which == SAL_OPTIONS_DATA    ? sali_data_option_table()
           : which == SAL_OPTIONS_LOG_Z   ? sali_log_z_option_table()
                                          : NULL;
}
