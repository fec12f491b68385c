#include "models/structure/affine_form.h"

#include <string.h>

/* Formulas of people have a few nodes here; one from a file may have any number. */
enum { MOST_VISITS = 64 };

typedef struct search {
    const sali_program *program;
    sali_affine_form form;
    int visits;
} search;

static bool is_state(const sali_program *program, int32_t i)
{
    while (program->nodes[i].op == SALI_OP_reshape) {
        i = program->nodes[i].in[0];
    }
    return i == program->state;
}

static bool add_term(search *s, int32_t i, double factor)
{
    sali_affine_form *form = &s->form;
    int64_t size = s->program->steps[i].size;
    if (form->n_terms == SALI_AFFINE_TERMS || (size != form->size && size != 1)) {
        return false;
    }
    form->term[form->n_terms] = i;
    form->term_factor[form->n_terms++] = factor;
    return true;
}

static bool set_product(search *s, const sali_node *node, double factor)
{
    if (s->form.W >= 0 || s->program->nodes[node->in[0]].varying ||
        !is_state(s->program, node->in[1])) {
        return false;
    }
    s->form.W = node->in[0];
    s->form.factor = factor;
    return true;
}

/* Take in `factor` times node i. */
static bool visit(search *s, int32_t i, double factor)
{
    const sali_node *node = &s->program->nodes[i];
    if (!node->varying) {
        return add_term(s, i, factor);
    }
    if (++s->visits > MOST_VISITS || s->program->steps[i].size != s->form.size) {
        return false;
    }
    switch (node->op) {
    case SALI_OP_reshape:
        return visit(s, node->in[0], factor);
    case SALI_OP_scale:
        return visit(s, node->in[0], factor * node->reals[0]);
    case SALI_OP_add:
    case SALI_OP_sub:
        return visit(s, node->in[0], factor) &&
               visit(s, node->in[1], node->op == SALI_OP_sub ? -factor : factor);
    case SALI_OP_matvec:
        return set_product(s, node, factor);
    default:
        return false;
    }
}

bool sali_affine_form_find(const sali_program *program, int32_t i, sali_affine_form *form)
{
    search s = { .program = program, .form = { .size = program->steps[i].size, .W = -1 } };
    if (!visit(&s, i, 1) || s.form.W < 0) {
        return false;
    }
    *form = s.form;
    return true;
}

void sali_affine_form_bias(const sali_affine_form *form, const sali_params *params, double *c)
{
    memset(c, 0, (size_t)form->size * sizeof *c);
    for (int t = 0; t < form->n_terms; t++) {
        const void *value = params->value[form->term[t]];
        bool one = params->program->steps[form->term[t]].size == 1;
        for (int64_t k = 0; k < form->size; k++) {
            c[k] += form->term_factor[t] * sali_load(params->program->dtype, value, one ? 0 : k);
        }
    }
}
