/* SPDX-License-Identifier: MIT */
/* saltus convert: a file in another format of the same kind. */
#include <string.h>

#include "cli/cli.h"
#include "cli/sheet.h"

static bool is_picture(const char *path)
{
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".png") == 0;
}

/* Write the array in the file `in` as a sheet of pictures. Returns the exit code. */
static int write_sheet(const char *in, sal_columns_from columns_from, const char *out,
                       const char *shape)
{
    sal_array array = { 0 };
    sal_error err = { 0 };
    sal_status status = cli_array_read(in, columns_from, &array, &err);
    int code = status ? cli_fail(status, &err) : cli_sheet_array(out, shape, &array);
    sal_array_free(&array);
    return code;
}

/* Find a gauge by its name; NULL: it was not given. Returns the exit code. */
static int find_gauge(const char *name, sal_gauge *gauge)
{
    static const char *const names[] = { "as-is", "zero-sum", "lattice-gas" };
    for (int k = 0; name && k < 3; k++) {
        if (strcmp(name, names[k]) == 0) {
            *gauge = (sal_gauge)k;
            return CLI_OK;
        }
    }
    return name ? cli_usage("--gauge %s: expected as-is, zero-sum or lattice-gas", name) : CLI_OK;
}

static int run_convert(const cli_command *command, int argc, char **argv)
{
    const char *paths[2] = { NULL, NULL }, *shape = NULL, *columns = NULL, *gauge = NULL;
    sal_convert_options o = { 0 };
    const cli_option options[] = {
        { "from", CLI_TEXT, &o.from, "FORMAT", "format of IN [told by its name and content]" },
        { "to", CLI_TEXT, &o.to, "FORMAT", "format of OUT [told by its name]" },
        CLI_SHAPE_OPTION(shape),
        CLI_COLUMNS_FROM_OPTION(columns),
        { "gauge", CLI_TEXT, &gauge, "as-is|zero-sum|lattice-gas",
          "gauge of parameters of a Potts model [of a file or a sparse model, its own; of a model, "
          "zero-sum]" },
        { "alphabet", CLI_TEXT, &o.alphabet, "protein|rna|dna|LETTERS",
          "letters of sequences, draws or parameters, in order (--alphabet=-ABCD) [found]" },
        { 0 },
    };
    int code = cli_parse(command, argc, argv, options, 2, paths);
    code = code ? code : cli_columns_from(columns, &o.columns_from);
    code = code ? code : find_gauge(gauge, &o.gauge);
    code = code ? code : cli_claim_output(paths[1]);
    bool sheet = code == CLI_OK && !o.from && !o.to && is_picture(paths[1]);
    sal_format_info format;
    if (code == CLI_OK && shape && !sheet) {
        code = cli_usage("--shape goes with a file NAME.png");
    }
    if (code != CLI_OK) {
        return code;
    }
    if (sheet && sal_format_find(paths[0], &format, NULL) == SAL_OK &&
        strcmp(format.content, "an array") == 0) {
        return write_sheet(paths[0], o.columns_from, paths[1], shape);
    }
    sal_error err = { 0 };
    char *remark = NULL;
    sal_status status = sal_convert(paths[0], paths[1], &o, &remark, &err);
    cli_remark(remark, true);
    sal_free(remark);
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}

const cli_command cli_convert = { "convert", "IN OUT",
                                  "write a file in another format, or draws as pictures",
                                  run_convert };
