/* SPDX-License-Identifier: MIT */
#include "models/structure/scopes.h"

#include <string.h>

#include "core/alloc.h"
#include "models/structure/weights.h"

/* Beyond these bounds, elements are assumed to depend on all variables. */
#define MOST_SCOPES (INT64_C(1) << 24)
#define MOST_READS (INT64_C(1) << 28)

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

/* Add the scope of element k of a node that varies and lists its scopes to the union. */
static void add_element(sali_scopes *b, int32_t node, int64_t k)
{
    const sali_node_scopes *s = &b->node[node];
    b->reads += 1 + s->begin[k + 1] - s->begin[k];
    for (int64_t at = s->begin[k]; at < s->begin[k + 1]; at++) {
        add_variable(b, s->variable[at]);
    }
}

/* ---- what an element of a node depends on */

/* Add the scopes of all elements of input `which` to the union, or only of the element that element
 * k of node i reads if the op works element by element. */
static void add_input(sali_scopes *b, int32_t i, int32_t which, int64_t k)
{
    const sali_node *node = &b->program->nodes[i];
    int32_t in = node->in[which];
    if (b->program->steps[i].op->layout == SALI_LAYOUT_SAME) {
        add_element(b, in, sali_broadcast_at(&node->shape, &b->program->nodes[in].shape, k));
        return;
    }
    for (int64_t e = 0; e < b->program->steps[in].size; e++) {
        add_element(b, in, e);
    }
}

/* Whether a term is 0 whatever the state and the parameters. */
static bool is_nothing(const sali_scopes *b, int32_t i, const sali_op_term *term)
{
    double x = term->factor;
    for (int j = 0; x != 0 && j < term->n; j++) {
        int32_t in = b->program->nodes[i].in[term->input[j]];
        if (!b->program->nodes[in].varying && !b->program->steps[in].param_path) {
            x = sali_term_take(term, j, x,
                               sali_load(b->program->dtype, b->params->value[in], term->at[j]));
        }
    }
    return x == 0;
}

/* Add the scopes of a term's elements to the union. */
static void add_term(sali_scopes *b, int32_t i, const sali_op_term *term)
{
    for (int j = 0; j < term->n; j++) {
        int32_t in = b->program->nodes[i].in[term->input[j]];
        if (b->program->nodes[in].varying) {
            add_element(b, in, term->at[j]);
        }
    }
}

/* Add everything that element k of node i depends on to the union: the elements of its terms or,
 * for an op without terms, its inputs. */
static void add_inputs(sali_scopes *b, int32_t i, int64_t k)
{
    const sali_node *node = &b->program->nodes[i];
    int64_t terms = sali_terms_of(b->program, i);
    for (int64_t t = 0; t < terms; t++) {
        sali_op_term term = sali_term_of(b->program, i, k, t);
        if (!is_nothing(b, i, &term)) {
            add_term(b, i, &term);
        }
    }
    for (int32_t which = 0; terms == 0 && which < node->n_in; which++) {
        if (b->program->nodes[node->in[which]].varying) {
            add_input(b, i, which, k);
        }
    }
}

/* Make the union the scope of element k of node i. */
static void find_scope(sali_scopes *b, int32_t i, int64_t k)
{
    begin_union(b);
    if (i == b->program->state) {
        add_variable(b, sali_space_owner(b->program->space, k));
    } else {
        add_inputs(b, i, k);
    }
}

/* List the scopes of all elements of node i, or set its `all` if an element depends on all
 * variables or there is too much to list. False: no memory. */
static bool find_scopes(sali_scopes *b, int32_t i)
{
    const sali_node *node = &b->program->nodes[i];
    sali_node_scopes *s = &b->node[i];
    int64_t size = b->program->steps[i].size, room = 0;
    for (int32_t k = 0; k < node->n_in; k++) {
        s->all |= b->program->nodes[node->in[k]].varying && b->node[node->in[k]].all;
    }
    if (s->all) {
        return true;
    }
    s->begin = SALI_NEW_ARRAY(int64_t, size + 1);
    bool ok = s->begin && sali_grow((void **)&s->variable, &room, size, sizeof *s->variable) == 0;
    for (int64_t k = 0; k < size && ok && !s->all; k++) {
        find_scope(b, i, k);
        s->begin[k + 1] = s->begin[k] + b->n_list;
        ok = sali_grow((void **)&s->variable, &room, s->begin[k + 1], sizeof *s->variable) == 0;
        if (ok) {
            memcpy(s->variable + s->begin[k], b->list, (size_t)b->n_list * sizeof *b->list);
        }
        s->all = s->begin[k + 1] > MOST_SCOPES || b->reads > b->most_reads ||
                 (b->n_list == b->program->space->n_variables && b->n_list > 2);
    }
    return ok;
}

/* ---- the terms of f */

typedef struct walk {
    sali_scopes *scopes;
    bool (*visit)(void *context, const sali_term *term);
    void *context;
} walk;

/* Visit the products that the elements of node i are sums of, except products that are 0 whatever
 * the parameters. False: a visit returned false. */
static bool visit_products(const walk *w, int32_t i)
{
    const sali_program *program = w->scopes->program;
    int64_t terms = sali_terms_of(program, i);
    sali_term made = { .kind = SALI_TERM_PRODUCT, .node = i };
    bool go = true;
    for (int64_t at = 0; at < program->steps[i].size * terms && go; at++) {
        made.index = at / terms;
        made.product = sali_term_of(program, i, made.index, at % terms);
        if (!is_nothing(w->scopes, i, &made.product)) {
            begin_union(w->scopes);
            add_term(w->scopes, i, &made.product);
            go = w->visit(w->context, &made);
        }
    }
    return go;
}

/* Visit the tables of node i. False: a visit returned false. */
static bool visit_tables(const walk *w, int32_t i)
{
    const sali_program *program = w->scopes->program;
    sali_term made = { .kind = SALI_TERM_TABLE, .node = i, .table.index = -1 };
    bool go = true;
    while (go &&
           program->steps[i].op->next_table(&program->nodes[i], program->space, &made.table)) {
        begin_union(w->scopes);
        for (int64_t k = 0; k < made.table.length; k++) {
            add_variable(w->scopes, made.table.scope[k]);
        }
        go = w->visit(w->context, &made);
    }
    return go;
}

/* Visit the elements of node i. False: a visit returned false. */
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

/* Visit the terms of f that node i, a summand, consists of: its tables, its products, the whole
 * node, or its elements. False: a visit returned false. */
static bool visit_node(const walk *w, int32_t i)
{
    const sali_node *node = &w->scopes->program->nodes[i];
    bool lists = node->n_in > 0;
    for (int32_t k = 0; k < node->n_in; k++) {
        lists &= !w->scopes->node[node->in[k]].all;
    }
    if (w->scopes->program->steps[i].op->next_table) {
        return visit_tables(w, i);
    }
    if (lists && sali_terms_of(w->scopes->program, i) > 1) {
        return visit_products(w, i);
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
    for (int32_t i = program->output; i >= 0 && go; i--) {
        if (scopes->summed[i] && sali_node_factors(program, i) != 1) {
            go = visit_node(&w, i);
        }
    }
    return go;
}

/* ---- all of it */

sal_status sali_scopes_create(const sali_tape_model *tape, int64_t most, sali_scopes *scopes)
{
    const sali_program *program = tape->program;
    *scopes = (sali_scopes){ .program = program,
                             .params = tape->params,
                             .most_reads = most < MOST_READS ? most : MOST_READS,
                             .node = SALI_NEW_ARRAY(sali_node_scopes, program->n_nodes),
                             .summed = SALI_NEW_ARRAY(bool, program->n_nodes),
                             .list = SALI_NEW_ARRAY(int32_t, program->space->n_variables),
                             .seen = SALI_NEW_ARRAY(int64_t, program->space->n_variables) };
    bool ok = scopes->node && scopes->summed && scopes->list && scopes->seen;
    if (ok) {
        sali_mark_summed(program, scopes->summed);
    }
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
    sali_free(scopes->summed);
    sali_free(scopes->list);
    sali_free(scopes->seen);
    *scopes = (sali_scopes){ 0 };
}

int sali_compare_variables(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}
