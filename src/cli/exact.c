/* saltus exact: log Z and marginals of a model with few states or of small induced width. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "models/clamp.h"

typedef struct options {
    sal_exact_options exact;
    const char *dtype, *params, *evidence, *clamp, *marginals, *memory;
    bool json;
} options;

/* One row of probabilities for each variable of the inner model; clamped ones are point masses. */
static json_t *all_rows(const sal_model *model, const double *marginals)
{
    const sal_space *space = sal_model_space(model);
    const sal_space *whole = sal_model_space(sali_clamp_inner(model));
    int64_t V = sal_space_variables(space), all = sal_space_variables(whole), next = 0;
    int64_t *original = malloc((size_t)V * sizeof *original);
    int32_t *codes = calloc((size_t)V, sizeof *codes);
    int32_t *full = malloc((size_t)all * sizeof *full);
    json_t *rows = original && codes && full ? json_array() : NULL;
    if (rows) {
        sali_clamp_variables(model, original);
        sali_clamp_expand(model, 1, codes, full);
    }
    for (int64_t v = 0; rows && v < all; v++) {
        bool is_free = next < V && original[next] == v;
        json_t *row = json_array();
        for (int32_t k = 0; k < sal_space_states(whole, v); k++) {
            json_array_append_new(row, json_real(is_free ? *marginals++ : full[v] == k));
        }
        json_array_append_new(rows, row);
        next += is_free;
    }
    free(original);
    free(codes);
    free(full);
    return rows;
}

/* The file's `evidence` tells a reader of it how many variables were fixed. */
static int save(const sal_model *model, const sal_exact *exact, int64_t clamped,
                const double *marginals, const char *path)
{
    json_t *rows = all_rows(model, marginals);
    return cli_json_save(rows ? json_pack("{s:f, s:I, s:o}", "log_z", exact->log_z, "evidence",
                                          (json_int_t)clamped, "marginals", rows)
                              : NULL,
                         CLI_EXACT_DIGITS, path);
}

static int print_json(const sal_model *model, const sal_exact *exact, int64_t clamped)
{
    json_t *object = json_pack(
        "{s:s, s:s, s:I, s:I, s:f, s:f, s:f}", "model", sal_model_name(model), "oracle",
        exact->oracle, "variables", (json_int_t)sal_space_variables(sal_model_space(model)),
        "clamped", (json_int_t)clamped, "log_z", exact->log_z, "log_prob_mean",
        exact->log_prob_mean, "entropy", exact->log_z - exact->log_prob_mean);
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
    printf("mean log prob    %.10g (unnormalised)\n", exact->log_prob_mean);
    printf("entropy          %.10g\n", exact->log_z - exact->log_prob_mean);
    return CLI_OK;
}

static int answer(const sal_model *model, const options *o)
{
    const sal_space *space = sal_model_space(model);
    int64_t total = 0, clamped = sal_space_variables(sal_model_space(sali_clamp_inner(model))) -
                                 sal_space_variables(space);
    for (int64_t v = 0; v < sal_space_variables(space); v++) {
        total += sal_space_states(space, v);
    }
    sal_error err = { 0 };
    sal_exact exact;
    double *marginals = malloc((size_t)total * sizeof *marginals);
    sal_status status = marginals
                            ? sal_model_exact(model, &o->exact, &exact, marginals, NULL, NULL, &err)
                            : SAL_ERR_MEMORY;
    int code = status == SAL_OK ? CLI_OK : cli_fail(status, &err);
    if (code == CLI_OK && o->marginals) {
        code = save(model, &exact, clamped, marginals, o->marginals);
    }
    if (code == CLI_OK) {
        code = o->json ? print_json(model, &exact, clamped) : print_text(model, &exact, clamped);
    }
    free(marginals);
    return code;
}

static int run_exact(const cli_command *command, int argc, char **argv)
{
    options o = { .dtype = "f64" };
    const cli_option table[] = {
        { "evidence", CLI_TEXT, &o.evidence, "FILE", "fix variables as a .uai.evid file says" },
        { "clamp", CLI_TEXT, &o.clamp, "I=V,...", "fix variables to codes" },
        { "params", CLI_TEXT, &o.params, "FILE", "parameters from .safetensors" },
        { "dtype", CLI_TEXT, &o.dtype, "f32|f64", "type of the computation [f64]" },
        { "limit", CLI_INT, &o.exact.limit, "N", "the most states to enumerate [2^20]" },
        { "memory", CLI_TEXT, &o.memory, "SIZE",
          "most for elimination's tables, as 512M, 4G [1G]" },
        { "threads", CLI_THREADS, &o.exact.threads, "N", "results do not depend on it [all]" },
        { "marginals", CLI_TEXT, &o.marginals, "FILE", "write log Z and the marginals as JSON" },
        { "json", CLI_FLAG, &o.json, NULL, "print one JSON object" },
        { 0 },
    };
    const char *specification = NULL;
    sal_model *model = NULL;
    cli_clamps list = { 0 };
    int code = cli_parse(command, argc, argv, table, 1, &specification);
    code = code ? code : cli_bytes("memory", o.memory, &o.exact.memory);
    code = code ? code : cli_check_output(o.marginals);
    code = code ? code : cli_open(specification, o.dtype, o.params, &model);
    code = code ? code : cli_clamps_read(o.clamp, o.evidence, model, &list);
    code = code ? code : cli_clamps_apply(&list, &model);
    code = code ? code : answer(model, &o);
    cli_clamps_free(&list);
    sal_model_destroy(model);
    return code;
}

const cli_command cli_exact = { "exact", "MODEL", "log Z and marginals of a small or narrow model",
                                run_exact };
