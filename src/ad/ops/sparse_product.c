/* SPDX-License-Identifier: MIT */
#include "ad/ops/sparse_product.h"

#include "ad/ops/sparse_rows.h"
#include "ad/sparse.h"
#include "core/alloc.h"
#include "core/error.h"

/* Up to this many changed elements are listed one by one; beyond it, assume that every element
 * changed. */
enum { MOST_LISTED = 128 };

typedef struct sparse_plan {
    int moving; /* the input that varies */
    sparse_rows by_out, by_in;
    real *w; /* by entry */
} sparse_plan;

/* A plan with empty lists for n entries, in one block of memory; NULL: out of memory. */
static sparse_plan *allocate_plan(int64_t n_out, int64_t n_in, int64_t n)
{
    int64_t begins = n_out + n_in + 2;
    char *block = sali_alloc((int64_t)sizeof(sparse_plan) + begins * (int64_t)sizeof(int64_t) +
                                 n * (int64_t)(sizeof(real) + 4 * sizeof(int32_t)),
                             1);
    sparse_plan *plan = (sparse_plan *)(void *)block;
    if (plan) {
        plan->by_out.begin = (int64_t *)(void *)(block + sizeof *plan);
        plan->by_in.begin = plan->by_out.begin + n_out + 1;
        plan->w = (real *)(void *)(plan->by_out.begin + begins);
        plan->by_out.column = (int32_t *)(void *)(plan->w + n);
        plan->by_out.entry = plan->by_out.column + n;
        plan->by_in.column = plan->by_out.entry + n;
        plan->by_in.entry = plan->by_in.column + n;
    }
    return plan;
}

/* Store for each nonzero entry, and each copy of it, the output's element and the input's element
 * in `ends`, and its value in w. */
static void list_ends(const sali_sparse *sparse, int64_t *ends, real *w)
{
    int64_t columns = sparse->matrix->shape.dim[1];
    for (int64_t k = 0; k < sparse->matrix->n_reals; k++) {
        double value = sparse->matrix->reals[k];
        int64_t a = sparse->turned ? k % columns : k / columns;
        int64_t b = sparse->turned ? k / columns : k % columns;
        for (int64_t t = 0; value != 0 && t < sparse->copies; t++) {
            *ends++ = a * sparse->step + t * sparse->out_copy;
            *ends++ = b * sparse->step + t * sparse->in_copy;
            *w++ = (real)value;
        }
    }
}

sal_status RN(sali_sparse_plan)(const sali_node *node, const sali_node *const *in,
                                const sal_space *space, void **plan, sal_error *err)
{
    sali_sparse sparse;
    (void)space;
    *plan = NULL;
    if (!sali_is_sparse_product(node, in, &sparse)) {
        return SAL_OK;
    }
    int64_t n = sparse.entries * sparse.copies, n_out = sali_shape_size(&node->shape);
    int64_t n_in = sali_shape_size(&in[sparse.moving]->shape);
    int64_t *ends = SALI_NEW_ARRAY(int64_t, 2 * n);
    sparse_plan *made = ends ? allocate_plan(n_out, n_in, n) : NULL;
    if (made) {
        made->moving = sparse.moving;
        list_ends(&sparse, ends, made->w);
        sparse_rows_fill(&made->by_out, n_out, 2 * n, ends, 0, 2);
        sparse_rows_fill(&made->by_in, n_in, 2 * n, ends, 1, 2);
        *plan = made;
    }
    sali_free(ends);
    return made ? SAL_OK : sali_fail_memory(err);
}

/* Room for a tile of the input or of the output, whichever is larger. */
int64_t RN(sali_sparse_scratch)(const sali_node *node, const sali_node *const *in, int64_t chains)
{
    sali_sparse sparse;
    (void)chains;
    if (!sali_is_sparse_product(node, in, &sparse)) {
        return 0;
    }
    int64_t n_out = sali_shape_size(&node->shape);
    int64_t n_in = sali_shape_size(&in[sparse.moving]->shape);
    return LANES * (n_in > n_out ? n_in : n_out);
}

SALI_CLONES static void forward(const sali_call *call)
{
    const sparse_plan *plan = call->plan;
    const sali_arg *x = &call->in[plan->moving];
    sparse_multiply(call, &plan->by_out, call->out.size, x->size, plan->w, x->value, false,
                    (real *)call->out.value);
}

SALI_CLONES static void backward(const sali_call *call)
{
    const sparse_plan *plan = call->plan;
    const sali_arg *x = &call->in[plan->moving];
    if (x->adjoint) {
        sparse_multiply(call, &plan->by_in, x->size, call->out.size, plan->w, call->out.adjoint,
                        true, x->adjoint);
    }
}

/* Functions with clones cannot be hidden from users of the shared library unless static; these
 * wrappers are hidden. */
void RN(sali_sparse_forward)(const sali_call *call)
{
    forward(call);
}

void RN(sali_sparse_backward)(const sali_call *call)
{
    backward(call);
}

/* ---- changes */

static bool is_listed(const sali_delta *out, int64_t i)
{
    bool listed = false;
    for (int64_t k = 0; k < out->n; k++) {
        listed |= out->index[k] == i;
    }
    return listed;
}

/* Add `rise` to element i of the output; `again`: the element may be listed already. False: no
 * room, give up. */
static bool raise_element(sali_change *ch, int64_t i, real rise, bool again)
{
    real *at = (real *)ch->call->out.value + i;
    return again && is_listed(ch->out, i) ? change_write(ch, at, *at + rise)
                                          : change_set(ch, i, *at + rise);
}

/* Number of entries in the columns of the changed elements. */
static int64_t count_reached(const sali_change *ch, const sparse_plan *plan)
{
    const sali_delta *in = ch->in[plan->moving];
    int64_t reached = 0;
    for (int64_t k = 0; k < in->n; k++) {
        reached += plan->by_in.begin[in->index[k] + 1] - plan->by_in.begin[in->index[k]];
    }
    return reached;
}

/* Adds for each changed element the rise times its column, whose entries are in different rows. */
sali_change_outcome RN(sali_sparse_change)(sali_change *ch)
{
    const sparse_plan *plan = ch->call->plan;
    const sali_delta *in = ch->in[plan->moving];
    const sparse_rows *columns = &plan->by_in;
    bool all = count_reached(ch, plan) > MOST_LISTED;
    real *out = (real *)ch->call->out.value;
    if (!ch->affine) {
        return SALI_CHANGE_ROW;
    }
    if (all) {
        change_save_row(ch, 0);
    }
    for (int64_t n = 0; n < in->n; n++) {
        real rise = change_rise(ch, plan->moving, n);
        int64_t j = in->index[n];
        for (int64_t k = columns->begin[j]; k < columns->begin[j + 1]; k++) {
            real step = plan->w[columns->entry[k]] * rise;
            if (all) {
                out[columns->column[k]] += step;
            } else if (!raise_element(ch, columns->column[k], step, n > 0)) {
                return SALI_CHANGE_GIVE_UP;
            }
        }
    }
    return SALI_CHANGE_DONE;
}
