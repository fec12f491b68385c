/* SPDX-License-Identifier: MIT */
/* saltus exact: log Z and marginals of a model with few states, of small induced width, or with an
 * oracle of its own. */
#include <math.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/json.h"

typedef struct options {
    sal_exact_options exact;
    const char *dtype, *params, *evidence, *clamp, *marginals, *out_pr, *memory;
    bool json;
} options;

/* PR, a format of the UAI competitions: log10 of Z. */
static sal_status save_pr(double log_z, const char *path, sal_error *err)
{
    const double log10_z = log_z / M_LN10;
    char text[64];
    int size = 0;
    for (int digits = 15; digits <= 17 && (size == 0 || strtod(text + 3, NULL) != log10_z);
         digits++) {
        size = snprintf(text, sizeof text, "PR\n%.*g\n", digits, log10_z);
    }
    return sal_file_write(path, text, size, err);
}

static int print_json(const sal_model *model, const sal_exact *exact, int64_t clamped)
{
    json_t *object = json_pack("{s:o, s:s, s:I, s:I}", "model",
                               cli_json_text(sal_model_name(model)), "oracle", exact->oracle,
                               "variables", (json_int_t)sal_space_variables(sal_model_space(model)),
                               "clamped", (json_int_t)clamped);
    cli_json_number(object, "log_z", exact->log_z);
    cli_json_number(object, "log_prob_mean", exact->log_prob_mean);
    cli_json_number(object, "entropy", exact->log_z - exact->log_prob_mean);
    if (object && exact->width >= 0) {
        json_object_set_new(object, "width", json_integer(exact->width));
        json_object_set_new(object, "memory", json_integer((json_int_t)exact->memory));
    }
    return cli_json_print_digits(object, CLI_EXACT_DIGITS);
}

static int print_text(const sal_model *model, const sal_exact *exact, int64_t clamped)
{
    printf("model            %s, %lld variables", sal_model_name(model),
           (long long)sal_space_variables(sal_model_space(model)));
    if (clamped > 0) {
        printf(" (and %lld clamped)", (long long)clamped);
    }
    printf("\nby               %s", exact->oracle);
    if (exact->width >= 0) {
        printf(", induced width %d, %.3g MiB of tables", exact->width, exact->memory / 0x1p20);
    }
    printf("\nlog Z            %.10g (natural)\n", exact->log_z);
    if (!isnan(exact->log_prob_mean)) { /* not every oracle can tell */
        printf("mean log prob    %.10g (unnormalised)\n", exact->log_prob_mean);
        printf("entropy          %.10g\n", exact->log_z - exact->log_prob_mean);
    }
    return CLI_OK;
}

static int answer(const sal_model *model, int64_t clamped, const options *o)
{
    const sal_space *space = sal_model_space(model);
    int64_t total = 0;
    for (int64_t v = 0; v < sal_space_variables(space); v++) {
        total += sal_space_states(space, v);
    }
    sal_error err = { 0 };
    sal_exact exact;
    double *marginals = malloc((size_t)total * sizeof *marginals);
    sal_status status = marginals
                            ? sal_model_exact(model, &o->exact, &exact, marginals, NULL, NULL, &err)
                            : SAL_ERR_MEMORY;
    if (status == SAL_OK && o->marginals) {
        status = sal_marginals_write(o->marginals, model, marginals, exact.log_z, &err);
    }
    if (status == SAL_OK && o->out_pr) {
        status = save_pr(exact.log_z, o->out_pr, &err);
    }
    free(marginals);
    return status    ? cli_fail(status, &err)
           : o->json ? print_json(model, &exact, clamped)
                     : print_text(model, &exact, clamped);
}

static int run_exact(const cli_command *command, int argc, char **argv)
{
    options o = { .dtype = "f64" };
    const cli_option table[] = {
        { "evidence", CLI_TEXT, &o.evidence, "FILE",
          "fix variables to the evidence in a .uai.evid file" },
        { "clamp", CLI_TEXT, &o.clamp, "I=V,...", "fix variables to codes, by numbers or names" },
        { "params", CLI_TEXT, &o.params, "FILE", "read parameters from .safetensors" },
        { "dtype", CLI_TEXT, &o.dtype, "f32|f64", "type of the computation [f64]" },
        { "limit", CLI_INT, &o.exact.limit, "N", "largest number of states to enumerate [2^20]" },
        { "memory", CLI_TEXT, &o.memory, "SIZE",
          "largest size of elimination's tables, as 512M, 4G [1G]" },
        { "threads", CLI_THREADS, &o.exact.threads, "N",
          "number of threads; results do not depend on it [all]" },
        { "marginals", CLI_TEXT, &o.marginals, "FILE",
          "write log Z and the marginals as JSON, or as UAI results to NAME.MAR" },
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
    code = code ? code : cli_open(specification, o.dtype, o.params, &model);
    code = code ? code : cli_clamps_read(o.clamp, o.evidence, model, &list);
    if (code == CLI_OK) {
        int64_t all = sal_space_variables(sal_model_space(model));
        code = cli_clamps_apply(&list, &model);
        code = code ? code : answer(model, all - sal_space_variables(sal_model_space(model)), &o);
    }
    cli_clamps_free(&list);
    sal_model_destroy(model);
    return code;
}

const cli_command cli_exact = { "exact", "MODEL",
                                "compute log Z and marginals of a small or narrow model",
                                run_exact };
