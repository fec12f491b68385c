/* SPDX-License-Identifier: MIT */
/* Majority votes over the draws of a run. */
#include <string.h>

#include <saltus/sample.h>
#include "core/alloc.h"
#include "core/error.h"
#include "models/fingerprint.h"
#include "run/parts/record.h"
#include "run/results/results.h"

/* ---- sample-wise: whole states, counted in a hash table of draws */

typedef struct ballot {
    const uint8_t *rows;
    size_t bytes;   /* of a row of codes */
    int64_t size;   /* slots of the hash table, a power of two */
    int64_t *first; /* [size] 1 + the first draw with the state of the slot; 0: free */
    int64_t *votes; /* [size] draws with the state of the slot */
} ballot;

/* The slot of a draw's state: the slot that has it, or a free one. */
static int64_t place_of(const ballot *b, int64_t draw)
{
    const uint8_t *row = b->rows + (size_t)draw * b->bytes;
    uint64_t hash = sali_hash(SALI_HASH_START, row, (int64_t)b->bytes);
    int64_t at = (int64_t)((hash ^ hash >> 32) & (uint64_t)(b->size - 1));
    while (b->first[at] &&
           memcmp(b->rows + (size_t)(b->first[at] - 1) * b->bytes, row, b->bytes) != 0) {
        at = (at + 1) & (b->size - 1);
    }
    return at;
}

/* Whether the state in slot `one` beats that in slot `other`: by votes, then by f, then by its
 * first draw. Draws are numbered as in log_prob. */
static bool slot_beats(const ballot *b, const sal_run *run, int64_t one, int64_t other)
{
    if (b->votes[one] != b->votes[other]) {
        return b->votes[one] > b->votes[other];
    }
    double f = sali_run_record(run)->log_prob[b->first[one] - 1],
           f_other = sali_run_record(run)->log_prob[b->first[other] - 1];
    return f != f_other ? f > f_other : b->first[one] < b->first[other];
}

/* Count the states of all draws. Returns the winner's slot. */
static int64_t count_votes(ballot *b, const sal_run *run)
{
    int64_t winner = -1;
    for (int64_t c = 0; c < run->options.chains; c++) {
        for (int64_t d = 0; d < run->draws_made; d++) {
            int64_t draw = c * run->draws_made + d, at = place_of(b, draw);
            b->first[at] = b->first[at] ? b->first[at] : draw + 1;
            b->votes[at]++;
        }
    }
    for (int64_t at = 0; at < b->size; at++) {
        if (b->first[at] && (winner < 0 || slot_beats(b, run, at, winner))) {
            winner = at;
        }
    }
    return winner;
}

sal_status sal_run_vote(const sal_run *run, int32_t *codes, int64_t *votes, sal_error *err)
{
    if (sali_run_check_results(run, "sal_run_vote", err) != SAL_OK) {
        return SAL_ERR_ARGUMENT;
    }
    if (!sali_run_record(run)->draws || run->draws_made == 0) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         sali_run_record(run)->draws
                             ? "the run was stopped before its first draw"
                             : "the run kept no draws; set record.draws in its options");
    }
    ballot b = { .rows = sali_run_record(run)->draws,
                 .bytes =
                     (size_t)(run->base->space->n_variables * sali_run_record(run)->draw_bytes),
                 .size = 1 };
    while (b.size < 2 * run->options.chains * run->draws_made) {
        b.size *= 2;
    }
    b.first = SALI_NEW_ARRAY(int64_t, b.size);
    b.votes = SALI_NEW_ARRAY(int64_t, b.size);
    sal_status status = b.first && b.votes ? SAL_OK : sali_fail_memory(err);
    if (status == SAL_OK) {
        int64_t winner = count_votes(&b, run);
        int64_t draw = b.first[winner] - 1;
        for (int64_t v = 0; v < run->base->space->n_variables; v++) {
            codes[v] = sali_run_draw(run, draw / run->draws_made, draw % run->draws_made, v);
        }
        if (votes) {
            *votes = b.votes[winner];
        }
    }
    sali_free(b.first);
    sali_free(b.votes);
    return status;
}

/* ---- dimension-wise */

/* Set codes [V] to the most frequent code of each variable; of equal ones, the lowest. */
static void most_frequent(const sal_space *space, const double *marginals, int32_t *codes)
{
    for (int64_t v = 0; v < space->n_variables; v++) {
        codes[v] = 0;
        for (int32_t k = 1; k < space->variables[v].states; k++) {
            codes[v] = marginals[k] > marginals[codes[v]] ? k : codes[v];
        }
        marginals += space->variables[v].states;
    }
}

/* Set codes [V] to 1 for the `ones` two-level variables that have code 1 most often (of equal ones,
 * the first), else to 0. */
static void select_top(const sal_space *space, const double *marginals, int64_t ones,
                       int32_t *codes)
{
    memset(codes, 0, (size_t)space->n_variables * sizeof *codes);
    for (int64_t k = 0; k < ones; k++) {
        int64_t best = -1;
        for (int64_t v = 0; v < space->n_variables; v++) {
            if (!codes[v] && (best < 0 || marginals[2 * v + 1] > marginals[2 * best + 1])) {
                best = v;
            }
        }
        codes[best] = 1;
    }
}

sal_status sal_run_vote_by_dimension(const sal_run *run, int64_t ones, int32_t *codes,
                                     sal_error *err)
{
    if (sali_run_check_results(run, "sal_run_vote_by_dimension", err) != SAL_OK) {
        return SAL_ERR_ARGUMENT;
    }
    const sal_space *space = run->base->space;
    if (ones < 0 || ones > space->n_variables) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "ones is %lld; expected 0 to %lld", (long long)ones,
                         (long long)space->n_variables);
    }
    if (ones > 0 && space->n_states != 2 * space->n_variables) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "ones is for variables of two levels; %s has others", run->base->name);
    }
    if (space->unbounded) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED,
                         "%s has counts without a cap, whose marginals do not list all states; "
                         "vote on states instead",
                         run->base->name);
    }
    double *marginals = SALI_NEW_ARRAY(double, space->n_states);
    sal_status status = marginals ? sal_run_marginals(run, marginals, err) : sali_fail_memory(err);
    if (status == SAL_OK && ones > 0) {
        select_top(space, marginals, ones, codes);
    } else if (status == SAL_OK) {
        most_frequent(space, marginals, codes);
    }
    sali_free(marginals);
    return status;
}
