/* Training data: from a file, or drawn. */
#ifndef CLI_PICTURES_H
#define CLI_PICTURES_H

#include "cli/cli.h"

/* Training and test data; the exit code. `data` is a file as sal_data_read takes it with `options`
 * (NULL: black-and-white pictures), or "digits" (drawn, 16 x 16). `test` is a file too, of the same
 * range of greys; NULL: the file beside `data` whose name has "test" (or "t10k") for "train", else
 * the last tenth of the data. */
int cli_pictures(const char *data, const char *test, const sal_data_options *options,
                 sal_data *train_out, sal_data *test_out);

/* The kind of data of an option --kind; NULL: pictures. */
int cli_data_kind(const char *word, sal_data_kind *kind);

/* Whether rows of the data `path` are states of the model, by their length: CLI_OK, or CLI_USAGE
 * after a message. */
int cli_check_width(const char *path, const sal_data *data, const sal_model *model);

/* Draw each row's codes once from its greys, if there are any, as training does in its first use of
 * the row. */
int cli_draw_pixels(sal_data *data);

/* The pictures of one file, or for "digits" the drawn test pictures. */
int cli_pictures_of(const char *data, sal_data *out);

#endif
