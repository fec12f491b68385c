#include "samplers/kernels.h"

#include <math.h>

#include "core/alloc.h"

bool sali_move_rows_create(const sal_space *space, int64_t moves, sal_dtype dtype, int64_t n,
                           sali_move_rows *rows)
{
    size_t element = dtype == SAL_F32 ? sizeof(float) : sizeof(double);
    int64_t widest = moves > space->n_variables ? moves : space->n_variables;
    *rows = (sali_move_rows){ .n = n };
    rows->rows = SALI_NEW_ARRAY(sali_move_row, 2 * n);
    rows->current = SALI_NEW_ARRAY(uint8_t, n);
    rows->buffer = sali_alloc(widest, element);
    bool ok = rows->rows && rows->current && rows->buffer;
    for (int64_t r = 0; ok && r < 2 * n; r++) {
        sali_move_row *row = &rows->rows[r];
        row->log_weight = sali_alloc(moves, element);
        row->weight = sali_alloc(moves, element);
        row->norm = sali_alloc(space->n_variables, element);
        row->partial = SALI_NEW_ARRAY(double, moves / SALI_MOVE_BLOCK + 1);
        ok = row->log_weight && row->weight && row->norm && row->partial;
    }
    if (!ok) {
        sali_move_rows_free(rows);
    }
    return ok;
}

void sali_move_rows_free(sali_move_rows *rows)
{
    for (int64_t r = 0; rows->rows && r < 2 * rows->n; r++) {
        sali_free(rows->rows[r].log_weight);
        sali_free(rows->rows[r].weight);
        sali_free(rows->rows[r].norm);
        sali_free(rows->rows[r].partial);
    }
    sali_free(rows->rows);
    sali_free(rows->current);
    sali_free(rows->buffer);
    *rows = (sali_move_rows){ 0 };
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

double sali_move_log_q(sal_dtype dtype, const sali_move_row *row, int64_t move)
{
    if (move < 0) {
        return -INFINITY;
    }
    double log_weight = dtype == SAL_F32 ? (double)((const float *)row->log_weight)[move]
                                         : ((const double *)row->log_weight)[move];
    return log_weight - row->log_norm;
}
