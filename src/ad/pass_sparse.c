/* SPDX-License-Identifier: MIT */
/* Sparse forms: s'As with a constant A that is mostly zeros becomes a sum over the nonzero entries
 * of A, an `edges` node. The cost of values, gradients and changes is then in proportion to these
 * entries, and analyses that look for couplings find them. Recognised are quad(s, A), and the
 * product of s with A s or s A (matvec, matmul) as a dot, the sum of a mul, or a matmul of a row
 * and a column, also if reshaped or scaled.
 *
 * f is the same except for rounding: the zeros are left out of the sum, and the order is another.
 * (With an infinite s, 0 s would have been NaN.) Other products with such an A are left alone, and
 * their kernels run over the nonzero entries too (ad/ops/sparse_product.h). */
#include "ad/passes.h"
#include "ad/rewriter.h"
#include "ad/sparse.h"
#include "core/alloc.h"
#include "core/error.h"

/* factor x'Ax, with the copies that a product makes of A. */
typedef struct form {
    int32_t x;
    sali_sparse sparse;
    double factor;
} form;

/* ---- finding them, among the old nodes */

/* Whether a slice is all of its input. */
static bool is_whole(const sali_rewriter *r, const sali_node *node)
{
    return node->op == SALI_OP_slice && sali_shape_equal(&node->shape, &r->old[node->in[0]].shape);
}

/* The node whose numbers, in the same order and times *factor, are the numbers of node i.
 * Multiplies *factor. */
static int32_t stripped_node(const sali_rewriter *r, int32_t i, double *factor)
{
    const sali_node *node = &r->old[i];
    while (node->op == SALI_OP_reshape || node->op == SALI_OP_scale || is_whole(r, node)) {
        *factor *= node->op == SALI_OP_scale ? node->reals[0] : 1;
        i = node->in[0];
        node = &r->old[i];
    }
    return i;
}

/* Whether node `product` is a product of a square constant matrix and node x; fills `out`. */
static bool is_image(const sali_rewriter *r, int32_t x, int32_t product, form *out)
{
    const sali_node *node = &r->old[product];
    if (node->n_in != 2) {
        return false;
    }
    const sali_node *in[] = { &r->old[node->in[0]], &r->old[node->in[1]] };
    if (!sali_sparse_product(node, in, &out->sparse)) {
        return false;
    }
    const int64_t *dim = out->sparse.matrix->shape.dim;
    out->x = stripped_node(r, node->in[out->sparse.moving], &out->factor);
    return dim[0] == dim[1] && out->x == x;
}

/* Whether the product of nodes a and b, element by element and summed, times `factor` is a form
 * x'Ax; fills `out`. */
static bool find_product(const sali_rewriter *r, int32_t a, int32_t b, double factor, form *out)
{
    a = stripped_node(r, a, &factor);
    b = stripped_node(r, b, &factor);
    *out = (form){ .factor = factor };
    if (is_image(r, a, b, out)) {
        return true;
    }
    *out = (form){ .factor = factor };
    return is_image(r, b, a, out);
}

static bool find_quad(const sali_rewriter *r, const sali_node *node, form *out)
{
    const sali_node *symmetric = &r->old[node->in[1]];
    out->factor = 1;
    out->x = stripped_node(r, node->in[0], &out->factor);
    out->factor *= out->factor;
    return symmetric->n_ints == 0 && sali_sparse_matrix(&r->old[symmetric->in[0]], &out->sparse);
}

/* Whether all elements of a product of two arrays of one size are summed. */
static bool sums_product(const sali_rewriter *r, const sali_node *node, const sali_node *mul)
{
    return mul->op == SALI_OP_mul && sali_shape_size(&node->shape) == 1 &&
           sali_shape_equal(&r->old[mul->in[0]].shape, &r->old[mul->in[1]].shape);
}

/* The node whose two inputs are multiplied element by element and summed in `node`: a mul below it,
 * or the node itself; NULL if there is none. Scales between the two multiply *factor. */
static const sali_node *summed_product(const sali_rewriter *r, const sali_node *node,
                                       double *factor)
{
    if (node->op == SALI_OP_sum) {
        const sali_node *mul = &r->old[stripped_node(r, node->in[0], factor)];
        return sums_product(r, node, mul) ? mul : NULL;
    }
    bool dot = node->op == SALI_OP_dot ||
               (node->op == SALI_OP_matmul && sali_shape_size(&node->shape) == 1);
    return dot ? node : NULL;
}

/* Whether a node is a form x'Ax of a constant matrix A; fills `out`. */
static bool find_form(const sali_rewriter *r, const sali_node *node, form *out)
{
    double factor = 1;
    if (node->op == SALI_OP_quad) {
        return find_quad(r, node, out);
    }
    const sali_node *of = summed_product(r, node, &factor);
    return of && find_product(r, of->in[0], of->in[1], factor, out);
}

/* ---- edges */

/* The weight of the pair of elements a and b; with a == b, of the square. */
static double weight_between(const form *f, int64_t a, int64_t b)
{
    int64_t n = f->sparse.matrix->shape.dim[0];
    const double *A = f->sparse.matrix->reals;
    return a == b ? A[a * n + a] : A[a * n + b] + A[b * n + a];
}

/* List the edges of all copies, each pair once, with their weights. Returns the number of edges.
 * Both lists may be NULL. */
static int64_t list_edges(const form *f, int64_t *pairs, double *w)
{
    int64_t n = f->sparse.matrix->shape.dim[0], count = 0;
    for (int64_t a = 0; a < n; a++) {
        for (int64_t b = a; b < n; b++) {
            double weight = weight_between(f, a, b);
            for (int64_t t = 0; weight != 0 && t < f->sparse.copies; t++, count++) {
                if (pairs) {
                    pairs[2 * count] = a * f->sparse.step + t * f->sparse.in_copy;
                    pairs[2 * count + 1] = b * f->sparse.step + t * f->sparse.in_copy;
                    w[count] = weight;
                }
            }
        }
    }
    return count;
}

/* Record a form as n edges of x, times its factor, with file and line of the old node. */
static sal_expr record_edges(sali_rewriter *r, const sali_node *node, const form *f, int64_t n,
                             const int64_t *pairs, const double *w)
{
    sal_expr x = sali_rewriter_moved(r, f->x);
    const sal_shape *shape = &r->old[f->x].shape;
    if (shape->rank != 1) {
        x = sal_reshape_at(node->file, node->line, x, SAL_SHAPE(sali_shape_size(shape)));
    }
    sal_expr made = sal_edges_at(node->file, node->line, x,
                                 sali_rewriter_constant(r, node, w, SAL_SHAPE(n)), n, pairs);
    return f->factor == 1 ? made
                          : sal_op_reals_at(node->file, node->line, "scale", made, 1, f->factor, 0);
}

/* The replacement of old node i for the rewriter: edges, if the node is a form of a matrix with few
 * nonzero entries. */
static sal_status rewrite_node(sali_rewriter *r, int64_t i, sal_expr *made)
{
    const sali_node *node = &r->old[i];
    form f;
    if (!node->varying || !find_form(r, node, &f) || !sali_sparse_suits_edges(&f.sparse)) {
        return SAL_OK;
    }
    int64_t n = list_edges(&f, NULL, NULL);
    int64_t *pairs = SALI_NEW_ARRAY(int64_t, 2 * n);
    double *w = SALI_NEW_ARRAY(double, n);
    sal_status status = pairs && w ? SAL_OK : SAL_ERR_MEMORY;
    if (status == SAL_OK) {
        list_edges(&f, pairs, w);
        sal_expr sum = n > 0 ? record_edges(r, node, &f, n, pairs, w)
                             : sali_rewriter_constant(r, node, (double[]){ 0 }, SAL_SCALAR);
        *made =
            node->shape.rank > 0 ? sal_reshape_at(node->file, node->line, sum, node->shape) : sum;
    }
    sali_free(pairs);
    sali_free(w);
    return status;
}

/* ---- the pass */

sal_status sali_pass_sparse(sal_tape *tape, int32_t *output, sal_error *err)
{
    sali_rewriter r;
    sal_status status = sali_rewriter_open(&r, tape);
    status = status == SAL_OK ? sali_rewriter_run(&r, rewrite_node, output, err) : status;
    sali_rewriter_close(&r);
    return status == SAL_ERR_MEMORY ? sali_fail_memory(err) : status;
}
