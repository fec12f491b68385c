/* SPDX-License-Identifier: MIT */
/* saltus stats: convergence diagnostics of an array of draws. */
#include <math.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/help/help.h"
#include "cli/json.h"

/* A row of the table, of an object of json_row. */
#define ROW                                                                             \
    "{variable:8} {mean:10.4g} {sd:10.4g} {rhat:7.3f} {ess_bulk:9.1f} {ess_tail:9.1f} " \
    "{ess_basic:9.1f} {ess_tfp:9.1f} {mcse_mean:10.3g}\n"

static void print_header(void)
{
    printf("%8s %10s %10s %7s %9s %9s %9s %9s %10s\n", "variable", "mean", "sd", "R-hat",
           "ESS bulk", "ESS tail", "ESS basic", "ESS TFP", "MCSE mean");
}

/* The diagnostics of a variable as an object. */
static json_t *json_row(int64_t variable, const sal_diagnostics *d)
{
    json_t *row = json_pack("{s:I}", "variable", (json_int_t)variable);
    cli_json_number(row, "mean", d->mean);
    cli_json_number(row, "sd", d->sd);
    cli_json_number(row, "rhat", d->rhat);
    cli_json_number(row, "rhat_bulk", d->rhat_bulk);
    cli_json_number(row, "rhat_basic", d->rhat_basic);
    cli_json_number(row, "ess_bulk", d->ess_bulk);
    cli_json_number(row, "ess_tail", d->ess_tail);
    cli_json_number(row, "ess_basic", d->ess_basic);
    cli_json_number(row, "ess_tfp", d->ess_tfp);
    cli_json_number(row, "autocorrelation_time", d->autocorrelation_time);
    cli_json_number(row, "mcse_mean", d->mcse_mean);
    cli_json_number(row, "mcse_sd", d->mcse_sd);
    return row;
}

/* Clear the figures that mean nothing where chains never moved (`all`: no chain moved). Moments
 * stay, and so does, if other chains moved, an R-hat that shows that the chains disagree. */
static void forget_mixing(sal_diagnostics *d, bool all)
{
    if (all || !(d->rhat > SAL_RHAT_LIMIT)) {
        d->rhat = d->rhat_bulk = d->rhat_folded = d->rhat_basic = NAN;
    }
    d->ess_bulk = d->ess_tail = d->ess_basic = d->ess_tfp = NAN;
    d->autocorrelation_time = d->mcse_mean = d->mcse_sd = NAN;
}

/* Print diagnostics of each variable of draws (chains, draws) or (chains, draws, variables).
 * Returns the exit code. */
static int diagnose_draws(const sal_array *array, bool json)
{
    const int64_t chains = array->shape[0], draws = array->shape[1], unmoved = array->unmoved;
    const int64_t variables = array->ndim == 3 ? array->shape[2] : 1;
    double *series = malloc((size_t)(chains * draws) * sizeof *series);
    json_t *rows = json_array();
    sal_error err = { 0 };
    sal_status status = series && rows ? SAL_OK : SAL_ERR_MEMORY;
    if (!json) {
        cli_print_remarks();
        printf("%lld chains x %lld draws\n", (long long)chains, (long long)draws);
        print_header();
    }
    for (int64_t v = 0; status == SAL_OK && v < variables; v++) {
        sal_diagnostics d;
        for (int64_t i = 0; i < chains * draws; i++) {
            series[i] = array->values[i * variables + v];
        }
        status = sal_stats_diagnose(chains, draws, series, &d, &err);
        if (unmoved > 0) {
            forget_mixing(&d, unmoved == chains);
        }
        if (status == SAL_OK) {
            json_array_append_new(rows, json_row(v, &d));
        }
        if (status == SAL_OK && !json) {
            cli_render(json_array_get(rows, 0), ROW);
            json_array_clear(rows);
        }
    }
    free(series);
    if (status != SAL_OK) {
        json_decref(rows);
        return cli_fail(status, &err);
    }
    if (json) {
        return cli_json_print(json_pack("{s:I, s:I, s:o, s:o}", "chains", (json_int_t)chains,
                                        "draws", (json_int_t)draws, "unmoved_chains",
                                        unmoved > 0 ? json_integer(unmoved) : json_null(),
                                        "variables", rows));
    }
    json_decref(rows);
    return CLI_OK;
}

static int run_stats(const cli_command *command, int argc, char **argv)
{
    bool json = false;
    const char *columns = NULL;
    sal_columns_from columns_from;
    const cli_option table[] = {
        CLI_COLUMNS_FROM_OPTION(columns),
        { "json", CLI_FLAG, &json, NULL, "print one JSON object" },
        { 0 },
    };
    const char *path = NULL;
    sal_array array = { 0 };
    sal_error err = { 0 };
    int code = cli_parse(command, argc, argv, table, 1, &path);
    code = code ? code : cli_columns_from(columns, &columns_from);
    if (code != CLI_OK) {
        return code;
    }
    sal_status status = cli_array_read(path, columns_from, &array, &err);
    if (status != SAL_OK) {
        return cli_fail(status, &err);
    }
    if (array.ndim < 2 || array.ndim > 3 || array.count == 0) {
        sal_array_free(&array);
        snprintf(err.message, sizeof err.message,
                 "%s: expected an array of shape (chains, draws) or (chains, draws, variables)",
                 path);
        return cli_fail(SAL_ERR_DATA, &err);
    }
    if (array.unmoved > 0 && !json) {
        cli_print_paragraphs(
            array.warning ? array.warning : "Some chains never moved: there is no ESS.", 0, 78);
        putchar('\n');
    }
    code = diagnose_draws(&array, json);
    sal_array_free(&array);
    return code;
}

const cli_command cli_stats = { "stats", "FILE", "compute R-hat, ESS and MCSE of draws",
                                run_stats };
