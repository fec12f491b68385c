/* SPDX-License-Identifier: MIT */
#include "models/exact/counters.h"

#include <math.h>
#include <stdio.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/space.h"

/* Steps that a counter counts for: its term and its place in the order. */
#define COUNTER_STEPS 256

/* The elimination tree by place: the parent of a variable is the first of its neighbours, at the
 * time when it is eliminated, that follows. Place V is the parent of all roots. */
typedef struct tree {
    sali_memory memory;
    int32_t V;
    const int32_t *variable;  /* [V] of the order */
    int32_t *place;           /* [V] by variable */
    int32_t *parent;          /* [V] */
    int32_t *child, *sibling; /* [V + 1] the first child; the parent's next child; -1: none */
    int32_t *ancestor;   /* [V] a place above, on the way to the root of what is connected so far */
    int32_t *slot, *own; /* [V + 1] slots number, place by place, first the children of the place
                            and then its variable, in the order in which counters add them up */
} tree;

typedef struct builder {
    tree tree;
    const sal_space *space;
    sali_local_terms *terms;
    sali_counters *counters;
    int32_t *states; /* [room] by counter */
    int64_t states_room;
    int32_t *gone; /* [gone_room] by counter: the slot at which it is eliminated */
    int64_t gone_room;
    int32_t *variable_gone; /* [V] the slot after which a variable is eliminated */
    int32_t *sum; /* [V + 1] by place: the counter of its subtree, or its only variable that counts,
                     which waits to be added; -1: none */
    int64_t *within; /* [V + 1] variables of the stretch in the subtree */
    double most;     /* bound on the entries of all tables */
    bool full;       /* the bound was passed */
} builder;

/* ---- the tree */

/* Connect place p with an earlier place q: p becomes the parent of the root above q. */
static void connect_places(tree *t, int32_t q, int32_t p)
{
    while (q != p && t->ancestor[q] >= 0) {
        const int32_t next = t->ancestor[q];
        t->ancestor[q] = p; /* shortens the way of later searches */
        q = next;
    }
    if (q != p) {
        t->ancestor[q] = t->parent[q] = p;
    }
}

/* Set the parents from pairs of places that share a term: of each term, its first place and each
 * other one. They are taken by their later place, ascending: a counting sort. */
static bool find_parents(tree *t, const sali_local_terms *terms)
{
    int64_t *next = SALI_NEW_ARRAY(int64_t, (int64_t)t->V + 2);
    int32_t *earlier = SALI_NEW_ARRAY(int32_t, terms->n_scopes);
    const bool ok = next && earlier;
    for (int pass = 0; ok && pass < 2; pass++) {
        for (int64_t m = 0; m < terms->n_terms; m++) {
            const int32_t *scope = terms->scopes + terms->terms[m].scope, n = terms->terms[m].n;
            int32_t first = t->place[scope[0]];
            for (int32_t k = 1; k < n; k++) {
                first = t->place[scope[k]] < first ? t->place[scope[k]] : first;
            }
            for (int32_t k = 0; k < n; k++) {
                const int32_t p = t->place[scope[k]];
                if (p != first && pass == 0) {
                    next[p + 2]++;
                } else if (p != first) {
                    earlier[next[p + 1]++] = first;
                }
            }
        }
        for (int32_t p = 0; pass == 0 && p < t->V; p++) {
            next[p + 2] += next[p + 1];
        }
    }
    for (int32_t p = 0; ok && p < t->V; p++) {
        for (int64_t k = next[p]; k < next[p + 1]; k++) {
            connect_places(t, earlier[k], p);
        }
    }
    sali_free(next);
    sali_free(earlier);
    return ok;
}

static bool tree_create(tree *t, const sali_local_terms *terms, const int32_t *variable)
{
    const int32_t V = terms->n;
    *t = (tree){ .V = V, .variable = variable };
    t->place = SALI_TAKE(&t->memory, int32_t, V);
    t->parent = SALI_TAKE(&t->memory, int32_t, V);
    t->child = SALI_TAKE(&t->memory, int32_t, (int64_t)V + 1);
    t->sibling = SALI_TAKE(&t->memory, int32_t, (int64_t)V + 1);
    t->ancestor = SALI_TAKE(&t->memory, int32_t, V);
    t->slot = SALI_TAKE(&t->memory, int32_t, (int64_t)V + 1);
    t->own = SALI_TAKE(&t->memory, int32_t, (int64_t)V + 1);
    if (t->memory.refused) {
        return false;
    }
    for (int32_t p = 0; p < V; p++) {
        t->place[variable[p]] = p;
        t->parent[p] = t->ancestor[p] = -1;
    }
    for (int32_t p = 0; p <= V; p++) {
        t->child[p] = t->sibling[p] = -1;
    }
    if (!find_parents(t, terms)) {
        return false;
    }
    for (int32_t p = V - 1; p >= 0; p--) {
        const int32_t parent = t->parent[p] < 0 ? V : t->parent[p];
        t->sibling[p] = t->child[parent];
        t->child[parent] = p;
    }
    for (int32_t p = 0, next = 0; p <= V; p++) {
        for (int32_t c = t->child[p]; c >= 0; c = t->sibling[c]) {
            t->slot[c] = next++;
        }
        t->own[p] = next++;
    }
    return true;
}

/* ---- counters */

/* The states of a variable or counter, -1: none, which adds 0. */
static int32_t states_of(const builder *b, int32_t v)
{
    return v < 0 ? 1 : v < b->tree.V ? b->terms->states[v] : b->states[v - b->tree.V];
}

/* Write into scope [3] the variables and counters of a counter's term: of its parts and itself,
 * those with more than one state, ascending. Returns how many there are. */
static int32_t scope_of(int32_t self, const sali_counter *c, const int32_t states[3],
                        int32_t scope[3])
{
    const bool turned = c->left > c->right;
    int32_t n = 0;
    if (turned && states[1] > 1) {
        scope[n++] = c->right;
    }
    if (states[0] > 1) {
        scope[n++] = c->left;
    }
    if (!turned && states[1] > 1) {
        scope[n++] = c->right;
    }
    if (states[2] > 1) {
        scope[n++] = self;
    }
    return n;
}

/* Note that a counter or variable, -1: none, was added up at a slot, and is then eliminated. */
static void eliminate_at(builder *b, int32_t v, int32_t slot)
{
    if (v >= b->tree.V) {
        b->gone[v - b->tree.V] = slot;
    } else if (v >= 0) {
        b->variable_gone[v] = slot;
    }
}

/* Append the counter `c` with values c->least to `last`, whose parts are eliminated at this slot,
 * and its term. Returns its number as a variable; -1: no memory, or b->full. */
static int32_t append_counter(builder *b, const sali_counter *c, int64_t last, int32_t slot)
{
    sali_counters *all = b->counters;
    const int32_t self = (int32_t)(b->tree.V + all->n);
    const double span = (double)(last - c->least) + 1;
    const double left = states_of(b, c->left), right = states_of(b, c->right);
    b->full = left * right * span + (double)b->terms->n_tables > b->most || self == INT32_MAX;
    if (b->full || sali_grow((void **)&all->list, &all->room, all->n + 1, sizeof *all->list) != 0 ||
        sali_grow((void **)&b->states, &b->states_room, all->n + 1, sizeof *b->states) != 0 ||
        sali_grow((void **)&b->gone, &b->gone_room, all->n + 1, sizeof *b->gone) != 0) {
        return -1;
    }
    all->list[all->n] = *c;
    b->states[all->n++] = (int32_t)span;
    const int32_t states[3] = { (int32_t)left, (int32_t)right, (int32_t)span };
    int32_t scope[3], n = scope_of(self, c, states, scope);
    eliminate_at(b, c->left, slot);
    eliminate_at(b, c->right, slot);
    eliminate_at(b, self, b->tree.own[b->tree.V]);
    return n == 0 || sali_local_terms_add(b->terms, n, scope, (int64_t)left * states[1] * states[2])
               ? self
               : -1;
}

/* A sum over a stretch: of the codes (`code` -1), or of how many variables have a code. */
typedef struct total {
    const sali_stretch *stretch;
    int32_t code;
    int64_t value;
    int64_t most; /* that a variable adds */
} total;

/* Replace *sum, a counter or variable or -1, by a counter of it and of `part`, a counter or
 * variable, which together have `within` variables of the stretch. */
static bool add_part(builder *b, const total *all, int32_t part, int64_t within, int32_t slot,
                     int32_t *sum)
{
    const int64_t rest = all->value - (all->stretch->count - within) * all->most;
    const int64_t last = within * all->most < all->value ? within * all->most : all->value;
    const sali_counter counter = { *sum, part, all->code, rest > 0 ? rest : 0 };
    *sum = append_counter(b, &counter, last, slot);
    return *sum >= 0;
}

/* The same, but a part alone waits to be added, and of no part there is no counter. */
static bool take_part(builder *b, const total *all, int32_t part, int64_t within, int32_t slot,
                      int32_t *sum)
{
    if (part >= 0 && *sum >= 0) {
        return add_part(b, all, part, within, slot, sum);
    }
    *sum = part >= 0 ? part : *sum;
    return true;
}

/* Add the counters of a sum. */
static bool count_total(builder *b, const total *all)
{
    const tree *t = &b->tree;
    const sali_stretch *s = all->stretch;
    int32_t *sum = b->sum;
    bool ok = true;
    for (int32_t p = 0; ok && p <= t->V; p++) {
        const int32_t v = p < t->V ? t->variable[p] : -1;
        const bool own = v >= s->first && v < s->first + s->count;
        sum[p] = -1;
        b->within[p] = 0;
        for (int32_t c = t->child[p]; ok && c >= 0; c = t->sibling[c]) {
            b->within[p] += b->within[c];
            ok = take_part(b, all, sum[c], b->within[p], t->slot[c], &sum[p]);
        }
        b->within[p] += own;
        ok = ok && take_part(b, all, own ? v : -1, b->within[p], t->own[p], &sum[p]);
    }
    const bool alone = ok && sum[t->V] < t->V;
    int32_t none = -1; /* the only variable of the stretch has no counter yet */
    return ok && (!alone || add_part(b, all, sum[t->V], s->count, t->own[t->V], &none));
}

/* Add the counters of all fixed sums and labels. The most frequent label is counted by the
 * others. */
static bool count_all(builder *b)
{
    bool ok = true;
    for (int64_t k = 0; ok && k < b->space->n_blocks; k++) {
        const sali_stretch *s = &b->space->stretches[k];
        int32_t often = 0;
        for (int32_t l = 1; s->fixed_codes && l < s->states; l++) {
            often = s->fixed_codes[l] > s->fixed_codes[often] ? l : often;
        }
        for (int32_t l = 0; ok && s->fixed_codes && l < s->states; l++) {
            ok = l == often || count_total(b, &(total){ s, l, s->fixed_codes[l], 1 });
        }
        ok = ok && (s->fixed_total < 0 ||
                    count_total(b, &(total){ s, -1, s->fixed_total, s->states - 1 }));
    }
    return ok;
}

/* ---- the order of all */

/* The order of elimination, [V + n]: at each slot the counters that are eliminated there, and then
 * the variables: a counting sort. NULL: no memory. */
static int32_t *merge_order(const builder *b)
{
    const int32_t V = b->tree.V, slots = b->tree.own[V] + 1;
    const int64_t n = b->counters->n;
    int64_t *next = SALI_NEW_ARRAY(int64_t, 2 * (int64_t)slots + 1);
    int32_t *all = SALI_NEW_ARRAY(int32_t, V + n);
    for (int pass = 0; next && all && pass < 2; pass++) {
        for (int64_t k = 0; k < V + n; k++) {
            const bool hidden = k >= V;
            const int64_t at =
                2 * (int64_t)(hidden ? b->gone[k - V] : b->variable_gone[k]) + !hidden;
            if (pass == 0) {
                next[at + 1]++;
            } else {
                all[next[at]++] = (int32_t)k;
            }
        }
        for (int64_t at = 0; pass == 0 && at < 2 * (int64_t)slots; at++) {
            next[at + 1] += next[at];
        }
    }
    if (!next) {
        sali_free(all);
        all = NULL;
    }
    sali_free(next);
    return all;
}

/* Make the counters variables of the terms. */
static bool extend_terms(builder *b)
{
    sali_local_terms *terms = b->terms;
    const int64_t n = b->counters->n;
    int32_t *states = SALI_NEW_ARRAY(int32_t, terms->n + n);
    for (int32_t v = 0; states && v < terms->n + n; v++) {
        states[v] = states_of(b, v);
    }
    if (states) {
        sali_free(terms->states);
        terms->states = states;
        terms->n += (int32_t)n;
        terms->hidden = (int32_t)n;
    }
    return states != NULL;
}

/* How many counters the fixed sums and labels take, at most. */
static double expected(const sal_space *space)
{
    double n = 0;
    for (int64_t k = 0; k < space->n_blocks; k++) {
        const sali_stretch *s = &space->stretches[k];
        n += !sali_is_fixed(s) ? 0 : 2.0 * (double)s->count * (s->fixed_codes ? s->states - 1 : 1);
    }
    return n;
}

sal_status sali_counters_add(const sal_space *space, double memory, int64_t steps,
                             sali_local_terms *terms, sali_elimination_order *order,
                             sali_counters *counters, char *why, size_t room, sal_error *err)
{
    *counters = (sali_counters){ 0 };
    if (!space->fixed) {
        return SAL_OK;
    }
    builder b = { .space = space, .terms = terms, .counters = counters };
    b.most = memory / sizeof(double);
    b.full = expected(space) * COUNTER_STEPS > (double)steps || terms->n > INT32_MAX / 4;
    bool ok = !b.full && tree_create(&b.tree, terms, order->variable);
    b.sum = ok ? SALI_TAKE(&b.tree.memory, int32_t, (int64_t)b.tree.V + 1) : NULL;
    b.within = ok ? SALI_TAKE(&b.tree.memory, int64_t, (int64_t)b.tree.V + 1) : NULL;
    b.variable_gone = ok ? SALI_TAKE(&b.tree.memory, int32_t, b.tree.V) : NULL;
    ok = ok && !b.tree.memory.refused;
    for (int32_t p = 0; ok && p < b.tree.V; p++) {
        b.variable_gone[order->variable[p]] = b.tree.own[p];
    }
    ok = ok && count_all(&b);
    int32_t *all = ok ? merge_order(&b) : NULL;
    ok = ok && all && extend_terms(&b);
    sal_status status = ok ? SAL_OK : SAL_ERR_MEMORY;
    if (ok) {
        sali_elimination_order_free(order);
        status = sali_elimination_order_along(terms, all, steps, order, err);
    } else if (b.full) {
        snprintf(why, room,
                 "counting its fixed sums and labels takes more memory or time than is "
                 "allowed: allow more memory (--memory), fix variables, or sample");
        status = SAL_ERR_UNSUPPORTED;
    } else {
        sali_fail_memory(err);
    }
    sali_free(all);
    sali_free(b.states);
    sali_free(b.gone);
    sali_memory_free(&b.tree.memory);
    return status;
}

/* ---- the tables */

/* What code k of v adds to a counter that takes v with c->code. */
static int64_t value_of(const sali_counters *counters, int32_t V, const sali_counter *c, int32_t v,
                        int32_t k)
{
    if (v < 0) {
        return 0;
    }
    if (v >= V) {
        return counters->list[v - V].least + k;
    }
    return c->code < 0 ? k : k == c->code;
}

static void forbid_entries(const sali_counters *counters, int64_t number, sali_local_terms *terms)
{
    const int32_t V = terms->n - terms->hidden, self = (int32_t)(V + number);
    const sali_counter *c = &counters->list[number];
    const int32_t states[3] = { c->left < 0 ? 1 : terms->states[c->left], terms->states[c->right],
                                terms->states[self] };
    const bool turned = c->left > c->right;
    const int64_t near = states[2], far = near * (turned ? states[0] : states[1]);
    const int64_t by_left = turned ? near : far, by_right = turned ? far : near;
    int32_t scope[3], n = scope_of(self, c, states, scope);
    double *table = n > 0 ? sali_local_terms_at(terms, n, scope) : NULL;
    for (int32_t l = 0; table && l < states[0]; l++) {
        for (int32_t r = 0; r < states[1]; r++) {
            const int64_t sum = value_of(counters, V, c, c->left, l) +
                                value_of(counters, V, c, c->right, r) - c->least;
            for (int32_t k = 0; k < states[2]; k++) {
                table[l * by_left + r * by_right + k] -= k == sum ? 0 : INFINITY;
            }
        }
    }
}

void sali_counters_forbid(const sali_counters *counters, sali_local_terms *terms)
{
    for (int64_t k = 0; k < counters->n; k++) {
        forbid_entries(counters, k, terms);
    }
}

void sali_counters_free(sali_counters *counters)
{
    sali_free(counters->list);
    *counters = (sali_counters){ 0 };
}
