/* saltus convert: a file in another format of the same kind. */
#include "cli/cli.h"
#include "cli/sheet.h"
#include "core/text.h"
#include "io/format.h"

static int find_format(const char *name, const sali_format **format)
{
    sal_error err = { 0 };
    sal_status status = name ? sali_format_named(name, format, &err) : SAL_OK;
    return status == SAL_OK ? CLI_OK : cli_fail(SAL_ERR_ARGUMENT, &err);
}

/* What a training wrote, or another saved tape, as it opens: with averaged parameters. */
static int save_model(const char *in, const char *out)
{
    sal_model *model = NULL;
    sal_error err = { 0 };
    int code = cli_open(in, NULL, NULL, &model);
    if (code != CLI_OK) {
        return code;
    }
    sal_status status = sal_model_save(model, out, &err);
    sal_model_destroy(model);
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}

static int run_convert(const cli_command *command, int argc, char **argv)
{
    const char *paths[2] = { NULL, NULL }, *from = NULL, *to = NULL, *shape = NULL;
    const sali_format *reader = NULL, *writer = NULL;
    const cli_option options[] = {
        { "from", CLI_TEXT, &from, "FORMAT", "instead of what the file's name and content tell" },
        { "to", CLI_TEXT, &to, "FORMAT", "instead of what OUT's name tells" },
        CLI_SHAPE_OPTION(shape),
        { 0 },
    };
    int code = cli_parse(command, argc, argv, options, 2, paths);
    code = code ? code : find_format(from, &reader);
    code = code ? code : find_format(to, &writer);
    code = code ? code : cli_check_output(paths[1]);
    bool sheet = !to && sali_has_suffix(paths[1], ".png");
    if (code == CLI_OK && shape && !sheet) {
        code = cli_usage("--shape goes with a file NAME.png");
    }
    if (code != CLI_OK) {
        return code;
    }
    if (cli_is_training(paths[0]) && !from && !to) {
        return save_model(paths[0], paths[1]);
    }
    sali_content content = { 0 };
    sal_error err = { 0 };
    sal_status status =
        sali_content_read(paths[0], reader, SALI_CONTENT_NONE, &content, NULL, &err);
    if (status == SAL_OK && sheet && content.kind == SALI_CONTENT_ARRAY) {
        code = cli_sheet_array(paths[1], shape, &content.array);
    } else if (status == SAL_OK && !to && content.kind == SALI_CONTENT_TAPE) {
        code = save_model(paths[0], paths[1]);
    } else if (status == SAL_OK) {
        status = sali_content_write(paths[1], writer, &content, &err);
    }
    sali_content_free(&content);
    return status == SAL_OK ? code : cli_fail(status, &err);
}

const cli_command cli_convert = { "convert", "IN OUT",
                                  "a file in another format of its kind; draws as pictures",
                                  run_convert };
