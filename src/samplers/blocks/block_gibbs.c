/* SPDX-License-Identifier: MIT */
/* Block Gibbs sampling by the model's structure: the layers of an RBM, the chains of a factorial
 * hidden Markov model, the one chain of a plain one or of a random field (models/structure.h), else
 * classes of variables that are independent given all others (samplers/blocks/colour_classes.h).
 * A step draws one of the pieces: in turn, in a new order in every sweep, or any.
 *
 * Draws are from exact conditionals, and always accepted, with these exceptions: the layers of an
 * RBM and mixtures at inverse temperatures other than 1, the layers of a bridge (bridge.h),
 * and the layers of an RBM with other terms beside it. There the distribution has no such layers or
 * components, so draws are proposals and a Metropolis-Hastings step follows. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/object.h"
#include "models/structure.h"
#include "samplers/blocks/colour_classes.h"
#include "samplers/blocks/site_choice.h"

enum { SCAN };

static const char *const scans[] = { "systematic", "shuffled", "random", NULL };

static const sal_setting known_settings[] = {
    { "scan", SALI_SCAN_SYSTEMATIC, 0, SALI_SCAN_RANDOM, true,
      "which piece a step draws: t mod their number, each once a sweep in a new order, or any",
      scans },
    { 0 },
};

static const char *const variants[] = { "", "scan=shuffled", "scan=random", NULL };

typedef struct block_gibbs {
    const sali_structure *structure; /* NULL: pieces are classes */
    void *ws;
    sali_site_choice choice; /* how a step chooses its piece */
    int64_t *piece;          /* [n] */
    sali_stream *streams;    /* [n] */
    double *here, *there;    /* [n] scratch: log-densities that the draws leave invariant, at the
                                present and the drawn state */
    sali_class_draws *draws;
} block_gibbs;

/* ---- shared state: the classes */

static const char *block_gibbs_obstacle(const sal_model *model, const double *values,
                                        const void *data)
{
    sali_blocks classes = { 0 };
    const char *why = NULL;
    (void)values;
    (void)data;
    if (!model->structure) {
        sali_colour_classes(model, &classes, &why, NULL); /* if there is no memory, `share` will
                                                             report it */
        sali_blocks_free(&classes);
    }
    return why;
}

/* The colour classes of a model without structure, empty classes otherwise. SAL_ERR_UNSUPPORTED,
 * with the reason, if there are no useful classes. */
static sal_status block_gibbs_share(const sal_model *model, const sali_sampler_settings *settings,
                                    void **shared, sal_error *err)
{
    const char *why = NULL;
    (void)settings;
    sali_blocks *classes = SALI_OBJECT(sali_blocks);
    sal_status status =
        classes ? sali_object_own(classes, classes, sali_blocks_free, err) : sali_fail_memory(err);
    if (status == SAL_OK && !model->structure) {
        status = sali_colour_classes(model, classes, &why, err);
    }
    if (status == SAL_OK && why) {
        status = sali_fail(err, SAL_ERR_UNSUPPORTED, "%s", why);
    }
    return sali_object_finish(classes, status, shared, err);
}

/* ---- a shard */

/* Allocate the arrays of g; the object records a failed allocation. */
static void allocate_arrays(block_gibbs *g, const sali_chains *chains)
{
    if (g->choice.scan == SALI_SCAN_SHUFFLED) {
        g->choice.shuffle = sali_shuffle_open(g, chains, g->choice.n);
    }
    g->piece = SALI_OBJECT_ARRAY(g, int64_t, chains->n);
    g->streams = SALI_OBJECT_ARRAY(g, sali_stream, chains->n);
    g->here = SALI_OBJECT_ARRAY(g, double, chains->n);
    g->there = SALI_OBJECT_ARRAY(g, double, chains->n);
}

/* Open the workspace that draws pieces: the structure's, or one for classes; it belongs to `g`. */
static sal_status open_pieces(block_gibbs *g, const sali_chains *chains, const sali_blocks *classes,
                              sal_error *err)
{
    if (g->structure) {
        sal_status status = g->structure->open(chains->model, chains->n, &g->ws, err);
        return status ? status : sali_object_own(g, g->ws, g->structure->close, err);
    }
    sal_status status = sali_class_draws_create(chains, classes, &g->draws, err);
    return status ? status : sali_object_own(g, g->draws, sali_object_free, err);
}

/* Creates a shard's state; `shared` are the classes, used if the model has no structure. */
static sal_status block_gibbs_create(const sali_chains *chains,
                                     const sali_sampler_settings *settings, void *shared,
                                     void **self, sal_error *err)
{
    block_gibbs *g = SALI_OBJECT(block_gibbs);
    if (!g) {
        return sali_fail_memory(err);
    }
    g->structure = chains->model->structure;
    g->choice.scan = (int)settings->values[SCAN];
    g->choice.n =
        g->structure ? g->structure->pieces(chains->model) : ((const sali_blocks *)shared)->n;
    allocate_arrays(g, chains);
    return sali_object_finish(g, open_pieces(g, chains, shared, err), self, err);
}

/* A random scan is the same kernel at every step. */
static int64_t block_gibbs_pieces(const void *self, const sali_chains *chains)
{
    const block_gibbs *g = self;
    (void)chains;
    return g->choice.scan == SALI_SCAN_RANDOM ? 1 : g->choice.n;
}

/* Set g->piece [n] for the next step. */
static void choose_pieces(block_gibbs *g, const sali_chains *chains)
{
    for (int64_t c = 0; c < chains->n; c++) {
        uint32_t words[4] = { 0 };
        if (g->choice.scan == SALI_SCAN_RANDOM) {
            sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_VISITS);
            sali_rng_words(&stream, 0, 4, words);
        }
        g->piece[c] = sali_choose_site(&g->choice, c, chains->step[c], words[2], words[3]);
    }
}

/* ---- a step by structure */

/* The request to draw the chosen pieces from the states `codes`; sets the streams of this step. */
static sali_piece chosen_pieces(block_gibbs *g, const sali_chains *chains, const int32_t *codes)
{
    for (int64_t c = 0; c < chains->n; c++) {
        g->streams[c] = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
    }
    return (sali_piece){ .n = chains->n, .piece = g->piece, .beta = chains->beta, .codes = codes };
}

/* Whether, in every chain, draws leave exp(beta f) invariant without acceptance. */
static bool are_exact(const block_gibbs *g, const sali_chains *chains)
{
    const bool at_one = g->structure->unweighed && g->structure->unweighed(g->ws);
    bool exact = true;
    for (int64_t c = 0; c < chains->n; c++) {
        exact &= sali_structure_is_exact(g->structure, chains->beta[c]) ||
                 (at_one && chains->beta[c] == 1);
    }
    return exact;
}

/* As the engine's record says; f is not evaluated if exact draws follow at once. */
static void block_gibbs_refresh(void *self, sali_chains *chains)
{
    block_gibbs *g = self;
    sali_shuffle_refresh(g->choice.shuffle, chains);
    if (!g->structure) {
        sali_class_draws_refresh(g->draws, chains);
    } else if (!chains->steps_follow || !are_exact(g, chains)) {
        sali_chains_start(chains, false);
    }
}

static void draw_pieces(block_gibbs *g, const sali_chains *chains)
{
    choose_pieces(g, chains);
    sali_piece at = chosen_pieces(g, chains, chains->codes);
    g->structure->draw(g->ws, &at, g->streams, chains->codes_new);
}

/* The draws are reversible with respect to exp(here); chains target exp(beta f). */
static void weigh_draws(block_gibbs *g, sali_chains *chains)
{
    sali_piece from = chosen_pieces(g, chains, chains->codes);
    sali_piece to = chosen_pieces(g, chains, chains->codes_new);
    g->structure->log_density(g->ws, &from, g->here);
    g->structure->log_density(g->ws, &to, g->there);
    for (int64_t c = 0; c < chains->n; c++) {
        chains->log_ratio[c] = sali_structure_is_exact(g->structure, chains->beta[c])
                                   ? INFINITY
                                   : sali_chains_log_ratio(chains, c, g->there[c], g->here[c]);
    }
}

/* A step whose draws are proposals: accept by Metropolis and Hastings. */
static void step_weighed(block_gibbs *g, sali_chains *chains)
{
    draw_pieces(g, chains);
    sali_model_embed(chains->model, chains->n, chains->codes_new, chains->x_new);
    sali_chains_propose(chains, false);
    weigh_draws(g, chains);
    sali_chains_decide(chains);
    sali_chains_tick(chains);
}

/* Exact draws do not use f, which is computed after the last step only. During the steps, f and x
 * of the chains, present and proposed, are those of earlier states. */
static void steps_exact(block_gibbs *g, sali_chains *chains, int64_t n)
{
    for (int64_t c = 0; c < chains->n; c++) { /* a ratio of 1: a step is rejected with
                                                 probability `stay` */
        chains->log_ratio[c] =
            sali_structure_is_exact(g->structure, chains->beta[c]) ? INFINITY : 0;
    }
    for (int64_t k = 0; k < n; k++) {
        draw_pieces(g, chains);
        sali_chains_decide(chains);
        sali_chains_tick(chains);
    }
    if (n > 0) {
        sali_chains_embed(chains);
        sali_chains_start(chains, false);
    }
}

/* n steps: exact draws in one go, else draws as proposals, or draws of classes. */
static void block_gibbs_steps(void *self, sali_chains *chains, int64_t n)
{
    block_gibbs *g = self;
    if (g->structure && are_exact(g, chains)) {
        steps_exact(g, chains, n);
        return;
    }
    for (int64_t k = 0; k < n; k++) {
        if (g->structure) {
            step_weighed(g, chains);
        } else {
            choose_pieces(g, chains);
            sali_class_draws_step(g->draws, chains, g->piece);
        }
    }
}

static void block_gibbs_step(void *self, sali_chains *chains)
{
    block_gibbs_steps(self, chains, 1);
}

/* ---- units drawn on the way, as auxiliary variables */

static int64_t hidden_size(const void *self, const sali_chains *chains)
{
    const block_gibbs *g = self;
    return g->structure && g->structure->hidden ? g->structure->hidden(chains->model) : 0;
}

static int32_t hidden_bound(const void *self, const sali_chains *chains, int64_t k)
{
    const block_gibbs *g = self;
    (void)chains;
    (void)k;
    return g->structure && g->structure->hidden_values > 0 ? g->structure->hidden_values : 2;
}

/* log q(u, to | present state) [n] of drawing the pieces g->piece. */
static void chosen_log_q(block_gibbs *g, const sali_chains *chains, const void *u,
                         const int32_t *to, double *log_q)
{
    if (g->structure) {
        sali_piece at = chosen_pieces(g, chains, chains->codes);
        g->structure->log_q(g->ws, &at, to, u, log_q);
    } else {
        sali_class_draws_log_q(g->draws, chains, g->piece, to, log_q);
    }
}

/* log q summed over the pieces that may be drawn. (Structures whose tempered draws are not exact
 * have one piece only: the acceptance is that of a piece.) */
static void random_log_q(block_gibbs *g, const sali_chains *chains, const void *u,
                         const int32_t *to, double *log_q)
{
    memset(log_q, 0, (size_t)chains->n * sizeof *log_q);
    for (int64_t k = 0; k < g->choice.n; k++) {
        for (int64_t c = 0; c < chains->n; c++) {
            g->piece[c] = k;
        }
        chosen_log_q(g, chains, u, to, g->here);
        for (int64_t c = 0; c < chains->n; c++) {
            log_q[c] += exp(g->here[c]) / (double)g->choice.n;
        }
    }
    for (int64_t c = 0; c < chains->n; c++) {
        log_q[c] = log(log_q[c]);
    }
}

/* log q(u, to | present state) [n]; for a random scan summed over pieces. */
static void hidden_log_q(void *self, sali_chains *chains, const void *u, const int32_t *to,
                         double *log_q)
{
    block_gibbs *g = self;
    if (g->choice.scan == SALI_SCAN_RANDOM) {
        random_log_q(g, chains, u, to, log_q);
    } else {
        choose_pieces(g, chains);
        chosen_log_q(g, chains, u, to, log_q);
    }
}

static const sali_auxiliary hidden = {
    .size = hidden_size,
    .bound = hidden_bound,
    .log_q = hidden_log_q,
};

const sali_sampler sali_sampler_block_gibbs = {
    .name = "block-gibbs",
    .doc = "block Gibbs: RBM layers, hidden chains, mixtures, or classes of independent variables",
    .source = "Grathwohl et al. 2021, sec. 6; Hinton 2002; Carter & Kohn 1994",
    .settings = known_settings,
    .obstacle = block_gibbs_obstacle,
    .engine =
        &(const sal_sampler_engine){
            .rejection_free = true,
            .variants = variants,
            .share = block_gibbs_share,
            .unshare = sali_object_free,
            .create = block_gibbs_create,
            .destroy = sali_object_free,
            .refresh = block_gibbs_refresh,
            .step = block_gibbs_step,
            .steps = block_gibbs_steps,
            .auxiliary = &hidden,
            .pieces = block_gibbs_pieces,
        },
};
