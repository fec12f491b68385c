/* Data sets: rows of codes, from files, from draws of a model, or drawn. */
#ifndef SALTUS_DATA_H
#define SALTUS_DATA_H

#include <stdbool.h>
#include <stdint.h>
#include <saltus/sample.h>
#include <saltus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The range of a file's grey values, from black to white. White pixels are those above the middle:
 * 127 of bytes, otherwise 0 or 0.5. */
typedef enum sal_grey {
    SAL_GREY_FIND = 0, /* the one that holds all values: 0 to 1 (or -1 to 1) before 0 to 255 */
    SAL_GREY_BYTES,    /* 0 to 255 */
    SAL_GREY_SIGNED,   /* -1 to 1 */
    SAL_GREY_UNIT      /* 0 to 1 */
} sal_grey;

/* A data set. Zero is the empty one; what may be NULL is not there. `height` and `width` say how a
 * row is a picture, 0 if it is none. Every array is its own, and freed by sal_data_destroy. */
typedef struct sal_data {
    int64_t rows;      /* states */
    int64_t variables; /* numbers in each */
    uint8_t *codes;    /* [rows x variables] */
    int64_t height;    /* of a picture */
    int64_t width;     /* height x width = variables */

    /* [rows x variables] in [0, 1], or NULL: the probability that a two-level variable has code 1,
     * for dynamic binarisation, where each use of a row draws its variables anew. `codes` are then
     * these, cut in the middle.
     * Source: Salakhutdinov & Murray 2008. */
    float *intensity;
    sal_grey grey; /* of pictures from a file: the range of its values */

    /* [rows] positive and finite, or NULL (all are 1): how much a row counts. A minibatch of
     * training takes rows in proportion to them. */
    double *weight;

    sal_alphabet alphabet; /* of an alignment: whose letters the codes are; 0: it is none */

    int32_t *labels; /* [rows] classes, if the file's format has them, or NULL */
} sal_data;

/* Free what a data set holds, and make it the empty one; NULL is fine. */
SAL_API void sal_data_destroy(sal_data *data);

/* What the numbers of a file mean. */
typedef enum sal_data_kind {
    SAL_DATA_PICTURES = 0, /* grey pictures, made black and white: an array of three dimensions, or
                              rows with a square number of columns */
    SAL_DATA_CODES,        /* whole numbers 0 to 255 as they are: an array whose first dimension
                              counts rows; with three, rows are pictures */
    SAL_DATA_DRAWS,        /* the same, only the last dimension counts variables: what sal_run_save
                              writes, (chains, draws, variables) */
    SAL_DATA_ALIGNMENT     /* aligned sequences: a variable a column, its code the place of the
                              letter in its alphabet (see sal_alphabet) */
} sal_data_kind;

/* How to read a file. Zeros stand for the defaults. */
typedef struct sal_data_options {
    sal_data_kind kind;    /* what its numbers mean */
    sal_grey grey;         /* of pictures; test pictures are best read with their training pictures'
                              range */
    bool keep_intensity;   /* of pictures: keep the greys, scaled to 0..1, as `intensity` */
    int64_t height;        /* of a picture in each row; 0: a square. Rows of a libsvm file may be
                              shorter: it leaves out zeros at the end */
    int64_t width;         /* likewise; both or none */
    int64_t columns;       /* rows of a libsvm file have at least so many numbers; 0: as many as the
                              longest row has */
    int64_t first;         /* only rows from this one on, counted from 0 */
    int64_t count;         /* and only so many; 0: all */
    sal_alphabet alphabet; /* of alignments; 0: RNA or DNA where each of A, C, G and T or U occurs,
                              all letters are codes of nucleotides, and at least 90% of those that
                              are not N or X are A, C, G, T or U; else protein. Letters that the
                              alphabet lacks are gaps */
    double identity; /* of alignments: a sequence's weight is 1 / (number of the sequences read
                        that agree with it at this share of sites or more, itself included),
                        above 0 and at most 1, usually 0.8; 0: no weights */
} sal_data_options;

/* Read a data set from a file of any format of arrays or alignments (see 'saltus list formats'),
 * compressed or not.
 * Params:  options  NULL for the defaults.
 * Returns: SAL_ERR_DATA for content that is not of the kind (its shape, greys outside the range,
 *          no codes); SAL_ERR_ARGUMENT (options; rows that are not there; a file that is no array
 *          or alignment); SAL_ERR_NOT_FOUND; SAL_ERR_UNSUPPORTED (weights of more than 200,000
 *          sequences); SAL_ERR_IO; SAL_ERR_MEMORY. On failure *data is untouched.
 * Cost:    O(elements of the file), 8 bytes of memory for each; weights O(rows^2 variables).
 * Threads: any. */
SAL_API sal_status sal_data_read(const char *path, const sal_data_options *options, sal_data *data,
                                 sal_error *err);

/* A copy of `count` >= 1 rows, with all that the data set has of them.
 * Returns: SAL_ERR_ARGUMENT for rows that are not there; SAL_ERR_MEMORY. On failure *out is
 *          untouched.
 * Cost:    O(count variables).
 * Threads: any. */
SAL_API sal_status sal_data_slice(const sal_data *data, int64_t first, int64_t count, sal_data *out,
                                  sal_error *err);

/* Hold out: the last `rows` of `data` become `held_out`, the others stay.
 * Params:  rows in 1 .. data->rows - 1.
 * Returns: SAL_ERR_ARGUMENT, SAL_ERR_MEMORY. On failure both are untouched.
 * Cost:    O(rows variables).
 * Threads: one at a time. */
SAL_API sal_status sal_data_split(sal_data *data, int64_t rows, sal_data *held_out, sal_error *err);

/* Hold out: random rows of `data`, all sets alike likely, become `held_out`, the others stay; both
 * in their order. For data that are not in a random order.
 * Params:  rows in 1 .. data->rows - 1; equal seeds give equal splits.
 * Returns: SAL_ERR_ARGUMENT, SAL_ERR_MEMORY. On failure both are untouched.
 * Cost:    O(rows variables).
 * Threads: one at a time. */
SAL_API sal_status sal_data_split_random(sal_data *data, int64_t rows, uint64_t seed,
                                         sal_data *held_out, sal_error *err);

/* Hold out rows that are unlike those that stay, as a test of a family of sequences should: no row
 * held out agrees with one that stays at a share `identity` of the variables or more. Rows keep
 * their order, and the weights that they have.
 * Math:    rows that agree at a share `identity` or more are linked, and linked rows are of one
 *          cluster (single linkage). The clusters are taken in a random order; each is held out as
 *          a whole if the rows held out are then no more than share * rows (at least 2). Large
 *          clusters stay. If fewer than half of that number were found, the smallest of the
 *          other clusters is held out too, unless that would be more than half of all rows.
 * Params:  data of 4 rows or more; identity 0 to 1, usually 0.8; share above 0 and below 1, usually
 *          0.1; equal seeds give equal splits; clusters (may be NULL): their number.
 * Returns: SAL_ERR_ARGUMENT; SAL_ERR_DATA when fewer than 2 rows can be held out, because nearly
 *          all are of one cluster; SAL_ERR_UNSUPPORTED (more than 200,000 rows); SAL_ERR_MEMORY. On
 *          failure everything is untouched.
 * Cost:    O(rows^2 variables / 64) on machines with vectors of 64 bytes: 3827 x 136 in 0.1 s.
 * Threads: one at a time.
 * Source:  the condition is that of Petti & Eddy (2022), PLoS Computational Biology 18(3). */
SAL_API sal_status sal_data_split_by_identity(sal_data *data, double identity, double share,
                                              uint64_t seed, sal_data *held_out, int64_t *clusters,
                                              sal_error *err);

/* The draws of a run that kept them (record.draws) as a data set, chain by chain: data from a known
 * model.
 * Returns: SAL_ERR_ARGUMENT when the run kept or made no draws; SAL_ERR_DATA for a code above 255;
 *          SAL_ERR_MEMORY. On failure *data is untouched.
 * Cost:    O(chains draws V).
 * Threads: any. */
SAL_API sal_status sal_data_from_run(const sal_run *run, sal_data *data, sal_error *err);

/* Digits 0-9 drawn procedurally in black and white: strokes with random slant, width, scale and
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
