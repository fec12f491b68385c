/* SPDX-License-Identifier: MIT */
/* Local terms of a formula: first their scopes and the elements that they are made of, then their
 * tables. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/memory.h"
#include "models/clamp.h"
#include "models/structure/local_elements.h"
#include "models/structure/local_terms.h"
#include "models/structure/weights.h"
#include "ad/polynomial.h"

/* Steps that finding a term counts for, and checking whether a product is a term. */
#define TERM_STEPS 128
#define PRODUCT_STEPS 64

typedef struct sali_terms_reader {
    const sal_model *model;
    const sali_program *program;
    sali_memory memory;
    sali_scopes scopes;
    sali_weights weights;
    sali_elements elements;
    sali_local_terms *terms;
    int32_t *free; /* [variables of the tape] the model's variable, -1: it has one code */
    int32_t *base; /* [variables of the tape] the code of a variable that has one code */
    double most;   /* bound on the entries of all tables */
    int64_t steps; /* steps left */
    sal_status status;
    const char *reason; /* of SAL_ERR_UNSUPPORTED; `blame` is the node that caused it, or -1 */
    int32_t blame;
    int64_t *axes; /* [2 V] scratch */
    int32_t *code; /* [V] zeros, scratch */
} reader;

/* Set the reason of SAL_ERR_UNSUPPORTED, and return false. */
static bool refuse_node(reader *r, const char *reason, int32_t node)
{
    r->status = SAL_ERR_UNSUPPORTED;
    r->reason = reason;
    r->blame = node;
    return false;
}

/* ---- adding products of tables */

/* Replace the variables of the visited term, in r->scopes.list, by the model's numbers of the free
 * ones, ascending. Returns how many; *entries: the number of their joint states. */
static int32_t sort_scope(reader *r, double *entries)
{
    int32_t *list = r->scopes.list, n = 0;
    *entries = 1;
    for (int64_t i = 0; i < r->scopes.n_list; i++) {
        if (r->free[list[i]] >= 0) {
            list[n++] = r->free[list[i]];
            *entries *= r->terms->states[list[n - 1]];
        }
    }
    qsort(list, (size_t)n, sizeof *list, sali_compare_variables);
    return n;
}

/* Add a term over the free variables of the visited term. False: too many terms or entries, or no
 * memory. */
static bool ask_for_table(reader *r)
{
    double entries;
    int32_t n = sort_scope(r, &entries);
    r->terms->effort += entries;
    r->steps -= TERM_STEPS;
    if (r->steps < 0) {
        return refuse_node(r, "it has too many terms", -1);
    }
    if (entries <= r->most && n > 0 &&
        !sali_local_terms_add(r->terms, n, r->scopes.list, (int64_t)entries)) {
        r->status = SAL_ERR_MEMORY;
        return false;
    }
    return (entries <= r->most &&
            (double)r->terms->n_tables + (double)r->elements.n_tables <= r->most) ||
           refuse_node(r, "its terms' tables take more memory than is allowed", -1);
}

/* The table of the term over the free variables of the visited term, its scope [n] and its size. */
static double *term_table(reader *r, const int32_t **scope, int32_t *n, int64_t *size)
{
    double entries;
    *n = sort_scope(r, &entries);
    *scope = r->scopes.list;
    *size = (int64_t)entries;
    return sali_local_terms_at(r->terms, *n, *scope);
}

/* Set strides [n] of an element's table over the variables of scope [n]; 0 for variables that the
 * element does not have. */
static void element_strides(const reader *r, const sali_element *e, int32_t n, const int32_t *scope,
                            int64_t *strides)
{
    int64_t stride = 1;
    int32_t k = e->n - 1;
    for (int32_t i = n - 1; i >= 0; i--) {
        bool has = k >= 0 && r->elements.scope[e->scope + k] == scope[i];
        strides[i] = has ? stride : 0;
        stride *= has ? r->terms->states[scope[i]] : 1;
        k -= has;
    }
}

/* The offset, by these strides [n], of the joint state number `at` of the variables in scope
 * [n]. */
static int64_t offset_of(const reader *r, int64_t at, int32_t n, const int32_t *scope,
                         const int64_t *strides)
{
    int64_t offset = 0;
    for (int32_t i = n - 1; i >= 0; i--) {
        offset += at % r->terms->states[scope[i]] * strides[i];
        at /= r->terms->states[scope[i]];
    }
    return offset;
}

/* Add factor a, or factor a b unless b is NULL, to the table of the visited term. */
static void add_elements(reader *r, double factor, const sali_element *a, const sali_element *b)
{
    const double *A = r->elements.tables + a->table, one = 1;
    const double *B = b ? r->elements.tables + b->table : &one;
    const int32_t *scope;
    int64_t size, at_a = 0, at_b = 0;
    int32_t n;
    double *table = term_table(r, &scope, &n, &size);
    int64_t *step_a = r->axes, *step_b = r->axes + n;
    element_strides(r, a, n, scope, step_a);
    element_strides(r, b ? b : &(sali_element){ 0 }, n, scope, step_b);
    for (int64_t at = 0; at < size; at++) {
        table[at] += factor * (A[at_a] * B[at_b]);
        for (int32_t i = n - 1; i >= 0; i--) {
            int32_t states = r->terms->states[scope[i]];
            bool carry = ++r->code[i] == states;
            at_a += carry ? step_a[i] * (1 - states) : step_a[i];
            at_b += carry ? step_b[i] * (1 - states) : step_b[i];
            if (!carry) {
                break;
            }
            r->code[i] = 0;
        }
    }
}

/* ---- terms of each kind */

static double weight_of(const reader *r, int32_t node, int64_t k)
{
    return r->weights.node[node] ? r->weights.node[node][k] : 0;
}

/* Set strides [n] of a factor's table over the variables of scope [n]. Returns the offset of the
 * entry with all of these variables at 0. */
static int64_t factor_strides(const reader *r, const sali_op_table *table, int32_t n,
                              const int32_t *scope, int64_t *strides)
{
    int64_t first = 0, stride = 1;
    memset(strides, 0, (size_t)n * sizeof *strides);
    for (int64_t k = table->length - 1; k >= 0; k--) {
        int64_t variable = table->scope[k];
        int32_t v = r->free[variable];
        first += v < 0 ? stride * r->base[variable] : 0;
        if (v >= 0) {
            const int32_t *found =
                bsearch(&v, scope, (size_t)n, sizeof *scope, sali_compare_variables);
            strides[found - scope] += stride;
        }
        stride *= r->program->space->variables[variable].states;
    }
    return first;
}

/* Add a factor of a table op, a term of kind SALI_TERM_TABLE, to the visited term's table. */
static void add_factor(reader *r, const sali_term *term)
{
    const sali_op_table *from = &term->table;
    double weight = weight_of(r, term->node, 0);
    int32_t T = r->program->nodes[term->node].in[1], n;
    const int32_t *scope;
    int64_t size = 0;
    double *table = term_table(r, &scope, &n, &size);
    int64_t first = factor_strides(r, from, n, scope, r->axes);
    for (int64_t at = 0; at < size && weight != 0; at++) {
        int64_t entry = from->start + first + offset_of(r, at, n, scope, r->axes);
        table[at] += weight * sali_weights_value(&r->weights, T, entry);
    }
}

/* The constant factor of a term. varying [*n]: the positions of the operands of a product that
 * depend on the state; *n is 0 for other terms. */
static double factor_of(const reader *r, const sali_term *term, int varying[3], int *n)
{
    double factor = weight_of(r, term->node, term->index);
    *n = 0;
    if (term->kind == SALI_TERM_PRODUCT && factor != 0) {
        *n = sali_term_split(r->program, r->weights.params, term->node, &term->product, varying,
                             &factor);
    }
    return factor;
}

/* The element that operand j of a product is. */
static const sali_element *element_of(const reader *r, const sali_term *term, int j)
{
    int32_t in = r->program->nodes[term->node].in[term->product.input[j]];
    return sali_elements_find(&r->elements, in, term->product.at[j]);
}

/* Add a term to its table, a visitor of sali_scopes_visit. Always true. */
static bool add_term(void *context, const sali_term *term)
{
    reader *r = context;
    int varying[3], n;
    if (term->kind == SALI_TERM_TABLE) {
        add_factor(r, term);
        return true;
    }
    double factor = factor_of(r, term, varying, &n);
    const sali_element *a = factor == 0 ? NULL
                            : n > 0     ? element_of(r, term, varying[0])
                                        : sali_elements_find(&r->elements, term->node, term->index);
    if (a) {
        add_elements(r, factor, a, n > 1 ? element_of(r, term, varying[1]) : NULL);
    }
    return true;
}

/* ---- first, which terms there are, and the elements that they are made of */

/* Ask for a table of element k of a node. False after a refusal, or without memory. */
static bool ask_for_element(reader *r, int32_t node, int64_t k)
{
    if (r->program->nodes[node].pixel_major) {
        return refuse_node(r, "it has terms in images, by", node);
    }
    r->status = sali_elements_ask(&r->elements, node, k);
    return r->status != SAL_ERR_UNSUPPORTED
               ? r->status == SAL_OK
               : refuse_node(r, "too many variables are in one term, by", node);
}

/* Ask for tables of the elements of a product that vary. False also if they are more than two. */
static bool ask_for_product(reader *r, const sali_term *term)
{
    const sali_node *node = &r->program->nodes[term->node];
    int varying[3];
    int n = sali_term_split(r->program, NULL, term->node, &term->product, varying, NULL);
    bool good = true;
    for (int j = 0; good && j < n; j++) {
        good = ask_for_element(r, node->in[term->product.input[varying[j]]],
                               term->product.at[varying[j]]);
    }
    return good && (n <= 2 || refuse_node(r, "the weights vary of", term->node));
}

/* Ask for the tables that a term needs: of its elements, and of the term unless its factor is 0. A
 * visitor of sali_scopes_visit; false after a refusal, or without memory. */
static bool ask_for_term(void *context, const sali_term *term)
{
    reader *r = context;
    const sali_node *node = &r->program->nodes[term->node];
    int varying[3], n;
    switch (term->kind) {
    case SALI_TERM_WHOLE:
        return refuse_node(r, "all variables are in one term, by", term->node);
    case SALI_TERM_ELEMENT:
        return ask_for_element(r, term->node, term->index) &&
               (factor_of(r, term, varying, &n) == 0 || ask_for_table(r));
    case SALI_TERM_PRODUCT:
        return ask_for_product(r, term) &&
               (factor_of(r, term, varying, &n) == 0 || ask_for_table(r));
    case SALI_TERM_TABLE:
        return r->program->nodes[node->in[1]].varying
                   ? refuse_node(r, "the tables vary of", term->node)
                   : ask_for_table(r);
    }
    return false;
}

/* ---- all of it */

/* An upper bound on the number of products that a formula is the sum of; an element that is no sum
 * of products counts as one. */
static double count_products(const sali_program *program)
{
    double products = 0;
    for (int32_t i = 0; i < program->n_nodes; i++) {
        if (program->nodes[i].varying) {
            products += (double)program->steps[i].size * fmax(1, (double)sali_terms_of(program, i));
        }
    }
    return products;
}

/* Allocate what reading needs, and set r->status. */
static void open_reader(reader *r, const sal_model *model, const sali_tape_model *tape)
{
    int64_t V = model->space->n_variables, whole = tape->program->space->n_variables;
    r->free = SALI_TAKE(&r->memory, int32_t, whole);
    r->base = SALI_TAKE(&r->memory, int32_t, whole);
    r->axes = SALI_TAKE(&r->memory, int64_t, 2 * whole);
    r->code = SALI_TAKE(&r->memory, int32_t, whole);
    r->terms->n = (int32_t)V;
    r->terms->states = SALI_NEW_ARRAY(int32_t, V);
    bool ok = !r->memory.refused && r->terms->states &&
              sali_clamp_index(model, r->free, r->base) == SAL_OK &&
              sali_scopes_create(tape, r->steps, &r->scopes) == SAL_OK &&
              sali_weights_create(tape, &r->weights) == SAL_OK;
    for (int64_t v = 0; ok && v < V; v++) {
        r->terms->states[v] = model->space->variables[v].states;
    }
    for (int64_t v = 0; ok && v < whole; v++) {
        r->free[v] = tape->program->space->variables[v].states == 1 ? -1 : r->free[v];
    }
    r->elements =
        (sali_elements){ .model = model,
                         .scopes = &r->scopes,
                         .free = r->free,
                         .number = ok ? SALI_NEW_ARRAY(int64_t *, tape->program->n_nodes) : NULL,
                         .most = r->most,
                         .steps = r->steps / SALI_ENTRY_STEPS };
    r->status = ok && r->elements.number ? SAL_OK : SAL_ERR_MEMORY;
}

static void free_reader(reader *r)
{
    if (r) {
        sali_elements_free(&r->elements);
        sali_scopes_free(&r->scopes);
        sali_weights_free(&r->weights);
        sali_memory_free(&r->memory);
        sali_free(r);
    }
}

void sali_local_terms_free(sali_local_terms *t)
{
    free_reader(t->reader);
    sali_free(t->states);
    sali_free(t->terms);
    sali_free(t->scopes);
    sali_free(t->tables);
    sali_free(t->slots);
    *t = (sali_local_terms){ 0 };
}

/* SAL_ERR_MODEL, with a message, if the constant or an entry of a table is NaN or +inf. */
static sal_status check_entries(const sal_model *model, const sali_local_terms *t, sal_error *err)
{
    bool good = t->constant < INFINITY;
    for (int64_t k = 0; good && k < t->n_tables; k++) {
        good = t->tables[k] < INFINITY; /* false for NaN */
    }
    return good ? SAL_OK
                : sali_fail(err, SAL_ERR_MODEL,
                            "%s: f is NaN or +inf: a term is at some states of its variables; "
                            "expected finite numbers or -inf",
                            model->name);
}

/* The reader's status. After a failure the terms are freed, and `why` has the reason of
 * SAL_ERR_UNSUPPORTED. */
static sal_status conclude_reading(sali_local_terms *terms, char *why, size_t room, sal_error *err)
{
    const reader *r = terms->reader;
    sal_status status = r->status;
    if (status == SAL_ERR_UNSUPPORTED) {
        snprintf(why, room, "%s%s%s", r->reason, r->blame >= 0 ? " " : "",
                 r->blame >= 0 ? r->program->steps[r->blame].op->name : "");
    }
    status = status == SAL_ERR_MEMORY ? sali_fail_memory(err) : status;
    if (status != SAL_OK) {
        sali_local_terms_free(terms);
    }
    return status;
}

sal_status sali_local_terms_read(const sal_model *model, double memory, int64_t steps,
                                 sali_local_terms *terms, char *why, size_t room, sal_error *err)
{
    const sali_tape_model *tape = sali_model_tape(model);
    *terms = (sali_local_terms){ 0 };
    if (model->space->unbounded || !tape) {
        snprintf(why, room,
                 tape ? "it has counts without a cap" : "its f is a function, not a formula");
        return SAL_ERR_UNSUPPORTED;
    }
    if (count_products(tape->program) * PRODUCT_STEPS > (double)steps) {
        snprintf(why, room, "its formula is too long");
        return SAL_ERR_UNSUPPORTED;
    }
    reader *r = SALI_NEW(reader);
    if (!r) {
        return sali_fail_memory(err);
    }
    *r = (reader){ .model = model,
                   .program = tape->program,
                   .terms = terms,
                   .most = memory / sizeof(double),
                   .steps = steps,
                   .blame = -1 };
    terms->reader = r;
    open_reader(r, model, tape);
    if (r->status == SAL_OK) {
        r->status = sali_weights_push(&r->weights, &terms->constant, NULL, NULL);
    }
    if (r->status == SAL_OK && sali_scopes_visit(&r->scopes, ask_for_term, r)) {
        terms->effort += sali_elements_effort(&r->elements);
    }
    return conclude_reading(terms, why, room, err);
}

sal_status sali_local_terms_fill(sali_local_terms *terms, char *why, size_t room, sal_error *err)
{
    reader *r = terms->reader;
    terms->tables = SALI_NEW_ARRAY(double, terms->n_tables);
    r->status = terms->tables ? sali_elements_fill(&r->elements, r->base) : SAL_ERR_MEMORY;
    r->reason = "its terms overlap too much to be tabulated";
    if (r->status == SAL_OK) {
        sali_scopes_visit(&r->scopes, add_term, r);
    }
    const sal_model *model = r->model;
    sal_status status = conclude_reading(terms, why, room, err);
    if (status != SAL_OK) {
        return status;
    }
    free_reader(r);
    terms->reader = NULL;
    status = check_entries(model, terms, err);
    if (status != SAL_OK) {
        sali_local_terms_free(terms);
    }
    return status;
}
