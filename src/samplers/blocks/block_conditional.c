/* SPDX-License-Identifier: MIT */
#include "samplers/blocks/block_conditional.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/object.h"
#include "models/neighbours.h"
#include "samplers/blocks/shuffle.h"
#include "samplers/conditional.h"
#include "samplers/kernels.h"
#include "samplers/followed_gradient.h"

struct sali_block_conditional {
    const sal_space *space;
    sali_blocks blocks;
    int64_t radius;
    int64_t most_sites, most_states; /* most variables and most states of a block */
    int64_t *states;                 /* [n_blocks] number of states within the radius of a centre */
    sali_shuffle *shuffle;           /* orders of blocks or variables; NULL: blocks in turn */
    bool regrouped, mixed;           /* regrouped: blocks are redrawn every sweep; mixed:
                                        variables differ in their numbers of states */
    sali_followed_gradient followed; /* where f is quadratic */
    sali_tracker *tracker;           /* NULL where changes do not pay */
    sali_neighbours *neighbours;
    /* The block of this step, for each chain: its variables, how many there are, and how many
     * states it has. */
    const int64_t **sites;
    int64_t *n_sites, *n_states;
    int32_t *centre; /* [chains x most_sites] */
    double *f;       /* [chains x most_states] */
    int32_t *offset; /* [most_sites] offsets from the centre of the state being listed */
    int32_t *codes;  /* [most_sites] codes of the state being listed */
    /* For log_q, which is called for many states around one centre. listed: b->f holds f of the
     * states around listed_centre, and log_norm [chains] the log of the sum of their weights. */
    bool listed;
    int32_t *listed_centre;
    double *log_norm;
};

/* ---- the block of a step */

/* The block of chain c's present step: its variables, their number, and the block's number. */
static void find_block(const sali_block_conditional *b, const sali_chains *chains, int64_t c,
                       const int64_t **sites, int64_t *n, int64_t *block)
{
    const uint64_t blocks = (uint64_t)b->blocks.n, step = chains->step[c];
    const int64_t *all = b->blocks.sites;
    *block = (int64_t)(step % blocks);
    if (b->shuffle) {
        const int64_t *order = sali_shuffle_order(b->shuffle, c, step / blocks);
        all = b->regrouped ? order : all;
        *block = b->regrouped ? *block : order[*block];
    }
    *sites = all + b->blocks.begin[*block];
    *n = b->blocks.begin[*block + 1] - b->blocks.begin[*block];
}

/* ---- states within the radius of a centre, listed by their offsets from it */

/* Number of states of the block within the radius of a centre; may be infinite in double. */
static double count_states(const sali_block_conditional *b, int64_t n, const int64_t *sites)
{
    int64_t most = b->radius < n ? b->radius : n;
    double at[64] = { 1 }, total = 0, all = 1; /* at[r]: states at distance r */
    for (int64_t i = 0; i < n; i++) {
        double others = b->space->variables[sites[i]].states - 1;
        all *= others + 1;
        for (int64_t r = most < 63 ? most : 63; r > 0; r--) {
            at[r] += at[r - 1] * others;
        }
    }
    for (int64_t r = 0; r <= most && r < 64; r++) {
        total += at[r];
    }
    return most == n || most >= 64 ? all : total;
}

/* Advance b->offset to the next state with at most `radius` offsets other than 0; *moved is the
 * number of such offsets. False past the last state. The first state is the centre. */
static bool next_state(const sali_block_conditional *b, int64_t n, const int64_t *sites,
                       int64_t *moved)
{
    for (int64_t i = n - 1; i >= 0; i--) {
        int32_t *d = &b->offset[i];
        bool room = *d > 0 || *moved < b->radius;
        if (room && *d + 1 < b->space->variables[sites[i]].states) {
            *moved += *d == 0;
            *d += 1;
            return true;
        }
        *moved -= *d > 0;
        *d = 0;
    }
    return false;
}

/* b->codes = the codes of the state with offsets b->offset from the centre. */
static void state_codes(const sali_block_conditional *b, int64_t n, const int64_t *sites,
                        const int32_t *centre)
{
    for (int64_t i = 0; i < n; i++) {
        b->codes[i] = (centre[i] + b->offset[i]) % b->space->variables[sites[i]].states;
    }
}

/* b->codes = the codes of state k of the list around a centre. */
static void state_at(const sali_block_conditional *b, int64_t n, const int64_t *sites,
                     const int32_t *centre, int64_t k)
{
    int64_t moved = 0;
    memset(b->offset, 0, (size_t)n * sizeof *b->offset);
    while (k-- > 0) {
        next_state(b, n, sites, &moved);
    }
    state_codes(b, n, sites, centre);
}

/* ---- creation */

/* SAL_ERR_ARGUMENT if a block of n variables has more than SALI_BLOCK_STATES `states` to list. */
static sal_status check_size(const sali_block_conditional *b, int64_t n, double states,
                             sal_error *err)
{
    if (states <= SALI_BLOCK_STATES) {
        return SAL_OK;
    }
    return b->radius < n
               ? sali_fail(err, SAL_ERR_ARGUMENT,
                           "a block of %lld variables has %.4g states within radius %lld; at most "
                           "%d can be listed: take a smaller radius or smaller blocks",
                           (long long)n, states, (long long)b->radius, SALI_BLOCK_STATES)
               : sali_fail(err, SAL_ERR_ARGUMENT,
                           "a block of %lld variables has %.4g joint states; at most %d can be "
                           "listed: take smaller blocks, or 'hamming-ball' with a small radius",
                           (long long)n, states, SALI_BLOCK_STATES);
}

/* Count the states of each block (b->states), and the most variables and states of a block; checks
 * that they can be listed. */
static sal_status measure_blocks(sali_block_conditional *b, sal_error *err)
{
    sal_status status = SAL_OK;
    b->states = SALI_OBJECT_ARRAY(b, int64_t, b->blocks.n);
    if (!b->states) {
        return sali_fail_memory(err);
    }
    for (int64_t k = 0; status == SAL_OK && k < b->blocks.n; k++) {
        int64_t first = b->blocks.begin[k], n = b->blocks.begin[k + 1] - first;
        double states = count_states(b, n, b->blocks.sites + first);
        status = check_size(b, n, states, err);
        b->states[k] = status == SAL_OK ? (int64_t)states : 0;
        b->most_sites = n > b->most_sites ? n : b->most_sites;
        b->most_states = b->states[k] > b->most_states ? b->states[k] : b->most_states;
    }
    return status;
}

/* Allocate the arrays, and create the tracker and neighbours by which states are evaluated. */
static sal_status allocate_arrays(sali_block_conditional *b, const sali_chains *chains,
                                  sali_couplings *couplings, sal_error *err)
{
    sali_followed_gradient_open(&b->followed, b, chains, couplings, false, false);
    b->sites = SALI_OBJECT_ARRAY(b, const int64_t *, chains->n);
    b->n_sites = SALI_OBJECT_ARRAY(b, int64_t, chains->n);
    b->n_states = SALI_OBJECT_ARRAY(b, int64_t, chains->n);
    b->centre = SALI_OBJECT_ARRAY(b, int32_t, chains->n * b->most_sites);
    b->f = SALI_OBJECT_ARRAY(b, double, chains->n * b->most_states);
    b->offset = SALI_OBJECT_ARRAY(b, int32_t, b->most_sites);
    b->codes = SALI_OBJECT_ARRAY(b, int32_t, b->most_sites);
    b->listed_centre = SALI_OBJECT_ARRAY(b, int32_t, b->most_sites);
    b->log_norm = SALI_OBJECT_ARRAY(b, double, chains->n);
    if (b->blocks.sweep != SALI_SWEEP_IN_TURN) {
        b->shuffle =
            sali_shuffle_open(b, chains, b->regrouped ? b->space->n_variables : b->blocks.n);
    }
    if (sali_object_failed(b)) {
        return sali_fail_memory(err);
    }
    sal_status status = chains->model->trackable
                            ? sali_tracker_create_values(chains->model, chains->n, &b->tracker, err)
                            : SAL_OK;
    status = status ? status : sali_object_own(b, b->tracker, sali_tracker_destroy, err);
    status = status ? status
                    : sali_neighbours_create(chains->model, chains->n, SALI_WANT_VALUE, b->tracker,
                                             &b->neighbours, err);
    return status ? status : sali_object_own(b, b->neighbours, sali_neighbours_destroy, err);
}

sal_status sali_block_conditional_create(const sali_chains *chains, sali_blocks blocks,
                                         int64_t radius, sali_couplings *couplings,
                                         sali_block_conditional **out, sal_error *err)
{
    sali_block_conditional *b = SALI_OBJECT(sali_block_conditional);
    if (!b) {
        sali_blocks_free(&blocks);
        return sali_fail_memory(err);
    }
    b->space = chains->space;
    b->blocks = blocks;
    sal_status status = sali_object_own(b, &b->blocks, sali_blocks_free, err);
    b->radius = radius;
    b->regrouped = blocks.sweep == SALI_SWEEP_REGROUPED;
    for (int64_t v = 0; v < b->space->n_variables; v++) {
        b->mixed |= b->space->variables[v].states != b->space->max_states;
    }
    status = status ? status : measure_blocks(b, err);
    status = status ? status : allocate_arrays(b, chains, couplings, err);
    if (status != SAL_OK) {
        sali_object_free(b);
        return status;
    }
    *out = b;
    return SAL_OK;
}

void sali_block_conditional_refresh(void *self, sali_chains *chains)
{
    sali_block_conditional *b = self;
    b->listed = false;
    sali_shuffle_refresh(b->shuffle, chains);
    sali_followed_gradient_start(&b->followed, chains);
    if (b->tracker && !sali_followed_gradient_active(&b->followed)) {
        sali_tracker_start(b->tracker, chains->n, chains->codes, chains->f);
    }
}

bool sali_block_conditional_follows(const void *self)
{
    const sali_block_conditional *b = self;
    return b->tracker || sali_followed_gradient_active(&b->followed);
}

int64_t sali_block_conditional_pieces(const void *self, const sali_chains *chains)
{
    (void)chains;
    return ((const sali_block_conditional *)self)->blocks.n;
}

const int64_t *sali_block_conditional_sites(const sali_block_conditional *b,
                                            const sali_chains *chains, int64_t *n)
{
    int64_t block;
    const int64_t *sites;
    find_block(b, chains, 0, &sites, n, &block);
    return sites;
}

/* ---- f of the states around the centres */

/* List the states of chain c: f is stored at once where it follows from gradients, else at the end
 * of the batch. */
static void list_states(sali_block_conditional *b, const sali_chains *chains, int64_t c)
{
    const bool followed = sali_followed_gradient_active(&b->followed);
    const int64_t n = b->n_sites[c], *sites = b->sites[c];
    int64_t moved = 0, k = c * b->most_states;
    memset(b->offset, 0, (size_t)n * sizeof *b->offset);
    do {
        state_codes(b, n, sites, b->centre + c * b->most_sites);
        if (followed) {
            b->f[k] = chains->f[c] +
                      sali_followed_gradient_rise(&b->followed, chains, c, n, sites, b->codes);
        } else {
            sali_neighbours_add_several(b->neighbours, c, n, sites, b->codes, k);
        }
        k++;
    } while (next_state(b, n, sites, &moved));
}

/* Fill b->f with f of all listed states of every chain. */
static void evaluate_listed(sali_block_conditional *b, const sali_chains *chains)
{
    sali_neighbours_begin(b->neighbours, chains->codes, chains->x, NULL, SAL_F64, b->f);
    for (int64_t c = 0; c < chains->n; c++) {
        list_states(b, chains, c);
    }
    sali_neighbours_end(b->neighbours);
}

/* ---- a step */

/* Set the block and the centre of chain c's step. The centre is the present state if the radius
 * covers the block, where the choice does not matter, else drawn from the ball around it. */
static void choose_centre(sali_block_conditional *b, const sali_chains *chains, int64_t c)
{
    int64_t n, block;
    const int64_t *sites;
    const int32_t *codes = chains->codes + c * b->space->n_variables;
    int32_t *centre = b->centre + c * b->most_sites;
    find_block(b, chains, c, &sites, &n, &block);
    b->sites[c] = sites;
    b->n_sites[c] = n;
    b->n_states[c] =
        b->regrouped && b->mixed ? (int64_t)count_states(b, n, sites) : b->states[block];
    for (int64_t i = 0; i < n; i++) {
        centre[i] = codes[sites[i]];
    }
    if (b->radius < n) {
        sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
        state_at(b, n, sites, centre, sali_rng_below(&stream, 1, (uint32_t)b->n_states[c]));
        memcpy(centre, b->codes, (size_t)n * sizeof *centre);
    }
}

/* Report a listed state of chain c where f is not a number below +inf. */
static void note_bad(const sali_block_conditional *b, sali_chains *chains, int64_t c)
{
    const int64_t n = b->n_sites[c], *sites = b->sites[c];
    int64_t bad = 0, V = b->space->n_variables;
    const double *f = b->f + c * b->most_states;
    while (bad < b->n_states[c] && f[bad] < INFINITY) {
        bad++;
    }
    if (bad == b->n_states[c]) { /* all are forbidden, the present state too: it stays */
        return;
    }
    state_at(b, n, sites, b->centre + c * b->most_sites, bad);
    memcpy(chains->codes_new + c * V, chains->codes + c * V, (size_t)V * sizeof *chains->codes_new);
    for (int64_t i = 0; i < n; i++) {
        chains->codes_new[c * V + sites[i]] = b->codes[i];
    }
    sali_chains_note_bad(chains, c, chains->codes_new, f[bad]);
}

/* Draw one of chain c's listed states; -1 if an f is NaN or +inf, or all are -inf. */
static int64_t draw_listed(const sali_block_conditional *b, const sali_chains *chains, int64_t c)
{
    sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
    return sali_conditional_draw(b->n_states[c], b->f + c * b->most_states, chains->beta[c],
                                 sali_rng_uniform_at(&stream, 0));
}

void sali_block_conditional_step(void *self, sali_chains *chains)
{
    sali_block_conditional *b = self;
    if (chains->step[0] % SALI_RENEWAL_STEPS == 0) {
        sali_block_conditional_refresh(b, chains);
    }
    const bool followed = sali_followed_gradient_active(&b->followed);
    for (int64_t c = 0; c < chains->n; c++) {
        sali_followed_gradient_renew(&b->followed, chains, c);
    }
    b->listed = false;
    for (int64_t c = 0; c < chains->n; c++) {
        choose_centre(b, chains, c);
    }
    evaluate_listed(b, chains);
    for (int64_t c = 0; c < chains->n; c++) {
        const int64_t n = b->n_sites[c], *sites = b->sites[c], k = draw_listed(b, chains, c);
        if (k < 0) {
            note_bad(b, chains, c);
            continue;
        }
        state_at(b, n, sites, b->centre + c * b->most_sites, k);
        if (b->tracker && !followed) {
            sali_tracker_try(b->tracker, c, n, sites, b->codes, true);
        }
        double f = b->f[c * b->most_states + k];
        if (followed) {
            sali_followed_gradient_go(&b->followed, chains, c, n, sites, b->codes);
            f = chains->f_new[c];
        }
        sali_chains_move_several(chains, c, n, sites, b->codes, f);
    }
    sali_chains_tick(chains);
}

/* ---- probabilities */

/* Index of the listed state of chain c that has these codes [n]; -1: none. */
static int64_t find_state(const sali_block_conditional *b, int64_t c, const int32_t *codes)
{
    const int64_t n = b->n_sites[c], *sites = b->sites[c];
    int64_t moved = 0, k = 0;
    memset(b->offset, 0, (size_t)n * sizeof *b->offset);
    do {
        state_codes(b, n, sites, b->centre + c * b->most_sites);
        if (memcmp(b->codes, codes, (size_t)n * sizeof *codes) == 0) {
            return k;
        }
        k++;
    } while (next_state(b, n, sites, &moved));
    return -1;
}

/* Whether `to` [V] differs from chain c's state in variables of its block only; `codes` receives
 * the block's codes in `to`. */
static bool restrict_to_block(const sali_block_conditional *b, const sali_chains *chains, int64_t c,
                              const int32_t *to, int32_t *codes)
{
    const int64_t n = b->n_sites[c], *sites = b->sites[c];
    int64_t last;
    const int32_t *from = chains->codes + c * b->space->n_variables;
    int64_t moved = sali_sites_moved(b->space, from, to, &last);
    for (int64_t i = 0; i < n; i++) {
        codes[i] = to[sites[i]];
        moved -= from[sites[i]] != to[sites[i]];
    }
    return moved == 0;
}

/* Log-probability that chain c draws this centre, uniform in the ball around its present state. */
static double centre_log_q(const sali_block_conditional *b, const sali_chains *chains, int64_t c,
                           const int32_t *centre)
{
    int64_t distance = 0;
    for (int64_t i = 0; i < b->n_sites[c]; i++) {
        distance += centre[i] != chains->codes[c * b->space->n_variables + b->sites[c][i]];
    }
    return distance > b->radius ? -INFINITY : -log((double)b->n_states[c]);
}

/* List the states around `centre` (NULL: the present states) and fill b->log_norm, unless the last
 * call did so for the same centre. */
static void list_for_log_q(sali_block_conditional *b, sali_chains *chains, const int32_t *centre)
{
    int64_t n;
    sali_block_conditional_sites(b, chains, &n);
    size_t bytes = (size_t)n * sizeof *centre;
    if (b->listed && (!centre || memcmp(b->listed_centre, centre, bytes) == 0)) {
        return;
    }
    for (int64_t c = 0; c < chains->n; c++) {
        choose_centre(b, chains, c);
        if (centre) {
            memcpy(b->centre + c * b->most_sites, centre, bytes);
            memcpy(b->listed_centre, centre, bytes);
        }
    }
    evaluate_listed(b, chains);
    for (int64_t c = 0; c < chains->n; c++) {
        double largest, sum = sali_conditional_norm(b->n_states[c], b->f + c * b->most_states,
                                                    chains->beta[c], &largest);
        b->log_norm[c] = chains->beta[c] * largest + log(sum);
    }
    b->listed = true;
}

void sali_block_conditional_log_q(void *self, sali_chains *chains, const void *u, const int32_t *to,
                                  double *log_q)
{
    sali_block_conditional *b = self;
    const int32_t *centre = u;
    int64_t V = b->space->n_variables;
    list_for_log_q(b, chains, centre);
    for (int64_t c = 0; c < chains->n; c++) {
        int32_t *codes = chains->codes_new + c * V; /* scratch */
        double log_centre = centre ? centre_log_q(b, chains, c, centre) : 0;
        bool inside = log_centre > -INFINITY && restrict_to_block(b, chains, c, to + c * V, codes);
        int64_t k = inside ? find_state(b, c, codes) : -1;
        log_q[c] =
            k < 0 ? -INFINITY
                  : log_centre + chains->beta[c] * b->f[c * b->most_states + k] - b->log_norm[c];
    }
}
