/* SPDX-License-Identifier: MIT */
#include "models/potts.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/rng.h"

/* ---- gauges */

/* What the gauge makes 0 of n numbers, `stride` apart: their mean, or the first. */
static double level(sal_gauge gauge, int64_t n, const double *x, int64_t stride)
{
    if (gauge == SAL_GAUGE_LATTICE_GAS) {
        return x[0];
    }
    double sum = 0;
    for (int64_t k = 0; k < n; k++) {
        sum += x[k * stride];
    }
    return sum / (double)n;
}

/* Take the levels of the rows of the block (i, j) of J to h_i, then those of its columns, which by
 * now have lost the constant of the block, to h_j. The block (j, i) becomes its transpose. */
static void change_block(sali_potts *p, sal_gauge gauge, int64_t i, int64_t j)
{
    const int64_t q = p->states, N = p->sites * q;
    double *block = p->J + i * q * N + j * q;
    for (int64_t a = 0; a < q; a++) {
        const double row = level(gauge, q, block + a * N, 1);
        p->h[i * q + a] += row;
        for (int64_t b = 0; b < q; b++) {
            block[a * N + b] -= row;
        }
    }
    for (int64_t b = 0; b < q; b++) {
        const double column = level(gauge, q, block + b, N);
        p->h[j * q + b] += column;
        for (int64_t a = 0; a < q; a++) {
            block[a * N + b] -= column;
            p->J[(j * q + b) * N + i * q + a] = block[a * N + b];
        }
    }
}

void sali_potts_set_gauge(sali_potts *p, sal_gauge gauge)
{
    if (gauge == SAL_GAUGE_AS_IS) {
        return;
    }
    for (int64_t i = 0; i < p->sites; i++) {
        for (int64_t j = i + 1; j < p->sites; j++) {
            change_block(p, gauge, i, j);
        }
    }
    for (int64_t i = 0; i < p->sites; i++) {
        double *h = p->h + i * p->states;
        const double constant = level(gauge, p->states, h, 1);
        for (int64_t a = 0; a < p->states; a++) {
            h[a] -= constant;
        }
    }
}

/* ---- parameters of a model */

#define TRIED 32       /* random states at which f is compared */
#define ROUNDING 1e-12 /* couplings of this size, times the largest, are 0 */

/* SAL_ERR_ARGUMENT unless all variables have labels, equally many, and there are not too many. */
static sal_status check_space(const sal_space *space, sal_error *err)
{
    const int64_t q = space->variables[0].states;
    for (int64_t i = 0; i < space->n_variables; i++) {
        if (space->variables[i].kind != SAL_CATEGORICAL || space->variables[i].states != q ||
            q < 2) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "a Potts model has variables with labels, equally many, and variable "
                             "%lld is another one",
                             (long long)i);
        }
    }
    return space->width <= SALI_POTTS_MOST
               ? SAL_OK
               : sali_fail(err, SAL_ERR_ARGUMENT,
                           "the variables have %lld labels; expected %d at most",
                           (long long)space->width, SALI_POTTS_MOST);
}

/* Fill h and J: h_i(a) is the difference of f where s_i becomes a in the state 0, and J_ij(a, b) is
 * what the difference of f where s_j becomes b gains if s_i = a. */
static sal_status find_parameters(const sal_model *model, int32_t *codes, double *f, sali_potts *p,
                                  sal_error *err)
{
    const int64_t q = p->states, N = p->sites * q;
    sal_status status = sal_model_evaluate(model, 1, codes, f, NULL, p->h, err);
    for (int64_t k = 0; k < N && status == SAL_OK; k++) {
        double *row = p->J + k * N;
        codes[k / q] = (int32_t)(k % q);
        status = sal_model_evaluate(model, 1, codes, f, NULL, row, err);
        codes[k / q] = 0;
        for (int64_t l = 0; l < N; l++) {
            row[l] = l / q == k / q ? 0 : row[l] - p->h[l];
        }
    }
    return status;
}

/* Make J symmetric, and 0 where it is rounding. */
static void settle(sali_potts *p)
{
    const int64_t N = p->sites * p->states;
    double most = 0;
    for (int64_t k = 0; k < N * N; k++) {
        most = fmax(most, fabs(p->J[k]));
    }
    for (int64_t k = 0; k < N; k++) {
        for (int64_t l = k; l < N; l++) {
            const double value = (p->J[k * N + l] + p->J[l * N + k]) / 2;
            p->J[k * N + l] = p->J[l * N + k] = fabs(value) > ROUNDING * most ? value : 0;
        }
    }
}

static double value_of(const sali_potts *p, const int32_t *codes)
{
    const int64_t q = p->states, N = p->sites * q;
    double sum = 0;
    for (int64_t i = 0; i < p->sites; i++) {
        sum += p->h[i * q + codes[i]];
        for (int64_t j = 0; j < i; j++) {
            sum += p->J[(i * q + codes[i]) * N + j * q + codes[j]];
        }
    }
    return sum;
}

/* SAL_ERR_ARGUMENT unless f is that of the parameters, up to the constant f(0), at random states.
 */
static sal_status compare(const sal_model *model, const sali_potts *p, int32_t *codes,
                          sal_error *err)
{
    sali_stream stream = { .purpose = SALI_RNG_PARAMS };
    double zero;
    memset(codes, 0, (size_t)p->sites * sizeof *codes);
    sal_status status = sal_model_evaluate(model, 1, codes, &zero, NULL, NULL, err);
    for (int t = 0; t < TRIED && status == SAL_OK; t++) {
        double f, size = 1;
        stream.step = (uint64_t)t;
        for (int64_t i = 0; i < p->sites; i++) {
            codes[i] = (int32_t)sali_rng_below(&stream, (uint32_t)i, (uint32_t)p->states);
        }
        status = sal_model_evaluate(model, 1, codes, &f, NULL, NULL, err);
        const double mine = zero + value_of(p, codes);
        size += fabs(f) + fabs(zero) + fabs(mine);
        if (status == SAL_OK && !(fabs(f - mine) <= 1e-6 * size)) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "f has terms of more than two variables, or is infinite somewhere; a "
                             "Potts model has fields and couplings of pairs");
        }
    }
    return status;
}

sal_status sali_potts_of_model(const sal_model *model, sali_potts *out, sal_error *err)
{
    const sal_space *space = model->space;
    sal_status status = check_space(space, err);
    if (status != SAL_OK) {
        return status;
    }
    const int64_t N = space->width;
    sali_potts p = { .sites = space->n_variables, .states = space->variables[0].states };
    p.h = SALI_NEW_ARRAY(double, N);
    p.J = SALI_NEW_ARRAY(double, N *N);
    int32_t *codes = SALI_NEW_ARRAY(int32_t, p.sites);
    double f;
    status =
        p.h && p.J && codes ? find_parameters(model, codes, &f, &p, err) : sali_fail_memory(err);
    if (status == SAL_OK) {
        settle(&p);
        status = compare(model, &p, codes, err);
    }
    sali_free(codes);
    return SALI_GIVE_STRUCT(status, p, out, sali_potts_free);
}
