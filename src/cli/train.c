/* saltus train: fit an energy-based model to pictures. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/pictures.h"
#include "io/file.h"
#include "io/png.h"

typedef struct options {
    sal_train_options train;
    const char *data, *test, *out, *dtype;
    bool json;
} options;

/* What the reports need. */
typedef struct session {
    const options *o;
    sal_data train, test;
    sal_model *model;
    char *log;       /* the CSV so far */
    double baseline; /* MMD between as many training rows and the test set */
    double mmd;
    int64_t iteration; /* of the last report */
    cli_progress progress;
    int code;
} session;

static int in_directory(const char *directory, const char *name, char *path, size_t room)
{
    return (size_t)snprintf(path, room, "%s/%s", directory, name) < room
               ? CLI_OK
               : cli_usage("--out: the path is too long");
}

/* ---- a report: a line of the log, the sheet, the parameters */

/* Square root of the unbiased MMD^2, 0 where that is negative. */
static double mmd_to_test(const session *s, int64_t rows, const uint8_t *codes)
{
    double mmd2 = NAN;
    sal_stats_mmd(s->test.variables, rows, codes, s->test.rows, s->test.codes, &mmd2, NULL);
    return mmd2 > 0 ? sqrt(mmd2) : isnan(mmd2) ? NAN : 0;
}

static int append_log(session *s, const sal_train_report *r)
{
    static const char header[] = "iteration,seconds,log_prob_data,log_prob_samples,difference,"
                                 "acceptance_rate,mean_jump,gradient_norm,mmd,mmd_train_test\n";
    char line[512], path[4096];
    snprintf(line, sizeof line, "%lld,%.3f,%.6g,%.6g,%.6g,%.4f,%.4f,%.5g,%.5g,%.5g\n",
             (long long)r->iteration, r->seconds, r->log_prob_data, r->log_prob_samples,
             r->log_prob_data - r->log_prob_samples, r->acceptance_rate, r->mean_jump,
             r->gradient_norm, s->mmd, s->baseline);
    size_t used = s->log ? strlen(s->log) : 0;
    char *log = realloc(s->log, used + sizeof header + strlen(line) + 1);
    if (!log) {
        return cli_fail(SAL_ERR_MEMORY, &(sal_error){ 0 });
    }
    s->log = log;
    if (used == 0) {
        strcpy(log, header);
    }
    strcat(log, line);
    sal_error err = { 0 };
    int code = in_directory(s->o->out, "log.csv", path, sizeof path);
    sal_status status = code ? SAL_OK : sali_file_write(path, log, (int64_t)strlen(log), &err);
    return status == SAL_OK ? code : cli_fail(status, &err);
}

static int write_sheet(const session *s, int64_t rows, const uint8_t *codes)
{
    char path[4096];
    sal_error err = { 0 };
    int64_t n = rows < 100 ? rows : 100, pixels = n * s->train.variables;
    if (s->train.height == 0 || in_directory(s->o->out, "samples.png", path, sizeof path)) {
        return CLI_OK;
    }
    double *images = malloc((size_t)pixels * sizeof *images);
    for (int64_t i = 0; images && i < pixels; i++) {
        images[i] = codes[i];
    }
    sal_status status = images
                            ? sali_png_sheet(path, images, n, s->train.height, s->train.width,
                                             &(sali_png_layout){ .columns = 10, .zoom = 2 }, &err)
                            : SAL_ERR_MEMORY;
    free(images);
    return status == SAL_OK || status == SAL_ERR_UNSUPPORTED ? CLI_OK : cli_fail(status, &err);
}

static int save_model(const session *s)
{
    char path[4096];
    sal_error err = { 0 };
    int code = in_directory(s->o->out, "model.xml", path, sizeof path);
    sal_status status = code ? SAL_OK : sal_model_save(s->model, path, &err);
    return status == SAL_OK ? code : cli_fail(status, &err);
}

static int report(const sal_train_report *r, void *data)
{
    session *s = data;
    int64_t size = r->buffer * s->train.variables;
    uint8_t *codes = malloc((size_t)size);
    if (!codes) {
        s->code = cli_fail(SAL_ERR_MEMORY, &(sal_error){ 0 });
        return 1;
    }
    for (int64_t i = 0; i < size; i++) {
        codes[i] = (uint8_t)r->samples[i];
    }
    s->iteration = r->iteration;
    s->mmd = mmd_to_test(s, r->buffer, codes);
    s->code = append_log(s, r);
    s->code = s->code ? s->code : write_sheet(s, r->buffer, codes);
    s->code = s->code ? s->code : save_model(s);
    free(codes);
    if (s->progress.on) {
        cli_progress_show(&s->progress, "training", r->iteration, r->iterations);
    }
    if (!s->o->json &&
        (r->iteration % (10 * s->o->train.report_every) == 0 || r->iteration == r->iterations)) {
        char baseline[32] = "below noise";
        if (s->baseline > 0) {
            snprintf(baseline, sizeof baseline, "%.4f", s->baseline);
        }
        cli_progress_end(&s->progress);
        printf("%7lld %8.1f s  log p(data) - log p(samples) %7.3f  acceptance %.2f  MMD %.4f "
               "(train-test %s)\n",
               (long long)r->iteration, r->seconds, r->log_prob_data - r->log_prob_samples,
               r->acceptance_rate, s->mmd, baseline);
        fflush(stdout);
    }
    return s->code != CLI_OK || cli_interrupted();
}

/* ---- preparation */

static int make_directory(const char *path)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST) {
        return CLI_OK;
    }
    sal_error err = { 0 };
    snprintf(err.message, sizeof err.message, "--out %s: %s", path, strerror(errno));
    return cli_fail(SAL_ERR_IO, &err);
}

/* Whether a ready-made model has a number of visible variables to be set. */
static bool takes_visible(const char *arch)
{
    sal_builtin_info info;
    size_t length = strcspn(arch, ":");
    for (int64_t k = 0; sal_builtin_list(k, &info); k++) {
        if (strlen(info.name) == length && strncmp(info.name, arch, length) == 0) {
            return strncmp(info.parameters, "visible=", 8) == 0;
        }
    }
    return false;
}

/* The specification with the number of visible variables that the data have. */
static int open_arch(const char *arch, session *s)
{
    char specification[512];
    sal_error err = { 0 };
    sal_dtype dtype;
    bool given = arch && strstr(arch, "visible=") != NULL;
    if (!arch) {
        return cli_usage("train: expected an architecture");
    }
    int n = snprintf(specification, sizeof specification, "%s", arch);
    if (!given && takes_visible(arch)) {
        n = snprintf(specification, sizeof specification, "%s%cvisible=%lld", arch,
                     strchr(arch, ':') ? ',' : ':', (long long)s->train.variables);
    }
    if (n < 0 || (size_t)n >= sizeof specification || !cli_dtype(s->o->dtype, &dtype)) {
        return cli_usage("%s: too long", arch);
    }
    sal_status status = sal_model_open(specification, dtype, &s->model, &err);
    if (status == SAL_OK) {
        status = sal_model_train_start(s->model, specification, &s->train, s->o->train.seed, &err);
    }
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}

/* MMD of training rows, as many as there are test rows, to the test set: about what perfect samples
 * give. Where the two sets are alike the unbiased estimate falls below zero, and this is 0. */
static void set_baseline(session *s)
{
    int64_t rows = s->train.rows < s->test.rows ? s->train.rows : s->test.rows;
    s->baseline = mmd_to_test(s, rows, s->train.codes);
}

static int print_end(const session *s)
{
    if (!s->o->json) {
        printf("wrote %s/model.xml, model.safetensors, log.csv%s\n", s->o->out,
               s->train.height > 0 ? ", samples.png" : "");
        return CLI_OK;
    }
    json_t *object =
        json_pack("{s:s, s:s, s:I, s:I}", "model", sal_model_name(s->model), "out", s->o->out,
                  "train_rows", (json_int_t)s->train.rows, "test_rows", (json_int_t)s->test.rows);
    cli_json_number(object, "mmd", s->mmd);
    cli_json_number(object, "mmd_train_test", s->baseline);
    return cli_json_print(object);
}

static int train(session *s)
{
    sal_error err = { 0 };
    sal_train_options train_options = s->o->train;
    train_options.report = report;
    train_options.report_data = s;
    s->progress = cli_progress_begin();
    cli_catch_interrupt();
    sal_status status = sal_train(s->model, &s->train, &train_options, &err);
    cli_progress_end(&s->progress);
    if (status != SAL_OK) {
        return cli_fail(status, &err);
    }
    if (cli_interrupted()) {
        fprintf(stderr, "saltus: stopped after %lld iterations; what there is was saved\n",
                (long long)s->iteration);
    }
    return s->code ? s->code : print_end(s);
}

static int check_options(options *o)
{
    if (!o->data || !o->out) {
        return cli_usage("train: --data FILE (or digits) and --out DIR are needed");
    }
    if (o->train.steps < 1 || o->train.iterations < 1 || o->train.batch < 1 ||
        o->train.report_every < 1) {
        return cli_usage("train: --steps, --iterations, --batch and --report must be 1 or more");
    }
    return CLI_OK;
}

static int run_train(const cli_command *command, int argc, char **argv)
{
    options o = { .train = { .steps = 20,
                             .iterations = 2000,
                             .batch = 50,
                             .report_every = 100,
                             .learning_rate = 1e-3 } };
    sal_train_options *t = &o.train;
    const cli_option table[] = {
        { "data", CLI_TEXT, &o.data, "FILE",
          "images in any array format, white above the middle; or 'digits'" },
        { "test", CLI_TEXT, &o.test, "FILE", "held-out images [beside --data, else its last 10%]" },
        { "out", CLI_TEXT, &o.out, "DIR", "model, log and samples go there" },
        { "sampler", CLI_TEXT, &t->sampler, "NAME", "see 'saltus list samplers' [gwg]" },
        { "step-size", CLI_REAL, &t->step_size, "X", "of samplers that have one" },
        { "steps", CLI_INT, &t->steps, "K", "sampler steps an iteration [20]" },
        { "iterations", CLI_INT, &t->iterations, "N", "parameter updates [2000]" },
        { "batch", CLI_INT, &t->batch, "N", "data rows and chains an iteration [50]" },
        { "buffer", CLI_INT, &t->buffer, "N", "persistent chains [1000]" },
        { "learning-rate", CLI_REAL, &t->learning_rate, "X", "of Adam [0.001]" },
        { "weight-decay", CLI_REAL, &t->weight_decay, "X", "[0]" },
        { "report", CLI_INT, &t->report_every, "N", "iterations between lines of the log [100]" },
        { "seed", CLI_SEED, &t->seed, "N", "same seed, same bits [0]" },
        { "threads", CLI_THREADS, &t->threads, "N", "results do not depend on it [all]" },
        { "dtype", CLI_TEXT, &o.dtype, "f32|f64", "type of the computation [the model's]" },
        { "json", CLI_FLAG, &o.json, NULL, "print one JSON object" },
        { 0 },
    };
    const char *arch = "";
    session s = { .o = &o };
    int code = cli_parse(command, argc, argv, table, 1, &arch);
    code = code ? code : check_options(&o);
    code = code ? code : cli_pictures(o.data, o.test, t->seed, &s.train, &s.test);
    code = code ? code : open_arch(arch, &s);
    code = code ? code : make_directory(o.out);
    if (code == CLI_OK) {
        set_baseline(&s);
        code = train(&s);
    }
    sal_model_destroy(s.model);
    sal_data_destroy(&s.train);
    sal_data_destroy(&s.test);
    free(s.log);
    return code;
}

const cli_command cli_train = { "train", "ARCH", "fit an energy-based model to pictures by PCD",
                                run_train };
