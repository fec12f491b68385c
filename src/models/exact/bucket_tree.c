/* SPDX-License-Identifier: MIT */
#include "models/exact/bucket_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "models/structure/scopes.h"

/* ---- terms in the order of elimination */

/* An axis of a term's table. */
typedef struct axis {
    int32_t place, states;
    int64_t stride; /* in the table before rearranging */
} axis;

static int compare_axes(const void *a, const void *b)
{
    const axis *x = a, *y = b;
    return (x->place > y->place) - (x->place < y->place);
}

/* Copy a table `from` [size] to `to` with its n axes in the order of `axes`, the last fastest.
 * `code` [n] is scratch. */
static void permute_table(int32_t n, const axis *axes, int64_t size, const double *from,
                          int32_t *code, double *to)
{
    int64_t at = 0;
    memset(code, 0, (size_t)n * sizeof *code);
    for (int64_t k = 0; k < size; k++) {
        to[k] = from[at];
        for (int32_t i = n - 1; i >= 0; i--) {
            at += axes[i].stride;
            if (++code[i] < axes[i].states) {
                break;
            }
            at -= axes[i].stride * axes[i].states;
            code[i] = 0;
        }
    }
}

/* Scratch for rearranging the terms. */
typedef struct rearranger {
    axis *axes;    /* [longest scope] */
    int32_t *code; /* [longest scope] */
    double *table; /* [largest table] */
} rearranger;

/* Replace the variables in a term's scope by places, ascending, and transpose the term's table to
 * that order. */
static void rearrange_term(const sali_bucket_tree *tree, const sali_local_terms *terms,
                           const sali_local_term *term, rearranger *r)
{
    int32_t *scope = terms->scopes + term->scope;
    double *table = terms->tables + term->table;
    int64_t stride = 1;
    for (int32_t i = term->n - 1; i >= 0; i--) {
        int32_t place = tree->place[scope[i]];
        r->axes[i] = (axis){ place, tree->states[place], stride };
        stride *= tree->states[place];
    }
    qsort(r->axes, (size_t)term->n, sizeof *r->axes, compare_axes);
    for (int32_t i = 0; i < term->n; i++) {
        scope[i] = r->axes[i].place;
    }
    permute_table(term->n, r->axes, term->size, table, r->code, r->table);
    memcpy(table, r->table, (size_t)term->size * sizeof *table);
}

/* Rearrange the scopes and tables of all terms; false when out of memory. */
static bool rearrange_terms(sali_bucket_tree *tree, const sali_local_terms *terms)
{
    int64_t longest = 1, largest = 1;
    for (int64_t m = 0; m < terms->n_terms; m++) {
        longest = terms->terms[m].n > longest ? terms->terms[m].n : longest;
        largest = terms->terms[m].size > largest ? terms->terms[m].size : largest;
    }
    sali_memory memory = { 0 };
    rearranger r = { SALI_TAKE(&memory, axis, longest), SALI_TAKE(&memory, int32_t, longest),
                     SALI_TAKE(&memory, double, largest) };
    bool ok = !memory.refused;
    for (int64_t m = 0; ok && m < terms->n_terms; m++) {
        rearrange_term(tree, terms, &terms->terms[m], &r);
    }
    sali_memory_free(&memory);
    return ok;
}

/* Fill tree->terms with the terms sorted by the first place of their scopes (counting sort), and
 * set each bucket's range of terms. No scope is empty. False when out of memory. */
static bool sort_terms(sali_bucket_tree *tree, const sali_local_terms *terms)
{
    int64_t *next = SALI_NEW_ARRAY(int64_t, (int64_t)tree->n + 1);
    tree->terms = SALI_TAKE(&tree->memory, sali_local_term, terms->n_terms);
    bool ok = next && tree->terms;
    for (int64_t m = 0; ok && m < terms->n_terms; m++) {
        next[terms->scopes[terms->terms[m].scope] + 1]++;
    }
    for (int32_t p = 0; ok && p < tree->n; p++) {
        next[p + 1] += next[p];
        tree->bucket[p].term = next[p];
        tree->bucket[p].term_end = next[p + 1];
    }
    for (int64_t m = 0; ok && m < terms->n_terms; m++) {
        tree->terms[next[terms->scopes[terms->terms[m].scope]]++] = terms->terms[m];
    }
    sali_free(next);
    return ok;
}

/* ---- separators and parents */

/* The separator of bucket p while it is collected: the places other than p in the scopes of its
 * terms and in its children's separators. */
typedef struct gatherer {
    int32_t *list; /* [n] */
    int32_t *seen; /* [n] the last bucket that took the place, plus 1 */
    int32_t n;
} gatherer;

/* Add places [n] to the list of bucket p, except p itself and places already in the list. */
static void gather_places(gatherer *g, int32_t p, const int32_t *places, int32_t n)
{
    for (int32_t k = 0; k < n; k++) {
        if (places[k] != p && g->seen[places[k]] != p + 1) {
            g->seen[places[k]] = p + 1;
            g->list[g->n++] = places[k];
        }
    }
}

/* Set g->list [g->n] to the separator of bucket p, ascending. The separators of its children must
 * be known. */
static void find_separator(sali_bucket_tree *tree, int32_t p, gatherer *g)
{
    const sali_bucket *b = &tree->bucket[p];
    g->n = 0;
    for (int64_t m = b->term; m < b->term_end; m++) {
        gather_places(g, p, tree->source->scopes + tree->terms[m].scope, tree->terms[m].n);
    }
    for (int32_t c = b->children; c >= 0; c = tree->bucket[c].sibling) {
        gather_places(g, p, tree->separators + tree->bucket[c].separator,
                      tree->bucket[c].n_separator);
    }
    qsort(g->list, (size_t)g->n, sizeof *g->list, sali_compare_variables);
}

/* Find the separators, message sizes, parents, children and roots of all buckets; false when out of
 * memory. */
static bool connect_buckets(sali_bucket_tree *tree)
{
    gatherer g = { .list = SALI_NEW_ARRAY(int32_t, tree->n),
                   .seen = SALI_NEW_ARRAY(int32_t, tree->n) };
    bool ok = g.list && g.seen;
    int64_t used = 0, room = 0;
    for (int32_t p = 0; ok && p < tree->n; p++) {
        sali_bucket *b = &tree->bucket[p];
        find_separator(tree, p, &g);
        b->separator = used;
        b->n_separator = g.n;
        b->parent = g.n > 0 ? g.list[0] : -1;
        b->size = 1;
        ok = sali_grow((void **)&tree->separators, &room, used + g.n + 1,
                       sizeof *tree->separators) == 0;
        for (int32_t k = 0; ok && k < g.n; k++) {
            tree->separators[used++] = g.list[k];
            b->size *= tree->states[g.list[k]];
        }
        if (b->parent >= 0) {
            b->sibling = tree->bucket[b->parent].children;
            tree->bucket[b->parent].children = p;
        }
    }
    for (int32_t p = tree->n - 1; ok && p >= 0; p--) {
        int32_t parent = tree->bucket[p].parent;
        tree->bucket[p].root = parent < 0 ? p : tree->bucket[parent].root;
    }
    sali_free(g.list);
    sali_free(g.seen);
    return ok;
}

/* Allocate the messages and the scratch tables of the passes; false when out of memory. */
static bool allocate_tables(sali_bucket_tree *tree)
{
    int64_t total = 0, largest = 1, most = 1, block = SALI_MOST_BLOCK;
    for (int32_t p = 0; p < tree->n; p++) {
        int64_t size = tree->bucket[p].size, clique = size * tree->states[p];
        total += size;
        largest = clique > largest ? clique : largest;
        most = size > most ? size : most;
        most = tree->states[p] > most ? tree->states[p] : most;
        block = tree->states[p] > block ? tree->states[p] : block;
        for (int32_t k = 0; k < tree->bucket[p].n_separator; k++) { /* of two variables */
            int64_t states = tree->states[tree->separators[tree->bucket[p].separator + k]];
            most = states * tree->states[p] > most ? states * tree->states[p] : most;
        }
    }
    for (int64_t m = 0; m < tree->source->n_terms; m++) {
        most = tree->terms[m].size > most ? tree->terms[m].size : most;
    }
    tree->messages = SALI_TAKE(&tree->memory, double, total);
    tree->joint = SALI_TAKE(&tree->memory, double, largest);
    tree->scratch = SALI_TAKE(&tree->memory, double, most);
    tree->map = SALI_TAKE(&tree->memory, int32_t, block);
    double *next = tree->messages;
    for (int32_t p = 0; next && p < tree->n; p++) {
        tree->bucket[p].message = next;
        next += tree->bucket[p].size;
    }
    return !tree->memory.refused;
}

int32_t sali_bucket_clique(const sali_bucket_tree *tree, int32_t p, int32_t *clique)
{
    const sali_bucket *b = &tree->bucket[p];
    clique[0] = p;
    for (int32_t k = 0; k < b->n_separator; k++) {
        clique[k + 1] = tree->separators[b->separator + k];
    }
    return b->n_separator + 1;
}

/* ---- all of it */

double sali_bucket_tree_bytes(const sali_elimination_order *order)
{
    double states = order->states, block = fmax(SALI_MOST_BLOCK, states * states);
    double sums = fmin(order->largest, SALI_BUCKET_SHARDS * block);
    return sizeof(double) * (order->messages + 2 * order->largest + sums);
}

sal_status sali_bucket_tree_create(sali_local_terms *terms, const sali_elimination_order *order,
                                   int threads, sali_bucket_tree *tree, sal_error *err)
{
    int32_t n = order->n;
    *tree = (sali_bucket_tree){ .n = n, .source = terms, .threads = threads };
    tree->states = SALI_TAKE(&tree->memory, int32_t, n);
    tree->place = SALI_TAKE(&tree->memory, int32_t, n);
    tree->variable = SALI_TAKE(&tree->memory, int32_t, n);
    tree->bucket = SALI_TAKE(&tree->memory, sali_bucket, n);
    bool ok = !tree->memory.refused;
    for (int32_t p = 0; ok && p < n; p++) {
        tree->variable[p] = order->variable[p];
        tree->place[order->variable[p]] = p;
        tree->states[p] = terms->states[order->variable[p]];
        tree->bucket[p].children = tree->bucket[p].sibling = -1;
    }
    ok = ok && rearrange_terms(tree, terms) && sort_terms(tree, terms) && connect_buckets(tree) &&
         allocate_tables(tree);
    if (!ok) {
        sali_bucket_tree_free(tree);
        return sali_fail_memory(err);
    }
    return SAL_OK;
}

void sali_bucket_tree_free(sali_bucket_tree *tree)
{
    sali_free(tree->separators);
    sali_memory_free(&tree->memory);
    *tree = (sali_bucket_tree){ 0 };
}
