/* SPDX-License-Identifier: MIT */
#include "cli/marginals_output.h"

#include <stdlib.h>

#include "core/text.h"
#include "io/networks/marginals.h"
#include "io/networks/uai_results.h"
#include "models/clamp.h"
#include "models/names.h"

bool cli_is_mar(const char *path)
{
    return sali_has_suffix(path, ".MAR");
}

/* Rows of all variables of the inner model, from those of the free ones, in an array of its own;
 * NULL when out of memory. */
static double *all_marginals(const sal_model *model, const double *marginals)
{
    const sal_space *whole = sal_model_space(sali_clamp_inner(model));
    int64_t entries = 0;
    for (int64_t v = 0; v < sal_space_variables(whole); v++) {
        entries += sal_space_states(whole, v);
    }
    double *all = malloc((size_t)entries * sizeof *all);
    if (all && sali_clamp_marginals(model, marginals, all) != SAL_OK) {
        free(all);
        return NULL;
    }
    return all;
}

int cli_save_mar(const sal_model *model, const double *marginals, const char *path)
{
    const sal_space *whole = sal_model_space(sali_clamp_inner(model));
    sal_error err = { 0 };
    sal_status status = SAL_OK;
    for (int64_t v = 0; v < sal_space_variables(whole) && status == SAL_OK; v++) {
        status = sali_marginals_states(path, whole, v, &err);
    }
    double *all = status == SAL_OK ? all_marginals(model, marginals) : NULL;
    if (status == SAL_OK) {
        status = all ? sali_uai_write_mar(path, whole, all, &err) : SAL_ERR_MEMORY;
    }
    free(all);
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}

json_t *cli_marginals_rows(const sal_model *model, const double *marginals)
{
    const sal_space *whole = sal_model_space(sali_clamp_inner(model));
    double *all = all_marginals(model, marginals), *at = all;
    json_t *rows = all ? json_array() : NULL;
    for (int64_t v = 0; rows && v < sal_space_variables(whole); v++) {
        json_t *row = json_array();
        for (int64_t k = 0; k < sal_space_states(whole, v); k++) {
            json_array_append_new(row, json_real(*at++));
        }
        json_array_append_new(rows, row);
    }
    free(all);
    return rows;
}

/* ---- names */

static json_t *json_names(char *const *names, int64_t n)
{
    json_t *list = json_array();
    for (int64_t k = 0; k < n; k++) {
        json_t *name = names[k] ? json_string(names[k]) : NULL; /* NULL also if not UTF-8 */
        json_array_append_new(list, name ? name : json_null());
    }
    return list;
}

void cli_add_names(json_t *object, const sal_model *model)
{
    const sali_names *names = sali_clamp_inner(model)->names;
    if (names && names->names) {
        json_object_set_new(object, "names", json_names(names->names, names->variables));
    }
    if (names && names->state_names) {
        json_t *states = json_array();
        for (int64_t v = 0; v < names->variables; v++) {
            json_array_append_new(states, json_names(names->state_names[v], names->states[v]));
        }
        json_object_set_new(object, "states", states);
    }
}
