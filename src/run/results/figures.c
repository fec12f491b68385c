/* SPDX-License-Identifier: MIT */
/* The table of the figures of a run's summary, and the figures by name. */
#include "run/results/figures.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/error.h"
#include "core/option.h"

/* The kind of a field, by its type; the enumeration of types of numbers is the only word. */
#define KIND(field) \
    _Generic(((sal_run_summary *)NULL)->field, double  \
             : SAL_OPTION_REAL, int64_t                \
             : SAL_OPTION_WHOLE, uint64_t              \
             : SAL_OPTION_SEED, int                    \
             : SAL_OPTION_INT, bool                    \
             : SAL_OPTION_FLAG, const char *           \
             : SAL_OPTION_TEXT, int64_t *              \
             : SALI_FIGURE_LIST, const double *        \
             : SALI_FIGURE_REPLICAS, default           \
             : SAL_OPTION_WORD)

/* Entries of the table: a field that the JSON of all runs has, or of those with WHEN; one that the
 * JSON does not have, and why; a figure that is no field. */
#define PLACE(field) \
#field, KIND(field), offsetof(sal_run_summary, field), sizeof((sal_run_summary *)NULL)->field
#define ONE(field, key, unit, doc)                \
    {                                             \
        PLACE(field), SALI_ALWAYS, key, unit, doc \
    }
#define IF(when, field, key, unit, doc)                \
    {                                                  \
        PLACE(field), SALI_WITH_##when, key, unit, doc \
    }
#define OUT(field, why)                            \
    {                                              \
        PLACE(field), SALI_ALWAYS, NULL, NULL, why \
    }
#define MADE(kind, when, key, unit, doc)                            \
    {                                                               \
        NULL, SALI_FIGURE_##kind, 0, 0, SALI_##when, key, unit, doc \
    }

static const char warned[] = "a text of warnings tells it";
static const char compared[] = "it is for the command compare";

static const sali_figure figures[] = {
    ONE(model, "model", NULL, "the model's name; empty for a formula"),
    ONE(sampler, "sampler", NULL, "the sampler with its settings"),
    ONE(approximate, "approximate", NULL,
        "whether even endless runs of the sampler have another distribution than exp(f)"),
    ONE(variables, "variables", NULL, "number of variables V, with clamped ones"),
    ONE(chains, "chains", NULL, "number of chains"),
    ONE(warmup, "warmup", "steps", "length of warm-up"),
    ONE(draws, "draws", NULL, "number of draws made from each chain"),
    ONE(thin, "thin", "steps", "interval between two draws"),
    ONE(seed, "seed", NULL, "seed of the random numbers; a text if it is 2^63 or more"),
    ONE(threads, "threads", NULL, "the largest number of threads that worked on the run"),
    ONE(stopped, "stopped", NULL, "whether a callback or the time stopped the run before its end"),
    ONE(step_size, "step_size", "squared distance", "final step size; null: the sampler has none"),
    OUT(step_size_bound, warned),
    OUT(step_size_target, warned),
    ONE(acceptance_rate, "acceptance_rate", NULL, "accepted steps / steps, after warm-up"),
    ONE(mean_jump, "mean_jump", "L1 distance", "mean length of a step in the embedding"),
    ONE(unmoved, "unmoved_chains", NULL, "number of chains in which no step changed a variable"),
    OUT(isolated, warned),
    ONE(ess_min, "ess.min", "draws", "the smallest effective sample size (ESS) of a chain"),
    ONE(ess_median, "ess.median", "draws", "the median of the chains' ESS"),
    ONE(ess_max, "ess.max", "draws", "the largest ESS of a chain"),
    ONE(ess_per_second, "ess_per_second", "draws / s", "sum of the chains' ESS / seconds"),
    OUT(ess_total, "it is ess_per_second times seconds"),
    OUT(ess_per_step, compared),
    OUT(autocorrelation_time, compared),
    ONE(rhat_max, "rhat_max", NULL, "the largest R-hat of f and of all variables"),
    IF(RHAT, rhat_variable, "rhat_variable", NULL,
       "the variable with the largest R-hat; null for f"),
    OUT(rhat_code, warned),
    IF(RHAT, disagreeing, "disagreeing_variables", NULL,
       "number of variables with an R-hat above 1.1"),
    MADE(AGREEMENT, ALWAYS, "chains_agree", NULL,
         "whether all chains moved and no R-hat is above 1.1"),
    ONE(unchanged, "unchanged_variables", NULL,
        "number of free variables that keep one state in all draws of a chain, in each chain"),
    ONE(unchanged_first, "first_unchanged", NULL,
        "the first of the unchanged variables, 8 at most"),
    ONE(stuck, "stuck_variables", NULL,
        "an unchanged variable, or two, whose other states the draws miss"),
    OUT(stuck_chance, warned),
    ONE(unreached, "unreached_states", NULL,
        "number of states that f allows and the sampler cannot reach"),
    IF(AIM, until, "until.aim", NULL, "the aim of the run"),
    IF(AIM, reached, "until.reached", NULL, "whether the run reached its aim"),
    MADE(WARNINGS, ALWAYS, "warnings", NULL, "texts: why not to trust the run, what would help"),
    ONE(steps_per_second, "steps_per_second", "steps / s", "speed; a step moves all chains"),
    ONE(seconds, "seconds", "s", "duration of sampling, without warm-up"),
    OUT(warmup_seconds, compared),
    ONE(log_prob_mean, "log_prob_mean", "nats", "mean of f over the draws"),
    OUT(dtype, "it is a property of the model"),
    OUT(rounding, warned),
    IF(STATISTIC, statistic, "statistic.name", NULL, "what the model reports besides f"),
    IF(STATISTIC, statistic_mean, "statistic.mean", NULL, "mean over the draws of all chains"),
    IF(STATISTIC, statistic_deviation, "statistic.deviation", NULL,
       "standard deviation over the draws"),
    IF(STATISTIC, statistic_best, "statistic.best", NULL, "value at the best state"),
    OUT(replicas, "it is the length of tempering.temperatures"),
    IF(TEMPERING, temperatures, "tempering.temperatures", NULL,
       "temperatures of the replicas, from 1 upwards"),
    { "swap_rates", SALI_FIGURE_PAIRS, offsetof(sal_run_summary, swap_rates), sizeof(double *),
      SALI_WITH_TEMPERING, "tempering.swap_rates", NULL,
      "accepted / tried swaps of replicas r and r + 1" },
    OUT(swap_rate_min, "it is the least of tempering.swap_rates"),
    IF(TEMPERING, round_trips, "tempering.round_trips", NULL,
       "states that went to the hottest temperature and back, per chain"),
    IF(TEMPERING, barrier, "tempering.barrier", NULL, "sum of the swaps' rejection rates"),
    IF(HOUDAYER, houdayer_levels, "houdayer.levels", NULL,
       "number of temperatures at which draws had exchanges of clusters: share below 0.95"),
    IF(HOUDAYER, houdayer_shares, "houdayer.shares", NULL,
       "at each temperature: variables in the exchanged cluster / variables that differ"),
    IF(LEVELS, levels, "ladder.levels", NULL, "number of levels of the ladder or denoising chain"),
    IF(LEVELS, level_rate_min, "ladder.swap_rate_min", NULL,
       "the smallest swap rate of two levels"),
    IF(LEVELS, arrivals, "ladder.arrivals", NULL,
       "states that came up from the first level, per chain"),
    OUT(annealed, "there is the object anneal"),
    IF(ANNEALING, anneal_from, "anneal.from", NULL, "first temperature"),
    IF(ANNEALING, anneal_to, "anneal.to", NULL, "last temperature"),
    IF(ANNEALING, coolings, "anneal.coolings", NULL, "number of coolings; the run is the best one"),
    IF(ANNEALING, cooling, "anneal.cooling", NULL, "number of the best cooling, from 0"),
    IF(ANNEALING, reheats, "anneal.reheats", NULL, "how often the temperature rose again"),
    IF(ANNEALING, reheat_to, "anneal.reheat_to", NULL, "temperature after such a rise"),
    IF(ANNEALING, search_seconds, "anneal.search_seconds", "s", "duration of several coolings"),
    IF(BEST, best_log_prob, "best_log_prob", "nats", "f of the best state"),
    MADE(BEST, WITH_BEST, "best_state", NULL, "codes of the best state"),
    IF(DECODED, decoded, "decoded.name", NULL, "what a decoded state is"),
    IF(DECODED, decoded_log_prob, "decoded.log_prob", "nats", "f of the best decoded state"),
    IF(DECODED, statistic_decoded, "decoded.statistic", NULL,
       "statistic of the best decoded state"),
    MADE(DECODED, WITH_DECODED, "decoded.state", NULL, "codes of the best decoded state"),
    OUT(exact, warned),
    OUT(exact_is_short, warned),
    OUT(clusters, warned),
    OUT(missed, warned),
};

#define N_FIGURES (int64_t)(sizeof figures / sizeof *figures)

const sali_figure *sali_figure_at(int64_t k)
{
    return k < N_FIGURES ? &figures[k] : NULL;
}

bool sali_figure_applies(const sali_figure *figure, const sal_run_summary *s)
{
    const bool has[] = { [SALI_ALWAYS] = true,
                         [SALI_WITH_RHAT] = !isnan(s->rhat_max),
                         [SALI_WITH_AIM] = s->until != NULL,
                         [SALI_WITH_STATISTIC] = s->statistic != NULL,
                         [SALI_WITH_TEMPERING] = s->replicas > 1,
                         [SALI_WITH_HOUDAYER] = s->houdayer_shares != NULL,
                         [SALI_WITH_LEVELS] = s->levels > 0,
                         [SALI_WITH_ANNEALING] = s->annealed,
                         [SALI_WITH_BEST] = !isnan(s->best_log_prob),
                         [SALI_WITH_DECODED] = s->decoded != NULL };
    return has[figure->when];
}

const char *sali_figure_condition(const sali_figure *figure)
{
    static const char *const words[] = { [SALI_WITH_AIM] = "with until",
                                         [SALI_WITH_STATISTIC] = "with a statistic",
                                         [SALI_WITH_TEMPERING] = "with tempering",
                                         [SALI_WITH_HOUDAYER] = "with houdayer",
                                         [SALI_WITH_LEVELS] = "with a ladder",
                                         [SALI_WITH_ANNEALING] = "with anneal",
                                         [SALI_WITH_BEST] = "with anneal or track-best",
                                         [SALI_WITH_DECODED] =
                                             "with anneal or track-best, if the model decodes" };
    return words[figure->when];
}

/* ---- figures by name */

/* Whether a figure is a number or a truth value. */
static bool is_number(const sali_figure *f)
{
    return f->kind < SAL_OPTION_WORD;
}

/* SAL_ERR_NOT_FOUND, with the name that is nearest to `name`. */
static sal_status refuse(const char *name, sal_error *err)
{
    sal_nearest nearest = sal_nearest_begin(name);
    for (int64_t k = 0; k < N_FIGURES; k++) {
        if (is_number(&figures[k])) {
            sal_nearest_offer(&nearest, figures[k].field);
        }
    }
    return sali_fail(err, SAL_ERR_NOT_FOUND, "a summary has no figure '%s'; %s", name,
                     sal_nearest_hint(&nearest, "expected a field of sal_run_summary that is a "
                                                "number, such as 'rhat_max'"));
}

sal_status sal_run_summary_value(const sal_run *run, const char *name, double *value,
                                 sal_error *err)
{
    sal_run_summary summary;
    if (!run || !name || !value) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sal_run_summary_value: the run, the name or the value is NULL");
    }
    for (const sali_figure *f = figures; f < figures + N_FIGURES; f++) {
        if (is_number(f) && strcmp(f->field, name) == 0) {
            sal_status status = sal_run_summarise(run, &summary, err);
            *value = status == SAL_OK ? sali_field_number((sal_option_kind)f->kind,
                                                          (const char *)&summary + f->offset)
                                      : *value;
            return status;
        }
    }
    return refuse(name, err);
}
