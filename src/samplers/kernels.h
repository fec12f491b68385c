/* The two proposal kernels that gradient-based samplers share, each written once for every kind of
 * variable and compiled for both types. They work on one row: the moves from one state, numbered by
 * slots (core/space.h), with log-weights relative to staying.
 *
 *   single site   one variable moves; softmax over all moves of all variables
 *   factorised    every variable moves independently; softmax over each variable's states */
#ifndef SALI_KERNELS_H
#define SALI_KERNELS_H

#include <saltus/ad.h>
#include "core/rng.h"
#include "core/space.h"

/* Partial sums are kept for blocks of this many slots. */
#define SALI_MOVE_BLOCK 64

/* Prepared moves of one state. */
typedef struct sali_move_row {
    void *log_weight; /* real [S] */
    void *weight;     /* real [S]: exp(log_weight - largest) within its softmax */
    double *partial;  /* single site: [S / SALI_MOVE_BLOCK + 1] sums of weights */
    void *norm;       /* factorised: real [V] sum of a multi-level variable's weights */
    double log_norm;  /* log of the sum of exp(log_weight); factorised: summed over variables */
} sali_move_row;

/* Rows for n states, and a second set to prepare the proposed states in; `flip` exchanges the two
 * for one chain in O(1). */
typedef struct sali_move_rows {
    int64_t n;
    sali_move_row *rows; /* [2n] */
    uint8_t *current;    /* [n] 0 or 1 */
    void *buffer;        /* real [max(S, V)]: scratch of the kernels, uniforms */
} sali_move_rows;

bool sali_move_rows_create(const sal_space *space, sal_dtype dtype, int64_t n,
                           sali_move_rows *rows);
void sali_move_rows_free(sali_move_rows *rows);

static inline sali_move_row *sali_move_now(const sali_move_rows *rows, int64_t c)
{
    return &rows->rows[2 * c + rows->current[c]];
}

static inline sali_move_row *sali_move_next(const sali_move_rows *rows, int64_t c)
{
    return &rows->rows[2 * c + 1 - rows->current[c]];
}

static inline void sali_move_flip(sali_move_rows *rows, int64_t c)
{
    rows->current[c] ^= 1;
}

/* Variable and code that a slot stands for, at a state with these codes; and the slot of a move of
 * a variable from its code `now`. */
void sali_slot_move(const sal_space *space, const int32_t *codes, int64_t slot, int64_t *variable,
                    int32_t *code);
static inline int64_t sali_move_slot(const sal_space *space, int64_t variable, int32_t now,
                                     int32_t code)
{
    const sali_variable *v = &space->variables[variable];
    return v->slot + (sali_is_two_level(v) ? 0 : v->states == 0 ? code > now : code);
}

/* The kernels for one type. */
typedef struct sali_kernels {
    /* Single site: row->log_weight holds differences on entry and half of them on return (the
     * balancing function sqrt(t), Zanella 2020), -inf for staying and outside the window of
     * `radius` levels of an ordinal variable, of 1 of a count. */
    void (*single_site_prepare)(const sal_space *space, const int32_t *codes, int64_t radius,
                                sali_move_row *row);
    /* The slot that the uniform u selects; -1 if no move is possible. */
    int64_t (*single_site_pick)(const sal_space *space, const sali_move_row *row, double u);

    /* Factorised: q(v) proportional to exp(a v + b v^2) for each variable, with
     * a = alpha gradient + beta y (Rhodes & Gutmann eq. 8, 13, 17; appendix A for one-hot). */
    void (*factorised_prepare)(const sal_space *space, const int32_t *codes, double alpha,
                               const void *gradient, double beta, const void *y, double b,
                               sali_move_row *row, void *buffer);
    /* Draw codes_new and x_new by uniforms real [V]; the log of their probability. */
    double (*factorised_draw)(const sal_space *space, const int32_t *codes, const void *uniforms,
                              const sali_move_row *row, int32_t *codes_new, void *x_new);
    /* log q(codes -> to). */
    double (*factorised_log_q)(const sal_space *space, const int32_t *codes, const int32_t *to,
                               const sali_move_row *row);
    /* Fill real [n] with the uniforms of a stream. */
    void (*uniforms)(const sali_stream *stream, int64_t n, void *out);
} sali_kernels;

extern const sali_kernels sali_kernels_f32, sali_kernels_f64;
static inline const sali_kernels *sali_kernels_of(sal_dtype dtype)
{
    return dtype == SAL_F32 ? &sali_kernels_f32 : &sali_kernels_f64;
}

/* log of the probability of the move in `slot`. */
double sali_single_site_log_q(sal_dtype dtype, const sali_move_row *row, int64_t slot);

#endif
