/* SPDX-License-Identifier: MIT */
#include "models/structure/sum_form.h"

#include <string.h>

#include "core/alloc.h"

/* ---- whether f has the form */

/* Mark the inputs of node i, an op that is linear in them, in scaled [n_nodes] if their weights in
 * f depend on parameters: because the weights of node i do, or because it multiplies by
 * parameters. */
static void scale_inputs(const sali_program *program, int32_t i, bool *scaled)
{
    const sali_node *node = &program->nodes[i];
    sali_op_term term = sali_term_of(program, i, 0, 0);
    bool scales = scaled[i];
    for (int j = 0; term.n > 1 && j < term.n; j++) {
        int32_t in = node->in[term.input[j]];
        scales |= !program->nodes[in].varying && program->steps[in].param_path;
    }
    for (int32_t k = 0; k < node->n_in; k++) {
        scaled[node->in[k]] |= scales;
    }
}

static bool is_core(const sali_program *program, int32_t i)
{
    const sali_op *op = program->steps[i].op;
    return op->hidden == SALI_HIDES_BITS || op->hidden == SALI_HIDES_INDEX ||
           op->hidden == SALI_HIDES_DRELU || op->lists_pairs;
}

/* Set core, plain and rest of the form by the nodes that f is a sum of. Returns the number of
 * cores. A node of squares is the core if there is no other that could be, and part of the rest
 * otherwise. */
static int find_summands(const sali_program *program, const bool *summed, bool *scaled,
                         sali_sum_form *form)
{
    int cores = 0, squares = 0;
    int32_t square = -1;
    for (int32_t i = program->output; i >= 0; i--) {
        if (!summed[i] || i == program->state) {
            continue;
        }
        if (is_core(program, i)) {
            cores++;
            form->core = i;
            form->plain = !scaled[i];
        } else if (sali_node_factors(program, i) == 1) {
            scale_inputs(program, i, scaled);
        } else if (program->steps[i].op->hidden == SALI_HIDES_NORMAL) {
            squares++;
            square = i;
        } else {
            form->rest = true;
        }
    }
    if (squares == 1 && cores == 0) {
        form->core = square;
        form->plain = !scaled[square];
        return 1;
    }
    form->rest |= squares > 0;
    return cores;
}

sal_status sali_sum_form_find(const sali_tape_model *tape, sali_sum_form *form)
{
    const sali_program *program = tape->program;
    bool *summed = SALI_NEW_ARRAY(bool, program->n_nodes);
    bool *scaled = SALI_NEW_ARRAY(bool, program->n_nodes);
    sali_sum_form found = { .core = -1, .plain = true };
    sal_status status = summed && scaled ? SAL_OK : SAL_ERR_MEMORY;
    if (status == SAL_OK) {
        sali_mark_summed(program, summed);
        status = find_summands(program, summed, scaled, &found) < 2 ? SAL_OK : SAL_ERR_UNSUPPORTED;
    }
    sali_free(summed);
    sali_free(scaled);
    if (status == SAL_OK) {
        *form = found;
    }
    return status;
}

/* ---- its numbers */

/* Set r->rest if summand i is part of the rest and one of its weights is not 0: a visitor of
 * sali_weights_push. */
static sal_status visit_summand(void *context, int32_t i)
{
    sali_sum_reader *r = context;
    const sali_program *program = r->tape->program;
    bool rest = i != program->state && i != r->form.core;
    for (int64_t k = 0; rest && k < program->steps[i].size; k++) {
        r->rest |= r->weights.node[i][k] != 0;
    }
    return SAL_OK;
}

/* Compute the weights of the state and the core, the constant, and whether the rest counts. */
static sal_status push_all(sali_sum_reader *r)
{
    r->weights.node[r->tape->program->output][0] = 1;
    r->rest = false;
    return sali_weights_push(&r->weights, &r->constant, visit_summand, r);
}

sal_status sali_sum_reader_open(const sali_tape_model *tape, const sali_sum_form *form,
                                sali_sum_reader *reader)
{
    *reader = (sali_sum_reader){ .tape = tape, .form = *form };
    sal_status status = sali_weights_create(tape, &reader->weights);
    if (status == SAL_OK) {
        reader->linear = sali_weights_of(&reader->weights, tape->program->state);
        reader->weight = form->core >= 0 ? sali_weights_of(&reader->weights, form->core) : NULL;
        status = reader->linear && (reader->weight || form->core < 0) ? push_all(reader)
                                                                      : SAL_ERR_MEMORY;
    }
    return status;
}

void sali_sum_reader_close(sali_sum_reader *reader)
{
    sali_weights_free(&reader->weights);
}

void sali_sum_reader_update(sali_sum_reader *reader)
{
    const sali_program *program = reader->tape->program;
    for (int32_t i = 0; i < program->n_nodes; i++) {
        if (reader->weights.node[i]) {
            memset(reader->weights.node[i], 0,
                   (size_t)program->steps[i].size * sizeof *reader->weights.node[i]);
        }
    }
    (void)push_all(reader); /* allocates nothing this time, and `visit` does not fail */
}
