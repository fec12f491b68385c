/* SPDX-License-Identifier: MIT */
#include "models/structure/binary_chains.h"

#include <stdlib.h>

#include "core/alloc.h"
#include "models/structure/chain.h"
#include "models/structure/recognise.h"

/* ---- recognition */

/* The largest |i - j| of an edge (i, j). This is the number of chains, K: neighbours in time are K
 * apart, and no coupled pair is further apart. */
static int64_t longest_distance(const sali_node *edges)
{
    int64_t longest = 0;
    for (int64_t k = 0; k < edges->n_ints; k += 2) {
        int64_t distance = llabs(edges->ints[k] - edges->ints[k + 1]);
        longest = distance > longest ? distance : longest;
    }
    return longest;
}

/* Enter edge e in form->step or form->pair; *steps counts the edges in time. False: no such edge
 * fits the form, or an edge in time has another weight than the first. */
static bool place_edge(const sali_tape_model *tape, sali_binary_chains *form, int64_t e,
                       int64_t *steps)
{
    const sali_node *node = &tape->program->nodes[form->sum.core];
    const void *weights = tape->params->value[node->in[1]];
    int64_t K = form->chains, a = node->ints[2 * e], b = node->ints[2 * e + 1];
    int64_t i = a < b ? a : b, j = a < b ? b : a, t = i / K;
    if (j - i == K) { /* all edges in time have one weight */
        form->step = *steps == 0 ? e : form->step;
        *steps += 1;
        return sali_load(tape->program->dtype, weights, e) ==
               sali_load(tape->program->dtype, weights, form->step);
    }
    int64_t *there = &form->pair[t * K * K + i % K * K + j % K];
    int64_t *back = &form->pair[t * K * K + j % K * K + i % K];
    bool good = j / K == t && *there < 0;
    *there = *back = e;
    return good;
}

/* Whether each pair of a slice has an edge, and each variable has one to the next of its chain:
 * there are as many edges in time (`steps`) as there can be, and each has another end. `seen` [T K]
 * is false at first. */
static bool is_whole(const sali_tape_model *tape, const sali_binary_chains *form, int64_t steps,
                     bool *seen)
{
    const sali_node *node = &tape->program->nodes[form->sum.core];
    int64_t K = form->chains;
    bool whole = steps == (form->length - 1) * K;
    for (int64_t k = 0; k < form->length * K * K; k++) {
        whole &= form->pair[k] >= 0 || k / K % K == k % K;
    }
    for (int64_t e = 0; whole && e < node->n_ints / 2; e++) {
        int64_t a = node->ints[2 * e], b = node->ints[2 * e + 1], j = a > b ? a : b;
        if (llabs(a - b) == K) {
            whole = !seen[j];
            seen[j] = true;
        }
    }
    return whole;
}

/* Enter all edges of the core in `form`. Returns: SAL_ERR_UNSUPPORTED when they do not fit,
 * SAL_ERR_MEMORY. */
static sal_status find_edges(const sali_tape_model *tape, sali_binary_chains *form)
{
    const sali_node *node = &tape->program->nodes[form->sum.core];
    bool *seen = SALI_NEW_ARRAY(bool, form->length * form->chains);
    int64_t steps = 0;
    bool good = seen != NULL;
    for (int64_t k = 0; k < form->length * form->chains * form->chains; k++) {
        form->pair[k] = -1;
    }
    for (int64_t e = 0; good && e < node->n_ints / 2; e++) {
        good = place_edge(tape, form, e, &steps);
    }
    good = good && is_whole(tape, form, steps, seen);
    sali_free(seen);
    return good ? SAL_OK : seen ? SAL_ERR_UNSUPPORTED : SAL_ERR_MEMORY;
}

sal_status sali_recognise_chains(sal_model *model, const sali_sum_form *sum)
{
    const sali_tape_model *tape = sali_model_tape(model);
    const sali_program *program = tape->program;
    const sali_node *node = sum->core >= 0 ? &program->nodes[sum->core] : NULL;
    if (!node || !program->steps[sum->core].op->lists_pairs || node->in[0] != program->state ||
        program->nodes[node->in[1]].varying || program->steps[node->in[1]].param_path ||
        sali_space_kinds(model->space) != 1u << SAL_BINARY) {
        return SAL_ERR_UNSUPPORTED;
    }
    int64_t V = model->space->n_variables, K = longest_distance(node);
    /* the pairs of all slices must be there, which also bounds what is allocated */
    if (K == 0 || V % K != 0 || V / K < 2 || V * (K - 1) / 2 > node->n_ints / 2) {
        return SAL_ERR_UNSUPPORTED;
    }
    sali_binary_chains *form =
        sali_alloc((int64_t)sizeof *form + V * K * (int64_t)sizeof form->pair[0], 1);
    if (!form) {
        return SAL_ERR_MEMORY;
    }
    form->sum = *sum;
    form->length = V / K;
    form->chains = K;
    sal_status status = find_edges(tape, form);
    if (status != SAL_OK) {
        sali_free(form);
        return status;
    }
    sali_model_set_structure(model, &sali_binary_chain_draws, form);
    return SAL_OK;
}

/* ---- as a structure */

static int64_t count_chains(const sal_model *model)
{
    return ((const sali_binary_chains *)model->structure_data)->chains;
}

static int64_t count_slices(const sal_model *model)
{
    return ((const sali_binary_chains *)model->structure_data)->length;
}

static int64_t slice_of(const sal_model *model, int64_t v)
{
    return v / count_chains(model);
}

/* ---- as one chain, of 2^K states a slice */

static sali_chain_shape chain_shape(const sal_model *model)
{
    return (sali_chain_shape){ count_slices(model), count_chains(model), 2 };
}

static const sali_sum_form *chain_sum(const sal_model *model)
{
    return &((const sali_binary_chains *)model->structure_data)->sum;
}

/* The emissions of slice t, f of each of its 2^K states, built bit by bit: the value without the
 * highest set bit, plus the contribution of that bit. */
static void read_slice(const sali_binary_chains *form, int64_t t, sali_chain *chain)
{
    int64_t K = form->chains;
    double *emission = chain->emission + t * chain->states;
    double G[64] = { 0 }; /* 2^K numbers are in memory: K is below 64 */
    emission[0] = 0;
    for (int64_t k = 0; k < K; k++) {
        for (int64_t j = 0; j <= k; j++) {
            G[j] = sali_sum_reader_edge(&chain->sum, form->pair[(t * K + k) * K + j]);
        }
        for (int64_t z = 0; z < INT64_C(1) << k; z++) {
            double rise = chain->sum.linear[t * K + k] + G[k];
            for (int64_t j = 0; j < k; j++) {
                rise += z >> j & 1 ? G[j] : 0;
            }
            emission[z + (INT64_C(1) << k)] = emission[z] + rise;
        }
    }
}

/* The chain of slices of 2^K states; only the transition from 1 to 1 counts, with weight J. */
static void read_chain(const sal_model *model, sali_chain *chain)
{
    const sali_binary_chains *form = model->structure_data;
    chain->constant = chain->sum.constant;
    for (int64_t t = 0; t < form->length; t++) {
        read_slice(form, t, chain);
    }
    chain->transition[0] = chain->transition[1] = chain->transition[2] = 0;
    chain->transition[3] = sali_sum_reader_edge(&chain->sum, form->step);
}

static const struct sali_chain_rule chain_rule = { chain_shape, chain_sum, read_chain };

const sali_structure sali_binary_chain_draws = {
    .pieces = count_chains,
    .open = sali_binary_chains_open,
    .close = sali_binary_chains_close,
    .draw = sali_binary_chains_draw,
    .log_q = sali_binary_chains_log_q,
    .groups = count_slices,
    .group_of = slice_of,
    .group_name = "time slices",
    .chain = &chain_rule,
    .destroy = sali_free,
};
