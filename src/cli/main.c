/* SPDX-License-Identifier: MIT */
/* The program: `saltus COMMAND ...`. */
#include <string.h>

#include "cli/help/help.h"

int main(int argc, char **argv)
{
    cli_set_environment(argv);
    cli_set_help_writer(cli_help_text);
    if (argc < 2) {
        return cli_no_command();
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0) {
        printf("saltus %s\n", sal_version());
        return CLI_OK;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        name = "help";
    }
    const cli_page *page = cli_page_find(name);
    if (!page) {
        return cli_unknown_command(name);
    }
    int64_t rank = 0;
    if (sal_comm_launched(&rank) && rank > 0 && !cli_on_ranks(page->command)) {
        return CLI_OK;
    }
    cli_set_words(argv + 2);
    int code = cli_on_ranks(page->command) ? cli_ranks_begin() : CLI_OK;
    code = code ? code : page->command->run(page->command, argc - 2, argv + 2);
    cli_ranks_end();
    if (code <= 0 && fflush(stdout) != 0) {
        return cli_fail(SAL_ERR_IO, &(sal_error){ .message = "cannot write to stdout" });
    }
    return code < 0 ? CLI_OK : code; /* -1: help was printed */
}
