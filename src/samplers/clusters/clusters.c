/* SPDX-License-Identifier: MIT */
#include "samplers/clusters/clusters.h"

#include <math.h>

#include "core/error.h"
#include "core/object.h"
#include "samplers/shared.h"

static void free_graph(void *clusters)
{
    sali_cluster_graph_free(&((sali_clusters *)clusters)->graph);
}

/* Read the graph at the present parameters. */
static sal_status read_graph(sali_clusters *s, sal_error *err)
{
    sali_cluster_graph_free(&s->graph);
    s->version = sali_model_version(s->model);
    s->missing = NULL;
    sal_status status =
        sali_cluster_graph_read(s->model, s->couplings, &s->graph, &s->missing, err);
    if (status != SAL_OK && !s->missing) {
        s->missing = status == SAL_ERR_MEMORY ? "no memory for the model's terms"
                                              : "a term of f is not a number";
    }
    return status;
}

/* Fill the spans, and list the variables that can move. */
static void take_space(sali_clusters *s, const sal_space *space)
{
    for (int64_t v = 0; v < space->n_variables; v++) {
        const sali_variable *variable = &space->variables[v];
        const bool one_hot = variable->kind == SAL_CATEGORICAL;
        if (variable->states > 1) {
            s->span[v] = one_hot ? 2 : fabs(sali_level(variable, 1) - sali_level(variable, 0));
            s->movable[s->n_movable++] = (int32_t)v;
        }
    }
}

sal_status sali_clusters_open(void *object, const sali_chains *chains, sali_clusters *s,
                              sal_error *err)
{
    s->model = chains->model;
    s->span = SALI_OBJECT_ARRAY(object, double, chains->space->n_variables);
    s->movable = SALI_OBJECT_ARRAY(object, int32_t, chains->space->n_variables);
    if (sali_object_failed(object)) {
        return sali_fail_memory(err);
    }
    take_space(s, chains->space);
    if (s->n_movable <= SALI_CLUSTER_SUMMED) {
        s->sums = sali_cluster_sums_open(object);
    }
    sal_status status =
        sali_own_couplings(object, chains->model, SALI_BIT_COUPLINGS, &s->couplings, err);
    status = status ? status : read_graph(s, err);
    if (status == SAL_ERR_UNSUPPORTED) {
        return sali_fail(err, status, "%s: %s", chains->model->name, s->missing);
    }
    return status ? status : sali_object_own(object, s, free_graph, err);
}

bool sali_clusters_refresh(sali_clusters *s, sali_chains *chains, bool *renewed)
{
    *renewed = s->version != sali_model_version(s->model);
    if (*renewed) {
        read_graph(s, NULL);
    }
    for (int64_t c = 0; c < chains->n; c++) {
        if (s->missing) {
            sali_chains_note_fault(chains, c, chains->codes, s->missing, (double)NAN);
        } else {
            chains->f[c] =
                sali_cluster_graph_value(&s->graph, chains->codes + c * chains->space->n_variables);
        }
    }
    return !s->missing;
}

/* ---- bonds as auxiliary variables */

static int64_t bonds_size(const void *self, const sali_chains *chains)
{
    const sal_space *space = chains->space;
    int64_t movable = 0;
    (void)self;
    for (int64_t b = 0; b < space->n_blocks; b++) {
        movable += space->stretches[b].states > 1 ? space->stretches[b].count : 0;
    }
    return movable > SALI_CLUSTER_SUMMED ? INT32_MAX : 0;
}

static int32_t bonds_bound(const void *self, const sali_chains *chains, int64_t k)
{
    (void)self;
    (void)chains;
    (void)k;
    return 2;
}

const sali_auxiliary sali_clusters_bonds = { .size = bonds_size, .bound = bonds_bound };
