/* SPDX-License-Identifier: MIT */
/* The table of kernels of one type. Compiled for float and double. */
#include "samplers/kernels_real.h"

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

const sali_kernels RN(sali_kernels) = {
    .log_balance = { RN(sali_log_sqrt), RN(sali_log_barker), RN(sali_log_min), RN(sali_log_max) },
    .single_site_exclude = RN(sali_single_site_exclude),
    .single_site_combine = RN(sali_single_site_combine),
    .single_site_prepare = RN(sali_single_site_prepare),
    .single_site_pick = RN(sali_single_site_pick),
    .single_site_remove = RN(sali_single_site_remove),
    .factorised_prepare = RN(sali_factorised_prepare),
    .factorised_prepare_weighted = RN(sali_factorised_prepare_weighted),
    .factorised_draw = RN(sali_factorised_draw),
    .factorised_log_q = RN(sali_factorised_log_q),
    .uniforms = uniforms,
    .normals = normals,
};
