/* Effective samples on the models of DISCS (Goshvadi et al. 2023): f and settings as in its
 * program, github.com/google-research/discs. 100 chains make 100,000 steps each; of the second half
 * the mean over chains of the effective samples by the L1 distance to a random state (TensorFlow
 * Probability's estimator).
 *
 *     sampling [--quick | --full] [GROUP | MODEL-DIRECTORY ..]
 *
 * Groups: ising, twice, sizes, temperatures, temperatures-100, potts, bernoulli, categorical,
 * labels, fhmm; without any: ising. A directory is that of a trained model. --full has 100 chains;
 * the default has 4, and 2 with fewer steps on large models, of slow samplers and at the
 * temperatures, whose effective samples are scaled to 50,000 steps; --quick makes few steps. All
 * use two threads, and ESS/s counts the effective samples of all chains. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "../program.h"
#include "models.h"

/* Theirs, and what else there is here. */
typedef struct measured {
    const char *sampler;
    int64_t fewer;  /* the default makes so many times fewer steps, of all chains together */
    bool quadratic; /* not for files: with an RBM each move of a path evaluates all neighbours */
} measured;

static const measured samplers[] = {
    { "mh-uniform", 1, false },
    { "gibbs", 1, false },
    { "gibbs:block=2", 1, false },
    { "hamming-ball", 1, false },
    { "block-gibbs", 1, false },
    { "lb", 1, false },
    { "gwg", 1, false },
    { "gwg:hops=adapt", 1, false },
    { "gwg:hops=adapt,balance=barker", 1, false },
    { "pas", 25, true },
    { "pas:balance=barker", 25, true },
    { "pafs", 1, false },
    { "pafs:balance=barker", 1, false },
    { "dlmc", 1, false },
    { "dlmc:balance=barker", 1, false },
    { "dlmcf", 1, false },
    { "dlmcf:balance=barker", 1, false },
    { "ncg", 1, false },
    { "ncg:cycle=8", 1, false },
    { "mana", 25, false },
    { "avg", 1, false },
    { "avg:momentum=0.6,correction=0.25", 1, false },
    { "pavg", 25, false },
    { "pavg:momentum=0.6", 25, false },
    { 0 },
};

enum {
    HALF = 50000, /* steps that adapt, and as many that count */
    THREADS = 2,
    LARGE = 5000,  /* widths from which the default makes fewer steps */
    MOST = 25,     /* times fewer, of all chains together, but */
    VAST = 200000, /* from this width on */
};

typedef struct lengths {
    int64_t chains, steps; /* of each half */
} lengths;

/* What a model of relaxed width N, and a sampler, are measured with. */
static lengths lengths_of(size length, int64_t N, int64_t fewer)
{
    const int64_t wanted = fewer * (N / LARGE + 1), most = MOST * (N / VAST + 1);
    const int64_t parts = wanted < most ? wanted : most;
    switch (length) {
    case FULL:
        return (lengths){ 100, HALF };
    case QUICK:
        return (lengths){ THREADS, 500 };
    default:
        return parts < 2 ? (lengths){ 2 * THREADS, HALF } : (lengths){ THREADS, 2 * HALF / parts };
    }
}

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
                                .threads = THREADS };
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

static sal_status measure(sal_model *model, const discs_model *m, size length, sal_error *err)
{
    const int64_t N = sal_space_width(sal_model_space(model));
    sal_status status = SAL_OK;
    printf("%-30s %9s %9s %9s %7s %8s %7s\n", m->name, "ESS", "theirs", "ESS/s", "accept", "jump",
           "R-hat");
    for (const measured *s = samplers; s->sampler && status == SAL_OK; s++) {
        if (m->make || !s->quadratic) {
            const lengths n = lengths_of(length, N, s->fewer * m->fewer);
            status = show(model, m->theirs, s->sampler, n, err);
        }
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

static sal_status measure_group(const char *group, size length, sal_error *err)
{
    sal_status status = SAL_OK;
    for (const discs_model *m = discs_models; m->name && status == SAL_OK; m++) {
        sal_model *model = NULL;
        if (strcmp(m->group, group) != 0) {
            continue;
        }
        status = m->make(m, &model, err);
        status = status ? status : measure(model, m, length, err);
        sal_model_destroy(model);
    }
    return status;
}

static sal_status measure_file(const char *path, size length, sal_error *err)
{
    const discs_model m = { .name = path, .fewer = 1 };
    sal_model *model = NULL;
    sal_status status = sal_model_open(path, 0, &model, err);
    status = status ? status : measure(model, &m, length, err);
    sal_model_destroy(model);
    return status;
}

static sal_status run(const arguments *a, sal_figure *figure, sal_error *err)
{
    static char *usual[] = { "ising", NULL };
    sal_status status = SAL_OK;
    (void)figure;
    for (char **word = a->files[0] ? a->files : usual; *word && status == SAL_OK; word++) {
        status = is_group(*word) ? measure_group(*word, a->size, err)
                                 : measure_file(*word, a->size, err);
    }
    return status;
}

int main(int argc, char **argv)
{
    static const program p = { .title = "DISCS", .files = true, .run = run };
    return program_main(argc, argv, &p);
}

/* SPDX-License-Identifier: MIT */
