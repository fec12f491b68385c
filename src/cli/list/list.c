/* SPDX-License-Identifier: MIT */
/* saltus list: what there is. */
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/list/list.h"

void cli_settings_text(const sal_setting *settings, char text[CLI_SETTINGS])
{
    size_t used = 0;
    text[0] = '\0';
    for (const sal_setting *s = settings; s && s->name && used < CLI_SETTINGS; s++) {
        const char *word = sal_setting_word(s, s->standard);
        char number[32];
        snprintf(number, sizeof number, "%g", s->standard);
        used += (size_t)snprintf(text + used, CLI_SETTINGS - used, "%s%s=%s", used ? ", " : "",
                                 s->name, word ? word : number);
    }
}

const char *cli_moved_kind(const sal_sampler_info *info, sal_kind kind)
{
    static const char *const words[] = {
        [SAL_BINARY] = "binary",           [SAL_SPIN] = "spin",          [SAL_ORDINAL] = "ordinal",
        [SAL_CATEGORICAL] = "categorical", [SAL_COUNT] = "capped-count",
    };
    return !(info->kinds & 1u << kind)                              ? NULL
           : kind == SAL_COUNT && info->kinds & SAL_MOVES_UNBOUNDED ? "count"
                                                                    : words[kind];
}

static void list_samplers(void)
{
    sal_sampler_info info;
    char settings[CLI_SETTINGS];
    for (int64_t k = 0; sal_sampler_list(k, &info); k++) {
        printf("%-12s %s\n", info.name, info.doc);
        if (info.alias) {
            printf("             also called %s\n", info.alias);
        }
        cli_settings_text(info.settings, settings);
        if (settings[0]) {
            printf("             %s\n", settings);
        }
        printf("             exact: %s; gradient: %s; kinds:", info.exact ? "yes" : "no",
               info.needs_gradient ? "needed" : "not needed");
        for (sal_kind kind = SAL_BINARY; kind <= SAL_COUNT; kind++) {
            const char *word = cli_moved_kind(&info, kind);
            printf("%s%s", word ? " " : "", word ? word : "");
        }
        printf("\n             %s\n", info.source);
    }
}

static void list_models(void)
{
    sal_builtin_info info;
    char settings[CLI_SETTINGS];
    for (int64_t k = 0; sal_builtin_list(k, &info); k++) {
        cli_settings_text(info.settings, settings);
        printf("%-17s %s\n                  %s\n", info.name, info.doc, settings);
        if (info.file) {
            printf("                  file=PATH: %s%s\n", info.file,
                   info.needs_file ? ", needed" : "");
        }
        printf("                  %s\n", info.source);
    }
    puts("FILE              a network, with --evidence FILE; a saved tape; a graph: see "
         "'saltus list formats'");
}

/* Name, what can be done, suffixes; then what it is, and what a file of it is by itself. */
static void list_format(const sal_format_info *f)
{
    printf("  %-11s%-13s", f->name,
           f->reads && f->writes ? "read, write"
           : f->reads            ? "read"
                                 : "write");
    for (int i = 0; f->suffixes[i]; i++) {
        printf("%s%s", i ? ", " : "", f->suffixes[i]);
    }
    printf("%s\n             %s\n", f->suffixes[0] ? "" : "any name", f->doc);
    if (f->model) {
        printf("             by itself the model %s\n", f->model);
    }
}

static void list_formats(void)
{
    const char *content = NULL;
    sal_format_info format;
    for (int64_t k = 0; sal_format_list(k, &format); k++) {
        if (!content || strcmp(content, format.content) != 0) {
            printf("%s:\n", format.content);
        }
        content = format.content;
        list_format(&format);
    }
    puts("other files:\n"
         "  safetensors  parameters (read, write)\n"
         "  npy          states, draws, values (read, write)\n"
         "  evidence     of networks, in the UAI's two layouts (read)\n"
         "  MAR, PR      marginals and log10 Z, as UAI results (read, write)\n"
         "  png          sheets of samples (write)\n"
         "  json         marginals, summaries, tuning (read, write)");
}

static const struct list {
    const char *name;
    void (*print)(void);
} lists[] = {
    { "samplers", list_samplers },
    { "models", list_models },
    { "ops", cli_list_ops },
    { "formats", list_formats },
};

static const struct list *find_list(const char *what)
{
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        if (strcmp(what, lists[k].name) == 0) {
            return &lists[k];
        }
    }
    return NULL;
}

static int print_json(const char *what)
{
    sal_error err = { 0 };
    char *text = NULL;
    sal_status status = sal_flat_list(what, &text, &err);
    return status == SAL_OK ? cli_json_print(json_pack("{s:o}", what, cli_json_take(text)))
                            : cli_fail(status, &err);
}

static int run_list(const cli_command *command, int argc, char **argv)
{
    const char *what = NULL, *format = NULL;
    bool json = false;
    const cli_option options[] = {
        { "format", CLI_TEXT, &format, "markdown", "print the operations as the page docs/ops.md" },
        { "json", CLI_FLAG, &json, NULL, "print one JSON object" },
        { 0 },
    };
    if (argc == 0) {
        return cli_usage("list: expected samplers, models, ops or formats");
    }
    int code = cli_parse(command, argc, argv, options, 1, &what);
    if (code != CLI_OK) {
        return code;
    }
    if (format && (strcmp(format, "markdown") != 0 || strcmp(what, "ops") != 0)) {
        return cli_usage("list %s --format %s: expected list ops --format markdown", what, format);
    }
    if (format && json) {
        return cli_usage("list: --format and --json: give one of them");
    }
    const struct list *list = find_list(what);
    if (!list) {
        return cli_usage("list %s: expected samplers, models, ops or formats", what);
    }
    if (json) {
        return print_json(what);
    }
    (format ? cli_list_ops_markdown : list->print)();
    return CLI_OK;
}

const cli_command cli_list = { "list", "WHAT", "list samplers, models, ops or formats", run_list };
