/* SPDX-License-Identifier: MIT */
#include "ad/coordinate_sums.h"

#include <string.h>

#include "core/alloc.h"
#include "core/memory.h"

/* EFFORT: steps of expanding for each element of all nodes, so that the search is linear in the
 * size of the tape. DEEPEST: nodes on the way from a product to a coordinate. */
#define EFFORT 16
#define DEEPEST 64
#define MOST_INPUTS 8 /* of a node that is expanded */
#define MOST_COORDINATES 6
#define MOST_ENTRIES 64 /* of a factor's table */

/* An element on the way from the sum to a product, and its terms so far. */
typedef struct frame {
    int32_t node;
    int64_t k, t, count;
    sali_product p;
} frame;

typedef struct search {
    const sali_rewriter *r;
    int64_t budget;
    bool refused;                /* no memory */
    sali_coordinate_sum **found; /* [n_old] */
    int32_t *seen;               /* [n_old] the last node whose sum went through this node */
    bool *hopeless; /* [n_old] the node has one element, and is known to be no such sum */
    /* For the sum of node `of`, which is being expanded. */
    sali_coordinate_sum *at;
    int32_t of;
    int64_t products, across; /* number of all products, and of products of different coordinates */
    int64_t elements;         /* elements of the nodes that the products go through */
    frame *frames;            /* [n_frames] */
    int64_t n_frames, frames_room;
    int64_t spoiled; /* number of frames that are no such sums, if expanding failed */
} search;

void sali_coordinate_sum_free(sali_coordinate_sum *s)
{
    if (s) {
        for (int l = 0; l < s->n_lists; l++) {
            sali_free(s->lists[l].ints);
            sali_free(s->lists[l].w);
        }
        sali_free(s->linear);
        sali_free(s);
    }
}

/* ---- terms of the old nodes */

/* Note that expanding fails, and would fail from any of the first `frames` frames. Returns
 * false. */
static bool give_up(search *s, int64_t frames)
{
    s->spoiled = frames;
    return false;
}

/* Whether node i is expanded by the terms of its op. A list of pairs has its final form already,
 * and a form of a matrix has an op of its own. */
static bool is_open(const search *s, int32_t i)
{
    const sali_node *node = &s->r->old[i];
    const sali_op *op = sali_op_f64(node->op);
    return op->term && !op->lists_pairs && op->symmetric_inputs == 0 && node->n_in <= MOST_INPUTS;
}

static sali_op_term term_of(const search *s, int32_t i, int64_t k, int64_t t)
{
    const sali_node *node = &s->r->old[i], *in[MOST_INPUTS];
    for (int32_t j = 0; j < node->n_in; j++) {
        in[j] = &s->r->old[node->in[j]];
    }
    return sali_op_f64(node->op)->term(&(sali_term_place){ node, in, k, t });
}

/* Replace *i and *k by the element of which element *k of node *i is a multiple, through any number
 * of slices and the like. Returns the factor. */
static double find_leaf(search *s, int32_t *i, int64_t *k)
{
    double factor = 1;
    while (is_open(s, *i) && --s->budget > 0) {
        sali_op_term term = term_of(s, *i, *k, 0);
        if (term.count != 1 || term.n != 1 || term.end != SALI_MULTIPLIES) {
            break;
        }
        factor *= term.factor;
        *i = s->r->old[*i].in[term.input[0]];
        *k = term.at[0];
    }
    return factor;
}

/* Multiply (or divide) the product *p by element k of node i, which does not vary. False: the
 * product has a leaf already, or would be divided by one. */
static bool take_fixed(search *s, int32_t i, int64_t k, bool divides, sali_product *p)
{
    double number = find_leaf(s, &i, &k);
    const sali_node *node = &s->r->old[i];
    number *= node->op == SALI_OP_constant ? node->reals[k] : 1;
    p->number = divides ? p->number / number : p->number * number;
    if (node->op == SALI_OP_constant) {
        return true;
    }
    if (divides || p->node != SALI_NO_LEAF) {
        return give_up(s, divides ? s->n_frames : p->frame + 1);
    }
    p->node = i;
    p->leaf = k;
    p->frame = s->n_frames - 1;
    return true;
}

/* Read term t of element k of node i: its fixed elements go into the product *p, and the positions
 * of its varying elements into `varying`. Returns how many vary, or -1 if the term is no such
 * product. */
static int open_term(search *s, int32_t i, int64_t k, int64_t t, sali_product *p,
                     sali_op_term *term, int varying[3])
{
    const sali_node *node = &s->r->old[i];
    int n = 0;
    give_up(s, s->n_frames); /* the default; take_fixed may note fewer frames */
    *term = term_of(s, i, k, t);
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

/* Note that the sum goes through node i, and count the elements of the node once. */
static void note_node(search *s, int32_t i)
{
    s->elements += s->seen[i] == s->of ? 0 : sali_shape_size(&s->r->old[i].shape);
    s->seen[i] = s->of;
}

/* Append to coordinates [n] the coordinates whose product, times *p, element k of node i is.
 * Returns their new number, or -1: the element is no such product. */
static int find_coordinates(search *s, int32_t i, int64_t k, sali_product *p, int64_t *coordinates,
                            int n, int depth)
{
    sali_op_term term;
    int varying[3];
    if (n == MOST_COORDINATES) {
        return -1;
    }
    if (s->r->old[i].op == SALI_OP_state) {
        coordinates[n] = k;
        return n + 1;
    }
    int m = --s->budget < 0 || depth == DEEPEST || !is_open(s, i)
                ? -1
                : open_term(s, i, k, 0, p, &term, varying);
    if (m < 1 || term.count != 1) {
        return -1;
    }
    note_node(s, i);
    for (int j = 0; j < m && n >= 0; j++) {
        int32_t in = s->r->old[i].in[term.input[varying[j]]];
        n = find_coordinates(s, in, term.at[varying[j]], p, coordinates, n, depth + 1);
    }
    return n;
}

/* ---- lists of products */

/* Append a weight to a list. False: no memory. */
static bool append_product(search *s, sali_product_list *to, sali_product p)
{
    s->refused |= sali_grow((void **)&to->w, &to->room, to->n + 1, sizeof *to->w) != 0;
    if (!s->refused) {
        to->w[to->n++] = p;
    }
    return !s->refused;
}

/* The list for one more product of this kind and leaf, with room for n more attributes. NULL: there
 * are too many lists, there is no memory, or there are more products than elements that they are
 * made of (then the sum is one by a matrix, not of products element by element). */
static sali_product_list *find_list(search *s, sali_product_kind kind, const sali_product *p, int n)
{
    sali_coordinate_sum *at = s->at;
    int l = 0;
    if (++s->products > s->elements) {
        give_up(s, 1);
        return NULL;
    }
    while (l < at->n_lists && (at->lists[l].kind != kind || at->lists[l].leaf != p->node)) {
        l++;
    }
    if (l == SALI_MOST_LISTS) {
        give_up(s, p->frame);
        return NULL;
    }
    sali_product_list *list = &at->lists[l];
    if (l == at->n_lists) {
        *list = (sali_product_list){ .kind = kind, .leaf = p->node };
        at->n_lists++;
    }
    s->refused |= sali_grow((void **)&list->ints, &list->ints_room, list->n_ints + n,
                            sizeof *list->ints) != 0;
    if (s->refused) {
        return NULL;
    }
    if (list->n_ints == 0 && kind != SALI_PAIRS) {
        list->ints[list->n_ints++] = 0; /* the axis of a gather; the number of factors */
    }
    return list;
}

/* Add a product of n coordinates, one or two, whose attributes are the coordinates. */
static bool add_listed(search *s, sali_product_kind kind, int n, const int64_t *coordinates,
                       const sali_product *p)
{
    sali_product_list *to = find_list(s, kind, p, n + 1);
    if (!to) {
        return false;
    }
    memcpy(to->ints + to->n_ints, coordinates, (size_t)n * sizeof *coordinates);
    to->n_ints += n;
    s->across += n == 2 && coordinates[0] != coordinates[1];
    return append_product(s, to, *p);
}

/* Set variables [n] to the variables of n coordinates. Returns the entries of a table over these
 * variables; 0: too many, or variables are alike, or one is neither categorical nor of two
 * levels. */
static int64_t find_scope(const sal_space *space, int n, const int64_t *coordinates,
                          int64_t *variables)
{
    int64_t entries = 1;
    for (int j = 0; j < n; j++) {
        int64_t own = sali_space_owner(space, coordinates[j]);
        const sali_variable *v = &space->variables[own];
        for (int l = 0; l < j; l++) {
            entries = variables[l] == own ? 0 : entries;
        }
        bool fits = v->kind == SAL_CATEGORICAL || sali_is_two_level(v);
        variables[j] = own;
        entries = fits && v->states <= MOST_ENTRIES ? entries * v->states : 0;
        entries = entries <= MOST_ENTRIES ? entries : 0;
    }
    return entries;
}

/* Add a product of n coordinates as a factor: its table has the value of the product at each joint
 * state of the coordinates' variables, the last fastest. */
static bool add_factor(search *s, int n, const int64_t *coordinates, const sali_product *p)
{
    const sal_space *space = s->r->tape->space;
    int64_t scope[MOST_COORDINATES], entries = find_scope(space, n, coordinates, scope);
    if (entries == 0) {
        return give_up(s, s->n_frames);
    }
    sali_product_list *to = find_list(s, SALI_FACTORS, p, n + 2);
    if (!to) {
        return false;
    }
    to->ints[0]++;
    to->ints[to->n_ints] = n;
    memcpy(to->ints + to->n_ints + 1, scope, (size_t)n * sizeof *scope);
    to->n_ints += n + 1;
    s->across++;
    bool good = true;
    for (int64_t e = 0; good && e < entries; e++) {
        sali_product entry = *p;
        for (int64_t j = n - 1, at = e; j >= 0; j--) {
            const sali_variable *v = &space->variables[scope[j]];
            int32_t code = (int32_t)(at % v->states);
            at /= v->states;
            entry.number *= v->kind == SAL_CATEGORICAL ? v->offset + code == coordinates[j]
                                                       : sali_level(v, code);
        }
        good = append_product(s, to, entry);
    }
    return good;
}

/* Add coordinate i times *p to the sum: to its linear part, or, with a leaf, to a list. */
static bool add_linear(search *s, int64_t i, const sali_product *p)
{
    sali_coordinate_sum *to = s->at;
    if (p->node != SALI_NO_LEAF) {
        return add_listed(s, SALI_SINGLES, 1, &i, p);
    }
    if (!to->linear) {
        to->linear = SALI_NEW_ARRAY(double, s->r->tape->space->width);
        s->refused |= !to->linear;
    }
    if (to->linear) {
        to->linear[i] += p->number;
    }
    return to->linear;
}

/* Add the constant *p to the sum. False: the constant has a leaf. */
static bool add_constant(search *s, const sali_product *p)
{
    s->at->constant += p->number;
    return p->node == SALI_NO_LEAF || give_up(s, p->frame + 1);
}

/* ---- expanding */

/* Begin to add element k of node i, times *p, to the sum: at once if the node is the state, else by
 * a new frame. False: the node cannot be expanded, or there is no memory. */
static bool open_frame(search *s, int32_t i, int64_t k, const sali_product *p)
{
    if (s->r->old[i].op == SALI_OP_state) {
        return add_linear(s, k, p);
    }
    if (s->hopeless[i] || !is_open(s, i)) {
        return give_up(s, s->n_frames);
    }
    s->refused |=
        sali_grow((void **)&s->frames, &s->frames_room, s->n_frames + 1, sizeof *s->frames) != 0;
    if (!s->refused) {
        s->frames[s->n_frames++] = (frame){ .node = i, .k = k, .count = 1, .p = *p };
        note_node(s, i);
    }
    return !s->refused;
}

/* Add the next term of the last frame to the sum. False: the term is no such product, or the search
 * has taken too many steps. */
static bool expand_term(search *s)
{
    frame *from = &s->frames[s->n_frames - 1];
    const sali_node *node = &s->r->old[from->node];
    sali_product p = from->p;
    sali_op_term term;
    int varying[3], n = 0;
    int64_t coordinates[MOST_COORDINATES];
    if (--s->budget < 0) {
        return give_up(s, 0);
    }
    int m = open_term(s, from->node, from->k, from->t++, &p, &term, varying);
    from->count = term.count;
    if (m < 0 || term.count == 0) {
        return false;
    }
    if (m < 2 || term.factor == 0) {
        return term.factor == 0 ? true
               : m == 0         ? add_constant(s, &p)
                        : open_frame(s, node->in[term.input[varying[0]]], term.at[varying[0]], &p);
    }
    for (int j = 0; j < m && n >= 0; j++) {
        int32_t in = node->in[term.input[varying[j]]];
        n = find_coordinates(s, in, term.at[varying[j]], &p, coordinates, n, 0);
    }
    return n == 2 ? add_listed(s, SALI_PAIRS, n, coordinates, &p)
                  : n > 2 && add_factor(s, n, coordinates, &p);
}

/* Expand node i, of one element, into s->at. If this fails, the nodes on the way that would fail as
 * well become hopeless. */
static bool expand_node(search *s, int32_t i)
{
    s->n_frames = 0;
    bool good = open_frame(s, i, 0, &(sali_product){ .number = 1, .node = SALI_NO_LEAF });
    while (good && s->n_frames > 0) {
        const frame *last = &s->frames[s->n_frames - 1];
        if (last->t == last->count) {
            s->n_frames--;
        } else {
            good = expand_term(s);
        }
    }
    for (int64_t d = 0; !good && d < s->spoiled; d++) {
        int32_t node = s->frames[d].node;
        s->hopeless[node] = sali_shape_size(&s->r->old[node].shape) == 1;
    }
    return good;
}

/* Set found[i] if node i is a sum with products of different coordinates. */
static sal_status find_sum(search *s, int32_t i)
{
    const sali_node *node = &s->r->old[i];
    if (!node->varying || sali_shape_size(&node->shape) != 1 || !is_open(s, i) || s->hopeless[i]) {
        return SAL_OK;
    }
    s->of = i;
    s->products = s->across = s->elements = 0;
    s->at = SALI_NEW(sali_coordinate_sum);
    if (!s->at) {
        return SAL_ERR_MEMORY;
    }
    if (expand_node(s, i) && s->across > 0) {
        s->found[i] = s->at;
        return SAL_OK;
    }
    sali_coordinate_sum_free(s->at);
    return s->refused ? SAL_ERR_MEMORY : SAL_OK;
}

/* Search from the last node to the first, skipping nodes that are part of a sum that was found.
 * Stops when the budget is used up. */
static sal_status find_all(search *s)
{
    sal_status status = SAL_OK;
    for (int64_t i = 0; i < s->r->n_old; i++) {
        s->budget += EFFORT * sali_shape_size(&s->r->old[i].shape);
    }
    for (int32_t i = (int32_t)s->r->n_old - 1; status == SAL_OK && i > 0 && s->budget > 0; i--) {
        const int32_t by = s->seen[i];
        status = by > i && s->found[by] ? SAL_OK : find_sum(s, i);
    }
    return status;
}

sal_status sali_coordinate_sums_find(const sali_rewriter *r, sali_coordinate_sum **found)
{
    sali_memory memory = { 0 };
    search s = { .r = r,
                 .found = found,
                 .seen = SALI_TAKE(&memory, int32_t, r->n_old),
                 .hopeless = SALI_TAKE(&memory, bool, r->n_old) };
    sal_status status = memory.refused ? SAL_ERR_MEMORY : find_all(&s);
    sali_free(s.frames);
    sali_memory_free(&memory);
    return status;
}
