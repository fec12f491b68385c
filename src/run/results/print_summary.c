/* SPDX-License-Identifier: MIT */
/* The summary of a run for people. */
#include <math.h>

#include <saltus/sample.h>
#include "core/text.h"
#include "run/parts/record.h"
#include "run/results/results.h"

/* Print the lines on temperatures, levels, annealing, the best state and the decoded state, for a
 * run that has them. */
static void print_tempering(const sal_run_summary *s, FILE *stream)
{
    if (s->replicas > 1) {
        fprintf(stream,
                "temperatures     %lld, 1 to %.4g: swaps %.2f or more, %.1f round trips "
                "a chain\n",
                (long long)s->replicas, s->temperatures[s->replicas - 1], s->swap_rate_min,
                s->round_trips);
    }
    if (s->houdayer_shares) {
        fprintf(stream,
                "cluster exchange at %lld of %lld temperatures: clusters of %.0f%% of the "
                "differing variables at T = 1\n",
                (long long)s->houdayer_levels, (long long)s->replicas, 100 * s->houdayer_shares[0]);
    }
    if (sali_run_is_from_scratch(s)) {
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

/* Print the line on the statistic; nothing for a run without one. */
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

/* Print how well the draws represent the target: ESS, R-hat, variables that never changed. Prints
 * nothing if no chain moved. */
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
        sali_unchanged_list(s, list, sizeof list);
        fprintf(stream, "never changed    %lld variable%s in any chain: %s\n",
                (long long)s->unchanged, s->unchanged == 1 ? "" : "s", list);
    }
    fprintf(stream, "mean log prob    %.4f (unnormalised)\n", s->log_prob_mean);
}

/* Print the figures that are computed from draws; the run has draws. */
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
        s.draws >= SALI_FEW_DRAWS && s.unmoved == s.chains; /* figures mean nothing then */
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
