/* SPDX-License-Identifier: MIT */
#include "train/centring.h"

#include <math.h>

#include "core/alloc.h"
#include "core/vector/clones.h"
#include "models/model.h"

#define DECAY 0.99

/* ---- creation */

/* The index of a bias in c->biases, to which it is appended if new. */
static int64_t bias_at(sali_centring *c, const sali_program *program, int32_t parameter)
{
    const sali_parameter *place = &program->parameters[parameter];
    for (int64_t k = 0; k < c->n_biases; k++) {
        if (c->biases[k].parameter == parameter) {
            return k;
        }
    }
    c->biases[c->n_biases] = (sali_centred_bias){ .parameter = parameter,
                                                  .node = place->node,
                                                  .first = place->first,
                                                  .size = place->size,
                                                  .at = c->n_offsets };
    c->n_offsets += place->size;
    return c->n_biases++;
}

/* Whether all values of a parameter are learned; `learned` NULL: all are. */
static bool is_learned(const sali_program *program, const double *learned, int32_t parameter)
{
    const sali_parameter *place = &program->parameters[parameter];
    for (int64_t i = 0; learned && i < place->size; i++) {
        if (learned[place->first + i] == 0) {
            return false;
        }
    }
    return true;
}

/* Append a coupling, with its biases, to those that are centred. */
static void add_coupling(sali_centring *c, const sali_program *program,
                         const sali_biased_coupling *from)
{
    const int64_t row = bias_at(c, program, from->row_bias);
    const int64_t column = bias_at(c, program, from->column_bias);
    c->couplings[c->n_couplings++] =
        (sali_centred_coupling){ .first = program->parameters[from->matrix].first,
                                 .rows = c->biases[row].size,
                                 .columns = c->biases[column].size,
                                 .row = row,
                                 .column = column,
                                 .factor = from->factor,
                                 .symmetric = from->symmetric };
}

sal_status sali_centring_create(sali_centring *c, sali_memory *memory, const sali_program *program,
                                bool symmetric, const double *learned, sal_error *err)
{
    int64_t n = 0;
    sali_biased_coupling *found = NULL;
    *c = (sali_centring){ 0 };
    sal_status status = sali_biased_couplings(program, &n, &found, err);
    if (status != SAL_OK) {
        return status;
    }
    c->couplings = SALI_TAKE(memory, sali_centred_coupling, n);
    c->biases = SALI_TAKE(memory, sali_centred_bias, 2 * n);
    for (int64_t k = 0; c->couplings && c->biases && k < n; k++) {
        if ((symmetric || !found[k].symmetric) && is_learned(program, learned, found[k].row_bias) &&
            is_learned(program, learned, found[k].column_bias)) {
            add_coupling(c, program, &found[k]);
        }
    }
    sali_free(found);
    c->offsets = SALI_TAKE(memory, double, c->n_offsets);
    c->means = SALI_TAKE(memory, double, c->n_offsets);
    c->paid = SALI_TAKE(memory, double, c->n_offsets);
    return sali_memory_status(memory, err);
}

/* ---- offsets */

void sali_centring_gathered(const sali_centring *c, const sali_program *program,
                            const sali_workspace *ws, double *means)
{
    for (int64_t k = 0; k < c->n_biases; k++) {
        const sali_centred_bias *bias = &c->biases[k];
        const void *gathered = sali_workspace_param_gathered(ws, bias->node);
        for (int64_t i = 0; i < bias->size; i++) {
            means[bias->at + i] = gathered ? sali_load(program->dtype, gathered, i) : 0;
        }
    }
}

void sali_centring_follow(sali_centring *c, int64_t updates, const double *gradient)
{
    const double decay = fmin(DECAY, (double)updates / (double)(updates + 1));
    for (int64_t k = 0; k < c->n_biases; k++) {
        const sali_centred_bias *bias = &c->biases[k];
        for (int64_t i = 0; i < bias->size; i++) {
            double *offset = &c->offsets[bias->at + i];
            double mean = c->means[bias->at + i] - 0.5 * gradient[bias->first + i];
            *offset += (1 - decay) * (mean - *offset);
        }
    }
}

/* ---- coordinates */

/* g [rows x columns] -= factor (a b' + c d'). */
SALI_CLONES static void subtract_products(int64_t rows, int64_t columns, double factor,
                                          const double *a, const double *b, const double *c,
                                          const double *d, double *restrict g)
{
    for (int64_t i = 0; i < rows; i++) {
        const double left = factor * a[i], right = factor * c[i];
        for (int64_t j = 0; j < columns; j++) {
            g[i * columns + j] -= left * b[j] + right * d[j];
        }
    }
}

void sali_centring_gradient(const sali_centring *c, double *gradient)
{
    for (int64_t k = 0; k < c->n_couplings; k++) {
        const sali_centred_coupling *W = &c->couplings[k];
        const sali_centred_bias *row = &c->biases[W->row], *column = &c->biases[W->column];
        subtract_products(W->rows, W->columns, W->factor, gradient + row->first,
                          c->offsets + column->at, c->offsets + row->at, gradient + column->first,
                          gradient + W->first);
    }
}

/* rows += factor W lambda, columns += factor W'mu, for W [A x B]; `rows` and `columns` may be one
 * array. */
SALI_CLONES static void add_both(int64_t A, int64_t B, double factor, const double *W,
                                 const double *mu, const double *lambda, double *rows,
                                 double *columns)
{
    for (int64_t i = 0; i < A; i++) {
        const double *w = W + i * B;
        const double weight = factor * mu[i];
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t j = 0; j < B; j++) {
            sum += w[j] * lambda[j];
        }
        for (int64_t j = 0; j < B; j++) {
            columns[j] += weight * w[j];
        }
        rows[i] += factor * sum;
    }
}

/* Add to c->paid what couplings add to the biases of the coordinates: W lambda and W'mu. */
static void add_couplings(sali_centring *c, const double *values)
{
    for (int64_t k = 0; k < c->n_couplings; k++) {
        const sali_centred_coupling *W = &c->couplings[k];
        const int64_t row = c->biases[W->row].at, column = c->biases[W->column].at;
        add_both(W->rows, W->columns, W->factor, values + W->first, c->offsets + row,
                 c->offsets + column, c->paid + row, c->paid + column);
    }
}

void sali_centring_before(sali_centring *c, const double *values)
{
    for (int64_t i = 0; i < c->n_offsets; i++) {
        c->paid[i] = 0;
    }
    add_couplings(c, values);
}

void sali_centring_after(sali_centring *c, double *values)
{
    for (int64_t i = 0; i < c->n_offsets; i++) {
        c->paid[i] = -c->paid[i];
    }
    add_couplings(c, values);
    for (int64_t k = 0; k < c->n_biases; k++) {
        const sali_centred_bias *bias = &c->biases[k];
        for (int64_t i = 0; i < bias->size; i++) {
            values[bias->first + i] -= c->paid[bias->at + i];
        }
    }
}
