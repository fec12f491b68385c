/* SPDX-License-Identifier: MIT */
#include "models/structure/potts.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/structure/couplings.h"

/* SAL_ERR_ARGUMENT unless all numbers are finite. */
static sal_status check_finite(const sali_potts *p, sal_error *err)
{
    const int64_t N = p->sites * p->states;
    bool finite = true;
    for (int64_t k = 0; k < N; k++) {
        finite = finite && isfinite(p->h[k]);
    }
    for (int64_t k = 0; finite && k < N * N; k++) {
        finite = isfinite(p->J[k]);
    }
    return finite ? SAL_OK
                  : sali_fail(err, SAL_ERR_ARGUMENT,
                              "fields or couplings are infinite, or too large for this gauge; "
                              "a Potts model has finite ones");
}

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

sal_status sali_potts_set_gauge(sali_potts *p, sal_gauge gauge, sal_error *err)
{
    if (gauge == SAL_GAUGE_AS_IS) {
        return SAL_OK;
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
    return check_finite(p, err);
}

/* ---- parameters of a model */

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
                           "the variables have %lld labels in all; expected %d at most",
                           (long long)space->width, SALI_POTTS_MOST);
}

/* Fill h and J from the quadratic polynomial of the one-hot vectors that f is. Of one variable one
 * real is 1: its squares are linear, and the products of its different reals are 0. */
static void take(const sali_coupling_values *values, sali_potts *p)
{
    const int64_t q = p->states, N = p->sites * q;
    const double *J = values->J;
    for (int64_t k = 0; k < N; k++) {
        p->h[k] = values->linear[k] + values->scale * J[k * N + k] / 2;
        for (int64_t l = 0; l < N; l++) {
            p->J[k * N + l] = k / q == l / q ? 0 : values->scale * J[k * N + l];
        }
    }
}

/* sali_potts_of_model of a model whose couplings can be read, into allocated arrays. */
static sal_status read(const sal_model *model, sali_potts *p, sal_error *err)
{
    sali_couplings *couplings = NULL;
    sal_status status = sali_couplings_create(model, SALI_ANY_COUPLINGS, &couplings, err);
    const sali_coupling_values *values = couplings ? sali_couplings_values(couplings) : NULL;
    if (status == SAL_OK && !values && sali_is_quadratic(model)) {
        status = sali_fail_memory(err);
    } else if (status == SAL_OK && !values) {
        status = sali_fail(err, SAL_ERR_ARGUMENT,
                           "its formula does not show fields and couplings of pairs alone, which a "
                           "Potts model has: it has other terms, or forbids states");
    }
    if (status == SAL_OK) {
        take(values, p);
        status = check_finite(p, err);
    }
    sali_couplings_destroy(couplings);
    return status;
}

sal_status sali_potts_of_model(const sal_model *model, sali_potts *out, sal_error *err)
{
    const sal_space *space = model->space;
    sal_status status = check_space(space, err);
    if (status != SAL_OK) {
        return status;
    }
    if (model->dtype != SAL_F64) {
        return sali_fail(err, SAL_ERR_INTERNAL, "parameters are found in double precision");
    }
    const int64_t N = space->width;
    sali_potts p = { .sites = space->n_variables, .states = space->variables[0].states };
    if (space->blocks[0].letters) {
        strcpy(p.alphabet, space->blocks[0].letters); /* which have room */
    }
    p.h = SALI_NEW_ARRAY(double, N);
    p.J = SALI_NEW_ARRAY(double, N *N);
    status = p.h && p.J ? read(model, &p, err) : sali_fail_memory(err);
    return SALI_GIVE_STRUCT(status, p, out, sali_potts_free);
}
