/* SPDX-License-Identifier: MIT */
#include "simplex.h"

#include <string.h>

typedef struct simplex {
    int n, left;
    double corner[SIMPLEX_DIM + 1][SIMPLEX_DIM], value[SIMPLEX_DIM + 1];
    double (*f)(const double *x, void *data);
    void *data;
} simplex;

static double value_at(simplex *s, const double *x)
{
    s->left--;
    return s->f(x, s->data);
}

static void begin(simplex *s, const double *x, double size)
{
    for (int k = 0; k <= s->n; k++) {
        memcpy(s->corner[k], x, (size_t)s->n * sizeof *x);
        if (k > 0) {
            s->corner[k][k - 1] += size;
        }
        s->value[k] = value_at(s, s->corner[k]);
    }
}

/* The corner with the least value, or the greatest but `beside`. */
static int extreme(const simplex *s, int greatest, int beside)
{
    int found = -1;
    for (int k = 0; k <= s->n; k++) {
        if (k != beside && (found < 0 || (greatest ? s->value[k] > s->value[found]
                                                   : s->value[k] < s->value[found]))) {
            found = k;
        }
    }
    return found;
}

/* The worst corner, mirrored at the middle of the others by a factor; its value. */
static double mirror(simplex *s, int worst, double factor, double *x)
{
    for (int i = 0; i < s->n; i++) {
        double middle = 0;
        for (int k = 0; k <= s->n; k++) {
            middle += k == worst ? 0 : s->corner[k][i] / s->n;
        }
        x[i] = middle + factor * (s->corner[worst][i] - middle);
    }
    return value_at(s, x);
}

static void replace(simplex *s, int k, const double *x, double value)
{
    memcpy(s->corner[k], x, (size_t)s->n * sizeof *x);
    s->value[k] = value;
}

static void shrink(simplex *s, int best)
{
    for (int k = 0; k <= s->n; k++) {
        for (int i = 0; i < s->n; i++) {
            s->corner[k][i] = (s->corner[k][i] + s->corner[best][i]) / 2;
        }
        if (k != best) {
            s->value[k] = value_at(s, s->corner[k]);
        }
    }
}

static void step(simplex *s)
{
    double x[SIMPLEX_DIM], further[SIMPLEX_DIM];
    int best = extreme(s, 0, -1), worst = extreme(s, 1, -1), second = extreme(s, 1, worst);
    double value = mirror(s, worst, -1, x);
    if (value < s->value[best]) {
        double beyond = mirror(s, worst, -2, further);
        replace(s, worst, beyond < value ? further : x, beyond < value ? beyond : value);
    } else if (value < s->value[second]) {
        replace(s, worst, x, value);
    } else {
        double inside = mirror(s, worst, value < s->value[worst] ? -0.5 : 0.5, further);
        if (inside < s->value[worst]) {
            replace(s, worst, further, inside);
        } else {
            shrink(s, best);
        }
    }
}

double simplex_minimum(int n, double *x, int evaluations, double (*f)(const double *x, void *data),
                       void *data)
{
    simplex s = { .n = n, .f = f, .data = data };
    double value = 0;
    for (int round = 0; round < 2; round++) {
        s.left = evaluations / 2;
        begin(&s, x, round ? 0.3 : 1);
        while (s.left > 0) {
            step(&s);
        }
        int best = extreme(&s, 0, -1);
        memcpy(x, s.corner[best], (size_t)n * sizeof *x);
        value = s.value[best];
    }
    return value;
}
