/* SPDX-License-Identifier: MIT */
/* Recognition of chains of categorical variables: f is linear in the one-hot states, plus edges
 * between the one-hot states of neighbours, with the same weights for every two neighbours. Hidden
 * Markov models and linear-chain random fields have this form. */
#include <string.h>

#include "core/alloc.h"
#include "models/structure/chain.h"
#include "models/structure/recognise.h"

typedef struct chain_form {
    sali_sum_form sum;
    int64_t length, codes;
    int64_t edges; /* number of edges between two neighbours; the first two variables come first */
} chain_form;

/* ---- recognition */

/* Whether edge e has the weight of edge `first` whatever the parameters. w: the node of the
 * weights. */
static bool have_one_weight(const sali_tape_model *tape, int32_t w, int64_t e, int64_t first)
{
    if (!tape->program->steps[w].param_path) {
        double weight = sali_load(tape->program->dtype, tape->params->value[w], e);
        return sali_load(tape->program->dtype, tape->params->value[w], first) == weight;
    }
    if (e == first || sali_terms_of(tape->program, w) != 1) {
        return e == first;
    }
    sali_op_term a = sali_term_of(tape->program, w, e, 0);
    sali_op_term b = sali_term_of(tape->program, w, first, 0);
    return a.n == 1 && b.n == 1 && a.input[0] == b.input[0] && a.at[0] == b.at[0] &&
           a.factor == b.factor;
}

/* Set form->edges. Whether every two neighbours have the same edges as the first two, in the same
 * order and with the same weights. */
static bool check_edges(const sali_tape_model *tape, chain_form *form)
{
    const sali_node *node = &tape->program->nodes[form->sum.core];
    int64_t n = form->codes, all = node->n_ints / 2;
    if (!tape->program->steps[form->sum.core].op->lists_pairs ||
        node->in[0] != tape->program->state || tape->program->nodes[node->in[1]].varying ||
        form->length < 2 || all % (form->length - 1) != 0) {
        return false;
    }
    form->edges = all / (form->length - 1);
    for (int64_t e = 0; e < all; e++) {
        int64_t first = e % form->edges, t = e / form->edges;
        int64_t i = node->ints[2 * e], j = node->ints[2 * e + 1];
        if (i / n != t || j / n != t + 1 || i - t * n != node->ints[2 * first] ||
            j - t * n != node->ints[2 * first + 1] ||
            !have_one_weight(tape, node->in[1], e, first)) {
            return false;
        }
    }
    return true;
}

/* Whether all variables are categorical and have the same number of states. */
static bool has_equal_variables(const sal_space *space)
{
    return sali_space_kinds(space) == 1u << SAL_CATEGORICAL &&
           space->n_states == space->n_variables * space->max_states;
}

/* ---- as a chain */

static sali_chain_shape chain_shape(const sal_model *model)
{
    const chain_form *form = model->structure_data;
    return (sali_chain_shape){ form->length, 1, form->codes };
}

static const sali_sum_form *chain_sum(const sal_model *model)
{
    return &((const chain_form *)model->structure_data)->sum;
}

/* The emissions are the linear terms of f; the transitions are the weights of the edges between the
 * first two variables. */
static void read_chain(const sal_model *model, sali_chain *chain)
{
    const chain_form *form = model->structure_data;
    const sali_sum_reader *sum = &chain->sum;
    int64_t n = form->codes;
    chain->constant = sum->constant;
    memcpy(chain->emission, sum->linear, (size_t)(form->length * n) * sizeof *chain->emission);
    memset(chain->transition, 0, (size_t)(n * n) * sizeof *chain->transition);
    if (form->sum.core < 0) {
        return;
    }
    const sali_node *node = &sum->tape->program->nodes[form->sum.core];
    for (int64_t e = 0; e < form->edges; e++) {
        double weight = sali_sum_reader_edge(sum, e);
        chain->transition[node->ints[2 * e] * n + node->ints[2 * e + 1] - n] += weight;
    }
}

static const struct sali_chain_rule chain_rule = { chain_shape, chain_sum, read_chain };

static const sali_structure categorical_chain = {
    .pieces = sali_chain_pieces,
    .open = sali_chain_open,
    .close = sali_chain_close,
    .draw = sali_chain_draw,
    .log_q = sali_chain_log_q,
    .chain = &chain_rule,
    .destroy = sali_free,
};

sal_status sali_recognise_chain(sal_model *model, const sali_sum_form *sum)
{
    const sal_space *space = model->space;
    chain_form form = { .sum = *sum,
                        .length = space->n_variables,
                        .codes = space->variables[0].states };
    bool single = sum->core < 0 && form.length == 1;
    if (!has_equal_variables(space) ||
        !(single || (sum->core >= 0 && check_edges(sali_model_tape(model), &form)))) {
        return SAL_ERR_UNSUPPORTED;
    }
    chain_form *data = sali_memdup(&form, 1, sizeof form);
    if (!data) {
        return SAL_ERR_MEMORY;
    }
    sali_model_set_structure(model, &categorical_chain, data);
    return SAL_OK;
}
