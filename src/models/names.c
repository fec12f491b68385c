/* SPDX-License-Identifier: MIT */
#include "models/names.h"

#include "core/alloc.h"
#include "core/error.h"
#include "models/clamp.h"

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

const char *sal_model_remark(const sal_model *model, bool *warns)
{
    const sali_remark *remark = &sali_clamp_inner(model)->remark;
    if (warns) {
        *warns = remark->warns;
    }
    return remark->text;
}

const char *sal_model_label(const sal_model *model, int64_t v, int32_t code)
{
    const sali_names *names = sali_clamp_inner(model)->names;
    if (!names || v < 0 || v >= model->space->n_variables) {
        return NULL;
    }
    v = sali_clamp_variable(model, v);
    if (code < 0) {
        return names->names ? names->names[v] : NULL;
    }
    return names->state_names && code < names->states[v] ? names->state_names[v][code] : NULL;
}
