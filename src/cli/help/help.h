/* SPDX-License-Identifier: MIT */
/* Help on the commands: on a terminal, as man pages, for Bash. */
#ifndef HELP_H
#define HELP_H

#include "cli/cli.h"

#define CLI_EXAMPLES 5

typedef enum cli_group {
    CLI_GROUP_SAMPLE,
    CLI_GROUP_TRAIN,
    CLI_GROUP_LOOK,
    CLI_GROUP_CONVERT,
    CLI_GROUPS
} cli_group;

typedef struct cli_example {
    const char *what; /* "what it does:" */
    const char *line; /* "saltus ..." */
} cli_example;

/* A command and its prose; the options are in the table of its run(). */
typedef struct cli_page {
    const cli_command *command;
    cli_group group;
    const char *description;                /* paragraphs, an empty line between them */
    cli_example examples[CLI_EXAMPLES + 1]; /* ends with a NULL line */
} cli_page;

typedef struct cli_exit_code {
    int code;
    const char *doc;
} cli_exit_code;

/* Page k; NULL past the end. */
const cli_page *cli_page_list(size_t k);

/* The page of a command, by its name; NULL if there is none. */
const cli_page *cli_page_find(const char *name);

/* The title of a group, such as "Train and evaluate". */
const char *cli_group_title(cli_group group);

/* All exit codes; the last entry has a NULL doc. */
extern const cli_exit_code cli_exit_codes[];

/* What the program is, in paragraphs. */
extern const char cli_program_description[];

/* Run the command's --help with `writer` instead of the writer for a terminal. */
void cli_help_by(cli_help_writer *writer, const cli_page *page);

/* What an option does, with its default in brackets. */
#define CLI_OPTION_DOC 512
const char *cli_option_doc(const cli_option *option, char text[CLI_OPTION_DOC]);

/* Print paragraphs, broken at blanks before column `width`, each line after `indent` blanks. */
void cli_print_paragraphs(const char *text, int indent, int width);

cli_help_writer cli_help_text, cli_help_man;

/* Print the man page saltus(1), and the completion for Bash. */
void cli_man_program(void);
void cli_bash_completion(void);

#endif
