/* The table of kernels of one type. Compiled for float and double. */
#include "samplers/kernels_real.h"

static void uniforms(const sali_stream *stream, int64_t n, void *out)
{
    RN(sali_rng_uniform)(stream, n, out);
}

const sali_kernels RN(sali_kernels) = {
    .single_site_prepare = RN(sali_single_site_prepare),
    .single_site_pick = RN(sali_single_site_pick),
    .factorised_prepare = RN(sali_factorised_prepare),
    .factorised_prepare_weighted = RN(sali_factorised_prepare_weighted),
    .factorised_draw = RN(sali_factorised_draw),
    .factorised_log_q = RN(sali_factorised_log_q),
    .uniforms = uniforms,
};
