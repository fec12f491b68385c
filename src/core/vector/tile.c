/* SPDX-License-Identifier: MIT */
#include "core/vector/tile.h"

#include <stdbool.h>
#include <string.h>

#include "core/vector/winograd_matrices.h"

#define KERNEL_FILE "core/vector/tile_kernel.h"
#include "core/vector/each_isa.h"

#define ENTRY(type, isa)                 \
    { .lanes = lanes_##type##_##isa,     \
      .product = product_##type##_##isa, \
      .dots = dots_##type##_##isa,       \
      .winograd = winograd_##type##_##isa },
const sali_tile_kernel sali_tile_kernels_f32[SALI_ISA_COUNT] = { SALI_EACH_ISA(ENTRY, f32) };
const sali_tile_kernel sali_tile_kernels_f64[SALI_ISA_COUNT] = { SALI_EACH_ISA(ENTRY, f64) };
