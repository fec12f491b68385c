/* SPDX-License-Identifier: MIT */
/* What the parts of a formula's text share (formula.h has the grammar). */
#ifndef SALI_FORMULA_PARSER_H
#define SALI_FORMULA_PARSER_H

#include <stdbool.h>
#include <stdint.h>

#include <saltus/ad.h>

#include "core/memory.h"

/* Brackets within brackets. */
#define SALI_DEEPEST 100
#define SALI_FORMULA_NAME 32
#define SALI_FORMULA_SIDES 4

typedef struct sali_formula_block {
    char name[SALI_FORMULA_NAME];
    sal_kind kind;
    int64_t count, states;
    double *levels; /* [states] of an ordinal block; NULL: 0 .. states - 1 */
    int sides;
    int64_t side[SALI_FORMULA_SIDES];
    bool cyclic;
    int64_t pairs, room; /* of neighbours; -1: not listed yet */
    int64_t *end[2];     /* [pairs] the two variables of each */
    sal_expr x;          /* [count], or [count, states] */
} sali_formula_block;

typedef struct sali_formula_parameter {
    char name[SALI_FORMULA_NAME];
    int64_t count; /* of its numbers; 0: it is one number */
    double *values;
    bool used;
} sali_formula_parameter;

/* What i and j of a sum are. */
typedef enum sali_formula_bound {
    SALI_UNBOUND,
    SALI_EACH,       /* i */
    SALI_NEIGHBOURS, /* i~j */
    SALI_ALL_PAIRS   /* i<j */
} sali_formula_bound;

typedef struct sali_formula_parser {
    const char *text, *at;
    sali_memory memory;
    sal_tape *tape; /* NULL while declarations are read */
    int64_t n_blocks, n_parameters, block_room, parameter_room;
    sali_formula_block *blocks;
    sali_formula_parameter *parameters;
    sali_formula_bound bound;
    const sali_formula_block *over; /* of the sum around; NULL: not known yet */
    const char *sum;                /* where its pairs are said */
    int64_t *all[2];                /* [all_pairs] of the block before */
    int64_t all_pairs, all_of;
    int depth;
    char mistake[200]; /* the first one counts, and nothing is read after it */
    const char *place;
} sali_formula_parser;

/* ---- letters, words and numbers (declarations.c) */

/* Note a mistake at a place; false. */
__attribute__((format(printf, 3, 4))) bool
sali_formula_fail(sali_formula_parser *p, const char *place, const char *format, ...);
bool sali_formula_no_memory(sali_formula_parser *p);
void sali_formula_skip(sali_formula_parser *p);
bool sali_formula_take(sali_formula_parser *p, const char *word);
bool sali_formula_expect(sali_formula_parser *p, const char *word, const char *where);

/* Characters of the name that is next; 0: there is none. */
int sali_formula_word(sali_formula_parser *p);

/* A number without a sign, and one with a sign. */
bool sali_formula_number(sali_formula_parser *p, double *value);
bool sali_formula_signed(sali_formula_parser *p, double *value);

/* A whole number of digits alone, up to `most`. */
bool sali_formula_whole(sali_formula_parser *p, int64_t most, const char *what, int64_t *value);

/* ---- parts */

/* All declarations, up to f. */
bool sali_formula_declarations(sali_formula_parser *p);

/* Neighbours of a block's lattice, unless they are listed. False: no memory. */
bool sali_formula_neighbours(sali_formula_parser *p, sali_formula_block *block);

/* f, up to the end of the text. */
sal_expr sali_formula_expression(sali_formula_parser *p);

#endif
