/* SPDX-License-Identifier: MIT */
/* What makes the averages of a run doubtful, in sentences. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include <saltus/stats.h>
#include "models/exact/rounding.h"
#include "run/parts/houdayer.h"
#include "run/results/results.h"

/* Append formatted text, cut to the room. */
__attribute__((format(printf, 3, 4))) static void append_warning(char *text, size_t room,
                                                                 const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, room - used, format, args);
    va_end(args);
}

void sali_unchanged_list(const sal_run_summary *s, char *text, size_t room)
{
    text[0] = '\0';
    for (int k = 0; k < SAL_RUN_NAMED && s->unchanged_first[k] >= 0; k++) {
        append_warning(text, room, "%s%lld", k > 0 ? ", " : "", (long long)s->unchanged_first[k]);
    }
    append_warning(text, room, "%s", s->unchanged > SAL_RUN_NAMED ? ", .." : "");
}

bool sali_run_is_from_scratch(const sal_run_summary *s)
{
    return s->levels > 0 && isnan(s->arrivals);
}

/* ---- findings */

/* Report which variable has the largest R-hat, and what would help. */
static void describe_disagreement(const sal_run_summary *s, char *text, size_t room)
{
    char where[64] = "f";
    if (s->rhat_variable >= 0 && s->rhat_code >= 0) {
        snprintf(where, sizeof where, "variable %lld = %d", (long long)s->rhat_variable,
                 s->rhat_code);
    } else if (s->rhat_variable >= 0) {
        snprintf(where, sizeof where, "variable %lld", (long long)s->rhat_variable);
    }
    append_warning(
        text, room,
        "The chains disagree: R-hat is %.2f for %s; %lld of %lld variables are above %.1f. Do "
        "not trust the averages: ",
        s->rhat_max, where, (long long)s->disagreeing, (long long)s->variables, SAL_RHAT_LIMIT);
    double moves = s->mean_jump * (double)s->draws * (double)s->thin / (double)s->variables;
    if (moves < 1) {
        append_warning(
            text, room,
            "in all its steps a chain moved a variable %.2g times on average. Try many more of "
            "them, such as --thin %lld.",
            moves, (long long)s->variables);
        return;
    }
    append_warning(
        text, room,
        "the chains have not mixed, or stay in different modes. Try "
        "more warm-up and draws (--warmup, --draws, --thin), more chains, another sampler; if "
        "R-hat stays high, this sampler cannot cross between the modes%s.",
        s->replicas > 1 ? " with these replicas" : ": tempering can (--tempering)");
}

/* Swap rates below this are rare: neighbouring temperatures that hardly ever swap cut the ladder in
 * two. */
#define RARE_SWAPS 0.1

/* Report the lowest swap rate, and how many replicas would serve. */
static void describe_rare_swaps(const sal_run_summary *s, char *text, size_t room)
{
    append_warning(
        text, room,
        "Neighbouring temperatures swap too rarely (%.1f%% at worst): tempering helps little. ",
        100 * s->swap_rate_min);
    if (isnan(s->barrier)) { /* some pair never tried */
        append_warning(text, room, "Try more draws, or a smaller --swap-every.");
        return;
    }
    append_warning(
        text, room, "About %.0f replicas would serve (--tempering).%s", ceil(2 * s->barrier) + 1,
        s->barrier > 0.8 * (double)(s->replicas - 1) ? " Perhaps more: the estimate is low." : "");
}

/* Report that draws had no exchanges of clusters, and why. */
static void describe_no_exchanges(const sal_run_summary *s, char *text, size_t room)
{
    append_warning(
        text, room,
        "Draws exchanged no clusters (--houdayer): at T = 1 clusters had %.1f%% of the variables "
        "in which two chains differ, and no less than %.0f%% at any temperature, so that "
        "exchanges would do next to nothing.",
        100 * s->houdayer_shares[0], 100 * SALI_HOUDAYER_LIMIT);
}

/* Report chains that never moved, why, and what would help. */
static void describe_standing(const sal_run_summary *s, char *text, size_t room)
{
    if (s->unmoved == s->chains) {
        append_warning(text, room,
                       "Nothing moved: no step of any chain%s changed a variable, so the draws "
                       "are the starts and say nothing. ",
                       s->replicas > 1 ? " or replica" : "");
    } else {
        append_warning(text, room, "%lld of %lld chains never moved: they have no ESS. ",
                       (long long)s->unmoved, (long long)s->chains);
    }
    if (s->isolated) {
        append_warning(
            text, room,
            "No change of a single variable is allowed there: f is -inf at all of "
            "them. Use a finite penalty in place of -inf, with --tempering, and keep the "
            "draws that break nothing: that can reach all states. Samplers of blocks (--sampler "
            "gibbs:block=8, hamming-ball:block=8,radius=2) do so only where one block of "
            "successive variables holds all that constraints join; hops of gwg do not pass "
            "tables of -inf.");
    } else if (isnan(s->step_size)) {
        append_warning(text, room, "Try more draws%s.", s->replicas > 1 ? "" : ", or --tempering");
    } else if (!isnan(s->step_size_target)) {
        append_warning(
            text, room,
            "At the step size that is accepted hardly anything moves: its gradient tells little of "
            "f there. Try a sampler by exact differences (--sampler gibbs, lb; with fixed sums "
            "pair-gibbs)%s.",
            s->replicas > 1 ? "" : ", or --tempering");
    } else {
        append_warning(text, room, "Try more draws, or a %s --step-size.",
                       s->acceptance_rate > 0.5 ? "larger" : "smaller");
    }
}

/* Report why a run with draws has no ESS. */
static void describe_no_ess(const sal_run_summary *s, char *text, size_t room)
{
    if (s->draws < SALI_FEW_DRAWS) {
        append_warning(text, room, "Too few draws to judge by: there is no ESS. Try more draws.");
    } else if (s->unmoved > 0) {
        describe_standing(s, text, room);
    } else {
        append_warning(
            text, room,
            "There is no ESS: neither the distance to a random state nor f changes from draw to "
            "draw in some chain, though it moves. Look at marginals and R-hat.");
    }
}

static void describe_missed_aim(const sal_run_summary *s, char *text, size_t room)
{
    append_warning(
        text, room,
        "The run did not come to %s in %lld draws of each chain: the ESS of all chains is %.0f "
        "and the largest R-hat %.3f. Try more --draws, or another sampler.",
        s->until, (long long)s->draws, s->ess_total, s->rhat_max);
}

/* An acceptance rate this far from its target, in ENOUGH_DRAWS draws, means that adaptation was not
 * over. */
#define UNSETTLED 0.15
#define ENOUGH_DRAWS 100

/* Report variables that never changed although f lets them change. */
static void describe_stuck(const sal_run_summary *s, char *text, size_t room)
{
    char list[SAL_RUN_NAMED * 24];
    sali_unchanged_list(s, list, sizeof list);
    append_warning(text, room, "%lld variable%s never changed in any chain (%s), but f lets ",
                   (long long)s->unchanged, s->unchanged == 1 ? "" : "s", list);
    if (s->stuck[1] >= 0) {
        append_warning(
            text, room,
            "%lld and %lld change together: given all others, %.3g%% of the draws would show "
            "other states of them. This sampler does not get there, and averages are those of "
            "one side. Try a sampler that moves any two variables together now and then "
            "(--sampler gibbs:block=8,blocks=random), or, where f between the sides is finite, "
            "--tempering.",
            (long long)s->stuck[0], (long long)s->stuck[1], 100 * s->stuck_chance);
        return;
    }
    append_warning(
        text, room,
        "%lld change: given all others, %.3g%% of the draws would show other states of it. Try "
        "many more steps, such as --thin %lld, or another sampler.",
        (long long)s->stuck[0], 100 * s->stuck_chance, (long long)s->variables);
}

/* Report that the sampler is approximate. */
static void describe_approximate(const sal_run_summary *s, char *text, size_t room)
{
    append_warning(
        text, room,
        "Sampler '%s' is approximate: however many draws there are, their distribution is not the "
        "model's, and neither R-hat nor ESS shows by how much. Take an exact one (without "
        "--sampler one that suits the model), or compare with exact answers (--check-exact), where "
        "there are so few states.",
        s->sampler);
}

/* Report states that no number of steps reaches, and what would reach them. */
static void describe_unreached(const sal_run_summary *s, char *text, size_t room)
{
    append_warning(
        text, room,
        "%lld states that f allows are out of reach: no number of steps of this sampler leads to "
        "them from the most probable state, and averages are those of a part of the states. Try a "
        "larger block, or blocks that are drawn anew (--sampler gibbs:block=8,blocks=random), or a "
        "finite penalty in place of -inf with --tempering.",
        (long long)s->unreached);
}

/* Report a step size at its lower bound, or one that was not adapted when warm-up ended. */
static void describe_step_size(const sal_run_summary *s, char *text, size_t room)
{
    if (s->step_size_bound < 0) {
        append_warning(
            text, room,
            "The step size ended at its lower bound, %.2g, with an acceptance of %.3f: f is too "
            "steep for steps along its gradient. Try a sampler by exact differences (--sampler "
            "gibbs, lb; with fixed sums lb-exchange, pair-gibbs).",
            s->step_size, s->acceptance_rate);
        return;
    }
    append_warning(
        text, room,
        "The step size had not settled when warm-up ended: acceptance is %.3f, and %.3f was "
        "aimed at. Try a longer --warmup%s.",
        s->acceptance_rate, s->step_size_target,
        s->acceptance_rate < s->step_size_target
            ? ", or --init with a state that --anneal has found"
            : "");
}

static void describe_rounding(const sal_run_summary *s, char *text, size_t room)
{
    const size_t used = strlen(text);
    sali_rounding_text(s->dtype, s->rounding,
                       s->annealed ? "differences of f, by which states are found to be better, are"
                                   : "logarithms of ratios of probabilities are",
                       text + used, room - used);
}

static void describe_exact(const sal_run_summary *s, char *text, size_t room)
{
    append_warning(
        text, room,
        "This model needs no chains: 'saltus exact' computes log Z and all marginals, by %s, in "
        "%s, and draws independent states (--draws).",
        s->exact, s->exact_is_short ? "about a second" : "less time than this run took");
}

/* With fewer chains that exchange clusters, all chains or all but one are one pair. */
#define ENOUGH_CHAINS 4

bool sal_run_warning(const sal_run_summary *s, char *text, size_t room)
{
    const bool mixes = !s->annealed; /* annealed chains need not mix */
    const bool unsettled = s->draws >= ENOUGH_DRAWS && mixes && s->unmoved < s->chains &&
                           s->step_size_bound <= 0 &&
                           fabs(s->acceptance_rate - s->step_size_target) > UNSETTLED;
    const struct {
        bool applies;
        const char *text; /* NULL: `describe` appends the text */
        void (*describe)(const sal_run_summary *s, char *text, size_t room);
    } findings[] = {
        { s->draws == 0, "The run was stopped before its first draw.", NULL },
        { s->draws > 0 && mixes && s->approximate, NULL, describe_approximate },
        { s->draws > 0 && mixes && isnan(s->ess_median), NULL, describe_no_ess },
        { mixes && s->rhat_max > SAL_RHAT_LIMIT && !sali_run_is_from_scratch(s), NULL,
          describe_disagreement },
        { s->until && !s->reached && !s->stopped, NULL, describe_missed_aim },
        { s->unchanged > 0 && s->stuck[0] >= 0 && s->unmoved == 0, NULL, describe_stuck },
        { s->swap_rate_min < RARE_SWAPS, NULL, describe_rare_swaps },
        { s->houdayer_shares && s->houdayer_levels == 0, NULL, describe_no_exchanges },
        { s->houdayer_levels > 0 && s->chains < ENOUGH_CHAINS,
          "Chains that exchange clusters (--houdayer) resemble each other, and R-hat compares them "
          "as if they did not: use 4 chains or more.",
          NULL },
        { unsettled, NULL, describe_step_size },
        /* if no chain moved, that is reported already */
        { s->unreached > 0 && s->unmoved < s->chains, NULL, describe_unreached },
        { s->draws > 0 && sali_rounding_is_coarse(s->rounding), NULL, describe_rounding },
        { s->exact, NULL, describe_exact },
        { s->clusters,
          "Try --sampler swendsen-wang or wolff, which move clusters of this model's variables at "
          "once.",
          NULL },
        { s->draws > 0 && s->missed, s->missed, NULL },
    };
    bool found = false;
    snprintf(text, room, "%s", "");
    for (size_t k = 0; k < sizeof findings / sizeof *findings; k++) {
        if (findings[k].applies && room > 0) {
            append_warning(text, room, "%s%s", found ? " " : "",
                           findings[k].text ? findings[k].text : "");
            if (findings[k].describe) {
                findings[k].describe(s, text, room);
            }
        }
        found = found || findings[k].applies;
    }
    return found;
}
