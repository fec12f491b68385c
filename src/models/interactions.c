#include "models/interactions.h"

#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/clamp.h"
#include "models/tape_model.h"

/* Beyond these, everything is taken to meet everything. */
#define MOST_PAIRS (INT64_C(1) << 25)
#define MOST_SCOPES (INT64_C(1) << 24)
#define MOST_READS (INT64_C(1) << 28)

/* Of a node: the variables that each element depends on. */
typedef struct scopes {
    bool all; /* any element may depend on any variable: none are listed */
    int64_t *begin;
    int32_t *variable;
} scopes;

typedef struct builder {
    const sali_program *program;
    const sali_params *params;
    scopes *scopes; /* by node */
    bool *term;     /* by node: f is the sum of its elements, times constants, and of others */
    uint64_t *pairs;
    int64_t n_pairs, pairs_room;
    int32_t *list; /* [V] a union in the making */
    int64_t n_list, *seen, stamp;
    int64_t reads; /* entries of scopes read so far */
    bool all, memory;
} builder;

/* ---- growing lists */

static void *grow(void *old, int64_t used, int64_t room, size_t element)
{
    void *made = sali_alloc(room, element);
    if (made && used > 0) {
        memcpy(made, old, (size_t)used * element);
    }
    sali_free(old);
    return made;
}

static void add_pair(builder *b, int32_t i, int32_t j)
{
    if (b->n_pairs + 2 > b->pairs_room && !b->memory) {
        b->pairs_room = 2 * b->pairs_room + 1024;
        b->pairs = grow(b->pairs, b->n_pairs, b->pairs_room, sizeof *b->pairs);
        b->memory |= !b->pairs;
    }
    b->all |= b->n_pairs > MOST_PAIRS;
    if (i != j && !b->memory && !b->all) {
        b->pairs[b->n_pairs++] = (uint64_t)i << 32 | (uint64_t)j;
        b->pairs[b->n_pairs++] = (uint64_t)j << 32 | (uint64_t)i;
    }
}

/* ---- unions of scopes */

static void begin_union(builder *b)
{
    b->n_list = 0;
    b->stamp++;
}

static void add_variable(builder *b, int64_t v)
{
    if (b->seen[v] != b->stamp) {
        b->seen[v] = b->stamp;
        b->list[b->n_list++] = (int32_t)v;
    }
}

/* The scope of element k of a node, which varies and lists its scopes. */
static void add_element(builder *b, int32_t node, int64_t k)
{
    const scopes *s = &b->scopes[node];
    b->reads += 1 + s->begin[k + 1] - s->begin[k];
    for (int64_t at = s->begin[k]; at < s->begin[k + 1]; at++) {
        add_variable(b, s->variable[at]);
    }
}

/* Every two variables of the union meet. */
static void add_clique(builder *b)
{
    int64_t n = b->n_list, V = b->program->space->n_variables;
    b->all |= (n == V && n > 2) || n * n > MOST_PAIRS;
    for (int64_t i = 0; i < n && !b->all; i++) {
        for (int64_t j = 0; j < i; j++) {
            add_pair(b, b->list[i], b->list[j]);
        }
    }
}

/* ---- what an element of a node depends on */

/* Elements first, first + step, ... of an input. */
typedef struct range {
    int64_t first, count, step;
} range;

static range slice_range(const sali_node *node, const sali_node *in, int64_t k)
{
    int64_t inner = 1, axis = node->ints[0], length = node->shape.dim[axis];
    for (int32_t a = (int32_t)axis + 1; a < in->shape.rank; a++) {
        inner *= in->shape.dim[a];
    }
    int64_t row = length * inner, from = in->shape.dim[axis] * inner;
    return (range){ k / row * from + node->ints[1] * inner + k % row, 1, 1 };
}

/* What element k of a node reads of its input `which`; all of it where this does not know. */
static range reads(const builder *b, int32_t i, int32_t which, int64_t k)
{
    const sali_node *node = &b->program->nodes[i], *in = b->program->steps[i].in[which];
    int64_t size = sali_shape_size(&in->shape);
    const sal_shape *A = &b->program->steps[i].in[0]->shape;
    bool elementwise = b->program->steps[i].op->layout == SALI_LAYOUT_SAME;
    if (node->op == SALI_OP_reshape || (elementwise && size == b->program->steps[i].size)) {
        return (range){ k, 1, 1 };
    }
    if (node->op == SALI_OP_slice) {
        return slice_range(node, in, k);
    }
    if (node->op == SALI_OP_matvec && which == 0) {
        return (range){ k * A->dim[1], A->dim[1], 1 };
    }
    if (node->op == SALI_OP_matmul) {
        int64_t n = node->shape.dim[1];
        return which == 0 ? (range){ k / n * A->dim[1], A->dim[1], 1 }
                          : (range){ k % n, A->dim[1], n };
    }
    return (range){ 0, size, 1 };
}

/* Whether element e of the vector of a matrix product has a fixed weight of zero in row k. */
static bool has_no_weight(const builder *b, const sali_node *node, int32_t which, int64_t k,
                          int64_t e)
{
    int32_t A = node->in[0];
    if (node->op != SALI_OP_matvec || which != 1 || b->program->nodes[A].varying ||
        b->program->steps[A].param_path) {
        return false;
    }
    int64_t n = b->program->nodes[A].shape.dim[1];
    return sali_load(b->program->dtype, b->params->value[A], k * n + e) == 0;
}

static void add_inputs(builder *b, int32_t i, int64_t k)
{
    const sali_node *node = &b->program->nodes[i];
    for (int32_t which = 0; which < node->n_in; which++) {
        int32_t in = node->in[which];
        if (!b->program->nodes[in].varying) {
            continue;
        }
        range r = reads(b, i, which, k);
        for (int64_t e = 0; e < r.count; e++) {
            if (!has_no_weight(b, node, which, k, e)) {
                add_element(b, in, r.first + e * r.step);
            }
        }
    }
}

/* The scope of element k of node i, as a union. */
static void find_scope(builder *b, int32_t i, int64_t k)
{
    const sali_node *node = &b->program->nodes[i];
    begin_union(b);
    if (node->op == SALI_OP_state) {
        add_variable(b, sali_space_owner(b->program->space, k));
    } else {
        add_inputs(b, i, k);
    }
}

static void find_scopes(builder *b, int32_t i)
{
    const sali_node *node = &b->program->nodes[i];
    scopes *s = &b->scopes[i];
    int64_t size = b->program->steps[i].size, room = size;
    for (int32_t k = 0; k < node->n_in; k++) {
        s->all |= b->program->nodes[node->in[k]].varying && b->scopes[node->in[k]].all;
    }
    if (s->all) {
        return;
    }
    s->begin = SALI_NEW_ARRAY(int64_t, size + 1);
    s->variable = SALI_NEW_ARRAY(int32_t, room);
    for (int64_t k = 0; k < size && s->begin && s->variable && !s->all; k++) {
        find_scope(b, i, k);
        int64_t used = s->begin[k];
        if (used + b->n_list > room) {
            room = 2 * (used + b->n_list);
            s->variable = grow(s->variable, used, room, sizeof *s->variable);
        }
        if (s->variable) {
            memcpy(s->variable + used, b->list, (size_t)b->n_list * sizeof *b->list);
        }
        s->begin[k + 1] = used + b->n_list;
        s->all = s->begin[k + 1] > MOST_SCOPES || b->reads > MOST_READS ||
                 (b->n_list == b->program->space->n_variables && b->n_list > 2);
    }
    b->memory |= !s->begin || !s->variable;
}

/* ---- the terms of f */

/* Whether a node in the sum that is f adds up its varying inputs, times constants. */
static bool adds_up(const sali_program *program, int32_t i)
{
    const sali_node *node = &program->nodes[i];
    int32_t varying = 0;
    for (int32_t k = 0; k < node->n_in; k++) {
        varying += program->nodes[node->in[k]].varying;
    }
    switch (node->op) {
    case SALI_OP_add:
    case SALI_OP_sub:
    case SALI_OP_scale:
    case SALI_OP_sum:
    case SALI_OP_mean:
    case SALI_OP_reshape:
    case SALI_OP_slice:
    case SALI_OP_concat:
    case SALI_OP_gather:
    case SALI_OP_avg_pool2d:
        return true;
    case SALI_OP_mul:
    case SALI_OP_dot:
    case SALI_OP_matvec:
    case SALI_OP_matmul:
    case SALI_OP_conv2d:
        return varying == 1;
    case SALI_OP_div:
        return !program->nodes[node->in[1]].varying;
    default:
        return false;
    }
}

/* A product of two elements of one input. */
static void add_product(builder *b, int32_t in, int64_t i, int64_t j)
{
    begin_union(b);
    add_element(b, in, i);
    add_element(b, in, j);
    add_clique(b);
}

static void add_edges(builder *b, const sali_node *node)
{
    for (int64_t e = 0; e < node->n_ints / 2 && !b->all; e++) {
        add_product(b, node->in[0], node->ints[2 * e], node->ints[2 * e + 1]);
    }
}

/* Entries that are zero couple nothing, unless they come from a parameter. */
static void add_quad(builder *b, const sali_node *node)
{
    int32_t S = node->in[1];
    int64_t n = b->program->steps[node->in[0]].size;
    bool fixed = !b->program->steps[S].param_path;
    for (int64_t i = 0; i < n && !b->all; i++) {
        for (int64_t j = 0; j <= i && !b->all; j++) {
            if (!fixed || sali_load(b->program->dtype, b->params->value[S], i * n + j) != 0) {
                add_product(b, node->in[0], i, j);
            }
        }
    }
}

static void add_table(builder *b, const sali_node *node)
{
    const int64_t *scope = node->ints + 1;
    for (int64_t m = 0; m < node->ints[0] && !b->all; m++) {
        begin_union(b);
        for (int64_t length = *scope++; length > 0; length--) {
            add_variable(b, *scope++);
        }
        add_clique(b);
    }
}

/* Products, element by element, of two inputs. */
static void add_dot(builder *b, const sali_node *node, int64_t size)
{
    for (int64_t k = 0; k < size && !b->all; k++) {
        begin_union(b);
        add_element(b, node->in[0], k);
        add_element(b, node->in[1], k);
        add_clique(b);
    }
}

static void add_terms(builder *b, int32_t i)
{
    const sali_program *program = b->program;
    const sali_node *node = &program->nodes[i];
    bool lists = node->n_in > 0;
    for (int32_t k = 0; k < node->n_in; k++) {
        lists &= !program->nodes[node->in[k]].varying || !b->scopes[node->in[k]].all;
    }
    if (node->op == SALI_OP_table) {
        add_table(b, node);
    } else if (node->op == SALI_OP_edges && lists) {
        add_edges(b, node);
    } else if (node->op == SALI_OP_quad && lists) {
        add_quad(b, node);
    } else if (node->op == SALI_OP_dot && lists) {
        add_dot(b, node, program->steps[node->in[0]].size);
    } else {
        b->all |= b->scopes[i].all;
        for (int64_t k = 0; k < program->steps[i].size && !b->all; k++) {
            begin_union(b);
            add_element(b, i, k);
            add_clique(b);
        }
    }
}

static void find_terms(builder *b)
{
    const sali_program *program = b->program;
    b->term[program->output] = true;
    for (int32_t i = program->n_nodes - 1; i >= 0 && !b->all && !b->memory; i--) {
        const sali_node *node = &program->nodes[i];
        if (!b->term[i] || !node->varying) {
            continue;
        }
        if (!adds_up(program, i)) {
            add_terms(b, i);
        }
        for (int32_t k = 0; k < node->n_in && adds_up(program, i); k++) {
            b->term[node->in[k]] = true;
        }
    }
}

/* ---- the graph */

static int compare_pairs(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Pairs of the tape's variables become those of the model's, which are `model_index` or -1. */
static int64_t restrict_pairs(builder *b, const int64_t *model_index)
{
    int64_t kept = 0;
    for (int64_t k = 0; k < b->n_pairs; k++) {
        int64_t i = model_index[b->pairs[k] >> 32], j = model_index[b->pairs[k] & UINT32_MAX];
        if (i >= 0 && j >= 0) {
            b->pairs[kept++] = (uint64_t)i << 32 | (uint64_t)j;
        }
    }
    return kept;
}

static bool make_graph(builder *b, const sal_model *model, sali_interactions *graph)
{
    int64_t n = model->space->n_variables, whole = b->program->space->n_variables, used = 0;
    int64_t *index = SALI_NEW_ARRAY(int64_t, whole), *original = SALI_NEW_ARRAY(int64_t, n);
    graph->n = n;
    graph->begin = SALI_NEW_ARRAY(int64_t, n + 1);
    graph->neighbour = SALI_NEW_ARRAY(int64_t, b->n_pairs + 1);
    bool ok = index && original && graph->begin && graph->neighbour;
    if (ok) {
        sali_clamp_variables(model, original);
        memset(index, -1, (size_t)whole * sizeof *index);
        for (int64_t v = 0; v < n; v++) {
            index[original[v]] = v;
        }
        b->n_pairs = restrict_pairs(b, index);
        if (b->n_pairs > 0) {
            qsort(b->pairs, (size_t)b->n_pairs, sizeof *b->pairs, compare_pairs);
        }
    }
    for (int64_t k = 0; ok && k < b->n_pairs; k++) {
        if (k == 0 || b->pairs[k] != b->pairs[k - 1]) {
            graph->begin[(b->pairs[k] >> 32) + 1]++;
            graph->neighbour[used++] = (int64_t)(b->pairs[k] & UINT32_MAX);
        }
    }
    for (int64_t v = 0; ok && v < n; v++) {
        graph->begin[v + 1] += graph->begin[v];
    }
    sali_free(index);
    sali_free(original);
    return ok;
}

static void free_builder(builder *b)
{
    for (int32_t i = 0; b->scopes && i < b->program->n_nodes; i++) {
        sali_free(b->scopes[i].begin);
        sali_free(b->scopes[i].variable);
    }
    sali_free(b->scopes);
    sali_free(b->term);
    sali_free(b->pairs);
    sali_free(b->list);
    sali_free(b->seen);
}

sal_status sali_interactions_create(const sal_model *model, sali_interactions *graph, bool *known,
                                    sal_error *err)
{
    const sali_tape_model *tape = sali_model_tape(model);
    *graph = (sali_interactions){ 0 };
    *known = false;
    if (!tape) {
        return SAL_OK;
    }
    const sali_program *program = tape->program;
    builder b = { .program = program,
                  .params = tape->params,
                  .scopes = SALI_NEW_ARRAY(scopes, program->n_nodes),
                  .term = SALI_NEW_ARRAY(bool, program->n_nodes),
                  .list = SALI_NEW_ARRAY(int32_t, program->space->n_variables),
                  .seen = SALI_NEW_ARRAY(int64_t, program->space->n_variables) };
    b.memory = !b.scopes || !b.term || !b.list || !b.seen;
    for (int32_t i = 0; i < program->n_nodes && !b.memory; i++) {
        if (program->nodes[i].varying) {
            find_scopes(&b, i);
        }
    }
    if (!b.memory) {
        find_terms(&b);
    }
    bool ok = !b.memory && (b.all || make_graph(&b, model, graph));
    *known = ok && !b.all;
    free_builder(&b);
    if (!ok) {
        sali_interactions_free(graph);
        return sali_fail_memory(err);
    }
    return SAL_OK;
}

void sali_interactions_free(sali_interactions *graph)
{
    sali_free(graph->begin);
    sali_free(graph->neighbour);
    *graph = (sali_interactions){ 0 };
}

int64_t sali_interactions_colour(const sali_interactions *graph, int64_t *colour)
{
    int64_t *taken = SALI_NEW_ARRAY(int64_t, graph->n + 1), colours = 0; /* by whom, plus 1 */
    for (int64_t v = 0; taken && v < graph->n; v++) {
        for (int64_t k = graph->begin[v]; k < graph->begin[v + 1]; k++) {
            if (graph->neighbour[k] < v) {
                taken[colour[graph->neighbour[k]]] = v + 1;
            }
        }
        colour[v] = 0;
        while (taken[colour[v]] == v + 1) {
            colour[v]++;
        }
        colours = colour[v] + 1 > colours ? colour[v] + 1 : colours;
    }
    sali_free(taken);
    return taken ? colours : -1;
}

/* All that is connected to v, by a search with a stack [n]. */
static void flood(const sali_interactions *graph, int64_t v, int64_t number, int64_t *component,
                  int64_t *stack)
{
    int64_t open = 1;
    stack[0] = v;
    component[v] = number;
    while (open > 0) {
        v = stack[--open];
        for (int64_t k = graph->begin[v]; k < graph->begin[v + 1]; k++) {
            int64_t w = graph->neighbour[k];
            if (component[w] < 0) {
                component[w] = number;
                stack[open++] = w;
            }
        }
    }
}

int64_t sali_interactions_components(const sali_interactions *graph, int64_t *component)
{
    int64_t *stack = SALI_NEW_ARRAY(int64_t, graph->n), n = 0;
    if (!stack) {
        return -1;
    }
    memset(component, -1, (size_t)graph->n * sizeof *component);
    for (int64_t v = 0; v < graph->n; v++) {
        if (component[v] < 0) {
            flood(graph, v, n++, component, stack);
        }
    }
    sali_free(stack);
    return n;
}
