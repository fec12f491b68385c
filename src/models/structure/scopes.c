#include "models/structure/scopes.h"

#include <string.h>

#include "core/alloc.h"
#include "models/structure/weights.h"

/* Beyond these, everything is taken to depend on everything. */
#define MOST_SCOPES (INT64_C(1) << 24)
#define MOST_READS (INT64_C(1) << 28)

static void *grow(void *old, int64_t used, int64_t room, size_t element)
{
    void *made = sali_alloc(room, element);
    if (made && used > 0) {
        memcpy(made, old, (size_t)used * element);
    }
    sali_free(old);
    return made;
}

/* ---- unions of scopes */

static void begin_union(sali_scopes *b)
{
    b->n_list = 0;
    b->stamp++;
}

static void add_variable(sali_scopes *b, int64_t v)
{
    if (b->seen[v] != b->stamp) {
        b->seen[v] = b->stamp;
        b->list[b->n_list++] = (int32_t)v;
    }
}

/* The scope of element k of a node, which varies and lists its scopes. */
static void add_element(sali_scopes *b, int32_t node, int64_t k)
{
    const sali_node_scopes *s = &b->node[node];
    b->reads += 1 + s->begin[k + 1] - s->begin[k];
    for (int64_t at = s->begin[k]; at < s->begin[k + 1]; at++) {
        add_variable(b, s->variable[at]);
    }
}

/* ---- what an element of a node depends on */

/* Elements first, first + step, ... of an input. */
typedef struct range {
    int64_t first, count, step;
} range;

/* What element k of a node reads of its input `which`; all of it where this does not know. */
static range reads(const sali_scopes *b, int32_t i, int32_t which, int64_t k)
{
    const sali_node *node = &b->program->nodes[i], *in = b->program->steps[i].in[which];
    const sal_shape *A = &b->program->steps[i].in[0]->shape;
    bool elementwise = b->program->steps[i].op->layout == SALI_LAYOUT_SAME;
    if (elementwise || node->op == SALI_OP_reshape || node->op == SALI_OP_slice ||
        node->op == SALI_OP_gather) {
        return (range){ sali_weights_source(b->program, node, which, k), 1, 1 };
    }
    if (node->op == SALI_OP_matvec && which == 0) {
        return (range){ k * A->dim[1], A->dim[1], 1 };
    }
    if (node->op == SALI_OP_matmul) {
        int64_t n = node->shape.dim[1];
        return which == 0 ? (range){ k / n * A->dim[1], A->dim[1], 1 }
                          : (range){ k % n, A->dim[1], n };
    }
    return (range){ 0, sali_shape_size(&in->shape), 1 };
}

/* Whether element e of the vector of a matrix product has a fixed weight of zero in row k. */
static bool has_no_weight(const sali_scopes *b, const sali_node *node, int32_t which, int64_t k,
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

static void add_inputs(sali_scopes *b, int32_t i, int64_t k)
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
static void find_scope(sali_scopes *b, int32_t i, int64_t k)
{
    const sali_node *node = &b->program->nodes[i];
    begin_union(b);
    if (node->op == SALI_OP_state) {
        add_variable(b, sali_space_owner(b->program->space, k));
    } else {
        add_inputs(b, i, k);
    }
}

static bool find_scopes(sali_scopes *b, int32_t i)
{
    const sali_node *node = &b->program->nodes[i];
    sali_node_scopes *s = &b->node[i];
    int64_t size = b->program->steps[i].size, room = size;
    for (int32_t k = 0; k < node->n_in; k++) {
        s->all |= b->program->nodes[node->in[k]].varying && b->node[node->in[k]].all;
    }
    if (s->all) {
        return true;
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
    return s->begin && s->variable;
}

/* ---- the terms of f */

bool sali_scopes_adds_up(const sali_program *program, int32_t i)
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

typedef struct walk {
    sali_scopes *scopes;
    bool (*visit)(void *context, const sali_term *term);
    void *context;
} walk;

/* A product of two elements, of inputs x and y of a node. */
static bool visit_product(const walk *w, int32_t x, int32_t y, sali_term term)
{
    const sali_node *nodes = w->scopes->program->nodes;
    term.kind = SALI_TERM_PRODUCT;
    begin_union(w->scopes);
    if (nodes[x].varying) {
        add_element(w->scopes, x, term.a);
    }
    if (nodes[y].varying) {
        add_element(w->scopes, y, term.b);
    }
    return w->visit(w->context, &term);
}

static bool visit_edges(const walk *w, int32_t i)
{
    const sali_node *node = &w->scopes->program->nodes[i];
    bool go = true;
    for (int64_t e = 0; e < node->n_ints / 2 && go; e++) {
        go = visit_product(
            w, node->in[0], node->in[0],
            (sali_term){
                .node = i, .index = e, .a = node->ints[2 * e], .b = node->ints[2 * e + 1] });
    }
    return go;
}

/* Entries that are zero couple nothing, unless they come from a parameter. */
static bool visit_quad(const walk *w, int32_t i)
{
    const sali_program *program = w->scopes->program;
    int32_t x = program->nodes[i].in[0], S = program->nodes[i].in[1];
    int64_t n = program->steps[x].size;
    bool fixed = !program->steps[S].param_path, go = true;
    for (int64_t a = 0; a < n && go; a++) {
        for (int64_t b = 0; b <= a && go; b++) {
            int64_t index = a * n + b;
            if (!fixed || sali_load(program->dtype, w->scopes->params->value[S], index) != 0) {
                go = visit_product(w, x, x,
                                   (sali_term){ .node = i, .index = index, .a = a, .b = b });
            }
        }
    }
    return go;
}

static bool visit_dot(const walk *w, int32_t i)
{
    const sali_node *node = &w->scopes->program->nodes[i];
    int64_t size = w->scopes->program->steps[node->in[0]].size;
    bool go = true;
    for (int64_t k = 0; k < size && go; k++) {
        go = visit_product(w, node->in[0], node->in[1],
                           (sali_term){ .node = i, .index = k, .a = k, .b = k });
    }
    return go;
}

static bool visit_table(const walk *w, int32_t i)
{
    const sali_node *node = &w->scopes->program->nodes[i];
    const int64_t *scope = node->ints + 1;
    bool go = true;
    for (int64_t m = 0; m < node->ints[0] && go; m++) {
        begin_union(w->scopes);
        for (int64_t length = *scope++; length > 0; length--) {
            add_variable(w->scopes, *scope++);
        }
        go = w->visit(w->context, &(sali_term){ .kind = SALI_TERM_TABLE, .node = i, .index = m });
    }
    return go;
}

static bool visit_elements(const walk *w, int32_t i)
{
    sali_term term = { .kind = SALI_TERM_ELEMENT, .node = i };
    bool go = true;
    for (; term.index < w->scopes->program->steps[i].size && go; term.index++) {
        begin_union(w->scopes);
        add_element(w->scopes, i, term.index);
        go = w->visit(w->context, &term);
    }
    return go;
}

static bool visit_node(const walk *w, int32_t i)
{
    const sali_node *node = &w->scopes->program->nodes[i];
    bool lists = node->n_in > 0;
    for (int32_t k = 0; k < node->n_in; k++) {
        lists &= !w->scopes->node[node->in[k]].all;
    }
    if (node->op == SALI_OP_table) {
        return visit_table(w, i);
    }
    if (node->op == SALI_OP_edges && lists) {
        return visit_edges(w, i);
    }
    if (node->op == SALI_OP_quad && lists) {
        return visit_quad(w, i);
    }
    if (node->op == SALI_OP_dot && lists) {
        return visit_dot(w, i);
    }
    if (w->scopes->node[i].all) {
        w->scopes->n_list = 0;
        return w->visit(w->context, &(sali_term){ .kind = SALI_TERM_WHOLE, .node = i });
    }
    return visit_elements(w, i);
}

bool sali_scopes_visit(sali_scopes *scopes, bool (*visit)(void *context, const sali_term *term),
                       void *context)
{
    const sali_program *program = scopes->program;
    walk w = { scopes, visit, context };
    bool go = true;
    scopes->sum[program->output] = true;
    for (int32_t i = program->n_nodes - 1; i >= 0 && go; i--) {
        const sali_node *node = &program->nodes[i];
        if (!scopes->sum[i] || !node->varying) {
            continue;
        }
        if (!sali_scopes_adds_up(program, i)) {
            go = visit_node(&w, i);
        }
        for (int32_t k = 0; k < node->n_in && sali_scopes_adds_up(program, i); k++) {
            scopes->sum[node->in[k]] = true;
        }
    }
    return go;
}

/* ---- all of it */

sal_status sali_scopes_create(const sali_tape_model *tape, sali_scopes *scopes)
{
    const sali_program *program = tape->program;
    *scopes = (sali_scopes){ .program = program,
                             .params = tape->params,
                             .node = SALI_NEW_ARRAY(sali_node_scopes, program->n_nodes),
                             .sum = SALI_NEW_ARRAY(bool, program->n_nodes),
                             .list = SALI_NEW_ARRAY(int32_t, program->space->n_variables),
                             .seen = SALI_NEW_ARRAY(int64_t, program->space->n_variables) };
    bool ok = scopes->node && scopes->sum && scopes->list && scopes->seen;
    for (int32_t i = 0; i < program->n_nodes && ok; i++) {
        ok = !program->nodes[i].varying || find_scopes(scopes, i);
    }
    return ok ? SAL_OK : SAL_ERR_MEMORY;
}

void sali_scopes_free(sali_scopes *scopes)
{
    for (int32_t i = 0; scopes->node && i < scopes->program->n_nodes; i++) {
        sali_free(scopes->node[i].begin);
        sali_free(scopes->node[i].variable);
    }
    sali_free(scopes->node);
    sali_free(scopes->sum);
    sali_free(scopes->list);
    sali_free(scopes->seen);
    *scopes = (sali_scopes){ 0 };
}

int sali_compare_variables(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}
