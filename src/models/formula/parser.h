/* SPDX-License-Identifier: MIT */
/* Declarations shared by the parts of the parser (formula.h has the grammar). */
#ifndef SALI_FORMULA_PARSER_H
#define SALI_FORMULA_PARSER_H

#include <stdbool.h>
#include <stdint.h>

#include <saltus/ad.h>

#include "core/memory.h"

/* Deepest nesting of brackets. */
#define SALI_DEEPEST 100
#define SALI_FORMULA_NAME 32
#define SALI_FORMULA_SIDES 4

typedef struct sali_formula_block {
    char name[SALI_FORMULA_NAME];
    sal_kind kind;
    int64_t count, states;
    double *levels; /* [states] of an ordinal block; NULL: 0 .. states - 1 */
    bool permutes;  /* a permutation: as many labels as variables, and each once */
    bool fixed_sum;
    int64_t sum;
    int64_t *labels; /* [states] how many variables have each label; NULL: any number */
    int sides;
    int64_t side[SALI_FORMULA_SIDES];
    bool cyclic;
    int64_t pairs, room; /* pairs of neighbours, and room for them; -1: not listed yet */
    int64_t *end[2];     /* [pairs] the two variables of each pair */
    sal_expr x;          /* [count], or [count, states] */
} sali_formula_block;

typedef struct sali_formula_parameter {
    char name[SALI_FORMULA_NAME];
    int64_t count; /* how many numbers; 0: a scalar */
    double *values;
    bool used;
} sali_formula_parameter;

/* What i and j mean in a sum. */
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
    sali_formula_block *over; /* block of the enclosing sum; NULL: not known yet */
    const char *sum;          /* place in the text after "sum(i" */
    int64_t *all[2];          /* [all_pairs] all pairs of all_of variables */
    int64_t all_pairs, all_of;
    int depth;
    char mistake[200]; /* the first mistake; nothing is read after it */
    const char *place;
} sali_formula_parser;

/* ---- letters, words and numbers (declarations.c) */

/* Record a mistake, if it is the first one, and move to the end of the text. Returns false. */
__attribute__((format(printf, 3, 4))) bool
sali_formula_fail(sali_formula_parser *p, const char *place, const char *format, ...);
bool sali_formula_no_memory(sali_formula_parser *p);
void sali_formula_skip(sali_formula_parser *p);
bool sali_formula_take(sali_formula_parser *p, const char *word);
bool sali_formula_expect(sali_formula_parser *p, const char *word, const char *where);

/* Number of characters of the name that is next; 0: no name is next. */
int sali_formula_word(sali_formula_parser *p);

/* Read a number without a sign, or with an optional '-'. */
bool sali_formula_number(sali_formula_parser *p, double *value);
bool sali_formula_signed(sali_formula_parser *p, double *value);

/* Read a whole number, digits only, of at most `most`; `what` names it in messages. */
bool sali_formula_whole(sali_formula_parser *p, int64_t most, const char *what, int64_t *value);

/* ---- parts */

/* The block of a space that a declaration describes; its pointers are the declaration's. */
sal_block sali_formula_space_block(const sali_formula_block *block);

/* Read all declarations, up to f. */
bool sali_formula_declarations(sali_formula_parser *p);

/* List the neighbours in the lattice of a block, unless they are listed already. False when out of
 * memory. */
bool sali_formula_neighbours(sali_formula_parser *p, sali_formula_block *block);

/* Read f, up to the end of the text, and record it on the tape. */
sal_expr sali_formula_expression(sali_formula_parser *p);

#endif
