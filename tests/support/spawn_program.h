/* SPDX-License-Identifier: MIT */
/* The program as a process of its own in the temporary directory, which can be sent signals. */
#ifndef SPAWN_PROGRAM_H
#define SPAWN_PROGRAM_H

#include "temp_dir.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

/* Start "saltus WORDS" in the temporary directory; words are apart by single blanks. */
static inline pid_t start(const char *words)
{
    char text[1024], *argv[64];
    int argc = 0;
    pid_t pid;
    posix_spawn_file_actions_t files;
    snprintf(text, sizeof text, "saltus %s", words);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    argv[argc] = NULL;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addchdir_np(&files, temp_dir);
    posix_spawn_file_actions_addopen(&files, 1, "stdout.txt", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    posix_spawn_file_actions_addopen(&files, 2, "stderr.txt", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    ck_assert_int_eq(posix_spawn(&pid, SALTUS_PROGRAM, &files, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&files);
    return pid;
}

static inline size_t read_text(const char *name, char *text, size_t room)
{
    FILE *file = fopen(temp_path(name), "rb");
    ck_assert_msg(file != NULL, "no file %s", name);
    size_t size = fread(text, 1, room - 1, file);
    text[size] = '\0';
    fclose(file);
    return size;
}

static inline int finish(pid_t pid)
{
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static inline void succeeds(const char *words)
{
    char errors[2048];
    int code = finish(start(words));
    read_text("stderr.txt", errors, sizeof errors);
    ck_assert_msg(code == 0, "saltus %s: exit %d: %s", words, code, errors);
}

static inline void fails(int want, const char *text, const char *words)
{
    char errors[2048];
    int code = finish(start(words));
    read_text("stderr.txt", errors, sizeof errors);
    ck_assert_msg(code == want && strstr(errors, text), "saltus %s: exit %d: %s", words, code,
                  errors);
}

static inline void pause_for(long microseconds)
{
    struct timespec time = { microseconds / 1000000, microseconds % 1000000 * 1000 };
    nanosleep(&time, NULL);
}

#endif
