/* saltus train: fit an energy-based model to data. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/training/fresh.h"
#include "cli/json.h"
#include "cli/pictures.h"
#include "cli/training/training.h"
#include "core/text.h"

/* ---- preparation */

static int make_directory(const char *path)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST) {
        return CLI_OK;
    }
    sal_error err = { 0 };
    snprintf(err.message, sizeof err.message, "--out %s: %s", path, strerror(errno));
    return cli_fail(SAL_ERR_IO, &err);
}

/* What took hours is not replaced by a command that was typed twice. */
static int check_earlier(const cli_train_options *o)
{
    static const char *const files[] = { "model.xml", "model.safetensors", "log.csv",
                                         "checkpoint.json" };
    char found[128] = "", path[4096];
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        if (snprintf(path, sizeof path, "%s/%s", o->out, files[k]) < (int)sizeof path &&
            access(path, F_OK) == 0) {
            sali_list_name(found, sizeof found, files[k]);
        }
    }
    return o->train.resume || o->overwrite || !found[0]
               ? CLI_OK
               : cli_usage("train: --out %s holds an earlier training (%s); give --resume to go on "
                           "with it, or --overwrite to replace it",
                           o->out, found);
}

/* Whether a ready-made model has a number of visible variables to be set. */
static bool takes_visible(const char *arch)
{
    sal_builtin_info info;
    size_t length = strcspn(arch, ":");
    for (int64_t k = 0; sal_builtin_list(k, &info); k++) {
        if (strlen(info.name) == length && strncmp(info.name, arch, length) == 0) {
            return strncmp(info.parameters, "visible=", 8) == 0;
        }
    }
    return false;
}

/* What suits the architecture, unless another objective or sampler is named, or what only other
 * objectives have; true if it applies. */
static bool suggest(const char *arch, cli_train_options *o, const char **settings)
{
    static const char *const objectives[] = { "pcd", "cd", "pseudo-likelihood", "ptt" };
    static const char *const optimisers[] = { "adam", "adamw", "sgd" };
    sal_train_options known;
    sal_train_options *t = &o->train;
    *settings = NULL;
    const bool other = o->objective || t->sampler || o->data_covariance || t->buffer ||
                       o->buffer_start || o->buffer_order || t->restart != 0 ||
                       t->magnitude_penalty != 0;
    if (!arch || cli_is_saved(arch) || other || !sal_train_suggest(arch, &known, settings)) {
        return false;
    }
    o->objective = objectives[known.objective];
    o->optimiser = optimisers[known.optimiser];
    t->sampler = known.sampler;
    t->steps = known.steps ? known.steps : t->steps;
    t->batch = known.batch ? known.batch : t->batch;
    t->reservoir = known.reservoir;
    t->iterations = known.iterations ? known.iterations : t->iterations;
    t->learning_rate = known.learning_rate > 0 ? known.learning_rate : t->learning_rate;
    t->rate_cooldown = known.rate_cooldown;
    t->momentum = known.momentum < 0 ? 0 : t->momentum;
    return true;
}

/* Whether the data say how many variables the architecture has. */
static bool is_made_for_data(const char *arch)
{
    return !cli_is_saved(arch) && takes_visible(arch) && !strstr(arch, "visible=");
}

/* The specification with the number of visible variables that the data have, and with the setting
 * that suits training. */
static int write_specification(const char *arch, const cli_training *s, char *text, size_t room)
{
    int n = snprintf(text, room, "%s", arch);
    if (is_made_for_data(arch)) {
        n = snprintf(text, room, "%s%cvisible=%lld", arch, strchr(arch, ':') ? ',' : ':',
                     (long long)s->train.variables);
    }
    if (s->settings && n >= 0 && (size_t)n < room && !strstr(text, "base=") &&
        !strstr(text, "quadratic=")) {
        n += snprintf(text + n, room - (size_t)n, "%c%s", strchr(text, ':') ? ',' : ':',
                      s->settings);
    }
    return n >= 0 && (size_t)n < room ? CLI_OK : cli_usage("%s: too long", arch);
}

#define SPECIFICATION 512

/* The model: of an architecture that is made for the data, once these are there. */
static int open_arch(const char *arch, cli_training *s)
{
    char specification[SPECIFICATION];
    sal_error err = { 0 };
    sal_dtype dtype;
    if (cli_is_saved(arch)) { /* goes on from its parameters */
        return cli_open(arch, s->o->dtype, NULL, &s->model);
    }
    if (!cli_dtype(s->o->dtype, &dtype)) {
        return CLI_USAGE;
    }
    int code = write_specification(arch, s, specification, sizeof specification);
    if (code != CLI_OK) {
        return code;
    }
    sal_status status = sal_model_open(specification, dtype, &s->model, &err);
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}

/* Data and model, which must fit each other, and the parameters that a new model starts from. */
static int read_data_and_open(const char *arch, cli_data *data, cli_training *s)
{
    char specification[SPECIFICATION];
    sal_error err = { 0 };
    if (!arch) {
        return cli_usage("train: expected an architecture");
    }
    int code = is_made_for_data(arch) ? CLI_OK : open_arch(arch, s);
    code = code ? code : cli_data_read(data, s->model, &s->train, &s->test);
    code = code || s->model ? code : open_arch(arch, s);
    code = code ? code : cli_check_width(data->path, &s->train, s->model);
    if (code != CLI_OK || cli_is_saved(arch)) {
        return code;
    }
    code = write_specification(arch, s, specification, sizeof specification);
    if (code != CLI_OK) {
        return code;
    }
    sal_status status =
        sal_model_train_start(s->model, specification, &s->train, s->o->train.seed, &err);
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}

/* What the last report told; of a training that had all its iterations, only their number. */
static int print_json(const cli_training *s)
{
    bool reported = s->iteration > 0;
    int64_t iterations = reported || s->diverged ? s->iteration : s->o->train.iterations;
    json_t *object = json_pack(
        "{s:o, s:o, s:I, s:I, s:I, s:b}", "model", cli_json_text(sal_model_name(s->model)), "out",
        cli_json_text(s->o->out), "train_rows", (json_int_t)s->train.rows, "test_rows",
        (json_int_t)s->test.rows, "iterations", (json_int_t)iterations, "diverged", s->diverged);
    cli_json_number(object, "seconds", reported ? s->seconds : 0);
    cli_json_number(object, "difference", reported ? s->difference : NAN);
    cli_json_number(object, "acceptance_rate", reported ? s->acceptance_rate : NAN);
    cli_json_number(object, "mmd", s->mmd);
    cli_json_number(object, "mmd_train_test", s->baseline);
    cli_json_number(object, "pearson", s->pearson);
    json_object_set_new(object, "verdict", s->judged ? cli_verdict_json(&s->verdict) : json_null());
    return cli_json_print(object);
}

static int print_end(const cli_training *s)
{
    if (s->o->json) {
        return print_json(s);
    }
    if (s->judged) {
        cli_verdict_print(&s->verdict);
    }
    if (s->iteration == 0) {
        printf("nothing left to do: %s has all iterations\n", s->o->out);
        return CLI_OK;
    }
    if (s->reached) {
        printf("stopped after %lld iterations: the Pearson correlation is %.4f, and --pearson %g\n",
               (long long)s->iteration, s->pearson, s->o->pearson);
    }
    printf("wrote %s/model.xml, model.safetensors, log.csv%s%s%s%s\n", s->o->out,
           s->chains_sheet ? ", persistent.png" : "", s->sheet ? ", samples.png" : "",
           s->judged ? ", verdict.json" : "", s->o->train.averaging > 0 ? ", ema.safetensors" : "");
    return CLI_OK;
}

static int train(cli_training *s)
{
    sal_error err = { 0 };
    sal_train_options train_options = s->o->train;
    train_options.report = cli_train_report;
    train_options.progress = cli_train_progress;
    train_options.progress_data = s;
    train_options.preconditioner = s->preconditioner;
    train_options.report_data = s;
    train_options.test = s->test.rows > 0 ? &s->test : NULL;
    s->progress = cli_progress_begin();
    s->progress.from = -1;
    cli_catch_interrupt();
    sal_status status = sal_train(s->model, &s->train, &train_options, &err);
    cli_progress_end(&s->progress);
    if (status != SAL_OK) {
        s->diverged = status == SAL_ERR_MODEL && strstr(err.message, "diverged");
        if (s->diverged) { /* its parameters are the last good ones */
            sal_error saving = { 0 };
            sal_status saved = cli_train_save(s, &saving);
            (void)(saved == SAL_OK ? CLI_OK : cli_fail(saved, &saving));
        }
        if (s->diverged && s->o->json) {
            print_json(s);
        }
        return cli_fail(status, &err);
    }
    if (cli_interrupted() || s->late) {
        fprintf(stderr, "saltus: stopped after %lld iterations; --resume goes on from here\n",
                (long long)s->iteration);
    }
    if (s->disturbed > 0) {
        fprintf(stderr,
                "saltus: states of %lld of %lld levels were not at equilibrium; their log Z may be "
                "wrong, and more --steps help\n",
                (long long)s->disturbed, (long long)s->levels);
    }
    s->code = s->code || cli_interrupted() ? s->code : cli_train_verdict(s);
    return s->code ? s->code : print_end(s);
}

/* The place of a word in a list that NULL ends, into *place; an empty word is the first. */
static int choose(const char *option, const char *word, const char *const *words, int *place)
{
    char known[256] = "";
    *place = 0;
    for (int k = 0; words[k]; k++) {
        sali_list_name(known, sizeof known, words[k]);
        if (word && strcmp(word, words[k]) == 0) {
            *place = k;
            return CLI_OK;
        }
    }
    return word ? cli_usage("train: --%s '%s'; expected one of: %s", option, word, known) : CLI_OK;
}

static int choose_words(cli_train_options *o)
{
    static const char *const objectives[] = { "pcd", "cd", "pseudo-likelihood", "ptt", NULL };
    static const char *const optimisers[] = { "adam", "adamw", "sgd", NULL };
    static const char *const centrings[] = { "auto", "on", "off", NULL };
    static const char *const starts[] = { "mean", "uniform", "data", NULL };
    static const char *const orders[] = { "random", "passes", NULL };
    static const char *const schedules[] = { "constant", "cosine", "exponential", NULL };
    int objective, optimiser, centring, start, order, schedule;
    int code = choose("objective", o->objective, objectives, &objective);
    code = code ? code : choose("optimiser", o->optimiser, optimisers, &optimiser);
    code = code ? code : choose("centring", o->centring, centrings, &centring);
    code = code ? code : choose("buffer-start", o->buffer_start, starts, &start);
    code = code ? code : choose("buffer-order", o->buffer_order, orders, &order);
    code = code ? code : choose("rate-schedule", o->rate_schedule, schedules, &schedule);
    if (code == CLI_OK) {
        o->train.objective = (sal_objective)objective;
        o->train.optimiser = (sal_optimiser)optimiser;
        o->train.centring = (sal_centring)centring;
        o->train.buffer_start = (sal_buffer_start)start;
        o->train.buffer_order = (sal_buffer_order)order;
        o->train.rate_schedule = (sal_rate_schedule)schedule;
    }
    return code;
}

static int check_pearson(const cli_train_options *o)
{
    if (o->pearson == 0) {
        return CLI_OK;
    }
    if (!(o->pearson > 0 && o->pearson < 1)) {
        return cli_usage("train: --pearson %g; expected a number between 0 and 1", o->pearson);
    }
    return o->data.read.kind == SAL_DATA_ALIGNMENT && o->train.objective != SAL_PSEUDO_LIKELIHOOD
               ? CLI_OK
               : cli_usage("train: --pearson compares samples with an alignment: it goes with "
                           "--kind alignment, and not with pseudo-likelihood");
}

static int check_options(const char *arch, cli_train_options *o)
{
    if (!o->out) {
        return cli_usage("train: --out DIR is needed");
    }
    if (o->train.resume && o->overwrite) {
        return cli_usage("train: give --resume or --overwrite, not both");
    }
    int code = cli_data_check("train", arch, &o->data);
    code = code || !o->time ? code : cli_seconds("time", o->time, &o->seconds);
    if (code != CLI_OK) {
        return code;
    }
    if ((o->train.steps < 1 && o->train.steps != -1) || o->train.iterations < 1 ||
        o->train.batch < 1 || o->train.report_every < 1) {
        return cli_usage("train: --steps, --iterations, --batch and --report must be 1 or more");
    }
    if (o->fresh < 0 || o->fresh > INT32_MAX) {
        return cli_usage("train: --fresh must be 0 to %d", INT32_MAX);
    }
    if (!(o->train.learning_rate > 0 && o->train.epsilon > 0 && o->train.largest_difference > 0)) {
        return cli_usage("train: --learning-rate, --epsilon and --largest-difference must be above "
                         "0");
    }
    /* The library's zeros stand for its defaults. */
    o->train.momentum = o->train.momentum == 0 ? -1 : o->train.momentum;
    o->train.beta2 = o->train.beta2 == 0 ? -1 : o->train.beta2;
    o->train.checkpoint = o->out;
    code = choose_words(o);
    return code ? code : check_pearson(o);
}

/* The covariance of the training data, if it was asked for. */
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

static int run_train(const cli_command *command, int argc, char **argv)
{
    cli_train_options o = { .data = CLI_DATA_START,
                            .fresh = 1000,
                            .train = { .steps = 20,
                                       .iterations = 2000,
                                       .batch = 50,
                                       .report_every = 100,
                                       .learning_rate = 1e-3,
                                       .momentum = 0.9,
                                       .beta2 = 0.999,
                                       .epsilon = 1e-8,
                                       .largest_difference = 1e4 } };
    sal_train_options *t = &o.train;
    const cli_option table[] = {
        CLI_DATA_OPTIONS(o.data),
        { "out", CLI_TEXT, &o.out, "DIR", "model, log, samples and checkpoints go there" },
        { "time", CLI_TEXT, &o.time, "T", "stop after 60s, 10m or 2h; --resume goes on" },
        { "resume", CLI_FLAG, &t->resume, NULL, "go on from the checkpoint in --out, if any" },
        { "overwrite", CLI_FLAG, &o.overwrite, NULL, "replace an earlier training in --out" },
        { "iterations", CLI_INT, &t->iterations, "N",
          "parameter updates [as suits the model, else 2000]" },
        { "batch", CLI_INT, &t->batch, "N",
          "data rows and chains an iteration [as suits the model, else 50]" },
        { "objective", CLI_TEXT, &o.objective, "pcd|cd|pseudo-likelihood|ptt",
          "to fit by [ptt where that suits the model, else pcd]" },
        { "sampler", CLI_TEXT, &t->sampler, "NAME",
          "see 'saltus list samplers' [as suits the model; with --objective gwg]" },
        { "steps", CLI_INT, &t->steps, "K",
          "sampler steps an iteration; -1: as many as variables [as suits the model, else 20]" },
        { "step-size", CLI_REAL, &t->step_size, "X", "[follows an acceptance of 0.574]" },
        { "data-covariance", CLI_FLAG, &o.data_covariance, NULL,
          "precondition with the data's covariance, by the spacing of levels" },
        { "buffer", CLI_INT, &t->buffer, "N", "persistent chains [1000, or --batch if larger]" },
        { "buffer-start", CLI_TEXT, &o.buffer_start, "mean|uniform|data",
          "where they start: at the data's mean, anywhere or at data [mean]" },
        { "buffer-order", CLI_TEXT, &o.buffer_order, "random|passes",
          "which move: any, or all of them in turn, reshuffled [random]" },
        { "reservoir", CLI_INT, &t->reservoir, "N",
          "equilibrium states of ptt, a multiple of --batch [as suits the model, else 10 batch]" },
        { "patience", CLI_INT, &t->patience, "N",
          "stop after so many reports without a better held-out likelihood [0: never]" },
        { "restart", CLI_REAL, &t->restart, "P",
          "probability that a chain starts again before an iteration [0]" },
        { "optimiser", CLI_TEXT, &o.optimiser, "adam|adamw|sgd",
          "[as suits the model, else adam]" },
        { "learning-rate", CLI_REAL, &t->learning_rate, "X",
          "largest one, with ptt [as suits the model, else 0.001]" },
        { "rate-warmup", CLI_INT, &t->rate_warmup, "N", "iterations over which it rises [0]" },
        { "rate-schedule", CLI_TEXT, &o.rate_schedule, "constant|cosine|exponential",
          "how it falls from then to the last iteration: not, to 0 or to a hundredth [constant]" },
        { "rate-cooldown", CLI_REAL, &t->rate_cooldown, "X",
          "share of the iterations, the last ones, over which the largest rate falls to 0 [as "
          "suits the model, else 0]" },
        { "momentum", CLI_REAL, &t->momentum, "X",
          "beta_1 of adam, or of sgd; 0: none [as suits the model, else 0.9]" },
        { "beta2", CLI_REAL, &t->beta2, "X", "of adam; 0: none [0.999]" },
        { "epsilon", CLI_REAL, &t->epsilon, "X", "of adam [1e-8]" },
        { "weight-decay", CLI_REAL, &t->weight_decay, "X", "[0]" },
        { "clip", CLI_REAL, &t->clip_norm, "X",
          "scale longer gradients down to this norm [0: none]" },
        { "centring", CLI_TEXT, &o.centring, "auto|on|off",
          "count units from their means while couplings are learned [auto: in RBMs]" },
        { "averaging", CLI_REAL, &t->averaging, "X",
          "decay of moving averages of the parameters, saved as ema.safetensors [0: none]" },
        { "couplings", CLI_TEXT, &t->couplings, "NAMES",
          "parameters kept symmetric, for penalties and --zero-diagonal [J]" },
        { "l1", CLI_REAL, &t->l1, "X", "penalty X sum |J_ij| [0]" },
        { "group-penalty", CLI_REAL, &t->group_penalty, "X",
          "penalty X sum_{i<j} norm(J_ij) over the blocks of two variables [0]" },
        { "zero-diagonal", CLI_FLAG, &t->zero_diagonal, NULL,
          "no couplings of a variable with itself" },
        { "magnitude-penalty", CLI_REAL, &t->magnitude_penalty, "X",
          "penalty X (mean f(data)^2 + mean f(samples)^2) [0]" },
        { "fixed", CLI_TEXT, &t->fixed, "NAMES", "parameters that are not learned" },
        { "largest-difference", CLI_REAL, &t->largest_difference, "X",
          "of log p(data) and log p(samples), beyond it training has diverged [10000]" },
        { "pearson", CLI_REAL, &o.pearson, "X",
          "of an alignment: stop at a report in which the connected pair frequencies of data and "
          "samples have this correlation" },
        { "report", CLI_INT, &t->report_every, "N",
          "iterations between reports: a line of log.csv, and of output to a file [100]" },
        { "checkpoint", CLI_INT, &t->checkpoint_every, "N",
          "iterations between checkpoints [as --report]" },
        { "fresh", CLI_INT, &o.fresh, "N",
          "samples from scratch at the end, for samples.png and the verdict; 0: none [1000]" },
        { "seed", CLI_SEED, &t->seed, "N", "same seed, same bits [0]" },
        { "threads", CLI_THREADS, &t->threads, "N", "results do not depend on it [all]" },
        { "dtype", CLI_TEXT, &o.dtype, "f32|f64", "type of the computation [the model's]" },
        { "json", CLI_FLAG, &o.json, NULL, "print one JSON object, of the last report" },
        { 0 },
    };
    const char *arch = "";
    cli_training s = { .o = &o };
    int code = cli_parse(command, argc, argv, table, 1, &arch);
    bool suggested = code == CLI_OK && suggest(arch, &o, &s.settings);
    const int64_t batch = t->batch, reservoir = t->reservoir;
    if (suggested) { /* what is given goes on top */
        o.data = (cli_data)CLI_DATA_START;
        code = cli_parse(command, argc, argv, table, 1, &arch);
    }
    code = code ? code : check_options(arch, &o);
    code = code ? code : read_data_and_open(arch, &o.data, &s);
    if (suggested && t->batch == batch && s.train.rows < batch) {
        t->batch = s.train.rows;
    }
    if (suggested && t->reservoir == reservoir && t->batch > 0) { /* whole rounds of the chains */
        t->reservoir = t->batch != batch ? 0 : reservoir / t->batch * t->batch;
    }
    code = code ? code : check_earlier(&o);
    code = code ? code : make_directory(o.out);
    code = code ? code : make_preconditioner(&s);
    code = code ? code : cli_train_read_log(&s);
    code = code ? code : cli_draw_pixels(&s.train);
    code = code ? code : cli_draw_pixels(&s.test);
    code = code ? code : cli_train_alignment(&s);
    if (code == CLI_OK) {
        cli_train_baseline(&s);
        code = train(&s);
    }
    sal_model_destroy(s.model);
    sal_data_destroy(&s.train);
    sal_data_destroy(&s.test);
    free(s.log);
    free(s.pairs);
    free(s.preconditioner);
    return code;
}

const cli_command cli_train = { "train", "ARCH", "fit an energy-based model to data", run_train };
