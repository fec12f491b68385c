/* SPDX-License-Identifier: MIT */
#include "samplers/flips.h"

#include <math.h>
#include <string.h>

/* The most factors in [1, 2] that a lane multiplies: their product does not overflow a float, nor
 * the product of 16 such lanes a double. */
#define PRODUCT_TERMS 60

#define KERNEL_FILE "samplers/flips_kernel.h"
#include "core/vector/each_isa.h"

#define ENTRY(type, isa)                     \
    { .prepare = prepare_##type##_##isa,     \
      .normalise = normalise_##type##_##isa, \
      .draw = draw_##type##_##isa,           \
      .weigh = weigh_##type##_##isa,         \
      .propose = propose_##type##_##isa,     \
      .judge = judge_##type##_##isa },
const sali_flip_kernel sali_flip_kernels_f32[SALI_ISA_COUNT] = { SALI_EACH_ISA(ENTRY, f32) };
const sali_flip_kernel sali_flip_kernels_f64[SALI_ISA_COUNT] = { SALI_EACH_ISA(ENTRY, f64) };
