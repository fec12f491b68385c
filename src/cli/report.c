/* SPDX-License-Identifier: MIT */
/* saltus report: a page from what other commands wrote. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static int run_report(const cli_command *command, int argc, char **argv)
{
    sal_report_options o = { 0 };
    const char *out = NULL;
    const cli_option table[] = {
        { "out", CLI_TEXT, &out, "PAGE.html", "write the page to this file; also -o PAGE.html" },
        { "exact", CLI_TEXT, &o.exact, "FILE",
          "true marginals of the runs, as exact --marginals writes [computed where cheap]" },
        { "model", CLI_TEXT, &o.model, "MODEL",
          "the model of the runs, for exact marginals [the one that the file names]" },
        { 0 },
    };
    const char **paths = calloc((size_t)argc + 1, sizeof *paths);
    if (!paths) {
        return cli_fail(SAL_ERR_MEMORY, &(sal_error){ 0 });
    }
    int code = cli_parse(command, argc, argv, table, argc, paths);
    int64_t n = 0;
    while (code == CLI_OK && paths[n]) {
        n++;
    }
    if (code == CLI_OK && !out) {
        code = cli_usage("report: --out PAGE.html is needed");
    }
    code = code ? code : cli_claim_output(out);
    if (code == CLI_OK) {
        sal_error err = { 0 };
        sal_status status = sal_report_write(n, paths, &o, out, &err);
        code = status == SAL_OK ? CLI_OK : cli_fail(status, &err);
    }
    free(paths);
    return code;
}

const cli_command cli_report = { "report", "FILE...",
                                 "write a page with figures of runs and trainings", run_report };
