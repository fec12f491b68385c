/* SPDX-License-Identifier: MIT */
/* The engine of users' own samplers: the descriptor's functions draw proposals and compute log q,
 * in double and chain by chain; the library evaluates, decides and stores. What is known of a state
 * (its reals, gradient, differences, and the row prepared from them) is stored twice for each
 * chain, for the present and the proposed state; the two change places when a proposal is accepted.
 */
#include "samplers/own/own.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/object.h"

/* ---- shared state: the numbers that warm-up tunes, which begin at `standard` */

typedef struct own_shared {
    const sali_sampler *d;
    double values[SAL_SETTINGS];
    int64_t n;
    double tuned[SAL_SAMPLER_TUNED];
} own_shared;

/* Creates an own_shared with all tuned numbers at `standard`, if the sampler adapts anything. */
static sal_status share(const sal_model *model, const sali_sampler_settings *settings,
                        void **shared, sal_error *err)
{
    (void)model;
    if (!settings->sampler->adapt) {
        return SAL_OK;
    }
    own_shared *s = SALI_NEW(own_shared);
    if (!s) {
        return sali_fail_memory(err);
    }
    s->d = settings->sampler;
    memcpy(s->values, settings->values, sizeof s->values);
    for (; s->d->tuned[s->n].name; s->n++) {
        s->tuned[s->n] = s->d->tuned[s->n].standard;
    }
    *shared = s;
    return SAL_OK;
}

/* Call the descriptor's `adapt` with the window's means; its numbers are rounded and clamped to
 * their ranges. SAL_ERR_ARGUMENT if one is NaN. */
static sal_status adapt(void *shared, const sali_warmup *warmup, bool *changed, sal_error *err)
{
    own_shared *s = shared;
    double tuned[SAL_SAMPLER_TUNED];
    if (!s) {
        return SAL_OK;
    }
    sal_sampler_window window = {
        .acceptance_rate = sali_warmup_acceptance(warmup),
        .jump = sali_warmup_jump(warmup),
        .steps = warmup->window,
        .done = warmup->done,
        .total = warmup->total == SALI_WARMUP_ENDLESS ? 0 : warmup->total,
        .values = s->values,
    };
    memcpy(tuned, s->tuned, sizeof tuned);
    s->d->adapt(&window, tuned, s->d->data);
    for (int64_t k = 0; k < s->n; k++) {
        const sal_setting *p = &s->d->tuned[k];
        if (isnan(tuned[k])) {
            return sali_fail(err, SAL_ERR_ARGUMENT, "sampler '%s': adapt made '%s' NaN", s->d->name,
                             p->name);
        }
        tuned[k] = fmax(p->low, fmin(p->high, p->whole ? round(tuned[k]) : tuned[k]));
    }
    if (memcmp(tuned, s->tuned, (size_t)s->n * sizeof *tuned) != 0) {
        memcpy(s->tuned, tuned, (size_t)s->n * sizeof *tuned);
        *changed = true;
    }
    return SAL_OK;
}

/* The tuned numbers, an item each; none if `s` is NULL. */
static int64_t state_of_shared(own_shared *s, sali_state_item *items)
{
    for (int64_t k = 0; s && k < s->n; k++) {
        const sal_setting *p = &s->d->tuned[k];
        sali_state_item item = sali_state_f64(p->name, 1, &s->tuned[k]);
        item.whole = p->whole;
        items[k] = sali_state_for(SALI_STATE_TUNED | SALI_STATE_KEPT,
                                  sali_state_within(item, p->low, p->high));
    }
    return s ? s->n : 0;
}

/* ---- one shard */

typedef struct own {
    const sali_sampler *d;
    const own_shared *shared; /* NULL: the sampler tunes nothing */
    double values[SAL_SETTINGS];
    void *work;
    bool created;                             /* `work` was created */
    int64_t n;                                /* chains */
    int64_t *real, *entry;                    /* [V + 1] */
    int64_t row_size;                         /* 0: none */
    double *x, *gradient, *differences, *row; /* [2 n x N, N, R, row_size]; NULL: not wanted */
    void *slots;                              /* real [n x S] */
    int32_t *direction;                       /* [n] 1 + the direction of each chain; 0: not
                                                 drawn yet */
    bool *second;                             /* [n] the present state is the second of the
                                                 chain's two */
    bool *fault;                              /* [n] the drawn proposal cannot be used */
    double *log_q;                            /* [n] log q of the proposal */
} own;

/* For `shared`: the tuned numbers. For `self`: the directions, if there are several. */
static int64_t state(void *shared, void *self, sali_state_item *items)
{
    const own *o = self;
    if (!o || sali_sampler_directions(o->d) == 1) {
        return state_of_shared(shared, items);
    }
    items[0] = sali_state_within(sali_state_i32("direction", o->n, o->direction), 0,
                                 (double)sali_sampler_directions(o->d));
    return 1;
}

/* ---- making and taking apart */

/* Destroy a shard's state, with the descriptor's `work` if it was created; NULL is fine. */
static void own_destroy(void *self)
{
    own *o = self;
    if (!o) {
        return;
    }
    if (o->created) {
        o->d->destroy(o->work);
    }
    sali_object_free(o);
}

/* Fill o->real and o->entry [V + 1]: the first real and the first entry of each variable. */
static void fill_offsets(own *o, const sal_space *space)
{
    for (int64_t v = 0; v < space->n_variables; v++) {
        const sali_variable *variable = &space->variables[v];
        o->real[v + 1] = o->real[v] + variable->width;
        o->entry[v + 1] = o->entry[v] + sali_entries(variable->states);
    }
}

/* Allocate the arrays that the descriptor's needs ask for; the object records a failed allocation.
 */
static void allocate_arrays(own *o, const sali_chains *chains)
{
    const sal_space *space = chains->space;
    const int64_t n = chains->n, V = space->n_variables;
    o->real = SALI_OBJECT_ARRAY(o, int64_t, V + 1);
    o->entry = SALI_OBJECT_ARRAY(o, int64_t, V + 1);
    o->x = SALI_OBJECT_ARRAY(o, double, 2 * n * space->width);
    o->direction = SALI_OBJECT_ARRAY(o, int32_t, n);
    o->second = SALI_OBJECT_ARRAY(o, bool, n);
    o->fault = SALI_OBJECT_ARRAY(o, bool, n);
    o->log_q = SALI_OBJECT_ARRAY(o, double, n);
    if (o->d->needs_gradient) {
        o->gradient = SALI_OBJECT_ARRAY(o, double, 2 * n * space->width);
    }
    if (o->d->needs_differences) {
        o->differences = SALI_OBJECT_ARRAY(o, double, 2 * n * space->n_states);
        o->slots = sali_object_array(o, n * space->slots, chains->element);
    }
    if (o->row_size > 0) {
        const int64_t size = o->row_size <= INT64_MAX / (2 * n) ? 2 * n * o->row_size : -1;
        o->row = SALI_OBJECT_ARRAY(o, double, size);
    }
}

/* Call the descriptor's `create`, if there is one, for o->work; its error message becomes part of
 * `err`. */
static sal_status create_work(own *o, const sal_model *model, sal_error *err)
{
    sal_error why = { 0 };
    sal_status status =
        o->d->create ? o->d->create(model, o->values, o->d->data, &o->work, &why) : SAL_OK;
    o->created = o->d->create && status == SAL_OK;
    why.message[SAL_ERROR_SIZE - 1] = '\0';
    return status ? sali_fail(err, status, "sampler '%s': create: %s", o->d->name,
                              why.message[0] ? why.message : sal_status_string(status))
                  : SAL_OK;
}

/* Creates a shard's state. SAL_ERR_ARGUMENT if the descriptor's row_size is below 1. */
static sal_status own_create(const sali_chains *chains, const sali_sampler_settings *settings,
                             void *shared, void **self, sal_error *err)
{
    own *o = SALI_OBJECT(own);
    if (!o) {
        return sali_fail_memory(err);
    }
    o->d = settings->sampler;
    o->shared = shared;
    o->n = chains->n;
    memcpy(o->values, settings->values, sizeof o->values);
    sal_status status = SAL_OK;
    if (o->d->row_size) {
        o->row_size = o->d->row_size(chains->space, o->values, o->d->data);
        status = o->row_size >= 1
                     ? SAL_OK
                     : sali_fail(err, SAL_ERR_ARGUMENT,
                                 "sampler '%s': row_size gave %lld; expected 1 or more", o->d->name,
                                 (long long)o->row_size);
    }
    if (status == SAL_OK) {
        allocate_arrays(o, chains);
        status = sali_object_failed(o) ? sali_fail_memory(err) : SAL_OK;
    }
    status = status ? status : create_work(o, chains->model, err);
    if (status != SAL_OK) {
        own_destroy(o);
        return status;
    }
    fill_offsets(o, chains->space);
    *self = o;
    return SAL_OK;
}

/* ---- what is known of a state */

/* Index of the row, among 2n, that holds chain c's proposed or present state. */
static int64_t row_index(const own *o, int64_t c, bool proposed)
{
    return 2 * c + (o->second[c] != proposed);
}

static double *row_at(double *rows, int64_t at, int64_t width)
{
    return rows ? rows + at * width : NULL;
}

/* The direction for the descriptor's functions: of the chain at its present state, and the reverse
 * of this at the proposed state. */
static int32_t direction_of(const own *o, int64_t c, bool proposed)
{
    int32_t v = o->direction[c] - 1;
    return proposed ? sali_sampler_reverse(o->d, v) : v;
}

/* What the descriptor's functions see of chain c's proposed or present state. */
static sal_origin origin_of(const own *o, const sali_chains *chains, int64_t c, bool proposed)
{
    const sal_space *space = chains->space;
    const int64_t at = row_index(o, c, proposed), V = space->n_variables, N = space->width;
    return (sal_origin){
        .space = space,
        .variables = V,
        .reals = N,
        .real = o->real,
        .entry = o->entry,
        .codes = (proposed ? chains->codes_new : chains->codes) + c * V,
        .x = row_at(o->x, at, N),
        .f = chains->beta[c] * (proposed ? chains->f_new[c] : chains->f[c]),
        .gradient = row_at(o->gradient, at, N),
        .differences = row_at(o->differences, at, space->n_states),
        .beta = chains->beta[c],
        .step_size = o->d->has_step_size ? chains->step_size[c] : NAN,
        .step = (int64_t)chains->step[c],
        .direction = direction_of(o, c, proposed),
        .values = o->values,
        .tuned = o->shared ? o->shared->tuned : NULL,
        .row = row_at(o->row, at, o->row_size),
        .work = o->work,
        .data = o->d->data,
    };
}

/* Convert n numbers of the model's type to doubles; false if one is NaN. */
static bool to_doubles(const sali_chains *chains, const void *from, int64_t n, double *to)
{
    bool good = true;
    for (int64_t k = 0; k < n; k++) {
        to[k] = sali_load(chains->model->dtype, from, k);
        good &= !isnan(to[k]);
    }
    return good;
}

static void clear_numbers(double *numbers, int64_t n)
{
    if (numbers) {
        memset(numbers, 0, (size_t)n * sizeof *numbers);
    }
}

/* Store reals, gradient and differences of chain c's proposed or present state, as evaluated last;
 * zeros where f is -inf. */
static void store_results(own *o, sali_chains *chains, int64_t c, bool proposed)
{
    const sal_space *space = chains->space;
    const int64_t at = row_index(o, c, proposed), N = space->width, R = space->n_states;
    const int32_t *codes = proposed ? chains->codes_new : chains->codes;
    double *gradient = row_at(o->gradient, at, N), *differences = row_at(o->differences, at, R);
    sali_embed_f64(space, 1, codes + c * space->n_variables, row_at(o->x, at, N));
    if ((proposed ? chains->f_new[c] : chains->f[c]) == -INFINITY) {
        clear_numbers(gradient, N);
        clear_numbers(differences, R);
        return;
    }
    if (gradient && !to_doubles(chains, sali_row(chains, chains->gradient, c, N), N, gradient)) {
        sali_chains_note_bad(chains, c, codes, NAN);
    }
    if (differences) { /* checked for NaN already */
        sali_spread_slots(chains->model, 1, codes + c * space->n_variables,
                          sali_row(chains, o->slots, c, space->slots), differences);
    }
}

/* Call the descriptor's `prepare` for chain c's proposed or present state, if it has rows. */
static void make_row(const own *o, const sali_chains *chains, int64_t c, bool proposed)
{
    if (o->row) {
        sal_origin s = origin_of(o, chains, c, proposed);
        double *row = row_at(o->row, row_index(o, c, proposed), o->row_size);
        s.row = NULL;
        s.direction = -1;
        o->d->prepare(&s, row);
    }
}

/* Evaluate the proposed or the present states of all chains; where differences are wanted, f is
 * computed with them. */
static void evaluate_states(own *o, sali_chains *chains, bool proposed)
{
    bool gradient = o->gradient != NULL;
    if (gradient || !o->differences) {
        (proposed ? sali_chains_propose : sali_chains_start)(chains, gradient);
    }
    if (o->differences) {
        sali_chains_differences(chains, proposed ? chains->codes_new : chains->codes,
                                proposed ? chains->x_new : chains->x,
                                proposed ? chains->f_new : chains->f, o->slots);
    }
    for (int64_t c = 0; c < chains->n; c++) {
        store_results(o, chains, c, proposed);
    }
}

/* ---- the step */

/* Draw directions for chains without one; before a step (`step`) also, with the descriptor's
 * probability, new ones for other chains. */
static void draw_directions(own *o, const sali_chains *chains, bool step)
{
    const int64_t n = sali_sampler_directions(o->d);
    for (int64_t c = 0; c < chains->n; c++) {
        sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_DIRECTION);
        bool anew = step && sali_rng_uniform_at(&stream, 1) < o->d->refresh_direction;
        if (o->direction[c] == 0 || anew) {
            o->direction[c] = 1 + (int32_t)sali_rng_below(&stream, step ? 2 : 0, (uint32_t)n);
        }
    }
}

/* As the engine's record says; chains without a direction draw one. */
static void own_refresh(void *self, sali_chains *chains)
{
    own *o = self;
    draw_directions(o, chains, false);
    memset(o->second, 0, (size_t)chains->n * sizeof *o->second);
    evaluate_states(o, chains, false);
    for (int64_t c = 0; c < chains->n; c++) {
        make_row(o, chains, c, false);
    }
}

/* NULL, or what is wrong with the proposal `to` [V] and its log_q; then *value is the number to
 * report. */
static const char *proposal_fault(const sali_chains *chains, const int32_t *to, double log_q,
                                  double *value)
{
    for (int64_t v = 0; v < chains->space->n_variables; v++) {
        if (!sali_has_code(&chains->space->variables[v], to[v])) {
            *value = to[v];
            return "draw gave a code out of range";
        }
    }
    if (chains->space->fixed && sali_codes_check(chains->space, 1, to, NULL) != SAL_OK) {
        *value = log_q;
        return "draw gave another sum, or other labels, than the space fixes";
    }
    *value = log_q;
    /* Rounding may take a sum of weights past 1. */
    return log_q > -INFINITY && log_q < 1e-6
               ? NULL
               : "log_q of what draw gave is no log-probability of a state that can be drawn";
}

/* Draw the proposal of chain c and its log q, and embed it. A proposal that cannot be used is
 * noted, and the chain stays. */
static void draw_proposal(own *o, sali_chains *chains, int64_t c)
{
    const int64_t V = chains->space->n_variables;
    const int32_t *codes = chains->codes + c * V;
    int32_t *to = chains->codes_new + c * V;
    bool weigh = !o->d->unadjusted && chains->f[c] > -INFINITY;
    sal_origin s = origin_of(o, chains, c, false);
    sal_random random = { .stream = sali_chains_stream(chains, c, SALI_RNG_OWN) };
    double value;
    memcpy(to, codes, (size_t)V * sizeof *to);
    o->d->draw(&s, &random, to);
    const char *fault = proposal_fault(chains, to, 0, &value);
    if (!fault && weigh) {
        o->log_q[c] = o->d->log_q(&s, to);
        fault = proposal_fault(chains, to, o->log_q[c], &value);
    }
    o->fault[c] = fault != NULL;
    if (fault) {
        memcpy(to, codes, (size_t)V * sizeof *to);
        sali_chains_note_fault(chains, c, chains->codes, fault, value);
    }
    sali_model_embed(chains->model, 1, to,
                     sali_row(chains, chains->x_new, c, chains->space->width));
}

/* The log-ratio of chain c's proposal: -inf if it cannot be accepted, inf if it always is. */
static double proposal_log_ratio(const own *o, sali_chains *chains, int64_t c)
{
    if (o->fault[c] || !(chains->f_new[c] > -INFINITY)) {
        return -INFINITY;
    }
    make_row(o, chains, c, true);
    if (o->d->unadjusted || chains->f[c] == -INFINITY) {
        return INFINITY;
    }
    sal_origin s = origin_of(o, chains, c, true);
    double reverse = o->d->log_q(&s, chains->codes + c * chains->space->n_variables);
    if (!(reverse < 1e-6)) {
        sali_chains_note_fault(chains, c, chains->codes_new,
                               "log_q of the way back is no log-probability", reverse);
        return -INFINITY;
    }
    return sali_chains_log_ratio(chains, c, o->log_q[c], reverse);
}

/* One step of every chain; a chain whose proposal is rejected reverses its direction. */
static void own_step(void *self, sali_chains *chains)
{
    own *o = self;
    if (o->d->refresh_direction > 0) {
        draw_directions(o, chains, true);
    }
    for (int64_t c = 0; c < chains->n; c++) {
        draw_proposal(o, chains, c);
    }
    evaluate_states(o, chains, true);
    for (int64_t c = 0; c < chains->n; c++) {
        chains->log_ratio[c] = proposal_log_ratio(o, chains, c);
    }
    sali_chains_decide(chains);
    for (int64_t c = 0; c < chains->n; c++) {
        o->second[c] ^= chains->accepted[c];
        if (!chains->accepted[c]) {
            o->direction[c] = 1 + sali_sampler_reverse(o->d, o->direction[c] - 1);
        }
    }
    sali_chains_tick(chains);
}

static void own_log_q(void *self, sali_chains *chains, const int32_t *to, double *log_q)
{
    const own *o = self;
    for (int64_t c = 0; c < chains->n; c++) {
        sal_origin s = origin_of(o, chains, c, false);
        log_q[c] = s.f > -INFINITY ? o->d->log_q(&s, to + c * s.variables) : NAN;
    }
}

static int32_t *own_directions(void *self)
{
    return ((own *)self)->direction;
}

const sal_sampler_engine sali_own_engine = {
    .share = share,
    .unshare = sali_free,
    .adapt = adapt,
    .state = state,
    .create = own_create,
    .destroy = own_destroy,
    .refresh = own_refresh,
    .step = own_step,
    .log_q = own_log_q,
    .directions = own_directions,
};
