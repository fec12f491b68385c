/* The quadratic polynomial of the embedding that a formula is, found by going through its nodes as
 * pairwise_read.c does, with coordinates instead of bits: lines forward, weights backward. */
#include <math.h>

#include "core/alloc.h"
#include "models/clamp.h"
#include "models/structure/couplings.h"
#include "models/structure/lines.h"
#include "models/structure/weights.h"

typedef struct reader {
    const sal_model *model;
    const sali_program *program;
    const sali_params *params;
    sali_coupling_terms *terms;
    int32_t *free;    /* by the tape's variable: the model's, or -1 for clamped ones */
    int32_t *code;    /* by the tape's variable: the code that a clamped one has */
    sali_lines lines; /* in the coordinates of the model's embedding */
    sali_weights weights;
} reader;

static double value_of(const reader *r, int32_t node, int64_t k)
{
    return sali_load(r->program->dtype, r->params->value[node], k);
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
        r->terms->linear[a->unknown] += weight * a->slope;
    }
}

static void add_to(reader *r, int64_t i, int64_t j, double rise)
{
    int64_t at = i * r->terms->n + j;
    sali_store(r->program->dtype, r->terms->J, at,
               sali_load(r->program->dtype, r->terms->J, at) + rise);
}

/* weight times the product of two lines: J_ij and J_ji rise by the coefficient, J_ii by twice it.
 */
static void add_product(reader *r, const sali_line *a, const sali_line *b, double weight)
{
    double both = weight * a->slope * b->slope;
    r->terms->constant += weight * a->base * b->base;
    if (a->slope != 0) {
        r->terms->linear[a->unknown] += weight * a->slope * b->base;
    }
    if (b->slope != 0) {
        r->terms->linear[b->unknown] += weight * b->slope * a->base;
    }
    if (both != 0 && r->terms->J) {
        add_to(r, a->unknown, b->unknown, both);
        add_to(r, b->unknown, a->unknown, both);
    }
}

/* a'Mb of lines a [rows] and b [columns]. */
static void add_form(reader *r, int64_t rows, const sali_line *a, int32_t M, int64_t columns,
                     const sali_line *b, double weight)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) {
            add_product(r, &a[i], &b[j], weight * value_of(r, M, i * columns + j));
        }
    }
}

/* How many coordinates lines have, each counted as often as it is there. */
static int64_t coordinates(int64_t n, const sali_line *lines)
{
    int64_t count = 0;
    for (int64_t k = 0; k < n; k++) {
        count += lines[k].slope != 0;
    }
    return count;
}

/* Note a form that spans so many coordinates. */
static void note_width(reader *r, int64_t width)
{
    r->terms->widest = width > r->terms->widest ? width : r->terms->widest;
}

/* Whether lines are the coordinates themselves, in their order. */
static bool is_state(const reader *r, int64_t n, const sali_line *lines)
{
    bool same = n == r->terms->n;
    for (int64_t k = 0; same && k < n; k++) {
        same = lines[k].base == 0 && lines[k].slope == 1 && lines[k].unknown == k;
    }
    return same;
}

/* ---- forward: lines of the state */

static void state_lines(void *context, sali_line *lines)
{
    const reader *r = context;
    const sal_space *space = r->program->space;
    for (int64_t v = 0; v < space->n_variables; v++) {
        const sali_variable *variable = &space->variables[v];
        for (int32_t k = 0; k < variable->width; k++) {
            sali_line *line = &lines[variable->offset + k];
            if (r->free[v] >= 0) {
                int64_t offset = r->model->space->variables[r->free[v]].offset;
                *line = (sali_line){ 0, 1, (int32_t)(offset + k) };
            } else {
                bool one_hot = variable->kind == SAL_CATEGORICAL;
                line->base = one_hot ? r->code[v] == k : sali_level(variable, r->code[v]);
            }
        }
    }
}

/* ---- backward: weights */

/* a'(Mb): the matrix may stand on either side. */
static bool form_of(const reader *r, const sali_node *node, int which)
{
    const sali_node *product = &r->program->nodes[node->in[which]];
    return r->lines.node[node->in[1 - which]] && product->op == SALI_OP_matvec &&
           !varies(r, product->in[0]) && r->lines.node[product->in[1]];
}

/* Products of lines, and of lines with a matrix between them. */
static sal_status push_product(reader *r, int32_t i)
{
    const sali_node *node = &r->program->nodes[i];
    bool dot = node->op == SALI_OP_dot;
    int32_t first = node->in[0], second = node->in[node->n_in - 1];
    const sali_line *a = r->lines.node[first], *b = r->lines.node[second];
    int64_t size = r->program->steps[dot ? first : i].size;
    for (int which = 0; dot && which < 2; which++) {
        if (form_of(r, node, which)) {
            const sali_node *product = &r->program->nodes[node->in[which]];
            const sali_line *left = which ? a : b, *right = r->lines.node[product->in[1]];
            int64_t columns = r->program->steps[product->in[1]].size;
            add_form(r, size, left, product->in[0], columns, right, r->weights.node[i][0]);
            note_width(r, coordinates(columns, right));
            r->terms->others++;
            return SAL_OK;
        }
    }
    for (int64_t k = 0; a && b && k < size; k++) {
        int64_t at[2] = { k, k };
        for (int which = 0; node->op == SALI_OP_mul && which < 2; which++) {
            at[which] = sali_weights_source(r->program, node, which, k);
        }
        add_product(r, &a[at[0]], &b[at[1]], r->weights.node[i][dot ? 0 : k]);
    }
    r->terms->others++;
    return a && b ? SAL_OK : SAL_ERR_UNSUPPORTED;
}

static sal_status push_quad(reader *r, int32_t i)
{
    const sali_node *node = &r->program->nodes[i];
    const sali_line *x = r->lines.node[node->in[0]];
    int64_t n = r->program->steps[node->in[0]].size;
    double weight = r->weights.node[i][0];
    if (!x || varies(r, node->in[1])) {
        return SAL_ERR_UNSUPPORTED;
    }
    note_width(r, coordinates(n, x));
    if (is_state(r, n, x) && r->program->nodes[node->in[1]].op == SALI_OP_symmetrise) {
        r->terms->forms++;
        r->terms->form = node->in[1];
        r->terms->weight = weight;
        if (!r->terms->J) {
            return SAL_OK;
        }
    } else {
        r->terms->others++;
    }
    add_form(r, n, x, node->in[1], n, x, weight);
    return SAL_OK;
}

static sal_status push_edges(reader *r, int32_t i)
{
    const sali_node *node = &r->program->nodes[i];
    const sali_line *x = r->lines.node[node->in[0]];
    if (!x || varies(r, node->in[1])) {
        return SAL_ERR_UNSUPPORTED;
    }
    for (int64_t e = 0; e < node->n_ints / 2; e++) {
        add_product(r, &x[node->ints[2 * e]], &x[node->ints[2 * e + 1]],
                    r->weights.node[i][0] * value_of(r, node->in[1], e));
    }
    r->terms->others++;
    return SAL_OK;
}

static void push_leaf(reader *r, int32_t i)
{
    for (int64_t k = 0; k < r->program->steps[i].size; k++) {
        if (varies(r, i)) {
            add_line(r, &r->lines.node[i][k], r->weights.node[i][k]);
        } else {
            r->terms->constant += r->weights.node[i][k] * value_of(r, i, k);
        }
    }
}

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
    if (!node->varying || node->op == SALI_OP_state) {
        push_leaf(r, i);
        return SAL_OK;
    }
    switch (node->op) {
    case SALI_OP_mul:
    case SALI_OP_dot:
    case SALI_OP_square:
        return all_vary(r, node) ? push_product(r, i) : sali_weights_push(&r->weights, i);
    case SALI_OP_quad:
        return push_quad(r, i);
    case SALI_OP_edges:
        return push_edges(r, i);
    default:
        return sali_weights_push(&r->weights, i);
    }
}

/* ---- all of it */

static bool knows(sali_op_id op)
{
    return sali_lines_keep(op) || op == SALI_OP_state || op == SALI_OP_dot ||
           op == SALI_OP_square || op == SALI_OP_matvec || op == SALI_OP_sum ||
           op == SALI_OP_mean || op == SALI_OP_div || op == SALI_OP_quad || op == SALI_OP_edges;
}

/* A look at the ops alone turns most other formulas away at no cost. */
static bool promising(const sali_program *program)
{
    bool good = true, form = false;
    for (int32_t i = 0; i < program->n_nodes; i++) {
        sali_op_id op = program->nodes[i].op;
        good &= !program->nodes[i].varying || knows(op);
        form |= program->nodes[i].varying && (op == SALI_OP_quad || op == SALI_OP_matvec);
    }
    return good && form;
}

sal_status sali_couplings_read(const sal_model *model, sali_coupling_terms *terms)
{
    const sali_tape_model *tape = sali_model_tape(model);
    if (!tape || model->space->unbounded || model->space->width >= INT32_MAX ||
        !promising(tape->program)) {
        return SAL_ERR_UNSUPPORTED;
    }
    int64_t whole = tape->program->space->n_variables;
    reader r = { .model = model,
                 .program = tape->program,
                 .params = tape->params,
                 .terms = terms,
                 .free = SALI_NEW_ARRAY(int32_t, whole),
                 .code = SALI_NEW_ARRAY(int32_t, whole),
                 .weights = { .program = tape->program } };
    sal_status status = r.free && r.code ? sali_clamp_index(model, r.free, r.code) : SAL_ERR_MEMORY;
    status = status ? status : sali_lines_create(tape, state_lines, &r, &r.lines);
    status = status ? status : sali_weights_create(tape, &r.weights);
    for (int32_t i = tape->program->output; status == SAL_OK && i >= 0; i--) {
        status = r.weights.node[i] ? push(&r, i) : SAL_OK;
    }
    sali_free(r.free);
    sali_free(r.code);
    sali_lines_free(&r.lines);
    sali_weights_free(&r.weights);
    return status;
}
