/* SPDX-License-Identifier: MIT */
#include "models/structure/biased_couplings.h"

#include "ad/polynomial.h"
#include "core/alloc.h"
#include "core/error.h"
#include "models/structure/affine_form.h"

typedef struct reader {
    const sali_program *program;
    int32_t *uses;  /* [n_nodes] how often the node is an input */
    double *factor; /* [n_nodes] f is this times the node's value, plus other terms; 0: unknown */
    int32_t linear; /* the parameter b of the term b's; -1: none found so far */
    int64_t n;
    sali_biased_coupling *found;
} reader;

/* The number of the parameter that node i is, if node i is used once; else -1. */
static int32_t only_parameter(const reader *r, int32_t i)
{
    for (int32_t p = 0; p < r->program->n_parameters; p++) {
        if (r->program->parameters[p].node == i) {
            return r->uses[i] == 1 ? p : -1;
        }
    }
    return -1;
}

static bool is_state(const reader *r, int32_t i)
{
    return r->program->state >= 0 && r->program->steps[i].storage == r->program->state;
}

/* Input k of node i, if that input is used nowhere else; else -1. */
static int32_t only_input(const reader *r, int32_t i, int k)
{
    int32_t in = r->program->nodes[i].in[k];
    return r->uses[in] == 1 ? in : -1;
}

/* Append the coupling of node `sum`, if it is sum softplus(W s + c) with parameters W and c, and W
 * s is used nowhere else. */
static void read_sum(reader *r, int32_t sum)
{
    int32_t units = only_input(r, sum, 0);
    bool hides = units >= 0 && r->program->steps[units].op->hidden == SALI_HIDES_BITS;
    int32_t add = hides ? only_input(r, units, 0) : -1;
    const int32_t *in = add >= 0 ? r->program->nodes[add].in : NULL;
    sali_affine_form form;
    if (add < 0 || !sali_affine_form_find(r->program, add, &form) || form.n_terms != 1 ||
        form.factor != 1 || form.term_factor[0] != 1 || r->program->nodes[add].n_in != 2 ||
        r->uses[form.product] != 1 || (in[0] != form.product && in[1] != form.product)) {
        return;
    }
    int32_t W = only_parameter(r, form.W), c = only_parameter(r, form.term[0]);
    if (W >= 0 && c >= 0 && r->program->parameters[c].size == form.size) {
        r->found[r->n++] = (sali_biased_coupling){ .matrix = W, .row_bias = c, .factor = 1 };
    }
}

/* Append the coupling of node i, which counts `factor` times in f, if it is s'Js with a parameter
 * J. */
static void read_quad(reader *r, int32_t i, double factor)
{
    bool form = r->program->steps[i].op->symmetric_inputs == 1u << 1;
    int32_t S = form && is_state(r, r->program->nodes[i].in[0]) ? only_input(r, i, 1) : -1;
    int32_t J = S >= 0 ? only_parameter(r, r->program->nodes[S].in[0]) : -1;
    if (J >= 0) {
        r->found[r->n++] =
            (sali_biased_coupling){ .matrix = J, .factor = factor, .symmetric = true };
    }
}

/* The number of the parameter b of node i, if the node is the product of b and the state, in either
 * order; else -1. */
static int32_t parameter_by_state(const reader *r, int32_t i)
{
    const int32_t *in = r->program->nodes[i].in;
    int k = is_state(r, in[0]) ? 1 : 0;
    int32_t b = is_state(r, in[1 - k]) ? only_parameter(r, in[k]) : -1;
    return b >= 0 && r->program->parameters[b].size == r->program->space->width ? b : -1;
}

/* Read node i, which f has a known factor of: it is a coupling, the linear term, a sum that hands
 * its factor down, or something else, which is skipped. */
static void read_term(reader *r, int32_t i)
{
    const sali_node *node = &r->program->nodes[i];
    const double factor = r->factor[i];
    int64_t terms = sali_terms_of(r->program, i);
    sali_op_term first = terms > 0 ? sali_term_of(r->program, i, 0, 0) : (sali_op_term){ 0 };
    if (first.n == 3) {
        read_quad(r, i, factor);
    } else if (first.n == 2 && node->n_in == 2 && factor == 1 && r->linear < 0) {
        r->linear = parameter_by_state(r, i);
    } else if (first.n == 1 && node->n_in == 1 && r->program->steps[node->in[0]].size > 1) {
        if (factor * first.factor == 1) {
            read_sum(r, i);
        }
    } else if (first.n == 1) {
        for (int64_t t = 0; t < terms; t++) {
            sali_op_term term = sali_term_of(r->program, i, 0, t);
            r->factor[node->in[term.input[0]]] = factor * term.factor;
        }
    }
}

/* Read all terms of f, except nodes that are used more than once: another use may be anywhere in f.
 * Without a term b's no coupling remains. */
static void read_terms(reader *r)
{
    r->factor[r->program->output] = 1;
    for (int32_t i = r->program->output; i >= 0; i--) {
        bool once = r->uses[i] == (i == r->program->output ? 0 : 1);
        if (r->factor[i] != 0 && once && r->program->steps[i].size == 1) {
            read_term(r, i);
        }
    }
    for (int64_t k = 0; k < r->n; k++) {
        r->found[k].column_bias = r->linear;
        r->found[k].row_bias = r->found[k].symmetric ? r->linear : r->found[k].row_bias;
    }
    r->n = r->linear < 0 ? 0 : r->n;
}

sal_status sali_biased_couplings(const sali_program *program, int64_t *n,
                                 sali_biased_coupling **out, sal_error *err)
{
    reader r = { .program = program, .linear = -1 };
    r.uses = SALI_NEW_ARRAY(int32_t, program->n_nodes);
    r.factor = SALI_NEW_ARRAY(double, program->n_nodes);
    r.found = SALI_NEW_ARRAY(sali_biased_coupling, program->n_parameters + 1);
    bool ok = r.uses && r.factor && r.found;
    for (int32_t i = 0; ok && i < program->n_nodes; i++) {
        for (int32_t k = 0; k < program->nodes[i].n_in; k++) {
            r.uses[program->nodes[i].in[k]]++;
        }
    }
    if (ok) {
        read_terms(&r);
        *n = r.n;
        *out = r.found;
    } else {
        sali_free(r.found);
    }
    sali_free(r.uses);
    sali_free(r.factor);
    return ok ? SAL_OK : sali_fail_memory(err);
}
