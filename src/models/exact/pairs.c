/* SPDX-License-Identifier: MIT */
/* Joint probabilities of two variables: all of them [R x R], R the sum of the variables' states. */
#include <string.h>

#include "models/exact/exact.h"

void sali_pairs_complete(const sal_space *space, const double *marginals, double *pairs)
{
    int64_t R = space->n_states;
    for (int64_t a = 0; a < R; a++) {
        for (int64_t b = 0; b < a; b++) {
            pairs[a * R + b] = pairs[b * R + a];
        }
    }
    for (int64_t v = 0, at = 0; v < space->n_variables; at += space->variables[v++].states) {
        int64_t states = space->variables[v].states;
        for (int64_t k = 0; k < states; k++) {
            memset(pairs + (at + k) * R + at, 0, (size_t)states * sizeof *pairs);
            pairs[(at + k) * R + at + k] = marginals[at + k];
        }
    }
}

/* A real of the embedding as a function of its variable's code: value(k) for k = first .. end - 1,
 * zero elsewhere. */
typedef struct coordinate {
    int64_t row; /* row in the pairs of the variable's code 0 */
    int32_t first, end;
    const double *levels; /* NULL: 1 */
} coordinate;

static double coordinate_value(const coordinate *x, int32_t k)
{
    return x->levels ? x->levels[k] : 1.0;
}

static coordinate coordinate_of(const sali_variable *v, int64_t row, int32_t real)
{
    bool one_hot = v->kind == SAL_CATEGORICAL;
    return (coordinate){ row, one_hot ? real : 0, one_hot ? real + 1 : v->states,
                         one_hot ? NULL : v->levels };
}

static double coordinate_mean(const double *marginals, const coordinate *x)
{
    double sum = 0;
    for (int32_t k = x->first; k < x->end; k++) {
        sum += coordinate_value(x, k) * marginals[x->row + k];
    }
    return sum;
}

/* Covariance of two coordinates, E[x y] - E[x] E[y]; R is the number of rows of `pairs`. */
static double coordinate_covariance(const double *marginals, const double *pairs, int64_t R,
                                    const coordinate *x, const coordinate *y)
{
    double mean_x = coordinate_mean(marginals, x), mean_y = coordinate_mean(marginals, y), sum = 0;
    for (int32_t k = x->first; k < x->end; k++) {
        for (int32_t l = y->first; l < y->end; l++) {
            sum += coordinate_value(x, k) * coordinate_value(y, l) *
                   pairs[(x->row + k) * R + y->row + l];
        }
    }
    return sum - mean_x * mean_y;
}

/* Write the covariances of coordinate x with all coordinates into row [N]. */
static void covary_all(const sal_space *space, const double *marginals, const double *pairs,
                       const coordinate *x, double *row)
{
    int64_t at = 0;
    for (int64_t v = 0; v < space->n_variables; at += space->variables[v++].states) {
        for (int32_t b = 0; b < space->variables[v].width; b++) {
            coordinate y = coordinate_of(&space->variables[v], at, b);
            *row++ = coordinate_covariance(marginals, pairs, space->n_states, x, &y);
        }
    }
}

void sali_pairs_covariance(const sal_space *space, const double *marginals, const double *pairs,
                           double *covariance)
{
    int64_t at = 0;
    for (int64_t v = 0; v < space->n_variables; at += space->variables[v++].states) {
        for (int32_t a = 0; a < space->variables[v].width; a++) {
            coordinate x = coordinate_of(&space->variables[v], at, a);
            covary_all(space, marginals, pairs, &x, covariance);
            covariance += space->width;
        }
    }
}
