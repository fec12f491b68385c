/* saltus sample: draw samples of a model. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "io/npy.h"
#include "core/number.h"
#include "samplers/sampler.h"

typedef struct options {
    sal_run_options run;
    cli_sampler_options sampler;
    const char *dtype, *params, *evidence, *clamp, *init, *marginals, *out, *step_size;
    const char *preconditioner;
    bool json, check_exact;
} options;

/* ---- starting states: codes [V] for all chains, or [chains x V] */

static int read_init(const char *path, const sal_model *model, int64_t chains, int32_t **codes)
{
    sali_npy array = { 0 };
    sal_error err = { 0 };
    int64_t V = sal_space_variables(sal_model_space(model));
    sal_status status = sali_npy_read(path, &array, &err);
    if (status != SAL_OK) {
        return cli_fail(status, &err);
    }
    bool one = array.ndim == 1 && array.shape[0] == V;
    bool each = array.ndim == 2 && array.shape[0] == chains && array.shape[1] == V;
    if (!one && !each) {
        sali_npy_free(&array);
        snprintf(err.message, sizeof err.message,
                 "%s: expected codes of shape (%lld,) or (%lld, %lld)", path, (long long)V,
                 (long long)chains, (long long)V);
        return cli_fail(SAL_ERR_DATA, &err);
    }
    *codes = malloc((size_t)(chains * V) * sizeof **codes);
    status = *codes ? sali_npy_codes(&array, path, *codes, &err) : SAL_ERR_MEMORY;
    for (int64_t c = 1; status == SAL_OK && one && c < chains; c++) {
        memcpy(*codes + c * V, *codes, (size_t)V * sizeof **codes);
    }
    sali_npy_free(&array);
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}

/* ---- the preconditioner [N x N] */

static int read_preconditioner(const char *path, const sal_model *model, double **M)
{
    sali_npy array = { 0 };
    sal_error err = { 0 };
    int64_t N = sal_space_width(sal_model_space(model));
    sal_status status = sali_npy_read(path, &array, &err);
    if (status == SAL_OK && (array.ndim != 2 || array.shape[0] != N || array.shape[1] != N)) {
        snprintf(err.message, sizeof err.message, "%s: expected a matrix of shape (%lld, %lld)",
                 path, (long long)N, (long long)N);
        status = SAL_ERR_DATA;
    }
    if (status == SAL_OK) {
        *M = malloc((size_t)array.count * sizeof **M);
        status = *M ? SAL_OK : SAL_ERR_MEMORY;
    }
    if (status == SAL_OK) {
        sali_npy_doubles(&array, *M);
    }
    sali_npy_free(&array);
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}

/* ---- outputs */

/* Entries of a variable in the marginals. */
static int64_t levels(const sal_space *space, int64_t v)
{
    int64_t states = sal_space_states(space, v);
    return states > 0 ? states : SAL_COUNT_LEVELS;
}

static int write_marginals(const sal_run *run, const sal_model *model, const char *path)
{
    const sal_space *space = sal_model_space(model);
    int64_t V = sal_space_variables(space), total = 0;
    for (int64_t v = 0; v < V; v++) {
        total += levels(space, v);
    }
    sal_error err = { 0 };
    double *marginals = malloc((size_t)total * sizeof *marginals), *at = marginals;
    sal_status status = marginals ? sal_run_marginals(run, marginals, &err) : SAL_ERR_MEMORY;
    if (status != SAL_OK) {
        free(marginals);
        return cli_fail(status, &err);
    }
    json_t *rows = json_array();
    for (int64_t v = 0; v < V; v++) {
        json_t *row = json_array();
        for (int64_t k = 0; k < levels(space, v); k++) {
            json_array_append_new(row, json_real(*at++));
        }
        json_array_append_new(rows, row);
    }
    free(marginals);
    return cli_json_save(json_pack("{s:o}", "marginals", rows), path);
}

/* `variation`: NULL unless asked for. */
static int print_json(const sal_run *run, const sal_run_variation *variation)
{
    sal_run_summary s;
    sal_error err = { 0 };
    sal_status status = sal_run_summarise(run, &s, &err);
    if (status != SAL_OK) {
        return cli_fail(status, &err);
    }
    json_t *object = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:i, s:b}", "model",
                               s.model, "sampler", s.sampler, "variables", (json_int_t)s.variables,
                               "chains", (json_int_t)s.chains, "warmup", (json_int_t)s.warmup,
                               "draws", (json_int_t)s.draws, "thin", (json_int_t)s.thin, "seed",
                               (json_int_t)s.seed, "threads", s.threads, "stopped", s.stopped);
    json_t *ess = json_object();
    cli_json_number(ess, "min", s.ess_min);
    cli_json_number(ess, "median", s.ess_median);
    cli_json_number(ess, "max", s.ess_max);
    cli_json_number(object, "step_size", s.step_size);
    cli_json_number(object, "acceptance_rate", s.acceptance_rate);
    cli_json_number(object, "mean_jump", s.mean_jump);
    json_object_set_new(object, "ess", ess);
    cli_json_number(object, "ess_per_second", s.ess_per_second);
    cli_json_number(object, "rhat_max", s.rhat_max);
    json_object_set_new(object, "rhat_variable",
                        s.rhat_variable < 0 ? json_null() : json_integer(s.rhat_variable));
    json_object_set_new(object, "disagreeing_variables", json_integer(s.disagreeing));
    json_object_set_new(object, "chains_agree",
                        isnan(s.rhat_max) ? json_null() : json_boolean(s.rhat_max <= 1.1));
    json_t *warnings = json_array();
    char text[SAL_ERROR_SIZE];
    if (sal_run_warning(&s, text, sizeof text)) {
        json_array_append_new(warnings, json_string(text));
    }
    json_object_set_new(object, "warnings", warnings);
    cli_json_number(object, "steps_per_second", s.steps_per_second);
    cli_json_number(object, "seconds", s.seconds);
    cli_json_number(object, "log_prob_mean", s.log_prob_mean);
    if (variation) {
        cli_json_number(object, "total_variation", variation->distance);
        cli_json_number(object, "total_variation_ideal", variation->ideal);
    }
    return cli_json_print(object);
}

static int print_text(const sal_run *run, const sal_run_variation *variation)
{
    if (sal_run_print_summary(run, stdout) != SAL_OK) {
        return CLI_IO;
    }
    if (variation) {
        printf("total variation  %.4f to enumeration of %.0f states; %.4f is what as many "
               "independent draws as the ESS give\n",
               variation->distance, variation->states, variation->ideal);
    }
    return CLI_OK;
}

static int print(const sal_run *run, const options *o)
{
    sal_run_variation variation;
    sal_error err = { 0 };
    sal_status status =
        o->check_exact ? sal_run_total_variation(run, 0, o->run.threads, &variation, &err) : SAL_OK;
    if (status != SAL_OK) {
        return cli_fail(status, &err);
    }
    const sal_run_variation *found = o->check_exact ? &variation : NULL;
    return o->json ? print_json(run, found) : print_text(run, found);
}

/* ---- the command */

static int show_progress(int64_t done, int64_t total, void *data)
{
    cli_progress_show(data, "sampling", done, total);
    return cli_interrupted();
}

static int sample(sal_model *model, options *o)
{
    sal_error err = { 0 };
    sal_run *run = NULL;
    cli_progress progress = cli_progress_begin();
    o->run.progress = show_progress;
    o->run.progress_data = &progress;
    o->run.keep_draws = o->out != NULL || o->check_exact;
    cli_catch_interrupt();
    sal_status status = sal_sample(model, &o->run, &run, &err);
    cli_progress_end(&progress);
    if (status != SAL_OK) {
        return cli_fail(status, &err);
    }
    if (cli_interrupted()) {
        fprintf(stderr, "saltus: stopped; what follows is from %lld draws a chain\n",
                (long long)sal_run_n_draws(run));
    }
    int code = CLI_OK;
    if (o->marginals) {
        code = write_marginals(run, model, o->marginals);
    }
    if (code == CLI_OK && o->out) {
        status = sal_run_save(run, o->out, &err);
        code = status == SAL_OK ? CLI_OK : cli_fail(status, &err);
    }
    if (code == CLI_OK) {
        code = print(run, o);
    }
    sal_run_destroy(run);
    return code;
}

static int check_options(options *o)
{
    size_t length = o->out ? strlen(o->out) : 0;
    if (o->out && (length < 5 || strcmp(o->out + length - 4, ".npy") != 0)) {
        return cli_usage("--out %s: expected a file name that ends in .npy", o->out);
    }
    if (cli_check_output(o->out) || cli_check_output(o->marginals)) {
        return CLI_IO;
    }
    if (o->run.chains < 1 || o->run.draws < 1 || o->run.thin < 1 || o->run.warmup < 0) {
        return cli_usage("--chains, --draws and --thin must be 1 or more, --warmup 0 or more");
    }
    o->run.warmup = o->run.warmup == 0 ? -1 : o->run.warmup;
    const sali_sampler *sampler = o->run.sampler ? sali_sampler_find(o->run.sampler) : NULL;
    if (o->step_size && strcmp(o->step_size, "auto") == 0 && sampler &&
        (sampler->flags & SALI_SAMPLER_STEP_SIZE) && !sali_sampler_adapts(sampler)) {
        return cli_usage(
            "--step-size auto: sampler '%s' is not exact, so it has no acceptance that "
            "tells a good step size; give a number",
            sali_sampler_called(sampler, o->run.sampler));
    }
    if (o->step_size && strcmp(o->step_size, "auto") != 0) {
        double *value = &o->run.step_size;
        if (sali_parse_double(o->step_size, (int64_t)strlen(o->step_size), value) != SAL_OK ||
            !(*value > 0)) {
            return cli_usage("--step-size %s: expected 'auto' or a positive number", o->step_size);
        }
    }
    return CLI_OK;
}

static int run_sample(const cli_command *command, int argc, char **argv)
{
    options o = { .run = { .chains = 4, .warmup = 1000, .draws = 1000, .thin = 1 } };
    const cli_option table[] = {
        CLI_SAMPLER_OPTIONS(o.sampler),
        { "chains", CLI_INT, &o.run.chains, "N", "independent chains [4]" },
        { "warmup", CLI_INT, &o.run.warmup, "N", "steps before the first draw [1000]" },
        { "draws", CLI_INT, &o.run.draws, "N", "kept states of each chain [1000]" },
        { "thin", CLI_INT, &o.run.thin, "N", "steps from one draw to the next [1]" },
        { "step-size", CLI_TEXT, &o.step_size, "auto|X", "of samplers that have one [auto]" },
        { "preconditioner", CLI_TEXT, &o.preconditioner, "FILE.npy",
          "matrix (N, N) of pavg, such as the covariance of data" },
        { "seed", CLI_SEED, &o.run.seed, "N", "same seed, same bits [0]" },
        { "threads", CLI_THREADS, &o.run.threads, "N", "results do not depend on it [all]" },
        { "init", CLI_TEXT, &o.init, "FILE.npy", "starting codes, (V,) or (chains, V) [random]" },
        { "clamp", CLI_TEXT, &o.clamp, "I=V,...", "fix variables to codes" },
        { "evidence", CLI_TEXT, &o.evidence, "FILE", "fix variables as a .uai.evid file says" },
        { "params", CLI_TEXT, &o.params, "FILE", "parameters from .safetensors" },
        { "dtype", CLI_TEXT, &o.dtype, "f32|f64", "type of the computation [the model's]" },
        { "marginals", CLI_TEXT, &o.marginals, "FILE", "write the marginals as JSON" },
        { "out", CLI_TEXT, &o.out, "FILE.npy", "write the draws, (chains, draws, V) codes" },
        { "check-exact", CLI_FLAG, &o.check_exact, NULL,
          "total variation distance to enumeration" },
        { "json", CLI_FLAG, &o.json, NULL, "print one JSON object" },
        { 0 },
    };
    const char *specification = NULL;
    sal_model *model = NULL;
    cli_clamps list = { 0 };
    int32_t *init = NULL;
    double *preconditioner = NULL;
    int code = cli_parse(command, argc, argv, table, 1, &specification);
    code = code ? code : cli_sampler(&o.sampler, &o.run.sampler);
    code = code ? code : check_options(&o);
    code = code ? code : cli_open(specification, o.dtype, o.params, &model);
    code = code ? code : cli_clamps_read(o.clamp, o.evidence, model, &list);
    if (code == CLI_OK && o.init) {
        code = read_init(o.init, model, o.run.chains, &init);
    }
    if (code == CLI_OK && o.preconditioner) {
        code = read_preconditioner(o.preconditioner, model, &preconditioner);
    }
    if (code == CLI_OK) {
        o.run.preconditioner = preconditioner;
        o.run.clamped = list.n;
        o.run.clamp_variables = list.variables;
        o.run.clamp_codes = list.codes;
        o.run.init = init;
        code = sample(model, &o);
    }
    cli_clamps_free(&list);
    free(init);
    free(preconditioner);
    sal_model_destroy(model);
    return code;
}

const cli_command cli_sample = { "sample", "MODEL", "draw samples; print acceptance, ESS, R-hat",
                                 run_sample };
