/* SPDX-License-Identifier: MIT */
/* Locally balanced exchanges by exact differences (Zanella 2020): of a block whose sum or labels
 * are fixed, a variable i is drawn without regard to f and goes down, and a variable j goes up by
 * as much, in proportion to g(pi(s') / pi(s)) over all such j. Labels are exchanged with those of
 * smaller numbers. On the way back j goes down and i goes up, so each way is one. Where the ones of
 * two levels are more than half, i is one of the zeros and goes up: the scarcer code chooses among
 * the more frequent one. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/object.h"
#include "samplers/balance.h"
#include "samplers/conditional.h"
#include "samplers/slice/trials.h"

enum { BALANCE, RADIUS };

static const sal_setting known_settings[] = {
    SALI_BALANCE_SETTING,
    { "radius", 1, 1, INT32_MAX, true, "levels that one count gives another at most", NULL },
    { 0 },
};

static const char *const variants[] = { "", "balance=barker,radius=2", "balance=min", NULL };

static const char *obstacle(const sal_model *model, const double *values, const void *data)
{
    const sal_space *space = model->space;
    (void)values, (void)data;
    for (int64_t b = 0; b < space->n_blocks; b++) {
        if (!sali_is_fixed(&space->stretches[b])) {
            return "it exchanges variables of fixed sums or labels, and not all blocks have them; "
                   "pair-gibbs moves free variables too";
        }
    }
    return NULL;
}

typedef struct lb_exchange {
    sali_trials trials;
    sali_balance balance;
    int64_t radius, most; /* moves of a variable */
    sali_few *made;       /* [n] */
    bool *moves;          /* [n] whether `made` is a move */
    double *log_q;        /* [n] */
    double *f_made;       /* [n] */
    void *log_t, *log_g;  /* real [most] */
    double *weight;       /* [most] log g of the row that was weighed last */
} lb_exchange;

/* ---- creation */

/* The most moves of a variable. */
static int64_t most_moves(const sal_space *space, int64_t radius)
{
    int64_t most = 1;
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        const int64_t levels = s->fixed_codes ? 1 : radius < s->states - 1 ? radius : s->states - 1;
        most = (s->count - 1) * levels > most ? (s->count - 1) * levels : most;
    }
    return most;
}

static sal_status create(const sali_chains *chains, const sali_sampler_settings *settings,
                         void *shared, void **self, sal_error *err)
{
    (void)shared;
    lb_exchange *e = SALI_OBJECT(lb_exchange);
    if (!e) {
        return sali_fail_memory(err);
    }
    e->radius = (int64_t)settings->values[RADIUS];
    e->balance = sali_balance_of(chains->model->dtype, (int)settings->values[BALANCE]);
    e->most = most_moves(chains->space, e->radius);
    e->made = SALI_OBJECT_ARRAY(e, sali_few, chains->n);
    e->moves = SALI_OBJECT_ARRAY(e, bool, chains->n);
    e->log_q = SALI_OBJECT_ARRAY(e, double, chains->n);
    e->f_made = SALI_OBJECT_ARRAY(e, double, chains->n);
    e->log_t = sali_object_array(e, e->most, chains->element);
    e->log_g = sali_object_array(e, e->most, chains->element);
    e->weight = SALI_OBJECT_ARRAY(e, double, e->most);
    return sali_object_finish(e, sali_trials_open(e, chains, e->most, &e->trials, err), self, err);
}

static void refresh(void *self, sali_chains *chains)
{
    sali_trials_refresh(&((lb_exchange *)self)->trials, chains);
}

static bool follows(const void *self)
{
    return ((const lb_exchange *)self)->trials.tracker;
}

/* ---- rows of moves */

/* The code from which the first variable of a block of two levels moves: the scarcer one. */
static int32_t scarce_code(const sali_stretch *s)
{
    return s->fixed_codes[1] <= s->fixed_codes[0];
}

/* The number of variables among which the first one is drawn: those of the scarcer code, or all. */
static int64_t candidates(const sali_stretch *s)
{
    return sali_two_level(s) ? s->fixed_codes[scarce_code(s)] : s->count;
}

/* Candidate number `rank`. */
static int64_t candidate(const sali_stretch *s, const int32_t *codes, int64_t rank)
{
    int64_t v = s->first;
    if (!sali_two_level(s)) {
        return v + rank;
    }
    for (;; v++) {
        rank -= codes[v] == scarce_code(s);
        if (rank < 0) {
            return v;
        }
    }
}

/* List the moves of variable i, -1: none. */
static void list_moves(const lb_exchange *e, const sali_stretch *s, const int32_t *codes, int64_t i,
                       sali_trial_row *r)
{
    r->n = 0;
    if (i < 0) {
        return;
    }
    const int32_t a = codes[i];
    for (int64_t j = s->first; j < s->first + s->count; j++) {
        const int32_t b = codes[j];
        if (s->fixed_codes && (sali_two_level(s) ? b != a : b < a)) {
            r->move[r->n++] = (sali_few){ 2, { i, j }, { b, a } };
        }
        for (int32_t k = 1; !s->fixed_codes && j != i && k <= e->radius; k++) {
            if (a < k || b + k >= s->states) {
                break;
            }
            r->move[r->n++] = (sali_few){ 2, { i, j }, { a - k, b + k } };
        }
    }
}

/* Weigh the moves of chain c's row from a state with value f. Returns the log of the sum of
 * weights: -INFINITY if nothing can move, NaN if a value is NaN or +inf. From a forbidden state all
 * moves that are allowed weigh the same. */
static double weigh(lb_exchange *e, const sali_chains *chains, int64_t c, double f)
{
    const sal_dtype dtype = chains->model->dtype;
    const sali_trial_row *r = &e->trials.rows[c];
    double largest, sum;
    for (int64_t k = 0; k < r->n; k++) {
        const double log_t = r->f[k] == -INFINITY ? -INFINITY
                             : f == -INFINITY     ? 0 * r->f[k] /* NaN of what is not finite */
                                                  : chains->beta[c] * (r->f[k] - f);
        sali_store(dtype, e->log_t, k, log_t);
    }
    e->balance.log_g(e->balance.context, r->n, e->log_t, e->log_g);
    for (int64_t k = 0; k < r->n; k++) {
        e->weight[k] = r->f[k] < INFINITY ? sali_load(dtype, e->log_g, k) : (double)NAN;
        if (isnan(e->weight[k])) {
            return (double)NAN;
        }
    }
    sum = sali_conditional_norm(r->n, e->weight, 1, &largest);
    return largest > -INFINITY ? largest + log(sum) : -INFINITY;
}

/* ---- the step */

/* Choose chain c's move, and keep its probability and f. */
static void choose(lb_exchange *e, sali_chains *chains, int64_t c, double u)
{
    const sali_trial_row *r = &e->trials.rows[c];
    const double norm = weigh(e, chains, c, chains->f[c]);
    e->moves[c] = norm > -INFINITY;
    e->f_made[c] = chains->f[c];
    if (isnan(norm)) {
        sali_trials_note_bad(&e->trials, chains, c);
    }
    if (e->moves[c]) {
        const int64_t k = sali_conditional_draw(r->n, e->weight, 1, u);
        e->made[c] = r->move[k];
        e->f_made[c] = r->f[k];
        e->log_q[c] = e->weight[k] - norm;
    }
}

static void propose(lb_exchange *e, sali_chains *chains)
{
    const int64_t V = chains->space->n_variables;
    sali_trials_start(chains);
    for (int64_t c = 0; c < chains->n; c++) {
        const sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
        const int32_t *codes = chains->codes + c * V;
        const sali_stretch *s =
            sali_space_stretch(chains->space, sali_rng_below(&stream, 0, (uint32_t)V));
        const int64_t n = candidates(s);
        const int64_t i = n > 0 ? candidate(s, codes, sali_rng_below(&stream, 1, (uint32_t)n)) : -1;
        list_moves(e, s, codes, i, &e->trials.rows[c]);
    }
    sali_trials_evaluate(&e->trials, chains);
    for (int64_t c = 0; c < chains->n; c++) {
        const sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
        choose(e, chains, c, sali_rng_uniform_at(&stream, 2));
    }
}

/* Move chain c, in the proposed state and the tracker, and list the moves back of the other
 * variable. */
static void make_move(lb_exchange *e, sali_chains *chains, int64_t c)
{
    const sali_few *m = &e->made[c];
    e->trials.rows[c].n = 0;
    if (!e->moves[c]) {
        return;
    }
    sali_trials_propose(chains, c, m);
    sali_trials_follow(&e->trials, c, m);
    list_moves(e, sali_space_stretch(chains->space, m->site[0]),
               chains->codes_new + c * chains->space->n_variables, m->site[1], &e->trials.rows[c]);
}

/* The log-probability of the way back of chain c, whose row is of the state after its move. */
static double log_q_back(lb_exchange *e, sali_chains *chains, int64_t c)
{
    const sali_trial_row *r = &e->trials.rows[c];
    const sali_few *m = &e->made[c];
    const int32_t before = chains->codes[c * chains->space->n_variables + m->site[0]];
    const double norm = weigh(e, chains, c, e->f_made[c]);
    int64_t k = 0;
    if (isnan(norm)) {
        sali_trials_note_bad(&e->trials, chains, c);
    }
    while (r->move[k].site[1] != m->site[0] || r->move[k].code[1] != before) {
        k++;
    }
    return e->weight[k] - norm;
}

static void step(void *self, sali_chains *chains)
{
    lb_exchange *e = self;
    if (chains->step[0] % SALI_RENEWAL_STEPS == 0) {
        refresh(e, chains);
    }
    propose(e, chains);
    for (int64_t c = 0; c < chains->n; c++) {
        make_move(e, chains, c);
    }
    sali_trials_evaluate(&e->trials, chains);
    for (int64_t c = 0; c < chains->n; c++) {
        chains->f_new[c] = e->f_made[c];
        chains->log_ratio[c] =
            e->moves[c] ? sali_chains_log_ratio(chains, c, e->log_q[c], log_q_back(e, chains, c))
                        : 0;
    }
    sali_chains_decide(chains);
    for (int64_t c = 0; c < chains->n; c++) {
        if (e->moves[c] && !chains->accepted[c]) {
            const int32_t *now = chains->codes + c * chains->space->n_variables;
            const int64_t i = e->made[c].site[0], j = e->made[c].site[1];
            sali_trials_follow(&e->trials, c, &(sali_few){ 2, { i, j }, { now[i], now[j] } });
        }
    }
    sali_chains_tick(chains);
}

/* ---- the proposal's probability */

/* The share of chain c's row in q(to | present state). */
static double share_of(lb_exchange *e, const sali_chains *chains, int64_t c, const int32_t *to)
{
    const int64_t V = chains->space->n_variables;
    const int32_t *now = chains->codes + c * V;
    const sali_trial_row *r = &e->trials.rows[c];
    const double norm = weigh(e, chains, c, chains->f[c]);
    int64_t moved = 0, k = 0;
    for (int64_t v = 0; v < V; v++) {
        moved += to[v] != now[v];
    }
    while (k < r->n && (to[r->move[k].site[0]] != r->move[k].code[0] ||
                        to[r->move[k].site[1]] != r->move[k].code[1])) {
        k++;
    }
    if (norm == -INFINITY || moved == 0) {
        return norm == -INFINITY && moved == 0;
    }
    return moved == 2 && k < r->n ? exp(e->weight[k] - norm) : 0;
}

static void log_q(void *self, sali_chains *chains, const int32_t *to, double *out)
{
    lb_exchange *e = self;
    const sal_space *space = chains->space;
    const int64_t V = space->n_variables;
    memset(out, 0, (size_t)chains->n * sizeof *out);
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        const int64_t n = candidates(s), rows = n > 0 ? n : 1;
        for (int64_t rank = 0; rank < rows; rank++) {
            sali_trials_start(chains);
            for (int64_t c = 0; c < chains->n; c++) {
                const int32_t *codes = chains->codes + c * V;
                list_moves(e, s, codes, n > 0 ? candidate(s, codes, rank) : -1, &e->trials.rows[c]);
            }
            sali_trials_evaluate(&e->trials, chains);
            for (int64_t c = 0; c < chains->n; c++) {
                out[c] += share_of(e, chains, c, to + c * V) * (double)s->count /
                          ((double)V * (double)rows);
            }
        }
    }
    for (int64_t c = 0; c < chains->n; c++) {
        out[c] = log(out[c]);
    }
}

const sali_sampler sali_sampler_lb_exchange = {
    .name = "lb-exchange",
    .doc = "two variables of a fixed sum or fixed labels, by exact differences and a function g",
    .source = "Zanella 2020, of pairs",
    .kinds = SAL_MOVES_FINITE | SAL_MOVES_FIXED,
    .settings = known_settings,
    .obstacle = obstacle,
    .engine =
        &(const sal_sampler_engine){
            .local = true,
            .variants = variants,
            .create = create,
            .destroy = sali_object_free,
            .refresh = refresh,
            .follows = follows,
            .step = step,
            .log_q = log_q,
        },
};
