/* SPDX-License-Identifier: MIT */
#include "models/structure/affine_form.h"

#include <string.h>

#include "ad/hoisted.h"
#include "ad/polynomial.h"

/* Bound on the nodes that are visited for one form: a formula from a file may have any number. */
enum { MOST_VISITS = 64 };

typedef struct search {
    const sali_program *program;
    sali_affine_form form;
    int visits;
} search;

/* Whether term t of every element of node i is the same factor times the element of the same input
 * with the same index (or the only element of that input). *factor: the factor of element 0. */
static bool passes_on(const sali_program *program, int32_t i, int64_t t, double *factor)
{
    int64_t size = program->steps[i].size;
    sali_op_term first = sali_term_of(program, i, 0, t);
    bool same = first.n == 1;
    for (int64_t k = 0; same && k < size; k++) {
        sali_op_term term = sali_term_of(program, i, k, t);
        int64_t whole = program->steps[program->nodes[i].in[term.input[0]]].size;
        same = term.input[0] == first.input[0] && term.factor == first.factor &&
               term.at[0] == (whole == 1 ? 0 : k);
    }
    *factor = first.factor;
    return same;
}

static bool is_state(const sali_program *program, int32_t i)
{
    return program->state >= 0 && program->steps[i].storage == program->state;
}

/* Add `factor` times node i, which does not vary, to c. False: the form has no room for another
 * term, or the node has neither one element nor as many as the form. */
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

/* Take node i, times `factor`, as the product W x of the form. False: node i is not a matrix [size,
 * N] that does not vary times the state, or the form has a product already. */
static bool set_product(search *s, int32_t i, double factor)
{
    const sali_program *program = s->program;
    const sali_node *node = &program->nodes[i];
    int64_t size = s->form.size, N = program->space->width;
    bool good = s->form.W < 0 && node->n_in == 2 && sali_terms_of(program, i) == N &&
                !program->nodes[node->in[0]].varying && is_state(program, node->in[1]) &&
                program->steps[node->in[0]].size == size * N;
    for (int64_t at = 0; good && at < size * N; at++) {
        sali_op_term term = sali_term_of(program, i, at / N, at % N);
        good = term.factor == 1 && term.n == 2 && term.input[0] == 0 && term.at[0] == at &&
               term.input[1] == 1 && term.at[1] == at % N && term.end == SALI_MULTIPLIES;
    }
    if (good) {
        s->form.product = i;
        s->form.W = node->in[0];
        s->form.factor = factor;
    }
    return good;
}

/* Add `factor` times node i to the form, going down through sums and multiples. False: node i is
 * not W x + c, or the search visits too many nodes. */
static bool visit_node(search *s, int32_t i, double factor)
{
    const sali_node *node = &s->program->nodes[i];
    if (!node->varying) {
        return add_term(s, i, factor);
    }
    if (++s->visits > MOST_VISITS || s->program->steps[i].size != s->form.size) {
        return false;
    }
    int64_t terms = sali_terms_of(s->program, i);
    if (terms > 0 && sali_term_of(s->program, i, 0, 0).n == 2) {
        return set_product(s, i, factor);
    }
    bool good = terms > 0 && terms <= SALI_AFFINE_TERMS;
    for (int64_t t = 0; good && t < terms; t++) {
        double own = 1;
        int32_t input = sali_term_of(s->program, i, 0, t).input[0];
        good = passes_on(s->program, i, t, &own) && visit_node(s, node->in[input], factor * own);
    }
    return good;
}

bool sali_affine_form_find(const sali_program *program, int32_t i, sali_affine_form *form)
{
    search s = { .program = program, .form = { .size = program->steps[i].size, .W = -1 } };
    if (!visit_node(&s, i, 1) || s.form.W < 0) {
        return false;
    }
    *form = s.form;
    return true;
}

/* A call of the kernels of the node W x with other arrays in place of the state and the node's
 * value. */
typedef struct product_call {
    sali_call call;
    sali_arg in[2];
} product_call;

/* Prepare a call for n rows of x [n x N] and y [n x size] in p's own list of inputs; the caller
 * sets the pointers to x and y. */
static void open_call(const sali_affine_form *form, const sali_params *params, int64_t n,
                      void *scratch, product_call *p)
{
    const sali_program *program = params->program;
    sali_hoisted_call(params, form->product, NULL, p->in, &p->call);
    p->in[1].stride = program->space->width;
    p->call.chains = n;
    p->call.scratch = scratch;
    p->call.out.stride = form->size;
}

void sali_affine_form_multiply(const sali_affine_form *form, const sali_params *params, int64_t n,
                               const void *x, void *scratch, void *y)
{
    product_call p;
    open_call(form, params, n, scratch, &p);
    p.in[1].value = x;
    p.call.out.value = y;
    params->program->steps[form->product].op->forward(&p.call);
}

void sali_affine_form_multiply_turned(const sali_affine_form *form, const sali_params *params,
                                      int64_t n, const void *y, void *scratch, void *x)
{
    const sali_program *program = params->program;
    product_call p;
    open_call(form, params, n, scratch, &p);
    p.in[1].adjoint = x;
    p.call.out.adjoint = (void *)y;
    memset(x, 0, (size_t)(n * program->space->width) * sali_dtype_size(program->dtype));
    program->steps[form->product].op->backward(&p.call);
}

int64_t sali_affine_form_scratch(const sali_affine_form *form, const sali_program *program,
                                 int64_t n)
{
    const sali_step *step = &program->steps[form->product];
    const sali_node *node = &program->nodes[form->product];
    return step->op->scratch_size ? step->op->scratch_size(node, step->in, n) : 0;
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
