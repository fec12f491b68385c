/* SPDX-License-Identifier: MIT */
/* a where cond is not 0 (a NaN is not), else b; with broadcasting. Nothing flows to cond, nor to
 * the operand that is not taken. */
#define OPERANDS 3
#include "ad/ops/nest.h"

/* Linear in a and b if cond does not depend on the state, else general. */
static sali_degree degree(const sali_node *node, const sali_node *const *in,
                          const sali_degree *in_degree, const sal_space *space)
{
    return in_degree[0] == SALI_CONSTANT ? sali_degree_mixing(node, in, in_degree, space)
                                         : SALI_GENERAL;
}

/* out[i] = a or b by cond, for a row of n; a vector loop where the compiler knows the steps. */
static inline __attribute__((always_inline)) void choose_branch(int64_t n, const real *cond,
                                                                int64_t step, const real *a,
                                                                int64_t step_a, const real *b,
                                                                int64_t step_b, real *out)
{
    for (int64_t i = 0; i < n; i++) {
        real x = a[i * step_a], y = b[i * step_b];
        out[i] = cond[i * step] != 0 ? x : y;
    }
}

SALI_CLONES static void forward(const sali_call *call)
{
    row_walk walk = walk_begin(call);
    const int64_t *step = walk.nest.axis[0].step;
    real *out = (real *)call->out.value;
    for (int64_t r = 0; r < walk.rows; r++, walk_next(&walk), out += walk.length) {
        const real *cond = (const real *)call->in[0].value + walk.at[0];
        const real *a = (const real *)call->in[1].value + walk.at[1];
        const real *b = (const real *)call->in[2].value + walk.at[2];
        if (step[0] && step[1] && step[2]) {
            choose_branch(walk.length, cond, 1, a, 1, b, 1, out);
        } else {
            choose_branch(walk.length, cond, step[0], a, step[1], b, step[2], out);
        }
    }
}

/* Add to the adjoint of operand k, which is the output where (cond != 0) is `side`. */
static inline void pull_branch(const sali_call *call, int k, bool side)
{
    row_walk walk = walk_begin(call);
    const int64_t *step = walk.nest.axis[0].step;
    const real *g = call->out.adjoint;
    for (int64_t r = 0; r < walk.rows; r++, walk_next(&walk), g += walk.length) {
        const real *cond = (const real *)call->in[0].value + walk.at[0];
        real *to = (real *)call->in[k].adjoint + walk.at[k];
        for (int64_t i = 0; i < walk.length; i++) {
            to[i * step[k]] += (cond[i * step[0]] != 0) == side ? g[i] : 0;
        }
    }
}

SALI_CLONES static void backward(const sali_call *call)
{
    if (call->in[1].adjoint) {
        pull_branch(call, 1, true);
    }
    if (call->in[2].adjoint) {
        pull_branch(call, 2, false);
    }
}

/* Term 0 is a where cond is not 0, term 1 is b where cond is 0. */
static sali_op_term term(const sali_term_place *p)
{
    int32_t which = 1 + (int32_t)p->t;
    const sal_shape *out = &p->node->shape;
    return (sali_op_term){ .count = 2,
                           .factor = 1,
                           .n = 2,
                           .input = { which, 0 },
                           .at = { sali_broadcast_at(out, &p->in[which]->shape, p->k),
                                   sali_broadcast_at(out, &p->in[0]->shape, p->k) },
                           .end = p->t == 0 ? SALI_IF_NOT_ZERO : SALI_IF_ZERO };
}

const sali_op RN(sali_op_where) = {
    .name = "where",
    .arity = 3,
    .by_rows = true,
    .test_low = -1,
    .test_high = 1,
    .doc = "a where cond is not 0, else b",
    .term = term,
    .shape = sali_shape_broadcast,
    .degree = degree,
    .plan_create = plan_create,
    .forward = forward,
    .backward = backward,
};
