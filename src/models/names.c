/* SPDX-License-Identifier: MIT */
#include "models/names.h"

#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/model.h"

sal_status sali_names_move(sali_factor_graph *graph, sal_model *model, sal_error *err)
{
    if (!graph->names && !graph->state_names) {
        return SAL_OK;
    }
    sali_names *names = SALI_NEW(sali_names);
    int32_t *states = sali_memdup(graph->states, graph->variables, sizeof *states);
    if (!names || !states) {
        sali_free(names);
        sali_free(states);
        return sali_fail_memory(err);
    }
    *names = (sali_names){ .variables = graph->variables,
                           .names = graph->names,
                           .states = states,
                           .state_names = graph->state_names };
    graph->names = NULL;
    graph->state_names = NULL;
    model->names = names;
    return SAL_OK;
}

void sali_names_destroy(sali_names *names)
{
    if (!names) {
        return;
    }
    for (int64_t v = 0; names->state_names && v < names->variables; v++) {
        sali_names_free(names->state_names[v], names->states[v]);
    }
    sali_free(names->state_names);
    sali_free(names->states);
    sali_names_free(names->names, names->variables);
    sali_free(names);
}

static int64_t find(char *const *names, int64_t n, const char *text, int64_t size)
{
    for (int64_t k = 0; names && k < n; k++) {
        if (names[k] && strncmp(names[k], text, (size_t)size) == 0 && names[k][size] == '\0') {
            return k;
        }
    }
    return -1;
}

int64_t sali_names_variable(const sali_names *names, const char *text, int64_t size)
{
    return names ? find(names->names, names->variables, text, size) : -1;
}

int64_t sali_names_state(const sali_names *names, int64_t v, const char *text, int64_t size)
{
    bool known = names && names->state_names && v >= 0 && v < names->variables;
    return known ? find(names->state_names[v], names->states[v], text, size) : -1;
}
