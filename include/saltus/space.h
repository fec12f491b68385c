/* SPDX-License-Identifier: MIT */
/* The space of states: an ordered list of named blocks of discrete variables. */
#ifndef SALTUS_SPACE_H
#define SALTUS_SPACE_H

#include <stdbool.h>
#include <stdint.h>
#include <saltus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds of variables. A state is stored as integer codes, in the order of the levels; a formula
 * sees the state's embedding in real numbers. */
typedef enum sal_kind {
    SAL_KIND_NONE = 0, /* not a kind: a block must have one */
    SAL_BINARY = 1,    /* {0, 1}; 1 real */
    SAL_SPIN,          /* {-1, +1}: code 0 is -1; 1 real */
    SAL_ORDINAL,       /* a sorted grid of real levels; 1 real, the level */
    SAL_CATEGORICAL,   /* `states` labels; one-hot, `states` reals */
    SAL_COUNT,         /* 0, 1, 2, .., unbounded or up to `cap`; 1 real, the count */
} sal_kind;

/* Alphabets of aligned sequences, whose letters are the states of categorical variables, are texts:
 * the letters in the order of their codes, the gap '-' first if there is one. Letters are printable
 * characters of ASCII, each once, other than blanks and , . ~ ; # > < & " '. Upper and lower case
 * are different letters of an alphabet that has lower-case ones. Names stand for
 *
 *     protein  -ACDEFGHIKLMNPQRSTVWY
 *     rna      -ACGU, T counts as U
 *     dna      -ACGT, U counts as T
 *
 * "auto" or NULL choose none, or by the letters of a file. This is the room for the letters of any
 * alphabet, and the NUL that ends them: */
#define SAL_ALPHABET_ROOM 96

/* A block of `count` variables of one kind. Unused fields are zero. */
typedef struct sal_block {
    const char *name;     /* unique in the space; letters, digits, '_', '-', '.' */
    sal_kind kind;        /* of all variables of the block */
    int64_t count;        /* variables in the block, >= 1 */
    int64_t states;       /* ordinal (>= 2) and categorical (>= 1); 0 or 2 for binary and spin; 0 or
                             cap + 1 for a count with a cap, 0 for one without */
    const double *levels; /* [states] ordinal: finite, strictly increasing; NULL: 0 to states - 1 */
    int64_t cap;          /* count: the largest count, 1 to 2^20 - 1; 0: unbounded */
    bool fixed_sum;       /* binary, spin, count with a cap: the values of the block's variables sum
                             to `sum` in every state */
    int64_t sum;          /* with fixed_sum: of ones, of -1 and +1, of counts; else 0 */
    const int64_t *labels; /* [states] categorical: how many of the block's variables have each
                              label, which sum to `count`; NULL: any number */
    const char *letters;   /* [states] categorical: the letters that the labels are, an alphabet
                              (above); NULL: none. They are for files of sequences, and change
                              nothing else */
} sal_block;

/* The largest code of a count without a cap, 2^24: floats hold every integer up to it. */
#define SAL_COUNT_MOST 16777216

/* Number of entries of a count without a cap in the marginals of a run (sample.h). */
#define SAL_COUNT_LEVELS 64

/* A space. One thread adds blocks; afterwards any thread may read the space. */
typedef struct sal_space sal_space;

/* Create an empty space; NULL when out of memory. */
SAL_API sal_space *sal_space_create(void);

/* Free a space; NULL is fine. */
SAL_API void sal_space_destroy(sal_space *space);

/* Append a block to a space; name, levels, labels and letters are copied.
 * Returns: SAL_ERR_ARGUMENT when a field is out of range or the name is taken; SAL_ERR_MEMORY. The
 *          space is then unchanged.
 * Cost:    O(count).
 * Threads: one at a time. */
SAL_API sal_status sal_space_add(sal_space *space, const sal_block *block, sal_error *err);

/* Fix the sum of the values of a block's variables: the number of ones among binary variables, the
 * magnetisation of spins, the total of counts with a cap. The states of the space are then those
 * with this sum: the others are no states, whatever f is there. Samplers keep to them by exchanges
 * (samplers that cannot refuse the model), starts and exact answers too.
 * Params:  block: its name.
 * Returns: SAL_ERR_NOT_FOUND (no such block, naming those there are); SAL_ERR_ARGUMENT when no
 *          state has this sum, or the block is of another kind. The space is then unchanged.
 * Cost:    O(1).
 * Threads: one at a time. */
SAL_API sal_status sal_space_fix_sum(sal_space *space, const char *block, int64_t sum,
                                     sal_error *err);

/* Append a block of n categorical variables of n states each, of which every label occurs once: the
 * states are permutations of 0 .. n - 1. In the embedding [n x n] every row and every column has
 * exactly one 1. Other numbers of each label are fixed by `labels` of sal_block.
 * Returns: SAL_ERR_ARGUMENT for n outside of 1 .. 4096 or a name that is taken; SAL_ERR_MEMORY.
 * Cost:    O(n).
 * Threads: one at a time. */
SAL_API sal_status sal_space_permutation(sal_space *space, const char *name, int64_t n,
                                         sal_error *err);

/* Number of variables V. */
SAL_API int64_t sal_space_variables(const sal_space *space);

/* Number of reals N in the embedding. */
SAL_API int64_t sal_space_width(const sal_space *space);

/* Get block `index`, counted from 0; NULL past the last. Its pointers live as long as the space. */
SAL_API const sal_block *sal_space_block(const sal_space *space, int64_t index);

/* Number of states of a variable in 0 .. V - 1; 0 for a count without a cap, and for a variable out
 * of range. */
SAL_API int64_t sal_space_states(const sal_space *space, int64_t variable);

/* Embed codes [chains x V] as reals x [chains x N], both row-major.
 * Returns: SAL_ERR_ARGUMENT when a code is out of range (names chain and variable), or a block's
 *          fixed sum or labels are others (names chain and block); x is then unspecified.
 * Cost:    O(chains N).
 * Threads: any. */
SAL_API sal_status sal_space_embed(const sal_space *space, int64_t chains, const int32_t *codes,
                                   double *x, sal_error *err);

#ifdef __cplusplus
}
#endif
#endif
