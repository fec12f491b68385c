#include "samplers/step_size.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"

#define TARGET_ACCEPTANCE 0.574

/* Appendix H searches 0.05, 0.5, .. 500, and 0.2, 0.4, .. 1.8 times the best of them. */
#define FIRST_MAGNITUDE 0.05
#define LOWEST (0.2 * 0.05)
#define HIGHEST (1.8 * 500)

/* ---- stochastic approximation */

void sali_adapt_begin(sali_adaptation *a, const sal_space *space, double step_size)
{
    double unit = sali_default_step_size(space, 1);
    *a = (sali_adaptation){
        .log_step = log(step_size),
        .low = log(LOWEST * unit),
        .high = log(HIGHEST * unit),
    };
}

static double move(sali_adaptation *a, double gain, double acceptance)
{
    a->log_step += gain * (acceptance - TARGET_ACCEPTANCE);
    a->log_step = fmin(fmax(a->log_step, a->low), a->high);
    return exp(a->log_step);
}

double sali_adapt_next(sali_adaptation *a, double acceptance)
{
    return move(a, 4 / pow((double)++a->windows, 0.6), acceptance);
}

double sali_adapt_follow(sali_adaptation *a, double acceptance)
{
    return move(a, 0.1, acceptance);
}

/* ---- the search */

static double magnitude(double unit, double centre, int64_t k)
{
    (void)centre;
    return unit * FIRST_MAGNITUDE * pow(10, (double)k);
}

static double decile(double unit, double centre, int64_t k)
{
    (void)unit;
    return centre * 0.2 * (double)(k + 1);
}

/* The stage of `n` candidates that a quarter of warm-up goes to begins. */
static void begin_stage(sali_step_sizes *s, int64_t n, double (*candidate)(double, double, int64_t),
                        int64_t done, int64_t total)
{
    s->candidates = n;
    s->candidate = candidate;
    s->begin = done;
    s->length = total / 4 / n;
    memset(s->jump, 0, (size_t)(s->rungs * SALI_DECILES) * sizeof *s->jump);
}

/* In turns, each group tries another candidate, so that all groups try all of them. */
static int64_t candidate_of(const sali_step_sizes *s, int64_t group, int64_t done)
{
    return (group + (done - s->begin) / s->length) % s->candidates;
}

/* Every rung takes the candidate of the largest mean jump; the smaller of equal ones. */
static void choose(sali_step_sizes *s)
{
    for (int64_t r = 0; r < s->rungs; r++) {
        const double *jump = s->jump + r * SALI_DECILES;
        int64_t best = 0;
        for (int64_t k = 1; k < s->candidates; k++) {
            best = jump[k] > jump[best] ? k : best;
        }
        s->value[r] = s->candidate(s->unit, s->value[r], best);
    }
    s->candidates = 0;
}

static void add_jumps(sali_step_sizes *s, int64_t n_shards, sali_chains *const *chains,
                      const int64_t *first, int64_t started)
{
    for (int64_t k = 0; k < n_shards; k++) {
        for (int64_t c = 0; c < chains[k]->n; c++) {
            int64_t group = first[k] + c / s->rungs, rung = c % s->rungs;
            s->jump[rung * SALI_DECILES + candidate_of(s, group, started)] +=
                chains[k]->jump_sum[c];
        }
    }
}

static void set_candidates(const sali_step_sizes *s, int64_t n_shards, sali_chains *const *chains,
                           const int64_t *first, int64_t done)
{
    for (int64_t k = 0; k < n_shards; k++) {
        for (int64_t c = 0; c < chains[k]->n; c++) {
            int64_t candidate = candidate_of(s, first[k] + c / s->rungs, done);
            chains[k]->step_size[c] = s->candidate(s->unit, s->value[c % s->rungs], candidate);
        }
    }
}

/* One window of the search is over. */
static bool search(sali_step_sizes *s, int64_t n_shards, sali_chains *const *chains,
                   const int64_t *first, int64_t window, int64_t done, int64_t total)
{
    bool magnitudes = s->candidates == SALI_MAGNITUDES;
    add_jumps(s, n_shards, chains, first, done - window);
    if (done - s->begin < s->length * s->candidates) {
        set_candidates(s, n_shards, chains, first, done);
        return (done - s->begin) % s->length == 0;
    }
    choose(s);
    sali_step_sizes_set(s, n_shards, chains);
    if (magnitudes) {
        begin_stage(s, SALI_DECILES, decile, done, total);
        set_candidates(s, n_shards, chains, first, done);
    }
    return true;
}

/* ---- all rungs */

sal_status sali_step_sizes_create(sali_step_sizes *s, const sal_space *space, int64_t rungs,
                                  sal_step_size_rule rule, double step_size, const double *given,
                                  sal_error *err)
{
    *s = (sali_step_sizes){
        .rule = rule,
        .rungs = rungs,
        .unit = sali_default_step_size(space, 1),
        .value = SALI_NEW_ARRAY(double, rungs),
        .adaptation = SALI_NEW_ARRAY(sali_adaptation, rungs),
        .jump = SALI_NEW_ARRAY(double, rungs *SALI_DECILES),
    };
    if (!s->value || !s->adaptation || !s->jump) {
        return sali_fail_memory(err);
    }
    for (int64_t r = 0; r < rungs; r++) {
        s->value[r] = given ? given[r] : step_size;
        sali_adapt_begin(&s->adaptation[r], space, s->value[r]);
    }
    return SAL_OK;
}

void sali_step_sizes_free(sali_step_sizes *s)
{
    sali_free(s->value);
    sali_free(s->adaptation);
    sali_free(s->jump);
    *s = (sali_step_sizes){ 0 };
}

void sali_step_sizes_set(const sali_step_sizes *s, int64_t n_shards, sali_chains *const *chains)
{
    for (int64_t k = 0; k < n_shards; k++) {
        for (int64_t c = 0; c < chains[k]->n; c++) {
            chains[k]->step_size[c] = s->value[c % s->rungs];
        }
    }
}

int64_t sali_step_sizes_window(const sali_step_sizes *s, int64_t done, int64_t total, int64_t most)
{
    int64_t left = most;
    if (s->candidates) {
        left = s->length - (done - s->begin) % s->length;
    } else if (s->rule == SAL_STEP_SIZE_SEARCH && s->begin == 0) {
        left = total / 4 - done;
    }
    return left < most ? left : most;
}

/* Each rung follows the mean acceptance of its chains. */
static void approximate(sali_step_sizes *s, int64_t n_shards, sali_chains *const *chains,
                        int64_t window)
{
    for (int64_t r = 0; r < s->rungs; r++) {
        double acceptance = 0, steps = 0;
        for (int64_t k = 0; k < n_shards; k++) {
            for (int64_t c = r; c < chains[k]->n; c += s->rungs) {
                acceptance += chains[k]->acceptance_sum[c];
                steps += (double)window;
            }
        }
        s->value[r] = sali_adapt_next(&s->adaptation[r], acceptance / steps);
    }
    sali_step_sizes_set(s, n_shards, chains);
}

bool sali_step_sizes_learn(sali_step_sizes *s, int64_t n_shards, sali_chains *const *chains,
                           const int64_t *first, int64_t window, int64_t done, int64_t total)
{
    if (s->rule == SAL_STEP_SIZE_USUAL) {
        return false;
    }
    if (s->candidates) {
        return search(s, n_shards, chains, first, window, done, total);
    }
    if (s->rule == SAL_STEP_SIZE_SEARCH && s->begin > 0) {
        return false; /* found */
    }
    approximate(s, n_shards, chains, window);
    if (s->rule == SAL_STEP_SIZE_SEARCH && done >= total / 4) {
        begin_stage(s, SALI_MAGNITUDES, magnitude, done, total);
        set_candidates(s, n_shards, chains, first, done);
    }
    return true;
}
