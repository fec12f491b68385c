/* SPDX-License-Identifier: MIT */
/* Man pages, in the macros of man(7). */
#include <ctype.h>
#include <string.h>

#include "cli/help/help.h"

#define WIDTH 78

/* Print `bytes` of a line of text so that roff prints them literally. */
static void print_text(const char *text, size_t bytes)
{
    static const char *const escapes[][2] = {
        { "\\", "\\e" },  { "-", "\\-" },   { "'", "\\(aq" },  { "`", "\\(ga" },
        { "~", "\\(ti" }, { "^", "\\(ha" }, { "\"", "\\(dq" },
    };
    if (bytes > 0 && text[0] == '.') {
        fputs("\\&", stdout); /* no request */
    }
    for (size_t i = 0; i < bytes; i++) {
        const char *escape = NULL;
        for (size_t k = 0; k < sizeof escapes / sizeof *escapes; k++) {
            escape = text[i] == escapes[k][0][0] ? escapes[k][1] : escape;
        }
        escape ? fputs(escape, stdout) : putchar(text[i]);
    }
}

static void print_word(const char *text)
{
    print_text(text, strlen(text));
}

/* Print paragraphs in lines of at most WIDTH characters. */
static void print_prose(const char *text)
{
    while (*text) {
        size_t line = strcspn(text, "\n"), end = line;
        if (line > WIDTH) {
            for (end = WIDTH; end > 0 && text[end] != ' '; end--) {
            }
            end = end > 0 ? end : line;
        }
        if (end == 0) {
            fputs(".PP", stdout);
        }
        print_text(text, end);
        putchar('\n');
        text += end + (text[end] != '\0');
    }
}

/* Print the title "SALTUS-SAMPLE" and the line "saltus-sample - what it does"; `name` NULL: of the
 * program. */
static void print_heading(const char *name, const char *doc)
{
    fputs(".TH SALTUS", stdout);
    if (name) {
        fputs("\\-", stdout);
        for (const char *letter = name; *letter; letter++) {
            putchar(toupper((unsigned char)*letter));
        }
    }
    printf(" 1 \"\" \"saltus %s\" \"Saltus\"\n.SH NAME\nsaltus%s%s \\- ", sal_version(),
           name ? "\\-" : "", name ? name : "");
    print_word(doc);
    putchar('\n');
}

static void print_exit_codes(void)
{
    puts(".SH EXIT STATUS");
    for (const cli_exit_code *e = cli_exit_codes; e->doc; e++) {
        printf(".TP\n.B %d\n", e->code);
        print_prose(e->doc);
    }
}

/* Print the section on options, if there are any. */
static void print_options(const cli_option *options)
{
    char text[CLI_OPTION_DOC];
    if (options->name) {
        puts(".SH OPTIONS\nAn option is written\n.B \\-\\-name value\nor\n.BR \\-\\-name=value .\n"
             "In brackets: what holds without it.");
    }
    for (const cli_option *o = options; o->name; o++) {
        fputs(".TP\n\\fB\\-\\-", stdout);
        print_word(o->name);
        fputs("\\fR", stdout);
        if (o->meta) {
            fputs(" \\fI", stdout);
            print_word(o->meta);
            fputs("\\fR", stdout);
        }
        putchar('\n');
        print_prose(cli_option_doc(o, text));
    }
}

/* Print the section of examples. */
static void print_examples(const cli_page *page)
{
    puts(".SH EXAMPLES");
    for (const cli_example *e = page->examples; e->line; e++) {
        puts(".TP");
        print_prose(e->what);
        print_word(e->line);
        putchar('\n');
    }
}

void cli_help_man(const cli_command *command, const cli_option *options)
{
    const cli_page *page = cli_page_find(command->name);
    print_heading(command->name, command->doc);
    printf(".SH SYNOPSIS\n.B saltus %s\n.I ", command->name);
    print_word(command->arguments);
    puts(options->name ? "\n.RI [ options ]\n.SH DESCRIPTION" : "\n.SH DESCRIPTION");
    print_prose(page->description);
    print_options(options);
    print_examples(page);
    print_exit_codes();
    puts(".SH SEE ALSO\n.BR saltus (1)");
}

/* ---- saltus(1) */

/* Print the commands of a group with references to their pages. */
static void print_command_group(int group)
{
    const cli_page *page;
    printf(".SS ");
    print_word(cli_group_title((cli_group)group));
    putchar('\n');
    for (size_t k = 0; (page = cli_page_list(k)); k++) {
        if ((int)page->group == group) {
            printf(".TP\n.BR saltus\\-%s (1)\n", page->command->name);
            print_prose(page->command->doc);
        }
    }
}

void cli_man_program(void)
{
    print_heading(NULL, "gradient-based MCMC on discrete spaces");
    puts(".SH SYNOPSIS\n.B saltus\n.I COMMAND\n.RI [ arguments ]\n.RI [ options ]\n.br\n"
         ".B saltus help\n.RI [ COMMAND ]\n.br\n.B saltus \\-\\-version\n.SH DESCRIPTION");
    print_prose(cli_program_description);
    puts(".SH COMMANDS");
    for (int group = 0; group < CLI_GROUPS; group++) {
        print_command_group(group);
    }
    print_exit_codes();
    puts(".SH ENVIRONMENT\n.TP\n.B OPENBLAS_CORETYPE\n"
         "The kernels of OpenBLAS. Where it is not set, and OpenBLAS chose those of an old\n"
         "processor for a new one, the program sets it and starts itself again.\n"
         ".TP\n.B OPENBLAS_NUM_THREADS\n"
         "Where it is not set, the program starts itself with 1.\n"
         ".TP\n.B OMP_NUM_THREADS\n"
         "The number of threads, unless an option says it.\n"
         ".SH SEE ALSO");
    const cli_page *page;
    for (size_t k = 0; (page = cli_page_list(k)); k++) {
        printf(".BR saltus\\-%s (1)%s\n", page->command->name, cli_page_list(k + 1) ? "," : "");
    }
}
