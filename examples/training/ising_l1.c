/* Learning which spins are coupled: Grathwohl et al. 2021, section 7.1. Sparse Ising models, f(s) =
 * s'Js, are learned from their states as dense ones, with a penalty l1 sum |J_ij|. The couplings
 * follow the gradient from persistent chains that make K steps of gwg or of Gibbs an update; or
 * that of the pseudo-likelihood, which needs no chains. Printed: log RMSE of J, as in figure 6.
 *
 *     ising_l1 [--as-run]            a lattice of 225 spins; a minute or two
 *     ising_l1 [--as-run] --full     625 spins, and a random graph; more values of K
 *     ising_l1 [--as-run] --brief    a lattice of 36 spins
 *
 * The paper's appendix with its settings is not public with it; those below are our choice. With
 * --as-run they are those of the authors' program: 10,000 updates of 256 rows and as many chains,
 * and random graphs with normal couplings. One thread; seconds are processor time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <saltus/saltus.h>

/* ---- truth, data and model */

typedef struct experiment {
    int64_t updates, batch;
    int64_t spins;
    double *truth; /* J* [spins x spins] */
    double *J;     /* [spins x spins], work */
    sal_data data;
} experiment;

static void experiment_free(experiment *x)
{
    free(x->truth);
    free(x->J);
    sal_data_destroy(&x->data);
}

/* J* of a quadratic f(s) = s'J*s + b's from its gradient 2 J*s + b at unit vectors. */
static sal_status read_couplings(const sal_model *model, experiment *x, sal_error *err)
{
    const int64_t D = x->spins;
    double f, *unit = calloc((size_t)D, sizeof *unit), *at_zero = calloc((size_t)D, sizeof *unit);
    sal_status status =
        unit && at_zero ? sal_model_evaluate_at(model, 1, unit, &f, at_zero, err) : SAL_ERR_MEMORY;
    for (int64_t i = 0; i < D && status == SAL_OK; i++) {
        double *row = x->truth + i * D;
        unit[i] = 1;
        status = sal_model_evaluate_at(model, 1, unit, &f, row, err);
        unit[i] = 0;
        for (int64_t j = 0; j < D; j++) {
            row[j] = (row[j] - at_zero[j]) / 2;
        }
    }
    free(unit);
    free(at_zero);
    return status;
}

/* 2000 states: 2 draws of 1000 chains, by Gibbs in turn, 1000 scans after a random start. */
static sal_status begin(const char *specification, experiment *x, sal_error *err)
{
    sal_model *model = NULL;
    sal_run *run = NULL;
    sal_status status = sal_model_open(specification, 0, &model, err);
    if (status == SAL_OK) {
        const int64_t D = x->spins = sal_space_variables(sal_model_space(model));
        const sal_run_options o = { .sampler = "gibbs",
                                    .chains = 1000,
                                    .warmup = 1000 * D,
                                    .draws = 2,
                                    .thin = 100 * D,
                                    .record.draws = true };
        x->truth = malloc((size_t)(D * D) * sizeof *x->truth);
        x->J = malloc((size_t)(D * D) * sizeof *x->J);
        status = x->truth && x->J ? read_couplings(model, x, err) : SAL_ERR_MEMORY;
        status = status ? status : sal_sample(model, &o, &run, err);
    }
    status = status ? status : sal_data_from_run(run, &x->data, err);
    sal_run_destroy(run);
    sal_model_destroy(model);
    return status;
}

/* f(s) = s'Js, with J = 0. */
static sal_status make_model(int64_t spins, sal_model **model, sal_error *err)
{
    sal_space *space = sal_space_create();
    sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_SPIN, .count = spins }, err);
    sal_tape *t = sal_tape_create(space, SAL_F32);
    sal_expr J = sal_param(t, "J", SAL_SHAPE(spins, spins));
    sal_status status = sal_model_from_tape(t, sal_quad(sal_state(t), J), model, err);
    sal_tape_destroy(t);
    sal_space_destroy(space);
    return status;
}

/* ---- training */

static sal_status rmse(const sal_model *model, const experiment *x, double *out, sal_error *err)
{
    double sum = 0;
    const int64_t n = x->spins * x->spins;
    sal_status status = sal_model_get_params(model, "J", x->J, err);
    for (int64_t k = 0; k < n && status == SAL_OK; k++) {
        double d = x->J[k] - x->truth[k];
        sum += d * d;
    }
    *out = sqrt(sum / (double)n);
    return status;
}

/* `sampler` NULL: pseudo-likelihood. */
static sal_status train(const experiment *x, const char *sampler, int64_t K, double *error,
                        double *seconds, sal_error *err)
{
    sal_model *model = NULL;
    const sal_train_options o = {
        .objective = sampler ? SAL_PCD : SAL_PSEUDO_LIKELIHOOD,
        .sampler = sampler,
        .steps = K,
        .iterations = x->updates,
        .batch = x->batch,
        .buffer = { .chains = sampler ? x->batch : 0, .start = sampler ? SAL_BUFFER_UNIFORM : 0 },
        .learning_rate = 1e-3,
        .couplings = { .l1 = 0.01, .zero_diagonal = true },
        .largest_difference = 1e6, /* chains of few steps lag far behind, and come back */
        .threads = 1,
    };
    sal_status status = make_model(x->spins, &model, err);
    clock_t start = clock();
    status = status ? status : sal_train(model, &x->data, &o, err);
    *seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    status = status ? status : rmse(model, x, error, err);
    sal_model_destroy(model);
    return status;
}

/* ---- what is printed */

static sal_status print_row(const char *name, const experiment *x, const char *sampler,
                            const int *K, sal_error *err)
{
    double error, seconds, total = 0;
    sal_status status = SAL_OK;
    printf("%-18s", name);
    for (; *K && status == SAL_OK; K++) {
        status = train(x, sampler, *K, &error, &seconds, err);
        printf("  %6.3f", log(error));
        fflush(stdout);
        total += seconds;
    }
    printf("  %7.1f\n", total);
    return status;
}

/* The error of J = 0 is that of knowing nothing. */
static double error_of_zero(const experiment *x)
{
    double sum = 0;
    for (int64_t k = 0; k < x->spins * x->spins; k++) {
        sum += x->truth[k] * x->truth[k];
    }
    return sqrt(sum) / (double)x->spins;
}

static sal_status print_table(const char *specification, bool as_run, const int *K, sal_error *err)
{
    static const int once[] = { 1, 0 };
    experiment x = { .updates = as_run ? 10000 : 1000, .batch = as_run ? 256 : 100 };
    sal_status status = begin(specification, &x, err);
    if (status == SAL_OK) {
        printf("%s, log RMSE; of J = 0: %.3f\n%-18s", specification, log(error_of_zero(&x)), "K");
        for (const int *k = K; *k; k++) {
            printf("  %6d", *k);
        }
        printf("  seconds\n");
        status = print_row("gwg", &x, "gwg", K, err);
    }
    status = status ? status : print_row("Gibbs", &x, "gibbs:scan=random", K, err);
    status = status ? status : print_row("pseudo-likelihood", &x, NULL, once, err);
    experiment_free(&x);
    return status;
}

int main(int argc, char **argv)
{
    static const int few[] = { 5, 25, 100, 0 }, many[] = { 5, 10, 25, 50, 100, 0 };
    bool full = false, brief = false, as_run = false, good = true;
    sal_error err = { 0 };
    for (int k = 1; k < argc; k++) {
        full |= strcmp(argv[k], "--full") == 0;
        brief |= strcmp(argv[k], "--brief") == 0;
        as_run |= strcmp(argv[k], "--as-run") == 0;
        good &= strcmp(argv[k], "--full") == 0 || strcmp(argv[k], "--brief") == 0 ||
                strcmp(argv[k], "--as-run") == 0;
    }
    if (!good) {
        fprintf(stderr, "ising_l1 [--as-run] [--full|--brief]\n");
        return 64;
    }
    sal_status status = print_table(brief  ? "ising:side=6,theta=0.15"
                                    : full ? "ising:side=25,theta=0.25"
                                           : "ising:side=15,theta=0.25",
                                    as_run, full ? many : few, &err);
    if (full && status == SAL_OK) {
        printf("\n");
        status = print_table(as_run ? "ising-er:nodes=200,degree=4,theta=0.5,weights=normal"
                                    : "ising-er:nodes=200,degree=4,theta=0.25",
                             as_run, many, &err);
    }
    if (status != SAL_OK) {
        fprintf(stderr, "%s\n", err.message);
    }
    return status != SAL_OK;
}

/* SPDX-License-Identifier: MIT */
