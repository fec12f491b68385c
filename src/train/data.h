/* Inside of data sets. */
#ifndef SALI_DATA_H
#define SALI_DATA_H

#include <saltus/data.h>

/* Draw a row's variables from their intensities into codes [variables]: code 1 with that
 * probability, to 2^-52. The numbers are those of seed, row and `use` (how often the row was drawn
 * before, or the iteration): equal ones give equal codes. A data set without intensities gives its
 * codes. Params: row below 2^32.
 * Source: Salakhutdinov & Murray 2008. */
void sali_data_binarise(const sal_data *data, int64_t row, uint64_t seed, uint64_t use,
                        int32_t *codes);

#endif
