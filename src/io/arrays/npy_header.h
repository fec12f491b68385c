/* The header of a .npy file: a Python dict literal. */
#ifndef SALI_NPY_HEADER_H
#define SALI_NPY_HEADER_H

#include "io/arrays/npy.h"

/* Fill type, order, shape and count of *array from `size` characters. DATA otherwise. */
sal_status sali_npy_header_parse(const char *name, const char *text, int64_t size, sali_npy *array,
                                 sal_error *err);

#endif
