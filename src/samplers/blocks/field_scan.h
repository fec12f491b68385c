/* SPDX-License-Identifier: MIT */
/* Gibbs sampling of single variables where f has dense couplings (models/structure/couplings.h):
 * each chain keeps its fields up to date, one for every coordinate k of the embedding
 *
 *     h_k = linear_k + scale sum_j J_kj x_j, j over the other variables' coordinates,
 *
 * from which the conditional of a variable is read: f as a function of this variable alone is h_k +
 * square_k for a one-hot state, and h_k x + square_k x^2 for a real, with square_k = scale J_kk
 * / 2. Only a variable that changes costs more: a row of J, or for a one-hot variable the
 * difference of two rows.
 *
 * Random numbers are those that a step without couplings would use: they depend on chain and step,
 * not on the other chains. Fields are recomputed at each refresh, and every 2^16 steps of a chain.
 */
#ifndef SALI_FIELD_SCAN_H
#define SALI_FIELD_SCAN_H

#include "models/structure/couplings.h"
#include "samplers/sampler.h"
#include "samplers/blocks/site_choice.h"

typedef struct sali_field_scan sali_field_scan;

/* Create a scan that belongs to `object` (core/object.h), which records a failed allocation;
 * `couplings` are shared and must outlive the scan. */
sali_field_scan *sali_field_scan_open(void *object, const sali_chains *chains,
                                      sali_couplings *couplings);

/* Compute fields and f from the chains' states, temperatures and the model's parameters; notes an f
 * that is NaN or +inf. Returns false, and does nothing, when there is no memory to read the
 * parameters. */
bool sali_field_scan_refresh(sali_field_scan *scan, sali_chains *chains);

/* sali_scan_wishes: what adaptation learns from chains of inverse temperature `coldest`: sums of 1
 * - p(present state | rest) and visits by variable [V]. sali_field_scan_steps: n steps of every
 * chain; `wishes` may be NULL. */
typedef struct sali_scan_wishes {
    double *wishes, *visits, coldest;
} sali_scan_wishes;
void sali_field_scan_steps(sali_field_scan *scan, sali_chains *chains, const sali_site_choice *how,
                           const sali_scan_wishes *wishes, int64_t n);

/* The fields of chain c, real [N]: for tests. */
const void *sali_field_scan_row(const sali_field_scan *scan, int64_t c);

/* ---- the kernels, for both types */

/* Lanes come in multiples of this. */
#define SALI_FIELD_LANES 16

/* The chains of a shard, and one variable of each. */
typedef struct sali_field_tile {
    const sal_space *space;
    int64_t n, lanes, stride; /* chains, up to a multiple of 16; reals from one chain's fields to
                                 the next one's */
    const void *J;            /* real [N x N] */
    double scale, constant;
    const double *linear; /* [N] */
    void *square;         /* real [N] */
    void *h;              /* real [n x stride] */
    void *beta;           /* real [lanes] */
    void *weights;        /* real [max_states x lanes] */
    void *own;            /* real [max_states]: fields of the variable that moves */
    void *largest;        /* real [lanes] */
    uint32_t *words;      /* [4 x lanes]: a block of random numbers each */
    double *u, *total;    /* [lanes]: uniforms; sums of weights */
    int64_t *site;        /* [lanes] */
    int32_t *code;        /* [lanes]: drawn; -1 where weights are NaN */
} sali_field_tile;

/* square of all coordinates. */
void sali_field_square_f32(sali_field_tile *tile);
void sali_field_square_f64(sali_field_tile *tile);

/* Fields and f of chains first .. first + count - 1, all of their rows. */
void sali_field_start_f32(sali_field_tile *tile, int64_t first, int64_t count, const int32_t *codes,
                          double *f);
void sali_field_start_f64(sali_field_tile *tile, int64_t first, int64_t count, const int32_t *codes,
                          double *f);

/* Draw a code for the variable of each chain; weights and their sums stay in the tile. */
void sali_field_draw_f32(sali_field_tile *tile);
void sali_field_draw_f64(sali_field_tile *tile);

/* Move variable i of chain c, in its fields and x [N]. Returns by how much f rises. */
double sali_field_move_f32(sali_field_tile *tile, int64_t c, int64_t i, int32_t from, int32_t to,
                           void *x);
double sali_field_move_f64(sali_field_tile *tile, int64_t c, int64_t i, int32_t from, int32_t to,
                           void *x);

#endif
