/* How soon averages are right without a gradient: figures 2 and 3 (right) of Xiang et al. 2023 and
 * figures 1 and 2 of their supplement, the error of estimated means over steps and time, and
 * effective samples.
 *
 *     convergence [--quick | --full] [--svg FIGURE.svg] [TARGET ..]
 *
 * TARGET: facility (15 facilities, 64 customers, lambda = 10 for each open one), printed (the same
 * without a price: the paper's lambda |V| is a constant), flat (4 customers, lambda = 1), potts (4
 * x 4 sites of 3 labels), ising (4 x 4 spins, a = 0.1, b = 0.2); none: all. MANA-3 changes 3
 * variables a step at most. Chains start at random and have no warm-up. Errors are those of each
 * chain by itself, the mean over chains; times are processor time of one thread. */
#include <math.h>
#include "../convergence.h"
#include "../panel.h"
#include "../program.h"

/* Step sizes are the paper's, for spins four times those, which is inferred (README.md): its text
 * has spins of -1 and 1, but what it says of the steps fits flips that move by 1. */
typedef struct target {
    const char *name, *model;
    double scale;  /* of errors: a spin's mean is off by twice what its probability is */
    int64_t steps; /* of the paper */
    method methods[MOST_METHODS + 1];
} target;

#define FACILITY_METHODS                                                      \
    {                                                                         \
        { "MANA", "mana", 1 }, { "UNA", "una", 0.2 }, { "LB", "lb", 0 },      \
            { "Gibbs", "gibbs:scan=random", 0 }, { "D-SVGD", "d-svgd", 0.1 }, \
            { "R-MALA", "r-mala", 0.1 }, { "MANA-3", "mana:most=3", 1 },      \
    }

static const target targets[] = {
    { "facility", "facility-location", 1, 30000, FACILITY_METHODS },
    { "printed", "facility-location:lambda=0", 1, 30000, FACILITY_METHODS },
    { "flat", "facility-location:customers=4,lambda=1", 1, 30000, FACILITY_METHODS },
    { "potts",
      "potts:side=4,states=3,theta=0.25",
      1,
      30000,
      { { "MANA", "mana", 2 },
        { "UNA", "una", 0.2 },
        { "LB", "lb", 0 },
        { "Gibbs", "gibbs:scan=random", 0 },
        { "GWG", "gwg", 0 },
        { "DMALA", "dmala", 2 },
        { "DULA", "dula", 0.2 } } },
    { "ising",
      "ising:side=4,theta=0.1,bias=0.2",
      2,
      60000,
      { { "MANA", "mana", 2 },
        { "UNA", "una", 0.4 },
        { "LB", "lb", 0 },
        { "Gibbs", "gibbs:scan=random", 0 },
        { "GWG", "gwg", 0 },
        { "DMALA", "dmala", 3.2 },
        { "DULA", "dula", 0.4 } } },
};
enum { TARGETS = sizeof targets / sizeof *targets };

static void print_head(const target *x, int64_t chains, const curve *c)
{
    printf(
        "%s: %s, %lld chains\n%-8s %6s %6s %6s %6s  %-20s %8s  | log10 RMSE of means after steps\n",
        x->name, x->model, (long long)chains, "", "step", "accep-", "", "us per",
        "ESS in 1000 steps", "ESS per");
    printf("%-8s %6s %6s %6s %6s  %6s %6s %6s %8s  |", "", "size", "tance", "jump", "step", "25%",
           "median", "75%", "ms");
    for (int p = 1; p < POINTS; p++) {
        printf(" %6lld", (long long)c->steps[p]);
    }
    printf("\n");
}

static void print_curve(const target *x, const method *m, int64_t chains, const curve *c)
{
    double us = 1e6 * c->step_seconds / (double)chains;
    printf("%-8s %6.3g %6.3f %6.3f %6.2f  %6.1f %6.1f %6.1f %8.2f  |", m->name, m->step_size,
           c->acceptance, c->jump, us, c->ess[0], c->ess[1], c->ess[2], c->ess[1] / us);
    for (int p = 1; p < POINTS; p++) {
        printf(" %6.2f", log10(x->scale * c->error[MEAN_RMSE][p]));
    }
    printf("\n");
    fflush(stdout);
}

/* At the time in which the fastest has made all its steps. */
static void print_equal_time(const target *x, int64_t steps, const curve *c)
{
    double seconds = curves_seconds(x->methods, c, steps);
    printf("log10 RMSE after %.3f s:", seconds);
    for (int k = 0; x->methods[k].name; k++) {
        printf(" %s %.2f", x->methods[k].name,
               log10(x->scale * curve_at_seconds(&c[k], MEAN_RMSE, seconds)));
    }
    printf("\n\n");
}

static sal_status compare(const target *x, size length, sal_figure *figure, sal_error *err)
{
    const sal_run_options o = { .chains = length == FULL ? 100 : 20,
                                .warmup = -1,
                                .draws = length == QUICK ? 1024 : x->steps };
    curve c[MOST_METHODS];
    truth t;
    sal_status status = truth_open(x->model, &t, err);
    for (int k = 0; status == SAL_OK && x->methods[k].name; k++) {
        status = method_run(&t, 0, &o, &x->methods[k], &c[k], err);
        if (status == SAL_OK && k == 0) {
            print_head(x, o.chains, &c[0]);
        }
        if (status == SAL_OK) {
            print_curve(x, &x->methods[k], o.chains, &c[k]);
        }
    }
    if (status == SAL_OK) {
        const curves_view v = { .title = x->name, .metric = MEAN_RMSE, .scale = x->scale };
        print_equal_time(x, o.draws, c);
        curves_draw(figure, &v, x->methods, c);
    }
    truth_free(&t);
    return status;
}

static sal_status make_figure(const arguments *a, sal_figure *figure, sal_error *err)
{
    sal_status status = SAL_OK;
    for (int x = 0; x < TARGETS && status == SAL_OK; x++) {
        if (arguments_want(a, targets[x].name)) {
            status = compare(&targets[x], a->size, figure, err);
        }
    }
    return status;
}

int main(int argc, char **argv)
{
    static const char *const words[] = { "facility", "printed", "flat", "potts", "ising", NULL };
    static const program p = {
        .title = "Xiang et al. 2023, figures 2 and 3, supplement 1 and 2: Newton proposals",
        .words = words,
        .run = make_figure
    };
    return program_main(argc, argv, &p);
}

/* SPDX-License-Identifier: MIT */
