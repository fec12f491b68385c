/* SPDX-License-Identifier: MIT */
/* The matrices of winograd.h, where they are known when the code is compiled. They interpolate at
 * 0, 1, -1, 2, (-2 for windows of three,) infinity: row k of G has the powers of point k divided by
 * the product of its distances from the other points, row i of A' the i-th powers, and row k of B'
 * the coefficients of the polynomial that vanishes at all other points. */
#ifndef SALI_WINOGRAD_MATRICES_H
#define SALI_WINOGRAD_MATRICES_H

static const double winograd_B2[5][5] = {
    { 2, -1, -2, 1, 0 }, { 0, -2, -1, 1, 0 }, { 0, 2, -3, 1, 0 },
    { 0, -1, 0, 1, 0 },  { 0, 2, -1, -2, 1 },
};
static const double winograd_A2[4][5] = {
    { 1, 1, 1, 1, 0 },
    { 0, 1, -1, 2, 0 },
    { 0, 1, 1, 4, 0 },
    { 0, 1, -1, 8, 1 },
};
static const double winograd_G2[5][2] = {
    { 1.0 / 2, 0 }, { -1.0 / 2, -1.0 / 2 }, { -1.0 / 6, 1.0 / 6 }, { 1.0 / 6, 1.0 / 3 }, { 0, 1 },
};

static const double winograd_B3[6][6] = {
    { 4, 0, -5, 0, 1, 0 },  { 0, -4, -4, 1, 1, 0 }, { 0, 4, -4, -1, 1, 0 },
    { 0, -2, -1, 2, 1, 0 }, { 0, 2, -1, -2, 1, 0 }, { 0, 4, 0, -5, 0, 1 },
};
static const double winograd_A3[4][6] = {
    { 1, 1, 1, 1, 1, 0 },
    { 0, 1, -1, 2, -2, 0 },
    { 0, 1, 1, 4, 4, 0 },
    { 0, 1, -1, 8, -8, 1 },
};
static const double winograd_G3[6][3] = {
    { 1.0 / 4, 0, 0 },
    { -1.0 / 6, -1.0 / 6, -1.0 / 6 },
    { -1.0 / 6, 1.0 / 6, -1.0 / 6 },
    { 1.0 / 24, 1.0 / 12, 1.0 / 6 },
    { 1.0 / 24, -1.0 / 12, 1.0 / 6 },
    { 0, 0, 1 },
};

#endif
