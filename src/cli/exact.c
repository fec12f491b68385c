/* SPDX-License-Identifier: MIT */
/* saltus exact: log Z and marginals, and independent draws, of a model with few states, of small
 * induced width, or with an exact method of its own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/text.h"

typedef struct options {
    sal_exact_options exact;
    cli_fixed fixed;
    const char *dtype, *params, *sums, *marginals, *out_pr, *memory;
    int64_t draws; /* 0: none */
    uint64_t seed;
    const char *out; /* the file of the draws */
    bool json;
} options;

/* How many variables are free, and how many are clamped. */
typedef struct counts {
    int64_t variables, clamped;
} counts;

/* Print the answers as text, from the object that --json prints; the object is taken over. Returns
 * the exit code. */
static int print_text(json_t *object, double memory)
{
    if (json_integer_value(json_object_get(object, "clamped")) == 0) {
        json_object_del(object, "clamped");
    }
    json_object_set_new(object, "mebibytes", json_real(memory / 0x1p20));
    cli_render(object,
               "model            {model}, {variables} variables< (and {clamped} clamped)>\n");
    cli_print_remarks();
    cli_render(object, "by               {oracle}"
                       "<, induced width {width}, {mebibytes:.3g} MiB of tables>\n"
                       "log Z            {log_z:.10g} (natural)\n"
                       "<mean log prob    {log_prob_mean:.10g} (unnormalised)\n"
                       "entropy          {entropy:.10g}\n>"
                       "<draws            {draws}, independent, in {out}\n>");
    json_decref(object);
    return CLI_OK;
}

/* Write and print the answers. `marginals` belong to the variables of `model`, which has lost
 * `clamped` others. Returns the exit code. */
static int report_answers(const sal_model *model, const sal_exact *exact, const double *marginals,
                          counts n, const options *o)
{
    sal_error err = { 0 };
    char *answers = NULL;
    sal_status status = sal_exact_json(exact, &answers, &err);
    json_t *object =
        json_pack("{s:o, s:n, s:I, s:I}", "model", cli_json_text(sal_model_name(model)),
                  "oracle", /* in its place */
                  "variables", (json_int_t)n.variables, "clamped", (json_int_t)n.clamped);
    json_object_update_new(object, cli_json_take(answers));
    cli_remark(json_string_value(json_object_get(object, "warning")), true);
    json_object_del(object, "warning");
    if (status == SAL_OK && o->marginals) {
        status = sal_marginals_write(o->marginals, model, marginals, exact->log_z, &err);
    }
    if (status == SAL_OK && o->out_pr) {
        status = cli_save_pr(exact->log_z, o->out_pr, &err);
    }
    if (o->draws > 0) {
        json_object_set_new(object, "draws", json_integer(o->draws));
        json_object_set_new(object, "out", cli_json_text(o->out));
    }
    if (status != SAL_OK) {
        json_decref(object);
        return cli_fail(status, &err);
    }
    return o->json ? cli_json_print_digits(object, CLI_EXACT_DIGITS)
                   : print_text(object, exact->memory);
}

/* ---- draws */

/* Draw from a model, or repeat its state `fixed` if that is not NULL, and write the draws to --out,
 * if any are wanted. Returns the exit code. */
static int draw_states(const sal_model *model, const int32_t *fixed, const options *o)
{
    const int64_t V = sal_space_variables(sal_model_space(model));
    sal_error err = { 0 };
    if (o->draws == 0) {
        return CLI_OK;
    }
    const bool fits = o->draws <= PTRDIFF_MAX / (int64_t)sizeof(int32_t) / V;
    int32_t *codes = fits ? malloc((size_t)(o->draws * V) * sizeof *codes) : NULL;
    sal_status status = codes ? SAL_OK : SAL_ERR_MEMORY;
    for (int64_t d = 0; status == SAL_OK && fixed && d < o->draws; d++) {
        memcpy(codes + d * V, fixed, (size_t)V * sizeof *codes);
    }
    if (status == SAL_OK && !fixed) {
        status = sal_model_exact_draws(model, &o->exact, o->draws, o->seed, codes, NULL, &err);
    }
    status = status ? status : sal_draws_write(o->out, model, o->draws, codes, &err);
    free(codes);
    return status ? cli_fail(status, &err) : CLI_OK;
}

/* Check --draws and --out, and claim the file. Returns the exit code. */
static int check_draws(const options *o)
{
    if (o->draws < 0 || (o->draws > 0) != (o->out != NULL)) {
        return cli_usage("--draws N, of 1 or more, and --out FILE.npy go together: give both or "
                         "neither");
    }
    if (o->out && !cli_has_suffix(o->out, ".npy")) {
        return cli_usage("--out %s: expected a file name that ends in .npy", o->out);
    }
    return cli_claim_output(o->out);
}

/* ---- some variables free */

/* Compute, write and print the answers about a model that has lost `clamped` variables. Returns the
 * exit code. */
static int answer_model(const sal_model *model, int64_t clamped, const options *o)
{
    const sal_space *space = sal_model_space(model);
    sal_error err = { 0 };
    sal_exact exact;
    double *marginals = cli_marginals(space, NULL);
    sal_status status = marginals
                            ? sal_model_exact(model, &o->exact, &exact, marginals, NULL, NULL, &err)
                            : SAL_ERR_MEMORY;
    const counts n = { sal_space_variables(space), clamped };
    int code = status ? cli_fail(status, &err) : draw_states(model, NULL, o);
    code = code ? code : report_answers(model, &exact, marginals, n, o);
    free(marginals);
    return code;
}

/* ---- all variables clamped */

/* The codes [V] of the state that a list fixes, to be freed; NULL if the list leaves variables
 * free, fixes one twice, or names one that does not exist: clamping the model then reports the
 * mistake. */
static int32_t *fixed_state(const sal_model *model, const cli_clamps *list)
{
    const int64_t V = sal_space_variables(sal_model_space(model));
    int32_t *codes = list->n == V ? malloc((size_t)V * sizeof *codes) : NULL;
    for (int64_t v = 0; codes && v < V; v++) {
        codes[v] = -1;
    }
    for (int64_t k = 0; codes && k < V; k++) {
        const int64_t v = list->variables[k];
        if (v < 0 || v >= V || codes[v] >= 0) {
            free(codes);
            return NULL;
        }
        codes[v] = list->codes[k];
    }
    return codes;
}

/* Write and print the answers for a single state: log Z is f of the state, the log-probability of
 * the evidence. Returns the exit code. */
static int answer_state(const sal_model *model, const int32_t *codes, const options *o)
{
    const sal_space *space = sal_model_space(model);
    const counts n = { 0, sal_space_variables(space) };
    sal_error err = { 0 };
    double f, *marginals = cli_marginals(space, NULL), *row = marginals;
    sal_status status =
        marginals ? sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err) : SAL_ERR_MEMORY;
    int code = status ? cli_fail(status, &err) : CLI_OK;
    if (code == CLI_OK && isinf(f)) {
        code = cli_error(SAL_ERR_MODEL,
                         "%s: every variable is fixed, and f is -inf there: the state has "
                         "probability 0",
                         sal_model_name(model));
    }
    for (int64_t v = 0; code == CLI_OK && v < n.clamped; row += cli_levels(space, v++)) {
        const int64_t last = cli_levels(space, v) - 1; /* or more, for a count */
        row[codes[v] < last ? codes[v] : last] = 1;
    }
    const sal_exact exact = { .log_z = f,
                              .log_prob_mean = f,
                              .oracle = "the value of f, as every variable is fixed",
                              .width = -1 };
    code = code ? code : draw_states(model, codes, o);
    code = code ? code : report_answers(model, &exact, marginals, n, o);
    free(marginals);
    return code;
}

static int run_exact(const cli_command *command, int argc, char **argv)
{
    options o = { .dtype = "f64" };
    cli_library exact = { sal_option_table_of(SAL_OPTIONS_EXACT), &o.exact };
    const cli_option table[] = {
        CLI_FIXED_OPTIONS(o.fixed),
        CLI_FIX_SUM_OPTION(o.sums),
        { "params", CLI_TEXT, &o.params, "FILE", "read parameters from .safetensors" },
        { "dtype", CLI_TEXT, &o.dtype, "f32|f64", "type of the computation [f64]" },
        { "limit", CLI_INT, &o.exact.limit, "N",
          "largest number of states to enumerate, of the model or of hidden units [2^20]" },
        { "memory", CLI_TEXT, &o.memory, "SIZE",
          "largest size of elimination's tables, as 512M, 4G [1G]" },
        { "threads", CLI_LIBRARY, &exact, "N",
          "number of threads; results do not depend on it [all]" },
        { "marginals", CLI_TEXT, &o.marginals, "FILE",
          "write log Z and the marginals as JSON, or as UAI results to NAME.MAR" },
        { "draws", CLI_INT, &o.draws, "N", "draw N independent states, with --out" },
        { "out", CLI_TEXT, &o.out, "FILE.npy",
          "with --draws: write the states as an array (1, draws, variables)" },
        { "seed", CLI_SEED, &o.seed, "N", "seed of the draws [0]" },
        { "out-pr", CLI_TEXT, &o.out_pr, "FILE", "write log10 Z as UAI results" },
        { "json", CLI_FLAG, &o.json, NULL, "print one JSON object" },
        { 0 },
    };
    const char *specification = NULL;
    sal_model *model = NULL;
    cli_clamps list = { 0 };
    int code = cli_parse(command, argc, argv, table, 1, &specification);
    code = code ? code : cli_bytes("memory", o.memory, &o.exact.memory);
    code = code ? code : cli_claim_output(o.marginals);
    code = code ? code : cli_claim_output(o.out_pr);
    code = code ? code : check_draws(&o);
    code = code ? code : cli_open_fixed(specification, o.dtype, o.params, o.sums, &model);
    code = code ? code : cli_clamps_read(&o.fixed, model, &list);
    int32_t *codes = code == CLI_OK ? fixed_state(model, &list) : NULL;
    if (codes) {
        code = answer_state(model, codes, &o);
    } else if (code == CLI_OK) {
        int64_t all = sal_space_variables(sal_model_space(model));
        code = cli_clamps_apply(&list, &model);
        code = code ? code
                    : answer_model(model, all - sal_space_variables(sal_model_space(model)), &o);
    }
    free(codes);
    cli_clamps_free(&list);
    sal_model_destroy(model);
    return code;
}

const cli_command cli_exact = { "exact", "MODEL",
                                "compute log Z and marginals of a small or narrow model",
                                run_exact };
