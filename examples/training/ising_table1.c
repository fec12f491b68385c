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
 * On one thread: 50 chains of 100 spins are too few to share. Seconds are processor time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <saltus/saltus.h>

enum { SIDE = 10, D = SIDE * SIDE, ROWS = 10000, CHAINS = 1000, COLUMNS = 5 };

static const double theta = 0.2;
static int64_t updates = 2200;
static const int nominal[COLUMNS] = { 1, 5, 10, 15, 20 };

/* A row of the table. Step sizes are four times those of the paper's table 4, which fit states
 * 1 apart: a spin's are 2 apart. */
typedef struct method {
    const char *name, *sampler;
    double step_size;
    bool data_covariance; /* is the preconditioner */
    int steps[COLUMNS];   /* for the price of K steps of avg */
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
      "gibbs",
      0,
      false,
      { 2, 10, 20, 30, 40 },
      { 4.825, .805, .167, .136, .132 },
      { 0, .780, .167 } },
};
enum { AVG = 1, METHODS = sizeof methods / sizeof *methods };

/* ---- truth, data and model */

/* States of the true model: 10 draws of each of 1000 Gibbs chains, 100 scans apart. */
static sal_status draw_data(uint64_t seed, sal_data *data, sal_error *err)
{
    sal_model *truth = NULL;
    sal_run *run = NULL;
    const sal_run_options o = { .sampler = "gibbs",
                                .chains = CHAINS,
                                .warmup = 1000 * D,
                                .draws = ROWS / CHAINS,
                                .thin = 100 * D,
                                .keep_draws = true,
                                .seed = seed };
    sal_status status = sal_model_builtin("ising:side=10,theta=0.2", 0, &truth, err);
    status = status ? status : sal_sample(truth, &o, &run, err);
    status = status ? status : sal_data_from_run(run, data, err);
    sal_run_destroy(run);
    sal_model_destroy(truth);
    return status;
}

/* f(s) = s'Js. */
static sal_status make_model(sal_model **model, sal_error *err)
{
    sal_space *space = sal_space_create();
    sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_SPIN, .count = D }, err);
    sal_tape *t = sal_tape_create(space, SAL_F32);
    sal_expr J = sal_param(t, "J", SAL_SHAPE(D, D));
    sal_status status = sal_model_from_tape(t, sal_quad(sal_state(t), J), model, err);
    sal_tape_destroy(t);
    sal_space_destroy(space);
    return status;
}

/* A standard normal number from the generator's next two. */
static double normal(uint64_t *state)
{
    double u[2];
    for (int k = 0; k < 2; k++) {
        *state = 6364136223846793005u * *state + 1442695040888963407u;
        u[k] = ((double)(*state >> 11) + 0.5) * 0x1p-53;
    }
    return sqrt(-2 * log(u[0])) * cos(6.283185307179586 * u[1]);
}

/* J = 0.01 N(0, 1); training makes it symmetric. */
static sal_status start_model(sal_model *model, uint64_t seed, sal_error *err)
{
    static double J[D * D];
    uint64_t state = 2 * seed + 1;
    for (int k = 0; k < D * D; k++) {
        J[k] = 0.01 * normal(&state);
    }
    return sal_model_set_params(model, "J", J, err);
}

static double true_coupling(int i, int j)
{
    int rows = abs(i / SIDE - j / SIDE), columns = abs(i % SIDE - j % SIDE);
    int distance = (rows < SIDE - rows ? rows : SIDE - rows) +
                   (columns < SIDE - columns ? columns : SIDE - columns);
    return distance == 1 ? theta : 0;
}

/* |J - J*|_F / sqrt(D), the diagonal included. */
static double error_of(const sal_model *model)
{
    static double J[D * D];
    double sum = 0;
    if (sal_model_get_params(model, "J", J, NULL) != SAL_OK) {
        return NAN;
    }
    for (int k = 0; k < D * D; k++) {
        double d = J[k] - true_coupling(k / D, k % D);
        sum += d * d;
    }
    return sqrt(sum / D);
}

/* ---- training */

typedef struct experiment {
    uint64_t seed;
    sal_data data;
} experiment;

static sal_status train(const experiment *x, const method *m, int column,
                        int (*report)(const sal_train_report *, void *), double *error,
                        sal_error *err)
{
    static double M[D * D];
    sal_model *model = NULL;
    sal_train_options o = {
        .sampler = m->sampler,
        .steps = m->steps[column],
        .step_size = m->step_size,
        .iterations = updates,
        .batch = 50,
        .buffer = 5000,
        .buffer_start = SAL_BUFFER_UNIFORM,
        .optimiser = SAL_ADAMW,
        .learning_rate = 3e-4,
        .epsilon = 1e-7,
        .l1 = 0.01,
        .seed = x->seed,
        .report = report,
        .report_every = 1,
        .threads = 1,
    };
    sal_status status = make_model(&model, err);
    status = status ? status : start_model(model, x->seed, err);
    if (status == SAL_OK && m->data_covariance) {
        status = sal_data_covariance(&x->data, model, M, err);
        o.preconditioner = M;
    }
    status = status ? status : sal_train(model, &x->data, &o, err);
    *error = status ? NAN : error_of(model);
    sal_model_destroy(model);
    return status;
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
        x[k].seed = (uint64_t)k + 1;
        status = draw_data(x[k].seed, &x[k].data, &err);
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
