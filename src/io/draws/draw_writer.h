/* The writer of draws (saltus/io.h) for draws of which less is known. */
#ifndef SALI_DRAW_WRITER_H
#define SALI_DRAW_WRITER_H

#include <stdbool.h>

#include <saltus/io.h>

/* Statistics of a draw and chain. */
enum { SALI_DRAW_LP, SALI_DRAW_ACCEPTANCE, SALI_DRAW_JUMP, SALI_DRAW_STEP_SIZE, SALI_DRAW_FIGURES };

/* What the options of a run do not say: how the user called what they hold, or NULL. */
typedef struct sali_draw_arguments {
    const char *params, *tuning, *preconditioner, *init, *clamp, *evidence;
} sali_draw_arguments;

/* As sal_draw_writer_open, for draws with the first `figures` of log_prob, acceptance_rate, jump
 * and step_size; the others may be NULL. `arguments`, which may be NULL, are for the file's
 * configuration. */
sal_status sali_draw_writer_open(const char *path, const sal_model *model,
                                 const sal_run_options *options,
                                 const sali_draw_arguments *arguments, int64_t figures,
                                 sal_draw_writer **writer, sal_error *err);

/* A text to be kept with the run's state, for who resumes it; false: out of memory. */
bool sali_draw_writer_note(sal_draw_writer *writer, const char *name, const char *text);

#endif
