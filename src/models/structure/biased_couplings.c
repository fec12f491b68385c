#include "models/structure/biased_couplings.h"

#include "core/alloc.h"
#include "core/error.h"

typedef struct reader {
    const sali_program *program;
    int32_t *uses;  /* by node: how often it is an input */
    double *factor; /* by node: f is this times the node's value, and other terms; 0: unknown */
    int32_t linear; /* the parameter b of a term b's; -1: none so far */
    int64_t n;
    sali_biased_coupling *found;
} reader;

/* The parameter that node i is, if nothing else uses it; else -1. */
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

/* The node of input k if it is of this op and has no other use; else NULL. */
static const sali_node *only_input(const reader *r, const sali_node *node, int k, sali_op_id op)
{
    const sali_node *in = &r->program->nodes[node->in[k]];
    return in->op == op && r->uses[node->in[k]] == 1 ? in : NULL;
}

/* Its parameter by the state, in either order; -1: it is something else. */
static int32_t parameter_by_state(const reader *r, const sali_node *dot)
{
    int k = is_state(r, dot->in[0]) ? 1 : 0;
    return is_state(r, dot->in[1 - k]) ? only_parameter(r, dot->in[k]) : -1;
}

/* sum softplus(W s + c). */
static void read_sum(reader *r, const sali_node *sum)
{
    const sali_node *softplus = only_input(r, sum, 0, SALI_OP_softplus);
    const sali_node *add = softplus ? only_input(r, softplus, 0, SALI_OP_add) : NULL;
    for (int k = 0; add && k < 2; k++) {
        const sali_node *matvec = only_input(r, add, k, SALI_OP_matvec);
        int32_t c = matvec ? only_parameter(r, add->in[1 - k]) : -1;
        int32_t W = c >= 0 && is_state(r, matvec->in[1]) ? only_parameter(r, matvec->in[0]) : -1;
        if (W >= 0 && r->program->parameters[c].size == r->program->steps[add->in[k]].size) {
            r->found[r->n++] = (sali_biased_coupling){ .matrix = W, .row_bias = c, .factor = 1 };
            return;
        }
    }
}

/* s'Js: a product with symmetrise(J). */
static void read_quad(reader *r, const sali_node *quad, double factor)
{
    const sali_node *symmetrise = only_input(r, quad, 1, SALI_OP_symmetrise);
    int32_t J = symmetrise && is_state(r, quad->in[0]) ? only_parameter(r, symmetrise->in[0]) : -1;
    if (J >= 0) {
        r->found[r->n++] =
            (sali_biased_coupling){ .matrix = J, .factor = factor, .symmetric = true };
    }
}

/* A term of f, or a sum of terms, whose factor is known. */
static void read_term(reader *r, int32_t i)
{
    const sali_node *node = &r->program->nodes[i];
    const double factor = r->factor[i];
    switch (node->op) {
    case SALI_OP_add:
    case SALI_OP_sub:
        r->factor[node->in[0]] = factor;
        r->factor[node->in[1]] = node->op == SALI_OP_sub ? -factor : factor;
        break;
    case SALI_OP_scale:
        r->factor[node->in[0]] = factor * node->reals[0];
        break;
    case SALI_OP_reshape:
        r->factor[node->in[0]] = factor;
        break;
    case SALI_OP_dot:
        if (factor == 1 && r->linear < 0) {
            r->linear = parameter_by_state(r, node);
        }
        break;
    case SALI_OP_sum:
        if (factor == 1) {
            read_sum(r, node);
        }
        break;
    case SALI_OP_quad:
        read_quad(r, node, factor);
        break;
    default:
        break;
    }
}

/* Terms that are used once: another use may be anywhere in f. */
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
