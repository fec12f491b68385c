/* SPDX-License-Identifier: MIT */
/* The factorised kernel: each variable moves independently, by log-weights relative to staying, so
 * that a forbidden move has -inf and staying has 0. Log-weights are given, or q(v) is proportional
 * to exp(a v + b v^2), with log-weights a (v - v0) + b (v^2 - v0^2) from the level v0. Compiled for
 * float and double. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/real.h"
#include "samplers/factorised_levels.h"
#include "samplers/flips.h"
#include "samplers/kernels_real.h"

static const sali_flip_kernel *flip_kernel(void)
{
    return &RN(sali_flip_kernels)[sali_isa_best()];
}

/* ---- two-level variables: one slot, the flip */

/* The fields of flips that every kernel needs: number, codes and levels of the stretch's variables.
 */
static sali_flips flips_of(const sali_stretch *s, const int32_t *codes)
{
    return (sali_flips){
        .n = s->count, .code = codes + s->first, .lo = s->levels[0], .hi = s->levels[1]
    };
}

/* Point the inputs of `flips` at the part of q that belongs to the stretch, for kernels that
 * compute log-odds. */
static void weigh_by(sali_flips *flips, const sali_stretch *s, const sali_factorised *q)
{
    flips->alpha = q->alpha;
    flips->beta = q->beta;
    flips->b = q->b;
    flips->g = (const real *)q->gradient + s->offset;
    flips->y = (const real *)q->y + s->offset;
    flips->w = q->w ? (const real *)q->w + s->offset : NULL;
}

static void keep_in(sali_flips *flips, const sali_stretch *s, const sali_move_row *row)
{
    flips->t = (real *)row->log_weight + s->slot;
    flips->p = (real *)row->weight + s->slot;
}

static void draw_to(sali_flips *flips, const sali_stretch *s, const void *uniforms,
                    int32_t *codes_new, void *x_new)
{
    flips->u = (const real *)uniforms + s->first;
    flips->code_new = codes_new + s->first;
    flips->x_new = (real *)x_new + s->offset;
}

/* ---- the kernel */

/* From row->log_weight: weights, norms and log_norm of the row, stretch by stretch. */
static void normalise(const sal_space *space, const int32_t *codes, sali_move_row *row)
{
    double norm = 1;
    row->log_norm = 0;
    for (int64_t block = 0; block < space->n_blocks; block++) {
        const sali_stretch *s = &space->stretches[block];
        if (sali_two_level(s)) {
            sali_flips flips = flips_of(s, codes);
            keep_in(&flips, s, row);
            flips.norm = &norm;
            row->log_norm += flip_kernel()->normalise(&flips);
        } else {
            row->log_norm += RN(sali_levels_normalise)(s, row, &norm);
        }
    }
    row->log_norm += log(norm);
}

/* Log-weights of q at the state `codes`; from them weights, norms and log_norm of the row. */
static void prepare(const sal_space *space, const int32_t *codes, const sali_factorised *q,
                    sali_move_row *row)
{
    double norm = 1;
    row->log_norm = 0;
    for (int64_t block = 0; block < space->n_blocks; block++) {
        const sali_stretch *s = &space->stretches[block];
        if (sali_two_level(s)) {
            sali_flips flips = flips_of(s, codes);
            weigh_by(&flips, s, q);
            keep_in(&flips, s, row);
            flips.norm = &norm;
            row->log_norm += flip_kernel()->prepare(&flips);
        } else {
            row->log_norm += RN(sali_levels_prepare)(s, codes, q, row, &norm);
        }
    }
    row->log_norm += log(norm);
}

/* Draw the move of every variable from a prepared row, with one uniform each; returns its log q. */
static double draw(const sal_space *space, const int32_t *codes, const void *uniforms,
                   const sali_move_row *row, int32_t *codes_new, void *x_new)
{
    double log_q = -row->log_norm;
    for (int64_t block = 0; block < space->n_blocks; block++) {
        const sali_stretch *s = &space->stretches[block];
        if (sali_two_level(s)) {
            sali_flips flips = flips_of(s, codes);
            keep_in(&flips, s, row);
            draw_to(&flips, s, uniforms, codes_new, x_new);
            log_q += flip_kernel()->draw(&flips);
        } else {
            log_q += RN(sali_levels_draw)(s, codes, uniforms, row, codes_new, x_new);
        }
    }
    return log_q;
}

/* log q(codes -> to) from a prepared row. */
static double log_q_of(const sal_space *space, const int32_t *codes, const int32_t *to,
                       const sali_move_row *row)
{
    double log_q = -row->log_norm;
    for (int64_t block = 0; block < space->n_blocks; block++) {
        const sali_stretch *s = &space->stretches[block];
        if (sali_two_level(s)) {
            sali_flips flips = flips_of(s, codes);
            keep_in(&flips, s, row);
            flips.to = to + s->first;
            log_q += flip_kernel()->weigh(&flips);
        } else {
            log_q += RN(sali_levels_weigh)(s, codes, to, row);
        }
    }
    return log_q;
}

/* Draw the move of every variable from q; returns its log q plus log *norm. */
static double propose(const sal_space *space, const int32_t *codes, const sali_factorised *q,
                      const void *uniforms, sali_move_row *row, int32_t *codes_new, void *x_new,
                      double *norm)
{
    double log_q = 0;
    *norm = 1;
    for (int64_t block = 0; block < space->n_blocks; block++) {
        const sali_stretch *s = &space->stretches[block];
        if (sali_two_level(s)) {
            sali_flips flips = flips_of(s, codes);
            weigh_by(&flips, s, q);
            draw_to(&flips, s, uniforms, codes_new, x_new);
            flips.norm = norm;
            log_q += flip_kernel()->propose(&flips);
        } else {
            log_q -= RN(sali_levels_prepare)(s, codes, q, row, norm);
            log_q += RN(sali_levels_draw)(s, codes, uniforms, row, codes_new, x_new);
        }
    }
    return log_q;
}

/* log q(codes -> to) plus log *norm, without a prepared row. */
static double judge(const sal_space *space, const int32_t *codes, const sali_factorised *q,
                    const int32_t *to, sali_move_row *row, double *norm)
{
    double log_q = 0;
    *norm = 1;
    for (int64_t block = 0; block < space->n_blocks; block++) {
        const sali_stretch *s = &space->stretches[block];
        if (sali_two_level(s)) {
            sali_flips flips = flips_of(s, codes);
            weigh_by(&flips, s, q);
            flips.to = to + s->first;
            flips.norm = norm;
            log_q += flip_kernel()->judge(&flips);
        } else {
            log_q -= RN(sali_levels_prepare)(s, codes, q, row, norm);
            log_q += RN(sali_levels_weigh)(s, codes, to, row);
        }
    }
    return log_q;
}

static void uniforms(const sali_stream *stream, int64_t n, void *out)
{
    RN(sali_rng_uniform)(stream, n, out);
}

static void normals(const sali_stream *stream, int64_t n, void *out)
{
#if SALI_REAL_BITS == 32
    sali_rng_normal_f32(stream, n, out);
#else
    sali_rng_normal(stream, n, out);
#endif
}

const sali_factorised_kernels RN(sali_factorised_kernels) = {
    .prepare = prepare,
    .normalise = normalise,
    .draw = draw,
    .log_q = log_q_of,
    .propose = propose,
    .judge = judge,
    .uniforms = uniforms,
    .normals = normals,
};
