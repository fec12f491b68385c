/* SPDX-License-Identifier: MIT */
#include "exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VARIABLES = 12, LANCZOS = 80 };

/* ---- the model */

static double *numbers(int n)
{
    return calloc((size_t)n, sizeof(double));
}

static sal_status reserve(exact *e)
{
    int n = e->states;
    e->p = numbers(n);
    e->t = numbers(e->moves);
    e->g = numbers(e->moves);
    e->rate = numbers(e->moves);
    e->Z = numbers(n);
    e->basis = numbers((LANCZOS + 2) * n);
    return e->p && e->t && e->g && e->rate && e->Z && e->basis ? SAL_OK : SAL_ERR_MEMORY;
}

static sal_status enumerate(const sal_model *model, exact *e, sal_error *err)
{
    int32_t *codes = malloc((size_t)e->moves * sizeof *codes);
    for (int i = 0; codes && i < e->moves; i++) {
        codes[i] = i / e->variables >> i % e->variables & 1;
    }
    sal_status status =
        codes ? sal_model_evaluate(model, e->states, codes, e->p, NULL, NULL, err) : SAL_ERR_MEMORY;
    free(codes);
    double largest = -INFINITY, sum = 0;
    for (int x = 0; status == SAL_OK && x < e->states; x++) {
        largest = fmax(largest, e->p[x]);
    }
    for (int i = 0; status == SAL_OK && i < e->moves; i++) {
        int x = i / e->variables, y = x ^ 1 << i % e->variables;
        e->t[i] = exp(e->p[y] - e->p[x]);
    }
    for (int x = 0; status == SAL_OK && x < e->states; x++) {
        e->p[x] = exp(e->p[x] - largest);
        sum += e->p[x];
    }
    for (int x = 0; status == SAL_OK && x < e->states; x++) {
        e->p[x] /= sum;
    }
    return status;
}

sal_status exact_open(const sal_model *model, exact *e, sal_error *err)
{
    const int64_t V = sal_space_variables(sal_model_space(model));
    *e = (exact){ 0 };
    if (V > MOST_VARIABLES) {
        snprintf(err->message, sizeof err->message, "%d variables are too many", (int)V);
        return SAL_ERR_UNSUPPORTED;
    }
    e->variables = (int)V;
    e->states = 1 << V;
    e->moves = e->states * e->variables;
    sal_status status = reserve(e);
    return status ? status : enumerate(model, e, err);
}

void exact_close(exact *e)
{
    free(e->p);
    free(e->t);
    free(e->g);
    free(e->rate);
    free(e->Z);
    free(e->basis);
}

/* ---- the second eigenvalue */

/* y = D^(1/2) P D^(-1/2) x, which is symmetric, D = diag(p); rate is Q A of all moves. */
static void multiply(const exact *e, const double *x, double *y)
{
    for (int s = 0; s < e->states; s++) {
        double leave = 0, sum = 0;
        for (int v = 0; v < e->variables; v++) {
            int i = s * e->variables + v, to = s ^ 1 << v;
            leave += e->rate[i];
            sum += e->rate[i] * sqrt(e->p[s] / e->p[to]) * x[to];
        }
        y[s] = sum + (1 - leave) * x[s];
    }
}

static double product(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/* Make x orthogonal to `count` orthonormal vectors and of length 1; its length before. */
static double normalise(int n, int count, const double *basis, double *x)
{
    for (int again = 0; again < 2; again++) {
        for (int k = 0; k < count; k++) {
            double part = product(n, basis + k * n, x);
            for (int i = 0; i < n; i++) {
                x[i] -= part * basis[k * n + i];
            }
        }
    }
    double length = sqrt(product(n, x, x));
    for (int i = 0; i < n && length > 0; i++) {
        x[i] /= length;
    }
    return length;
}

/* The largest eigenvalue of a tridiagonal matrix, all of whose are in -1 .. 1: bisection by the
 * number of eigenvalues above x, the sign changes of Sturm's sequence. */
static double largest_eigenvalue(int n, const double *diagonal, const double *beside)
{
    double low = -1 - 1e-9, high = 1 + 1e-9;
    for (int step = 0; step < 60; step++) {
        double x = (low + high) / 2, d = 1;
        bool above = false;
        for (int i = 0; i < n; i++) {
            d = diagonal[i] - x - (i > 0 ? beside[i - 1] * beside[i - 1] / d : 0);
            d = d == 0 ? -1e-300 : d;
            above = above || d > 0;
        }
        *(above ? &low : &high) = x;
    }
    return (low + high) / 2;
}

/* Lanczos beside the first eigenvector, sqrt(p), with full orthogonalisation. */
static double second_eigenvalue(exact *e)
{
    const int n = e->states;
    double diagonal[LANCZOS], beside[LANCZOS];
    int m = 0;
    for (int x = 0; x < n; x++) {
        e->basis[x] = sqrt(e->p[x]);
        e->basis[n + x] = sin(1 + 7.3 * x); /* anything */
    }
    normalise(n, 1, e->basis, e->basis + n);
    while (m < LANCZOS) {
        double *q = e->basis + (m + 1) * n;
        if (m == LANCZOS - 1) {
            double *spare = e->basis + (LANCZOS + 1) * n;
            multiply(e, q, spare);
            diagonal[m++] = product(n, q, spare);
            break;
        }
        multiply(e, q, q + n);
        diagonal[m] = product(n, q, q + n);
        beside[m] = normalise(n, m + 2, e->basis, q + n);
        if (beside[m++] < 1e-12) {
            break;
        }
    }
    return largest_eigenvalue(m, diagonal, beside);
}

/* ---- worth */

worth exact_worth(exact *e, bool gap)
{
    worth w = { 0 };
    const int V = e->variables;
    for (int x = 0; x < e->states; x++) {
        e->Z[x] = 0;
        for (int v = 0; v < V; v++) {
            e->Z[x] += e->g[x * V + v];
        }
    }
    for (int x = 0; x < e->states; x++) {
        double J = 0, leave = 0, information = 0;
        for (int v = 0; v < V; v++) {
            int i = x * V + v, y = x ^ 1 << v;
            double AQ = e->g[i] / e->Z[x] * fmin(1, e->Z[x] / e->Z[y]);
            e->rate[i] = AQ;
            leave += AQ;
            J += AQ * log(AQ / e->t[i]);
            information += AQ * log(AQ / e->p[y]);
        }
        w.jump += e->p[x] * leave;
        w.objective += J * (e->p[x] + 1.0 / e->states);
        w.information += e->p[x] * (information / leave - log(leave));
    }
    w.gap = gap ? 1 - second_eigenvalue(e) : NAN;
    return w;
}
