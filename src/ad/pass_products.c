/* SPDX-License-Identifier: MIT */
/* Sums of products of two coordinates of the state, picked out by slices, gathers and the like,
 * become an `edges` node: sum(s[1:] * s[:-1]) of a lattice, sum(w * x[i] * x[j]) of a graph. Edges
 * cost less in values, gradients and changes; f is recognised as multilinear where each pair joins
 * two variables; and analyses that look for couplings find them.
 *
 * A node of one element is expanded by the ops' terms (ad/op.h) into a sum of products of a number
 * and at most two coordinates. Each number may have one factor that does not depend on the state,
 * an element of one node for all of the sum: weights that are parameters. f is the same except for
 * rounding, with the same terms in another order. The outermost nodes are tried first; nodes that
 * went into a sum are not tried by themselves. */
#include "ad/passes.h"
#include "ad/rewriter.h"
#include "core/alloc.h"
#include "core/error.h"
#include "core/memory.h"

/* Steps of expansion: EFFORT for each element of all nodes, so that the pass is linear in the size
 * of the tape; and at most DEEPEST nodes on the way to a coordinate. */
#define EFFORT 16
#define DEEPEST 64
#define MOST_INPUTS 8 /* of a node that is expanded */

enum { NONE = -1 };

/* What a product has gathered: a number, and an element of the leaf. */
typedef struct product {
    double number;
    int64_t leaf; /* or NONE */
} product;

/* A sum of products: sum_e w_e leaf_e s_i s_j + linear . s + constant. */
typedef struct sum {
    int64_t n, room;
    int64_t *pairs; /* [n x 2] */
    product *w;     /* [n] */
    int64_t w_room;
    int64_t across; /* pairs of two coordinates, not of one with itself */
    double *linear; /* [width of the state]; NULL: none */
    double constant;
    int32_t leaf_node; /* the node whose elements all leaves are, or NONE */
} sum;

typedef struct search {
    const sali_rewriter *r;
    int32_t state; /* the first node that is the state */
    int64_t budget;
    bool refused;  /* no memory */
    sum **found;   /* [n_old] what is to stand for a node; NULL: itself */
    int32_t *seen; /* [n_old] the last node whose sum went through it */
    sum *at;       /* the sum under way, of node `of` */
    int32_t of;
} search;

/* Free a sum with its lists; NULL is fine. */
static void free_sum(sum *s)
{
    if (s) {
        sali_free(s->pairs);
        sali_free(s->w);
        sali_free(s->linear);
        sali_free(s);
    }
}

/* ---- expanding */

/* Multiply product p by element k of node i, which does not vary, or divide p by it. False: the
 * product has a leaf already, the sum has leaves of another node, or p is divided by a leaf. */
static bool take_fixed(search *s, int32_t i, int64_t k, bool divides, product *p)
{
    const sali_node *node = &s->r->old[i];
    if (node->op == SALI_OP_constant) {
        p->number = divides ? p->number / node->reals[k] : p->number * node->reals[k];
        return true;
    }
    if (divides || p->leaf != NONE || (s->at->leaf_node != NONE && s->at->leaf_node != i)) {
        return false;
    }
    s->at->leaf_node = i;
    p->leaf = k;
    return true;
}

/* Store in *term term t of element k of node i, multiply p by its fixed elements, and list the
 * positions of its varying elements in `varying`. Returns the number of varying elements, or -1 if
 * the term is no product of this kind. */
static int open_term(search *s, int32_t i, int64_t k, int64_t t, product *p, sali_op_term *term,
                     int varying[3])
{
    const sali_node *node = &s->r->old[i];
    const sali_node *in[MOST_INPUTS];
    int n = 0;
    for (int32_t j = 0; j < node->n_in; j++) {
        in[j] = &s->r->old[node->in[j]];
    }
    *term = sali_op_f64(node->op)->term(&(sali_term_place){ node, in, k, t });
    p->number *= term->factor;
    for (int j = 0; j < term->n && term->factor != 0; j++) {
        const sali_term_end end = j == term->n - 1 ? term->end : SALI_MULTIPLIES;
        if (s->r->old[node->in[term->input[j]]].varying) {
            varying[n++] = j;
        } else if (end == SALI_IF_ZERO || end == SALI_IF_NOT_ZERO ||
                   !take_fixed(s, node->in[term->input[j]], term->at[j], end == SALI_DIVIDES, p)) {
            return -1;
        }
        if (n > 0 && varying[n - 1] == j && end != SALI_MULTIPLIES) {
            return -1;
        }
    }
    return n;
}

/* Whether a node can be expanded. A list of pairs has the wanted form already, and a form of a
 * matrix has an op of its own. */
static bool is_open(const search *s, int32_t i)
{
    const sali_node *node = &s->r->old[i];
    const sali_op *op = sali_op_f64(node->op);
    return op->term && !op->lists_pairs && op->symmetric_inputs == 0 && node->n_in <= MOST_INPUTS;
}

/* Store in *coordinate which coordinate element k of node i is, up to a factor, and multiply p by
 * that factor. False: the element is something else, or the effort is spent. */
static bool find_coordinate(search *s, int32_t i, int64_t k, product *p, int64_t *coordinate)
{
    for (int depth = 0; s->r->old[i].op != SALI_OP_state; depth++) {
        sali_op_term term;
        int varying[3];
        if (--s->budget < 0 || depth == DEEPEST || !is_open(s, i) ||
            open_term(s, i, k, 0, p, &term, varying) != 1 || term.count != 1) {
            return false;
        }
        s->seen[i] = s->of;
        i = s->r->old[i].in[term.input[varying[0]]];
        k = term.at[varying[0]];
    }
    *coordinate = k;
    return true;
}

/* Add p s_i s_j to the sum under way; false: out of memory. */
static bool add_pair(search *s, int64_t i, int64_t j, product p)
{
    sum *to = s->at;
    if (sali_grow((void **)&to->pairs, &to->room, to->n + 1, 2 * sizeof *to->pairs) != 0 ||
        sali_grow((void **)&to->w, &to->w_room, to->n + 1, sizeof *to->w) != 0) {
        s->refused = true;
        return false;
    }
    to->pairs[2 * to->n] = i;
    to->pairs[2 * to->n + 1] = j;
    to->w[to->n++] = p;
    to->across += i != j;
    return true;
}

/* Add p s_i to the linear part of the sum under way; false: p has a leaf, or out of memory. */
static bool add_linear(search *s, int64_t i, product p)
{
    sum *to = s->at;
    if (p.leaf != NONE) {
        return false;
    }
    if (!to->linear) {
        to->linear = SALI_NEW_ARRAY(double, s->r->tape->space->width);
        s->refused |= !to->linear;
    }
    if (to->linear) {
        to->linear[i] += p.number;
    }
    return to->linear;
}

/* Add element k of node i, times product p, to the sum under way. False: the element is no sum of
 * products of this kind, the effort is spent, or out of memory. */
static bool expand(search *s, int32_t i, int64_t k, product p, int depth)
{
    const sali_node *node = &s->r->old[i];
    if (node->op == SALI_OP_state) {
        return add_linear(s, k, p);
    }
    if (depth == DEEPEST || !is_open(s, i)) {
        return false;
    }
    s->seen[i] = s->of;
    sali_op_term term = { .count = 1 };
    bool good = true;
    for (int64_t t = 0; good && t < term.count; t++) {
        product own = p;
        int varying[3];
        const int n = --s->budget < 0 ? -1 : open_term(s, i, k, t, &own, &term, varying);
        if (n < 0 || n > 2 || term.count == 0) {
            return false;
        }
        if (term.factor == 0) {
            continue;
        }
        const int32_t a = n > 0 ? node->in[term.input[varying[0]]] : 0;
        int64_t first, second;
        if (n == 2) {
            const int32_t b = node->in[term.input[varying[1]]];
            good = find_coordinate(s, a, term.at[varying[0]], &own, &first) &&
                   find_coordinate(s, b, term.at[varying[1]], &own, &second) &&
                   add_pair(s, first, second, own);
        } else if (n == 1) {
            good = expand(s, a, term.at[varying[0]], own, depth + 1);
        } else {
            good = own.leaf == NONE;
            s->at->constant += own.number;
        }
    }
    return good;
}

/* Whether all products of a sum have a leaf, or none has. */
static bool is_even(const sum *s)
{
    for (int64_t e = 0; s->leaf_node != NONE && e < s->n; e++) {
        if (s->w[e].leaf == NONE) {
            return false;
        }
    }
    return true;
}

/* Whether the sum under way has at most as many pairs as the nodes expanded for it have elements:
 * it is then a sum of products element by element, not by a matrix. */
static bool is_by_elements(const search *s)
{
    int64_t elements = 0;
    for (int32_t i = 0; i <= s->of; i++) {
        elements += s->seen[i] == s->of ? sali_shape_size(&s->r->old[i].shape) : 0;
    }
    return s->at->n <= elements;
}

/* Expand node i, if it is one element, and store the sum in s->found[i] if edges can stand for it.
 * Returns: SAL_ERR_MEMORY. */
static sal_status find(search *s, int32_t i)
{
    const sali_node *node = &s->r->old[i];
    if (!node->varying || sali_shape_size(&node->shape) != 1 || !is_open(s, i)) {
        return SAL_OK;
    }
    s->of = i;
    s->at = SALI_NEW(sum);
    if (!s->at) {
        return SAL_ERR_MEMORY;
    }
    s->at->leaf_node = NONE;
    if (expand(s, i, 0, (product){ .number = 1, .leaf = NONE }, 0) && s->at->across > 0 &&
        is_even(s->at) && is_by_elements(s)) {
        s->found[i] = s->at;
        return SAL_OK;
    }
    free_sum(s->at);
    return s->refused ? SAL_ERR_MEMORY : SAL_OK;
}

/* ---- what is to stand there */

static sal_expr add(sali_rewriter *r, const sali_node *place, sal_expr a, sal_expr b)
{
    return sali_rewriter_two(r, place, SALI_OP_add, a, b);
}

/* Number of elements of the node that the leaves belong to; 0 without leaves. */
static int64_t leaves_of(const sali_rewriter *r, const sum *s)
{
    return s->leaf_node == NONE ? 0 : sali_shape_size(&r->old[s->leaf_node].shape);
}

/* The weights of a sum's pairs as a vector [n]: their numbers, times elements of the leaf node if
 * it has several. `numbers` [n] and `at` [n + 1] are room. */
static sal_expr weights_of(sali_rewriter *r, const sali_node *place, const sum *s, double *numbers,
                           int64_t *at)
{
    at[0] = 0; /* the axis */
    for (int64_t e = 0; e < s->n; e++) {
        numbers[e] = s->w[e].number;
        at[1 + e] = s->w[e].leaf;
    }
    sal_expr w = sali_rewriter_constant(r, place, numbers, SAL_SHAPE(s->n));
    const int64_t leaves = leaves_of(r, s);
    if (leaves <= 1) {
        return w;
    }
    sal_expr leaf = sali_rewriter_moved(r, s->leaf_node);
    sal_expr flat = sali_rewriter_record(r, place, SALI_OP_reshape, 1, &leaf, 1, &leaves);
    sal_expr each = sali_rewriter_record(r, place, SALI_OP_gather, 1, &flat, s->n + 1, at);
    return sali_rewriter_two(r, place, SALI_OP_mul, w, each);
}

/* Record a sum whose pairs have weights w: the edges, times the leaf node if it has one element,
 * plus the linear part and the constant, in the shape of the old node `place`. */
static sal_expr record(sali_rewriter *r, const sali_node *place, const sum *s, sal_expr w)
{
    const int64_t width = r->tape->space->width;
    sal_expr x = sali_rewriter_moved(r, ((const search *)r->context)->state);
    sal_expr made =
        sali_rewriter_record(r, place, SALI_OP_edges, 2, (sal_expr[]){ x, w }, 2 * s->n, s->pairs);
    if (leaves_of(r, s) == 1) {
        sal_expr leaf = sali_rewriter_moved(r, s->leaf_node);
        leaf = sali_rewriter_record(r, place, SALI_OP_reshape, 1, &leaf, 0, NULL);
        made = sali_rewriter_two(r, place, SALI_OP_mul, leaf, made);
    }
    if (s->linear) {
        sal_expr slope = sali_rewriter_constant(r, place, s->linear, SAL_SHAPE(width));
        made = add(r, place, made, sali_rewriter_two(r, place, SALI_OP_dot, slope, x));
    }
    if (s->constant != 0) {
        made = add(r, place, made, sali_rewriter_constant(r, place, &s->constant, SAL_SCALAR));
    }
    return place->shape.rank > 0 ? sali_rewriter_record(r, place, SALI_OP_reshape, 1, &made,
                                                        place->shape.rank, place->shape.dim)
                                 : made;
}

/* The replacement of old node i for the rewriter: the sum that was found for it, if any. */
static sal_status rewrite(sali_rewriter *r, int64_t i, sal_expr *made)
{
    const sum *s = ((search *)r->context)->found[i];
    if (!s) {
        return SAL_OK;
    }
    double *numbers = SALI_NEW_ARRAY(double, s->n);
    int64_t *at = SALI_NEW_ARRAY(int64_t, s->n + 1);
    const bool good = numbers && at;
    if (good) {
        *made = record(r, &r->old[i], s, weights_of(r, &r->old[i], s, numbers, at));
    }
    sali_free(numbers);
    sali_free(at);
    return good ? SAL_OK : SAL_ERR_MEMORY;
}

/* ---- the pass */

/* Find the sums of all nodes, from the last to the first, except for nodes that went into the sum
 * found for a later node. Returns: SAL_ERR_MEMORY. */
static sal_status find_all(search *s)
{
    sal_status status = SAL_OK;
    while (s->state < s->r->n_old && s->r->old[s->state].op != SALI_OP_state) {
        s->state++;
    }
    for (int64_t i = 0; i < s->r->n_old; i++) {
        s->budget += EFFORT * sali_shape_size(&s->r->old[i].shape);
    }
    for (int32_t i = (int32_t)s->r->n_old - 1; status == SAL_OK && i > 0 && s->budget > 0; i--) {
        const int32_t by = s->seen[i];
        status = by > i && s->found[by] ? SAL_OK : find(s, i);
    }
    return status;
}

sal_status sali_pass_products(sal_tape *tape, int32_t *output, sal_error *err)
{
    sali_rewriter r;
    sali_memory memory = { 0 };
    sal_status status = sali_rewriter_open(&r, tape);
    search s = { .r = &r,
                 .found = SALI_TAKE(&memory, sum *, r.n_old),
                 .seen = SALI_TAKE(&memory, int32_t, r.n_old) };
    r.context = &s;
    status = status || memory.refused ? SAL_ERR_MEMORY : find_all(&s);
    status = status ? status : sali_rewriter_run(&r, rewrite, output, err);
    for (int64_t i = 0; s.found && i < r.n_old; i++) {
        free_sum(s.found[i]);
    }
    sali_memory_free(&memory);
    sali_rewriter_close(&r);
    return status == SAL_ERR_MEMORY ? sali_fail_memory(err) : status;
}
