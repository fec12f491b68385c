/* SPDX-License-Identifier: MIT */
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
#include "samplers/balance.h"

/* Each partial sum is over this many slots. */
#define SALI_MOVE_BLOCK 64

/* Prepared moves of one state: one for each of the S slots, unless the sampler says otherwise. */
typedef struct sali_move_row {
    void *log_weight; /* real [moves] */
    void *weight;     /* real [moves]: exp(log_weight - largest) within its softmax */
    double *partial;  /* single site: [moves / SALI_MOVE_BLOCK + 1] sums of weights */
    void *norm;       /* factorised: real [V] sum of a multi-level variable's weights */
    double log_norm;  /* log of the sum of exp(log_weight); factorised: summed over variables */
} sali_move_row;

/* Rows for the present states of n chains, and a second set for the proposed states; sali_move_flip
 * exchanges the two rows of one chain in O(1). */
typedef struct sali_move_rows {
    sali_move_row *rows; /* [2n] */
    uint8_t *current;    /* [n] 0 or 1 */
    void *buffer;        /* real [max(moves, V)]: scratch of the kernels, uniforms */
} sali_move_rows;

/* Create rows for n chains. The arrays belong to `object` (core/object.h), which records a failed
 * allocation. */
void sali_move_rows_create(void *object, const sal_space *space, int64_t moves, sal_dtype dtype,
                           int64_t n, sali_move_rows *rows);

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

/* sali_slot_move: the variable and its new code that a slot stands for, at a state with these
 * codes. sali_move_slot: the slot of a variable's move from code `now` to `code`, -1 if there is
 * none: a count without a cap moves by 1 only. */
void sali_slot_move(const sal_space *space, const int32_t *codes, int64_t slot, int64_t *variable,
                    int32_t *code);
static inline int64_t sali_move_slot(const sal_space *space, int64_t variable, int32_t now,
                                     int32_t code)
{
    const sali_variable *v = &space->variables[variable];
    if (v->states == 0) {
        return code == now + 1 ? v->slot + 1 : code == now - 1 ? v->slot : -1;
    }
    return v->slot + (sali_is_two_level(v) ? 0 : code);
}

/* Number of variables in which two states differ; *site receives the last of these variables, if
 * there is one. */
static inline int64_t sali_sites_moved(const sal_space *space, const int32_t *from,
                                       const int32_t *to, int64_t *site)
{
    int64_t n = 0;
    for (int64_t v = 0; v < space->n_variables; v++) {
        if (from[v] != to[v]) {
            *site = v;
            n++;
        }
    }
    return n;
}

/* The radius that stands for no window. */
#define SALI_ALL_LEVELS INT64_MAX

/* The setting of samplers that have a window. */
#define SALI_RADIUS_SETTING                                                                    \
    {                                                                                          \
        "radius", 0, 0, INT32_MAX, true, "window of moves in levels; 0: all, and counts by 1", \
            NULL                                                                               \
    }

/* The single-site kernel for one type. */
typedef struct sali_site_kernels {
    /* log t real [S] of all slots becomes -inf for staying and outside the window: of `radius`
     * levels of an ordinal variable or a count with a cap; with SALI_ALL_LEVELS, of 1 of a count.
     */
    void (*exclude)(const sal_space *space, const int32_t *codes, int64_t radius, void *log_t);
    /* For moves of several variables: out[k] is the sum of log_t over the `width` slots of row k.
     */
    void (*combine)(int64_t n, int64_t width, const int32_t *slots, const void *log_t, void *out);
    /* From row->log_weight: weights, partial sums and log_norm of n moves. */
    void (*prepare)(int64_t n, sali_move_row *row);
    /* The move of n that the uniform u selects; -1 if none is possible. */
    int64_t (*pick)(int64_t n, const sali_move_row *row, double u);
    /* Set the weights of moves first .. first + count - 1 to 0 and update partial sums; returns the
     * sum of the remaining weights. */
    double (*remove)(int64_t n, sali_move_row *row, int64_t first, int64_t count);
} sali_site_kernels;

extern const sali_site_kernels sali_site_kernels_f32, sali_site_kernels_f64;

/* The proposal of the factorised kernel's prepare, propose and judge: q(v) proportional to exp(a v
 * + b v^2) for each variable, with a = alpha gradient + beta y (Rhodes & Gutmann eq. 8, 13, 17;
 * appendix A for one-hot). beta and b of coordinate k are multiplied by w[k], w real [N] (diagonal
 * preconditioning) or NULL. */
typedef struct sali_factorised {
    double alpha, beta, b;
    const void *gradient, *y, *w;
} sali_factorised;

/* The factorised kernel for one type. */
typedef struct sali_factorised_kernels {
    void (*prepare)(const sal_space *space, const int32_t *codes, const sali_factorised *q,
                    sali_move_row *row);
    /* As prepare, but row->log_weight [S] is given: relative to staying, and 0 for staying where
     * staying has a slot. Counts without a cap, which move by 1, can be prepared only in this way.
     */
    void (*normalise)(const sal_space *space, const int32_t *codes, sali_move_row *row);
    /* Draw codes_new and x_new by uniforms real [V]; returns log q of the drawn move. */
    double (*draw)(const sal_space *space, const int32_t *codes, const void *uniforms,
                   const sali_move_row *row, int32_t *codes_new, void *x_new);
    /* log q(codes -> to). */
    double (*log_q)(const sal_space *space, const int32_t *codes, const int32_t *to,
                    const sali_move_row *row);
    /* `prepare` with `draw`, or `prepare` with `log_q`, in one pass, for callers who need the row
     * for nothing else: the row is scratch. From what they return, log *norm is still to be
     * subtracted; it is at least 0 and finite (or NaN). */
    double (*propose)(const sal_space *space, const int32_t *codes, const sali_factorised *q,
                      const void *uniforms, sali_move_row *row, int32_t *codes_new, void *x_new,
                      double *norm);
    double (*judge)(const sal_space *space, const int32_t *codes, const sali_factorised *q,
                    const int32_t *to, sali_move_row *row, double *norm);
    /* Fill real [n] with uniforms, or with normals, of a stream. */
    void (*uniforms)(const sali_stream *stream, int64_t n, void *out);
    void (*normals)(const sali_stream *stream, int64_t n, void *out);
} sali_factorised_kernels;

extern const sali_factorised_kernels sali_factorised_kernels_f32, sali_factorised_kernels_f64;

/* The table of a kernel, sali_site_kernels or sali_factorised_kernels, for a type. */
#define SALI_KERNELS_OF(dtype, table) ((dtype) == SAL_F32 ? &table##_f32 : &table##_f64)

/* Single site: the sum of all weights of n moves. */
double sali_move_total(int64_t n, const sali_move_row *row);

/* log of the probability of a move; -INFINITY for -1. */
double sali_move_log_q(sal_dtype dtype, const sali_move_row *row, int64_t move);

#endif
