/* SPDX-License-Identifier: MIT */
/* Kernels are written once and compiled twice, for float and for double: `real` is the element
 * type, and RN(name) gives every external symbol its suffix (name_f32, name_f64).
 * Include only from sources in a `real_sources` list. */
#ifndef SALI_REAL_H
#define SALI_REAL_H

#include "core/vector/clones.h"

#if SALI_REAL_BITS == 32
typedef float real;
#define RN(name) name##_f32
#define REAL_EPSILON 1.1920929e-07f
#elif SALI_REAL_BITS == 64
typedef double real;
#define RN(name) name##_f64
#define REAL_EPSILON 2.220446049250313e-16
#else
#error "compile with -DSALI_REAL_BITS=32 or 64"
#endif

#endif
