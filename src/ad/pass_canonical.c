/* SPDX-License-Identifier: MIT */
/* The canonical extension: f in another form, which is the same on the lattice and there linear in
 * each coordinate where f was a polynomial of it.
 *
 * A coordinate x with two values l0, l1 obeys x^p = A + B x with B = (l1^p - l0^p) / (l1 - l0) and
 * A = l0^p - B l0: s^2 = s of a binary variable or a one-hot, 1 of a spin. Two coordinates of one
 * one-hot have the product 0. Rewritten are powers and products of a coordinate with itself,
 * quadratic forms, and pairs of a list of edges that are no pairs of two variables. The coverage by
 * coordinates of 0 or 1 becomes the expected one. Then the gradient of a polynomial of degree two,
 * or of a coverage, is its difference slopes. Off the lattice f and its gradient differ from what
 * was recorded, and proposals made from them differ too; the target distribution is the same. */
#include <math.h>
#include <string.h>

#include "ad/passes.h"
#include "ad/rewriter.h"
#include "core/alloc.h"
#include "core/error.h"

/* Which coordinate of the state each element of a node is; NULL: the node is something else. */
static const int64_t *origin_of(const sali_rewriter *r, int64_t i)
{
    return ((int64_t **)r->context)[i];
}

/* ---- coordinates */

/* Set the origins of old node i, if the node is the state or each of its elements is an element of
 * a node that has origins. Returns: SAL_ERR_MEMORY. */
static sal_status find_origin(sali_rewriter *r, int64_t i)
{
    const sali_node *node = &r->old[i], *in[] = { NULL };
    const sali_op *op = sali_op_f64(node->op);
    const int64_t *from = node->n_in == 1 && op->linear ? origin_of(r, node->in[0]) : NULL;
    if (node->op != SALI_OP_state && !from) {
        return SAL_OK;
    }
    int64_t size = sali_shape_size(&node->shape);
    int64_t *origin = ((int64_t **)r->context)[i] = SALI_NEW_ARRAY(int64_t, size);
    bool selects = true;
    for (int64_t k = 0; origin && selects && k < size; k++) {
        sali_op_term term = { .count = 1, .factor = 1, .at = { k } };
        if (from) {
            in[0] = &r->old[node->in[0]];
            term = op->term(&(sali_term_place){ node, in, k, 0 });
        }
        origin[k] = from ? from[term.at[0]] : k;
        selects = term.count == 1 && term.factor == 1;
    }
    if (!selects) {
        sali_free(origin);
        ((int64_t **)r->context)[i] = NULL;
    }
    return origin ? SAL_OK : SAL_ERR_MEMORY;
}

/* Store A and B, where x^p = A + B x for both values of a coordinate; false if the coordinate has
 * more than two values. */
static bool linear_form(const sal_space *space, int64_t coordinate, double p, double *A, double *B)
{
    const sali_variable *v = &space->variables[sali_space_owner(space, coordinate)];
    if (v->kind != SAL_CATEGORICAL && v->states != 2) {
        return false;
    }
    double low = v->levels ? v->levels[0] : 0, high = v->levels ? v->levels[1] : 1;
    *B = (pow(high, p) - pow(low, p)) / (high - low);
    *A = pow(low, p) - *B * low;
    return true;
}

/* Store linear_form of n coordinates in `forms`: n of A, then n of B. False: a coordinate has more
 * than two values. */
static bool linear_forms(const sal_space *space, int64_t n, const int64_t *coordinates, double p,
                         double *forms)
{
    bool good = true;
    for (int64_t k = 0; good && k < n; k++) {
        good = linear_form(space, coordinates[k], p, &forms[k], &forms[n + k]);
    }
    return good;
}

/* Whether all of n values are equal to `value`. */
static bool all_equal(int64_t n, const double *values, double value)
{
    for (int64_t k = 0; k < n; k++) {
        if (values[k] != value) {
            return false;
        }
    }
    return true;
}

/* ---- recording */

/* sum + term, where a sum without terms has no tape. */
static sal_expr add_term(sali_rewriter *r, const sali_node *place, sal_expr sum, sal_expr term)
{
    return sum.tape ? sali_rewriter_two(r, place, SALI_OP_add, sum, term) : term;
}

/* sum += sum_k weight_k (A_k + B_k x_k) for vectors [n]. */
static sal_expr add_linear(sali_rewriter *r, const sali_node *place, sal_expr sum, sal_expr weight,
                           sal_expr x, int64_t n, const double *forms)
{
    const double *A = forms, *B = forms + n;
    sal_shape shape = SAL_SHAPE(n);
    if (!all_equal(n, B, 0)) {
        sal_expr slope = weight;
        if (!all_equal(n, B, 1)) {
            slope = sali_rewriter_two(r, place, SALI_OP_mul,
                                      sali_rewriter_constant(r, place, B, shape), slope);
        }
        sum = add_term(r, place, sum, sali_rewriter_two(r, place, SALI_OP_dot, slope, x));
    }
    if (!all_equal(n, A, 0)) {
        sal_expr a = sali_rewriter_constant(r, place, A, shape);
        sum = add_term(r, place, sum, sali_rewriter_two(r, place, SALI_OP_dot, a, weight));
    }
    return sum;
}

/* ---- the rewritings: each gives the new expression, or none (tape NULL) when it does not apply */

static const sal_expr none;

/* p of a node that is x^p of coordinates x, p >= 2 a whole number; 0 of any other node. */
static double power_of(const sali_rewriter *r, const sali_node *node)
{
    if (node->n_in == 0 || !origin_of(r, node->in[0])) {
        return 0;
    }
    const int64_t *a = origin_of(r, node->in[0]);
    if (node->op == SALI_OP_square) {
        return 2;
    }
    if (node->op == SALI_OP_pow) {
        double p = node->reals[0];
        return p >= 2 && p == floor(p) ? p : 0;
    }
    const int64_t *b = node->op == SALI_OP_mul ? origin_of(r, node->in[1]) : NULL;
    const sal_shape *shape = &r->old[node->in[0]].shape;
    bool same = b && sali_shape_equal(shape, &r->old[node->in[1]].shape) &&
                memcmp(a, b, (size_t)sali_shape_size(shape) * sizeof *a) == 0;
    return same ? 2 : 0;
}

/* x^p of coordinates as A + B x; none if a coordinate has more than two values. `forms` [2 n] is
 * room. */
static sal_expr rewrite_power(sali_rewriter *r, const sali_node *node, double *forms)
{
    int64_t n = sali_shape_size(&node->shape);
    if (!linear_forms(r->tape->space, n, origin_of(r, node->in[0]), power_of(r, node), forms)) {
        return none;
    }
    const double *A = forms, *B = forms + n;
    sal_expr x = sali_rewriter_moved(r, node->in[0]);
    if (all_equal(n, B, 0)) {
        return sali_rewriter_constant(r, node, A, node->shape);
    }
    if (!all_equal(n, B, 1)) {
        x = sali_rewriter_two(r, node, SALI_OP_mul, sali_rewriter_constant(r, node, B, node->shape),
                              x);
    }
    return all_equal(n, A, 0) ? x
                              : sali_rewriter_two(r, node, SALI_OP_add, x,
                                                  sali_rewriter_constant(r, node, A, node->shape));
}

/* Store the variables that own coordinates [n]; false when a coordinate is there twice, or out of
 * memory. */
static bool list_owners(const sal_space *space, int64_t n, const int64_t *coordinates,
                        int64_t *owners)
{
    bool *seen = SALI_NEW_ARRAY(bool, space->width);
    bool good = seen != NULL;
    for (int64_t k = 0; good && k < n; k++) {
        good = !seen[coordinates[k]];
        seen[coordinates[k]] = true;
        owners[k] = sali_space_owner(space, coordinates[k]);
    }
    sali_free(seen);
    return good;
}

/* s'Ss = s'S0 s + sum_k S_kk s_k^2, with S0 zero between coordinates of one variable, and squares
 * as linear forms. `forms` [2 n] and `ints` [n + 1] are room. */
static sal_expr rewrite_quad(sali_rewriter *r, const sali_node *node, double *forms, int64_t *ints)
{
    const sal_space *space = r->tape->space;
    const sali_node *symmetric = &r->old[node->in[1]];
    const int64_t *coordinates = origin_of(r, node->in[0]);
    int64_t n = r->old[node->in[0]].shape.dim[0];
    if (!coordinates || symmetric->n_ints > 0 || !linear_forms(space, n, coordinates, 2, forms) ||
        !list_owners(space, n, coordinates, ints)) {
        return none;
    }
    sal_expr x = sali_rewriter_moved(r, node->in[0]), J = sali_rewriter_moved(r, symmetric->in[0]);
    sal_expr S = sali_rewriter_record(r, node, SALI_OP_symmetrise, 1, &J, n, ints);
    sal_expr sum = sali_rewriter_two(r, node, SALI_OP_quad, x, S);
    ints[0] = 0; /* the diagonal of J: an axis, and where */
    for (int64_t k = 0; k < n; k++) {
        ints[1 + k] = k * (n + 1);
    }
    sal_expr flat = sali_rewriter_record(r, node, SALI_OP_reshape, 1, &J, 1, (int64_t[]){ n * n });
    sal_expr diagonal = sali_rewriter_record(r, node, SALI_OP_gather, 1, &flat, n + 1, ints);
    return add_linear(r, node, sum, diagonal, x, n, forms);
}

/* Edges sorted: those kept, and pairs of a coordinate with itself. Pairs of two coordinates of one
 * one-hot are in neither list. Lists that begin with an axis, 0, are attributes of gather. */
typedef struct edge_lists {
    int64_t n_kept, n_self;
    int64_t *kept, *self; /* [1 + n] an axis, and indices of edges */
    int64_t *pairs;       /* [2 n_kept] the ends of kept edges */
    int64_t *ends;        /* an axis, and for each pair with itself the element of x */
    int64_t *coordinates; /* the coordinates of these elements */
} edge_lists;

/* Fill the lists from the edges of a node; origin: the coordinate of each element of the node's
 * x. */
static void sort_edges(const sal_space *space, const sali_node *node, const int64_t *origin,
                       edge_lists *lists)
{
    for (int64_t e = 0; e < node->n_ints / 2; e++) {
        int64_t i = node->ints[2 * e], j = node->ints[2 * e + 1];
        if (origin[i] == origin[j]) {
            lists->coordinates[lists->n_self] = origin[i];
            lists->ends[1 + lists->n_self] = i;
            lists->self[1 + lists->n_self++] = e;
        } else if (sali_space_owner(space, origin[i]) != sali_space_owner(space, origin[j])) {
            lists->pairs[2 * lists->n_kept] = i;
            lists->pairs[2 * lists->n_kept + 1] = j;
            lists->kept[1 + lists->n_kept++] = e;
        }
    }
}

/* The kept edges, plus linear forms for pairs of a coordinate with itself; none if x has no
 * origins, all edges are kept, or such a coordinate has more than two values. `forms` and `ints`
 * are room (room_of). */
static sal_expr rewrite_edges(sali_rewriter *r, const sali_node *node, double *forms, int64_t *ints)
{
    const int64_t *origin = origin_of(r, node->in[0]);
    int64_t n = node->n_ints / 2;
    if (!origin) {
        return none;
    }
    edge_lists lists = { .kept = ints,
                         .self = ints + (n + 1),
                         .ends = ints + 2 * (n + 1),
                         .coordinates = ints + 3 * (n + 1),
                         .pairs = ints + 4 * (n + 1) };
    lists.kept[0] = lists.self[0] = lists.ends[0] = 0;
    sort_edges(r->tape->space, node, origin, &lists);
    if (lists.n_kept == n ||
        !linear_forms(r->tape->space, lists.n_self, lists.coordinates, 2, forms)) {
        return none;
    }
    sal_expr x = sali_rewriter_moved(r, node->in[0]), sum = none;
    sal_expr w = sali_rewriter_moved(r, node->in[1]);
    if (lists.n_kept > 0) {
        sal_expr kept =
            sali_rewriter_record(r, node, SALI_OP_gather, 1, &w, lists.n_kept + 1, lists.kept);
        sum = sali_rewriter_record(r, node, SALI_OP_edges, 2, (sal_expr[]){ x, kept },
                                   2 * lists.n_kept, lists.pairs);
    }
    if (lists.n_self > 0) {
        sal_expr own =
            sali_rewriter_record(r, node, SALI_OP_gather, 1, &w, lists.n_self + 1, lists.self);
        sal_expr ends =
            sali_rewriter_record(r, node, SALI_OP_gather, 1, &x, lists.n_self + 1, lists.ends);
        sum = add_linear(r, node, sum, own, ends, lists.n_self, forms);
    }
    return sum.tape ? sum : sali_rewriter_constant(r, node, (double[]){ 0 }, SAL_SCALAR);
}

/* max_coverage as expected_coverage, if the coordinates are 0 or 1 and each belongs to another
 * variable. `ints` [n] is room. */
static sal_expr rewrite_coverage(sali_rewriter *r, const sali_node *node, int64_t *ints)
{
    const sal_space *space = r->tape->space;
    const int64_t *coordinates = origin_of(r, node->in[0]);
    int64_t n = r->old[node->in[0]].shape.dim[0];
    bool good = coordinates && space->width == space->n_variables &&
                list_owners(space, n, coordinates, ints);
    for (int64_t k = 0; good && k < n; k++) {
        const sali_variable *v = &space->variables[ints[k]];
        good = v->states == 2 && v->levels[0] == 0 && v->levels[1] == 1;
    }
    return good ? sali_rewriter_two(r, node, SALI_OP_expected_coverage,
                                    sali_rewriter_moved(r, node->in[0]),
                                    sali_rewriter_moved(r, node->in[1]))
                : none;
}

static bool may_rewrite(const sali_rewriter *r, const sali_node *node)
{
    return node->op == SALI_OP_quad || node->op == SALI_OP_edges ||
           node->op == SALI_OP_max_coverage || power_of(r, node) != 0;
}

/* Length of the arrays `forms` and `ints` for rewriting a node. */
static int64_t room_of(const sali_rewriter *r, const sali_node *node)
{
    int64_t size = sali_shape_size(&r->old[node->in[0]].shape), edges = node->n_ints / 2;
    return node->op == SALI_OP_edges ? 6 * (edges + 1) : 2 * (size + 1);
}

/* Store the canonical form of a node in *made; without a tape if the node stays. Returns:
 * SAL_ERR_MEMORY. */
static sal_status canonical_form(sali_rewriter *r, const sali_node *node, sal_expr *made)
{
    *made = none;
    if (!may_rewrite(r, node)) {
        return SAL_OK;
    }
    double *forms = SALI_NEW_ARRAY(double, room_of(r, node));
    int64_t *ints = SALI_NEW_ARRAY(int64_t, room_of(r, node));
    bool good = forms && ints;
    if (good) {
        *made = node->op == SALI_OP_quad           ? rewrite_quad(r, node, forms, ints)
                : node->op == SALI_OP_edges        ? rewrite_edges(r, node, forms, ints)
                : node->op == SALI_OP_max_coverage ? rewrite_coverage(r, node, ints)
                                                   : rewrite_power(r, node, forms);
    }
    sali_free(forms);
    sali_free(ints);
    return good ? SAL_OK : SAL_ERR_MEMORY;
}

/* ---- the pass */

static sal_status rewrite_node(sali_rewriter *r, int64_t i, sal_expr *made)
{
    sal_status status = find_origin(r, i);
    return status == SAL_OK ? canonical_form(r, &r->old[i], made) : status;
}

sal_status sali_pass_canonical(sal_tape *tape, int32_t *output, sal_error *err)
{
    sali_rewriter r;
    sal_status status = sali_rewriter_open(&r, tape);
    int64_t **origin = SALI_NEW_ARRAY(int64_t *, r.n_old);
    r.context = origin;
    status = status == SAL_OK && origin ? sali_rewriter_run(&r, rewrite_node, output, err)
                                        : SAL_ERR_MEMORY;
    for (int64_t i = 0; origin && i < r.n_old; i++) {
        sali_free(origin[i]);
    }
    sali_free(origin);
    sali_rewriter_close(&r);
    return status == SAL_ERR_MEMORY ? sali_fail_memory(err) : status;
}
