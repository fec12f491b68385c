/* Table 2 and figure 13 of Rhodes & Gutmann (2022, section 5.4, appendix O): how well a sampler
 * serves the training of a deep energy-based model f(s) = s'Js + b's + net(s), s in {-1, +1}^256.
 *
 *     fit     the model, on USPS digits, by PCD with 50 steps of gwg        DIR/fit
 *     sample  10,000 states of that model, and 5,000 more to compare with   DIR/draws.npy
 *     refit   J alone to these 10,000, by PCD with each sampler and K       DIR/METHOD-K-SEED ..
 *     table   the error |J - J*|_F / sqrt(256) and others of all cells so far
 *
 *     conv_table2 DIR [--only STAGE] [--data IDX] [--cells METHOD:K,..] ...
 *
 * A run that was killed goes on from its checkpoints when it is started again. Processes with
 * different cells can share a directory once `sample` is done. Without --data, digits are drawn. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <saltus/saltus.h>

enum { SIDE = 16, V = SIDE * SIDE, LEVELS = 4, METHODS = 5, BUFFER = 5000 };

static const char specification[] = "usps-conv:kind=spin,quadratic=1";

/* Spins are 2 apart: step sizes are four times those of the paper, which are 0.2, 0.1, 0.1. */
typedef struct method {
    const char *name, *sampler;
    double step_size;
    int64_t steps[LEVELS]; /* for a nominal K of 5, 10, 15, 20: the same cost for all methods */
} method;

static const method methods[METHODS] = {
    { "ncg", "ncg", 0.8, { 6, 12, 18, 24 } },
    { "avg", "avg", 0.4, { 5, 10, 15, 20 } },
    { "pavg", "pavg", 0.4, { 5, 10, 15, 20 } },
    { "gwg", "gwg", 0, { 6, 12, 18, 24 } },
    { "gibbs", "gibbs:scan=random", 0, { 8, 16, 24, 32 } },
};

typedef struct settings {
    const char *directory, *only, *images, *cells, *start;
    double iterations, refits, rows, chains, steps, l1, seed, threads;
} settings;

/* Where the chains of the cells start: uniform or, as those of the fit, at the data's mean. */
static bool starts_uniform(const settings *s)
{
    return strcmp(s->start, "uniform") == 0;
}

/* ---- files */

static void path_of(const settings *s, const char *name, char path[static 1024])
{
    snprintf(path, 1024, "%s/%s", s->directory, name);
}

static bool exists(const settings *s, const char *name)
{
    char path[1024];
    path_of(s, name, path);
    return access(path, R_OK) == 0;
}

static sal_status fail(sal_error *err, const char *what, const char *name)
{
    err->status = SAL_ERR_IO;
    snprintf(err->message, sizeof err->message, "%s %.200s", what, name);
    return err->status;
}

/* ---- training */

static int show(const sal_train_report *r, void *name)
{
    printf("%-10s %6lld of %lld  %7.1f s  f(data) - f(samples) %8.3f  acceptance %.2f  jump %.2f\n",
           (const char *)name, (long long)r->iteration, (long long)r->iterations, r->seconds,
           r->log_prob_data - r->log_prob_samples, r->acceptance_rate, r->mean_jump);
    fflush(stdout);
    return 0;
}

/* What both trainings share, as in the authors' programs. */
static sal_train_options common(const settings *s)
{
    return (sal_train_options){
        .batch = 50,
        .buffer = { .chains = BUFFER,
                    .start = SAL_BUFFER_MEAN, /* from uniform starts nets run away in 70 updates */
                    .order = SAL_BUFFER_PASSES },
        .optimiser = { .method = SAL_ADAMW, .epsilon = 1e-7 },
        .learning_rate = 3e-4,
        .couplings.l1 = s->l1,
        .largest_difference = 1e9, /* poor samplers let f drift; their error is the result */
        .threads = (int)s->threads,
        .callbacks.report = show,
        .report_every = 200,
        .checkpoint.every = 100,
    };
}

/* A trainer that goes on from the checkpoint in `directory`, if there is one. */
static sal_status open_trainer(sal_model *model, const sal_data *data, const char *directory,
                               sal_train_options *o, sal_trainer **trainer, sal_error *err)
{
    mkdir(directory, 0777);
    o->checkpoint.directory = directory;
    sal_status status = sal_trainer_create(model, data, o, trainer, err);
    return status ? status : sal_trainer_load(*trainer, directory, err);
}

/* ---- fit */

/* The ground truth and the trainer that made it, whose buffer holds samples. */
static sal_status fit(const settings *s, sal_model **model, sal_data *data, sal_trainer **trainer,
                      sal_error *err)
{
    char directory[1024];
    sal_train_options o = common(s);
    o.sampler = "gwg";
    o.steps = 50;
    o.iterations = (int64_t)s->iterations;
    o.optimiser.weight_decay = 1e-4;
    o.callbacks.report_data = (void *)"fit";
    path_of(s, "fit", directory);
    sal_status status = s->images ? sal_data_read(s->images, NULL, data, err)
                                  : sal_data_digits(7291, SIDE, 0, data, err);
    status = status ? status : sal_model_open(specification, 0, model, err);
    status = status ? status : sal_model_train_start(*model, specification, data, 0, err);
    status = status ? status : open_trainer(*model, data, directory, &o, trainer, err);
    return status ? status : sal_trainer_run(*trainer, o.iterations, err);
}

static sal_status save_truth(const settings *s, const sal_model *model, sal_error *err)
{
    char path[1024];
    path_of(s, "truth.safetensors", path);
    return sal_model_save_params(model, path, err);
}

/* ---- sample */

/* Chains begin where the last persistent ones of the training are; the second half of their steps
 * is drawn from. */
static sal_status sample(const settings *s, sal_model *model, const sal_trainer *trainer,
                         sal_error *err)
{
    char path[1024];
    sal_train_report last;
    sal_run *run = NULL;
    sal_trainer_report(trainer, &last);
    sal_run_options o = { .sampler = "gwg", .chains = (int64_t)s->chains, .record.draws = true };
    o.draws = (int64_t)(1.5 * s->rows) / o.chains;
    o.thin = (int64_t)s->steps / 2 / o.draws;
    o.warmup = (int64_t)s->steps - o.draws * o.thin;
    o.threads = (int)s->threads;
    o.init = last.samples;
    sal_status status = sal_sample(model, &o, &run, err);
    path_of(s, "draws.npy", path);
    status = status ? status : sal_run_save(run, path, 0, err);
    if (status == SAL_OK) {
        sal_run_print_summary(run, stdout);
    }
    sal_run_destroy(run);
    return status;
}

/* Both stages, or what is left to do of them. */
static sal_status make_data(const settings *s, bool sampling, sal_error *err)
{
    sal_model *model = NULL;
    sal_trainer *trainer = NULL;
    sal_data data = { 0 };
    sal_status status = SAL_OK;
    if (!exists(s, "truth.safetensors") || (sampling && !exists(s, "draws.npy"))) {
        status = fit(s, &model, &data, &trainer, err);
        status = status ? status : save_truth(s, model, err);
    }
    if (status == SAL_OK && sampling && !exists(s, "draws.npy")) {
        status = sample(s, model, trainer, err);
    }
    sal_trainer_destroy(trainer);
    sal_model_destroy(model);
    sal_data_destroy(&data);
    return status;
}

/* ---- refit */

typedef struct cell {
    const method *method;
    int level, seed;
    char name[64];
} cell;

typedef struct distance {
    double error, mmd, marginal, covariance;
} distance;

static cell make_cell(const settings *s, int m, int level, int seed)
{
    cell c = { .method = &methods[m], .level = level, .seed = seed };
    snprintf(c.name, sizeof c.name, "%s-%d-%d%s", c.method->name, 5 * (level + 1), seed,
             starts_uniform(s) ? "-uniform" : "");
    return c;
}

/* Everything but J. */
static void fixed_names(const sal_model *model, char *names, size_t room)
{
    const char *name;
    names[0] = '\0';
    for (int64_t k = 0; (name = sal_model_parameter(model, k, NULL)); k++) {
        if (strcmp(name, "J") != 0 && strlen(names) + strlen(name) + 2 < room) {
            strcat(strcat(names, names[0] ? "," : ""), name);
        }
    }
}

/* The ground truth with another J, which is small and random; J* into `truth`. */
static sal_status open_model(const settings *s, const sal_data *data, uint64_t seed,
                             sal_model **model, double *truth, sal_error *err)
{
    static double J[V * V];
    char path[1024];
    path_of(s, "truth.safetensors", path);
    sal_status status = sal_model_open(specification, 0, model, err);
    status = status ? status : sal_model_train_start(*model, specification, data, seed, err);
    status = status ? status : sal_model_get_params(*model, "J", J, err);
    status = status ? status : sal_model_load_params(*model, path, err);
    status = status ? status : sal_model_get_params(*model, "J", truth, err);
    return status ? status : sal_model_set_params(*model, "J", J, err);
}

/* Means and covariances of spins. */
static void moments(int64_t rows, const uint8_t *codes, double *mean, double *covariance)
{
    memset(mean, 0, V * sizeof *mean);
    memset(covariance, 0, V * V * sizeof *covariance);
    for (int64_t r = 0; r < rows; r++) {
        const uint8_t *s = codes + r * V;
        for (int i = 0; i < V; i++) {
            mean[i] += (2.0 * s[i] - 1) / (double)rows;
            for (int j = 0; j < V; j++) {
                covariance[i * V + j] += s[i] == s[j] ? 1 : -1;
            }
        }
    }
    for (int i = 0; i < V * V; i++) {
        covariance[i] = covariance[i] / (double)rows - mean[i / V] * mean[i % V];
    }
}

/* Of samples to samples of the ground truth, as in figure 13. */
static sal_status compare_samples(const sal_data *clean, int64_t rows, const uint8_t *codes,
                                  distance *d, sal_error *err)
{
    static double mean[2][V], covariance[2][V * V];
    double mmd2 = 0, squares = 0;
    moments(clean->rows, clean->codes, mean[0], covariance[0]);
    moments(rows, codes, mean[1], covariance[1]);
    for (int i = 0; i < V; i++) {
        d->marginal += fabs(mean[0][i] - mean[1][i]) / V;
    }
    for (int i = 0; i < V * V; i++) {
        squares += pow(covariance[0][i] - covariance[1][i], 2);
    }
    d->covariance = sqrt(squares);
    sal_status status =
        sal_stats_mmd(V, rows, codes, clean->rows, clean->codes, SAL_MMD_U, &mmd2, err);
    d->mmd = sqrt(fmax(mmd2, 0));
    return status;
}

static sal_status measure(const sal_trainer *trainer, const sal_data *clean, const double *truth,
                          distance *d, sal_error *err)
{
    static double J[V * V];
    static uint8_t codes[BUFFER * V];
    sal_train_report r;
    double squares = 0;
    sal_trainer_report(trainer, &r);
    for (int64_t i = 0; i < BUFFER * V; i++) {
        codes[i] = (uint8_t)r.samples[i];
    }
    sal_status status = sal_model_get_params(r.model, "J", J, err);
    for (int64_t i = 0; i < V * V; i++) {
        squares += (J[i] - truth[i]) * (J[i] - truth[i]);
    }
    d->error = sqrt(squares / V);
    return status ? status : compare_samples(clean, BUFFER, codes, d, err);
}

static sal_status write_result(const settings *s, const cell *c, const distance *d, double seconds,
                               sal_error *err)
{
    char path[1024], name[128];
    snprintf(name, sizeof name, "%s/result.csv", c->name);
    path_of(s, name, path);
    FILE *file = fopen(path, "w");
    if (!file) {
        return fail(err, "cannot write", path);
    }
    fprintf(file, "%.6f,%.6f,%.6f,%.6f,%.1f\n", d->error, d->mmd, d->marginal, d->covariance,
            seconds);
    printf("%-10s error %.4f  MMD %.4f  marginals %.4f  covariance %.3f\n", c->name, d->error,
           d->mmd, d->marginal, d->covariance);
    return fclose(file) == 0 ? SAL_OK : fail(err, "cannot write", path);
}

static sal_status refit(const settings *s, const cell *c, const sal_data *data,
                        const sal_data *clean, sal_error *err)
{
    static double truth[V * V], M[V * V];
    char directory[1024], fixed[1024];
    sal_model *model = NULL;
    sal_trainer *trainer = NULL;
    sal_train_report last = { 0 };
    distance d = { 0 };
    sal_train_options o = common(s);
    path_of(s, c->name, directory);
    sal_status status = open_model(s, data, (uint64_t)c->seed + 1, &model, truth, err);
    if (status == SAL_OK) {
        fixed_names(model, fixed, sizeof fixed);
        status = sal_data_preconditioner(data, model, M, err);
    }
    o.buffer.start = starts_uniform(s) ? SAL_BUFFER_UNIFORM : SAL_BUFFER_MEAN;
    o.sampler = c->method->sampler;
    o.step_size = c->method->step_size;
    o.steps = c->method->steps[c->level];
    o.preconditioner = strcmp(c->method->name, "pavg") == 0 ? M : NULL;
    o.iterations = (int64_t)s->refits;
    o.fixed = fixed;
    o.seed = (uint64_t)c->seed + 1;
    o.callbacks.report_data = (void *)c->name;
    status = status ? status : open_trainer(model, data, directory, &o, &trainer, err);
    status = status ? status : sal_trainer_run(trainer, o.iterations, err);
    if (status == SAL_OK) {
        sal_trainer_report(trainer, &last);
        status = measure(trainer, clean, truth, &d, err);
    }
    status = status ? status : write_result(s, c, &d, last.seconds, err);
    sal_trainer_destroy(trainer);
    sal_model_destroy(model);
    return status;
}

/* Whether a cell is in the list "METHOD:K,..."; METHOD alone stands for all its K. */
static bool is_chosen(const char *list, const cell *c)
{
    char one[40], all[40];
    int n = snprintf(one, sizeof one, "%s:%d", c->method->name, 5 * (c->level + 1));
    int m = snprintf(all, sizeof all, "%s", c->method->name);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        int length = (int)strcspn(at, ",");
        if ((length == n && strncmp(at, one, (size_t)n) == 0) ||
            (length == m && strncmp(at, all, (size_t)m) == 0)) {
            return true;
        }
    }
    return !list;
}

static sal_status refit_all(const settings *s, sal_error *err)
{
    char path[1024], result[128];
    sal_data data = { 0 }, clean = { 0 };
    path_of(s, "draws.npy", path);
    sal_status status =
        sal_data_read(path, &(sal_data_options){ .kind = SAL_DATA_DRAWS }, &data, err);
    status = status ? status : sal_data_split(&data, data.rows / 3, NULL, &clean, err);
    for (int k = 0; status == SAL_OK && k < METHODS * LEVELS; k++) {
        cell c = make_cell(s, k % METHODS, k / METHODS, (int)s->seed);
        snprintf(result, sizeof result, "%s/result.csv", c.name);
        if (is_chosen(s->cells, &c) && !exists(s, result)) {
            status = refit(s, &c, &data, &clean, err);
        }
    }
    sal_data_destroy(&data);
    sal_data_destroy(&clean);
    return status;
}

/* ---- table */

/* Mean and standard deviation over the seeds 0 to 9 of column `column` of a cell's results. */
static void print_cell(const settings *s, int m, int level, int column)
{
    double sum = 0, squares = 0;
    int n = 0;
    for (int seed = 0; seed < 10; seed++) {
        char path[1024], name[128];
        double x[4];
        cell c = make_cell(s, m, level, seed);
        snprintf(name, sizeof name, "%s/result.csv", c.name);
        path_of(s, name, path);
        FILE *file = fopen(path, "r");
        if (file && fscanf(file, "%lf,%lf,%lf,%lf", &x[0], &x[1], &x[2], &x[3]) == 4) {
            sum += x[column];
            squares += x[column] * x[column];
            n++;
        }
        if (file) {
            fclose(file);
        }
    }
    double mean = sum / n;
    double spread = n > 1 ? sqrt(fmax(squares - n * mean * mean, 0) / (n - 1)) : NAN;
    if (n == 0) {
        printf("%18s", "-");
    } else if (n > 1) {
        printf("%9.4f (%.4f)", mean, spread);
    } else {
        printf("%18.4f", mean);
    }
}

static void print_tables(const settings *s)
{
    static const char *const titles[] = { "|J - J*|_F / sqrt(256)",
                                          "MMD, samples to samples of the ground truth",
                                          "mean absolute difference of the means",
                                          "|difference of the covariances|_F" };
    for (int column = 0; column < 4; column++) {
        printf("\n%s\n%-8s%18s%18s%18s%18s\n", titles[column], "", "K=5", "K=10", "K=15", "K=20");
        for (int m = 0; m < METHODS; m++) {
            printf("%-8s", methods[m].name);
            for (int level = 0; level < LEVELS; level++) {
                print_cell(s, m, level, column);
            }
            printf("\n");
        }
    }
}

/* ---- command line */

static bool read_option(settings *s, const char *name, const char *value)
{
    const struct {
        const char *name;
        const char **text;
        double *number;
    } options[] = {
        { "--only", &s->only, NULL },
        { "--data", &s->images, NULL },
        { "--cells", &s->cells, NULL },
        { "--start", &s->start, NULL },
        { "--iterations", NULL, &s->iterations },
        { "--refits", NULL, &s->refits },
        { "--rows", NULL, &s->rows },
        { "--chains", NULL, &s->chains },
        { "--steps", NULL, &s->steps },
        { "--l1", NULL, &s->l1 },
        { "--seed", NULL, &s->seed },
        { "--threads", NULL, &s->threads },
    };
    for (size_t k = 0; value && k < sizeof options / sizeof *options; k++) {
        if (strcmp(name, options[k].name) == 0 && options[k].text) {
            *options[k].text = value;
            return true;
        }
        if (strcmp(name, options[k].name) == 0) {
            char *end;
            *options[k].number = strtod(value, &end);
            return *value && !*end && *options[k].number >= 0;
        }
    }
    return false;
}

static bool is_on(const settings *s, const char *stage)
{
    return !s->only || strcmp(s->only, stage) == 0;
}

int main(int argc, char **argv)
{
    settings s = { .iterations = 10000,
                   .refits = 2000,
                   .rows = 10000,
                   .chains = 500,
                   .steps = 50000,
                   .l1 = 0.01,
                   .start = "mean" };
    sal_error err = { 0 };
    bool good = argc > 1 && argv[1][0] != '-';
    for (int k = 2; good && k < argc; k += 2) {
        good = read_option(&s, argv[k], k + 1 < argc ? argv[k + 1] : NULL);
    }
    good = good && (strcmp(s.start, "mean") == 0 || starts_uniform(&s));
    if (!good) {
        fprintf(stderr,
                "conv_table2 DIR [--only fit|sample|refit|table] [--data IDX] [--iterations N]\n"
                "    [--chains N] [--steps N] [--rows N] [--cells METHOD:K,..] [--refits N]\n"
                "    [--start mean|uniform] [--seed 0-9] [--l1 X] [--threads N]\n");
        return 64;
    }
    if (s.chains < 1 || s.chains > BUFFER || 1.5 * s.rows < s.chains || s.seed > 9) {
        fprintf(stderr,
                "expected 1 to %d chains, no more than 3/2 of the rows, and a seed of 0 to 9\n",
                BUFFER);
        return 64;
    }
    s.directory = argv[1];
    mkdir(s.directory, 0777);
    sal_status status = SAL_OK;
    if (is_on(&s, "fit") || is_on(&s, "sample")) {
        status = make_data(&s, is_on(&s, "sample"), &err);
    }
    if (status == SAL_OK && is_on(&s, "refit")) {
        status = refit_all(&s, &err);
    }
    if (status == SAL_OK && (is_on(&s, "refit") || is_on(&s, "table"))) {
        print_tables(&s);
    }
    if (status != SAL_OK) {
        fprintf(stderr, "conv_table2: %s\n", err.message);
    }
    return status != SAL_OK;
}

/* SPDX-License-Identifier: MIT */
