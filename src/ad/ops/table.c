/* SPDX-License-Identifier: MIT */
/* Sum of factors' log-potentials over the state's variables. Attributes: ints = { n_factors, then
 * for each factor its length and its scope }.
 *
 * On the lattice a factor is one entry of its table, and the derivative by the one-hot of a
 * variable in its scope is the line of the table through that entry. Off the lattice a factor is
 * the contraction of its table with the weights of its variables' states: the multilinear
 * extension. There 0 times -inf is 0: forbidden entries without weight do not count. */
#include "ad/ops/ops.h"
#include "ad/ops/table_plan.h"

/* ---- on the lattice: `saved` holds the factors' entries, int32_t, in rows of `factors` reals */

static inline int64_t entry_stride(const table_plan *plan)
{
    return plan->n_factors * (int64_t)(sizeof(real) / sizeof(int32_t));
}

/* The output at call->codes, a sum of one entry a factor; stores the entries in call->saved. */
SALI_CLONES static void forward_lattice(const sali_call *call)
{
    const table_plan *plan = call->plan;
    const real *T = call->in[1].value;
    const int32_t *codes = call->codes;
    int32_t *entry = call->saved;
    for (int64_t c = 0; c < call->chains; c++) {
        for (int64_t m = 0; m < plan->n_factors; m++) {
            const table_factor *factor = &plan->factors[m];
            int64_t at = factor->start;
            for (const table_place *p = factor->scope; p < factor->scope_end; p++) {
                at += p->stride * codes[p->variable];
            }
            entry[m] = (int32_t)at;
        }
        real sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t m = 0; m < plan->n_factors; m++) {
            sum += T[entry[m]];
        }
        ((real *)call->out.value)[c] = sum;
        codes += plan->n_variables;
        entry += entry_stride(plan);
    }
}

/* g[v] += adjoint line[v stride] for all states v of a variable. */
static inline void pull_line(int64_t states, real adjoint, const real *line, int64_t stride,
                             real *g)
{
    if (stride == 1) {
#pragma omp simd
        for (int64_t v = 0; v < states; v++) {
            g[v] += adjoint * line[v];
        }
        return;
    }
    for (int64_t v = 0; v < states; v++) {
        g[v] += adjoint * line[v * stride];
    }
}

/* Slope between two levels, where the entries are `low` and `high`. From an allowed state to a
 * forbidden one the slope is infinite, which makes the difference -inf; between two forbidden
 * states it counts as 0. */
static inline real two_level_slope(const table_place *p, real low, real high)
{
    return low == high ? 0 : (high - low) * (real)p->inverse_span;
}

/* Add to the state's adjoint, factor by factor, so that a factor's table stays in the cache for all
 * chains. */
SALI_CLONES static void pull_state_lattice(const sali_call *call)
{
    const table_plan *plan = call->plan;
    const real *T = call->in[1].value, *adjoint = call->out.adjoint;
    const int64_t stride = entry_stride(plan);
    for (int64_t m = 0; m < plan->n_factors; m++) {
        const int32_t *entry = (const int32_t *)call->saved + m;
        const table_factor *factor = &plan->factors[m];
        for (const table_place *p = factor->scope; p < factor->scope_end; p++) {
            const int32_t *code = call->codes + p->variable;
            real *g = (real *)call->in[0].adjoint + p->offset;
            for (int64_t c = 0; c < call->chains; c++, g += call->in[0].stride) {
                if (adjoint[c] == 0) {
                    continue;
                }
                int64_t v = code[c * plan->n_variables];
                const real *line = T + (entry[c * stride] - v * p->stride);
                if (p->two_level) {
                    *g += adjoint[c] * two_level_slope(p, line[0], line[p->stride]);
                } else {
                    pull_line(p->states, adjoint[c], line, p->stride, g);
                }
            }
        }
    }
}

/* Add each chain's adjoint to the adjoints of the entries that the chain's codes select. */
static void pull_table_lattice(const sali_call *call)
{
    const table_plan *plan = call->plan;
    const real *adjoint = call->out.adjoint;
    const int32_t *entry = call->saved;
    real *to = call->in[1].adjoint;
    for (int64_t c = 0; c < call->chains; c++, entry += entry_stride(plan)) {
        for (int64_t m = 0; m < plan->n_factors; m++) {
            to[entry[m]] += adjoint[c];
        }
    }
}

/* ---- off the lattice */

/* The weights of a variable's states at x: its one-hot, or (high - x, x - low) / (high - low), in
 * `pair`. At a level these are exactly 0 and 1, which a forbidden entry needs: hence the
 * division. */
static inline const real *weights_of(const table_place *p, const real *x, real pair[2])
{
    if (!p->two_level) {
        return x + p->offset;
    }
    real low = (real)p->low;
    pair[1] = (x[p->offset] - low) / ((real)p->high - low);
    pair[0] = 1 - pair[1];
    return pair;
}

/* to[i] = sum_v w[v] from[i, v] for i < rows; `to` may be `from`. */
static inline void contract_rows(int64_t rows, int64_t states, const real *w, const real *from,
                                 real *to)
{
    for (int64_t i = 0; i < rows; i++, from += states) {
        real sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t v = 0; v < states; v++) {
            sum += sali_pull(w[v], from[v]);
        }
        to[i] = sum;
    }
}

/* Contract the last variables of a factor's table with their weights, down to the first `keep`
 * variables. Returns the array over these: `work`, or the table itself if nothing was to do. */
static const real *contract_last(const table_factor *factor, int64_t keep, const real *x,
                                 const real *table, real *work)
{
    int64_t rows = factor->size;
    const real *from = table;
    for (const table_place *p = factor->scope_end; p-- > factor->scope + keep; from = work) {
        real pair[2];
        rows /= p->states;
        contract_rows(rows, p->states, weights_of(p, x, pair), from, work);
    }
    return from;
}

/* Set `outer` to adjoint times the product of the weights of the first `count` variables, for all
 * their states, the last variable fastest. Returns the number of products. */
static int64_t expand_first(const table_factor *factor, int64_t count, const real *x, real adjoint,
                            real *outer)
{
    int64_t rows = 1;
    outer[0] = adjoint;
    for (const table_place *p = factor->scope; p < factor->scope + count; p++) {
        real pair[2];
        const real *w = weights_of(p, x, pair);
        for (int64_t i = rows - 1; i >= 0; i--) {
            real product = outer[i];
            for (int64_t v = 0; v < p->states; v++) {
                outer[i * p->states + v] = product * w[v];
            }
        }
        rows *= p->states;
    }
    return rows;
}

/* The output at x off the lattice: each factor's table, contracted with the weights of its
 * variables' states. */
static void forward_extension(const sali_call *call)
{
    const table_plan *plan = call->plan;
    real *out = (real *)call->out.value;
    for (int64_t c = 0; c < call->chains; c++) {
        const real *x = (const real *)call->in[0].value + c * call->in[0].stride;
        real sum = 0;
        for (int64_t m = 0; m < plan->n_factors; m++) {
            const table_factor *factor = &plan->factors[m];
            const real *table = (const real *)call->in[1].value + factor->start;
            sum += *contract_last(factor, 0, x, table, call->scratch);
        }
        out[c] = sum;
    }
}

/* Add to g, the state's adjoint, the part of one variable: outer [rows], the product over the
 * variables before it, times inner [rows x states], contracted over the variables after it. */
static void pull_place(const table_place *p, int64_t rows, const real *outer, const real *inner,
                       real *g)
{
    real low = 0, high = 0;
    for (int64_t i = 0; i < rows; i++, inner += p->states) {
        if (p->two_level) {
            low += sali_pull(outer[i], inner[0]);
            high += sali_pull(outer[i], inner[1]);
            continue;
        }
#pragma omp simd
        for (int64_t v = 0; v < p->states; v++) {
            g[p->offset + v] += sali_pull(outer[i], inner[v]);
        }
    }
    if (p->two_level) {
        g[p->offset] += two_level_slope(p, low, high);
    }
}

/* Add a factor's part to g, the adjoint of the state x, off the lattice. `work` and `outer` are
 * room for its table. */
static void pull_factor(const table_factor *factor, real adjoint, const real *x, const real *table,
                        real *work, real *outer, real *g)
{
    const real *inner = table;
    for (const table_place *p = factor->scope_end; p-- > factor->scope;) {
        int64_t rows = expand_first(factor, p - factor->scope, x, adjoint, outer);
        pull_place(p, rows, outer, inner, g);
        real pair[2];
        contract_rows(rows, p->states, weights_of(p, x, pair), inner, work);
        inner = work;
    }
}

/* Add to the adjoints of the state and of the tables, as far as they are wanted, off the
 * lattice. */
static void backward_extension(const sali_call *call)
{
    const table_plan *plan = call->plan;
    real *work = call->scratch, *outer = work + call->in[1].size;
    for (int64_t c = 0; c < call->chains; c++) {
        real adjoint = ((const real *)call->out.adjoint)[c];
        const real *x = (const real *)call->in[0].value + c * call->in[0].stride;
        for (int64_t m = 0; adjoint != 0 && m < plan->n_factors; m++) {
            const table_factor *factor = &plan->factors[m];
            if (call->in[0].adjoint) {
                pull_factor(factor, adjoint, x, (const real *)call->in[1].value + factor->start,
                            work, outer, (real *)call->in[0].adjoint + c * call->in[0].stride);
            }
            if (call->in[1].adjoint) {
                real *to = (real *)call->in[1].adjoint + factor->start;
                expand_first(factor, factor->scope_end - factor->scope, x, adjoint, outer);
                for (int64_t e = 0; e < factor->size; e++) {
                    to[e] += outer[e];
                }
            }
        }
    }
}

#include "ad/ops/table_change.h"

/* ---- */

static int64_t saved_size(const sali_node *node, const sali_node *const *in)
{
    (void)in;
    return node->ints[0];
}

/* Off the lattice: a table in contraction, and a product of weights. */
static int64_t scratch_size(const sali_node *node, const sali_node *const *in, int64_t chains)
{
    (void)node;
    (void)chains;
    return 2 * sali_shape_size(&in[1]->shape);
}

static void forward(const sali_call *call)
{
    if (call->codes) {
        forward_lattice(call);
    } else {
        forward_extension(call);
    }
}

static void backward(const sali_call *call)
{
    if (!call->codes) {
        backward_extension(call);
        return;
    }
    if (call->in[0].adjoint) {
        pull_state_lattice(call);
    }
    if (call->in[1].adjoint) {
        pull_table_lattice(call);
    }
}

const sali_op RN(sali_op_table) = {
    .name = "table",
    .arity = 2,
    .changes_gradient = true,
    .param_inputs = 1u << 1,
    .test_low = 0,
    .test_high = 1,
    .doc = "sum_m T_m[s_scope(m)]",
    .next_table = sali_table_next,
    .shape = sali_table_shape,
    .degree = sali_table_degree,
    .saved_size = saved_size,
    .scratch_size = scratch_size,
    .plan_create = sali_table_plan,
    .forward = forward,
    .backward = backward,
    .change = change,
};
