/* SPDX-License-Identifier: MIT */
/* The summary of a run for people. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include <saltus/sample.h>
#include <saltus/stats.h>
#include "core/text.h"
#include "models/exact/rounding.h"
#include "run/parts/record.h"
#include "run/results/results.h"

/* Append formatted text, cut to the room. */
__attribute__((format(printf, 3, 4))) static void append(char *text, size_t room,
                                                         const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, room - used, format, args);
    va_end(args);
}

/* A blank between two findings. */
static void separate(char *text, size_t room)
{
    size_t used = strlen(text);
    append(text, room, used > 0 && text[used - 1] != ' ' ? " " : "");
}

static void describe_disagreement(const sal_run_summary *s, char *text, size_t room)
{
    char where[64] = "f";
    if (s->rhat_variable >= 0 && s->rhat_code >= 0) {
        snprintf(where, sizeof where, "variable %lld = %d", (long long)s->rhat_variable,
                 s->rhat_code);
    } else if (s->rhat_variable >= 0) {
        snprintf(where, sizeof where, "variable %lld", (long long)s->rhat_variable);
    }
    append(text, room,
           "The chains disagree: R-hat is %.2f for %s; %lld of %lld variables are above %.1f. Do "
           "not trust the averages: ",
           s->rhat_max, where, (long long)s->disagreeing, (long long)s->variables, SAL_RHAT_LIMIT);
    double moves = s->mean_jump * (double)s->draws * (double)s->thin / (double)s->variables;
    if (moves < 1) {
        append(text, room,
               "in all its steps a chain moved a variable %.2g times on average. Try many more of "
               "them, such as --thin %lld.",
               moves, (long long)s->variables);
        return;
    }
    append(text, room,
           "the chains have not mixed, or stay in different modes. Try "
           "more warm-up and draws (--warmup, --draws, --thin), more chains, another sampler; if "
           "R-hat stays high, this sampler cannot cross between the modes%s.",
           s->replicas > 1 ? " with these replicas" : ": tempering can (--tempering)");
}

/* Neighbouring temperatures that hardly ever swap cut the ladder in two. */
#define RARE_SWAPS 0.1

static void describe_rare_swaps(const sal_run_summary *s, char *text, size_t room)
{
    append(text, room,
           "Neighbouring temperatures swap too rarely (%.1f%% at worst): tempering helps little. ",
           100 * s->swap_rate_min);
    if (isnan(s->barrier)) { /* some pair never tried */
        append(text, room, "Try more draws, or a smaller --swap-every.");
        return;
    }
    append(text, room, "About %.0f replicas would serve (--tempering).%s", ceil(2 * s->barrier) + 1,
           s->barrier > 0.8 * (double)(s->replicas - 1) ? " Perhaps more: the estimate is low."
                                                        : "");
}

/* Chains that never moved: why, and what would help. */
static void describe_standing(const sal_run_summary *s, char *text, size_t room)
{
    if (s->unmoved == s->chains) {
        append(text, room,
               "Nothing moved: no step of any chain%s changed a variable, so the draws "
               "are the starts and say nothing. ",
               s->replicas > 1 ? " or replica" : "");
    } else {
        append(text, room, "%lld of %lld chains never moved: they have no ESS. ",
               (long long)s->unmoved, (long long)s->chains);
    }
    if (s->isolated) {
        append(text, room,
               "No change of a single variable is allowed there: f is -inf at all of "
               "them. Use a finite penalty in place of -inf, with --tempering, and keep the "
               "draws that break nothing: that can reach all states. Samplers of blocks (--sampler "
               "gibbs:block=8, hamming-ball:block=8,radius=2) do so only where one block of "
               "successive variables holds all that constraints join; hops of gwg do not pass "
               "tables of -inf. ");
    } else if (isnan(s->step_size)) {
        append(text, room, "Try more draws%s. ", s->replicas > 1 ? "" : ", or --tempering");
    } else if (!isnan(s->step_size_target)) {
        append(
            text, room,
            "At the step size that is accepted hardly anything moves: its gradient tells little of "
            "f there. Try a sampler by exact differences (--sampler gibbs, lb)%s. ",
            s->replicas > 1 ? "" : ", or --tempering");
    } else {
        append(text, room, "Try more draws, or a %s --step-size. ",
               s->acceptance_rate > 0.5 ? "larger" : "smaller");
    }
}

/* Acceptances further than this from the one aimed at say that adaptation was not over. */
#define UNSETTLED 0.15
#define ENOUGH_DRAWS 100

/* Whether adaptation of the step size came to nothing. */
static bool is_unsettled(const sal_run_summary *s)
{
    return s->draws >= ENOUGH_DRAWS && !s->annealed && s->unmoved < s->chains &&
           s->step_size_bound <= 0 && fabs(s->acceptance_rate - s->step_size_target) > UNSETTLED;
}

/* The first variables that never changed, "3, 17, ..". */
static void list_unchanged(const sal_run_summary *s, char *text, size_t room)
{
    text[0] = '\0';
    for (int k = 0; k < SAL_RUN_NAMED && s->unchanged_first[k] >= 0; k++) {
        append(text, room, "%s%lld", k > 0 ? ", " : "", (long long)s->unchanged_first[k]);
    }
    append(text, room, "%s", s->unchanged > SAL_RUN_NAMED ? ", .." : "");
}

/* Variables that stay although f lets them change. */
static void describe_stuck(const sal_run_summary *s, char *text, size_t room)
{
    char list[SAL_RUN_NAMED * 24];
    list_unchanged(s, list, sizeof list);
    append(text, room, "%lld variable%s never changed in any chain (%s), but f lets ",
           (long long)s->unchanged, s->unchanged == 1 ? "" : "s", list);
    if (s->stuck[1] >= 0) {
        append(text, room,
               "%lld and %lld change together: given all others, %.3g%% of the draws would show "
               "other states of them. This sampler does not get there, and averages are those of "
               "one side. Try a sampler that moves any two variables together now and then "
               "(--sampler gibbs:block=8,blocks=random), or, where f between the sides is finite, "
               "--tempering.",
               (long long)s->stuck[0], (long long)s->stuck[1], 100 * s->stuck_chance);
        return;
    }
    append(text, room,
           "%lld change: given all others, %.3g%% of the draws would show other states of it. Try "
           "many more steps, such as --thin %lld, or another sampler.",
           (long long)s->stuck[0], 100 * s->stuck_chance, (long long)s->variables);
}

/* States out of reach of the sampler; of one that never moved more is said elsewhere. */
static bool is_cut_off(const sal_run_summary *s)
{
    return s->unreached > 0 && s->unmoved < s->chains;
}

static void describe_unreached(const sal_run_summary *s, char *text, size_t room)
{
    append(
        text, room,
        "%lld states that f allows are out of reach: no number of steps of this sampler leads to "
        "them from the most probable state, and averages are those of a part of the states. Try a "
        "larger block, or blocks that are drawn anew (--sampler gibbs:block=8,blocks=random), or a "
        "finite penalty in place of -inf with --tempering.",
        (long long)s->unreached);
}

static void describe_step_size(const sal_run_summary *s, char *text, size_t room)
{
    if (s->step_size_bound < 0) {
        append(text, room,
               "The step size ended at its lower bound, %.2g, with an acceptance of %.3f: f is too "
               "steep for steps along its gradient. Try a sampler by exact differences (--sampler "
               "gibbs, lb).",
               s->step_size, s->acceptance_rate);
        return;
    }
    append(text, room,
           "The step size had not settled when warm-up ended: acceptance is %.3f, and %.3f was "
           "aimed at. Try a longer --warmup%s.",
           s->acceptance_rate, s->step_size_target,
           s->acceptance_rate < s->step_size_target
               ? ", or --init with a state that --anneal has found"
               : "");
}

static bool is_coarse(const sal_run_summary *s)
{
    return s->draws > 0 && sali_rounding_is_coarse(s->rounding);
}

static void describe_rounding(const sal_run_summary *s, char *text, size_t room)
{
    const size_t used = strlen(text);
    sali_rounding_text(s->dtype, s->rounding,
                       s->annealed ? "differences of f, by which states are found to be better, are"
                                   : "logarithms of ratios of probabilities are",
                       text + used, room - used);
}

/* Draws down a denoising chain are independent: nothing has to mix from one to the next. */
static bool is_from_scratch(const sal_run_summary *s)
{
    return s->levels > 0 && isnan(s->arrivals);
}

bool sal_run_warning(const sal_run_summary *s, char *text, size_t room)
{
    bool stuck = isnan(s->ess_median) && !s->annealed;
    bool disagree = s->rhat_max > SAL_RHAT_LIMIT && !s->annealed && !is_from_scratch(s);
    bool rare = s->swap_rate_min < RARE_SWAPS;
    bool missed_aim = s->until && !s->reached && !s->stopped;
    bool one_sided = s->unchanged > 0 && s->stuck[0] >= 0 && s->unmoved == 0;
    if (room == 0) {
        return s->draws == 0 || stuck || disagree || one_sided || rare || is_unsettled(s) ||
               missed_aim || is_coarse(s) || is_cut_off(s) || s->exact || s->missed;
    }
    text[0] = '\0';
    if (s->draws == 0) {
        append(text, room, "The run was stopped before its first draw.");
    } else if (stuck && s->draws < SALI_FEW_DRAWS) {
        append(text, room, "Too few draws to judge by: there is no ESS. Try more draws. ");
    } else if (stuck && s->unmoved > 0) {
        describe_standing(s, text, room);
    } else if (stuck) {
        append(text, room,
               "There is no ESS: neither the distance to a random state nor f changes from draw to "
               "draw in some chain, though it moves. Look at marginals and R-hat. ");
    }
    if (disagree) {
        describe_disagreement(s, text, room);
    }
    if (missed_aim) {
        separate(text, room);
        append(
            text, room,
            "The run did not come to %s in %lld draws of each chain: the ESS of all chains is %.0f "
            "and the largest R-hat %.3f. Try more --draws, or another sampler.",
            s->until, (long long)s->draws, s->ess_total, s->rhat_max);
    }
    if (one_sided) {
        separate(text, room);
        describe_stuck(s, text, room);
    }
    if (rare) {
        separate(text, room);
        describe_rare_swaps(s, text, room);
    }
    if (is_unsettled(s)) {
        separate(text, room);
        describe_step_size(s, text, room);
    }
    if (is_cut_off(s)) {
        separate(text, room);
        describe_unreached(s, text, room);
    }
    if (is_coarse(s)) {
        separate(text, room);
        describe_rounding(s, text, room);
    }
    if (s->exact) {
        separate(text, room);
        append(text, room,
               "This model needs no draws: 'saltus exact' computes log Z and all marginals, by %s, "
               "in %s.",
               s->exact, s->exact_is_short ? "about a second" : "less time than this run took");
    }
    if (s->missed && s->draws > 0) {
        separate(text, room);
        append(text, room, "%s", s->missed);
    }
    size_t end = strlen(text);
    text[end - (end > 0 && text[end - 1] == ' ')] = '\0';
    return text[0] != '\0';
}

/* Temperatures, swaps and the best state, where there are any. */
static void print_tempering(const sal_run_summary *s, FILE *stream)
{
    if (s->replicas > 1) {
        fprintf(stream,
                "temperatures     %lld, 1 to %.4g: swaps %.2f or more, %.1f round trips "
                "a chain\n",
                (long long)s->replicas, s->temperatures[s->replicas - 1], s->swap_rate_min,
                s->round_trips);
    }
    if (is_from_scratch(s)) {
        fprintf(stream,
                "levels           %lld of the training's denoising chain: each draw is from "
                "scratch, down all of them\n",
                (long long)s->levels);
    } else if (s->levels > 0) {
        fprintf(stream,
                "levels           %lld of the training's trajectory: swaps %.2f or more, %.1f "
                "arrivals from the first a chain\n",
                (long long)s->levels, s->level_rate_min, s->arrivals);
    }
    if (s->annealed) {
        fprintf(stream, "annealed         from temperature %.4g to %.4g", s->anneal_from,
                s->anneal_to);
        if (s->reheats > 0) {
            fprintf(stream, ", heated %lld times to %.4g", (long long)s->reheats, s->reheat_to);
        }
        if (s->coolings > 1) {
            fprintf(stream, "; the best of %lld coolings (number %lld, %.1f s in all)",
                    (long long)s->coolings, (long long)s->cooling + 1, s->search_seconds);
        }
        fputc('\n', stream);
    }
    if (!isnan(s->best_log_prob)) {
        fprintf(stream, "best log prob    %.10g (unnormalised)\n", s->best_log_prob);
    }
    if (s->decoded) {
        fprintf(stream, "decoded          %s, log prob %.10g", s->decoded, s->decoded_log_prob);
        if (s->statistic) {
            fprintf(stream, ", %s %.10g", s->statistic, s->statistic_decoded);
        }
        fputc('\n', stream);
    }
}

static void print_statistic(const sal_run_summary *s, FILE *stream)
{
    if (!s->statistic) {
        return;
    }
    fprintf(stream, "statistic        %s %.6g, deviation %.3g", s->statistic, s->statistic_mean,
            s->statistic_deviation);
    if (!isnan(s->statistic_best)) {
        fprintf(stream, "; of the best state %.6g", s->statistic_best);
    }
    fputc('\n', stream);
}

/* What says how well the draws represent the target. */
static void print_mixing(const sal_run_summary *s, FILE *stream)
{
    if (s->unmoved == s->chains && s->draws >= SALI_FEW_DRAWS) {
        return;
    }
    if (s->unmoved == 0) {
        fprintf(stream, "ESS a chain      %.0f median, %.0f to %.0f (distance to a random state)\n",
                s->ess_median, s->ess_min, s->ess_max);
        fprintf(stream, "ESS per second   %.0f\n", s->ess_per_second);
    }
    if (s->unmoved == 0 || !isnan(s->rhat_max)) {
        fprintf(stream, "largest R-hat    %.3f%s\n", s->rhat_max,
                s->chains == 1 ? " (of the halves of one chain; several tell more: --chains 4)"
                               : "");
    }
    if (s->unchanged > 0) {
        char list[SAL_RUN_NAMED * 24];
        list_unchanged(s, list, sizeof list);
        fprintf(stream, "never changed    %lld variable%s in any chain: %s\n",
                (long long)s->unchanged, s->unchanged == 1 ? "" : "s", list);
    }
    fprintf(stream, "mean log prob    %.4f (unnormalised)\n", s->log_prob_mean);
}

/* What draws say: of a run without any, nothing. */
static void print_figures(const sal_run_summary *s, FILE *stream)
{
    fprintf(stream, "acceptance       %.3f\n", s->acceptance_rate);
    fprintf(stream, "mean jump        %.3f (L1 distance a step)\n", s->mean_jump);
    if (!s->annealed) {
        print_mixing(s, stream);
    }
    print_tempering(s, stream);
    print_statistic(s, stream);
    fprintf(stream, "steps per second %.0f (%.2f s, %d thread%s)\n", s->steps_per_second,
            s->seconds, s->threads, s->threads == 1 ? "" : "s");
}

sal_status sal_run_print_summary(const sal_run *run, FILE *stream)
{
    sal_run_summary s;
    sal_status status = sal_run_summarise(run, &s, NULL);
    if (status != SAL_OK) {
        return status;
    }
    char text[SAL_WARNING_SIZE];
    const bool warns = sal_run_warning(&s, text, sizeof text);
    const bool first =
        s.draws >= SALI_FEW_DRAWS && s.unmoved == s.chains; /* all else means nothing then */
    if (warns && first) {
        sali_print_wrapped(text, stream);
        fputc('\n', stream);
    }
    fprintf(stream, "model            %s, %lld variables\n", s.model, (long long)s.variables);
    fprintf(stream, "sampler          ");
    sali_run_print_sampler(run, stream);
    fprintf(stream, "\nchains           %lld x %lld draws (warm-up %lld, thin %lld), seed %llu%s\n",
            (long long)s.chains, (long long)s.draws, (long long)s.warmup, (long long)s.thin,
            (unsigned long long)s.seed, s.stopped ? ", stopped early" : "");
    if (s.until) {
        fprintf(stream, "until            %s: %s\n", s.until,
                s.reached ? "reached" : "NOT reached");
    }
    if (s.draws > 0) {
        print_figures(&s, stream);
    }
    if (warns && !first) {
        fputc('\n', stream);
        sali_print_wrapped(text, stream);
    }
    return ferror(stream) ? SAL_ERR_IO : SAL_OK;
}
