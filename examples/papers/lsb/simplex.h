/* SPDX-License-Identifier: MIT */
/* A minimum without derivatives (Nelder & Mead 1965). */
#ifndef SIMPLEX_H
#define SIMPLEX_H

enum { SIMPLEX_DIM = 12 };

/* Moves x [n] to where f is least near it, by at most `evaluations` values of f, from a simplex of
 * size 1 that is begun anew once around its best corner; returns f there. */
double simplex_minimum(int n, double *x, int evaluations, double (*f)(const double *x, void *data),
                       void *data);

#endif
