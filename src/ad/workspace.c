/* SPDX-License-Identifier: MIT */
#include "ad/workspace.h"

#include <string.h>

#include <saltus/program.h>
#include "ad/hoisted.h"
#include "ad/plan_buffers.h"
#include "core/error.h"
#include "core/memory.h"

/* An adjoint, by an operand that points to it, and the node that it belongs to. */
typedef struct fresh_adjoint {
    const sali_arg *arg;
    int32_t storage;
} fresh_adjoint;

/* The calls of one purpose, in program order. State gradient and parameter gradient differ in which
 * adjoints are wanted, so each has its own list. */
typedef struct schedule {
    int32_t n_calls;
    sali_call *calls;
    sali_arg *args; /* of all calls */
    int32_t n_state_args;
    sali_arg **state_args; /* operands that are the state: set at every replay */
    void **adjoint;        /* by node; NULL: not wanted */
    bool *needed;          /* by call: some backward pass needs what its forward pass writes */
    int32_t *begin;        /* by call: where its adjoints in `fresh` begin */
    int32_t n_fresh;
    fresh_adjoint *fresh; /* adjoints by the call that is the first to add to them, and that does
                           * not set them: they are zeroed before */
} schedule;

struct sali_workspace {
    sali_memory memory; /* of all arrays but the places */
    const sali_program *program;
    const sali_params *params;
    int64_t max_chains;
    bool unlimited;
    size_t element; /* bytes of a real */
    sali_buffer_plan places;
    char *block;  /* of what varies: values, saved values and adjoints */
    void **value; /* by node: varying nodes only */
    void **saved;
    void **adjoint; /* by node: what any schedule wants */
    bool *gathers;  /* by node: it does not vary, and replays add to its adjoint */
    void *scratch;
    sali_arg *hoisted_args; /* [max_inputs]: operands of one hoisted call */
    sali_arg *tile_args;    /* [max_inputs]: operands of one call over some chains */
    schedule state, param;
};

/* ---- building */

/* One operand of a schedule: node j as it lies in this workspace or in the parameters. */
static sali_arg make_arg(const sali_workspace *ws, const schedule *plan, int32_t j)
{
    const sali_program *program = ws->program;
    bool varying = program->nodes[j].varying;
    int32_t storage = program->steps[j].storage;
    return (sali_arg){
        .value = varying ? ws->value[storage] : ws->params->value[j],
        .adjoint = plan->adjoint[storage],
        .stride = varying ? program->steps[j].size : 0,
        .size = program->steps[j].size,
        .shape = &program->nodes[j].shape,
        .pixel_major = program->nodes[j].pixel_major,
    };
}

static void note_state(const sali_workspace *ws, schedule *plan, int32_t j, sali_arg *arg)
{
    if (ws->program->state >= 0 && ws->program->steps[j].storage == ws->program->state) {
        plan->state_args[plan->n_state_args++] = arg;
    }
}

/* Fill the calls of a schedule, in program order, and their operands; lists the operands that are
 * the state. */
static void fill_schedule(const sali_workspace *ws, schedule *plan)
{
    const sali_program *program = ws->program;
    sali_arg *args = plan->args;
    for (int32_t i = 0; i < program->n_nodes; i++) {
        if (!sali_is_called(program, i)) {
            continue;
        }
        const sali_node *node = &program->nodes[i];
        sali_call *call = &plan->calls[plan->n_calls++];
        *call = (sali_call){
            .node = node,
            .plan = program->steps[i].plan,
            .prepared = ws->params->prepared[i],
            .unlimited = ws->unlimited,
            .in = args,
            .out = make_arg(ws, plan, i),
            .saved = ws->saved[i],
            .scratch = ws->scratch,
        };
        for (int32_t k = 0; k < node->n_in; k++) {
            args[k] = make_arg(ws, plan, node->in[k]);
            note_state(ws, plan, node->in[k], &args[k]);
        }
        args += node->n_in;
    }
}

/* List each adjoint with the call that adds to it first, which is the last call that read its
 * value; an adjoint to which no call adds, with its own node's call. One that this call sets is not
 * listed, and its operand is marked. seen [nodes] must be false. */
static void list_fresh(const sali_workspace *ws, schedule *plan, bool *seen)
{
    const sali_program *program = ws->program;
    seen[program->steps[program->root].storage] = true; /* f's own is seeded */
    for (int32_t k = plan->n_calls - 1; k >= 0; k--) {
        const sali_call *call = &plan->calls[k];
        const bool sets = program->steps[call->node - program->nodes].op->sets_fresh;
        plan->begin[k] = plan->n_fresh;
        for (int32_t j = -1; j < call->node->n_in; j++) {
            int32_t i = j < 0 ? (int32_t)(call->node - program->nodes)
                              : program->steps[call->node->in[j]].storage;
            const sali_arg *arg = j < 0 ? &call->out : &call->in[j];
            if (sali_is_called(program, i) && plan->adjoint[i] && !seen[i]) {
                seen[i] = true;
                if (j == 0 && sets && call->out.adjoint) {
                    call->in[0].fresh = true;
                } else {
                    plan->fresh[plan->n_fresh++] = (fresh_adjoint){ arg, i };
                }
            }
        }
    }
}

/* Whether a call's backward pass reads what its forward pass left. */
static bool reads_own(const sali_call *call, const sali_op *op)
{
    bool own = !op->params_by_inputs;
    for (int32_t k = 0; k < call->node->n_in; k++) {
        own |= call->in[k].adjoint && !(k < 32 && op->param_inputs >> k & 1);
    }
    return own;
}

/* Set plan->needed: the forward passes that backward passes cannot do without. values [nodes],
 * false before, receives which values are needed. Backward passes of linear ops read no values. */
static void list_needed(const sali_workspace *ws, schedule *plan, bool *values)
{
    const sali_step *steps = ws->program->steps;
    for (int32_t k = plan->n_calls - 1; k >= 0; k--) {
        const sali_call *call = &plan->calls[k];
        int64_t i = call->node - ws->program->nodes;
        bool reads = call->out.adjoint && !steps[i].op->linear;
        plan->needed[k] = values[i] || (reads && reads_own(call, steps[i].op));
        for (int32_t j = 0; j < call->node->n_in; j++) {
            values[steps[call->node->in[j]].storage] |= reads || plan->needed[k];
        }
    }
}

/* Take memory for the lists of a schedule: room for a call of every node. */
static void allocate_schedule(sali_workspace *ws, schedule *plan)
{
    int32_t n = ws->program->n_nodes, inputs = ws->program->n_inputs;
    plan->calls = SALI_TAKE(&ws->memory, sali_call, n);
    plan->args = SALI_TAKE(&ws->memory, sali_arg, inputs);
    plan->state_args = SALI_TAKE(&ws->memory, sali_arg *, inputs);
    plan->adjoint = SALI_TAKE(&ws->memory, void *, n);
    plan->needed = SALI_TAKE(&ws->memory, bool, n);
    plan->begin = SALI_TAKE(&ws->memory, int32_t, n);
    plan->fresh = SALI_TAKE(&ws->memory, fresh_adjoint, n);
}

static void *in_block(const sali_workspace *ws, int64_t offset)
{
    return offset < 0 ? NULL : ws->block + offset;
}

/* Set ws->gathers: the nodes that a node that varies reads, and f itself if it does not vary. Other
 * nodes get their adjoints through these, only once in sali_workspace_param_flat. */
static void list_gathering(sali_workspace *ws)
{
    const sali_program *program = ws->program;
    for (int32_t i = 0; i < program->n_nodes; i++) {
        const sali_node *node = &program->nodes[i];
        for (int32_t k = 0; node->varying && k < node->n_in; k++) {
            const int32_t j = program->steps[node->in[k]].storage;
            ws->gathers[j] |= !program->nodes[j].varying && program->steps[j].param_path;
        }
    }
    const int32_t root = program->steps[program->root].storage;
    ws->gathers[root] |= !program->nodes[root].varying && program->steps[root].param_path;
}

/* Set value, saved and adjoint of all nodes, for the workspace and its two schedules. Adjoints of
 * nodes that do not vary have memory of their own, because they are gathered over many replays. */
static void allocate_buffers(sali_workspace *ws, unsigned wants)
{
    const sali_program *program = ws->program;
    ws->block = SALI_TAKE(&ws->memory, char, ws->places.bytes);
    for (int32_t i = 0; !ws->memory.refused && i < program->n_nodes; i++) {
        const sali_step *step = &program->steps[i];
        bool for_state = (wants & SALI_WANT_STATE_GRADIENT) && step->state_path;
        bool for_param = (wants & SALI_WANT_PARAM_GRADIENT) && step->param_path;
        if (step->storage != i || i == program->state) {
            continue;
        }
        ws->value[i] = in_block(ws, ws->places.value[i]);
        ws->saved[i] = in_block(ws, ws->places.saved[i]);
        ws->adjoint[i] = in_block(ws, ws->places.adjoint[i]);
        for_param &= program->nodes[i].varying || ws->gathers[i] || !(wants & SALI_WANT_PARAM_PART);
        if (for_param && !program->nodes[i].varying) {
            ws->adjoint[i] = sali_memory_take(&ws->memory, step->size, ws->element);
        }
        ws->state.adjoint[i] = for_state ? ws->adjoint[i] : NULL;
        ws->param.adjoint[i] = for_param ? ws->adjoint[i] : NULL;
    }
}

static void allocate_scratch(sali_workspace *ws)
{
    const sali_program *program = ws->program;
    ws->scratch =
        sali_memory_take(&ws->memory, sali_program_scratch(program, ws->max_chains), ws->element);
    ws->hoisted_args = SALI_TAKE(&ws->memory, sali_arg, program->max_inputs);
    ws->tile_args = SALI_TAKE(&ws->memory, sali_arg, program->max_inputs);
}

sal_status sali_workspace_create(const sali_program *program, const sali_params *params,
                                 int64_t chains, unsigned wants, sali_workspace **out,
                                 sal_error *err)
{
    sali_workspace *ws = SALI_NEW(sali_workspace);
    if (!ws) {
        return sali_fail_memory(err);
    }
    ws->program = program;
    ws->params = params;
    ws->max_chains = chains;
    ws->unlimited = (wants & SALI_WANT_UNLIMITED) != 0;
    ws->element = sali_dtype_size(program->dtype);
    ws->value = SALI_TAKE(&ws->memory, void *, program->n_nodes);
    ws->saved = SALI_TAKE(&ws->memory, void *, program->n_nodes);
    ws->adjoint = SALI_TAKE(&ws->memory, void *, program->n_nodes);
    ws->gathers = SALI_TAKE(&ws->memory, bool, program->n_nodes);
    bool *seen = SALI_NEW_ARRAY(bool, program->n_nodes);
    bool ok = seen && sali_buffer_plan_create(program, chains, wants, &ws->places, err) == SAL_OK;
    allocate_schedule(ws, &ws->state);
    allocate_schedule(ws, &ws->param);
    if (ok && !ws->memory.refused) {
        list_gathering(ws);
        allocate_buffers(ws, wants);
    }
    allocate_scratch(ws);
    if (!ok || ws->memory.refused) {
        sali_free(seen);
        sali_workspace_destroy(ws);
        return sali_fail_memory(err);
    }
    fill_schedule(ws, &ws->state);
    fill_schedule(ws, &ws->param);
    list_fresh(ws, &ws->state, seen);
    memset(seen, 0, (size_t)program->n_nodes * sizeof *seen);
    list_fresh(ws, &ws->param, seen);
    memset(seen, 0, (size_t)program->n_nodes * sizeof *seen);
    list_needed(ws, &ws->param, seen);
    sali_free(seen);
    *out = ws;
    return SAL_OK;
}

void sali_workspace_destroy(sali_workspace *ws)
{
    if (!ws) {
        return;
    }
    sali_buffer_plan_clear(&ws->places);
    sali_memory_free(&ws->memory);
    sali_free(ws);
}

int64_t sali_workspace_bytes(const sali_workspace *ws, int64_t *apart)
{
    *apart = ws->places.apart;
    return ws->places.bytes;
}

/* ---- replaying */

static void add_at(sal_dtype dtype, void *values, int64_t index, double term)
{
    if (dtype == SAL_F32) {
        ((float *)values)[index] += (float)term;
    } else {
        ((double *)values)[index] += term;
    }
}

/* Some chains of a replay. */
typedef struct tile {
    int64_t first, count;
} tile;

/* The rows of an operand that a tile has. A buffer that is local to a run has the rows of one tile
 * only. */
static sali_arg arg_of_tile(const sali_workspace *ws, const sali_arg *arg, int32_t storage,
                            tile rows)
{
    sali_arg part = *arg;
    bool local = ws->program->fusion.local[storage];
    size_t skipped = (size_t)(rows.first * arg->stride) * ws->element;
    if (!(local && ws->places.local_values)) {
        part.value = (const char *)arg->value + skipped;
    }
    if (arg->adjoint && !(local && ws->places.local_adjoints)) {
        part.adjoint = (char *)arg->adjoint + skipped;
    }
    return part;
}

/* Call k of a schedule over the chains of a tile. The call's operands are in ws->tile_args, until
 * the next such call. */
static sali_call call_of_tile(const sali_workspace *ws, const schedule *plan, int32_t k, tile rows,
                              const int32_t *codes)
{
    const sali_program *program = ws->program;
    sali_call call = plan->calls[k];
    int32_t i = (int32_t)(call.node - program->nodes);
    for (int32_t j = 0; j < call.node->n_in; j++) {
        int32_t storage = program->steps[call.node->in[j]].storage;
        ws->tile_args[j] = arg_of_tile(ws, &call.in[j], storage, rows);
    }
    call.in = ws->tile_args;
    call.out = arg_of_tile(ws, &call.out, i, rows);
    call.chains = rows.count;
    call.codes = codes ? codes + rows.first * program->space->n_variables : NULL;
    if (call.saved && !(program->fusion.local[i] && ws->places.local_values)) {
        call.saved =
            (char *)call.saved + (size_t)(rows.first * program->steps[i].saved_size) * ws->element;
    }
    return call;
}

/* The next tile of a run over all chains; false when there is none. */
static bool next_tile(const sali_run *run, int64_t chains, tile *rows)
{
    rows->first += rows->count;
    int64_t left = chains - rows->first;
    rows->count = left < run->tile ? left : run->tile;
    return left > 0;
}

/* Run all calls forward; without f, only the calls that backward passes need. x and its adjoint (or
 * NULL) are set where the state is read. */
static void run_forward(sali_workspace *ws, schedule *plan, int64_t chains, const int32_t *codes,
                        const void *x, void *x_adjoint, double *f)
{
    const sali_program *program = ws->program;
    for (int32_t k = 0; k < plan->n_state_args; k++) {
        plan->state_args[k]->value = x;
        plan->state_args[k]->adjoint = x_adjoint;
    }
    for (int32_t r = 0; r < program->fusion.n_runs; r++) {
        const sali_run *run = &program->fusion.runs[r];
        for (tile rows = { 0 }; next_tile(run, chains, &rows);) {
            for (int32_t k = run->begin; k < run->end; k++) {
                if (f || plan->needed[k]) {
                    sali_call call = call_of_tile(ws, plan, k, rows, codes);
                    program->steps[call.node - program->nodes].op->forward(&call);
                }
            }
        }
    }
    int32_t root = program->steps[program->root].storage;
    bool varying = program->nodes[program->root].varying;
    const void *values = root == program->state ? x
                         : varying              ? ws->value[root]
                                                : ws->params->value[root];
    for (int64_t c = 0; f && c < chains; c++) {
        f[c] = sali_load(program->dtype, values, varying ? c : 0) + ws->params->offset;
    }
}

/* Zero a tile of the adjoints that call k is the first to add to. */
static void zero_fresh(const sali_workspace *ws, const schedule *plan, tile rows, int32_t k)
{
    int32_t end = k > 0 ? plan->begin[k - 1] : plan->n_fresh;
    for (int32_t at = plan->begin[k]; at < end; at++) {
        const fresh_adjoint *fresh = &plan->fresh[at];
        sali_arg part = arg_of_tile(ws, fresh->arg, fresh->storage, rows);
        memset(part.adjoint, 0, (size_t)(rows.count * part.size) * ws->element);
    }
}

/* The adjoint of an addend of f, if it is wanted: the sum of all weights. */
static void seed_addend(const sali_workspace *ws, schedule *plan, int32_t addend, int64_t chains,
                        const double *weight)
{
    void *adjoint = plan->adjoint[ws->program->steps[addend].storage];
    double sum = 0;
    for (int64_t c = 0; adjoint && c < chains; c++) {
        sum += weight ? weight[c] : 1.0;
    }
    if (adjoint) {
        add_at(ws->program->dtype, adjoint, 0, sum);
    }
}

/* Seed the adjoint of f with weight (NULL: ones), and run backward. */
static void run_backward(sali_workspace *ws, schedule *plan, int64_t chains, const int32_t *codes,
                         const double *weight, void *x_adjoint)
{
    const sali_program *program = ws->program;
    if (x_adjoint) {
        memset(x_adjoint, 0, (size_t)(chains * program->space->width) * ws->element);
    }
    int32_t root = program->steps[program->root].storage;
    bool varying = program->nodes[program->root].varying;
    void *seed = root == program->state ? x_adjoint : plan->adjoint[root];
    if (seed && sali_is_called(program, root)) {
        memset(seed, 0, (size_t)chains * ws->element);
    }
    for (int64_t c = 0; seed && c < chains; c++) {
        add_at(program->dtype, seed, varying ? c : 0, weight ? weight[c] : 1.0);
    }
    for (int32_t a = 0; a < program->n_addends; a++) {
        seed_addend(ws, plan, program->addends[a], chains, weight);
    }
    for (int32_t r = program->fusion.n_runs - 1; r >= 0; r--) {
        const sali_run *run = &program->fusion.runs[r];
        for (tile rows = { 0 }; next_tile(run, chains, &rows);) {
            for (int32_t k = run->end - 1; k >= run->begin; k--) {
                zero_fresh(ws, plan, rows, k);
                if (plan->calls[k].out.adjoint) {
                    sali_call call = call_of_tile(ws, plan, k, rows, codes);
                    program->steps[call.node - program->nodes].op->backward(&call);
                }
            }
        }
    }
}

void sali_workspace_value(sali_workspace *ws, int64_t chains, const int32_t *codes, const void *x,
                          double *f)
{
    run_forward(ws, &ws->state, chains, codes, x, NULL, f);
}

const void *sali_workspace_values(const sali_workspace *ws, int32_t i)
{
    int32_t storage = ws->program->steps[i].storage;
    return storage == ws->program->state ? NULL : ws->value[storage];
}

void sali_workspace_gradient(sali_workspace *ws, int64_t chains, const int32_t *codes,
                             const void *x, double *f, void *gradient)
{
    run_forward(ws, &ws->state, chains, codes, x, gradient, f);
    run_backward(ws, &ws->state, chains, codes, NULL, gradient);
}

/* Set the adjoints that do not vary to zero: those that replays add to, or the others. */
static void zero_adjoints(sali_workspace *ws, bool gathering)
{
    const sali_program *program = ws->program;
    for (int32_t i = 0; i < program->n_nodes; i++) {
        if (!program->nodes[i].varying && ws->param.adjoint[i] && ws->gathers[i] == gathering) {
            memset(ws->param.adjoint[i], 0, (size_t)program->steps[i].size * ws->element);
        }
    }
}

void sali_workspace_param_zero(sali_workspace *ws)
{
    zero_adjoints(ws, true);
}

void sali_workspace_param_gradient(sali_workspace *ws, int64_t chains, const int32_t *codes,
                                   const void *x, const double *weight, double *f)
{
    run_forward(ws, &ws->param, chains, codes, x, NULL, f);
    run_backward(ws, &ws->param, chains, codes, weight, NULL);
}

const void *sali_workspace_param_gathered(const sali_workspace *ws, int32_t i)
{
    return ws->gathers[i] ? ws->param.adjoint[i] : NULL;
}

/* Add elements first .. first + n - 1 of `from` to those of `to`. */
static void add_some(sal_dtype dtype, void *to, const void *from, int64_t first, int64_t n)
{
    if (dtype == SAL_F32) {
        float *a = (float *)to + first;
        const float *b = (const float *)from + first;
        for (int64_t k = 0; k < n; k++) {
            a[k] += b[k];
        }
    } else {
        double *a = (double *)to + first;
        const double *b = (const double *)from + first;
        for (int64_t k = 0; k < n; k++) {
            a[k] += b[k];
        }
    }
}

void sali_workspace_param_add(sali_workspace *ws, const sali_workspace *other)
{
    const sali_program *program = ws->program;
    for (int32_t i = 0; i < program->n_nodes; i++) {
        if (ws->gathers[i]) {
            add_some(program->dtype, ws->param.adjoint[i], other->param.adjoint[i], 0,
                     program->steps[i].size);
        }
    }
}

int64_t sali_workspace_param_bytes(const sali_workspace *ws)
{
    int64_t bytes = 0;
    for (int32_t i = 0; i < ws->program->n_nodes; i++) {
        bytes += ws->gathers[i] ? ws->program->steps[i].size * (int64_t)ws->element : 0;
    }
    return bytes;
}

void sali_workspace_param_pack(const sali_workspace *ws, void *packed)
{
    char *to = packed;
    for (int32_t i = 0; i < ws->program->n_nodes; i++) {
        if (ws->gathers[i]) {
            const size_t bytes = (size_t)ws->program->steps[i].size * ws->element;
            memcpy(to, ws->param.adjoint[i], bytes);
            to += bytes;
        }
    }
}

void sali_workspace_param_add_packed(sali_workspace *ws, const void *packed)
{
    const char *from = packed;
    for (int32_t i = 0; i < ws->program->n_nodes; i++) {
        if (ws->gathers[i]) {
            const int64_t n = ws->program->steps[i].size;
            add_some(ws->program->dtype, ws->param.adjoint[i], from, 0, n);
            from += (size_t)n * ws->element;
        }
    }
}

/* Elements that are added at once: those of some 64 workspaces stay in a cache. */
enum { STRETCH = 1024 };

/* Additions below which waking threads costs more than it saves. */
#define WORTH_THREADS 1000000

/* The adjoints of one node in n workspaces. */
typedef struct node_sum {
    sali_workspace *const *ws;
    int64_t n, size;
    int32_t node;
} node_sum;

/* Add stretch number `k` of the adjoints of all workspaces to the first's. */
static void add_stretch(void *context, int64_t k)
{
    const node_sum *s = context;
    const int64_t first = k * STRETCH, left = s->size - first;
    for (int64_t stride = 1; stride < s->n; stride *= 2) {
        for (int64_t w = 0; w + stride < s->n; w += 2 * stride) {
            add_some(s->ws[w]->program->dtype, s->ws[w]->param.adjoint[s->node],
                     s->ws[w + stride]->param.adjoint[s->node], first,
                     left < STRETCH ? left : STRETCH);
        }
    }
}

void sali_workspace_param_reduce(sali_workspace *const *ws, int64_t n, int threads, double *flat)
{
    const sali_program *program = ws[0]->program;
    for (int32_t i = 0; n > 1 && i < program->n_nodes; i++) {
        if (ws[0]->gathers[i]) {
            node_sum sum = { ws, n, program->steps[i].size, i };
            const bool large = n * sum.size > WORTH_THREADS;
            sal_threads_run((sum.size + STRETCH - 1) / STRETCH, large ? threads : 1, add_stretch,
                            &sum);
        }
    }
    sali_workspace_param_flat(ws[0], flat);
}

void sali_workspace_param_flat(sali_workspace *ws, double *flat)
{
    const sali_program *program = ws->program;
    zero_adjoints(ws, false);
    for (int32_t i = program->n_nodes - 1; i >= 0; i--) {
        if (sali_is_hoisted(program, i) && ws->param.adjoint[i]) {
            sali_call call;
            sali_hoisted_call(ws->params, i, ws->param.adjoint, ws->hoisted_args, &call);
            program->steps[i].op->backward(&call);
        }
    }
    for (int32_t p = 0; p < program->n_parameters; p++) {
        const sali_parameter *place = &program->parameters[p];
        for (int64_t k = 0; k < place->size; k++) {
            flat[place->first + k] = sali_load(program->dtype, ws->param.adjoint[place->node], k);
        }
    }
}
