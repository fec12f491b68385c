/* SPDX-License-Identifier: MIT */
/* Metropolis-Hastings with a uniform proposal. Ordinal variables and counts of more than two levels
 * all move by at most r levels, uniformly over the window cut at its borders; of the other
 * variables at most r change, uniformly over this Hamming ball. Rhodes & Gutmann 2022, app. G. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/object.h"
#include "samplers/sampler.h"
#include "samplers/radius_search.h"
#include "samplers/local/uniform_ball.h"

/* Acceptance that adaptation aims at, for random-walk proposals: Roberts, Gelman & Gilks 1997. */
#define TARGET_ACCEPTANCE 0.234

/* Sizes of windows of counts without a cap whose logarithms are tabulated. */
#define COUNT_SIZES 256

enum { RADIUS };

static const char *const words[] = { "search", "adapt", NULL }; /* -1 and 0 */

static const sal_setting known_settings[] = {
    { "radius", 0, SALI_RADIUS_SEARCHED, INT32_MAX, true,
      "levels of a window, sites of a ball; adapt: to acceptance 0.234; search: for the largest "
      "mean jump",
      words },
    { 0 },
};

static const char *const variants[] = { "",         "radius=1",      "radius=2",
                                        "radius=3", "radius=search", NULL };

/* ---- the radius */

typedef struct uniform_shared {
    const sal_space *space;
    bool tune;
    int64_t windows; /* windows of warm-up so far */
    double log_radius, most;
    double radius; /* a whole number */
    sali_radius_search search;
    sali_uniform_ball ball;
} uniform_shared;

static int64_t last_level(const sali_stretch *s)
{
    return s->states > 0 ? s->states - 1 : SAL_COUNT_MOST;
}

/* The least radius with which one step can reach all states. */
static double most_radius(const sal_space *space)
{
    int64_t variables = 0, levels = 0;
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        variables += sali_unordered(s) && s->states > 1 ? s->count : 0;
        levels = !sali_unordered(s) && last_level(s) > levels ? last_level(s) : levels;
    }
    return (double)(variables > levels ? variables : levels);
}

/* Creates a uniform_shared with the ball of the first radius. */
static sal_status uniform_share(const sal_model *model, const sali_sampler_settings *settings,
                                void **shared, sal_error *err)
{
    uniform_shared *s = SALI_OBJECT(uniform_shared);
    if (!s) {
        return sali_fail_memory(err);
    }
    s->space = model->space;
    s->tune = settings->values[RADIUS] == 0;
    s->radius = fmax(1, settings->values[RADIUS]);
    s->most = most_radius(model->space);
    sali_radius_search_begin(&s->search, settings->values[RADIUS] == SALI_RADIUS_SEARCHED,
                             fmax(1, s->most));
    sal_status status = sali_uniform_ball_create(s->space, (int64_t)s->radius, &s->ball, err);
    status = status ? status : sali_object_own(s, &s->ball, sali_uniform_ball_free, err);
    return sali_object_finish(s, status, shared, err);
}

/* Use another radius: replaces the ball. */
static sal_status take_radius(uniform_shared *s, double radius, sal_error *err)
{
    sali_uniform_ball ball;
    sal_status status = sali_uniform_ball_create(s->space, (int64_t)radius, &ball, err);
    if (status == SAL_OK) {
        sali_uniform_ball_free(&s->ball);
        s->ball = ball;
        s->radius = radius;
    }
    return status;
}

/* Robbins-Monro on log r. */
static sal_status uniform_adapt(void *shared, const sali_warmup *warmup, bool *changed,
                                sal_error *err)
{
    uniform_shared *s = shared;
    (void)changed; /* nothing cached depends on r */
    if (s->search.on) {
        return sali_radius_search_adapt(&s->search, warmup) ? take_radius(s, s->search.radius, err)
                                                            : SAL_OK;
    }
    if (!s->tune) {
        return SAL_OK;
    }
    double gain = 4 / pow((double)++s->windows, 0.6);
    s->log_radius += gain * (sali_warmup_acceptance(warmup) - TARGET_ACCEPTANCE);
    s->log_radius = fmax(0, fmin(s->log_radius, log(fmax(1, s->most))));
    double radius = round(exp(s->log_radius));
    return radius == s->radius ? SAL_OK : take_radius(s, radius, err);
}

/* The search's items; without a search the radius, for a tuning, and the numbers of its adaptation.
 * Nothing for a shard. */
static int64_t uniform_state(void *shared, void *self, sali_state_item *items)
{
    uniform_shared *s = shared;
    (void)self;
    if (!s) {
        return 0;
    }
    if (s->search.on) {
        return sali_radius_adaptive.state(&s->search, items);
    }
    double most = fmax(1, s->most);
    sali_state_item radius = sali_state_f64("radius", 1, &s->radius);
    sali_state_item logarithm = sali_state_f64("log_radius", 1, &s->log_radius);
    radius.whole = true;
    items[0] = sali_state_for(SALI_STATE_TUNED | (s->tune ? SALI_STATE_KEPT : 0),
                              sali_state_within(radius, 1, s->tune ? most : s->radius));
    items[1] = sali_state_within(logarithm, 0, log(most));
    items[2] = sali_state_counts("windows", 1, &s->windows);
    return s->tune ? 3 : 1;
}

static sal_status uniform_changed(void *shared, const sali_warmup *at, sal_error *err)
{
    uniform_shared *s = shared;
    sal_status status = sali_radius_adaptive.changed(&s->search, at, err);
    return status ? status : take_radius(s, s->search.on ? s->search.radius : s->radius, err);
}

/* ---- a shard */

typedef struct uniform {
    const uniform_shared *shared;
    double *u;        /* [V] uniforms */
    double *log_size; /* [sizes] log of whole numbers */
    int64_t sizes;
    bool window; /* some variables have a window */
} uniform;

/* Creates a shard's state, with a table of logarithms of window sizes. */
static sal_status uniform_create(const sali_chains *chains, const sali_sampler_settings *settings,
                                 void *shared, void **self, sal_error *err)
{
    (void)settings;
    const sal_space *space = chains->space;
    uniform *g = SALI_OBJECT(uniform);
    if (!g) {
        return sali_fail_memory(err);
    }
    g->shared = shared;
    g->u = SALI_OBJECT_ARRAY(g, double, space->n_variables);
    g->sizes = (int64_t)space->max_states + 1 + (space->unbounded ? COUNT_SIZES : 0);
    g->log_size = SALI_OBJECT_ARRAY(g, double, g->sizes);
    for (int64_t k = 1; g->log_size && k < g->sizes; k++) {
        g->log_size[k] = log((double)k);
    }
    for (int64_t b = 0; b < space->n_blocks; b++) {
        g->window |= !sali_unordered(&space->stretches[b]);
    }
    return sali_object_give(g, self, err);
}

static void uniform_refresh(void *self, sali_chains *chains)
{
    (void)self;
    sali_chains_start(chains, false);
}

typedef struct span {
    int32_t low, size;
} span;

/* The levels of the window around `code`, cut at the ends of the range. */
static span window_of(const uniform *g, const sali_stretch *s, int32_t code)
{
    int64_t radius = (int64_t)g->shared->radius;
    int64_t low = code - radius > 0 ? code - radius : 0;
    int64_t high = code + radius < last_level(s) ? code + radius : last_level(s);
    return (span){ (int32_t)low, (int32_t)(high - low + 1) };
}

/* log of the number of states in the windows around `codes`. */
static double log_windows(const uniform *g, const sal_space *space, const int32_t *codes)
{
    double sum = 0;
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        for (int64_t i = 0; !sali_unordered(s) && i < s->count; i++) {
            int32_t size = window_of(g, s, codes[s->first + i]).size;
            sum += size < g->sizes ? g->log_size[size] : log(size);
        }
    }
    return sum;
}

/* Draw the variables that have windows into codes_new, by the uniforms g->u [V]. */
static void draw_windows(const uniform *g, const sal_space *space, const int32_t *codes,
                         int32_t *codes_new)
{
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        for (int64_t i = s->first; !sali_unordered(s) && i < s->first + s->count; i++) {
            span w = window_of(g, s, codes[i]);
            codes_new[i] = w.low + (int32_t)(g->u[i] * w.size);
        }
    }
}

/* Elements 0 .. V - 1 of the stream are for windows, later ones for the ball. */
static void draw_proposal(const uniform *g, sali_chains *chains, int64_t c)
{
    const sal_space *space = chains->space;
    int64_t V = space->n_variables;
    int32_t *codes = chains->codes + c * V, *codes_new = chains->codes_new + c * V;
    sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
    memcpy(codes_new, codes, (size_t)V * sizeof *codes);
    if (g->window) {
        sali_rng_uniform_f64(&stream, V, g->u);
        draw_windows(g, space, codes, codes_new);
    }
    sali_uniform_ball_draw(&g->shared->ball, space, &stream, (uint32_t)V, codes, codes_new);
    sali_model_embed(chains->model, 1, codes_new, sali_row(chains, chains->x_new, c, space->width));
}

/* Propose for all chains; the ratio of proposals is the ratio of window sizes, as balls have equal
 * sizes. */
static void uniform_step(void *self, sali_chains *chains)
{
    const uniform *g = self;
    const sal_space *space = chains->space;
    for (int64_t c = 0; c < chains->n; c++) {
        draw_proposal(g, chains, c);
    }
    sali_chains_propose(chains, false);
    for (int64_t c = 0; c < chains->n; c++) {
        double there = log_windows(g, space, chains->codes + c * space->n_variables);
        double back = log_windows(g, space, chains->codes_new + c * space->n_variables);
        chains->log_ratio[c] = sali_chains_log_ratio(chains, c, -there, -back);
    }
    sali_chains_decide(chains);
    sali_chains_tick(chains);
}

/* Whether `to` can be proposed from `from`. */
static bool within_reach(const uniform *g, const sal_space *space, const int32_t *from,
                         const int32_t *to)
{
    int64_t changed = 0, radius = (int64_t)g->shared->radius;
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        for (int64_t i = s->first; i < s->first + s->count; i++) {
            changed += sali_unordered(s) && from[i] != to[i];
            if (!sali_unordered(s) && (to[i] < from[i] - radius || to[i] > from[i] + radius)) {
                return false;
            }
        }
    }
    return changed <= radius;
}

/* Minus the log of the number of states in reach, or -inf out of reach. */
static void uniform_log_q(void *self, sali_chains *chains, const int32_t *to, double *log_q)
{
    const uniform *g = self;
    const sal_space *space = chains->space;
    double log_ball = sali_uniform_ball_log_size(&g->shared->ball);
    for (int64_t c = 0; c < chains->n; c++) {
        const int32_t *from = chains->codes + c * space->n_variables;
        log_q[c] = within_reach(g, space, from, to + c * space->n_variables)
                       ? -log_windows(g, space, from) - log_ball
                       : -INFINITY;
    }
}

const sali_sampler sali_sampler_mh_uniform = {
    .name = "mh-uniform",
    .doc = "Metropolis-Hastings: uniform in a window of r levels, or with up to r sites changed",
    .source = "Rhodes & Gutmann 2022, app. G",
    .kinds = SAL_MOVES_FINITE | SAL_MOVES_UNBOUNDED,
    .settings = known_settings,
    .engine =
        &(const sal_sampler_engine){
            .variants = variants,
            .share = uniform_share,
            .unshare = sali_object_free,
            .adapt = uniform_adapt,
            .state = uniform_state,
            .changed = uniform_changed,
            .create = uniform_create,
            .destroy = sali_object_free,
            .refresh = uniform_refresh,
            .step = uniform_step,
            .log_q = uniform_log_q,
        },
};
