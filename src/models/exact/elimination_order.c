/* SPDX-License-Identifier: MIT */
/* Greedy orders. Kjaerulff 1990, "Triangulation of graphs: algorithms giving small total state
 * space"; min-fill with random ties and many tries: Gogate & Dechter 2004. */
#include "models/exact/elimination_order.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/rng.h"

/* Most entries of neighbour lists read in all tries but the first, and in the first, whose order
 * must be found. */
#define BUDGET (INT64_C(1) << 27)
#define FIRST_BUDGET (INT64_C(1) << 30)
#define MOST_TRIES 200
/* An order of no more work than this is not improved. */
#define LITTLE_WORK 0x1p14

typedef enum rule { MIN_WEIGHT, GIVEN, MIN_FILL, MIN_WEIGHTED_FILL, MIN_FILL_RANDOM } rule;

/* An undirected graph without loops; neighbour lists are not sorted. */
typedef struct graph {
    int32_t n;
    int32_t **neighbour; /* [n][degree] */
    int32_t *degree;
    int64_t *room;
} graph;

/* What the next variable minimises: `first`, then `second`, then `third`. */
typedef struct score {
    double first, second;
    uint32_t third;
} score;

typedef struct search {
    sali_memory arrays;
    const sali_local_terms *terms;
    graph graph;
    rule rule;
    score *score;          /* [n] */
    int32_t *heap, *place; /* [n] a binary heap of the variables left, and each variable's place in
                              the heap, or -1 */
    int32_t left;          /* variables left */
    int64_t *seen, stamp;  /* [n] v is in the set being marked if seen[v] == stamp */
    int64_t *queued;       /* [n] last round in which the variable was put into `stale` */
    int32_t *stale;        /* [n] variables whose scores must be recomputed */
    int32_t n_stale;
    uint32_t *ties; /* [n] random numbers */
    int32_t *rank;  /* [n] of the order that is given: by default the variables' numbers */
    double *passes; /* [n] 1 + the states of all variables connected with this one; 1 + the number
                       of these variables if all of them are neighbours of each other */
    int64_t steps, budget;
    bool memory;
} search;

/* ---- graphs */

/* Free the arrays of *g; those that graph_create could not allocate are NULL. */
static void graph_free(graph *g)
{
    for (int32_t v = 0; g->neighbour && v < g->n; v++) {
        sali_free(g->neighbour[v]);
    }
    sali_free(g->neighbour);
    sali_free(g->degree);
    sali_free(g->room);
}

static bool graph_create(graph *g, int32_t n)
{
    *g = (graph){ .n = n,
                  .neighbour = SALI_NEW_ARRAY(int32_t *, n),
                  .degree = SALI_NEW_ARRAY(int32_t, n),
                  .room = SALI_NEW_ARRAY(int64_t, n) };
    return g->neighbour && g->degree && g->room;
}

/* Append u to the neighbours of v; false when out of memory. */
static bool append_neighbour(graph *g, int32_t v, int32_t u)
{
    if (sali_grow((void **)&g->neighbour[v], &g->room[v], (int64_t)g->degree[v] + 1,
                  sizeof **g->neighbour) != 0) {
        return false;
    }
    g->neighbour[v][g->degree[v]++] = u;
    return true;
}

/* Remove u from the neighbours of v; u must be one of them. */
static void drop_neighbour(graph *g, int32_t v, int32_t u)
{
    int32_t *list = g->neighbour[v], at = 0;
    while (list[at] != u) {
        at++;
    }
    list[at] = list[--g->degree[v]];
}

/* Mark v and its neighbours: s->seen == s->stamp holds for these variables alone. */
static void mark_neighbours(search *s, int32_t v)
{
    s->stamp++;
    s->seen[v] = s->stamp;
    for (int32_t k = 0; k < s->graph.degree[v]; k++) {
        s->seen[s->graph.neighbour[v][k]] = s->stamp;
    }
    s->steps += s->graph.degree[v];
}

/* Make any two variables of scope [n] neighbours; false when out of memory. */
static bool add_scope(search *s, const int32_t *scope, int32_t n)
{
    bool ok = true;
    for (int32_t i = 0; ok && i < n; i++) {
        mark_neighbours(s, scope[i]);
        for (int32_t j = 0; ok && j < n; j++) {
            ok = s->seen[scope[j]] == s->stamp || append_neighbour(&s->graph, scope[i], scope[j]);
        }
    }
    return ok;
}

/* Build the graph of the terms' scopes. It is incomplete if s->steps exceeds s->budget then; false
 * when out of memory. */
static bool build_graph(search *s)
{
    const sali_local_terms *t = s->terms;
    bool ok = graph_create(&s->graph, t->n);
    for (int64_t m = 0; ok && m < t->n_terms && s->steps <= s->budget; m++) {
        ok = add_scope(s, t->scopes + t->terms[m].scope, t->terms[m].n);
    }
    return ok;
}

/* Fill s->passes for each connected component of the graph. */
static void count_passes(search *s)
{
    for (int32_t v = 0; v < s->graph.n; v++) {
        int32_t n = 0;
        double states = 0;
        if (s->passes[v] == 0) {
            s->passes[v] = 1;
            s->stale[n++] = v;
        }
        for (int32_t k = 0; k < n; k++) {
            int32_t u = s->stale[k];
            states += s->terms->states[u];
            for (int32_t l = 0; l < s->graph.degree[u]; l++) {
                int32_t w = s->graph.neighbour[u][l];
                if (s->passes[w] == 0) {
                    s->passes[w] = 1;
                    s->stale[n++] = w;
                }
            }
        }
        bool clique = true;
        for (int32_t k = 0; k < n; k++) {
            clique = clique && s->graph.degree[s->stale[k]] == n - 1;
        }
        for (int32_t k = 0; k < n; k++) { /* pairs in a clique come from its table */
            s->passes[s->stale[k]] += clique ? n : states;
        }
    }
}

/* ---- scores */

static double clique_size(const search *s, int32_t v)
{
    double size = s->terms->states[v];
    for (int32_t k = 0; k < s->graph.degree[v]; k++) {
        size *= s->terms->states[s->graph.neighbour[v][k]];
    }
    return size;
}

/* Twice the number of edges that eliminating v adds; by MIN_WEIGHTED_FILL each edge counts with the
 * product of the states of its ends. */
static double fill_of(search *s, int32_t v)
{
    const graph *g = &s->graph;
    double fill = 0;
    for (int32_t k = 0; k < g->degree[v]; k++) {
        int32_t u = g->neighbour[v][k];
        mark_neighbours(s, u);
        s->steps += g->degree[v];
        double missing = 0;
        for (int32_t l = 0; l < g->degree[v]; l++) {
            int32_t w = g->neighbour[v][l];
            bool weighted = s->rule == MIN_WEIGHTED_FILL;
            missing += s->seen[w] == s->stamp ? 0 : weighted ? s->terms->states[w] : 1;
        }
        fill += s->rule == MIN_WEIGHTED_FILL ? missing * s->terms->states[u] : missing;
    }
    return fill;
}

/* Score of eliminating v next, by s->rule: the least score is eliminated first. */
static score score_of(search *s, int32_t v)
{
    double size = clique_size(s, v);
    s->steps += s->graph.degree[v];
    switch (s->rule) {
    case GIVEN:
        return (score){ s->rank[v], 0, 0 };
    case MIN_WEIGHT:
        return (score){ size, 0, s->ties[v] };
    case MIN_FILL_RANDOM:
        return (score){ fill_of(s, v), 0, s->ties[v] };
    default:
        return (score){ fill_of(s, v), size, s->ties[v] };
    }
}

/* ---- the heap: the least score on top */

/* Whether the score of v is below the score of u; of equal scores the variable with the smaller
 * number is first. */
static bool is_before(const search *s, int32_t v, int32_t u)
{
    const score *a = &s->score[v], *b = &s->score[u];
    if (a->first != b->first) {
        return a->first < b->first;
    }
    if (a->second != b->second) {
        return a->second < b->second;
    }
    return a->third != b->third ? a->third < b->third : v < u;
}

static void put_in_heap(search *s, int32_t at, int32_t v)
{
    s->heap[at] = v;
    s->place[v] = at;
}

/* Move v, whose score has changed, up or down the heap to where it belongs. */
static void settle_in_heap(search *s, int32_t v)
{
    int32_t at = s->place[v];
    while (at > 0 && is_before(s, v, s->heap[(at - 1) / 2])) {
        put_in_heap(s, at, s->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (int32_t child = 2 * at + 1; child < s->left; child = 2 * at + 1) {
        child += child + 1 < s->left && is_before(s, s->heap[child + 1], s->heap[child]);
        if (!is_before(s, s->heap[child], v)) {
            break;
        }
        put_in_heap(s, at, s->heap[child]);
        at = child;
    }
    put_in_heap(s, at, v);
}

/* Remove v from the heap, wherever it is. */
static void remove_from_heap(search *s, int32_t v)
{
    int32_t at = s->place[v], last = s->heap[--s->left];
    s->place[v] = -1;
    if (last != v) {
        put_in_heap(s, at, last);
        settle_in_heap(s, last);
    }
}

/* Compute all scores and fill the heap. It is incomplete if s->steps exceeds s->budget then. */
static void make_heap(search *s)
{
    s->left = 0;
    for (int32_t v = 0; v < s->graph.n && s->steps <= s->budget; v++) {
        s->score[v] = score_of(s, v);
        put_in_heap(s, s->left++, v);
        settle_in_heap(s, v);
    }
}

/* ---- one elimination */

static void queue_variable(search *s, int32_t v, int64_t round)
{
    if (s->queued[v] != round) {
        s->queued[v] = round;
        s->stale[s->n_stale++] = v;
    }
}

/* Take v out of the graph and make its neighbours neighbours of each other. Queue the variables
 * whose scores may change: the neighbours of v, and, if edges were added and the rule counts fill,
 * the neighbours of these. */
static void connect_neighbours(search *s, int32_t v, int64_t round)
{
    graph *g = &s->graph;
    bool added = false;
    for (int32_t k = 0; k < g->degree[v] && !s->memory; k++) {
        int32_t u = g->neighbour[v][k];
        mark_neighbours(s, u);
        drop_neighbour(g, u, v);
        queue_variable(s, u, round);
        for (int32_t l = 0; l < g->degree[v] && !s->memory; l++) {
            int32_t w = g->neighbour[v][l];
            if (s->seen[w] != s->stamp) {
                s->memory = !append_neighbour(g, u, w);
                added = true;
            }
        }
        s->steps += g->degree[v];
    }
    for (int32_t k = 0; k < g->degree[v] && added && s->rule >= MIN_FILL; k++) {
        int32_t u = g->neighbour[v][k];
        for (int32_t l = 0; l < g->degree[u]; l++) {
            queue_variable(s, g->neighbour[u][l], round);
        }
        s->steps += g->degree[u];
    }
}

/* Eliminate v in round number `round`, and recompute the scores that this may change. */
static void eliminate_variable(search *s, int32_t v, int64_t round)
{
    s->n_stale = 0;
    remove_from_heap(s, v);
    connect_neighbours(s, v, round);
    for (int32_t k = 0; k < s->n_stale && s->steps <= s->budget; k++) {
        int32_t u = s->stale[k];
        s->score[u] = score_of(s, u);
        settle_in_heap(s, u);
    }
    s->graph.degree[v] = 0;
}

/* ---- one order */

/* Add to the counts of *o the elimination of v, with `degree` neighbours and a clique's table of
 * `size` entries. */
static void count_clique(const search *s, sali_elimination_order *o, int32_t v, double size,
                         int32_t degree)
{
    int32_t states = s->terms->states[v];
    o->work += size;
    o->pair_work += size * s->passes[v];
    o->messages += size / states;
    o->largest = fmax(o->largest, size);
    o->width = degree > o->width ? degree : o->width;
    o->states = states > o->states ? states : o->states;
}

/* Append the variables left, which are all neighbours of each other, to the order. `at` variables
 * were eliminated before. */
static void finish_clique(search *s, sali_elimination_order *o, int32_t at)
{
    double size = 1;
    for (int32_t k = 0; k < s->left; k++) {
        int32_t v = s->heap[s->left - 1 - k];
        o->variable[o->n - 1 - k] = v;
        size *= s->terms->states[v];
        count_clique(s, o, v, size, k);
    }
    o->complete = at + s->left == o->n;
}

/* Find an order by s->rule. The search is given up, with o->complete false, when the work reaches
 * `most` or the steps exceed the budget. */
static void find_order(search *s, double most, sali_elimination_order *o)
{
    memset(s->queued, -1, (size_t)o->n * sizeof *s->queued);
    make_heap(s);
    for (int32_t at = 0; at < o->n; at++) {
        int32_t v = s->heap[0], degree = s->graph.degree[v];
        if (degree == s->left - 1) {
            finish_clique(s, o, at);
            return;
        }
        count_clique(s, o, v, clique_size(s, v), degree);
        if (o->work >= most || s->steps > s->budget || s->memory) {
            return;
        }
        o->variable[at] = v;
        eliminate_variable(s, v, at);
    }
}

/* Initialise *s, without a graph; false when out of memory, and *s is then still to be freed. */
static bool open_search(search *s, const sali_local_terms *terms)
{
    int32_t n = terms->n;
    *s = (search){ .terms = terms };
    s->score = SALI_TAKE(&s->arrays, score, n);
    s->heap = SALI_TAKE(&s->arrays, int32_t, n);
    s->place = SALI_TAKE(&s->arrays, int32_t, n);
    s->seen = SALI_TAKE(&s->arrays, int64_t, n);
    s->queued = SALI_TAKE(&s->arrays, int64_t, n);
    s->stale = SALI_TAKE(&s->arrays, int32_t, n);
    s->ties = SALI_TAKE(&s->arrays, uint32_t, n);
    s->passes = SALI_TAKE(&s->arrays, double, n);
    s->rank = SALI_TAKE(&s->arrays, int32_t, n);
    for (int32_t v = 0; s->rank && v < n; v++) {
        s->rank[v] = v;
    }
    return !s->arrays.refused;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* How to search for an order. */
typedef struct manner {
    rule rule;
    const int32_t *given; /* [n] the order by GIVEN; NULL: that of the variables' numbers */
    uint64_t ties;        /* number of the random ties; 0: ties are broken by the numbers */
    double most;          /* work at which the search is given up */
    int64_t steps;        /* that building the graph may take */
    int64_t budget;       /* steps that finding the order may take */
} manner;

/* Find an order, which is not complete if that takes too long; *taken is the steps of finding it.
 * Returns: SAL_ERR_MEMORY. *o is always to be freed. */
static sal_status find_by(const sali_local_terms *terms, const manner *how,
                          sali_elimination_order *o, int64_t *taken)
{
    search s;
    *o = (sali_elimination_order){ .n = terms->n, .variable = SALI_NEW_ARRAY(int32_t, terms->n) };
    bool ok = open_search(&s, terms) && o->variable;
    s.budget = how->steps;
    ok = ok && build_graph(&s);
    if (ok && s.steps <= s.budget) {
        count_passes(&s);
        sali_rng_words(&(sali_stream){ .step = how->ties, .purpose = SALI_RNG_ORDER }, 0,
                       how->ties > 0 ? terms->n : 0, s.ties);
        for (int32_t k = 0; how->given && k < terms->n; k++) {
            s.rank[how->given[k]] = k;
        }
        s.rule = how->rule;
        s.budget = how->budget;
        s.steps = 0;
        find_order(&s, how->most, o);
    }
    *taken = s.steps;
    ok = ok && !s.memory;
    graph_free(&s.graph);
    sali_memory_free(&s.arrays);
    return ok ? SAL_OK : SAL_ERR_MEMORY;
}

/* Find the order of try number `attempt`, which sets the rule and the random ties. *spent grows by
 * the steps taken, except for try 0. As find_by otherwise. */
static sal_status try_order(const sali_local_terms *terms, int attempt, double most, int64_t steps,
                            sali_elimination_order *o, int64_t *spent)
{
    static const rule rules[] = { MIN_WEIGHT, GIVEN, MIN_FILL, MIN_WEIGHTED_FILL, MIN_FILL_RANDOM };
    int64_t taken;
    const manner how = { .rule = rules[attempt < 4 ? attempt : 4],
                         .ties = (uint64_t)attempt,
                         .most = most,
                         .steps = steps,
                         .budget = attempt == 0 ? least(FIRST_BUDGET, steps)
                                                : least(BUDGET, steps) - *spent };
    sal_status status = find_by(terms, &how, o, &taken);
    *spent += attempt > 0 ? taken + terms->n : 0;
    return status;
}

sal_status sali_elimination_order_along(const sali_local_terms *terms, const int32_t *variables,
                                        int64_t steps, sali_elimination_order *order,
                                        sal_error *err)
{
    int64_t taken;
    const manner how = { .rule = GIVEN,
                         .given = variables,
                         .most = INFINITY,
                         .steps = steps,
                         .budget = least(FIRST_BUDGET, steps) };
    if (find_by(terms, &how, order, &taken) != SAL_OK) {
        sali_elimination_order_free(order);
        return sali_fail_memory(err);
    }
    return SAL_OK;
}

sal_status sali_elimination_order_create(const sali_local_terms *terms, int64_t steps,
                                         sali_elimination_order *order, sal_error *err)
{
    int64_t spent = 0;
    sal_status status = try_order(terms, 0, INFINITY, steps, order, &spent);
    for (int k = 1; status == SAL_OK && order->complete && order->work > LITTLE_WORK &&
                    k < MOST_TRIES && spent < least(BUDGET, steps);
         k++) {
        sali_elimination_order other;
        status = try_order(terms, k, order->work, steps, &other, &spent);
        if (status == SAL_OK && other.complete && other.work < order->work) {
            sali_elimination_order_free(order);
            *order = other;
        } else {
            sali_elimination_order_free(&other);
        }
    }
    if (status != SAL_OK) {
        sali_elimination_order_free(order);
        return sali_fail_memory(err);
    }
    return SAL_OK;
}

void sali_elimination_order_free(sali_elimination_order *order)
{
    sali_free(order->variable);
    *order = (sali_elimination_order){ 0 };
}
