/* SPDX-License-Identifier: MIT */
/* Path auxiliary sampler: a path of single-site moves, each drawn from the locally balanced
 * proposal at the state reached, by exact differences; the ends are compared with the probability
 * of the reversed path. Sun et al. 2022. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/object.h"
#include "samplers/local/path_length.h"
#include "samplers/local/single_site_sampler.h"

static const char *const variants[] = {
    "length=2",
    "length=1,balance=barker,radius=1",
    NULL,
};

typedef struct pas {
    sali_single_site core;
    const sali_path_length *path;
    int64_t *length; /* [n] moves of this step's path */
    int64_t *site;   /* [n] variable of the present move, and the code it had */
    int32_t *old_code;
    double *back; /* [n] log q of the reversed path so far */
} pas;

/* ---- the step */

/* The row of chain c at the state after `made` moves. */
static sali_move_row *row_after(const pas *p, int64_t c, int64_t made)
{
    return made == 0 ? sali_move_now(&p->core.rows, c) : sali_move_next(&p->core.rows, c);
}

/* Draw move number `made` of chain c. The path ends if nothing can move, which happens at its start
 * only: from any other state the reverse move is possible. */
static void draw_move(pas *p, sali_chains *chains, int64_t c, int64_t made)
{
    const sal_space *space = chains->space;
    const sali_move_row *row = row_after(p, c, made);
    const int32_t *codes = chains->codes_new + c * space->n_variables;
    sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
    double u = sali_rng_uniform_at(&stream, (uint32_t)made + 1);
    int64_t slot = isnan(row->log_norm) || row->log_norm == -INFINITY
                       ? -1
                       : p->core.kernels->pick(p->core.moves, row, u);
    if (isnan(row->log_norm)) {
        sali_chains_note_bad(chains, c, chains->codes_new, NAN);
    }
    if (slot < 0) {
        p->length[c] = made;
        return;
    }
    int32_t code;
    sali_slot_move(space, codes, slot, &p->site[c], &code);
    p->old_code[c] = codes[p->site[c]];
    p->core.log_q[c] += sali_move_log_q(chains->model->dtype, row, slot);
    sali_single_site_put(chains, c, p->site[c], code);
}

/* Prepare the row at the state that chain c has reached, and add log q of the reverse move. */
static void look_back(pas *p, sali_chains *chains, int64_t c)
{
    const sal_space *space = chains->space;
    sali_move_row *row = sali_move_next(&p->core.rows, c);
    int64_t slot = sali_move_slot(
        space, p->site[c], chains->codes_new[c * space->n_variables + p->site[c]], p->old_code[c]);
    sali_single_site_prepare(&p->core, chains, c, chains->codes_new + c * space->n_variables, row);
    p->back[c] += sali_move_log_q(chains->model->dtype, row, slot);
}

/* Begin a step of chain c: the proposed state is the present one, and the path's length is drawn.
 */
static void begin_step(pas *p, sali_chains *chains, int64_t c)
{
    sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
    sali_single_site_stay(chains, c);
    if (sali_followed_gradient_active(&p->core.followed)) {
        sali_followed_gradient_stay(&p->core.followed, chains, c);
    }
    p->length[c] =
        sali_path_length_draw(p->path, SALI_PATH_REVISITS, sali_rng_uniform_at(&stream, 0));
    p->core.log_q[c] = p->back[c] = 0;
}

/* Evaluate the states after move number `made`. */
static void evaluate_states(pas *p, sali_chains *chains, int64_t made)
{
    if (!sali_followed_gradient_active(&p->core.followed)) {
        sali_single_site_evaluate(&p->core, chains);
        return;
    }
    for (int64_t c = 0; c < chains->n; c++) {
        if (made < p->length[c]) {
            sali_followed_gradient_move(&p->core.followed, chains, c, p->site[c], p->old_code[c]);
        }
    }
}

/* One step of every chain by rows of weights: moves are made one after another, for all chains at a
 * time. */
static void step_chains(pas *p, sali_chains *chains)
{
    sali_single_site_renew(&p->core, chains);
    for (int64_t c = 0; c < chains->n; c++) {
        begin_step(p, chains, c);
    }
    for (int64_t made = 0; made < (int64_t)p->path->length; made++) {
        for (int64_t c = 0; c < chains->n; c++) {
            if (made < p->length[c]) {
                draw_move(p, chains, c, made);
            }
        }
        evaluate_states(p, chains, made);
        for (int64_t c = 0; c < chains->n; c++) {
            if (made < p->length[c]) {
                look_back(p, chains, c);
            }
        }
    }
    for (int64_t c = 0; c < chains->n; c++) {
        if (p->length[c] == 0) { /* no move: the row is that of the present state */
            sali_single_site_prepare(&p->core, chains, c,
                                     chains->codes + c * chains->space->n_variables,
                                     sali_move_next(&p->core.rows, c));
        }
        chains->log_ratio[c] = sali_chains_log_ratio(chains, c, p->core.log_q[c], p->back[c]);
    }
    sali_single_site_decide(&p->core, chains);
}

/* n steps, by pairwise moves where these serve the model. */
static void pas_steps(void *self, sali_chains *chains, int64_t n)
{
    pas *p = self;
    if (p->core.fast) {
        sali_pairwise_moves_paths(p->core.pairwise, chains, p->path, n);
        return;
    }
    for (int64_t k = 0; k < n; k++) {
        step_chains(p, chains);
    }
}

static void pas_step(void *self, sali_chains *chains)
{
    pas_steps(self, chains, 1);
}

/* ---- auxiliary variables: by how much the path is shorter than L, and its moves but the last,
 * numbered over the states of all variables (0 past the end), so that all must have a last one.
 * None with L = 1. */

static int64_t pas_size(const void *self, const sali_chains *chains)
{
    const pas *p = self;
    (void)chains;
    return p->path->length > 1 ? (int64_t)p->path->length : 0;
}

static int32_t pas_bound(const void *self, const sali_chains *chains, int64_t k)
{
    const pas *p = self;
    return k == 0 ? (int32_t)p->path->length : (int32_t)chains->space->n_states;
}

/* Variable and code of a move's number over the states of all variables; number_of: the number of a
 * variable and code. */
static void move_of(const sal_space *space, int32_t number, int64_t *variable, int32_t *code)
{
    int64_t v = 0;
    while (number >= space->variables[v].states) {
        number -= space->variables[v++].states;
    }
    *variable = v;
    *code = number;
}

static int32_t number_of(const sal_space *space, int64_t variable, int32_t code)
{
    int32_t number = code;
    for (int64_t v = 0; v < variable; v++) {
        number += space->variables[v].states;
    }
    return number;
}

/* The variable where two states differ; -1 unless it is exactly one. */
static int64_t only_difference(const sal_space *space, const int32_t *from, const int32_t *to)
{
    int64_t site = -1;
    return sali_sites_moved(space, from, to, &site) == 1 ? site : -1;
}

/* Add to *log_q the log-probability of moving variable `site` of chain c to `code` after `made`
 * moves, and make this move; -inf if it is impossible. */
static void follow_move(pas *p, const sali_chains *chains, int64_t c, int64_t made, int64_t site,
                        int32_t code, double *log_q)
{
    int32_t now = chains->codes_new[c * chains->space->n_variables + site];
    if (*log_q == -INFINITY || code == now) {
        *log_q = -INFINITY;
        return;
    }
    *log_q += sali_move_log_q(chains->model->dtype, row_after(p, c, made),
                              sali_move_slot(chains->space, site, now, code));
    if (*log_q > -INFINITY) {
        sali_single_site_put(chains, c, site, code);
    }
}

/* Make the first `most` moves of u in all chains, add their log-probabilities to log_q [n], and
 * prepare the rows after each. */
static void follow_all(pas *p, sali_chains *chains, const int32_t *u, int64_t most, double *log_q)
{
    for (int64_t made = 0; made < most; made++) {
        int64_t site;
        int32_t code;
        move_of(chains->space, u[1 + made], &site, &code);
        for (int64_t c = 0; c < chains->n; c++) {
            follow_move(p, chains, c, made, site, code, &log_q[c]);
        }
        sali_single_site_evaluate(&p->core, chains);
        for (int64_t c = 0; c < chains->n; c++) {
            sali_single_site_prepare(&p->core, chains, c,
                                     chains->codes_new + c * chains->space->n_variables,
                                     sali_move_next(&p->core.rows, c));
        }
    }
}

/* Whether moves first .. length - 1 of u [length] have number 0, as all moves past the end must
 * have, and (from 1 on) all moves where nothing can move. */
static bool no_moves(const int32_t *u, int64_t first, int64_t length)
{
    bool zero = true;
    for (int64_t k = first; k < length; k++) {
        zero &= u[k] == 0;
    }
    return zero;
}

/* log q(u, to | present state): the moves of u, then the one move that leads from there to `to`. */
static void pas_auxiliary(void *self, sali_chains *chains, const void *u, const int32_t *to,
                          double *log_q)
{
    pas *p = self;
    const int32_t *path = u;
    int64_t V = chains->space->n_variables, length = (int64_t)p->path->length;
    int64_t moves = length - path[0];
    const double log_length = sali_path_length_log_q(p->path, SALI_PATH_REVISITS, moves);
    const bool fits = no_moves(path, moves, length);
    sali_single_site_look(&p->core, chains);
    for (int64_t c = 0; c < chains->n; c++) {
        sali_single_site_stay(chains, c);
        log_q[c] = fits ? log_length : -INFINITY;
    }
    follow_all(p, chains, path, fits ? moves - 1 : 0, log_q);
    for (int64_t c = 0; c < chains->n; c++) {
        const int32_t *from = chains->codes + c * V, *target = to + c * V;
        int64_t site = only_difference(chains->space, chains->codes_new + c * V, target);
        if (sali_move_now(&p->core.rows, c)->log_norm == -INFINITY) { /* nothing can move */
            bool stays = memcmp(from, target, (size_t)V * sizeof *from) == 0;
            log_q[c] = no_moves(path, 1, length) && stays ? log_length : -INFINITY;
        } else if (site < 0) {
            log_q[c] = -INFINITY;
        } else {
            follow_move(p, chains, c, moves - 1, site, target[site], &log_q[c]);
        }
    }
}

/* The moves of the reversed path: each sets the code that a move of the path replaced. */
static void pas_back(const void *self, const sali_chains *chains, const int32_t *from,
                     const int32_t *to, const int32_t *u, int32_t *back)
{
    const pas *p = self;
    const sal_space *space = chains->space;
    int64_t length = (int64_t)p->path->length, moves = length - u[0], V = space->n_variables;
    int32_t *codes = chains->codes_new; /* scratch */
    memcpy(codes, from, (size_t)V * sizeof *codes);
    memset(back, 0, (size_t)length * sizeof *back);
    back[0] = u[0];
    if (no_moves(u, 1, length) && memcmp(from, to, (size_t)V * sizeof *from) == 0) {
        return; /* nothing can move, or variable 0 moves to code 0 and back */
    }
    for (int64_t k = 1; k <= moves; k++) {
        int64_t site;
        int32_t code;
        if (k < moves) {
            move_of(space, u[k], &site, &code);
        } else {
            site = only_difference(space, codes, to);
            code = to[site];
        }
        if (k > 1) { /* the reverse of the first move is the last one, which `from` determines */
            back[moves - k + 1] = number_of(space, site, codes[site]);
        }
        codes[site] = code;
    }
}

static const sali_auxiliary auxiliary = {
    .size = pas_size,
    .bound = pas_bound,
    .log_q = pas_auxiliary,
    .back = pas_back,
};

/* ---- the descriptor */

/* Creates a shard's state, with pairwise paths where the model allows them. */
static sal_status pas_create(const sali_chains *chains, const sali_sampler_settings *settings,
                             void *shared, void **self, sal_error *err)
{
    sali_single_site_options options = sali_single_site_settings(chains, settings);
    const sali_path_shared *s = shared;
    options.couplings = s->common.couplings;
    options.pairs = options.paths = true;
    pas *p = SALI_OBJECT(pas);
    if (p) {
        p->path = &s->path;
        p->length = SALI_OBJECT_ARRAY(p, int64_t, chains->n);
        p->site = SALI_OBJECT_ARRAY(p, int64_t, chains->n);
        p->old_code = SALI_OBJECT_ARRAY(p, int32_t, chains->n);
        p->back = SALI_OBJECT_ARRAY(p, double, chains->n);
    }
    void *made = NULL;
    sal_status status = sali_single_site_open((sali_single_site *)p, chains, &options, &made, err);
    if (status == SAL_OK && p->core.pairwise) {
        sali_pairwise_moves_take_paths(p, p->core.pairwise);
    }
    return sali_object_finish(made, status, self, err);
}

const sali_sampler sali_sampler_pas = {
    .name = "pas",
    .doc = "path auxiliary: L single-site moves by exact differences, accepted as one",
    .source = "Sun, Dai, Xia & Ramamurthy 2022",
    .needs_differences = true,
    .kinds = SAL_MOVES_FINITE | SAL_MOVES_UNBOUNDED,
    .settings = sali_path_settings,
    .engine =
        &(const sal_sampler_engine){
            .local = true,
            .window = true,
            .variants = variants,
            .share = sali_path_share,
            SALI_SHARED_FUNCTIONS,
            .create = pas_create,
            .destroy = sali_object_free,
            .refresh = sali_single_site_refresh,
            .follows = sali_single_site_follows,
            .step = pas_step,
            .steps = pas_steps,
            .log_q = sali_single_site_log_q,
            .auxiliary = &auxiliary,
        },
};
