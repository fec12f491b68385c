/* SPDX-License-Identifier: MIT */
/* Data sets: rows of codes, read from files, taken from draws of a model, or generated. */
#ifndef SALTUS_DATA_H
#define SALTUS_DATA_H

#include <stdbool.h>
#include <stdint.h>
#include <saltus/io.h>
#include <saltus/sample.h>
#include <saltus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The range of a file's grey values, from black to white. White pixels are those above the middle
 * of the range: above 127 for bytes, else above 0, 0.5 or half of the largest value. */
typedef enum sal_grey {
    SAL_GREY_FIND = 0, /* LABELS, if the values are just those of more than 2 levels; else the first
                          of these that holds all values: 0 to 1, -1 to 1, 0 to 255 if a value is
                          above 127, 0 to the largest value */
    SAL_GREY_BYTES,    /* 0 to 255 */
    SAL_GREY_SIGNED,   /* -1 to 1 */
    SAL_GREY_UNIT,     /* 0 to 1 */
    SAL_GREY_LABELS    /* no greys, but whole numbers from 1 to the number of levels (2 without) for
                          the codes from 0 on */
} sal_grey;

/* What letters of an alignment are that its alphabet lacks, such as X of proteins and N of RNA, and
 * gaps, if it has none. */
typedef enum sal_unknown {
    SAL_UNKNOWN_GAP = 0, /* gaps; if the alphabet has none, as DROP */
    SAL_UNKNOWN_DROP,    /* a reason to leave out the sequence */
    SAL_UNKNOWN_ERROR    /* an error that names the sequence */
} sal_unknown;

/* What happens to sequences of an alignment that equal an earlier one. */
typedef enum sal_duplicates {
    SAL_DUPLICATES_KEEP = 0, /* they count */
    SAL_DUPLICATES_DROP      /* they are left out */
} sal_duplicates;

/* A data set. A zero struct is the empty data set, and a NULL array means that the data set lacks
 * it. If rows are pictures, `height` and `width` give their size; else both are 0. The data set
 * owns its arrays, and sal_data_destroy frees them. */
typedef struct sal_data {
    int64_t rows;      /* number of states */
    int64_t variables; /* number of variables in each row */
    uint8_t *codes;    /* [rows x variables] */
    int64_t height;    /* of a picture; 0: rows are not pictures */
    int64_t width;     /* of a picture: height x width = variables */

    /* [rows x variables] in [0, 1], or NULL: the probability that a two-level variable has code 1,
     * for dynamic binarisation, where each use of a row draws its variables anew. `codes` then
     * holds these values cut in the middle.
     * Source:  Salakhutdinov & Murray 2008. */
    float *intensity;
    sal_grey grey; /* of pictures from a file: the range of the file's values; FIND: 0 to `white` */
    double white; /* of pictures from a file: the value of white, if the range is 0 to it; else 0 */

    /* [rows] positive and finite, or NULL (all are 1): the weight of each row. Minibatches of
     * training take rows in proportion to their weights. */
    double *weight;

    char alphabet[SAL_ALPHABET_ROOM]; /* of an alignment: the letters in the order of their codes;
                                         "": not an alignment */

    sal_columns_from columns_from; /* of a libsvm file: how its columns were counted; else FIND */

    int32_t *labels; /* [rows] classes, if the file has them, or NULL */

    char **names; /* [rows] of an alignment: the sequences' names, if the file has them and all its
                     sequences were kept, or NULL */

    char *remark; /* what reading the file found besides the rows, as sal_model_remark; NULL:
                     nothing */
    bool warns;   /* the remark says that something was dropped or decided */
} sal_data;

/* Free what a data set holds and make it the empty one; NULL is fine. */
SAL_API void sal_data_destroy(sal_data *data);

/* What the numbers of a file mean. */
typedef enum sal_data_kind {
    SAL_DATA_PICTURES = 0, /* grey pictures, made black and white or of few grey levels: an array of
                              three dimensions, or four with one channel (rows, 1, height, width) or
                              (rows, height, width, 1); or rows with a square number of columns.
                              Without options of pictures, a file of sequences is an alignment */
    SAL_DATA_CODES,    /* whole numbers 0 to 255, used unchanged: the first dimension of the array
                          counts rows; with three dimensions, rows are pictures */
    SAL_DATA_DRAWS,    /* whole numbers 0 to 255, used unchanged: only the last dimension counts
                          variables, as in the arrays that sal_run_save writes (chains, draws,
                          variables) */
    SAL_DATA_ALIGNMENT /* aligned sequences: each column is a variable, whose code is the position
                          of the letter in its alphabet (saltus/space.h) */
} sal_data_kind;

/* How to read a file. Fields left zero take their defaults. */
typedef struct sal_data_options {
    sal_data_kind kind; /* what the file's numbers mean */
    sal_grey grey; /* of pictures; read test pictures with the range of their training pictures */
    double white; /* of pictures: the value of white, above 0, in place of `grey`: the range is 0 to
                     it. 0: as `grey` says */
    bool keep_intensity; /* of pictures: keep the greys, scaled to 0..1, as `intensity` */
    int64_t levels; /* of pictures: grey levels, 2 to 256: code k is the k-th of so many equal parts
                       of the range, from black on; 0 or 2: black and white, as sal_grey says. More
                       than 2 exclude keep_intensity. Whole numbers from 0 to 2 or more, all below
                       `levels`, are such codes already and are kept (grey FIND); where they are
                       1, 2, .., `levels`, each of them there, the codes are 0 to `levels` - 1 */
    int64_t height; /* of the picture in each row; 0: a square. Rows of a libsvm file may be
                       shorter, because the format leaves out zeros at the end */
    int64_t width;  /* of the picture in each row; give both height and width or neither */
    int64_t columns; /* length of a row of a libsvm file, or at least so many; 0: the length of the
                        longest row */
    sal_columns_from columns_from; /* of a libsvm file; read test data as their training data */
    const char *companion;     /* the path of a file with the same columns, such as the test data of
                                  training data, or NULL: its indices and its width tell too how long
                                  rows of a libsvm file are, and where their columns begin */
    int64_t first;             /* first row to read, counted from 0 */
    int64_t count;             /* number of rows to read; 0: all */
    const char *alphabet;      /* of alignments: "protein", "rna", "dna" or the letters of another
                                  alphabet (saltus/space.h); NULL: found from the letters of the
                                  file (docs/formats.md) */
    sal_unknown unknown;       /* of alignments: letters that the alphabet lacks */
    sal_duplicates duplicates; /* of alignments: sequences that equal an earlier one */
    double identity; /* of alignments: a sequence's weight is 1 / (number of sequences read, itself
                        included, that agree with it at this share of sites or more). Above 0 and at
                        most 1, usually 0.8; 0: no weights */
} sal_data_options;

/* Read a data set from a file in any format of arrays or alignments (see 'saltus list formats'),
 * compressed or not.
 * Params:  options  NULL for the defaults.
 * Returns: SAL_ERR_DATA for content that does not fit the kind (its shape, greys outside the range,
 *          pixels that all get one code, numbers that are no codes); SAL_ERR_ARGUMENT (options;
 * rows that do not exist; a file that is no array or alignment); SAL_ERR_NOT_FOUND;
 *          SAL_ERR_UNSUPPORTED (weights of more than 200,000 sequences); SAL_ERR_IO;
 *          SAL_ERR_MEMORY. On failure *data is untouched.
 * Cost:    O(elements of the file), 8 bytes of memory for each; weights O(rows^2 variables).
 * Threads: any. */
SAL_API sal_status sal_data_read(const char *path, const sal_data_options *options, sal_data *data,
                                 sal_error *err);

/* Draw the codes of all rows from their intensities, as training does each time that it uses a row;
 * without intensities nothing changes.
 * Params:  use  number of the drawing, from 0: the same seed and use give the same codes.
 * Returns: SAL_ERR_MEMORY.
 * Cost:    O(rows variables).
 * Threads: one at a time.
 * Source:  Salakhutdinov & Murray 2008. */
SAL_API sal_status sal_data_binarise(sal_data *data, uint64_t seed, uint64_t use, sal_error *err);

/* Hold out rows of `data`: they move to `held_out`, with all that belongs to them. Both parts keep
 * their order.
 * Params:  rows in 1 .. data->rows - 1. seed: random rows, for data that are not in a random order;
 *          all sets of rows are equally likely, and equal seeds give equal splits. NULL: the last
 *          rows.
 * Returns: SAL_ERR_ARGUMENT, SAL_ERR_MEMORY. On failure both are untouched.
 * Cost:    O(rows variables).
 * Threads: one at a time. */
SAL_API sal_status sal_data_split(sal_data *data, int64_t rows, const uint64_t *seed,
                                  sal_data *held_out, sal_error *err);

/* Hold out rows that are unlike the remaining rows, as a test of a family of sequences should. No
 * held-out row agrees with a remaining row at a share `identity` or more of the variables. Rows
 * keep their order and their weights.
 * Math:    rows that agree at a share `identity` or more are linked, and linked rows form one
 *          cluster (single linkage). The clusters are taken in a random order. A cluster is held
 *          out as a whole if that makes no more than share * rows held-out rows (at least 2), so
 *          large clusters remain. If this gives fewer than half of that number, the smallest of the
 *          other clusters is held out too, unless that would be more than half of all rows.
 * Params:  data of 4 rows or more; identity 0 to 1, usually 0.8; share above 0 and below 1, usually
 *          0.1; equal seeds give equal splits; clusters (may be NULL): the number of clusters.
 * Returns: SAL_ERR_ARGUMENT; SAL_ERR_DATA when fewer than 2 rows can be held out, because nearly
 *          all are in one cluster; SAL_ERR_UNSUPPORTED (more than 200,000 rows); SAL_ERR_MEMORY. On
 *          failure everything is untouched.
 * Cost:    O(rows^2 variables / 64) on machines with vectors of 64 bytes: 3827 x 136 in 0.1 s.
 * Threads: one at a time.
 * Source:  the condition is that of Petti & Eddy (2022), PLoS Computational Biology 18(3). */
SAL_API sal_status sal_data_split_by_identity(sal_data *data, double identity, double share,
                                              uint64_t seed, sal_data *held_out, int64_t *clusters,
                                              sal_error *err);

/* Make a data set from the draws of a run that kept them (record.draws), chain by chain. This gives
 * you data from a known model.
 * Returns: SAL_ERR_ARGUMENT when the run kept or made no draws; SAL_ERR_DATA for a code above 255;
 *          SAL_ERR_MEMORY. On failure *data is untouched.
 * Cost:    O(chains draws V).
 * Threads: any. */
SAL_API sal_status sal_data_from_run(const sal_run *run, sal_data *data, sal_error *err);

/* Generate black and white pictures of the digits 0-9: strokes with random slant, width, scale and
 * shift.
 * Params:  rows >= 1; side 8 to 64 pixels; equal seeds give equal pictures.
 * Returns: SAL_ERR_ARGUMENT, SAL_ERR_MEMORY.
 * Cost:    O(rows side^2).
 * Threads: any. */
SAL_API sal_status sal_data_digits(int64_t rows, int64_t side, uint64_t seed, sal_data *data,
                                   sal_error *err);

#ifdef __cplusplus
}
#endif
#endif
