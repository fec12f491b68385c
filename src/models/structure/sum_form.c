/* SPDX-License-Identifier: MIT */
#include "models/structure/sum_form.h"

#include <string.h>

#include "core/alloc.h"

/* ---- whether f has the form */

typedef struct walk {
    const sali_program *program;
    bool *reached; /* by node: f is linear in it */
    bool *scaled;  /* by node: its weights depend on parameters */
} walk;

/* The inputs of node i, which is affine in those that vary. */
static void reach_inputs(walk *w, int32_t i)
{
    const sali_program *program = w->program;
    const sali_node *node = &program->nodes[i];
    sali_op_term term = sali_term_of(program, i, 0, 0);
    bool scaled = false;
    for (int j = 0; term.n > 1 && j < term.n; j++) {
        int32_t in = node->in[term.input[j]];
        scaled |= !program->nodes[in].varying && program->steps[in].param_path;
    }
    for (int32_t k = 0; k < node->n_in; k++) {
        w->reached[node->in[k]] |= program->nodes[node->in[k]].varying;
        w->scaled[node->in[k]] |= scaled || w->scaled[i];
    }
}

static bool is_core(const sali_program *program, int32_t i)
{
    const sali_op *op = program->steps[i].op;
    return op->hidden != SALI_HIDES_NOTHING || op->lists_pairs;
}

/* Node i, which varies, is the state, the one core, affine in its inputs, or part of the rest. */
static bool visit(walk *w, int32_t i, sali_sum_form *form)
{
    if (i == w->program->state) {
        return true;
    }
    if (is_core(w->program, i)) {
        bool first = form->core < 0;
        form->core = i;
        form->plain = !w->scaled[i];
        return first;
    }
    if (sali_node_factors(w->program, i) != 1) {
        form->rest = true;
        return true;
    }
    reach_inputs(w, i);
    return true;
}

sal_status sali_sum_form_find(const sali_tape_model *tape, sali_sum_form *form)
{
    const sali_program *program = tape->program;
    walk w = { .program = program,
               .reached = SALI_NEW_ARRAY(bool, program->n_nodes),
               .scaled = SALI_NEW_ARRAY(bool, program->n_nodes) };
    sali_sum_form found = { .core = -1, .plain = true };
    sal_status status = w.reached && w.scaled ? SAL_OK : SAL_ERR_MEMORY;
    if (status == SAL_OK) {
        w.reached[program->output] = true;
    }
    for (int32_t i = program->output; status == SAL_OK && i >= 0; i--) {
        if (w.reached[i] && program->nodes[i].varying && !visit(&w, i, &found)) {
            status = SAL_ERR_UNSUPPORTED;
        }
    }
    sali_free(w.reached);
    sali_free(w.scaled);
    if (status == SAL_OK) {
        *form = found;
    }
    return status;
}

/* ---- its numbers */

static bool any(int64_t n, const double *weight)
{
    int64_t k = 0;
    while (k < n && weight[k] == 0) {
        k++;
    }
    return k < n;
}

/* Hand the weight of f down to the state, the core and what does not vary. */
static sal_status push_all(sali_sum_reader *r)
{
    const sali_program *program = r->tape->program;
    sal_status status = SAL_OK;
    r->weights.node[program->output][0] = 1;
    r->constant = 0;
    r->rest = false;
    for (int32_t i = program->output; status == SAL_OK && i >= 0; i--) {
        if (!r->weights.node[i] || i == program->state || i == r->form.core) {
            continue;
        }
        if (program->nodes[i].varying) {
            const bool rest = r->form.rest && sali_node_factors(program, i) != 1;
            r->rest |= rest && any(program->steps[i].size, r->weights.node[i]);
            status = rest ? SAL_OK : sali_weights_push(&r->weights, i);
            continue;
        }
        for (int64_t k = 0; k < program->steps[i].size; k++) {
            r->constant += r->weights.node[i][k] * sali_params_addend(r->tape->params, i, k);
        }
    }
    return status;
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
    push_all(reader);
}
