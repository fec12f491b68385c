/* SPDX-License-Identifier: MIT */
#include "train/sparsity.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/structure/biased_couplings.h"
#include "train/objectives/objective.h"

/* ---- options */

void sali_sparsity_defaults(sal_train_options *o)
{
    sal_sparsity_options *s = &o->sparsity;
    const bool decimates = s->method == SAL_SPARSITY_DECIMATE;
    if (s->method == SAL_SPARSITY_NONE) {
        return;
    }
    s->share = s->share != 0 ? s->share : decimates ? 0.01 : 0.001;
    s->every = s->every != 0 ? s->every : 10;
    s->density = s->density != 0 || !decimates ? s->density : 0.02;
    o->pearson = o->pearson != 0 ? o->pearson : 0.95;
}

/* Refuse options that have no effect. */
static sal_status check_effects(const sal_train_options *o, sal_error *err)
{
    const sal_sparsity_options *s = &o->sparsity;
    const char *alone = s->share != 0     ? "sparsity.share"
                        : s->every != 0   ? "sparsity.every"
                        : s->density != 0 ? "sparsity.density"
                                          : NULL;
    if (s->method == SAL_SPARSITY_NONE && alone) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: %s goes with a method of sparsity, activate or decimate", alone);
    }
    if (s->method == SAL_SPARSITY_ACTIVATE && s->density != 0) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: sparsity.density goes with the method decimate; activation ends "
                         "at the correlation `pearson`");
    }
    return SAL_OK;
}

sal_status sali_sparsity_check(const sal_train_options *o, sal_error *err)
{
    const sali_objective *objective = sali_objective_of(o->objective);
    const char *word = sali_objective_words[o->objective];
    const sal_sparsity method = o->sparsity.method;
    sal_status status = check_effects(o, err);
    if (status != SAL_OK || method == SAL_SPARSITY_NONE) {
        return status;
    }
    if (method == SAL_SPARSITY_ACTIVATE && !objective->activates) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: sparsity activate needs chains at equilibrium: it goes with the "
                         "objectives pcd and ptt, not with %s",
                         word);
    }
    if (method == SAL_SPARSITY_DECIMATE && !objective->decimates) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: sparsity decimate changes the model between updates: it goes with "
                         "objective pcd (and sampler gibbs), not with %s",
                         word);
    }
    if (method == SAL_SPARSITY_DECIMATE && o->pearson < 0) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: sparsity decimate removes couplings where samples have the "
                         "correlation `pearson`: give one above 0");
    }
    return !o->ptt.first ? SAL_OK
                         : sali_fail(err, SAL_ERR_ARGUMENT,
                                     "train: sparsity does not go with a training to go on from "
                                     "(ptt.first)");
}

/* ---- creation */

/* Find the form factor s'Js + b's whose J is the block of couplings. SAL_ERR_ARGUMENT if there is
 * none, or J is fixed. */
static sal_status find_couplings(sali_sparsity *s, const sal_model *model,
                                 const sali_constraints *c, sal_error *err)
{
    const sali_program *program = sali_model_tape(model)->program;
    sali_biased_coupling *found = NULL;
    int64_t n = 0;
    sal_status status = sali_biased_couplings(program, &n, &found, err);
    for (int64_t k = 0; status == SAL_OK && c->n_blocks == 1 && k < n; k++) {
        const sali_parameter *J = &program->parameters[found[k].matrix];
        if (found[k].symmetric && J->first == c->blocks[0].first) {
            s->first = J->first;
            s->side = model->space->width;
            s->scale = 2 * found[k].factor;
        }
    }
    sali_free(found);
    const bool labels = sali_space_kinds(model->space) == 1u << SAL_CATEGORICAL;
    if (status == SAL_OK && (s->side == 0 || !labels)) {
        status = sali_fail(err, SAL_ERR_ARGUMENT,
                           "train: sparsity needs variables with labels and one matrix of "
                           "couplings, J in a term s'Js beside b's, as Potts models have; %s is "
                           "another model",
                           model->name);
    } else if (status == SAL_OK && c->blocks[0].fixed) {
        status = sali_fail(err, SAL_ERR_ARGUMENT,
                           "train: sparsity changes couplings that `fixed` "
                           "keeps as they are");
    }
    return status;
}

sal_status sali_sparsity_create(sali_sparsity *s, sali_memory *memory, const sal_model *model,
                                const sal_train_options *options, const sali_constraints *c,
                                const sali_pairs *pairs, const sali_pair_frequencies *data,
                                const sali_pair_frequencies *samples, double mass, sal_error *err)
{
    *s = (sali_sparsity){
        .with = options->sparsity, .pairs = pairs, .data = data, .samples = samples, .mass = mass
    };
    if (s->with.method == SAL_SPARSITY_NONE) {
        return SAL_OK;
    }
    sal_status status = find_couplings(s, model, c, err);
    if (status == SAL_OK) {
        s->active = SALI_TAKE(memory, uint8_t, pairs->n);
        s->score = SALI_TAKE(memory, double, pairs->n);
        s->sorted = SALI_TAKE(memory, double, pairs->n);
        status = sali_memory_status(memory, err);
    }
    return status;
}

/* ---- couplings, each with its number and its two places in the flat vector */

typedef struct coupling {
    int64_t e;      /* its number among the pairs */
    int64_t kl, lk; /* places of J_kl and J_lk */
    double uniform; /* frequency of its states if all are equally frequent */
} coupling;

/* Call visit(s, coupling, context) for all couplings in the order of their numbers. */
static void each_coupling(sali_sparsity *s,
                          void (*visit)(sali_sparsity *, const coupling *, void *), void *context)
{
    const sali_pairs *p = s->pairs;
    coupling at = { .e = 0 };
    for (int64_t i = 0; i < p->variables; i++) {
        for (int64_t k = p->offset[i]; k < p->offset[i + 1]; k++) {
            for (int64_t j = 0; j < i; j++) {
                at.uniform = 1 / ((double)(p->offset[i + 1] - p->offset[i]) *
                                  (double)(p->offset[j + 1] - p->offset[j]));
                for (int64_t l = p->offset[j]; l < p->offset[j + 1]; l++, at.e++) {
                    at.kl = s->first + k * s->side + l;
                    at.lk = s->first + l * s->side + k;
                    visit(s, &at, context);
                }
            }
        }
    }
}

/* What the visits below share. */
typedef struct change {
    sali_constraints *constraints;
    const double *values; /* parameters; NULL: not needed */
    int n_arrays;         /* in which removed couplings become 0 */
    double *const *arrays;
    bool all;         /* every coupling is active */
    double threshold; /* scores above it are chosen, */
    int64_t ties;     /* and so many that equal it */
} change;

static void set_active(sali_sparsity *s, const coupling *at, bool active, const change *c)
{
    s->n_active += active - s->active[at->e];
    s->active[at->e] = active;
    sali_constraints_learn(c->constraints, at->kl, active);
    sali_constraints_learn(c->constraints, at->lk, active);
    for (int k = 0; !active && k < c->n_arrays; k++) {
        if (c->arrays[k]) {
            c->arrays[k][at->kl] = c->arrays[k][at->lk] = 0;
        }
    }
}

static void count_coupling(sali_sparsity *s, const coupling *at, void *context)
{
    const change *c = context;
    s->n_active += c->values[at->kl] != 0;
}

static void start_coupling(sali_sparsity *s, const coupling *at, void *context)
{
    const change *c = context;
    set_active(s, at, c->all || c->values[at->kl] != 0, c);
}

void sali_sparsity_start(sali_sparsity *s, sali_constraints *constraints, const double *values)
{
    change c = { .constraints = constraints, .values = values };
    if (!s->active) {
        return;
    }
    each_coupling(s, count_coupling, &c);
    c.all = s->n_active == 0 && s->with.method == SAL_SPARSITY_DECIMATE;
    s->n_active = 0;
    each_coupling(s, start_coupling, &c);
}

static void resume_coupling(sali_sparsity *s, const coupling *at, void *context)
{
    s->n_active += s->active[at->e];
    set_active(s, at, s->active[at->e], context);
}

void sali_sparsity_resume(sali_sparsity *s, sali_constraints *constraints, double *values)
{
    double *const arrays[] = { values };
    change c = { .constraints = constraints, .n_arrays = 1, .arrays = arrays };
    if (s->active) {
        s->n_active = 0;
        each_coupling(s, resume_coupling, &c);
    }
}

double sali_sparsity_density(const sali_sparsity *s)
{
    return s->active && s->pairs->n > 0 ? (double)s->n_active / (double)s->pairs->n : NAN;
}

/* ---- scores */

/* x log(x / y), which is 0 for x = 0. */
static double times_log_ratio(double x, double y)
{
    return x > 0 ? x * log(x / y) : 0;
}

double sali_activation_gain(double f, double p)
{
    return times_log_ratio(f, p) + times_log_ratio(1 - f, 1 - p);
}

double sali_removal_loss(double J, double p)
{
    return J * p + log1p(p * expm1(-J));
}

/* A frequency in a sample to which one row of uniform states was added. */
static double smooth(const sali_sparsity *s, const coupling *at, double frequency)
{
    return (s->mass * frequency + at->uniform) / (s->mass + 1);
}

static void score_gain(sali_sparsity *s, const coupling *at, void *context)
{
    (void)context;
    s->score[at->e] = sali_activation_gain(smooth(s, at, s->data->pair[at->e]),
                                           smooth(s, at, s->samples->pair[at->e]));
}

/* Less what is lost, so that the largest scores are removed. */
static void score_loss(sali_sparsity *s, const coupling *at, void *context)
{
    const change *c = context;
    s->score[at->e] = s->active[at->e] ? -sali_removal_loss(s->scale * c->values[at->kl],
                                                            smooth(s, at, s->samples->pair[at->e]))
                                       : -INFINITY;
}

/* The count-th largest of n numbers, which are reordered. Hoare 1961. */
static double find_largest(int64_t n, double *numbers, int64_t count)
{
    int64_t low = 0, high = n - 1, wanted = count - 1;
    while (low < high) {
        const double pivot = numbers[(low + high) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (numbers[i] > pivot) {
                i++;
            }
            while (numbers[j] < pivot) {
                j--;
            }
            if (i <= j) {
                const double number = numbers[i];
                numbers[i++] = numbers[j];
                numbers[j--] = number;
            }
        }
        if (wanted > j && wanted < i) {
            break;
        }
        low = wanted >= i ? i : low;
        high = wanted <= j ? j : high;
    }
    return numbers[wanted];
}

/* Set the threshold of a change so that it chooses the `count` couplings with the largest scores;
 * of equal scores those with the lower numbers. */
static void choose(sali_sparsity *s, int64_t count, change *c)
{
    memcpy(s->sorted, s->score, (size_t)s->pairs->n * sizeof *s->sorted);
    c->threshold = find_largest(s->pairs->n, s->sorted, count);
    c->ties = count;
    for (int64_t e = 0; e < s->pairs->n; e++) {
        c->ties -= s->score[e] > c->threshold;
    }
}

/* Whether a change chooses a coupling; call this once for each, in the order of their numbers. */
static bool is_chosen(const sali_sparsity *s, const coupling *at, change *c)
{
    const double score = s->score[at->e];
    return score > c->threshold || (score == c->threshold && c->ties-- > 0);
}

static void activate_chosen(sali_sparsity *s, const coupling *at, void *context)
{
    if (is_chosen(s, at, context) && !s->active[at->e]) {
        set_active(s, at, true, context);
    }
}

static void remove_chosen(sali_sparsity *s, const coupling *at, void *context)
{
    if (is_chosen(s, at, context) && s->active[at->e]) {
        set_active(s, at, false, context);
    }
}

/* ---- steps */

/* Activate those of the couplings with the largest gains that are not active: where active ones
 * still have much to gain, fewer new ones follow. */
static void activate(sali_sparsity *s, change *c)
{
    const int64_t inactive = s->pairs->n - s->n_active;
    const int64_t count = (int64_t)ceil(s->with.share * (double)inactive);
    if (count > 0) {
        each_coupling(s, score_gain, c);
        choose(s, count, c);
        each_coupling(s, activate_chosen, c);
    }
}

/* The number of couplings that decimation leaves in the end. */
static int64_t least_active(const sali_sparsity *s)
{
    return (int64_t)(s->with.density * (double)s->pairs->n);
}

/* Remove the couplings that lose least, but leave least_active of them. */
static void decimate(sali_sparsity *s, change *c)
{
    const int64_t most = s->n_active - least_active(s);
    const int64_t share = (int64_t)ceil(s->with.share * (double)s->n_active);
    each_coupling(s, score_loss, c);
    choose(s, share < most ? share : most, c);
    each_coupling(s, remove_chosen, c);
}

bool sali_sparsity_is_time(const sali_sparsity *s, int64_t iteration)
{
    return s->active && iteration % s->with.every == 0;
}

bool sali_sparsity_is_done(const sali_sparsity *s)
{
    return s->with.method != SAL_SPARSITY_DECIMATE || s->n_active <= least_active(s);
}

bool sali_sparsity_step(sali_sparsity *s, sali_constraints *constraints, bool near, int n_arrays,
                        double *const *arrays)
{
    change c = {
        .constraints = constraints, .values = arrays[0], .n_arrays = n_arrays, .arrays = arrays
    };
    if (s->with.method == SAL_SPARSITY_ACTIVATE) {
        activate(s, &c);
    } else if (near && !sali_sparsity_is_done(s)) {
        decimate(s, &c);
        return true;
    }
    return false;
}
