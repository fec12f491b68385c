/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/text.h"

/* ---- options of the library */

bool cli_option_info(const cli_option *o, sal_option_info *info)
{
    const cli_library *library = o->kind == CLI_LIBRARY ? o->value : NULL;
    int64_t k = 0;
    while (library && sal_option_list(library->table, k, info) &&
           strcmp(info->name, o->name) != 0) {
        k++;
    }
    return library != NULL;
}

static bool is_flag(const cli_option *o)
{
    return o->kind == CLI_FLAG || (o->kind == CLI_LIBRARY && !o->meta);
}

static int set_library_option(const cli_option *o, const char *text)
{
    const cli_library *library = o->value;
    sal_error err = { 0 };
    sal_status status = sal_option_set(library->table, library->options, o->name, text, &err);
    return status == SAL_OK ? CLI_OK : cli_usage("--%s", err.message);
}

int cli_resolve(const cli_library *library)
{
    sal_error err = { 0 };
    sal_status status = sal_option_resolve(library->table, library->options, &err);
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}

void cli_add_options(cli_option rows[CLI_MOST_OPTIONS], cli_library *library)
{
    sal_option_info info;
    int n = 0, at = 0;
    while (rows[n].name) {
        n++;
    }
    for (int64_t k = 0; sal_option_list(library->table, k, &info) && n + 1 < CLI_MOST_OPTIONS;
         k++) {
        if (info.doc) { /* an option without a text has a row already */
            memmove(&rows[at + 1], &rows[at], (size_t)(n++ - at) * sizeof *rows);
            rows[at++] = (cli_option){ info.name, CLI_LIBRARY, library, info.values, info.doc };
        }
    }
}

bool cli_given(int argc, char **argv, const char *name)
{
    for (int i = 0; i < argc; i++) {
        size_t length = strcspn(argv[i], "=");
        if (length == strlen(name) + 2 && strncmp(argv[i], "--", 2) == 0 &&
            strncmp(argv[i] + 2, name, length - 2) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- any */

static cli_help_writer *help_writer; /* NULL: --help prints nothing */

void cli_set_help_writer(cli_help_writer *writer)
{
    help_writer = writer;
}

static const cli_option *find_option(const cli_option *options, const char *name, size_t length)
{
    for (const cli_option *o = options; o->name; o++) {
        if (strlen(o->name) == length && strncmp(o->name, name, length) == 0) {
            return o;
        }
    }
    return NULL;
}

/* Whether a text is one of the words that an option may take but need not: "[linear|reheat]". */
static bool is_optional_word(const cli_option *o, const char *text)
{
    const size_t size = strlen(text);
    const char *word = o->meta && o->meta[0] == '[' ? o->meta + 1 : "";
    for (size_t length; *word; word += length + 1) {
        length = strcspn(word, "|]");
        if (length == size && strncmp(word, text, length) == 0) {
            return true;
        }
    }
    return false;
}

/* Store a value by the kind of its option. Returns the exit code, CLI_USAGE after a message. */
static int store_value(const cli_option *o, const char *text)
{
    const size_t size = strlen(text);
    int64_t integer;
    double number;
    switch (o->kind) {
    case CLI_FLAG:
        *(bool *)o->value = true;
        return CLI_OK;
    case CLI_TEXT:
        *(const char **)o->value = text;
        return CLI_OK;
    case CLI_LIBRARY:
        return set_library_option(o, text);
    case CLI_INT:
        if (cli_parse_int(text, size, &integer)) {
            *(int64_t *)o->value = integer;
            return CLI_OK;
        }
        return cli_usage("--%s %s: expected an integer", o->name, text);
    case CLI_SEED:
        if (cli_parse_int(text, size, &integer) && integer >= 0) {
            *(uint64_t *)o->value = (uint64_t)integer;
            return CLI_OK;
        }
        return cli_usage("--%s %s: expected an integer from 0 to 2^63 - 1", o->name, text);
    case CLI_REAL:
        if (cli_parse_real(text, size, &number)) {
            *(double *)o->value = number;
            return CLI_OK;
        }
        return cli_usage("--%s %s: expected a number", o->name, text);
    }
    return CLI_FAULT;
}

/* Print that there is no option with the first `length` characters of text as its name, with the
 * nearest name. Returns CLI_USAGE. */
static int unknown_option(const cli_command *command, const cli_option *options, int length,
                          const char *text)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", length, text);
    sal_nearest nearest = sal_nearest_begin(name);
    for (const cli_option *o = options; o->name; o++) {
        sal_nearest_offer(&nearest, o->name);
    }
    return nearest.name ? cli_usage("%s: unknown option '--%s'; did you mean '--%s'?",
                                    command->name, name, nearest.name)
                        : cli_usage("%s: unknown option '--%.*s'; see 'saltus %s --help'",
                                    command->name, length, text, command->name);
}

/* Copy a command's options to `rows`, followed by --formula, which sets *formula, if the command
 * has a MODEL. */
static void add_formula(const cli_command *command, const cli_option *options, const char **formula,
                        cli_option rows[CLI_MOST_OPTIONS + 1])
{
    int n = 0;
    for (; options[n].name; n++) {
        rows[n] = options[n];
    }
    const bool models = strstr(command->arguments, "MODEL") || strstr(command->arguments, "ARCH");
    rows[n] = models ? (cli_option){ "formula", CLI_TEXT, formula, "TEXT",
                                     "in place of the model: 'x: spin[9, 9]; .4 sum(i~j: x[i] "
                                     "x[j])'; see docs/energies.md" }
                     : (cli_option){ 0 };
    rows[n + models] = (cli_option){ 0 };
}

/* Insert the specification of a formula before the `found` other arguments. Returns the exit
 * code. */
static int take_formula(const cli_command *command, const char *formula, int n_arguments, int found,
                        const char **arguments)
{
    static char *specification; /* as long as the program */
    const size_t size = strlen(formula) + sizeof CLI_FORMULA;
    if (found == n_arguments) {
        return cli_usage("%s: unexpected '%s' beside --formula", command->name, arguments[0]);
    }
    free(specification);
    specification = malloc(size);
    if (!specification) {
        return cli_error(SAL_ERR_MEMORY, "out of memory");
    }
    snprintf(specification, size, CLI_FORMULA "%s", formula);
    memmove(arguments + 1, arguments, (size_t)found * sizeof *arguments);
    arguments[0] = specification;
    return CLI_OK;
}

int cli_parse(const cli_command *command, int argc, char **argv, const cli_option *own,
              int n_arguments, const char **arguments)
{
    cli_option options[CLI_MOST_OPTIONS + 1];
    const char *formula = NULL;
    int found = 0;
    add_formula(command, own, &formula, options);
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            if (help_writer) {
                help_writer(command, options);
            }
            return -1;
        }
        if (strcmp(word, "-o") == 0 && find_option(options, "out", 3)) {
            word = "--out";
        }
        if (strncmp(word, "--", 2) != 0) {
            if (found == n_arguments) {
                return cli_usage("%s: unexpected '%s'; usage: saltus %s %s [options]",
                                 command->name, word, command->name, command->arguments);
            }
            arguments[found++] = word;
            continue;
        }
        size_t length = strcspn(word + 2, "=");
        const cli_option *o = find_option(options, word + 2, length);
        if (!o) {
            return unknown_option(command, options, (int)length, word + 2);
        }
        bool joined = word[2 + length] == '=';
        if (is_flag(o) && joined) {
            return cli_usage("--%s takes no value", o->name);
        }
        const bool next = i + 1 < argc && is_optional_word(o, argv[i + 1]);
        const bool alone = is_flag(o) || (o->meta[0] == '[' && !next);
        if (!alone && !joined && i + 1 == argc) {
            return cli_usage("--%s needs a value: %s", o->name, o->meta);
        }
        const char *text = joined ? word + 3 + length : alone ? "yes" : argv[++i];
        int code = store_value(o, text);
        if (code != CLI_OK) {
            return code;
        }
    }
    if (formula) {
        const int code = take_formula(command, formula, n_arguments, found, arguments);
        if (code != CLI_OK) {
            return code;
        }
        found++;
    }
    int least = strstr(command->arguments, "...") ? 1 : n_arguments;
    if (found < least && command->arguments[0] != '[') {
        return cli_usage("%s: expected %s; see 'saltus %s --help'", command->name,
                         command->arguments, command->name);
    }
    return CLI_OK;
}

int cli_bytes(const char *option, const char *text, int64_t *bytes)
{
    static const char units[] = "KMGT";
    size_t length = text ? strlen(text) : 0;
    const char *unit = length > 0 ? strchr(units, text[length - 1]) : NULL;
    double number, factor = unit ? ldexp(1, 10 * (int)(unit - units + 1)) : 1;
    if (!text) {
        return CLI_OK;
    }
    if (!cli_parse_real(text, length - (unit != NULL), &number) ||
        !(number * factor >= 1 && number * factor < 0x1p62)) {
        return cli_usage("--%s %s: expected a size such as 512M, 2G or 1T", option, text);
    }
    *bytes = (int64_t)(number * factor);
    return CLI_OK;
}

int cli_seconds(const char *option, const char *text, double *seconds)
{
    sal_run_options options = { 0 };
    if (sal_option_set(sal_option_table_of(SAL_OPTIONS_RUN), &options, "time", text, NULL) !=
        SAL_OK) {
        return cli_usage("--%s %s: expected a time such as 10s, 2m or 1h", option, text);
    }
    *seconds = options.seconds;
    return CLI_OK;
}
