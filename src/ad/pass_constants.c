/* SPDX-License-Identifier: MIT */
/* Additive constants: what f adds whatever the state, is moved to the end, so that f is
 * rest + hoisted + constant. A program adds these last terms in double (ad/program.h): a large one
 * then costs the rest no digits in single precision.
 *
 * A node counts by its total, the sum of its elements, if f is affine in that total alone. Such a
 * node is split into a rest of the same shape and the total of what is taken out of its elements:
 * sum_k (a_k + c) is sum_k a_k and n c. Other nodes stay whole. */
#include "ad/passes.h"
#include "ad/rewriter.h"
#include "core/alloc.h"
#include "core/error.h"

/* What does not depend on the state: a number, and a scalar node unless its tape is NULL. */
typedef struct total {
    double constant;
    sal_expr hoisted;
} total;

/* A node split in two: `rest`, of the node's shape, and the total of what was taken out. */
typedef struct part {
    bool split;
    sal_expr rest; /* tape NULL: the node does not vary, and all of it is in `taken` */
    total taken;
} part;

typedef struct splitter {
    bool *asked; /* by node: f is affine in its total */
    part *parts; /* by node */
    int32_t output;
} splitter;

static int64_t size_of(const sali_node *node)
{
    return sali_shape_size(&node->shape);
}

/* ---- which nodes count by their total */

/* The input of a product or quotient that one number, which does not vary, multiplies or divides;
 * -1: there is none. */
static int32_t multiplied_input(const sali_node *nodes, const sali_node *node)
{
    for (int32_t k = node->op == SALI_OP_div ? 1 : 0; k < node->n_in; k++) {
        const sali_node *factor = &nodes[node->in[k]], *other = &nodes[node->in[1 - k]];
        if (!factor->varying && size_of(factor) == 1 && other->varying &&
            size_of(other) == size_of(node)) {
            return 1 - k;
        }
    }
    return -1;
}

/* Whether a sum or difference without its inputs that do not vary still has its size: another input
 * is as large. */
static bool keeps_size(const sali_node *nodes, const sali_node *node)
{
    bool keeps = true;
    for (int32_t k = 0; k < node->n_in; k++) {
        const sali_node *in = &nodes[node->in[k]], *other = &nodes[node->in[1 - k]];
        keeps &= in->varying || !other->varying || size_of(other) == size_of(node);
    }
    return keeps;
}

/* Whether the total of the node is affine in the total of its input k. */
static bool counts_by_total(const sali_node *nodes, const sali_node *node, int32_t k)
{
    switch (node->op) {
    case SALI_OP_add:
    case SALI_OP_sub:
        return keeps_size(nodes, node);
    case SALI_OP_scale:
    case SALI_OP_sum:
    case SALI_OP_mean:
    case SALI_OP_reshape:
    case SALI_OP_transpose:
        return true;
    case SALI_OP_slice: /* the only element: a net's [0] */
        return size_of(&nodes[node->in[0]]) == 1;
    case SALI_OP_mul:
    case SALI_OP_div:
        return multiplied_input(nodes, node) == k;
    default:
        return false;
    }
}

/* Set asked [nodes], zero before, for the nodes that count by their total. False: none of them that
 * varies has an input, counted by its total, that does not vary. */
static bool mark_asked(const sal_tape *tape, int32_t output, bool *asked)
{
    bool any = false;
    asked[output] = true;
    for (int32_t i = output; i >= 0; i--) {
        const sali_node *node = &tape->nodes[i];
        for (int32_t k = 0; asked[i] && k < node->n_in; k++) {
            if (counts_by_total(tape->nodes, node, k)) {
                asked[node->in[k]] = true;
                any |= node->varying && !tape->nodes[node->in[k]].varying;
            }
        }
    }
    return any;
}

/* ---- totals */

/* The expression factor a, recorded at `place`; `a` itself if it has no tape or the factor is 1. */
static sal_expr scaled_expr(sali_rewriter *r, const sali_node *place, sal_expr a, double factor)
{
    if (!a.tape || factor == 1) {
        return a;
    }
    return sali_record(r->tape, &(sali_node_spec){ .op = SALI_OP_scale,
                                                   .n_in = 1,
                                                   .in = &a,
                                                   .n_reals = 1,
                                                   .reals = &factor,
                                                   .file = place->file,
                                                   .line = place->line });
}

static total scaled_total(sali_rewriter *r, const sali_node *place, total t, double factor)
{
    return (total){ factor == 1 ? t.constant : factor * t.constant,
                    scaled_expr(r, place, t.hoisted, factor) };
}

static total sum_of_totals(sali_rewriter *r, const sali_node *place, total a, total b)
{
    sal_expr hoisted = !a.hoisted.tape ? b.hoisted
                       : !b.hoisted.tape
                           ? a.hoisted
                           : sali_rewriter_two(r, place, SALI_OP_add, a.hoisted, b.hoisted);
    return (total){ a.constant + b.constant, hoisted };
}

/* The total that is taken out of old node i. Of a node that does not vary and is not split this is
 * the sum of all elements, in double if the node is a constant. */
static total taken_of(sali_rewriter *r, int32_t i)
{
    const splitter *s = r->context;
    const sali_node *node = &r->old[i];
    total t = { 0 };
    if (s->parts[i].split || node->varying) {
        return s->parts[i].taken;
    }
    for (int64_t k = 0; node->op == SALI_OP_constant && k < size_of(node); k++) {
        t.constant += node->reals[k];
    }
    if (node->op != SALI_OP_constant) {
        t.hoisted = sali_rewriter_moved(r, i);
        if (node->shape.rank > 0) {
            t.hoisted =
                sali_rewriter_record(r, node, SALI_OP_sum, 1, &t.hoisted, 1, (int64_t[]){ -1 });
        }
    }
    return t;
}

/* The total of a product or quotient: t, the total of input `k`, times or divided by the other
 * input, which is a number. */
static total times_total(sali_rewriter *r, const sali_node *node, int32_t k, total t)
{
    const sali_node *factor = &r->old[node->in[1 - k]];
    if (factor->op == SALI_OP_constant) {
        double by = factor->reals[0];
        return scaled_total(r, node, t, node->op == SALI_OP_div ? 1 / by : by);
    }
    if (t.constant != 0) {
        sal_expr number = sali_rewriter_constant(r, node, &t.constant, SAL_SCALAR);
        t = sum_of_totals(r, node, (total){ 0, number }, (total){ 0, t.hoisted });
    }
    sal_expr by = sali_rewriter_moved(r, node->in[1 - k]);
    if (t.hoisted.tape && factor->shape.rank > 0) {
        by = sali_rewriter_record(r, node, SALI_OP_reshape, 1, &by, 0, NULL);
    }
    if (t.hoisted.tape) {
        t.hoisted = sali_rewriter_two(r, node, node->op, t.hoisted, by);
    }
    return (total){ 0, t.hoisted };
}

/* ---- nodes */

static bool gives_part(const splitter *s, const sali_rewriter *r, const sali_node *node, int32_t k)
{
    return s->parts[node->in[k]].split || !r->old[node->in[k]].varying;
}

/* The rest of old node i; the node itself if it is not split. */
static sal_expr rest_of(const sali_rewriter *r, int32_t i)
{
    const part *p = &((const splitter *)r->context)->parts[i];
    return p->split ? p->rest : sali_rewriter_moved(r, i);
}

/* `a`, which has as many elements as a node, in the node's shape. */
static sal_expr reshaped_expr(sali_rewriter *r, const sali_node *node, sal_expr a)
{
    sal_shape shape = sal_expr_shape(a);
    return sali_shape_equal(&shape, &node->shape)
               ? a
               : sali_rewriter_record(r, node, SALI_OP_reshape, 1, &a, node->shape.rank,
                                      node->shape.dim);
}

/* Node i in terms of the rests of its inputs. */
static sal_expr rest_of_inputs(sali_rewriter *r, const sali_node *node)
{
    bool two = node->n_in == 2 && (node->op == SALI_OP_add || node->op == SALI_OP_sub);
    if (two && !r->old[node->in[1]].varying) {
        return reshaped_expr(r, node, rest_of(r, node->in[0]));
    }
    if (two && !r->old[node->in[0]].varying) {
        sal_expr rest = reshaped_expr(r, node, rest_of(r, node->in[1]));
        return scaled_expr(r, node, rest, node->op == SALI_OP_sub ? -1 : 1);
    }
    sal_expr in[2] = { { 0 } };
    for (int32_t k = 0; k < node->n_in; k++) {
        in[k] = r->old[node->in[k]].varying ? rest_of(r, node->in[k])
                                            : sali_rewriter_moved(r, node->in[k]);
    }
    return sali_record(r->tape, &(sali_node_spec){ .op = node->op,
                                                   .n_in = node->n_in,
                                                   .in = in,
                                                   .n_ints = node->n_ints,
                                                   .ints = node->ints,
                                                   .n_reals = node->n_reals,
                                                   .reals = node->reals,
                                                   .file = node->file,
                                                   .line = node->line });
}

/* What is taken out of a node by way of its input k. */
static total taken_through(sali_rewriter *r, const sali_node *node, int32_t k)
{
    total t = taken_of(r, node->in[k]);
    double size = (double)size_of(node), from = (double)size_of(&r->old[node->in[k]]);
    switch (node->op) {
    case SALI_OP_add:
        return scaled_total(r, node, t, size / from);
    case SALI_OP_sub:
        return scaled_total(r, node, t, (k == 0 ? 1 : -1) * size / from);
    case SALI_OP_scale:
        return scaled_total(r, node, t, node->reals[0]);
    case SALI_OP_mean:
        return scaled_total(r, node, t, size / from);
    case SALI_OP_mul:
    case SALI_OP_div:
        return times_total(r, node, k, t);
    default:
        return t;
    }
}

/* Split old node i, if f counts its total and there is anything to take out. */
static void split_parts(sali_rewriter *r, int32_t i)
{
    splitter *s = r->context;
    const sali_node *node = &r->old[i];
    part made = { 0 };
    for (int32_t k = 0; s->asked[i] && k < node->n_in; k++) {
        if (counts_by_total(r->old, node, k) && gives_part(s, r, node, k)) {
            made.taken = sum_of_totals(r, node, made.taken, taken_through(r, node, k));
            made.split = true;
        }
    }
    if (made.split && node->varying) {
        made.rest = rest_of_inputs(r, node);
    }
    s->parts[i] = made;
}

/* The replacement of old node i for the rewriter: none, except for the output if it is split, which
 * becomes rest + hoisted + constant. Splits the node on the way. */
static sal_status split_node(sali_rewriter *r, int64_t i, sal_expr *made)
{
    const splitter *s = r->context;
    const sali_node *node = &r->old[i];
    split_parts(r, (int32_t)i);
    const part *p = &s->parts[i];
    if (i == s->output && p->split) {
        *made = p->rest;
        if (p->taken.hoisted.tape) {
            *made = sali_rewriter_two(r, node, SALI_OP_add, *made, p->taken.hoisted);
        }
        if (p->taken.constant != 0) {
            sal_expr constant = sali_rewriter_constant(r, node, &p->taken.constant, SAL_SCALAR);
            *made = sali_rewriter_two(r, node, SALI_OP_add, *made, constant);
        }
    }
    return r->tape->status;
}

/* ---- the pass */

/* Record the tape again with the output split; *output is the node of f, before and after. */
static sal_status rewrite_tape(sal_tape *tape, splitter *s, int32_t *output, sal_error *err)
{
    sali_rewriter r;
    sal_status status = sali_rewriter_open(&r, tape);
    s->parts = SALI_NEW_ARRAY(part, r.n_old);
    s->output = *output;
    r.context = s;
    status = status == SAL_OK && s->parts ? sali_rewriter_run(&r, split_node, output, err)
                                          : SAL_ERR_MEMORY;
    sali_free(s->parts);
    sali_rewriter_close(&r);
    return status;
}

sal_status sali_pass_constants(sal_tape *tape, int32_t *output, sal_error *err)
{
    splitter s = { .asked = SALI_NEW_ARRAY(bool, tape->n_nodes) };
    sal_status status = s.asked ? SAL_OK : SAL_ERR_MEMORY;
    if (s.asked && tape->nodes[*output].varying && mark_asked(tape, *output, s.asked)) {
        status = rewrite_tape(tape, &s, output, err);
    }
    sali_free(s.asked);
    return status == SAL_ERR_MEMORY ? sali_fail_memory(err) : status;
}
