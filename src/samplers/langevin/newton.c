/* SPDX-License-Identifier: MIT */
/* Newton proposals: forward differences in place of the gradient, so that a model needs values
 * only. Xiang et al. 2023, eq. 7-10, supplement 3 for labels; MANA with acceptance, UNA without.
 *
 * D_i is a slope, (f(s_i = next level) - f(s)) / (next - s_i): levels need not be 1 apart. The top
 * level of an ordinal variable has no next one: its slope goes to the level below; a two-level
 * variable takes its other value. Where the next level is forbidden, the slope would be infinite:
 * the slope to the level below is used, or 0 if this level is forbidden as well. For a label, entry
 * j is f(s_i = j) - f(s).
 *
 * At a hard limit (sal_at_most) every difference upwards is -inf, so that no proposal could go up
 * in one variable and down in another. As a proposal may use any slopes, the default is slopes of f
 * without its limits (limits=ignored), which cost one more value of f a step; proposals are
 * accepted by f itself. */
#include <math.h>

#include "core/error.h"
#include "core/object.h"
#include "samplers/langevin/langevin.h"

enum { CATEGORICAL = SALI_LANGEVIN_SETTINGS, LIMITS };
enum { IGNORED, KEPT };

static const char *const limits[] = { "ignored", "kept", NULL };

static const sal_setting known_settings[] = {
    SALI_LANGEVIN_PARAMETERS,
    { "categorical", 1, 1, 2, true, "reals of a label of K states: 1: K, one-hot; 2: K - 1", NULL },
    { "limits", IGNORED, 0, 0, true, "slopes are of f without its hard limits, or with them",
      limits },
    { 0 },
};

static const char *const mana_variants[] = {
    "",       "categorical=2",        "schedule=polynomial,decay=0.05,horizon=1",
    "most=1", "most=2,categorical=2", "limits=kept",
    NULL
};
static const char *const una_variants[] = {
    "", "categorical=2,schedule=polynomial,decay=0.05,horizon=1", "most=2", "limits=kept", NULL
};

/* The code whose difference gives the slope of a variable at `code`: the next level, or at the top
 * the one below; -1, which asks for all labels, for categorical variables. */
static int32_t neighbour_code(const sali_variable *v, int32_t code)
{
    if (v->kind == SAL_CATEGORICAL) {
        return -1;
    }
    return code < v->states - 1 ? code + 1 : code > 0 ? code - 1 : code;
}

/* The difference of chain c for moving variable i to `code`. All variables here have finitely many
 * states, so the slot does not depend on the present code. */
static double move_difference(const sali_langevin *l, const sali_chains *chains, int64_t c,
                              int64_t i, int32_t code)
{
    return sali_load(chains->model->dtype, l->slots,
                     c * chains->space->slots + sali_move_slot(chains->space, i, code, code));
}

/* Set l->to to the level below, if there is one, for every variable whose next level is forbidden
 * while the state is not, and to the present code for all other variables. Returns whether there
 * was any. */
static bool turn_back(sali_langevin *l, const sali_chains *chains, const int32_t *codes,
                      const double *f)
{
    const sal_space *space = chains->space;
    bool any = false;
    for (int64_t k = 0; k < chains->n * space->n_variables; k++) {
        int64_t c = k / space->n_variables, i = k % space->n_variables;
        bool up = l->to[k] > codes[k] && !sali_is_two_level(&space->variables[i]);
        bool forbidden =
            up && f[c] > -INFINITY && move_difference(l, chains, c, i, l->to[k]) == -INFINITY;
        l->to[k] = forbidden && codes[k] > 0 ? codes[k] - 1 : codes[k];
        any |= forbidden;
    }
    return any;
}

/* The difference of chain c for moving variable i to `code`. From a state of finite f, a difference
 * that is NaN or +inf is noted as a bad move. */
static double checked_difference(const sali_langevin *l, sali_chains *chains, int64_t c, int64_t i,
                                 const int32_t *codes, const double *f, int32_t code)
{
    double delta = move_difference(l, chains, c, i, code);
    if (!(delta < INFINITY) && f[c] > -INFINITY) {
        sali_chains_note_bad_move(chains, c, codes, i, code, delta);
    }
    return delta;
}

/* Store beta D of variable i of chain c in chains->gradient; `to` is the code that the slope goes
 * to. */
static void set_slopes(const sali_langevin *l, sali_chains *chains, int64_t c, int64_t i,
                       const int32_t *codes, const double *f, int32_t to)
{
    const sali_variable *v = &chains->space->variables[i];
    int32_t now = codes[c * chains->space->n_variables + i];
    int64_t at = c * chains->space->width + v->offset;
    double beta = chains->beta[c];
    for (int32_t k = 0; v->kind == SAL_CATEGORICAL && k < v->states; k++) {
        double delta = k == now ? 0 : beta * checked_difference(l, chains, c, i, codes, f, k);
        sali_store(chains->model->dtype, chains->gradient, at + k, delta);
    }
    if (v->kind != SAL_CATEGORICAL) {
        double run = v->levels[to] - v->levels[now];
        double slope =
            to == now ? 0 : beta * checked_difference(l, chains, c, i, codes, f, to) / run;
        bool infinite = slope == INFINITY || slope == -INFINITY;
        sali_store(chains->model->dtype, chains->gradient, at,
                   infinite && v->states > 2 ? 0 : slope);
    }
}

/* Fill l->slots with the differences to l->to, of f without its limits if there is such an
 * evaluator, else of f. */
static void find_differences(sali_langevin *l, sali_chains *chains, const int32_t *codes,
                             const void *x, double *f)
{
    if (l->open) {
        sali_differences_to(l->open, chains->n, codes, x, l->to, f, l->slots);
    } else {
        sali_chains_differences_to(chains, codes, x, l->to, f, l->slots);
    }
}

/* f, and beta D into chains->gradient, at the present or the proposed states; slopes upwards that
 * are forbidden are replaced by slopes downwards. */
static void evaluate(sali_langevin *l, sali_chains *chains, bool proposed)
{
    const sal_space *space = chains->space;
    const int32_t *codes = proposed ? chains->codes_new : chains->codes;
    const void *x = proposed ? chains->x_new : chains->x;
    double *f = l->open ? l->f_open : proposed ? chains->f_new : chains->f;
    int64_t V = space->n_variables, cells = chains->n * V;
    if (l->open && proposed) {
        sali_chains_propose(chains, false);
    } else if (l->open) {
        sali_chains_start(chains, false);
    }
    for (int64_t k = 0; k < cells; k++) {
        l->to[k] = neighbour_code(&space->variables[k % V], codes[k]);
    }
    find_differences(l, chains, codes, x, f);
    for (int64_t k = 0; k < cells; k++) {
        set_slopes(l, chains, k / V, k % V, codes, f, l->to[k]);
    }
    if (turn_back(l, chains, codes, f)) {
        find_differences(l, chains, codes, x, f);
        for (int64_t k = 0; k < cells; k++) {
            if (l->to[k] != codes[k]) {
                set_slopes(l, chains, k / V, k % V, codes, f, l->to[k]);
            }
        }
    }
}

/* Creates a shard's state; a model with hard limits gets a second evaluator without them, if the
 * setting says so. */
static sal_status create(const sali_chains *chains, const sali_sampler_settings *settings,
                         void *shared, void **self, sal_error *err)
{
    const sal_space *space = chains->space;
    sali_langevin *l = sali_langevin_open(SALI_OBJECT(sali_langevin), chains, settings);
    sal_status status = SAL_OK;
    (void)shared;
    if (l) {
        l->evaluate = evaluate;
        l->fewer_reals = settings->values[CATEGORICAL] == 2;
        l->to = SALI_OBJECT_ARRAY(l, int32_t, chains->n * space->n_variables);
        l->slots = sali_object_array(l, chains->n * space->slots, chains->element);
        l->y = sali_object_array(l, space->width, chains->element);
        l->f_open = SALI_OBJECT_ARRAY(l, double, chains->n);
    }
    if (l && chains->model->limited && settings->values[LIMITS] == IGNORED) {
        status = sali_evaluator_create(chains->model, chains->n,
                                       SALI_WANT_DIFFERENCES | SALI_WANT_NO_LIMITS, &l->open, err);
        status = status ? status : sali_object_own(l, l->open, sali_evaluator_destroy, err);
    }
    return sali_object_finish(l, status, self, err);
}

const sali_sampler sali_sampler_mana = {
    .name = "mana",
    .doc = "Newton proposal: as ncg with forward differences for the gradient",
    .source = "Xiang et al. 2023, eq. 7-10, alg. 1, suppl. 3",
    .needs_differences = true,
    .has_step_size = true,
    .settings = known_settings,
    .engine =
        &(const sal_sampler_engine){
            .variants = mana_variants,
            .create = create,
            .destroy = sali_object_free,
            SALI_LANGEVIN_FUNCTIONS,
        },
};

const sali_sampler sali_sampler_una = {
    .name = "una",
    .doc = "mana without acceptance: biased, the less the smaller eps, which is not adapted",
    .source = "Xiang et al. 2023, eq. 9",
    .needs_differences = true,
    .has_step_size = true,
    .unadjusted = true,
    .settings = known_settings,
    .engine =
        &(const sal_sampler_engine){
            .variants = una_variants,
            .create = create,
            .destroy = sali_object_free,
            SALI_LANGEVIN_FUNCTIONS,
        },
};
