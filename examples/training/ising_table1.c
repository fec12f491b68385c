/* How good must a sampler be to learn from its samples? Table 1 of Rhodes & Gutmann 2022: the
 * couplings of an Ising model, f(s) = s'Js on a cyclic 10 x 10 lattice, are learned from 10,000 of
 * its states by persistent contrastive divergence. Each update moves 50 chains by as many steps as
 * the sampler can make at the price of K steps of avg. The error is |J - J*|_F / sqrt(100).
 *
 *     ising_table1            the cells of K = 5 and 10, and how avg starts; about a minute
 *     ising_table1 --full     all cells
 *     ising_table1 --brief    four cells
 *     ising_table1 --seeds N  data, starts and samples of N seeds: mean (standard deviation)
 *     ising_table1 --updates N  instead of 2200
 *
 * Seconds are processor time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "ising_pcd.h"

enum { COLUMNS = 5 };

static int64_t updates = 2200;
static const int nominal[COLUMNS] = { 1, 5, 10, 15, 20 };

/* A row of the table. Step sizes are four times those of the paper's table 4, which fit states
 * 1 apart: a spin's are 2 apart. */
typedef struct method {
    const char *name, *sampler;
    double step_size;
    bool data_preconditioner; /* is the preconditioner */
    int steps[COLUMNS];       /* for the price of K steps of avg */
    double paper[COLUMNS];
    double again[COLUMNS]; /* the authors' program, run again with K = 5 and 10; 0: not run */
} method;

static const method methods[] = {
    { "NCG",
      "ncg",
      2.0,
      false,
      { 1, 6, 12, 18, 24 },
      { .837, .117, .117, .117, .117 },
      { 0, .114, .115 } },
    { "AVG",
      "avg",
      0.8,
      false,
      { 1, 5, 10, 15, 20 },
      { 5.535, 5.452, 5.273, 4.814, .120 },
      { 0, 5.5, 5.3, 0, .120 } },
    { "PAVG model-specific",
      "pavg:preconditioner=hessian",
      0.8,
      false,
      { 3, 15, 30, 45, 60 },
      { .120, .118, .118, .118, .118 },
      { 0, .118, .118 } },
    { "PAVG model-agnostic",
      "pavg",
      0.8,
      true,
      { 1, 5, 10, 15, 20 },
      { 5.521, .124, .121, .119, .119 },
      { 0, .123, .120 } },
    { "GWG",
      "gwg",
      0,
      false,
      { 1, 6, 12, 18, 24 },
      { 5.271, .163, .138, .132, .128 },
      { 0, .166, .138 } },
    { "Gibbs",
      "gibbs:scan=random",
      0,
      false,
      { 2, 10, 20, 30, 40 },
      { 4.825, .805, .167, .136, .132 },
      { 0, .780, .167 } },
};
enum { AVG = 1, METHODS = sizeof methods / sizeof *methods };

/* ---- training */

static sal_status train(const experiment *x, const method *m, int column,
                        int (*report)(const sal_train_report *, void *), double *error,
                        sal_error *err)
{
    const learner l = { .sampler = m->sampler,
                        .step_size = m->step_size,
                        .data_preconditioner = m->data_preconditioner,
                        .steps = m->steps[column],
                        .updates = updates,
                        .report = report };
    return experiment_learn(x, &l, error, err);
}

/* ---- what is printed */

/* One cell: mean and standard deviation over the experiments; adds to the processor time. */
static sal_status print_cell(int n, const experiment *x, const method *m, int column,
                             double *seconds, sal_error *err)
{
    double sum = 0, squares = 0, error;
    sal_status status = SAL_OK;
    clock_t start = clock();
    for (int k = 0; k < n && status == SAL_OK; k++) {
        status = train(&x[k], m, column, NULL, &error, err);
        sum += error;
        squares += error * error;
    }
    *seconds += (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("  %6.4f", sum / n);
    if (n > 1) {
        printf(" (%6.4f)", sqrt(fmax(squares - sum * sum / n, 0) / (n - 1)));
    }
    fflush(stdout);
    return status;
}

static void print_known(const char *name, const double *errors, const bool *columns, int pad)
{
    printf("%-20s", name);
    for (int c = 0; c < COLUMNS; c++) {
        if (columns[c] && errors[c] > 0) {
            printf("  %6.3f%*s", errors[c], pad, "");
        } else if (columns[c]) {
            printf("  %6s%*s", "-", pad, "");
        }
    }
    printf("\n");
}

/* Three lines: ours, the paper's, and those of the authors' program run again. */
static sal_status print_method(int n, const experiment *x, const method *m, const bool *columns,
                               sal_error *err)
{
    double seconds = 0;
    int pad = n > 1 ? 9 : 0;
    sal_status status = SAL_OK;
    printf("%-20s", m->name);
    for (int c = 0; c < COLUMNS && status == SAL_OK; c++) {
        status = columns[c] ? print_cell(n, x, m, c, &seconds, err) : SAL_OK;
    }
    printf("  %7.1f\n", seconds);
    print_known("  paper", m->paper, columns, pad);
    print_known("  authors' program", m->again, columns, pad);
    return status;
}

static sal_status print_table(int n, const experiment *x, const bool *rows, const bool *columns,
                              sal_error *err)
{
    sal_status status = SAL_OK;
    printf("%-20s", "K");
    for (int c = 0; c < COLUMNS; c++) {
        if (columns[c]) {
            printf("  %6d%*s", nominal[c], n > 1 ? 9 : 0, "");
        }
    }
    printf("  seconds\n");
    for (int k = 0; k < METHODS && status == SAL_OK; k++) {
        status = rows[k] ? print_method(n, x, &methods[k], columns, err) : SAL_OK;
    }
    return status;
}

static int show_start(const sal_train_report *r, void *data)
{
    static const int64_t shown[] = { 1, 10, 30, 100, 300, 1000, 2200 };
    (void)data;
    for (size_t k = 0; k < sizeof shown / sizeof *shown; k++) {
        if (r->iteration == shown[k]) {
            printf("%6lld  %29.2f  %10.4f\n", (long long)r->iteration,
                   r->log_prob_data - r->log_prob_samples, r->acceptance_rate);
        }
    }
    return 0;
}

/* How avg fails with too few steps. */
static sal_status print_avg(const experiment *x, sal_error *err)
{
    double error;
    printf("\nAVG, K = 5\n%6s  %29s  %10s\n", "update", "log p(data) - log p(samples)",
           "acceptance");
    sal_status status = train(x, &methods[AVG], 1, show_start, &error, err);
    printf("error %.3f\n", error);
    return status;
}

int main(int argc, char **argv)
{
    enum { MOST_SEEDS = 20 };
    static experiment x[MOST_SEEDS];
    bool full = false, brief = false;
    int n = 1;
    for (int k = 1; k < argc; k++) {
        full = full || strcmp(argv[k], "--full") == 0;
        brief = brief || strcmp(argv[k], "--brief") == 0;
        n = strcmp(argv[k], "--seeds") == 0 && k + 1 < argc ? atoi(argv[k + 1]) : n;
        updates = strcmp(argv[k], "--updates") == 0 && k + 1 < argc ? atoi(argv[k + 1]) : updates;
    }
    n = n < 1 ? 1 : n > MOST_SEEDS ? MOST_SEEDS : n;
    const bool columns[COLUMNS] = { full || brief, true, !brief, full, full };
    const bool rows[METHODS] = { true, true, !brief, !brief, !brief, !brief };

    sal_error err = { 0 };
    sal_status status = SAL_OK;
    for (int k = 0; k < n && status == SAL_OK; k++) {
        status = experiment_create((uint64_t)k + 1, &x[k], &err);
    }
    status = status ? status : print_table(n, x, rows, columns, &err);
    status = status ? status : print_avg(&x[0], &err);
    if (status != SAL_OK) {
        fprintf(stderr, "%s\n", err.message);
    }
    for (int k = 0; k < n; k++) {
        sal_data_destroy(&x[k].data);
    }
    return status != SAL_OK;
}

/* SPDX-License-Identifier: MIT */
