/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/json.h"
#include "cli/sheet.h"
#include "cli/text.h"
#include "cli/training/training.h"
#include "cli/training/verdict.h"

#define ESTIMATE_AFTER 10.0 /* no estimate before so many seconds */
#define ESTIMATE_BY 60.0    /* nor before so many seconds, unless 2% of the updates are done */
#define ESTIMATE_UPDATES 10 /* nor before so many updates: the first freeze a ladder's levels */
#define MOST_SAMPLES 1000   /* samples from which the MMD is computed */

static const char header[] = "iteration,seconds,sampling_seconds,gradient_seconds,log_prob_data,"
                             "log_prob_samples,difference,acceptance_rate,mean_jump,step_size,"
                             "gradient_norm,mmd,mmd_train_test,learning_rate,levels,swap_rate,"
                             "log_z,log_z_error,log_likelihood,pearson,density\n";

/* The path of a file in the directory of the training; the length was checked with the options. */
static void file_in(const cli_training *s, const char *name, char path[CLI_PATH])
{
    cli_path(path, s->o->out, name);
}

/* ---- the log; a log with other columns is ignored */

int cli_train_read_log(cli_training *s)
{
    char path[CLI_PATH];
    file_in(s, "log.csv", path);
    FILE *file = s->o->train.checkpoint.resume ? fopen(path, "rb") : NULL;
    size_t room = 0;
    ssize_t size = file ? getdelim(&s->log, &room, '\0', file) : 0;
    bool failed = size < 0 && !feof(file);
    if (file) {
        fclose(file);
    }
    if (failed) {
        return cli_error(SAL_ERR_IO, "%.800s: cannot be read: %s", path, strerror(errno));
    }
    if (size > 0 && strlen(s->log) < (size_t)size) {
        return cli_error(SAL_ERR_DATA, "%.900s: expected text, found a NUL byte", path);
    }
    if (size <= 0 || strncmp(s->log, header, strlen(header)) != 0) {
        free(s->log);
        s->log = NULL;
    }
    return CLI_OK;
}

/* Remove lines of iterations after `iteration`, which the checkpoint does not include. */
static void cut_log(char *log, int64_t iteration)
{
    char *line = strchr(log, '\n');
    while (line && line[1]) {
        if (strtoll(line + 1, NULL, 10) > iteration) {
            line[1] = '\0';
            return;
        }
        line = strchr(line + 1, '\n');
    }
}

/* Add a line to the log and write the log. In the first report after a resume, later lines are
 * removed first. */
static sal_status append_log(cli_training *s, const sal_train_report *r, sal_error *err)
{
    char line[512], path[CLI_PATH];
    snprintf(line, sizeof line,
             "%lld,%.3f,%.3f,%.3f,%.6g,%.6g,%.6g,%.4f,%.4f,%.5g,%.5g,%.5g,%.5g,%.5g,%lld,%.4f,"
             "%.6f,%.4f,%.5f,%.6g,%.6g\n",
             (long long)r->iteration, r->seconds, r->sampling_seconds, r->gradient_seconds,
             r->log_prob_data, r->log_prob_samples, r->log_prob_data - r->log_prob_samples,
             r->acceptance_rate, r->mean_jump, r->step_size, r->gradient_norm, s->mmd, s->baseline,
             r->learning_rate, (long long)r->levels, r->swap_rate, r->log_z, r->log_z_error,
             r->log_likelihood, r->pearson, r->density);
    if (s->log && s->last.iteration == 0) { /* the first since the start or a resume */
        cut_log(s->log, s->progress.from);
    }
    size_t used = s->log ? strlen(s->log) : 0;
    char *log = realloc(s->log, used + sizeof header + strlen(line) + 1);
    if (!log) {
        return SAL_ERR_MEMORY;
    }
    s->log = log;
    if (used == 0) {
        strcpy(log, header);
    }
    strcat(log, line);
    file_in(s, "log.csv", path);
    return sal_file_write(path, log, (int64_t)strlen(log), err);
}

/* ---- samples */

static double mmd_to_test(const cli_training *s, int64_t rows, const uint8_t *codes)
{
    double mmd2 = NAN;
    sal_stats_mmd(s->test.variables, rows, codes, s->test.rows, s->test.codes, SAL_MMD_U, &mmd2,
                  NULL);
    return cli_mmd_of(mmd2);
}

void cli_train_baseline(cli_training *s)
{
    int64_t rows = s->train.rows < s->test.rows ? s->train.rows : s->test.rows;
    s->baseline = mmd_to_test(s, rows, s->train.codes);
    s->mmd = NAN;
}

/* Write persistent.png with up to 100 chains, if the data are pictures. */
static sal_status write_sheet(cli_training *s, int64_t rows, const uint8_t *codes, sal_error *err)
{
    char path[CLI_PATH];
    if (s->train.height == 0) {
        return SAL_OK;
    }
    file_in(s, "persistent.png", path);
    sal_status status =
        cli_sheet_codes(path, rows < 100 ? rows : 100, codes, s->train.height, s->train.width, err);
    s->chains_sheet = status == SAL_OK;
    return status == SAL_ERR_UNSUPPORTED ? SAL_OK : status;
}

static double weight_of(const sal_data *data)
{
    double sum = data->weight ? 0 : (double)data->rows;
    for (int64_t r = 0; data->weight && r < data->rows; r++) {
        sum += data->weight[r];
    }
    return sum;
}

void cli_train_describe_data(const cli_training *s)
{
    const sal_data *t = &s->train;
    double low, high;
    if (s->o->json) {
        return;
    }
    if (!t->alphabet[0]) {
        cli_print_remarks();
    }
    if (cli_grey_range(t, &low, &high)) {
        printf("pictures: %lld of %lld x %lld, greys from %g to %g; %lld held out\n",
               (long long)t->rows, (long long)t->height, (long long)t->width, low, high,
               (long long)s->test.rows);
    } else if (t->alphabet[0] && t->variables > 1) {
        printf("alignment: %lld sequences of %lld sites (%s), %.1f effective; %lld held out",
               (long long)t->rows, (long long)t->variables, cli_alphabet_name(t->alphabet),
               weight_of(t), (long long)s->test.rows);
        if (s->o->data.clusters > 0) {
            printf(" (of %lld clusters at %g%% identity)", (long long)s->o->data.clusters,
                   100 * s->o->data.test_identity);
        }
        printf("\n");
    }
    fflush(stdout);
}

/* Measure persistent chains, and show them: the MMD and a sheet of some. */
static sal_status show_samples(cli_training *s, const sal_train_report *r, sal_error *err)
{
    int64_t rows = r->buffer < MOST_SAMPLES ? r->buffer : MOST_SAMPLES;
    const int64_t size = rows * s->train.variables;
    s->mmd = NAN;
    if (!r->samples) {
        return SAL_OK;
    }
    uint8_t *codes = malloc((size_t)size);
    if (!codes) {
        return SAL_ERR_MEMORY;
    }
    for (int64_t i = 0; i < size; i++) {
        codes[i] = (uint8_t)(r->samples[i] < UINT8_MAX ? r->samples[i] : UINT8_MAX);
    }
    s->mmd = mmd_to_test(s, rows, codes);
    sal_status status = write_sheet(s, rows, codes, err);
    free(codes);
    return status;
}

/* ---- parameters */

sal_status cli_train_save(const cli_training *s, sal_error *err)
{
    char path[CLI_PATH];
    file_in(s, "model.xml", path);
    return sal_model_save(s->model, path, err);
}

/* ---- the callbacks */

/* Print a report as a line of text. */
static void print_line(const cli_training *s, const sal_train_report *r)
{
    char mmd[CLI_MMD_TEXT], baseline[CLI_MMD_TEXT];
    cli_mmd_text(s->mmd, mmd);
    cli_mmd_text(s->baseline, baseline);
    printf("%7lld %8.1f s  ", (long long)r->iteration, r->seconds);
    if (r->trajectory && r->samples) {
        printf("log-likelihood %.3f (log Z %.2f +- %.2f)  levels %lld  acceptance %.2f  MMD %s "
               "(train-test %s)",
               r->log_likelihood, r->log_z, r->log_z_error, (long long)r->levels,
               r->acceptance_rate, mmd, baseline);
    } else if (r->samples) {
        printf("log p(data) - log p(samples) %7.3f  acceptance %.2f  MMD %s (train-test %s)",
               r->log_prob_data - r->log_prob_samples, r->acceptance_rate, mmd, baseline);
    } else if (!isnan(r->log_prob_samples)) {
        printf("f(data) - f(samples) %7.3f at a level  acceptance %.2f",
               r->log_prob_data - r->log_prob_samples, r->acceptance_rate);
        if (!isnan(r->log_likelihood)) {
            printf("  held-out bound %.3f", r->log_likelihood);
        }
    } else {
        printf("log pseudo-likelihood %10.4f  gradient %.4g", r->log_prob_data, r->gradient_norm);
    }
    if (!isnan(r->pearson)) {
        printf("  Pearson %.4f (limit %.3f)", r->pearson, r->pearson_limit);
    }
    if (!isnan(r->density)) {
        printf("  density %.4f", r->density);
    }
    printf("\n");
    fflush(stdout);
}

/* Print once, after a while, how long training will take at this pace. */
static void estimate_duration(cli_training *s, const sal_train_report *r)
{
    const int64_t done = r->iteration - s->progress.from;
    const double spent = r->seconds - s->climbed;
    const bool early = spent < ESTIMATE_AFTER || done < ESTIMATE_UPDATES ||
                       (spent < ESTIMATE_BY && 50 * done < r->iterations);
    if (s->estimated || early || s->o->json) {
        return;
    }
    s->estimated = true;
    double left = spent / (double)done * (double)(r->iterations - r->iteration);
    if (s->o->seconds > 0 && left > s->o->seconds - r->seconds) {
        left = s->o->seconds - r->seconds;
    }
    if (left > ESTIMATE_AFTER) {
        cli_progress_end(&s->progress);
        fprintf(stderr, "saltus: about %.0f minute%s more at this pace%s\n", ceil(left / 60),
                left > 60 ? "s" : "", s->o->seconds > 0 ? "" : "; --time stops earlier");
    }
}

/* Say at the first report that so few chains do not show the correlation that ends training. */
static void note_limit(const cli_training *s, const sal_train_report *r)
{
    const double target = s->o->train.pearson, limit = r->pearson_limit;
    if (target > limit && s->last.iteration == 0) {
        const double more = target * target / (1 - target * target), now = limit * limit;
        const double chains = ceil(2 * more * (1 - now) / now * (double)r->buffer);
        const bool persistent = s->o->train.objective == SAL_PCD;
        char advice[64] = "a lower --pearson, or more rows and a larger --batch";
        if (persistent || chains <= (double)s->train.rows) {
            snprintf(advice, sizeof advice, "--%s %.0f or more", persistent ? "buffer" : "batch",
                     chains);
        }
        fprintf(stderr,
                "saltus: %lld chains of a perfect model would show a Pearson correlation of %.3f "
                "on average, and training ends at %g; what helps: %s\n",
                (long long)r->buffer, limit, target, advice);
    }
}

static bool has_to_stop(cli_training *s, const sal_train_report *r)
{
    s->late = s->o->seconds > 0 && r->seconds >= s->o->seconds;
    return cli_interrupted() || s->late;
}

/* Show progress over the levels of the first training's ladder. */
static void show_climb(cli_training *s, const sal_train_report *r)
{
    int64_t levels = r->levels;
    sal_trajectory_level level;
    while (sal_trajectory_level_at(s->first, levels, &level)) {
        levels++;
    }
    s->climbed = r->seconds;
    cli_progress_show(&s->climb, "climbing the first training's ladder", r->levels, levels);
}

int cli_train_progress(const sal_train_report *r, void *data)
{
    cli_training *s = data;
    if (r->iteration == 0) {
        show_climb(s, r);
        return has_to_stop(s, r);
    }
    if (s->progress.from < 0) { /* the first since the start or a resume */
        cli_progress_end(&s->climb);
        s->progress = cli_progress_begin();
        s->progress.from = r->iteration - 1;
        cli_train_forget(s);
        if (r->resumed_with) {
            fprintf(stderr, "saltus: resumed at iteration %lld with %s\n",
                    (long long)s->progress.from, r->resumed_with);
        }
    }
    if (r->samples) {
        snprintf(s->progress.note, sizeof s->progress.note,
                 "log p(data) - log p(samples) %.2f, jump %.2f, acceptance %.2f",
                 r->log_prob_data - r->log_prob_samples, r->mean_jump, r->acceptance_rate);
    }
    estimate_duration(s, r);
    cli_progress_show(&s->progress, "training", r->iteration, r->iterations);
    return has_to_stop(s, r);
}

int cli_train_report(const sal_train_report *r, void *data)
{
    cli_training *s = data;
    const int64_t every = s->o->train.report_every;
    s->reached = r->reached;
    sal_error err = { 0 };
    sal_status status = show_samples(s, r, &err);
    status = status ? status : append_log(s, r, &err);
    note_limit(s, r);
    s->last = *r;
    status = status ? status : sal_train_save(r, s->model, s->o->out, &err);
    s->code = status == SAL_OK ? CLI_OK : cli_fail(status, &err);
    /* a terminal shows the progress line instead */
    bool rare = r->iteration % (10 * every) == 0 || r->iteration == r->iterations || s->reached;
    if (!s->o->json && (rare || cli_interrupted() || !isatty(STDOUT_FILENO))) {
        cli_progress_end(&s->progress);
        print_line(s, r);
    }
    return s->code != CLI_OK ? -1 : s->reached;
}

/* ---- the end: what the model's own samples are like */

/* Least limit on the intervals of fresh samples: enough for round trips. */
#define LEAST_INTERVALS 300

void cli_train_forget(const cli_training *s)
{
    static const char *const names[] = { "samples.png",        "verdict.json",    "checkpoint.json",
                                         "ladder/ladder.json", "ema.safetensors", "persistent.png",
                                         "denoising.json" };
    const int n = s->progress.from == 0 ? 7 : 2;
    char path[CLI_PATH];
    for (int k = 0; k < n; k++) {
        file_in(s, names[k], path);
        unlink(path);
    }
}

/* Load the parameters that other commands will use: the averages, if there are any. */
static sal_status take_parameters(const cli_training *s, sal_error *err)
{
    char path[CLI_PATH];
    file_in(s, "ema.safetensors", path);
    if (access(path, R_OK) != 0) {
        file_in(s, "model.safetensors", path);
    }
    return sal_model_load_params(s->model, path, err);
}

int cli_train_verdict(cli_training *s)
{
    const sal_train_options *t = &s->o->train;
    char path[CLI_PATH], sheet[CLI_PATH];
    sal_error err = { 0 };
    file_in(s, "verdict.json", path);
    file_in(s, "samples.png", sheet);
    if (s->o->fresh == 0 || (s->last.iteration == 0 && access(path, F_OK) == 0)) {
        return CLI_OK;
    }
    /* Fresh samples take at most as many intervals as there were updates. */
    sal_verdict_inputs inputs = {
        .train = &s->train,
        .test = &s->test,
        .persistent_rows = t->objective == SAL_PSEUDO_LIKELIHOOD ? -1 : 0,
        .sampling = { .directory = s->o->out,
                      .draws = s->o->fresh,
                      .longest = t->iterations > LEAST_INTERVALS ? t->iterations : LEAST_INTERVALS,
                      .seed = t->seed,
                      .threads = t->threads },
    };
    sal_status status = take_parameters(s, &err);
    status = status ? status
                    : cli_judge(s->model, &inputs, sheet, &s->verdict, &s->judged, &s->sheet, &err);
    if (status != SAL_OK) {
        return cli_fail(status, &err);
    }
    return s->judged ? cli_json_save(cli_verdict_json(&s->verdict), CLI_DIGITS, path) : CLI_OK;
}
