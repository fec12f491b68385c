/* SPDX-License-Identifier: MIT */
/* Files that a command is to write: none that the command reads, and none that another process
 * writes. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/text.h"

#define MOST_OUTPUTS 16

static char **words; /* of the command line, up to NULL */

void cli_set_words(char **argv)
{
    words = argv;
}

/* ---- files that are read */

const char *const cli_training_files[CLI_N_TRAINING_FILES] = { "model.xml", "model.safetensors",
                                                               "log.csv", "checkpoint.json" };

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether a name is the name of the file, or of a training's directory that has the file. */
static bool names_file(const char *name, const struct stat *file)
{
    char path[CLI_PATH];
    struct stat there;
    if (stat(name, &there) != 0) {
        return false;
    }
    for (size_t k = 0; S_ISDIR(there.st_mode) && k < CLI_N_TRAINING_FILES; k++) {
        struct stat inside;
        if (cli_path(path, name, cli_training_files[k]) && stat(path, &inside) == 0 &&
            is_same(&inside, file)) {
            return true;
        }
    }
    return is_same(&there, file);
}

/* Whether a word, or a part of it behind ':', '=' or ',', names the file. `path` itself, which is a
 * word or the end of one, does not count. */
static bool word_names(const char *word, const char *path, const struct stat *file)
{
    char name[CLI_PATH];
    for (const char *begin = word; *begin; begin += strcspn(begin, ":=,"), begin += *begin != 0) {
        for (const char *end = begin; begin != path && (end == begin || *end);) {
            end += end > begin; /* a comma may belong to the name, and a colon */
            end += strcspn(end, ",:");
            int size = snprintf(name, sizeof name, "%.*s", (int)(end - begin), begin);
            if (size < (int)sizeof name && names_file(name, file)) {
                return true;
            }
        }
    }
    return false;
}

/* CLI_USAGE, after a message, if another word of the command line names the file `path`, except the
 * file of --resume, which is read and written. */
static int check_inputs(const char *path)
{
    struct stat file;
    bool there = stat(path, &file) == 0;
    for (char **word = words; there && *word; word++) {
        bool resumes = strncmp(*word, "--resume=", 9) == 0 ||
                       (word > words && strcmp(word[-1], "--resume") == 0);
        if (!resumes && word_names(*word, path, &file)) {
            return cli_usage("%.400s: would be written over: '%.400s' names it too", path, *word);
        }
    }
    return CLI_OK;
}

/* ---- claims */

typedef struct claim {
    char directory[PATH_MAX]; /* as realpath gives it */
    const char *name;
    sal_reservation *reservation;
} claim;

static claim claims[MOST_OUTPUTS];
static int n_claims;

static void release_all(void)
{
    while (n_claims > 0) {
        sal_file_release(claims[--n_claims].reservation);
    }
}

/* Set the directory and the name of a claim from a path. False: no file can be written there. */
static bool split_path(const char *path, claim *c)
{
    char directory[CLI_PATH] = ".";
    const char *slash = strrchr(path, '/');
    if (slash) {
        snprintf(directory, sizeof directory, "%.*s", (int)(slash - path + 1), path);
    }
    c->name = slash ? slash + 1 : path;
    return c->name[0] && access(directory, W_OK) == 0 && realpath(directory, c->directory);
}

int cli_claim_output(const char *path)
{
    sal_error err = { 0 };
    claim *c = &claims[n_claims];
    if (!path || n_claims == MOST_OUTPUTS || !cli_is_first()) {
        return CLI_OK;
    }
    if (!split_path(path, c)) {
        return cli_error(SAL_ERR_IO, "%.400s: cannot be written%s", path[0] ? path : "''",
                         path[0] ? ": the directory is not there, or not writable" : "");
    }
    for (int k = 0; k < n_claims; k++) {
        if (strcmp(claims[k].name, c->name) == 0 &&
            strcmp(claims[k].directory, c->directory) == 0) {
            return cli_usage("%.400s: two options would write it", path);
        }
    }
    int code = check_inputs(path);
    if (code != CLI_OK) {
        return code;
    }
    sal_status status = sal_file_reserve(path, &c->reservation, &err);
    if (status == SAL_OK && n_claims++ == 0) {
        atexit(release_all);
    }
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}
