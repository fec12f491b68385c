/* SPDX-License-Identifier: MIT */
/* The writer of draws (saltus/io.h) for programs that tell more of their options. */
#ifndef SALI_DRAW_WRITER_H
#define SALI_DRAW_WRITER_H

#include <stdbool.h>

#include <saltus/io.h>

/* What the options of a run do not say: how the user called what they hold, or NULL. */
typedef struct sali_draw_arguments {
    const char *params, *tuning, *preconditioner, *init, *clamp, *evidence;
} sali_draw_arguments;

/* As sal_draw_writer_open; `arguments`, which may be NULL, are for the file's configuration. */
sal_status sali_draw_writer_open(const char *path, const sal_model *model, sal_run_options *options,
                                 const sali_draw_arguments *arguments, sal_draw_writer **writer,
                                 sal_error *err);

/* A text to be kept with the run's state, for who resumes it; false: out of memory. */
bool sali_draw_writer_note(sal_draw_writer *writer, const char *name, const char *text);

#endif
