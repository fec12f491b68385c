/* SPDX-License-Identifier: MIT */
/* saltus help: all commands; or one of them, on a terminal, as a man page, or for Bash. */
#include "cli/help/help.h"

#include <string.h>

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

int cli_unknown_command(const char *name)
{
    sal_nearest nearest = sal_nearest_begin(name);
    const cli_page *page;
    for (size_t k = 0; (page = cli_page_list(k)); k++) {
        sal_nearest_offer(&nearest, page->command->name);
    }
    return cli_usage("unknown command '%s'; %s", name,
                     sal_nearest_hint(&nearest, "see 'saltus help'"));
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
