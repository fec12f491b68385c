/* The program: `saltus COMMAND ...`. */
#include <string.h>

#include "cli/cli.h"

static const cli_command *const commands[] = {
    &cli_sample, &cli_train, &cli_value,    &cli_check,    &cli_evaluate,
    &cli_stats,  &cli_exact, &cli_compare,  &cli_contacts, &cli_convert,
    &cli_show,   &cli_rouge, &cli_retrieve, &cli_bench,    &cli_list,
};

#define N_COMMANDS (sizeof commands / sizeof *commands)

static void print_commands(FILE *stream)
{
    fputs("usage: saltus COMMAND ... ; 'saltus COMMAND --help' lists its options\n\n", stream);
    for (size_t k = 0; k < N_COMMANDS; k++) {
        fprintf(stream, "  %-8s %-10s %s\n", commands[k]->name, commands[k]->arguments,
                commands[k]->doc);
    }
}

static const cli_command *find(const char *name)
{
    for (size_t k = 0; k < N_COMMANDS; k++) {
        if (strcmp(commands[k]->name, name) == 0) {
            return commands[k];
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    cli_choose_blas_kernels(argv);
    if (argc < 2) {
        print_commands(stderr);
        return CLI_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0) {
        printf("saltus %s\n", sal_version());
        return CLI_OK;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 ||
        (strcmp(name, "help") == 0 && argc == 2)) {
        print_commands(stdout);
        return CLI_OK;
    }
    char *help[] = { "--help" };
    bool asks_help = strcmp(name, "help") == 0;
    const cli_command *command = find(asks_help ? argv[2] : name);
    if (!command) {
        return cli_usage("unknown command '%s'; see 'saltus --help'", asks_help ? argv[2] : name);
    }
    int code =
        asks_help ? command->run(command, 1, help) : command->run(command, argc - 2, argv + 2);
    if (code <= 0 && fflush(stdout) != 0) {
        return cli_fail(SAL_ERR_IO, &(sal_error){ .message = "cannot write to stdout" });
    }
    return code < 0 ? CLI_OK : code; /* -1: help was printed */
}
