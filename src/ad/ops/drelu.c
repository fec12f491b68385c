/* SPDX-License-Identifier: MIT */
/* log of the integral of exp(h a - U(h)) / sqrt(2 pi) over a dReLU unit h (core/vector/drelu.h),
 * with Delta and t, eta = tanh t, of each element or one for all: a^2 / 2 where both are 0.
 * Computed in double for both types, by sqrt(1 +- eta) in the type. */
#include "ad/change.h"
#include "ad/ops/ops.h"
#include "core/vector/drelu.h"

enum { BLOCK = 128 };

static sal_status shape(sali_node *node, const sali_shape_context *context)
{
    const sal_shape *a = &context->in[0]->shape;
    for (int32_t k = 1; k < 3; k++) {
        const sal_shape *own = &context->in[k]->shape;
        if (!sali_shape_equal(own, a) && sali_shape_size(own) != 1) {
            return sali_shape_fail(node, context, "Delta and t of the shape of a, or one number");
        }
    }
    node->shape = *a;
    return sali_expect_attributes(node, 0, 0, context->err);
}

/* Delta, sqrt(1 + eta) and sqrt(1 - eta) of every element. */
static int64_t prepared_size(const sali_node *node, const sali_node *const *in)
{
    (void)in;
    return 3 * sali_shape_size(&node->shape);
}

static void prepare(const sali_call *call, void *prepared)
{
    const sali_arg *delta = &call->in[1], *t = &call->in[2];
    const int64_t n = call->out.size;
    real *to = prepared;
    double wide[BLOCK], plus[BLOCK], minus[BLOCK];
    for (int64_t first = 0; first < n; first += BLOCK) {
        const int64_t length = n - first < BLOCK ? n - first : BLOCK;
        for (int64_t i = 0; i < length; i++) {
            wide[i] = (double)((const real *)t->value)[t->size == 1 ? 0 : first + i];
        }
        sali_drelu_sides(length, wide, plus, minus);
        for (int64_t i = 0; i < length; i++) {
            const int64_t k = first + i;
            to[k] = ((const real *)delta->value)[delta->size == 1 ? 0 : k];
            to[n + k] = (real)plus[i];
            to[2 * n + k] = (real)minus[i];
        }
    }
}

/* At most BLOCK units, widened to doubles, and what is computed of them. */
typedef struct units {
    double delta[BLOCK], plus[BLOCK], minus[BLOCK], a[BLOCK];
    double first[BLOCK], second[BLOCK];
} units;

static sali_drelu numbers_of(const units *u)
{
    return (sali_drelu){ u->delta, u->plus, u->minus };
}

static inline void widen(int64_t n, const real *x, double *y)
{
    for (int64_t i = 0; i < n; i++) {
        y[i] = (double)x[i];
    }
}

/* Widen elements first .. first + n - 1 of a chain whose inputs are `a`. */
static void widen_units(const sali_call *call, const real *a, int64_t first, int64_t n, units *u)
{
    const real *prepared = (const real *)call->prepared + first;
    widen(n, prepared, u->delta);
    widen(n, prepared + call->out.size, u->plus);
    widen(n, prepared + 2 * call->out.size, u->minus);
    widen(n, a + first, u->a);
}

static void forward(const sali_call *call)
{
    const int64_t size = call->out.size;
    units u;
    for (int64_t c = 0; c < call->chains; c++) {
        const real *a = (const real *)call->in[0].value + c * call->in[0].stride;
        real *f = (real *)call->out.value + c * size, *mean = (real *)call->saved + c * size;
        for (int64_t first = 0; first < size; first += BLOCK) {
            const int64_t n = size - first < BLOCK ? size - first : BLOCK;
            widen_units(call, a, first, n, &u);
            const sali_drelu numbers = numbers_of(&u);
            sali_drelu_values(n, &numbers, u.a, u.first, u.second);
            for (int64_t i = 0; i < n; i++) {
                f[first + i] = (real)u.first[i];
                mean[first + i] = (real)u.second[i];
            }
        }
    }
}

/* Add g times slope [n] to the adjoint of an input that has one number for each element, from
 * number `first` on, or one for all. */
static void pull_fixed(const sali_arg *in, int64_t first, int64_t n, const real *g,
                       const double *slope)
{
    real *to = in->adjoint;
    for (int64_t i = 0; to && i < n; i++) {
        to[in->size == 1 ? 0 : first + i] += sali_pull(g[i], (real)slope[i]);
    }
}

static void backward(const sali_call *call)
{
    const int64_t size = call->out.size;
    const sali_arg *in = call->in;
    const real *g = call->out.adjoint, *mean = call->saved;
    units u;
    for (int64_t c = 0; c < call->chains; c++, g += size, mean += size) {
        real *to = in[0].adjoint ? (real *)in[0].adjoint + c * in[0].stride : NULL;
        for (int64_t i = 0; to && i < size; i++) {
            to[i] += sali_pull(g[i], mean[i]);
        }
        for (int64_t first = 0; (in[1].adjoint || in[2].adjoint) && first < size; first += BLOCK) {
            const int64_t n = size - first < BLOCK ? size - first : BLOCK;
            widen_units(call, (const real *)in[0].value + c * in[0].stride, first, n, &u);
            const sali_drelu numbers = numbers_of(&u);
            sali_drelu_slopes(n, &numbers, u.a, u.first, u.second);
            pull_fixed(&in[1], first, n, g + first, u.first);
            pull_fixed(&in[2], first, n, g + first, u.second);
        }
    }
}

/* Computes the changed elements again. */
static sali_change_outcome change(sali_change *ch)
{
    const sali_call *call = ch->call;
    const real *prepared = call->prepared;
    const int64_t size = call->out.size;
    units u;
    for (int64_t first = 0; first < ch->in[0]->n; first += BLOCK) {
        const int64_t left = ch->in[0]->n - first, n = left < BLOCK ? left : BLOCK;
        for (int64_t k = 0; k < n; k++) {
            const int64_t i = ch->in[0]->index[first + k];
            u.delta[k] = (double)prepared[i];
            u.plus[k] = (double)prepared[size + i];
            u.minus[k] = (double)prepared[2 * size + i];
            u.a[k] = (double)change_new(ch, 0, first + k);
        }
        const sali_drelu numbers = numbers_of(&u);
        sali_drelu_values(n, &numbers, u.a, u.first, u.second);
        for (int64_t k = 0; k < n; k++) {
            const int64_t i = ch->in[0]->index[first + k];
            if (!change_write(ch, (real *)call->saved + i, (real)u.second[k]) ||
                !change_set(ch, i, (real)u.first[k])) {
                return SALI_CHANGE_GIVE_UP;
            }
        }
    }
    return SALI_CHANGE_DONE;
}

const sali_op RN(sali_op_drelu) = {
    .name = "drelu",
    .arity = 3,
    .param_inputs = 1u << 1 | 1u << 2,
    .by_rows = true,
    .params_by_inputs = true,
    .test_low = -2,
    .test_high = 2,
    .doc = "log of the integral of exp(h a - U(h)) / sqrt(2 pi), h a dReLU unit of Delta and t",
    .hidden = SALI_HIDES_DRELU,
    .shape = shape,
    .degree = sali_degree_nonlinear,
    .saved_size = sali_saved_as_first,
    .prepared_size = prepared_size,
    .prepare = prepare,
    .forward = forward,
    .backward = backward,
    .change = change,
};
