/* SPDX-License-Identifier: MIT */
#include "ad/polynomial.h"

#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/memory.h"

int sali_term_split(const sali_program *program, const sali_params *params, int32_t i,
                    const sali_op_term *term, int varying[3], double *x)
{
    int n = 0;
    double product = x ? *x * term->factor : 0;
    for (int j = 0; j < term->n; j++) {
        int32_t in = program->nodes[i].in[term->input[j]];
        if (program->nodes[in].varying) {
            varying[n++] = j;
        } else if (x) {
            double value = sali_load(program->dtype, params->value[in], term->at[j]);
            product = sali_term_take(term, j, product, value);
        }
    }
    if (x) {
        *x = product;
    }
    return n;
}

int sali_node_factors(const sali_program *program, int32_t i)
{
    int varying[3];
    if (sali_terms_of(program, i) == 0) {
        return -1;
    }
    sali_op_term term = sali_term_of(program, i, 0, 0);
    int n = sali_term_split(program, NULL, i, &term, varying, NULL);
    bool ends = n > 0 && varying[n - 1] == term.n - 1 && term.end != SALI_MULTIPLIES;
    return ends ? -1 : n < 1 ? 1 : n;
}

bool sali_node_is_linear(const sali_program *program, int32_t i)
{
    const sali_op *op = program->steps[i].op;
    return sali_terms_of(program, i) > 0 &&
           (op->linear || (op->arity == 1 && sali_term_of(program, i, 0, 0).n == 1));
}

struct sali_transpose {
    sali_memory memory;
    const sali_op *op;
    sali_call call;
    void *plan;
};

/* Allocate and fill what the backward kernel of t->op needs. SAL_ERR_MEMORY: part of it. */
static sal_status prepare_call(sali_transpose *t, const sali_program *program, int32_t i,
                               const double *out, double *const *in)
{
    const sali_node *node = &program->nodes[i];
    const sali_step *step = &program->steps[i];
    int64_t largest = 0;
    for (int32_t k = 0; k < node->n_in; k++) {
        int64_t size = program->steps[node->in[k]].size;
        largest = size > largest ? size : largest;
    }
    double *zeros =
        SALI_TAKE(&t->memory, double, largest); /* of inputs: no adjoint depends on them */
    sali_arg *args = SALI_TAKE(&t->memory, sali_arg, node->n_in);
    int64_t scratch = t->op->scratch_size ? t->op->scratch_size(node, step->in, 1) : 0;
    t->call =
        (sali_call){ .node = node,
                     .chains = 1,
                     .in = args,
                     .out = { .adjoint = (void *)out, .size = step->size, .shape = &node->shape },
                     .scratch = SALI_TAKE(&t->memory, double, scratch) };
    sal_status status = t->memory.refused ? SAL_ERR_MEMORY : SAL_OK;
    for (int32_t k = 0; status == SAL_OK && k < node->n_in; k++) {
        args[k] = (sali_arg){ .value = zeros,
                              .adjoint = in[k],
                              .size = program->steps[node->in[k]].size,
                              .shape = &step->in[k]->shape };
    }
    if (status == SAL_OK && t->op->plan_create && !t->op->alias) {
        status = t->op->plan_create(node, step->in, program->space, &t->plan, NULL);
        t->call.plan = t->plan;
    }
    return status;
}

sal_status sali_transpose_create(const sali_program *program, int32_t i, const double *out,
                                 double *const *in, sali_transpose **transpose)
{
    sali_transpose *t = SALI_NEW(sali_transpose);
    if (!t) {
        return SAL_ERR_MEMORY;
    }
    t->op = sali_op_f64(program->nodes[i].op);
    sal_status status = prepare_call(t, program, i, out, in);
    if (status != SAL_OK) {
        sali_transpose_destroy(t);
        return status;
    }
    *transpose = t;
    return SAL_OK;
}

void sali_transpose_destroy(sali_transpose *t)
{
    if (t) {
        sali_free(t->plan);
        sali_memory_free(&t->memory);
        sali_free(t);
    }
}

void sali_transpose_add(sali_transpose *t)
{
    const double *out = t->call.out.adjoint;
    double *first = t->call.in[0].adjoint;
    if (!t->op->alias) {
        t->op->backward(&t->call);
        return;
    }
    for (int64_t k = 0; k < t->call.out.size; k++) {
        first[k] += out[k];
    }
}

/* ---- degrees, up to "more, or no polynomial" */

enum { MORE = 3 };

static int at_most(int degree)
{
    return degree < MORE ? degree : MORE;
}

static int larger_of(int a, int b)
{
    return a > b ? a : b;
}

/* A table is multilinear in the weights of its variables' states, which are affine in their reals
 * (levels of an ordinal variable of several have no such weights). */
static int table_degree(const sali_node *node, const sali_op *op, const sal_space *space)
{
    sali_op_table table = { .index = -1 };
    int64_t longest = 0;
    while (op->next_table(node, space, &table)) {
        for (int64_t k = 0; k < table.length; k++) {
            const sali_variable *v = &space->variables[table.scope[k]];
            if (v->kind != SAL_CATEGORICAL && !sali_is_two_level(v)) {
                return MORE;
            }
        }
        longest = table.length > longest ? table.length : longest;
    }
    return longest < MORE ? (int)longest : MORE;
}

/* Degree of node i in the state or in the parameters, from degree [nodes], which holds the degrees
 * of its inputs. MORE: a higher degree, or no polynomial. */
static int node_degree(const sali_program *program, int32_t i, const int *degree)
{
    const sali_node *node = &program->nodes[i];
    const sali_op *op = program->steps[i].op;
    int most = 0, product = 0;
    for (int32_t k = 0; k < node->n_in; k++) {
        most = larger_of(most, degree[node->in[k]]);
    }
    if (most == 0) {
        return 0;
    }
    if (op->next_table) {
        int of_state = degree[node->in[0]] > 0 ? table_degree(node, op, program->space) : 0;
        return at_most(of_state + degree[node->in[1]]);
    }
    if (sali_terms_of(program, i) == 0) {
        return MORE;
    }
    sali_op_term term = sali_term_of(program, i, 0, 0);
    for (int j = 0; j < term.n; j++) {
        int own = degree[node->in[term.input[j]]];
        bool ends = j == term.n - 1 && term.end != SALI_MULTIPLIES;
        product = at_most(product + (ends && own > 0 ? MORE : own));
    }
    return larger_of(most, product);
}

sal_status sali_program_is_linear_in_params(const sali_program *program, bool *linear,
                                            sal_error *err)
{
    int *degree = SALI_NEW_ARRAY(int, program->n_nodes);
    if (!degree) {
        return sali_fail_memory(err);
    }
    for (int32_t p = 0; p < program->n_parameters; p++) {
        degree[program->parameters[p].node] = 1;
    }
    for (int32_t i = 0; i < program->n_nodes; i++) {
        degree[i] = program->nodes[i].n_in > 0 ? node_degree(program, i, degree) : degree[i];
    }
    *linear = degree[program->output] <= 1;
    sali_free(degree);
    return SAL_OK;
}

bool sali_program_is_quadratic(const sali_program *program)
{
    int *degree = SALI_NEW_ARRAY(int, program->n_nodes);
    for (int32_t i = 0; degree && i < program->n_nodes; i++) {
        degree[i] = i == program->state         ? 1
                    : program->nodes[i].varying ? node_degree(program, i, degree)
                                                : 0;
    }
    bool quadratic = degree && degree[program->output] <= 2;
    sali_free(degree);
    return quadratic;
}

bool sali_program_forbids(const sali_program *program, const sali_params *params)
{
    for (int32_t i = 0; i < program->n_nodes; i++) {
        int32_t T = program->steps[i].op->next_table ? program->nodes[i].in[1] : 0;
        int64_t size = program->steps[i].op->next_table ? program->steps[T].size : 0;
        for (int64_t k = 0; k < size; k++) {
            if (!isfinite(sali_load(program->dtype, params->value[T], k))) {
                return true;
            }
        }
    }
    return false;
}
