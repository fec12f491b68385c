/* The quadratic polynomial that a formula is, found by going through its nodes.
 *
 * Forward: nodes whose elements are affine in one bit each (models/structure/lines.h). Backward
 * from f: by how much each element of each node counts in f (its *weight*), as long as ops are
 * linear; where an op multiplies, its operands must be lines. */
#include <math.h>

#include "core/alloc.h"
#include "models/clamp.h"
#include "models/structure/lines.h"
#include "models/structure/pairwise_terms.h"
#include "models/structure/weights.h"

typedef struct reader {
    const sali_program *program;
    const sali_params *params;
    sali_pairwise_terms *terms;
    int32_t *free;    /* by the tape's variable: the model's, or -1 for clamped ones */
    int32_t *code;    /* by the tape's variable: the code that a clamped one has */
    sali_lines lines; /* in the bits of the model's variables */
    sali_weights weights;
} reader;

/* ---- elements of operands */

static double value_of(const reader *r, int32_t node, int64_t k)
{
    return sali_load(r->program->dtype, r->params->value[node], k);
}

static double weight_of(const reader *r, int32_t node, int64_t k)
{
    return r->weights.node[node][k];
}

static bool varies(const reader *r, int32_t node)
{
    return r->program->nodes[node].varying;
}

/* ---- terms */

static void add_line(reader *r, const sali_line *a, double weight)
{
    r->terms->constant += weight * a->base;
    if (a->slope != 0) {
        r->terms->h[a->unknown] += weight * a->slope;
    }
}

static sal_status add_pair(reader *r, int32_t i, int32_t j, double J)
{
    sali_pairwise_terms *t = r->terms;
    if (t->n_pairs == SALI_MOST_PAIRS) {
        return SAL_ERR_UNSUPPORTED;
    }
    if (sali_grow((void **)&t->pairs, &t->room, t->n_pairs + 1, sizeof *t->pairs) != 0) {
        return SAL_ERR_MEMORY;
    }
    t->pairs[t->n_pairs++] = (sali_pair_term){ i, j, J };
    return SAL_OK;
}

/* weight times the product of two lines; b b = b. */
static sal_status add_product(reader *r, const sali_line *a, const sali_line *b, double weight)
{
    double both = weight * a->slope * b->slope;
    r->terms->constant += weight * a->base * b->base;
    if (a->slope != 0) {
        r->terms->h[a->unknown] += weight * a->slope * b->base;
    }
    if (b->slope != 0) {
        r->terms->h[b->unknown] += weight * b->slope * a->base;
    }
    if (both == 0) {
        return SAL_OK;
    }
    if (a->unknown == b->unknown) {
        r->terms->h[a->unknown] += both;
        return SAL_OK;
    }
    return add_pair(r, a->unknown, b->unknown, both);
}

/* ---- forward: lines */

/* Elements of the state. A two-level variable has its level, a one-hot its indicators. */
static void state_lines(void *context, sali_line *lines)
{
    const reader *r = context;
    const sal_space *space = r->program->space;
    for (int64_t v = 0; v < space->n_variables; v++) {
        const sali_variable *variable = &space->variables[v];
        for (int32_t k = 0; k < variable->width; k++) {
            double at[2] = { 0, 0 }; /* the element at codes 0 and 1 */
            bool fixed = r->free[v] < 0 || variable->states == 1;
            int32_t first = fixed ? r->code[v] : 0;
            bool one_hot = variable->kind == SAL_CATEGORICAL;
            at[0] = one_hot ? first == k : sali_level(variable, first);
            at[1] = fixed ? at[0] : one_hot ? k == 1 : sali_level(variable, 1);
            lines[variable->offset + k] = (sali_line){ at[0], at[1] - at[0], r->free[v] };
        }
    }
}

/* ---- backward: weights */

/* Products of lines. */
static sal_status push_product(reader *r, int32_t i)
{
    const sali_node *node = &r->program->nodes[i];
    const sali_line *a = r->lines.node[node->in[0]], *b = r->lines.node[node->in[node->n_in - 1]];
    int64_t size = r->program->steps[node->op == SALI_OP_dot ? node->in[0] : i].size;
    sal_status status = a && b ? SAL_OK : SAL_ERR_UNSUPPORTED;
    for (int64_t k = 0; status == SAL_OK && k < size; k++) {
        double weight = weight_of(r, i, node->op == SALI_OP_dot ? 0 : k);
        int64_t at[2] = { k, k };
        for (int which = 0; node->op == SALI_OP_mul && which < 2; which++) {
            at[which] = sali_weights_source(r->program, node, which, k);
        }
        status = add_product(r, &a[at[0]], &b[at[1]], weight);
    }
    return status;
}

static sal_status push_quad(reader *r, int32_t i)
{
    const sali_node *node = &r->program->nodes[i];
    const sali_line *x = r->lines.node[node->in[0]];
    int64_t n = r->program->steps[node->in[0]].size;
    double weight = weight_of(r, i, 0);
    sal_status status = x && !varies(r, node->in[1]) ? SAL_OK : SAL_ERR_UNSUPPORTED;
    for (int64_t a = 0; status == SAL_OK && a < n; a++) {
        for (int64_t b = a; status == SAL_OK && b < n; b++) { /* the matrix is symmetric */
            double S = value_of(r, node->in[1], a * n + b);
            if (S != 0) {
                status = add_product(r, &x[a], &x[b], weight * (a == b ? S : 2 * S));
            }
        }
    }
    return status;
}

static sal_status push_edges(reader *r, int32_t i)
{
    const sali_node *node = &r->program->nodes[i];
    const sali_line *x = r->lines.node[node->in[0]];
    sal_status status = x && !varies(r, node->in[1]) ? SAL_OK : SAL_ERR_UNSUPPORTED;
    for (int64_t e = 0; status == SAL_OK && e < node->n_ints / 2; e++) {
        status = add_product(r, &x[node->ints[2 * e]], &x[node->ints[2 * e + 1]],
                             weight_of(r, i, 0) * value_of(r, node->in[1], e));
    }
    return status;
}

/* A factor whose table begins at `start`: f(b, b') of its free variables, at most two. Moves
 * *start past it. */
static sal_status add_factor(reader *r, const sali_node *node, int64_t length, const int64_t *scope,
                             double weight, int64_t *start)
{
    const sal_space *space = r->program->space;
    int64_t stride = 1, at = *start, step[2] = { 0, 0 };
    int32_t variable[2] = { 0, 0 };
    int n_free = 0;
    for (int64_t k = length - 1; k >= 0; k--) {
        int64_t v = scope[k];
        if (r->free[v] < 0) {
            at += stride * r->code[v];
        } else if (space->variables[v].states > 1) {
            if (n_free == 2) {
                return SAL_ERR_UNSUPPORTED;
            }
            variable[n_free] = r->free[v];
            step[n_free++] = stride;
        }
        stride *= space->variables[v].states;
    }
    *start += stride;
    double T00 = value_of(r, node->in[1], at), T10 = value_of(r, node->in[1], at + step[0]);
    double T01 = value_of(r, node->in[1], at + step[1]);
    double T11 = value_of(r, node->in[1], at + step[0] + step[1]);
    r->terms->constant += weight * T00;
    if (n_free > 0) {
        r->terms->h[variable[0]] += weight * (T10 - T00);
    }
    if (n_free < 2) {
        return SAL_OK;
    }
    r->terms->h[variable[1]] += weight * (T01 - T00);
    double J = (T11 - T10) - (T01 - T00);
    return J == 0 ? SAL_OK : add_pair(r, variable[0], variable[1], weight * J);
}

static sal_status push_table(reader *r, int32_t i)
{
    const sali_node *node = &r->program->nodes[i];
    const int64_t *at = node->ints + 1;
    int64_t start = 0;
    sal_status status = varies(r, node->in[1]) ? SAL_ERR_UNSUPPORTED : SAL_OK;
    for (int64_t m = 0; status == SAL_OK && m < node->ints[0]; m++) {
        int64_t length = *at++;
        status = add_factor(r, node, length, at, weight_of(r, i, 0), &start);
        at += length;
    }
    return status;
}

static sal_status push_leaf(reader *r, int32_t i)
{
    for (int64_t k = 0; k < r->program->steps[i].size; k++) {
        if (varies(r, i)) {
            add_line(r, &r->lines.node[i][k], weight_of(r, i, k));
        } else {
            r->terms->constant += weight_of(r, i, k) * value_of(r, i, k);
        }
    }
    return SAL_OK;
}

/* Whether all inputs of a node vary. */
static bool all_vary(const reader *r, const sali_node *node)
{
    bool all = true;
    for (int32_t k = 0; k < node->n_in; k++) {
        all &= varies(r, node->in[k]);
    }
    return all;
}

/* The terms that node i adds, or its weights to its inputs. */
static sal_status push(reader *r, int32_t i)
{
    const sali_node *node = &r->program->nodes[i];
    if (!node->varying) {
        return push_leaf(r, i);
    }
    switch (node->op) {
    case SALI_OP_state:
        return push_leaf(r, i);
    case SALI_OP_mul:
    case SALI_OP_dot:
    case SALI_OP_square:
        return all_vary(r, node) ? push_product(r, i) : sali_weights_push(&r->weights, i);
    case SALI_OP_quad:
        return push_quad(r, i);
    case SALI_OP_edges:
        return push_edges(r, i);
    case SALI_OP_table:
        return push_table(r, i);
    default:
        return sali_weights_push(&r->weights, i);
    }
}

/* ---- all of it */

static bool knows(sali_op_id op)
{
    return sali_lines_keep(op) || op == SALI_OP_state || op == SALI_OP_dot ||
           op == SALI_OP_square || op == SALI_OP_matvec || op == SALI_OP_sum ||
           op == SALI_OP_mean || op == SALI_OP_quad || op == SALI_OP_edges || op == SALI_OP_table;
}

/* A look at the ops alone turns most other formulas away at no cost. */
static bool promising(const sali_program *program)
{
    bool good = true;
    for (int32_t i = 0; i < program->n_nodes; i++) {
        good &= !program->nodes[i].varying || knows(program->nodes[i].op);
    }
    return good;
}

static sal_status open_reader(reader *r, const sal_model *model)
{
    int64_t whole = r->program->space->n_variables;
    r->free = SALI_NEW_ARRAY(int32_t, whole);
    r->code = SALI_NEW_ARRAY(int32_t, whole);
    return r->free && r->code ? sali_clamp_index(model, r->free, r->code) : SAL_ERR_MEMORY;
}

static void close_reader(reader *r)
{
    sali_free(r->free);
    sali_free(r->code);
    sali_lines_free(&r->lines);
    sali_weights_free(&r->weights);
}

sal_status sali_pairwise_read(const sal_model *model, const sali_tape_model *tape,
                              sali_pairwise_terms *terms)
{
    reader r = { .program = tape->program, .params = tape->params, .terms = terms };
    if (!promising(r.program)) {
        return SAL_ERR_UNSUPPORTED;
    }
    r.weights.program = r.program;
    sal_status status = open_reader(&r, model);
    status = status ? status : sali_lines_create(tape, state_lines, &r, &r.lines);
    status = status ? status : sali_weights_create(tape, &r.weights);
    for (int32_t i = r.program->output; status == SAL_OK && i >= 0; i--) {
        status = r.weights.node[i] ? push(&r, i) : SAL_OK;
    }
    close_reader(&r);
    return status;
}
