/* SPDX-License-Identifier: MIT */
/* saltus evaluate: log Z of a model by annealed importance sampling, and so the log-likelihood of
 * held-out data. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/pictures.h"
#include "cli/training/verdict.h"

typedef struct options {
    sal_ais_options ais;
    cli_sampler_options sampler;
    cli_data data;
    const char *samples, *params, *dtype, *base;
    const char *directory; /* directory of a training, or NULL */
    int64_t fresh;         /* draws for the verdict; 0: none */
    int64_t rows;          /* held-out rows of a bound; 0: all */
    bool json, verbose;
} options;

typedef struct session {
    options *o;
    sal_model *model;
    sal_data train, test, samples; /* samples: no rows if none are given */
    double *log_base;              /* [R] fitted to the training data */
    sal_likelihood independent;    /* of the test data under log_base */
    double mmd, mmd2_v; /* root of the U-statistic, and the V-statistic; NAN without samples */
    double pearson;     /* of samples with an alignment; NAN otherwise */
    double limit;       /* of `pearson`, for so many samples */
    int ways;           /* directions that are finished */
    sal_bound bound;    /* of a denoising chain */
    int64_t bound_rows;
    bool judged; /* there is a verdict */
    sal_verdict verdict;
    cli_progress progress;
} session;

/* ---- input */

/* Copy the samples from an array, whose last dimension must be the model's variables. */
static int take_samples(session *s, const sal_array *array)
{
    const sal_space *space = sal_model_space(s->model);
    const int64_t V = s->test.variables;
    s->samples = (sal_data){ .variables = V, .rows = array->count / V };
    if (array->shape[array->ndim - 1] != V || s->samples.rows < 2) {
        return cli_error(SAL_ERR_DATA,
                         "--samples %.200s: expected two states or more of %lld codes each",
                         s->o->samples, (long long)V);
    }
    s->samples.codes = malloc((size_t)array->count);
    for (int64_t i = 0; s->samples.codes && i < array->count; i++) {
        const double code = array->codes ? array->codes[i] : array->values[i];
        const int64_t states = sal_space_states(space, i % V);
        const int64_t last = states > 0 ? states - 1 : SAL_COUNT_MOST;
        if (!(code >= 0 && code <= UINT8_MAX && code <= (double)last) || code != floor(code)) {
            return cli_error(SAL_ERR_DATA,
                             "--samples %.200s: code %g of variable %lld; expected 0 to %lld",
                             s->o->samples, code, (long long)(i % V), (long long)last);
        }
        s->samples.codes[i] = (uint8_t)code;
    }
    return s->samples.codes ? CLI_OK : cli_fail(SAL_ERR_MEMORY, &(sal_error){ 0 });
}

/* Read the file of --samples, if there is one. */
static int read_samples(session *s)
{
    sal_array array = { 0 };
    sal_error err = { 0 };
    if (!s->o->samples) {
        return CLI_OK;
    }
    sal_status status = cli_array_read(s->o->samples, SAL_COLUMNS_FIND, &array, &err);
    int code = status == SAL_OK ? take_samples(s, &array) : cli_fail(status, &err);
    sal_array_free(&array);
    return code;
}

/* ---- independent variables */

/* Fit independent variables over `space` to the training data, and evaluate the test data. */
static sal_status evaluate_independent(session *s, const sal_space *space, sal_error *err)
{
    s->log_base = cli_marginals(space, NULL);
    sal_status status =
        s->log_base ? sal_base_fit(space, &s->train, s->log_base, err) : SAL_ERR_MEMORY;
    return status ? status
                  : sal_base_log_prob(space, s->log_base, &s->test, NULL, &s->independent, err);
}

/* ---- both ways */

static int show_progress(int64_t done, int64_t total, void *data)
{
    cli_progress_show(&((session *)data)->progress, "annealing", done, total);
    return cli_interrupted();
}

/* A name for the states from which reverse paths start. */
static const char *name_reverse_states(const session *s)
{
    return s->samples.rows > 0  ? "samples"
           : s->test.height > 0 ? "held-out pictures"
                                : "held-out rows";
}

/* Set the MMD between samples and test rows; NaN without samples. */
static sal_status measure_mmd(session *s, sal_error *err)
{
    double mmd2 = NAN;
    s->mmd = s->mmd2_v = NAN;
    if (s->samples.rows == 0 || s->test.rows < 2) {
        return SAL_OK;
    }
    sal_status status = sal_stats_mmd(s->test.variables, s->samples.rows, s->samples.codes,
                                      s->test.rows, s->test.codes, SAL_MMD_U, &mmd2, err);
    s->mmd = cli_mmd_of(mmd2);
    return status ? status
                  : sal_stats_mmd(s->test.variables, s->samples.rows, s->samples.codes,
                                  s->test.rows, s->test.codes, SAL_MMD_V, &s->mmd2_v, err);
}

/* Set the Pearson correlation between samples and training rows of an alignment; NaN otherwise. */
static sal_status measure_pearson(session *s, sal_error *err)
{
    const sal_data *t = &s->train;
    s->pearson = s->limit = NAN;
    return s->samples.rows == 0 || !t->alphabet[0] || t->variables < 2
               ? SAL_OK
               : sal_stats_pair_correlation(sal_model_space(s->model), t, &s->samples,
                                            s->o->ais.threads, &s->pearson, &s->limit, err);
}

/* ---- output */

static void print_head(const session *s)
{
    printf("model            %s, %lld variables\n", sal_model_name(s->model),
           (long long)s->test.variables);
    printf("held-out rows    %lld\n", (long long)s->test.rows);
    cli_print_remarks();
}

/* Print log Z of a direction that is finished (sal_evaluate_json), before the next one begins. */
static void print_log_z(const char *direction, void *data)
{
    session *s = data;
    json_t *way = json_loads(direction, 0, NULL);
    const bool reverse = s->ways++ > 0;
    const json_int_t chains = json_integer_value(json_object_get(way, "chains"));
    cli_progress_end(&s->progress);
    s->progress = cli_progress_begin();
    if (!s->o->json && !reverse) {
        const sal_ais_options *o = &s->o->ais;
        print_head(s);
        printf("annealing        %s, %lld step%s at each of %lld temperatures\n",
               way ? json_string_value(json_object_get(way, "sampler")) : "", (long long)o->steps,
               o->steps == 1 ? "" : "s", (long long)o->temperatures);
    } else if (reverse) {
        const char *from = name_reverse_states(s);
        json_object_set_new(way, "from",
                            chains < s->o->ais.chains
                                ? json_sprintf("all %lld %s", (long long)chains, from)
                                : json_string(from));
    }
    json_object_set_new(way, "name", json_string(reverse ? "reverse" : "forward"));
    if (!s->o->json) {
        cli_render(way, "log Z {name:-10} {log_z:.3f}, standard error {log_z_error:.3f}, effective "
                        "chains {effective_chains:.1f} of {chains}< (from {from})>\n");
        fflush(stdout);
    }
    json_decref(way);
}

static void print_independent(const session *s)
{
    const bool pictures = s->test.height > 0;
    printf("independent      %.3f nats a %s, standard error %.3f (%s)\n", s->independent.mean,
           pictures ? "picture" : "row", s->independent.standard_error,
           pictures ? "pixels with the training means" : "variables with the training frequencies");
}

/* The results of sal_evaluate_json that have a log Z. */
static const char *const parts[] = { "forward", "reverse", "both_ways" };

/* The number object[key]; NaN where it is null. */
static double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_real(value) ? json_real_value(value) : NAN;
}

/* The entropy log Z - mean f in nats: log Z by both directions together, or else forward; mean f of
 * the verdict's fresh samples, without which the entropy is NaN. */
static sal_verdict_value find_entropy(const session *s, const json_t *found)
{
    const json_t *both = json_object_get(found, parts[2]);
    const json_t *way = json_is_object(both) ? both : json_object_get(found, parts[0]);
    const sal_verdict_value f =
        s->judged ? s->verdict.figures[SAL_VERDICT_F].fresh : (sal_verdict_value){ NAN, NAN };
    return (sal_verdict_value){ number_of(way, "log_z") - f.value,
                                hypot(number_of(way, "log_z_error"), f.standard_error) };
}

/* Print the object that --json prints as text, without what print_log_z has printed. */
static int print_rest(const session *s, const json_t *object)
{
    const json_t *warnings = json_object_get(object, "warnings");
    cli_render(json_object_get(object, "both_ways"),
               "<log Z both ways  {log_z:.3f}, standard error {log_z_error:.3f}\n>");
    for (int k = 0; k < 3; k++) {
        json_t *part = json_object_get(object, parts[k]);
        json_object_set_new(part, "name", json_string(k < 2 ? parts[k] : "both ways"));
        json_object_set_new(part, "row", json_string(s->test.height > 0 ? "picture" : "row"));
        cli_render(part, "<log-likelihood   {log_likelihood:.3f} nats a {row}, standard error "
                         "{log_likelihood_error:.3f} (log Z {name})\n>");
    }
    for (size_t k = 0; k < json_array_size(warnings); k++) {
        printf("%s\n", json_string_value(json_array_get(warnings, k)));
    }
    print_independent(s);
    if (!isnan(s->mmd)) {
        char mmd[CLI_MMD_TEXT];
        cli_mmd_text(s->mmd, mmd);
        printf("MMD              %s, samples to held-out rows (root of the U-statistic)\n", mmd);
        printf("MMD^2            %.4g as a V-statistic, log10 %.3f\n", s->mmd2_v, log10(s->mmd2_v));
    }
    if (!isnan(s->pearson)) {
        printf(
            "Pearson          %.4f (limit of so many samples %.3f), connected pair frequencies of "
            "samples and training rows\n",
            s->pearson, s->limit);
    }
    const double entropy = number_of(object, "entropy");
    if (!isnan(entropy)) {
        printf(
            "entropy          %.3f nats, standard error %.3f; %.4f a variable (log Z - mean f of "
            "fresh samples)\n",
            entropy, number_of(object, "entropy_error"), entropy / (double)s->test.variables);
    }
    if (s->judged) {
        cli_verdict_print(&s->verdict);
    }
    return CLI_OK;
}

/* Print all results, of which `found` are those of sal_evaluate_json. Returns the exit code. */
static int print_results(const session *s, json_t *found)
{
    static const char *const others[] = { "dead", "mean_f", "data_error" };
    for (int k = 0; k < 9; k++) {
        json_object_del(json_object_get(found, parts[k / 3]), others[k % 3]);
    }
    json_t *object = json_pack(
        "{s:o, s:I, s:I, s:I, s:I, s:O, s:O, s:s, s:O}", "model",
        cli_json_text(sal_model_name(s->model)), "variables", (json_int_t)s->test.variables,
        "test_rows", (json_int_t)s->test.rows, "chains", (json_int_t)s->o->ais.chains,
        "temperatures", (json_int_t)s->o->ais.temperatures, parts[0],
        json_object_get(found, parts[0]), parts[1], json_object_get(found, parts[1]),
        "reverse_from", s->samples.rows > 0 ? "samples" : "test", parts[2],
        json_object_get(found, parts[2]));
    const sal_verdict_value entropy = find_entropy(s, found);
    cli_json_number(object, "entropy", entropy.value);
    cli_json_number(object, "entropy_error", entropy.standard_error);
    cli_json_number(object, "independent_log_likelihood", s->independent.mean);
    cli_json_number(object, "independent_log_likelihood_error", s->independent.standard_error);
    if (!isnan(s->mmd)) {
        cli_json_number(object, "mmd", s->mmd);
        cli_json_number(object, "mmd2_v", s->mmd2_v);
    }
    if (!isnan(s->pearson)) {
        cli_json_number(object, "pearson", s->pearson);
        cli_json_number(object, "pearson_limit", s->limit);
    }
    json_object_set(object, "warnings", json_object_get(found, "warnings"));
    json_object_set_new(object, "verdict", s->judged ? cli_verdict_json(&s->verdict) : json_null());
    if (s->o->json) {
        return cli_json_print(object);
    }
    int code = print_rest(s, object);
    json_decref(object);
    return code;
}

/* ---- the verdict */

/* Judge the model by fresh samples, and by log Z of both directions (sal_evaluate_json) unless
 * `found` is NULL; no verdict after Ctrl-C. */
static sal_status find_verdict(session *s, const json_t *found, sal_error *err)
{
    bool sheet = false;
    sal_verdict_value log_z[2];
    for (int k = 0; k < 2; k++) {
        const json_t *way = json_object_get(found, k ? "reverse" : "forward");
        log_z[k] = (sal_verdict_value){ number_of(way, "log_z"), number_of(way, "log_z_error") };
    }
    sal_verdict_inputs inputs = { .train = &s->train,
                                  .test = &s->test,
                                  .forward = found ? &log_z[0] : NULL,
                                  .reverse = found ? &log_z[1] : NULL,
                                  .sampling = { .directory = s->o->directory,
                                                .draws = s->o->fresh,
                                                .seed = s->o->ais.seed,
                                                .threads = s->o->ais.threads } };
    return s->o->fresh == 0 || cli_interrupted()
               ? SAL_OK
               : cli_judge(s->model, &inputs, NULL, &s->verdict, &s->judged, &sheet, err);
}

/* ---- the whole */

/* Anneal in both directions, until Ctrl-C. *found receives what sal_evaluate_json found. */
static sal_status go_both_ways(session *s, json_t **found, sal_error *err)
{
    sal_ais_options o = s->o->ais;
    char *text = NULL;
    o.comm = cli_comm();
    o.progress = show_progress;
    o.progress_data = s;
    cli_catch_interrupt();
    s->progress = cli_progress_begin();
    sal_status status =
        sal_evaluate_json(s->model, &o, s->o->directory, &s->test,
                          s->samples.rows > 0 ? &s->samples : NULL, print_log_z, s, &text, err);
    cli_progress_end(&s->progress);
    *found = cli_json_take(text);
    return status;
}

/* Estimate log Z and print everything. Returns the exit code. */
static int evaluate_model(session *s)
{
    sal_error err = { 0 };
    json_t *found = NULL;
    sal_status status = evaluate_independent(s, sal_model_space(s->model), &err);
    s->o->ais.log_base = strcmp(s->o->base, "data") == 0 ? s->log_base : NULL;
    if (cli_is_first()) {
        status = status ? status : measure_mmd(s, &err);
        status = status ? status : measure_pearson(s, &err);
    }
    int code = cli_agree(status == SAL_OK ? CLI_OK : cli_fail(status, &err));
    if (code != CLI_OK) {
        return code;
    }
    status = go_both_ways(s, &found, &err);
    if (status == SAL_OK && s->o->verbose) {
        cli_ranks_report(s->ways * s->o->ais.temperatures, "temperature");
    }
    if (status == SAL_OK && cli_is_first()) { /* the rest is done by rank 0 only */
        status = s->ways == 2 ? find_verdict(s, found, &err) : SAL_OK;
    }
    if (status != SAL_OK) {
        code = cli_fail(status, &err);
    } else if (cli_is_first()) {
        if (s->ways < 2) {
            fprintf(stderr, "saltus: stopped; there is %s\n",
                    s->ways ? "the forward estimate only" : "no estimate of log Z yet");
        }
        code = s->ways == 0 ? CLI_FAULT : print_results(s, found);
    }
    json_decref(found);
    return code;
}

/* ---- denoising chains */

static int show_level(int64_t done, int64_t total, void *data)
{
    cli_progress_show(data, "levels", done, total);
    return cli_interrupted();
}

/* Compute the bound on the log-likelihood of the first rows of the test data, and the likelihood of
 * the same rows under independent variables. */
static sal_status find_bound(session *s, sal_error *err)
{
    sal_trajectory *chain = NULL;
    sal_model *rows_model = NULL; /* over the variables of rows */
    const int64_t rows = s->o->rows > 0 && s->o->rows < s->test.rows ? s->o->rows : s->test.rows;
    sal_status status = sal_trajectory_open(s->o->directory, s->model, &chain, err);
    const sal_bound_options o = { .effort = (double)s->o->ais.temperatures / 1000,
                                  .seed = s->o->ais.seed,
                                  .threads = s->o->ais.threads,
                                  .progress = show_level,
                                  .progress_data = &s->progress };
    status = status ? status : sal_trajectory_model(chain, s->model, &rows_model, err);
    s->bound_rows = rows;
    const sal_data test = s->test;
    s->test.rows = rows; /* both evaluate the same rows */
    status = status ? status : evaluate_independent(s, sal_model_space(rows_model), err);
    s->test = test;
    s->progress = cli_progress_begin();
    cli_catch_interrupt();
    status = status ? status
                    : sal_denoising_bound(s->model, chain, rows, s->test.codes, &o, &s->bound, err);
    cli_progress_end(&s->progress);
    sal_model_destroy(rows_model);
    sal_trajectory_destroy(chain);
    return status;
}

/* Print the bound, and whether its ends are too far apart. */
static void print_bound(const session *s)
{
    const char *row = s->test.height > 0 ? "picture" : "row";
    const sal_bound *b = &s->bound;
    printf("bound, upper end %.3f nats a %s, standard error %.3f (by log Z forward)\n", b->forward,
           row, b->forward_error);
    printf("bound, lower end %.3f nats a %s, standard error %.3f (by log Z in reverse)\n",
           b->reverse, row, b->reverse_error);
    printf("                 of the log-likelihood of the first %lld rows; from end to end %.3f, "
           "standard error %.3f%s\n",
           (long long)s->bound_rows, b->gap, b->gap_error,
           b->gap > 2 ? ": more --temperatures bring them together" : "");
    print_independent(s);
}

/* Print the bound as JSON. */
static int print_bound_json(const session *s)
{
    const sal_bound *b = &s->bound;
    json_t *object =
        json_pack("{s:o, s:I, s:I, s:I}", "model", cli_json_text(sal_model_name(s->model)),
                  "variables", (json_int_t)s->test.variables, "test_rows", (json_int_t)s->test.rows,
                  "bound_rows", (json_int_t)s->bound_rows);
    cli_json_number(object, "bound_forward", b->forward);
    cli_json_number(object, "bound_forward_error", b->forward_error);
    cli_json_number(object, "bound_reverse", b->reverse);
    cli_json_number(object, "bound_reverse_error", b->reverse_error);
    cli_json_number(object, "bound_gap", b->gap);
    cli_json_number(object, "bound_gap_error", b->gap_error);
    cli_json_number(object, "independent_log_likelihood", s->independent.mean);
    cli_json_number(object, "independent_log_likelihood_error", s->independent.standard_error);
    json_object_set_new(object, "verdict", s->judged ? cli_verdict_json(&s->verdict) : json_null());
    return cli_json_print(object);
}

/* Evaluate a denoising chain: by a bound instead of log Z. Returns the exit code. */
static int evaluate_chain(session *s)
{
    sal_error err = { 0 };
    if (!s->o->directory) {
        return cli_usage(
            "evaluate: %s is a conditional energy f(x, t): its bound wants the noise of "
            "its training, in the training's directory",
            sal_model_name(s->model));
    }
    sal_status status = find_bound(s, &err);
    if (status == SAL_OK && s->bound.stopped) {
        fprintf(stderr, "saltus: stopped; there is no bound yet\n");
        return CLI_FAULT;
    }
    if (status == SAL_OK && !s->o->json) {
        print_head(s);
        print_bound(s);
    }
    status = status ? status : find_verdict(s, NULL, &err);
    if (status != SAL_OK) {
        return cli_fail(status, &err);
    }
    if (s->o->json) {
        return print_bound_json(s);
    }
    if (s->judged) {
        cli_verdict_print(&s->verdict);
    }
    return CLI_OK;
}

/* Check the options and complete them; returns an exit code. */
static int check_options(const char *specification, options *o)
{
    int code = cli_data_check("evaluate", specification, &o->data);
    if (code != CLI_OK) {
        return code;
    }
    if (o->fresh < 0 || o->fresh > INT32_MAX) {
        return cli_usage("evaluate: --fresh must be 0 to %d", INT32_MAX);
    }
    if (o->rows < 0 || o->rows > INT32_MAX) {
        return cli_usage("evaluate: --rows must be 0 to %d", INT32_MAX);
    }
    if (strcmp(o->base, "data") != 0 && strcmp(o->base, "uniform") != 0) {
        return cli_usage("--base %s: expected data or uniform", o->base);
    }
    code = cli_resolve(&(cli_library){ sal_option_table_of(SAL_OPTIONS_AIS), &o->ais });
    return code ? code : cli_sampler(&o->sampler, &o->ais.sampler, false);
}

/* The first option given that does not apply to a denoising chain; NULL: none is given. */
static const char *given_for_log_z(int argc, char **argv)
{
    static const char *const names[] = { "sampler", "chains",    "steps",  "schedule",
                                         "base",    "step-size", "samples" };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if (cli_given(argc, argv, names[k])) {
            return names[k];
        }
    }
    return NULL;
}

/* The command `saltus evaluate`. Returns an exit code. */
static int run_evaluate(const cli_command *command, int argc, char **argv)
{
    options o = { .data = CLI_DATA_START, .fresh = 1000, .rows = 200, .base = "data" };
    cli_option table[CLI_MOST_OPTIONS] = {
        CLI_DATA_OPTIONS(o.data),
        { "samples", CLI_TEXT, &o.samples, "FILE",
          "draws of the model (sample --out), for the reverse starts and the MMD" },
        { "params", CLI_TEXT, &o.params, "FILE",
          "read parameters from .safetensors [a directory's ema.safetensors, or the model's own]" },
        { "base", CLI_TEXT, &o.base, "data|uniform", "independent variables to start from [data]" },
        CLI_SAMPLER_OPTIONS(o.sampler),
        { "fresh", CLI_INT, &o.fresh, "N",
          "number of samples from scratch, for the verdict; 0: none [1000]" },
        { "rows", CLI_INT, &o.rows, "N",
          "of a denoising chain: held-out rows for the bound; 0: all [200]" },
        { "dtype", CLI_TEXT, &o.dtype, "f32|f64", "type of the computation [the model's]" },
        CLI_VERBOSE_OPTION(o.verbose),
        { "json", CLI_FLAG, &o.json, NULL, "print one JSON object" },
        { 0 },
    };
    const char *specification = "";
    session s = { .o = &o };
    cli_library library = { sal_option_table_of(SAL_OPTIONS_AIS), &o.ais };
    cli_add_options(table, &library);
    int code = cli_parse(command, argc, argv, table, 1, &specification);
    code = code ? code : check_options(specification, &o);
    code = code ? code : cli_open(specification, o.dtype, o.params, &s.model);
    if (code == CLI_OK) {
        cli_data_suit(s.model, &o.data);
        code = cli_data_read(&o.data, s.model, &s.train, &s.test);
    }
    code = code ? code : cli_check_width(o.data.path, &s.train, s.model);
    code = code ? code : cli_draw_pixels(&s.train, &s.test);
    code = code ? code : read_samples(&s);
    o.directory = cli_is_training(specification) ? specification : NULL;
    code = cli_agree(code);
    const char *other = given_for_log_z(argc, argv);
    const bool levels =
        code == CLI_OK && s.test.variables < sal_space_variables(sal_model_space(s.model));
    if (levels && other) {
        code =
            cli_usage("evaluate: --%s does not go with the bound of a denoising chain, which has "
                      "no log Z",
                      other);
    }
    code = code ? code : levels ? evaluate_chain(&s) : evaluate_model(&s);
    sal_model_destroy(s.model);
    sal_data_destroy(&s.train);
    sal_data_destroy(&s.test);
    sal_data_destroy(&s.samples);
    free(s.log_base);
    return code;
}

const cli_command cli_evaluate = { "evaluate", "MODEL",
                                   "estimate the log-likelihood of held-out data", run_evaluate };
