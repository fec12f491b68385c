/* The writer of draws (saltus/io.h) for draws of which less is known. */
#ifndef SALI_DRAW_WRITER_H
#define SALI_DRAW_WRITER_H

#include <stdbool.h>

#include <saltus/io.h>

/* As sal_draw_writer_open, for draws with the first `figures` of log_prob, acceptance_rate, jump
 * and step_size; the others may be NULL. */
sal_status sali_draw_writer_open(const char *path, const sal_model *model,
                                 const sal_run_options *options, int64_t figures,
                                 sal_draw_writer **writer, sal_error *err);

/* A text to be kept with the run's state, for who resumes it; false: out of memory. */
bool sali_draw_writer_note(sal_draw_writer *writer, const char *name, const char *text);

#endif
