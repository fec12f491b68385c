/* SPDX-License-Identifier: MIT */
#include "models/structure/local_elements.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ad/workspace.h"
#include "core/alloc.h"
#include "core/memory.h"
#include "models/clamp.h"

/* Bounds on the values computed in all replays, the rows of one replay, and its values. */
#define MOST_VALUES 0x1p33
#define MOST_ROWS 256
#define ROW_VALUES (INT64_C(1) << 22)

/* ---- asking */

/* Append the free variables of the element's scope, ascending, and set made->n and made->size, the
 * number of their joint states. SAL_ERR_UNSUPPORTED: too many entries. */
static sal_status find_scope(sali_elements *e, sali_element *made)
{
    const sali_node_scopes *s = &e->scopes->node[made->node];
    double size = 1;
    for (int64_t at = s->begin[made->k]; at < s->begin[made->k + 1]; at++) {
        int32_t v = e->free[s->variable[at]];
        if (v < 0) {
            continue;
        }
        if (sali_grow((void **)&e->scope, &e->scopes_room, made->scope + made->n + 1,
                      sizeof *e->scope) != 0) {
            return SAL_ERR_MEMORY;
        }
        e->scope[made->scope + made->n++] = v;
        size *= e->model->space->variables[v].states;
    }
    if ((double)e->n_tables + size > e->most) {
        return SAL_ERR_UNSUPPORTED;
    }
    if (made->n > 1) {
        qsort(e->scope + made->scope, (size_t)made->n, sizeof *e->scope, sali_compare_variables);
    }
    made->size = (int64_t)size;
    return SAL_OK;
}

sal_status sali_elements_ask(sali_elements *e, int32_t node, int64_t k)
{
    if (!e->number[node]) {
        e->number[node] = SALI_NEW_ARRAY(int64_t, e->scopes->program->steps[node].size);
    }
    if (!e->number[node]) {
        return SAL_ERR_MEMORY;
    }
    if (e->number[node][k] > 0) {
        return SAL_OK;
    }
    sali_element made = { .node = node, .k = k, .scope = e->n_scopes, .table = e->n_tables };
    sal_status status = find_scope(e, &made);
    if (status == SAL_OK &&
        sali_grow((void **)&e->element, &e->room, e->n + 1, sizeof *e->element) != 0) {
        status = SAL_ERR_MEMORY;
    }
    if (status == SAL_OK) {
        e->element[e->n++] = made;
        e->number[node][k] = e->n;
        e->n_scopes += made.n;
        e->n_tables += made.size;
    }
    return status;
}

const sali_element *sali_elements_find(const sali_elements *e, int32_t node, int64_t k)
{
    return &e->element[e->number[node][k] - 1];
}

void sali_elements_free(sali_elements *e)
{
    for (int32_t i = 0; e->number && i < e->scopes->program->n_nodes; i++) {
        sali_free(e->number[i]);
    }
    sali_free(e->number);
    sali_free(e->element);
    sali_free(e->scope);
    sali_free(e->tables);
    *e = (sali_elements){ 0 };
}

/* ---- rounds: in each round, leaders have no variable in common, and an element whose variables
 * all belong to one leader follows that leader */

typedef struct turn {
    int64_t element;
    int32_t n;
} turn;

typedef struct filler {
    sali_elements *elements;
    sali_memory memory;
    sali_workspace *ws;
    const int32_t *base;
    int64_t *original; /* [variables of the model] the tape's variable */
    turn *turns;       /* [n_turns] elements without a table yet, by falling number of variables */
    int64_t n_turns;
    int64_t *leader;          /* [n] 1 + the leader of the element in this round; 0: none */
    int64_t *owner;           /* [variables of the model] 1 + the leader of the variable, or 0 */
    int64_t rows, row_values; /* rows of a replay, and values computed for a row */
    double values;            /* computed so far */
    int32_t *codes;           /* [rows x variables of the tape] */
    void *x;                  /* real [rows x N] */
    double *f;                /* [rows] */
} filler;

static int compare_turns(const void *a, const void *b)
{
    const turn *x = a, *y = b;
    return x->n != y->n ? (x->n < y->n) - (x->n > y->n)
                        : (x->element > y->element) - (x->element < y->element);
}

/* 1 + the leader that `element` can follow in this round; 1 + `element` if it can lead; 0 if it has
 * to wait. */
static int64_t choose_leader(const filler *r, int64_t element)
{
    const sali_element *e = &r->elements->element[element];
    const int32_t *scope = r->elements->scope + e->scope;
    int64_t first = e->n > 0 ? r->owner[scope[0]] : 0;
    for (int32_t i = 1; i < e->n; i++) {
        if (r->owner[scope[i]] != first) {
            return 0;
        }
    }
    return first > 0 ? first : element + 1;
}

/* Set r->leader and r->owner for the next round. Returns the largest number of entries of a
 * leader. */
static int64_t begin_round(filler *r)
{
    const sali_elements *e = r->elements;
    int64_t most = 0;
    memset(r->owner, 0, (size_t)e->model->space->n_variables * sizeof *r->owner);
    for (int64_t t = 0; t < r->n_turns; t++) {
        int64_t k = r->turns[t].element;
        r->leader[k] = choose_leader(r, k);
        if (r->leader[k] == k + 1) {
            most = e->element[k].size > most ? e->element[k].size : most;
            for (int32_t i = 0; i < e->element[k].n; i++) {
                r->owner[e->scope[e->element[k].scope + i]] = k + 1;
            }
        }
    }
    return most;
}

/* Write n states: row j has each leader's variables at its entry first + j (its last entry if it
 * has fewer), and all other variables at r->base. */
static void write_codes(const filler *r, int64_t first, int64_t n)
{
    const sali_elements *e = r->elements;
    const sali_variable *variables = e->model->space->variables;
    int64_t whole = e->scopes->program->space->n_variables;
    for (int64_t row = 0; row < n; row++) {
        memcpy(r->codes + row * whole, r->base, (size_t)whole * sizeof *r->codes);
    }
    for (int64_t t = 0; t < r->n_turns; t++) {
        const sali_element *leader = &e->element[r->turns[t].element];
        bool leads = r->leader[r->turns[t].element] == r->turns[t].element + 1;
        for (int64_t row = 0; row < n && leads; row++) {
            int64_t at = first + row < leader->size ? first + row : leader->size - 1;
            for (int32_t i = leader->n - 1; i >= 0; i--) {
                int32_t v = e->scope[leader->scope + i];
                r->codes[row * whole + r->original[v]] = (int32_t)(at % variables[v].states);
                at /= variables[v].states;
            }
        }
    }
}

/* Copy the values of an element in the n rows of a replay to the entries of its table. */
static void read_rows(const filler *r, const sali_element *element, int64_t n)
{
    const sali_elements *e = r->elements;
    const sali_program *program = e->scopes->program;
    const void *values = sali_workspace_values(r->ws, element->node);
    int64_t whole = program->space->n_variables, size = program->steps[element->node].size;
    for (int64_t row = 0; row < n; row++) {
        int64_t at = 0;
        for (int32_t i = 0; i < element->n; i++) {
            int32_t v = e->scope[element->scope + i];
            at = at * e->model->space->variables[v].states + r->codes[row * whole + r->original[v]];
        }
        e->tables[element->table + at] =
            sali_load(program->dtype, values ? values : r->x, row * size + element->k);
    }
}

/* Fill the tables of one round, by as many replays as its largest leader takes, and drop the
 * elements that are done. SAL_ERR_UNSUPPORTED: too many values to compute. */
static sal_status run_round(filler *r)
{
    const sali_elements *e = r->elements;
    int64_t most = begin_round(r), kept = 0;
    r->values += (double)most * (double)r->row_values;
    if (r->values > fmin(MOST_VALUES, (double)e->steps)) {
        return SAL_ERR_UNSUPPORTED;
    }
    for (int64_t at = 0; at < most; at += r->rows) {
        int64_t n = most - at < r->rows ? most - at : r->rows;
        write_codes(r, at, n);
        sali_model_embed(sali_clamp_inner(e->model), n, r->codes, r->x);
        sali_workspace_value(r->ws, n, r->codes, r->x, r->f);
        for (int64_t t = 0; t < r->n_turns; t++) {
            if (r->leader[r->turns[t].element] > 0) {
                read_rows(r, &e->element[r->turns[t].element], n);
            }
        }
    }
    for (int64_t t = 0; t < r->n_turns; t++) {
        if (r->leader[r->turns[t].element] == 0) {
            r->turns[kept++] = r->turns[t];
        }
    }
    r->n_turns = kept;
    return SAL_OK;
}

/* The number of values that a replay computes for one state. */
static int64_t count_values(const sali_program *program)
{
    int64_t values = 0;
    for (int32_t i = 0; i < program->n_nodes; i++) {
        values += program->nodes[i].varying ? program->steps[i].size : 0;
    }
    return values;
}

double sali_elements_effort(const sali_elements *e)
{
    int64_t most = 0;
    for (int64_t k = 0; k < e->n; k++) {
        most = e->element[k].size > most ? e->element[k].size : most;
    }
    return (double)most * (double)count_values(e->scopes->program);
}

/* Allocate the tables, and what replays need; all elements wait for their turn. */
static sal_status open_filler(filler *r)
{
    sali_elements *e = r->elements;
    const sali_program *program = e->scopes->program;
    int64_t V = e->model->space->n_variables;
    r->row_values = count_values(program);
    assert(r->row_values > 0);
    r->rows = ROW_VALUES / r->row_values;
    r->rows = r->rows < 1 ? 1 : r->rows > MOST_ROWS ? MOST_ROWS : r->rows;
    e->tables = SALI_NEW_ARRAY(double, e->n_tables);
    r->original = SALI_TAKE(&r->memory, int64_t, V);
    r->turns = SALI_TAKE(&r->memory, turn, e->n);
    r->leader = SALI_TAKE(&r->memory, int64_t, e->n);
    r->owner = SALI_TAKE(&r->memory, int64_t, V);
    r->codes = SALI_TAKE(&r->memory, int32_t, r->rows * program->space->n_variables);
    r->x = sali_memory_take(&r->memory, r->rows * program->space->width,
                            sali_dtype_size(program->dtype));
    r->f = SALI_TAKE(&r->memory, double, r->rows);
    if (!e->tables || r->memory.refused) {
        return SAL_ERR_MEMORY;
    }
    sali_clamp_variables(e->model, r->original);
    for (int64_t k = 0; k < e->n; k++) {
        r->turns[k] = (turn){ k, e->element[k].n };
    }
    qsort(r->turns, (size_t)e->n, sizeof *r->turns, compare_turns);
    r->n_turns = e->n;
    return sali_workspace_create(program, e->scopes->params, r->rows, SALI_WANT_ALL_VALUES, &r->ws,
                                 NULL);
}

sal_status sali_elements_fill(sali_elements *elements, const int32_t *base)
{
    filler r = { .elements = elements, .base = base };
    if (elements->n == 0) {
        return SAL_OK;
    }
    sal_status status = open_filler(&r);
    while (status == SAL_OK && r.n_turns > 0) {
        status = run_round(&r);
    }
    sali_workspace_destroy(r.ws);
    sali_memory_free(&r.memory);
    return status;
}
