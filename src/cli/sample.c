/* SPDX-License-Identifier: MIT */
/* saltus sample: draw samples of a model. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/sample_output.h"
#include "cli/sheet.h"
#include "cli/text.h"

typedef struct options {
    sal_run_options run;
    cli_sampler_options sampler;
    cli_sample_outputs outputs;
    cli_fixed fixed;
    const char *model, *dtype, *params, *sums, *init, *temperatures, *tuning, *preconditioner;
    double *temperature_list;
    bool write_tuning, verbose;
    const char *resume;
    const char *resumed; /* the sampler of the run that is resumed */
    const char *ladder;  /* yes, no; NULL: unless another way of sampling was asked for */
} options;

/* ---- --temperatures 1,2,.. and --tuning FILE */

/* Set the run's temperatures from --temperatures, if it is given. Returns the exit code. */
static int parse_temperatures(options *o)
{
    const char *text = o->temperatures;
    int64_t room = text ? (int64_t)strlen(text) : 0, n = 0;
    if (!text) {
        return CLI_OK;
    }
    if (o->run.tempering.replicas != 0) {
        return cli_usage("--tempering and --temperatures: give one of them");
    }
    o->temperature_list = malloc((size_t)(room + 1) * sizeof *o->temperature_list);
    if (!o->temperature_list) {
        return cli_fail(SAL_ERR_MEMORY, &(sal_error){ 0 });
    }
    for (bool more = true; more;) {
        size_t length = strcspn(text, ",");
        if (!cli_parse_real(text, length, &o->temperature_list[n++])) {
            return cli_usage("--temperatures %.*s: expected 1,T,..", (int)length, text);
        }
        more = text[length] == ',';
        text += length + more;
    }
    o->run.tempering.replicas = n;
    o->run.tempering.temperatures = o->temperature_list;
    return CLI_OK;
}

/* Open the file of --tuning if it exists, else claim it to be written. A resumed run has its tuning
 * in its state, and does not read the file. Returns the exit code. */
static int open_tuning(options *o, sal_tuning **tuning)
{
    sal_error err = { 0 };
    if (!o->tuning) {
        return CLI_OK;
    }
    if (o->resume && !o->write_tuning) {
        return CLI_OK;
    }
    if (o->write_tuning) {
        return cli_claim_output(o->tuning);
    }
    sal_status status = sal_tuning_open(o->tuning, tuning, &err);
    o->run.tuning = *tuning;
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}

/* Write what warm-up found, or a line on stderr if the run was stopped in warm-up. Returns the exit
 * code. */
static int save_tuning(const sal_run *run, const char *path)
{
    sal_tuning *tuning = NULL;
    sal_error err = { 0 };
    sal_status status = sal_run_tuning(run, &tuning, &err);
    if (status == SAL_ERR_ARGUMENT) { /* stopped too early */
        fprintf(stderr, "saltus: %s is not written: %s\n", path, err.message);
        return CLI_OK;
    }
    status = status ? status : sal_tuning_save(tuning, path, &err);
    sal_tuning_destroy(tuning);
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}

/* ---- starting states: codes [V] for all chains, or [chains x V] */

/* Read starting states as *codes [chains x V], to be freed. Returns the exit code. */
static int read_init(const char *path, const sal_model *model, int64_t chains, int32_t **codes)
{
    sal_array array = { 0 };
    sal_error err = { 0 };
    int64_t V = sal_space_variables(sal_model_space(model));
    sal_status status = cli_array_read(path, SAL_COLUMNS_FIND, &array, &err);
    if (status != SAL_OK) {
        return cli_fail(status, &err);
    }
    bool one = array.ndim == 1 && array.shape[0] == V;
    bool each = array.ndim == 2 && array.shape[0] == chains && array.shape[1] == V;
    if (!one && !each) {
        sal_array_free(&array);
        snprintf(err.message, sizeof err.message,
                 "%s: expected codes of shape (%lld,) or (%lld, %lld)", path, (long long)V,
                 (long long)chains, (long long)V);
        return cli_fail(SAL_ERR_DATA, &err);
    }
    *codes = calloc((size_t)chains, (size_t)V * sizeof **codes);
    int code = cli_codes(path, &array, *codes);
    for (int64_t c = 1; code == CLI_OK && one && c < chains; c++) {
        memcpy(*codes + c * V, *codes, (size_t)V * sizeof **codes);
    }
    sal_array_free(&array);
    return code;
}

/* ---- the preconditioner [N x N] */

/* Read the matrix as *M [N x N], to be freed by sal_free. Returns the exit code. */
static int read_preconditioner(const char *path, const sal_model *model, double **M)
{
    sal_array array = { 0 };
    sal_error err = { 0 };
    int64_t N = sal_space_width(sal_model_space(model));
    sal_status status = cli_array_read(path, SAL_COLUMNS_FIND, &array, &err);
    if (status == SAL_OK && (array.ndim != 2 || array.shape[0] != N || array.shape[1] != N)) {
        snprintf(err.message, sizeof err.message, "%s: expected a matrix of shape (%lld, %lld)",
                 path, (long long)N, (long long)N);
        status = SAL_ERR_DATA;
    }
    if (status == SAL_OK) {
        *M = array.values; /* taken over */
        array.values = NULL;
    }
    sal_array_free(&array);
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}

/* ---- --check-exact */

/* log n!, infinite for negative n, of which nothing is left to choose. */
static double log_factorial(int64_t n)
{
    return lgamma((double)n + 1);
}

/* Number of states of a block, from variable `first` on, whose clamped variables have one state. Of
 * counts with a fixed sum no more than this. */
static double count_states(const sal_block *block, int64_t first, const sal_clamps *clamps)
{
    const bool two = block->kind == SAL_BINARY || block->kind == SAL_SPIN;
    int64_t left = block->count, ones = block->sum;
    ones = block->kind == SAL_SPIN ? (ones + block->count) / 2 : ones;
    for (int64_t k = 0; k < clamps->n; k++) {
        const int64_t i = clamps->variables[k] - first;
        left -= i >= 0 && i < block->count;
        ones -= i >= 0 && i < block->count ? clamps->codes[k] : 0;
    }
    double log_count = log_factorial(left);
    if (block->fixed_sum && two) {
        return exp(log_count - log_factorial(ones) - log_factorial(left - ones));
    }
    for (int64_t label = 0; block->labels && label < block->states; label++) {
        int64_t n = block->labels[label];
        for (int64_t k = 0; k < clamps->n; k++) {
            const int64_t i = clamps->variables[k] - first;
            n -= i >= 0 && i < block->count && clamps->codes[k] == label;
        }
        log_count -= log_factorial(n);
    }
    return block->labels ? exp(log_count)
                         : pow(block->states > 0 ? (double)block->states : INFINITY, (double)left);
}

/* CLI_USAGE, after a message, if the states of the free variables are too many to list. Called
 * before anything runs. */
static int check_enumerable(const sal_model *model, const sal_clamps *clamps)
{
    const sal_space *space = sal_model_space(model);
    double states = 1;
    int64_t first = 0;
    const sal_block *block;
    for (int64_t b = 0; (block = sal_space_block(space, b)); b++) {
        states *= count_states(block, first, clamps);
        first += block->count;
    }
    return states <= (double)SAL_ENUMERATION_LIMIT
               ? CLI_OK
               : cli_usage("--check-exact: %s has %.6g states; it can list %lld. Clamp variables, "
                           "or compare with marginals (saltus compare --marginals-exact)",
                           sal_model_name(model), states, (long long)SAL_ENUMERATION_LIMIT);
}

/* ---- the command */

typedef struct watch {
    cli_progress progress;
    bool moved; /* chains have made a step: the run can be resumed */
} watch;

static int watch_progress(int64_t done, int64_t total, void *data)
{
    watch *w = data;
    cli_progress_show(&w->progress, "sampling", done, total);
    w->moved |= done > 0;
    return cli_interrupted();
}

/* ---- --resume NAME.nc */

/* Open the state of --resume, and set the options from it; the caller parses the command line once
 * more for the options that were given. Returns the exit code. */
static int open_state(options *o, sal_run_state **state)
{
    sal_error err = { 0 };
    const options given = *o;
    sal_status status = sal_run_state_open(o->resume, state, &err);
    status = status ? status : sal_run_state_options(*state, &o->run, &err);
    if (status != SAL_OK) {
        return cli_fail(status, &err);
    }
    if (given.temperatures || given.run.tempering.replicas != 0) {
        o->run.tempering.replicas = 0;
        o->run.tempering.temperatures = NULL;
    }
    o->model = sal_run_state_note(*state, "model");
    o->params = sal_run_state_note(*state, "params");
    o->dtype = sal_run_state_note(*state, "dtype");
    o->ladder = sal_run_state_note(*state, "ladder");
    o->sums = sal_run_state_note(*state, "fix_sum");
    o->outputs.out = o->resume;
    o->resumed = o->run.sampler;
    return given.init ? cli_usage("--init and --resume: the run goes on from its own states")
                      : CLI_OK;
}

/* ---- --out NAME.nc */

/* Open the netCDF file of --out, if it is one, with notes on how the run is made. Returns the exit
 * code. */
static int open_writer(const sal_model *model, options *o, sal_draw_writer **writer)
{
    sal_error err = { 0 };
    if (!cli_sample_streams(&o->outputs)) {
        return CLI_OK;
    }
    char sample[4096];
    const char *evidence = o->fixed.evidence;
    if (o->fixed.sample > 0) {
        snprintf(sample, sizeof sample, "%s, sample %lld", evidence, (long long)o->fixed.sample);
        evidence = sample;
    }
    const sal_note notes[] = { { "model", o->model },
                               { "params", o->params },
                               { "dtype", o->dtype },
                               { "ladder", o->run.trajectory ? "yes" : "no" },
                               { "tuning", o->tuning },
                               { "preconditioner", o->preconditioner },
                               { "init", o->init },
                               { "clamp", o->fixed.clamp },
                               { "evidence", evidence },
                               { "fix_sum", o->sums },
                               { 0 } };
    sal_status status = sal_draw_writer_open(o->outputs.out, model, &o->run, notes, writer, &err);
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}

/* Close the file of the draws. `run`: NULL if the run failed. If draws are left in FILE.draws, a
 * line on stderr says so. Returns the exit code. */
static int close_writer(const char *path, sal_draw_writer *writer, const sal_run *run)
{
    sal_error err = { 0 };
    char left[4096];
    if (!writer) {
        return CLI_OK;
    }
    sal_status status = sal_draw_writer_close(writer, run, &err);
    int code = status == SAL_OK ? CLI_OK : cli_fail(status, &err);
    snprintf(left, sizeof left, "%s.draws", path);
    if ((code != CLI_OK || !run) && access(left, F_OK) == 0) {
        fprintf(stderr, "saltus: the draws are in %s; to go on: saltus sample --resume %s\n", left,
                path);
    }
    return code;
}

/* Open the ladder of a trained model, unless another way of sampling or other parameters were asked
 * for. *model is replaced by the model over x of a denoising chain. Returns the exit code. */
static int open_trajectory(sal_model **model, const options *o, sal_trajectory **trajectory)
{
    sal_error err = { 0 };
    sal_model *drawn = NULL;
    const char *ladder = o->params && !o->ladder ? "no" : o->ladder;
    sal_status status = sal_trajectory_suggest(o->model, *model, &o->run, ladder, trajectory, &err);
    if (status == SAL_OK && *trajectory) {
        status = sal_trajectory_model(*trajectory, *model, &drawn, &err);
    }
    if (drawn) { /* the model over x of a denoising chain */
        sal_model_destroy(*model);
        *model = drawn;
    }
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}

static void report_ranks(const sal_run *run)
{
    sal_run_summary s = { 0 };
    if (cli_is_first() && sal_run_summarise(run, &s, NULL) == SAL_OK) {
        cli_ranks_report(s.warmup + s.draws * s.thin, "step");
    }
}

/* Whether Ctrl-C or --time stopped a run before its end. */
static bool was_stopped(const sal_run *run, const options *o)
{
    sal_run_summary s = { 0 };
    return cli_interrupted() ||
           (o->run.seconds > 0 && sal_run_summarise(run, &s, NULL) == SAL_OK && s.stopped);
}

/* Run the chains, and write and print all results. Returns the exit code. */
static int sample_model(sal_model *model, options *o)
{
    sal_error err = { 0 };
    sal_run *run = NULL;
    sal_draw_writer *writer = NULL;
    watch w = { .progress = cli_progress_begin() };
    w.progress.limit = o->run.seconds > 0 ? o->run.seconds : o->run.annealing.seconds;
    w.progress.from = o->run.resume ? -1 : 0;
    o->run.record.draws = (o->outputs.out && !cli_sample_streams(&o->outputs)) ||
                          o->outputs.check_exact || cli_sample_votes_on_states(&o->outputs);
    o->outputs.threads = o->run.threads;
    o->run.record.best |= o->outputs.best != NULL || (o->outputs.show && !o->outputs.vote);
    o->run.comm = cli_comm();
    int code = cli_agree(cli_is_first() ? open_writer(model, o, &writer) : CLI_OK);
    if (code != CLI_OK) {
        return code;
    }
    sal_run_options run_options = o->run;
    run_options.callbacks.progress = watch_progress;
    run_options.callbacks.progress_data = &w;
    cli_catch_interrupt();
    cli_progress_wait(&w.progress, "starting");
    sal_status status = sal_sample(model, &run_options, &run, &err);
    cli_progress_end(&w.progress);
    if (o->verbose && status == SAL_OK) {
        report_ranks(run);
    }
    if (!cli_is_first()) { /* rank 0 alone does what follows */
        sal_run_destroy(run);
        return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
    }
    if (status != SAL_OK) {
        code = cli_fail(status, &err);
        close_writer(o->outputs.out, writer, NULL);
        return code;
    }
    const bool stopped = was_stopped(run, o);
    if (stopped) {
        int64_t draws;
        sal_run_size(run, NULL, &draws, NULL);
        fprintf(stderr, "saltus: stopped; what follows is from %lld draws a chain\n",
                (long long)draws);
    }
    /* print the other results even if the draws could not be written */
    int lost = close_writer(o->outputs.out, writer, run);
    if (lost == CLI_OK && writer && w.moved && stopped) {
        fprintf(stderr, "saltus: to go on: saltus sample --resume %s\n", o->outputs.out);
    }
    code = o->write_tuning ? save_tuning(run, o->tuning) : CLI_OK;
    code = code ? code : cli_sample_write(run, model, &o->outputs);
    sal_run_destroy(run);
    return lost ? lost : code;
}

/* Check options of annealing. With --time, whole coolings are made one after the other as long as
 * they fit; a run that is written to be resumed, or that is resumed, makes one. Returns the exit
 * code. */
static int check_annealing(options *o)
{
    sal_annealing_options *a = &o->run.annealing;
    a->on |= a->schedule != SAL_ANNEAL_GEOMETRIC;
    if (!a->on && (a->from != 0 || a->to != 0 || a->coolings != 0 || a->seconds != 0)) {
        return cli_usage("--anneal-from, --anneal-to, --anneal-seconds and --coolings want "
                         "--anneal");
    }
    if (a->seconds > 0 && o->run.seconds > 0) {
        return cli_usage("--anneal-seconds and --time: give one of them");
    }
    if (a->on && a->coolings > 0 && (o->resume || cli_sample_streams(&o->outputs))) {
        return cli_usage("--coolings: a run that can be resumed, by --out NAME.nc or --resume, "
                         "makes one cooling");
    }
    if (a->on && o->run.seconds > 0 && !o->resume && !cli_sample_streams(&o->outputs)) {
        a->seconds = o->run.seconds;
        o->run.seconds = 0;
    }
    return CLI_OK;
}

/* Set the numbers of the run to their defaults, and check them. Returns the exit code. */
static int check_numbers(options *o)
{
    const sal_run_options *r = &o->run;
    if (r->tempering.swap_every > 0 && !r->annealing.on && r->tempering.replicas == 0 &&
        !o->temperatures && !o->tuning) {
        return cli_usage("--swap-every wants --tempering or --temperatures");
    }
    o->outputs.save_warmup = r->record.warmup;
    const int64_t draws = r->draws;
    int code = cli_resolve(&(cli_library){ sal_option_table_of(SAL_OPTIONS_RUN), &o->run });
    if (r->annealing.seconds > 0 || r->annealing.coolings > 0 || r->until) {
        o->run.draws = draws; /* 0: the search or the run chooses the number */
    }
    return code;
}

/* Check all options before the model is opened. Returns the exit code. */
static int check_options(options *o)
{
    if (!o->model) {
        return cli_usage("sample: expected MODEL; see 'saltus sample --help'");
    }
    if (o->ladder && strcmp(o->ladder, "yes") != 0 && strcmp(o->ladder, "no") != 0) {
        return cli_usage("--ladder %s: expected yes or no", o->ladder);
    }
    int code = check_annealing(o);
    code = code ? code : check_numbers(o);
    code = code ? code : cli_sampler(&o->sampler, &o->run.sampler, o->run.sampler == o->resumed);
    code = code ? code : cli_sample_check_outputs(&o->outputs);
    return code ? code : parse_temperatures(o);
}

static int run_sample(const cli_command *command, int argc, char **argv)
{
    options o = { 0 };
    cli_option table[CLI_MOST_OPTIONS] = {
        CLI_SAMPLER_OPTIONS(o.sampler),
        { "resume", CLI_TEXT, &o.resume, "FILE.nc",
          "resume the run in this file, up to --draws in all, with the same bits" },
        { "preconditioner", CLI_TEXT, &o.preconditioner, "FILE.npy",
          "matrix (N, N) for pavg, in units of the Hessian of f" },
        { "temperatures", CLI_TEXT, &o.temperatures, "1,T,..", "replicas at these temperatures" },
        { "ladder", CLI_TEXT, &o.ladder, "yes|no",
          "along the path of the training that made the model [yes, where it saved one and no "
          "other "
          "way of sampling is asked for]" },
        { "tuning", CLI_TEXT, &o.tuning, "FILE.json",
          "step sizes, temperatures ..: read from the file if it exists, else written to it" },
        { "init", CLI_TEXT, &o.init, "FILE.npy", "starting codes, (V,) or (chains, V) [random]" },
        CLI_FIXED_OPTIONS(o.fixed),
        CLI_FIX_SUM_OPTION(o.sums),
        { "params", CLI_TEXT, &o.params, "FILE", "read parameters from .safetensors" },
        { "dtype", CLI_TEXT, &o.dtype, "f32|f64", "type of the computation [the model's]" },
        { "marginals", CLI_TEXT, &o.outputs.marginals, "FILE",
          "write the marginals as JSON, or to NAME.MAR" },
        { "out", CLI_TEXT, &o.outputs.out, "FILE.npy|.nc|.fasta|.png",
          "write the draws: (chains, draws, V) codes; netCDF for ArviZ while they are made; or "
          "sequences, in a format of alignments; or at most 100, evenly spaced, as pictures" },
        CLI_SHAPE_OPTION(o.outputs.shape),
        { "alphabet", CLI_TEXT, &o.outputs.alphabet, "protein|rna|dna|LETTERS",
          "with --out FILE.fasta: letters of the states, or all of them in order "
          "(--alphabet=-ABCD) "
          "[the model's; else protein for 21 states, rna for 5]" },
        { "best", CLI_TEXT, &o.outputs.best, "FILE.npy",
          "write the best state met, (V,) codes; decoded, where the model can decode" },
        { "vote", CLI_TEXT, &o.outputs.vote, "state|sites",
          "majority vote of the draws: most frequent state, or code of each variable" },
        { "vote-ones", CLI_INT, &o.outputs.ones, "N",
          "with --vote sites: select the N variables that are most often 1" },
        { "vote-out", CLI_TEXT, &o.outputs.vote_out, "FILE.npy",
          "write the state of --vote, (V,) codes" },
        { "show", CLI_FLAG, &o.outputs.show, NULL,
          "print what the best state chooses, or the state of --vote" },
        { "check-exact", CLI_FLAG, &o.outputs.check_exact, NULL,
          "print the total variation distance to enumeration" },
        CLI_VERBOSE_OPTION(o.verbose),
        { "json", CLI_FLAG, &o.outputs.json, NULL, "print one JSON object" },
        { 0 },
    };
    sal_model *model = NULL;
    sal_run_state *state = NULL;
    cli_clamps list = { 0 };
    int32_t *init = NULL;
    double *preconditioner = NULL;
    sal_tuning *tuning = NULL;
    sal_trajectory *trajectory = NULL;
    cli_library library = { sal_option_table_of(SAL_OPTIONS_RUN), &o.run };
    cli_add_options(table, &library);
    int code = cli_parse(command, argc, argv, table, 1, &o.model);
    if (code == CLI_OK && o.resume) { /* given options replace the state's */
        code = open_state(&o, &state);
        code = code ? code : cli_parse(command, argc, argv, table, 1, &o.model);
    }
    code = code ? code : check_options(&o);
    code = code ? code : cli_open_fixed(o.model, o.dtype, o.params, o.sums, &model);
    code = code ? code : cli_clamps_read(&o.fixed, model, &list);
    if (code == CLI_OK && o.init) {
        code = read_init(o.init, model, o.run.chains, &init);
    }
    if (code == CLI_OK && o.preconditioner) {
        code = read_preconditioner(o.preconditioner, model, &preconditioner);
    }
    if (!o.resume || o.fixed.clamp || o.fixed.evidence) { /* else the state's clamps count */
        o.run.clamps = (sal_clamps){ list.n, list.variables, list.codes };
    }
    if (code == CLI_OK && o.outputs.check_exact) {
        code = check_enumerable(model, &o.run.clamps);
    }
    o.write_tuning = o.tuning && access(o.tuning, F_OK) != 0;
    code = cli_agree(code); /* before rank 0 creates the file */
    code = code ? code : open_tuning(&o, &tuning);
    if (code == CLI_OK) {
        o.run.preconditioner = preconditioner;
        o.run.init = init;
        code = open_trajectory(&model, &o, &trajectory);
        o.run.trajectory = trajectory;
    }
    code = code ? code : cli_sample_check_model(&o.outputs, model);
    code = cli_agree(code);
    code = code ? code : sample_model(model, &o);
    cli_clamps_free(&list);
    free(init);
    sal_free(preconditioner);
    free(o.temperature_list);
    sal_tuning_destroy(tuning);
    sal_trajectory_destroy(trajectory);
    sal_run_state_destroy(state);
    sal_model_destroy(model);
    return code;
}

const cli_command cli_sample = { "sample", "[MODEL]", "draw samples; print acceptance, ESS, R-hat",
                                 run_sample };
