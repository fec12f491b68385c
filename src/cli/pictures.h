/* Training pictures: from an IDX file, or drawn. */
#ifndef CLI_PICTURES_H
#define CLI_PICTURES_H

#include "cli/cli.h"

/* Black-and-white training and test pictures; the exit code. `data` is an IDX file (white above
 * half of the largest value), or "digits" (drawn, 16 x 16). `test` is a file too; NULL: the file
 * beside `data` whose name has "test" (or "t10k") for "train", else the last tenth of the data. */
int cli_pictures(const char *data, const char *test, uint64_t seed, sal_data *train_out,
                 sal_data *test_out);

#endif
