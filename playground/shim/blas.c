/* SPDX-License-Identifier: MIT */
#include <cblas.h>

#define real float
#define NAME(name) cblas_s##name
#include "blas_kernel.h"
#undef real

#define real double
#define NAME(name) cblas_d##name
#include "blas_kernel.h"
#undef real
