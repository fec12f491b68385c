/* SPDX-License-Identifier: MIT */
#include "samplers/kernels.h"

#include <math.h>

#include "core/object.h"
#include "core/vector/clones.h"

void sali_move_rows_create(void *object, const sal_space *space, int64_t moves, sal_dtype dtype,
                           int64_t n, sali_move_rows *rows)
{
    size_t element = dtype == SAL_F32 ? sizeof(float) : sizeof(double);
    int64_t widest = moves > space->n_variables ? moves : space->n_variables;
    rows->rows = SALI_OBJECT_ARRAY(object, sali_move_row, 2 * n);
    rows->current = SALI_OBJECT_ARRAY(object, uint8_t, n);
    rows->buffer = sali_object_array(object, widest, element);
    for (int64_t r = 0; !sali_object_failed(object) && r < 2 * n; r++) {
        sali_move_row *row = &rows->rows[r];
        row->log_weight = sali_object_array(object, moves, element);
        row->weight = sali_object_array(object, moves, element);
        row->norm = sali_object_array(object, space->n_variables, element);
        row->partial = SALI_OBJECT_ARRAY(object, double, moves / SALI_MOVE_BLOCK + 1);
    }
}

/* The stretch that holds a slot. */
static const sali_stretch *stretch_of_slot(const sal_space *space, int64_t slot)
{
    int64_t low = 0, high = space->n_blocks - 1;
    while (low < high) {
        int64_t middle = (low + high + 1) / 2;
        if (space->stretches[middle].slot <= slot) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return &space->stretches[low];
}

void sali_slot_move(const sal_space *space, const int32_t *codes, int64_t slot, int64_t *variable,
                    int32_t *code)
{
    const sali_stretch *s = stretch_of_slot(space, slot);
    int64_t within = slot - s->slot;
    if (sali_two_level(s)) {
        *variable = s->first + within;
        *code = 1 - codes[*variable];
    } else {
        int32_t entries = sali_entries(s->states);
        *variable = s->first + within / entries;
        *code = sali_entry_code(s->states, codes[*variable], (int32_t)(within % entries));
    }
}

/* The sum of n values, in lanes: its last bits depend on the width of vectors. */
SALI_CLONES
static double sum_of(const double *values, int64_t n)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t k = 0; k < n; k++) {
        sum += values[k];
    }
    return sum;
}

double sali_move_total(int64_t n, const sali_move_row *row)
{
    return sum_of(row->partial, (n + SALI_MOVE_BLOCK - 1) / SALI_MOVE_BLOCK);
}

double sali_move_log_q(sal_dtype dtype, const sali_move_row *row, int64_t move)
{
    if (move < 0) {
        return -INFINITY;
    }
    double log_weight = dtype == SAL_F32 ? (double)((const float *)row->log_weight)[move]
                                         : ((const double *)row->log_weight)[move];
    return log_weight - row->log_norm;
}
