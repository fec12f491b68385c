#include "models/zoo/set_weight.h"

#include "core/alloc.h"
#include "core/error.h"

typedef struct set_graph {
    int64_t edges, *pairs;
    double *weights, largest;
    bool adjacent;
} set_graph;

static void destroy(void *data)
{
    set_graph *g = data;
    sali_free(g->pairs);
    sali_free(g->weights);
    sali_free(g);
}

static double weight_without_conflicts(const sal_model *model, const int32_t *codes)
{
    const set_graph *g = model->statistic_data;
    double weight = 0, chosen = 0, inside = 0;
    for (int64_t v = 0; v < model->space->n_variables; v++) {
        weight += codes[v] ? g->weights[v] : 0;
        chosen += codes[v];
    }
    for (int64_t e = 0; e < g->edges; e++) {
        inside += codes[g->pairs[2 * e]] & codes[g->pairs[2 * e + 1]];
    }
    double conflicts = g->adjacent ? inside : chosen * (chosen - 1) / 2 - inside;
    return weight - g->largest * conflicts;
}

static const sali_statistic statistic = { "weight without conflicts", weight_without_conflicts,
                                          destroy };

sal_status sali_report_set_weight(sal_model *model, int64_t edges, const int64_t *pairs,
                                  const double *weights, double largest, bool adjacent,
                                  sal_error *err)
{
    set_graph *g = SALI_NEW(set_graph);
    if (!g) {
        return sali_fail_memory(err);
    }
    *g = (set_graph){ .edges = edges, .largest = largest, .adjacent = adjacent };
    g->pairs = sali_memdup(pairs, 2 * edges, sizeof *pairs);
    g->weights = sali_memdup(weights, model->space->n_variables, sizeof *weights);
    if (!g->pairs || !g->weights) {
        destroy(g);
        return sali_fail_memory(err);
    }
    sali_model_set_statistic(model, &statistic, g);
    return SAL_OK;
}
