/* SPDX-License-Identifier: MIT */
/* Variables that had one state in all draws of each chain, and whether f explains that they stay.
 *
 * A variable whose other states are forbidden or improbable stays in correct draws as well. But
 * variables also stay where a sampler cannot cross to other states: two variables that must differ
 * never change one at a time. So changes of one of these variables, or of two together, are tried
 * at the last states: where f makes a change likely enough to be seen many times, the draws are not
 * distributed as f demands. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/memory.h"
#include "models/structure/interactions.h"
#include "run/parts/record.h"
#include "run/results/results.h"

/* Chains with fewer draws are not examined. */
#define LEAST_DRAWS 4

/* A change that draws of f would show so often on average is missed by chance with probability
 * e^-10. */
#define LEAST_SIGHTINGS 10.0

/* Bounds on the chains whose last states are examined, the states that are tried at each of them by
 * single changes and by pairs, and the states and codes that are evaluated together. */
enum { CHAINS = 4, MOST_STATES = 1024, ROWS = 256, MOST_CODES = 1 << 20 };

/* A change of a variable, or of two variables together. */
typedef struct change {
    int64_t first, second; /* of the model that is sampled; second: -1 for a single one */
    double ratio;          /* sum of exp(f - f of the last state) over all other states of both */
    double chance;         /* conditional probability of other states; the least of the chains */
} change;

/* Neighbours of one last state on their way through the model. */
typedef struct batch {
    const sal_run *run;
    const int32_t *codes; /* [V] the last state */
    double f;             /* of the last state */
    int64_t n, room;      /* rows that are filled; all rows, ROWS at most */
    int32_t *rows;        /* [room x V] */
    double *values;       /* [room] */
    change *of[ROWS];
} batch;

/* ---- which variables */

/* How many other codes a change of the variable tries; 0 for a variable with one state. */
static int64_t other_codes(const sali_variable *variable)
{
    return variable->states == 0 ? 2 : variable->states - 1;
}

/* Whether all draws of a chain have the same state of variable v. */
static bool chain_stays(const sal_run *run, const sali_variable *variable, int64_t v, int64_t chain)
{
    const int64_t bins = run->model->space->bins, V = run->model->space->n_variables;
    const uint32_t *early = sali_run_record(run)->counts + 2 * chain * bins + variable->bin,
                   *late = early + bins;
    if (variable->states == 0) {
        const sali_running *m = sali_run_record(run)->moments + 2 * chain * V + v;
        const bool halves =
            run->draws_made > sali_record_first_half(sali_run_record(run), run->draws_made);
        return m->squares == 0 && (!halves || (m[V].squares == 0 && m[V].mean == m->mean));
    }
    for (int32_t k = 0; k < (sali_is_two_level(variable) ? 1 : variable->states); k++) {
        const int64_t draws = (int64_t)early[k] + late[k];
        if (draws == run->draws_made || (sali_is_two_level(variable) && draws == 0)) {
            return true;
        }
        if (draws > 0) {
            return false;
        }
    }
    return false;
}

/* List in unchanged [V] the variables of the sampled model that have one state in all draws of each
 * chain. Returns how many. */
static int64_t find_unchanged(const sal_run *run, int64_t *unchanged)
{
    int64_t n = 0;
    for (int64_t v = 0; v < run->model->space->n_variables; v++) {
        bool stay = other_codes(&run->model->space->variables[v]) > 0;
        for (int64_t c = 0; stay && c < run->options.chains; c++) {
            stay = chain_stays(run, &run->model->space->variables[v], v, c);
        }
        if (stay) {
            unchanged[n++] = v;
        }
    }
    return n;
}

/* ---- probabilities of changes */

/* Evaluate the rows of a batch, add each to the ratio of its change, and empty the batch. */
static sal_status batch_flush(batch *b, sal_error *err)
{
    sal_status status =
        b->n > 0 ? sal_model_evaluate(b->run->model, b->n, b->rows, b->values, NULL, NULL, err)
                 : SAL_OK;
    for (int64_t k = 0; status == SAL_OK && k < b->n; k++) {
        b->of[k]->ratio += exp(b->values[k] - b->f);
    }
    b->n = 0;
    return status;
}

/* The k-th code other than `code`, from 0; -1 past the last. A count without a cap has its
 * neighbours only. */
static int32_t other_code(const sali_variable *variable, int32_t code, int32_t k)
{
    if (variable->states == 0) {
        const int32_t up = code < sali_last_code(variable) ? code + 1 : -1;
        return k == 0 && up >= 0 ? up : k == (up >= 0) ? code - 1 : -1; /* -1 below 0 */
    }
    return k + 1 < variable->states ? k + (k >= code) : -1;
}

/* Put the states that a change leads to from the last state into the batch, evaluating it when it
 * is full. */
static sal_status batch_add(batch *b, change *to, sal_error *err)
{
    const sal_space *space = b->run->model->space;
    const int64_t V = space->n_variables, v = to->first, w = to->second;
    int32_t one, two;
    sal_status status = SAL_OK;
    to->ratio = 0;
    for (int32_t i = 0; (one = other_code(&space->variables[v], b->codes[v], i)) >= 0; i++) {
        for (int32_t j = 0; status == SAL_OK; j++) {
            two = w < 0 ? (j == 0 ? 0 : -1) : other_code(&space->variables[w], b->codes[w], j);
            if (two < 0) {
                break;
            }
            int32_t *row = b->rows + b->n * V;
            memcpy(row, b->codes, (size_t)V * sizeof *row);
            row[v] = one;
            row[w < 0 ? v : w] = w < 0 ? one : two;
            b->of[b->n++] = to;
            status = b->n == b->room ? batch_flush(b, err) : SAL_OK;
        }
    }
    return status;
}

/* The last state of a chain, at temperature 1. */
static const int32_t *last_codes(const sal_run *run, int64_t chain)
{
    const int64_t V = run->model->space->n_variables;
    for (int64_t k = 0; k < run->n_shards; k++) {
        const sali_run_shard *shard = &run->shards[k];
        if (chain >= shard->first && chain < shard->first + shard->groups) {
            return shard->chains->codes + (chain - shard->first) * run->replicas * V;
        }
    }
    return NULL; /* not reached: every chain has a shard */
}

/* Set the chance of each of n changes: the least of its chances at the last states of a few
 * chains. */
static sal_status measure_changes(batch *b, int64_t n, change *changes, sal_error *err)
{
    const int64_t chains = b->run->options.chains < CHAINS ? b->run->options.chains : CHAINS;
    sal_status status = SAL_OK;
    for (int64_t c = 0; status == SAL_OK && c < chains; c++) {
        b->codes = last_codes(b->run, c);
        status = sal_model_evaluate(b->run->model, 1, b->codes, &b->f, NULL, NULL, err);
        for (int64_t k = 0; status == SAL_OK && k < n; k++) {
            status = batch_add(b, &changes[k], err);
        }
        status = status ? status : batch_flush(b, err);
        for (int64_t k = 0; status == SAL_OK && k < n; k++) {
            double chance = 1 - 1 / (1 + changes[k].ratio);
            changes[k].chance = c == 0 ? chance : fmin(changes[k].chance, chance);
        }
    }
    return status;
}

/* Order of changes for qsort: by chance, then by variable. */
static int by_chance(const void *a, const void *b)
{
    const change *x = a, *y = b;
    int order = (x->chance > y->chance) - (x->chance < y->chance);
    return order ? order : (x->first > y->first) - (x->first < y->first);
}

/* ---- in the summary */

/* Set s->stuck and s->stuck_chance to the likeliest of n changes, if draws of f would show it many
 * times. */
static void note_likeliest(const sal_run *run, int64_t n, const change *changes,
                           const int64_t *original, sal_run_summary *s)
{
    const double draws = (double)run->options.chains * (double)run->draws_made;
    for (int64_t k = 0; k < n; k++) {
        if (changes[k].chance * draws >= LEAST_SIGHTINGS &&
            !(changes[k].chance <= s->stuck_chance)) {
            s->stuck[0] = original[changes[k].first];
            s->stuck[1] = changes[k].second < 0 ? -1 : original[changes[k].second];
            s->stuck_chance = changes[k].chance;
        }
    }
}

/* Append the pair of variables v and w to `pair`. False once the states of all pairs are more than
 * the bound. */
static bool add_pair(const sali_variable *variables, int64_t v, int64_t w, change *pair,
                     int64_t *pairs, int64_t *states)
{
    *states += other_codes(&variables[v]) * other_codes(&variables[w]);
    if (*states > MOST_STATES) {
        return false;
    }
    pair[(*pairs)++] = (change){ .first = v < w ? v : w, .second = v < w ? w : v };
    return true;
}

/* List the pairs of n single changes, the least likely changes first. Returns how many. If no term
 * of f has both variables, changing the two together is no likelier than changing each: so with
 * `graph` (NULL: not known) only pairs that share a term are tried. Otherwise variables that f
 * fixes one by one would use up the bound. rank [V] is scratch. */
static int64_t list_pairs(const sal_space *space, const sali_interactions *graph, int64_t n,
                          const change *changes, int64_t *rank, change *pair)
{
    const sali_variable *variables = space->variables;
    int64_t pairs = 0, states = 0;
    bool room = true;
    for (int64_t v = 0; v < space->n_variables; v++) {
        rank[v] = INT64_MAX;
    }
    for (int64_t j = 0; room && j < n; j++) {
        const int64_t w = changes[j].first;
        for (int64_t i = 0; room && !graph && i < j; i++) {
            room = add_pair(variables, changes[i].first, w, pair, &pairs, &states);
        }
        for (int64_t k = graph ? graph->begin[w] : 0; graph && room && k < graph->begin[w + 1];
             k++) {
            const int64_t v = graph->neighbour[k];
            if (rank[v] < j) {
                room = add_pair(variables, v, w, pair, &pairs, &states);
            }
        }
        rank[w] = j;
    }
    return pairs;
}

/* Try pairs of n single changes, which are sorted by chance, and note the likeliest pair. */
static sal_status try_pairs(batch *b, int64_t n, const change *changes, const int64_t *original,
                            sal_run_summary *s, sal_error *err)
{
    sali_memory memory = { 0 };
    sali_interactions graph = { 0 };
    bool known = false;
    change *pair = SALI_TAKE(&memory, change, MOST_STATES);
    int64_t *rank = SALI_TAKE(&memory, int64_t, b->run->model->space->n_variables);
    sal_status status = sali_memory_status(&memory, err);
    status = status ? status : sali_interactions_create(b->run->model, &graph, &known, err);
    if (status == SAL_OK) {
        const int64_t pairs =
            list_pairs(b->run->model->space, known ? &graph : NULL, n, changes, rank, pair);
        status = measure_changes(b, pairs, pair, err);
        if (status == SAL_OK) {
            note_likeliest(b->run, pairs, pair, original, s);
        }
    }
    if (known) {
        sali_interactions_free(&graph);
    }
    sali_memory_free(&memory);
    return status;
}

/* Try single changes of the unchanged variables, as many as the bound on states allows; if none is
 * likely enough, try pairs. */
static sal_status try_changes(batch *b, int64_t n, const int64_t *unchanged, change *changes,
                              const int64_t *original, sal_run_summary *s, sal_error *err)
{
    const sali_variable *variables = b->run->model->space->variables;
    int64_t singles = 0, states = 0;
    for (; singles < n && singles < MOST_STATES; singles++) {
        states += other_codes(&variables[unchanged[singles]]);
        if (states > MOST_STATES) {
            break;
        }
        changes[singles] = (change){ .first = unchanged[singles], .second = -1 };
    }
    sal_status status = measure_changes(b, singles, changes, err);
    if (status != SAL_OK) {
        return status;
    }
    note_likeliest(b->run, singles, changes, original, s);
    qsort(changes, (size_t)singles, sizeof *changes, by_chance);
    return s->stuck[0] < 0 && singles > 1 ? try_pairs(b, singles, changes, original, s, err)
                                          : SAL_OK;
}

/* Find out whether f allows changes of n unchanged variables, and note the likeliest in the
 * summary. */
static sal_status inspect_unchanged(const sal_run *run, int64_t n, const int64_t *unchanged,
                                    const int64_t *original, sal_run_summary *s, sal_error *err)
{
    const int64_t V = run->model->space->n_variables, room = MOST_CODES / V;
    sali_memory memory = { 0 };
    change *changes = SALI_TAKE(&memory, change, n < MOST_STATES ? n : MOST_STATES);
    batch b = { .run = run, .room = room < 1 ? 1 : room < ROWS ? room : ROWS };
    b.rows = SALI_TAKE(&memory, int32_t, b.room * V);
    b.values = SALI_TAKE(&memory, double, b.room);
    sal_status status = sali_memory_status(&memory, err);
    status = status ? status : try_changes(&b, n, unchanged, changes, original, s, err);
    sali_memory_free(&memory);
    return status == SAL_ERR_MODEL ? SAL_OK : status; /* f is NaN nearby: not known */
}

sal_status sali_unchanged_summarise(const sal_run *run, sal_run_summary *s, sal_error *err)
{
    const int64_t V = run->model->space->n_variables;
    sali_memory memory = { 0 };
    s->unchanged = 0;
    s->stuck[0] = s->stuck[1] = -1;
    s->stuck_chance = NAN;
    for (int k = 0; k < SAL_RUN_NAMED; k++) {
        s->unchanged_first[k] = -1;
    }
    if (run->draws_made < LEAST_DRAWS || run->options.annealing.on) {
        return SAL_OK;
    }
    int64_t *unchanged = SALI_TAKE(&memory, int64_t, V), *original = SALI_TAKE(&memory, int64_t, V);
    sal_status status = sali_memory_status(&memory, err);
    if (status == SAL_OK) {
        sali_run_variables(run, original);
        s->unchanged = find_unchanged(run, unchanged);
    }
    for (int64_t k = 0; k < s->unchanged && k < SAL_RUN_NAMED; k++) {
        s->unchanged_first[k] = original[unchanged[k]];
    }
    const bool singly = !run->model->space->fixed; /* else no variable changes by itself */
    if (status == SAL_OK && singly && s->unchanged > 0 && s->unmoved < s->chains) {
        status = inspect_unchanged(run, s->unchanged, unchanged, original, s, err);
    }
    sali_memory_free(&memory);
    return status;
}
