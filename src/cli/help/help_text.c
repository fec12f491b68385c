/* SPDX-License-Identifier: MIT */
/* The help of a command on a terminal, and what writers of help share. */
#include <string.h>

#include "cli/help/help.h"

#define WIDTH 96
#define MARGIN 30 /* where the text of options begins */

void cli_help_by(cli_help_writer *writer, const cli_page *page)
{
    char *help[] = { "--help" };
    cli_set_help_writer(writer);
    page->command->run(page->command, 1, help);
    cli_set_help_writer(cli_help_text);
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

void cli_help_text(const cli_command *command, const cli_option *options)
{
    const cli_page *page = cli_page_find(command->name);
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
