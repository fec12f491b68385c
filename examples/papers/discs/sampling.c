/* Effective samples on the models of DISCS (Goshvadi et al. 2023): f and settings as in its
 * program, github.com/google-research/discs. 100 chains make 100,000 steps each; of the second half
 * the mean over chains of the effective samples by the L1 distance to a random state (TensorFlow
 * Probability's estimator).
 *
 *     sampling [--quick | --full] [GROUP | MODEL-DIRECTORY ..]
 *
 * Groups: ising, twice, sizes, temperatures, temperatures-100, potts, bernoulli, categorical,
 * labels, fhmm; without any: ising. A directory is that of a trained model. --full has 100 chains
 * on two threads; the default has 5 on one, fewer on large models and of slow samplers; --quick
 * makes few steps. ESS/s counts the effective samples of all chains. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "../program.h"
#include "models.h"

/* Theirs, and what else there is here. The default has so many times fewer chains. */
static const struct {
    const char *sampler;
    int64_t fewer;
} samplers[] = {
    { "mh-uniform", 1 },
    { "gibbs", 1 },
    { "gibbs:block=2", 1 },
    { "hamming-ball", 1 },
    { "block-gibbs", 1 },
    { "lb", 1 },
    { "gwg", 1 },
    { "gwg:hops=adapt", 1 },
    { "gwg:hops=adapt,balance=barker", 1 },
    { "pas", 5 },
    { "pas:balance=barker", 5 },
    { "pafs", 1 },
    { "pafs:balance=barker", 1 },
    { "dlmc", 1 },
    { "dlmc:balance=barker", 1 },
    { "dlmcf", 1 },
    { "dlmcf:balance=barker", 1 },
    { "ncg", 1 },
    { "ncg:cycle=8", 1 },
    { "mana", 5 },
    { "avg", 1 },
    { "avg:momentum=0.6,correction=0.25", 1 },
    { "pavg", 5 },
    { "pavg:momentum=0.6", 5 },
    { NULL, 0 },
};

enum { HALF = 50000, CHAINS = 100, LARGE = 5000 };

typedef struct lengths {
    int64_t chains, steps;
    int threads;
} lengths;

static sal_status sample(sal_model *model, const char *sampler, lengths n, sal_run_summary *s,
                         sal_error *err)
{
    sal_run *run = NULL;
    const sal_run_options o = { .sampler = sampler,
                                .chains = n.chains,
                                .warmup = n.steps,
                                .draws = n.steps,
                                .thin = 1,
                                .seed = 1,
                                .threads = n.threads };
    sal_status status = sal_sample(model, &o, &run, err);
    status = status ? status : sal_run_summarise(run, s, err);
    sal_run_destroy(run);
    return status;
}

/* Their figure, or NAN. */
static double published_ess(const published *theirs, const char *sampler)
{
    for (; theirs && theirs->sampler; theirs++) {
        if (strcmp(theirs->sampler, sampler) == 0) {
            return theirs->ess;
        }
    }
    return NAN;
}

static void print_number(double value, int width, int decimals)
{
    if (isnan(value)) {
        printf(" %*s", width, "-");
    } else {
        printf(" %*.*f", width, decimals, value);
    }
}

static sal_status show(sal_model *model, const published *theirs, const char *sampler, lengths n,
                       sal_error *err)
{
    sal_run_summary s;
    sal_error unsuited;
    if (sal_sampler_find(sampler, model, 0, NULL, &unsuited) == SAL_ERR_UNSUPPORTED) {
        return SAL_OK;
    }
    sal_status status = sample(model, sampler, n, &s, err);
    if (status != SAL_OK) {
        return status;
    }
    /* A chain that never moves has none; theirs counts it as 1. */
    double ess = isnan(s.ess_total) ? 0 : s.ess_total / (double)n.chains;
    double scale = (double)HALF / (double)n.steps;
    printf("%-30s", sampler);
    print_number(ess * scale, 9, 1);
    print_number(published_ess(theirs, sampler), 9, 1);
    print_number(s.ess_per_second, 9, 1);
    print_number(s.acceptance_rate, 7, 2);
    print_number(s.mean_jump, 8, 2);
    print_number(s.rhat_max, 7, 2);
    printf("\n");
    fflush(stdout);
    return SAL_OK;
}

static sal_status measure(sal_model *model, const char *name, const published *theirs, lengths n,
                          sal_error *err)
{
    const int64_t V = sal_space_variables(sal_model_space(model));
    sal_status status = SAL_OK;
    printf("%-30s %9s %9s %9s %7s %8s %7s\n", name, "ESS", "theirs", "ESS/s", "accept", "jump",
           "R-hat");
    for (int k = 0; samplers[k].sampler && status == SAL_OK; k++) {
        lengths part = n;
        if (n.chains < CHAINS) {
            part.chains = part.chains / samplers[k].fewer / (V / LARGE + 1);
            part.chains = part.chains > 0 ? part.chains : 1;
        }
        status = show(model, theirs, samplers[k].sampler, part, err);
    }
    printf("\n");
    return status;
}

static bool is_group(const char *word)
{
    for (const discs_model *m = discs_models; m->name; m++) {
        if (strcmp(m->group, word) == 0) {
            return true;
        }
    }
    return false;
}

static sal_status measure_group(const char *group, lengths n, sal_error *err)
{
    sal_status status = SAL_OK;
    for (const discs_model *m = discs_models; m->name && status == SAL_OK; m++) {
        sal_model *model = NULL;
        if (strcmp(m->group, group) != 0) {
            continue;
        }
        status = m->make(m, &model, err);
        status = status ? status : measure(model, m->name, m->theirs, n, err);
        sal_model_destroy(model);
    }
    return status;
}

static sal_status measure_file(const char *path, lengths n, sal_error *err)
{
    sal_model *model = NULL;
    sal_status status = sal_model_open(path, 0, &model, err);
    status = status ? status : measure(model, path, NULL, n, err);
    sal_model_destroy(model);
    return status;
}

static sal_status run(const arguments *a, sal_figure *figure, sal_error *err)
{
    static char *usual[] = { "ising", NULL };
    const bool full = a->size == FULL;
    const bool brief = a->size == QUICK;
    const lengths n = { full ? CHAINS : brief ? 2 : 5, brief ? 500 : HALF, full ? 2 : 1 };
    sal_status status = SAL_OK;
    (void)figure;
    for (char **word = a->files[0] ? a->files : usual; *word && status == SAL_OK; word++) {
        status = is_group(*word) ? measure_group(*word, n, err) : measure_file(*word, n, err);
    }
    return status;
}

int main(int argc, char **argv)
{
    static const program p = { .title = "DISCS", .files = true, .run = run };
    return program_main(argc, argv, &p);
}

/* SPDX-License-Identifier: MIT */
