/* SPDX-License-Identifier: MIT */
/* saltus train: fit an energy-based model to data. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/pictures.h"
#include "cli/training/training.h"
#include "cli/training/verdict.h"
#include "cli/text.h"

/* ---- preparation */

/* Allow only one training at a time in a directory. The lock is on the name "training" there; no
 * such file is written. */
static int claim_directory(const char *directory)
{
    static char path[CLI_PATH];
    cli_path(path, directory, "training");
    return cli_claim_output(path);
}

static int make_directory(const char *directory)
{
    return mkdir(directory, 0777) == 0 || errno == EEXIST
               ? CLI_OK
               : cli_error(SAL_ERR_IO, "--out %s: %s", directory, strerror(errno));
}

/* CLI_USAGE if the directory holds an earlier training, unless --resume or --overwrite is given: a
 * command typed twice must not destroy the work of hours. */
static int check_earlier(const cli_train_options *o)
{
    char found[128] = "", path[CLI_PATH];
    for (size_t k = 0; k < CLI_N_TRAINING_FILES; k++) {
        if (cli_path(path, o->out, cli_training_files[k]) && access(path, F_OK) == 0) {
            cli_list_name(found, sizeof found, cli_training_files[k]);
        }
    }
    return o->train.checkpoint.resume || o->overwrite || !found[0]
               ? CLI_OK
               : cli_usage("train: --out %s holds an earlier training (%s); give --resume to go on "
                           "with it, or --overwrite to replace it",
                           o->out, found);
}

/* Whether the ready-made model has a setting for the number of visible variables. */
static bool takes_visible(const char *arch)
{
    sal_builtin_info info;
    return cli_find_builtin(arch, &info) && info.settings[0].name &&
           strcmp(info.settings[0].name, "visible") == 0;
}

/* Note the names of the library's options that are given. */
static void note_given(int argc, char **argv, cli_train_options *o)
{
    sal_option_info info;
    for (int64_t k = 0; sal_option_list(sal_option_table_of(SAL_OPTIONS_TRAIN), k, &info); k++) {
        const size_t used = strlen(o->given);
        if (cli_given(argc, argv, info.name)) {
            snprintf(o->given + used, sizeof o->given - used, "%s,", info.name);
        }
    }
}

/* Whether the number of variables of the architecture, or of their states, or the letters of these
 * are taken from the data. */
static bool is_made_for_data(const char *arch, const cli_data *data)
{
    const char *kind = cli_find_setting(arch, "kind");
    const bool many = kind && (strncmp(kind, "categorical", 11) == 0 || /* not of two states */
                               strncmp(kind, "ordinal", 7) == 0);
    return !cli_is_saved(arch) && takes_visible(arch) &&
           (!strstr(arch, "visible=") || (many && !cli_find_setting(arch, "states")) ||
            (many && data->read.kind == SAL_DATA_ALIGNMENT));
}

/* Open the model. If the architecture is made for the data, these must have been read. */
static int open_arch(const char *arch, cli_training *s)
{
    char *specification = NULL;
    sal_error err = { 0 };
    sal_dtype dtype;
    if (cli_is_saved(arch)) { /* continues from its parameters */
        return cli_open(arch, s->o->dtype, NULL, &s->model);
    }
    if (!cli_dtype(s->o->dtype, &dtype)) {
        return CLI_USAGE;
    }
    sal_status status = sal_train_specification(arch, s->train.codes ? &s->train : NULL,
                                                s->settings != NULL, &specification, &err);
    status = status ? status : sal_model_open(specification, dtype, &s->model, &err);
    sal_free(specification);
    if (status != SAL_OK) {
        return cli_fail(status, &err);
    }
    cli_remark_model(s->model);
    return CLI_OK;
}

/* Read the data and open the model, which must fit each other, and set the starting parameters of a
 * new model. */
static int read_data_and_open(const char *arch, cli_data *data, cli_training *s)
{
    char *specification = NULL;
    sal_error err = { 0 };
    if (!arch) {
        return cli_usage("train: expected an architecture");
    }
    int code = is_made_for_data(arch, data) ? CLI_OK : open_arch(arch, s);
    code = code ? code : cli_data_read(data, s->model, &s->train, &s->test);
    code = code || s->model ? code : open_arch(arch, s);
    code = code ? code : cli_check_width(data->path, &s->train, s->model);
    if (code != CLI_OK || cli_is_saved(arch)) {
        return code;
    }
    sal_status status =
        sal_train_specification(arch, &s->train, s->settings != NULL, &specification, &err);
    status =
        status ? status
               : sal_model_train_start(s->model, specification, &s->train, s->o->train.seed, &err);
    sal_free(specification);
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}

/* Whether training was stopped before the first iteration, while a first ladder was climbed. */
static bool is_climbing(const cli_training *s)
{
    return s->climbed > 0 && s->progress.from < 0;
}

/* Print the last report as JSON; if training was complete from the start, there is only the number
 * of iterations. */
static int print_json(const cli_training *s)
{
    const bool reported = s->last.iteration > 0;
    const int64_t iterations =
        reported || s->diverged || is_climbing(s) ? s->last.iteration : s->o->train.iterations;
    json_t *object = json_pack(
        "{s:o, s:o, s:I, s:I, s:I, s:b}", "model", cli_json_text(sal_model_name(s->model)), "out",
        cli_json_text(s->o->out), "train_rows", (json_int_t)s->train.rows, "test_rows",
        (json_int_t)s->test.rows, "iterations", (json_int_t)iterations, "diverged", s->diverged);
    double low, high;
    if (cli_grey_range(&s->train, &low, &high)) {
        json_object_set_new(object, "greys", json_pack("[f, f]", low, high));
    }
    cli_json_number(object, "seconds", is_climbing(s) ? s->climbed : s->last.seconds);
    cli_json_number(object, "difference",
                    reported ? s->last.log_prob_data - s->last.log_prob_samples : NAN);
    cli_json_number(object, "acceptance_rate", reported ? s->last.acceptance_rate : NAN);
    cli_json_number(object, "mmd", s->mmd);
    cli_json_number(object, "mmd_train_test", s->baseline);
    cli_json_number(object, "pearson", reported ? s->last.pearson : NAN);
    cli_json_number(object, "pearson_limit", reported ? s->last.pearson_limit : NAN);
    cli_json_number(object, "density", reported ? s->last.density : NAN);
    json_object_set_new(object, "verdict", s->judged ? cli_verdict_json(&s->verdict) : json_null());
    return cli_json_print(object);
}

/* Print what was trained and written. Returns an exit code. */
static int print_end(const cli_training *s)
{
    if (s->o->json) {
        return s->o->first ? CLI_OK : print_json(s);
    }
    if (s->judged) {
        cli_verdict_print(&s->verdict);
    }
    if (s->last.iteration == 0) {
        printf("nothing left to do: %s has all iterations\n", s->o->out);
        return CLI_OK;
    }
    if (s->reached) {
        printf("stopped after %lld iterations: the Pearson correlation is %.4f, and --pearson %g\n",
               (long long)s->last.iteration, s->last.pearson, s->o->train.pearson);
    }
    if (!isnan(s->last.density)) {
        printf("of the couplings %.4g%% are active\n", 100 * s->last.density);
    }
    printf("wrote %s/model.xml, model.safetensors, log.csv%s%s%s%s\n", s->o->out,
           s->chains_sheet ? ", persistent.png" : "", s->sheet ? ", samples.png" : "",
           s->judged ? ", verdict.json" : "",
           s->o->train.averaging > 0 && s->o->train.objective != SAL_DENOISING ? ", ema.safetensors"
                                                                               : "");
    return CLI_OK;
}

/* The library's options: without callbacks, and without the first training. */
static sal_train_options library_options(const cli_training *s)
{
    sal_train_options options = s->o->train;
    options.comm = cli_comm();
    options.preconditioner = s->preconditioner;
    options.ptt.test = s->test.rows > 0 ? &s->test : NULL;
    return options;
}

/* Warn about levels of a ladder or denoising chain that were not at equilibrium or had to go
 * back. */
static void say_disturbed(const cli_training *s)
{
    const long long times = (long long)s->last.disturbed;
    if (times > 0 && s->o->train.objective == SAL_DENOISING) {
        fprintf(stderr,
                "saltus: training went back %lld time%s, as f of a level ran away from its chains "
                "or was not finite; denoising.json has the steps that levels make now\n",
                times, times > 1 ? "s" : "");
    } else if (times > 0) {
        fprintf(stderr,
                "saltus: states of %lld of %lld levels were not at equilibrium; their log Z may be "
                "wrong, and more --steps help\n",
                times, (long long)s->last.levels);
    }
}

/* Run the training, with reports, and find the verdict at the end. Returns an exit code. */
static int run_training(cli_training *s)
{
    sal_error err = { 0 };
    sal_train_options train_options = library_options(s);
    train_options.callbacks.report = cli_train_report;
    train_options.callbacks.progress = cli_train_progress;
    train_options.callbacks.progress_data = s;
    train_options.callbacks.report_data = s;
    train_options.ptt.first = s->first;
    train_options.ptt.first_model = s->first_model;
    s->progress = s->climb = cli_progress_begin();
    s->progress.from = -1;
    cli_catch_interrupt();
    sal_status status = sal_train(s->model, &s->train, &train_options, &err);
    cli_progress_end(s->progress.from < 0 ? &s->climb : &s->progress);
    if (s->o->verbose) {
        cli_ranks_report(s->last.iteration, "iteration");
    }
    if (!cli_is_first()) { /* the rest is done by rank 0 only */
        return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
    }
    if (status != SAL_OK) {
        s->diverged = status == SAL_ERR_MODEL && strstr(err.message, "diverged");
        if (s->diverged) { /* the model has the last good parameters */
            sal_error saving = { 0 };
            sal_status saved = cli_train_save(s, &saving);
            (void)(saved == SAL_OK ? CLI_OK : cli_fail(saved, &saving));
        }
        if (s->diverged && s->o->json) {
            print_json(s);
        }
        return cli_fail(status, &err);
    }
    if (is_climbing(s)) {
        fprintf(stderr,
                "saltus: stopped while the ladder of %s was climbed, before the first iteration: "
                "%s has no model yet\n",
                s->o->from, s->o->out);
        return s->o->json ? print_json(s) : CLI_OK;
    }
    if (cli_interrupted() || s->late) {
        fprintf(stderr, "saltus: stopped after %lld iterations; --resume goes on from here\n",
                (long long)s->last.iteration);
    }
    say_disturbed(s);
    s->code = s->code || cli_interrupted() ? s->code : cli_train_verdict(s);
    return s->code ? s->code : print_end(s);
}

/* Check options that do not depend on the model. Returns an exit code. */
static int check_options(const char *arch, cli_train_options *o)
{
    if (!o->out) {
        return cli_usage("train: --out DIR is needed");
    }
    char path[CLI_PATH];
    if (!cli_path(path, o->out, "first/ladder/checkpoint.json")) {
        return cli_usage("train: --out %.100s...: the path is too long", o->out);
    }
    if (o->train.checkpoint.resume && o->overwrite) {
        return cli_usage("train: give --resume or --overwrite, not both");
    }
    int code = cli_data_check("train", arch, &o->data);
    code = code || !o->time ? code : cli_seconds("time", o->time, &o->seconds);
    if (code != CLI_OK) {
        return code;
    }
    if (o->fresh < 0 || o->fresh > INT32_MAX) {
        return cli_usage("train: --fresh must be 0 to %d", INT32_MAX);
    }
    o->train.checkpoint.directory = o->out;
    sal_train_options checked = o->train; /* defaults depend on the model */
    return cli_resolve(&(cli_library){ sal_option_table_of(SAL_OPTIONS_TRAIN), &checked });
}

/* Compute the covariance of the training data, if --data-covariance is given. */
static int make_preconditioner(cli_training *s)
{
    sal_error err = { 0 };
    if (!s->o->data_covariance) {
        return CLI_OK;
    }
    int64_t N = sal_space_width(sal_model_space(s->model));
    s->preconditioner = malloc((size_t)(N * N) * sizeof *s->preconditioner);
    if (!s->preconditioner) {
        return cli_fail(SAL_ERR_MEMORY, &err);
    }
    sal_status status = sal_data_preconditioner(&s->train, s->model, s->preconditioner, &err);
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}

/* Open the training of --from, if given, which this one continues. */
static int open_first(cli_training *s)
{
    const char *from = s->o->from;
    sal_error err = { 0 };
    if (!from) {
        return CLI_OK;
    }
    int code = cli_open(from, NULL, NULL, &s->first_model);
    if (code != CLI_OK) {
        return code;
    }
    sal_status status = sal_trajectory_open(from, s->first_model, &s->first, &err);
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}

/* Free everything that the training owns. */
static void close_training(cli_training *s)
{
    sal_model_destroy(s->model);
    sal_data_destroy(&s->train);
    sal_data_destroy(&s->test);
    sal_trajectory_destroy(s->first);
    sal_model_destroy(s->first_model);
    free(s->log);
    free(s->preconditioner);
}

static int train_arch(const char *arch, cli_train_options *o, bool suggested, cli_training *s);

/* Train the first of two stages: `arch`, with the options that suit it and the general options of
 * `of`, in directory `out`. Its time is subtracted from of->seconds, which both stages share.
 * *done: the stage is complete. */
static int train_stage(const char *arch, cli_train_options *of, const char *out, bool *done)
{
    cli_train_options o = *of;
    cli_training s = { .o = &o };
    o.out = out;
    o.fresh = 0;
    o.first = true;
    o.train = (sal_train_options){ .seed = of->train.seed,
                                   .threads = of->train.threads,
                                   .report_every = of->train.report_every,
                                   .checkpoint = of->train.checkpoint };
    o.train.checkpoint.directory = out;
    snprintf(o.given, sizeof o.given, "seed,threads,report,checkpoint,resume");
    sal_train_suggest(arch, o.given, 0, &o.train, &s.settings);
    const int code = cli_agree(train_arch(arch, &o, true, &s));
    *done = cli_first_says(code == CLI_OK && !cli_interrupted() && !s.late);
    if (of->seconds > 0) {
        of->seconds = fmax(of->seconds - s.last.seconds, 1e-3);
    }
    close_training(&s);
    return code;
}

static bool is_begun(const char *directory)
{
    char path[CLI_PATH];
    return cli_path(path, directory, "checkpoint.json") && access(path, F_OK) == 0;
}

/* Find errors of the second stage before the first one begins, by creating a trainer that is not
 * used. Then remove an earlier training in the directory: --resume must not continue it. */
static int prepare_stages(const cli_training *s)
{
    const sal_train_options options = library_options(s);
    sal_trainer *unused = NULL;
    sal_error err = { 0 };
    sal_status status = sal_trainer_create(s->model, &s->train, &options, &unused, &err);
    sal_trainer_destroy(unused);
    if (status == SAL_OK && cli_is_first() && !s->o->train.checkpoint.resume) {
        cli_train_forget(s);
    }
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}

/* Train the first stage in DIR/first, if the suggestion for `arch` has two stages and the second
 * has not begun. *done: the stage is complete, or there is none. */
static int train_first(const char *arch, cli_train_options *o, const cli_training *s, bool *done)
{
    static char directory[CLI_PATH];
    char *first = NULL;
    sal_error err = { 0 };
    sal_status status = sal_train_first(arch, &first, &err);
    if (status != SAL_OK) {
        return cli_fail(status, &err);
    }
    int code = CLI_OK;
    const bool begun = cli_first_says(o->train.checkpoint.resume && is_begun(o->out));
    if (first && !o->from && !begun) {
        cli_path(directory, o->out, "first"); /* check_options saw to its length */
        code = prepare_stages(s);
        if (code == CLI_OK && cli_is_first()) {
            fprintf(stderr, "saltus: first %s, whose ladder the net goes on from: %s\n", first,
                    directory);
        }
        code = code ? code : train_stage(first, o, directory, done);
        o->from = directory;
    }
    sal_free(first);
    return code;
}

/* Train an architecture: data, model, first stage, then the training itself. Returns an exit
 * code. */
static int train_arch(const char *arch, cli_train_options *o, bool suggested, cli_training *s)
{
    const cli_library library = { sal_option_table_of(SAL_OPTIONS_TRAIN), &o->train };
    bool done = true;
    int code = read_data_and_open(arch, &o->data, s);
    if (code == CLI_OK) {
        if (suggested) { /* anew, as the number of rows is known now */
            sal_train_suggest(arch, o->given, s->train.rows, &o->train, NULL);
        }
        sal_error err;
        const sal_status status = sal_train_complete(s->model, &s->train, &o->train, &err);
        code = status ? cli_fail(status, &err) : cli_resolve(&library);
    }
    if (code == CLI_OK && o->from && o->train.objective != SAL_PTT) {
        code = cli_usage("train: --from goes with --objective ptt");
    }
    code = code ? code : make_directory(o->out);
    code = code ? code : claim_directory(o->out);
    code = code ? code : check_earlier(o);
    code = cli_agree(code);
    code = code || !suggested ? code : train_first(arch, o, s, &done);
    if (code != CLI_OK || !done) {
        return code;
    }
    code = open_first(s);
    code = code ? code : make_preconditioner(s);
    code = code ? code : cli_train_read_log(s);
    code = code ? code : cli_draw_pixels(&s->train, &s->test);
    code = cli_agree(code);
    if (code == CLI_OK && cli_is_first()) {
        cli_train_describe_data(s);
        cli_train_baseline(s);
    }
    return code ? code : run_training(s);
}

/* The command `saltus train`. Returns an exit code. */
static int run_train(const cli_command *command, int argc, char **argv)
{
    cli_train_options o = { .data = CLI_DATA_START, .fresh = 1000 };
    cli_option table[CLI_MOST_OPTIONS] = {
        CLI_DATA_OPTIONS(o.data),
        { "out", CLI_TEXT, &o.out, "DIR", "directory for the model, log, samples and checkpoints" },
        { "time", CLI_TEXT, &o.time, "T", "stop after 60s, 10m or 2h; continue with --resume" },
        { "overwrite", CLI_FLAG, &o.overwrite, NULL, "replace an earlier training in --out" },
        { "from", CLI_TEXT, &o.from, "DIR",
          "of ptt: go on from the training of a part of the model in DIR, such as an RBM that a "
          "net is added to" },
        { "data-covariance", CLI_FLAG, &o.data_covariance, NULL,
          "precondition with the covariance of the data, scaled by the spacing of levels" },
        { "fresh", CLI_INT, &o.fresh, "N",
          "number of samples from scratch at the end, for samples.png and the verdict; 0: none "
          "[1000]" },
        { "dtype", CLI_TEXT, &o.dtype, "f32|f64", "type of the computation [the model's]" },
        CLI_VERBOSE_OPTION(o.verbose),
        { "json", CLI_FLAG, &o.json, NULL, "print one JSON object, of the last report" },
        { 0 },
    };
    const char *arch = "";
    cli_training s = { .o = &o };
    cli_library library = { sal_option_table_of(SAL_OPTIONS_TRAIN), &o.train };
    cli_add_options(table, &library);
    int code = cli_parse(command, argc, argv, table, 1, &arch);
    note_given(argc, argv, &o);
    const bool suggested = code == CLI_OK && arch && !cli_is_saved(arch) && !o.data_covariance &&
                           sal_train_suggest(arch, o.given, 0, &o.train, &s.settings);
    code = code ? code : check_options(arch, &o);
    code = code ? code : train_arch(arch, &o, suggested, &s);
    close_training(&s);
    return code;
}

const cli_command cli_train = { "train", "ARCH", "fit an energy-based model to data", run_train };
