/* SPDX-License-Identifier: MIT */
#include "samplers/completion.h"

#include <math.h>
#include <string.h>

#include "core/object.h"
#include "core/error.h"
#include "models/clamp.h"
#include "models/tape_model.h"
#include "samplers/conditional.h"
#include "samplers/start.h"

/* How far the sum of a row of probabilities may be from 1: files print few digits. */
#define ROUNDING 0.01

/* A table over n variables, listed in `places` from `place` on; in a Bayesian network p(child | the
 * other variables). */
typedef struct factor {
    int64_t place; /* index in `places` of its first variable */
    int64_t n;
    int64_t start, size; /* its entries, among those of the node's constant */
    const void *entries; /* of the node's constant */
    int32_t child;       /* -1: no variable's rows sum to 1 */
    int64_t missing;     /* while a state is drawn: its variables without a code */
    int64_t entry;       /* the entry for the codes drawn so far, with 0 for the variables
                            without a code */
} factor;

typedef struct place {
    int32_t variable;
    int64_t stride; /* of the variable in the table */
} place;

/* Variables here are all variables of the model, including clamped ones. */
struct sali_completion {
    const sal_model *model;
    const sal_space *space;
    sal_dtype dtype;
    int64_t n_factors, n_places;
    factor *factors;
    place *places;
    int64_t *use_begin; /* [V + 1] the places of variable v are uses[use_begin[v]] .. */
    int64_t *uses;
    int64_t *factor_of; /* [n_places] */
    bool is_network; /* every variable in a table is the child of one, and none its own ancestor */
    int32_t *order;  /* [V] of drawing: parents before children */
    int32_t *fixed;  /* [V] a clamped variable's code, -1 for others */
    /* While a state is drawn. */
    int32_t *codes;      /* [V], -1: none yet */
    int64_t *first;      /* [V + 1] the first entry of a variable in the next two */
    double *log_weight;  /* sum of the finite entries of tables in which every other variable has
                            a code */
    int32_t *forbidding; /* how many of these tables forbid the code */
    int32_t *queue;      /* [V] variables that have one code left */
    int64_t n_queue;
    int32_t *zeros; /* [V] */
    double *row;    /* [largest number of states] */
};

static double entry_of(const sali_completion *c, const factor *f, int64_t entry)
{
    return sali_load(c->dtype, f->entries, f->start + entry);
}

/* ---- the tables */

/* Whether each row of a factor over the variable of place p, the others fixed, sums to 1. */
static bool rows_sum_to_1(const sali_completion *c, const factor *f, const place *p)
{
    const int64_t states = c->space->variables[p->variable].states;
    for (int64_t outer = 0; outer < f->size; outer += states * p->stride) {
        for (int64_t inner = 0; inner < p->stride; inner++) {
            double sum = 0;
            for (int64_t k = 0; k < states; k++) {
                sum += exp(entry_of(c, f, outer + inner + k * p->stride));
            }
            if (!(fabs(sum - 1) <= ROUNDING)) {
                return false;
            }
        }
    }
    return true;
}

/* The variable of which a factor is the conditional distribution: the last in its scope of those
 * with rows that sum to 1; -1: none. */
static int32_t find_child(const sali_completion *c, const factor *f)
{
    for (int64_t k = f->n - 1; k >= 0; k--) {
        const place *p = &c->places[f->place + k];
        if (rows_sum_to_1(c, f, p)) {
            return p->variable;
        }
    }
    return -1;
}

/* Append a table of the formula to the factors, and its scope to the places; `entries` is the
 * constant that holds the table. The last variable of the scope has stride 1. */
static void add_factor(sali_completion *c, const sali_op_table *table, const void *entries)
{
    factor *f = &c->factors[c->n_factors];
    int64_t stride = 1;
    *f = (factor){ .place = c->n_places,
                   .n = table->length,
                   .start = table->start,
                   .size = table->size,
                   .entries = entries };
    for (int64_t k = f->n - 1; k >= 0; k--) {
        const int32_t v = (int32_t)table->scope[k];
        c->places[f->place + k] = (place){ v, stride };
        c->factor_of[f->place + k] = c->n_factors;
        c->use_begin[v + 1]++;
        stride *= c->space->variables[v].states;
    }
    f->child = find_child(c, f);
    c->n_places += f->n;
    c->n_factors++;
}

/* Count the tables of a program (*factors) and the variables in all their scopes (*places). With
 * `c` not NULL, also add the tables to c. */
static void visit_tables(const sali_tape_model *tape, sali_completion *c, int64_t *factors,
                         int64_t *places)
{
    *factors = *places = 0;
    for (int32_t i = 0; i < tape->program->n_nodes; i++) {
        const sali_node *node = &tape->program->nodes[i];
        const sali_op *op = tape->program->steps[i].op;
        sali_op_table table = { .index = -1 };
        while (op->next_table && op->next_table(node, tape->program->space, &table)) {
            ++*factors;
            *places += table.length;
            if (c) {
                add_factor(c, &table, tape->params->value[node->in[1]]);
            }
        }
    }
}

/* Fill `uses` with the places of each variable. On entry use_begin[v + 1] is the number of places
 * of v; on return, the places of v are uses[use_begin[v]] .. uses[use_begin[v + 1] - 1]. */
static void list_uses(sali_completion *c)
{
    for (int64_t v = 0; v < c->space->n_variables; v++) {
        c->use_begin[v + 1] += c->use_begin[v];
    }
    for (int64_t k = c->n_places - 1; k >= 0; k--) { /* from the ends to the beginnings */
        c->uses[--c->use_begin[c->places[k].variable + 1]] = k;
    }
    for (int64_t v = 0; v < c->space->n_variables; v++) { /* one too far to the right */
        c->use_begin[v] = c->use_begin[v + 1];
    }
    c->use_begin[c->space->n_variables] = c->n_places;
}

/* ---- the order of the parents */

/* Whether every variable that is in a table is the child of exactly one; missing[v] receives the
 * number of its parents. */
static bool find_parents(sali_completion *c, int64_t *missing)
{
    const int64_t V = c->space->n_variables;
    for (int64_t v = 0; v < V; v++) {
        missing[v] = -1;
    }
    for (int64_t m = 0; m < c->n_factors; m++) {
        const factor *f = &c->factors[m];
        if (f->n > 0 && (f->child < 0 || missing[f->child] >= 0)) {
            return false;
        }
        if (f->n > 0) {
            missing[f->child] = f->n - 1;
        }
    }
    for (int64_t v = 0; v < V; v++) {
        if (missing[v] < 0 && c->use_begin[v + 1] > c->use_begin[v]) {
            return false;
        }
    }
    return c->n_factors > 0;
}

/* Fill c->order with parents before children (Kahn 1962). False: the tables are not those of a
 * Bayesian network, and c->order is 0, 1, 2, .. Changes missing [V]. */
static bool order_network(sali_completion *c, int64_t *missing)
{
    const int64_t V = c->space->n_variables;
    int64_t n = 0;
    bool is_network = find_parents(c, missing);
    for (int64_t v = 0; is_network && v < V; v++) {
        if (missing[v] <= 0) {
            c->order[n++] = (int32_t)v;
        }
    }
    for (int64_t next = 0; next < n; next++) {
        const int32_t parent = c->order[next];
        for (int64_t u = c->use_begin[parent]; u < c->use_begin[parent + 1]; u++) {
            const int32_t child = c->factors[c->factor_of[c->uses[u]]].child;
            if (child != parent && --missing[child] == 0) {
                c->order[n++] = child;
            }
        }
    }
    is_network &= n == V;
    for (int64_t v = 0; !is_network && v < V; v++) {
        c->order[v] = (int32_t)v;
    }
    return is_network;
}

/* ---- making one */

/* Fill c->fixed with the codes of clamped variables, -1 for others; and c->first with the index of
 * each variable's first state. */
static void find_fixed(sali_completion *c)
{
    const int64_t V = c->space->n_variables, n = c->model->space->n_variables;
    sali_clamp_expand(c->model, 1, c->zeros, c->fixed);
    for (int64_t v = 0; v < n; v++) {
        c->fixed[sali_clamp_variable(c->model, v)] = -1;
    }
    for (int64_t v = 0; v < V; v++) {
        c->first[v + 1] = c->first[v] + c->space->variables[v].states;
    }
}

/* Allocate the arrays for so many factors and places (variables of all factors); false: no memory.
 */
static bool allocate_arrays(sali_completion *c, int64_t factors, int64_t places)
{
    const int64_t V = c->space->n_variables;
    int64_t states = 0;
    for (int64_t v = 0; v < V; v++) {
        states += c->space->variables[v].states;
    }
    c->factors = SALI_OBJECT_ARRAY(c, factor, factors);
    c->places = SALI_OBJECT_ARRAY(c, place, places);
    c->factor_of = SALI_OBJECT_ARRAY(c, int64_t, places);
    c->uses = SALI_OBJECT_ARRAY(c, int64_t, places);
    c->use_begin = SALI_OBJECT_ARRAY(c, int64_t, V + 1);
    c->order = SALI_OBJECT_ARRAY(c, int32_t, V);
    c->fixed = SALI_OBJECT_ARRAY(c, int32_t, V);
    c->codes = SALI_OBJECT_ARRAY(c, int32_t, V);
    c->first = SALI_OBJECT_ARRAY(c, int64_t, V + 1);
    c->log_weight = SALI_OBJECT_ARRAY(c, double, states);
    c->forbidding = SALI_OBJECT_ARRAY(c, int32_t, states);
    c->queue = SALI_OBJECT_ARRAY(c, int32_t, V);
    c->zeros = SALI_OBJECT_ARRAY(c, int32_t, V);
    c->row = SALI_OBJECT_ARRAY(c, double, c->space->max_states);
    return !sali_object_failed(c);
}

sal_status sali_completion_create(const sal_model *model, bool forbids, sali_completion **out,
                                  sal_error *err)
{
    const sali_tape_model *tape = sali_model_tape(model);
    int64_t factors = 0, places = 0;
    if (tape) {
        visit_tables(tape, NULL, &factors, &places);
    }
    if (factors == 0) {
        *out = NULL;
        return SAL_OK;
    }
    sali_completion *c = SALI_OBJECT(sali_completion);
    int64_t *missing = SALI_NEW_ARRAY(int64_t, tape->program->space->n_variables);
    if (c) {
        *c = (sali_completion){ .model = model,
                                .space = tape->program->space,
                                .dtype = tape->program->dtype };
    }
    if (!c || !missing || !allocate_arrays(c, factors, places)) {
        sali_free(missing);
        sali_object_free(c);
        return sali_fail_memory(err);
    }
    visit_tables(tape, c, &factors, &places);
    list_uses(c);
    find_fixed(c);
    c->is_network = order_network(c, missing);
    sali_free(missing);
    if (!c->is_network && !forbids) {
        sali_object_free(c);
        c = NULL;
    }
    *out = c;
    return SAL_OK;
}

void sali_completion_destroy(sali_completion *completion)
{
    sali_object_free(completion);
}

/* ---- drawing a state */

/* For a factor with one variable without a code: add the factor's entries to that variable's
 * log-weights and numbers of forbidding tables. If exactly one code is left that no table forbids,
 * the variable joins the queue. */
static void weigh_last(sali_completion *c, const factor *f)
{
    const place *p = &c->places[f->place];
    while (c->codes[p->variable] >= 0) {
        p++;
    }
    const int64_t at = c->first[p->variable], states = c->space->variables[p->variable].states;
    int64_t open = 0, before = 0;
    for (int64_t k = 0; k < states; k++) {
        const double entry = entry_of(c, f, f->entry + k * p->stride);
        before += c->forbidding[at + k] == 0;
        c->log_weight[at + k] += entry == -INFINITY ? 0 : entry;
        c->forbidding[at + k] += entry == -INFINITY;
        open += c->forbidding[at + k] == 0;
    }
    if (open == 1 && before > 1) {
        c->queue[c->n_queue++] = p->variable;
    }
}

/* Give variable v its code in the state being drawn; factors with one variable left without a code
 * then weigh that variable's codes. */
static void assign_code(sali_completion *c, int32_t v, int32_t code)
{
    c->codes[v] = code;
    for (int64_t u = c->use_begin[v]; u < c->use_begin[v + 1]; u++) {
        factor *f = &c->factors[c->factor_of[c->uses[u]]];
        f->entry += c->places[c->uses[u]].stride * code;
        if (--f->missing == 1) {
            weigh_last(c, f);
        }
    }
}

/* Draw a code of variable v among the codes that the fewest tables forbid: by their weights in a
 * Bayesian network, else uniformly. Tables forbid all codes only because of clamped variables or
 * earlier guesses. */
static int32_t draw_code(sali_completion *c, int32_t v, const sali_stream *stream)
{
    const int64_t at = c->first[v], states = c->space->variables[v].states;
    int32_t least = INT32_MAX;
    for (int64_t k = 0; k < states; k++) {
        least = c->forbidding[at + k] < least ? c->forbidding[at + k] : least;
    }
    for (int64_t k = 0; k < states; k++) {
        const double weight = c->is_network ? c->log_weight[at + k] : 0;
        c->row[k] = c->forbidding[at + k] == least ? weight : -INFINITY;
    }
    const int64_t code =
        sali_conditional_draw(states, c->row, 1, sali_rng_uniform_at(stream, (uint32_t)v));
    return code > 0 ? (int32_t)code : 0; /* 0 for a table that holds +inf or NaN: f says so */
}

/* Draw codes for the variables of the queue, including those that join it on the way. */
static void assign_queue(sali_completion *c, const sali_stream *stream)
{
    for (int64_t k = 0; k < c->n_queue; k++) {
        const int32_t v = c->queue[k];
        if (c->codes[v] < 0) {
            assign_code(c, v, draw_code(c, v, stream));
        }
    }
    c->n_queue = 0;
}

/* Begin to draw a state: no variable has a code, and tables of one variable weigh its codes. */
static void begin_state(sali_completion *c)
{
    const int64_t V = c->space->n_variables, states = c->first[V];
    memset(c->log_weight, 0, (size_t)states * sizeof *c->log_weight);
    memset(c->forbidding, 0, (size_t)states * sizeof *c->forbidding);
    c->n_queue = 0;
    for (int64_t v = 0; v < V; v++) {
        c->codes[v] = -1;
    }
    for (int64_t m = 0; m < c->n_factors; m++) {
        factor *f = &c->factors[m];
        f->missing = f->n;
        f->entry = 0;
        if (f->missing == 1) {
            weigh_last(c, f);
        }
    }
}

void sali_completion_draw(sali_completion *c, const sali_stream *stream, int32_t *codes)
{
    const int64_t V = c->space->n_variables;
    begin_state(c);
    for (int32_t v = 0; v < V; v++) {
        if (c->fixed[v] >= 0) {
            assign_code(c, v, c->fixed[v]);
        }
    }
    assign_queue(c, stream);
    for (int64_t k = 0; k < V; k++) {
        const int32_t v = c->order[k];
        if (c->codes[v] < 0 && c->use_begin[v + 1] > c->use_begin[v]) {
            assign_code(c, v, draw_code(c, v, stream));
            assign_queue(c, stream);
        }
    }
    sali_random_codes(c->model->space, stream, codes);
    for (int64_t v = 0; v < c->model->space->n_variables; v++) {
        const int64_t whole = sali_clamp_variable(c->model, v);
        if (c->codes[whole] >= 0) {
            codes[v] = c->codes[whole];
        }
    }
}
