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
#include "models/tracker.h"
#include "samplers/balance.h"
#include "samplers/conditional.h"
#include "samplers/sampler.h"

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

/* A move of two variables to new codes. */
typedef struct exchange {
    int64_t site[2];
    int32_t code[2];
} exchange;

/* The moves of one variable of a chain, and f after each. */
typedef struct row {
    int64_t n;
    exchange *move; /* [most] */
    double *f;      /* [most] */
    double *weight; /* [most] log g */
} row;

typedef struct lb_exchange {
    sali_tracker *tracker; /* NULL: f of other states is evaluated */
    sali_balance balance;
    int64_t radius, most; /* moves of a variable */
    row *rows;            /* [n] */
    exchange *made;       /* [n] */
    exchange *undone;     /* [n] the move back from a state that is evaluated */
    bool *moves;          /* [n] whether `made` is a move */
    double *log_q;        /* [n] */
    double *f_made;       /* [n] */
    void *log_t, *log_g;  /* real [most] */
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
    e->rows = SALI_OBJECT_ARRAY(e, row, chains->n);
    e->made = SALI_OBJECT_ARRAY(e, exchange, chains->n);
    e->undone = SALI_OBJECT_ARRAY(e, exchange, chains->n);
    e->moves = SALI_OBJECT_ARRAY(e, bool, chains->n);
    e->log_q = SALI_OBJECT_ARRAY(e, double, chains->n);
    e->f_made = SALI_OBJECT_ARRAY(e, double, chains->n);
    e->log_t = sali_object_array(e, e->most, chains->element);
    e->log_g = sali_object_array(e, e->most, chains->element);
    for (int64_t c = 0; e->rows && c < chains->n; c++) {
        e->rows[c].move = SALI_OBJECT_ARRAY(e, exchange, e->most);
        e->rows[c].f = SALI_OBJECT_ARRAY(e, double, e->most);
        e->rows[c].weight = SALI_OBJECT_ARRAY(e, double, e->most);
    }
    sal_status status = SAL_OK;
    if (chains->model->trackable) {
        status = sali_tracker_create_values(chains->model, chains->n, &e->tracker, err);
        status = status ? status : sali_object_own(e, e->tracker, sali_tracker_destroy, err);
    }
    return sali_object_finish(e, status, self, err);
}

static void refresh(void *self, sali_chains *chains)
{
    lb_exchange *e = self;
    sali_chains_start(chains, false);
    if (e->tracker) {
        sali_tracker_start(e->tracker, chains->n, chains->codes, chains->f);
    }
}

static bool follows(const void *self)
{
    return ((const lb_exchange *)self)->tracker;
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
                       row *r)
{
    r->n = 0;
    if (i < 0) {
        return;
    }
    const int32_t a = codes[i];
    for (int64_t j = s->first; j < s->first + s->count; j++) {
        const int32_t b = codes[j];
        if (s->fixed_codes && (sali_two_level(s) ? b != a : b < a)) {
            r->move[r->n++] = (exchange){ { i, j }, { b, a } };
        }
        for (int32_t k = 1; !s->fixed_codes && j != i && k <= e->radius; k++) {
            if (a < k || b + k >= s->states) {
                break;
            }
            r->move[r->n++] = (exchange){ { i, j }, { a - k, b + k } };
        }
    }
}

/* Set the two variables of a move in chain c's proposed state. */
static void set_proposed(sali_chains *chains, int64_t c, const exchange *m)
{
    int32_t *codes = chains->codes_new + c * chains->space->n_variables;
    void *x = sali_row(chains, chains->x_new, c, chains->space->width);
    for (int k = 0; k < 2; k++) {
        codes[m->site[k]] = m->code[k];
        sali_model_embed_one(chains->model, m->site[k], m->code[k], x);
    }
}

/* The move back from the proposed state of chain c before move m. */
static exchange undo(const sali_chains *chains, int64_t c, const exchange *m)
{
    const int32_t *codes = chains->codes_new + c * chains->space->n_variables;
    return (exchange){ { m->site[0], m->site[1] }, { codes[m->site[0]], codes[m->site[1]] } };
}

/* Fill f of all rows, which are of the chains' proposed states; these stay as they are. */
static void evaluate_rows(lb_exchange *e, sali_chains *chains)
{
    int64_t largest = 0;
    for (int64_t c = 0; c < chains->n; c++) {
        row *r = &e->rows[c];
        largest = r->n > largest ? r->n : largest;
        for (int64_t k = 0; e->tracker && k < r->n; k++) {
            r->f[k] = sali_tracker_try(e->tracker, c, 2, r->move[k].site, r->move[k].code, false);
        }
    }
    for (int64_t k = 0; !e->tracker && k < largest; k++) {
        for (int64_t c = 0; c < chains->n; c++) {
            const row *r = &e->rows[c];
            if (k < r->n) {
                e->undone[c] = undo(chains, c, &r->move[k]);
                set_proposed(chains, c, &r->move[k]);
            }
        }
        sali_value(chains->evaluator, chains->n, chains->codes_new, chains->x_new, chains->f_new);
        for (int64_t c = 0; c < chains->n; c++) {
            row *r = &e->rows[c];
            if (k < r->n) {
                r->f[k] = chains->f_new[c];
                set_proposed(chains, c, &e->undone[c]);
            }
        }
    }
}

/* Weigh the moves of chain c's row from a state with value f. Returns the log of the sum of
 * weights: -INFINITY if nothing can move, NaN if a value is NaN or +inf. From a forbidden state all
 * moves that are allowed weigh the same. */
static double weigh(lb_exchange *e, const sali_chains *chains, int64_t c, double f)
{
    const sal_dtype dtype = chains->model->dtype;
    row *r = &e->rows[c];
    double largest, sum;
    for (int64_t k = 0; k < r->n; k++) {
        const double log_t = r->f[k] == -INFINITY ? -INFINITY
                             : f == -INFINITY     ? 0 * r->f[k] /* NaN of what is not finite */
                                                  : chains->beta[c] * (r->f[k] - f);
        sali_store(dtype, e->log_t, k, log_t);
    }
    e->balance.log_g(e->balance.context, r->n, e->log_t, e->log_g);
    for (int64_t k = 0; k < r->n; k++) {
        r->weight[k] = r->f[k] < INFINITY ? sali_load(dtype, e->log_g, k) : (double)NAN;
        if (isnan(r->weight[k])) {
            return (double)NAN;
        }
    }
    sum = sali_conditional_norm(r->n, r->weight, 1, &largest);
    return largest > -INFINITY ? largest + log(sum) : -INFINITY;
}

/* ---- the step */

/* Make the chains' proposed states the present ones. */
static void start_at_present(sali_chains *chains)
{
    memcpy(chains->codes_new, chains->codes,
           (size_t)(chains->n * chains->space->n_variables) * sizeof *chains->codes);
    memcpy(chains->x_new, chains->x, (size_t)(chains->n * chains->space->width) * chains->element);
}

/* Note the first value of chain c's row that is NaN or +inf. */
static void note_bad(const lb_exchange *e, sali_chains *chains, int64_t c)
{
    const row *r = &e->rows[c];
    int64_t k = 0;
    while (k < r->n - 1 && r->f[k] < INFINITY) {
        k++;
    }
    const exchange back = undo(chains, c, &r->move[k]);
    set_proposed(chains, c, &r->move[k]);
    sali_chains_note_bad(chains, c, chains->codes_new + c * chains->space->n_variables, r->f[k]);
    set_proposed(chains, c, &back);
}

/* Choose chain c's move, and keep its probability and f. */
static void choose(lb_exchange *e, sali_chains *chains, int64_t c, double u)
{
    const row *r = &e->rows[c];
    const double norm = weigh(e, chains, c, chains->f[c]);
    e->moves[c] = norm > -INFINITY;
    e->f_made[c] = chains->f[c];
    if (isnan(norm)) {
        note_bad(e, chains, c);
    }
    if (e->moves[c]) {
        const int64_t k = sali_conditional_draw(r->n, r->weight, 1, u);
        e->made[c] = r->move[k];
        e->f_made[c] = r->f[k];
        e->log_q[c] = r->weight[k] - norm;
    }
}

static void propose(lb_exchange *e, sali_chains *chains)
{
    const int64_t V = chains->space->n_variables;
    start_at_present(chains);
    for (int64_t c = 0; c < chains->n; c++) {
        const sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
        const int32_t *codes = chains->codes + c * V;
        const sali_stretch *s =
            sali_space_stretch(chains->space, sali_rng_below(&stream, 0, (uint32_t)V));
        const int64_t n = candidates(s);
        const int64_t i = n > 0 ? candidate(s, codes, sali_rng_below(&stream, 1, (uint32_t)n)) : -1;
        list_moves(e, s, codes, i, &e->rows[c]);
    }
    evaluate_rows(e, chains);
    for (int64_t c = 0; c < chains->n; c++) {
        const sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
        choose(e, chains, c, sali_rng_uniform_at(&stream, 2));
    }
}

/* Move chain c, in the proposed state and the tracker, and list the moves back of the other
 * variable. */
static void make_move(lb_exchange *e, sali_chains *chains, int64_t c)
{
    const exchange *m = &e->made[c];
    e->rows[c].n = 0;
    if (!e->moves[c]) {
        return;
    }
    set_proposed(chains, c, m);
    if (e->tracker) {
        sali_tracker_try(e->tracker, c, 2, m->site, m->code, true);
    }
    list_moves(e, sali_space_stretch(chains->space, m->site[0]),
               chains->codes_new + c * chains->space->n_variables, m->site[1], &e->rows[c]);
}

/* The log-probability of the way back of chain c, whose row is of the state after its move. */
static double log_q_back(lb_exchange *e, sali_chains *chains, int64_t c)
{
    const row *r = &e->rows[c];
    const exchange *m = &e->made[c];
    const int32_t before = chains->codes[c * chains->space->n_variables + m->site[0]];
    const double norm = weigh(e, chains, c, e->f_made[c]);
    int64_t k = 0;
    if (isnan(norm)) {
        note_bad(e, chains, c);
    }
    while (r->move[k].site[1] != m->site[0] || r->move[k].code[1] != before) {
        k++;
    }
    return r->weight[k] - norm;
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
    evaluate_rows(e, chains);
    for (int64_t c = 0; c < chains->n; c++) {
        chains->f_new[c] = e->f_made[c];
        chains->log_ratio[c] =
            e->moves[c] ? sali_chains_log_ratio(chains, c, e->log_q[c], log_q_back(e, chains, c))
                        : 0;
    }
    sali_chains_decide(chains);
    for (int64_t c = 0; e->tracker && c < chains->n; c++) {
        const int64_t *site = e->made[c].site;
        if (e->moves[c] && !chains->accepted[c]) {
            const int32_t *now = chains->codes + c * chains->space->n_variables;
            const int32_t codes[2] = { now[site[0]], now[site[1]] };
            sali_tracker_try(e->tracker, c, 2, site, codes, true);
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
    const row *r = &e->rows[c];
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
    return moved == 2 && k < r->n ? exp(r->weight[k] - norm) : 0;
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
            start_at_present(chains);
            for (int64_t c = 0; c < chains->n; c++) {
                const int32_t *codes = chains->codes + c * V;
                list_moves(e, s, codes, n > 0 ? candidate(s, codes, rank) : -1, &e->rows[c]);
            }
            evaluate_rows(e, chains);
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
