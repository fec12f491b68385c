/* SPDX-License-Identifier: MIT */
#include "models/states.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "core/error.h"

double sali_states_count(const sal_space *space)
{
    double count = space->unbounded ? INFINITY : 1;
    for (int64_t v = 0; v < space->n_variables; v++) {
        count *= space->variables[v].states > 0 ? space->variables[v].states : 1;
    }
    return count;
}

const char *sali_print_power(double log10, char text[32])
{
    snprintf(text, 32, log10 < DBL_MAX_10_EXP ? "%.6g" : "10^%.0f",
             log10 < DBL_MAX_10_EXP ? pow(10, log10) : log10);
    return text;
}

double sali_states_log10(int64_t n, const sali_variable *variables)
{
    double sum = 0;
    for (int64_t v = 0; v < n; v++) {
        sum += log10(variables[v].states > 0 ? variables[v].states : 1);
    }
    return sum;
}

bool sali_states_next(const sal_space *space, int32_t *state)
{
    for (int64_t v = space->n_variables; v-- > 0;) {
        if (++state[v] < space->variables[v].states) {
            return true;
        }
        state[v] = 0;
    }
    return false;
}

void sali_states_at(const sal_space *space, int64_t index, int32_t *state)
{
    for (int64_t v = space->n_variables; v-- > 0;) {
        state[v] = (int32_t)(index % space->variables[v].states);
        index /= space->variables[v].states;
    }
}

int64_t sali_states_index(const sal_space *space, const int32_t *state)
{
    int64_t index = 0;
    for (int64_t v = 0; v < space->n_variables; v++) {
        index = index * space->variables[v].states + state[v];
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
