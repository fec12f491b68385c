/* SPDX-License-Identifier: MIT */
/* The linear maps of Winograd's fast convolutions (Winograd 1980; Lavin & Gray 2016). With r x r
 * windows w, r = 2 or 3, and P = r + 3 points, a tile of 4x4 output pixels y comes of P x P input
 * pixels x by
 *
 *     y = A'[(G w G') . (B' x B)]A
 *
 * in P^2 products instead of 16 r^2. This is a trilinear form of x, w and y: read backwards, the
 * same maps turn around and give the adjoints of x and w. Rounding errors grow tenfold or so. */
#ifndef SALI_WINOGRAD_H
#define SALI_WINOGRAD_H

#include <stdint.h>

enum {
    SALI_WINOGRAD_OUT = 4,   /* output pixels of a tile along an axis */
    SALI_WINOGRAD_LEAST = 2, /* taps of a window along an axis */
    SALI_WINOGRAD_MOST = 3,
    SALI_WINOGRAD_KINDS = SALI_WINOGRAD_MOST - SALI_WINOGRAD_LEAST + 1,
    SALI_WINOGRAD_POINTS = SALI_WINOGRAD_OUT + SALI_WINOGRAD_MOST - 1 /* most along an axis */
};

/* Y = M X M' or Y += M X M', for matrices whose elements are vectors of n numbers, n a multiple of
 * the lanes. `in` lists the elements of X row by row (NULL: zeros), `out` those of Y (NULL: not
 * wanted). */
typedef void (*sali_winograd_map)(int64_t n, const void *const *in, void *const *out);

/* The maps between pixels or window weights and points, for one window size. */
typedef struct sali_winograd {
    sali_winograd_map read_input;    /* points = B' x B */
    sali_winograd_map add_input;     /* x += B points B' */
    sali_winograd_map read_output;   /* points = A y A' */
    sali_winograd_map write_output;  /* y = A' points A */
    sali_winograd_map read_weights;  /* points = G w G' */
    sali_winograd_map write_weights; /* w = G' points G */
} sali_winograd;

#endif
