/* SPDX-License-Identifier: MIT */
#include "models/states.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "core/error.h"
#include "core/slice.h"

double sali_states_count(const sal_space *space)
{
    double count = 1;
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        count *= sali_is_fixed(s) ? sali_slice_count(s) : 1;
        for (int64_t i = 0; !sali_is_fixed(s) && i < s->count; i++) {
            count *= s->states > 0 ? (double)s->states : (double)INFINITY;
        }
    }
    return count;
}

const char *sali_print_power(double log10, char text[32])
{
    snprintf(text, 32, log10 < DBL_MAX_10_EXP ? "%.6g" : "10^%.0f",
             log10 < DBL_MAX_10_EXP ? pow(10, log10) : log10);
    return text;
}

double sali_states_log10(const sal_space *space)
{
    double sum = 0;
    for (int64_t b = 0; b < space->n_blocks; b++) {
        sum += sali_stretch_log10(&space->stretches[b]);
    }
    return sum;
}

/* Advance the codes of one stretch. Returns false after the last ones, and the first follow. */
static bool next_codes(const sali_stretch *s, int32_t *codes)
{
    if (sali_is_fixed(s)) {
        return sali_slice_next(s, codes);
    }
    for (int64_t i = s->count; i-- > 0;) {
        if (++codes[i] < s->states) {
            return true;
        }
        codes[i] = 0;
    }
    return false;
}

bool sali_states_next(const sal_space *space, int32_t *state)
{
    for (int64_t b = space->n_blocks; b-- > 0;) {
        if (next_codes(&space->stretches[b], state + space->stretches[b].first)) {
            return true;
        }
    }
    return false;
}

void sali_states_at(const sal_space *space, int64_t index, int32_t *state)
{
    for (int64_t b = space->n_blocks; b-- > 0;) {
        const sali_stretch *s = &space->stretches[b];
        int32_t *codes = state + s->first;
        if (sali_is_fixed(s)) {
            const int64_t count = (int64_t)sali_slice_count(s);
            sali_slice_at(s, index % count, codes);
            index /= count;
            continue;
        }
        for (int64_t i = s->count; i-- > 0;) {
            codes[i] = (int32_t)(index % s->states);
            index /= s->states;
        }
    }
}

int64_t sali_states_index(const sal_space *space, const int32_t *state)
{
    int64_t index = 0;
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        const int32_t *codes = state + s->first;
        if (sali_is_fixed(s)) {
            index = index * (int64_t)sali_slice_count(s) + sali_slice_index(s, codes);
            continue;
        }
        for (int64_t i = 0; i < s->count; i++) {
            index = index * s->states + codes[i];
        }
    }
    return index;
}

sal_status sali_states_check(const sal_model *model, int64_t n, const int32_t *codes,
                             const double *f, sal_error *err)
{
    int64_t V = model->space->n_variables;
    for (int64_t c = 0; c < n; c++) {
        if (!isnan(f[c]) && f[c] < INFINITY) {
            continue;
        }
        char text[200] = "";
        size_t used = 0;
        for (int64_t v = 0; v < V && used < sizeof text - 16; v++) {
            used += (size_t)snprintf(text + used, sizeof text - used, " %d", codes[c * V + v]);
        }
        return sali_fail(err, SAL_ERR_MODEL, "%s: f is %s at the state%s", model->name,
                         isnan(f[c]) ? "NaN" : "+inf", text);
    }
    return SAL_OK;
}
