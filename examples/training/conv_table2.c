/* Table 2 and figures 13 and 15 of Rhodes & Gutmann (2022, section 5.4, appendix O): how well a
 * sampler serves the training of a deep energy-based model f(s) = s'Js + b's + net(s), s in
 * {-1, +1}^256.
 *
 *     fit     the model, on USPS digits, by PCD with 50 steps of gwg      DIR/fit, DIR/buffer.npy
 *     sample  10,000 states of that model, and 5,000 more to compare with   DIR/draws.npy
 *     refit   J alone, by PCD with each sampler and K                     DIR/METHOD-K-SEED ..
 *     table   the error |J - J*|_F / sqrt(256) and others of all cells so far, and the figures
 *
 *     conv_table2 DIR [--as printed|run] [--only STAGE] [--data IDX] [--cells METHOD:K,..] ...
 *
 * As printed, J is fitted to the 10,000 states; as the authors' program ran, to the 5000 persistent
 * chains at the end of a shorter `fit`, and `sample` is left out; names of files then begin with
 * "run-". A run that was killed goes on from its
 * checkpoints when it is started again. Processes with different cells can share a directory once
 * the stages before are done. Without --data, digits are drawn. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "conv_table2.h"

enum { BUFFER = 5000 };

static const char specification[] = "usps-conv:kind=spin,quadratic=1";

static const protocol protocols[2] = {
    { .name = "printed",
      .prefix = "",
      .iterations = 10000,
      .refits = 2000,
      .methods = { { "ncg", "ncg", 0.8, { 6, 12, 18, 24 } },
                   { "avg", "avg", 0.4, { 5, 10, 15, 20 } },
                   { "pavg", "pavg", 0.4, { 5, 10, 15, 20 } },
                   { "gwg", "gwg", 0, { 6, 12, 18, 24 } },
                   { "gibbs", "gibbs:scan=random", 0, { 8, 16, 24, 32 } } } },
    { .name = "run",
      .prefix = "run-",
      .iterations = 5220,
      .refits = 2200,
      .to_buffer = true,
      .methods = { { "ncg", "ncg", 0.8, { 5, 10, 15, 20 } },
                   { "avg", "avg", 0.32, { 5, 10, 15, 20 } },
                   { "pavg", "pavg", 0.32, { 5, 10, 15, 20 } },
                   { "gwg", "gwg", 0, { 5, 10, 15, 20 } },
                   { "gibbs", "gibbs:scan=random", 0, { 8, 16, 24, 32 } } } },
};

/* Where the chains of the cells start: uniform or, as those of the fit, at the data's mean. */
static bool starts_uniform(const settings *s)
{
    return strcmp(s->start, "uniform") == 0;
}

/* ---- files */

void path_of(const settings *s, const char *name, char path[static 1024])
{
    snprintf(path, 1024, "%s/%s%s", s->directory, s->protocol->prefix, name);
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

static sal_status save_codes(const char *path, int64_t rows, const int32_t *codes, sal_error *err)
{
    double *values = malloc((size_t)(rows * V) * sizeof *values);
    if (!values) {
        return fail(err, "no memory for", path);
    }
    for (int64_t i = 0; i < rows * V; i++) {
        values[i] = codes[i];
    }
    sal_array array = {
        .ndim = 2, .shape = { rows, V }, .count = rows * V, .values = values, .whole = true
    };
    sal_status status = sal_array_write(path, &array, err);
    free(values);
    return status;
}

/* The model and its persistent chains. */
static sal_status save_truth(const settings *s, const sal_model *model, const sal_trainer *trainer,
                             sal_error *err)
{
    char path[1024];
    sal_train_report last;
    sal_trainer_report(trainer, &last);
    path_of(s, "buffer.npy", path);
    sal_status status = save_codes(path, BUFFER, last.samples, err);
    path_of(s, "truth.safetensors", path);
    return status ? status : sal_model_save_params(model, path, err);
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
    status = status ? status : sal_run_save(run, path, NULL, err);
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
    if (!exists(s, "truth.safetensors") || !exists(s, "buffer.npy") ||
        (sampling && !exists(s, "draws.npy"))) {
        status = fit(s, &model, &data, &trainer, err);
        status = status ? status : save_truth(s, model, trainer, err);
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

typedef struct distance {
    double error, mmd, marginal, covariance;
} distance;

cell make_cell(const settings *s, int m, int level, int seed)
{
    cell c = { .method = &s->protocol->methods[m], .level = level, .seed = seed };
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

/* A file of a cell. */
void cell_path(const settings *s, const cell *c, const char *file, char path[static 1024])
{
    char name[128];
    snprintf(name, sizeof name, "%s/%s", c->name, file);
    path_of(s, name, path);
}

static sal_status write_result(const settings *s, const cell *c, const distance *d, double seconds,
                               sal_error *err)
{
    char path[1024];
    cell_path(s, c, "result.csv", path);
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
    char directory[1024], shown[1024], fixed[1024];
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
    cell_path(s, c, "shown.npy", shown);
    status = status ? status : save_codes(shown, SHOWN, last.samples, err);
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

/* What J is fitted to, and what its chains are compared with: as the program ran, the same. */
static sal_status read_data(const settings *s, sal_data *data, sal_data *clean, sal_error *err)
{
    char path[1024];
    path_of(s, s->protocol->to_buffer ? "buffer.npy" : "draws.npy", path);
    const sal_data_options options = { .kind = SAL_DATA_DRAWS };
    sal_status status = sal_data_read(path, &options, data, err);
    if (status == SAL_OK && s->protocol->to_buffer) {
        return sal_data_read(path, &options, clean, err);
    }
    return status ? status : sal_data_split(data, data->rows / 3, NULL, clean, err);
}

static sal_status refit_all(const settings *s, sal_error *err)
{
    char result[1024];
    sal_data data = { 0 }, clean = { 0 };
    sal_status status = read_data(s, &data, &clean, err);
    for (int k = 0; status == SAL_OK && k < METHODS * LEVELS; k++) {
        cell c = make_cell(s, k % METHODS, k / METHODS, (int)s->seed);
        cell_path(s, &c, "result.csv", result);
        if (is_chosen(s->cells, &c) && access(result, R_OK) != 0) {
            status = refit(s, &c, &data, &clean, err);
        }
    }
    sal_data_destroy(&data);
    sal_data_destroy(&clean);
    return status;
}

/* ---- command line */

static bool read_option(settings *s, const char *name, const char *value)
{
    const struct {
        const char *name;
        const char **text;
        double *number;
    } options[] = {
        { "--only", &s->only, NULL },       { "--data", &s->images, NULL },
        { "--cells", &s->cells, NULL },     { "--start", &s->start, NULL },
        { "--as", &s->as, NULL },           { "--iterations", NULL, &s->iterations },
        { "--refits", NULL, &s->refits },   { "--rows", NULL, &s->rows },
        { "--chains", NULL, &s->chains },   { "--steps", NULL, &s->steps },
        { "--l1", NULL, &s->l1 },           { "--seed", NULL, &s->seed },
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

static const protocol *find_protocol(const char *name)
{
    for (size_t k = 0; k < sizeof protocols / sizeof *protocols; k++) {
        if (strcmp(name, protocols[k].name) == 0) {
            return &protocols[k];
        }
    }
    return NULL;
}

static bool is_on(const settings *s, const char *stage)
{
    return !s->only || strcmp(s->only, stage) == 0;
}

int main(int argc, char **argv)
{
    settings s = {
        .rows = 10000, .chains = 500, .steps = 50000, .l1 = 0.01, .start = "mean", .as = "printed"
    };
    sal_error err = { 0 };
    bool good = argc > 1 && argv[1][0] != '-';
    for (int k = 2; good && k < argc; k += 2) {
        good = read_option(&s, argv[k], k + 1 < argc ? argv[k + 1] : NULL);
    }
    s.protocol = find_protocol(s.as);
    good = good && s.protocol && (strcmp(s.start, "mean") == 0 || starts_uniform(&s));
    if (!good) {
        fprintf(stderr,
                "conv_table2 DIR [--as printed|run] [--only fit|sample|refit|table] [--data IDX]\n"
                "    [--iterations N] [--chains N] [--steps N] [--rows N] [--cells METHOD:K,..]\n"
                "    [--refits N] [--start mean|uniform] [--seed 0-9] [--l1 X] [--threads N]\n");
        return 64;
    }
    if (s.chains < 1 || s.chains > BUFFER || 1.5 * s.rows < s.chains || s.seed > 9) {
        fprintf(stderr,
                "expected 1 to %d chains, no more than 3/2 of the rows, and a seed of 0 to 9\n",
                BUFFER);
        return 64;
    }
    s.directory = argv[1];
    s.iterations = s.iterations > 0 ? s.iterations : (double)s.protocol->iterations;
    s.refits = s.refits > 0 ? s.refits : (double)s.protocol->refits;
    mkdir(s.directory, 0777);
    sal_status status = SAL_OK;
    if (is_on(&s, "fit") || is_on(&s, "sample")) {
        status = make_data(&s, is_on(&s, "sample") && !s.protocol->to_buffer, &err);
    }
    if (status == SAL_OK && is_on(&s, "refit")) {
        status = refit_all(&s, &err);
    }
    if (status == SAL_OK && (is_on(&s, "refit") || is_on(&s, "table"))) {
        status = tabulate(&s, &err);
    }
    if (status != SAL_OK) {
        fprintf(stderr, "conv_table2: %s\n", err.message);
    }
    return status != SAL_OK;
}

/* SPDX-License-Identifier: MIT */
