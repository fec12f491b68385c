/* SPDX-License-Identifier: MIT */
/* saltus help: the commands, one of them, man pages, completion. */
#include "cli/help/help.h"

#include <string.h>

/* A command's options are a table in its run(), which passes it to cli_parse. To get at that table,
 * the command is run with --help, and this writer prints the options. */
static cli_help_writer *current_writer = cli_help_text;

void cli_help_print(const cli_command *command, const cli_option *options)
{
    current_writer(cli_page_find(command->name), options);
}

void cli_help_by(cli_help_writer *writer, const cli_page *page)
{
    char *help[] = { "--help" };
    current_writer = writer;
    page->command->run(page->command, 1, help);
    current_writer = cli_help_text;
}

void cli_print_paragraphs(const char *text, int indent, int width)
{
    int column = 0;
    while (*text) {
        int length = (int)strcspn(text, " \n");
        bool fits = column + 1 + length <= width;
        if (column > 0 && !fits) {
            putchar('\n');
            column = 0;
        }
        column += printf("%*s%.*s", column > 0 ? 1 : indent, "", length, text);
        text += length;
        if (text[0] == '\n') {
            fputs(text[1] == '\n' ? "\n\n" : "\n", stdout);
            column = 0;
        }
        text += strspn(text, " \n");
    }
    putchar('\n');
}

/* ---- on a terminal */

#define WIDTH 96
#define MARGIN 30 /* where the text of options begins */

const char *cli_option_doc(const cli_option *o, char text[CLI_OPTION_DOC])
{
    sal_option_info info = { 0 };
    bool usual = cli_option_info(o, &info) && info.usual && o->doc == info.doc;
    snprintf(text, CLI_OPTION_DOC, usual ? "%s [%s]" : "%s", o->doc, usual ? info.usual : "");
    return text;
}

/* Print an option and its text, wrapped to a column of its own. */
static void print_option(const cli_option *o)
{
    char text[CLI_OPTION_DOC];
    const char *doc = cli_option_doc(o, text), *meta = o->meta;
    int column = printf("  --%s%s%s", o->name, meta ? " " : "", meta ? meta : "");
    if (column > MARGIN - 2) {
        putchar('\n');
        column = 0;
    }
    for (bool first = true; *doc; first = false) {
        size_t length = strlen(doc), end;
        for (end = length < WIDTH - MARGIN ? length : WIDTH - MARGIN;
             end > 0 && doc[end] != ' ' && doc[end] != '\0'; end--) {
        }
        end = end > 0 ? end : length;
        printf("%*s%.*s\n", first ? MARGIN - column : MARGIN, "", (int)end, doc);
        doc += end + (doc[end] == ' ');
    }
}

void cli_help_text(const cli_page *page, const cli_option *options)
{
    const cli_command *command = page->command;
    printf("usage: saltus %s %s%s\n\n%s\n\n", command->name, command->arguments,
           options->name ? " [options]" : "", command->doc);
    cli_print_paragraphs(page->description, 0, WIDTH);
    if (options->name) {
        puts("\noptions:");
    }
    for (const cli_option *o = options; o->name; o++) {
        print_option(o);
    }
    puts("\nexamples:");
    for (const cli_example *e = page->examples; e->line; e++) {
        printf("  %s\n    %s\n", e->what, e->line);
    }
}

/* Print all commands by group. */
static void print_commands(FILE *stream)
{
    fputs("usage: saltus COMMAND ..., and 'saltus help COMMAND' for more\n", stream);
    for (int group = 0; group < CLI_GROUPS; group++) {
        const cli_page *page;
        fprintf(stream, "\n%s\n", cli_group_title((cli_group)group));
        for (size_t k = 0; (page = cli_page_list(k)); k++) {
            if ((int)page->group == group) {
                const cli_command *c = page->command;
                fprintf(stream, "  %-9s %-11s %s\n", c->name, c->arguments, c->doc);
            }
        }
    }
}

int cli_no_command(void)
{
    print_commands(stderr);
    return CLI_USAGE;
}

static void print_overview(void)
{
    print_commands(stdout);
    puts("\nExit codes");
    for (const cli_exit_code *e = cli_exit_codes; e->doc; e++) {
        printf("  %-9d %s\n", e->code, e->doc);
    }
}

/* ---- the command */

int cli_unknown_command(const char *name)
{
    sal_nearest nearest = sal_nearest_begin(name);
    const cli_page *page;
    for (size_t k = 0; (page = cli_page_list(k)); k++) {
        sal_nearest_offer(&nearest, page->command->name);
    }
    return nearest.name ? cli_usage("unknown command '%s'; did you mean '%s'?", name, nearest.name)
                        : cli_usage("unknown command '%s'; see 'saltus help'", name);
}

/* The command `saltus help`. Returns an exit code. */
static int run_help(const cli_command *command, int argc, char **argv)
{
    const char *format = "text", *name = NULL;
    const cli_option table[] = {
        { "format", CLI_TEXT, &format, "text|man|bash",
          "man: the page in roff; bash: the completion of all commands [text]" },
        { 0 },
    };
    int code = cli_parse(command, argc, argv, table, 1, &name);
    if (code != CLI_OK) {
        return code;
    }
    const cli_page *page = name ? cli_page_find(name) : NULL;
    if (name && !page) {
        return cli_unknown_command(name);
    }
    if (strcmp(format, "man") == 0) {
        page ? cli_help_by(cli_help_man, page) : cli_man_program();
    } else if (strcmp(format, "bash") == 0) {
        cli_bash_completion();
    } else if (strcmp(format, "text") == 0) {
        page ? cli_help_by(cli_help_text, page) : print_overview();
    } else {
        return cli_usage("help: --format %s: expected text, man or bash", format);
    }
    return CLI_OK;
}

const cli_command cli_help = { "help", "[COMMAND]", "describe all commands, or one and its options",
                               run_help };
