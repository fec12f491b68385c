/* SPDX-License-Identifier: MIT */
/* saltus list: samplers, models, operations, formats, and figures of summaries. */
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"

/* For each list of sal_flat_list: how an entry is printed (cli_render), and the lines after all
 * entries. */
static const struct list {
    const char *name, *template, *last;
} lists[] = {
    { "samplers",
      "{name:-12} {doc}\n"
      "<             also called {alias}\n>"
      "<             {settings}\n>"
      "             exact: {exact:yes|no}; gradient: {needs_gradient:needed|not needed}; kinds: "
      "{kinds: }\n"
      "             {source}\n",
      "" },
    { "models",
      "{name:-17} {doc}\n"
      "                  {settings}\n"
      "<                  file=PATH: {file}{needs_file:, needed|}\n>"
      "                  {source}\n",
      "FILE              a network, with --evidence FILE; a saved tape; a graph: see "
      "'saltus list formats'\n" },
    { "ops", "{name:-19} {doc}\n", "" },
    { "formats",
      "  {name:-11}{can:-13}{suffixes:, |any name}\n"
      "             {doc}\n"
      "<             by itself the model {model}\n>",
      "other files:\n"
      "  safetensors  parameters (read, write)\n"
      "  npy          states, draws, values (read, write)\n"
      "  evidence     of networks, in the UAI's two layouts (read)\n"
      "  MAR, PR      marginals and log10 Z, as UAI results (read, write)\n"
      "  png          sheets of samples (write)\n"
      "  json         marginals, summaries, tuning (read, write)\n" },
    { "figures", "{name:-24} {doc}< [{unit}]>< ({when})>\n", "" },
};

/* The page docs/figures.md. */
static const char figures_heading[] =
    "# Figures of a run\n"
    "\n"
    "Made from the table of figures by `saltus list figures --format markdown`. These are the\n"
    "entries of the JSON that `saltus sample --json` prints and `sal_flat_run_summary` gives, and\n"
    "of `run.summary` in Python. The entry `ess.min` is `min` in the object `ess`. What is not\n"
    "known is `null`; infinities are the texts `inf` and `-inf`. [diagnosing.md](diagnosing.md)\n"
    "says what to make of the figures. In C, `sal_run_summary` has these figures and some more.\n"
    "\n"
    "| name | unit | of which runs | meaning |\n"
    "|---|---|---|---|";
static const struct list figures_page = {
    "figures", "| `{name}` |< {unit}> |< {when}> | {doc} |\n",
    "\n`saltus sample` adds `total_variation` and `total_variation_ideal` with `--check-exact`,\n"
    "and `vote` (`log_prob`, `votes`, `state`) with `--vote`.\n"
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

/* Print the entries of a list; formats below a heading for each kind of content. */
static void print_entries(const struct list *list, const json_t *entries)
{
    const char *last = "";
    for (size_t k = 0; k < json_array_size(entries); k++) {
        json_t *entry = json_array_get(entries, k);
        const char *content = json_string_value(json_object_get(entry, "content"));
        if (content) {
            const bool reads = json_is_true(json_object_get(entry, "reads"));
            const bool writes = json_is_true(json_object_get(entry, "writes"));
            const char *can = reads && writes ? "read, write" : reads ? "read" : "write";
            json_object_set_new(entry, "can", json_string(can));
            if (strcmp(content, last) != 0) {
                printf("%s:\n", content);
            }
            last = content;
        }
        cli_render(entry, list->template);
    }
    fputs(list->last, stdout);
}

/* Print a list as JSON or as text. Returns the exit code. */
static int print_list(const struct list *list, bool json)
{
    sal_error err = { 0 };
    char *text = NULL;
    sal_status status = sal_flat_list(list->name, &text, &err);
    if (status != SAL_OK) {
        return cli_fail(status, &err);
    }
    json_t *entries = cli_json_take(text);
    if (json) {
        return cli_json_print(json_pack("{s:o}", list->name, entries));
    }
    print_entries(list, entries);
    json_decref(entries);
    return CLI_OK;
}

static int run_list(const cli_command *command, int argc, char **argv)
{
    const char *what = NULL, *format = NULL;
    bool json = false;
    const cli_option options[] = {
        { "format", CLI_TEXT, &format, "markdown",
          "print operations or figures as a page of the handbook" },
        { "json", CLI_FLAG, &json, NULL, "print one JSON object" },
        { 0 },
    };
    if (argc == 0) {
        return cli_usage("list: expected samplers, models, ops, formats or figures");
    }
    int code = cli_parse(command, argc, argv, options, 1, &what);
    if (code != CLI_OK) {
        return code;
    }
    const bool ops = strcmp(what, "ops") == 0;
    if (format && (strcmp(format, "markdown") != 0 || !(ops || strcmp(what, "figures") == 0))) {
        return cli_usage("list %s --format %s: expected ops or figures --format markdown", what,
                         format);
    }
    if (format && json) {
        return cli_usage("list: --format and --json: give one of them");
    }
    const struct list *list = find_list(what);
    if (!list) {
        return cli_usage("list %s: expected samplers, models, ops, formats or figures", what);
    }
    if (format && ops) {
        cli_list_ops_markdown();
        return CLI_OK;
    }
    if (format) {
        puts(figures_heading);
        return print_list(&figures_page, false);
    }
    return print_list(list, json);
}

const cli_command cli_list = { "list", "WHAT",
                               "list samplers, models, ops, formats or figures of runs", run_list };
