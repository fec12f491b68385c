/* SPDX-License-Identifier: MIT */
/* Inside of a space: tables by variable, and runs of like variables for vector loops. */
#ifndef SALI_SPACE_H
#define SALI_SPACE_H

#include <stdbool.h>
#include <saltus/space.h>

typedef struct sali_variable {
    sal_kind kind;
    int32_t states;       /* K; 0: a count without a cap */
    int32_t width;        /* reals in the embedding: 1, or K for categorical */
    int64_t offset;       /* of its first real in the embedding */
    int64_t slot;         /* of its first move: see sali_stretch */
    int64_t bin;          /* of its first bin: see sali_stretch */
    const double *levels; /* value of each code for width 1; NULL for categorical, and for counts
                             without a cap: the code itself */
} sali_variable;

/* A run of consecutive variables with the same kind and levels; kernels loop over stretches.
 *
 * Slots number the moves of single variables: a two-level variable (one real, two states) has one
 * slot, its flip; any other has one for each of its states, the present one included. A count
 * without a cap has two, one down and one up.
 *
 * Bins are where draws are counted: one for each slot, but SAL_COUNT_LEVELS for a count without a
 * cap, one for each code, the last of them for all codes from there on. */
typedef struct sali_stretch {
    sal_kind kind;
    int32_t states;
    int64_t first, count; /* variables first .. first + count - 1 */
    int64_t offset;       /* of the first variable's reals */
    int64_t slot;         /* of the first variable's moves */
    int64_t bin;          /* of the first variable's draws */
    const double *levels;
    const int64_t *fixed_codes; /* [states] how many variables have each code; NULL: any number */
    int64_t fixed_total;        /* the sum of the codes, of more than two states; -1: any sum */
} sali_stretch;

/* Whether not all codes of the stretch's variables are states: their sum or their labels are fixed.
 * With two levels a fixed sum is a fixed number of each code, and kept as that. */
static inline bool sali_is_fixed(const sali_stretch *s)
{
    return s->fixed_codes || s->fixed_total >= 0;
}

/* The mean distance of neighbouring levels; 1 for one-hot variables and counts without a cap. */
double sali_stretch_spacing(const sali_stretch *stretch);

struct sal_space {
    sal_block *blocks;
    int64_t n_blocks, blocks_room;
    sali_variable *variables;
    int64_t n_variables, variables_room;
    sali_stretch *stretches; /* one a block */
    int64_t stretches_room;
    int64_t width;
    int64_t slots; /* S */
    int64_t bins;
    int64_t n_states;   /* entries (see below) of all variables together */
    int32_t max_states; /* the most entries of a variable */
    bool unbounded;     /* has counts without a cap */
    bool fixed;         /* has a block whose sum or labels are fixed (core/slice.h) */
    bool settled;       /* a clone, which nobody adds to any more */
    _Atomic int others; /* of a settled space: the number of its owners, less one */
};

/* A space that the caller owns and nobody changes: a copy of `space`, or `space` itself with one
 * owner more if it is a clone already. NULL when out of memory. Call sal_space_destroy on it. */
sal_space *sali_space_clone(const sal_space *space);

/* The sub-space of the variables where codes[v] is -1, given the other variables' codes; NULL: of
 * all. Blocks that lose all variables vanish; fixed sums and labels lose what the given codes have.
 * Returns: SAL_ERR_ARGUMENT when no state of the space has these codes, SAL_ERR_MEMORY. */
sal_status sali_space_subset(const sal_space *space, const int32_t *codes, sal_space **out,
                             sal_error *err);

/* SAL_ERR_UNSUPPORTED, "NAME: WHAT ..", if the space has a fixed sum or fixed labels. */
sal_status sali_space_check_free(const sal_space *space, const char *name, const char *what,
                                 sal_error *err);

/* Whether both have the same variables, and the same sums and labels fixed, whatever their names.
 */
bool sali_space_equal(const sal_space *a, const sal_space *b);

/* The kinds of all variables: the sum of the bits 1u << kind. */
static inline unsigned sali_space_kinds(const sal_space *space)
{
    unsigned kinds = 0;
    for (int64_t b = 0; b < space->n_blocks; b++) {
        kinds |= 1u << space->stretches[b].kind;
    }
    return kinds;
}

/* Whether a stretch has two levels and one real (binary, spin, ordinal with two levels). */
static inline bool sali_two_level(const sali_stretch *s)
{
    return s->kind != SAL_CATEGORICAL && s->states == 2;
}

static inline bool sali_is_two_level(const sali_variable *v)
{
    return v->width == 1 && v->states == 2;
}

/* Differences of f over the moves of one variable are listed by entries: one for each of its
 * states, whatever the present one; two for a count without a cap (`states` 0), the next lower
 * code and the next higher one. */
static inline int32_t sali_entries(int32_t states)
{
    return states > 0 ? states : 2;
}

/* The code that entry k stands for at the present code `now`; there may be none such. */
static inline int32_t sali_entry_code(int32_t states, int32_t now, int32_t k)
{
    return states > 0 ? k : now - 1 + 2 * k;
}

static inline int32_t sali_last_code(const sali_variable *v)
{
    return v->states > 0 ? v->states - 1 : SAL_COUNT_MOST;
}

static inline bool sali_has_code(const sali_variable *v, int32_t code)
{
    return code >= 0 && code <= sali_last_code(v);
}

/* "binary", "spin", .. */
const char *sali_kind_name(sal_kind kind);

/* The real that stands for a code of a variable of width 1. */
static inline double sali_level(const sali_variable *v, int32_t code)
{
    return v->levels ? v->levels[code] : (double)code;
}

/* Variable v, but for its place: where all variables are alike, always the same record, which stays
 * in the cache. */
static inline const sali_variable *sali_space_kind(const sal_space *space, int64_t v)
{
    return &space->variables[space->n_blocks == 1 ? 0 : v];
}

/* The stretch of variable v. */
static inline const sali_stretch *sali_space_stretch(const sal_space *space, int64_t v)
{
    const sali_stretch *s = space->stretches;
    while (v >= s->first + s->count) {
        s++;
    }
    return s;
}

/* Index of the variable that owns coordinate `coordinate` of the embedding. */
int64_t sali_space_owner(const sal_space *space, int64_t coordinate);

/* Embedding of rows of codes known to be in range; f32 and f64. */
void sali_embed_f32(const sal_space *space, int64_t chains, const int32_t *codes, float *x);
void sali_embed_f64(const sal_space *space, int64_t chains, const int32_t *codes, double *x);

/* Write the reals of variable v at `code` into the row x [N] of one chain. */
void sali_embed_one_f32(const sal_space *space, int64_t v, int32_t code, float *x);
void sali_embed_one_f64(const sal_space *space, int64_t v, int32_t code, double *x);

/* How many of n codes differ. */
int64_t sali_codes_moved(int64_t n, const int32_t *a, const int32_t *b);

/* L1 distance between two states [V] in the embedding. */
double sali_distance(const sal_space *space, const int32_t *a, const int32_t *b);

/* SAL_OK, or the error that names the first chain and variable out of range. */
sal_status sali_codes_check(const sal_space *space, int64_t chains, const int32_t *codes,
                            sal_error *err);

#endif
