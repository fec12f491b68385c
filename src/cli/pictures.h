/* Training pictures: from a file of any array format, or drawn. */
#ifndef CLI_PICTURES_H
#define CLI_PICTURES_H

#include "cli/cli.h"

/* Black-and-white training and test pictures; the exit code. `data` is a file with an array (three
 * dimensions, or rows with a square number of columns) whose values are bytes, from -1 to 1, or
 * from 0 to 1; white is above 127, 0 or 0.5. Or it is "digits" (drawn, 16 x 16). `test` is a file
 * too, cut at the same value; NULL: the file beside `data` whose name has "test" (or "t10k") for
 * "train", else the last tenth of the data. */
int cli_pictures(const char *data, const char *test, uint64_t seed, sal_data *train_out,
                 sal_data *test_out);

#endif
