/* SPDX-License-Identifier: MIT */
/* Sums of products of coordinates (ad/coordinate_sums.h) become an `edges` node where they are
 * products of two: sum(s[1:] * s[:-1]) of a lattice, sum(w * x[i] * x[j]) of a graph. Products of
 * more become the factors of a `table`. Both cost less in values, gradients and changes; f is seen
 * to be multilinear where each product is of different variables; and analyses that look for
 * couplings find them. f stays what it is but for rounding: the same terms in another order. */
#include "ad/coordinate_sums.h"
#include "ad/passes.h"
#include "core/alloc.h"
#include "core/error.h"

typedef struct context {
    int32_t state; /* the first node of the state */
    sali_coordinate_sum **found;
} context;

static sal_expr add_exprs(sali_rewriter *r, const sali_node *place, sal_expr a, sal_expr b)
{
    return sali_rewriter_two(r, place, SALI_OP_add, a, b);
}

/* The number of elements of the node that the leaves of a list are elements of; 0 without
 * leaves. */
static int64_t leaves_of(const sali_rewriter *r, const sali_product_list *from)
{
    return from->leaf == SALI_NO_LEAF ? 0 : sali_shape_size(&r->old[from->leaf].shape);
}

/* The weights of a list as a vector: the numbers, times the elements of the leaves if their node
 * has several. numbers [n] and at [n + 1] are scratch. */
static sal_expr weights_of(sali_rewriter *r, const sali_node *place, const sali_product_list *from,
                           double *numbers, int64_t *at)
{
    const int64_t leaves = leaves_of(r, from);
    bool as_it_is = leaves == from->n && leaves > 1;
    at[0] = 0; /* the axis */
    for (int64_t e = 0; e < from->n; e++) {
        numbers[e] = from->w[e].number;
        at[1 + e] = from->w[e].leaf;
        as_it_is &= numbers[e] == 1 && at[1 + e] == e;
    }
    if (leaves <= 1) {
        return sali_rewriter_constant(r, place, numbers, SAL_SHAPE(from->n));
    }
    sal_expr leaf = sali_rewriter_moved(r, from->leaf);
    if (r->old[from->leaf].shape.rank != 1) {
        leaf = sali_rewriter_record(r, place, SALI_OP_reshape, 1, &leaf, 1, &leaves);
    }
    if (as_it_is) {
        return leaf;
    }
    sal_expr w = sali_rewriter_constant(r, place, numbers, SAL_SHAPE(from->n));
    sal_expr each = sali_rewriter_record(r, place, SALI_OP_gather, 1, &leaf, from->n + 1, at);
    return sali_rewriter_two(r, place, SALI_OP_mul, w, each);
}

/* Record the op that adds up the products of a list with weights w: `edges`, `table`, or the dot
 * product of w and the coordinates of the state that the list has. */
static sal_expr record_op(sali_rewriter *r, const sali_node *place, const sali_product_list *from,
                          sal_expr w)
{
    sal_expr x = sali_rewriter_moved(r, ((const context *)r->context)->state);
    if (from->kind != SALI_SINGLES) {
        sali_op_id op = from->kind == SALI_PAIRS ? SALI_OP_edges : SALI_OP_table;
        return sali_rewriter_record(r, place, op, 2, (sal_expr[]){ x, w }, from->n_ints,
                                    from->ints);
    }
    bool all = from->n == r->tape->space->width;
    for (int64_t e = 0; e < from->n; e++) {
        all &= from->ints[1 + e] == e;
    }
    if (!all) {
        x = sali_rewriter_record(r, place, SALI_OP_gather, 1, &x, from->n_ints, from->ints);
    }
    return sali_rewriter_two(r, place, SALI_OP_dot, w, x);
}

/* Record the sum of a list and add it to *all, whose tape is NULL before the first list. */
static sal_status record_list(sali_rewriter *r, const sali_node *place,
                              const sali_product_list *from, sal_expr *all)
{
    double *numbers = SALI_NEW_ARRAY(double, from->n);
    int64_t *at = SALI_NEW_ARRAY(int64_t, from->n + 1);
    bool good = numbers && at;
    if (good) {
        sal_expr made = record_op(r, place, from, weights_of(r, place, from, numbers, at));
        if (leaves_of(r, from) == 1) {
            sal_expr leaf = sali_rewriter_moved(r, from->leaf);
            leaf = sali_rewriter_record(r, place, SALI_OP_reshape, 1, &leaf, 0, NULL);
            made = sali_rewriter_two(r, place, SALI_OP_mul, leaf, made);
        }
        *all = all->tape ? add_exprs(r, place, *all, made) : made;
    }
    sali_free(numbers);
    sali_free(at);
    return good ? SAL_OK : SAL_ERR_MEMORY;
}

/* Add the linear part and the constant of a sum to `made`, and give it the shape of node
 * `place`. */
static sal_expr add_rest(sali_rewriter *r, const sali_node *place, const sali_coordinate_sum *s,
                         sal_expr made)
{
    if (s->linear) {
        sal_expr x = sali_rewriter_moved(r, ((const context *)r->context)->state);
        sal_expr slope =
            sali_rewriter_constant(r, place, s->linear, SAL_SHAPE(r->tape->space->width));
        made = add_exprs(r, place, made, sali_rewriter_two(r, place, SALI_OP_dot, slope, x));
    }
    if (s->constant != 0) {
        made =
            add_exprs(r, place, made, sali_rewriter_constant(r, place, &s->constant, SAL_SCALAR));
    }
    return place->shape.rank > 0 ? sali_rewriter_record(r, place, SALI_OP_reshape, 1, &made,
                                                        place->shape.rank, place->shape.dim)
                                 : made;
}

/* Record the sum that old node i is, if it is one; else *made stays. */
static sal_status rewrite_node(sali_rewriter *r, int64_t i, sal_expr *made)
{
    const sali_coordinate_sum *s = ((const context *)r->context)->found[i];
    const sali_node *place = &r->old[i];
    if (!s) {
        return SAL_OK;
    }
    sal_expr lists = { 0 };
    sal_status status = SAL_OK;
    for (int l = 0; l < s->n_lists && status == SAL_OK; l++) {
        status = record_list(r, place, &s->lists[l], &lists);
    }
    if (status == SAL_OK) {
        *made = add_rest(r, place, s, lists);
    }
    return status;
}

sal_status sali_pass_products(sal_tape *tape, int32_t *output, sal_error *err)
{
    sali_rewriter r;
    context c = { 0 };
    sal_status status = sali_rewriter_open(&r, tape);
    c.found = SALI_NEW_ARRAY(sali_coordinate_sum *, r.n_old);
    r.context = &c;
    while (c.state < r.n_old && r.old[c.state].op != SALI_OP_state) {
        c.state++;
    }
    status = status || !c.found ? SAL_ERR_MEMORY : sali_coordinate_sums_find(&r, c.found);
    status = status ? status : sali_rewriter_run(&r, rewrite_node, output, err);
    for (int64_t i = 0; c.found && i < r.n_old; i++) {
        sali_coordinate_sum_free(c.found[i]);
    }
    sali_free(c.found);
    sali_rewriter_close(&r);
    return status == SAL_ERR_MEMORY ? sali_fail_memory(err) : status;
}
