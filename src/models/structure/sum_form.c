#include "models/structure/sum_form.h"

#include <string.h>

#include "core/alloc.h"

/* ---- whether f has the form */

typedef struct walk {
    const sali_program *program;
    bool *reached; /* by node: f is linear in it */
    bool *scaled;  /* by node: its weights depend on parameters */
} walk;

static void reach(walk *w, int32_t from, int32_t to, bool scaled)
{
    w->reached[to] = true;
    w->scaled[to] |= scaled || w->scaled[from];
}

/* A product with, or a quotient by, what does not vary. */
static bool reach_factor(walk *w, int32_t i)
{
    const sali_node *node = &w->program->nodes[i];
    int moving = w->program->nodes[node->in[0]].varying ? 0 : 1;
    int32_t other = node->in[1 - moving];
    bool known = !w->program->nodes[other].varying && (node->op != SALI_OP_div || moving == 0) &&
                 (node->op != SALI_OP_matvec || moving == 1);
    if (known) {
        reach(w, i, node->in[moving], w->program->steps[other].param_path);
    }
    return known;
}

/* The inputs of a node that varies; false for an op that is not known to be linear. */
static bool reach_inputs(walk *w, int32_t i, sali_sum_form *form)
{
    const sali_node *node = &w->program->nodes[i];
    switch (node->op) {
    case SALI_OP_state:
        return i == w->program->state;
    case SALI_OP_softplus:
    case SALI_OP_logsumexp:
    case SALI_OP_edges: {
        bool first = form->core < 0;
        form->core = i;
        form->plain = !w->scaled[i];
        return first;
    }
    case SALI_OP_reshape:
    case SALI_OP_slice:
    case SALI_OP_gather:
    case SALI_OP_scale:
    case SALI_OP_sum:
    case SALI_OP_mean:
    case SALI_OP_add:
    case SALI_OP_sub:
        for (int32_t k = 0; k < node->n_in; k++) {
            reach(w, i, node->in[k], false);
        }
        return true;
    case SALI_OP_mul:
    case SALI_OP_div:
    case SALI_OP_dot:
    case SALI_OP_matvec:
        return reach_factor(w, i);
    default:
        return false;
    }
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
        if (w.reached[i] && program->nodes[i].varying && !reach_inputs(&w, i, &found)) {
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

/* Hand the weight of f down to the state, the core and what does not vary. */
static sal_status push_all(sali_sum_reader *r)
{
    const sali_program *program = r->tape->program;
    sal_status status = SAL_OK;
    r->weights.node[program->output][0] = 1;
    r->constant = 0;
    for (int32_t i = program->output; status == SAL_OK && i >= 0; i--) {
        if (!r->weights.node[i] || i == program->state || i == r->form.core) {
            continue;
        }
        if (program->nodes[i].varying) {
            status = sali_weights_push(&r->weights, i);
            continue;
        }
        for (int64_t k = 0; k < program->steps[i].size; k++) {
            r->constant += r->weights.node[i][k] * sali_weights_value(&r->weights, i, k);
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
