/* SPDX-License-Identifier: MIT */
/* Run k of R, of one call or several, runs forward at time k and backward at time 2 R - 1 - k. With
 * gradients a value is needed until its own node has run backward, for kernels read inputs and
 * outputs there; without, until the last node that reads it has run. An adjoint begins with the
 * first run that adds to it, the last one that read the value. The buffers are placed in the order
 * in which they begin, each in the smallest gap that holds it between those still in use. */
#include "ad/plan_buffers.h"

#include <stdlib.h>
#include <string.h>

#include "ad/workspace.h"
#include "core/alloc.h"
#include "core/error.h"

/* Gaps are searched one by one, so with more buffers than this nothing is shared. */
#define MAX_SEARCHED 30000

typedef struct buffer {
    int64_t size;
    int32_t first, last; /* times, both included */
    int32_t order;       /* position in the list before sorting */
    int64_t *offset;     /* to be set */
} buffer;

typedef struct lifetimes {
    int32_t n_buffers;
    int32_t *reader; /* by node: the last run that reads it; its own run if none does */
    buffer *buffers;
} lifetimes;

/* ---- when buffers are needed */

/* Set times->reader of all nodes; the root of f is read after the last run, at n_runs. */
static void find_readers(const sali_program *program, lifetimes *times)
{
    const int32_t *run = program->fusion.run;
    for (int32_t i = 0; i < program->n_nodes; i++) {
        times->reader[i] = run[i];
        for (int32_t k = 0; run[i] >= 0 && k < program->nodes[i].n_in; k++) {
            times->reader[program->steps[program->nodes[i].in[k]].storage] = run[i];
        }
    }
    times->reader[program->steps[program->root].storage] = program->fusion.n_runs;
}

/* `bytes` rounded up, so that every buffer is aligned. */
static int64_t aligned_size(int64_t bytes)
{
    return (bytes + SALI_ALIGN - 1) / SALI_ALIGN * SALI_ALIGN;
}

/* List a buffer of `bytes` that is in use from time `first` to `last`; its place will be stored in
 * *offset. A buffer of 0 bytes is left out. */
static void add_buffer(lifetimes *times, int64_t *offset, int64_t bytes, int32_t first,
                       int32_t last)
{
    if (bytes == 0) {
        return;
    }
    times->buffers[times->n_buffers] = (buffer){
        .size = aligned_size(bytes),
        .first = first,
        .last = last,
        .order = times->n_buffers,
        .offset = offset,
    };
    times->n_buffers++;
}

/* List the buffers of values, saved values and adjoints with their lifetimes; sets plan->apart and
 * which buffers have the rows of one tile only. */
static void list_buffers(const sali_program *program, int64_t chains, unsigned wants,
                         lifetimes *times, sali_buffer_plan *plan)
{
    const sali_fusion *fusion = &program->fusion;
    bool by_state = wants & SALI_WANT_STATE_GRADIENT, by_param = wants & SALI_WANT_PARAM_GRADIENT;
    bool kept = by_state || by_param;
    int32_t end = 2 * fusion->n_runs - 1;
    plan->local_adjoints = !(wants & SALI_WANT_ALL_VALUES);
    plan->local_values = plan->local_adjoints && !kept;
    for (int32_t i = 0; i < program->n_nodes; i++) {
        const sali_step *step = &program->steps[i];
        int32_t run = fusion->run[i], reader = times->reader[i];
        if (run < 0) {
            continue;
        }
        int64_t real = (int64_t)sali_dtype_size(program->dtype), tile = fusion->runs[run].tile;
        int64_t rows = fusion->local[i] && tile < chains ? tile : chains;
        bool has_adjoint = by_state || (by_param && step->param_path);
        plan->apart += aligned_size(real * chains * step->size) * (1 + has_adjoint) +
                       aligned_size(real * chains * step->saved_size);
        int64_t row = real * (plan->local_values ? rows : chains);
        add_buffer(times, &plan->value[i], row * step->size, run, kept ? end - run : reader);
        add_buffer(times, &plan->saved[i], row * step->saved_size, run, kept ? end - run : run);
        if (has_adjoint) {
            row = real * (plan->local_adjoints ? rows : chains);
            /* the adjoint of f is set before the first run goes backward */
            int32_t first = reader == fusion->n_runs ? fusion->n_runs : end - reader;
            add_buffer(times, &plan->adjoint[i], row * step->size, first, end - run);
        }
    }
}

/* ---- where they go */

static int compare_begin(const void *a, const void *b)
{
    const buffer *x = a, *y = b;
    if (x->first != y->first) {
        return x->first < y->first ? -1 : 1;
    }
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Set the offset of `next` to the smallest gap that holds it between the n buffers in use, which
 * are ordered by offset, or behind the last one. Returns the index in `used` where `next` goes. */
static int32_t place_buffer(int32_t n, const buffer *const *used, const buffer *next)
{
    int64_t end = 0, best = INT64_MAX;
    int32_t at = n;
    for (int32_t k = 0; k < n; k++) {
        int64_t gap = *used[k]->offset - end;
        if (gap >= next->size && gap < best) {
            best = gap;
            *next->offset = end;
            at = k;
        }
        end = *used[k]->offset + used[k]->size;
    }
    if (at == n) {
        *next->offset = end;
    }
    return at;
}

/* Place n buffers, of which two share memory only if they are not in use at the same time. Returns
 * the bytes of the block. `used` [n] is room. */
static int64_t share_memory(int32_t n, buffer *buffers, const buffer **used)
{
    int64_t bytes = 0;
    int32_t n_used = 0;
    qsort(buffers, (size_t)n, sizeof *buffers, compare_begin);
    for (int32_t i = 0; i < n; i++) {
        int32_t kept = 0;
        for (int32_t k = 0; k < n_used; k++) {
            if (used[k]->last >= buffers[i].first) {
                used[kept++] = used[k];
            }
        }
        int32_t at = place_buffer(kept, used, &buffers[i]);
        memmove(used + at + 1, used + at, (size_t)(kept - at) * sizeof *used);
        used[at] = &buffers[i];
        n_used = kept + 1;
        int64_t end = *buffers[i].offset + buffers[i].size;
        bytes = end > bytes ? end : bytes;
    }
    return bytes;
}

/* Place n buffers one after the other. Returns the bytes of the block. */
static int64_t lay_apart(int32_t n, const buffer *buffers)
{
    int64_t bytes = 0;
    for (int32_t i = 0; i < n; i++) {
        *buffers[i].offset = bytes;
        bytes += buffers[i].size;
    }
    return bytes;
}

/* ---- the plan */

static int64_t *no_offsets(int32_t n)
{
    int64_t *offsets = SALI_NEW_ARRAY(int64_t, n);
    for (int32_t i = 0; offsets && i < n; i++) {
        offsets[i] = -1;
    }
    return offsets;
}

sal_status sali_buffer_plan_create(const sali_program *program, int64_t chains, unsigned wants,
                                   sali_buffer_plan *plan, sal_error *err)
{
    int32_t n = program->n_nodes;
    lifetimes times = {
        .reader = SALI_NEW_ARRAY(int32_t, n),
        .buffers = SALI_NEW_ARRAY(buffer, 3 * (int64_t)n),
    };
    const buffer **used = SALI_NEW_ARRAY(const buffer *, 3 * (int64_t)n);
    sali_buffer_plan made = { .value = no_offsets(n),
                              .saved = no_offsets(n),
                              .adjoint = no_offsets(n) };
    bool good = times.reader && times.buffers && used && made.value && made.saved && made.adjoint;
    if (good) {
        find_readers(program, &times);
        list_buffers(program, chains, wants, &times, &made);
        made.bytes = lay_apart(times.n_buffers, times.buffers);
        if ((program->passes & SAL_PASS_BUFFERS) && !(wants & SALI_WANT_ALL_VALUES) &&
            times.n_buffers <= MAX_SEARCHED) {
            made.bytes = share_memory(times.n_buffers, times.buffers, used);
        }
        *plan = made;
    } else {
        sali_buffer_plan_clear(&made);
    }
    sali_free(times.reader);
    sali_free(times.buffers);
    sali_free(used);
    return good ? SAL_OK : sali_fail_memory(err);
}

void sali_buffer_plan_clear(sali_buffer_plan *plan)
{
    sali_free(plan->value);
    sali_free(plan->saved);
    sali_free(plan->adjoint);
}
