/* SPDX-License-Identifier: MIT */
#include "models/structure/biased_couplings.h"

#include <math.h>

#include "ad/polynomial.h"
#include "core/alloc.h"
#include "core/error.h"
#include "models/structure/affine_form.h"

typedef struct reader {
    const sali_program *program;
    int32_t *uses;  /* [n_nodes] how often the node is an input */
    double *factor; /* [n_nodes] f is this times the node's value, plus other terms; 0: unknown */
    double *summed; /* [n_nodes] f has this times the sum of the node's elements; NAN: several */
    int32_t linear; /* the parameter b of the term b's; -1: none found so far */
    int64_t n;
    sali_biased_coupling *found;
    bool *split; /* [n] f must have -1 times the sum of the row bias beside the coupling */
} reader;

/* The number of the parameter that node i is, if node i is used `uses` times; else -1. */
static int32_t used_parameter(const reader *r, int32_t i, int32_t uses)
{
    for (int32_t p = 0; p < r->program->n_parameters; p++) {
        if (r->program->parameters[p].node == i) {
            return r->uses[i] == uses ? p : -1;
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

static sali_hidden hidden_of(const reader *r, int32_t i)
{
    return r->program->steps[i].op->hidden;
}

/* Units that are summed: what drives them, a = W s + c, and which uses that has besides. */
typedef struct units {
    int32_t driven; /* the node a; -1: the node of the units has no known form */
    bool spins;     /* softplus(2 a) - a: a is used twice */
    bool split;     /* softplus(2 a) - W s, and -sum c elsewhere in f (ad/pass_constants.c) */
} units;

/* Whether node i is softplus(2 a) less another node; *a and *less receive these. */
static bool is_difference(const reader *r, int32_t i, int32_t *a, int32_t *less)
{
    const sali_program *program = r->program;
    if (sali_terms_of(program, i) != 2 || program->nodes[i].n_in != 2) {
        return false;
    }
    const int32_t bits = only_input(r, i, 0);
    const bool hides = bits >= 0 && hidden_of(r, bits) == SALI_HIDES_BITS;
    const int32_t twice = hides ? only_input(r, bits, 0) : -1;
    if (twice < 0 || sali_terms_of(program, twice) != 1) {
        return false;
    }
    const sali_op_term plus = sali_term_of(program, i, 0, 0);
    const sali_op_term minus = sali_term_of(program, i, 0, 1);
    const sali_op_term two = sali_term_of(program, twice, 0, 0);
    *a = program->nodes[twice].in[0];
    *less = program->nodes[i].in[1];
    return plus.n == 1 && plus.input[0] == 0 && plus.factor == 1 && minus.n == 1 &&
           minus.input[0] == 1 && minus.factor == -1 && two.n == 1 && two.factor == 2;
}

/* What drives the units of node i, which counts `factor` times in f, if factor times the slope of
 * the node is the mean of a hidden unit (biased_couplings.h). */
static units find_units(const reader *r, int32_t i, double factor)
{
    const sali_hidden hidden = hidden_of(r, i);
    units found = { .driven = -1 };
    int32_t less = -1;
    if ((hidden == SALI_HIDES_NORMAL && factor == 0.5) ||
        ((hidden == SALI_HIDES_BITS || hidden == SALI_HIDES_DRELU) && factor == 1)) {
        found.driven = only_input(r, i, 0);
    } else if (factor == 1 && is_difference(r, i, &found.driven, &less)) {
        found.spins = true;
        found.split = less != found.driven;
    } else {
        found.driven = -1;
    }
    return found;
}

/* Append the coupling of node `sum`, which counts `factor` times in f, if it is the sum of u(W s +
 * c) with parameters W and c, and W s is used nowhere else. */
static void read_sum(reader *r, int32_t sum, double factor)
{
    const int32_t input = r->program->nodes[sum].in[0];
    r->summed[input] = r->summed[input] == 0 ? factor : NAN;
    if (r->uses[input] != 1) {
        return;
    }
    const units u = find_units(r, input, factor);
    const int32_t add = u.driven, *in = add >= 0 ? r->program->nodes[add].in : NULL;
    sali_affine_form form;
    if (add < 0 || r->uses[add] != (u.spins && !u.split ? 2 : 1) ||
        !sali_affine_form_find(r->program, add, &form) || form.n_terms != 1 || form.factor != 1 ||
        form.term_factor[0] != 1 || r->program->nodes[add].n_in != 2 ||
        r->uses[form.product] != (u.split ? 2 : 1) ||
        (in[0] != form.product && in[1] != form.product) ||
        (u.split && r->program->nodes[input].in[1] != form.product)) {
        return;
    }
    int32_t W = used_parameter(r, form.W, 1), c = used_parameter(r, form.term[0], u.split ? 2 : 1);
    if (W >= 0 && c >= 0 && r->program->parameters[c].size == form.size) {
        r->split[r->n] = u.split;
        r->found[r->n++] = (sali_biased_coupling){ .matrix = W, .row_bias = c, .factor = 1 };
    }
}

/* Append the coupling of node i, which counts `factor` times in f, if it is s'Js with a parameter
 * J. */
static void read_quad(reader *r, int32_t i, double factor)
{
    bool form = r->program->steps[i].op->symmetric_inputs == 1u << 1;
    int32_t S = form && is_state(r, r->program->nodes[i].in[0]) ? only_input(r, i, 1) : -1;
    int32_t J = S >= 0 ? used_parameter(r, r->program->nodes[S].in[0], 1) : -1;
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
    int32_t b = is_state(r, in[1 - k]) ? used_parameter(r, in[k], 1) : -1;
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
        read_sum(r, i, factor * first.factor);
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
    int64_t n = 0;
    for (int64_t k = 0; r->linear >= 0 && k < r->n; k++) {
        sali_biased_coupling found = r->found[k];
        const int32_t bias = r->program->parameters[found.row_bias].node;
        if (!r->split[k] || r->summed[bias] == -1) {
            found.column_bias = r->linear;
            found.row_bias = found.symmetric ? r->linear : found.row_bias;
            r->found[n++] = found;
        }
    }
    r->n = n;
}

sal_status sali_biased_couplings(const sali_program *program, int64_t *n,
                                 sali_biased_coupling **out, sal_error *err)
{
    reader r = { .program = program, .linear = -1 };
    r.uses = SALI_NEW_ARRAY(int32_t, program->n_nodes);
    r.factor = SALI_NEW_ARRAY(double, program->n_nodes);
    r.summed = SALI_NEW_ARRAY(double, program->n_nodes);
    r.found = SALI_NEW_ARRAY(sali_biased_coupling, program->n_parameters + 1);
    r.split = SALI_NEW_ARRAY(bool, program->n_parameters + 1);
    bool ok = r.uses && r.factor && r.summed && r.found && r.split;
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
    sali_free(r.summed);
    sali_free(r.split);
    return ok ? SAL_OK : sali_fail_memory(err);
}
