/* Which sampler's averages come closest to the truth, by steps and by time: figures 2, 4, 8 and 9
 * of Rhodes & Gutmann 2022, as printed and as the authors' program runs.
 *
 *     convergence [--quick | --full] [--svg FIGURE.svg] [TARGET ..]
 *
 * TARGET: ordinal-poly2, ordinal-poly4, regression; poly2-as-run, poly4-as-run, regression-as-run;
 * none: all. --full is as long as the paper's runs: 100 chains, 50,000 steps. Errors are of each
 * chain by itself, the mean over chains (spread: the standard error); effective samples are
 * quartiles over chains. Times are processor time of one thread.
 *
 * As run: the targets of the program; pavg's step size while it collects and after it; Gibbs at
 * random sites; distances for effective samples from a starting state, of 20 variables; of ordinal
 * targets the KL divergence of estimates from the truth, not of the truth from estimates. */
#include <stdlib.h>
#include <string.h>
#include "../convergence.h"
#include "../panel.h"
#include "../program.h"

/* Step sizes are those of table 4, for the regression those of the authors' runs. As printed,
 * pavg's, which depends on the matrix that it learns, is searched for as in appendix H. NCG-.02,
 * Gibbs-random and the searched radii are not in the paper's figures. On the regression as run
 * gamma goes from 1 to about 30, and finds the way by the mean jump of 100 chains, not of 20. */
typedef struct target {
    const char *name, *model, *quick; /* quick: the model of brief runs; NULL: the same */
    bool as_run;
    int64_t related; /* variables of which pairs or covariances count */
    metric metrics[2];
    const char *titles[2];
    double scale;   /* of the second metric: from codes to levels */
    int low, high;  /* starting codes; high 0: only variable `low` is on */
    int64_t chains; /* of runs that are not brief, at least */
    method methods[MOST_METHODS + 1];
} target;

/* Levels are 4.5 / 49 apart. */
#define ORDINAL(kl)                                                        \
    .related = 20, .metrics = { kl, COVARIANCE },                          \
    .titles = { "KL divergence of marginals", "error of the covariance" }, \
    .scale = (4.5 / 49) * (4.5 / 49), .low = 10, .high = 12
#define REGRESSION                                                                       \
    .model = "regression", .quick = "regression:dim=10,irrelevant=40", .related = 20,    \
    .metrics = { MARGINAL, PAIR }, .titles = { "error of marginals", "error of pairs" }, \
    .scale = 1

static const target targets[] = {
    { .name = "ordinal-poly2",
      .model = "ordinal-poly2",
      ORDINAL(MARGINAL_KL),
      .methods = { { "NCG", "ncg", 0.05 },
                   { "AVG", "avg", 0.02 },
                   { "PAVG", "pavg", SEARCH },
                   { "GWG", "gwg:radius=1", 0 },
                   { "GWG-ordinal", "gwg:radius=16", 0 },
                   { "Gibbs", "gibbs", 0 },
                   { "Gibbs-random", "gibbs:scan=random", 0 },
                   { "MH-uniform", "mh-uniform:radius=2", 0 } } },
    { .name = "ordinal-poly4",
      .model = "ordinal-poly4",
      ORDINAL(MARGINAL_KL),
      .methods = { { "NCG", "ncg", 0.05 },
                   { "NCG-.02", "ncg", 0.02 },
                   { "AVG", "avg", 0.02 },
                   { "PAVG", "pavg", SEARCH },
                   { "GWG", "gwg:radius=1", 0 },
                   { "GWG-ordinal", "gwg:radius=8", 0 },
                   { "Gibbs", "gibbs", 0 },
                   { "MH-uniform", "mh-uniform:radius=1", 0 } } },
    { .name = "regression",
      REGRESSION,
      .methods = { { "NCG", "ncg", 0.3 },
                   { "AVG", "avg", 1000 },
                   { "PAVG", "pavg", SEARCH },
                   { "GWG", "gwg", 0 },
                   { "Gibbs", "gibbs", 0 } } },
    { .name = "poly2-as-run",
      .model = "ordinal-poly2:shift=minus,normalised=1",
      .as_run = true,
      ORDINAL(REVERSE_KL),
      .methods = { { "NCG", "ncg", 0.05 },
                   { "AVG", "avg", 0.02 },
                   { "PAVG", "pavg:adapt-step-size=0.02", 1000 },
                   { "GWG", "gwg:radius=1", 0 },
                   { "GWG-ordinal", "gwg:radius=16", 0 },
                   { "GWG-search", "gwg:radius=search", 0 },
                   { "Gibbs", "gibbs:scan=random", 0 },
                   { "MH-uniform", "mh-uniform:radius=2", 0 },
                   { "MH-search", "mh-uniform:radius=search", 0 } } },
    { .name = "poly4-as-run",
      .model = "ordinal-poly4:shift=minus,normalised=1",
      .as_run = true,
      ORDINAL(REVERSE_KL),
      .methods = { { "NCG", "ncg", 0.05 },
                   { "AVG", "avg", 0.02 },
                   { "PAVG", "pavg:adapt-step-size=0.02", 0.06 },
                   { "GWG", "gwg:radius=1", 0 },
                   { "GWG-ordinal", "gwg:radius=8", 0 },
                   { "GWG-search", "gwg:radius=search", 0 },
                   { "Gibbs", "gibbs:scan=random", 0 },
                   { "MH-uniform", "mh-uniform:radius=1", 0 },
                   { "MH-search", "mh-uniform:radius=search", 0 } } },
    { .name = "regression-as-run",
      REGRESSION,
      .as_run = true,
      .low = 1,
      .chains = 100,
      .methods = { { "NCG", "ncg", 0.3 },
                   { "AVG", "avg", 1000 },
                   { "PAVG", "pavg", 1000 },
                   { "GWG", "gwg", 0 },
                   { "Gibbs", "gibbs:scan=random", 0 } } },
};
enum { TARGETS = sizeof targets / sizeof *targets };

typedef struct length {
    bool quick;
    int64_t chains, warmup, draws;
} length;

/* ---- starts */

static int32_t *starting_codes(const target *x, const truth *t, int64_t chains)
{
    int32_t *codes = calloc((size_t)(chains * t->V), sizeof *codes);
    uint64_t state = 1;
    for (int64_t k = 0; codes && k < chains * t->V; k++) {
        state = 6364136223846793005u * state + 1442695040888963407u;
        codes[k] = x->high ? x->low + (int32_t)((state >> 33) % (uint64_t)(x->high - x->low + 1))
                           : k % t->V == x->low;
    }
    return codes;
}

/* ---- what is printed */

static void print_head(const target *x, const length *z, const curve *c)
{
    printf("%s: %lld chains, %lld steps after %lld\n", x->name, (long long)z->chains,
           (long long)z->draws, (long long)z->warmup);
    printf("%-12s %8s %6s %6s  %-21s %7s  | %s | %s\n", "", "step", "accep-", "",
           "ESS in 1000 steps", "ms per", x->titles[0], x->titles[1]);
    printf("%-12s %8s %6s %6s  %6s %6s %6s  %7s  ", "", "size", "tance", "jump", "25%", "median",
           "75%", "step");
    for (int m = 0; m < 2; m++) {
        printf("|");
        for (int p = 1; p < POINTS; p += 2) {
            printf(" %6lld", (long long)c->steps[p]);
        }
        printf(" (spread) ");
    }
    printf("\n");
}

static void print_curve(const target *x, const char *name, const curve *c)
{
    printf("%-12s ", name);
    if (c->step_size == c->step_size) {
        printf("%8.4g", c->step_size);
    } else {
        printf("%8s", "-");
    }
    printf(" %6.3f %6.3f  %6.2f %6.2f %6.2f  %7.3f  ", c->acceptance, c->jump, c->ess[0], c->ess[1],
           c->ess[2], 1000 * c->step_seconds);
    for (int m = 0; m < 2; m++) {
        double scale = m == 1 ? x->scale : 1;
        printf("|");
        for (int p = 1; p < POINTS; p += 2) {
            printf(" %6.4f", scale * c->error[x->metrics[m]][p]);
        }
        printf(" (%6.4f) ", scale * c->spread[x->metrics[m]][POINTS - 1]);
    }
    printf("\n");
    fflush(stdout);
}

/* At the time in which the fastest has made all its steps. */
static void print_equal_time(const target *x, int64_t steps, const curve *c)
{
    double seconds = curves_seconds(x->methods, c, steps);
    printf("after %.2f s each\n", seconds);
    for (int k = 0; x->methods[k].name; k++) {
        printf("%-12s %8.0f steps, ESS %7.1f, errors %6.4f %6.4f\n", x->methods[k].name,
               seconds / c[k].step_seconds, c[k].ess[1] * seconds / c[k].step_seconds / 1000,
               curve_at_seconds(&c[k], x->metrics[0], seconds),
               x->scale * curve_at_seconds(&c[k], x->metrics[1], seconds));
    }
    printf("\n");
}

static void draw(const target *x, const curve *c, sal_figure *figure)
{
    for (int m = 0; m < 2; m++) {
        const curves_view v = { x->name, x->titles[m], x->metrics[m], m == 1 ? x->scale : 1,
                                m == 1 };
        curves_draw(figure, &v, x->methods, c);
    }
}

/* ---- a target */

static sal_status run_methods(const target *x, truth *t, const length *z, curve *c, sal_error *err)
{
    int32_t *init = starting_codes(x, t, z->chains);
    const sal_run_options o = {
        .chains = z->chains, .warmup = z->warmup, .draws = z->draws, .init = init
    };
    const int64_t related = x->related < t->V ? x->related : t->V;
    sal_status status = init ? SAL_OK : SAL_ERR_MEMORY;
    if (init && x->as_run) {
        memcpy(t->random, init, (size_t)t->V * sizeof *init);
        t->counted = related;
    }
    for (int k = 0; status == SAL_OK && x->methods[k].name; k++) {
        status = method_run(t, related, &o, &x->methods[k], &c[k], err);
        if (status == SAL_OK && k == 0) {
            print_head(x, z, &c[0]);
        }
        if (status == SAL_OK) {
            print_curve(x, x->methods[k].name, &c[k]);
        }
    }
    free(init);
    return status;
}

static sal_status compare(const target *x, length l, sal_figure *figure, sal_error *err)
{
    const length *z = &l;
    l.chains = !l.quick && x->chains > l.chains ? x->chains : l.chains;
    const char *model = z->quick && x->quick ? x->quick : x->model;
    curve c[MOST_METHODS];
    truth t;
    sal_status status = truth_open(model, &t, err);
    status = status ? status : run_methods(x, &t, z, c, err);
    if (status == SAL_OK) {
        print_equal_time(x, z->draws, c);
        draw(x, c, figure);
    }
    truth_free(&t);
    return status;
}

static sal_status make_figure(const arguments *a, sal_figure *figure, sal_error *err)
{
    const length z = a->size == FULL    ? (length){ .chains = 100, .warmup = 5000, .draws = 50000 }
                     : a->size == QUICK ? (length){ true, .chains = 8, .warmup = 200, .draws = 512 }
                                        : (length){ .chains = 20, .warmup = 4000, .draws = 8192 };
    sal_status status = SAL_OK;
    for (int x = 0; x < TARGETS && status == SAL_OK; x++) {
        if (arguments_want(a, targets[x].name)) {
            status = compare(&targets[x], z, figure, err);
        }
    }
    return status;
}

int main(int argc, char **argv)
{
    static const char *const words[] = {
        "ordinal-poly2", "ordinal-poly4",     "regression", "poly2-as-run",
        "poly4-as-run",  "regression-as-run", NULL
    };
    static const program p = {
        .title = "Rhodes & Gutmann 2022, figures 2, 4, 8 and 9: errors and effective samples",
        .words = words,
        .run = make_figure
    };
    return program_main(argc, argv, &p);
}

/* SPDX-License-Identifier: MIT */
