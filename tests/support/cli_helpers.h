/* SPDX-License-Identifier: MIT */
/* Calls of the program in the temporary directory, as its users make them. */
#ifndef CLI_HELPERS_H
#define CLI_HELPERS_H

#include "temp_dir.h"

#include <jansson.h>
#include <stdarg.h>
#include <sys/wait.h>

/* What a command printed, stdout and stderr apart. */
static char out[1 << 16], errors[1 << 14];

static inline void read_all(const char *path, char *text, size_t room)
{
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, room - 1, file)] = '\0';
    fclose(file);
}

/* Run "saltus ARGUMENTS" in the temporary directory; its exit code. */
static inline int saltus(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline int saltus(const char *format, ...)
{
    char arguments[2048], command[8192];
    va_list args;
    va_start(args, format);
    vsnprintf(arguments, sizeof arguments, format, args);
    va_end(args);
    snprintf(command, sizeof command, "cd %s && '%s' %s >stdout.txt 2>stderr.txt", temp_dir,
             SALTUS_PROGRAM, arguments);
    int status = system(command);
    read_all(temp_path("stdout.txt"), out, sizeof out);
    read_all(temp_path("stderr.txt"), errors, sizeof errors);
    ck_assert_msg(WIFEXITED(status), "saltus %s: killed", arguments);
    return WEXITSTATUS(status);
}

/* A call must succeed without a word on stderr. */
#define ck_run(...)                                                                               \
    do {                                                                                          \
        int ck_run_code = saltus(__VA_ARGS__);                                                    \
        ck_assert_msg(ck_run_code == 0 && errors[0] == '\0', "exit %d: %s", ck_run_code, errors); \
    } while (0)

/* A call must fail with this exit code and one line on stderr that contains `text`. */
#define ck_refused(code, text, ...)                                                            \
    do {                                                                                       \
        int ck_refused_code = saltus(__VA_ARGS__);                                             \
        ck_assert_msg(ck_refused_code == (code), "exit %d, expected %d: %s", ck_refused_code,  \
                      (code), errors);                                                         \
        ck_assert_msg(strstr(errors, (text)) != NULL, "'%s' lacks '%s'", errors, (text));      \
        ck_assert_msg(strchr(errors, '\n') == strrchr(errors, '\n'), "more than one line: %s", \
                      errors);                                                                 \
    } while (0)

static inline json_t *json_out(void)
{
    json_error_t error;
    json_t *object = json_loads(out, 0, &error);
    ck_assert_msg(object != NULL, "not one JSON object: %s\n%s", error.text, out);
    return object;
}

/* The height and the width of a PNG file. */
static inline void png_sides(const char *name, int sides[2])
{
    unsigned char head[24] = { 0 };
    FILE *file = fopen(temp_path(name), "rb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fread(head, 1, sizeof head, file), sizeof head);
    fclose(file);
    for (int k = 0; k < 2; k++) {
        const unsigned char *at = head + (k == 0 ? 20 : 16);
        sides[k] = at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3];
    }
}

/* A small network whose marginals can be worked out by hand. */
static const char chain_uai[] = "MARKOV\n2\n2 3\n2\n1 0\n2 0 1\n2\n 0.25 0.75\n6\n 1 0 1  2 1 1\n";

#endif
