/* SPDX-License-Identifier: MIT */
/* Training data: from a file, or drawn. */
#ifndef CLI_PICTURES_H
#define CLI_PICTURES_H

#include <math.h>

#include "cli/cli.h"

/* The options that describe the data. Options that were not given are NULL or NAN. */
typedef struct cli_data {
    const char *path, *test; /* files, or "digits" */
    const char *kind, *alphabet, *unknown, *duplicates, *shape, *columns_from;
    double identity, test_identity;
    sal_data_options read;
    int64_t clusters;                /* into which the alignment was divided; 0: not divided */
    char file[1024];                 /* the path, if it comes from ARCH */
    char letters[SAL_ALPHABET_ROOM]; /* the alphabet, if it comes from ARCH or from the model */
} cli_data;

#define CLI_DATA_START                        \
    {                                         \
        .identity = NAN, .test_identity = NAN \
    }

/* The rows of an option table that determine what numbers of a file mean. */
#define CLI_READING_OPTIONS(d)                                               \
    { "white", CLI_REAL, &(d).read.white, "X",                               \
      "value of white in pictures, where black is 0 [found, and printed]" }, \
        CLI_COLUMNS_FROM_OPTION((d).columns_from)

/* The rows of an option table for all options of the data. */
#define CLI_DATA_OPTIONS(d)                                                                       \
    { "data", CLI_TEXT, &(d).path, "FILE",                                                        \
      "in any format of arrays (of several in it, FILE:NAME) or alignments (pictures: of two "    \
      "levels, white above the middle); or 'digits' [the alignment that the model is made of]" }, \
        { "kind", CLI_TEXT, &(d).kind, "NAME",                                                    \
          "what the file holds: pictures, codes, draws or alignment [alignment for a file of "    \
          "sequences; else pictures]" },                                                          \
        { "shape", CLI_TEXT, &(d).shape, "HxW",                                                   \
          "height and width of a picture in a row; rows of libsvm files may be shorter [a "       \
          "square]" },                                                                            \
        { "levels", CLI_INT, &(d).read.levels, "N",                                               \
          "grey levels of pictures, 2 to 256 [as many as pixels of the model have states]" },     \
        CLI_READING_OPTIONS(d),                                                                   \
        { "dynamic", CLI_FLAG, &(d).read.keep_intensity, NULL,                                    \
          "draw pixels from their greys (dynamic binarisation), in training anew at each use" },  \
        { "alphabet", CLI_TEXT, &(d).alphabet, "protein|rna|dna|LETTERS",                         \
          "of an alignment; or its letters in order, the gap first (--alphabet=-ABCD) [the "      \
          "model's; else what its letters tell]" },                                               \
        { "unknown", CLI_TEXT, &(d).unknown, "gap|drop|error",                                    \
          "letters outside the alphabet of an alignment are gaps, or drop their sequences, or "   \
          "are refused [the model's; else gap, and drop where the model has no gap]" },           \
        { "duplicates", CLI_TEXT, &(d).duplicates, "keep|drop",                                   \
          "sequences of an alignment that equal an earlier one [the model's; else keep]" },       \
        { "identity", CLI_REAL, &(d).identity, "X",                                               \
          "a sequence of an alignment weighs 1 / (number of sequences that agree with it at "     \
          "this share of sites); 0: all weigh 1 [0.8]" },                                         \
        { "test", CLI_TEXT, &(d).test, "FILE",                                                    \
          "held-out rows [beside --data, else a random tenth of it, or see --test-identity]" },   \
    {                                                                                             \
        "test-identity", CLI_REAL, &(d).test_identity, "X",                                       \
            "hold out whole clusters of an alignment, so that no sequence held out agrees with"   \
            " another at this share of sites; 0: a random tenth [0.8]"                            \
    }

/* What formats of alignments hold (sal_format_info.content). */
#define CLI_ALIGNMENT "an alignment"

/* Whether a regular file holds aligned sequences. */
bool cli_has_sequences(const char *path);

/* The name of the alphabet of these letters in options ("rna"); if it has none, the letters. */
const char *cli_alphabet_name(const char *letters);

/* Check the options of the data. `arch` (may be NULL) is the specification of the model: if the
 * model is made of an alignment, the alignment is the data where none are given, and its alphabet
 * is used. A file of sequences is an alignment unless codes or draws were asked for. `command` is
 * for messages. Returns the exit code. */
int cli_data_check(const char *command, const char *arch, cli_data *d);

/* Read alignments in the alphabet of the model, unless another one was asked for. */
void cli_data_suit(const sal_model *model, cli_data *d);

/* Read training and test data. Returns the exit code. `model`: the model whose states the rows are,
 * NULL if the model is made for the data. libsvm files leave out zeros at the end of rows: their
 * rows get as many numbers as the model has variables, or as the wider of training and test data
 * has, and both count columns alike. The data are a file as sal_data_read takes it, or "digits"
 * (drawn, 16 x 16). Test data are a file too, with the same range of greys and the same alphabet.
 * If none is given, it is the file beside the data whose name has "test" (or "t10k") for "train";
 * else whole clusters of an alignment (sal_data_split_by_identity; always the same ones, so that
 * `evaluate` holds out what `train` did; if that fails, a line on stderr says so); else a random
 * tenth of the data. */
int cli_data_read(cli_data *d, const sal_model *model, sal_data *train_out, sal_data *test_out);

/* The range of the greys in the file that pictures were read from; false: they are from no file, or
 * labels or codes. */
bool cli_grey_range(const sal_data *data, double *low, double *high);

/* Whether rows of the data `path` are states of the model, by their length and alphabet: CLI_OK, or
 * CLI_USAGE after a message. */
int cli_check_width(const char *path, const sal_data *data, const sal_model *model);

/* Draw each row's codes once from its greys, if there are any, as training does in its first use of
 * the row. */
int cli_draw_pixels(sal_data *train, sal_data *test);

/* Read the pictures of one file, or for "digits" the drawn test pictures. Only the path, the shape,
 * the white and the columns in the options count; `model` as in cli_data_read. Returns the exit
 * code. */
int cli_pictures_of(cli_data *d, const sal_model *model, sal_data *out);

#endif
