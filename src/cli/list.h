/* What `saltus list` prints in other ways than as text. */
#ifndef CLI_LIST_H
#define CLI_LIST_H

/* Print {WHAT: [...]} of "samplers", "models", "ops" or "formats"; the exit code. */
int cli_list_json(const char *what);

#endif
