/* SPDX-License-Identifier: MIT */
#include "samplers/slice/pairs.h"

#include "core/error.h"
#include "core/object.h"
#include "models/structure/interactions.h"

const char *const sali_pair_words[] = { "any", "coupled", NULL };

/* ---- coupled pairs */

/* The root of variable v in a forest of parents; shortens the way to it. */
static int32_t root_of(int32_t *parent, int32_t v)
{
    while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

/* SAL_ERR_UNSUPPORTED unless the listed pairs connect all variables of each fixed block: then
 * exchanges reach all of its states. `parent` [V] is scratch. */
static sal_status check_connected(const sal_model *model, const sali_pairs *pairs, int32_t *parent,
                                  sal_error *err)
{
    const sal_space *space = model->space;
    for (int64_t v = 0; v < space->n_variables; v++) {
        parent[v] = (int32_t)v;
    }
    for (int64_t k = 0; k < pairs->n_pairs; k++) {
        parent[root_of(parent, pairs->pair[2 * k])] = root_of(parent, pairs->pair[2 * k + 1]);
    }
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        for (int64_t v = s->first; sali_is_fixed(s) && v < s->first + s->count; v++) {
            if (root_of(parent, (int32_t)v) != root_of(parent, (int32_t)s->first)) {
                return sali_fail(err, SAL_ERR_UNSUPPORTED,
                                 "%s: pairs=coupled exchanges variables that are in a term of f "
                                 "together, and these do not connect all of block '%s'; take "
                                 "pairs=any",
                                 model->name, space->blocks[b].name);
            }
        }
    }
    return SAL_OK;
}

/* List the pairs of neighbours in fixed blocks, and the free variables; returns their numbers in
 * *pairs, and writes them where there are arrays. */
static void list_pairs(const sal_space *space, const sali_interactions *graph, sali_pairs *pairs)
{
    pairs->n_pairs = pairs->n_singles = 0;
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        const int64_t end = s->first + s->count;
        for (int64_t v = s->first; v < end; v++) {
            if (!sali_is_fixed(s) || s->count == 1) {
                if (pairs->single) {
                    pairs->single[pairs->n_singles] = (int32_t)v;
                }
                pairs->n_singles++;
                continue;
            }
            for (int64_t e = graph->begin[v]; e < graph->begin[v + 1]; e++) {
                const int64_t other = graph->neighbour[e];
                if (other <= v || other >= end) {
                    continue;
                }
                if (pairs->pair) {
                    pairs->pair[2 * pairs->n_pairs] = (int32_t)v;
                    pairs->pair[2 * pairs->n_pairs + 1] = (int32_t)other;
                }
                pairs->n_pairs++;
            }
        }
    }
}

static sal_status open_coupled(void *object, const sal_model *model, sali_pairs *pairs,
                               sal_error *err)
{
    sali_interactions graph = { 0 };
    bool known = false;
    sal_status status = sali_interactions_create(model, &graph, &known, err);
    if (status == SAL_OK && !known) {
        status = sali_fail(err, SAL_ERR_UNSUPPORTED,
                           "%s: pairs=coupled needs a formula of terms of few variables each; take "
                           "pairs=any",
                           model->name);
    }
    if (status == SAL_OK) {
        int32_t *parent = SALI_OBJECT_ARRAY(object, int32_t, model->space->n_variables);
        list_pairs(model->space, &graph, pairs);
        pairs->pair = SALI_OBJECT_ARRAY(object, int32_t, 2 * pairs->n_pairs);
        pairs->single = SALI_OBJECT_ARRAY(object, int32_t, pairs->n_singles);
        status = sali_object_failed(object) ? sali_fail_memory(err) : SAL_OK;
        if (status == SAL_OK) {
            list_pairs(model->space, &graph, pairs);
            status = check_connected(model, pairs, parent, err);
        }
    }
    sali_interactions_free(&graph);
    return status;
}

sal_status sali_pairs_open(void *object, const sal_model *model, int how, sali_pairs *pairs,
                           sal_error *err)
{
    *pairs = (sali_pairs){ .space = model->space, .listed = how == SALI_PAIRS_COUPLED };
    return pairs->listed ? open_coupled(object, model, pairs, err) : SAL_OK;
}

/* ---- drawing */

/* Variable i with number `rank` of the other variables of its block, from 0; alone where it is free
 * or its block has no other. */
static sali_pair pair_with(const sal_space *space, int64_t i, int64_t rank)
{
    const sali_stretch *s = sali_space_stretch(space, i);
    const int64_t j = s->first + rank;
    return (sali_pair){ i, !sali_is_fixed(s) || s->count == 1 ? -1 : j + (j >= i) };
}

static sali_pair listed_at(const sali_pairs *pairs, int64_t k)
{
    return k < pairs->n_pairs ? (sali_pair){ pairs->pair[2 * k], pairs->pair[2 * k + 1] }
                              : (sali_pair){ pairs->single[k - pairs->n_pairs], -1 };
}

sali_pair sali_pairs_draw(const sali_pairs *pairs, const sali_stream *stream)
{
    const int64_t n = pairs->listed ? pairs->n_pairs + pairs->n_singles : pairs->space->n_variables;
    const int64_t k = sali_rng_below(stream, 0, (uint32_t)n);
    if (pairs->listed) {
        return listed_at(pairs, k);
    }
    const int64_t count = sali_space_stretch(pairs->space, k)->count;
    return pair_with(pairs->space, k,
                     sali_rng_below(stream, 1, (uint32_t)(count > 1 ? count - 1 : 1)));
}

/* The most partners that a variable has; 1 if none has any. */
static int64_t most_partners(const sal_space *space)
{
    int64_t most = 1;
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        most = sali_is_fixed(s) && s->count - 1 > most ? s->count - 1 : most;
    }
    return most;
}

int64_t sali_pairs_count(const sali_pairs *pairs)
{
    return pairs->listed ? pairs->n_pairs + pairs->n_singles
                         : pairs->space->n_variables * most_partners(pairs->space);
}

double sali_pairs_at(const sali_pairs *pairs, int64_t k, sali_pair *pair)
{
    if (pairs->listed) {
        *pair = listed_at(pairs, k);
        return 1 / (double)(pairs->n_pairs + pairs->n_singles);
    }
    const int64_t most = most_partners(pairs->space), i = k / most, rank = k % most;
    const sali_stretch *s = sali_space_stretch(pairs->space, i);
    const int64_t partners = sali_is_fixed(s) && s->count > 1 ? s->count - 1 : 1;
    *pair = rank < partners ? pair_with(pairs->space, i, rank) : (sali_pair){ i, -1 };
    return rank < partners ? 1 / ((double)pairs->space->n_variables * (double)partners) : 0;
}

/* ---- the codes of a pair */

int64_t sali_pairs_most(const sal_space *space)
{
    return space->max_states > 2 ? space->max_states : 2;
}

int64_t sali_pair_codes(const sal_space *space, sali_pair pair, const int32_t *codes, int32_t *at)
{
    const sali_stretch *s = sali_space_stretch(space, pair.i);
    const int32_t a = codes[pair.i], b = pair.j < 0 ? 0 : codes[pair.j], top = s->states - 1;
    int64_t n = 0;
    if (s->fixed_codes && pair.j >= 0 && a != b) { /* they exchange their codes */
        at[2 * n] = b;
        at[2 * n++ + 1] = a;
    } else if (!s->fixed_codes && (pair.j >= 0 || !sali_is_fixed(s))) {
        const int32_t low = pair.j < 0 || a + b <= top ? 0 : a + b - top;
        const int32_t high = pair.j < 0 || a + b > top ? top : a + b;
        for (int32_t k = low; k <= high; k++) {
            if (k != a) {
                at[2 * n] = k;
                at[2 * n++ + 1] = a + b - k;
            }
        }
    }
    at[2 * n] = a;
    at[2 * n + 1] = b;
    return n + 1;
}
