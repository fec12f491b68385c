/* SPDX-License-Identifier: MIT */
#include "ad/changes.h"

#include <string.h>

#include "ad/change.h"
#include "ad/hoisted.h"
#include "ad/workspace.h"
#include "core/error.h"
#include "core/memory.h"

/* If more than 1 in LIST_SHARE elements of a row changed, the row is evaluated again. */
#define LIST_SHARE 4
/* Cells of a chain's journal for each element of its rows, and at least. */
#define CELLS_PER_ELEMENT 2
#define LEAST_CELLS 256

struct sali_changes {
    const sali_program *program;
    const sali_params *params;
    int64_t chains;
    sali_memory memory; /* of all arrays */
    size_t element;
    bool unlimited, gradient, local_gradient;
    /* By node, for varying ones: rows of all chains, as in a workspace. */
    void **value, **saved, **adjoint;
    void **shadow; /* [chains x (size + saved)] copies of rows, made before they are overwritten */
    void *scratch;
    int32_t n_calls;
    int32_t *call_node;
    sali_call *calls; /* of all chains */
    sali_arg *args;
    int32_t sole_reader; /* the only node that reads the state; -1: several do */
    /* Of the chain at work. */
    sali_delta *deltas; /* by node */
    const sali_delta **in;
    sali_arg *row_args;
    /* By chain. */
    int32_t *codes; /* [chains x V] */
    sali_journal *journals;
    int64_t journal_room; /* of each of them, once chains have started */
    bool *shadowed;       /* [chains x nodes] */
    int64_t *n_sites;
    int64_t *sites;     /* [chains x V] of the change under way */
    int32_t *old_codes; /* [chains x V] */
};

/* ---- which gradients follow changes */

/* Whether the adjoints of node i's inputs do not depend on the state if the node's own adjoint does
 * not, or the op's change rule keeps the gradient. */
static bool keeps_adjoints_constant(const sali_program *program, int32_t i)
{
    const sali_step *step = &program->steps[i];
    const sali_node *node = &program->nodes[i];
    bool linear = step->op->linear || step->degree <= SALI_AFFINE;
    for (int32_t k = 0; k < node->n_in; k++) { /* a constant times something multilinear */
        linear |= step->degree == SALI_MULTILINEAR &&
                  program->steps[node->in[k]].degree == SALI_MULTILINEAR;
    }
    return linear ||
           (step->op->changes_gradient && program->steps[node->in[0]].storage == program->state);
}

/* Whether change rules can keep the state's gradient: f varies, and every node that is computed
 * from the state passes keeps_adjoints_constant. */
static bool gradient_is_local(const sali_program *program)
{
    bool local = program->nodes[program->output].varying;
    for (int32_t i = 0; local && i < program->n_nodes; i++) {
        const sali_node *node = &program->nodes[i];
        local = !node->varying || node->n_in == 0 || keeps_adjoints_constant(program, i);
    }
    return local;
}

/* The only node that reads the state, which alone contributes to its gradient; -1: several do. */
static int32_t find_sole_reader(const sali_program *program)
{
    int32_t reader = -1;
    for (int32_t i = 0; i < program->n_nodes; i++) {
        for (int32_t j = 0; j < program->nodes[i].n_in; j++) {
            if (program->steps[program->nodes[i].in[j]].storage != program->state || reader == i) {
                continue;
            }
            if (reader >= 0) {
                return -1;
            }
            reader = i;
        }
    }
    return reader;
}

/* ---- building */

static bool has_rows(const sali_program *program, int32_t i)
{
    return sali_is_called(program, i) || i == program->state;
}

/* Node j as an operand of calls over all chains: its rows in `ch` if the node varies, else its
 * value in the parameters. */
static sali_arg make_arg(const sali_changes *ch, int32_t j)
{
    const sali_program *program = ch->program;
    bool varying = program->nodes[j].varying;
    int32_t storage = program->steps[j].storage;
    return (sali_arg){
        .value = varying ? ch->value[storage] : ch->params->value[j],
        .adjoint = varying ? ch->adjoint[storage] : NULL,
        .stride = varying ? program->steps[j].size : 0,
        .size = program->steps[j].size,
        .shape = &program->nodes[j].shape,
    };
}

/* Take memory for rows, shadows and delta lists of the nodes that have rows. Adds the elements of
 * these nodes' values and saved values, for one chain, to *elements. */
static void allocate_rows(sali_changes *ch, int64_t *elements)
{
    const sali_program *program = ch->program;
    sali_memory *m = &ch->memory;
    for (int32_t i = 0; !m->refused && i < program->n_nodes; i++) {
        const sali_step *step = &program->steps[i];
        if (!has_rows(program, i)) {
            continue;
        }
        int64_t row = step->size + step->saved_size;
        *elements += row;
        ch->value[i] = sali_memory_take(m, ch->chains * step->size, ch->element);
        ch->saved[i] = sali_memory_take(m, ch->chains * step->saved_size, ch->element);
        ch->shadow[i] = sali_memory_take(m, ch->chains * row, ch->element);
        ch->deltas[i].index = SALI_TAKE(m, int32_t, step->size);
        ch->deltas[i].old = sali_memory_take(m, step->size, ch->element);
        if (ch->gradient) {
            ch->adjoint[i] = sali_memory_take(m, ch->chains * step->size, ch->element);
        }
    }
    ch->scratch = sali_memory_take(m, sali_program_scratch(program, ch->chains), ch->element);
}

/* Take memory for codes and sites of all chains, and set the room of a journal, in proportion to
 * `elements`, the number of elements in all rows of a chain. */
static void allocate_chains(sali_changes *ch, int64_t elements)
{
    int64_t V = ch->program->space->n_variables;
    int64_t room = CELLS_PER_ELEMENT * elements + LEAST_CELLS;
    sali_memory *m = &ch->memory;
    ch->codes = SALI_TAKE(m, int32_t, ch->chains * V);
    ch->sites = SALI_TAKE(m, int64_t, ch->chains * V);
    ch->old_codes = SALI_TAKE(m, int32_t, ch->chains * V);
    ch->n_sites = SALI_TAKE(m, int64_t, ch->chains);
    ch->shadowed = SALI_TAKE(m, bool, ch->chains * ch->program->n_nodes);
    ch->journals = SALI_TAKE(m, sali_journal, ch->chains);
    ch->journal_room = room;
}

/* Take memory for the journals, which are the most of all, when chains first start: samplers that
 * follow chains by the couplings open trackers that they never start. Where there is none, journals
 * stay full, and changes copy whole rows. */
static void open_journals(sali_changes *ch)
{
    sali_cell *cells = SALI_TAKE(&ch->memory, sali_cell, ch->chains * ch->journal_room);
    for (int64_t c = 0; cells && c < ch->chains; c++) {
        ch->journals[c].cells = cells + c * ch->journal_room;
        ch->journals[c].room = ch->journal_room;
    }
}

/* Fill ch->calls, the calls over all chains in program order, with their operands, and take memory
 * for the operands of a call over one chain. */
static void make_calls(sali_changes *ch)
{
    const sali_program *program = ch->program;
    sali_memory *m = &ch->memory;
    ch->calls = SALI_TAKE(m, sali_call, program->n_nodes);
    ch->call_node = SALI_TAKE(m, int32_t, program->n_nodes);
    ch->args = SALI_TAKE(m, sali_arg, program->n_inputs);
    ch->row_args = SALI_TAKE(m, sali_arg, program->max_inputs);
    ch->in = SALI_TAKE(m, const sali_delta *, program->max_inputs);
    sali_arg *args = ch->args;
    for (int32_t i = 0; !m->refused && i < program->n_nodes; i++) {
        if (!sali_is_called(program, i)) {
            continue;
        }
        const sali_node *node = &program->nodes[i];
        ch->call_node[ch->n_calls] = i;
        ch->calls[ch->n_calls++] = (sali_call){
            .node = node,
            .plan = program->steps[i].plan,
            .prepared = ch->params->prepared[i],
            .unlimited = ch->unlimited,
            .chains = ch->chains,
            .codes = ch->codes,
            .in = args,
            .out = make_arg(ch, i),
            .saved = ch->saved[i],
            .scratch = ch->scratch,
        };
        for (int32_t k = 0; k < node->n_in; k++) {
            *args++ = make_arg(ch, node->in[k]);
        }
    }
}

sal_status sali_changes_create(const sali_program *program, const sali_params *params,
                               int64_t chains, unsigned wants, sali_changes **out, sal_error *err)
{
    const bool gradient = (wants & SALI_WANT_STATE_GRADIENT) != 0;
    sali_changes *ch = SALI_NEW(sali_changes);
    if (!ch) {
        return sali_fail_memory(err);
    }
    int64_t elements = 0, n = program->n_nodes;
    if (program->state < 0) {
        sali_free(ch);
        return sali_fail(err, SAL_ERR_UNSUPPORTED, "f does not depend on the state");
    }
    *ch = (sali_changes){
        .program = program,
        .params = params,
        .chains = chains,
        .element = sali_dtype_size(program->dtype),
        .unlimited = (wants & SALI_WANT_UNLIMITED) != 0,
        .gradient = gradient,
        .local_gradient = gradient && gradient_is_local(program),
        .sole_reader = find_sole_reader(program),
    };
    ch->value = SALI_TAKE(&ch->memory, void *, n);
    ch->saved = SALI_TAKE(&ch->memory, void *, n);
    ch->adjoint = SALI_TAKE(&ch->memory, void *, n);
    ch->shadow = SALI_TAKE(&ch->memory, void *, n);
    ch->deltas = SALI_TAKE(&ch->memory, sali_delta, n);
    allocate_rows(ch, &elements);
    allocate_chains(ch, elements);
    make_calls(ch);
    sal_status status = sali_memory_status(&ch->memory, err);
    if (status != SAL_OK) {
        sali_changes_destroy(ch);
        return status;
    }
    *out = ch;
    return SAL_OK;
}

void sali_changes_destroy(sali_changes *ch)
{
    if (ch) {
        sali_memory_free(&ch->memory);
        sali_free(ch);
    }
}

/* ---- rows */

static void *row_of(const sali_changes *ch, void *rows, int64_t c, int64_t size)
{
    return (char *)rows + (size_t)(c * size) * ch->element;
}

static void *state_row(const sali_changes *ch, int64_t c)
{
    return row_of(ch, ch->value[ch->program->state], c, ch->program->space->width);
}

static sali_arg row_arg(const sali_changes *ch, sali_arg arg, int64_t c)
{
    if (arg.stride) {
        arg.value = row_of(ch, (void *)arg.value, c, arg.stride);
        arg.adjoint = arg.adjoint ? row_of(ch, arg.adjoint, c, arg.stride) : NULL;
    }
    return arg;
}

/* Call k for chain c alone. */
static sali_call row_call(sali_changes *ch, int32_t k, int64_t c)
{
    sali_call call = ch->calls[k];
    int32_t node = ch->call_node[k];
    for (int32_t j = 0; j < call.node->n_in; j++) {
        ch->row_args[j] = row_arg(ch, call.in[j], c);
    }
    call.chains = 1;
    call.codes = ch->codes + c * ch->program->space->n_variables;
    call.in = ch->row_args;
    call.out = row_arg(ch, call.out, c);
    call.saved = row_of(ch, call.saved, c, ch->program->steps[node].saved_size);
    return call;
}

/* ---- evaluating again */

static const sali_op *op_of(const sali_changes *ch, int32_t k)
{
    return ch->program->steps[ch->call_node[k]].op;
}

/* Compute the gradient of the first n chains: zero all adjoints, set the adjoint of f to 1, and run
 * every call backward. */
static void run_backward(sali_changes *ch, int64_t n)
{
    const sali_program *program = ch->program;
    for (int32_t i = 0; i < program->n_nodes; i++) {
        if (ch->adjoint[i]) {
            memset(ch->adjoint[i], 0, (size_t)(n * program->steps[i].size) * ch->element);
        }
    }
    void *seed = ch->adjoint[program->steps[program->root].storage];
    for (int64_t c = 0; seed && c < n; c++) {
        sali_store(program->dtype, seed, c, 1);
    }
    for (int32_t k = ch->n_calls - 1; k >= 0; k--) {
        ch->calls[k].chains = n;
        op_of(ch, k)->backward(&ch->calls[k]);
    }
}

void sali_changes_backward(sali_changes *ch)
{
    run_backward(ch, ch->chains);
}

void sali_changes_start(sali_changes *ch, int64_t n, const int32_t *codes)
{
    const sal_space *space = ch->program->space;
    memcpy(ch->codes, codes, (size_t)(n * space->n_variables) * sizeof *codes);
    if (ch->chains > 0 && !ch->journals[0].cells) {
        open_journals(ch);
    }
    for (int64_t c = 0; c < ch->chains; c++) {
        sali_changes_keep(ch, c);
    }
    void *x = ch->value[ch->program->state];
    if (ch->program->dtype == SAL_F32) {
        sali_embed_f32(space, n, codes, x);
    } else {
        sali_embed_f64(space, n, codes, x);
    }
    for (int32_t k = 0; k < ch->n_calls; k++) {
        ch->calls[k].chains = n;
        op_of(ch, k)->forward(&ch->calls[k]);
    }
    if (ch->gradient) {
        run_backward(ch, n);
    }
}

/* ---- trying */

/* Set variable `site` of chain c to `code`, in codes and in embedding. */
static void set_variable(sali_changes *ch, int64_t c, int64_t site, int32_t code)
{
    const sal_space *space = ch->program->space;
    ch->codes[c * space->n_variables + site] = code;
    if (ch->program->dtype == SAL_F32) {
        sali_embed_one_f32(space, site, code, state_row(ch, c));
    } else {
        sali_embed_one_f64(space, site, code, state_row(ch, c));
    }
}

/* Set variable `site` of chain c to `code`, and add its changed coordinates, with their old values,
 * to the state's list of changes. */
static void move_variable(sali_changes *ch, int64_t c, int64_t site, int32_t code)
{
    const sal_space *space = ch->program->space;
    const sali_variable *v = &space->variables[site];
    sali_delta *delta = &ch->deltas[ch->program->state];
    const char *x = state_row(ch, c);
    int32_t coordinates[2] = { ch->codes[c * space->n_variables + site], code };
    for (int k = 0; k < (v->kind == SAL_CATEGORICAL ? 2 : 1); k++) {
        int64_t at = v->offset + (v->kind == SAL_CATEGORICAL ? coordinates[k] : 0);
        delta->index[delta->n] = (int32_t)at;
        memcpy((char *)delta->old + (size_t)delta->n++ * ch->element, x + (size_t)at * ch->element,
               ch->element);
    }
    set_variable(ch, c, site, code);
}

/* Evaluate the row of call k for chain c again. The first time since the last decision the old row
 * is copied to its shadow. Marks the whole row as changed. */
static void evaluate_row(sali_changes *ch, int32_t k, int64_t c, const sali_call *call)
{
    int32_t i = ch->call_node[k];
    const sali_step *step = &ch->program->steps[i];
    char *shadow = row_of(ch, ch->shadow[i], c, step->size + step->saved_size);
    bool *shadowed = &ch->shadowed[c * ch->program->n_nodes + i];
    if (!*shadowed) {
        memcpy(shadow, call->out.value, (size_t)step->size * ch->element);
        memcpy(shadow + (size_t)step->size * ch->element, call->saved,
               (size_t)step->saved_size * ch->element);
        *shadowed = true;
    }
    step->op->forward(call);
    ch->deltas[i].n = SALI_ALL;
}

/* Whether the changes of the node's inputs are listed and few, so that a change rule pays. *any:
 * whether an input changed at all. Sets ch->in to the lists of changes. */
static bool few_changes(const sali_changes *ch, const sali_node *node, bool *any)
{
    bool few = true;
    *any = false;
    for (int32_t j = 0; j < node->n_in; j++) {
        const sali_step *step = &ch->program->steps[node->in[j]];
        const sali_delta *delta = &ch->deltas[step->storage];
        ch->in[j] = delta;
        *any |= delta->n != 0;
        few &= delta->n != SALI_ALL && (delta->n <= 2 || delta->n * LIST_SHARE <= step->size);
    }
    return few;
}

static bool has_affine_inputs(const sali_program *program, const sali_node *node)
{
    bool affine = true;
    for (int32_t k = 0; k < node->n_in; k++) {
        affine &= program->steps[node->in[k]].degree <= SALI_AFFINE;
    }
    return affine;
}

/* What the change rule of call k gets for chain c; `call` is call k over this chain alone. */
static sali_change make_change(sali_changes *ch, int32_t k, int64_t c, const sali_call *call)
{
    const sali_program *program = ch->program;
    int32_t i = ch->call_node[k], state = program->state;
    int64_t V = program->space->n_variables, N = program->space->width;
    const sali_step *step = &program->steps[i];
    bool keep = ch->local_gradient && step->op->changes_gradient;
    return (sali_change){
        .call = call,
        .in = ch->in,
        .out = &ch->deltas[i],
        .affine = has_affine_inputs(program, call->node),
        .journal = &ch->journals[c],
        .n_sites = ch->n_sites[c],
        .sites = ch->sites + c * V,
        .shadow = row_of(ch, ch->shadow[i], c, step->size + step->saved_size),
        .shadowed = &ch->shadowed[c * program->n_nodes + i],
        .gradient = keep ? row_of(ch, ch->adjoint[state], c, N) : NULL,
        .gradient_shadow = row_of(ch, ch->shadow[state], c, N),
        .gradient_shadowed = &ch->shadowed[c * program->n_nodes + state],
        .sole = ch->sole_reader == i,
    };
}

/* Update the rows of chain c, node by node, after variables moved. False: a rule gave up, or a node
 * must evaluate its row again although its rule has to keep the gradient. */
static bool follow_change(sali_changes *ch, int64_t c)
{
    for (int32_t k = 0; k < ch->n_calls; k++) {
        const sali_op *op = op_of(ch, k);
        bool any, few = few_changes(ch, ch->calls[k].node, &any);
        ch->deltas[ch->call_node[k]].n = 0;
        if (!any) {
            continue;
        }
        sali_call call = row_call(ch, k, c);
        sali_change_outcome outcome = SALI_CHANGE_ROW;
        if (few && op->change) {
            sali_change change = make_change(ch, k, c, &call);
            outcome = op->change(&change);
        }
        if (outcome == SALI_CHANGE_GIVE_UP ||
            (outcome == SALI_CHANGE_ROW && ch->local_gradient && op->changes_gradient)) {
            return false;
        }
        if (outcome == SALI_CHANGE_ROW) {
            evaluate_row(ch, k, c, &call);
        }
    }
    return true;
}

/* Evaluate all rows of chain c again and, if the gradient is local, the gradient. The caller has
 * restored what change rules wrote. */
static void follow_anew(sali_changes *ch, int64_t c)
{
    const sali_program *program = ch->program;
    int64_t N = program->space->width;
    for (int32_t k = 0; k < ch->n_calls; k++) {
        sali_call call = row_call(ch, k, c);
        evaluate_row(ch, k, c, &call);
    }
    if (!ch->local_gradient) {
        return;
    }
    char *gradient = row_of(ch, ch->adjoint[program->state], c, N);
    memcpy(row_of(ch, ch->shadow[program->state], c, N), gradient, (size_t)N * ch->element);
    ch->shadowed[c * program->n_nodes + program->state] = true;
    memset(gradient, 0, (size_t)N * ch->element);
    /* The adjoints of all other nodes are constant: only what reads the state is passed again. */
    for (int32_t k = ch->n_calls - 1; k >= 0; k--) {
        sali_call call = row_call(ch, k, c);
        bool reads_state = false;
        for (int32_t j = 0; j < call.node->n_in; j++) {
            if (program->steps[call.node->in[j]].storage == program->state) {
                reads_state = true;
            } else {
                call.in[j].adjoint = NULL;
            }
        }
        if (reads_state) {
            op_of(ch, k)->backward(&call);
        }
    }
}

/* Restore what was overwritten in chain c: first whole rows from their shadows, then the words of
 * the journal, because a word may have been overwritten before its row was copied. */
static void restore_chain(sali_changes *ch, int64_t c)
{
    const sali_program *program = ch->program;
    sali_journal *journal = &ch->journals[c];
    bool *shadowed = ch->shadowed + c * program->n_nodes;
    for (int32_t i = 0; i < program->n_nodes; i++) {
        if (!shadowed[i]) {
            continue;
        }
        const sali_step *step = &program->steps[i];
        const char *shadow = row_of(ch, ch->shadow[i], c, step->size + step->saved_size);
        void **rows = i == program->state ? ch->adjoint : ch->value;
        memcpy(row_of(ch, rows[i], c, step->size), shadow, (size_t)step->size * ch->element);
        memcpy(row_of(ch, ch->saved[i], c, step->saved_size),
               shadow + (size_t)step->size * ch->element, (size_t)step->saved_size * ch->element);
        shadowed[i] = false;
    }
    while (journal->used > 0) {
        const sali_cell *cell = &journal->cells[--journal->used];
        memcpy(cell->at, &cell->old, cell->size);
    }
}

double sali_changes_try(sali_changes *ch, int64_t c, int64_t n, const int64_t *sites,
                        const int32_t *codes)
{
    int64_t V = ch->program->space->n_variables;
    ch->n_sites[c] = 0;
    ch->deltas[ch->program->state].n = 0;
    for (int64_t k = 0; k < n; k++) {
        int32_t now = ch->codes[c * V + sites[k]];
        if (codes[k] != now) {
            int64_t at = c * V + ch->n_sites[c]++;
            ch->sites[at] = sites[k];
            ch->old_codes[at] = now;
            move_variable(ch, c, sites[k], codes[k]);
        }
    }
    if (ch->n_sites[c] > 0 && !follow_change(ch, c)) {
        restore_chain(ch, c);
        follow_anew(ch, c);
    }
    return sali_changes_value(ch, c);
}

/* ---- deciding */

void sali_changes_keep(sali_changes *ch, int64_t c)
{
    ch->journals[c].used = 0;
    ch->n_sites[c] = 0;
    memset(ch->shadowed + c * ch->program->n_nodes, 0, (size_t)ch->program->n_nodes);
}

void sali_changes_undo(sali_changes *ch, int64_t c)
{
    int64_t V = ch->program->space->n_variables;
    restore_chain(ch, c);
    for (int64_t k = ch->n_sites[c] - 1; k >= 0; k--) {
        set_variable(ch, c, ch->sites[c * V + k], ch->old_codes[c * V + k]);
    }
    ch->n_sites[c] = 0;
}

/* ---- reading */

double sali_changes_value(const sali_changes *ch, int64_t c)
{
    const sali_program *program = ch->program;
    int32_t root = program->steps[program->root].storage;
    bool varying = program->nodes[program->root].varying;
    const void *rows = varying ? ch->value[root] : ch->params->value[root];
    return sali_load(program->dtype, rows, varying ? c : 0) + ch->params->offset;
}

const int32_t *sali_changes_codes(const sali_changes *ch, int64_t c)
{
    return ch->codes + c * ch->program->space->n_variables;
}

const void *sali_changes_state(const sali_changes *ch, int64_t c)
{
    return state_row(ch, c);
}

bool sali_changes_has_local_gradient(const sali_changes *ch)
{
    return ch->local_gradient;
}

const void *sali_changes_gradient(const sali_changes *ch, int64_t c)
{
    return row_of(ch, ch->adjoint[ch->program->state], c, ch->program->space->width);
}
