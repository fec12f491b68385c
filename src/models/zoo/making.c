/* SPDX-License-Identifier: MIT */
#include "models/zoo/making.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "models/lattice.h"
#include "models/zoo/graph_families.h"
#include "models/zoo/graph_terms.h"

double *sali_making_repeat(sali_making *m, int64_t n, double number)
{
    double *all = SALI_BORROW(m, double, n);
    for (int64_t k = 0; all && k < n; k++) {
        all[k] = number;
    }
    return all;
}

/* ---- variables and parameters */

sal_expr sali_making_blocks(sali_making *m, int64_t n, const sal_block *blocks)
{
    sal_space *space = sal_space_create();
    m->status = space ? SAL_OK : sali_fail_memory(m->err);
    for (int64_t b = 0; m->status == SAL_OK && b < n; b++) {
        m->status = sal_space_add(space, &blocks[b], m->err);
    }
    m->tape = m->status == SAL_OK ? sal_tape_create(space, m->dtype) : NULL;
    m->status = m->status || m->tape ? m->status : sali_fail_memory(m->err);
    sal_space_destroy(space);
    return sal_state(m->tape);
}

sal_expr sali_making_state(sali_making *m, const char *block, sal_kind kind, int64_t count,
                           int64_t states)
{
    sal_block b = { .name = block, .kind = kind, .count = count, .states = states };
    return sali_making_blocks(m, 1, &b);
}

sal_expr sali_making_sites(sali_making *m, int64_t count, int64_t states, const char *letters)
{
    sal_block b = { .name = "site", .kind = SAL_CATEGORICAL, .count = count, .states = states };
    b.letters = letters && letters[0] ? letters : NULL;
    return sali_making_blocks(m, 1, &b);
}

static sal_expr start_at(sali_making *m, sal_shape shape, sali_start_value start)
{
    assert(m->n_starts < SALI_STARTS);
    m->starts[m->n_starts++] = start;
    return sal_param(m->tape, start.parameter, shape);
}

sal_expr sali_making_param(sali_making *m, const char *name, sal_shape shape, const double *values)
{
    return start_at(m, shape, (sali_start_value){ .parameter = name, .values = values });
}

sal_expr sali_making_filled(sali_making *m, const char *name, sal_shape shape, double number)
{
    return start_at(m, shape, (sali_start_value){ .parameter = name, .number = number });
}

sal_expr sali_making_normal(sali_making *m, const char *name, sal_shape shape, double deviation,
                            uint32_t index)
{
    return start_at(m, shape,
                    (sali_start_value){
                        .parameter = name, .number = deviation, .random = true, .index = index });
}

sal_expr sali_making_number(sali_making *m, const char *name, double number)
{
    return sali_making_filled(m, name, SAL_SCALAR, number);
}

/* Set a parameter of the model to its starting values. */
static sal_status set_start(const sali_making *m, const sali_start_value *start, sal_model *model)
{
    const char *name = start->parameter;
    return start->values ? sal_model_set_params(model, name, start->values, m->err)
           : start->random
               ? sali_builtin_randomise(model, name, start->number, m->seed, start->index, m->err)
               : sali_builtin_fill(model, name, start->number, m->err);
}

/* ---- graphs */

static sal_status graph_of_file(sali_making *m, const sali_graph **graph)
{
    *graph = &m->content->graph;
    return sali_graph_check(m->builtin->name, *graph, false, m->err);
}

/* Default size of a clique of rb: nodes to this power. Published graphs of 200 to 300 nodes have
 * cliques of 5 to 12 nodes, and graphs of 800 to 1200 nodes cliques of 20 to 25. */
#define CLIQUE_EXPONENT 0.44

/* The value of the setting `name`; `otherwise` if the model has no such setting. */
static double value_of(const sali_builtin *builtin, const double *values, const char *name,
                       double otherwise)
{
    for (int k = 0; builtin->settings[k].name; k++) {
        if (strcmp(builtin->settings[k].name, name) == 0) {
            return values[k];
        }
    }
    return otherwise;
}

static bool is_listed(const char *const *list, const char *name)
{
    while (*list && strcmp(*list, name) != 0) {
        list++;
    }
    return *list;
}

/* SAL_ERR_ARGUMENT if a setting that the graph's family does not obey differs from its default; for
 * er with a density, also the degree. */
static sal_status refuse_settings(const sali_making *m, int family)
{
    const sali_builtin *b = m->builtin;
    const bool dense =
        family == SALI_GRAPH_ER && (b->by_density || value_of(b, m->values, "density", 0) > 0);
    char what[48];
    uint32_t keys = 0;
    for (int k = 0; b->settings[k].name; k++) {
        const char *name = b->settings[k].name;
        const bool obeyed = is_listed(sali_graph_families[family].settings, name);
        if (is_listed(sali_graph_settings, name) &&
            (!obeyed || (dense && strcmp(name, "degree") == 0))) {
            keys |= 1u << k;
        }
    }
    snprintf(what, sizeof what, "graph=%s%s", sali_graph_families[family].name,
             dense ? " by density" : "");
    return sali_builtin_refuse(b, m->values, keys, what, m->err);
}

/* Complete *spec from the settings graph, most, group and tightness, and from the seed; for rb the
 * number of nodes is rounded down to whole cliques. Returns: SAL_ERR_ARGUMENT if `most` is below
 * `nodes`. */
static sal_status add_settings(const sali_making *m, sali_random_graph *spec)
{
    const sali_builtin *b = m->builtin;
    const double most = value_of(b, m->values, "most", 0), nodes = (double)spec->nodes;
    if (most > 0 && most < nodes) {
        return sali_fail(m->err, SAL_ERR_ARGUMENT,
                         "%s: most=%g; expected 0 (so many as nodes), or nodes=%g at least",
                         b->name, most, nodes);
    }
    spec->seed = m->seed;
    spec->family = (int)value_of(b, m->values, "graph", SALI_GRAPH_ER);
    spec->nodes = sali_random_graph_nodes(spec->nodes, (int64_t)most, m->seed);
    spec->group = (int64_t)value_of(b, m->values, "group", 0);
    spec->tightness = value_of(b, m->values, "tightness", 0);
    if (spec->family == SALI_GRAPH_RB) {
        const double k = pow((double)spec->nodes, CLIQUE_EXPONENT);
        spec->group = spec->group > 0 ? spec->group : (int64_t)fmax(1, rint(k));
        spec->nodes -= spec->group < spec->nodes ? spec->nodes % spec->group : 0;
    }
    return SAL_OK;
}

sal_status sali_making_graph(sali_making *m, sali_random_graph spec, double degree,
                             const sali_graph **graph)
{
    const char *name = m->builtin->name;
    if (m->content) {
        return graph_of_file(m, graph);
    }
    *graph = &m->graph;
    sal_status status = add_settings(m, &spec);
    status = status ? status : refuse_settings(m, spec.family);
    const double density = degree >= 0 ? value_of(m->builtin, m->values, "density", 0) : spec.p;
    spec.degree = degree >= 0 ? degree : value_of(m->builtin, m->values, "degree", 0);
    spec.p = density;
    if (status == SAL_OK && spec.family == SALI_GRAPH_ER && degree >= 0 && density == 0) {
        status = sali_random_graph_degree(name, spec.nodes, degree, &spec.p, m->err);
    }
    return status ? status : sali_random_graph_draw(&spec, &m->graph, m->err);
}

sal_status sali_builtin_vartype(const char *specification, sali_vartype *vartype, sal_error *err)
{
    const sali_builtin *b;
    double values[SAL_SETTINGS];
    sal_status status = sali_builtin_parse(specification, &b, values, err);
    if (status == SAL_OK) {
        *vartype = (sali_vartype)value_of(b, values, "vartype", SALI_VARTYPE_NONE);
    }
    return status;
}

bool sali_builtin_has_graph(const char *specification)
{
    const sali_builtin *b;
    return sali_builtin_find(specification, &b, NULL) == SAL_OK &&
           value_of(b, (const double[SAL_SETTINGS]){ 0 }, "graph", -1) >= 0;
}

sal_status sali_builtin_graph(const char *specification, sali_graph *out, sal_error *err)
{
    double values[SAL_SETTINGS];
    sali_making m = { .values = values, .err = err };
    const sali_graph *graph;
    sal_status status = sali_builtin_parse(specification, &m.builtin, values, err);
    if (status != SAL_OK) {
        return status;
    }
    m.seed = (uint64_t)value_of(m.builtin, values, "seed", 0);
    const double density = value_of(m.builtin, values, "density", 0);
    const bool by_density = m.builtin->by_density;
    sali_random_graph spec = {
        .nodes = (int64_t)value_of(m.builtin, values, "nodes", 1),
        .p = density,
        .weights = (sali_edge_weights)value_of(m.builtin, values, "weights", SALI_WEIGHTS_ONE),
    };
    status = sali_making_graph(&m, spec, by_density ? -1 : value_of(m.builtin, values, "degree", 0),
                               &graph);
    if (status == SAL_OK) {
        *out = m.graph;
    }
    return status;
}

sal_status sali_making_lattice(sali_making *m, int64_t side, bool cyclic, const sali_graph **graph)
{
    if (m->content) {
        return graph_of_file(m, graph);
    }
    *graph = &m->graph;
    m->graph.nodes = side * side;
    m->graph.pairs = SALI_NEW_ARRAY(int64_t, 4 * side * side);
    if (!m->graph.pairs) {
        return sali_fail_memory(m->err);
    }
    m->graph.edges = sali_lattice_pairs(2, (const int64_t[]){ side, side }, cyclic, m->graph.pairs,
                                        m->graph.pairs + 1, 2);
    return SAL_OK;
}

/* ---- the model */

/* Make the model of f, set its starting values and call m->finish. On failure *model may be set. */
static sal_status finish(sali_making *m, sal_expr f, sal_model **model)
{
    sal_status status = m->status ? m->status : sal_model_from_tape(m->tape, f, model, m->err);
    sal_tape_destroy(m->tape);
    m->tape = NULL;
    for (int k = 0; status == SAL_OK && k < m->n_starts; k++) {
        status = set_start(m, &m->starts[k], *model);
    }
    return status || !m->finish ? status : m->finish(m, *model);
}

sal_status sali_making_make(const sali_builtin *builtin, const char *specification,
                            const double *values, const sali_content *content, sal_dtype dtype,
                            sal_model **model, sal_error *err)
{
    sali_making m = { .builtin = builtin,
                      .specification = specification,
                      .values = values,
                      .content = content,
                      .dtype = dtype,
                      .err = err,
                      .seed = (uint64_t)value_of(builtin, values, "seed", 0) };
    sal_expr f = { 0 };
    sal_status status =
        content ? sali_builtin_refuse(builtin, values, builtin->unused, "this file", err) : SAL_OK;
    status = status ? status : builtin->formula(&m, &f);
    status = status ? status : finish(&m, f, model);
    if (status == SAL_OK && m.statistic) {
        sali_model_set_statistic(*model, m.statistic, m.statistic_data);
        (*model)->decoding = m.decoding;
    }
    if (status == SAL_OK) {
        (*model)->kept = m.kept;
        m.kept = (sali_memory){ 0 };
        (*model)->remark = m.remark;
        m.remark = (sali_remark){ 0 };
    }
    sal_tape_destroy(m.tape);
    sali_remark_free(&m.remark);
    sali_graph_free(&m.graph);
    sali_memory_free(&m.memory);
    sali_memory_free(&m.kept);
    return status;
}

/* SAL_ERR_ARGUMENT if the model cannot be made of `content` (NULL: no file). */
static sal_status check_content(const sali_builtin *b, const sali_content *content, sal_error *err)
{
    if (!content && b->needs_file) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "%s is made of %s: %s:file=PATH", b->name,
                         sali_content_name(b->content), b->name);
    }
    if (content && content->kind != b->content) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "%s is made of %s, and this file holds %s", b->name,
                         b->content ? sali_content_name(b->content) : "no file",
                         sali_content_name(content->kind));
    }
    return SAL_OK;
}

sal_status sali_builtin_make(const char *specification, const sali_content *content,
                             sal_dtype dtype, sal_model **model, sal_error *err)
{
    const sali_builtin *b = NULL;
    double values[SAL_SETTINGS];
    sal_model *made = NULL;
    sal_status status = sali_builtin_parse(specification, &b, values, err);
    status = status ? status : check_content(b, content, err);
    if (status == SAL_OK) {
        status = sali_making_make(b, specification, values, content, dtype ? dtype : b->dtype,
                                  &made, err);
    }
    if (status == SAL_OK) {
        status = sal_model_set_name(made, specification, err);
    }
    if (status != SAL_OK) {
        sal_model_destroy(made);
        return status;
    }
    *model = made;
    return SAL_OK;
}
