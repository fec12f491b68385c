/* SPDX-License-Identifier: MIT */
/* Options of reading data sets, as text. */
#include <saltus/data.h>
#include <saltus/program.h>
#include "core/option.h"

#define DATA(member) SALI_FIELD(sal_data_options, member)

static const char *const kinds[] = { "pictures", "codes", "draws", "alignment", NULL };
static const char *const greys[] = { "find", "bytes", "signed", "unit", "labels", NULL };
static const char *const unknowns[] = { "gap", "drop", "error", NULL };
static const char *const duplicates[] = { "keep", "drop", NULL };
static const char *const columns_from[] = { "find", "0", "1", NULL };

static const sali_option entries[] = {
    SALI_OPTION("kind", WORD, "pictures|codes|draws|alignment", "what the file holds", DATA(kind),
                .words = kinds, .usual = "pictures"),
    SALI_OPTION("grey", WORD, "find|bytes|signed|unit|labels", "range of the greys of pictures",
                DATA(grey), .words = greys, .usual = "find"),
    SALI_OPTION("white", REAL, "X", "value of white in pictures, where black is 0", DATA(white),
                SALI_REAL_FROM(0), .usual = "as grey says"),
    SALI_OPTION("keep-intensity", FLAG, NULL, "keep the greys of pictures", DATA(keep_intensity)),
    SALI_OPTION("levels", WHOLE, "N", "grey levels of pictures", DATA(levels), SALI_RANGE(2, 256),
                .usual = "2: black and white"),
    SALI_OPTION("height", WHOLE, "N", "of the picture in a row", DATA(height), SALI_FROM(0),
                .usual = "that of a square"),
    SALI_OPTION("width", WHOLE, "N", "of the picture in a row", DATA(width), SALI_FROM(0),
                .usual = "that of a square"),
    SALI_OPTION("columns", WHOLE, "N", "length of a row of a libsvm file, at least", DATA(columns),
                SALI_FROM(0), .usual = "the longest row"),
    SALI_OPTION("columns-from", WORD, "find|0|1", "index of the first column of a libsvm file",
                DATA(columns_from), .words = columns_from, .usual = "find"),
    SALI_OPTION("companion", TEXT, "FILE", "a file with the same columns as this libsvm file",
                DATA(companion)),
    SALI_OPTION("first", WHOLE, "N", "first row to read, counted from 0", DATA(first), SALI_FROM(0),
                SALI_USUAL(0)),
    SALI_OPTION("count", WHOLE, "N", "number of rows to read", DATA(count), SALI_FROM(0),
                .usual = "all"),
    SALI_OPTION("alphabet", TEXT, "protein|rna|dna|LETTERS", "letters of an alignment",
                DATA(alphabet), .usual = "auto: what its letters tell"),
    SALI_OPTION(
        "unknown", WORD, "gap|drop|error",
        "letters outside the alphabet of an alignment are gaps, or drop their sequences, or "
        "are refused",
        DATA(unknown), .words = unknowns, .usual = "gap"),
    SALI_OPTION("duplicates", WORD, "keep|drop", "sequences that equal an earlier one",
                DATA(duplicates), .words = duplicates, .usual = "keep"),
    SALI_OPTION("identity", REAL, "X",
                "a sequence weighs 1 / (number of sequences that agree with it at this share)",
                DATA(identity), SALI_RANGE(0, 1), .usual = "0: all weigh 1"),
};

static const sal_option_table table = { "data: ", sizeof entries / sizeof *entries, entries };

const sal_option_table *sali_data_option_table(void)
{
    return &table;
}
